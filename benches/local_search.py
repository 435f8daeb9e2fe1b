"""What incremental sums save local search: `.venv/bin/python benches/local_search.py [TABLE...]`.

A `vlpso-ls` with the preset tran2019 is run once on all rows of each table. Its subsets are then
evaluated again, iteration by iteration, and the element operations counted: those of the iterations
that move the swarm, and those of the iterations that try changes of its bests.
"""

import sys
import warnings
from pathlib import Path

import numpy as np
import polars as pl
from sklearn.neighbors import KNeighborsClassifier
from swarmrs import Evaluator, select
from swarmrs.exceptions import SwarmrsWarning
from tables import path_of

TABLES = ["srbct", "leukemia1", "dlbcl", "9tumor", "brain_tumor1", "brain_tumor2", "prostate"]
TABLES += ["leukemia2", "11tumor"]


def saved(path: Path) -> tuple[int, float, float, float]:
    """Return the iterations of local search, and what these, the others and all save."""
    found = select(path, algo="vlpso-ls", preset="tran2019", random_state=1, keep_all=True)
    # An iteration that is no move of the swarm is a step of local search.
    trace = found.trace.select("iteration", local=pl.col("moves").diff() == 0)
    local = dict(trace.rows())
    nearest = KNeighborsClassifier(1, metric="manhattan")
    judge = Evaluator(path, estimator=nearest, cv="loo", scale="minmax")
    ops = np.zeros((2, 2))
    assert found.all_evaluations is not None, "all subsets are kept"
    for (iteration,), part in found.all_evaluations.group_by("iteration", maintain_order=True):
        masks = np.zeros((part.height, len(judge.table.names)), dtype=bool)
        for mask, selected in zip(masks, part["selected_indices"], strict=True):
            mask[selected.to_numpy()] = True
        before = judge.work
        judge.measure(masks)
        after = judge.work
        ops[int(bool(local[iteration]))] += (
            after.element_ops - before.element_ops,
            after.from_scratch_ops - before.from_scratch_ops,
        )
    done, scratch = ops.sum(axis=0)
    # The same work as in the run, which is thereby the one that is told apart here.
    assert scratch == found.work.from_scratch_ops, (scratch, found.work)
    shares = 1 - ops[:, 0] / ops[:, 1]
    return sum(map(bool, local.values())), shares[1], shares[0], 1 - done / scratch


def main(names: list[str]) -> None:
    """Print a table."""
    warnings.simplefilter("ignore", SwarmrsWarning)
    print("| data | iterations of local search | saved there | saved in moves | saved in all |")
    print("| --- | --- | --- | --- | --- |")
    for name in names or TABLES:
        path = path_of(name)
        if path.exists():
            iterations, there, moves, whole = saved(path)
            print(
                f"| {name} | {iterations} | {there:.1%} | {moves:.1%} | {whole:.1%} |", flush=True
            )


if __name__ == "__main__":
    main(sys.argv[1:])
