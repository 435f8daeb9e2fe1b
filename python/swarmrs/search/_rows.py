"""The rows of a search: a sample of them, and training and test rows side by side."""

import numpy as np
from numpy.typing import NDArray

from swarmrs._base._messages import counted
from swarmrs.data._table import Table
from swarmrs.evaluation._folds import Rows
from swarmrs.exceptions import SpecError

# The share of a time limit that the search of a sample has; the rest is for the score on all rows.
SEARCHING = 0.75


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


def side_by_side(table: Table, rows: Rows) -> tuple[Table, Rows]:
    """Return training and test rows without missing values, and which is which.

    What was missing is filled by the training rows. They then come first, and a row that is on both
    sides stands there twice.
    """
    if table.unfilled is None and not np.intersect1d(*rows).size:
        return table, rows
    n_train, n = len(rows[0]), len(rows[0]) + len(rows[1])
    part = table.take(np.concatenate(rows), by=rows[0]).as_filled()
    return part, (np.arange(n_train), np.arange(n_train, n))
