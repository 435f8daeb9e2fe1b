"""select(): its settings, its evaluation, its result."""

import inspect
import json
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from swarmrs import Evaluator, select
from swarmrs._base._options import options_of
from swarmrs.evaluation._native import Classifier
from swarmrs.exceptions import DataError, SpecError, SwarmrsWarning
from swarmrs.search._options._declarations import SearchOptions
from swarmrs.search._results._progress import Iteration

Blobs = tuple[NDArray[np.float64], NDArray[np.str_]]

QUICK: dict[str, Any] = {
    "algo": "bpso",
    "algo_params": {"population": 20},
    "max_evals": 120,
    "random_state": 1,
}


class TestSelection:
    def test_finds_the_columns_that_matter(self, blobs: Blobs) -> None:
        result = select(blobs, algo="sfs")
        assert result.selected == ("x1", "x4")
        assert result.selected_indices == (1, 4)
        assert result.support.tolist() == [False, True, False, False, True, False]
        assert result.size == 2
        assert result.stop == "finished"

    def test_its_scores_are_those_of_the_evaluator(self, blobs: Blobs) -> None:
        settings: dict[str, Any] = {
            "estimator": KNeighborsClassifier(3, metric="manhattan", weights="distance"),
            "cv": 5,
            "cv_seed": 4,
        }
        result = select(blobs, **QUICK, **settings)
        measured = Evaluator(*blobs, **settings).measure(result.support)[0]
        assert result.scores == dict(zip(measured.dtype.names, measured.tolist(), strict=True))
        assert result.cost == result.scores["error"]

    def test_the_dictionary_has_the_promised_keys(self, blobs_csv: Path) -> None:
        plain: dict[str, Any] = select(blobs_csv, **QUICK).to_dict()
        assert list(plain) == [
            "schema_version",
            "algorithm",
            "params",
            "seed",
            "preset",
            "data",
            "evaluation",
            "objective",
            "budget",
            "prescreen",
            "groups",
            "pick",
            "selected",
            "selected_indices",
            "size",
            "cost",
            "scoring",
            "loss",
            "baseline",
            "error",
            "pooled_error",
            "accuracy",
            "balanced_accuracy",
            "ovr_accuracy",
            "f1_macro",
            "matthews_corrcoef",
            "evaluations",
            "seconds",
            "work",
            "stop",
            "front",
            "parsimony",
            "stability",
            "held_out",
            "competition",
            "rows",
            "versions",
        ]
        assert plain["algorithm"] == "bpso"
        assert plain["params"]["population"] == 20
        assert plain["seed"] == 1
        assert plain["data"] | {"fingerprint": ""} == {
            "name": "blobs.csv",
            "rows": 60,
            "features": 6,
            "classes": 3,
            "fingerprint": "",
            "target": "tree",
            "labels": ["ash", "birch", "cedar"],
            "codes": {},
        }
        assert plain["evaluation"] == {
            "estimator": "knn",
            "n_neighbors": 5,
            "metric": "euclidean",
            "weights": "uniform",
            "scale": "minmax",
            "folds": {"scheme": "kfold", "k": 10, "shuffle": False, "seed": 0},
        }
        assert plain["objective"] == {"kind": "error"}
        assert plain["budget"]["evaluations"] == 120
        assert plain["evaluations"]["total"] == 120
        assert set(plain["seconds"]) == {"search", "evaluate", "total"}
        assert set(plain["work"]) == {"element_ops", "from_scratch_ops", "setup_ops"}
        assert json.loads(json.dumps(plain)) == plain

    def test_the_trace_has_a_row_for_each_iteration(self, blobs: Blobs) -> None:
        result = select(blobs, **QUICK)
        assert result.trace["evaluations"].to_list() == [20, 40, 60, 80, 100, 120]
        assert result.trace["best_cost"].is_sorted(descending=True)
        assert result.trace["best_cost"][-1] == result.cost

    def test_survives_pickling(self, blobs: Blobs) -> None:
        result = select(blobs, **QUICK)
        assert pickle.loads(pickle.dumps(result)).to_dict() == result.to_dict()


