"""CPU time of 5-NN, 10 folds, few features and many rows: one subset here, by cKDTree and KDTree.

The rivals build one tree over all rows, query more neighbors than needed, and drop those of the
query's own fold; a row that has too few left is queried again with twice as many. Uniform random
values, Euclidean distances, one thread. Ratios above 1: less time here. Printed as Markdown.

    python benches/few_features.py --rows 5000,10000 --features 2,4
"""

from __future__ import annotations

import argparse

import numpy as np
from baselines import fold_of_rows, scaled
from rivals import Problem, one_index, scipy_tree, sklearn_tree
from swarmrs import Evaluator
from timing import Report, add_store_option, least


def _row(n: int, d: int, repeats: int) -> list[str]:
    rng = np.random.default_rng(n + d)
    points = scaled(rng.random((n, d)))
    labels = (points[:, 0] + 0.3 * rng.random(n) > 0.65).astype(np.int64)
    evaluator = Evaluator(points, labels, cv=10, scale="minmax", n_jobs=1, incremental=False)
    problem = Problem(points, labels, fold_of_rows(labels))
    scipy, sklearn = (one_index(problem, build) for build in (scipy_tree(2), sklearn_tree))
    everything, rows = np.ones(d, bool), slice(0, n)
    error = float(evaluator.measure(everything)["pooled_error"][0])
    assert abs(error - scipy(everything)(rows) / n) < 1e-3, "only ties may differ"
    ours, *rivals = least(
        repeats,
        [
            lambda: evaluator.measure(everything),
            lambda: scipy(everything)(rows),
            lambda: sklearn(everything)(rows),
        ],
    )
    return [str(n), str(d), f"{ours * 1e3:.1f}", *(f"{rival / ours:.2f}" for rival in rivals)]


def main() -> None:
    """Print a row for each number of rows and features."""
    parser = argparse.ArgumentParser(description="k-NN of few features against kd-trees.")
    parser.add_argument("--rows", default="5000,10000,20000,50000,100000", help="with commas")
    parser.add_argument("--features", default="2,4,8", help="with commas")
    parser.add_argument("--repeats", type=int, default=3, help="runs, of which the best counts")
    add_store_option(parser)
    args = parser.parse_args()
    report = Report("few_features")
    report.header(
        "rows", "features", "swarmrs ms", "cKDTree / swarmrs", "KDTree / swarmrs", names=0
    )
    for n in map(int, args.rows.split(",")):
        for d in map(int, args.features.split(",")):
            report.row(*_row(n, d, args.repeats))
    if args.store:
        report.store()


if __name__ == "__main__":
    main()
