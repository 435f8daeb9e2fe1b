"""CSV and TSV, as people write them: nothing is guessed silently."""

import csv
import io
from collections.abc import Iterator, Sequence
from contextlib import suppress

import polars as pl

from swarmrs._base._hints import setting
from swarmrs._base._messages import counted
from swarmrs.data._formats._numbers import is_rounded, read_numbers
from swarmrs.data._read import Raw, columns_of, incomplete, settle_names, too_long
from swarmrs.exceptions import DataError

SEPARATORS = (";", "\t", "|", ",")

# Rows from which types are inferred at first, as many as polars does by itself.
_TYPED_ROWS = 100

_MARKS = {
    b"\xff\xfe\x00\x00": "utf-32",
    b"\x00\x00\xfe\xff": "utf-32",
    b"\xff\xfe": "utf-16",
    b"\xfe\xff": "utf-16",
}


def as_utf8(raw: bytes, name: str, encoding: str | None) -> bytes:
    """Return text as UTF-8.

    Raises
    ------
    DataError
        If they are not text, or not in this encoding; it says where.
    """
    if encoding is None:
        for mark, known in _MARKS.items():
            if raw.startswith(mark):
                raise DataError(
                    f"{name} is {known.upper()} text", f"read it with {setting('encoding', known)}"
                )
        if b"\0" in raw[:4096]:
            raise DataError(f"{name} is not text", "give a CSV, TSV, Parquet, Arrow or ARFF file")
    content = raw.removeprefix(b"\xef\xbb\xbf") if encoding is None else raw
    if encoding is None and content.isascii():
        return content
    try:
        text = content.decode(encoding or "utf-8")
        return content if encoding is None else text.encode()
    except UnicodeDecodeError as problem:
        byte = problem.start + len(raw) - len(content)
        line = raw.count(b"\n", 0, byte) + 1
        raise DataError(
            f"{name}, line {line}: byte {byte} is not {problem.encoding.upper()}",
            f"read it with {setting('encoding', 'latin1')} if that is how it was written",
        ) from None


def other_separator(header: Sequence[str], separator: str) -> str | None:
    """Return what separates a header that is one field when split at a separator, if known."""
    if len(header) != 1:
        return None
    other = max((char for char in SEPARATORS if char != separator), key=header[0].count)
    return other if other in header[0] else None


def guess_reading(content: bytes, separator: str, encoding: str | None) -> dict[str, object]:
    """Return the options by which text is read that cannot be read as requested.

    Parameters
    ----------
    content : bytes
        The file, unpacked.
    separator, encoding : str
        The requested options.
    """
    found: dict[str, object] = {}
    if encoding is None:
        encoding = _guess_encoding(content)
        if encoding is not None:
            found["encoding"] = encoding
    text = content.decode(encoding or "utf-8", errors="replace").lstrip("\r\n\ufeff")
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
    header = next(reader, [])
    other = other_separator(header, separator)
    if other is not None:
        found["separator"] = other
        header = next(csv.reader(io.StringIO(text, newline=""), delimiter=other), [])
    names = [name.strip() for name in header if name.strip()]
    if len(set(names)) < len(names):
        found["dedupe_names"] = True
    return found


def _guess_encoding(content: bytes) -> str | None:
    """Return the encoding that text seems to have, if it is not UTF-8."""
    for mark, known in _MARKS.items():
        if content.startswith(mark):
            return known
    # Every other byte of Latin letters is zero in UTF-16.
    start = content[:4096]
    for first, known in ((1, "utf-16-le"), (0, "utf-16-be")):
        if len(start) > 3 and not any(start[first::2]) and any(start[1 - first :: 2]):
            return known
    try:
        content.decode("utf-8")
    except UnicodeDecodeError:
        return "latin1"
    return None


