"""Numeric targets: the engine's regressors against scikit-learn, and every door for them."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from sklearn.datasets import load_diabetes
from sklearn.dummy import DummyRegressor
from sklearn.feature_selection import f_regression
from sklearn.linear_model import Lasso, Ridge
from sklearn.metrics import get_scorer, r2_score, root_mean_squared_error
from sklearn.model_selection import KFold, LeaveOneOut, cross_val_predict, cross_val_score
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from swarmrs import Evaluator, SwarmSelector, rank, read_table, select
from swarmrs._base._tasks import REGRESSION
from swarmrs.data._target import guess_task
from swarmrs.evaluation._numbers import jackknife_numbers, weighted_scores
from swarmrs.exceptions import DataError, SpecError

Cli = Callable[..., Any]
Sample = tuple[NDArray[np.float64], NDArray[np.float64]]

ESTIMATORS = [
    Ridge(0.3),
    make_pipeline(StandardScaler(), Ridge(20.0)),
    KNeighborsRegressor(3),
    KNeighborsRegressor(5, weights="distance", p=1),
    make_pipeline(MinMaxScaler(), KNeighborsRegressor(4, weights="distance")),
]


@pytest.fixture
def slope() -> Sample:
    rng = np.random.default_rng(7)
    x = rng.normal(size=(70, 6)) * [1, 3, 1, 1, 0.2, 10]
    return x, 40 + 2 * x[:, 0] - 3 * x[:, 3] + 0.5 * rng.normal(size=70)


class TestScikitLearn:
    @pytest.mark.parametrize("estimator", ESTIMATORS, ids=str)
    @pytest.mark.parametrize("scoring", REGRESSION.scorings)
    @pytest.mark.parametrize("cv", [5, KFold(4, shuffle=True, random_state=1)], ids=str)
    def test_the_score_is_that_of_cross_val_score(
        self, estimator: Any, scoring: str, cv: Any, slope: Sample
    ) -> None:
        x, y = slope
        selector = SwarmSelector(estimator, algo="sfs", cv=cv, scoring=scoring).fit(x, y)
        chosen = x[:, selector.support_]
        scores = cross_val_score(estimator, chosen, y, cv=cv, scoring=scoring)
        assert selector.best_score_ == pytest.approx(scores.mean(), rel=1e-9, abs=1e-9)
        assert selector.result_.evaluation["estimator"] in ("knn", "ridge")
        guess = cross_val_score(DummyRegressor(), chosen, y, cv=cv, scoring=scoring).mean()
        assert selector.result_.baseline.scores[scoring] == pytest.approx(guess, rel=1e-9)

    @pytest.mark.parametrize("estimator", ESTIMATORS, ids=str)
    def test_leave_one_out_is_scored_over_all_rows(self, estimator: Any, slope: Sample) -> None:
        x, y = slope
        evaluator = Evaluator(x, y, estimator=estimator, cv=LeaveOneOut())
        scores = evaluator.measure([True, True, False, True, False, True])[0]
        said = cross_val_predict(estimator, x[:, [0, 1, 3, 5]], y, cv=LeaveOneOut())
        assert scores["r2"] == pytest.approx(r2_score(y, said), abs=1e-9)
        error = root_mean_squared_error(y, said)
        assert scores["neg_root_mean_squared_error"] == pytest.approx(-error, rel=1e-9)
        rows, numbers = evaluator.predict([True, True, False, True, False, True])
        assert rows.tolist() == list(range(70))
        np.testing.assert_allclose(numbers.astype(np.float64), said, rtol=1e-9)

    @settings(deadline=None, max_examples=25)
    @given(st.integers(0, 2**32 - 1), st.integers(6, 40), st.integers(1, 8), st.data())
    def test_random_tables(self, seed: int, rows: int, width: int, data: Any) -> None:
        rng = np.random.default_rng(seed)
        x, y = rng.normal(size=(rows, width)), rng.normal(size=rows) * 10.0 ** rng.integers(-3, 4)
        k = data.draw(st.integers(1, rows // 2))
        alpha = data.draw(st.sampled_from([0.01, 1.0, 50.0]))
        weights = data.draw(st.sampled_from(["uniform", "distance"]))
        folds = data.draw(st.integers(2, rows // 2))
        for estimator in (
            Ridge(alpha),
            KNeighborsRegressor(min(k, rows // 4 or 1), weights=weights),
        ):
            evaluator = Evaluator(x, y, estimator=estimator, cv=folds, task="regression")
            scores = evaluator.measure(np.ones((1, width), dtype=bool))[0]
            for scoring in REGRESSION.scorings:
                expected = cross_val_score(estimator, x, y, cv=folds, scoring=scoring).mean()
                assert scores[scoring] == pytest.approx(expected, rel=1e-7, abs=1e-9)

    def test_names_are_the_pipelines_of_scikit_learn(self, slope: Sample) -> None:
        x, y = slope
        for name, scale, estimator in (
            ("ridge", "fold-standard", make_pipeline(StandardScaler(), Ridge(1.0))),
            ("knn", "fold-minmax", make_pipeline(MinMaxScaler(), KNeighborsRegressor())),
        ):
            found = select((x, y), estimator=name, scale=scale, algo="sfs", cv=5)
            scores = cross_val_score(estimator, x[:, found.support], y, cv=5)
            assert found.score == pytest.approx(scores.mean(), abs=1e-9)
            # A score that the engine does not have is computed by scikit-learn.
            other = select((x, y), estimator=name, scoring="explained_variance", algo="sfs", cv=5)
            assert other.scores["error"] == other.cost
            assert 0 < other.score < 1

    def test_f_is_that_of_a_regression(self, slope: Sample) -> None:
        x, y = slope
        x[:, 2] = 7.0
        found = rank(slope, by="f").frame.sort("index")["score"].to_numpy()
        with np.errstate(all="ignore"):
            expected, _ = f_regression(x, y)
        np.testing.assert_allclose(found, expected, rtol=1e-9)
        assert rank((x, y), by="f", n_jobs=2).frame["score"].to_list() == sorted(found)[::-1]


class TestGuess:
    @pytest.mark.parametrize(
        ("target", "task"),
        [
            (["a", "b", "a"], "classification"),
            ([True, False, True], "classification"),
            ([1, 2, 1, 3], "classification"),
            ([1.0, 2.0, 1.0], "classification"),
            ([None, None], "classification"),
            ([0.5, 1.0, 2.0], "regression"),
            ([None, 0.5, 1.0, 2.0], "regression"),
            (list(range(21)), "regression"),
            (list(range(20)), "classification"),
            ([*range(30)] * 2, "classification"),
        ],
    )
    def test_numbers_are_classes_if_they_are_few_or_repeat(self, target: Any, task: str) -> None:
        assert guess_task(pl.Series("y", target)).name == task

    def test_a_guess_is_said_and_what_is_given_is_not(self, slope: Sample) -> None:
        said = "the target has 70 different numbers: regression"
        assert said in read_table(slope).notices
        assert read_table(slope, task="regression").notices == ()
        assert read_table(slope).target == "target"

    def test_whole_numbers_are_what_they_are_called(self) -> None:
        rng = np.random.default_rng(0)
        x, y = rng.normal(size=(60, 3)), rng.integers(0, 4, 60)
        classes, numbers = (read_table((x, y), task=task) for task in (None, "regression"))
        assert classes.values is None
        assert numbers.values is not None
        assert read_table(numbers, task="classification").labels == (0, 1, 2, 3)
        assert read_table(classes, task="regression").values is not None
        by_classes = select((x, y), algo="sfs", cv=3)
        by_numbers = select((x, y), algo="sfs", cv=3, task="regression")
        assert (by_classes.scoring, by_numbers.scoring) == ("accuracy", "r2")

    @pytest.mark.parametrize("estimator", [None, "knn", "ridge", KNeighborsRegressor(), Ridge()])
    def test_a_selector_goes_by_its_target_or_estimator(
        self, estimator: Any, slope: Sample
    ) -> None:
        selector = SwarmSelector(estimator, algo="sfs", cv=5).fit(*slope)
        assert selector.support_[[0, 3]].all()
        assert selector.result_.scoring == "r2"
        assert selector.best_score_ > 0.8

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"estimator": "nb"}, "'nb' needs classes"),
            ({"cv": "complete"}, "'complete', which needs classes"),
            ({"scoring": "accuracy"}, "'accuracy', which is for classes"),
            ({"objective": "hybrid"}, "'hybrid', which needs classes"),
            ({"task": "clustering"}, "unknown task"),
            ({"estimator": KNeighborsClassifier(), "task": "regression"}, "predicts classes"),
        ],
    )
    def test_what_needs_classes_is_refused(self, options: Any, message: str, slope: Sample) -> None:
        with pytest.raises(SpecError, match=message):
            select(slope, **{"algo": "sfs"} | options)

    @pytest.mark.parametrize("by", ["su", "mrmr", "relieff"])
    def test_rankings_that_need_classes_are_refused(self, by: str, slope: Sample) -> None:
        with pytest.raises(SpecError, match=f"'{by}' needs classes") as refused:
            rank(slope, by=by)
        assert refused.value.hint == "take mi, f, ridge-rfe or ridge-sfs"

    def test_scores_of_numbers_are_not_for_classes(self) -> None:
        with pytest.raises(SpecError, match="'r2', which is for numbers"):
            select("sklearn:wine", algo="sfs", scoring="r2")


class TestSearch:
    @pytest.mark.parametrize("by", ["f", "mi", "ridge-rfe", "ridge-sfs"])
    def test_rankings_find_what_matters(self, by: str, slope: Sample) -> None:
        assert set(rank(slope, by=by).frame["index"][:2]) == {0, 3}

    @pytest.mark.parametrize("algo", ["rks", "cem", "vlpso-ls", "sffs", "mopbpso"])
    def test_algorithms_find_what_matters(self, algo: str, slope: Sample) -> None:
        found = select(slope, algo=algo, estimator="ridge", random_state=1, max_evals=300)
        assert found.support[[0, 3]].all()

    def test_threads_and_checkpoints_change_nothing(self, slope: Sample, tmp_path: Path) -> None:
        options: dict[str, Any] = {"algo": "ga", "random_state": 3, "max_evals": 400}
        options |= {"scoring": "neg_mean_absolute_error"}
        one = select(slope, **options)
        many = select(slope, n_jobs=2, checkpoint=tmp_path / "c", **options)
        again = select(slope, checkpoint=tmp_path / "c", **options)
        for other in (many, again):
            assert (other.selected, other.cost, other.scores) == (
                one.selected,
                one.cost,
                one.scores,
            )
            assert other.trace.equals(one.trace)
        assert one.cost == one.loss == -one.score

    def test_one_standard_error_is_that_of_the_jackknife(self, slope: Sample) -> None:
        found = select(slope, algo="sffs", estimator="ridge", cv=5, pick="1se", random_state=1)
        assert found.parsimony is not None
        best, spread = found.parsimony.best_loss, found.parsimony.standard_error
        assert 0 < spread < 0.1
        assert best <= found.loss <= best + spread

    def test_outer_folds_are_scored_as_by_hand(self, slope: Sample) -> None:
        x, y = slope
        found = select(slope, algo="sfs", estimator=Ridge(), cv=5, outer_cv=4, n_jobs=2)
        assert found.held_out is not None
        for part, (train, test) in zip(found.held_out.parts, KFold(4).split(x), strict=True):
            inner = select((x[train], y[train]), algo="sfs", estimator=Ridge(), cv=5)
            assert part.selection.selected == inner.selected
            fitted = Ridge().fit(x[train][:, inner.support], y[train])
            r2 = fitted.score(x[test][:, inner.support], y[test])
            assert part.scores["r2"] == pytest.approx(r2, abs=1e-9)
            guess = r2_score(y[test], np.full(len(test), y[train].mean()))
            assert part.baseline is not None
            assert part.baseline.scores["r2"] == pytest.approx(guess, abs=1e-9)
        assert "outer R2" in repr(found)

    def test_held_out_rows_and_repeats(self, slope: Sample) -> None:
        held = select(slope, algo="sfs", estimator="ridge", test_size=0.3, cv_seed=1)
        assert held.held_out is not None
        assert held.held_out.outer_loss < 0.2
        drawn = select(slope, algo="sfs", estimator="ridge", repeats=3, resample=0.8)
        assert drawn.stability is not None
        assert {0, 3} <= set(drawn.stability.consensus.selected_indices)


class TestAuto:
    @pytest.mark.parametrize("scoring", [None, "neg_root_mean_squared_error"])
    def test_methods_compete_for_numbers(self, scoring: str | None, slope: Sample) -> None:
        found = select(slope, estimator="ridge", scoring=scoring, random_state=1, n_jobs=2)
        assert found.competition is not None
        methods = {"f", "mi", "ridge-rfe", "rks", "cem", "sffs", "upso2d"}
        assert set(found.competition.frame["method"]) == methods
        assert set(found.selected_indices) == {0, 3}
        low, high = found.competition.interval
        assert low <= found.competition.score <= high
        assert not found.competition.is_noise
        score = {None: 0.9, "neg_root_mean_squared_error": -1.2}[scoring]
        assert found.competition.score > score

    def test_noise_is_said(self) -> None:
        rng = np.random.default_rng(1)
        with pytest.warns(Warning, match="no feature is better than noise"):
            select((rng.normal(size=(60, 5)), rng.normal(size=60)), random_state=1)

    def test_a_regressor_of_scikit_learn_competes(self, slope: Sample) -> None:
        selector = SwarmSelector(Lasso(0.05), random_state=1, max_evals=2000).fit(*slope)
        assert selector.result_.competition is not None
        assert selector.support_[[0, 3]].all()


class TestScores:
    def test_weighted_scores_are_those_of_repeated_rows(self, slope: Sample) -> None:
        rng = np.random.default_rng(3)
        truth = slope[1][:20]
        predicted = truth[:, np.newaxis] + rng.normal(size=(20, 3))
        weights = rng.integers(0, 4, size=(5, 20)).astype(float)
        residuals = truth[:, np.newaxis] - predicted
        for scoring in REGRESSION.scorings:
            found = weighted_scores(scoring, weights, truth, residuals**2, np.abs(residuals))
            for row, counts in enumerate(weights.astype(int)):
                for column in range(3):
                    said = np.repeat(predicted[:, column], counts)
                    score = get_scorer(scoring)
                    expected = score._sign * score._score_func(np.repeat(truth, counts), said)
                    assert found[row, column] == pytest.approx(expected, rel=1e-9)

    @pytest.mark.parametrize("scoring", REGRESSION.scorings)
    def test_the_jackknife_leaves_out_one_row_at_a_time(self, scoring: str) -> None:
        rng = np.random.default_rng(5)
        rows, folds = np.arange(12, dtype=np.uint32), (np.arange(12) % 3).astype(np.uint32)
        truth = rng.normal(size=12)
        predicted = truth + 0.3 * rng.normal(size=12)
        scorer = get_scorer(scoring)
        losses = []
        for left in range(12):
            kept = rows != left
            scores = [
                scorer._sign * scorer._score_func(truth[kept & at], predicted[kept & at])
                for at in (folds == fold for fold in range(3))
            ]
            losses.append(np.mean(scores))
        expected = np.sqrt(11 / 12 * ((np.array(losses) - np.mean(losses)) ** 2).sum())
        found = jackknife_numbers(rows, truth, predicted, folds, scoring)
        assert found == pytest.approx(expected, rel=1e-9)


class TestCommands:
    def test_select_speaks_of_numbers(self, cli: Cli, tmp_path: Path) -> None:
        done = cli(
            "select", "sklearn:diabetes", "-a", "sfs", "-e", "ridge", "--seed", 1,
            "--outer-cv", 3, "-o", tmp_path / "model.py",
        )  # fmt: skip
        assert "note: the target has 214 different numbers: regression" in done.err
        for words in (
            "442 rows, 10 features, numeric target 'target'",
            "ridge regression, alpha 1, 10-fold, scale standard",
            "(1 - R2)",
            "by predicting the mean of the training rows",
            "outer R2",
            "RMSE",
        ):
            assert words in done.out
        for words in ("class", "stratified", "accuracy", "majority"):
            assert words not in done.out
        code = (tmp_path / "model.py").read_text()
        assert "Ridge(alpha=1.0)" in code
        assert 'task="regression"' in code
        ran = subprocess.run(
            [sys.executable, tmp_path / "model.py"], capture_output=True, text=True, check=True
        )
        assert ran.stdout.startswith("R2 0.4")

    def test_json_has_the_scores_of_numbers(self, cli: Cli) -> None:
        words = ("select", "sklearn:diabetes", "-a", "sfs", "--seed", 1, "--format", "json")
        found = json.loads(cli(*words).out)
        assert found["scoring"] == "r2"
        assert found["data"]["classes"] is None
        assert found["loss"] == found["error"] == pytest.approx(1 - found["r2"])
        assert found["baseline"]["label"] is None
        assert set(REGRESSION.scorings) < set(found) & set(found["front"]["points"][0])
        assert "accuracy" not in found

    def test_evaluate_and_rank(self, cli: Cli) -> None:
        x, y = load_diabetes(return_X_y=True)
        out = cli("evaluate", "sklearn:diabetes", "-e", "ridge", "--cv", "loo").out
        # The command scales by all rows.
        scaled = StandardScaler().fit_transform(x)
        said = cross_val_predict(Ridge(1.0), scaled, y, cv=LeaveOneOut())
        assert f"r2                           {r2_score(y, said):.4f}" in out
        assert "(mean -0.0045)" in out
        assert "F statistic of a linear regression" in cli("rank", "sklearn:diabetes").out
        assert "five bins" in cli("rank", "sklearn:diabetes", "--by", "mi").out
        refused = cli("rank", "sklearn:diabetes", "--by", "su")
        assert refused.code == 2
        assert "'su' needs classes" in refused.err

    def test_a_task_can_be_given(self, cli: Cli) -> None:
        refused = cli("select", "sklearn:diabetes", "--task", "classification")
        assert refused.code == 1
        assert "predict numbers with --task regression" in refused.err
        words = ("evaluate", "sklearn:iris", "--target", "petal width (cm)", "-e", "ridge")
        assert "numeric target" in cli(*words, "--encode", "ordinal", "--task", "regression").out

    def test_comparisons_are_of_classifiers(self, cli: Cli, tmp_path: Path) -> None:
        words = ("compare", "sklearn:diabetes", "--algos", "sfs", "--runs", 1)
        refused = cli(*words, "--store", tmp_path / "results.db")
        assert refused.code == 1
        assert "expected classes" in refused.err


def test_targets_at_the_limits_of_floats_are_refused() -> None:
    x = np.random.default_rng(0).normal(size=(30, 2))
    with pytest.raises(DataError, match="expected a number between -1e100 and 1e100"):
        select((x, np.arange(30) * 1e200), algo="sfs", task="regression")


def test_a_target_may_be_called_count() -> None:
    frame = pl.DataFrame({"x": [0.5, 1.5, 0.25, 2.5] * 5, "count": [0, 1, 0, 1] * 5})
    assert read_table(frame, "count").task.name == "classification"
