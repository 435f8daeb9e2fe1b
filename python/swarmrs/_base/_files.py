"""Files that are written whole or not at all, and the one place that explains why they are not."""

import errno
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from swarmrs.exceptions import OutputError

_NO_SPACE = "free some space, or write to another disk"
_NO_RIGHT = "write to a folder that you may write to"
_NO_FILE = "give the name of a file"
_HINTS = {
    errno.ENOSPC: _NO_SPACE,
    errno.EDQUOT: _NO_SPACE,
    errno.EFBIG: "a limit of the process or the disk allows no file of this size: raise it",
    errno.EACCES: _NO_RIGHT,
    errno.EPERM: _NO_RIGHT,
    errno.EROFS: _NO_RIGHT,
    errno.EISDIR: _NO_FILE,
    errno.ENOTDIR: _NO_FILE,
    errno.ENOENT: "make the folder first",
    errno.EBADF: "give it a file, a pipe or a terminal",
    errno.ENAMETOOLONG: "give a shorter name",
}

# What a stream can fail with: no space, a quota, a limit, a broken or a closed one.
STREAM_ERRORS = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF)


def output_error(what: str, problem: OSError) -> OutputError:
    """Return the error for a write that failed; `what` says what was to be written.

    Examples
    --------
    >>> error = output_error("'a.csv'", OSError(errno.ENOSPC, "No space left on device"))
    >>> print(error, error.hint, sep="; ")
    'a.csv' cannot be written: No space left on device; free some space, or write to another disk
    """
    hint = _HINTS.get(problem.errno or 0, "write to another file")
    return OutputError(f"{what} cannot be written: {problem.strerror or problem}", hint)


@contextmanager
def whole_file(path: Path) -> Iterator[BinaryIO]:
    """Give an open file that takes the place of `path` when the block ends without an error.

    Until then it lies beside it under a name that cannot be guessed, is never one that exists, and
    is removed if anything fails. A link at `path` is replaced, not followed.

    Raises
    ------
    OutputError
        If it cannot be written.
    """
    if path.is_dir():
        raise output_error(f"'{path}'", IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR)))
    part = path.with_name(f".{secrets.token_hex(8)}.part")
    try:
        # "x" is O_EXCL: a file or a link of this name is refused, so nothing is written through it.
        file = part.open("xb")
        try:
            with file:
                yield file
            part.replace(path)
        except BaseException:
            with suppress(OSError):
                part.unlink()
            raise
    except OSError as problem:
        raise output_error(f"'{path}'", problem) from problem
