"""Native predictions are those of scikit-learn on raw float64 values; outliers lose nothing."""

from contextlib import nullcontext

import differential
import numpy as np
import pytest
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.neighbors import KNeighborsClassifier
from swarmrs import Evaluator, select


def test_predictions_are_those_of_scikit_learn() -> None:
    silent = []
    for at, (case, (_, _, mismatches, warnings)) in enumerate(differential.run(100, seed=7)):
        if mismatches and not warnings:
            silent.append((at, case.kind, case.scale, case.classifier))
    assert not silent


@pytest.mark.parametrize("factor", [1e2, 1e4, 1e6, 1e9, 1e12])
@pytest.mark.parametrize("metric", ["euclidean", "manhattan"])
def test_an_outlier_does_not_destroy_a_feature(factor: float, metric: str) -> None:
    rng = np.random.default_rng(3)
    y = np.repeat([0, 1], 100)
    x = rng.normal(size=(200, 12))
    x[:, 3] = y + 0.05 * rng.normal(size=200)
    settings = {"estimator": KNeighborsClassifier(5, metric=metric), "scale": "minmax"}
    only = [[at == 3 for at in range(12)]]
    clean = Evaluator((x, y), **settings).measure(only)["error"][0]
    x[7, 3] = factor
    warns = pytest.warns(UserWarning, match="feature x3 has extreme values")
    with warns if factor > 1e3 else nullcontext():
        scores = Evaluator((x, y), **settings).measure(only)
    # The outlier itself may be misclassified, and nothing else.
    assert scores["error"][0] <= clean + 0.01


@pytest.mark.parametrize("metric", ["euclidean", "manhattan"])
def test_cases_that_quantization_leaves_open_are_those_of_scikit_learn(metric: str) -> None:
    """One outlier row puts all others into one quantization step: float64 distances decide all."""
    rng = np.random.default_rng(3)
    x, y = rng.normal(size=(600, 40)), np.arange(600) % 3
    x[:200, :5] += 0.5
    x[7] = 1e11
    knn = KNeighborsClassifier(5, metric=metric, algorithm="brute")
    evaluator = Evaluator(x, y, estimator=knn, cv=10, scale="none")
    rows, labels = evaluator.predict(np.ones(40, dtype=bool))
    expected = cross_val_predict(knn, x, y, cv=StratifiedKFold(10))
    assert np.array_equal(rows, np.arange(600))
    # Seen from the outlier, float64 distances to the other rows are equal but for rounding.
    others = rows != 7
    assert np.array_equal(labels[others].astype(str), expected[others].astype(str))
    assert len(set(expected)) == 3


def test_a_search_finds_a_feature_with_an_outlier() -> None:
    rng = np.random.default_rng(3)
    y = np.repeat([0, 1], 100)
    x = rng.normal(size=(200, 12))
    x[:, 3] = y + 0.05 * rng.normal(size=200)
    x[7, 3] = 1e6
    with pytest.warns(UserWarning, match="extreme values"):
        found = select((x, y), algo="sfs", max_features=1, outer_cv=5, random_state=1)
    assert found.selected == ("x3",)
    error = found.scores["error"]
    assert error is not None
    assert error <= 0.01
