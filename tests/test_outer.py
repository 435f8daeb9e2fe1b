"""Nested cross-validation and hold-out: no search sees the test rows; scores are scikit-learn's."""

from typing import Any

import numpy as np
import polars as pl
import pytest
from numpy.typing import NDArray
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.impute import SimpleImputer
from sklearn.metrics import f1_score
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    LeaveOneOut,
    StratifiedKFold,
    StratifiedShuffleSplit,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, MinMaxScaler, StandardScaler
from sklearn.tree import DecisionTreeClassifier
from swarmrs import HeldOut, Selection, algorithms, select
from swarmrs.exceptions import DataError, SpecError, SwarmrsWarning
from swarmrs.search._validation._stability import agreement

Blobs = tuple[NDArray[np.float64], NDArray[np.str_]]
Rows = NDArray[np.intp]

SCALERS = {"minmax": MinMaxScaler, "standard": StandardScaler, "none": FunctionTransformer}


def held_out_of(found: Selection) -> HeldOut:
    assert found.held_out is not None
    return found.held_out


def cut(
    data: tuple[NDArray[np.float64], NDArray[Any]], share: float, seed: int
) -> tuple[Rows, Rows]:
    draw = StratifiedShuffleSplit(1, test_size=share, random_state=seed)
    train, test = next(draw.split(*data))
    return train, test


def oracle(data: Any, found: Selection, train: Rows, test: Rows, model: Any) -> float:
    """Return the error of a scaler and a model that are fitted on the training rows."""
    x, y = data[0][:, found.support], data[1]
    pipe = make_pipeline(SCALERS[str(found.evaluation["scale"])](), model)
    return float(np.mean(pipe.fit(x[train], y[train]).predict(x[test]) != y[test]))


