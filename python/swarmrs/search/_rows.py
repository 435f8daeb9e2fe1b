"""A sample of the rows for a search; all rows for the score of what it selects."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from swarmrs._base._messages import counted
from swarmrs._base._public import public
from swarmrs.data._table import Table
from swarmrs.exceptions import SpecError

# The share of a time limit that the search of a sample has; the rest is for the score on all rows.
SEARCHING = 0.75


@public
class RowsUsed(NamedTuple):
    """The rows of a search on a sample.

    Attributes
    ----------
    searched : int
        The rows that subsets were evaluated on: the trace and the front are of these.
    scored : int
        The rows that the selection was scored on: all, unless a time limit or Ctrl-C left no time
        for that.
    total : int
        The rows of the table.
    cost, loss : float
        The cost and the loss of the selection on the rows searched.
    """

    searched: int
    scored: int
    total: int
    cost: float
    loss: float


def sample_rows(table: Table, n: int, seed: int) -> NDArray[np.intp] | None:
    """Draw rows, in the shares of the classes; of a numeric target at random.

    Parameters
    ----------
    table : Table
        The rows to draw from.
    n : int
        How many. Every class has one at least.
    seed : int
        The same seed draws the same rows.

    Returns
    -------
    ndarray or None
        The rows in ascending order; None where there are no more than `n`.

    Raises
    ------
    SpecError
        If `n` is less than the number of classes.
    """
    total = len(table.codes)
    if n >= total:
        return None
    # Its numbers are the same in all versions of numpy.
    draw = np.random.RandomState(seed % 2**32)
    if table.values is not None:
        return np.sort(draw.permutation(total)[:n])
    present, counts = np.unique(table.codes, return_counts=True)
    if n < len(present):
        raise SpecError(
            f"rows is {n}, expected {len(present)} or more: one of each class",
            f"a sample stands for {counted(total, 'row')}: give some hundreds",
        )
    drawn = [
        draw.permutation(np.flatnonzero(table.codes == code))[:size]
        for code, size in zip(present, shares(counts, n), strict=True)
    ]
    return np.sort(np.concatenate(drawn))


def shares(counts: NDArray[np.intp], n: int) -> list[int]:
    """Divide a sample among classes in proportion, one for each at least, by largest remainders.

    Examples
    --------
    >>> shares(np.array([600, 300, 99, 1]), 100)
    [60, 30, 9, 1]
    """
    quotas = n * counts / counts.sum()
    sizes = np.maximum(np.floor(quotas), 1).astype(int)
    missing = n - int(sizes.sum())
    # A share that was raised to one has no claim on what is left.
    order = np.argsort(-(quotas - sizes), kind="stable")
    sizes[order[: max(missing, 0)]] += 1
    for _ in range(-missing):
        sizes[int(np.argmax(sizes))] -= 1
    return [int(size) for size in sizes]
