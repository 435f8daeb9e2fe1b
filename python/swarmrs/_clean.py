"""From columns of any kind to numbers, by policies the caller names; nothing silently."""

from collections.abc import Iterator
from itertools import accumulate
from typing import NamedTuple

import numpy as np
import polars as pl
import polars.selectors as cs
from numpy.typing import NDArray

from swarmrs._read import check_names
from swarmrs._words import counted, listed, quoted
from swarmrs.exceptions import DataError

MISSING = ("error", "median", "mode", "knn", "drop-rows")
TEXT = (pl.String, pl.Categorical, pl.Enum)
ENCODINGS = ("error", "ordinal", "onehot")

# Fewer rows than this are in order by chance too often to call a column an identifier.
_MIN_ROWS_FOR_ID = 10


def mark_missing(frame: pl.DataFrame) -> pl.DataFrame:
    """Make every missing value a null: NaN too, and columns that hold nothing."""
    return frame.with_columns(cs.float().fill_nan(None), cs.by_dtype(pl.Null).cast(pl.Float64))


def complete_rows(frame: pl.DataFrame) -> pl.Series:
    """Tell for each row whether nothing is missing in it."""
    complete = pl.repeat(True, frame.height, eager=True)
    for column in frame:
        if column.null_count():
            complete &= column.is_not_null()
    return complete


class Numbers(NamedTuple):
    """Columns as numbers without gaps.

    Attributes
    ----------
    frame : polars.DataFrame
        The columns.
    notices : list of str
        What was filled.
    encoded : list of tuple of int
        The positions of the columns that came from one column of text, for each that was spread.
    """

    frame: pl.DataFrame
    notices: list[str]
    encoded: list[tuple[int, ...]]


def to_numbers(frame: pl.DataFrame, *, missing: str, encode: str) -> Numbers:
    """Return the columns as numbers without gaps.

    Text becomes the rank of its value among the column's values sorted bytewise, is filled as such,
    and is spread over one column for each value if `encode` is ``"onehot"``.

    Raises
    ------
    DataError
        If there are columns the policies do not cover; it names them.
    """
    _refuse_other_kinds(frame)
    text = [name for name, dtype in frame.schema.items() if dtype in TEXT]
    if text and encode == "error":
        raise DataError(
            f"{counted(len(text), 'column')} of text: {quoted(text)}",
            "encode text with --encode ordinal or --encode onehot, or leave it out with --exclude",
        )
    frame = frame.with_columns(cs.boolean().cast(pl.UInt8))
    values = {name: frame[name].cast(pl.String).drop_nulls().unique().sort() for name in text}
    frame = frame.with_columns(
        frame[name].cast(pl.String).cast(pl.Enum(known)).to_physical().cast(pl.Float64)
        for name, known in values.items()
    )
    _refuse_infinite(frame)
    frame, notices = _fill(frame, missing, nominal=set(text))
    if encode != "onehot":
        return Numbers(frame, notices, [])
    spread = [_one_hot(column, values.get(column.name)) for column in frame]
    columns = [column for part in spread for column in part]
    check_names([column.name for column in columns], "the encoded table")
    ends = accumulate(len(part) for part in spread)
    encoded = [
        tuple(range(end - len(part), end))
        for end, part in zip(ends, spread, strict=True)
        if len(part) > 1
    ]
    return Numbers(pl.DataFrame(columns), notices, encoded)


def suspicious(x: NDArray[np.float64], names: list[str], excluded: set[int]) -> list[str]:
    """Return notices of columns that cannot help or help too well: constant, or in row order."""
    order = np.diff(x, axis=0)
    still = np.flatnonzero(~order.any(axis=0))
    constant = [names[at] for at in still if at not in excluded]
    notices = []
    if constant:
        notices.append(f"{counted(len(constant), 'constant column')}: {quoted(constant)}")
    if len(x) >= _MIN_ROWS_FOR_ID:
        monotone = (order > 0).all(axis=0) | (order < 0).all(axis=0)
        if ids := [names[at] for at in np.flatnonzero(monotone)]:
            notices.append(
                f"{counted(len(ids), 'column')} in row order, like an identifier: {quoted(ids)}; "
                "leave out with --exclude what is no measurement"
            )
    return notices


