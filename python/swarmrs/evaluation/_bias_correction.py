"""Choosing among configurations by held-out predictions, with an unbiased estimate.

The best of many configurations looks better than it is: its score was chosen for being high. BBC-CV
(Tsamardinos, Greasidou and Borboudakis 2018, doi:10.1007/s10994-018-5714-4) repeats the choice on
bootstrap samples of the rows and scores each choice on the rows not drawn.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

Matrix = NDArray[np.float64]

# The quantiles of an interval of 95 %.
_INTERVAL = (0.025, 0.975)
# The best methods, whose mean decides the size.
_TOP = 3
# The score of a configuration that has none: below all others.
_UNKNOWN = -1e9


@dataclass(frozen=True)
class Resampled:
    """The scores of configurations on all units (rows or splits) and on bootstrap samples of them.

    Attributes
    ----------
    scores : array of shape (n_configurations,)
        On all units.
    drawn, left_out : array of shape (n_samples, n_configurations)
        On the units of each bootstrap sample, and on those that it does not contain.
    """

    scores: Matrix
    drawn: Matrix
    left_out: Matrix

    @classmethod
    def of(
        cls, n_units: int, n_samples: int, seed: int, score: Callable[[Matrix], Matrix]
    ) -> "Resampled":
        """Resample units; `score` returns the scores for some weights of the units, a row each."""
        rng = np.random.RandomState(seed % 2**32)
        counts = rng.multinomial(n_units, np.full(n_units, 1.0 / n_units), size=n_samples)
        # A sample of all units leaves none to score on; that happens with very few units only.
        counts = counts[(counts == 0).any(axis=1)]
        drawn, left_out = score(counts.astype(np.float64)), score((counts == 0).astype(np.float64))
        is_known = np.isfinite(drawn).all(axis=1) & np.isfinite(left_out).all(axis=1)
        return cls(score(np.ones((1, n_units)))[0], drawn[is_known], left_out[is_known])


@dataclass(frozen=True)
class Choice:
    """A method and a size, and their score corrected for the choice.

    Attributes
    ----------
    method, size : int
        The positions of the method and of the size chosen.
    means : array
        The mean score of each method over the larger half of the sizes.
    standard_errors : array
        The standard error of the difference of each mean to the best one.
    estimate : float
        The mean score of what is chosen on bootstrap samples, on the units not drawn.
    interval : tuple of float
        The interval of 95 % of these scores.
    """

    method: int
    size: int
    means: Matrix
    standard_errors: Matrix
    estimate: float
    interval: tuple[float, float]


def choose(
    resampled: Resampled,
    n_methods: int,
    tolerance: float = 0.0,
    window: int = 1,
    favorite: int | None = None,
) -> Choice:
    """Choose a method and a size; each configuration is a pair of both, sizes within methods.

    The best of all configurations owes more of its score to luck than any average does. So a method
    is chosen by its mean over the larger half of the sizes, and the size by the mean score of the
    three best methods, each size averaged with its neighbors in a window: the smallest within
    `tolerance` standard errors of the best. A `favorite` method is chosen if its mean is within one
    standard error of the best. Standard errors are those of the paired differences. Of equal ones
    the first is chosen.

    Examples
    --------
    >>> right = np.array([[1.0, 1.0, 0.0, 1.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0]])
    >>> resampled = Resampled.of(3, 200, 0, lambda weights: mean_of(weights, right))
    >>> choice = choose(resampled, 2)
    >>> choice.method, choice.size, choice.means.round(2).tolist()
    (0, 1, [0.67, 0.67])
    """

    def grids(scores: Matrix) -> Matrix:
        known: Matrix = np.where(np.isnan(scores), _UNKNOWN, scores)
        return known.reshape(*scores.shape[:-1], n_methods, -1)

    def larger(grid: Matrix) -> Matrix:
        mean: Matrix = grid[..., grid.shape[-1] // 2 :].mean(axis=-1)
        return mean

    def smooth(curves: Matrix) -> Matrix:
        # The ends count for the neighbors that they lack.
        padding = [(0, 0)] * (curves.ndim - 1) + [(window // 2, window // 2)]
        padded = np.pad(curves, padding, mode="edge")
        means: Matrix = sliding_window_view(padded, window, axis=-1).mean(axis=-1)
        return means

    grid, drawn = grids(resampled.scores), grids(resampled.drawn)
    top = np.argsort(-larger(grid), kind="stable")[:_TOP]
    spread = tolerance * standard_errors(smooth(drawn[:, top].mean(axis=1)))
    gaps = standard_errors(larger(drawn))

    def pick(grid: Matrix) -> tuple[int, int]:
        means = larger(grid)
        order = np.argsort(-means, kind="stable")
        curve = smooth(grid[order[:_TOP]].mean(axis=0))
        method, best = int(order[0]), int(curve.argmax())
        if favorite is not None and means[method] - means[favorite] <= gaps[method, favorite]:
            method = favorite
        return method, int((curve >= curve[best] - spread[best]).argmax())

    method, size = pick(grid)
    means = larger(grid)
    left_out = resampled.left_out.reshape(drawn.shape)
    values = np.array([left[pick(here)] for here, left in zip(drawn, left_out, strict=True)])
    if not len(values):
        values = grid[[method], size]
    low, high = np.quantile(values, _INTERVAL)
    return Choice(
        method,
        size,
        means,
        gaps[int(means.argmax())],
        float(values.mean()),
        (float(low), float(high)),
    )


def standard_errors(samples: Matrix) -> Matrix:
    """Return the standard error of the difference of each pair of columns of bootstrap samples."""
    if len(samples) < 2:
        return np.zeros((samples.shape[1],) * 2)
    covariance = np.atleast_2d(np.cov(samples, rowvar=False))
    variance = np.diag(covariance)
    spread = variance[:, np.newaxis] + variance - 2.0 * covariance
    return np.sqrt(np.maximum(spread, 0.0))


def mean_of(weights: Matrix, values: Matrix) -> Matrix:
    """Return the weighted means of the columns of `values`, for each row of weights.

    Examples
    --------
    >>> mean_of(np.array([[1.0, 3.0]]), np.array([[0.0], [1.0]])).tolist()
    [[0.75]]
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        mean: Matrix = weights @ values / weights.sum(axis=1, keepdims=True)
    return mean


def class_means_of(weights: Matrix, values: Matrix, codes: NDArray[np.uint32]) -> Matrix:
    """Return the means over classes of the weighted means within them.

    A class without weight does not count.
    """
    classes = np.unique(codes)
    means = np.stack([mean_of(weights[:, codes == it], values[codes == it]) for it in classes])
    mean: Matrix = np.nanmean(means, axis=0)
    return mean
