"""Complete cross-validation against leave-one-out: the time of a subset, by k-NN on one thread.

    .venv/bin/python benches/complete_cv.py

Subsets differ from a random half of the features in a quarter of them. The evaluations
alternate, and the least time of many batches counts, so that other work on the machine matters
little.
"""

from __future__ import annotations

import time
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_breast_cancer
from sklearn.neighbors import KNeighborsClassifier
from swarmrs import Evaluator
from tables import table

Rows = NDArray[np.int64]
EVALUATIONS = ((1, "loo"), (1, "complete"), (3, "loo"), (3, "complete"))
BATCHES, BATCH = 150, 10


def tables(rng: np.random.Generator) -> Iterator[tuple[str, NDArray[np.float64], Rows]]:
    """Yield the tables: two of more rows than features, and a short and wide one."""
    yield "breast_cancer", *load_breast_cancer(return_X_y=True)
    yield "sonar", *table("sonar")
    y = rng.integers(0, 2, 60)
    signal = 0.3 * y[:, None] * (rng.random(2000) < 0.1)
    yield "60 x 2000", rng.normal(size=(60, 2000)) + signal, y


def milliseconds(x: NDArray[np.float64], y: Rows, metric: str) -> NDArray[np.float64]:
    """Return the time of a subset by each evaluation."""
    rng, d = np.random.default_rng(5), x.shape[1]
    base = rng.permutation(np.arange(d) < d // 2)
    evaluators = [
        Evaluator(x, y, estimator=KNeighborsClassifier(k, metric=metric), scale="minmax", cv=cv)
        for k, cv in EVALUATIONS
    ]
    least = np.full(len(evaluators), np.inf)
    for _ in range(BATCHES):
        flips = np.array([rng.permutation(np.arange(d) < d // 4) for _ in range(BATCH)])
        for at, evaluator in enumerate(evaluators):
            start = time.process_time()
            evaluator.measure(base ^ flips)
            least[at] = min(least[at], (time.process_time() - start) / BATCH)
    return 1e3 * least


def main() -> None:
    """Print a row for each table and distance."""
    print("| table | distance |", " | ".join(f"{k}-NN {cv}, ms" for k, cv in EVALUATIONS), "|")
    for name, x, y in tables(np.random.default_rng(0)):
        for metric in ("euclidean", "manhattan"):
            times = milliseconds(x, y, metric)
            print(f"| {name} | {metric} |", " | ".join(f"{ms:.3f}" for ms in times), "|")


if __name__ == "__main__":
    main()
