"""Files that hold tables: what they are, how they are read, how large they may be."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypedDict

from swarmrs._base._messages import check_whole, check_word
from swarmrs.data._formats._arff import is_arff, parse_arff
from swarmrs.data._formats._bytes import MAX_BYTES, fetch
from swarmrs.data._formats._columnar import check_magic, parse_arrow, parse_parquet
from swarmrs.data._formats._text import NULL_WORDS, decode, parse_text
from swarmrs.data._read import Raw
from swarmrs.exceptions import SpecError

FORMATS = ("csv", "tsv", "parquet", "arrow", "arff")
DECIMALS = (".", ",")


class ReadOptions(TypedDict, total=False):
    """How a file is written, as callers say it; see `read_table`."""

    separator: str | None
    encoding: str | None
    decimal: str
    null_words: Sequence[str]
    input_format: str | None
    dedupe_names: bool
    max_bytes: int


@dataclass(frozen=True)
class Reading:
    """The same, checked and with defaults.

    Raises
    ------
    SpecError
        If an option is unknown or does not fit another.
    """

    separator: str | None = None
    encoding: str | None = None
    decimal: str = "."
    null_words: Sequence[str] = NULL_WORDS
    input_format: str | None = None
    dedupe_names: bool = False
    max_bytes: int = MAX_BYTES

    def __post_init__(self) -> None:
        check_word("decimal mark", self.decimal, DECIMALS)
        check_whole("max_bytes", self.max_bytes)
        if self.input_format is not None:
            check_word("input format", self.input_format, FORMATS)
        char = None if self.separator is None else _tab(self.separator)
        if char is not None and (len(char.encode()) != 1 or char in '"\r\n'):
            raise SpecError(
                f"separator '{self.separator}' is not one character", r"write ';' or '\t'"
            )
        if isinstance(self.null_words, str):
            raise SpecError(f"null_words is '{self.null_words}', expected a list", "write [word]")

    def separator_of(self, path: Path) -> str:
        """Return what separates fields: what is asked for, or what the format or suffix says."""
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
    asked = reading.input_format
    if asked == "parquet" or (asked is None and raw.startswith(b"PAR1")):
        return parse_parquet(raw, name, packed, reading.max_bytes)
    if asked == "arrow" or (asked is None and raw.startswith(b"ARROW1")):
        return parse_arrow(raw, name, packed, reading.max_bytes)
    check_magic(raw, name)
    text = decode(raw, name, reading.encoding)
    if asked == "arff" or (asked is None and is_arff(text)):
        return parse_arff(text, name, dedupe_names=reading.dedupe_names)
    return parse_text(
        text,
        name,
        separator=reading.separator_of(path),
        decimal=reading.decimal,
        null_words=reading.null_words,
        dedupe_names=reading.dedupe_names,
    )
