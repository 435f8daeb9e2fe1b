"""What a subset costs, twice: as scikit-learn is called, and as fast as we could make numpy.

Both take the definitions of docs/evaluation.md. `error` is the mean over ten stratified folds of
the share that 5-NN, Euclidean, gets wrong. `hybrid` is the negative of 0.8 of the balanced accuracy
of 1-NN, Manhattan, leave-one-out, and 0.2 of how far classes lie apart. scikit-learn leaves open
which of equally distant neighbors comes first, and numpy's float32 may part them by rounding, so
that ties may count otherwise.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import baselines
import numpy as np
from baselines import Baseline, Codes, Floats, Mask
from sklearn.metrics import balanced_accuracy_score
from sklearn.metrics.pairwise import manhattan_distances
from sklearn.model_selection import LeaveOneOut, cross_val_predict
from sklearn.neighbors import KNeighborsClassifier

from plain.evaluations import Costs, Masks

GAMMA, STEEPNESS = 0.8, 5.0
# Subsets whose distances are found by one product; more of them save little and cost memory.
BATCH = 32


@dataclass(frozen=True)
class Problem:
    """Columns scaled to 0..1, and the class of each row."""

    x: Floats
    y: Codes


Engine = Callable[[Problem], Costs]


def one_by_one(cost: Baseline) -> Costs:
    """Measure a batch of masks one after the other."""
    return lambda masks: np.array([cost(mask) for mask in masks])


def sklearn_error(problem: Problem) -> Costs:
    """Score by `cross_val_score` of `KNeighborsClassifier`."""
    return one_by_one(baselines.sklearn_knn(problem.x, problem.y, p=2))


def numpy_error(problem: Problem) -> Costs:
    """Score by one float32 product for each subset and five passes of argmin."""
    return one_by_one(baselines.numpy_knn(problem.x, problem.y))


def sklearn_hybrid(problem: Problem) -> Costs:
    """Score by `cross_val_predict` with `LeaveOneOut`, and `manhattan_distances`."""
    x, y = problem.x, problem.y
    same = y[:, None] == y

    def cost(mask: Mask) -> float:
        chosen = x[:, mask]
        model = KNeighborsClassifier(1, metric="manhattan")
        predicted = cross_val_predict(model, chosen, y, cv=LeaveOneOut())
        distances = manhattan_distances(chosen) / chosen.shape[1]
        across = np.where(same, 1.0, distances).min(axis=1).mean()
        within = np.where(same, distances, 0.0).max(axis=1).mean()
        return hybrid(balanced_accuracy_score(y, predicted), across - within)

    return one_by_one(cost)


def numpy_hybrid(problem: Problem) -> Costs:
    """Score from tables of |difference|, one for each feature, which one product adds up.

    Tables take 4 n^2 bytes for each feature. A product for a whole batch of subsets is three to
    seven times faster than scipy's `cdist`, and for one subset alone it is slower.
    """
    x, y = problem.x, problem.y
    n, n_classes = len(y), int(y.max()) + 1
    columns = np.ascontiguousarray(x.T, np.float32)
    tables = np.abs(columns[:, :, None] - columns[:, None, :]).reshape(-1, n * n)
    same = (y[:, None] == y).astype(np.float32)
    wall = np.where(same > 0, np.inf, 0.0).astype(np.float32)
    work, support = np.empty((n, n), np.float32), np.bincount(y, minlength=n_classes)

    def cost(distances: baselines.Singles, size: int) -> float:
        within = float(np.multiply(distances, same, out=work).max(axis=1).sum(dtype=np.float64))
        nearest = np.add(distances, wall, out=work).min(axis=1)
        across = float(np.minimum(nearest, size).sum(dtype=np.float64))
        np.fill_diagonal(distances, np.inf)
        right = y[distances.argmin(axis=1)] == y
        recalls = np.bincount(y[right], minlength=n_classes)[support > 0] / support[support > 0]
        return hybrid(float(recalls.mean()), (across - within) / (n * size))

    def costs(masks: Masks) -> Floats:
        found: list[float] = []
        for start in range(0, len(masks), BATCH):
            batch = masks[start : start + BATCH]
            matrices = (batch.astype(np.float32) @ tables).reshape(-1, n, n)
            found += map(cost, matrices, batch.sum(axis=1))
        return np.array(found)

    return costs


def hybrid(balanced_accuracy: float, separation: float) -> float:
    """Return the negative of 0.8 of the accuracy and 0.2 of the logistic of the separation."""
    apart = 1.0 / (1.0 + np.exp(-STEEPNESS * separation))
    return float(-(GAMMA * balanced_accuracy + (1.0 - GAMMA) * apart))


ENGINES: dict[str, dict[str, Engine]] = {
    "error": {"scikit-learn": sklearn_error, "numpy": numpy_error},
    "hybrid": {"scikit-learn": sklearn_hybrid, "numpy": numpy_hybrid},
}
