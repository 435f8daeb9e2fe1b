"""Sections of `vs_python.py` without a rival: threads, large tables, incremental evaluation."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import baselines
import numpy as np
import polars as pl
from baselines import Codes, Floats
from sklearn import datasets
from sklearn.neighbors import KNeighborsClassifier
from swarmrs import Evaluator
from tables import ROOT, path_of, why_absent
from timing import timed


@dataclass(frozen=True)
class Line:
    """One measured figure; `target` bounds the ratio where there is one, otherwise the value."""

    job: str
    data: str
    how: str
    value: float
    unit: str
    ratio: float | None = None
    target: float | None = None
    sign: str = ">="
    note: str = ""

    @property
    def is_met(self) -> bool | None:
        """Whether the target is met; None without a target."""
        if self.target is None:
            return None
        figure = self.value if self.ratio is None else self.ratio
        return figure >= self.target if self.sign == ">=" else figure <= self.target


def _table(name: str) -> tuple[Floats, Codes] | None:
    """Read one of the larger tables; None where they are not at hand."""
    path = path_of(name)
    if not path.exists():
        print(f"\nskipped: {why_absent(name)}", flush=True)
        return None
    frame = pl.read_parquet(path)
    x = frame.drop("class").to_numpy().astype(np.float64)
    return x, np.unique(frame["class"].to_numpy(), return_inverse=True)[1].astype(np.int64)


def threads(repeats: int) -> list[Line]:
    """Time a generation of 30 random subsets of digits on 1 and on 2 threads, by the wall clock."""
    x, y = datasets.load_digits(return_X_y=True)
    x, y = baselines.scaled(x), y.astype(np.int64)
    masks = np.random.default_rng(30).random((31, x.shape[1])) < 0.5
    lines = []
    for how, incremental in (("from scratch", False), ("with cached references", True)):
        best = {1: np.inf, 2: np.inf}
        scores = {}
        for _ in range(max(3, repeats)):
            for n_jobs in best:
                evaluator = Evaluator(
                    x, y, cv=baselines.N_FOLDS, n_jobs=n_jobs, incremental=incremental
                )
                evaluator.measure(masks[:1])  # starts the threads
                started = time.perf_counter()
                scores[n_jobs] = evaluator.measure(masks[1:])
                best[n_jobs] = min(best[n_jobs], time.perf_counter() - started)
        same = "same scores" if np.array_equal(scores[1], scores[2]) else "SCORES DIFFER"
        job, data = "2 threads against 1", "digits, 30 subsets"
        lines.append(Line(job, data, f"1 thread, {how}", best[1] * 1e3, "ms"))
        speedup = best[1] / best[2]
        lines.append(
            Line(job, data, f"2 threads, {how}", best[2] * 1e3, "ms", speedup, 1.7, note=same)
        )
    return lines


def letter(repeats: int) -> list[Line]:
    """Evaluate all features of 20 000 rows in a process of its own, to see its peak memory."""
    if not path_of("letter").exists():
        _table("letter")
        return []
    command = [sys.executable, str(ROOT / "benches" / "vs_python.py"), "--probe"]
    answer = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    job, data = "1-NN, leave-one-out, 2 threads", "letter 20000 x 16, all features"
    note = f"error {answer['error']:.5f}"
    return [
        Line(job, data, "best time", answer["seconds"], "s", target=0.5, sign="<=", note=note),
        Line(job, data, "peak memory of the process", answer["mib"], "MiB", target=1024, sign="<="),
    ]


def probe_letter() -> None:
    """Do the work of `letter` and print its figures as JSON."""
    table = _table("letter")
    assert table is not None, "the caller has checked that the table is there"
    x, y = table
    everything = np.ones((1, x.shape[1]), np.bool_)
    seconds, error = np.inf, np.nan
    for _ in range(3):
        evaluator = Evaluator(
            x, y, estimator=KNeighborsClassifier(1), cv="loo", scale="minmax", n_jobs=2
        )
        started = time.perf_counter()
        scores = evaluator.measure(everything)
        seconds = min(seconds, time.perf_counter() - started)
        error = float(scores["error"][0])
    mib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"seconds": seconds, "error": error, "mib": mib}))


def prostate(repeats: int) -> list[Line]:
    """Count element operations per second on many columns: 5000 of 10509, Manhattan, one thread."""
    table = _table("prostate")
    if table is None:
        return []
    x, y = table
    rng = np.random.default_rng(12)
    masks = np.zeros((20, x.shape[1]), np.bool_)
    for mask in masks:
        mask[rng.choice(x.shape[1], 5000, replace=False)] = True
    seconds = np.inf
    for _ in range(repeats):
        evaluator = Evaluator(
            x,
            y,
            estimator=KNeighborsClassifier(1, metric="manhattan"),
            cv="loo",
            scale="minmax",
            n_jobs=1,
            incremental=False,
        )
        evaluator.measure(masks[:1])
        spent, _ = timed(partial(evaluator.measure, masks[1:]))
        seconds = min(seconds, spent / (len(masks) - 1))
    rate = len(y) * (len(y) - 1) / 2 * 5000 / seconds / 1e9
    job, data = "1-NN, leave-one-out, Manhattan, 1 thread", "prostate 102 x 10509, 5000 features"
    return [
        Line(job, data, "swarmrs", seconds * 1e3, "ms"),
        Line(job, data, "element operations, 10^9 a second", rate, "G/s", target=12),
    ]


def musk1(repeats: int) -> list[Line]:
    """Run PBPSO as a user does, and compute its share of the from-scratch operations."""
    path = path_of("musk1")
    if not path.exists():
        _table("musk1")
        return []
    swarmrs = Path(sys.executable).parent / "swarmrs"
    command = [
        str(swarmrs),
        "select",
        str(path),
        "--algo",
        "pbpso",
        "--seed",
        "1",
        "--format",
        "json",
    ]
    run = subprocess.run(command, check=True, capture_output=True, text=True)
    found = json.loads(run.stdout)
    work, seconds = found["work"], found["seconds"]["total"]
    share = 100 * work["element_ops"] / work["from_scratch_ops"]
    job, data = "PBPSO, settings as they come", "musk1 476 x 166"
    counts = found["evaluations"]
    note = f"{counts['total']} evaluations, {counts['unique']} unique"
    return [
        Line(job, data, "run", seconds, "s", note=note),
        Line(job, data, "share of from-scratch operations", share, "%", target=50, sign="<="),
    ]


SECTIONS: dict[str, Callable[[int], list[Line]]] = {
    "threads": threads,
    "letter": letter,
    "prostate": prostate,
    "musk1": musk1,
}
