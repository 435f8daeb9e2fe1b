"""The pages of the ledger: their generated parts, as Markdown."""

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np

from swarmrs._base._messages import counted
from swarmrs.experiments._analysis._statistics import Tally
from swarmrs.experiments._papers import PAPERS
from swarmrs.experiments._papers._figures import FIGURES
from swarmrs.experiments._papers._ledger._claims import VERDICTS, Claim, claims_of
from swarmrs.experiments._papers._ledger._file import Entry, Ledger, hours
from swarmrs.experiments._papers._ledger._lines import Compared, Study
from swarmrs.experiments._papers._ledger._work import deals_of
from swarmrs.experiments._papers._paper import Setup, notes_on
from swarmrs.experiments._papers._reproduce import label_of

_DIRECTIONS = ("better", "worse", "larger", "smaller", "differs")
# So many claims are named that hold best, and worst.
_SHOWN = 3


def blocks(ledger: Ledger, studies: Sequence[str] | None = None) -> dict[str, str]:
    """Return the generated parts of the page by name; of some studies, if they are named."""
    found = [Study.of(PAPERS[name], ledger) for name in studies or PAPERS]
    tables = {study.paper.name: _tables(study) for study in found}
    claims = {study.paper.name: claims_of(study) for study in found}
    parts = {
        "totals": _totals(tables),
        "work": _work(found, tables),
        "absent": _absent(found),
        "claims": _claims(claims),
    }
    for study in found:
        name = study.paper.name
        parts[f"{name}-claims"] = _all_claims(claims[name])
        if study.paper.readings:
            parts[f"{name}-readings"] = _readings(study)
        parts[name] = _figures(study, tables[name])
    return {name: "\n".join(lines) for name, lines in parts.items()}


def fill(page: str, parts: Mapping[str, str]) -> str:
    r"""Return a page with its generated parts written anew.

    Examples
    --------
    >>> print(fill("<!-- ledger: work -->\n3\n<!-- end -->", {"work": "4"}))
    <!-- ledger: work -->
    <BLANKLINE>
    4
    <BLANKLINE>
    <!-- end -->
    """

    def part(found: re.Match[str]) -> str:
        return f"{found[1]}\n\n{parts[found[2]]}\n\n<!-- end -->"

    return re.sub(r"(<!-- ledger: (\S+) -->)\n.*?<!-- end -->", part, page, flags=re.DOTALL)


def _tables(study: Study) -> dict[str, list[Compared]]:
    return {table.name: study.compare(table) for table in study.paper.tables}


def _markdown(head: Sequence[str], rows: Iterable[Sequence[object]], n_text: int) -> Iterator[str]:
    """Yield a table whose first `n_text` columns are text and the others numbers."""
    yield f"| {' | '.join(head)} |"
    yield f"|{'---|' * n_text}{'--:|' * (len(head) - n_text)}"
    for row in rows:
        yield f"| {' | '.join(map(str, row))} |"


def _totals(tables: Mapping[str, Mapping[str, Sequence[Compared]]]) -> Iterator[str]:
    """Yield the verdicts by study, and apart from them those of tables about data sets."""
    rows, results, about = [], [], []
    for name, of in tables.items():
        mine = [it for lines in of.values() for it in lines if it.wanted is not None]
        about += [it for lines in of.values() for it in lines if it.wanted is None]
        results += mine
        rows.append(_counts(name, mine))
    rows += [_counts("**all**", results), _counts("tables about data sets", about)]
    head = (
        *("study", "figures", "compared", "agree", "within one sd", *_DIRECTIONS[:-1], "differ"),
        *("significant", "inside our deals", "times", "faster", "by (geometric mean)"),
    )
    yield from _markdown(head, rows, 1)


