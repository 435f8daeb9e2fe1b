"""What a comparison will take, before it is begun."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

import polars as pl

from swarmrs.experiments._cells import Cell
from swarmrs.experiments._compare import Plan
from swarmrs.experiments._measure import parts, search
from swarmrs.search._progress import Iteration

# Seconds for all trials together, and for one at least.
_TRIALS = 20.0
_LEAST = 0.1


@dataclass(frozen=True)
class Estimate:
    """What is left to do.

    Attributes
    ----------
    total, done, failed : int
        The cells of the plan, and those finished or failed before.
    seconds : float
        What the rest will take on these threads, about.
    memory : int
        The bytes that tables and kept distances may take at once, at most.
    """

    total: int
    done: int
    failed: int
    seconds: float
    memory: int


def estimate(
    planned: Plan,
    cells: pl.DataFrame | None,
    states: Mapping[str, str],
    *,
    threads: int,
    memory: int,
) -> Estimate:
    """Estimate time and memory: by finished cells of the same kind, or else by short trials.

    Parameters
    ----------
    planned : Plan
        What is to be done.
    cells : polars.DataFrame or None
        The cells of the store, if there is one.
    states : mapping of str to str
        Their states, by key.
    threads, memory : int
        What the run will have.
    """
    todo = [cell for cell in planned.cells if states.get(cell.key) != "done"]
    kinds: dict[tuple[str, str], list[Cell]] = defaultdict(list)
    for cell in todo:
        kinds[cell.data, cell.method].append(cell)
    known = _known(cells)
    tried = [kind for kind in kinds if kind not in known]
    limit = max(_LEAST, _TRIALS / len(tried)) if tried else 0.0
    seconds = sum(
        len(members) * (known[kind] if kind in known else _try(planned, members[0], limit))
        for kind, members in kinds.items()
    )
    tables = sum(table.table.x.nbytes for table in planned.data)
    largest = max(table.table.x.nbytes for table in planned.data)
    # A cell has its rows, their grid and, for the test, its columns scaled.
    working = min(threads, max(len(todo), 1)) * 3 * largest
    return Estimate(
        total=len(planned.cells),
        done=len(planned.cells) - len(todo),
        failed=sum(states.get(cell.key) == "failed" for cell in todo),
        seconds=seconds / max(1, min(threads, len(todo))),
        memory=tables + working + memory,
    )


def _known(cells: pl.DataFrame | None) -> dict[tuple[str, str], float]:
    if cells is None:
        return {}
    means = cells.drop_nulls("seconds").group_by("data", "method").agg(pl.col("seconds").mean())
    return {(data, method): seconds for data, method, seconds in means.rows()}


def _try(planned: Plan, cell: Cell, limit: float) -> float:
    """Return the seconds of a cell, from what it does in the first few."""
    table = next(it.table for it in planned.data if it.name == cell.data)
    seen, _ = parts(cell, table, planned.experiment)
    last: list[Iteration] = []

    def callback(iteration: Iteration) -> bool:
        last[:] = [iteration]
        return iteration["seconds"] > limit

    found = search(cell, seen, planned.experiment, callback=callback)
    if found.stop != "callback":
        return found.seconds.total
    iteration, n_features = last[0], seen.x.shape[1]
    # A search that ends by itself tries each feature at most once for each that is in.
    evaluations = iteration["limit"] or n_features * (n_features + 1) / 2
    return iteration["seconds"] * max(1.0, evaluations / iteration["evaluations"])
