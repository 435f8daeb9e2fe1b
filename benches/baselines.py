"""What swarmrs is measured against: scikit-learn as users call it, and the best numpy we found.

Every baseline takes a mask and gives the share of misclassified rows: its mean over the folds for
k-NN and for all of scikit-learn's, that of all rows for the rest. The numpy ones are honest rivals:
they prepare beforehand what does not depend on the mask, reuse their buffers and make one matrix
product per subset.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, NearestNeighbors

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]
Codes = NDArray[np.int64]
Mask = NDArray[np.bool_]
Baseline = Callable[[Mask], float]

N_FOLDS = 10
N_NEIGHBORS = 5
# Added to the squared distance of rows that share a fold, and beyond any distance of scaled rows.
FAR = 1e6


def scaled(x: Floats) -> Floats:
    """Bring each column to 0..1; a constant one to 0.

    Parameters
    ----------
    x : ndarray of shape (n_samples, n_features)
        The table as loaded.

    Returns
    -------
    ndarray
        The scaled table.
    """
    spread = np.ptp(x, axis=0)
    result: Floats = (x - x.min(axis=0)) / np.where(spread > 0, spread, 1.0)
    return result


def fold_of_rows(y: Codes) -> Codes:
    """Give the unshuffled stratified fold of each row.

    Parameters
    ----------
    y : ndarray of shape (n_samples,)
        Class codes.

    Returns
    -------
    ndarray of shape (n_samples,)
        Fold numbers.
    """
    folds = np.empty(len(y), np.int64)
    for number, (_, test) in enumerate(StratifiedKFold(N_FOLDS).split(y, y)):
        folds[test] = number
    return folds


def sklearn_knn(x: Floats, y: Codes, p: int) -> Baseline:
    """Score by `cross_val_score` of `KNeighborsClassifier`; the mean error over the folds."""
    cv = StratifiedKFold(N_FOLDS)

    def error(mask: Mask) -> float:
        model = KNeighborsClassifier(N_NEIGHBORS, p=p)
        return 1.0 - float(cross_val_score(model, x[:, mask], y, cv=cv, n_jobs=1).mean())

    return error


def sklearn_nb(x: Floats, y: Codes) -> Baseline:
    """Score by `cross_val_score` of `GaussianNB`; the mean error over the folds."""
    cv = StratifiedKFold(N_FOLDS)

    def error(mask: Mask) -> float:
        return 1.0 - float(cross_val_score(GaussianNB(), x[:, mask], y, cv=cv, n_jobs=1).mean())

    return error


def sklearn_loo(x: Floats, y: Codes) -> Baseline:
    """Score by `kneighbors()` without arguments, which leaves each row out of its own list."""

    def error(mask: Mask) -> float:
        nearest = NearestNeighbors(n_neighbors=1, algorithm="brute").fit(x[:, mask])
        found = nearest.kneighbors(return_distance=False)[:, 0]
        return float(np.mean(y[found] != y))

    return error


def k_least(distances: NDArray[np.floating], k: int) -> NDArray[np.intp]:
    """Return the k nearest of each row, nearest first, by k passes of argmin.

    They take less time than one `argpartition`. What they find is set to infinity.

    Parameters
    ----------
    distances : ndarray of shape (n_queries, n_samples)
        Contiguous rows.
    k : int
        Number of neighbors.

    Returns
    -------
    ndarray of shape (k, n_queries)
        Column numbers.
    """
    m, n = distances.shape
    flat, starts = distances.reshape(-1), np.arange(m) * n
    found = np.empty((k, m), np.intp)
    for nearest in found:
        np.argmin(distances, axis=1, out=nearest)
        flat[starts + nearest] = np.inf
    return found


def majority(ballots: Codes, n_classes: int) -> Codes:
    """Return the class that most ballots of each column name; the first one of a tie."""
    m = ballots.shape[1]
    cells = (np.arange(m) * n_classes + ballots).ravel()
    votes = np.bincount(cells, minlength=m * n_classes)
    winners: Codes = votes.reshape(m, n_classes).argmax(axis=1)
    return winners


class _Neighbors:
    """Buffers for distances of all pairs, and k passes of argmin over them."""

    def __init__(self, y: Codes, folds: Codes, dtype: type[np.floating]) -> None:
        n = len(y)
        self.y, self.n, self.n_classes = y, n, int(y.max()) + 1
        self.folds, self.fold_sizes = folds, np.bincount(folds)
        self.distances = np.empty((n, n), dtype)

    def vote(self, k: int) -> float:
        """Take the k nearest of each row, spoiling the distances; the mean share of wrong votes."""
        winners = majority(self.y[k_least(self.distances, k)], self.n_classes)
        wrong = np.bincount(self.folds[winners != self.y], minlength=len(self.fold_sizes))
        return float((wrong / self.fold_sizes).mean())

    def nearest(self) -> float:
        """Count the rows whose one nearest row is of another class."""
        return float(np.count_nonzero(self.y[self.distances.argmin(axis=1)] != self.y)) / self.n


def numpy_knn(x: Floats, y: Codes) -> Baseline:
    """Euclidean k-NN by one float32 GEMM, which adds squared norms and parts folds as well."""
    work = _Neighbors(y, fold_of_rows(y), np.float32)
    n, d = x.shape
    columns = np.ascontiguousarray(x.T, np.float32)
    same_fold = np.zeros((N_FOLDS, n), np.float32)
    same_fold[work.folds, np.arange(n)] = 1.0
    fixed = 1 + N_FOLDS
    left, right = np.empty((fixed + d, n), np.float32), np.empty((fixed + d, n), np.float32)
    left[0], left[1:fixed], right[1:fixed] = 1.0, FAR * same_fold, same_fold

    def error(mask: Mask) -> float:
        _half_distances(columns, mask, left, right, fixed, work.distances)
        return work.vote(N_NEIGHBORS)

    return error


def numpy_loo(x: Floats, y: Codes) -> Baseline:
    """Euclidean leave-one-out 1-NN by one float32 GEMM and one pass of argmin."""
    n, d = x.shape
    work = _Neighbors(y, np.arange(n), np.float32)
    columns = np.ascontiguousarray(x.T, np.float32)
    left, right = np.empty((1 + d, n), np.float32), np.empty((1 + d, n), np.float32)
    left[0] = 1.0

    def error(mask: Mask) -> float:
        _half_distances(columns, mask, left, right, 1, work.distances)
        np.fill_diagonal(work.distances, np.inf)
        return work.nearest()

    return error


def _half_distances(
    columns: Singles, mask: Mask, left: Singles, right: Singles, fixed: int, out: Singles
) -> None:
    """Fill `out` with |b|^2 - 2ab: the row term |a|^2 does not change the order within a row."""
    chosen = np.flatnonzero(mask)
    end = fixed + len(chosen)
    values = right[fixed:end]
    np.take(columns, chosen, axis=0, out=values, mode="clip")
    np.multiply(values, -2.0, out=left[fixed:end])
    np.einsum("ij,ij->j", values, values, out=right[0])
    np.matmul(left[:end].T, right[:end], out=out)


def scipy_manhattan(x: Floats, y: Codes) -> Baseline:
    """Manhattan k-NN by scipy's `cdist` and k passes of argmin."""
    work = _Neighbors(y, fold_of_rows(y), np.float64)
    wall = np.where(work.folds[:, None] == work.folds, np.inf, 0.0)

    def error(mask: Mask) -> float:
        chosen = np.ascontiguousarray(x[:, mask])
        cdist(chosen, chosen, "cityblock", out=work.distances)
        np.add(work.distances, wall, out=work.distances)
        return work.vote(N_NEIGHBORS)

    return error


