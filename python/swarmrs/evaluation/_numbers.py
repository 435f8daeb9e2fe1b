"""Scores of predicted numbers: of weighted rows, of many weightings at once, and their errors."""

import numpy as np
from numpy.typing import NDArray

from swarmrs.evaluation._bias_correction import mean_of
from swarmrs.evaluation._losses import loss_from

Matrix = NDArray[np.float64]


def score_numbers(scoring: str, squares: Matrix, absolutes: Matrix, variance: Matrix) -> Matrix:
    """Return a score of the means of squared and absolute residuals and the variance of the truth.

    Without variance there is no R2.

    Examples
    --------
    >>> mean_squared, mean_absolute, variance = np.array([4.0]), np.array([1.5]), np.array([16.0])
    >>> float(score_numbers("r2", mean_squared, mean_absolute, variance)[0])
    0.75
    """
    if scoring == "neg_mean_squared_error":
        return -squares
    if scoring == "neg_root_mean_squared_error":
        return -np.sqrt(squares)
    if scoring == "neg_mean_absolute_error":
        return -absolutes
    with np.errstate(invalid="ignore", divide="ignore"):
        score: Matrix = np.where(variance > 0, 1.0 - squares / variance, np.nan)
    return score


def weighted_scores(
    scoring: str, weights: Matrix, truth: Matrix, squares: Matrix, absolutes: Matrix
) -> Matrix:
    """Return the score of each column of residuals, all rows together, for each row of weights.

    Residuals are given as their squares and absolute values, or means of these.

    Examples
    --------
    >>> truth, residuals = np.array([0.0, 1.0, 2.0]), np.array([[0.0, 1.0], [0.0, 0.0], [1.0, 0.0]])
    >>> weighted_scores("r2", np.ones((1, 3)), truth, residuals**2, np.abs(residuals)).tolist()
    [[0.5, 0.5]]
    """
    # From the mean of all: squares of what is left lose no digits to an offset.
    off = (truth - truth.mean())[:, np.newaxis]
    variance = mean_of(weights, off**2) - mean_of(weights, off) ** 2
    return score_numbers(scoring, mean_of(weights, squares), mean_of(weights, absolutes), variance)


def jackknife_numbers(
    rows: NDArray[np.uint32],
    truth: Matrix,
    predicted: Matrix,
    folds: NDArray[np.uint32],
    scoring: str,
) -> float:
    """Return the standard error of a loss of numbers by leaving out one row at a time.

    A row that is tested more than once is left out with all its predictions; see `jackknife`.

    Examples
    --------
    >>> rows = np.arange(4, dtype=np.uint32)
    >>> truth, predicted = np.array([[1.0, 2.0, 3.0, 4.0], [1.0, 2.0, 3.0, 0.0]])
    >>> one_fold = np.zeros(4, dtype=np.uint32)
    >>> jackknife_numbers(rows, truth, predicted, one_fold, "neg_mean_absolute_error")
    1.0
    """
    sizes = np.bincount(folds)
    # As the engine does: leave-one-out scores all rows together, R2 where a fold has one row.
    if sizes.max() == 1 or (scoring == "r2" and sizes.min() == 1):
        folds = np.zeros_like(folds)
    residuals, off = truth - predicted, truth - truth.mean()
    terms = np.stack([np.ones_like(off), residuals**2, np.abs(residuals), off, off**2])
    sums = np.stack([np.bincount(folds, weights=term).astype(np.float64) for term in terms])
    scores = _of_sums(scoring, sums)
    order = np.argsort(rows, kind="stable")
    starts = np.flatnonzero(np.diff(rows[order], prepend=-1))
    losses = []
    for cases in np.split(order, starts[1:]):
        touched, places = np.unique(folds[cases], return_inverse=True)
        left = sums[:, touched]
        for case, place in zip(cases, places, strict=True):
            left[:, place] -= terms[:, case]
        # A fold that tests this row alone is left out with it.
        anew = _of_sums(scoring, left[:, left[0] > 0])
        mean = float(np.concatenate([np.delete(scores, touched), anew]).mean())
        losses.append(loss_from(mean, scoring))
    spread, n = np.array(losses), len(losses)
    return float(np.sqrt((n - 1) / n * ((spread - spread.mean()) ** 2).sum()))


def _of_sums(scoring: str, sums: Matrix) -> Matrix:
    """Return the score of each fold by its sums; R2 of equal numbers is 0, or 1 if all is right."""
    n, squares, absolutes, off, off_squares = sums
    variance = np.maximum(off_squares / n - (off / n) ** 2, 0.0)
    scores = score_numbers(scoring, squares / n, absolutes / n, variance)
    return np.where(np.isnan(scores), (squares <= 0).astype(np.float64), scores)
