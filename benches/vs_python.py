"""Measure swarmrs against scikit-learn and numpy, in one run on one machine.

Each line gives milliseconds of CPU per evaluated subset on one thread, everything from scratch,
and how many times faster swarmrs is than that rival; `target` is the least ratio the project
promises. No evaluator object sees a subset twice, so that no memo helps. Absolute times differ
between machines: read the ratios.

    python benches/vs_python.py --only threads
"""

from __future__ import annotations

import os

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_name] = "1"  # before numpy is imported: the rivals have one thread as well

import argparse
import json
import platform
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from importlib.metadata import version
from pathlib import Path

import baselines
import large
import numpy as np
from baselines import Baseline, Codes, Floats, Mask
from large import Line
from numpy.typing import NDArray
from sklearn import datasets
from sklearn.neighbors import KNeighborsClassifier
from swarmrs import Evaluator
from timing import Report, add_store_option, timed

SEED = 7
SUBSET_SIZES = {"wine": 7, "breast_cancer": 15, "digits": 32}


@dataclass(frozen=True)
class Rival:
    """A way to score a subset, and how many times faster swarmrs promises to be."""

    name: str
    make: Callable[[Floats, Codes], Baseline]
    targets: dict[str, float]
    averages_folds: bool = False


@dataclass(frozen=True)
class Job:
    """One fitness: how swarmrs is set to it, and its rivals."""

    title: str
    make: Callable[[Floats, Codes], Evaluator]
    rivals: Sequence[Rival]
    data: Sequence[str] = tuple(SUBSET_SIZES)


SCRATCH = partial(Evaluator, scale="minmax", n_jobs=1, incremental=False)
# Folds are not shuffled, as those of scikit-learn.
FOLDED = partial(SCRATCH, cv=baselines.N_FOLDS)
JOBS = {
    "knn": Job(
        "5-NN, 10-fold, Euclidean",
        partial(FOLDED, estimator=KNeighborsClassifier(5)),
        [
            Rival(
                "scikit-learn cross_val_score",
                lambda x, y: baselines.sklearn_knn(x, y, p=2),
                {"wine": 1000, "breast_cancer": 150, "digits": 10},
                averages_folds=True,
            ),
            Rival(
                "numpy, one float32 GEMM + 5 argmin",
                baselines.numpy_knn,
                {"wine": 4, "breast_cancer": 3, "digits": 2},
                averages_folds=True,
            ),
        ],
    ),
    "manhattan": Job(
        "5-NN, 10-fold, Manhattan",
        partial(FOLDED, estimator=KNeighborsClassifier(5, metric="manhattan")),
        [
            Rival(
                "scikit-learn cross_val_score, p=1",
                lambda x, y: baselines.sklearn_knn(x, y, p=1),
                {},
                averages_folds=True,
            ),
            Rival(
                "scipy cdist + 5 argmin",
                baselines.scipy_manhattan,
                {"breast_cancer": 10},
                averages_folds=True,
            ),
        ],
    ),
    "nb": Job(
        "Gaussian naive Bayes, 10-fold",
        partial(FOLDED, estimator="nb"),
        [
            Rival(
                "scikit-learn cross_val_score",
                baselines.sklearn_nb,
                {"wine": 5000, "breast_cancer": 5000},
                averages_folds=True,
            ),
            Rival(
                "numpy, tabulated terms, gather + sum",
                baselines.numpy_nb_gather,
                {"wine": 5, "breast_cancer": 5},
            ),
            Rival(
                "numpy, tabulated terms, one float32 product",
                baselines.numpy_nb_product,
                {"wine": 5, "breast_cancer": 5},
            ),
        ],
    ),
    "loo": Job(
        "1-NN, leave-one-out, Euclidean",
        partial(SCRATCH, estimator=KNeighborsClassifier(1), cv="loo"),
        [
            Rival(
                "scikit-learn kneighbors()",
                baselines.sklearn_loo,
                {"wine": 10, "breast_cancer": 10},
            ),
            Rival("numpy, one float32 GEMM + argmin", baselines.numpy_loo, {}),
        ],
    ),
}


def load(name: str) -> tuple[Floats, Codes]:
    """Load one of scikit-learn's tables, columns scaled to 0..1."""
    x, y = getattr(datasets, f"load_{name}")(return_X_y=True)
    return baselines.scaled(x), y.astype(np.int64)


def distinct_masks(n_features: int, size: int, count: int) -> list[Mask]:
    """Draw different random subsets of one size."""
    rng = np.random.default_rng(SEED)
    masks: dict[bytes, Mask] = {}
    while len(masks) < count:
        mask = np.zeros(n_features, np.bool_)
        mask[rng.choice(n_features, size, replace=False)] = True
        masks[mask.tobytes()] = mask
    return list(masks.values())


def seconds_of(work: Callable[[Mask], object], mask: Mask) -> float:
    """CPU seconds of one call: all threads count, so nobody gains by a second one."""
    started = time.process_time()
    work(mask)
    return time.process_time() - started


