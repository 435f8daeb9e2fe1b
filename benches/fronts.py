"""Compare the fronts of error and size that searches find with equally many evaluations.

`mopbpso` and `nsga2` seek a front; `mopbpso-strong` has the rates of PBPSO, `nsga2-uniform` crosses
uniformly. `pbpsofs` seeks one subset, so that it is tried in two ways: one long run, and five short
ones that weigh the error differently, each with a random stream of its own, whose subsets make one
front. All have 101 iterations of 50 evaluations, start from the same seeds and measure by 5-NN on
the same 10 folds. The front is that of all subsets tried; its hypervolume (error below 1, share of
features below 1) is printed as Markdown, mean and deviation over seeds, with the least error and
the size of the front.

Run by `make fronts`; `ARGS="--seeds 3 --datasets sonar"` for a part. Finished runs are kept in the
file of --store, so that a second call only adds what is missing.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray
from runs import Store
from swarmrs import Selection, select
from tables import ROOT, path_of, why_absent

DATASETS = "sonar,musk1,lsvt,srbct"
TURNS = 101
# The weights of the error in the short runs, each with its share of the iterations.
ALPHAS = {0.6: 21, 0.7: 20, 0.8: 20, 0.9: 20, 1.0: 20}
METHODS = "mopbpso,mopbpso-strong,nsga2,nsga2-uniform,pbpsofs,pbpsofs-split"
# Settings that differ from the defaults.
VARIANTS: dict[str, dict[str, str | float]] = {
    "mopbpso-strong": {"cognitive": 0.35, "social": 0.65},
    "nsga2-uniform": {"crossover": "uniform"},
}


@dataclass(frozen=True)
class Key:
    """All that fixes a front."""

    data: str
    method: str
    seed: int


@dataclass(frozen=True)
class Found:
    """What it is like."""

    hypervolume: float
    points: int
    error: float
    evaluations: int


@cache
def _table(name: str) -> tuple[NDArray[np.float64], NDArray[np.str_]]:
    frame = pl.read_parquet(path_of(name))
    return frame.drop("class").to_numpy().astype(np.float64), frame["class"].to_numpy().astype(str)


def _runs(key: Key, jobs: int) -> Iterable[Selection]:
    """Yield the runs whose subsets make the front."""
    if not key.method.endswith("-split"):
        yield select(
            _table(key.data),
            algo=key.method.partition("-")[0],
            max_iter=TURNS,
            objective="paper",
            cv_seed=0,
            algo_params={"population": 50, **VARIANTS.get(key.method, {})},
            random_state=key.seed,
            n_jobs=jobs,
            constant="keep",  # the table as it is
        )
        return
    for part, (alpha, iterations) in enumerate(ALPHAS.items()):
        yield select(
            _table(key.data),
            algo=key.method.removesuffix("-split"),
            max_iter=iterations,
            algo_params={"population": 50},
            objective={"kind": "weighted", "alpha": alpha},
            cv_seed=0,
            random_state=1000 * part + key.seed,
            n_jobs=jobs,
            constant="keep",  # the table as it is
        )


def _run(key: Key, jobs: int) -> Found:
    runs = list(_runs(key, jobs))
    n_features = _table(key.data)[0].shape[1]
    tried = sorted((point.error, point.size) for run in runs for point in run.front)
    front: list[tuple[float, int]] = []
    area = 0.0
    for error, size in tried:
        most = front[-1][1] if front else n_features
        if not front or size < most:
            area += (1 - error) * (most - size) / n_features
            front.append((error, size))
    return Found(area, len(front), front[0][0], sum(run.evaluations.total for run in runs))


def _row(data: str, method: str, found: list[Found]) -> str:
    areas = [one.hypervolume for one in found]
    spread = f" ± {np.std(areas, ddof=1):.4f}" if len(areas) > 1 else ""
    (evaluations,) = {one.evaluations for one in found}
    cells = [
        data,
        method,
        str(len(found)),
        str(evaluations),
        f"{np.mean(areas):.4f}{spread}",
        f"{np.mean([one.error for one in found]):.4f}",
        f"{np.mean([one.points for one in found]):.1f}",
    ]
    return "| " + " | ".join(cells) + " |"


def _words(text: str) -> list[str]:
    return text.split(",")


def main() -> None:
    """Run what is missing and print the table."""
    parser = argparse.ArgumentParser(description="Compare fronts of error and size.")
    parser.add_argument("--seeds", type=int, default=10, help="fronts of each method")
    parser.add_argument("--datasets", type=_words, default=_words(DATASETS), help="with commas")
    parser.add_argument("--methods", type=_words, default=_words(METHODS), help="with commas")
    parser.add_argument("--jobs", type=int, default=1, help="threads of a run")
    parser.add_argument("--workers", type=int, default=1, help="runs at a time")
    parser.add_argument("--store", type=Path, default=ROOT / "benches" / "results" / "fronts.jsonl")
    parser.add_argument("--print-only", action="store_true", help="print what is finished")
    args = parser.parse_args()
    datasets = [name for name in args.datasets if path_of(name).exists()]
    for name in sorted({*args.datasets} - {*datasets}):
        print(f"skipped: {why_absent(name)}", file=sys.stderr)
    store = Store(args.store, Key, Found)
    keys = [
        Key(data, method, seed)
        for seed in range(1, args.seeds + 1)
        for data in datasets
        for method in args.methods
    ]
    if args.print_only:
        runs = store.read()
    else:
        runs = store.complete(keys, lambda key: _run(key, args.jobs), args.workers)
    print("| table | method | runs | evaluations | hypervolume | least error | points |")
    print("|---|---|--:|--:|--:|--:|--:|")
    for data in datasets:
        for method in args.methods:
            found = [
                runs[key]
                for key in keys
                if (key.data, key.method) == (data, method) and key in runs
            ]
            if found:
                print(_row(data, method, found))


if __name__ == "__main__":
    main()
