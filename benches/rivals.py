"""Other ways to the k-NN error of a subset: kd-trees, scikit-learn's ArgKmin, GEMM and cdist.

Every rival prepares beforehand what does not depend on the subset. A subset is then indexed, and
blocks of rows are classified: `rival(mask)` returns a function that counts the errors of some rows,
so that a rival that takes long can be timed on a sample of the rows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from baselines import N_NEIGHBORS, Codes, Floats, Mask, k_least, majority
from numpy.typing import NDArray
from scipy.spatial import cKDTree
from scipy.spatial.distance import cdist
from sklearn.neighbors import KDTree, NearestNeighbors

Count = Callable[[slice], int]
Rival = Callable[[Mask], Count]
#: Returns so many nearest samples of some points.
Query = Callable[[Floats, int], Codes]
Distances = Callable[[slice], NDArray[np.floating]]


class Problem:
    """Samples and their folds, sorted by fold.

    Parameters
    ----------
    x : ndarray of shape (n_samples, n_features)
        Scaled values.
    y : ndarray of shape (n_samples,)
        Class codes.
    folds : ndarray of shape (n_samples,), optional
        The fold of each sample; None is leave-one-out.
    """

    def __init__(self, x: Floats, y: Codes, folds: Codes | None) -> None:
        self.is_loo = folds is None
        self.folds = np.arange(len(y)) if folds is None else np.sort(folds, kind="stable")
        order = slice(None) if folds is None else np.argsort(folds, kind="stable")
        self.x, self.y = x[order], y[order]
        self.n, self.n_classes = len(y), int(y.max()) + 1
        self.bounds = np.searchsorted(self.folds, np.arange(self.folds[-1] + 2))

    def exclude(self, distances: NDArray[np.floating], rows: slice) -> None:
        """Set the distances of some rows to the samples of their own fold to infinity."""
        if self.is_loo:
            np.fill_diagonal(distances[:, rows], np.inf)
            return
        for fold in range(self.folds[rows.start], self.folds[rows.stop - 1] + 1):
            start, stop = self.bounds[fold : fold + 2]
            own = slice(max(start, rows.start) - rows.start, min(stop, rows.stop) - rows.start)
            distances[own, start:stop] = np.inf

    def count_errors(self, neighbors: Codes, rows: slice | Codes) -> int:
        """Count the rows that the majority of their neighbors misclassifies."""
        winners = majority(self.y[neighbors], self.n_classes)
        return int(np.count_nonzero(winners != self.y[rows]))


def one_index(problem: Problem, build: Callable[[Floats], Query]) -> Rival:
    """Index all samples once; query a few neighbors more than needed, and drop those of own fold.

    A row that has too few left is queried again with twice as many.
    """
    first = N_NEIGHBORS + (1 if problem.is_loo else 4)

    def index(mask: Mask) -> Count:
        points = np.ascontiguousarray(problem.x[:, mask])
        query = build(points)

        def count(rows: slice) -> int:
            wrong, n_near, left = 0, first, np.arange(rows.start, rows.stop)
            while len(left):
                near = query(points[left], n_near)
                others = problem.folds[near] != problem.folds[left][:, None]
                enough = others.sum(axis=1) >= N_NEIGHBORS
                near, others = near[enough], others[enough]
                kept = near[others & (np.cumsum(others, axis=1) <= N_NEIGHBORS)]
                wrong += problem.count_errors(kept.reshape(-1, N_NEIGHBORS).T, left[enough])
                left, n_near = left[~enough], min(2 * n_near, problem.n)
            return wrong

        return count

    return index


def fold_indexes(problem: Problem, build: Callable[[Floats], Query]) -> Rival:
    """Index the samples outside of each fold, and query exactly the neighbors needed."""
    bounds = problem.bounds
    train = [np.flatnonzero(problem.folds != fold) for fold in range(len(bounds) - 1)]

    def index(mask: Mask) -> Count:
        points = np.ascontiguousarray(problem.x[:, mask])
        queries = [build(points[rows]) for rows in train]

        def count(rows: slice) -> int:
            wrong = 0
            for fold, query in enumerate(queries):
                start, stop = max(bounds[fold], rows.start), min(bounds[fold + 1], rows.stop)
                if start < stop:
                    near = train[fold][query(points[start:stop], N_NEIGHBORS)]
                    wrong += problem.count_errors(near.T, slice(start, stop))
            return wrong

        return count

    return index


def scipy_tree(p: int) -> Callable[[Floats], Query]:
    """Return scipy's kd-tree of the metric p."""

    def build(points: Floats) -> Query:
        tree = cKDTree(points)
        return lambda some, count: np.asarray(tree.query(some, count, p=p)[1], np.int64)

    return build


