"""The work of the ledger: the searches of all studies, run breadth first, and run again."""

import hashlib
import json
import os
import random
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from threading import Event

from swarmrs._base._warnings import deferred_warnings
from swarmrs.exceptions import SpecError
from swarmrs.experiments._analysis._frame import frame_of
from swarmrs.experiments._design._cells import Cell, list_cells
from swarmrs.experiments._execution._run_cell import Finished, run_cell
from swarmrs.experiments._papers import PAPERS
from swarmrs.experiments._papers._data import find_sources
from swarmrs.experiments._papers._ledger._file import Entry, Ledger, pack
from swarmrs.experiments._papers._paper import Paper, Setup, choose
from swarmrs.experiments._papers._reproduce import plan_of, setups_of
from swarmrs.experiments._papers._values import facts, quantities
from swarmrs.experiments._plan import Plan

# No paper publishes its train/test split or its folds, so runs take turns on so many.
DEALS = 5
# Readings that no table has are run once, in the second pass: their sizes differ by factors.
_READING_RUNS, _READING_TURN = 1, 2
# Seconds of a search for each of its features and squared rows; the order of a first pass.
_PACE = 2e-8


def deals_of(setup: Setup) -> int:
    """Return how many deals of the rows the runs of a setup take turns on.

    Train/test splits where rows are held out, else the folds of the search; leave-one-out has one.
    """
    return 1 if setup.protocol == "loo" else DEALS


def deal_of(run: int, n_deals: int) -> int:
    """Return the deal of a run, both counted from 1."""
    return (run - 1) % n_deals + 1


@dataclass(frozen=True)
class Job:
    """A search of the ledger.

    Attributes
    ----------
    id : str
        The cell of its entry.
    turn : int
        The pass over all methods that it belongs to.
    cell : Cell
        The search.
    plan, paper, setup
        Where it is from.
    """

    id: str
    turn: int
    cell: Cell
    plan: Plan
    paper: Paper
    setup: Setup

    @property
    def kind(self) -> str:
        """The method on the data set, without deal, seed and fold."""
        return kind_of(self.id)

    def is_done(self, ledger: Ledger) -> bool:
        """Whether the ledger has it, of this version of settings, data and engine."""
        entry = ledger.entries.get(self.id)
        return entry is not None and entry.key == self._key

    @property
    def _key(self) -> str:
        return self.cell.key[:16]

    def run(self, *, threads: int = 1, is_stopped: Callable[[], bool] = lambda: False) -> Finished:
        """Run the search."""
        table = self.plan.data[0].table
        return run_cell(
            self.cell, table, self.plan.experiment, threads=threads, is_stopped=is_stopped
        )

    def entry(self, finished: Finished, elapsed: float = 0.0, cpu_share: float = 1.0) -> Entry:
        """Return a finished search as an entry: what its figures are computed from.

        Its times are those by the clock, `elapsed` the one of all, times the share of it that the
        processor worked.
        """
        assert finished.result is not None, "it has not failed"
        assert finished.seconds is not None, "it was timed"
        cell, found = self.cell, json.loads(finished.result)
        search, evaluate, seconds = finished.seconds
        row = {name: getattr(cell, name) for name in Cell.__slots__} | {
            "state": "done",
            "error": None,
            "result_json": finished.result,
            "seconds_search": search,
            "seconds_evaluate": evaluate,
            "seconds": seconds,
            "n_features": self.plan.data[0].table.x.shape[1],
        }
        on_training = any(
            table.tested == "train_accuracy" and self.setup in table.setups
            for table in self.paper.tables
        )
        frame = frame_of([row], self.plan.experiment.to_dict())
        handling = self.paper.handle(cell.data)
        of = quantities(frame, self.plan, self.setup, handling, on_training=on_training).row(
            0, named=True
        )
        return Entry(
            self.id,
            self._key,
            of["size"],
            of["error"],
            of["accuracy"],
            of.get("train_accuracy"),
            of["evaluations"],
            of["unique"],
            round(search * cpu_share, 6),
            round(evaluate * cpu_share, 6),
            int(time.time()),
            hashlib.blake2b(finished.result.encode(), digest_size=8).hexdigest(),
            pack(found["selected"], self.plan.data[0].table.names),
            round(elapsed, 3),
        )


