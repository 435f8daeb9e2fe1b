"""Whole searches: swarmrs against the same swarms in plain Python, in one run on one machine.

Both sides get the same values, folds, objective, settings and number of evaluations; both cache
what they evaluated. The rivals are the swarms of `plain` on two measures: numpy at its best, and
scikit-learn as people call it. Times are those of a whole search for each evaluation: CPU for one
thread, the clock for two. A rival is given what it can prepare beforehand (tables of distances, the
ranking of features); swarmrs pays for all it does. scikit-learn is slow, so it is timed on a sample
of the subsets that the search on numpy measured, and that search's own time is added: as both
measure the same, it would find the same. Read the ratios: times differ between machines.

Run by `make bench-python`; `make bench-python ARGS="--datasets wine --seeds 10"` for a part.
"""

from __future__ import annotations

import argparse
import math
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import plain
import tables
from baselines import Codes, Floats, scaled
from plain.evaluations import Costs, Masks
from scipy.stats import rankdata
from sklearn import datasets
from sklearn.neighbors import KNeighborsClassifier
from swarmrs import select
from swarmrs.exceptions import SwarmrsWarning
from threadpoolctl import threadpool_limits

EMBEDDED = ("wine", "breast_cancer")
DATASETS = "wine,breast_cancer,sonar,musk1,srbct"
SWARMS: dict[str, Callable[..., None]] = {
    "bpso": plain.bpso,
    "pbpso": plain.pbpso,
    "upso2d": plain.upso2d,
    "vlpso": plain.vlpso,
}
# The evaluation of the VLPSO paper; the other swarms have the default one, 5-NN on 10 folds.
HYBRID: dict[str, Any] = {
    "estimator": KNeighborsClassifier(1, metric="manhattan"),
    "scale": "minmax",
    "cv": "loo",
    "objective": "hybrid",
}
STEPS = 65535
CPU, CLOCK = 0, 1


def now() -> Floats:
    """Read the CPU time of all threads of the process, and the clock."""
    return np.array([time.process_time(), time.perf_counter()])


@dataclass(frozen=True)
class Run:
    """What a search found, and the seconds of CPU and clock for each evaluation."""

    cost: float
    mask: Masks
    evaluations: int
    spent: Floats

    @property
    def size(self) -> int:
        """How many features it found."""
        return int(self.mask.sum())


@dataclass(frozen=True)
class Round:
    """The searches of one seed.

    Gaps are between costs of one subset: of what swarmrs found by numpy, and of the sample by
    scikit-learn and numpy, where neighbors may be tied.
    """

    one: Run
    two: Run
    numpy: Run
    scikit_learn: Floats
    sampled: int
    gap_to_numpy: float
    gap_to_scikit_learn: float


class Timed:
    """A measure that counts the time it takes."""

    def __init__(self, costs: Costs) -> None:
        self.costs, self.spent = costs, np.zeros(2)

    def __call__(self, masks: Masks) -> Floats:
        """Measure."""
        start = now()
        found = self.costs(masks)
        self.spent += now() - start
        return found


def load(name: str) -> plain.Problem | None:
    """Read a table onto the grid that swarmrs measures on; None where it is not at hand."""
    if name in EMBEDDED:
        x, y = getattr(datasets, f"load_{name}")(return_X_y=True)
    elif tables.path_of(name).exists():
        x, y = tables.table(name)
    else:
        return None
    # Classes in order of appearance, as scikit-learn deals them to its folds.
    _, first, codes = np.unique(y, return_index=True, return_inverse=True)
    y = np.argsort(np.argsort(first))[codes]
    return plain.Problem((scaled(x) * STEPS).round() / STEPS, y.astype(np.int64))


class Contest:
    """One swarm on one table, on both sides."""

    def __init__(self, problem: plain.Problem, algo: str, order: Codes) -> None:
        self.problem, self.algo = problem, algo
        self.is_hybrid = algo == "vlpso"
        self.swarm = partial(SWARMS[algo], **({"order": order} if self.is_hybrid else {}))
        self.worst = 0.0 if self.is_hybrid else 1.0
        engines = plain.ENGINES["hybrid" if self.is_hybrid else "error"]
        self.numpy = engines["numpy"](problem)
        self.scikit_learn = engines["scikit-learn"](problem)

    def ours(self, seed: int, budget: int, n_jobs: int) -> Run:
        """Search by swarmrs."""
        start = now()
        found = select(
            (self.problem.x, self.problem.y),
            algo=self.algo,
            constant="keep",
            max_evals=budget,
            random_state=seed,
            n_jobs=n_jobs,
            **(HYBRID if self.is_hybrid else {}),
        )
        n = found.evaluations.total
        spent = (now() - start) / n
        return Run(found.cost, np.asarray(found.support), n, spent)

    def round(self, seed: int, budget: int, sample: float) -> Round:
        """Search on both sides, one after the other."""
        one, two = (self.ours(seed, budget, n_jobs) for n_jobs in (1, 2))
        measure = Timed(self.numpy)
        evaluate = plain.Evaluations(measure, self.problem.x.shape[1], budget, self.worst)
        start = now()
        self.swarm(evaluate, np.random.default_rng(seed))
        spent = now() - start
        each, sampled, beyond = self.sample(evaluate.measured, sample)
        theirs = Run(evaluate.best_cost, evaluate.best, evaluate.count, spent / evaluate.count)
        gap = abs(float(self.numpy(one.mask[None])[0]) - one.cost)
        scikit_learn = (spent - measure.spent + each * len(evaluate.measured)) / evaluate.count
        return Round(one, two, theirs, scikit_learn, sampled, gap, beyond)

    def sample(self, measured: Masks, seconds: float) -> tuple[Floats, int, float]:
        """Time scikit-learn on subsets spread over a search; how far it is from numpy, too."""
        start = now()
        self.scikit_learn(measured[:1])
        once = (now() - start)[CPU]
        count = int(np.clip(seconds / once, 3, len(measured)))
        masks = measured[np.linspace(0, len(measured) - 1, count).astype(int)]
        start = now()
        costs = self.scikit_learn(masks)
        each = (now() - start) / count
        return each, count, float(np.abs(costs - self.numpy(masks)).max())


