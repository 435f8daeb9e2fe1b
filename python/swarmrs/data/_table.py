"""From a file, a frame or arrays to the numbers and class codes a search works on."""

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias, Unpack, cast

import numpy as np
import polars as pl
from numpy.typing import ArrayLike, NDArray

from swarmrs._base._arguments import check_arguments
from swarmrs._base._hints import leaving_out, setting
from swarmrs._base._messages import check_word, counted, locate, quoted
from swarmrs.data._column_checks import copies_of, inspect, is_constant
from swarmrs.data._dates import Dates, dates_to_numbers, read_dates
from swarmrs.data._encode import (
    ENCODINGS,
    MISSING,
    Codes,
    drop_columns,
    drop_rows,
    mark_missing,
    matrix_of,
    text_columns,
    to_numbers,
)
from swarmrs.data._formats import Reading, ReadOptions, read_file
from swarmrs.data._impute import Unfilled
from swarmrs.data._read import Raw, frame_of_array, read_built_in, read_pandas
from swarmrs.data._target import Label, Target, classes_of, many_values, names_here, split
from swarmrs.data._target_bins import levels_of
from swarmrs.exceptions import DataError

if TYPE_CHECKING:
    from narwhals.typing import IntoDataFrame
    from polars._typing import ArrowStreamExportable

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
    values : ndarray of float64 or None
        The target's numbers, where it is measured: then the classes are levels of it.
    unfilled : Unfilled, optional
        The features before missing values were filled, if any were.
    keys : mapping of str to Codes or Dates
        How features that held text, booleans or dates became numbers.
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
    values: NDArray[np.float64] | None = None
    unfilled: Unfilled | None = None
    keys: Mapping[str, Codes | Dates] = field(default_factory=dict)
    samples: Any = None

    @property
    def y(self) -> NDArray[np.generic]:
        """The label of each row, or its number where the target is measured."""
        return np.array(self.labels)[self.codes] if self.values is None else self.values

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

        Classes without a row are gone; the levels of a measured target are cut anew.

        Raises
        ------
        DataError
            If fewer than two classes are left.
        """
        unfilled = self.unfilled
        if unfilled is None:
            frame, x = self.frame[rows], np.asfortranarray(self.x[rows])
        else:
            frame = unfilled.filled(rows, rows if by is None else by)
            x = np.asfortranarray(frame.cast(pl.Float64).to_numpy(order="fortran"))
            unfilled = unfilled.take(rows)
        if self.values is not None:
            target = pl.Series(self.target, self.values[rows])
            values, codes, labels = levels_of(target, self.name)
            return replace(
                self, frame=frame, x=x, codes=codes, labels=labels, values=values, unfilled=unfilled
            )
        present, places = np.unique(self.codes[rows], return_inverse=True)
        if len(present) < 2:
            raise DataError(
                f"{counted(len(rows), 'row')} of {self.name} have one class, expected 2 or more",
                "hold out fewer rows, or other ones",
            )
        return replace(
            self,
            frame=frame,
            x=x,
            codes=places.astype(np.uint32),
            labels=tuple(self.labels[code] for code in present),
            unfilled=unfilled,
        )

    def as_filled(self) -> "Table":
        """Return the table with what was filled taken as given: no fold fills it anew."""
        return replace(self, unfilled=None)

    def locate(self, columns: Sequence[str | int]) -> list[int]:
        """Return the positions of features given by name or index."""
        return [locate(column, self.names, self.name, target=self.target) for column in columns]

    def name_classes(self, warnings: Iterable[str]) -> tuple[str, ...]:
        """Return the engine's warnings with the labels of classes in place of their codes."""

        def label(code: re.Match[str]) -> str:
            return f"class '{self.labels[int(code[1])]}'"

        def number(found: re.Match[str]) -> str:
            return counted(int(found[1]), found[2])

        labelled = (re.sub(r"^class (\d+)", label, warning) for warning in warnings)
        return tuple(re.sub(r"(\d+) (\w+)\(s\)", number, warning) for warning in labelled)

    def reduced(self, selected: Sequence[str]) -> pl.DataFrame:
        """Return the chosen features and the target, text, booleans and dates as they were."""
        columns = (
            self.keys[column.name].restored(column) if column.name in self.keys else column
            for column in self.frame.select(selected)
        )
        return pl.DataFrame([*columns, pl.Series(self.target, self.y)])

    def text_codes(self, selected: Sequence[str]) -> dict[str, list[str]]:
        """Return the values of chosen features of text, each at the position that is its code."""
        keys = ((name, self.keys.get(name)) for name in selected)
        return {
            name: key.values.to_list()
            for name, key in keys
            if isinstance(key, Codes) and key.values.dtype == pl.String
        }


