"""Compare searches with and without references: cached sums that a subset is built from.

CPU time of a whole search on one thread, with the default memory and with none for references. The
results are the same; the ratio says how much references save. Above 1: they pay. Rounds alternate,
and the least time of each counts. Printed as Markdown.

    python benches/references.py --tables digits,musk1 --algorithms bpso,rks --rounds 3
"""

from __future__ import annotations

import argparse
import time
import warnings

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_breast_cancer, load_digits
from swarmrs import select
from swarmrs.exceptions import SwarmrsWarning
from tables import table

Samples = tuple[NDArray[np.float64], NDArray[np.int64]]
EVALUATIONS = {"10000x50": 150, "digits": 600}
DEFAULT_MEMORY = 1 << 30


def _samples(name: str) -> Samples:
    if name == "10000x50":
        rng = np.random.default_rng(1)
        y = rng.integers(0, 3, 10_000)
        return rng.normal(size=(10_000, 50)) + y[:, None] * (np.arange(50) < 10), y
    if name in ("digits", "breast_cancer"):
        found = load_digits() if name == "digits" else load_breast_cancer()
        return found.data.astype(np.float64), found.target.astype(np.int64)
    return table(name)


def _seconds(samples: Samples, algo: str, name: str, memory: int) -> tuple[float, list[int]]:
    start = time.process_time()
    found = select(
        samples,
        algo=algo,
        random_state=1,
        n_jobs=1,
        memory=memory,
        max_evals=EVALUATIONS.get(name, 3000),
    )
    return time.process_time() - start, list(found.selected_indices)


def main() -> None:
    """Print a row for each table and algorithm."""
    parser = argparse.ArgumentParser(description="Searches with and without references.")
    parser.add_argument("--tables", default="10000x50,digits,breast_cancer,musk1,srbct,11tumor")
    parser.add_argument("--algorithms", default="bpso,vlpso,upso2d,rks")
    parser.add_argument("--rounds", type=int, default=3)
    args = parser.parse_args()
    warnings.simplefilter("ignore", SwarmrsWarning)
    print("| table | algorithm | with, s | without, s | without / with |")
    print("|---|---|--:|--:|--:|")
    for name in args.tables.split(","):
        samples = _samples(name)
        for algo in args.algorithms.split(","):
            times = {memory: float("inf") for memory in (DEFAULT_MEMORY, 0)}
            answers = set()
            for _ in range(args.rounds):
                for memory in times:
                    seconds, answer = _seconds(samples, algo, name, memory)
                    times[memory] = min(times[memory], seconds)
                    answers.add(tuple(answer))
            assert len(answers) == 1, "references change no result"
            kept, scratch = times.values()
            cells = [name, algo, *(f"{x:.2f}" for x in (kept, scratch, scratch / kept))]
            print("|", " | ".join(cells), "|", flush=True)


if __name__ == "__main__":
    main()
