"""From columns of any type to numbers, by policies that the caller names; nothing silently."""

from collections.abc import Sequence
from itertools import accumulate, chain
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from swarmrs._base._hints import leaving_out, setting
from swarmrs._base._messages import counted, listed, quoted
from swarmrs.data._arrays import is_exact
from swarmrs.data._impute import Unfilled, impute, spread_out
from swarmrs.data._read import check_names, columns_of, incomplete, too_long
from swarmrs.exceptions import DataError, SpecError

TEXT = (pl.String, pl.Categorical, pl.Enum)

# Types that floats hold, but for the largest integers of 64 bits.
_LONG = {pl.Int64, pl.UInt64}
_NUMBERS = {
    *(pl.Float32, pl.Float64),
    *(pl.Int8, pl.Int16, pl.Int32),
    *(pl.UInt8, pl.UInt16, pl.UInt32),
    *_LONG,
}

# Numbers as other places write them: with a decimal comma, or their thousands apart.
_DECIMAL_COMMA = r"^[+-]?\d+(,\d+)?([eE][+-]?\d+)?$"
_THOUSANDS = r"^[+-]?\d{1,3}(,\d{3})*(\.\d+)?$"


# More values of text than this are warned of where each becomes a column.
_MANY_VALUES = 20


def mark_missing(frame: pl.DataFrame) -> pl.DataFrame:
    """Make every missing value a null: NaN too, and columns that hold nothing."""
    floats = columns_of(frame, _is_float)
    # Arrays, not expressions: one for each of 16 000 columns takes seconds to plan.
    counts = np.isnan(matrix_of(floats)).sum(axis=0)
    missing = ((floats.to_series(int(index)), counts[index]) for index in np.flatnonzero(counts))
    changed = [
        *(column.cast(pl.Float64) for column in columns_of(frame, _is_null)),
        *(column.fill_nan(None) for column, count in missing if count > column.null_count()),
    ]
    return frame.with_columns(changed) if changed else frame


def matrix_of(frame: pl.DataFrame) -> NDArray[np.float64]:
    """Return columns of numbers as one array, by columns; what is missing is NaN."""
    return _matrix(frame, {*map(type, frame.dtypes)})


def _matrix(frame: pl.DataFrame, types: set[type[pl.DataType]]) -> NDArray[np.float64]:
    """Return columns of numbers of these types as one array."""
    if frame.height > frame.width or frame.width == 0:
        # numpy has huge pages, polars has not: 15 ms instead of 65 ms for 1 000 000 x 20. Without
        # columns, polars 1.36 raises a ValueError.
        x = np.empty(frame.shape, dtype=np.float64, order="F")
        for index, column in enumerate(frame):
            x[:, index] = column.cast(pl.Float64).to_numpy()
        return x
    if types - {pl.Float64}:
        frame = frame.cast(pl.Float64)
    x = frame.to_numpy(order="fortran")
    # Columns that lie side by side are not copied, and must not be changed.
    return x if x.flags.writeable else x.copy(order="F")


def complete_matrix(frame: pl.DataFrame) -> NDArray[np.float64] | None:
    """Return columns of numbers as one array; None if some are no numbers, or not all exact.

    Exact is what is neither missing nor infinite nor, as a float, rounded.
    """
    types = [*map(type, frame.dtypes)]
    if {*types} - _NUMBERS:
        return None
    x = _matrix(frame, {*types})
    return x if is_exact(x, np.array([each in _LONG for each in types])) else None


def drop_rows(
    features: pl.DataFrame, labels: pl.Series, where: str
) -> tuple[pl.DataFrame, pl.Series, list[str]]:
    """Drop the rows that have missing values or no label."""
    complete = _complete_rows(features.with_columns(labels))
    features, labels = features.filter(complete), labels.filter(complete)
    if features.is_empty():
        raise DataError(
            f"every row of {where} has missing values",
            f"impute them with {setting('missing', 'median', 'mode', 'knn')}, or use "
            f"{setting('missing', 'drop-columns')}",
        )
    dropped = len(complete) - len(labels)
    notices = [f"{counted(dropped, 'row')} with missing values dropped"] if dropped else []
    return features, labels, notices


def drop_columns(
    features: pl.DataFrame, exclude: Sequence[str | int], where: str
) -> tuple[pl.DataFrame, list[str]]:
    """Drop the columns that have missing values."""
    dropped = [column.name for column in incomplete(features)]
    if not dropped:
        return features, []
    if len(dropped) == features.width:
        raise DataError(
            f"every column of {where} has missing values",
            f"impute them with {setting('missing', 'median', 'mode', 'knn')}, or use "
            f"{setting('missing', 'drop-rows')}",
        )
    # Positions are those of the columns that stay, which nobody can know beforehand.
    others = (str(column) for column in exclude if column not in features.columns)
    if numbers := [column for column in others if column.removeprefix("-").isdigit()]:
        raise SpecError(
            f"column {numbers[0]} is excluded by its position while others are dropped",
            "exclude it by its name",
        )
    number = counted(len(dropped), "column")
    notice = f"{number} with missing values dropped: {quoted(dropped)}"
    # By position: as expressions, '*' and '^f.*$' are other names, too.
    names = {*dropped}
    kept = [name for name in features.columns if name not in names]
    return features[:, kept], [notice]


