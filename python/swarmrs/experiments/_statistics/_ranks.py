"""Ranks, with values that are equal but for rounding sharing one."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

# Above the noise of sums of shares, far below one sample of the largest table.
SAME = 1e-12


def levels(values: ArrayLike) -> NDArray[np.intp]:
    """Return which of the different values each is, counted from 0 for the least.

    A value that lies within 1e-12 of the next lower one is equal to it.

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
    """Return ranks from 1 for the least; equals share the mean of theirs.

    Examples
    --------
    >>> mid_ranks([0.2, 0.1, 0.2])
    array([2.5, 1. , 2.5])
    """
    codes = levels(values)
    counts = np.bincount(codes)
    shared: NDArray[np.float64] = (np.cumsum(counts) - (counts - 1) / 2)[codes]
    return shared


def places(values: ArrayLike) -> NDArray[np.intp]:
    """Return places as in a contest, from 1 for the least: two firsts are followed by a third.

    Examples
    --------
    >>> places([0.2, 0.1, 0.1])
    array([3, 1, 1])
    """
    codes = levels(values)
    counts = np.bincount(codes)
    first: NDArray[np.intp] = (np.cumsum(counts) - counts + 1)[codes]
    return first
