"""Columns that cannot help a search, or help too well."""

from collections.abc import Collection
from hashlib import blake2b
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from swarmrs._base._hints import leaving_out
from swarmrs._base._messages import counted, listed, quoted
from swarmrs.data._encode import TEXT

# Fewer rows than this are in order by chance too often to call a column an identifier.
_MIN_ROWS_FOR_ID = 10


class Findings(NamedTuple):
    """What is strange about columns, by their positions.

    Attributes
    ----------
    constant : tuple of int
        They have one value, or none.
    ids : tuple of int
        They look like identifiers: numbers that rise or fall with the row, text that never repeats.
    twins : tuple of tuples of int
        Groups of columns with the same values.
    """

    constant: tuple[int, ...]
    ids: tuple[int, ...]
    twins: tuple[tuple[int, ...], ...]

    def notices(self, names: list[str]) -> list[str]:
        """Say what is harmless: nothing is gained from it, nothing lost."""
        told = []
        if self.constant:
            constant = quoted(names[at] for at in self.constant)
            told.append(f"{counted(len(self.constant), 'constant column')}: {constant}")
        if self.twins:
            groups = (_equation([names[at] for at in group]) for group in self.twins)
            told.append(f"{counted(len(self.twins), 'group')} of equal columns: {listed(groups)}")
        return told

    def warnings(self, names: list[str]) -> list[str]:
        """Say what can mislead."""
        if not self.ids:
            return []
        ids = quoted(names[at] for at in self.ids)
        return [
            f"{counted(len(self.ids), 'column')} like an identifier: {ids}; "
            f"{leaving_out('what is no measurement')}"
        ]


def inspect(
    x: NDArray[np.float64], excluded: Collection[int], nominal: Collection[int] = ()
) -> Findings:
    """Look at every column but the excluded ones; a missing value is a NaN."""
    constant, ids = [], []
    groups: dict[bytes, list[int]] = {}
    is_long = len(x) >= _MIN_ROWS_FOR_ID
    for at in range(x.shape[1]):
        if at in excluded:
            continue
        column = x[:, at]
        if is_constant(column):
            constant.append(at)
            continue
        # Adding 0 makes one zero of the two that floats have.
        groups.setdefault(blake2b((column + 0.0).data, digest_size=16).digest(), []).append(at)
        if is_long and _is_id(column, at in nominal):
            ids.append(at)
    twins = tuple(tuple(group) for group in groups.values() if len(group) > 1)
    return Findings(tuple(constant), tuple(ids), twins)


def is_constant(column: NDArray[np.float64]) -> bool:
    """Tell whether a column has one value, or none."""
    return bool((column == column[0]).all() or np.isnan(column).all())


def _equation(names: list[str], shown: int = 4) -> str:
    more = [f"{len(names) - shown} more"] if len(names) > shown else []
    return " = ".join([*(f"'{name}'" for name in names[:shown]), *more])


def copies_of(labels: pl.Series, frame: pl.DataFrame) -> list[str]:
    """Return the names of the columns that are equal to the target wherever they have a value."""
    return [column.name for column in frame if _is_copy(column, labels)]


def _is_id(column: NDArray[np.float64], is_nominal: bool) -> bool:
    if is_nominal:
        return len(np.unique(column)) == len(column)
    first, second, third = column[:3].tolist()
    if not (first < second < third or first > second > third):
        return False
    steps = np.diff(column)
    return bool((steps > 0).all() or (steps < 0).all())


def _is_copy(column: pl.Series, labels: pl.Series) -> bool:
    # The first row settles nearly all columns at little cost.
    if column[0] is not None and labels[0] is not None and column[0] != labels[0]:
        return False
    kinds = [series.dtype in TEXT for series in (column, labels)]
    numbers = [
        series.dtype.is_numeric() or series.dtype == pl.Boolean for series in (column, labels)
    ]
    if not (all(kinds) or all(numbers)):
        return False
    kind = pl.String() if all(kinds) else pl.Float64()
    is_equal = bool((column.cast(kind) == labels.cast(kind)).all())
    # A few values may agree by chance where most are missing.
    return is_equal and column.drop_nulls().n_unique() > 1