def read_table(
    source: Data,
    target: Target = None,
    *,
    missing: str = "error",
    encode: str = "error",
    exclude: Sequence[str | int] = (),
    allow_target_copy: bool = False,
    continuous: bool = False,
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
    missing : {"error", "mean", "median", "mode", "knn", "drop-rows", "drop-columns", "keep"}
        What to do about missing values. ``"knn"`` copies the value of the nearest row. Whatever
        measures subsets fills them by the rows that train, for each fold anew; what looks at all
        rows, such as a ranking, by all of them. ``"keep"`` leaves them as they are, for an
        estimator that knows what to do about them; the built-in classifiers do not.
    encode : {"error", "ordinal", "onehot"}
        What to do about columns of text. Text that is a date in every row (ISO 8601) is no text:
        dates become days since 1970-01-01, which a notice says.
    exclude : sequence of str or int
        Columns that are not to be looked at: their values are replaced by zeros, so that nothing
        they hold can be refused or matter.
    allow_target_copy : bool
        Whether a feature may be equal to the target. Of labels given apart from the features it is
        only warned.
    continuous : bool
        Whether the target is measured, as a regressor has it, and not a class. Whatever needs
        classes, such as a ranking, is given five levels of it, each of about a fifth of the rows.
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
    check_arguments(read_table, locals())
    check_policies(missing, encode)
    options = Reading(**reading)
    if isinstance(source, Table):
        return _measured(source) if continuous else source
    if isinstance(source, tuple):
        if len(source) != 2:
            raise DataError(
                f"the data is a tuple of {len(source)}, expected features and labels", "give (X, y)"
            )
        source, target = source
    return prepare(
        find(source, options),
        target,
        missing=missing,
        encode=encode,
        exclude=exclude,
        allow_target_copy=allow_target_copy,
        continuous=continuous,
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
    continuous: bool = False,
) -> Table:
    """Make a table that can be searched of one that was found; see `read_table`."""
    features, labels, notices = split(raw, target, "target" if continuous else "class")
    warnings = list(raw.warnings)
    blank = names_here(features, exclude, raw.name, encode, labels.name)
    features = mark_missing(features)
    if blank:
        features = features.with_columns(pl.lit(0.0).alias(name) for name in blank)
    if missing == "drop-rows":
        features, labels, dropped = drop_rows(features, labels, raw.name)
        notices += dropped
    elif missing == "drop-columns":
        features, dropped = drop_columns(features, exclude, raw.name)
        notices += dropped
    values, codes, classes = (
        levels_of(labels, raw.name)
        if continuous
        else (None, *classes_of(labels, raw.name, raw.gaps))
    )
    if not continuous and (measured := many_values(labels, classes)) is not None:
        warnings.append(measured)
    if copies := copies_of(labels, features):
        copied = f"{counted(len(copies), 'column')} equal to the target: {quoted(copies)}"
        if labels.name in raw.frame.columns and not allow_target_copy:
            raise DataError(
                copied,
                f"{leaving_out()}, or go on with {setting('allow_target_copy', True)}",
            )
        warnings.append(copied)
    features, dates = read_dates(features)
    features, told = dates_to_numbers(features)
    notices += told
    nominal = text_columns(features) if encode == "ordinal" else []
    features, cleaned, encoded, keys, unfilled = to_numbers(
        features, missing=missing, encode=encode, gaps=raw.gaps
    )
    if unfilled is not None:
        notices += [f"{counted(unfilled.count, 'missing value')} filled by {missing}"]
    names = features.columns
    excluded = {locate(column, names, raw.name, target=labels.name) for column in exclude}
    x = matrix_of(features)
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
        values,
        unfilled,
        {**dates, **keys},
    )


def _measured(table: Table) -> Table:
    """Return a table with the numbers of its target in place of classes."""
    if table.values is not None:
        return table
    values, codes, names = levels_of(pl.Series(table.target, table.y), table.name)
    return replace(table, codes=codes, labels=names, values=values)


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
