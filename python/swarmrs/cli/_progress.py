"""What a long run shows, and how it is stopped."""

import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from types import FrameType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from swarmrs._watch import Turn

INTERRUPTED, TERMINATED = 130, 143
EVERY = 30.0  # seconds between two lines


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
    """Give what shows each turn: a bar on a terminal, elsewhere a line now and then."""
    if not is_wanted:
        yield None
    elif sys.stderr.isatty() and os.environ.get("TERM") not in ("dumb", "unknown"):
        with _bar() as show:
            yield show
    else:
        yield Lines()


@contextmanager
def _bar() -> Iterator["Callable[[Turn], None]"]:
    # rich itself heeds NO_COLOR.
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    columns = (
        BarColumn(bar_width=20),
        MofNCompleteColumn(),
        TextColumn("{task.description}"),
        TimeRemainingColumn(compact=True),
        TextColumn("left"),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=None)

        def show(turn: "Turn") -> None:
            bar.update(task, total=turn["limit"], completed=turn["asked"], description=_found(turn))

        yield show


class Lines:
    """Prints a line about a turn if the last one is long ago.

    Parameters
    ----------
    clock : callable
        Tells the seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._last = clock()

    def __call__(self, turn: "Turn") -> None:
        """Be told of a turn."""
        now = self._clock()
        if now - self._last >= EVERY:
            self._last = now
            of, left = "", ""
            if turn["limit"] is not None:
                rest = turn["seconds"] * (turn["limit"] / turn["asked"] - 1)
                of, left = f" of {turn['limit']}", f", {timedelta(seconds=round(rest))} left"
            done = f"{turn['asked']}{of} evaluations, {_found(turn)}{left}"
            print(f"progress: {done}", file=sys.stderr, flush=True)


def _found(turn: "Turn") -> str:
    """Say what the search has found, and how fast it is."""
    # A clock that has not moved yet says nothing about speed.
    rate = round(turn["asked"] / turn["seconds"]) if turn["seconds"] else 0
    return f"error {turn['best_error']:.4f}, size {turn['best_size']}, {rate}/s"