def _nb_terms(x: Floats, y: Codes) -> Floats:
    """Tabulate log-likelihoods by feature, class and row; log priors come as one feature more."""
    n, d = x.shape
    n_classes = int(y.max()) + 1
    terms = np.empty((d + 1, n_classes, n))
    folds = fold_of_rows(y)
    for fold in range(N_FOLDS):
        test, train = folds == fold, folds != fold
        floor = 1e-9 * x[train].var(axis=0).max()
        for code in range(n_classes):
            rows = x[train & (y == code)]
            mean, variance = rows.mean(axis=0), rows.var(axis=0) + floor
            log_norm, gap = np.log(2.0 * np.pi * variance), (x[test] - mean) ** 2 / variance
            terms[:d, code, test] = -0.5 * (log_norm + gap).T
            terms[d, code, test] = np.log(len(rows) / np.count_nonzero(train))
    return terms


def numpy_nb_gather(x: Floats, y: Codes) -> Baseline:
    """Naive Bayes from tabulated terms: gather those of the mask and sum them."""
    terms = _nb_terms(x, y)
    features, prior = terms[:-1], terms[-1]

    def error(mask: Mask) -> float:
        classes = (features[mask].sum(axis=0) + prior).argmax(axis=0)
        return float(np.count_nonzero(classes != y)) / len(y)

    return error


def numpy_nb_product(x: Floats, y: Codes) -> Baseline:
    """Naive Bayes from tabulated terms: one float32 product of the mask and the whole table."""
    terms = _nb_terms(x, y)
    n_classes, n = terms.shape[1:]
    table = terms.reshape(len(terms), -1).astype(np.float32)
    weights = np.ones(len(terms), np.float32)

    def error(mask: Mask) -> float:
        weights[:-1] = mask
        classes = (weights @ table).reshape(n_classes, n).argmax(axis=0)
        return float(np.count_nonzero(classes != y)) / len(y)

    return error