class TestSeed:
    def test_the_same_seed_gives_the_same_trace(self, blobs: Blobs) -> None:
        first, second = (select(blobs, **QUICK).trace for _ in range(2))
        assert first.equals(second)

    def test_a_drawn_seed_is_kept(self, blobs: Blobs) -> None:
        drawn = select(blobs, **QUICK | {"random_state": None})
        again = select(blobs, **QUICK | {"random_state": drawn.seed})
        assert drawn.trace.equals(again.trace)

    @pytest.mark.parametrize("make", [np.random.default_rng, np.random.RandomState])
    def test_generators_give_a_seed(self, blobs: Blobs, make: Callable[[int], Any]) -> None:
        seeds = [select(blobs, **QUICK | {"random_state": make(5)}).seed for _ in range(2)]
        assert seeds[0] == seeds[1]
        assert seeds[0] != select(blobs, **QUICK | {"random_state": make(6)}).seed

    @pytest.mark.parametrize("bad", [-1, 2**64, "one", 1.5])
    def test_other_seeds_are_refused(self, blobs: Blobs, bad: Any) -> None:
        with pytest.raises(SpecError, match="random_state is"):
            select(blobs, random_state=bad)

    def test_threads_change_nothing(self, blobs: Blobs) -> None:
        one, two = (select(blobs, **QUICK, n_jobs=jobs).to_dict() for jobs in (1, 2))
        assert one | {"seconds": None} == two | {"seconds": None}


class TestSpace:
    def test_include_and_exclude(self, blobs_csv: Path) -> None:
        result = select(blobs_csv, "tree", include=["a", 2], exclude=["b"], **QUICK)
        assert {"a", "c"} <= set(result.selected)
        assert "b" not in result.selected

    def test_max_features(self, blobs: Blobs) -> None:
        result = select(blobs, max_features=1, **QUICK)
        assert result.size == 1

    def test_an_excluded_column_may_hold_anything(self, blobs_csv: Path) -> None:
        data = pl.read_csv(blobs_csv).with_columns(pl.col("a").cast(pl.String) + "?")
        with pytest.raises(DataError, match="1 column of text: 'a'"):
            select(data, **QUICK)
        assert select(data, exclude=["a"], **QUICK).support.shape == (6,)


