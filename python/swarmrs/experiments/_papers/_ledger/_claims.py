"""Claims: the differences between methods that a paper's figures show, and whether ours do."""

import math
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from swarmrs.experiments._analysis._statistics import LEVEL, Tally, Tested, holm, signed_rank, tally
from swarmrs.experiments._papers._figures import FIGURES
from swarmrs.experiments._papers._ledger._lines import Samples, Study
from swarmrs.experiments._papers._ledger._work import deals_of
from swarmrs.experiments._papers._paper import PaperTable
from swarmrs.experiments._papers._reproduce import label_of
from swarmrs.experiments._papers._values import Sample

# The compared figures, and whether more is better.
_FIGURES = {"error": False, "accuracy": True, "size": False, "seconds": False, "minutes": False}
# Fewer data sets cannot differ significantly.
_FEWEST = 6
# The evaluations of two methods with equal budgets differ by no more than this factor: the last
# iteration of a swarm may not fit.
_EQUAL = 1.1
# The least time that a clock shows.
_CLOCK = 1e-9
VERDICTS = (
    *("holds", "same direction", "not confirmed", "contradicted"),
    *("not claimed", "too few data sets"),
)


@dataclass(frozen=True)
class Claim:
    """A proposed method against another one in a figure, over the data sets of a table.

    Attributes
    ----------
    table, figure, method, rival : str
        What is compared; the methods by the paper's names.
    n_data : int
        The data sets that both have runs on.
    published, ours : Tally
        On how many of them the method is better, equal and worse.
    published_test, ours_test : Tested
        The signed-rank tests over them, of costs: `lean` -1 where the method is better.
    difference : float
        The mean of ours, method less rival; of times the geometric mean of their ratios.
    evaluations : float
        The mean evaluations of the method as a multiple of those of the rival.
    published_p, p : float
        Those of the tests, corrected by Holm for the rivals of the method in this figure.
    """

    table: str
    figure: str
    method: str
    rival: str
    n_data: int
    published: Tally
    ours: Tally
    published_test: Tested
    ours_test: Tested
    difference: float
    evaluations: float
    published_p: float = 1.0
    p: float = 1.0

    @property
    def verdict(self) -> str:
        """Whether our runs show what the published figures do."""
        if self.n_data < _FEWEST:
            return "too few data sets"
        if self.published_p >= LEVEL:
            return "not claimed"
        is_same = self.ours_test.lean == self.published_test.lean
        if self.p < LEVEL:
            return "holds" if is_same else "contradicted"
        return "same direction" if is_same else "not confirmed"

    @property
    def has_equal_budget(self) -> bool:
        """Whether both methods had the same number of evaluations."""
        return 1 / _EQUAL <= self.evaluations <= _EQUAL

    @property
    def is_timed(self) -> bool:
        """Whether it is about times, which depend on the program as well."""
        return FIGURES[self.figure].is_ratio

    @property
    def support(self) -> float:
        """How far our data sets side with the paper, from -1 to 1."""
        win, _, loss = self.ours
        return -self.published_test.lean * (win - loss) / max(self.n_data, 1)


def claims_of(study: Study) -> list[Claim]:
    """Return the claims of a study: its methods against all others, in each figure once."""
    found: dict[tuple[object, ...], Claim] = {}
    for table in study.paper.tables:
        for key, claim in _of_table(study, table):
            found.setdefault(key, claim)
    claims = list(found.values())
    families: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for at, claim in enumerate(claims):
        families[claim.table, claim.figure, claim.method].append(at)
    for family in families.values():
        published = holm([claims[at].published_test.p for at in family])
        ours = holm([claims[at].ours_test.p for at in family])
        for at, theirs, mine in zip(family, published, ours, strict=True):
            claims[at] = replace(claims[at], published_p=float(theirs), p=float(mine))
    return claims


