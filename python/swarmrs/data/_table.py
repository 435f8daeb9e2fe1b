"""From a file, a frame or arrays to the numbers and class codes that a search works on."""

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from html import escape
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, Unpack, cast

import numpy as np
import polars as pl
from numpy.typing import ArrayLike, NDArray

from swarmrs._base._arguments import check_options
from swarmrs._base._hints import leaving_out, rendered, setting
from swarmrs._base._messages import check_word, counted, locate, quoted
from swarmrs._base._options import defaults_of, takes_options
from swarmrs._base._public import public
from swarmrs._base._tasks import CLASSIFICATION, REGRESSION, TASKS, Task
from swarmrs.data._arrays import ArrayColumns, FeatureFrame, Samples, as_floats, numbers_of
from swarmrs.data._column_checks import constant_features, copies_of, inspect, numeric_copies
from swarmrs.data._dates import Dates, dates_to_numbers, read_dates
from swarmrs.data._encode import (
    BOOLEANS,
    Codes,
    complete_matrix,
    drop_columns,
    drop_rows,
    mark_missing,
    matrix_of,
    text_columns,
    to_numbers,
)
from swarmrs.data._formats import Reading, read_file
from swarmrs.data._impute import Unfilled
from swarmrs.data._options import ENCODINGS, MISSING, ReadOptions
from swarmrs.data._read import Raw, frame_of_array, raw_frame, read_built_in, read_pandas
from swarmrs.data._target import (
    Label,
    Target,
    classes_of,
    guess_task,
    labels_beside,
    many_values,
    marked_missing,
    present_names,
    split,
    target_position,
)
from swarmrs.data._target_bins import levels_of
from swarmrs.exceptions import DataError

if TYPE_CHECKING:
    from narwhals.typing import IntoDataFrame
    from polars._typing import ArrowStreamExportable

Source: TypeAlias = "str | os.PathLike[str] | pl.LazyFrame | IntoDataFrame | ArrayLike | Table"
Data: TypeAlias = "Source | tuple[Source, Target]"


