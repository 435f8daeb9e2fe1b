"""One cell: a search on its training rows, and the selected features scored on its test rows."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import polars as pl

from swarmrs.data._table import Table
from swarmrs.evaluation._losses import SCORES
from swarmrs.evaluation._native import majority
from swarmrs.exceptions import NoFeaturesError, SwarmrsError
from swarmrs.experiments._design._cells import Cell, Experiment, canonical
from swarmrs.experiments._design._methods import ALL
from swarmrs.experiments._design._protocols import Division
from swarmrs.search._results._progress import Iteration
from swarmrs.search._results._selection import Seconds, Selection
from swarmrs.search._rows import side_by_side
from swarmrs.search._search import Search
from swarmrs.search._select import run_search
from swarmrs.search._validation._nested import own_scores, predict_one

# The scores on held-out rows that a result has.
TESTED = tuple(name for name in SCORES if name != "pooled_error")


@dataclass(frozen=True)
class Finished:
    """The outcome of a cell.

    Attributes
    ----------
    key : str
        Which cell.
    result : str or None
        The selection as canonical JSON; it depends on nothing but the cell.
    seconds : Seconds or None
        The time of the search.
    error : str or None
        Why it failed; with no result and no error it was stopped.
    """

    key: str
    result: str | None = None
    seconds: Seconds | None = None
    error: str | None = None


def run_cell(
    cell: Cell,
    table: Table,
    experiment: Experiment,
    *,
    threads: int = 1,
    memory: int = 2**30,
    is_stopped: Callable[[], bool] = lambda: False,
) -> Finished:
    """Run a cell; an exception is its outcome, too."""

    def callback(_: Iteration) -> bool:
        return is_stopped()

    try:
        seen, division = training_rows(cell, table, experiment)
        found = search(cell, seen, experiment, n_jobs=threads, memory=memory, callback=callback)
        if found.stop in ("callback", "interrupted"):
            return Finished(cell.key)
        test = None
        if division.test is not None:
            table, split = side_by_side(table, (division.train, division.test))
            scores: Mapping[str, float | None]
            if found.selected:
                scores = own_scores(table, split, found, experiment.test_metric)
            else:
                code = majority(table.codes[split[0]])
                scores = predict_one(table, split, code, found.scoring).scores
            test = {name: scores[name] for name in TESTED}
        return Finished(cell.key, _canonical(found, test), found.seconds)
    except SwarmrsError as problem:
        hint = f" ({problem.hint})" if problem.hint else ""
        return Finished(cell.key, error=f"{problem}{hint}")
    except BaseException as problem:
        # The run waits for every thread, so even a panic has to be an outcome.
        return Finished(cell.key, error=f"{type(problem).__name__}: {problem}")


def training_rows(cell: Cell, table: Table, experiment: Experiment) -> tuple[Table, Division]:
    """Return the training rows of a cell as a table, and its train/test split."""
    division = experiment.protocol.divide(table, cell.split_seed, cell.fold)
    seen = table if division.test is None else table.take(division.train)
    return seen.as_filled() if experiment.imputes_once else seen, division


def search(cell: Cell, seen: Table, experiment: Experiment, **run: Any) -> Selection:
    """Return the selection of the method of a cell on its training rows.

    Where no feature survives the prescreen it is empty, and the majority class is predicted.
    """
    seed = 0 if cell.algo == ALL else cell.seed
    params = json.loads(cell.params)
    settings = experiment.settings(cell.algo, params, random_state=seed, **run)
    try:
        return run_search(seen, settings)
    except NoFeaturesError as problem:
        return Search.of(settings.settle(seen), settings).majority(seed, problem)


def _canonical(found: Selection, test: dict[str, float | None] | None) -> str:
    """Return a selection and its scores on held-out rows as canonical JSON."""
    plain = {
        "selected": list(found.selected),
        "size": found.size,
        "cost": found.cost,
        "train": found.scores,
        "test": test,
        "evaluations": found.evaluations.total,
        "unique": found.evaluations.unique,
        "stop": found.stop,
        "trace": _steps(found.trace),
    }
    return canonical(plain)


def _steps(trace: pl.DataFrame) -> list[list[float]]:
    """Return the iterations at which the best changed, and the last one."""
    rows = trace.select("evaluations", "best_cost", "best_size").rows()
    return [
        list(row)
        for at, row in enumerate(rows)
        if at in (0, len(rows) - 1) or row[1:] != rows[at - 1][1:]
    ]