def alike(cells: Sequence[tuple[Sequence[float], Sequence[float]]]) -> tuple[float, float]:
    """Test whether two sides differ: rank sums within cells, added up.

    Parameters
    ----------
    cells : sequence of pairs
        The values of both sides, a cell for each table and swarm.

    Returns
    -------
    z, p : float
        In standard deviations how much the first side ranks higher, and the probability of as much.
    """
    excess, variance = 0.0, 0.0
    for ours, theirs in cells:
        m, n = len(ours), len(theirs)
        total = m + n
        # What differs by rounding is tied: distances are float32 on one side.
        values = np.round([*ours, *theirs], 6)
        ties = np.unique(values, return_counts=True)[1]
        excess += rankdata(values)[:m].sum() - m * (total + 1) / 2
        variance += m * n / 12 * (total + 1 - (ties**3 - ties).sum() / (total * (total - 1)))
    z = excess / math.sqrt(variance) if variance > 0 else 0.0
    return z, math.erfc(abs(z) / math.sqrt(2))


def speed_row(name: str, algo: str, rounds: Sequence[Round]) -> str:
    """Tell how many times longer the rivals take."""
    one, two, rival, slow = (
        np.median(spent, axis=0)
        for spent in (
            [r.one.spent for r in rounds],
            [r.two.spent for r in rounds],
            [r.numpy.spent for r in rounds],
            [r.scikit_learn for r in rounds],
        )
    )
    cells = [
        name,
        algo,
        f"{np.mean([r.one.evaluations for r in rounds]):.0f}",
        f"{1e3 * one[CPU]:.3f}",
        f"{rival[CPU] / one[CPU]:.1f}",
        f"{slow[CPU] / one[CPU]:.0f}",
        f"{rival[CLOCK] / two[CLOCK]:.1f}",
        f"{slow[CLOCK] / two[CLOCK]:.0f}",
        f"{sum(r.sampled for r in rounds)}",
        f"{max(r.gap_to_numpy for r in rounds):.4f}",
        f"{max(r.gap_to_scikit_learn for r in rounds):.4f}",
    ]
    return "| " + " | ".join(cells) + " |"


def quality_row(name: str, algo: str, rounds: Sequence[Round]) -> str:
    """Tell what both sides found."""

    def spread(values: Sequence[float], decimals: int) -> str:
        deviation = np.std(values, ddof=1) if len(values) > 1 else 0.0
        return f"{np.mean(values):.{decimals}f} ± {deviation:.{decimals}f}"

    sides = [[r.one for r in rounds], [r.numpy for r in rounds]]
    costs = [spread([run.cost for run in side], 4) for side in sides]
    sizes = [spread([run.size for run in side], 1) for side in sides]
    return "| " + " | ".join([name, algo, *costs, *sizes]) + " |"


def main() -> None:
    """Print both tables as Markdown, and whether the two sides find alike."""
    parser = argparse.ArgumentParser(description="swarmrs against swarms in plain Python.")
    parser.add_argument("--datasets", default=DATASETS, help="names, with commas")
    parser.add_argument("--algos", default=",".join(SWARMS), help="names, with commas")
    parser.add_argument("--seeds", type=int, default=3, help="searches of each kind")
    parser.add_argument("--evals", type=int, default=2000, help="subsets a search may ask for")
    parser.add_argument(
        "--sample", type=float, default=1.0, help="CPU seconds of scikit-learn in each search"
    )
    args = parser.parse_args()
    warnings.simplefilter("ignore", SwarmrsWarning)

    print("| table | swarm | evaluations | swarmrs, ms | numpy | scikit-learn ", end="")
    print("| numpy, 2 threads | scikit-learn, 2 threads | sampled | gap | its gap |")
    print("|---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|")
    quality, costs, sizes = [], [], []
    with threadpool_limits(1):
        for name in args.datasets.split(","):
            problem = load(name)
            if problem is None:
                print(f"| {name} | not at hand | | | | | | | | | |")
                continue
            order = plain.ranking(problem.x, problem.y)
            for algo in args.algos.split(","):
                contest = Contest(problem, algo, order)
                contest.ours(0, 200, 2)  # What is loaded on the first call is not counted.
                rounds = [
                    contest.round(seed + 1, args.evals, args.sample) for seed in range(args.seeds)
                ]
                print(speed_row(name, algo, rounds), flush=True)
                quality.append(quality_row(name, algo, rounds))
                costs.append(([r.one.cost for r in rounds], [r.numpy.cost for r in rounds]))
                sizes.append(([r.one.size for r in rounds], [r.numpy.size for r in rounds]))

    print("\n| table | swarm | cost, swarmrs | cost, plain | size, swarmrs | size, plain |")
    print("|---|---|--:|--:|--:|--:|")
    print(*quality, sep="\n")
    for what, cells in (("costs", costs), ("sizes", sizes)):
        z, p = alike(cells)
        print(f"\nranks of swarmrs' {what} among both sides': z = {z:+.2f}, p = {p:.2f}")


if __name__ == "__main__":
    main()
