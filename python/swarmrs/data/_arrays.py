"""Arrays of numbers, which become tables without a detour through frames."""

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from swarmrs.data._read import unmasked

if TYPE_CHECKING:
    from swarmrs.data._table import Table

# Types that polars and float64 both hold. Other arrays are read as frames, column by column.
_DTYPES = (
    *map(np.dtype, (np.float32, np.float64)),
    *map(np.dtype, (np.int8, np.int16, np.int32, np.int64)),
    *map(np.dtype, (np.uint8, np.uint16, np.uint32, np.uint64)),
    np.dtype(np.bool_),
)
# Cells that are looked at in one step: 2 MiB of float64 stay in the second-level cache.
_BLOCK = 1 << 18


class Samples(NamedTuple):
    """The features and labels that a scikit-learn estimator was given as plain arrays.

    They are not checked for row identifiers: features without names, such as the output of an
    earlier step of a pipeline, are rarely read from a table.
    """

    features: NDArray[np.float64]
    labels: NDArray[np.generic]


class ArrayColumns(NamedTuple):
    """Named columns of one array, in place of a frame.

    Attributes
    ----------
    names : list of str
        The names.
    values : ndarray of float64
        The values, column by column.
    dtype : numpy.dtype
        The type of the array they come from, which holds them exactly.
    """

    names: list[str]
    values: NDArray[np.float64]
    dtype: np.dtype[Any]

    def frame(self) -> pl.DataFrame:
        """Return the columns as a frame."""
        values = self.values.astype(self.dtype, order="F", copy=False)
        return pl.from_numpy(values, schema=self.names, orient="row")


class FeatureFrame:
    """The frame of a `Table`, built when it is first used if the table is made of an array.

    A Series for each of 10 000 features takes longer than the engine takes to rank them.
    """

    def __set__(self, table: "Table", features: pl.DataFrame | ArrayColumns) -> None:
        vars(table)["_features"] = features

    def __get__(self, table: "Table | None", owner: type) -> "pl.DataFrame | FeatureFrame":
        if table is None:
            return self
        features: pl.DataFrame | ArrayColumns = vars(table)["_features"]
        if isinstance(features, ArrayColumns):
            features = vars(table)["_features"] = features.frame()
        return features


def numbers_of(source: object) -> NDArray[Any] | None:
    """Return a two-dimensional array of numbers; None if the source is anything else."""
    array = unmasked(source) if isinstance(source, np.ndarray) else None
    if isinstance(array, np.ndarray) and array.ndim == 2 and array.dtype in _DTYPES:
        return array
    return None


def as_floats(array: NDArray[Any]) -> NDArray[np.float64] | None:
    """Return a copy as float64, column by column; None if a value is not finite or is rounded."""
    x = np.array(array, dtype=np.float64, order="F")
    is_long = array.dtype.kind in "iu" and array.dtype.itemsize == 8
    return x if is_exact(x, np.full(x.shape[1], is_long)) else None


def is_exact(x: NDArray[np.float64], is_long: NDArray[np.bool_]) -> bool:
    """Tell whether all values are finite, and those of columns of 64-bit integers not rounded."""
    # Whole numbers below 2**53 are exact; larger ones may be rounded to it.
    largest = np.where(is_long, 2.0**53 - 1, sys.float_info.max)
    return all((np.abs(x[:, block]) <= largest[block]).all() for block in blocks(*x.shape))


def blocks(rows: int, width: int) -> Iterator[slice]:
    """Yield slices of columns of about `_BLOCK` cells."""
    step = max(1, _BLOCK // max(1, rows))
    return (slice(start, start + step) for start in range(0, width, step))
