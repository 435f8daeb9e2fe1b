"""Random searches in one process, for as long as wanted: `make soak` runs it.

Each search has random data (outliers, ties, copies, constant columns, tiny differences), a random
algorithm of the registry and random settings. Each result is checked: the scores are those that
the evaluator gives for the subset, the same seed gives the same result, constraints hold. The
resident memory must be flat over the second half of the time.
"""

import argparse
import contextlib
import ctypes
import gc
import os
import random
import resource
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import swarmrs
from numpy.typing import NDArray
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from swarmrs.exceptions import DataError, SpecError, SwarmrsWarning

# What one search may cost, about: rows^2 x features of a table, and that times evaluations.
SIZE, WORK = 3e7, 3e9
# Growth of the resident memory over the second half that is more than noise.
FLAT = 0.05
SLACK_MB = 30


@dataclass
class Soak:
    """What was done and seen.

    Attributes
    ----------
    searches : int
        Searches that ended with a result.
    refused : Counter
        Searches that were refused, by the first words of the message: settings do not fit.
    problems : list of str
        What must not be: errors, and results that break a rule.
    memory : list of (float, float)
        Seconds since the start and megabytes resident.
    """

    searches: int = 0
    refused: Counter[str] = field(default_factory=Counter)
    algorithms: Counter[str] = field(default_factory=Counter)
    problems: list[str] = field(default_factory=list)
    memory: list[tuple[float, float]] = field(default_factory=list)


