"""CPU time of 5-NN, 10 folds, few features and many rows: one subset here, by cKDTree and KDTree.

The rivals build one tree over all rows, query more neighbors than needed, and drop those of the
query's own fold; a row that has too few left is queried again with twice as many. Uniform random
values, Euclidean distances, one thread. Ratios above 1: less time here. Printed as Markdown.

    python benches/few_features.py --rows 5000,10000 --features 2,4
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree
from sklearn.model_selection import StratifiedKFold
from sklearn.neighbors import KDTree
from swarmrs import Evaluator

K = 5
Query = Callable[[NDArray[np.float64], int], NDArray[np.int64]]


def _scipy(points: NDArray[np.float64]) -> Query:
    tree = cKDTree(points)
    return lambda some, count: np.asarray(tree.query(some, count)[1], np.int64)


def _sklearn(points: NDArray[np.float64]) -> Query:
    tree = KDTree(points)
    return lambda some, count: np.asarray(tree.query(some, count, return_distance=False), np.int64)


def _error(
    build: Callable[[NDArray[np.float64]], Query],
    points: NDArray[np.float64],
    labels: NDArray[np.int64],
    fold_of: NDArray[np.int64],
) -> float:
    """Return the share misclassified by a tree over all rows."""
    query = build(points)
    n_wrong, count, rows = 0, K + 4, np.arange(len(points))
    while len(rows):
        near = query(points[rows], count)
        others = fold_of[near] != fold_of[rows][:, None]
        enough = others.sum(axis=1) >= K
        near, others, done = near[enough], others[enough], rows[enough]
        votes = labels[near] * (others & (np.cumsum(others, axis=1) <= K))
        n_wrong += int(np.sum((votes.sum(axis=1) > K // 2) != labels[done]))
        rows, count = rows[~enough], min(2 * count, len(points))
    return n_wrong / len(points)


def _best(work: Callable[[], float], repeats: int) -> tuple[float, float]:
    times = []
    for _ in range(repeats):
        started = time.process_time()
        error = work()
        times.append(time.process_time() - started)
    return min(times), error


def _line(n: int, d: int, repeats: int) -> str:
    rng = np.random.default_rng(n + d)
    points = rng.random((n, d))
    labels = (points[:, 0] + 0.3 * rng.random(n) > 0.65).astype(np.int64)
    splits = list(StratifiedKFold(10, shuffle=True, random_state=0).split(points, labels))
    fold_of = np.zeros(n, np.int64)
    for fold, (_, test) in enumerate(splits):
        fold_of[test] = fold
    evaluator = Evaluator(points, labels, cv=10, scale="minmax", n_jobs=1, incremental=False)
    low, high = points.min(axis=0), points.max(axis=0)
    scaled = (points - low) / (high - low)
    ours, error = _best(lambda: float(evaluator.measure([True] * d)["error"][0]), repeats)
    scipy, rival = _best(lambda: _error(_scipy, scaled, labels, fold_of), repeats)
    sklearn, _ = _best(lambda: _error(_sklearn, scaled, labels, fold_of), repeats)
    assert abs(error - rival) < 0.01, "the folds differ, the errors hardly"
    cells = [str(n), str(d), f"{ours * 1e3:.1f}", f"{scipy / ours:.2f}", f"{sklearn / ours:.2f}"]
    return "| " + " | ".join(cells) + " |"


def main() -> None:
    """Print a row for each number of rows and features."""
    parser = argparse.ArgumentParser(description="k-NN of few features against kd-trees.")
    parser.add_argument("--rows", default="5000,10000,20000,50000,100000", help="with commas")
    parser.add_argument("--features", default="2,4,8", help="with commas")
    parser.add_argument("--repeats", type=int, default=3, help="runs, of which the best counts")
    args = parser.parse_args()
    print("| rows | features | swarmrs, ms | cKDTree / swarmrs | KDTree / swarmrs |")
    print("|--:|--:|--:|--:|--:|")
    for n in map(int, args.rows.split(",")):
        for d in map(int, args.features.split(",")):
            print(_line(n, d, args.repeats), flush=True)


if __name__ == "__main__":
    main()