class Codes(NamedTuple):
    """The values whose positions stand for them in a column of codes."""

    values: pl.Series

    def restored(self, numbers: pl.Series) -> pl.Series:
        """Return codes as the values; numbers between them, which a mean may be, as they are."""
        codes = numbers.cast(pl.UInt32)
        if (codes != numbers).any():
            return numbers
        return self.values.gather(codes).alias(numbers.name)


BOOLEANS = Codes(pl.Series([False, True]))


class Numbers(NamedTuple):
    """Columns as numbers.

    Attributes
    ----------
    frame : polars.DataFrame
        The columns.
    warnings : list of str
        What was rounded, and what became many columns.
    encoded : list of tuple of int
        The positions of the columns that came from one column of text, for each that was spread.
    keys : dict of str to Codes
        The values that codes stand for, of each column of text or booleans that was not spread.
    unfilled : Unfilled or None
        The same before imputation, if any value was missing.
    """

    frame: pl.DataFrame
    warnings: list[str]
    encoded: list[tuple[int, ...]]
    keys: dict[str, Codes]
    unfilled: Unfilled | None


def to_numbers(
    frame: pl.DataFrame, *, missing: str, encode: str, gaps: str | None = None
) -> Numbers:
    """Return the columns as numbers.

    Text becomes the rank of its value among the column's values sorted bytewise, is imputed as
    such, and becomes one column for each value if `encode` is ``"onehot"``. No value is missing
    afterwards unless `missing` is ``"keep"``. `gaps` says why some may be.

    Raises
    ------
    DataError
        If there are columns the policies do not cover; it names them.
    """
    _refuse_other_kinds(frame)
    text = text_columns(frame)
    if text and encode == "error":
        raise DataError(f"{counted(len(text), 'column')} of text: {quoted(text)}", _unread(frame))
    booleans = columns_of(frame, _is_boolean).columns
    frame, values = ranked(frame)
    infinite = count_infinite(frame)
    if infinite:
        raise DataError(
            f"infinite values in {counted(len(infinite), 'column')}: {_counts(infinite)}",
            f"replace them, or {leaving_out('the columns')}",
        )
    warnings = [too_long(long)] if (long := _rounded(frame)) else []
    spread = values if encode == "onehot" else {}
    unfilled = None
    gapped = incomplete(frame)
    if gapped and missing == "error":
        _refuse_gaps(gapped, gaps)
    if gapped and missing != "keep":
        unfilled = Unfilled(frame, missing, frozenset(text), spread)
        if empty := [column.name for column in gapped if column.null_count() == frame.height]:
            raise DataError(
                f"{counted(len(empty), 'column')} without any value: {quoted(empty)}",
                leaving_out(),
            )
        frame = impute(frame, frame, missing, unfilled.nominal)
    encoded: list[tuple[int, ...]] = []
    if spread:
        parts = spread_out(frame, spread)
        columns = list(chain.from_iterable(parts))
        check_names([column.name for column in columns], "the encoded table", "rename one of them")
        frame = pl.DataFrame(columns)
        ends = accumulate(map(len, parts))
        encoded = [
            tuple(range(end - len(part), end))
            for end, part in zip(ends, parts, strict=True)
            if len(part) > 1
        ]
    many = {name: len(known) for name, known in spread.items() if len(known) > _MANY_VALUES}
    if many:
        warnings.append(f"{counted(len(many), 'column')} of text became many: {_counts(many)}")
    keys = dict.fromkeys(booleans, BOOLEANS)
    if not spread:
        keys |= {name: Codes(known) for name, known in values.items()}
    return Numbers(frame, warnings, encoded, keys, unfilled)


def text_columns(frame: pl.DataFrame) -> list[str]:
    """Return the names of the columns that hold text."""
    return columns_of(frame, _is_text).columns


def _is_text(dtype: pl.DataType) -> bool:
    return isinstance(dtype, TEXT)


def _is_float(dtype: pl.DataType) -> bool:
    return dtype.is_float()


def _is_boolean(dtype: pl.DataType) -> bool:
    return dtype == pl.Boolean


def _is_null(dtype: pl.DataType) -> bool:
    return dtype == pl.Null


def _is_long(dtype: pl.DataType) -> bool:
    return dtype in (*_LONG, pl.Int128)


def _is_other(dtype: pl.DataType) -> bool:
    return not (dtype.is_numeric() or _is_boolean(dtype) or _is_text(dtype))


def ranked(frame: pl.DataFrame) -> tuple[pl.DataFrame, dict[str, pl.Series]]:
    """Return booleans and text as numbers, and the sorted values each column of text has."""
    booleans = [column.cast(pl.UInt8) for column in columns_of(frame, _is_boolean)]
    frame = frame.with_columns(booleans) if booleans else frame
    text = [column.cast(pl.String) for column in columns_of(frame, _is_text)]
    values = {column.name: column.drop_nulls().unique().sort() for column in text}
    ranks = (
        column.cast(pl.Enum(values[column.name])).to_physical().cast(pl.Float64) for column in text
    )
    return (frame.with_columns(ranks) if values else frame), values


