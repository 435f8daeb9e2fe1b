"""One 5-NN evaluation against the best of its rivals, over a grid of rows and subset sizes.

Ten folds and leave-one-out, Euclidean and Manhattan, one core, CPU time, everything from scratch.
Ratios above 1: swarmrs takes less time. Exact rivals are scipy's kd-tree (up to 32 features),
scikit-learn's ArgKmin, the float64 matrix product, and `cdist` for Manhattan; the inexact one is
the float32 matrix product. `rivals.py` has them.

All contestants evaluate the same random subsets in turn, and the least time of each counts. swarmrs
is called once for a batch of subsets, as a search does. A rival that takes more than its share of a
cell's time classifies a sample of the rows, and this time is multiplied; the index of a subset is
timed in full. Such ratios are marked with a star. swarmrs always evaluates all rows. Cells that
need too much time or memory are skipped and listed.

Cells are stored in `benches/results/grid.jsonl` for each machine and build of the engine, and not
measured again: a second call adds those that are missing, `--again` measures those requested anew.
The newest of each cell is printed.

    python benches/grid.py --rows 178,569 --features 2,32 --folds 10 --metrics euclidean
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial
from itertools import product
from statistics import median

import numpy as np
import rivals
from baselines import N_FOLDS, N_NEIGHBORS, Codes, Floats, Mask, fold_of_rows, scaled
from runs import Store
from sklearn.neighbors import KNeighborsClassifier
from swarmrs import Evaluator
from threadpoolctl import threadpool_limits
from timing import RESULTS, Report, engine, gaussian_classes, machine, random_masks, timed

ROWS = (178, 569, 1797, 5000, 20_000, 100_000)
FEATURES = (2, 4, 8, 32, 128, 512, 2048)
FOLDS = ("10", "loo")
METRICS = ("euclidean", "manhattan")
QUICK = {"rows": "178,569,1797", "features": "2,32,512"}
#: Ratios below these are losses: against exact rivals, and against the float32 matrix product.
LEAST_EXACT, LEAST_INEXACT = 1.0, 0.9
#: A rival this many times slower than the best one of its kind is not timed again.
HOPELESS = 2.0
MOST_ROUNDS = 100
#: Subsets of a batch, at most; it takes this many seconds if that is enough for so many.
MOST_SUBSETS, BATCH = 64, 2e-3
#: Features of the table that a subset leaves out.
SPARE = 4
#: Element operations a second, to predict the time of a cell before it is measured.
RATE = 5e10
#: Copies of the table that the contestants hold together, in float64.
COPIES = 9


@dataclass(frozen=True)
class Cell:
    """A cell of the grid on one machine, with one build of the engine."""

    rows: int
    features: int
    folds: str
    metric: str
    engine: str
    machine: str

    @property
    def place(self) -> tuple[int, int, str, str]:
        """The cell, whatever machine and engine."""
        return self.rows, self.features, self.folds, self.metric

    @property
    def name(self) -> str:
        """What is evaluated."""
        name = "leave-one-out" if self.folds == "loo" else f"{self.folds} folds"
        return f"{self.rows} x {self.features} {name} {self.metric}"


@dataclass(frozen=True)
class Found:
    """Seconds of a cell; the share of the rows that a rival classified, if not all."""

    seconds: float = 0.0
    exact: dict[str, float] = field(default_factory=dict)
    inexact: dict[str, float] = field(default_factory=dict)
    sampled: dict[str, float] = field(default_factory=dict)
    rounds: int = 0
    gap: float = 0.0
    skipped: str = ""

    def ratio(self, is_exact: bool = True) -> tuple[float, str] | None:
        """Return the time of the best rival over ours, and its name; None without a rival."""
        times = self.exact if is_exact else self.inexact
        if not times:
            return None
        name = min(times, key=lambda name: times[name])
        return times[name] / self.seconds, name


@dataclass
class _Timed:
    """A rival, the rows it is timed on, and its least time for all rows."""

    entry: rivals.Entry
    n_rows: int
    seconds: float = float("inf")
    errors: Floats = field(default_factory=lambda: np.zeros(0))


@dataclass(frozen=True)
class Limits:
    """Seconds of all rounds, seconds of one evaluation, GiB of memory."""

    seconds: float
    evaluation: float
    memory: float


@lru_cache(maxsize=1)
def _table(rows: int, features: int) -> tuple[Floats, Codes]:
    X, y = gaussian_classes(rows, features + SPARE)
    return scaled(X), y


def _reason_to_skip(cell: Cell, limits: Limits) -> str:
    seconds = cell.rows**2 / 2 * cell.features / RATE
    memory = cell.rows * (cell.features + SPARE) * 8 * COPIES / 2**30
    if seconds > limits.evaluation:
        return f"an evaluation takes about {seconds:.0f} s, the limit is {limits.evaluation:g} s"
    if memory > limits.memory:
        return f"the contestants need about {memory:.0f} GiB, the limit is {limits.memory:g} GiB"
    return ""


def _sample(entry: rivals.Entry, mask: Mask, n: int, seconds: float) -> _Timed:
    """Choose how many rows a rival classifies, by doubling them until a tenth of the time is up."""
    count, step = entry.rival(mask), min(n, entry.step)
    spent, n_rows = timed(partial(count, slice(0, step)))[0], step
    while n_rows < n and spent < seconds / 10:
        n_rows = min(2 * n_rows, n)
        spent = timed(partial(count, slice(0, n_rows)))[0]
    enough = int(n_rows * seconds / spent) // step * step
    return _Timed(entry, min(n, max(n_rows, enough)))


def _round(rival: _Timed, masks: Sequence[Mask], n: int) -> float:
    """Time a rival once; return the time spent."""
    rows = slice(0, rival.n_rows)
    indexed = 0.0
    spent, counts = timed(lambda: [rival.entry.rival(mask)(rows) for mask in masks])
    if rival.n_rows < n:
        indexed = timed(lambda: [rival.entry.rival(mask) for mask in masks])[0]
    whole = indexed + (spent - indexed) * n / rival.n_rows
    rival.seconds = min(rival.seconds, whole / len(masks))
    rival.errors = np.array(counts) / rival.n_rows
    return spent + indexed


def measure(cell: Cell, limits: Limits) -> Found:
    """Time all contestants of a cell."""
    n = cell.rows
    x, y = _table(n, cell.features)
    problem = rivals.Problem(x, y, None if cell.folds == "loo" else fold_of_rows(y))
    evaluator = Evaluator(
        x,
        y,
        estimator=KNeighborsClassifier(N_NEIGHBORS, metric=cell.metric),
        cv="loo" if cell.folds == "loo" else N_FOLDS,
        scale="minmax",
        n_jobs=1,
        incremental=False,
    )
    masks = random_masks(cell.features + SPARE, cell.features, MOST_SUBSETS)
    first = timed(lambda: evaluator.measure(masks[0]))
    masks = masks[: max(1, min(MOST_SUBSETS, int(BATCH / first[0])))]
    # Threads of OpenMP are limited for the thread that asks for it.
    with threadpool_limits(1):
        entries = rivals.entries(problem, cell.metric, cell.features)
        share = limits.seconds / (1 + len(entries))
        contest = [_sample(entry, masks[0], n, share / len(masks)) for entry in entries]
        ours, left, rounds, gap = float("inf"), limits.seconds, 0, 0.0
        while rounds < MOST_ROUNDS and (rounds == 0 or left > 0):
            # An evaluation that takes long is not repeated.
            is_first = rounds == 0 and first[0] > limits.seconds
            spent, scores = first if is_first else timed(lambda: evaluator.measure(np.array(masks)))
            ours = min(ours, spent / len(masks))
            for rival in contest:
                spent += _round(rival, masks, n)
                if rival.n_rows == n and rival.entry.is_exact:
                    gap = max(gap, np.abs(rival.errors - scores["pooled_error"]).max())
            left, rounds = left - spent, rounds + 1
            if rounds in (1, 3):
                contest = _with_a_chance(contest)
    return _found(ours, contest, rounds, float(gap), n)


def _with_a_chance(contest: Sequence[_Timed]) -> list[_Timed]:
    best = {
        is_exact: min((t.seconds for t in contest if t.entry.is_exact == is_exact), default=0.0)
        for is_exact in (True, False)
    }
    return [t for t in contest if t.seconds <= HOPELESS * best[t.entry.is_exact]]


def _found(ours: float, contest: Sequence[_Timed], rounds: int, gap: float, n: int) -> Found:
    found = Found(ours, rounds=rounds, gap=gap)
    for rival in sorted(contest, key=lambda rival: rival.seconds, reverse=True):
        name = rival.entry.family
        (found.exact if rival.entry.is_exact else found.inexact)[name] = rival.seconds
        found.sampled.pop(name, None)
        if rival.n_rows < n:
            found.sampled[name] = rival.n_rows / n
    return found


def render(report: Report, found: dict[Cell, Found]) -> None:
    """Print a table for each kind of evaluation, then the median, the least and the losses."""
    for folds, metric in product(FOLDS, METRICS):
        part = {c: f for c, f in found.items() if (c.folds, c.metric) == (folds, metric)}
        kinds = [(True, "best exact rival")]
        if metric == "euclidean":
            kinds.append((False, "float32 matrix product, inexact"))
        for is_exact, title in kinds:
            if part:
                name = "leave-one-out" if folds == "loo" else f"{folds} folds"
                report.line(f"\n5-NN, {name}, {metric.capitalize()}: {title} / swarmrs")
                _matrix(report, part, is_exact)
    _summary(report, found)


def _matrix(report: Report, found: dict[Cell, Found], is_exact: bool) -> None:
    columns = sorted({cell.features for cell in found})
    report.header("rows", *(f"{n} features" for n in columns), names=0)
    for rows in sorted({cell.rows for cell in found}):
        cells = {cell.features: found[cell] for cell in found if cell.rows == rows}
        report.row(rows, *(_text(cells.get(n), is_exact) for n in columns))


def _text(found: Found | None, is_exact: bool) -> str:
    if found is None:
        return ""
    ratio = found.ratio(is_exact)
    if ratio is None:
        return "skipped"
    star = "*" if ratio[1] in found.sampled else ""
    return f"{ratio[0]:.2f}{star}" + (f" {ratio[1]}" if is_exact else "")


def _summary(report: Report, found: dict[Cell, Found]) -> None:
    report.header("against", "cells", "median", "minimum", "losses", "best rivals")
    losses = []
    for is_exact, title, bound in (
        (True, "best exact rival", LEAST_EXACT),
        (False, "float32 matrix product", LEAST_INEXACT),
    ):
        ratios = {cell: r for cell, f in found.items() if (r := f.ratio(is_exact)) is not None}
        if not ratios:
            continue
        values = [ratio for ratio, _ in ratios.values()]
        below = {cell: r for cell, r in ratios.items() if r[0] < bound}
        names = Counter(name for _, name in ratios.values())
        report.row(
            title,
            len(values),
            f"{median(values):.2f}",
            f"{min(values):.2f}",
            f"{len(below)} below {bound:g}",
            ", ".join(f"{name} {count}" for name, count in names.most_common()),
        )
        losses += [
            f"- {cell.name}: {ratio:.2f} against {name}" for cell, (ratio, name) in below.items()
        ]
    skipped = [f"- {cell.name}: {f.skipped}" for cell, f in found.items() if f.skipped]
    for title, lines in (("Losses", losses), ("Skipped", skipped)):
        if lines:
            report.line(f"\n{title}:\n")
            report.line("\n".join(lines))
    if any(f.sampled for f in found.values()):
        report.line("\n*: the rival was timed on a sample of the rows.")
    builds = len({cell.engine for cell, f in found.items() if not f.skipped})
    if builds > 1:
        report.line(f"\nThe cells are of {builds} builds of the engine.")
    gap = max((f.gap for f in found.values()), default=0.0)
    report.line(f"\nErrors of exact rivals on all rows differ from ours by at most {gap:.4f}.")


def store() -> Store[Cell, Found]:
    """Return the stored cells."""
    return Store(RESULTS / "grid.jsonl", Cell, Found)


def newest(found: dict[Cell, Found]) -> dict[Cell, Found]:
    """Return the last of each cell, of the machine that measured last."""
    cells = [cell for cell in found if cell.machine == list(found)[-1].machine]
    last = {cell.place: cell for cell in cells}
    return {cell: found[cell] for cell in last.values()}


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description="5-NN evaluations against their rivals.")
    parser.add_argument("--rows", default=",".join(map(str, ROWS)), help="with commas")
    parser.add_argument("--features", default=",".join(map(str, FEATURES)), help="with commas")
    parser.add_argument("--folds", default=",".join(FOLDS), help="with commas")
    parser.add_argument("--metrics", default=",".join(METRICS), help="with commas")
    parser.add_argument("--seconds", type=float, default=2.0, help="time of a cell, all rounds")
    parser.add_argument(
        "--limit", type=float, default=60.0, help="predicted seconds of an evaluation to skip from"
    )
    parser.add_argument("--memory", type=float, default=8.0, help="GiB of a cell to skip from")
    parser.add_argument("--again", action="store_true", help="measure stored cells anew")
    parser.add_argument("--print-only", action="store_true", help="measure nothing")
    parser.add_argument("--quick", action="store_true", help=f"the cells of {QUICK}")
    return parser


def main() -> None:
    """Measure the cells that are missing, and print those requested."""
    parser = _parser()
    parser.set_defaults(**(QUICK if parser.parse_known_args()[0].quick else {}))
    args = parser.parse_args()
    cells = [
        Cell(rows, features, folds, metric, engine(), machine())
        for rows in map(int, args.rows.split(","))
        for features in map(int, args.features.split(","))
        for folds in args.folds.split(",")
        for metric in args.metrics.split(",")
    ]
    limits = Limits(args.seconds, args.limit, args.memory)
    reasons = {cell: _reason_to_skip(cell, limits) for cell in cells}
    if args.print_only:
        found = store().read()
    else:
        wanted = [cell for cell in cells if not reasons[cell]]
        found = store().complete(wanted, lambda cell: measure(cell, limits), again=args.again)
    shown = {cell.place: (cell, Found(skipped=why)) for cell, why in reasons.items() if why}
    shown |= {cell.place: (cell, f) for cell, f in newest(found).items()}
    render(Report("grid"), dict(shown[cell.place] for cell in cells if cell.place in shown))


if __name__ == "__main__":
    main()