def kind_of(cell: str) -> str:
    """Return study, setup, data set and method of a cell."""
    return cell.rsplit("/", 3)[0]


def plan_work(
    studies: Sequence[str],
    data_dir: str | os.PathLike[str] | None,
    ledger: Ledger,
    *,
    datasets: Sequence[str] | None = None,
) -> list[Job]:
    """Return all searches of some studies; facts of data sets that the ledger lacks are added."""
    jobs: list[Job] = []
    for name in studies:
        paper = PAPERS[name]
        known = choose(None, paper.tables)
        wanted = [data for data in known if datasets is None or data in datasets]
        if not wanted:
            continue
        sources, _ = find_sources(paper, wanted, data_dir=data_dir, fetch=False, must_exist=False)
        setups = [(setup, methods, paper.runs) for setup, methods in setups_of(paper.tables)]
        setups += [(setup, list(setup.methods), _READING_RUNS) for setup in paper.readings]
        for setup, methods, runs in setups:
            for data, source in sources.items():
                plan = plan_of(paper, setup, methods, {data: source}, runs=runs)
                for deal in range(1, DEALS + 1):
                    which = key_of_facts(f"{name}/{data}", deal)
                    if which not in ledger.facts and (found := _facts(paper, plan, deal)):
                        ledger.add({which: found})
                jobs += _jobs(paper, setup, plan, runs)
    return jobs


def key_of_facts(data: str, deal: int) -> str:
    """Return the key of the facts about a data set on one deal of its folds."""
    return data if deal == 1 else f"{data}/{deal}"


def _facts(paper: Paper, plan: Plan, deal: int) -> dict[str, float]:
    """Return what tables about data sets have on one of them, and its number of features.

    Of a further deal, only what depends on folds.
    """
    data, handling = plan.data[0], paper.handle(plan.data[0].name)
    wanted = {
        figure
        for table in paper.tables
        if not table.setups
        for figure in table.published.get((data.name, ""), ())
    }
    if deal > 1 and not any(figure.startswith("all_error") for figure in wanted):
        return {}
    if deal == 1:
        return facts(data.table.as_filled(), handling, wanted)
    found = facts(data.table.as_filled(), handling, wanted - {"groups"}, cv_seed=deal - 1)
    return {name: value for name, value in found.items() if name.startswith("all_error")}


def _jobs(paper: Paper, setup: Setup, plan: Plan, runs: int) -> Iterator[Job]:
    n_deals, study = deals_of(setup), f"{paper.name}/{setup.name}"
    is_random = {method.label: method.is_random for method in plan.methods}
    for deal in range(1, n_deals + 1):
        experiment = plan.experiment
        if experiment.protocol.holds_out:
            experiment = replace(experiment, split_seed=deal)
        elif n_deals > 1:
            options = {**experiment.options, "cv_seed": deal - 1}
            experiment = replace(experiment, options=options)
        dealt = replace(plan, experiment=experiment)
        for cell in list_cells(plan.data, plan.methods, runs, experiment):
            if not is_random[cell.method]:
                turn = deal
            elif deal_of(cell.run, n_deals) == deal:
                turn = cell.run
            else:
                continue
            if setup in paper.readings:
                turn = _READING_TURN
            where = f"{study}/{cell.data}/{cell.method}/{deal}/{cell.seed}/{cell.fold}"
            yield Job(where, turn, cell, dealt, paper, setup)