def _counts(name: str, figures: Sequence[Compared]) -> list[object]:
    times = [it for it in figures if FIGURES[it.line.figure].is_ratio]
    others = [it for it in figures if not FIGURES[it.line.figure].is_ratio]
    words = Counter(it.line.verdict for it in others if it.line.verdict)
    astray = [it for it in others if it.line.verdict not in ("", "agrees")]
    ratios = [
        float(it.line.published or 0) / it.line.ours
        for it in times
        if isinstance(it.line.ours, float)
        and it.line.ours > 0
        and float(it.line.published or 0) > 0
    ]
    by = f"{math.exp(float(np.mean(np.log(ratios)))):.0f} times" if ratios else ""
    return [
        name,
        len(figures),
        words.total(),
        words["agrees"],
        sum(it.line.verdict == "agrees" and it.line.published_sd is not None for it in others),
        *(words[word] for word in _DIRECTIONS),
        sum(it.is_significant for it in astray),
        sum(it.is_inside for it in astray),
        len(ratios),
        sum(ratio > 1 for ratio in ratios),
        by,
    ]


def _work(
    found: Sequence[Study], tables: Mapping[str, Mapping[str, Sequence[Compared]]]
) -> Iterator[str]:
    """Yield the searches of each study, and how many of its methods have fewer runs than there."""
    rows, total = [], np.zeros(3, np.int64)
    for study in found:
        runs = {
            (it.line.data, it.line.method, *(setup.name for setup in table.setups)): (
                it.line.runs or 0,
                it.wanted,
            )
            for table in study.paper.tables
            for it in tables[study.paper.name][table.name]
            if it.wanted is not None and it.line.data in table.data
        }
        n_short = sum(n_runs < wanted for n_runs, wanted in runs.values())
        counts = np.array([len(study.entries), len(runs), n_short])
        total += counts
        rows.append([study.paper.name, *counts, *_hours(study.entries)])
    last = ["**all**", *total, *_hours(entry for study in found for entry in study.entries)]
    head = ("study", "searches", "methods x data sets", "with fewer runs", "CPU hours", "hours")
    yield from _markdown(head, [*rows, last], 1)


def _hours(entries: Iterable[Entry]) -> list[str]:
    return [f"{spent:.2f}" for spent in hours(entries)]


def _absent(found: Sequence[Study]) -> Iterator[str]:
    for study in found:
        for data, why in study.paper.absent.items():
            n_figures = sum(
                name in FIGURES
                for table in study.paper.tables
                for (of, _), printed in table.published.items()
                if of == data
                for name in printed
            )
            yield f"- {study.paper.name}, {data}: {counted(n_figures, 'figure')}; {why}."


def _claims(claims: Mapping[str, Sequence[Claim]]) -> Iterator[str]:
    """Yield the verdicts on claims by study, and those that hold best and worst.

    Times are apart, which depend on the program, and so are comparisons of unequal budgets.
    """
    everything = [claim for of in claims.values() for claim in of]
    fair = [claim for claim in everything if claim.has_equal_budget and not claim.is_timed]
    rows = [
        _verdicts(f"{name}, equal budgets", (claim for claim in of if claim in fair))
        for name, of in claims.items()
        if of
    ]
    others = [claim for claim in everything if not claim.is_timed and claim not in fair]
    rows += [
        _verdicts("**all, equal budgets**", fair),
        _verdicts("all, other budgets", others),
        _verdicts("all, times", (claim for claim in everything if claim.is_timed)),
    ]
    yield from _markdown(("comparisons", *VERDICTS), rows, 1)
    judged = [claim for claim in fair if claim.verdict in VERDICTS[:4]]
    ordered = sorted(
        judged, key=lambda it: (VERDICTS.index(it.verdict), -it.support, it.p, it.table)
    )
    for title, some in (
        ("hold best", ordered[:_SHOWN]),
        ("hold worst", ordered[_SHOWN:][: -_SHOWN - 1 : -1]),
    ):
        if some:
            yield f"\nOf those with equal budgets, the published differences that {title}:\n"
            yield from (f"- {_sentence(claim)}" for claim in some)


def _verdicts(name: str, claims: Iterable[Claim]) -> list[object]:
    words = Counter(claim.verdict for claim in claims)
    return [name, *(words[word] for word in VERDICTS)]


def _all_claims(claims: Sequence[Claim]) -> Iterator[str]:
    if not claims:
        yield "The table has one method only."
        return
    head = (
        *("table", "figure", "method", "rival", "verdict", "data sets"),
        *("published", "p (Holm)", "ours", "p (Holm)", "difference", "evaluations"),
    )
    yield from _markdown(head, map(_claim, claims), 5)


