"""Repeat the comparison of the VLPSO paper: variable-length swarms, their rivals, and filters.

Outer stratified folds; scaling, ranking and search see the training part alone. The columns found
are tried by Euclidean 1-NN on the part left out. A run is one seed on all folds; its value is the
mean balanced accuracy over them. Every seed deals its own folds, the same for all methods: a single
division of 50 to 174 rows would tell more about itself than about a method. Printed as Markdown
beside the published figures: size, accuracy and the share of element
operations saved; then the differences to `vlpso-ls` on the same deals. A method is listed where all
its runs are finished. `vlpso-ls/wo` is `vlpso-ls` without the change of lengths.

Run by `make high-dimension`; `ARGS="--seeds 1 --datasets srbct --methods vlpso"` for a part.
Finished folds are kept in the file of --store, so that a second call only adds what is missing.
`ARGS=--speed` measures the seconds of a fold of the least and the largest table instead, beside the
minutes published.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from runs import Store
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import MinMaxScaler
from swarmrs import select
from swarmrs.exceptions import SwarmrsWarning
from swarmrs.experiments._analysis._statistics import holm, signed_rank
from tables import ROOT, deal, path_of, published, table, why_absent

DATASETS = "srbct,leukemia1,dlbcl,9tumor,brain_tumor1,brain_tumor2,prostate,leukemia2,11tumor"
METHODS = "vlpso,vlpso-ls,vlpso-ls/wo,pso,eclpso,cso,lfs,cfs,fcbf"
# Methods that are an algorithm with other settings, and what the paper calls them.
VARIANTS: dict[str, tuple[str, dict[str, None], str]] = {
    "vlpso-ls/wo": ("vlpso-ls", {"length_gap": None}, "wo")
}
# The evaluation of the paper's swarms and of the sequential search; filters use none.
SWARMS: dict[str, Any] = {
    "estimator": KNeighborsClassifier(1, metric="manhattan"),
    "scale": "minmax",
    "cv": "loo",
    "objective": "paper",
}
RIVALS: dict[str, Any] = {
    "estimator": KNeighborsClassifier(1),
    "scale": "minmax",
    "cv": "wrap5",
    "cv_seed": 0,
}
N_FOLDS = 10
# The method that the others are tested against.
REFERENCE = "vlpso-ls"


@dataclass(frozen=True)
class Key:
    """All that a run on one fold depends on."""

    data: str
    method: str
    seed: int
    fold: int


@dataclass(frozen=True)
class Found:
    """Its result."""

    size: int
    accuracy: float
    seconds: float
    saved: float


def _run(key: Key, jobs: int) -> Found:
    x, y = table(key.data)
    folds = deal(y, key.seed, N_FOLDS)
    train, test = folds != key.fold, folds == key.fold
    algo, params, _ = VARIANTS.get(key.method, (key.method, {}, ""))
    start = time.perf_counter()
    with warnings.catch_warnings():
        # A fold may leave a class a single row; nothing can be done about it here.
        warnings.simplefilter("ignore", SwarmrsWarning)
        found = select(
            (x[train], y[train]),
            algo=algo,
            algo_params=params,
            **(RIVALS if algo in ("lfs", "cfs", "fcbf") else SWARMS),
            random_state=key.seed,
            n_jobs=jobs,
            constant="keep",  # as the paper does
        )
    seconds = time.perf_counter() - start
    chosen = list(found.selected_indices)
    scaler = MinMaxScaler().fit(x[train][:, chosen])
    nearest = KNeighborsClassifier(1).fit(scaler.transform(x[train][:, chosen]), y[train])
    said = nearest.predict(scaler.transform(x[test][:, chosen]))
    recalls = [np.mean(said[y[test] == c] == c) for c in np.unique(y[test])]
    work = found.work
    return Found(
        found.size,
        float(np.mean(recalls)),
        seconds,
        1 - work.element_ops / work.from_scratch_ops,
    )


def _wanted(args: argparse.Namespace, datasets: list[str]) -> Iterator[Key]:
    """Yield the runs, seed by seed, the cheap methods of all tables first."""
    for seed in range(1, args.seeds + 1):
        for method in args.methods:
            for data in datasets:
                for fold in range(N_FOLDS):
                    yield Key(data, method, seed, fold)


def _published() -> dict[tuple[str, str, str], float]:
    figures = published("tran2019-III", "tran2019-IV", "tran2019-V")
    numbers = ("size", "accuracy", "accuracy_sd", "best_accuracy", "minutes")
    return {key: float(value) for key, value in figures.items() if key[2] in numbers}


def _deals(data: str, method: str, runs: dict[Key, Found], seeds: int) -> dict[int, list[Found]]:
    """Return the folds of each run by its seed; nothing unless all runs are finished.

    Every seed deals its own folds: with fewer of them a method would not be comparable.
    """
    keys = {
        seed: [Key(data, method, seed, fold) for fold in range(N_FOLDS)]
        for seed in range(1, seeds + 1)
    }
    if not all(key in runs for folds in keys.values() for key in folds):
        return {}
    return {seed: [runs[key] for key in folds] for seed, folds in keys.items()}


def _accuracy(folds: list[Found]) -> float:
    """Return the value of a run: the mean balanced accuracy over its folds, in percent."""
    return float(100 * np.mean([found.accuracy for found in folds]))


def _line(data: str, method: str, runs: dict[Key, Found], seeds: int) -> str | None:
    """Return a row of the table; None where a run is not finished."""
    deals = _deals(data, method, runs, seeds)
    values = [_accuracy(folds) for folds in deals.values()]
    folds = [found for done in deals.values() for found in done]
    if not values:
        return None
    spread = f" ± {np.std(values, ddof=1):.2f}" if len(values) > 1 else ""
    figures, name = _published(), VARIANTS[method][2] if method in VARIANTS else method
    size = figures.get((data, name, "size"))
    mean = figures.get((data, name, "accuracy"))
    deviation = figures.get((data, name, "accuracy_sd"))
    cells = [
        data,
        method,
        str(len(values)),
        f"{np.mean([found.size for found in folds]):.1f}",
        f"{size:.1f}" if size is not None else "",
        f"{np.mean(values):.2f}{spread}",
        (f"{mean:.2f}" if mean is not None else "")
        + (f" ± {deviation:.2f}" if deviation is not None else ""),
        f"{100 * np.mean([found.saved for found in folds]):.0f}",
    ]
    return "| " + " | ".join(cells) + " |"


def _differences(data: str, method: str, runs: dict[Key, Found], seeds: int) -> list[float]:
    """Return the accuracy of a method less that of the reference, for each deal of folds."""
    mine, reference = (_deals(data, name, runs, seeds) for name in (method, REFERENCE))
    return [
        _accuracy(mine[seed]) - _accuracy(reference[seed]) for seed in mine if seed in reference
    ]


def _paired(
    datasets: list[str], methods: list[str], runs: dict[Key, Found], seeds: int
) -> Iterator[str]:
    """Yield a table of differences to the reference, on the same deals, and what they come to."""
    others = [method for method in methods if method != REFERENCE]
    pairs = {
        (data, method): _differences(data, method, runs, seeds)
        for data in datasets
        for method in others
    }
    others = [method for method in others if any(pairs[data, method] for data in datasets)]
    yield f"| less {REFERENCE} | {' | '.join(others)} |"
    yield f"|---|{'--:|' * len(others)}"
    for data in datasets:
        cells = []
        for method in others:
            gaps = pairs[data, method]
            spread = f" ± {np.std(gaps, ddof=1):.2f}" if len(gaps) > 1 else ""
            cells.append(f"{np.mean(gaps):+.2f}{spread}" if gaps else "")
        yield f"| {data} | {' | '.join(cells)} |"
    means = {
        method: [float(np.mean(pairs[data, method])) for data in datasets if pairs[data, method]]
        for method in others
    }
    tests = {method: signed_rank(gaps, [0.0] * len(gaps)).p for method, gaps in means.items()}
    corrected = holm(list(tests.values())).tolist()
    yield ""
    yield "| method | tables | splits | difference | better / equal / worse | p | p (Holm) |"
    yield "|---|--:|--:|--:|--:|--:|--:|"
    for method, p in zip(others, corrected, strict=True):
        mine = np.array(means[method])
        n_deals = sum(len(pairs[data, method]) for data in datasets)
        signs = " / ".join(str(int(np.sum(np.sign(mine.round(9)) == sign))) for sign in (1, 0, -1))
        yield (
            f"| {method} | {mine.size} | {n_deals} | {mine.mean():+.2f} | {signs} | "
            f"{tests[method]:.4f} | {p:.4f} |"
        )


def _speed() -> None:
    """Print what one search takes on two threads."""
    print("| table | method | seconds | published minutes | times as fast |")
    print("|---|---|--:|--:|--:|")
    for data in ("srbct", "11tumor"):
        for method in ("vlpso", "vlpso-ls"):
            seconds = _run(Key(data, method, 1, 0), jobs=2).seconds
            minutes = _published()[data, method, "minutes"]
            ratio = 60 * minutes / seconds
            print(f"| {data} | {method} | {seconds:.2f} | {minutes} | {ratio:.0f} |", flush=True)


def _words(text: str) -> list[str]:
    return text.split(",")


def main() -> None:
    """Run what is missing and print the table."""
    parser = argparse.ArgumentParser(description="Repeat the comparison of the VLPSO paper.")
    parser.add_argument("--seeds", type=int, default=5, help="runs of each method")
    parser.add_argument("--datasets", type=_words, default=_words(DATASETS), help="with commas")
    parser.add_argument("--methods", type=_words, default=_words(METHODS), help="with commas")
    parser.add_argument("--jobs", type=int, default=1, help="threads of a run")
    parser.add_argument("--workers", type=int, default=2, help="runs at a time")
    parser.add_argument(
        "--store", type=Path, default=ROOT / "benches" / "results" / "high_dimension.jsonl"
    )
    parser.add_argument("--print-only", action="store_true", help="print what is finished")
    parser.add_argument("--speed", action="store_true", help="measure the seconds of some folds")
    args = parser.parse_args()
    if args.speed:
        _speed()
        return
    store = Store(args.store, Key, Found)
    if args.print_only:
        runs, datasets = store.read(), args.datasets
    else:
        datasets = [name for name in args.datasets if path_of(name).exists()]
        for name in sorted({*args.datasets} - {*datasets}):
            print(f"skipped: {why_absent(name)}", file=sys.stderr)
        keys = list(_wanted(args, datasets))
        runs = store.complete(keys, lambda key: _run(key, args.jobs), args.workers)
    print("| table | method | runs | size | published | accuracy | published | saved % |")
    print("|---|---|--:|--:|--:|--:|--:|--:|")
    for data in datasets:
        for method in args.methods:
            line = _line(data, method, runs, args.seeds)
            if line is not None:
                print(line)
    if REFERENCE in args.methods and len(args.methods) > 1:
        print()
        print("\n".join(_paired(datasets, args.methods, runs, args.seeds)))


if __name__ == "__main__":
    main()
