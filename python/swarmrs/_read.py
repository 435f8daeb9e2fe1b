"""From whatever holds a table to a polars frame; nothing is chosen or mended here."""

import csv
import gzip
import io
import sys
import zlib
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, NamedTuple

import numpy as np
import polars as pl

from swarmrs._words import check_word, counted, nearest, quoted
from swarmrs.exceptions import DataError, SpecError

BUILT_IN = ("breast_cancer", "digits", "iris", "wine")
NULL_WORDS = ("", "?", "N/A", "NA", "NaN", "nan", "null")
SEPARATORS = (";", "\t", "|", ",")

# A gzip file may unpack to so much, and past the second figure only by so large a factor.
MAX_BYTES = 16 << 30
BOMB_BYTES = 1 << 30
BOMB_RATIO = 200


class Raw(NamedTuple):
    """A table as it was found, and its column of classes where that is known."""

    name: str
    frame: pl.DataFrame
    notices: tuple[str, ...] = ()
    target: str | None = None


def read_built_in(name: str) -> Raw:
    """Return a data set that ships with scikit-learn, its classes by name in the last column."""
    from sklearn import datasets

    check_word("built-in data set", name, BUILT_IN)
    bunch = getattr(datasets, f"load_{name}")()
    frame = frame_of_array(bunch.data, [str(feature) for feature in bunch.feature_names])
    labels = pl.Series("class", bunch.target_names[bunch.target])
    return Raw(f"sklearn:{name}", frame.with_columns(labels), target=labels.name)


def read_file(source: str, *, separator: str | None = None, encoding: str | None = None) -> Raw:
    """Read CSV, TSV or Parquet, gzipped or not, from a path or, for ``-``, from standard input.

    The content decides what the file is; its suffix only chooses between comma and tab.
    """
    path = Path(source)
    name = "stdin" if source == "-" else path.name
    if separator is None:
        separator = "\t" if ".tsv" in path.suffixes else ","
    elif separator == r"\t":
        separator = "\t"
    elif len(separator.encode()) != 1:
        raise SpecError(f"separator '{separator}' is not one character", r"write ';' or '\t'")
    try:
        raw = sys.stdin.buffer.read() if source == "-" else path.read_bytes()
        if raw.startswith(b"\x1f\x8b"):
            raw = _gunzip(io.BytesIO(raw), name, len(raw))
    except FileNotFoundError:
        raise DataError(f"file '{source}' does not exist", _other_file(path)) from None
    except (OSError, EOFError, ValueError, zlib.error) as problem:
        reason = getattr(problem, "strerror", None) or problem
        raise DataError(f"file '{source}' cannot be read: {reason}") from problem
    if raw.startswith(b"PAR1"):
        return Raw(name, _parse_parquet(raw, name))
    return _parse_text(raw, name, separator, encoding)


def frame_of_array(values: object, names: Sequence[str] | None = None) -> pl.DataFrame:
    """Return a two-dimensional array as a frame, its columns called x0, x1, ... unless named."""
    array = np.asarray(values)
    if array.ndim != 2:
        raise DataError(f"the array has {counted(array.ndim, 'dimension')}, expected 2")
    columns = names if names is not None else [f"x{index}" for index in range(array.shape[1])]
    return pl.DataFrame([series_of(name, array[:, index]) for index, name in enumerate(columns)])


def frame_of_pandas(frame: object) -> pl.DataFrame:
    """Return a pandas frame as a polars one, without pyarrow."""
    names = [str(name) for name in frame.columns]  # type: ignore[attr-defined]
    check_names(names, "the frame")
    columns = (frame.iloc[:, index] for index in range(len(names)))  # type: ignore[attr-defined]
    return pl.DataFrame([series_of(*pair) for pair in zip(names, columns, strict=True)])


def series_of(name: str, values: object) -> pl.Series:
    """Return a column given as a series, an array or a list; what pandas calls NA is null."""
    if isinstance(values, pl.Series):
        return values.alias(name)
    array = np.asarray(values)
    if array.ndim != 1:
        raise DataError(f"'{name}' has {counted(array.ndim, 'dimension')}, expected 1")
    if array.dtype != object:
        return pl.Series(name, array)
    isna = getattr(values, "isna", None)
    gone = isna().to_numpy() if isna else [value is None for value in array]
    kept = [None if lost else value for lost, value in zip(gone, array, strict=True)]
    try:
        return pl.Series(name, kept)
    except (TypeError, pl.exceptions.PolarsError):
        return pl.Series(name, [None if value is None else str(value) for value in kept])


def check_names(names: Sequence[str], where: str) -> None:
    """Refuse names that occur twice.

    Raises
    ------
    DataError
        If one does; it gives both positions, the first column being 1.
    """
    twice = [name for name, times in Counter(names).items() if times > 1]
    if twice:
        first = names.index(twice[0])
        second = names.index(twice[0], first + 1)
        raise DataError(
            f"{where} has two columns called '{twice[0]}': {first + 1} and {second + 1}",
            "rename one of them; the first line must hold the names",
        )


