"""What a long run shows."""

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from swarmrs.search._results._progress import Iteration

EVERY = 30.0  # seconds between two lines


@contextmanager
def progress(is_wanted: bool) -> Iterator["Callable[[Iteration], None] | None"]:
    """Give what shows each iteration: a bar on a terminal, elsewhere a line now and then."""
    if not is_wanted:
        yield None
    elif sys.stderr.isatty() and os.environ.get("TERM") not in ("dumb", "unknown"):
        with _bar() as show:
            yield show
    else:
        yield Lines()


@contextmanager
def _bar() -> Iterator["Callable[[Iteration], None]"]:
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
        tally = Tally()

        def show(iteration: "Iteration") -> None:
            so_far = tally.count(iteration)
            found = _found(iteration, so_far)
            bar.update(task, total=so_far.limit, completed=so_far.evaluations, description=found)

        yield show


class SoFar(NamedTuple):
    """The evaluations of all searches, how many there will be if that is known, and the time."""

    evaluations: int
    limit: int | None
    seconds: float


class Tally:
    """Counts the evaluations of searches that tell of their iterations, one or several at once.

    Parameters
    ----------
    clock : callable
        Tells the seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._start = clock()
        self._evaluations: dict[int, int] = {}

    def count(self, iteration: "Iteration") -> SoFar:
        """Handle an iteration."""
        self._evaluations[iteration.get("run", 0)] = iteration["evaluations"]
        runs, limit = iteration.get("runs", 1), iteration["limit"]
        return SoFar(
            sum(self._evaluations.values()),
            None if limit is None else limit * runs,
            # One search knows itself how long it takes; several share the time.
            iteration["seconds"] if runs == 1 else self._clock() - self._start,
        )


class Lines:
    """Prints a line about an iteration if the last one is long ago.

    Parameters
    ----------
    clock : callable
        Tells the seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._tally = Tally()
        self._last = clock()

    def __call__(self, iteration: "Iteration") -> None:
        """Handle an iteration."""
        now, so_far = self._clock(), self._tally.count(iteration)
        if now - self._last >= EVERY:
            self._last = now
            of, left = "", ""
            if so_far.limit is not None:
                rest = so_far.seconds * (so_far.limit / so_far.evaluations - 1)
                of, left = f" of {so_far.limit}", f", {timedelta(seconds=round(rest))} left"
            done = f"{so_far.evaluations}{of} evaluations, {_found(iteration, so_far)}{left}"
            print(f"progress: {done}", file=sys.stderr, flush=True)


def _found(iteration: "Iteration", so_far: SoFar) -> str:
    """Say what the search has found, and how fast it is."""
    # A clock that has not moved yet says nothing about speed.
    rate = round(so_far.evaluations / so_far.seconds) if so_far.seconds else 0
    loss, error = iteration["best_loss"], iteration["best_error"]
    name = "error" if loss == error else "loss"
    return f"{name} {loss:.4f}, size {iteration['best_size']}, {rate}/s"