@public
@dataclass(frozen=True, eq=False, repr=False)
class Table:
    """A data set of numeric features and a target.

    Attributes
    ----------
    name : str
        What it is called in results: the file's name, not its path.
    frame : polars.DataFrame
        The features, all numeric; no value is missing unless that was requested. Where the table
        is read from an array, the frame is built when it is first used.
    x : ndarray of float64
        The same as one column-major array; a missing value is a NaN.
    target : str
        The name of the target.
    codes : ndarray of uint32
        The class of each row, as an index into `labels`.
    labels : tuple
        The classes, sorted; text by its bytes.
    encoded : tuple of tuple of int
        The positions of features that came from one column of text, for each such column.
    notices : tuple of str
        Notes on how the data was read.
    warnings : tuple of str
        Warnings about what in the data can mislead.
    values : ndarray of float64 or None
        The values of a numeric target: then the classes are bins of it.
    unfilled : Unfilled, optional
        The features before imputation, if any value was missing.
    keys : mapping of str to Codes or Dates
        How features that held text, booleans or dates became numbers.
    samples : data frame, optional
        The features as they were given, for an estimator that reads data frames.
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

    def __repr__(self) -> str:
        rows, width = self.x.shape
        kind = "numbers" if self.values is not None else counted(len(self.labels), "class")
        size = f"{counted(rows, 'row')}, {counted(width, 'feature')}"
        return f"Table '{self.name}': {size}, target '{self.target}' ({kind})"

    def _repr_html_(self) -> str:
        messages = "".join(f"<li>{escape(text)}</li>" for text in (*self.notices, *self.warnings))
        return f"<p>{escape(repr(self))}</p>" + (f"<ul>{messages}</ul>" if messages else "")

    @property
    def task(self) -> Task:
        """What the target is: classes, or numbers."""
        return CLASSIFICATION if self.values is None else REGRESSION

    @property
    def y(self) -> NDArray[np.generic]:
        """The label of each row, or its value where the target is numeric."""
        return np.array(self.labels)[self.codes] if self.values is None else self.values

    @cached_property
    def names(self) -> list[str]:
        """The names of the features."""
        features: pl.DataFrame | ArrayColumns = vars(self)["_features"]
        return features.names if isinstance(features, ArrayColumns) else features.columns

    @cached_property
    def constant(self) -> tuple[int, ...]:
        """The positions of the features that have one value, or none."""
        return tuple(np.flatnonzero(constant_features(self.x)).tolist())

    @cached_property
    def has_gaps(self) -> bool:
        """Whether values are missing."""
        return bool(np.isnan(self.x.min(initial=0.0)))

    def take(self, rows: NDArray[np.intp], by: NDArray[np.intp] | None = None) -> "Table":
        """Return some rows; missing values are imputed from the rows `by`, or from these rows.

        Classes without a row are dropped; a numeric target is binned anew.

        Raises
        ------
        DataError
            If fewer than two classes are left.
        """
        unfilled, samples = self.unfilled, self.samples
        if samples is not None:
            from sklearn.utils import _safe_indexing

            samples = _safe_indexing(samples, rows)
        if unfilled is None:
            x = np.asfortranarray(self.x[rows])
            frame = _rows_of(vars(self)["_features"], rows, x)
        else:
            frame = unfilled.filled(rows, rows if by is None else by)
            x = np.asfortranarray(frame.cast(pl.Float64).to_numpy(order="fortran"))
            unfilled = unfilled.take(rows)
        if self.values is not None:
            target = pl.Series(self.target, self.values[rows])
            values: NDArray[np.float64] | None
            labels: tuple[Label, ...]
            values, codes, labels = levels_of(target, self.name)
        else:
            present, places = np.unique(self.codes[rows], return_inverse=True)
            if len(present) < 2:
                raise DataError(
                    f"{counted(len(rows), 'row')} of {self.name} have one class, expected 2 or "
                    "more",
                    "hold out fewer rows, or other ones",
                )
            values, codes = None, places.astype(np.uint32)
            labels = tuple(self.labels[code] for code in present)
        return replace(
            self,
            frame=frame,
            x=x,
            codes=codes,
            labels=labels,
            values=values,
            unfilled=unfilled,
            samples=samples,
        )

    def columns(self, features: NDArray[np.intp]) -> "Table":
        """Return the table with some features, in this order, and none of their origins."""
        frame: Any = vars(self)["_features"]
        names, x = (
            [self.names[feature] for feature in features],
            np.asfortranarray(self.x[:, features]),
        )
        if isinstance(frame, ArrayColumns):
            frame = ArrayColumns(names, x, frame.dtype)
        else:
            frame = pl.DataFrame([frame[name] for name in names])
        return replace(self, frame=frame, x=x, encoded=(), unfilled=None, samples=None)

    def with_samples(self, frame: Any) -> "Table":
        """Return the table with the data frame that it was read from, less its target."""
        from sklearn.utils import _safe_indexing

        names = [str(name) for name in frame.columns]
        if len(names) > len(self.names):
            others = [at for at, name in enumerate(names) if name != self.target]
            frame = _safe_indexing(frame, others, axis=1)
        return replace(self, samples=frame)

    def as_filled(self) -> "Table":
        """Return the table with imputed values taken as given: no fold imputes them anew."""
        return self if self.unfilled is None else replace(self, unfilled=None)

    def locate(self, columns: Sequence[str | int]) -> list[int]:
        """Return the positions of features given by name or index."""
        return [locate(column, self.names, self.name, target=self.target) for column in columns]

    def name_classes(self, warnings: Iterable[str]) -> tuple[str, ...]:
        """Return the engine's warnings with the labels of classes and the user's settings."""

        def label(code: re.Match[str]) -> str:
            return f"class '{self.labels[int(code[1])]}'"

        def number(found: re.Match[str]) -> str:
            return counted(int(found[1]), found[2])

        named = (re.sub(r"^class (\d+)", label, rendered(warning)) for warning in warnings)
        return tuple(re.sub(r"(\d+) (\w+)\(s\)", number, warning) for warning in named)

    def reduced(self, selected: Sequence[str]) -> pl.DataFrame:
        """Return selected features and the target, with the original text, booleans and dates."""
        columns = (
            self.keys[column.name].restored(column) if column.name in self.keys else column
            for column in self.frame[:, list(selected)]
        )
        return pl.DataFrame([*columns, pl.Series(self.target, self.y)])

    def text_codes(self, selected: Sequence[str]) -> dict[str, list[str]]:
        """Return the values of selected text features, each at the position that is its code."""
        keys = ((name, self.keys.get(name)) for name in selected)
        return {
            name: key.values.to_list()
            for name, key in keys
            if isinstance(key, Codes) and key.values.dtype == pl.String
        }


def _rows_of(
    features: pl.DataFrame | ArrayColumns, rows: NDArray[np.intp], x: NDArray[np.float64]
) -> pl.DataFrame:
    """Return some rows of features, whose values are `x`, for the `frame` of a table."""
    if isinstance(features, ArrayColumns):
        return cast("pl.DataFrame", features._replace(values=x))
    return features[rows]


# A dataclass would take a descriptor inside the class for a default.
Table.frame = FeatureFrame()  # type: ignore[assignment]


@takes_options(ReadOptions)
def read_table(
    data: Data,
    target: Target = None,
    **options: Unpack[ReadOptions],
) -> Table:
    """Read a table of features and a target of classes or numbers.

    Parameters
    ----------
    data : str, path, frame, array, pair or Table
        A CSV, TSV, Parquet, Arrow (Feather) or ARFF file, gzipped or not; ``"-"`` for standard
        input; ``"sklearn:wine"``, ``"sklearn:breast_cancer"``, ``"sklearn:digits"``,
        ``"sklearn:iris"`` or ``"sklearn:diabetes"``; a polars or pandas frame; an array; a pair of
        features and labels. A `Table` is returned as it is, or with its classes taken for numbers
        if that is the `task`.
    target : str, int or array-like, optional
        The column that holds the classes or numbers, by name or index, or the labels themselves.
        By default the last column, with a notice.
    {options}

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
    >>> table
    Table 'frame': 3 rows, 2 features, target 'class' (2 classes)
    >>> table.names, table.labels, table.codes.tolist()
    (['a', 'b'], ('x', 'y'), [0, 1, 0])
    """
    check_options(read_table, options)
    settings = {**defaults_of(ReadOptions), **options}
    check_policies(settings["missing"], settings["encode"], settings["task"])
    reading = Reading.of(options)
    if isinstance(data, Table):
        return _with_task(data, settings["task"])
    policies = {name: settings[name] for name in POLICIES}
    policies |= {"identifiers": not isinstance(data, Samples)}
    if isinstance(data, tuple):
        if len(data) != 2:
            raise DataError(
                f"the data is a tuple of {len(data)}, expected features and labels", "give (X, y)"
            )
        data, target = data
    array = numbers_of(data)
    table = None if array is None else prepare_array(array, target, **policies)
    return prepare(find(data, reading), target, **policies) if table is None else table


# The reading options that say what becomes of the values, whatever they are read from.
POLICIES = ("task", "missing", "encode", "exclude", "allow_target_copy")


def check_policies(missing: str, encode: str, task: str | None = None) -> None:
    """Refuse policies that do not exist."""
    if task is not None:
        check_word("task", task, tuple(TASKS))
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
    task: str | None = None,
    identifiers: bool = True,
) -> Table:
    """Make a table of data that was read; see `read_table`.

    `identifiers` says whether features are checked for row identifiers.
    """
    features, labels, notices = split(raw, target, _target_name(task))
    blank = present_names(features.columns, exclude, raw.name, encode, labels.name)
    if blank:
        features = features.with_columns(pl.lit(0.0).alias(name) for name in blank)
    is_apart = labels.name not in raw.frame.columns
    x = None if labels.null_count() else complete_matrix(features)
    if x is not None:
        return _complete_table(
            raw.name,
            features,
            x,
            labels,
            notices=notices,
            warnings=raw.warnings,
            exclude=exclude,
            is_apart=is_apart,
            allow_target_copy=allow_target_copy,
            task=task,
            identifiers=identifiers,
            keys={},
        )
    features = mark_missing(features)
    if missing == "drop-rows":
        features, labels, dropped = drop_rows(features, labels, raw.name)
        notices += dropped
    elif missing == "drop-columns":
        features, dropped = drop_columns(features, exclude, raw.name)
        notices += dropped
    classes = _Classes.of(labels, raw.name, raw.gaps, task)
    notices += classes.notices
    warnings = [
        *raw.warnings,
        *classes.warnings,
        *_check_copies(copies_of(labels, features), is_apart or allow_target_copy),
    ]
    features, dates = read_dates(features)
    features, converted = dates_to_numbers(features)
    notices += converted
    nominal = text_columns(features) if encode == "ordinal" else []
    features, cleaned, encoded, keys, unfilled = to_numbers(
        features, missing=missing, encode=encode, gaps=raw.gaps
    )
    if unfilled is not None:
        notices += [f"{counted(unfilled.count, 'missing value')} imputed by {missing}"]
    names = features.columns
    excluded = {locate(column, names, raw.name, target=labels.name) for column in exclude}
    x = matrix_of(features)
    found = inspect(x, excluded, {names.index(name) for name in nominal})
    return Table(
        raw.name,
        features,
        x,
        _renamed(labels.name, names, classes, is_apart),
        classes.codes,
        classes.labels,
        tuple(encoded),
        (*notices, *found.notices(names)),
        (*warnings, *cleaned, *(found.warnings(names) if identifiers else ())),
        classes.values,
        unfilled,
        {**dates, **keys},
    )


def prepare_array(
    array: NDArray[Any],
    target: Target,
    *,
    missing: str,
    encode: str,
    exclude: Sequence[str | int],
    allow_target_copy: bool,
    task: str | None = None,
    identifiers: bool = True,
) -> Table | None:
    """Make a table of an array of numbers, without a frame.

    None if something is empty, missing, infinite or rounded: `prepare` has the policies and the
    messages for that.
    """
    name, names = "array", [f"x{index}" for index in range(array.shape[1])]
    is_apart = not (target is None or isinstance(target, str | int))
    if array.size == 0 or (array.shape[1] == 1 and not is_apart):
        return None
    notices: list[str] = []
    if is_apart:
        labels = labels_beside(names, len(array), cast("ArrayLike", target), _target_name(task))
    else:
        position, notices = target_position(cast("str | int | None", target), names, name)
        labels = pl.Series(names.pop(position), array[:, position])
        array = np.delete(array, position, axis=1)
    labels = marked_missing(labels)
    blank = [
        names.index(column) for column in present_names(names, exclude, name, encode, labels.name)
    ]
    if blank:
        array = array.copy()
        array[:, blank] = 0
    x = as_floats(array)
    if x is None or labels.null_count():
        return None
    is_boolean = array.dtype == bool
    dtype = np.dtype(np.uint8) if is_boolean else array.dtype
    return _complete_table(
        name,
        ArrayColumns(names, x, dtype),
        x,
        labels,
        notices=notices,
        exclude=exclude,
        is_apart=is_apart,
        allow_target_copy=allow_target_copy,
        task=task,
        identifiers=identifiers,
        keys=dict.fromkeys(names, BOOLEANS) if is_boolean else {},
    )


def _complete_table(
    name: str,
    features: pl.DataFrame | ArrayColumns,
    x: NDArray[np.float64],
    labels: pl.Series,
    *,
    notices: Sequence[str],
    warnings: Sequence[str] = (),
    exclude: Sequence[str | int],
    is_apart: bool,
    allow_target_copy: bool,
    task: str | None,
    identifiers: bool,
    keys: Mapping[str, Codes | Dates],
) -> Table:
    """Make a table of numbers none of which is missing, `x`, without a loop over its columns."""
    names = features.names if isinstance(features, ArrayColumns) else features.columns
    classes = _Classes.of(labels, name, None, task)
    copies = [names[index] for index in numeric_copies(labels, x)]
    copied = _check_copies(copies, is_apart or allow_target_copy)
    excluded = {locate(column, names, name, target=labels.name) for column in exclude}
    found = inspect(x, excluded)
    return Table(
        name,
        cast("pl.DataFrame", features),
        x,
        _renamed(labels.name, names, classes, is_apart),
        classes.codes,
        classes.labels,
        notices=(*notices, *classes.notices, *found.notices(names)),
        warnings=(
            *warnings,
            *classes.warnings,
            *copied,
            *(found.warnings(names) if identifiers else ()),
        ),
        values=classes.values,
        keys=keys,
    )


def _target_name(task: str | None) -> str:
    """Return what labels given apart from the features are called."""
    return "target" if task == REGRESSION.name else "class"


def _renamed(name: str, features: Sequence[str], classes: "_Classes", is_apart: bool) -> str:
    """Return the name of the target, once it is known whether nameless labels are numbers."""
    other = _target_name(REGRESSION.name)
    is_class = is_apart and name == _target_name(None) and classes.values is not None
    return other if is_class and other not in features else name


class _Classes(NamedTuple):
    """The classes of a table, or the bins of a numeric target beside its values."""

    values: NDArray[np.float64] | None
    codes: NDArray[np.uint32]
    labels: tuple[Label, ...]
    notices: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()

    @classmethod
    def of(cls, target: pl.Series, where: str, gaps: str | None, task: str | None) -> "_Classes":
        settled = guess_task(target) if task is None else TASKS[task]
        if settled is REGRESSION:
            number = counted(target.drop_nulls().n_unique(), "different number")
            said = f"the target has {number}: {settled.name}"
            return cls(*levels_of(target, where), () if task is not None else (said,))
        codes, labels = classes_of(target, where, gaps)
        doubt = many_values(target, labels)
        return cls(None, codes, labels, (), () if doubt is None else (doubt,))


def _check_copies(copies: list[str], is_allowed: bool) -> list[str]:
    """Return a warning about features that equal the target.

    Raises
    ------
    DataError
        If there are any and that is not allowed.
    """
    if not copies:
        return []
    message = f"{counted(len(copies), 'feature')} equal to the target: {quoted(copies)}"
    if not is_allowed:
        raise DataError(
            message, f"{leaving_out()}, or go on with {setting('allow_target_copy', True)}"
        )
    return [message]


def _with_task(table: Table, task: str | None) -> Table:
    """Return a table with the target that a task wants: classes that are numbers are either.

    Raises
    ------
    DataError
        If it has another.
    """
    if task is None or task == table.task.name:
        return table
    if table.values is not None:
        codes, labels = classes_of(pl.Series(table.target, table.values), table.name)
        return replace(table, codes=codes, labels=labels, values=None)
    values, codes, names = levels_of(pl.Series(table.target, table.y), table.name)
    return replace(table, codes=codes, labels=names, values=values)


def find(source: Source, reading: Reading) -> Raw:
    """Read any source of a table as a frame."""
    if isinstance(source, str | os.PathLike):
        path = os.fspath(source)
        if path.startswith("sklearn:"):
            return read_built_in(path.removeprefix("sklearn:"))
        return read_file(path, reading)
    if isinstance(source, pl.LazyFrame):
        source = source.collect()
    if isinstance(source, pl.DataFrame):
        return raw_frame("frame", source)
    if hasattr(source, "iloc"):
        return read_pandas(source, dedupe_names=reading.dedupe_names)
    if hasattr(source, "__arrow_c_stream__"):
        return raw_frame("frame", pl.DataFrame(cast("ArrowStreamExportable", source)))
    return Raw("array", frame_of_array(source), kind="array")
