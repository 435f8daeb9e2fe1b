"""From any source of a table to a polars frame; no policy is applied here."""

import itertools
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from swarmrs._base._hints import setting
from swarmrs._base._messages import check_word, counted, quoted
from swarmrs.exceptions import DataError

BUILT_IN = ("breast_cancer", "diabetes", "digits", "iris", "wine")


class Raw(NamedTuple):
    """A table as it was read, before any policy: with notes, and its target if the file names it.

    Attributes
    ----------
    gaps : str or None
        Why values may be missing, if the format of the file shows it.
    null_words : tuple of str
        What stands for a missing value beside an empty field, where the file has no types.
    kind : str
        What was read.
    """

    name: str
    frame: pl.DataFrame
    notices: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    target: str | None = None
    gaps: str | None = None
    null_words: tuple[str, ...] = ()
    kind: str = "frame"


def raw_frame(name: str, frame: pl.DataFrame, kind: str = "frame") -> Raw:
    """Return a frame as it is, the names of its columns checked."""
    check_names(frame.columns, name)
    return Raw(name, frame, kind=kind)


def read_built_in(name: str) -> Raw:
    """Return a data set of scikit-learn, the names of its classes or its numbers last."""
    from sklearn import datasets

    check_word("built-in data set", name, BUILT_IN)
    bunch = getattr(datasets, f"load_{name}")()
    frame = frame_of_array(bunch.data, [str(feature) for feature in bunch.feature_names])
    if hasattr(bunch, "target_names"):
        labels = pl.Series("class", bunch.target_names[bunch.target])
    else:
        labels = pl.Series("target", bunch.target)
    return Raw(f"sklearn:{name}", frame.with_columns(labels), target=labels.name, kind="built-in")


def frame_of_array(values: object, names: Sequence[str] | None = None) -> pl.DataFrame:
    """Return a two-dimensional array as a frame, its columns called x0, x1, ... unless named."""
    if values is None:
        raise DataError("no data is given", "give a file, a frame or an array")
    if hasattr(values, "toarray"):
        raise DataError("sparse matrices are not read", "give a dense array: X.toarray()")
    array = _array("the array", values)
    if array.ndim != 2:
        raise DataError(
            f"the array has {counted(array.ndim, 'dimension')}, expected 2",
            "give a row for each sample and a column for each feature",
        )
    columns = names if names is not None else [f"x{index}" for index in range(array.shape[1])]
    return pl.DataFrame([series_of(name, array[:, index]) for index, name in enumerate(columns)])


def is_frame(X: object) -> bool:
    """Return whether it is a data frame of pandas or polars."""
    return isinstance(X, pl.DataFrame) or is_pandas(X)


def is_pandas(X: object) -> bool:
    """Return whether it is a frame of pandas, without importing it."""
    return hasattr(X, "iloc") and hasattr(X, "columns")


def unmasked(values: object) -> object:
    """Return an array whose masked cells are missing values; anything else as it is.

    Floats are masked by NaN. Other types have no value to spare: they become objects and None.
    """
    if isinstance(values, list | tuple) and any(value is np.ma.masked for value in values):
        return [None if value is np.ma.masked else value for value in values]
    if isinstance(values, list | tuple) and any(
        isinstance(value, np.ma.MaskedArray) for value in values
    ):
        rows: list[Any] = [unmasked(value) for value in values]
        return rows if len({np.shape(row) for row in rows}) > 1 else np.array(rows)
    if not isinstance(values, np.ma.MaskedArray):
        return values
    if not np.ma.is_masked(values):
        return values.data
    if values.dtype.kind == "f":
        return values.filled(np.nan)
    objects = values.data.astype(object)
    objects[np.ma.getmaskarray(values)] = None
    return objects


def read_pandas(frame: object, *, dedupe_names: bool) -> Raw:
    """Return a pandas frame as a polars one, without pyarrow."""
    found = [str(name) for name in frame.columns]  # type: ignore[attr-defined]
    names, notices, warnings = settle_names(found, "the frame", dedupe=dedupe_names)
    columns = (frame.iloc[:, index] for index in range(len(names)))  # type: ignore[attr-defined]
    series = [series_of(*pair) for pair in zip(names, columns, strict=True)]
    return Raw("frame", pl.DataFrame(series), tuple(notices), tuple(warnings))


def _array(what: str, values: object) -> NDArray[Any]:
    """Return values as an array.

    Raises
    ------
    DataError
        If its parts differ in length.
    """
    try:
        return np.asarray(unmasked(values))
    except ValueError:
        raise DataError(
            f"{what} has parts of different lengths", "give as many values in each"
        ) from None