def _of_table(study: Study, table: PaperTable) -> Iterator[tuple[tuple[object, ...], Claim]]:
    if not table.setups:
        return
    paper = study.paper
    deals = range(1, deals_of(table.setups[0]) + 1)
    by_deal = [_with_stand_ins(study, table, deal) for deal in deals]
    # A method that the table has no row of is in another one of the same study, by its runs here.
    homes = {
        method: home
        for home in reversed(paper.tables)
        for method in home.methods
        if any(setup in table.setups for setup in home.setups)
    } | dict.fromkeys(table.methods, table)
    everything = {
        name for setup in table.setups for name, text in setup.methods.items() if text == "all"
    }
    setups = tuple(setup.name for setup in table.setups if {*setup.methods} & {*table.methods})
    proposed = [method for method in paper.proposed if method in homes]
    own = [method for method in proposed if method in table.methods] or proposed
    # Proposed methods are compared with each other once.
    rivals = {
        method: [it for it in table.methods if it not in own[: at + 1]]
        for at, method in enumerate(own)
    }
    published_as = dict(zip(own, own, strict=True))
    for reading in paper.readings:
        for name, published in reading.stands_for.items():
            if published in table.methods:
                published_as[name] = published
                rivals[name] = [it for it in table.methods if it != published]
    for figure in (name for name in _FIGURES if table.prints(name)):
        for method, others in rivals.items():
            for rival in others:
                # A subset is smaller than all features, which are not searched.
                if rival in everything and figure not in ("error", "accuracy"):
                    continue
                names = published_as[method], method, rival
                home = homes[published_as[method]]
                claim = _claim(table, home, by_deal, figure, names)
                if claim is not None:
                    yield (figure, method, rival, setups), claim


def _with_stand_ins(study: Study, table: PaperTable, deal: int) -> Samples:
    """Return the runs of a table on one deal, and those of readings that stand for its methods."""
    found: dict[str, dict[str, Sample]] = {
        data: {**methods} for data, methods in study.samples(table, deal).items()
    }
    for reading in study.paper.readings:
        for data in found if reading.stands_for else ():
            by_label = study.by_label(reading, data, deal)
            labels = {name: label_of(reading.methods[name]) for name in reading.stands_for}
            found[data] |= {
                name: by_label[label] for name, label in labels.items() if label in by_label
            }
    return found


def _claim(
    table: PaperTable,
    home: PaperTable,
    by_deal: Sequence[Samples],
    figure: str,
    names: tuple[str, str, str],
) -> Claim | None:
    printed_name, method, rival = names
    sign = -1 if _FIGURES[figure] else 1
    published, ours, evaluations = [], [], []
    for data in table.data:
        printed = [
            source.published.get((data, name), {}).get(figure)
            for source, name in ((home, printed_name), (table, rival))
        ]
        pairs = [
            (found[data][method], found[data][rival])
            for found in by_deal
            if {method, rival} <= {*found.get(data, {})}
        ]
        if None in printed or not pairs:
            continue
        published.append([sign * float(value) for value in printed if value is not None])
        ours.append(_means(pairs, lambda it: sign * (it.figure(figure) or 0.0)))
        evaluations.append(_means(pairs, lambda it: float(it.runs["evaluations"].mean())))
    if not ours:
        return None
    theirs, mine, cost = (np.array(each).T for each in (published, ours, evaluations))
    difference = sign * float(np.mean(mine[0] - mine[1]))
    if FIGURES[figure].is_ratio:
        times = np.maximum(mine, _CLOCK)
        difference = math.exp(float(np.mean(np.log(times[0] / times[1]))))
    return Claim(
        table.name,
        figure,
        method,
        rival,
        len(ours),
        tally(*theirs),
        tally(*mine),
        signed_rank(*theirs),
        signed_rank(*mine),
        difference,
        float(np.mean(cost[0] / np.maximum(cost[1], 1.0))),
    )


def _means(pairs: Sequence[tuple[Sample, Sample]], value: Callable[[Sample], float]) -> list[float]:
    """Return the means of a value over pairs."""
    return [float(np.mean([value(pair[at]) for pair in pairs])) for at in range(2)]