class TestEvaluation:
    @pytest.mark.parametrize(
        ("cv", "folds"),
        [
            ("loo", {"scheme": "loo"}),
            ("complete", {"scheme": "complete", "test": 0.5}),
            ("complete=0.25", {"scheme": "complete", "test": 0.25}),
            (4, {"scheme": "kfold", "k": 4, "shuffle": True, "seed": 3}),
            ("4", {"scheme": "kfold", "k": 4, "shuffle": True, "seed": 3}),
            ("holdout=0.25", {"scheme": "holdout", "test": 0.25, "seed": 3}),
            ("wrap5", {"scheme": "wrap5", "seed": 3}),
            (None, {"scheme": "kfold", "k": 5, "shuffle": True, "seed": 3}),
            (StratifiedKFold(3), {"scheme": "kfold", "k": 3, "shuffle": False, "seed": 0}),
            (StratifiedKFold(3, shuffle=True), {"scheme": "splits", "n_splits": 3}),
            ([(range(30), range(30, 60))], {"scheme": "splits", "n_splits": 1}),
        ],
    )
    def test_folds(self, blobs: Blobs, cv: Any, folds: dict[str, Any]) -> None:
        result = select(blobs, cv=cv, cv_seed=3, **QUICK)
        assert result.evaluation["folds"] == folds

    @pytest.mark.parametrize("cv", [4, "4"])
    def test_folds_are_shuffled_only_by_a_seed(self, blobs: Blobs, cv: Any) -> None:
        folds = select(blobs, cv=cv, **QUICK).evaluation["folds"]
        assert folds == {"scheme": "kfold", "k": 4, "shuffle": False, "seed": 0}

    @pytest.mark.parametrize(
        ("algo", "objective"), [("bpso", "error"), ("vlpso", "hybrid"), ("lfs", "error")]
    )
    def test_every_algorithm_has_the_same_default_evaluation(
        self, blobs: Blobs, algo: str, objective: str
    ) -> None:
        settings: dict[str, Any] = {"algo": algo, "random_state": 1, "max_evals": 300}
        result = select(blobs, **settings)
        by: dict[str, Any] = result.evaluation
        assert (by["n_neighbors"], by["metric"], by["folds"]["k"]) == (5, "euclidean", 10)
        assert result.objective == {"kind": "error"}
        own = KNeighborsClassifier(1, metric="manhattan")
        paper = select(blobs, estimator=own, scale="minmax", objective="paper", **settings)
        assert paper.objective["kind"] == objective

    def test_the_default_algorithm_is_auto(self, blobs: Blobs) -> None:
        settings: dict[str, Any] = {"random_state": 1, "max_evals": 300}
        result, named = select(blobs, **settings), select(blobs, algo="auto", **settings)
        assert result.algorithm == "auto"
        assert result.selected == named.selected

    def test_one_search_is_that_of_vlpso_ls(self, blobs: Blobs) -> None:
        settings: dict[str, Any] = {"random_state": 1, "max_evals": 300, "keep_all": True}
        result = select(blobs, **settings)
        assert result.algorithm == "vlpso-ls"
        named = select(blobs, algo="vlpso-ls", estimator="knn", **settings)
        assert result.trace.equals(named.trace)

    def test_an_estimator_is_not_scaled_and_a_name_is(self, blobs: Blobs) -> None:
        alone = select(blobs, estimator=KNeighborsClassifier(5), **QUICK).evaluation
        assert alone["scale"] == "none"
        scaled = select(blobs, estimator=KNeighborsClassifier(5), scale="minmax", **QUICK)
        named = select(blobs, estimator="knn", **QUICK)
        assert scaled.evaluation == named.evaluation
        assert scaled.trace.equals(named.trace)

    def test_an_algorithm_traces_columns_of_its_own(self, blobs: Blobs) -> None:
        trace = select(blobs, algo="vlpso", random_state=1, max_evals=500).trace
        assert {"iteration", "mean_size", "moves", "max_length", "best_improved"} <= set(
            trace.columns
        )
        assert trace["iteration"].to_list() == list(range(trace.height))

    def test_naive_bayes_records_no_neighbors(self, blobs: Blobs) -> None:
        evaluation = select(blobs, estimator="nb", cv="loo", **QUICK).evaluation
        assert evaluation == {"estimator": "nb", "scale": "minmax", "folds": {"scheme": "loo"}}

    def test_an_estimator_of_scikit_learn_scores_subsets(self, blobs: Blobs) -> None:
        x, y = blobs
        splits = list(StratifiedKFold(3).split(x, y))
        result = select(
            x,
            y,
            estimator=LogisticRegression(),
            scoring="balanced_accuracy",
            cv=splits,
            max_evals=10,
            random_state=1,
            algo="bpso",
            algo_params={"population": 5},
        )
        scores = cross_val_score(
            LogisticRegression(), x[:, result.support], y, cv=splits, scoring="balanced_accuracy"
        )
        assert result.scores["error"] == 1 - scores.mean()
        assert result.scores["accuracy"] is None
        assert result.evaluation == {
            "estimator": "LogisticRegression()",
            "scale": "none",
            "scoring": "balanced_accuracy",
            "folds": {"scheme": "splits", "n_splits": 3},
        }

    def test_a_function_scores_batches(self) -> None:
        batches: list[int] = []

        def far_from_the_first_three(masks: NDArray[np.bool_]) -> list[float]:
            batches.append(len(masks))
            return list((masks != (np.arange(6) < 3)).mean(axis=1))

        data = (np.random.default_rng(0).random((10, 6)), [0, 1] * 5)
        result = select(data, scorer=far_from_the_first_three, algo="sfs")
        assert result.selected_indices == (0, 1, 2)
        assert result.cost == 0
        assert max(batches) > 1
        assert str(result.evaluation["estimator"]).endswith("far_from_the_first_three")

    def test_a_function_that_knows_nothing_is_refused(self, blobs: Blobs) -> None:
        with pytest.raises(SpecError, match="it gave no finite number for any subset"):
            select(blobs, scorer=lambda masks: [np.nan] * len(masks), **QUICK)

    @pytest.mark.parametrize(
        ("given", "message"),
        [
            (lambda masks: masks, "the scorer returned 6 x 6 numbers for 6 subsets"),
            (lambda masks: [0.5], "the scorer returned 1 number for 6 subsets"),
            (lambda masks: None, "the scorer returned None for 6 subsets"),
            (lambda masks: ["a"] * 6, "the scorer returned a list without numbers for 6 subsets"),
        ],
    )
    def test_a_function_that_gives_no_number_for_each_is_refused(
        self, given: Any, message: str
    ) -> None:
        data = (np.random.default_rng(0).random((10, 6)), [0, 1] * 5)
        with pytest.raises(SpecError, match=message):
            select(data, scorer=given, algo="sfs")

    def test_an_error_of_the_function_is_not_lost(self, blobs: Blobs) -> None:
        def broken(masks: NDArray[np.bool_]) -> list[float]:
            raise ZeroDivisionError("by the scorer")

        with pytest.raises(Exception, match="by the scorer"):
            select(blobs, scorer=broken, **QUICK)


