"""What a comparison shows while it runs, and how it is stopped."""

import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event
from types import FrameType
from typing import TYPE_CHECKING

from swarmrs.cli._progress import EVERY
from swarmrs.cli._signals import INTERRUPTED, TERMINATED

if TYPE_CHECKING:
    from swarmrs.experiments._run import Progress


class Stopping:
    """Lets the first Ctrl-C or SIGTERM ask a run to stop, and the second end it at once.

    Attributes
    ----------
    stop : Event
        Set when it is to stop.
    code : int
        The exit code then.
    """

    def __init__(self) -> None:
        self.stop, self.code = Event(), INTERRUPTED

    def __enter__(self) -> "Stopping":
        """Take over both signals."""
        self._before = {
            number: signal.signal(number, self._heard) for number in (signal.SIGINT, signal.SIGTERM)
        }
        return self

    def __exit__(self, *_: object) -> None:
        """Give them back."""
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _heard(self, number: int, _frame: FrameType | None) -> None:
        self.code = TERMINATED if number == signal.SIGTERM else INTERRUPTED
        if self.stop.is_set():
            # Nothing is lost: the store is whole after every cell. A bar has hidden the cursor.
            if sys.stderr.isatty():
                os.write(2, b"\x1b[?25h")
            os._exit(self.code)
        self.stop.set()
        os.write(2, b"\nstopping; once more ends at once\n")


@contextmanager
def cells_progress(is_wanted: bool) -> Iterator["Callable[[Progress], None] | None"]:
    """Give what shows how far a comparison is: a bar on a terminal, else a line now and then."""
    if not is_wanted:
        yield None
        return
    if not sys.stderr.isatty():
        yield _Lines()
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn
    from rich.progress import Progress as Bars

    columns = (BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[told]}"))
    with Bars(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=None, told="")

        def show(progress: "Progress") -> None:
            told = ", ".join(_state(progress)[1:])
            ended = progress.done + progress.failed
            bar.update(task, total=progress.total, completed=ended, told=told)

        yield show


class _Lines:
    """Prints a line every half minute."""

    def __init__(self) -> None:
        self._told = time.monotonic()

    def __call__(self, progress: "Progress") -> None:
        if time.monotonic() - self._told >= EVERY:
            self._told = time.monotonic()
            print(", ".join(_state(progress)), file=sys.stderr, flush=True)


def _state(progress: "Progress") -> list[str]:
    told = [f"{progress.done + progress.failed} of {progress.total} cells"]
    if progress.failed:
        told.append(f"{progress.failed} failed")
    if progress.left is not None:
        told.append(f"about {spoken(progress.left)} left")
    return told + ([progress.trouble] if progress.trouble else [])


def spoken(seconds: float) -> str:
    """Say how long something takes.

    Examples
    --------
    >>> spoken(42), spoken(170), spoken(9000)
    ('42 s', '3 min', '2.5 h')
    """
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"
