"""The run of a comparison: cells out, results into the store as they come."""

import os
import platform
import queue
import time
import warnings
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from threading import Event
from typing import Protocol

from swarmrs.exceptions import SwarmrsWarning
from swarmrs.experiments._cells import Cell, Data, Experiment
from swarmrs.experiments._run_cell import Finished, run_cell
from swarmrs.experiments._store import Store

# How long a signal, or a cluster that is gone, may go unnoticed.
_HEED = 0.1


@dataclass(frozen=True)
class Progress:
    """How far a run is.

    Attributes
    ----------
    done, failed, total : int
        The cells finished, before this run too; those that failed in it; and all.
    seconds : float
        Since this run began.
    left : float or None
        The seconds that the rest will take, as it looks; None before any cell is finished.
    trouble : str or None
        What keeps cells from ending, if anything does.
    """

    done: int
    failed: int
    total: int
    seconds: float
    left: float | None
    trouble: str | None = None


@dataclass
class Outcome:
    """How a run ended.

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
    """Who runs cells: threads of this process, or a cluster."""

    def capacity(self) -> int:
        """Return how many cells may be under way at once."""

    def submit(self, cell: Cell, n_left: int) -> str:
        """Begin a cell, one of so many not finished yet; return who runs it."""

    def next(self, timeout: float) -> Finished | None:
        """Return a cell that has ended, or None after so many seconds."""

    def trouble(self) -> str | None:
        """Return what keeps cells from ending, if anything does."""

    def stop(self) -> None:
        """Have all cells under way end soon, with or without a result."""


class Threads:
    """Cells on threads of this process: the engine lets go of the interpreter.

    Parameters
    ----------
    data : mapping of str to Data
        The tables, by name.
    experiment : Experiment
        What all cells share.
    threads : int
        How many threads there are; where cells are fewer, each has several.
    memory : int
        Bytes for kept distances, of all cells together.
    """

    def __init__(
        self, data: Mapping[str, Data], experiment: Experiment, *, threads: int, memory: int
    ) -> None:
        self._data, self._experiment = data, experiment
        self._threads, self._memory = threads, memory
        self._ended: queue.SimpleQueue[Finished] = queue.SimpleQueue()
        self._is_stopped = Event()
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="cell")
        self._worker = f"{platform.node()}:{os.getpid()}"

    def capacity(self) -> int:
        """Return how many cells may be under way at once."""
        return self._threads

    def submit(self, cell: Cell, n_left: int) -> str:
        """Begin a cell."""
        share = max(1, self._threads // n_left)
        self._pool.submit(self._run, cell, share)
        return self._worker

    def _run(self, cell: Cell, share: int) -> None:
        self._ended.put(
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
        """Return a cell that has ended, or None after so many seconds."""
        try:
            return self._ended.get(timeout=timeout)
        except queue.Empty:
            return None

    def trouble(self) -> str | None:
        """Return nothing: threads are always there."""
        return None

    def stop(self) -> None:
        """Have the cells under way end after their iteration."""
        self._is_stopped.set()

    def __enter__(self) -> "Threads":
        """Return the workers themselves."""
        return self

    def __exit__(self, *_: object) -> None:
        """End the threads, their cells after their iteration."""
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
    """Run the cells that are not done, and store each as it ends.

    Parameters
    ----------
    cells : sequence of Cell
        What is planned in the store.
    store : Store
        Where results go.
    workers : Workers
        Who runs them.
    stop : Event
        When set, no cell is begun any more, and those under way are told to end. What they had
        found so far is not kept: a result is whole or absent.
    show : callable
        Told how far the run is, whenever a cell ends and several times a second besides.
    """
    states, attempts = store.states(), store.attempts()
    # A cell that took a whole process down with it comes last, after all that can be finished.
    todo = sorted(
        (cell for cell in cells if states[cell.key] != "done"),
        key=lambda cell: attempts[cell.key],
    )
    waiting = deque(todo)
    outcome, began, n_before = Outcome(), time.monotonic(), len(cells) - len(waiting)
    running: dict[str, Cell] = {}

    def report() -> None:
        ended, seconds = outcome.done + len(outcome.failed), time.monotonic() - began
        n_left = len(waiting) + len(running)
        left = seconds / ended * n_left if ended else None
        done, failed = n_before + outcome.done, len(outcome.failed)
        show(Progress(done, failed, len(cells), seconds, left, workers.trouble()))

    with warnings.catch_warnings():
        # Of rare classes and the like, the same for each of thousands of cells.
        warnings.simplefilter("ignore", SwarmrsWarning)
        try:
            while running or (waiting and not stop.is_set()):
                while waiting and not stop.is_set() and len(running) < workers.capacity():
                    cell = waiting.popleft()
                    running[cell.key] = cell
                    worker = workers.submit(cell, len(waiting) + len(running))
                    store.start(cell.key, worker)
                if stop.is_set():
                    workers.stop()
                ended = workers.next(_HEED)
                if ended is not None:
                    cell = running.pop(ended.key)
                    if ended.result is None and ended.error is None:
                        waiting.append(cell)
                    else:
                        store.finish(ended)
                        if ended.error is None:
                            outcome.done += 1
                        else:
                            outcome.failed.append((cell, ended.error))
                report()
        finally:
            workers.stop()
    order = {cell.key: at for at, cell in enumerate(cells)}
    outcome.failed.sort(key=lambda failure: order[failure[0].key])
    outcome.is_stopped = bool(waiting)
    return outcome