class Contest:
    """A rival on one table, and the best time it took for each of the first few subsets."""

    def __init__(self, rival: Rival, x: Floats, y: Codes, masks: Sequence[Mask]) -> None:
        self.rival, self.error = rival, rival.make(x, y)
        once = min(seconds_of(self.error, masks[0]) for _ in range(2))
        self.masks = masks[: int(np.clip(0.1 / once, 3, 20))]
        self.best = np.full(len(self.masks), np.inf)

    def go(self) -> None:
        """Time every subset once more."""
        spent = [seconds_of(self.error, mask) for mask in self.masks]
        self.best = np.minimum(self.best, spent)

    def gap(self, scores: NDArray[np.void]) -> float:
        """Give the largest difference between its errors and ours."""
        ours = scores["error" if self.rival.averages_folds else "pooled_error"]
        theirs = np.array([self.error(mask) for mask in self.masks])
        return float(np.abs(theirs - ours[: len(theirs)]).max())


def run_job(job: Job, name: str, repeats: int) -> list[Line]:
    """Time one fitness on one table: all ways alternate, the best time of each counts."""
    x, y = load(name)
    n_features, size = x.shape[1], SUBSET_SIZES[name]
    masks = distinct_masks(n_features, size, 60 if name == "digits" else 200)
    batch, everything = np.stack(masks), np.ones(n_features, np.bool_)

    contests = [Contest(rival, x, y, masks) for rival in job.rivals]
    ours = np.inf
    for _ in range(repeats):
        evaluator = job.make(x, y)
        evaluator.measure(everything)  # tables that do not depend on the subset are made here
        seconds, scores = timed(partial(evaluator.measure, batch))
        ours = min(ours, seconds / len(masks))
        for contest in contests:
            contest.go()

    where = f"{name} {size} of {n_features}"
    lines = [Line(job.title, where, "swarmrs", ours * 1e3, "ms")]
    for contest in contests:
        rival, theirs = contest.rival, float(contest.best.mean())
        note = f"errors differ by at most {contest.gap(scores):.4f}"
        target = rival.targets.get(name)
        ratio = theirs / ours
        lines.append(
            Line(job.title, where, rival.name, theirs * 1e3, "ms", ratio, target, note=note)
        )
    return lines


def print_lines(lines: Sequence[Line]) -> None:
    """Print lines as a table, one block for each fitness and table."""
    previous = ("", "")
    for line in lines:
        if (line.job, line.data) != previous:
            print(f"\n{line.job}: {line.data}")
            previous = (line.job, line.data)
        ratio = "" if line.ratio is None else f"{line.ratio:10.2f}x"
        target = "" if line.target is None else f"target {line.sign} {line.target:g}"
        verdict = "" if line.is_met is None else ("pass" if line.is_met else "MISS")
        text = (
            f"  {line.how:44} {line.value:11.4f} {line.unit:6}{ratio:>12}  {target:16}{verdict:6}"
        )
        print(f"{text}{line.note}".rstrip(), flush=True)


def report_of(lines: Sequence[Line]) -> Report:
    """Return the lines as one table."""
    report = Report("evaluation", is_printed=False)
    report.header("evaluation", "table", "contestant", "value", "ratio", "target", names=3)
    for line in lines:
        ratio = "" if line.ratio is None else f"{line.ratio:.2f}"
        target = "" if line.target is None else f"{line.sign} {line.target:g}"
        report.row(line.job, line.data, line.how, f"{line.value:.4g} {line.unit}", ratio, target)
    return report


def main() -> None:
    """Run the sections requested, print their tables, write them to a file if one is named."""
    sections = [*JOBS, *large.SECTIONS]
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--only", action="append", choices=sections, help="run this section only")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the lines here as well")
    parser.add_argument("--repeats", type=int, default=9, help="goes of which the best counts")
    add_store_option(parser)
    parser.add_argument("--probe", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.probe:
        large.probe_letter()
        return

    lines: list[Line] = []
    for section in arguments.only or sections:
        if section in JOBS:
            job = JOBS[section]
            for name in job.data:
                found = run_job(job, name, arguments.repeats)
                print_lines(found)
                lines += found
        else:
            found = large.SECTIONS[section](arguments.repeats)
            print_lines(found)
            lines += found
    verdicts = [line.is_met for line in lines if line.is_met is not None]
    print(f"\n{sum(verdicts)} of {len(verdicts)} targets met")
    if arguments.store:
        report_of(lines).store()
    if arguments.json:
        packages = ("swarmrs", "numpy", "scipy", "scikit-learn")
        report = {
            "python": platform.python_version(),
            "machine": f"{platform.machine()}, {os.cpu_count()} cores",
            "versions": {package: version(package) for package in packages},
            "lines": [asdict(line) | {"is_met": line.is_met} for line in lines],
        }
        arguments.json.write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