def resident_megabytes() -> float:
    """Return the resident memory of this process, without what the allocator keeps for later."""
    with contextlib.suppress(OSError, AttributeError):  # the C library of Linux has it
        ctypes.CDLL(None).malloc_trim(0)
    statm = Path("/proc/self/statm")
    if statm.exists():
        return int(statm.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20
    # Elsewhere only the peak is known, in kilobytes but for macOS: flat if the present is.
    unit = 1 if sys.platform == "darwin" else 2**10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 2**20


def table(rng: random.Random) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return random features and classes."""
    generator = np.random.default_rng(rng.randrange(2**32))
    rows = int(10 ** rng.uniform(1, 3.48))
    columns = int(min(10 ** rng.uniform(0.61, 3.31), max(4, SIZE / rows**2)))
    n_classes = rng.choice((2, 2, 2, 3, 5))
    codes = generator.permutation(np.arange(rows) % min(n_classes, rows // 4))
    x = generator.normal(size=(rows, columns))
    informative = generator.integers(0, columns, size=min(columns, 4))
    x[:, informative] += codes[:, None] * generator.uniform(0, 2, size=len(informative))
    for _ in range(rng.randrange(5)):
        column = rng.randrange(columns)
        match rng.randrange(8):
            case 0:
                x[rng.randrange(rows), column] = rng.choice((1e6, -1e9, 1e15))
            case 1:
                x[:, column] = np.round(x[:, column])
            case 2:
                x[:, column] = x[:, rng.randrange(columns)]
            case 3:
                x[:, column] = rng.choice((0.0, 1.0, -1e5))
            case 4:
                x[:, column] = np.exp(4 * np.clip(x[:, column], -9, 9))
            case 5:
                x[:, column] = 1e6 + 1e-6 * x[:, column]
            case 6:
                x[:, column] *= rng.choice((1e-9, 1e9))
            case 7:
                x[rng.randrange(rows)] = x[rng.randrange(rows)]
    return x, codes


def neighbors(rng: random.Random) -> KNeighborsClassifier:
    """Return random nearest neighbors."""
    return KNeighborsClassifier(
        rng.choice((1, 3, 5, 7)),
        metric=rng.choice(("euclidean", "manhattan")),
        weights=rng.choice(("uniform", "distance")),
    )


def settings(rng: random.Random, rows: int, columns: int) -> dict[str, Any]:
    """Return random settings of a search whose cost is bounded."""
    given: dict[str, Any] = {
        "algo": rng.choice([card.id for card in swarmrs.algorithms()]),
        "random_state": rng.randrange(2**32),
        "max_evals": int(max(100, min(400, WORK / (rows * rows * columns)))),
        "time_limit": None,
    }
    options: dict[str, tuple[Any, ...]] = {
        "estimator": (
            *("knn", "knn", "nb"),
            *(neighbors(rng) for _ in range(3)),
            make_pipeline(StandardScaler(), neighbors(rng)),
        ),
        "cv": (2, 3, 5, 10, "loo", "holdout=0.3"),
        "cv_seed": (0, 1, 99),
        "scale": ("minmax", "standard", "none", "fold-minmax"),
        "scoring": (
            "accuracy",
            "balanced_accuracy",
            "f1_macro",
            "matthews_corrcoef",
            "ovr_accuracy",
        ),
        "objective": (
            *("error", "paper", "weighted", "filter-mrmr", "filter-cfs"),
            {"kind": "weighted", "alpha": 0.7},
        ),
        "max_features": (1, 2, 5, 20, 0.5),
        "include": ([0], [1, 2]),
        "exclude": ([3], [0]),
        "together": ([[0, 1]], [[1, 2], [3, 0]]),
        "prescreen": ("top=10", "su>0", "fcbf", "cfs"),
        "pick": ("best", "knee", "size<=3", "1se"),
        "patience": (2, 5),
        "memory": (0, 1 << 16, 1 << 30),
        "n_jobs": (1, 2),
        "keep_all": (True,),
        "test_size": (0.2, 0.5),
        "outer_cv": (2, 3),
        "repeats": (2,),
        "feature_groups": ("hclust", "lbm"),
        "one_per_group": (True,),
    }
    for name in rng.sample(list(options), rng.randrange(6)):
        given[name] = rng.choice(options[name])
    if given.get("objective") == "filter-mrmr":
        given.pop("scoring", None)
    # Several searches share the work of one.
    if {"outer_cv", "repeats"} & {*given}:
        given["max_evals"] = max(100, given["max_evals"] // 4)
    return {name: value for name, value in given.items() if value is not None}


def same(one: swarmrs.Selection, other: swarmrs.Selection) -> bool:
    """Tell whether two results are equal, but for seconds and work."""
    return (
        one.selected_indices == other.selected_indices
        and one.cost == other.cost
        and one.scores == other.scores
        and one.trace.drop("seconds", strict=False).equals(
            other.trace.drop("seconds", strict=False)
        )
    )


def check(
    found: swarmrs.Selection,
    x: NDArray[np.float64],
    y: NDArray[np.int64],
    given: dict[str, Any],
) -> list[str]:
    """Return the rules that a result breaks."""
    chosen, wrong = {*found.selected_indices}, []
    if {*np.flatnonzero(found.support)} != chosen or len(found.selected) != len(chosen):
        wrong.append("support and names differ")
    if not {*given.get("include", ())} <= chosen:
        wrong.append("an included feature is out")
    if {*given.get("exclude", ())} & chosen:
        wrong.append("an excluded feature is in")
    most = given.get("max_features", len(found.support))
    if len(chosen) > (most if isinstance(most, int) else max(1, int(most * len(found.support)))):
        wrong.append("too many features")
    for members in given.get("together", ()):
        if 0 < len({*members} & chosen) < len(members):
            wrong.append("features that belong together are apart")
    if given.get("one_per_group") and found.groups is not None:
        names = {*found.selected}
        if any(len(names & {*group}) > 1 for group in found.groups):
            wrong.append("two features of one group")
    if given.get("pick", "").startswith("size") and len(chosen) > 3:
        wrong.append("more features than picked")
    if not chosen:
        wrong.append("nothing is chosen")
    if "test_size" in given:
        return wrong  # the rows searched are drawn inside
    evaluation: dict[str, Any] = dict(found.evaluation)
    how: dict[str, Any] = {
        "estimator": given.get("estimator"),
        "cv": _folds(evaluation["folds"]),
        "cv_seed": given.get("cv_seed"),
        "scale": given.get("scale"),
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SwarmrsWarning)
        scores = swarmrs.Evaluator(x, y, **how).measure(found.support)
    for name in scores.dtype.names or ():
        score = found.scores.get(name)
        if score is not None and score != scores[name][0]:
            wrong.append(f"{name} is {score}, evaluated again {scores[name][0]} by {how}")
    return wrong


def _folds(folds: dict[str, Any]) -> int | str:
    """Return the folds a result names as `cv` has them."""
    match folds["scheme"]:
        case "kfold":
            return int(folds["k"])
        case "complete" | "holdout":
            return f"{folds['scheme']}={folds['test']}"
    return str(folds["scheme"])


def one_search(rng: random.Random, soak: Soak, folder: Path) -> None:
    """Run a search twice, perhaps stopped and resumed in between, and check it."""
    x, y = table(rng)
    given = settings(rng, *x.shape)
    what = f"{x.shape[0]} x {x.shape[1]}, {given}"
    try:
        found = swarmrs.select((x, y), **given)
    except (SpecError, DataError) as problem:
        soak.refused[" ".join(str(problem).split()[:5])] += 1
        return
    soak.searches += 1
    soak.algorithms[given["algo"]] += 1
    for wrong in check(found, x, y, given):
        soak.problems.append(f"{wrong}: {what}")
    several = {"repeats", "outer_cv"} & {*given}
    match rng.randrange(4):
        case 0:
            other = {**given, "n_jobs": rng.choice((1, 2)), "memory": rng.choice((0, 1 << 30))}
            if not same(found, swarmrs.select((x, y), **other)):
                soak.problems.append(f"the same seed gives another result: {what}")
        case 1 if not several:
            path, left = folder / "soak.ckpt", rng.randrange(1, 5)

            def stop(iteration: Any) -> bool:
                nonlocal left
                left -= 1
                return left <= 0

            swarmrs.select((x, y), **given, checkpoint=path, callback=stop)
            if not same(found, swarmrs.select((x, y), **given, checkpoint=path)):
                soak.problems.append(f"a resumed search gives another result: {what}")
            path.unlink()


def run(seconds: float, seed: int, *, verbose: bool = True, searches: int | None = None) -> Soak:
    """Search until the time is over and return what was seen."""
    soak, begin, shown = Soak(), time.monotonic(), 0.0
    number = n_reported = 0
    with tempfile.TemporaryDirectory() as made:
        while (since := time.monotonic() - begin) < seconds:
            if searches is not None and number >= searches:
                break
            rng = random.Random(f"{seed}/{number}")
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("error")
                    warnings.simplefilter("ignore", SwarmrsWarning)
                    one_search(rng, soak, Path(made))
            except Exception:
                soak.problems.append(f"search {number}: {traceback.format_exc()}")
            number += 1
            soak.memory.append((time.monotonic() - begin, resident_megabytes()))
            for problem in soak.problems[n_reported:] if verbose else []:
                print(f"problem: {problem}", flush=True)
            n_reported = len(soak.problems)
            if verbose and since - shown > 60:
                shown = since
                print(
                    f"{since / 60:5.1f} min  {soak.searches} searches  "
                    f"{soak.memory[-1][1]:.0f} MB  {len(soak.problems)} problems",
                    flush=True,
                )
    return soak


def growth(memory: list[tuple[float, float]]) -> tuple[float, float]:
    """Return the resident megabytes around the start of the second half and around the end.

    Each is the least of a tenth of the measurements: what a search holds for a moment is no leak.
    """
    values = [megabytes for _, megabytes in memory]
    tenth = max(len(values) // 10, 1)
    middle = len(values) // 2
    return min(values[middle : middle + tenth]), min(values[-tenth:])


def main() -> None:
    """Soak and print what was seen; exit 1 if anything is wrong or memory grows."""
    parser = argparse.ArgumentParser(prog="make soak", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    soak = run(60 * given.minutes, given.seed)
    gc.collect()
    half, end = growth(soak.memory)
    is_flat = end - half <= max(FLAT * half, SLACK_MB)
    print(f"searches       {soak.searches}, of {len(soak.algorithms)} algorithms")
    print(f"refused        {sum(soak.refused.values())}, settings that do not fit each other:")
    for words, count in soak.refused.most_common(12):
        print(f"  {count:4}  {words} ...")
    peak = max(megabytes for _, megabytes in soak.memory)
    print(f"memory         {half:.0f} MB at half time, {end:.0f} MB at the end, peak {peak:.0f} MB")
    print(f"problems       {len(soak.problems)}{'' if is_flat else ', and memory grows'}")
    sys.exit(1 if soak.problems or not is_flat else 0)


if __name__ == "__main__":
    main()