def in_order(jobs: Sequence[Job], ledger: Ledger) -> list[Job]:
    """Return the searches that are not done, so that all methods get the same share of the time.

    The next one is of the method on a data set whose runs, with that one, have cost the least: each
    has its first run before any has many, the cheap ones are complete first, and the costly ones
    have fewer runs where the time ends. What is known takes as long as its searches in the ledger,
    what is not as its data set suggests.
    """
    times: dict[str, list[float]] = defaultdict(list)
    for entry in ledger.entries.values():
        times[kind_of(entry.cell)].append(entry.seconds)

    def cost(job: Job) -> float:
        rows, features = job.plan.data[0].table.x.shape
        n_folds = job.plan.experiment.protocol.n_folds
        known = times.get(job.kind)
        return n_folds * (sum(known) / len(known) if known else _PACE * rows**2 * features)

    costs = {kind: cost(job) for kind, job in {job.kind: job for job in jobs}.items()}
    missing = (job for job in jobs if not job.is_done(ledger))
    # The turns of deterministic methods are their deals.
    return sorted(
        missing,
        key=lambda job: (job.turn * costs[job.kind], job.kind, job.turn, job.cell.fold),
    )


def complete(
    jobs: Sequence[Job],
    ledger: Ledger,
    *,
    workers: int = 1,
    hours: float | None = None,
    show: Callable[[str], None] = lambda _: None,
) -> list[str]:
    """Run searches in their order until all are done or the time is over; return what failed.

    Searches that run when the time is over are finished; those that an interrupt stops are not
    kept.
    """
    until = None if hours is None else time.monotonic() + 3600 * hours
    failed: list[str] = []
    stop, n_done = Event(), 0
    waiting = iter(jobs)

    def work(job: Job) -> tuple[Job, Finished, Entry | None]:
        start, cpu = time.perf_counter(), time.process_time()
        finished = job.run(is_stopped=stop.is_set)
        if finished.result is None:
            return job, finished, None
        elapsed = time.perf_counter() - start
        # A search has a thread of its own; those that run at the same time share alike.
        worked = (time.process_time() - cpu) / (workers * elapsed)
        return job, finished, job.entry(finished, elapsed, min(worked, 1.0))

    with deferred_warnings(), ThreadPoolExecutor(workers) as pool:
        running: set[Future[tuple[Job, Finished, Entry | None]]] = set()
        try:
            while True:
                while len(running) < workers and (until is None or time.monotonic() < until):
                    job = next(waiting, None)
                    if job is None:
                        break
                    running.add(pool.submit(work, job))
                if not running:
                    return failed
                done, running = wait(running, return_when=FIRST_COMPLETED)
                for job, finished, entry in (future.result() for future in done):
                    n_done += 1
                    if entry is not None:
                        ledger.add(entry)
                    elif finished.error is not None:
                        failed.append(f"{job.id}: {finished.error}")
                    show(f"{n_done}/{len(jobs)} {job.id}")
        finally:
            stop.set()


def check(
    ledger: Ledger,
    data_dir: str | os.PathLike[str] | None,
    *,
    begins: str = "",
    cells: int | None = None,
    seed: int = 1,
) -> Iterator[tuple[str, list[bool]]]:
    """Run searches of the ledger again, on one and on two threads; yield which are the same.

    Parameters
    ----------
    ledger : Ledger
        Their entries.
    data_dir : path or None
        The folder of the data sets.
    begins : str
        How their cells begin.
    cells : int, optional
        So many are chosen at random; by default all are run.
    seed : int
        Fixes the choice.

    Raises
    ------
    SpecError
        If the ledger has none of them, or one that cannot be run.
    """
    stored = sorted(cell for cell in ledger.entries if cell.startswith(begins))
    if not stored:
        raise SpecError("the ledger has no such cell", "run it first")
    if cells is not None:
        stored = sorted(random.Random(seed).sample(stored, min(cells, len(stored))))
    jobs: dict[str, Job] = {}
    with deferred_warnings():
        for cell in stored:
            if cell not in jobs:
                study, _, data, *_ = cell.split("/")
                jobs = {
                    job.id: job for job in plan_work([study], data_dir, ledger, datasets=[data])
                }
            if cell not in jobs:
                raise SpecError(f"'{cell}' cannot be run", "its data set or its method is missing")
            again = [jobs[cell].run(threads=threads) for threads in (1, 2)]
            kept = ledger.entries[cell]
            yield (
                cell,
                [it.result is not None and jobs[cell].entry(it).is_same(kept) for it in again],
            )