def _other_file(path: Path) -> str:
    try:
        guess = nearest(path.name, [other.name for other in path.parent.iterdir()])
    except OSError:
        guess = None
    if guess:
        return f"did you mean '{path.with_name(guess)}'?"
    return f"give a CSV, TSV or Parquet file, - for standard input, or sklearn:{'|'.join(BUILT_IN)}"


def _gunzip(stream: BinaryIO, name: str, packed: int) -> bytes:
    out = io.BytesIO()
    with gzip.open(stream) as unpacked:
        while chunk := unpacked.read(1 << 20):
            out.write(chunk)
            size = out.tell()
            if size > MAX_BYTES or (size > BOMB_BYTES and size > BOMB_RATIO * packed):
                raise DataError(
                    f"{name} unpacks to more than {size >> 20} MiB",
                    "unpack it yourself if that is what you expect",
                )
    return out.getvalue()


def _parse_parquet(raw: bytes, name: str) -> pl.DataFrame:
    try:
        return pl.read_parquet(io.BytesIO(raw))
    except pl.exceptions.PolarsError as problem:
        raise DataError(f"{name} is not a readable Parquet file", "write it again") from problem


def _parse_text(raw: bytes, name: str, separator: str, encoding: str | None) -> Raw:
    text = _decode(raw, name, encoding).lstrip("\r\n")
    if not text.strip():
        raise DataError(f"{name} is empty", "the first line must hold the column names")
    if "\r" in text and "\n" not in text:
        raise DataError(f"{name} ends its lines by CR alone", "convert the line ends to LF")
    try:
        header = _header(text, name, separator)
        names = [column or f"column_{index}" for index, column in enumerate(header, start=1)]
        check_names(names, name)
        frame = pl.read_csv(
            text.encode(),
            separator=separator,
            null_values=list(NULL_WORDS),
            infer_schema_length=None,
        )
        frame.columns = names
    except (csv.Error, pl.exceptions.PolarsError) as problem:
        raise _ill_formed(text, name, separator) from problem
    unnamed = [made for made, found in zip(names, header, strict=True) if not found]
    notices = (f"{counted(len(unnamed), 'column')} without a name: {quoted(unnamed)}",)
    return Raw(name, _tidy(_drop_blank_lines(frame)), notices if unnamed else ())


def _decode(raw: bytes, name: str, encoding: str | None) -> str:
    if encoding is None:
        if raw.startswith((b"\xff\xfe", b"\xfe\xff")):
            raise DataError(f"{name} is UTF-16 text", "read it with --encoding utf-16")
        if b"\0" in raw[:4096]:
            raise DataError(f"{name} is not text", "give a CSV, TSV or Parquet file")
    try:
        return raw.decode(encoding or "utf-8-sig")
    except UnicodeDecodeError as problem:
        line = raw.count(b"\n", 0, problem.start) + 1
        raise DataError(
            f"{name}, line {line}: byte {problem.start} is not {problem.encoding.upper()}",
            "read it with --encoding latin1 if that is how it was written",
        ) from None
    except LookupError:
        raise SpecError(f"unknown encoding '{encoding}'", "known: utf-8, latin1, utf-16") from None


def _header(text: str, name: str, separator: str) -> list[str]:
    first = next(csv.reader(io.StringIO(text, newline=""), delimiter=separator))
    header = [column.strip() for column in first]
    if len(header) == 1:
        other = max((char for char in SEPARATORS if char != separator), key=header[0].count)
        if other in header[0]:
            shown = other.replace("\t", r"\t")
            raise DataError(
                f"{name} has one column when split at '{separator}'",
                f"read it with --sep '{shown}'",
            )
    return header


def _ill_formed(text: str, name: str, separator: str) -> DataError:
    if text.count('"') % 2:
        return DataError(f"{name} has a quote that is never closed", "close it or remove it")
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
    with suppress(csv.Error):
        width = len(next(reader))
        for record in reader:
            if len(record) > width:
                return DataError(
                    f"{name}, line {reader.line_num}: {len(record)} fields, expected {width}",
                    f"quote fields that hold '{separator}', or remove the surplus",
                )
    return DataError(f"{name} cannot be read as a table split at '{separator}'")


def _drop_blank_lines(frame: pl.DataFrame) -> pl.DataFrame:
    if not frame.to_series(0).null_count():
        return frame
    return frame.filter(~pl.all_horizontal(pl.all().is_null()))


def _tidy(frame: pl.DataFrame) -> pl.DataFrame:
    """Strip text, and make numbers of columns that were text only for their blanks."""
    tidied = []
    for column in frame.select(pl.col(pl.String)):
        text = column.str.strip_chars()
        text = text.set(text.is_in(list(NULL_WORDS)), None)
        numbers = text.cast(pl.Float64, strict=False)
        tidied.append(numbers if numbers.null_count() == text.null_count() else text)
    return frame.with_columns(tidied)
