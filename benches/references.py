"""Compare searches with and without references: cached sums that a subset is built from.

CPU time of a whole search on one thread, with the default memory and with none for references. The
results are the same; the ratio says how much references save. Above 1: they pay. Rounds alternate,
and the least time of each counts. Printed as Markdown.

    python benches/references.py --tables digits,musk1 --algorithms bpso,rks --rounds 3
"""

from __future__ import annotations

import argparse
import warnings

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_breast_cancer, load_digits
from swarmrs import select
from swarmrs.exceptions import SwarmrsWarning
from tables import table
from timing import Report, add_store_option, timed

Samples = tuple[NDArray[np.float64], NDArray[np.int64]]
EVALUATIONS = {"10000x50": 150, "digits": 600}
DEFAULT_MEMORY = 1 << 30


def samples_of(name: str) -> Samples:
    """Return the values and classes of a table."""
    if name == "10000x50":
        rng = np.random.default_rng(1)
        y = rng.integers(0, 3, 10_000)
        return rng.normal(size=(10_000, 50)) + y[:, None] * (np.arange(50) < 10), y
    if name in ("digits", "breast_cancer"):
        found = load_digits() if name == "digits" else load_breast_cancer()
        return found.data.astype(np.float64), found.target.astype(np.int64)
    return table(name)


def _seconds(samples: Samples, algo: str, evaluations: int, memory: int) -> tuple[float, list[int]]:
    seconds, found = timed(
        lambda: select(
            samples,
            algo=algo,
            random_state=1,
            n_jobs=1,
            memory=memory,
            max_evals=evaluations,
        )
    )
    return seconds, list(found.selected_indices)


def main() -> None:
    """Print a row for each table and algorithm."""
    parser = argparse.ArgumentParser(description="Searches with and without references.")
    parser.add_argument("--tables", default="10000x50,digits,breast_cancer,musk1,srbct,11tumor")
    parser.add_argument("--algorithms", default="bpso,vlpso,upso2d,rks")
    parser.add_argument("--evals", type=int, help="evaluations of a search")
    parser.add_argument("--rounds", type=int, default=3)
    add_store_option(parser)
    args = parser.parse_args()
    warnings.simplefilter("ignore", SwarmrsWarning)
    report = Report("references")
    report.header("table", "algorithm", "with, s", "without, s", "without / with", names=2)
    for name in args.tables.split(","):
        samples = samples_of(name)
        evaluations = args.evals or EVALUATIONS.get(name, 3000)
        for algo in args.algorithms.split(","):
            times = {memory: float("inf") for memory in (DEFAULT_MEMORY, 0)}
            answers = set()
            for _ in range(args.rounds):
                for memory in times:
                    seconds, answer = _seconds(samples, algo, evaluations, memory)
                    times[memory] = min(times[memory], seconds)
                    answers.add(tuple(answer))
            assert len(answers) == 1, "references change no result"
            kept, scratch = times.values()
            report.row(name, algo, *(f"{x:.2f}" for x in (kept, scratch, scratch / kept)))
    if args.store:
        report.store()


if __name__ == "__main__":
    main()
