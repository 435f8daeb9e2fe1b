"""From a file, a frame or arrays to the numbers and class codes a search works on."""

import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias, cast

import numpy as np
import polars as pl
from numpy.typing import ArrayLike, NDArray

from swarmrs._clean import (
    ENCODINGS,
    MISSING,
    complete_rows,
    mark_missing,
    suspicious,
    to_numbers,
)
from swarmrs._read import (
    Raw,
    frame_of_array,
    frame_of_pandas,
    read_built_in,
    read_file,
    series_of,
)
from swarmrs._words import check_word, counted, locate
from swarmrs.exceptions import DataError

if TYPE_CHECKING:
    from narwhals.typing import IntoDataFrame
    from polars._typing import ArrowStreamExportable

Label: TypeAlias = str | int | float | bool
Target: TypeAlias = str | int | ArrayLike | None
Source: TypeAlias = "str | os.PathLike[str] | pl.LazyFrame | IntoDataFrame | ArrayLike | Table"
Data: TypeAlias = "Source | tuple[Source, Target]"


@dataclass(frozen=True, eq=False)
class Table:
    """A data set ready to be searched.

    Attributes
    ----------
    name : str
        What it is called in results: the file's name, not its path.
    frame : polars.DataFrame
        The features, all numbers, none missing.
    x : ndarray of float64
        The same as one column-major array.
    target : str
        The name of the column that holds the classes.
    codes : ndarray of uint32
        The class of each row, as an index into `labels`.
    labels : tuple
        The classes, sorted; text by its bytes.
    notices : tuple of str
        What the reader of a result should know about how the data was read.
    encoded : tuple of tuple of int
        The positions of features that came from one column of text, for each such column.
    """

    name: str
    frame: pl.DataFrame
    x: NDArray[np.float64]
    target: str
    codes: NDArray[np.uint32]
    labels: tuple[Label, ...]
    notices: tuple[str, ...]
    encoded: tuple[tuple[int, ...], ...] = ()

    @property
    def y(self) -> NDArray[np.generic]:
        """The label of each row."""
        return np.array(self.labels)[self.codes]

    @cached_property
    def names(self) -> list[str]:
        """The names of the features."""
        return self.frame.columns

    def locate(self, columns: Sequence[str | int]) -> list[int]:
        """Return the positions of features given by name or index."""
        return [locate(column, self.names, self.name) for column in columns]

    def name_classes(self, warnings: Iterable[str]) -> tuple[str, ...]:
        """Return the engine's warnings with the labels of classes in place of their codes."""

        def label(code: re.Match[str]) -> str:
            return f"class '{self.labels[int(code[1])]}'"

        return tuple(re.sub(r"^class (\d+)", label, warning) for warning in warnings)

    def reduced(self, selected: Sequence[str]) -> pl.DataFrame:
        """Return the chosen features and the target, as a frame."""
        return self.frame.select(selected).with_columns(pl.Series(self.target, self.y))


def read_table(
    source: Data,
    target: Target = None,
    *,
    missing: str = "error",
    encode: str = "error",
    exclude: Sequence[str | int] = (),
    separator: str | None = None,
    encoding: str | None = None,
) -> Table:
    """Read a table of features and classes.

    Parameters
    ----------
    source : str, path, frame, array, pair or Table
        A CSV, TSV or Parquet file, gzipped or not; ``"-"`` for standard input;
        ``"sklearn:wine"``, ``"sklearn:breast_cancer"``, ``"sklearn:digits"`` or
        ``"sklearn:iris"``; a polars or pandas frame; an array; a pair of features and labels.
        A `Table` is returned as it is.
    target : str, int or array-like, optional
        The column that holds the classes, by name or index, or the labels themselves.
        By default the last column, which a notice says.
    missing : {"error", "median", "mode", "knn", "drop-rows"}
        What to do about missing values. ``"knn"`` copies the value of the nearest row.
    encode : {"error", "ordinal", "onehot"}
        What to do about columns of text.
    exclude : sequence of str or int
        Columns that are not to be looked at: their values are replaced by zeros, so that nothing
        they hold can be refused or matter.
    separator, encoding : str, optional
        How a text file is written, if not with commas (tabs for TSV) in UTF-8.

    Returns
    -------
    Table

    Raises
    ------
    DataError
        If the data is absent, unreadable or cannot be searched as it is.
    SpecError
        If an option is unknown or a column named does not exist.

    Examples
    --------
    >>> import polars as pl
    >>> frame = pl.DataFrame({"a": [1, 2, 3], "b": [0, 0, 1], "class": ["x", "y", "x"]})
    >>> table = read_table(frame, "class")
    >>> table.names, table.labels, table.codes.tolist()
    (['a', 'b'], ('x', 'y'), [0, 1, 0])
    """
    check_word("policy for missing values", missing, MISSING)
    check_word("encoding of text", encode, ENCODINGS)
    if isinstance(source, Table):
        return source
    data, target = source if isinstance(source, tuple) else (source, target)
    raw = _find(data, separator, encoding)
    features, labels, notices = _split(raw, target)
    features = _blank(mark_missing(features), exclude, raw.name, encode)
    if missing == "drop-rows":
        complete = complete_rows(features.with_columns(labels))
        features, labels = features.filter(complete), labels.filter(complete)
        if features.is_empty():
            raise DataError(f"every row of {raw.name} has missing values", "fill them instead")
        if dropped := len(complete) - len(labels):
            notices.append(f"{counted(dropped, 'row')} with missing values dropped")
    codes, classes = _classes(labels, raw.name)
    features, filled, encoded = to_numbers(features, missing=missing, encode=encode)
    names = features.columns
    excluded = {locate(column, names, raw.name) for column in exclude}
    x = np.asfortranarray(features.cast(pl.Float64).to_numpy(order="fortran"))
    notices += filled + suspicious(x, names, excluded)
    return Table(raw.name, features, x, labels.name, codes, classes, tuple(notices), tuple(encoded))


