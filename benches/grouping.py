"""Repeat the comparison of grouped swarms: one feature of each group, about one, or no groups.

Seven of ten stratified folds are searched, the other three held out: 5-NN, Euclidean, unscaled
features, missing values imputed by the mean of the training rows. Features are clustered once, on
the training rows, into as many groups as the paper has. Accuracy is the mean over classes of
one-versus-rest accuracy, as in the paper. Printed as Markdown beside the published figures where
they are available: size, best and mean accuracy, and the result of a signed-rank test against all
features (+ better, - worse, = no difference). Two claims are checked at the end.

Run by `make grouping`; `ARGS="--seeds 3 --datasets wine --methods psorws"` for a part. Finished
runs are stored in the file of --store, so that a second call only adds the missing ones.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from runs import Store
from scipy import stats
from sklearn.neighbors import KNeighborsClassifier
from swarmrs import algorithms, group, select
from swarmrs.exceptions import SwarmrsWarning
from tables import ROOT, Rows, deal, path_of, published, table, why_absent

DATASETS = "wine,australian,vehicle,german,wdbc,ionosphere,lung_cancer_uci,sonar,musk1,arrhythmia"
METHODS = "all,psofs,psorws,igpso,psomp,gpso,lfs,gsbs"
N_FOLDS, N_TESTED = 10, 3
LEVEL = 0.05
# The paper's accuracies on this table of three classes are tenths of ten rows: plain accuracy,
# which is what the formula gives for two.
CLASSES = {"lung_cancer_uci": 2}
# The numbers of groups that the paper found; the rows that it clustered are not known.
N_GROUPS = {
    "wine": 6,
    "australian": 7,
    "vehicle": 6,
    "german": 10,
    "wdbc": 6,
    "ionosphere": 11,
    "lung_cancer_uci": 5,
    "sonar": 12,
    "musk1": 14,
    "arrhythmia": 15,
}


@dataclass(frozen=True)
class Key:
    """All that a run depends on."""

    data: str
    split: int
    method: str
    seed: int


@dataclass(frozen=True)
class Found:
    """Its result; `counts` are the features selected from each group."""

    size: int
    accuracy: float
    seconds: float
    counts: list[int]


@dataclass(frozen=True)
class Part:
    """Training rows and test rows."""

    x: NDArray[np.float64]
    y: Rows
    x_test: NDArray[np.float64]
    y_test: Rows
    groups: tuple[tuple[int, ...], ...]

    def accuracy(self, selected: list[int], n_classes: int) -> float:
        """Return the one-versus-rest accuracy of these features on the test rows."""
        nearest = KNeighborsClassifier(5).fit(self.x[:, selected], self.y)
        wrong = np.mean(nearest.predict(self.x_test[:, selected]) != self.y_test)
        return float(1 - 2 * wrong / n_classes)


@cache
def _part(data: str, split: int) -> Part:
    x, y = table(data)
    is_test = deal(y, split, N_FOLDS) < N_TESTED
    filled = np.where(np.isnan(x), np.nanmean(x[~is_test], axis=0), x)
    by = f"lbm={N_GROUPS[data]}" if data in N_GROUPS else "lbm"
    groups = group((filled[~is_test], y[~is_test]), by=by).indices
    return Part(filled[~is_test], y[~is_test], filled[is_test], y[is_test], groups)


def _selected(part: Part, method: str, seed: int) -> list[int]:
    if method == "all":
        return list(range(part.x.shape[1]))
    data, uses_groups = (part.x, part.y), method not in ("psofs", "lfs", "gsbs")
    with warnings.catch_warnings():
        # Classes of a few rows; nothing can be done about it here.
        warnings.simplefilter("ignore", SwarmrsWarning)
        if method in ("lfs", "gsbs"):
            # They scale features, as the program that the paper ran does.
            found = select(
                data,
                algo=method,
                estimator=KNeighborsClassifier(5),
                scale="minmax",
                cv="wrap5",
                cv_seed=0,
                random_state=seed,
                constant="keep",
            )
            return list(found.selected_indices)
        found = select(
            data,
            algo=method,
            preset="xue2016",
            feature_groups=part.groups if uses_groups else None,
            random_state=seed,
        )
    return list(found.selected_indices)


def _run(key: Key) -> Found:
    part = _part(key.data, key.split)
    start = time.perf_counter()
    selected = _selected(part, key.method, key.seed)
    seconds = time.perf_counter() - start
    n_classes = CLASSES.get(key.data, len(np.unique(table(key.data)[1])))
    counts = [len({*members} & {*selected}) for members in part.groups]
    return Found(len(selected), 100 * part.accuracy(selected, n_classes), seconds, counts)


def _wanted(args: argparse.Namespace, datasets: list[str]) -> Iterator[Key]:
    """Yield the runs, seed by seed, so that an interrupted comparison is a fair one."""
    stochastic = {card.id for card in algorithms() if card.family == "swarm"}
    for seed in range(1, args.seeds + 1):
        for data in datasets:
            for method in args.methods:
                if seed == 1 or method in stochastic:
                    yield Key(data, args.split, method, seed)


def _sign(values: list[float], constant: float) -> str:
    """Say whether runs differ from what all features give, and to which side."""
    differences = np.array(values) - constant
    if not differences.any() or stats.wilcoxon(differences).pvalue >= LEVEL:
        return "="
    return "+" if np.mean(differences) > 0 else "-"


def _line(
    data: str, method: str, runs: dict[Key, Found], args: argparse.Namespace
) -> tuple[str, list[Found]] | None:
    """Return a row of the table and its runs; None where none is finished."""
    done = _done(data, method, runs, args)
    if not done:
        return None
    values = [found.accuracy for found in done]
    everything = _done(data, "all", runs, args)
    figures = published("xue2016")
    n_groups = figures.get((data, "", "groups"), "")

    def printed(metric: str) -> str:
        return figures.get((data, method, metric), "")

    spread = f" ± {np.std(values, ddof=1):.2f}" if len(values) > 1 else ""
    sign = _sign(values, everything[0].accuracy) if len(values) > 1 and everything else ""
    cells = [
        data,
        method,
        str(len(done)),
        f"{len(done[0].counts)}",
        n_groups,
        f"{np.mean([found.size for found in done]):.2f}",
        printed("size"),
        f"{max(values):.2f}",
        printed("best_accuracy"),
        f"{np.mean(values):.2f}{spread}",
        " ± ".join(filter(None, (printed("accuracy"), printed("accuracy_sd")))),
        sign,
        printed("vs_all"),
        f"{np.mean([found.seconds for found in done]):.2f}",
    ]
    return "| " + " | ".join(cells) + " |", done


def _done(data: str, method: str, runs: dict[Key, Found], args: argparse.Namespace) -> list[Found]:
    keys = (Key(data, args.split, method, seed) for seed in range(1, args.seeds + 1))
    return [runs[key] for key in keys if key in runs]


def _check(found: dict[tuple[str, str], list[Found]], datasets: list[str]) -> None:
    """Print whether two claims hold."""
    off = [
        data
        for data in datasets
        for run in found.get((data, "psorws"), [])
        if any(count != 1 for count in run.counts) or run.size != len(run.counts)
    ]
    print(f"\npsorws has exactly one feature of each group in every run: {_verdict(off)}")
    both = [data for data in datasets if {(data, "igpso"), (data, "psofs")} <= found.keys()]

    def mean_size(data: str, method: str) -> float:
        return float(np.mean([run.size for run in found[data, method]]))

    larger = [data for data in both if mean_size(data, "igpso") >= mean_size(data, "psofs")]
    print(f"igpso is smaller than psofs on every table: {_verdict(larger)}")


def _verdict(exceptions: list[str]) -> str:
    return f"no, not on {', '.join(sorted({*exceptions}))}" if exceptions else "yes"


def _words(text: str) -> list[str]:
    return text.split(",")


def main() -> None:
    """Run what is missing and print the table."""
    parser = argparse.ArgumentParser(description="Repeat the comparison of grouped swarms.")
    parser.add_argument("--seeds", type=int, default=10, help="runs of each swarm")
    parser.add_argument("--split", type=int, default=1, help="deals the rows to folds")
    parser.add_argument("--datasets", type=_words, default=_words(DATASETS), help="with commas")
    parser.add_argument("--methods", type=_words, default=_words(METHODS), help="with commas")
    parser.add_argument("--workers", type=int, default=2, help="runs at a time")
    parser.add_argument(
        "--store", type=Path, default=ROOT / "benches" / "results" / "grouping.jsonl"
    )
    parser.add_argument("--print-only", action="store_true", help="print what is finished")
    args = parser.parse_args()
    datasets = [name for name in args.datasets if path_of(name).exists()]
    for name in sorted({*args.datasets} - {*datasets}):
        print(f"skipped: {why_absent(name)}", file=sys.stderr)
    store = Store(args.store, Key, Found)
    if args.print_only:
        runs = store.read()
    else:
        runs = store.complete(list(_wanted(args, datasets)), _run, args.workers)
    print(
        "| table | method | runs | groups | pub. | size | pub. | best | pub. | mean | pub. "
        "| test | pub. | s |"
    )
    print("|---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|:-:|:-:|--:|")
    found = {}
    for data in datasets:
        for method in args.methods:
            line = _line(data, method, runs, args)
            if line is not None:
                print(line[0])
                found[data, method] = line[1]
    _check(found, datasets)


if __name__ == "__main__":
    main()
