"""The share of a search that is not evaluation: proposing subsets and learning their costs.

Wall time of both parts of a search on one thread, with 5-NN in ten folds; the least time of each
over many short rounds counts, so that a busy machine disturbs some of them only. `100x100000` and
the like are tables of random numbers in three classes. Printed as Markdown.

    python benches/overhead.py --tables srbct,100x100000 --algorithms bpso,vlpso --rounds 3
"""

from __future__ import annotations

import argparse
import re
import warnings

import numpy as np
from references import Samples, samples_of
from sklearn.datasets import load_wine
from sklearn.neighbors import KNeighborsClassifier
from swarmrs import select
from swarmrs.exceptions import SwarmrsWarning
from timing import Report, add_store_option, gaussian_classes


def _samples(name: str) -> Samples:
    """Return the values and classes of a table, or random ones of the shape that its name is."""
    if name == "wine":
        found = load_wine()
        return found.data.astype(np.float64), found.target.astype(np.int64)
    shape = re.fullmatch(r"(\d+)x(\d+)", name)
    return gaussian_classes(int(shape[1]), int(shape[2])) if shape else samples_of(name)


def main() -> None:
    """Print a row for each table and algorithm."""
    parser = argparse.ArgumentParser(description="The share of a search beside evaluation.")
    parser.add_argument(
        "--tables", default="wine,breast_cancer,musk1,srbct,prostate,100x20000,100x100000"
    )
    parser.add_argument("--algorithms", default="bpso,pbpso,vlpso,cso,upso2d")
    parser.add_argument("--evals", type=int, default=600, help="evaluations of a search")
    parser.add_argument("--rounds", type=int, default=9)
    add_store_option(parser)
    args = parser.parse_args()
    warnings.simplefilter("ignore", SwarmrsWarning)
    report = Report("overhead")
    report.header(
        "table",
        "features",
        "algorithm",
        "search, us/subset",
        "evaluation, us/subset",
        "share",
        names=3,
    )
    for name in args.tables.split(","):
        samples = _samples(name)
        # There a search takes long enough to be measured once or twice.
        rounds = args.rounds if samples[0].shape[1] < 50_000 else min(args.rounds, 2)
        for algo in args.algorithms.split(","):
            searching, evaluating, subsets = float("inf"), float("inf"), 0
            for _ in range(rounds):
                found = select(
                    samples,
                    algo=algo,
                    estimator=KNeighborsClassifier(5),
                    cv=10,
                    max_evals=args.evals,
                    random_state=1,
                    n_jobs=1,
                )
                searching = min(searching, found.seconds.search)
                evaluating = min(evaluating, found.seconds.evaluate)
                subsets = found.evaluations.total
            each = [1e6 * seconds / subsets for seconds in (searching, evaluating)]
            report.row(
                name,
                samples[0].shape[1],
                algo,
                *(f"{microseconds:.1f}" for microseconds in each),
                f"{each[0] / sum(each):.1%}",
            )
    if args.store:
        report.store()


if __name__ == "__main__":
    main()
