"""Dates and times as numbers, and back."""

import re
from typing import NamedTuple

import polars as pl

from swarmrs._base._messages import counted, quoted
from swarmrs.data._read import columns_of

_DAY = 86_400_000_000  # microseconds

# ISO 8601 as files have it: what a value looks like, and how it is read and written.
_DATE = r"\d{4}-\d{2}-\d{2}"
_ISO = {
    rf"^{_DATE}$": "%Y-%m-%d",
    **{
        rf"^{_DATE}{gap}{time}{zone}$": f"%Y-%m-%d{gap}{pattern}{suffix}"
        for gap in (" ", "T")
        for time, pattern in (
            (r"\d{2}:\d{2}", "%H:%M"),
            (r"\d{2}:\d{2}:\d{2}", "%H:%M:%S"),
            (r"\d{2}:\d{2}:\d{2}\.\d{3}", "%H:%M:%S%.3f"),
            (r"\d{2}:\d{2}:\d{2}\.\d{6}", "%H:%M:%S%.6f"),
            (r"\d{2}:\d{2}:\d{2}\.\d{1,9}", "%H:%M:%S%.f"),
        )
        for zone, suffix in (("", ""), ("Z", "Z"), (r"[+-]\d{2}:?\d{2}", "%z"))
    },
}
# The letters of patterns in ARFF, which are those of Java.
_LETTERS = {
    "yyyy": "%Y",
    "yy": "%y",
    "MMM": "%b",
    "MM": "%m",
    "M": "%m",
    "dd": "%d",
    "d": "%d",
    "HH": "%H",
    "H": "%H",
    "mm": "%M",
    "ss": "%S",
    "SSS": "%3f",
    "Z": "%z",
}
_TOKEN = re.compile(r"'([^']*)'|([A-Za-z])\2*|.")


class Dates(NamedTuple):
    """How a column of dates or times became numbers: its type, and its format if it was text."""

    dtype: pl.DataType
    format: str | None

    def restored(self, numbers: pl.Series) -> pl.Series:
        """Return numbers as dates or times again; an imputed one as the nearest date."""
        if self.dtype == pl.Time:
            return (numbers * 1e9).round().cast(pl.Int64).cast(pl.Time)
        whole = (numbers.cast(pl.Float64) * _DAY).round().cast(pl.Int64)
        if self.dtype == pl.Duration:
            return whole.cast(pl.Duration("us"))
        moments = whole.cast(pl.Datetime("us"))
        if self.dtype == pl.Date:
            moments = numbers.round().cast(pl.Int32).cast(pl.Date)
        zone = getattr(self.dtype, "time_zone", None)
        if zone is not None:
            moments = moments.dt.replace_time_zone("UTC").dt.convert_time_zone(zone)
        return moments if self.format is None else moments.dt.to_string(self.format)


def is_date(dtype: pl.DataType) -> bool:
    """Tell whether values of a type are dates, times or durations."""
    return bool(dtype.is_temporal())


def read_dates(frame: pl.DataFrame) -> tuple[pl.DataFrame, dict[str, Dates]]:
    """Return columns of text as dates where every value is one by ISO 8601, in one format.

    Examples
    --------
    >>> frame, found = read_dates(pl.DataFrame({"day": ["2024-02-29", None], "id": ["a", "b"]}))
    >>> frame.dtypes, found["day"].format
    ([Date, String], '%Y-%m-%d')
    """
    columns, found = [], {}
    for column in columns_of(frame, lambda dtype: is_date(dtype) or dtype == pl.String):
        if is_date(column.dtype):
            found[column.name] = Dates(column.dtype, None)
        elif (read := _read_iso(column)) is not None:
            dates, pattern = read
            columns.append(dates)
            found[column.name] = Dates(dates.dtype, pattern)
    return (frame.with_columns(columns) if columns else frame), found


def _read_iso(text: pl.Series) -> tuple[pl.Series, str] | None:
    known = text.drop_nulls()
    first = known[0] if len(known) else ""
    for shape, pattern in _ISO.items():
        # The first value settles nearly all columns at little cost.
        if re.match(shape, first) and known.str.contains(shape).all():
            dates = _parsed(text, pattern)
            if dates.null_count() == text.null_count():
                return dates, pattern
    return None


def _parsed(text: pl.Series, pattern: str) -> pl.Series:
    """Return text as dates by a pattern; what does not fit is null."""
    if pattern == "%Y-%m-%d":
        return text.str.to_date(pattern, strict=False)
    return text.str.to_datetime(pattern, time_unit="us", strict=False)


def dates_to_numbers(frame: pl.DataFrame) -> tuple[pl.DataFrame, list[str]]:
    """Return dates as days since 1970-01-01, durations as days and times as seconds, with notices.

    Examples
    --------
    >>> from datetime import date
    >>> frame, notices = dates_to_numbers(pl.DataFrame({"day": [date(1970, 1, 3)]}))
    >>> frame["day"][0], notices
    (2, ["1 column of dates read as days since 1970-01-01: 'day'"])
    """
    columns, kinds = [], {"dates": [], "durations": [], "times": []}  # type: ignore[var-annotated]
    for column in columns_of(frame, is_date):
        if column.dtype == pl.Date:
            columns.append(column.cast(pl.Int32))
            kinds["dates"].append(column.name)
        elif column.dtype == pl.Time:
            columns.append(column.cast(pl.Int64) / 1e9)
            kinds["times"].append(column.name)
        elif column.dtype == pl.Duration:
            columns.append(column.dt.total_microseconds() / _DAY)
            kinds["durations"].append(column.name)
        elif column.dtype == pl.Datetime:
            columns.append(column.dt.epoch("us") / _DAY)
            kinds["dates"].append(column.name)
    units = {"dates": "days since 1970-01-01", "durations": "days", "times": "seconds"}
    notices = [
        f"{counted(len(names), 'column')} of {kind} read as {units[kind]}: {quoted(names)}"
        for kind, names in kinds.items()
        if names
    ]
    return (frame.with_columns(columns) if columns else frame), notices


def read_java_dates(text: pl.Series, pattern: str) -> pl.Series | None:
    """Return text as moments by a pattern of Java; what does not fit is null.

    None if the pattern has letters other than year, month, day, hours, minutes and seconds, or no
    year.
    """
    parts = []
    for token in _TOKEN.finditer(pattern):
        word = token[0]
        if token[2] is not None:
            if word not in _LETTERS:
                return None
            parts.append(_LETTERS[word])
        else:
            parts.append((token[1] if token[1] is not None else word).replace("%", "%%"))
    form = "".join(parts)
    if not ("%Y" in form or "%y" in form):
        return None
    # What a pattern leaves open is the first of its kind.
    for letters, least in ((("%m", "%b"), "01"), (("%d",), "01"), (("%H",), "00"), (("%M",), "00")):
        if not any(letter in form for letter in letters):
            form, text = f"{form} {letters[0]}", text + f" {least}"
    return text.str.to_datetime(form, time_unit="us", strict=False)
