"""Choosing among configurations by held-out predictions, with an unbiased estimate.

The best of many configurations looks better than it is: its score was chosen for being high. BBC-CV
(Tsamardinos, Greasidou and Borboudakis 2018, doi:10.1007/s10994-018-5714-4) repeats the choice on
bootstrap samples of the rows and scores each choice on the rows not drawn.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float64]

# The quantiles of an interval of 95 %.
_INTERVAL = (0.025, 0.975)


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

    def standard_errors(self) -> Matrix:
        """Return the standard error of the difference of each pair of configurations."""
        if len(self.drawn) < 2:
            return np.zeros((len(self.scores),) * 2)
        covariance = np.atleast_2d(np.cov(self.drawn, rowvar=False))
        variance = np.diag(covariance)
        spread = variance[:, np.newaxis] + variance - 2.0 * covariance
        return np.sqrt(np.maximum(spread, 0.0))


@dataclass(frozen=True)
class Choice:
    """The configuration chosen, and its score corrected for the choice.

    Attributes
    ----------
    best, chosen : int
        The configuration with the best score, and the smallest that is nearly as good.
    standard_errors : array
        The standard error of the difference of each configuration to the best.
    estimate : float
        The mean score of what is chosen on bootstrap samples, on the units not drawn.
    interval : tuple of float
        The interval of 95 % of these scores.
    """

    best: int
    chosen: int
    standard_errors: Matrix
    estimate: float
    interval: tuple[float, float]


def choose(resampled: Resampled, sizes: Matrix, tolerance: float = 0.5) -> Choice:
    """Choose the smallest configuration within `tolerance` standard errors of the best.

    The standard error is that of the paired difference. Of equal sizes the better score wins, of
    equal scores the first.

    Examples
    --------
    >>> right = np.array([[1.0, 1.0], [0.0, 0.0], [1.0, 1.0], [1.0, 1.0]])
    >>> resampled = Resampled.of(4, 200, 0, lambda weights: mean_of(weights, right))
    >>> choose(resampled, np.array([20.0, 5.0])).chosen
    1
    """
    errors = resampled.standard_errors()

    def smallest(scores: Matrix) -> int:
        scores = np.where(np.isnan(scores), -np.inf, scores)
        best = int(scores.argmax())
        near = np.flatnonzero(scores >= scores[best] - tolerance * errors[best])
        order = np.lexsort((near, -scores[near], sizes[near]))
        return int(near[order[0]])

    best = int(np.nan_to_num(resampled.scores, nan=-np.inf).argmax())
    chosen = smallest(resampled.scores)
    outside = [
        left_out[smallest(drawn)]
        for drawn, left_out in zip(resampled.drawn, resampled.left_out, strict=True)
    ]
    values = np.array(outside if outside else [resampled.scores[chosen]])
    low, high = np.quantile(values, _INTERVAL)
    return Choice(best, chosen, errors[best], float(values.mean()), (float(low), float(high)))


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