class TestOneSplit:
    @pytest.mark.parametrize("scale", ["minmax", "standard", "none"])
    @pytest.mark.parametrize(
        ("estimator", "model"),
        [
            ("knn", KNeighborsClassifier(5)),
            (
                KNeighborsClassifier(3, metric="manhattan"),
                KNeighborsClassifier(3, metric="manhattan"),
            ),
            ("nb", GaussianNB()),
        ],
        ids=["5-NN", "3-NN manhattan", "nb"],
    )
    @pytest.mark.parametrize("load", [load_wine, load_breast_cancer])
    @pytest.mark.filterwarnings("ignore:distinct values fall together")
    def test_it_is_scored_as_scikit_learn_scores(
        self, load: Any, estimator: Any, model: Any, scale: str
    ) -> None:
        data = load(return_X_y=True)
        found = select(
            data,
            algo="sfs",
            estimator=estimator,
            max_features=4,
            scale=scale,
            test_size=0.3,
            cv_seed=2,
        )
        train, test = cut(data, 0.3, 2)
        held_out = held_out_of(found)
        assert held_out.outer_error == oracle(data, found, train, test, model)
        assert held_out.optimism == held_out.outer_error - held_out.inner_error

    @pytest.mark.parametrize("algo", [card.id for card in algorithms()])
    def test_the_search_is_that_of_the_training_rows(self, blobs: Blobs, algo: str) -> None:
        x, y = blobs
        settings: dict[str, Any] = {"algo": algo, "random_state": 3, "max_evals": 300}
        found = select(blobs, test_size=0.3, **settings)
        train, _ = cut(blobs, 0.3, 0)
        alone = select((x[train], y[train]), **settings)
        assert (found.selected, found.cost, found.scores) == (
            alone.selected,
            alone.cost,
            alone.scores,
        )
        assert found.data["fingerprint"] == alone.data["fingerprint"]
        assert held_out_of(found).inner_error == found.scores["error"]

    def test_test_rows_change_nothing_in_the_search(self, blobs: Blobs) -> None:
        """Neither scales nor filters nor groups see them, however far they are from the rest."""
        x, y = blobs
        _, test = cut(blobs, 0.3, 0)
        far = x.copy()
        far[test] = 1e6 * (far[test] - 0.5)
        settings: dict[str, Any] = {
            "algo": "igpso",
            "feature_groups": "hclust",
            "prescreen": "su>0",
            "random_state": 1,
            "max_evals": 300,
            "test_size": 0.3,
        }
        one, other = (select((values, y), **settings) for values in (x, far))
        assert one.to_dict()["data"] == other.to_dict()["data"]
        assert (one.selected, one.scores, one.groups) == (
            other.selected,
            other.scores,
            other.groups,
        )
        assert held_out_of(one).outer_error != held_out_of(other).outer_error

    @pytest.mark.parametrize("policy", ["mean", "median", "mode", "knn"])
    @pytest.mark.filterwarnings("ignore::swarmrs.exceptions.SwarmrsWarning")
    def test_gaps_are_filled_by_training_rows(self, blobs: Blobs, policy: str) -> None:
        x, y = blobs
        x = x.copy()
        x[np.random.default_rng(1).random(x.shape) < 0.2] = np.nan
        train, test = cut(blobs, 0.3, 0)
        settings: dict[str, Any] = {"algo": "sfs", "missing": policy, "max_features": 3}
        found = select((x, y), test_size=0.3, **settings)
        alone = select((x[train], y[train]), **settings)
        assert (found.selected, found.scores) == (alone.selected, alone.scores)
        if policy in ("mean", "median"):
            filled = SimpleImputer(strategy=policy).fit(x[train]).transform(x)
            model = KNeighborsClassifier(5)
            assert held_out_of(found).outer_error == oracle((filled, y), found, train, test, model)

    @pytest.mark.filterwarnings("ignore::swarmrs.exceptions.SwarmrsWarning")
    def test_rows_drawn_of_training_rows_fill_their_own_gaps(self, blobs: Blobs) -> None:
        x, y = blobs
        x = x.copy()
        x[np.random.default_rng(1).random(x.shape) < 0.2] = np.nan
        train, _ = cut(blobs, 0.3, 0)
        settings: dict[str, Any] = {"algo": "bpso", "max_evals": 60, "random_state": 1}
        settings |= {"missing": "median"}
        settings |= {"repeats": 3, "resample": 0.7}
        found = select((x, y), test_size=0.3, **settings).stability
        alone = select((x[train], y[train]), **settings).stability
        assert found is not None
        assert alone is not None
        assert found.to_dict() == alone.to_dict()

    @pytest.mark.filterwarnings("ignore::swarmrs.exceptions.SwarmrsWarning")
    def test_text_is_filled_and_spread_by_training_rows(self) -> None:
        rng = np.random.default_rng(2)
        codes = np.arange(80) % 2
        words = np.array(["low", "mid", "high"])[(codes + rng.integers(0, 2, 80))].astype(object)
        words[rng.random(80) < 0.2] = None
        frame = pl.DataFrame({"w": words.tolist(), "v": rng.random(80), "class": codes})
        settings: dict[str, Any] = {"algo": "sfs", "missing": "mode", "encode": "onehot"}
        found = select(frame, test_size=0.25, **settings)
        train, _ = cut((frame.select("v").to_numpy(), codes), 0.25, 0)
        alone = select(frame[train.tolist()], **settings)
        assert (found.selected, found.scores) == (alone.selected, alone.scores)

    def test_an_estimator_is_scored_by_its_own_score(self, blobs: Blobs) -> None:
        tree = DecisionTreeClassifier(random_state=0, max_depth=2)
        found = select(
            blobs, algo="sfs", estimator=tree, scoring="f1_macro", cv=3, test_size=0.4, cv_seed=1
        )
        train, test = cut(blobs, 0.4, 1)
        x, y = blobs[0][:, found.support], blobs[1]
        said = tree.fit(x[train], y[train]).predict(x[test])
        assert held_out_of(found).outer_error == 1 - f1_score(y[test], said, average="macro")
        assert held_out_of(found).scores["matthews_corrcoef"] is None

    def test_a_class_may_be_held_out_whole(self, blobs: Blobs) -> None:
        """What no search has met is never predicted, and counts as missed."""
        order = np.argsort(blobs[1], kind="stable")
        x, y = blobs[0][order], blobs[1][order]
        splits = [(np.arange(40), np.arange(40, 60))]
        found = select((x, y), algo="sfs", outer_cv=splits)
        assert held_out_of(found).outer_error == 1
        assert held_out_of(found).parts[0].selection.data["labels"] == ["ash", "birch"]


