"""The files a command is given: checked before anything is computed, so that nothing is lost."""

import errno
import os
import stat
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from swarmrs._base._files import output_error
from swarmrs.exceptions import SpecError

# Where a file is named, this is standard input or output.
STREAM = "-"


def check_distinct(reads: Iterable[str], writes: Mapping[str, str]) -> None:
    """Refuse an output that is the input, or two outputs to one file, by whatever names.

    Parameters
    ----------
    reads : iterable of str
        Files that are read; ``-`` is standard input.
    writes : mapping of str to str
        Options, and the files they name; ``-`` is standard output.

    Raises
    ------
    SpecError
        If two of them are one file.
    """
    standard = {} if STREAM in writes.values() else {"standard output": STREAM}
    read = [(path, _identity(path, 0)) for path in reads]
    written: dict[str, set[object]] = {}
    for name, path in {**writes, **standard}.items():
        it = _identity(path, 1)
        for other, its in read:
            if it & its:
                raise SpecError(
                    f"{name} would overwrite '{other}', which is read", "write to another file"
                )
        for other, its in written.items():
            if it & its:
                raise SpecError(
                    f"{other} and {name} both write to '{writes[other]}'",
                    "give each a file of its own",
                )
        written[name] = it


def _identity(path: str, stream: int) -> set[object]:
    """Return what a file is known by: where it really is and, if it is there, its number."""
    try:
        found = os.fstat(stream) if path == STREAM else os.stat(path)
    except (OSError, ValueError):
        # There is no such file yet; whether there can be one is found out elsewhere.
        return set() if path == STREAM else {_real(path)}
    if path == STREAM:
        # Terminals and pipes can be read and written at once.
        return {(found.st_dev, found.st_ino)} if stat.S_ISREG(found.st_mode) else set()
    return {_real(path), (found.st_dev, found.st_ino)}


def _real(path: str) -> str:
    return os.path.normcase(os.path.realpath(path))


def check_output(path: Path | None, suffixes: Sequence[str], force: bool) -> None:
    """Refuse a file that cannot be written at the end.

    Raises
    ------
    SpecError
        If its suffix is unknown, it exists and `force` is not given, or it cannot be made.
    """
    if path is None:
        return
    if str(path) == STREAM and STREAM in suffixes:
        return
    if path.suffix.lower() not in suffixes:
        raise SpecError(f"'{path}' ends in '{path.suffix}'", f"known: {', '.join(suffixes)}")
    check_place(path)
    if path.is_dir():
        _refuse(path, errno.EISDIR)
    if os.path.lexists(path) and not force:
        raise SpecError(f"'{path}' exists", "overwrite it with --force")


def check_place(path: Path) -> None:
    """Refuse a file in a folder that is not there or cannot be written to, or with too long a name.

    Raises
    ------
    SpecError
        If it cannot be made.
    """
    try:
        os.lstat(path)
    except FileNotFoundError:
        if not path.parent.is_dir():
            raise SpecError(f"directory '{path.parent}' does not exist", "make it first") from None
    except OSError as problem:
        _refuse(path, problem.errno or 0)
    if not os.access(path.parent, os.W_OK):
        _refuse(path, errno.EACCES)


def _refuse(path: Path, number: int) -> None:
    problem = output_error(f"'{path}'", OSError(number, os.strerror(number)))
    raise SpecError(str(problem), problem.hint)
