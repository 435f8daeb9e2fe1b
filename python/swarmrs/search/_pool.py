"""Several searches at once, on the threads of one process."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from contextvars import ContextVar, copy_context
from queue import Empty, SimpleQueue
from threading import Lock, Thread
from typing import Generic, NamedTuple, Protocol, TypeAlias, TypeVar

from swarmrs import _swarmrs
from swarmrs.search._results._progress import Callback, Iteration


class Ended(Protocol):
    """The result of a job, with the reason for its end."""

    @property
    def stop(self) -> str:
        """Why it ended: one of `CUT` if it was stopped."""


Found = TypeVar("Found", bound=Ended)

# Searches on so many threads, and tells of its iterations.
Job: TypeAlias = Callable[[int, Callback], Found]

CUT = ("interrupted", "callback")
# Seconds that Ctrl-C may go unheard.
_HEED = 0.1

# Ends the searches of other threads when Ctrl-C arrives in the main one, which alone hears signals.
CANCEL: ContextVar[_swarmrs.Cancel | None] = ContextVar("CANCEL", default=None)


class Runs(NamedTuple, Generic[Found]):
    """What came of several searches.

    Attributes
    ----------
    done : list of results or None
        What each of them found, in its place, if it came to its end.
    cut : list of results
        What those found so far that did not.
    stop : str or None
        Why some did not come to their end: ``"interrupted"`` or ``"callback"``; None if all did.
    """

    done: list[Found | None]
    cut: list[Found]
    stop: str | None


def run_all(
    jobs: Sequence[Job[Found]], threads: int, at_once: bool, callback: Callback | None
) -> Runs[Found]:
    """Run searches, one after the other or as many at once as there are threads for.

    Each is as it would be alone. When one is stopped, by Ctrl-C or by `callback`, all are;
    `callback` hears of one iteration at a time, whichever search makes it.
    """
    workers = min(threads, len(jobs)) if at_once else 1
    is_halted, lock = False, Lock()

    def halt() -> None:
        nonlocal is_halted
        is_halted = True

    def work(number: int) -> Found | None:
        def watch(iteration: Iteration) -> bool:
            if callback is not None and not is_halted:
                # What runs here may be several itself.
                run, runs = iteration.get("run", 0), iteration.get("runs", 1)
                which, of = number * runs + run, len(jobs) * runs
                event: Iteration = {**iteration, "run": which, "runs": of}
                with lock:
                    if callback(event):
                        halt()
            return is_halted

        if is_halted:
            return None
        found = jobs[number](max(1, threads // workers), watch)
        if found.stop in CUT:
            halt()
        return found

    found: list[Found | None] = [None] * len(jobs)
    is_interrupted = False
    if workers == 1:
        try:
            for number in range(len(jobs)):
                found[number] = work(number)
        except KeyboardInterrupt:
            # It came between two runs, or before one had measured anything.
            is_interrupted = True
    else:
        # Searches within searches end with the outermost.
        cancel = CANCEL.get() or _swarmrs.Cancel()
        before = CANCEL.set(cancel)
        try:
            is_interrupted = _share(work, found, workers, halt, cancel)
        finally:
            CANCEL.reset(before)
    is_interrupted |= any(it is not None and it.stop == "interrupted" for it in found)
    cut = [it for it in found if it is not None and it.stop in CUT]
    done = [None if it is None or it.stop in CUT else it for it in found]
    stop = "interrupted" if is_interrupted else "callback"
    return Runs(done, cut, stop if None in done else None)


def _share(
    work: Callable[[int], Found | None],
    found: list[Found | None],
    workers: int,
    halt: Callable[[], None],
    cancel: _swarmrs.Cancel,
) -> bool:
    """Have threads do all the work, and tell whether Ctrl-C came; it ends what is not done yet.

    Python raises Ctrl-C in this thread, wherever it is. It must be in nothing then that leaves a
    lock behind, as a pool of `concurrent.futures` may: it waits at a queue that cannot, and counts
    what has ended, not how often it was woken.
    """
    numbers = iter(range(len(found)))
    ended: list[int] = []
    is_cut: list[int] = []
    problems: dict[int, BaseException] = {}
    bell: SimpleQueue[None] = SimpleQueue()

    def serve() -> None:
        for number in numbers:
            try:
                found[number] = work(number)
            except KeyboardInterrupt:
                halt()  # It was ended before it had measured anything.
                is_cut.append(number)
            except BaseException as problem:
                halt()
                problems[number] = problem
            ended.append(number)
            bell.put(None)

    is_interrupted = False
    try:
        for _ in range(workers):
            Thread(target=copy_context().run, args=(serve,), daemon=True).start()
        while len(ended) < len(found):
            # A signal that arrives just before the wait does not end it: Python looks after it.
            with suppress(Empty):
                bell.get(timeout=_HEED)
    except KeyboardInterrupt:
        is_interrupted = True
        halt()
        cancel.request()
        # However many threads had begun, what is not begun yet ends here, undone.
        serve()
        while len(ended) < len(found):
            bell.get()
    if problems:
        raise problems[min(problems)]
    return is_interrupted or bool(is_cut)
