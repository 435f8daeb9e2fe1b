"""Imputation: missing values replaced by statistics or neighbors among some rows."""

import hashlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from typing import NamedTuple, cast

import numpy as np
import polars as pl
from numpy.typing import NDArray

from swarmrs.data._read import incomplete


class Copies(NamedTuple):
    """Rows for each split: a row with missing values has a copy for each split.

    Attributes
    ----------
    x : ndarray of float64
        The values: all rows, then the copies.
    rows : ndarray of int
        The row that each is, or is a copy of.
    splits : list of pairs of rows
        The training and test rows of each split, as positions in `x`.
    """

    x: NDArray[np.float64]
    rows: NDArray[np.intp]
    splits: list[tuple[NDArray[np.intp], NDArray[np.intp]]]


@dataclass(frozen=True)
class Unfilled:
    """Numeric features before imputation, to impute them from some rows alone.

    The engine calls `values` during evaluations: each split imputes anew.

    Attributes
    ----------
    frame : polars.DataFrame
        The columns; text as ranks of its values.
    policy : {"mean", "median", "mode", "knn"}
        The method of imputation.
    nominal : frozenset of str
        The columns that held text.
    spread : mapping of str to Series
        The values of the columns of text that are spread over one column each.
    """

    frame: pl.DataFrame
    policy: str
    nominal: frozenset[str]
    spread: Mapping[str, pl.Series]

    @cached_property
    def rows(self) -> NDArray[np.uint32]:
        """The rows with missing values."""
        return np.flatnonzero(self._gaps.any(axis=1)).astype(np.uint32)

    @cached_property
    def mark(self) -> str:
        """A hash of the positions of missing values and the method of imputation."""
        method = f"{self.policy} {sorted(self.nominal)} {self._gaps.shape}".encode()
        hashed = hashlib.blake2b(method + np.packbits(self._gaps).tobytes(), digest_size=16)
        return hashed.hexdigest()

    @property
    def count(self) -> int:
        """The number of missing values."""
        return int(self._gaps.sum())

    def take(self, rows: NDArray[np.intp]) -> "Unfilled | None":
        """Return the same of some rows; None if nothing is missing in them."""
        part = replace(self, frame=self.frame[rows])
        return part if part.rows.size else None

    def filled(self, rows: NDArray[np.intp], by: NDArray[np.intp]) -> pl.DataFrame:
        """Return some rows, imputed from the rows `by`; a column for each feature of the table."""
        frame = impute(self.frame[rows], self.frame[by], self.policy, self.nominal)
        return pl.DataFrame(list(chain.from_iterable(spread_out(frame, self.spread))))

    def values(self, by: NDArray[np.integer]) -> NDArray[np.float64]:
        """Return the rows with missing values, imputed from the rows `by`."""
        frame = self.filled(self.rows.astype(np.intp), by.astype(np.intp))
        return frame.cast(pl.Float64).to_numpy()

    def copies(
        self,
        x: NDArray[np.float64],
        splits: Sequence[tuple[NDArray[np.intp], NDArray[np.intp]]],
    ) -> Copies:
        """Return rows imputed for each split from its training rows."""
        (n, _), m = x.shape, len(self.rows)
        parts, placed = [x], []
        for number, (train, test) in enumerate(splits):
            parts.append(self.values(train))
            positions = np.arange(n)
            positions[self.rows] = n + number * m + np.arange(m)
            placed.append((positions[train], positions[test]))
        rows = np.concatenate([np.arange(n), np.tile(self.rows.astype(np.intp), len(splits))])
        return Copies(np.vstack(parts), rows, placed)

    @cached_property
    def _gaps(self) -> NDArray[np.bool_]:
        return self.frame.select(pl.all().is_null()).to_numpy()


def impute(
    frame: pl.DataFrame, donors: pl.DataFrame, policy: str, nominal: Collection[str]
) -> pl.DataFrame:
    """Return a frame without missing values, imputed from the rows of `donors`.

    A column without any value among the donors becomes zeros, a constant without information.
    """
    missing = [column.name for column in incomplete(frame)]
    empty = [name for name in missing if donors[name].null_count() == donors.height]
    # Columns by name, not expressions: as those, '*' and '^f.*$' are other columns, too.
    frame = frame.with_columns(frame[name].cast(pl.Float64) for name in missing)
    frame = frame.with_columns(frame[name].fill_null(0.0) for name in empty)
    known = [name for name in missing if name not in {*empty}]
    if policy == "knn":
        donors = donors.with_columns(pl.lit(0.0).alias(name) for name in empty)
        return frame.with_columns(_nearest_values(frame, donors, known, nominal))
    policies = {name: "mode" if name in nominal else policy for name in known}
    return frame.with_columns(
        frame[name].fill_null(_center(donors[name], each)) for name, each in policies.items()
    )


def spread_out(frame: pl.DataFrame, values: Mapping[str, pl.Series]) -> list[list[pl.Series]]:
    """Return each column, or one for each value where it has some here."""
    return [_one_hot(column, values.get(column.name)) for column in frame]


def _center(column: pl.Series, policy: str) -> float:
    """Return the mean, median or mode of a column that has values."""
    if policy == "mode":
        found = column.drop_nulls().mode().min()
    else:
        found = column.mean() if policy == "mean" else column.median()
    return float(cast(float, found))


def _nearest_values(
    frame: pl.DataFrame, donors: pl.DataFrame, incomplete: list[str], nominal: Collection[str]
) -> Iterator[pl.Series]:
    """Impute each missing value by that of the nearest donor that has one.

    The distance of two rows is the mean square over the features both have, scaled to 0..1 by the
    donors; of equally near ones the first counts. A row that shares no feature with any is given
    the mean, or the mode of text.
    """
    imputed = frame.cast(pl.Float64).to_numpy(writable=True)
    x = donors.cast(pl.Float64).to_numpy()
    known = ~np.isnan(x)
    low, high = np.where(known, x, np.inf).min(axis=0), np.where(known, x, -np.inf).max(axis=0)
    low, width = np.where(known.any(axis=0), low, 0.0), np.where(high > low, high - low, 1.0)
    scaled, rows = (x - low) / width, (imputed - low) / width
    for row in np.flatnonzero(np.isnan(rows).any(axis=1)):
        has = ~np.isnan(rows[row])
        common = known & has
        differences = np.where(common, scaled - rows[row], 0.0)
        squares = np.einsum("ij,ij->i", differences, differences)
        shared = common.sum(axis=1)
        distance = np.where(shared > 0, squares / np.maximum(shared, 1), np.inf)
        for column in np.flatnonzero(~has):
            reachable = np.where(known[:, column], distance, np.inf)
            donor = reachable.argmin()
            if np.isfinite(reachable[donor]):
                imputed[row, column] = x[donor, column]
            else:
                values = donors.to_series(int(column)).drop_nulls()
                is_nominal = values.name in nominal
                imputed[row, column] = values.mode().min() if is_nominal else values.mean()
    return (pl.Series(name, imputed[:, frame.get_column_index(name)]) for name in incomplete)


def _one_hot(column: pl.Series, values: pl.Series | None) -> list[pl.Series]:
    if values is None:
        return [column]
    return [
        (column == code).cast(pl.UInt8).alias(f"{column.name}={value}")
        for code, value in enumerate(values)
    ]
