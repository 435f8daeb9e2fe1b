"""Parquet and Arrow: their size is known before they are read."""

import io

import polars as pl

from swarmrs import _swarmrs
from swarmrs.data._formats._bytes import check_size
from swarmrs.data._read import Raw, raw_frame
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
    return _parse(raw, name, "Parquet", packed, limit)


def parse_arrow(raw: bytes, name: str, packed: int, limit: int) -> Raw:
    """Read an Arrow file, which Feather of version 2 is."""
    return _parse(raw, name, "Arrow", packed, limit)


def _parse(raw: bytes, name: str, kind: str, packed: int, limit: int) -> Raw:
    scan = pl.scan_parquet if kind == "Parquet" else pl.scan_ipc
    try:
        # The metadata is parsed once for all queries of one lazy frame. No row costs less than the
        # schema, which is built in Python: 0.1 s of 0.6 s for 100 000 columns.
        lazy = scan(io.BytesIO(raw))
        width = lazy.head(0).collect().width
        rows = lazy.select(pl.len()).collect().item()
        if rows > MAX_ROWS:
            raise DataError(f"{name} has {rows} rows, expected at most {MAX_ROWS}", "split it")
        check_size(name, rows * width * _CELL, packed, limit)
        # A damaged header makes polars request so much memory that the process is aborted.
        if kind == "Parquet" and not _swarmrs.is_sound_parquet(raw, limit // _CELL):
            raise DataError(*_unreadable(name, kind))
        return raw_frame(name, lazy.collect(), kind)
    except (OSError, pl.exceptions.PolarsError, pl.exceptions.PanicException) as problem:
        raise DataError(*_unreadable(name, kind)) from problem


def _unreadable(name: str, kind: str) -> tuple[str, str]:
    return f"{name} is not a readable {kind} file", "write it again"
