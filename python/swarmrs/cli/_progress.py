"""What a long run shows, and how it is stopped."""

import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from swarmrs._search import Turn

INTERRUPTED, TERMINATED = 130, 143


class Interrupts:
    """Lets SIGTERM end a run as Ctrl-C does, with the best so far, and knows which it was.

    Attributes
    ----------
    code : int
        The exit code if the run was interrupted.
    """

    def __init__(self) -> None:
        self.code = INTERRUPTED

    def __enter__(self) -> "Interrupts":
        """Take over SIGTERM."""
        self._before = signal.signal(signal.SIGTERM, self._terminate)
        return self

    def __exit__(self, *_: object) -> None:
        """Give SIGTERM back."""
        signal.signal(signal.SIGTERM, self._before)

    def _terminate(self, _signal: int, _frame: FrameType | None) -> None:
        self.code = TERMINATED
        raise KeyboardInterrupt


@contextmanager
def progress(is_wanted: bool) -> Iterator["Callable[[Turn], None] | None"]:
    """Give what shows each turn on a terminal, and nothing where there is none."""
    if not (is_wanted and sys.stderr.isatty()):
        yield None
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    columns = (
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        TextColumn("error {task.fields[error]:.4f}  size {task.fields[size]}"),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=None, error=1.0, size=0)
        asked: dict[int, int] = {}

        def show(turn: "Turn") -> None:
            asked[turn.get("run", 0)] = turn["asked"]
            limit = turn["limit"]
            bar.update(
                task,
                total=None if limit is None else limit * turn.get("runs", 1),
                completed=sum(asked.values()),
                error=turn["best_error"],
                size=turn["best_size"],
            )

        yield show