def parse_text(
    content: bytes,
    name: str,
    *,
    separator: str,
    decimal: str,
    null_words: Sequence[str],
    dedupe_names: bool,
) -> Raw:
    """Read lines of fields in UTF-8, the first line holding the names of the columns."""
    lines = _Lines(content, name, separator)
    header = lines.header()
    names, notices, warnings = settle_names(header, name, dedupe=dedupe_names)
    frame, rounded = _tidy(lines.frame(names, decimal, null_words), decimal, null_words)
    if frame.is_empty() and (problem := lines.ill_formed()):
        raise problem
    surplus = _surplus(header, frame)
    if surplus:
        frame = frame[:, :-surplus]
        names, notices, warnings = settle_names(header[:-surplus], name, dedupe=dedupe_names)
        notices.append(
            f"{counted(surplus, 'column')} left out: lines end in '{separator}' and nothing after"
        )
    if rounded:
        warnings.append(too_long(rounded))
    gaps = None
    # A line with too few fields leaves the last column empty, a blank one all of them.
    if frame.to_series(-1).null_count():
        hollow, gaps = lines.incomplete(frame.width, null_words)
        frame = frame.filter(~pl.all_horizontal(pl.all().is_null()))
        if hollow:
            notices.append(f"{counted(hollow, 'line')} without any value left out")
        if gaps:
            warnings.append(gaps)
    words = tuple(word for word in null_words if word)
    if incomplete(frame):
        shown = "".join(f", '{word}'" for word in words)
        notices.append(f"missing are empty fields{shown}; {setting('null')} adds words")
    kind = "TSV" if separator == "\t" else "CSV"
    return Raw(name, frame, tuple(notices), tuple(warnings), gaps=gaps, null_words=words, kind=kind)


class _Lines:
    """The lines of a file in UTF-8, as numbered in an editor."""

    def __init__(self, content: bytes, name: str, separator: str) -> None:
        # Blank lines before the header are no part of the table, but count as lines.
        self.content = content.lstrip(b"\r\n")
        self.skipped = content.count(b"\n", 0, len(content) - len(self.content))
        self.name = name
        self.separator = separator
        if not any(line.strip() for line in self._text()):
            raise DataError(f"{name} is empty", "the first line must hold the column names")
        if b"\n" not in self.content and b"\r" in self.content:
            raise DataError(f"{name} ends its lines by CR alone", "convert the line ends to LF")

    def _text(self) -> io.TextIOWrapper:
        """Return the lines as text, decoded as they are read."""
        return io.TextIOWrapper(io.BytesIO(self.content), encoding="utf-8", newline="")

    def records(self) -> Iterator[tuple[int, list[str]]]:
        """Give the line on which each record starts, and its fields."""
        reader = csv.reader(self._text(), delimiter=self.separator)
        line = 1
        for fields in reader:
            yield line + self.skipped, fields
            line = reader.line_num + 1

    def header(self) -> list[str]:
        """Return the names of the columns."""
        try:
            _, header = next(self.records())
        except csv.Error as problem:
            raise self._refusal(problem) from problem
        if (other := other_separator(header, self.separator)) is not None:
            raise DataError(
                f"{self.name} has one column when split at '{self.separator}'",
                f"read it with {setting('separator', other)}",
            )
        return header

    def frame(self, names: list[str], decimal: str, null_words: Sequence[str]) -> pl.DataFrame:
        """Return the rows, each column of a type that holds all its values."""

        def parse(infer: bool = True, rows: int | None = None) -> pl.DataFrame:
            frame = pl.read_csv(
                self.content,
                separator=self.separator,
                decimal_comma=decimal == ",",
                null_values=list(null_words),
                infer_schema=infer,
                infer_schema_length=rows,
            )
            frame.columns = names
            return frame

        # Types inferred from all rows take five times as long as the values: 1 000 000 x 20, bench
        # `reading`. The first rows do if all others are of the types they show. By a decimal comma
        # that is no check: a point is read as well, where it is no number by all rows.
        if decimal == ".":
            with suppress(pl.exceptions.PolarsError):
                frame = parse(rows=_TYPED_ROWS)
                if not any(map(_is_unsettled, columns_of(frame, _is_text_or_long))):
                    return frame
        try:
            return parse()
        except pl.exceptions.PolarsError as problem:
            if known := self.ill_formed():
                raise known from problem
        # Numbers too long for any type of whole number are read as text first.
        try:
            return parse(infer=False)
        except pl.exceptions.PolarsError as problem:
            raise self._refusal(problem) from problem

    def incomplete(self, width: int, null_words: Sequence[str]) -> tuple[int, str | None]:
        """Count the lines that hold no value, and say how many have too few fields."""
        empty, short, hollow = {"", *null_words}, [], 0
        # The reader gives up at fields of more than 128 KiB, where counting ends.
        with suppress(csv.Error):
            for line, fields in self.records():
                if fields and all(field.strip() in empty for field in fields):
                    hollow += 1
                elif fields and len(fields) < width:
                    short.append(line)
        if not short:
            return hollow, None
        have = "has" if len(short) == 1 else "have"
        return hollow, (
            f"{counted(len(short), 'line')} {have} fewer than {width} fields, "
            f"the first is line {short[0]}"
        )

    def _refusal(self, problem: Exception) -> DataError:
        reason = str(problem).partition("\n")[0]
        unknown = f"{self.name} cannot be read as a table split at '{self.separator}': {reason}"
        return self.ill_formed() or DataError(unknown)

    def ill_formed(self) -> DataError | None:
        """Return what is wrong with the lines, if that can be found."""
        start = self.skipped + 1
        with suppress(csv.Error):
            records = self.records()
            _, header = next(records)
            for start, fields in records:
                if len(fields) > len(header):
                    return DataError(
                        f"{self.name}, line {start}: {counted(len(fields), 'field')}, "
                        f"expected {len(header)}",
                        f"quote fields that hold '{self.separator}', or remove the surplus",
                    )
        if self.content.count(b'"') % 2:
            return DataError(
                f"{self.name}, line {start}: a quote is never closed", "close it or remove it"
            )
        line = self._line_of_stray_text()
        if line is None:
            return None
        return DataError(
            f"{self.name}, line {line}: a quoted field goes on after its quote",
            f"quote the whole field, or write '{self.separator}' after the quote",
        )

    def _line_of_stray_text(self) -> int | None:
        """Return the line of the first field with text after its closing quote."""
        reader = csv.reader(self._text(), delimiter=self.separator, strict=True)
        try:
            for _ in reader:
                pass
        except csv.Error as problem:
            if "expected after" in str(problem):
                return reader.line_num + self.skipped
        return None


