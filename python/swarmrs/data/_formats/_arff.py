"""ARFF, the format of Weka: a header of typed attributes, then rows."""

import re
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple, NoReturn

import polars as pl

from swarmrs._base._messages import counted, listed, quoted
from swarmrs.data._dates import read_java_dates
from swarmrs.data._formats._numbers import is_rounded, read_numbers
from swarmrs.data._read import Raw, settle_names, too_long
from swarmrs.exceptions import DataError

_NUMERIC = ("numeric", "real", "integer")
_QUOTED = r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\""
_ATTRIBUTE = re.compile(rf"@attribute\s+({_QUOTED}|[^\s{{]+)\s*(.+)", re.IGNORECASE)
_FIELD = re.compile(rf"\s*({_QUOTED}|[^,]*?)\s*(,|$)")
_CELL = re.compile(rf"\s*(\d{{1,18}})\s+({_QUOTED}|[^,\s]+)\s*(,|$)")
_ESCAPE = re.compile(r"\\(.)")
_ESCAPED = {"n": "\n", "r": "\r", "t": "\t"}
_FIRST = re.compile(rb"(?:[ \t\r]*(?:%[^\n]*)?\n)*[ \t]*@(?:relation|attribute)\b", re.IGNORECASE)


_ISO_DATE = "yyyy-MM-dd'T'HH:mm:ss"


class _Attribute(NamedTuple):
    """A column: its name and kind; its values if it is nominal, its pattern if it holds dates."""

    name: str
    kind: str
    values: tuple[str, ...] = ()
    pattern: str = ""

    @property
    def zero(self) -> str:
        """What a sparse row leaves out."""
        return self.values[0] if self.values else "0"


def is_arff(content: bytes) -> bool:
    """Tell whether text is ARFF, by its first line that is neither blank nor a comment."""
    return _FIRST.match(content) is not None


def parse_arff(text: str, name: str, *, dedupe_names: bool) -> Raw:
    """Read ARFF, dense or sparse.

    Raises
    ------
    DataError
        If a line is not as the header says, with its number.
    """
    return _Parser(text, name).parse(dedupe_names)


