"""Files that are written whole or not at all."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from swarmrs.exceptions import DataError


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """Give a file to write to that takes the place of `path` when it is complete.

    Raises
    ------
    DataError
        If it cannot be written.
    """
    part = path.with_name(f".{path.name}.part")
    try:
        yield part
        part.replace(path)
    except OSError as problem:
        part.unlink(missing_ok=True)
        raise DataError(f"'{path}' cannot be written: {problem.strerror or problem}") from problem
