"""The target of a table: which column it is, and the classes in it."""

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import polars as pl
from numpy.typing import ArrayLike, NDArray

from swarmrs._base._hints import setting
from swarmrs._base._messages import counted, locate
from swarmrs._base._tasks import CLASSIFICATION, REGRESSION, Task
from swarmrs.data._read import Raw, series_of
from swarmrs.exceptions import DataError

Label: TypeAlias = str | int | float | bool
Target: TypeAlias = str | int | ArrayLike | None

# Up to this many different labels are classes, whatever they look like.
_FEW = 20
# More numbers than that are no classes if they have fewer rows than this on average and such a
# share of them occurs once: codes of classes repeat (100 people with 4 pictures each), amounts and
# counts have a long tail.
_ROWS_OF_A_CLASS = 5
_LONE = 0.1
# More numbers than this are doubted even where each has many rows, such as minutes of delay.
_DOUBTED = 100


def split(
    raw: Raw, target: Target, name: str = "class"
) -> tuple[pl.DataFrame, pl.Series, list[str]]:
    """Separate features and labels; return both, and notices of what was assumed.

    Labels that are given apart from the features are called by `name`.

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
    if target is None or isinstance(target, str | int):
        position, assumed = target_position(target, frame.columns, raw.name, raw.target)
        notices += assumed
        features = frame.clone()
        labels = features.drop_in_place(frame.columns[position])
    else:
        labels, features = labels_beside(frame.columns, frame.height, target, name), frame
    if not features.width:
        raise DataError(
            f"{raw.name} has no column beside the target '{labels.name}'",
            "there must be a column for each feature",
        )
    return features, marked_missing(labels), notices


def target_position(
    target: str | int | None, columns: list[str], where: str, known: str | None = None
) -> tuple[int, list[str]]:
    """Return the position of the target among the columns, and a notice if it is assumed.

    By default it is the target that the data itself names, or else the last column.
    """
    if target is None and known is None:
        return len(columns) - 1, [f"the target is the last column, '{columns[-1]}'"]
    named = known if target is None else target
    assert named is not None, "a target is assumed above"
    return locate(named, columns, where), []


def labels_beside(columns: list[str], rows: int, labels: ArrayLike, name: str) -> pl.Series:
    """Return labels that are given apart from the features, under a name that no column has.

    Raises
    ------
    DataError
        If there is not one label for each row.
    """
    while name in columns:
        name += "_"
    series = series_of(name, labels)
    if len(series) != rows:
        raise DataError(
            f"{counted(rows, 'row')} but {counted(len(series), 'label')}",
            "give a label for each row",
        )
    return series


def marked_missing(labels: pl.Series) -> pl.Series:
    """Return labels with a null for each NaN."""
    return labels.fill_nan(None) if labels.dtype.is_float() else labels


def present_names(
    names: list[str], columns: Sequence[str | int], where: str, encode: str, target: str
) -> list[str]:
    """Return the names of features given by name or index, each once.

    Under one-hot encoding a feature may be one that is yet to be made: then only those count that
    are named and present.
    """
    found = (
        names[locate(column, names, where, target=target)]
        for column in columns
        if encode != "onehot" or column in names
    )
    return [*dict.fromkeys(found)]


def many_values(labels: pl.Series, classes: tuple[Label, ...]) -> str | None:
    """Return a warning about labels that look like a continuous target; None if they do not."""
    n, rows = len(classes), len(labels)
    is_thin = n > _FEW and rows < _ROWS_OF_A_CLASS * n
    if not labels.dtype.is_numeric() or not (is_thin or n > _DOUBTED):
        return None
    return f"target '{labels.name}' has {n} different numbers in {rows} rows: are they classes?"


def guess_task(labels: pl.Series) -> Task:
    """Return whether labels are classes or numbers, by what they look like.

    Text, booleans and few different whole numbers are classes; so are many that repeat.

    Examples
    --------
    >>> guess_task(pl.Series([1, 2, 2, 1])).name, guess_task(pl.Series([0.5, 1.25])).name
    ('classification', 'regression')
    """
    known = labels.drop_nulls()
    if not labels.dtype.is_numeric() or not len(known):
        return CLASSIFICATION
    if labels.dtype.is_float() and not (known % 1 == 0).all():
        return REGRESSION
    counts = known.unique_counts().to_numpy()
    return REGRESSION if _are_amounts(len(known), counts) else CLASSIFICATION


def _are_amounts(rows: int, counts: NDArray[Any]) -> bool:
    """Whether different numbers are so many and rare that they are no classes."""
    n = len(counts)
    return n > _FEW and rows < _ROWS_OF_A_CLASS * n and int((counts == 1).sum()) >= _LONE * n


def _refuse_no_classes(labels: pl.Series, counts: NDArray[np.intp], target: str) -> None:
    """Refuse labels that are many and rare: amounts if they are numbers, names if they are text.

    Numbers are no classes if there are more than 20 of them, fewer than 5 rows for each on average,
    and at least a tenth of them occur once. Text is no class if there are more than 20 labels and
    fewer than 2 rows for each on average.

    Raises
    ------
    DataError
        If they are.
    """
    n, rows = len(counts), len(labels)
    if n <= _FEW:
        return
    if labels.dtype.is_numeric() and _are_amounts(rows, counts):
        raise DataError(
            f"{target} has {n} different numbers in {rows} rows, expected classes", _cut()
        )
    if labels.dtype == pl.String and rows < 2 * n:
        raise DataError(
            f"{target} has {n} different labels in {rows} rows, expected classes", _another()
        )


def _another() -> str:
    return f"name the column of classes with {setting('target')}"


def _cut() -> str:
    return f"{_another()}, or predict numbers with {setting('task', REGRESSION.name)}"


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
    another = _another()
    # numpy has no integers of 128 bits.
    if labels.dtype in (pl.Categorical, pl.Enum, pl.Int128, pl.UInt128):
        labels = labels.cast(pl.String)
    if labels.dtype.is_float():
        if not (labels.drop_nulls() % 1 == 0).all():
            raise DataError(f"{target} is continuous, expected classes", _cut())
    elif not (labels.dtype.is_integer() or labels.dtype in (pl.String, pl.Boolean, pl.Null)):
        raise DataError(f"{target} is {labels.dtype}, expected classes", another)
    if labels.null_count() == len(labels):
        raise DataError(f"{target} has no value at all", another)
    if labels.null_count():
        raise DataError(
            f"{target} has {counted(labels.null_count(), 'missing value')}"
            f"{f'; {gaps}' if gaps else ''}",
            f"remove these rows, or use {setting('missing', 'drop-rows')}",
        )
    classes = labels.unique(maintain_order=True).sort()
    if len(classes) < 2:
        raise DataError(f"{target} has one class, expected 2 or more", another)
    if len(classes) == len(labels):
        raise DataError(f"{target} has a class for every row", another)
    codes = _positions(labels, classes)
    _refuse_no_classes(labels, np.bincount(codes), target)
    return codes, tuple(classes.to_list())


def _positions(labels: pl.Series, classes: pl.Series) -> NDArray[np.uint32]:
    """Return the position of each label among the sorted classes."""
    if labels.dtype == pl.String:
        return labels.cast(pl.Enum(classes)).to_physical().cast(pl.UInt32).to_numpy(writable=True)
    return np.searchsorted(classes.to_numpy(), labels.to_numpy()).astype(np.uint32)