def _refuse_other_kinds(frame: pl.DataFrame) -> None:
    others = [
        f"'{name}' ({dtype})"
        for name, dtype in frame.schema.items()
        if not (dtype.is_numeric() or dtype == pl.Boolean or dtype in TEXT)
    ]
    if others:
        raise DataError(
            f"{counted(len(others), 'column')} neither number nor text: {listed(others)}",
            "turn them into numbers, or leave them out with --exclude",
        )


def _refuse_infinite(frame: pl.DataFrame) -> None:
    totals = frame.select(cs.float().is_infinite().sum())
    infinite = {column.name: column[0] for column in totals if column[0]}
    if infinite:
        raise DataError(
            f"infinite values in {counted(len(infinite), 'column')}: {_counts(infinite)}",
            "replace them, or leave the columns out with --exclude",
        )


def _counts(columns: dict[str, int]) -> str:
    return listed(f"'{name}' ({total})" for name, total in columns.items())


def _fill(frame: pl.DataFrame, policy: str, nominal: set[str]) -> tuple[pl.DataFrame, list[str]]:
    gaps = {column.name: column.null_count() for column in frame if column.null_count()}
    if not gaps:
        return frame, []
    if policy == "error":
        raise DataError(
            f"missing values in {counted(len(gaps), 'column')}: {_counts(gaps)}",
            "fill them with --missing median, mode or knn, or use --missing drop-rows",
        )
    if empty := [name for name, total in gaps.items() if total == frame.height]:
        raise DataError(
            f"{counted(len(empty), 'column')} without any value: {quoted(empty)}",
            "leave them out with --exclude",
        )
    frame = frame.with_columns(frame[name].cast(pl.Float64) for name in gaps)
    if policy == "knn":
        frame = frame.with_columns(_nearest_values(frame, list(gaps), nominal))
    else:
        frame = frame.with_columns(
            frame[name].fill_null(_middle(frame[name], policy == "mode" or name in nominal))
            for name in gaps
        )
    total = sum(gaps.values())
    return frame, [f"{counted(total, 'missing value')} filled by {policy} over all rows"]


def _middle(column: pl.Series, is_nominal: bool) -> object:
    known = column.drop_nulls()
    return known.mode().min() if is_nominal else known.median()


def _nearest_values(
    frame: pl.DataFrame, incomplete: list[str], nominal: set[str]
) -> Iterator[pl.Series]:
    """Fill each gap with the value of the nearest row that has one.

    The distance of two rows is the mean square over the features both have, scaled to 0..1; of
    equally near rows the first counts. A row that shares no feature with any is given the mean, or
    the mode of text.
    """
    x = frame.cast(pl.Float64).to_numpy()
    low, high = np.nanmin(x, axis=0), np.nanmax(x, axis=0)
    scaled = (x - low) / np.where(high > low, high - low, 1.0)
    known = ~np.isnan(x)
    filled = x.copy()
    for row in np.flatnonzero(~known.all(axis=1)):
        common = known & known[row]
        apart = np.where(common, scaled - scaled[row], 0.0)
        squares = np.einsum("ij,ij->i", apart, apart)
        shared = common.sum(axis=1)
        distance = np.where(shared > 0, squares / np.maximum(shared, 1), np.inf)
        for column in np.flatnonzero(~known[row]):
            reachable = np.where(known[:, column], distance, np.inf)
            donor = reachable.argmin()
            if np.isfinite(reachable[donor]):
                filled[row, column] = x[donor, column]
            else:
                values = frame.to_series(int(column)).drop_nulls()
                is_nominal = values.name in nominal
                filled[row, column] = values.mode().min() if is_nominal else values.mean()
    return (pl.Series(name, filled[:, frame.get_column_index(name)]) for name in incomplete)


def _one_hot(column: pl.Series, values: pl.Series | None) -> list[pl.Series]:
    if values is None:
        return [column]
    return [
        (column == code).cast(pl.UInt8).alias(f"{column.name}={value}")
        for code, value in enumerate(values)
    ]