class TestBudget:
    @pytest.mark.parametrize(
        ("budget", "stop"),
        [
            ({"max_evals": 50}, "max_evals"),
            ({"max_iter": 3}, "max_iter"),
            ({"time_limit": 0.01, "max_evals": 10**9}, "time_limit"),
            ({"target_cost": 1.0}, "target_cost"),
        ],
    )
    def test_each_limit_ends_a_run(self, blobs: Blobs, budget: dict[str, Any], stop: str) -> None:
        assert select(blobs, algo="bpso", random_state=1, **budget).stop == stop

    def test_a_callback_sees_every_iteration_and_stops(self, blobs: Blobs) -> None:
        seen = []

        def watch(iteration: Iteration) -> bool:
            seen.append(iteration)
            return len(seen) == 2

        result = select(blobs, callback=watch, **QUICK)
        assert result.stop == "callback"
        assert [iteration["evaluations"] for iteration in seen] == [20, 40]
        assert set(seen[0]) == {
            "iteration",
            "evaluations",
            "unique",
            "limit",
            "best_cost",
            "best_error",
            "best_loss",
            "best_size",
            "seconds",
        }
        assert seen[0]["limit"] == 120


BAD_CALLS = [
    ({"algo": "bpos"}, "unknown algorithm 'bpos'", "did you mean 'bpso'?"),
    ({"estimatr": "knn"}, "unknown option 'estimatr'", "did you mean 'estimator'?"),
    ({"n_neighbors": 3}, "unknown option 'n_neighbors'", None),
    ({"estimator": "kn"}, "unknown estimator 'kn'", "did you mean 'knn'? known: knn, nb"),
    (
        {"scale": "minmx"},
        "unknown scale 'minmx'",
        "did you mean 'minmax'? known: minmax, standard, none",
    ),
    (
        {"objective": "weigthed"},
        "unknown objective 'weigthed'",
        "did you mean 'weighted'? known: error, paper, weighted, hybrid, gaussian",
    ),
    ({"cv": "ten"}, "unknown cv 'ten'", "known: 10, loo, complete, holdout=0.3"),
    ({"algo_params": {"populaton": 3}}, "unknown parameter 'populaton' of vlpso-ls", "population"),
    ({"algo_params": {"population": 0}}, "population is 0, expected", None),
    ({"estimator": KNeighborsClassifier(55)}, "n_neighbors is 55, expected 1 to 54", None),
    ({"cv": 2.5}, "cv is 2.5, expected folds", "known: 10, "),
    ({"cv_seed": -1}, "cv_seed is -1, expected a whole number of 0 or more", None),
    ({"max_evals": 0}, "max_evals is 0, expected a whole number of 1 or more", None),
    ({"max_iter": -1}, "max_iter is -1, expected a whole number of 1 or more", None),
    ({"max_features": "3"}, "max_features is '3', expected a whole number", None),
    ({"max_features": 0}, "max_features is 0, expected a whole number of 1 or more", None),
    ({"max_features": 1.5}, "max_features is 1.5, expected a share from 0 to 1", None),
    ({"scoring": "f1_macr"}, "unknown scoring 'f1_macr'", "did you mean 'f1_macro'?"),
    ({"memory": -1}, "memory is -1, expected a whole number of 0 or more", None),
    ({"include": ["x55"]}, "column 'x55' not found in array", "did you mean 'x5'?"),
    ({"n_jobs": 0}, "n_jobs is 0", None),
    ({"cv": [([0.5], [1])]}, "a part of cv is not a list of row numbers", None),
]


@pytest.mark.parametrize(("call", "message", "hint"), BAD_CALLS)
def test_bad_calls_are_refused_in_these_words(
    blobs: Blobs, call: dict[str, Any], message: str, hint: str | None
) -> None:
    with pytest.raises(SpecError) as error:
        select(blobs, **call)
    assert str(error.value).startswith(message)
    if hint is not None:
        assert error.value.hint is not None
        assert hint in error.value.hint
        assert error.value.__notes__ == [f"hint: {error.value.hint}"]


@pytest.mark.parametrize(
    ("name", "settings", "message"),
    [
        ("knn", {"n_neighbors": 0}, "n_neighbors is 0, expected a whole number of 1 or more"),
        ("knn", {"n_neighbors": 2.5}, "n_neighbors is 2.5, expected a whole number"),
        ("knn", {"metric": "manhatan"}, "unknown metric 'manhatan'"),
        ("knn", {"weights": "none"}, "unknown weights 'none'"),
        ("nb", {"n_neighbors": 3}, "n_neighbors is 3, but 'nb' has no neighbors"),
        ("nb", {"metric": "manhattan"}, "metric is manhattan, but 'nb' has no neighbors"),
        (KNeighborsClassifier(), {"weights": "distance"}, "but the estimator has its own"),
    ],
)
def test_neighbors_that_a_classifier_cannot_have_are_refused(
    name: Any, settings: dict[str, Any], message: str
) -> None:
    with pytest.raises(SpecError, match=message):
        Classifier.of(name, **settings)


