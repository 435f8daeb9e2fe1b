"""Objectives: their costs, the score they are made of, and what is refused."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.neighbors import KNeighborsClassifier
from swarmrs import Evaluator, select
from swarmrs.exceptions import SpecError, SwarmrsWarning

Blobs = tuple[NDArray[np.float64], NDArray[np.str_]]
QUICK: dict[str, Any] = {
    "algo": "bpso",
    "algo_params": {"population": 20},
    "max_evals": 120,
    "random_state": 1,
}
MANHATTAN = KNeighborsClassifier(5, metric="manhattan")


def test_weighted_objective(blobs: Blobs) -> None:
    result = select(blobs, objective={"kind": "weighted", "alpha": 0.6}, **QUICK)
    error = result.scores["error"]
    assert error is not None
    assert result.cost == pytest.approx(0.6 * error + 0.4 * result.size / 6, abs=1e-15)
    assert result.objective == {"kind": "weighted", "alpha": 0.6}


def test_hybrid_objective(blobs: Blobs) -> None:
    result = select(blobs, objective="hybrid", estimator=MANHATTAN, scale="minmax", **QUICK)
    assert result.objective == {"kind": "hybrid", "gamma": 0.8}
    assert result.cost < 0


def test_gaussian_objective(blobs: Blobs) -> None:
    result = select(
        blobs,
        objective={"kind": "gaussian", "alpha": 0.5, "sigma_log": "ln"},
        feature_groups=[[0, 1, 2], [3, 4, 5]],
        **QUICK,
    )
    assert result.objective == {
        "kind": "gaussian",
        "alpha": 0.5,
        "sim": "plain",
        "sigma_log": "ln",
    }
    counts = np.array([result.support[:3].sum(), result.support[3:].sum()])
    similar = np.exp(-0.5 * (((counts - 1) / np.log(30)) ** 2).sum())
    error = result.scores["error"]
    assert error is not None
    # Sums in another order than the engine's.
    assert result.cost == pytest.approx(0.5 * error + 0.5 * (1 - similar), abs=1e-14)


@pytest.mark.parametrize(
    ("scoring", "shortfall"),
    [
        ("accuracy", lambda scores: scores["error"]),
        ("balanced_accuracy", lambda scores: 1 - scores["balanced_accuracy"]),
        ("ovr_accuracy", lambda scores: 1 - scores["ovr_accuracy"]),
        ("f1_macro", lambda scores: 1 - scores["f1_macro"]),
        ("matthews_corrcoef", lambda scores: (1 - scores["matthews_corrcoef"]) / 2),
    ],
)
def test_the_cost_goes_by_the_score_asked_for(
    blobs: Blobs, scoring: str, shortfall: Callable[[dict[str, Any]], float]
) -> None:
    result = select(blobs, scoring=scoring, **QUICK)
    assert result.objective == {"kind": "error", "scoring": scoring}
    # Halves are summed in another order for matthews_corrcoef.
    assert result.cost == pytest.approx(shortfall(result.scores), abs=1e-15)


def test_a_scorer_has_no_scoring(blobs: Blobs) -> None:
    with pytest.raises(SpecError, match="scoring and scorer are both given"):
        select(blobs, scorer=lambda masks: [0.5] * len(masks), scoring="matthews_corrcoef", **QUICK)


@pytest.mark.parametrize("objective", ["hybrid", "paper"])
def test_the_hybrid_objective_needs_neighbors(blobs: Blobs, objective: str) -> None:
    with pytest.raises(SpecError, match="needs the neighbors of knn"):
        select(blobs, algo="pso", estimator="nb", objective=objective, random_state=1)


def test_the_objective_of_a_paper_gives_way_to_the_error_with_a_warning(blobs: Blobs) -> None:
    settings: dict[str, Any] = {"algo": "pso", "random_state": 1, "max_evals": 300}
    with pytest.warns(SwarmrsWarning, match="pso minimizes the hybrid objective"):
        result = select(blobs, objective="paper", **settings)
    assert result.objective == {"kind": "error"}
    own = select(blobs, objective="paper", estimator=MANHATTAN, scale="minmax", **settings)
    assert own.objective["kind"] == "hybrid"


@pytest.mark.parametrize(
    ("settings", "message", "hint"),
    [
        (
            {"objective": {"kind": "error", "alpha": 0.7}},
            "alpha is 0.7, but objective 'error' has none",
            "it belongs to weighted and gaussian",
        ),
        (
            {"objective": {"kind": "error", "gamma": 0.7}},
            "gamma is 0.7, but objective 'error' has none",
            "it belongs to hybrid",
        ),
        (
            {"objective": {"kind": "gaussian", "sim": "plane"}},
            "unknown sim 'plane'",
            "did you mean 'plain'? known: plain, literal, mvn",
        ),
        (
            {"objective": {"kind": "weighted", "beta": 0.7}},
            "beta is 0.7, but objective 'weighted' has none",
            "leave it out",
        ),
        (
            {"objective": 0.7},
            "objective is 0.7, expected a string or a mapping",
            None,
        ),
        (
            {"scoring": "macro_f1"},
            "unknown scoring 'macro_f1'",
            "did you mean 'f1_macro'? known: the scorers of scikit-learn, such as accuracy, "
            "balanced_accuracy, f1_macro, matthews_corrcoef, r2, neg_mean_squared_error, "
            "neg_root_mean_squared_error, neg_mean_absolute_error",
        ),
    ],
)
def test_what_does_not_belong_is_refused(
    blobs: Blobs, settings: dict[str, Any], message: str, hint: str
) -> None:
    with pytest.raises(SpecError) as caught:
        select(blobs, **settings)
    assert str(caught.value) == message
    assert caught.value.hint == hint


@pytest.mark.parametrize("objective", ["filter-cfs", "filter-mrmr"])
def test_a_filter_objective_guides_and_the_classifier_scores(blobs: Blobs, objective: str) -> None:
    result = select(blobs, objective=objective, prescreen="su>0", **QUICK)
    assert result.objective == {"kind": objective}
    assert 0 <= result.cost == result.trace["best_cost"][-1] == result.trace["best_error"][-1]
    own = Evaluator(blobs).measure(result.support)
    assert own["error"][0] == result.scores["error"]
    evaluated: list[NDArray[np.bool_]] = []

    def half(masks: NDArray[np.bool_]) -> list[float]:
        evaluated.extend(masks)
        return [0.5] * len(masks)

    outside = select(blobs, objective=objective, prescreen="su>0", scorer=half, **QUICK)
    assert (outside.selected, outside.scores["error"]) == (result.selected, 0.5)
    assert len(evaluated) == len({tuple(mask) for mask in evaluated}) == len(outside.front)
    assert {point.error for point in outside.front} == {0.5}


def test_irrelevant_features_are_warned_of_by_mrmr(blobs: Blobs) -> None:
    with pytest.warns(SwarmrsWarning, match="irrelevant for the class"):
        select(blobs, objective="filter-mrmr", **QUICK)
