"""From columns of any type to numbers, by policies that the caller names; nothing silently."""

from collections.abc import Sequence
from itertools import accumulate, chain
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from swarmrs._base._hints import leaving_out, setting
from swarmrs._base._messages import counted, listed, quoted
from swarmrs.data._impute import Unfilled, impute, spread_out
from swarmrs.data._read import check_names, too_long
from swarmrs.exceptions import DataError, SpecError

TEXT = (pl.String, pl.Categorical, pl.Enum)

# Numbers as other places write them: with a decimal comma, or their thousands apart.
_DECIMAL_COMMA = r"^[+-]?\d+(,\d+)?([eE][+-]?\d+)?$"
_THOUSANDS = r"^[+-]?\d{1,3}(,\d{3})*(\.\d+)?$"


# More values of text than this are warned of where each becomes a column.
_MANY_VALUES = 20


def mark_missing(frame: pl.DataFrame) -> pl.DataFrame:
    """Make every missing value a null: NaN too, and columns that hold nothing."""
    # Columns one by one: an expression for each of 16 000 columns takes seconds to plan.
    changed = [
        column.cast(pl.Float64) if column.dtype == pl.Null else column.fill_nan(None)
        for column in frame
        if column.dtype == pl.Null or (column.dtype.is_float() and _has_nan(column))
    ]
    return frame.with_columns(changed) if changed else frame


def matrix_of(frame: pl.DataFrame) -> NDArray[np.float64]:
    """Return columns of numbers as one array, by columns; what is missing is NaN."""
    x = np.empty(frame.shape, dtype=np.float64, order="F")
    for index, column in enumerate(frame):
        x[:, index] = column.cast(pl.Float64).to_numpy()
    return x


def _has_nan(column: pl.Series) -> bool:
    return int(np.isnan(column.to_numpy()).sum()) > column.null_count()


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
    incomplete = [column.name for column in features if column.null_count()]
    if not incomplete:
        return features, []
    if len(incomplete) == features.width:
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
    number = counted(len(incomplete), "column")
    notice = f"{number} with missing values dropped: {quoted(incomplete)}"
    # By position: as expressions, '*' and '^f.*$' are other names, too.
    kept = [name for name in features.columns if name not in {*incomplete}]
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
    booleans = [name for name, dtype in frame.schema.items() if dtype == pl.Boolean]
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
    total = sum(column.null_count() for column in frame)
    if total and missing == "error":
        _refuse_gaps(frame, gaps)
    if total and missing != "keep":
        unfilled = Unfilled(frame, missing, frozenset(text), spread)
        if empty := [column.name for column in frame if column.null_count() == frame.height]:
            raise DataError(
                f"{counted(len(empty), 'column')} without any value: {quoted(empty)}",
                leaving_out(),
            )
        frame = impute(frame, frame, missing, unfilled.nominal)
    parts = spread_out(frame, spread)
    columns = list(chain.from_iterable(parts))
    if spread:
        check_names([column.name for column in columns], "the encoded table", "rename one of them")
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
    return Numbers(pl.DataFrame(columns), warnings, encoded, keys, unfilled)


def text_columns(frame: pl.DataFrame) -> list[str]:
    """Return the names of the columns that hold text."""
    return [name for name, dtype in frame.schema.items() if isinstance(dtype, TEXT)]


def ranked(frame: pl.DataFrame) -> tuple[pl.DataFrame, dict[str, pl.Series]]:
    """Return booleans and text as numbers, and the sorted values each column of text has."""
    booleans = [column.cast(pl.UInt8) for column in frame if column.dtype == pl.Boolean]
    frame = frame.with_columns(booleans) if booleans else frame
    values = {
        name: frame[name].cast(pl.String).drop_nulls().unique().sort()
        for name in text_columns(frame)
    }
    ranks = (
        frame[name].cast(pl.String).cast(pl.Enum(known)).to_physical().cast(pl.Float64)
        for name, known in values.items()
    )
    return (frame.with_columns(ranks) if values else frame), values


def other_kinds(frame: pl.DataFrame) -> dict[str, pl.DataType]:
    """Return the columns that are neither number nor text, with their types."""
    return {
        name: dtype
        for name, dtype in frame.schema.items()
        if not (dtype.is_numeric() or dtype == pl.Boolean or isinstance(dtype, TEXT))
    }


def count_infinite(frame: pl.DataFrame) -> dict[str, int]:
    """Return how many infinite values there are in columns that have any."""
    totals = (
        (column.name, int(np.isinf(column.to_numpy()).sum()))
        for column in frame
        if column.dtype.is_float()
    )
    return {name: total for name, total in totals if total}


def _complete_rows(frame: pl.DataFrame) -> pl.Series:
    """Tell for each row whether nothing is missing in it."""
    complete = pl.repeat(True, frame.height, eager=True)
    for column in frame:
        if column.null_count():
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

    return [
        column.name
        for column in frame
        if column.dtype in (pl.Int64, pl.UInt64, pl.Int128) and is_rounded(column)
    ]


def _counts(columns: dict[str, int]) -> str:
    return listed(f"'{name}' ({total})" for name, total in columns.items())


def _refuse_gaps(frame: pl.DataFrame, gaps: str | None) -> None:
    """Refuse missing values, naming their columns."""
    missing = {column.name: column.null_count() for column in frame if column.null_count()}
    why = f"; {gaps}" if gaps else ""
    raise DataError(
        f"missing values in {counted(len(missing), 'column')}: {_counts(missing)}{why}",
        f"leave them out with {setting('missing', 'drop-rows', 'drop-columns')}, "
        "or impute them by median, mode or knn",
    )
