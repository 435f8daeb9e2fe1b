"""Progress of a comparison, and how signals stop it."""

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event
from types import FrameType
from typing import TYPE_CHECKING

from swarmrs.cli._output._progress import EVERY
from swarmrs.cli._signals import Interrupts, code_of

if TYPE_CHECKING:
    from swarmrs.experiments import Progress


class Stopping(Interrupts):
    """Stops a run on the first Ctrl-C or SIGTERM, and ends the process on the second.

    Attributes
    ----------
    stop : Event
        Set by the first signal.
    """

    def __init__(self) -> None:
        super().__init__()
        self.stop = Event()

    def _heard(self, number: int, _frame: FrameType | None) -> None:
        self.code = code_of(number)
        if self.stop.is_set():
            # The store is consistent after every cell. A bar has hidden the cursor.
            if sys.stderr.isatty():
                os.write(2, b"\x1b[?25h")
            os._exit(self.code)
        self.stop.set()
        os.write(2, b"\nstopping; press again to exit at once\n")


@contextmanager
def cells_progress(is_wanted: bool) -> Iterator["Callable[[Progress], None] | None"]:
    """Yield a function that shows the progress: a bar on a terminal, else a line now and then."""
    if not is_wanted:
        yield None
        return
    if not sys.stderr.isatty():
        yield _Lines()
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn
    from rich.progress import Progress as Bars

    columns = (BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[state]}"))
    with Bars(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=None, state="")

        def show(progress: "Progress") -> None:
            state = ", ".join(_state(progress)[1:])
            ended = progress.done + progress.failed
            bar.update(task, total=progress.total, completed=ended, state=state)

        yield show


class _Lines:
    """Prints a line every half minute."""

    def __init__(self) -> None:
        self._printed = time.monotonic()

    def __call__(self, progress: "Progress") -> None:
        if time.monotonic() - self._printed >= EVERY:
            self._printed = time.monotonic()
            print(", ".join(_state(progress)), file=sys.stderr, flush=True)


def _state(progress: "Progress") -> list[str]:
    parts = [f"{progress.done + progress.failed} of {progress.total} cells"]
    if progress.failed:
        parts.append(f"{progress.failed} failed")
    if progress.left is not None:
        parts.append(f"about {duration(progress.left)} left")
    return parts + ([progress.trouble] if progress.trouble else [])


def duration(seconds: float) -> str:
    """Return a time span as text.

    Examples
    --------
    >>> duration(42), duration(170), duration(9000)
    ('42 s', '3 min', '2.5 h')
    """
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"
