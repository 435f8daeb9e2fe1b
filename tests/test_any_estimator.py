"""Any classifier or regressor of scikit-learn scores subsets, with any scorer and any folds."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from hypothesis import assume, given
from hypothesis import strategies as st
from joblib import parallel_config
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.exceptions import UnsetMetadataPassedError
from sklearn.linear_model import Lasso, LogisticRegression, Ridge
from sklearn.metrics import make_scorer, mean_absolute_error
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    StratifiedKFold,
    StratifiedShuffleSplit,
    cross_val_score,
    cross_validate,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from swarmrs import SwarmSelector, read_table, select
from swarmrs.data._target_bins import N_LEVELS, levels_of
from swarmrs.exceptions import DataError, SpecError, SwarmrsWarning

Blobs = tuple[NDArray[np.float64], NDArray[np.str_]]
Measured = tuple[NDArray[np.float64], NDArray[np.float64]]

SMALL: dict[str, Any] = {"algo_params": {"population": 4}, "max_iter": 2, "random_state": 1}
# The engine has no such smoothing, so that scikit-learn evaluates it.
BAYES = GaussianNB(var_smoothing=1e-8)


@pytest.fixture
def routing() -> Iterator[None]:
    with sklearn.config_context(enable_metadata_routing=True):
        yield


@pytest.fixture(scope="module")
def slope() -> Measured:
    """Return a target that only features 0 and 3 of 6 predict."""
    rng = np.random.default_rng(3)
    x = rng.normal(size=(80, 6))
    return x, 3 * x[:, 0] - 3 * x[:, 3] + rng.normal(scale=0.3, size=80)


class Counting(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Remembers the columns it was fitted on, over all its clones."""

    fits: list[tuple[float, ...]] = []  # noqa: RUF012

    def fit(self, X: NDArray[np.float64], y: NDArray[np.generic]) -> "Counting":
        self.classes_ = np.unique(y)
        self.fits.append(tuple(X[0]))
        return self

    def predict(self, X: NDArray[np.float64]) -> NDArray[np.generic]:
        return np.repeat(self.classes_[:1], len(X))


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame])
class TestFrames:
    """A data frame reaches the estimator, which names its columns and encodes its text."""

    # Dense: before scikit-learn 1.8 a column transformer joins nothing sparse to a polars frame.
    ENCODER = OneHotEncoder(sparse_output=False)
    MODEL = make_pipeline(
        ColumnTransformer([("color", ENCODER, ["color"])], remainder="passthrough"),
        LogisticRegression(),
    )

    def columns(self) -> dict[str, list[Any]]:
        rng = np.random.default_rng(2)
        y = np.arange(60) % 2
        seen = np.where(rng.random(60) < 0.2, 1 - y, y)
        return {
            "noise": rng.normal(size=60).tolist(),
            "class": np.array(["x", "y"])[y].tolist(),
            "color": np.array(["red", "blue"])[seen].tolist(),
            "size": (y + rng.normal(size=60)).tolist(),
        }

    def test_with_the_target_in_a_column(self, kind: Any) -> None:
        columns = self.columns()
        frame = kind(columns)
        found = select(
            frame, "class", estimator=self.MODEL, algo="sfs", cv=3, include=["color"], outer_cv=3
        )
        assert "color" in found.selected
        chosen = frame[list(found.selected)]
        scores = cross_val_score(self.MODEL, chosen, columns["class"], cv=3)
        assert found.score == pytest.approx(scores.mean())
        assert found.held_out is not None
        assert len(found.held_out.parts) == 3

    def test_with_labels_beside(self, kind: Any) -> None:
        columns = self.columns()
        labels = columns.pop("class")
        settings: dict[str, Any] = {"estimator": self.MODEL, "algo": "sfs", "cv": 3}
        found = select((kind(columns), labels), include=["color"], **settings)
        within = select(kind({**columns, "class": labels}), include=["color"], **settings)
        assert found.selected == within.selected
        assert found.trace.equals(within.trace)

    def test_without_the_rows_of_rare_classes(self, kind: Any) -> None:
        columns = self.columns()
        columns["class"][7] = "rare"
        with pytest.warns(SwarmrsWarning, match="their rows are left out"):
            found = select(
                *(kind(columns), "class"),
                **{"estimator": self.MODEL, "algo": "sfs", "cv": 3, "rare_class": "drop"},
                include=["color"],
            )
        assert found.data["rows"] == 59

    def test_policies_give_the_estimator_numbers(self, kind: Any) -> None:
        frame = kind(self.columns())
        found = select(
            *(frame, "class"), estimator=BAYES, algo="sfs", cv=3, encode="onehot", max_features=1
        )
        assert found.selected in (("color=blue",), ("color=red",))


