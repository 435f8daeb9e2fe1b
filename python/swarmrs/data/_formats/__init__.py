"""Files that hold tables: what they are, how they are read, how large they may be."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from swarmrs._base._messages import check_whole, check_word
from swarmrs._base._options import defaults_of
from swarmrs.data._formats._arff import is_arff, parse_arff
from swarmrs.data._formats._bytes import fetch
from swarmrs.data._formats._columnar import check_magic, parse_arrow, parse_parquet
from swarmrs.data._formats._text import as_utf8, parse_text
from swarmrs.data._options import DECIMALS, FORMATS, NULL_WORDS, ReadOptions
from swarmrs.data._read import Raw
from swarmrs.exceptions import SpecError


@dataclass(frozen=True)
class Reading:
    """The options that say how a file is written, checked.

    Raises
    ------
    SpecError
        If a value is unknown or out of range.
    """

    separator: str | None
    encoding: str | None
    decimal: str
    null: Sequence[str]
    null_only: bool
    input_format: str | None
    dedupe_names: bool
    max_bytes: int

    @classmethod
    def of(cls, options: ReadOptions | Mapping[str, Any]) -> "Reading":
        """Return the file options among all reading options; those not given have defaults."""
        settings = {**defaults_of(ReadOptions), **options}
        return cls(**{field.name: settings[field.name] for field in fields(cls)})

    def __post_init__(self) -> None:
        check_word("decimal mark", self.decimal, DECIMALS)
        check_whole("max_bytes", self.max_bytes)
        if self.input_format is not None:
            check_word("input format", self.input_format, FORMATS)
        if self.encoding is not None:
            try:
                "".encode(self.encoding)
            except (LookupError, ValueError):
                raise SpecError(
                    f"unknown encoding '{self.encoding}'", "known: utf-8, latin1, utf-16"
                ) from None
        char = None if self.separator is None else _tab(self.separator)
        if char is not None and (len(char.encode()) != 1 or char in '"\r\n'):
            raise SpecError(
                f"separator '{self.separator}' is not one character", r"write ';' or '\t'"
            )

    @property
    def null_words(self) -> tuple[str, ...]:
        """All words that stand for a missing value."""
        return (*(() if self.null_only else NULL_WORDS), *self.null)

    def separator_of(self, path: Path) -> str:
        """Return what separates fields: what is requested, or what the format or suffix says."""
        if self.separator is not None:
            return _tab(self.separator)
        if self.input_format is not None:
            return "\t" if self.input_format == "tsv" else ","
        suffixes = {suffix.lower() for suffix in path.suffixes}
        return "\t" if {".tsv", ".tab"} & suffixes else ","


def _tab(separator: str) -> str:
    return "\t" if separator == r"\t" else separator


def read_file(source: str, reading: Reading) -> Raw:
    """Read a file, gzipped or not, from a path or, for ``-``, from standard input.

    The content decides what the file is, unless `reading` does; the suffix only chooses between
    comma and tab.
    """
    name = name_of(source)
    content, packed = fetch(source, name, reading.max_bytes)
    return parse_content(content, packed, Path(source), name, reading)


def name_of(source: str) -> str:
    """Return what a file is called in results."""
    return "stdin" if source == "-" else Path(source).name


def parse_content(raw: bytes, packed: int, path: Path, name: str, reading: Reading) -> Raw:
    """Read the content of a file, unpacked, that had so many bytes before; see `read_file`."""
    wanted = reading.input_format
    if wanted == "parquet" or (wanted is None and raw.startswith(b"PAR1")):
        return parse_parquet(raw, name, packed, reading.max_bytes)
    if wanted == "arrow" or (wanted is None and raw.startswith(b"ARROW1")):
        return parse_arrow(raw, name, packed, reading.max_bytes)
    check_magic(raw, name)
    content = as_utf8(raw, name, reading.encoding)
    if wanted == "arff" or (wanted is None and is_arff(content)):
        return parse_arff(content.decode(), name, dedupe_names=reading.dedupe_names)
    return parse_text(
        content,
        name,
        separator=reading.separator_of(path),
        decimal=reading.decimal,
        null_words=reading.null_words,
        dedupe_names=reading.dedupe_names,
    )