def series_of(name: str, values: object) -> pl.Series:
    """Return a column given as a series, an array or a list; what pandas calls NA is null."""
    if isinstance(values, pl.Series):
        return values.alias(name)
    array = _array(f"'{name}'", values)
    if array.ndim != 1:
        raise DataError(f"'{name}' has {counted(array.ndim, 'dimension')}, expected 1")
    if array.dtype != object:
        try:
            return pl.Series(name, array)
        except (TypeError, ValueError):  # Complex numbers, records, bytes of unknown meaning.
            raise DataError(
                f"'{name}' has values of type {array.dtype}, expected numbers or text"
            ) from None
    isna = getattr(values, "isna", None)
    is_missing = isna().to_numpy() if isna else [value is None for value in array]
    present = [None if missing else value for missing, value in zip(is_missing, array, strict=True)]
    try:
        return pl.Series(name, present)
    except (TypeError, ValueError, AttributeError, pl.exceptions.PolarsError):
        return pl.Series(name, [None if value is None else str(value) for value in present])


def columns_of(frame: pl.DataFrame, is_kind: Callable[[pl.DataType], bool]) -> pl.DataFrame:
    """Return the columns of a kind, which the class of a type settles."""
    # Each class is looked at once: to compare the types of 100 000 columns takes 0.2 s.
    dtypes = frame.dtypes
    types = [*map(type, dtypes)]
    kinds = {each: is_kind(dtype) for each, dtype in dict(zip(types, dtypes, strict=True)).items()}
    if all(kinds.values()):
        return frame
    if not any(kinds.values()):
        return pl.DataFrame()
    pairs = zip(frame.columns, types, strict=True)
    return frame[:, [name for name, each in pairs if kinds[each]]]


def incomplete(frame: pl.DataFrame) -> list[pl.Series]:
    """Return the columns in which values are missing."""
    counts = frame.null_count().row(0) if frame.width else ()
    return [frame.to_series(index) for index, count in enumerate(counts) if count]


def settle_names(
    found: Sequence[str], where: str, *, dedupe: bool
) -> tuple[list[str], list[str], list[str]]:
    """Return a name for each column, with notices and warnings of those that were made up.

    An unnamed column is called by its position; of equal names, if allowed, the later ones are
    numbered.

    Raises
    ------
    DataError
        If a name occurs twice and that is not allowed.
    """
    stripped = [name.strip() for name in found]
    names = [name or f"column_{position}" for position, name in enumerate(stripped, start=1)]
    notices, warnings = [], []
    if unnamed := [made for made, name in zip(names, stripped, strict=True) if not name]:
        warnings.append(f"{counted(len(unnamed), 'column')} without a name: {quoted(unnamed)}")
    if dedupe:
        names, renamed = _numbered(names)
        if renamed:
            notices.append(f"{counted(len(renamed), 'column')} renamed: {quoted(renamed)}")
    check_names(names, where)
    return names, notices, warnings


def _numbered(names: list[str]) -> tuple[list[str], list[str]]:
    taken, seen, renamed = set(names), set(), []
    unique = []
    for name in names:
        chosen = name
        if name in seen:
            numbers = (f"{name}_{number}" for number in itertools.count(2))
            chosen = next(number for number in numbers if number not in taken)
            taken.add(chosen)
            renamed.append(chosen)
        seen.add(chosen)
        unique.append(chosen)
    return unique, renamed


def too_long(names: Sequence[str]) -> str:
    """Say that columns hold whole numbers which a float does not."""
    return f"{counted(len(names), 'column')} of whole numbers too long, rounded: {quoted(names)}"


def check_names(
    names: Sequence[str],
    where: str,
    hint: str | None = None,
) -> None:
    """Refuse names that occur twice, and names that polars takes for a pattern of names.

    Raises
    ------
    DataError
        If there is one; of equal names it gives both positions, the first column being 1.
    """
    if patterns := [name for name in names if name.startswith("^") and name.endswith("$")]:
        raise DataError(
            f"{where} has a column called '{patterns[0]}', "
            "which polars reads as a regular expression",
            "rename it so that it does not both start with '^' and end with '$'",
        )
    twice = [name for name, times in Counter(names).items() if times > 1]
    if twice:
        first = names.index(twice[0])
        second = names.index(twice[0], first + 1)
        raise DataError(
            f"{where} has two columns called '{twice[0]}': {first + 1} and {second + 1}",
            hint or f"rename one of them, or number them with {setting('dedupe_names', True)}",
        )