def other_kinds(frame: pl.DataFrame) -> dict[str, pl.DataType]:
    """Return the columns that are neither number nor text, with their types."""
    return dict(columns_of(frame, _is_other).schema)


def count_infinite(frame: pl.DataFrame) -> dict[str, int]:
    """Return how many infinite values there are in columns that have any."""
    floats = columns_of(frame, _is_float)
    totals = np.isinf(matrix_of(floats)).sum(axis=0).tolist()
    return {name: total for name, total in zip(floats.columns, totals, strict=True) if total}


def _complete_rows(frame: pl.DataFrame) -> pl.Series:
    """Tell for each row whether nothing is missing in it."""
    complete = pl.repeat(True, frame.height, eager=True)
    for column in incomplete(frame):
        complete &= column.is_not_null()
    return complete


def _refuse_other_kinds(frame: pl.DataFrame) -> None:
    others = [f"'{name}' ({dtype})" for name, dtype in other_kinds(frame).items()]
    if others:
        raise DataError(
            f"{counted(len(others), 'column')} neither number nor text: {listed(others)}",
            f"convert them to numbers, or {leaving_out()}",
        )


class NumberText(NamedTuple):
    """Text that looks like numbers which were not read as such.

    Attributes
    ----------
    kind : {"decimal", "either", "thousands", "plain", "words"}
        Numbers with a decimal comma, with a comma that is either, with commas between thousands,
        numbers of a column that is text, or numbers but for a few words.
    examples : tuple of str
        A number with a comma, or the words.
    """

    kind: str
    examples: tuple[str, ...] = ()

    @classmethod
    def of(cls, column: pl.Series) -> "NumberText | None":
        """Classify a text column; None if it does not look like numbers."""
        text = column.cast(pl.String).drop_nulls()
        if not len(text):
            return None
        commas = text.filter(text.str.contains(",", literal=True))
        if len(commas):
            decimal, apart = text.str.contains(_DECIMAL_COMMA), text.str.contains(_THOUSANDS)
            if apart.all():
                return cls("either" if decimal.all() else "thousands", (commas[0],))
            # Some may be words, which show once the others are numbers.
            if 2 * decimal.sum() > len(text) and not commas.str.contains(_THOUSANDS).all():
                return cls("decimal", (commas[0],))
        strange = text.filter(text.cast(pl.Float64, strict=False).is_null())
        if not len(strange):
            return cls("plain")
        if 2 * len(strange) < len(text):
            return cls("words", tuple(strange.unique(maintain_order=True)))
        return None


def _unread(frame: pl.DataFrame) -> str:
    """Return what may be done about text, above all about numbers that were not read as such."""
    comma = setting("decimal", ",")
    for name in text_columns(frame):
        found = NumberText.of(frame[name])
        if found is None:
            continue
        if found.kind == "decimal":
            return f"'{name}' holds numbers with a decimal comma: read it with {comma}"
        if found.kind == "plain":
            return f"'{name}' holds numbers written as text: convert it to a column of numbers"
        if found.kind == "words":
            return (
                f"'{name}' holds numbers but for {quoted(found.examples)}: correct that, "
                f"or treat it as missing with {setting('null', [found.examples[0]])}"
            )
        like = f"'{name}' holds numbers like {found.examples[0]}"
        if found.kind == "either":
            return f"{like}: read it with {comma} if the comma is a decimal one, else remove it"
        return f"{like}: remove the commas between thousands"
    encoded = setting("encode", "ordinal", "onehot")
    return f"encode text with {encoded}, or {leaving_out('it')}"


def _rounded(frame: pl.DataFrame) -> list[str]:
    """Name the columns of whole numbers that floats do not hold exactly."""

    def is_rounded(column: pl.Series) -> bool:
        whole = column.cast(pl.Int128)
        # A float beyond the integers comes back as a null, which differs from every number.
        return whole.cast(pl.Float64).cast(pl.Int128, strict=False).ne_missing(whole).any()

    columns = columns_of(frame, _is_long)
    large = np.flatnonzero((np.abs(matrix_of(columns)) >= 2.0**53).any(axis=0)).tolist()
    return [column.name for column in map(columns.to_series, large) if is_rounded(column)]


def _counts(columns: dict[str, int]) -> str:
    return listed(f"'{name}' ({total})" for name, total in columns.items())


def _refuse_gaps(columns: Sequence[pl.Series], gaps: str | None) -> None:
    """Refuse missing values, naming their columns."""
    missing = {column.name: column.null_count() for column in columns}
    why = f"; {gaps}" if gaps else ""
    raise DataError(
        f"missing values in {counted(len(missing), 'column')}: {_counts(missing)}{why}",
        f"leave them out with {setting('missing', 'drop-rows', 'drop-columns')}, "
        "or impute them by median, mode or knn",
    )
