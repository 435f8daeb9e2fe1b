"""From a file, a frame or arrays to the numbers and class codes a search works on."""

import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias, Unpack, cast

import numpy as np
import polars as pl
from numpy.typing import ArrayLike, NDArray

from swarmrs._clean import (
    ENCODINGS,
    MISSING,
    Unfilled,
    drop_columns,
    drop_rows,
    mark_missing,
    text_columns,
    to_numbers,
)
from swarmrs._formats import Reading, ReadOptions, read_file
from swarmrs._inspect import copies_of, inspect, is_constant
from swarmrs._read import Raw, frame_of_array, read_built_in, read_pandas, series_of
from swarmrs._words import check_word, counted, locate, quoted
from swarmrs.exceptions import DataError

if TYPE_CHECKING:
    from narwhals.typing import IntoDataFrame
    from polars._typing import ArrowStreamExportable

Label: TypeAlias = str | int | float | bool
Target: TypeAlias = str | int | ArrayLike | None
Source: TypeAlias = "str | os.PathLike[str] | pl.LazyFrame | IntoDataFrame | ArrayLike | Table"
Data: TypeAlias = "Source | tuple[Source, Target]"

# Numbers with more values than this, each in fewer rows than that on average, measure something.
_MANY_CLASSES = 20
_ROWS_OF_A_CLASS = 5


