"""The time and the memory of a comparison, before it is run."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from swarmrs.data._table import Table
from swarmrs.experiments._design._cells import Cell, Experiment
from swarmrs.experiments._execution._run_cell import search, training_rows
from swarmrs.search._results._progress import Iteration

# Seconds for all trials together, and for one at least.
_TRIALS = 20.0
_LEAST = 0.1


@dataclass(frozen=True)
class Estimate:
    """The cells of a comparison that are left, and what they take.

    Attributes
    ----------
    total, done, failed : int
        The cells of the plan, and those finished or failed before.
    seconds : float
        The approximate time of the rest on these threads.
    memory : int
        The peak memory of tables and cached distances in bytes, at most.
    """

    total: int
    done: int
    failed: int
    seconds: float
    memory: int


def estimate(
    cells: Sequence[Cell],
    tables: Mapping[str, Table],
    experiment: Experiment,
    finished: pl.DataFrame | None,
    states: Mapping[str, str],
    *,
    threads: int,
    memory: int,
) -> Estimate:
    """Estimate time and memory: from finished cells of the same kind, or else by short trials.

    Parameters
    ----------
    cells, tables, experiment
        Those of the plan; tables by name.
    finished : polars.DataFrame or None
        The cells of the store, if there is one.
    states : mapping of str to str
        Their states, by key.
    threads, memory : int
        The threads of the run, and its bytes for cached distances.
    """
    todo = [cell for cell in cells if states.get(cell.key) != "done"]
    kinds: dict[tuple[str, str], list[Cell]] = defaultdict(list)
    for cell in todo:
        kinds[cell.data, cell.method].append(cell)
    known = _known(finished)
    tried = [kind for kind in kinds if kind not in known]
    limit = max(_LEAST, _TRIALS / len(tried)) if tried else 0.0
    seconds = 0.0
    for kind, members in kinds.items():
        if (each := known.get(kind)) is None:
            each = _try(members[0], tables[members[0].data], experiment, limit)
        seconds += len(members) * each
    sizes = [table.x.nbytes for table in tables.values()]
    # A cell has its rows, their quantized values and, for the test, its scaled features.
    working = min(threads, max(len(todo), 1)) * 3 * max(sizes)
    return Estimate(
        total=len(cells),
        done=len(cells) - len(todo),
        failed=sum(states.get(cell.key) == "failed" for cell in todo),
        seconds=seconds / max(1, min(threads, len(todo))),
        memory=sum(sizes) + working + memory,
    )


def _known(finished: pl.DataFrame | None) -> dict[tuple[str, str], float]:
    """Return the mean seconds of finished cells by table and method."""
    if finished is None:
        return {}
    means = finished.drop_nulls("seconds").group_by("data", "method").agg(pl.col("seconds").mean())
    return {(data, method): seconds for data, method, seconds in means.rows()}


def _try(cell: Cell, table: Table, experiment: Experiment, limit: float) -> float:
    """Return the seconds of a cell, extrapolated from its first few."""
    seen, _ = training_rows(cell, table, experiment)
    last: list[Iteration] = []

    def callback(progress: Iteration) -> bool:
        last[:] = [progress]
        return progress["seconds"] > limit

    found = search(cell, seen, experiment, callback=callback)
    if found.stop != "callback":
        return found.seconds.total
    progress, n_features = last[0], seen.x.shape[1]
    # A search without a budget tries each feature at most once for each selected one.
    evaluations = progress["limit"] or n_features * (n_features + 1) / 2
    return progress["seconds"] * max(1.0, evaluations / progress["evaluations"])