def _find(source: Source, separator: str | None, encoding: str | None) -> Raw:
    if isinstance(source, str | os.PathLike):
        path = os.fspath(source)
        if path.startswith("sklearn:"):
            return read_built_in(path.removeprefix("sklearn:"))
        return read_file(path, separator=separator, encoding=encoding)
    if isinstance(source, pl.LazyFrame):
        source = source.collect()
    if isinstance(source, pl.DataFrame):
        return Raw("frame", source)
    if hasattr(source, "iloc"):
        return Raw("frame", frame_of_pandas(source))
    if hasattr(source, "__arrow_c_stream__"):
        return Raw("frame", pl.DataFrame(cast("ArrowStreamExportable", source)))
    return Raw("array", frame_of_array(source))


def _split(raw: Raw, target: Target) -> tuple[pl.DataFrame, pl.Series, list[str]]:
    frame, notices = raw.frame, list(raw.notices)
    if frame.is_empty():
        raise DataError(f"{raw.name} has no rows", "there must be a line for each sample")
    if target is None:
        target = raw.target or -1
        if raw.target is None:
            notices.append(f"the target is the last column, '{frame.columns[-1]}'")
    if isinstance(target, str | int):
        labels = frame.to_series(locate(target, frame.columns, raw.name))
        features = frame.drop(labels.name)
    else:
        name = "class"
        while name in frame.columns:
            name += "_"
        labels, features = series_of(name, target), frame
        if len(labels) != frame.height:
            raise DataError(
                f"{counted(frame.height, 'row')} but {counted(len(labels), 'label')}",
                "give a label for each row",
            )
    if not features.width:
        raise DataError(f"{raw.name} has no column beside the target '{labels.name}'")
    return features, labels.fill_nan(None) if labels.dtype.is_float() else labels, notices


def _blank(
    frame: pl.DataFrame, columns: Sequence[str | int], where: str, encode: str
) -> pl.DataFrame:
    # A column may be one that one-hot encoding has yet to make: then only names already here count.
    here = [
        frame.columns[locate(column, frame.columns, where)]
        for column in columns
        if encode != "onehot" or column in frame.columns
    ]
    return frame.with_columns(pl.lit(0.0).alias(name) for name in here)


def _classes(labels: pl.Series, where: str) -> tuple[NDArray[np.uint32], tuple[Label, ...]]:
    target = f"target '{labels.name}' of {where}"
    another = "name the column of classes with --target"
    if labels.dtype in (pl.Categorical, pl.Enum):
        labels = labels.cast(pl.String)
    if labels.dtype.is_float():
        if not (labels.drop_nulls() % 1 == 0).all():
            raise DataError(f"{target} is continuous, expected classes", another)
    elif not (labels.dtype.is_integer() or labels.dtype in (pl.String, pl.Boolean, pl.Null)):
        raise DataError(f"{target} is {labels.dtype}, expected classes", another)
    if labels.null_count():
        raise DataError(
            f"{target} has {counted(labels.null_count(), 'missing value')}",
            "remove these rows, or use --missing drop-rows",
        )
    classes, codes = np.unique(labels.to_numpy(), return_inverse=True)
    if len(classes) < 2:
        raise DataError(f"{target} has one class, expected 2 or more", another)
    if len(classes) == len(labels):
        raise DataError(f"{target} has a class for every row", another)
    return codes.astype(np.uint32), tuple(classes.tolist())