def sklearn_tree(points: Floats) -> Query:
    """Return scikit-learn's kd-tree."""
    tree = KDTree(points)
    return lambda some, count: np.asarray(tree.query(some, count, return_distance=False), np.int64)


def argkmin(metric: str) -> Callable[[Floats], Query]:
    """Return scikit-learn's brute force, which keeps the nearest while it computes distances."""

    def build(points: Floats) -> Query:
        index = NearestNeighbors(algorithm="brute", metric=metric).fit(points)
        return lambda some, count: np.asarray(
            index.kneighbors(some, count, return_distance=False), np.int64
        )

    return build


def _blocks(problem: Problem, distances: Distances, n_rows: int) -> Count:
    """Classify rows by the distances of `n_rows` rows at a time."""

    def count(rows: slice) -> int:
        wrong = 0
        for start in range(rows.start, rows.stop, n_rows):
            block = slice(start, min(start + n_rows, rows.stop))
            found = distances(block)
            problem.exclude(found, block)
            wrong += problem.count_errors(k_least(found, N_NEIGHBORS), block)
        return wrong

    return count


def gemm(problem: Problem, dtype: type[np.floating]) -> Callable[[int], Rival]:
    """Compute |b|^2 - 2ab by one matrix product a block: |a|^2 changes no order within a row."""
    n, d = problem.x.shape
    columns = np.ascontiguousarray(problem.x.T, dtype)
    left, right = np.empty((1 + d, n), dtype), np.empty((1 + d, n), dtype)
    left[0] = 1.0

    def blocked(n_rows: int) -> Rival:
        out = np.empty((min(n_rows, n), n), dtype)

        def index(mask: Mask) -> Count:
            end = 1 + int(mask.sum())
            values = right[1:end]
            np.take(columns, np.flatnonzero(mask), axis=0, out=values, mode="clip")
            np.multiply(values, -2.0, out=left[1:end])
            np.einsum("ij,ij->j", values, values, out=right[0])

            def distances(rows: slice) -> NDArray[np.floating]:
                found = out[: rows.stop - rows.start]
                np.matmul(left[:end, rows].T, right[:end], out=found)
                return found

            return _blocks(problem, distances, n_rows)

        return index

    return blocked


def scipy_manhattan(problem: Problem) -> Callable[[int], Rival]:
    """Compute Manhattan distances by `cdist`."""

    def blocked(n_rows: int) -> Rival:
        out = np.empty((min(n_rows, problem.n), problem.n))

        def index(mask: Mask) -> Count:
            points = np.ascontiguousarray(problem.x[:, mask])

            def distances(rows: slice) -> Floats:
                found = out[: rows.stop - rows.start]
                cdist(points[rows], points, "cityblock", out=found)
                return found

            return _blocks(problem, distances, n_rows)

        return index

    return blocked


@dataclass(frozen=True)
class Entry:
    """A rival of the grid. It works on multiples of `step` rows at its best."""

    family: str
    is_exact: bool
    rival: Rival
    step: int = 256


#: Rows of a block, if their distances fit into so many bytes.
_BLOCK_ROWS = (128, 2048)
_BLOCK_BYTES = 1 << 29
#: kd-trees visit most samples if there are more features.
_TREE_FEATURES = 32


def entries(problem: Problem, metric: str, size: int) -> list[Entry]:
    """Return all rivals for subsets of `size` features."""
    found = [Entry("ArgKmin", True, one_index(problem, argkmin(metric)))]
    if size <= _TREE_FEATURES:
        tree = scipy_tree(2 if metric == "euclidean" else 1)
        found.append(Entry("kd-tree", True, one_index(problem, tree)))
        if not problem.is_loo:
            found.append(Entry("kd-tree", True, fold_indexes(problem, tree)))
    if metric == "euclidean":
        blocked = {"GEMM f64": gemm(problem, np.float64), "GEMM f32": gemm(problem, np.float32)}
    else:
        blocked = {"cdist": scipy_manhattan(problem)}
    most = min(problem.n, _BLOCK_BYTES // (8 * problem.n))
    lengths = sorted({min(n_rows, most) for n_rows in _BLOCK_ROWS})
    for family, rival in blocked.items():
        is_exact = family != "GEMM f32"
        found += [Entry(family, is_exact, rival(n_rows), n_rows) for n_rows in lengths]
    return found
