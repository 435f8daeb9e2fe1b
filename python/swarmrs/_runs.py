"""Several searches at once, on the threads of one process."""

from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from threading import Event, Lock
from typing import NamedTuple, TypeAlias

from swarmrs._selection import Selection
from swarmrs._watch import OnTurn, Turn

# Searches on so many threads, and tells of its turns.
Job: TypeAlias = Callable[[int, OnTurn], Selection]

CUT = ("interrupted", "stopped")


class Runs(NamedTuple):
    """What came of several searches.

    Attributes
    ----------
    done : list of Selection or None
        What each of them found, in its place, if it came to its end.
    cut : list of Selection
        What those found so far that did not.
    stop : str or None
        Why some did not come to their end: ``"interrupted"`` or ``"stopped"``; None if all did.
    """

    done: list[Selection | None]
    cut: list[Selection]
    stop: str | None


def run_all(jobs: Sequence[Job], threads: int, at_once: bool, on_turn: OnTurn | None) -> Runs:
    """Run searches, one after the other or as many at once as there are threads for.

    Each is as it would be alone. When one is stopped, by Ctrl-C or by `on_turn`, all are; `on_turn`
    is told of one turn at a time, whichever search makes it.
    """
    workers = min(threads, len(jobs)) if at_once else 1
    halt, lock = Event(), Lock()

    def work(number: int) -> Selection | None:
        def watch(turn: Turn) -> bool:
            if on_turn is not None and not halt.is_set():
                # What runs here may be several itself.
                run, runs = turn.get("run", 0), turn.get("runs", 1)
                told: Turn = {**turn, "run": number * runs + run, "runs": len(jobs) * runs}
                with lock:
                    if on_turn(told):
                        halt.set()
            return halt.is_set()

        if halt.is_set():
            return None
        found = jobs[number](max(1, threads // workers), watch)
        if found.stop in CUT:
            halt.set()
        return found

    found: list[Selection | None] = []
    is_interrupted = False
    if workers == 1:
        try:
            for number in range(len(jobs)):
                found.append(work(number))
        except KeyboardInterrupt:
            # It came between two runs, or before one had measured anything.
            is_interrupted = True
    else:
        with ThreadPoolExecutor(workers) as pool:
            futures: list[Future[Selection | None]] = []
            try:
                for number in range(len(jobs)):
                    futures.append(pool.submit(work, number))
                wait(futures, return_when=FIRST_EXCEPTION)
            except KeyboardInterrupt:
                # The engine hears of it in no thread but this one.
                is_interrupted = True
            halt.set()
        found = [future.result() for future in futures]
    found += [None] * (len(jobs) - len(found))
    is_interrupted |= any(it is not None and it.stop == "interrupted" for it in found)
    cut = [it for it in found if it is not None and it.stop in CUT]
    done = [None if it is None or it.stop in CUT else it for it in found]
    stop = "interrupted" if is_interrupted else "stopped"
    return Runs(done, cut, stop if None in done else None)