def _surplus(header: Sequence[str], frame: pl.DataFrame) -> int:
    """Count the last columns that have neither a name nor a value: separators at the line ends."""
    found = 0
    for written, column in zip(reversed(header[1:]), reversed(frame.get_columns()), strict=False):
        if written.strip() or column.null_count() < len(column):
            break
        found += 1
    return found


def _is_text(dtype: pl.DataType) -> bool:
    return dtype == pl.String


def _is_text_or_long(dtype: pl.DataType) -> bool:
    return dtype in (pl.String, pl.Int128)


def _is_unsettled(column: pl.Series) -> bool:
    """Tell whether a column of text or long integers may be of another type by all rows."""
    if column.dtype == pl.Int128:
        return True
    # It may be text only because the first rows have no value.
    head = column.head(_TYPED_ROWS // 2)
    return head.null_count() == len(head) and column.null_count() < len(column)


def _tidy(
    frame: pl.DataFrame, decimal: str, null_words: Sequence[str]
) -> tuple[pl.DataFrame, list[str]]:
    """Strip text, make numbers of what was text only for its blanks, and name what is rounded."""
    tidied, rounded = [], []
    for column in columns_of(frame, _is_text):
        text = column.str.strip_chars()
        text = text.set(text.is_in(["", *null_words]), None)
        numbers = _numbers(text, decimal)
        if numbers is not None and is_rounded(text, numbers):
            rounded.append(column.name)
        tidied.append(text if numbers is None else numbers)
    return (frame.with_columns(tidied) if tidied else frame), rounded


def _numbers(text: pl.Series, decimal: str) -> pl.Series | None:
    if decimal == ",":
        if text.str.contains(".", literal=True).any():
            return None
        text = text.str.replace(",", ".", literal=True)
    return read_numbers(text)