@dataclass(frozen=True, eq=False)
class Table:
    """A data set ready to be searched.

    Attributes
    ----------
    name : str
        What it is called in results: the file's name, not its path.
    frame : polars.DataFrame
        The features, all numbers; none is missing unless that was asked for.
    x : ndarray of float64
        The same as one column-major array; a missing value is a NaN.
    target : str
        The name of the column that holds the classes.
    codes : ndarray of uint32
        The class of each row, as an index into `labels`.
    labels : tuple
        The classes, sorted; text by its bytes.
    encoded : tuple of tuple of int
        The positions of features that came from one column of text, for each such column.
    notices : tuple of str
        What the reader of a result should know about how the data was read.
    warnings : tuple of str
        What about the data can mislead.
    unfilled : Unfilled, optional
        The features before missing values were filled, if any were.
    """

    name: str
    frame: pl.DataFrame
    x: NDArray[np.float64]
    target: str
    codes: NDArray[np.uint32]
    labels: tuple[Label, ...]
    encoded: tuple[tuple[int, ...], ...] = ()
    notices: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    unfilled: Unfilled | None = None

    @property
    def y(self) -> NDArray[np.generic]:
        """The label of each row."""
        return np.array(self.labels)[self.codes]

    @cached_property
    def names(self) -> list[str]:
        """The names of the features."""
        return self.frame.columns

    @cached_property
    def constant(self) -> tuple[int, ...]:
        """The positions of the features that have one value, or none."""
        return tuple(at for at, column in enumerate(self.x.T) if is_constant(column))

    @cached_property
    def has_gaps(self) -> bool:
        """Whether values are missing."""
        return any(column.null_count() for column in self.frame)

    def take(self, rows: NDArray[np.intp], by: NDArray[np.intp] | None = None) -> "Table":
        """Return some rows; what is missing in them is filled by the rows `by`, or by them alone.

        Classes without a row are gone.

        Raises
        ------
        DataError
            If fewer than two classes are left, or a column cannot be filled.
        """
        frame, unfilled = self.frame[rows], self.unfilled
        if unfilled is not None:
            frame = unfilled.filled(rows, rows if by is None else by)
            unfilled = replace(unfilled, frame=unfilled.frame[rows])
        present, codes = np.unique(self.codes[rows], return_inverse=True)
        if len(present) < 2:
            raise DataError(
                f"{counted(len(rows), 'row')} of {self.name} have one class, expected 2 or more",
                "hold out fewer rows, or other ones",
            )
        return replace(
            self,
            frame=frame,
            x=np.asfortranarray(frame.cast(pl.Float64).to_numpy(order="fortran")),
            codes=codes.astype(np.uint32),
            labels=tuple(self.labels[code] for code in present),
            unfilled=unfilled,
        )

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
    allow_target_copy: bool = False,
    **reading: Unpack[ReadOptions],
) -> Table:
    """Read a table of features and classes.

    Parameters
    ----------
    source : str, path, frame, array, pair or Table
        A CSV, TSV, Parquet, Arrow (Feather) or ARFF file, gzipped or not; ``"-"`` for standard
        input; ``"sklearn:wine"``, ``"sklearn:breast_cancer"``, ``"sklearn:digits"`` or
        ``"sklearn:iris"``; a polars or pandas frame; an array; a pair of features and labels.
        A `Table` is returned as it is.
    target : str, int or array-like, optional
        The column that holds the classes, by name or index, or the labels themselves.
        By default the last column, which a notice says.
    missing : {"error", "median", "mode", "knn", "drop-rows", "drop-columns", "keep"}
        What to do about missing values. ``"knn"`` copies the value of the nearest row. Whatever
        fills them looks at all rows, which a warning says. ``"keep"`` leaves them as they are, for
        an estimator that knows what to do about them; the built-in classifiers do not.
    encode : {"error", "ordinal", "onehot"}
        What to do about columns of text.
    exclude : sequence of str or int
        Columns that are not to be looked at: their values are replaced by zeros, so that nothing
        they hold can be refused or matter.
    allow_target_copy : bool
        Whether a feature may be equal to the target. Of labels given apart from the features it is
        only warned.
    separator, encoding : str, optional
        How a text file is written, if not with commas (tabs for TSV) in UTF-8.
    decimal : {".", ","}
        The decimal mark of a CSV or TSV file.
    null_words : sequence of str
        What stands for a missing value there, beside an empty field.
    input_format : {"csv", "tsv", "parquet", "arrow", "arff"}, optional
        What the file is, if its content is not to decide.
    dedupe_names : bool
        Whether to number columns of equal names instead of refusing them.
    max_bytes : int
        How large a file may be when unpacked.

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
    check_policies(missing, encode)
    options = Reading(**reading)
    if isinstance(source, Table):
        return source
    data, target = source if isinstance(source, tuple) else (source, target)
    return prepare(
        find(data, options),
        target,
        missing=missing,
        encode=encode,
        exclude=exclude,
        allow_target_copy=allow_target_copy,
    )


def check_policies(missing: str, encode: str) -> None:
    """Refuse policies that do not exist."""
    check_word("policy for missing values", missing, MISSING)
    check_word("encoding of text", encode, ENCODINGS)


def prepare(
    raw: Raw,
    target: Target,
    *,
    missing: str,
    encode: str,
    exclude: Sequence[str | int],
    allow_target_copy: bool,
) -> Table:
    """Make a table that can be searched of one that was found; see `read_table`."""
    features, labels, notices = split(raw, target)
    warnings = list(raw.warnings)
    blank = names_here(features, exclude, raw.name, encode)
    features = mark_missing(features).with_columns(pl.lit(0.0).alias(name) for name in blank)
    if missing == "drop-rows":
        features, labels, dropped = drop_rows(features, labels, raw.name)
        notices += dropped
    elif missing == "drop-columns":
        features, dropped = drop_columns(features, exclude, raw.name)
        notices += dropped
    codes, classes = classes_of(labels, raw.name, raw.gaps)
    if (measured := _many_values(labels, classes)) is not None:
        warnings.append(measured)
    if copies := copies_of(labels, features):
        told = f"{counted(len(copies), 'column')} equal to the target: {quoted(copies)}"
        if labels.name in raw.frame.columns and not allow_target_copy:
            raise DataError(
                told, "leave them out with --exclude, or go on with --allow-target-copy"
            )
        warnings.append(told)
    nominal = text_columns(features) if encode == "ordinal" else []
    features, cleaned, encoded, unfilled = to_numbers(
        features, missing=missing, encode=encode, gaps=raw.gaps
    )
    names = features.columns
    excluded = {locate(column, names, raw.name) for column in exclude}
    x = np.asfortranarray(features.cast(pl.Float64).to_numpy(order="fortran"))
    found = inspect(x, excluded, {names.index(name) for name in nominal})
    return Table(
        raw.name,
        features,
        x,
        labels.name,
        codes,
        classes,
        tuple(encoded),
        (*notices, *found.notices(names)),
        (*warnings, *cleaned, *found.warnings(names)),
        unfilled,
    )


def find(source: Source, reading: Reading) -> Raw:
    """Return whatever holds a table as a frame."""
    if isinstance(source, str | os.PathLike):
        path = os.fspath(source)
        if path.startswith("sklearn:"):
            return read_built_in(path.removeprefix("sklearn:"))
        return read_file(path, reading)
    if isinstance(source, pl.LazyFrame):
        source = source.collect()
    if isinstance(source, pl.DataFrame):
        return Raw("frame", source)
    if hasattr(source, "iloc"):
        return read_pandas(source, dedupe_names=reading.dedupe_names)
    if hasattr(source, "__arrow_c_stream__"):
        return Raw("frame", pl.DataFrame(cast("ArrowStreamExportable", source)))
    return Raw("array", frame_of_array(source), kind="array")


def split(raw: Raw, target: Target) -> tuple[pl.DataFrame, pl.Series, list[str]]:
    """Return the features, the labels, and notices of how they were told apart.

    Raises
    ------
    DataError
        If there are no rows or no features, or the labels do not fit the rows.
    SpecError
        If there is no such column.
    """
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
        raise DataError(
            f"{raw.name} has no column beside the target '{labels.name}'",
            "there must be a column for each feature",
        )
    return features, labels.fill_nan(None) if labels.dtype.is_float() else labels, notices


def names_here(
    frame: pl.DataFrame, columns: Sequence[str | int], where: str, encode: str
) -> list[str]:
    """Return the names of columns given by name or index.

    A column may be one that one-hot encoding has yet to make: then only names already here count.
    """
    return [
        frame.columns[locate(column, frame.columns, where)]
        for column in columns
        if encode != "onehot" or column in frame.columns
    ]


def _many_values(labels: pl.Series, classes: tuple[Label, ...]) -> str | None:
    n, rows = len(classes), len(labels)
    if not labels.dtype.is_numeric() or n <= _MANY_CLASSES or rows >= _ROWS_OF_A_CLASS * n:
        return None
    return f"target '{labels.name}' has {n} different numbers in {rows} rows: are they classes?"


def classes_of(
    labels: pl.Series, where: str, gaps: str | None = None
) -> tuple[NDArray[np.uint32], tuple[Label, ...]]:
    """Return the class of each row as an index into the sorted classes.

    `gaps` says why labels may be missing.

    Raises
    ------
    DataError
        If the labels are no classes, some are missing, or there are too few or too many.
    """
    target = f"target '{labels.name}' of {where}"
    another = "name the column of classes with --target"
    if labels.dtype in (pl.Categorical, pl.Enum):
        labels = labels.cast(pl.String)
    if labels.dtype.is_float():
        if not (labels.drop_nulls() % 1 == 0).all():
            raise DataError(
                f"{target} is continuous, expected classes",
                f"{another}, or cut its values into classes first",
            )
    elif not (labels.dtype.is_integer() or labels.dtype in (pl.String, pl.Boolean, pl.Null)):
        raise DataError(f"{target} is {labels.dtype}, expected classes", another)
    if labels.null_count():
        raise DataError(
            f"{target} has {counted(labels.null_count(), 'missing value')}"
            f"{f'; {gaps}' if gaps else ''}",
            "remove these rows, or use --missing drop-rows",
        )
    classes, codes = np.unique(labels.to_numpy(), return_inverse=True)
    if len(classes) < 2:
        raise DataError(f"{target} has one class, expected 2 or more", another)
    if len(classes) == len(labels):
        raise DataError(f"{target} has a class for every row", another)
    return codes.astype(np.uint32), tuple(classes.tolist())