def _sentence(claim: Claim) -> str:
    word = "better" if claim.published_test.lean < 0 else "worse"
    return (
        f"{claim.table}, {FIGURES[claim.figure].title}: {claim.method} is published as {word} than "
        f"{claim.rival} ({_tally(claim.published)}, p {_p(claim.published_p)}); ours "
        f"{_tally(claim.ours)}, p {_p(claim.p)}, mean difference {_difference(claim)}: "
        f"{claim.verdict}."
    )


def _claim(claim: Claim) -> list[object]:
    return [
        claim.table,
        FIGURES[claim.figure].title,
        claim.method,
        claim.rival,
        claim.verdict,
        claim.n_data,
        _tally(claim.published),
        _p(claim.published_p).removeprefix("= "),
        _tally(claim.ours),
        _p(claim.p).removeprefix("= "),
        _difference(claim),
        f"{claim.evaluations:.2f}" if claim.evaluations < 100 else f"{claim.evaluations:.0f}",
    ]


def _p(value: float) -> str:
    return "< 0.001" if value < 0.001 else f"= {value:.3f}"


def _tally(found: Tally) -> str:
    return " / ".join(map(str, found))


def _difference(claim: Claim) -> str:
    if claim.is_timed:
        return f"{claim.difference:.2f} times"
    return f"{claim.difference:+.{FIGURES[claim.figure].digits}f}"


def _readings(study: Study) -> Iterator[str]:
    """Yield the sizes of the readings of a method beside the published ones, the nearest first."""
    table = next(table for table in study.paper.tables if "CSO" in table.methods)
    published = {
        data: float(table.published[data, "CSO"]["size"])
        for data in table.data
        if data not in study.paper.absent
    }
    default = (table.setups[0], "CSO")
    others = [
        (setup, name)
        for setup in study.paper.readings
        if not setup.stands_for
        for name in setup.methods
    ]
    sizes = {
        name: {data: _size(study, setup, name, data) for data in published}
        for setup, name in [default, *others]
    }
    # Distances are over the same data sets, or they are not comparable.
    begun = {name: of for name, of in sizes.items() if any(of.values())}
    shared = [data for data in published if all(of[data] for of in begun.values())]
    distances = {
        name: [abs(math.log((of[data] or 1.0) / published[data])) for data in shared]
        for name, of in begun.items()
    }
    order = sorted(distances, key=lambda name: sum(distances[name]))
    rows: list[list[object]] = [["published", "", *published.values()]]
    for name in order:
        cells = ["" if size is None else f"{size:.1f}" for size in sizes[name].values()]
        distance = f"{np.mean(distances[name]):.2f}" if shared else ""
        rows.append([name, distance, *cells])
    yield from _markdown(("reading", "distance", *published), rows, 1)


def _size(study: Study, setup: Setup, name: str, data: str) -> float | None:
    """Return the mean size of a method over deals; None if it has no run."""
    label = label_of(setup.methods[name])
    by_deal = [study.by_label(setup, data, deal) for deal in range(1, deals_of(setup) + 1)]
    sizes = [found[label].runs["size"].mean() for found in by_deal if label in found]
    return float(np.mean(sizes)) if sizes else None


def _figures(study: Study, tables: Mapping[str, Sequence[Compared]]) -> Iterator[str]:
    paper = study.paper
    yield f"{paper.citation}.\n"
    yield f"{paper.protocol[0].upper()}{paper.protocol[1:]}; {counted(paper.runs, 'run')}."
    head = (
        *("data", "method", "figure", "published", "ours", "over deals", "difference"),
        *("verdict", "p (Holm)", "runs"),
    )
    for table in paper.tables:
        yield f"\n## {table.name}: {table.title}\n"
        yield "| " + " | ".join(head) + " |"
        yield "|---|---|---|--:|--:|--:|--:|---|--:|--:|"
        for it in tables[table.name]:
            yield f"| {' | '.join(it.cells())} |"
        notes = [f"- {note}" for note in notes_on(paper, table, table.data)]
        if notes:
            yield ""
            yield from notes