def test_max_features_may_be_a_share(blobs: Blobs) -> None:
    result = select(blobs, algo="sbs", max_features=0.5, objective="filter-cfs")
    # Three of six columns.
    assert result.front[-1].size <= 3
    tiny = select(blobs, algo="sfs", max_features=0.01)
    assert tiny.size == 1


def test_a_parameter_that_can_be_off_is_switched_off(blobs: Blobs) -> None:
    off = {"length_gap": None, "population": 12, "iterations": 2}
    result = select(blobs, algo="vlpso", random_state=1, algo_params=off)
    assert result.params["length_gap"] is None
    expected = "divisions is None, expected a whole number from 1 to 100000"
    with pytest.raises(SpecError, match=expected):
        select(blobs, algo="vlpso", algo_params={"divisions": None})


def test_a_class_rarer_than_the_folds_is_warned_of(blobs: Blobs) -> None:
    x, y = blobs
    labels = np.where(np.arange(60) < 4, "rare", y)
    with pytest.warns(SwarmrsWarning, match=r"class 'rare' has 4 rows, fewer than the 10 folds"):
        result = select(x, labels, **QUICK)
    assert len(result.warnings) == 1


def test_the_signature_shows_every_option_with_its_default() -> None:
    shown = inspect.signature(select).parameters
    options = {name: option.default for name, option in options_of(SearchOptions, "p").items()}
    assert {name: shown[name].default for name in options} == options
    assert set(shown) - set(options) == {"data", "target", "read", "missing", "encode"}
    assert select.__doc__ is not None
    assert all(f"    {name} : " in select.__doc__ for name in options)


def test_a_selection_is_told_in_three_lines(blobs_csv: Path) -> None:
    found = select(blobs_csv, algo="sfs", random_state=1, test_size=0.3)
    assert found.held_out is not None
    lines = repr(found).splitlines()
    assert lines[0] == "Selection of 2 of 6 features of blobs.csv by sfs, seed 1"
    assert lines[1] == "  b, e"
    assert lines[2].startswith(
        "  inner error 0.0000 (optimistic: the same folds chose the features)"
    )
    assert lines[2].endswith(f"outer error {found.held_out.outer_error:.4f}")
    assert len(lines) == 3


def test_a_notebook_shows_a_selection_as_a_table() -> None:
    x, y = np.arange(40.0).reshape(20, 2) % 7, np.arange(20) % 2
    frame = pl.DataFrame({"<script>": x[:, 0], "b": x[:, 1], "class": y})
    shown = select(frame, algo="sfs", cv=2, include=["<script>"])._repr_html_()
    assert shown.startswith("<table>")
    assert "&lt;script&gt;" in shown
    assert "<script>" not in shown


def test_a_budget_below_the_population_evaluates_what_it_allows(blobs: Blobs) -> None:
    message = "max_evals is 10, less than the population of 30: only 10 subsets were evaluated"
    with pytest.warns(SwarmrsWarning, match=message):
        result = select(blobs, algo="bpso", max_evals=10, random_state=1)
    assert (result.stop, result.evaluations.total, result.trace.height) == ("max_evals", 10, 1)
    assert result.cost >= select(blobs, algo="bpso", max_evals=30, random_state=1).cost


def test_max_iter_is_the_schedule_of_an_algorithm(blobs: Blobs) -> None:
    settings: dict[str, Any] = {"algo": "pso", "random_state": 1}
    result = select(blobs, max_iter=5, algo_params={"population": 6}, **settings)
    assert (result.stop, result.params["iterations"]) == ("max_iter", 4)
    assert result.trace["iteration"].to_list() == [0, 1, 2, 3, 4]
    own = select(blobs, algo_params={"population": 6, "iterations": 4}, **settings)
    assert own.trace.equals(result.trace)
    assert own.stop == "finished"
    with pytest.raises(SpecError, match="iterations and max_iter are both given"):
        select(blobs, max_iter=5, algo_params={"iterations": 4}, **settings)


@pytest.mark.parametrize("read", [{1: 2}, {"sep": ";"}, {"missing": "mean"}, {"exclude": ["a"]}])
def test_reading_options_that_do_not_exist_are_refused(read: dict[Any, Any]) -> None:
    with pytest.raises(SpecError, match=f"unknown option '{next(iter(read))}'"):
        select("sklearn:iris", algo="sfs", read=read)