class _Parser:
    def __init__(self, text: str, name: str) -> None:
        self.name = name
        self.line = 0
        self.lines = text.split("\n")
        self.attributes: list[_Attribute] = []

    def parse(self, dedupe_names: bool) -> Raw:
        content = self._content()
        self._header(content)
        found = [attribute.name for attribute in self.attributes]
        names, notices, warnings = settle_names(found, self.name, dedupe=dedupe_names)
        rows: list[list[str | None]] = []
        numbers: list[int] = []
        for line in content:
            rows.append(self._row(line))
            numbers.append(self.line)
        if not rows:
            raise DataError(f"{self.name} has no rows", "there must be a line for each sample")
        columns, rounded = [], []
        for name, attribute, values in zip(
            names, self.attributes, zip(*rows, strict=True), strict=True
        ):
            text = pl.Series(name, values, dtype=pl.String)
            columns.append(self._column(text, attribute, numbers))
            if attribute.kind == "numeric" and is_rounded(text, columns[-1]):
                rounded.append(name)
        if rounded:
            warnings.append(too_long(rounded))
        return Raw(self.name, pl.DataFrame(columns), tuple(notices), tuple(warnings), kind="ARFF")

    def _content(self) -> Iterator[str]:
        for number, line in enumerate(self.lines, start=1):
            self.line = number
            stripped = line.strip()
            if stripped and not stripped.startswith("%"):
                yield stripped

    def _header(self, content: Iterator[str]) -> None:
        for line in content:
            word = line.split(maxsplit=1)[0].lower()
            if word == "@data":
                if not self.attributes:
                    self._refuse("@data before any @attribute", "declare the columns first")
                return
            if word == "@attribute":
                self.attributes.append(self._attribute(line))
            elif word != "@relation":
                self._refuse(f"'{word}' is no declaration", "known: @relation, @attribute, @data")
        raise DataError(f"{self.name} has no @data line", "the rows must follow such a line")

    def _attribute(self, line: str) -> _Attribute:
        match = _ATTRIBUTE.fullmatch(line)
        if match is None:
            self._refuse("@attribute without a name and a type", "write @attribute name numeric")
        name, kind = _unquoted(match[1]), match[2].strip()
        if kind.startswith("{"):
            if not kind.endswith("}"):
                self._refuse(f"the values of '{name}' have no closing brace", "close it by }")
            values = tuple(self._fields(kind[1:-1]))
            twice = [value for value, times in Counter(values).items() if times > 1]
            if twice:
                self._refuse(f"'{name}' declares {quoted(twice)} twice", "declare it once")
            if not all(values):
                self._refuse(f"'{name}' declares an empty value", "quote it, or remove the comma")
            return _Attribute(name, "nominal", values)
        word = kind.split()[0].lower()
        if word in _NUMERIC:
            return _Attribute(name, "numeric")
        if word == "string":
            return _Attribute(name, "text")
        if word == "date":
            pattern = _unquoted(kind[len(word) :].strip()) or _ISO_DATE
            return _Attribute(name, "date", pattern=pattern)
        self._refuse(
            f"'{name}' is of the unknown type '{kind}'",
            "known: numeric, real, integer, string, date, {a, b}",
        )

    def _row(self, line: str) -> list[str | None]:
        if line.startswith("{"):
            return self._sparse(line)
        width = len(self.attributes)
        if not any(char in line for char in "'\"{"):
            fields: list[str | None] = [
                None if field == "?" else field for field in map(str.strip, line.split(","))
            ]
        else:
            if re.search(r",\s*\{[^{}]*\}$", line):
                self._refuse("a row with a weight", "remove the weight")
            fields = [None if bare == "?" else _unquoted(bare) for bare in self._bare(line)]
        if len(fields) != width:
            self._refuse(
                f"{counted(len(fields), 'value')}, expected {width}",
                "quote values that hold a comma",
            )
        return fields

    def _sparse(self, line: str) -> list[str | None]:
        if not line.endswith("}"):
            self._refuse("a sparse row has no closing brace", "close it by }; weights are not read")
        row: list[str | None] = [attribute.zero for attribute in self.attributes]
        at, inside, last = 0, line[1:-1].rstrip(), -1
        while at < len(inside):
            cell = _CELL.match(inside, at)
            if cell is None:
                self._refuse("a sparse row is not of pairs", "write {index value, index value}")
            index = int(cell[1])
            if not last < index < len(row):
                self._refuse(
                    f"index {index}, expected {last + 1} to {len(row) - 1}",
                    "indices start at 0 and rise",
                )
            row[index] = None if cell[2] == "?" else _unquoted(cell[2])
            at, last = cell.end(), index
        return row

    def _bare(self, text: str) -> Iterator[str]:
        """Give the fields between commas, quotes and all."""
        at = 0
        while True:
            field = _FIELD.match(text, at)
            assert field is not None, "the second way to match takes anything"
            if field[1][:1] in ("'", '"') and not re.fullmatch(_QUOTED, field[1]):
                self._refuse("a quote is never closed", "close it, or escape it by a backslash")
            yield field[1]
            at = field.end()
            if field[2] == "":
                return

    def _fields(self, text: str) -> Iterator[str]:
        return (_unquoted(bare) for bare in self._bare(text))

    def _column(self, text: pl.Series, attribute: _Attribute, lines: list[int]) -> pl.Series:
        if attribute.kind == "text":
            return text
        if attribute.kind == "nominal":
            unknown = text.is_not_null() & ~text.is_in(list(attribute.values))
            if unknown.any():
                at = unknown.to_list().index(True)
                self.line = lines[at]
                self._refuse(
                    f"'{attribute.name}' is '{text[at]}', which is not declared",
                    f"declared: {listed(attribute.values)}",
                )
            return text.cast(pl.Enum(attribute.values))
        if attribute.kind == "date":
            dates = read_java_dates(text, attribute.pattern)
            if dates is None:
                return text
            unread = text.is_not_null() & dates.is_null()
            if unread.any():
                at = unread.to_list().index(True)
                self.line = lines[at]
                self._refuse(
                    f"'{attribute.name}' is '{text[at]}', expected a date",
                    f"write it as {attribute.pattern}; a missing value is ?",
                )
            return dates
        numbers = read_numbers(text)
        if numbers is None:
            unread = text.is_not_null() & text.cast(pl.Float64, strict=False).is_null()
            at = unread.to_list().index(True)
            self.line = lines[at]
            self._refuse(
                f"'{attribute.name}' is '{text[at]}', expected a number", "a missing value is ?"
            )
        return numbers

    def _refuse(self, message: str, hint: str) -> NoReturn:
        raise DataError(f"{self.name}, line {self.line}: {message}", hint)


def _unquoted(field: str) -> str:
    if field[:1] in ("'", '"'):
        return _ESCAPE.sub(lambda found: _ESCAPED.get(found[1], found[1]), field[1:-1])
    return field
