"""Continuous targets: their values, and the bins that filters take for classes."""

from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from swarmrs._base._messages import counted
from swarmrs.exceptions import DataError

# Filters discretize features by the bins of the target (Fayyad and Irani's rule), which asks for
# more evidence the more bins there are: five rank the features of a few hundred rows well, ten
# already leave many features with a single level.
N_LEVELS = 5


class Levels(NamedTuple):
    """A continuous target: its values, the bin of each row, and the names of the bins."""

    values: NDArray[np.float64]
    codes: NDArray[np.uint32]
    names: tuple[str, ...]


def levels_of(target: pl.Series, where: str) -> Levels:
    """Bin a target into about equally many rows each; equal values share a bin.

    Raises
    ------
    DataError
        If it holds no numbers, some are missing or infinite, or all are the same.

    Examples
    --------
    >>> levels_of(pl.Series("y", [0.0, 1.0, 2.0, 3.0, 30.0]), "data").names
    ('<= 0', '<= 1', '<= 2', '<= 3', '> 3')
    """
    named = f"target '{target.name}' of {where}"
    another = "give numbers as the target, or predict classes"
    if not (target.dtype.is_numeric() or target.dtype == pl.Boolean):
        raise DataError(f"{named} is {target.dtype}, expected numbers", another)
    lost = target.null_count()
    values = target.cast(pl.Float64).to_numpy()
    lost += int((~np.isfinite(values)).sum()) if not lost else 0
    if lost:
        message = f"{named} has {counted(lost, 'value')} missing or infinite"
        raise DataError(message, "remove these rows")
    shares = np.arange(1, N_LEVELS) / N_LEVELS
    ends = np.unique(np.quantile(values, shares, method="inverted_cdf"))
    ends = ends[ends < values.max()]
    if not ends.size:
        # Nearly all rows have the largest value: the rest is the other bin.
        ends = np.unique(values)[-2:-1]
    if not ends.size:
        raise DataError(f"{named} has one value, expected 2 or more", another)
    codes = np.searchsorted(ends, values, side="left").astype(np.uint32)
    return Levels(values, codes, (*(f"<= {end:.6g}" for end in ends), f"> {ends[-1]:.6g}"))