class TestFolds:
    @pytest.mark.parametrize(
        ("outer_cv", "splitter"),
        [
            (4, StratifiedKFold(4, shuffle=True, random_state=3)),
            (StratifiedKFold(4), StratifiedKFold(4)),
            (KFold(3), KFold(3)),
            ("holdout=0.2", StratifiedShuffleSplit(1, test_size=0.2, random_state=3)),
        ],
        ids=["4", "stratified", "splitter", "holdout"],
    )
    def test_each_fold_is_searched_without_it(
        self, blobs: Blobs, outer_cv: Any, splitter: Any
    ) -> None:
        x, y = blobs
        settings: dict[str, Any] = {"algo": "bpso", "max_evals": 60, "cv": 3}
        settings |= {"random_state": 5, "cv_seed": 3}
        found = select(blobs, outer_cv=outer_cv, n_jobs=2, **settings)
        whole = select(blobs, **settings)
        assert (found.selected, found.scores) == (whole.selected, whole.scores)
        held_out = held_out_of(found)
        outer = []
        for part, (train, test) in zip(held_out.parts, splitter.split(x, y), strict=True):
            alone = select((x[train], y[train]), **settings)
            assert (part.selection.selected, part.selection.scores) == (
                alone.selected,
                alone.scores,
            )
            assert (part.n_train, part.n_test) == (len(train), len(test))
            outer.append(oracle(blobs, alone, train, test, KNeighborsClassifier(5)))
        assert [part.scores["error"] for part in held_out.parts] == outer
        assert held_out.outer_error == np.mean(outer)
        masks = np.array([part.selection.support for part in held_out.parts])
        if len(outer) > 1:
            assert held_out.spread == np.std(outer, ddof=1)
            assert held_out.agreement == agreement(masks)
        else:
            assert (held_out.spread, held_out.agreement) == (None, None)

    def test_leave_one_out(self, blobs: Blobs) -> None:
        x, y = blobs[0][:24], blobs[1][:24]
        found = select((x, y), algo="sfs", cv=3, max_features=1, outer_cv="loo")
        misses = [
            oracle((x, y), select((x[train], y[train]), algo="sfs", cv=3, max_features=1),
                   train, test, KNeighborsClassifier(5))
            for train, test in LeaveOneOut().split(x)
        ]  # fmt: skip
        assert held_out_of(found).outer_error == np.mean(misses)

    def test_threads_change_nothing(self, blobs: Blobs) -> None:
        one, three = (
            held_out_of(
                select(blobs, algo="bpso", outer_cv=5, random_state=1, max_evals=90, n_jobs=jobs)
            )
            for jobs in (1, 3)
        )
        assert one.to_dict() == three.to_dict()

    def test_repeats_are_part_of_each_outer_fold(self, blobs: Blobs) -> None:
        x, y = blobs
        settings: dict[str, Any] = {"algo": "bpso", "max_evals": 60, "repeats": 3}
        settings["random_state"] = 1
        runs = set()
        found = select(
            blobs,
            outer_cv=2,
            n_jobs=2,
            callback=lambda iteration: runs.add((iteration["run"], iteration["runs"])),
            **settings,
        )
        assert runs == {(run, 9) for run in range(9)}
        folds = StratifiedKFold(2).split(x, y)
        for part, (train, _) in zip(held_out_of(found).parts, folds, strict=True):
            alone = select((x[train], y[train]), **settings)
            assert part.selection.seed == alone.seed
            assert part.selection.selected == alone.selected
        assert found.stability is not None

    def test_pure_noise_is_seen_through(self) -> None:
        """The inner error is far too low, the outer one is that of random guesses."""
        rng = np.random.default_rng(0)
        data = (rng.random((60, 200)), np.arange(60) % 2)
        held_out = held_out_of(select(data, algo="sfs", max_features=5, outer_cv=5))
        assert held_out.inner_error < 0.25
        # 60 fair coins: half of them, three standard deviations either way.
        assert 0.3 < held_out.outer_error < 0.7
        assert held_out.optimism > 0.2

    def test_a_class_rarer_than_the_folds_is_named(self, blobs: Blobs) -> None:
        keep = np.flatnonzero((blobs[1] != "ash") | (np.arange(60) < 9))
        with pytest.warns(SwarmrsWarning, match="1 class of fewer rows than 4 outer folds: 'ash'"):
            select((blobs[0][keep], blobs[1][keep]), algo="sfs", cv=2, outer_cv=4)

    def test_rows_may_be_tested_by_themselves(self, blobs: Blobs) -> None:
        """Resubstitution: the nearest row is the row itself."""
        every = np.arange(60)
        estimator = KNeighborsClassifier(1)
        found = select(blobs, algo="sfs", estimator=estimator, outer_cv=[(every, every)])
        assert held_out_of(found).outer_error == 0
        assert held_out_of(found).inner_error == found.scores["error"]

    def test_groups_stay_together(self, blobs: Blobs) -> None:
        folds = list(GroupKFold(3).split(*blobs, groups=np.arange(60) // 4))
        found = select(blobs, algo="sfs", outer_cv=folds)
        assert [part.n_test for part in held_out_of(found).parts] == [20, 20, 20]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"test_size": 30}, "test_size is 30, expected a share of the rows between 0 and 1"),
        ({"test_size": 1.0}, "test_size is 1.0, expected a share of the rows between 0 and 1"),
        ({"test_size": 0.3, "outer_cv": 5}, "test_size and outer_cv both hold out rows"),
        ({"outer_cv": 5, "checkpoint": "x"}, "a checkpoint is for one search, not for several"),
        ({"outer_cv": "many"}, "unknown cv 'many'"),
        (
            {"outer_cv": [(range(50), range(50, 61))]},
            "a part of cv is empty or names no row, expected 0 to 59",
        ),
        (
            {"outer_cv": [(range(50), np.empty(0, dtype=int))]},
            "a part of cv is empty or names no row, expected 0 to 59",
        ),
        (
            {"outer_cv": 5, "cv": [(range(30), range(30, 60))]},
            "cv lists row numbers, but some rows are held out or not drawn",
        ),
        (
            {"test_size": 0.3, "scorer": lambda masks: [0.5] * len(masks)},
            "rows cannot be held out or drawn: a scorer has its own",
        ),
    ],
)
def test_what_cannot_be_held_out_is_refused(
    blobs: Blobs, settings: dict[str, Any], message: str
) -> None:
    with pytest.raises(SpecError) as error:
        select(blobs, max_evals=60, **settings)
    assert str(error.value) == message


def test_classes_too_small_are_refused(blobs: Blobs) -> None:
    with pytest.raises(DataError, match="50 folds, but the largest class of array has 20 rows"):
        select(blobs, algo="sfs", outer_cv=50)
    with pytest.raises(SpecError, match="1 fold leaves nothing to learn from"):
        select(blobs, algo="sfs", outer_cv=1)
    with pytest.raises(DataError, match=r"0\.01 of 60 rows of array cannot be held out"):
        select(blobs, algo="sfs", test_size=0.01)
    ash = np.flatnonzero(blobs[1] == "ash")
    splits = [(ash, np.setdiff1d(np.arange(60), ash))]
    with pytest.raises(DataError, match="20 rows of array have one class, expected 2 or more"):
        select(blobs, algo="sfs", outer_cv=splits)
