"""Our figures from the ledger, beside the published ones: over deals, with tests."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import polars as pl

from swarmrs.experiments._analysis._statistics import LEVEL, holm
from swarmrs.experiments._design._methods import read_methods
from swarmrs.experiments._design._protocols import Protocol
from swarmrs.experiments._papers._figures import FIGURES, judge
from swarmrs.experiments._papers._ledger._file import Entry, Ledger
from swarmrs.experiments._papers._ledger._work import DEALS, deals_of, key_of_facts
from swarmrs.experiments._papers._paper import Paper, PaperTable, Setup
from swarmrs.experiments._papers._reproduce import as_named
from swarmrs.experiments._papers._results import Line, lines_of_data, lines_of_runs
from swarmrs.experiments._papers._values import QUANTITIES, Sample, collect

# The means over runs that are tested where there is one deal.
_MEANS = ("error", "size", "accuracy", "train_accuracy")

# The figures that are the best of all runs, and of what.
_BEST = {"best_accuracy": "accuracy", "best_train_accuracy": "train_accuracy"}

_SCHEMA: dict[str, type[pl.DataType]] = {
    **dict.fromkeys(("setup", "data", "method"), pl.String),
    **dict.fromkeys(("deal", "run", "fold"), pl.Int64),
    **dict.fromkeys(QUANTITIES, pl.Float64),
}

# The runs of the methods of a table by data set, then by the paper's names.
Samples = Mapping[str, Mapping[str, Sample]]


@dataclass(frozen=True)
class Compared:
    """A published figure, and ours from the ledger.

    Attributes
    ----------
    line : Line
        The figure; ours is the mean over deals, its deviation the one within them.
    deals : tuple of float
        Ours on each deal of the rows, where there are several.
    wanted : int or None
        The runs of the paper; of a deterministic method one on each deal.
    p : float or None
        The chance of such a difference, corrected by Holm for the figures of the table; None where
        there is no test.
    """

    line: Line
    deals: tuple[float, ...] = ()
    wanted: int | None = None
    p: float | None = None

    @property
    def is_significant(self) -> bool:
        """Whether the difference is more than chance."""
        return self.p is not None and self.p < LEVEL

    @property
    def is_inside(self) -> bool:
        """Whether the published figure is within those of our deals."""
        if len(self.deals) < 2 or self.line.published is None:
            return False
        rounding = 0.5 * 10.0 ** -FIGURES[self.line.figure].digits
        published = float(self.line.published)
        return min(self.deals) - rounding <= published <= max(self.deals) + rounding

    def cells(self) -> list[str]:
        """Return the figure as text: as of `Line`, with deals, test and runs."""
        *which, published, ours, difference, verdict = self.line.cells()
        digits = FIGURES[self.line.figure].digits
        ends = (min(self.deals), max(self.deals)) if len(self.deals) > 1 else ()
        spread = " to ".join(f"{end:.{digits}f}" for end in ends)
        p = "" if self.p is None else "< 0.001" if self.p < 0.001 else f"{self.p:.3f}"
        runs = "" if self.line.runs is None else f"{self.line.runs}/{self.wanted}"
        return [*which, published, ours, spread, difference, verdict, p, runs]


@dataclass(frozen=True)
class Study:
    """The runs of a study in the ledger.

    Attributes
    ----------
    paper : Paper
        The study.
    facts : mapping
        Facts about its data sets.
    entries : list of Entry
        Its searches.
    """

    paper: Paper
    facts: Mapping[str, Mapping[str, float]]
    entries: list[Entry]
    _cells: Mapping[tuple[str, str], pl.DataFrame] = field(repr=False)
    _found: dict[tuple[str, str, int], dict[str, Sample]] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, paper: Paper, ledger: Ledger) -> "Study":
        """Return what the ledger has on a study."""
        prefix = f"{paper.name}/"
        entries = [it for it in ledger.entries.values() if it.cell.startswith(prefix)]
        facts = {
            key.removeprefix(prefix): values
            for key, values in ledger.facts.items()
            if key.startswith(prefix)
        }
        cells = pl.DataFrame(map(_row, entries), schema=_SCHEMA)
        parts = cells.partition_by("setup", "data", as_dict=True)
        return cls(paper, facts, entries, {(str(s), str(d)): of for (s, d), of in parts.items()})

    def by_label(self, setup: Setup, data: str, deal: int) -> dict[str, Sample]:
        """Return the runs of a setup on one deal of a data set, by our names of the methods."""
        which = setup.name, data, deal
        if which not in self._found:
            cells = self._cells_of(setup, data).filter(pl.col("deal") == deal)
            self._found[which] = self._collect(setup, data, cells, deal)
        return self._found[which]

    def _cells_of(self, setup: Setup, data: str) -> pl.DataFrame:
        return self._cells.get((setup.name, data), pl.DataFrame(schema=_SCHEMA))

    def samples(self, table: PaperTable, deal: int | None) -> Samples:
        """Return the runs of a table on one deal; or all of them, for paired tests.

        There a deterministic method, of which a deal has one run, has it for each run of others.
        """
        found: dict[str, dict[str, Sample]] = {}
        for data in table.data:
            if data in self.paper.absent:
                continue
            found[data] = {}
            if deal is not None:
                for setup in table.setups:
                    found[data] |= as_named(table, setup, self.by_label(setup, data, deal))
                continue
            cells = _repeated(pl.concat([self._cells_of(it, data) for it in table.setups]))
            for setup in table.setups:
                mine = cells.filter(pl.col("setup") == setup.name)
                found[data] |= as_named(table, setup, self._collect(setup, data, mine, 1))
        return found

    def _collect(
        self, setup: Setup, data: str, cells: pl.DataFrame, deal: int
    ) -> dict[str, Sample]:
        n_features = int(self.facts.get(data, {}).get("features", 0))
        by_label = collect(cells, Protocol.of(setup.protocol).n_folds, n_features)
        known = self.facts.get(key_of_facts(data, deal), {})
        of_all = f"all_error_{setup.name}"
        if of_all not in known:
            return by_label
        errors = known[of_all], known[f"{of_all}_correct"]
        return {label: replace(each, all_errors=errors) for label, each in by_label.items()}

    def compare(self, table: PaperTable) -> list[Compared]:
        """Return all figures of a table that can be obtained."""
        if not table.setups:
            facts = {data: self.facts[data] for data in table.data if data in self.facts}
            lines = lines_of_data(table, facts)
            return [self._about(line) for line in lines if line.published is not None]
        n_deals = deals_of(table.setups[0])
        by_deal = [self.samples(table, deal) for deal in range(1, n_deals + 1)]
        pooled = by_deal[0] if n_deals == 1 else self.samples(table, None)
        lines_by_deal = [_by_figure(lines_of_runs(table, found)) for found in by_deal]
        fixed = {
            method
            for setup in table.setups
            for method, text in setup.methods.items()
            if not read_methods(text)[0].is_random
        }
        compared = []
        for which, line in _by_figure(lines_of_runs(table, pooled)).items():
            parts = [lines[which] for lines in lines_by_deal]
            wanted = n_deals if line.method in fixed else self.paper.runs
            n_runs = sum(part.runs or 0 for part in parts)
            if line.figure in _BEST and line.method not in fixed and n_deals > 1:
                dealt = [found.get(line.data, {}).get(line.method) for found in by_deal]
                bests = iter(_bests([it for it in dealt if it is not None], _BEST[line.figure]))
                parts = [replace(it, ours=next(bests)) if it.runs else it for it in parts]
            values = tuple(part.ours for part in parts if isinstance(part.ours, float))
            if values:
                line = _averaged(line, parts)
            p = None
            if line.figure in _BEST and n_runs < wanted:
                # The best of fewer runs is lower.
                line = replace(line, difference=None, verdict="", detail="")
            elif values and not FIGURES[line.figure].is_ratio:
                sample = pooled.get(line.data, {}).get(line.method)
                p = _of_deals(line, values) if n_deals > 1 else _of_runs(line, sample, wanted)
            line = replace(line, runs=n_runs or None)
            compared.append(Compared(line, values if n_deals > 1 else (), wanted, p))
        tested = [at for at, each in enumerate(compared) if each.p is not None]
        for at, p in zip(tested, holm([compared[at].p or 0.0 for at in tested]), strict=True):
            compared[at] = replace(compared[at], p=float(p))
        return compared

    def _about(self, line: Line) -> Compared:
        """Return a figure about a data set, over deals where it depends on folds."""
        keys = [key_of_facts(line.data, deal) for deal in range(1, DEALS + 1)]
        values = [self.facts.get(key, {}).get(line.figure) for key in keys]
        found = tuple(value for value in values if value is not None)
        if len(found) < 2:
            return Compared(line)
        parts = [replace(line, ours=value) for value in found]
        return Compared(_averaged(line, parts), found)


def _row(entry: Entry) -> dict[str, object]:
    _, setup, data, method, deal, run, fold = entry.cell.split("/")
    which = {"setup": setup, "data": data, "method": method}
    numbers = {"deal": int(deal), "run": int(run), "fold": int(fold)}
    return {**which, **numbers} | {name: getattr(entry, name) for name in QUANTITIES}


def _repeated(cells: pl.DataFrame) -> pl.DataFrame:
    """Repeat the run of a deterministic method on a deal for all runs of other methods there."""
    labels = cells["method"].unique().to_list()
    is_fixed = pl.col("method").is_in([it for it in labels if not read_methods(it)[0].is_random])
    others = cells.filter(~is_fixed)
    turns = others.select("deal", "run").unique()
    fixed = cells.filter(is_fixed).drop("run").join(turns, on="deal").select(cells.columns)
    return pl.concat([others, fixed])


def _by_figure(lines: Iterable[Line]) -> dict[tuple[str, str, str], Line]:
    return {
        (line.data, line.method, line.figure): line for line in lines if line.published is not None
    }


def _averaged(line: Line, parts: Sequence[Line]) -> Line:
    """Return a line with the means over deals, judged again."""
    ours = float(np.mean([part.ours for part in parts if isinstance(part.ours, float)]))
    variances = [part.ours_sd**2 for part in parts if part.ours_sd is not None]
    judged = judge(FIGURES[line.figure], line.published, ours, line.published_sd)
    return replace(
        line,
        ours=ours,
        ours_sd=math.sqrt(np.mean(variances)) if variances else None,
        difference=judged.difference,
        verdict=judged.verdict,
        detail=judged.detail,
    )


def _bests(samples: Sequence[Sample], quantity: str) -> list[float]:
    """Return the best run on each deal, in percent, as if all runs were on it.

    That is the mean of the deal and the largest excess of any run over the mean of its own deal;
    means of few runs are drawn to them, so the excess is scaled like a standard deviation.
    """
    runs = [100 * sample.runs[quantity] for sample in samples]
    excess = [
        float(each.max() - each.mean()) * math.sqrt(len(each) / (len(each) - 1))
        for each in runs
        if len(each) > 1
    ]
    return [min(100.0, float(each.mean()) + max(excess, default=0.0)) for each in runs]


def _gap(line: Line) -> float:
    """Return the difference beyond the rounding of the printed figure."""
    assert line.difference is not None, "both figures are numbers"
    return max(0.0, abs(line.difference) - 0.5 * 10.0 ** -FIGURES[line.figure].digits)


def _of_deals(line: Line, values: Sequence[float]) -> float | None:
    """Return the chance that one more deal gives the published figure or one further away.

    By the t distribution: the published figure is of one deal, ours are of several.
    """
    from scipy.stats import t

    n, gap = len(values), _gap(line)
    spread = float(np.std(values, ddof=1)) if n > 1 else 0.0
    if spread == 0:
        return 1.0 if n > 1 and gap == 0 else None
    return float(2 * t.sf(gap / (spread * math.sqrt(1 + 1 / n)), n - 1))


def _of_runs(line: Line, sample: Sample | None, published_runs: int) -> float | None:
    """Return the chance of the difference of two means over runs, by Welch's t-test.

    Without a published deviation, ours stands for it.
    """
    from scipy.stats import ttest_ind_from_stats

    if line.figure not in _MEANS or sample is None or published_runs < 2:
        return None
    own, gap = sample.deviation(line.figure), _gap(line)
    published = own if line.published_sd is None else float(line.published_sd)
    if own is None or published is None or max(own, published) < 1e-12:
        return 1.0 if gap == 0 else None
    found = ttest_ind_from_stats(
        gap, own, sample.n_runs, 0.0, published, published_runs, equal_var=False
    )
    return float(found.pvalue)
