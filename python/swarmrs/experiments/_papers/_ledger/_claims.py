"""Claims: the differences between methods that a paper's figures show, and whether ours do."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from swarmrs.experiments._papers._ledger._lines import Samples, Study
from swarmrs.experiments._papers._ledger._work import deals_of
from swarmrs.experiments._papers._paper import PaperTable
from swarmrs.experiments._statistics import LEVEL, Tally, Tested, holm, signed_rank, tally

# The compared figures, and whether more is better.
_FIGURES = {"error": False, "accuracy": True, "size": False}
# Fewer data sets cannot differ significantly.
_FEWEST = 6
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
        The mean of ours, method less rival.
    evaluations : float
        The mean evaluations of the method as a multiple of those of the rival.
    p : float
        That of our test, corrected by Holm for all claims of the study.
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
    p: float = 1.0

    @property
    def verdict(self) -> str:
        """Whether our runs show what the published figures do."""
        if self.n_data < _FEWEST:
            return "too few data sets"
        if self.published_test.p >= LEVEL:
            return "not claimed"
        is_same = self.ours_test.lean == self.published_test.lean
        if self.p < LEVEL:
            return "holds" if is_same else "contradicted"
        return "same direction" if is_same else "not confirmed"

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
    corrected = holm([claim.ours_test.p for claim in claims])
    return [replace(claim, p=float(p)) for claim, p in zip(claims, corrected, strict=True)]


def _of_table(study: Study, table: PaperTable) -> Iterator[tuple[tuple[object, ...], Claim]]:
    if not table.setups:
        return
    deals = range(1, deals_of(table.setups[0]) + 1)
    by_deal = [study.samples(table, deal) for deal in deals]
    # A method that the table has no row of is in another one of the same study, by its runs here.
    homes = {
        method: home
        for home in reversed(study.paper.tables)
        for method in home.methods
        if any(setup in table.setups for setup in home.setups)
    } | dict.fromkeys(table.methods, table)
    setups = tuple(setup.name for setup in table.setups if {*setup.methods} & {*table.methods})
    proposed = [method for method in study.paper.proposed if method in homes]
    own = [method for method in proposed if method in table.methods] or proposed
    for figure in (name for name in _FIGURES if table.prints(name)):
        for at, method in enumerate(own):
            # Proposed methods are compared with each other once.
            for rival in (it for it in table.methods if it not in own[: at + 1]):
                claim = _claim(study, table, (homes[method], by_deal), figure, method, rival)
                if claim is not None:
                    yield (figure, method, rival, setups), claim


def _claim(
    study: Study,
    table: PaperTable,
    where: tuple[PaperTable, Sequence[Samples]],
    figure: str,
    method: str,
    rival: str,
) -> Claim | None:
    home, by_deal = where
    sign = -1 if _FIGURES[figure] else 1
    published, ours, evaluations = [], [], []
    for data in table.data:
        printed = [
            source.published.get((data, name), {}).get(figure)
            for source, name in ((home, method), (table, rival))
        ]
        pairs = [
            (found[data][method], found[data][rival])
            for found in by_deal
            if {method, rival} <= {*found.get(data, {})}
        ]
        if None in printed or not pairs:
            continue
        published.append([sign * float(value) for value in printed if value is not None])
        ours.append(
            np.mean([[sign * (it.figure(figure) or 0.0) for it in pair] for pair in pairs], axis=0)
        )
        evaluations.append(
            np.mean([[it.runs["evaluations"].mean() for it in pair] for pair in pairs], axis=0)
        )
    if not ours:
        return None
    theirs, mine, cost = (np.array(each).T for each in (published, ours, evaluations))
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
        sign * float(np.mean(mine[0] - mine[1])),
        float(np.mean(cost[0] / np.maximum(cost[1], 1.0))),
    )
