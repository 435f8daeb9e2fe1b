"""One cell: a search on the rows it may see, and its answer tried on the others."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import polars as pl

from swarmrs._base._messages import Setting
from swarmrs.data._table import Table
from swarmrs.evaluation._native import majority
from swarmrs.exceptions import NoFeaturesError, SwarmrsError
from swarmrs.experiments._cells import Cell, Experiment, canonical
from swarmrs.experiments._methods import ALL
from swarmrs.experiments._protocols import Division
from swarmrs.search._nested import own_scores, predict_one, side_by_side
from swarmrs.search._progress import Iteration
from swarmrs.search._results import Seconds, Selection
from swarmrs.search._search import Search
from swarmrs.search._select import select
from swarmrs.search._settings import Settings

# What is told of rows held out.
_TESTED = (
    "error",
    "accuracy",
    "balanced_accuracy",
    "ovr_accuracy",
    "f1_macro",
    "matthews_corrcoef",
)

# What `all` has no use for: it chooses nothing.
_OF_A_SEARCH = ("max_evals", "iterations", "max_features", "prescreen", "groups", "pick")


@dataclass(frozen=True)
class Finished:
    """What became of a cell.

    Attributes
    ----------
    key : str
        Which cell.
    result : str or None
        What was found, as canonical JSON; it depends on nothing but the cell.
    seconds : Seconds or None
        What it took.
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
    """Run a cell; whatever it raises is its result."""

    def callback(_: Iteration) -> bool:
        return is_stopped()

    try:
        seen, division = parts(cell, table, experiment)
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
            test = {name: scores[name] for name in _TESTED}
        return Finished(cell.key, _canonical(found, test), found.seconds)
    except SwarmrsError as problem:
        hint = f" ({problem.hint})" if problem.hint else ""
        return Finished(cell.key, error=f"{problem}{hint}")
    except BaseException as problem:
        # A thread that ended without a word would be waited for: even a panic is told.
        return Finished(cell.key, error=f"{type(problem).__name__}: {problem}")


def parts(cell: Cell, table: Table, experiment: Experiment) -> tuple[Table, Division]:
    """Return the rows of a table that a search may see, and who is who."""
    division = experiment.protocol.divide(table, cell.split_seed, cell.fold)
    seen = table if division.test is None else table.take(division.train)
    return seen.as_filled() if experiment.fills_once else seen, division


def search(cell: Cell, seen: Table, experiment: Experiment, **how: Any) -> Selection:
    """Return what the method of a cell finds in the rows it may see.

    Where no feature survives the prescreen, that is none, and the majority class is predicted.
    """
    seed = 0 if cell.algo == ALL else cell.seed
    asked = keywords(cell.algo, json.loads(cell.params), experiment)
    try:
        return select(seen, random_state=seed, **asked, **how)
    except NoFeaturesError as problem:
        said = Settings(**asked)
        return Search.of(said.settle(seen), said).majority(seed, problem)


def keywords(algo: str, params: Mapping[str, Setting], experiment: Experiment) -> dict[str, Any]:
    """Return what fixes a search of a method but its rows and its seed, as keywords of `select`."""
    settings = experiment.settings_of(algo)
    if algo != ALL:
        return {**settings, "algo": algo, "params": params}
    kept = {name: value for name, value in settings.items() if name not in _OF_A_SEARCH}
    # A backward search evaluates all features first, and this one has no second iteration.
    return {**kept, "algo": "gsbs", "max_evals": 1, "constant": "keep"}


def _canonical(found: Selection, test: dict[str, float | None] | None) -> str:
    """Return what was found as JSON of which there is one only."""
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
