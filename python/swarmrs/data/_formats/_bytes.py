"""From a path or standard input to bytes, within limits of size."""

import gzip
import io
import os
import sys
import zlib
from pathlib import Path
from typing import IO

from swarmrs._base._hints import setting
from swarmrs._base._messages import nearest, sized
from swarmrs.data._read import BUILT_IN
from swarmrs.exceptions import DataError

# What is packed may grow to so much, and past that only by so large a factor.
BOMB_BYTES = 1 << 30
BOMB_RATIO = 200

_CHUNK = 1 << 20


def fetch(source: str, name: str, limit: int) -> tuple[bytes, int]:
    """Return the content, unpacked if it is gzipped, and how many bytes it was before.

    Raises
    ------
    DataError
        If there is no such file, it cannot be read, or it is larger than the limit.
    """
    path = Path(source)
    try:
        if source == "-":
            raw = _read_all(sys.stdin.buffer, name, limit)
        else:
            with path.open("rb") as stream:
                size = os.fstat(stream.fileno()).st_size
                raw = _read_all(stream, name, limit, first=size)
        if raw.startswith(b"\x1f\x8b"):
            with gzip.open(io.BytesIO(raw)) as unpacked:
                return _read_all(unpacked, name, limit, packed=len(raw)), len(raw)
    except FileNotFoundError:
        if path.is_symlink():
            raise DataError(
                f"'{source}' is a link to '{path.readlink()}', which does not exist",
                "name a file that can be read",
            ) from None
        raise DataError(f"file '{source}' does not exist", _other_file(path)) from None
    except (OSError, EOFError, ValueError, zlib.error) as problem:
        if isinstance(problem, DataError):
            raise
        reason = getattr(problem, "strerror", None) or problem
        is_damaged = isinstance(problem, EOFError | zlib.error | gzip.BadGzipFile)
        hint = "fetch it again: it is damaged" if is_damaged else "name a file that can be read"
        raise DataError(f"file '{source}' cannot be read: {reason}", hint) from problem
    return raw, len(raw)


def check_size(name: str, size: int, packed: int, limit: int) -> None:
    """Refuse what is too large, or grows too far from what is packed.

    Raises
    ------
    DataError
        If it is.
    """
    if size > limit:
        raise DataError(
            f"{name} holds more than {sized(limit)}",
            f"raise the limit with {setting('max_bytes')} if the memory is there",
        )
    if size > BOMB_BYTES and size > BOMB_RATIO * packed:
        raise DataError(
            f"{name} unpacks to more than {sized(BOMB_BYTES)}, {BOMB_RATIO} times its size",
            "unpack it yourself if that is what you expect",
        )


def _read_all(
    stream: IO[bytes] | gzip.GzipFile,
    name: str,
    limit: int,
    *,
    packed: int | None = None,
    first: int = 0,
) -> bytes:
    """Return all bytes of a stream, within the limit; `first` is the size that is expected."""
    chunks, size = [], 0
    while chunk := stream.read(_CHUNK if size else max(_CHUNK, min(first, limit) + 1)):
        chunks.append(chunk)
        size += len(chunk)
        check_size(name, size, size if packed is None else packed, limit)
    return b"".join(chunks)  # One chunk is not copied.


def _other_file(path: Path) -> str:
    try:
        guess = nearest(path.name, [other.name for other in path.parent.iterdir()])
    except OSError:
        guess = None
    if guess:
        return f"did you mean '{path.with_name(guess)}'?"
    return (
        "give a CSV, TSV, Parquet, Arrow or ARFF file, - for standard input, "
        f"or sklearn:{'|'.join(BUILT_IN)}"
    )
