"""Ranks, with ties of values that are equal but for rounding."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

# Above the rounding error of sums of shares, far below one row of the largest table.
SAME = 1e-12


def levels(values: ArrayLike) -> NDArray[np.intp]:
    """Return the dense rank of each value, from 0 for the lowest.

    A value within 1e-12 of the next lower one ties with it.

    Examples
    --------
    >>> levels([0.3, 0.1 + 0.2, 0.5, 0.1])
    array([1, 1, 2, 0])
    """
    given = np.asarray(values, dtype=np.float64)
    order = np.argsort(given, kind="stable")
    found = np.empty(given.size, dtype=np.intp)
    found[order] = np.cumsum(np.diff(given[order], prepend=given[order][:1]) > SAME)
    return found


def mid_ranks(values: ArrayLike) -> NDArray[np.float64]:
    """Return ranks from 1 for the lowest; ties share the mean of theirs.

    Examples
    --------
    >>> mid_ranks([0.2, 0.1, 0.2])
    array([2.5, 1. , 2.5])
    """
    from scipy.stats import rankdata

    ranks: NDArray[np.float64] = rankdata(levels(values))
    return ranks


def places(values: ArrayLike) -> NDArray[np.intp]:
    """Return places from 1 for the lowest; ties share the lowest of theirs.

    Examples
    --------
    >>> places([0.2, 0.1, 0.1])
    array([3, 1, 1])
    """
    from scipy.stats import rankdata

    ranks: NDArray[np.intp] = rankdata(levels(values), method="min")
    return ranks
