"""Compare how good the subsets are that each method finds, on real tables and the same folds.

Every method has the same number of evaluations, by the 5-NN 10-fold error of unscaled data, which
is the protocol of the 2D-learning paper. It minimizes the objective of its own paper; the error is
compared. Printed as Markdown: mean error and mean size per method and table, their average ranks,
the methods without a significant difference from the one with the best average rank, and the
figures of that paper where they are available.

Run by `make quality`; `make quality ARGS="--seeds 3 --datasets sonar"` for a part. Finished runs
are stored in the file of --store, so that a second call only adds the missing ones.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from runs import Store
from scipy import stats
from sklearn.neighbors import KNeighborsClassifier
from swarmrs import algorithms, select
from tables import ROOT, path_of, published, why_absent

DATASETS = "sonar,ionosphere,vehicle,german,musk1,lsvt"
METHODS = (
    "upso2d,gpso2d,lpso2d,clpso2d,bpso,cbpso,chbpso,erfs,pso42,ga,aco,"
    "pbpso,pbpsofs,bpsofs,cdbpso,sga,hga,random,sfs,sffs"
)
# The names of the paper's columns.
PUBLISHED = {
    "ga": "GA",
    "aco": "ACO",
    "bpso": "BPSO",
    "cbpso": "CBPSO",
    "erfs": "ErFS",
    "pso42": "PSO-42",
    "chbpso": "chBPSO",
    "upso2d": "2D-UPSO",
}
LEVEL = 0.05


@dataclass(frozen=True)
class Key:
    """All that a run depends on."""

    data: str
    method: str
    seed: int
    evals: int
    scale: str


@dataclass(frozen=True)
class Found:
    """The result of a run."""

    error: float
    size: int


Runs = dict[Key, Found]
Means = NDArray[np.float64]


def _wanted(args: argparse.Namespace, datasets: Iterable[str]) -> Iterator[Key]:
    """Yield the runs, seed by seed, so that an interrupted comparison is a fair one."""
    fixed = {card.id for card in algorithms() if card.family == "sequential"}
    for seed in range(1, args.seeds + 1):
        for data in datasets:
            for method in args.methods:
                # A deterministic search has the same result for every seed.
                if seed == 1 or method not in fixed:
                    yield Key(data, method, seed, args.evals, args.scale)


def _run(key: Key, jobs: int) -> Found:
    found = select(
        path_of(key.data),
        algo=key.method,
        estimator=KNeighborsClassifier(5),
        cv=10,
        cv_seed=0,
        objective="paper",
        scale=key.scale,
        max_evals=key.evals,
        random_state=key.seed,
        n_jobs=jobs,
        constant="keep",  # as the papers do
    )
    error = found.scores["error"]
    assert error is not None, "built-in classifiers have all scores"
    return Found(error, found.size)


@dataclass(frozen=True)
class Results:
    """Errors and sizes of all runs, by method, table and seed."""

    methods: list[str]
    datasets: list[str]
    errors: Means
    sizes: Means

    @classmethod
    def of(cls, args: argparse.Namespace, datasets: list[str], runs: Runs) -> Results:
        """Arrange the runs; that of a deterministic search stands for all seeds."""

        def found(method: str, data: str, seed: int) -> Found:
            first = Key(data, method, 1, args.evals, args.scale)
            return runs.get(Key(data, method, seed, args.evals, args.scale), runs[first])

        cube = [
            [[found(m, d, seed) for seed in range(1, args.seeds + 1)] for d in datasets]
            for m in args.methods
        ]
        errors = np.array([[[run.error for run in row] for row in rows] for rows in cube])
        sizes = np.array([[[run.size for run in row] for row in rows] for rows in cube], float)
        return cls(list(args.methods), datasets, errors, sizes)


def _ranks(values: Means) -> Means:
    """Rank the methods within each table, the lowest first; ties share the mean of their ranks."""
    return np.asarray(stats.rankdata(values.round(12), axis=0), dtype=np.float64)


def _print_table(results: Results) -> list[int]:
    """Print a row for each method, the best average rank first; return their order."""
    errors, sizes = results.errors.mean(axis=2), results.sizes.mean(axis=2)
    by_error, by_size = _ranks(errors).mean(axis=1), _ranks(sizes).mean(axis=1)
    order = [int(at) for at in np.lexsort((by_size, by_error))]
    print("| method | " + " | ".join(results.datasets) + " | rank of error | rank of size |")
    print("|---|" + "--:|" * (len(results.datasets) + 2))
    for at in order:
        cells = [f"{e:.4f} @ {s:.1f}" for e, s in zip(errors[at], sizes[at], strict=True)]
        ranks = [f"{by_error[at]:.2f}", f"{by_size[at]:.2f}"]
        print(f"| {results.methods[at]} | " + " | ".join(cells + ranks) + " |")
    return order


def _print_tests(results: Results, order: list[int]) -> None:
    """Print whether the methods differ, and which do not differ from the best ranked."""
    errors = results.errors.mean(axis=2).round(12)
    if min(errors.shape) >= 3:
        test = stats.friedmanchisquare(*errors)
        print(
            f"\nFriedman over {len(results.datasets)} tables and {len(results.methods)} methods: "
            f"chi2 = {test.statistic:.2f}, p = {test.pvalue:.2g}."
        )
    # Tables differ in how large their errors are; runs of one table and seed start alike.
    relative = results.errors / results.errors.mean(axis=(0, 2), keepdims=True)
    best, *others = order
    pairs = [(relative[at] - relative[best]).ravel().round(12) for at in others]
    p_values = [stats.wilcoxon(pair).pvalue if pair.any() else 1.0 for pair in pairs]
    adjusted = _holm(p_values)
    verdicts: dict[str, list[str]] = {"tied": [], "worse": [], "better": []}
    for at, pair, p in zip(others, pairs, adjusted, strict=True):
        verdict = "tied" if p >= LEVEL else "worse" if pair.mean() > 0 else "better"
        verdicts[verdict].append(f"{results.methods[at]} (p = {p:.2g})")
    print(
        f"\nAgainst {results.methods[best]}, the best average rank, by Wilcoxon's signed ranks of "
        f"{pairs[0].size if pairs else 0} paired runs, Holm's correction, level {LEVEL}:\n"
    )
    for verdict, names in verdicts.items():
        print(f"- {verdict}: {', '.join(names) or 'none'}")


def _holm(p_values: Sequence[float]) -> list[float]:
    """Adjust p values for their number."""
    adjusted, reached = [0.0] * len(p_values), 0.0
    for place, at in enumerate(np.argsort(p_values)):
        reached = max(reached, min(1.0, p_values[at] * (len(p_values) - place)))
        adjusted[at] = reached
    return adjusted


def _print_published(results: Results) -> None:
    """Print the figures of the 2D-learning paper for the same methods and tables."""
    figures = published("hafiz2018-4", "hafiz2018-7")
    methods = [method for method in results.methods if method in PUBLISHED]
    datasets = [d for d in results.datasets if (d, "ga", "error") in figures]
    if not methods or not datasets:
        return
    print("\nPublished, with folds of their own:\n")
    print("| method | " + " | ".join(datasets) + " |")
    print("|---|" + "--:|" * len(datasets))
    for method in methods:
        name = PUBLISHED[method].lower()
        cells = [
            f"{float(figures[data, name, 'error']):.4f} @ {float(figures[data, name, 'size']):.1f}"
            for data in datasets
        ]
        print(f"| {method} | " + " | ".join(cells) + " |")


def _words(text: str) -> list[str]:
    return text.split(",")


def main() -> None:
    """Run the missing searches and print the tables."""
    parser = argparse.ArgumentParser(description="Compare the subsets that methods find.")
    parser.add_argument("--seeds", type=int, default=10, help="runs of each method and table")
    parser.add_argument("--evals", type=int, default=6000, help="evaluations of each run")
    parser.add_argument("--datasets", type=_words, default=DATASETS, help="names, with commas")
    parser.add_argument("--methods", type=_words, default=METHODS, help="ids, with commas")
    parser.add_argument("--scale", default="none", help="none, minmax or standard")
    parser.add_argument("--jobs", type=int, default=1, help="threads of a run")
    parser.add_argument("--store", type=Path, default=ROOT / "target" / "quality.jsonl")
    args = parser.parse_args()
    datasets = []
    for name in args.datasets:
        if path_of(name).exists():
            datasets.append(name)
        else:
            print(f"skipped: {why_absent(name)}", file=sys.stderr)
    if not datasets:
        return
    store = Store(args.store, Key, Found)
    runs = store.complete(list(_wanted(args, datasets)), lambda key: _run(key, args.jobs))
    results = Results.of(args, datasets, runs)
    print(
        f"Mean error @ mean size of {args.seeds} runs, {args.evals} evaluations each; "
        "ranks are means over the tables, 1 is best.\n"
    )
    _print_tests(results, _print_table(results))
    _print_published(results)


if __name__ == "__main__":
    main()
