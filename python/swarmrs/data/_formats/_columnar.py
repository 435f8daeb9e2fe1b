"""Parquet and Arrow: their size is known before they are read."""

import io
from collections.abc import Callable

import polars as pl

from swarmrs import _swarmrs
from swarmrs.data._formats._bytes import check_size
from swarmrs.data._read import Raw
from swarmrs.exceptions import DataError

# polars numbers rows by 32 bits.
MAX_ROWS = 2**32 - 1

_CELL = 8  # bytes of a number in the table that is searched

_OTHERS = {
    b"FEA1": ("a Feather file of version 1", "write it again as version 2, or as Parquet"),
    b"\xff\xff\xff\xff": ("an Arrow stream", "write it as an Arrow file, or as Parquet"),
    b"PK\x03\x04": ("a zip archive or a spreadsheet", "save the table as CSV"),
    b"\xd0\xcf\x11\xe0": ("a spreadsheet", "save the table as CSV"),
    b"BZh": ("packed by bzip2", "unpack it, or pack it by gzip"),
    b"\xfd7zXZ": ("packed by xz", "unpack it, or pack it by gzip"),
    b"\x28\xb5\x2f\xfd": ("packed by zstd", "unpack it, or pack it by gzip"),
}


def check_magic(raw: bytes, name: str) -> None:
    """Refuse what is known to be no table of ours, by its first bytes.

    Raises
    ------
    DataError
        If it is; it says what the file is instead.
    """
    for magic, (what, hint) in _OTHERS.items():
        if raw.startswith(magic):
            raise DataError(f"{name} is {what}", hint)


def parse_parquet(raw: bytes, name: str, packed: int, limit: int) -> Raw:
    """Read Parquet."""
    return _parse(raw, name, "Parquet", packed, limit, pl.scan_parquet, pl.read_parquet)


def parse_arrow(raw: bytes, name: str, packed: int, limit: int) -> Raw:
    """Read an Arrow file, which Feather of version 2 is."""
    return _parse(raw, name, "Arrow", packed, limit, pl.scan_ipc, pl.read_ipc)


def _parse(
    raw: bytes,
    name: str,
    kind: str,
    packed: int,
    limit: int,
    scan: Callable[[io.BytesIO], pl.LazyFrame],
    read: Callable[[io.BytesIO], pl.DataFrame],
) -> Raw:
    try:
        lazy = scan(io.BytesIO(raw))
        width = len(lazy.collect_schema())
        rows = lazy.select(pl.len()).collect().item()
        if rows > MAX_ROWS:
            raise DataError(f"{name} has {rows} rows, expected at most {MAX_ROWS}", "split it")
        check_size(name, rows * width * _CELL, packed, limit)
        # A damaged header makes polars request so much memory that the process is aborted.
        if kind == "Parquet" and not _swarmrs.is_sound_parquet(raw, limit // _CELL):
            raise DataError(*_unreadable(name, kind))
        return Raw(name, read(io.BytesIO(raw)), kind=kind)
    except (OSError, pl.exceptions.PolarsError, pl.exceptions.PanicException) as problem:
        raise DataError(*_unreadable(name, kind)) from problem


def _unreadable(name: str, kind: str) -> tuple[str, str]:
    return f"{name} is not a readable {kind} file", "write it again"