class TestClassifiers:
    @pytest.mark.parametrize("cv", [StratifiedKFold(4), StratifiedShuffleSplit(3, random_state=0)])
    def test_the_error_is_what_cross_val_score_lacks_to_one(self, blobs: Blobs, cv: Any) -> None:
        x, y = blobs
        judge = LogisticRegression()
        found = select(
            blobs, algo="sfs", estimator=judge, scoring="roc_auc_ovr", cv=cv, max_features=2
        )
        score = cross_val_score(judge, x[:, found.support], y, cv=cv, scoring="roc_auc_ovr").mean()
        assert found.cost == found.scores["error"] == 1 - score

    def test_no_subset_is_evaluated_twice(self, blobs: Blobs) -> None:
        Counting.fits.clear()
        found = select(
            blobs, algo="bpso", estimator=Counting(), cv=2, max_evals=300, random_state=1
        )
        assert found.evaluations.total == 300
        assert len(Counting.fits) == 2 * found.evaluations.unique <= 2 * 63
        # The first training row has other numbers in every column, and each part one such row.
        assert len(set(Counting.fits)) == len(Counting.fits)

    def test_jobs_change_no_result(self, blobs: Blobs) -> None:
        settings: dict[str, Any] = {"algo": "ga", "estimator": BAYES, "cv": 3, **SMALL}
        alone = select(blobs, **settings)
        with parallel_config(backend="threading", n_jobs=2):
            context = select(blobs, **settings)
        assert alone.trace.equals(context.trace)
        assert alone.trace.equals(select(blobs, **settings, n_jobs=2).trace)

    def test_workers_are_those_that_joblib_is_told_to_use(
        self, blobs: Blobs, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        from sklearn.utils import parallel

        pools: list[Any] = []

        class Spy(parallel.Parallel):  # type: ignore[misc]
            def __call__(self, jobs: Any) -> Any:
                pools.append((self.n_jobs, type(self._backend).__name__))
                return super().__call__(jobs)

        monkeypatch.setattr(parallel, "Parallel", Spy)
        settings: dict[str, Any] = {"algo": "sfs", "estimator": BAYES, "cv": 2}
        select(blobs, **settings)
        assert not pools  # One worker needs no pool.
        with parallel_config(backend="threading", n_jobs=2):
            select(blobs, **settings)
        assert set(pools) == {(2, "ThreadingBackend")}

    def test_settings_of_scikit_learn_reach_the_estimator(self, blobs: Blobs) -> None:
        seen = []

        def scorer(estimator: Any, x: Any, y: Any) -> float:
            seen.append(sklearn.get_config()["assume_finite"])
            return 0.5

        with sklearn.config_context(assume_finite=True):
            select(blobs, algo="sfs", estimator=GaussianNB(), scoring=scorer, cv=2)
        assert set(seen) == {True}

    def test_weights_without_routing_go_to_fit(self, blobs: Blobs) -> None:
        x, y = blobs
        weights = np.where(y == "ash", 9.0, 1.0)
        settings: dict[str, Any] = {"estimator": GaussianNB(), "cv": StratifiedKFold(3)}
        given = {"sample_weight": weights}
        found = select(blobs, algo="sfs", max_iter=1, fit_params=given, **settings)
        scores = cross_val_score(
            GaussianNB(), x[:, found.support], y, cv=StratifiedKFold(3), params=given
        )
        assert found.cost == 1 - scores.mean()
        with pytest.raises(SpecError, match="only an estimator takes them"):
            select(blobs, algo="sfs", fit_params=given)

    def test_what_an_estimator_raises_comes_through(self, blobs: Blobs) -> None:
        with pytest.raises(ValueError, match="var_smoothing"):
            SwarmSelector(algo="sfs", estimator=GaussianNB(var_smoothing=-1)).fit(*blobs)

    def test_a_swarm_of_the_hybrid_objective_minimizes_the_error(self, blobs: Blobs) -> None:
        found = select(blobs, algo="vlpso", estimator=BAYES, cv=2, **SMALL)
        assert found.objective == {"kind": "error"}
        with pytest.raises(SpecError, match=r"hybrid.*needs the neighbors of knn"):
            select(blobs, algo="vlpso", estimator=BAYES, cv=2, objective="paper", **SMALL)


class TestGroupsOfSamples:
    def selector(self, **settings: Any) -> SwarmSelector:
        return SwarmSelector(estimator=LogisticRegression(), scoring="roc_auc", **SMALL | settings)

    def test_in_a_pipeline_inside_cross_validate(self, routing: None) -> None:
        x, y = load_breast_cancer(return_X_y=True)
        patients = np.arange(len(y)) // 12
        folds = GroupKFold(5)
        pipeline = make_pipeline(StandardScaler(), self.selector(cv=folds), LogisticRegression())
        scores = cross_validate(
            pipeline,
            x,
            y,
            cv=GroupKFold(3),
            params={"groups": patients},
            scoring="roc_auc",
            return_estimator=True,
        )
        assert (scores["test_score"] > 0.95).all()
        for fitted, (train, _) in zip(
            scores["estimator"], GroupKFold(3).split(x, y, patients), strict=True
        ):
            selector = fitted[1]
            scaled = fitted[0].transform(x[train])[:, selector.support_]
            inner = cross_val_score(
                LogisticRegression(),
                scaled,
                y[train],
                cv=list(GroupKFold(5).split(scaled, groups=patients[train])),
                scoring="roc_auc",
                params={},
            )
            assert selector.best_cost_ == pytest.approx(
                1 - inner.mean(), abs=1e-12
            )  # Copied columns.

    def test_they_are_refused_where_routing_is_off(self, blobs: Blobs) -> None:
        selector = self.selector(cv=GroupKFold(3))
        with pytest.raises(SpecError, match="fit is given groups, but") as error:
            selector.fit(*blobs, groups=np.arange(60) % 6)
        assert error.value.hint is not None
        assert "enable_metadata_routing=True" in error.value.hint

    def test_nobody_gets_what_it_did_not_request(self, blobs: Blobs, routing: None) -> None:
        with pytest.raises(TypeError, match="got unexpected argument"):
            SwarmSelector(algo="sfs", cv=3).fit(*blobs, groups=np.arange(60))
        with pytest.raises(UnsetMetadataPassedError, match="sample_weight"):
            SwarmSelector(algo="sfs", estimator=GaussianNB()).fit(*blobs, sample_weight=np.ones(60))

    def test_native_classifiers_take_them_too(self, blobs: Blobs, routing: None) -> None:
        x, y = blobs
        groups = np.arange(60) // 6
        folds = GroupKFold(5)
        routed = SwarmSelector(algo="sfs", cv=folds).fit(x, y, groups=groups)
        given = select(blobs, algo="sfs", cv=list(GroupKFold(5).split(x, y, groups)))
        assert routed.best_cost_ == given.cost
        assert routed.support_.tolist() == given.support.tolist()

    def test_weights_reach_the_estimator(self, blobs: Blobs, routing: None) -> None:
        x, y = blobs
        weights = np.where(y == "ash", 9.0, 1.0)
        judge = (
            GaussianNB().set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
        )
        selector = SwarmSelector(algo="sfs", estimator=judge, cv=3, max_features=1)
        weighted = selector.fit(x, y, sample_weight=weights)
        scores = cross_val_score(
            judge, x[:, weighted.support_], y, cv=3, params={"sample_weight": weights}
        )
        assert weighted.best_cost_ == 1 - scores.mean()


class TestRegressors:
    @pytest.mark.parametrize("algo", ["vlpso", "ga", "sffs", "cfs", "igpso", "nsga2"])
    def test_they_find_the_relevant_features(self, slope: Measured, algo: str) -> None:
        found = select(slope, algo=algo, estimator=Ridge(), cv=5, random_state=1, max_iter=3)
        assert found.support[[0, 3]].all()

    def test_the_error_is_what_r2_lacks_to_one_on_unstratified_folds(self, slope: Measured) -> None:
        x, y = slope
        for folds in (5, KFold(5), KFold(5, shuffle=True, random_state=2)):
            selector = SwarmSelector(Ridge(), algo="sfs", cv=folds).fit(x, y)
            r2 = cross_val_score(Ridge(), x[:, selector.support_], y, cv=folds).mean()
            assert selector.best_cost_ == pytest.approx(1 - r2, abs=1e-12)
            assert selector.best_score_ == pytest.approx(r2, abs=1e-12)
            assert selector.result_.data["classes"] is None
        # An estimator that the engine does not have is given the folds of scikit-learn.
        lasso = SwarmSelector(Lasso(0.01), algo="sfs", cv=folds).fit(x, y)
        seeded = select(slope, algo="sfs", estimator=Lasso(0.01), cv=5, cv_seed=2)
        assert seeded.cost == lasso.best_cost_

    @pytest.mark.parametrize(
        ("scoring", "cv"),
        [
            ("neg_root_mean_squared_error", "holdout=0.3"),
            (make_scorer(mean_absolute_error, greater_is_better=False), "loo"),
        ],
    )
    def test_any_scorer_counts(self, slope: Measured, scoring: Any, cv: str) -> None:
        settings: dict[str, Any] = {"estimator": Ridge(), "scoring": scoring, "cv": cv}
        found = select(slope, algo="sfs", max_iter=2, **settings)
        assert found.selected_indices == (0, 3)
        # Of a named error the loss is the error; of any other score what it lacks to 1.
        is_named = isinstance(scoring, str)
        assert found.cost == pytest.approx(-found.score if is_named else 1 - found.score)

    def test_ridge_in_a_pipeline_beats_the_mean_of_diabetes(self) -> None:
        x, y = load_diabetes(return_X_y=True)
        selector = SwarmSelector(estimator=Ridge(0.1), cv=5, **SMALL)
        pipeline = make_pipeline(selector, Ridge(0.1))
        scores = cross_val_score(pipeline, x, y, cv=KFold(3, shuffle=True, random_state=0))
        assert scores.mean() > 0.4
        fitted = clone(selector).fit(x, y)
        assert fitted.support_[[2, 8]].all()  # Body mass and s5 are known to matter most.

    def test_a_column_of_numbers_is_a_target_by_name(self, slope: Measured) -> None:
        frame = pl.from_numpy(slope[0], schema=list("abcdef")).with_columns(y=pl.Series(slope[1]))
        found = select(frame, "y", algo="sfs", estimator=Ridge(), cv=5)
        assert {"a", "d"} <= set(found.selected)

    def test_a_table_of_classes_that_are_numbers_will_do(self, slope: Measured) -> None:
        x, y = slope
        table = read_table((x, np.clip(y.round(), -3, 3)))
        assert table.values is None
        assert select(table, algo="sfs", estimator=Ridge(), cv=5).support[[0, 3]].all()

    @pytest.mark.parametrize(
        ("target", "settings", "error", "message"),
        [
            (
                np.arange(80) / 7,
                {"estimator": "knn", "task": "classification"},
                DataError,
                "is continuous, expected classes",
            ),
            (np.repeat("a", 80), {}, DataError, "is String, expected numbers"),
            (np.ones(80), {}, DataError, "has one value, expected 2 or more"),
            (np.r_[np.nan, np.arange(79)], {}, DataError, "has 1 value missing or infinite"),
            (np.r_[np.inf, np.arange(79)], {}, DataError, "has 1 value missing or infinite"),
            (
                np.arange(80),
                {"cv": "loo", "estimator": Lasso()},
                SpecError,
                "a part of one row has no r2",
            ),
            (np.arange(80), {"rare_class": "drop"}, SpecError, "but a numeric target has none"),
            (np.arange(80), {"objective": "hybrid"}, SpecError, "'hybrid', which needs classes"),
            (np.arange(80), {"task": "classification"}, SpecError, "estimator predicts numbers"),
        ],
    )
    def test_what_does_not_fit_is_refused(
        self, slope: Measured, target: Any, settings: Any, error: type[Exception], message: str
    ) -> None:
        with pytest.raises(error, match=message):
            select((slope[0], target), **{"estimator": Ridge(), "algo": "sfs"} | settings)

    def test_a_table_of_numbers_is_not_for_classifiers(self, slope: Measured) -> None:
        table = read_table(slope, task="regression")
        with pytest.raises(DataError, match="target 'target' of array is continuous"):
            select(table, algo="sfs", estimator=KNeighborsClassifier())


class TestLevels:
    def test_they_hold_equally_many_rows_and_keep_order(self) -> None:
        values = np.random.default_rng(0).permutation(100.0 * np.arange(100))
        levels = levels_of(pl.Series("y", values), "data")
        assert np.bincount(levels.codes).tolist() == [20] * N_LEVELS
        assert (np.diff(levels.codes[np.argsort(values)].astype(int)) >= 0).all()

    @given(st.lists(st.floats(-9, 9) | st.integers(0, 3).map(float), min_size=2))
    def test_any_two_values_make_levels_in_their_order(self, values: list[float]) -> None:
        assume(len({*values}) > 1)
        levels = levels_of(pl.Series("y", values), "data")
        codes = levels.codes.tolist()
        assert set(codes) == set(range(len(levels.names)))
        assert 2 <= len(levels.names) <= N_LEVELS
        pairs = sorted(zip(values, codes, strict=True))
        assert [code for _, code in pairs] == sorted(codes)
        assert len({*pairs}) == len({*values})  # Equal values stay together.
