"""Descriptive statistics of runs: mean, standard deviation, best, percentages of the papers."""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from swarmrs.experiments._analysis._statistics._ranks import SAME


class Moments(NamedTuple):
    """The mean of some costs, their standard deviation and the lowest of them.

    The deviation is that of a sample (divided by n - 1); None for one value.
    """

    mean: float
    std: float | None
    best: float


def moments(costs: ArrayLike) -> Moments:
    """Return mean, standard deviation and best of at least one cost.

    Examples
    --------
    >>> moments([1.0, 2.0, 3.0])
    Moments(mean=2.0, std=1.0, best=1.0)
    """
    given = np.asarray(costs, dtype=np.float64)
    best = float(given.min())
    if given.size == 1:
        return Moments(best, None, best)
    # Ties have no deviation, not even that of rounding.
    if float(given.max()) - best <= SAME:
        return Moments(best, 0.0, best)
    mean = math.fsum(given) / given.size
    return Moments(mean, math.sqrt(math.fsum((given - mean) ** 2) / (given.size - 1)), best)


def improvement(cost: float, of_all: float) -> float | None:
    """Return PI(%): the improvement on the cost of all features; None if that is 0.

    Examples
    --------
    >>> round(improvement(0.2259, of_all=0.6007), 1)
    62.4
    """
    return None if of_all == 0 else 100 * (of_all - cost) / of_all


def reduction(size: float, n_features: int) -> float:
    """Return the reduction Ξ(%): the share of all features that are not selected.

    Examples
    --------
    >>> round(reduction(6.70, n_features=13), 1)
    48.5
    """
    return 100 * (n_features - size) / n_features
