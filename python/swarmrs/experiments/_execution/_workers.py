"""Workers that run the cells of a comparison, whose results are stored as they arrive."""

import os
import platform
import queue
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from threading import Event
from typing import Protocol

from swarmrs._base._warnings import deferred_warnings
from swarmrs.experiments._design._cells import Cell, Data, Experiment
from swarmrs.experiments._execution._run_cell import Finished, run_cell
from swarmrs.experiments._execution._store import Store

# Seconds between checks for a signal or a lost cluster.
_POLL = 0.1


@dataclass(frozen=True)
class Progress:
    """The progress of a run.

    Attributes
    ----------
    done, failed, total : int
        The cells finished, those before this run included; those that failed in it; and all.
    seconds : float
        Since this run began.
    left : float or None
        The estimated seconds of the rest; None before any cell is finished.
    trouble : str or None
        Why no cell can finish at the moment, if so.
    """

    done: int
    failed: int
    total: int
    seconds: float
    left: float | None
    trouble: str | None = None


@dataclass
class Outcome:
    """The outcome of a run.

    Attributes
    ----------
    done : int
        The cells finished by it.
    failed : list of (Cell, str)
        Those that failed, and why.
    is_stopped : bool
        Whether it was stopped before all were tried.
    """

    done: int = 0
    failed: list[tuple[Cell, str]] = field(default_factory=list)
    is_stopped: bool = False


class Workers(Protocol):
    """Runs cells: on threads of this process, or on a cluster."""

    def capacity(self) -> int:
        """Return how many cells may run at once."""

    def submit(self, cell: Cell, n_left: int) -> str:
        """Start a cell, one of `n_left` not finished yet; return the name of its worker."""

    def next(self, timeout: float) -> Finished | None:
        """Return a cell that has finished, or None after `timeout` seconds."""

    def trouble(self) -> str | None:
        """Return why no cell can finish at the moment; None if they can."""

    def stop(self) -> None:
        """Stop all running cells soon, with or without a result."""


class Threads:
    """Runs cells on threads of this process: the engine releases the interpreter lock.

    Parameters
    ----------
    data : mapping of str to Data
        The tables, by name.
    experiment : Experiment
        The settings that all cells share.
    threads : int
        The number of threads; if there are fewer cells, each has several.
    memory : int
        Bytes for cached distances, of all cells together.
    """

    def __init__(
        self, data: Mapping[str, Data], experiment: Experiment, *, threads: int, memory: int
    ) -> None:
        self._data, self._experiment = data, experiment
        self._threads, self._memory = threads, memory
        self._finished: queue.SimpleQueue[Finished] = queue.SimpleQueue()
        self._is_stopped = Event()
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="cell")
        self._worker = f"{platform.node()}:{os.getpid()}"

    def capacity(self) -> int:
        """Return how many cells may run at once."""
        return self._threads

    def submit(self, cell: Cell, n_left: int) -> str:
        """Start a cell."""
        share = max(1, self._threads // n_left)
        self._pool.submit(self._run, cell, share)
        return self._worker

    def _run(self, cell: Cell, share: int) -> None:
        self._finished.put(
            run_cell(
                cell,
                self._data[cell.data].table,
                self._experiment,
                threads=share,
                memory=self._memory * share // self._threads,
                is_stopped=self._is_stopped.is_set,
            )
        )

    def next(self, timeout: float) -> Finished | None:
        """Return a cell that has finished, or None after `timeout` seconds."""
        try:
            return self._finished.get(timeout=timeout)
        except queue.Empty:
            return None

    def trouble(self) -> str | None:
        """Return None: threads are always there."""
        return None

    def stop(self) -> None:
        """Stop the running cells after their current iteration."""
        self._is_stopped.set()

    def __enter__(self) -> "Threads":
        """Return the workers themselves."""
        return self

    def __exit__(self, *_: object) -> None:
        """Stop the threads, their cells after the current iteration."""
        self.stop()
        self._pool.shutdown()


def run_cells(
    cells: Sequence[Cell],
    store: Store,
    workers: Workers,
    *,
    stop: Event,
    show: Callable[[Progress], None] = lambda _: None,
) -> Outcome:
    """Run the cells that are not done, and store each when it finishes.

    Parameters
    ----------
    cells : sequence of Cell
        The cells planned in the store.
    store : Store
        The store of results.
    workers : Workers
        The threads or the cluster.
    stop : Event
        When set, no further cell is started, and running ones are stopped. Their partial results
        are discarded: a result is complete or absent.
    show : callable
        Called with the progress, whenever a cell finishes and several times a second.
    """
    states, attempts = store.states(), store.attempts()
    # A cell that crashed a whole process comes last, after all that can be finished.
    todo = sorted(
        (cell for cell in cells if states[cell.key] != "done"),
        key=lambda cell: attempts[cell.key],
    )
    waiting = deque(todo)
    outcome, began, n_before = Outcome(), time.monotonic(), len(cells) - len(waiting)
    running: dict[str, Cell] = {}

    def report() -> None:
        n_finished, seconds = outcome.done + len(outcome.failed), time.monotonic() - began
        n_left = len(waiting) + len(running)
        left = seconds / n_finished * n_left if n_finished else None
        done, failed = n_before + outcome.done, len(outcome.failed)
        show(Progress(done, failed, len(cells), seconds, left, workers.trouble()))

    # Those of rare classes and the like repeat for each of thousands of cells.
    with deferred_warnings():
        try:
            while running or (waiting and not stop.is_set()):
                while waiting and not stop.is_set() and len(running) < workers.capacity():
                    cell = waiting.popleft()
                    running[cell.key] = cell
                    worker = workers.submit(cell, len(waiting) + len(running))
                    store.start(cell.key, worker)
                if stop.is_set():
                    workers.stop()
                finished = workers.next(_POLL)
                if finished is not None:
                    cell = running.pop(finished.key)
                    if finished.result is None and finished.error is None:
                        waiting.append(cell)
                    else:
                        store.finish(finished)
                        if finished.error is None:
                            outcome.done += 1
                        else:
                            outcome.failed.append((cell, finished.error))
                report()
        finally:
            workers.stop()
    order = {cell.key: at for at, cell in enumerate(cells)}
    outcome.failed.sort(key=lambda failure: order[failure[0].key])
    outcome.is_stopped = bool(waiting)
    return outcome
