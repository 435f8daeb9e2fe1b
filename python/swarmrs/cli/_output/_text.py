"""Lines for the terminal: what they hold of the user's data cannot steer it."""

import errno
import os
import sys
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from io import StringIO, TextIOWrapper
from tempfile import NamedTemporaryFile

from swarmrs._base._files import output_error
from swarmrs._base._messages import printable
from swarmrs.exceptions import OutputError

LABEL = 14


def line(label: str, value: str, width: int = LABEL) -> str:
    """Return a labelled line."""
    return f"{label:<{width}}{printable(value)}"


def aligned(rows: Sequence[Sequence[str]], right: Collection[int] = ()) -> list[str]:
    """Return rows of equal width, cells to the left but for some columns."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(
            f"{cell:>{width}}" if at in right else f"{cell:<{width}}"
            for at, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]


def complain(message: str, hint: str) -> None:
    """Print what is wrong and what to do about it."""
    _tell(f"error: {printable(message)}\nhint: {printable(hint)}")


def remark(is_quiet: bool = False, **messages: Iterable[str]) -> None:
    """Print what a reader of the result should know, by kind, unless nobody wants to."""
    for kind, texts in messages.items():
        for text in texts if not is_quiet else ():
            _tell(f"{kind}: {printable(text)}")


def _tell(text: str) -> None:
    # A remark that nobody can read must not cost the result.
    with suppress(OSError):
        print(text, file=sys.stderr, flush=True)


def deliver(text: str, end: str = "\n") -> None:
    """Print a result that took long to find; where it cannot be printed, keep it in a file.

    Raises
    ------
    OutputError
        If it was not printed; the hint says where it is.
    BrokenPipeError
        If whoever was to read it has gone.
    """
    try:
        print(text + end, end="", flush=True)
    except BrokenPipeError:
        raise
    except OSError as problem:
        mute_stdout()
        error = output_error("standard output", problem)
        raise OutputError(str(error), _keep(text + end)) from problem


class Attempts:
    """Outputs that are all tried, even if one of them cannot be written."""

    def __init__(self) -> None:
        self._problems: list[OutputError | BrokenPipeError] = []

    @contextmanager
    def attempt(self) -> Iterator[None]:
        """Go on if this one fails."""
        try:
            yield
        except (OutputError, BrokenPipeError) as problem:
            self._problems.append(problem)

    def settle(self) -> None:
        """Raise the first problem, the others having been said."""
        for problem in self._problems[1:]:
            if isinstance(problem, OutputError):
                complain(str(problem), str(problem.hint))
        if self._problems:
            raise self._problems[0]


def _keep(text: str) -> str:
    """Write a result to a new file, or else to stderr, and return a hint that says where it is."""
    try:
        with NamedTemporaryFile("w", prefix="swarmrs-", suffix=".txt", delete=False) as file:
            file.write(text)
    except OSError:
        _tell(text)
        return "the result is above this message"
    return f"the result is in '{file.name}'"


class _Closed(StringIO):
    """Standard output that is closed."""

    def write(self, text: str, /) -> int:
        raise OSError(errno.EBADF, "it is closed")


def mend_streams() -> None:
    """Have something to print to, and no character that cannot be printed."""
    # Python has None for a stream that was closed before it began.
    sys.stdout = sys.stdout or _Closed()
    sys.stderr = sys.stderr or _Closed()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def mute_stdout() -> None:
    """Let nothing more be printed: a stream that failed would fail again when Python ends."""
    with suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
