"""Whole searches on two threads against one, by the wall clock.

A population of 100, the same seed; the results are the same, the ratio says how much faster two
threads are. Rounds alternate, and the least time of each counts: measure on a quiet machine with
two cores. Printed as Markdown.

    python benches/threads.py --tables breast_cancer,musk1 --algorithms bpso --rounds 3
"""

from __future__ import annotations

import argparse
import time
import warnings

from references import Samples, samples_of
from swarmrs import select
from swarmrs.exceptions import SwarmrsWarning
from timing import Report, add_store_option

POPULATION = 100


def _seconds(
    samples: Samples, algo: str, evaluations: int, n_jobs: int
) -> tuple[float, tuple[int, ...]]:
    started = time.perf_counter()
    found = select(
        samples,
        algo=algo,
        algo_params={"population": POPULATION},
        max_evals=evaluations,
        random_state=1,
        n_jobs=n_jobs,
    )
    return time.perf_counter() - started, tuple(found.selected_indices)


def main() -> None:
    """Print a row for each table and algorithm."""
    parser = argparse.ArgumentParser(description="Searches on two threads.")
    parser.add_argument("--tables", default="breast_cancer,musk1,srbct,11tumor")
    parser.add_argument("--algorithms", default="bpso,pbpso,vlpso")
    parser.add_argument("--evals", type=int, default=5000, help="evaluations of a search")
    parser.add_argument("--rounds", type=int, default=3)
    add_store_option(parser)
    args = parser.parse_args()
    warnings.simplefilter("ignore", SwarmrsWarning)
    report = Report("threads")
    report.header("table", "algorithm", "1 thread, s", "2 threads, s", "1 thread / 2", names=2)
    for name in args.tables.split(","):
        samples = samples_of(name)
        for algo in args.algorithms.split(","):
            times = {1: float("inf"), 2: float("inf")}
            answers = set()
            for _ in range(args.rounds):
                for n_jobs in times:
                    seconds, answer = _seconds(samples, algo, args.evals, n_jobs)
                    times[n_jobs] = min(times[n_jobs], seconds)
                    answers.add(answer)
            assert len(answers) == 1, "the number of threads changes no result"
            report.row(name, algo, *(f"{s:.2f}" for s in (*times.values(), times[1] / times[2])))
    if args.store:
        report.store()


if __name__ == "__main__":
    main()
