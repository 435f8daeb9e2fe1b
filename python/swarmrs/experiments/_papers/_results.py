"""Results: a published table line by line, our figures beside the printed ones."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from swarmrs._base._messages import counted
from swarmrs.experiments._analysis._statistics import places
from swarmrs.experiments._papers._figures import DEVIATIONS, EXTRA, FIGURES, judge
from swarmrs.experiments._papers._paper import ALL_DATA, PaperTable
from swarmrs.experiments._papers._values import Sample

# The quantity that methods are ranked by for a figure, the least first.
_RANKED = {"improvement": "error", "reduction": "size", "seconds": "seconds"}
_REVERSED = {"+": "-", "-": "+", "=": "=", None: None}


@dataclass(frozen=True)
class Line:
    """A figure of a published table, and ours.

    Attributes
    ----------
    data, method, figure : str
        Which figure; `method` is the paper's name, empty for facts about a data set, and `data` is
        ``"ALL"`` for figures of all of them.
    published, published_sd : str or None
        As it is printed; None where ours has no counterpart.
    ours, ours_sd : float, str or None
        Ours; None where it could not be computed.
    runs : int or None
        The number of our runs.
    difference : float or None
        Ours minus the printed one.
    verdict, detail : str
        Whether it agrees, and by how much it does not.
    """

    data: str
    method: str
    figure: str
    published: str | None
    published_sd: str | None
    ours: float | str | None
    ours_sd: float | None
    runs: int | None
    difference: float | None
    verdict: str
    detail: str

    @classmethod
    def of(
        cls,
        data: str,
        method: str,
        figure: str,
        published: Mapping[str, str],
        ours: float | str | None,
        sample: Sample | None = None,
    ) -> "Line":
        """Compare a figure with the one printed in its row."""
        printed = published.get(figure)
        deviation = DEVIATIONS.get(figure)
        printed_sd = None if deviation is None else published.get(deviation)
        judged = judge((FIGURES | EXTRA)[figure], printed, ours, printed_sd)
        return cls(
            data,
            method,
            figure,
            printed,
            printed_sd,
            ours,
            None if deviation is None or sample is None else sample.deviation(figure),
            None if sample is None else sample.n_runs,
            judged.difference,
            judged.verdict,
            judged.detail,
        )

    def cells(self) -> list[str]:
        """Return the line as text: the figure, the printed one, ours and how they compare."""
        figure = (FIGURES | EXTRA)[self.figure]

        def shown(value: float | str | None) -> str:
            return f"{value:.{figure.digits}f}" if isinstance(value, float) else value or ""

        def both(value: float | str | None, deviation: float | str | None) -> str:
            return " ± ".join(filter(None, (shown(value), shown(deviation))))

        difference = ""
        if self.difference is not None:
            # Zero has no sign.
            rounded = round(self.difference, figure.digits) + 0.0
            difference = f"{rounded:+.{figure.digits}f}" if rounded else "0"
        return [
            self.data,
            self.method,
            figure.title,
            both(self.published, self.published_sd),
            both(self.ours, self.ours_sd),
            difference,
            f"{self.verdict} {self.detail}".strip(),
        ]


@dataclass(frozen=True)
class Reproduced:
    """A published table with our figures.

    Attributes
    ----------
    table, title, protocol : str
        The table, its content, and how methods are run and evaluated.
    citation : str
        The study it is from.
    lines : tuple of Line
        All figures, in the order of the paper.
    notes : tuple of str
        Notes for readers: inconsistencies of the paper, data sets that are left out.
    """

    table: str
    title: str
    protocol: str
    citation: str
    lines: tuple[Line, ...]
    notes: tuple[str, ...]

    @property
    def tally(self) -> dict[str, int]:
        """How many figures have each verdict."""
        words = [line.verdict for line in self.lines if line.verdict]
        return {word: words.count(word) for word in sorted(set(words))}

    def to_dict(self) -> dict[str, Any]:
        """Return all of it as plain values, ready for JSON."""
        return {**asdict(self), "tally": self.tally}

    def to_markdown(self) -> str:
        """Return the table as Markdown, with the notes beneath it."""
        head = ("data", "method", "figure", "published", "ours", "difference", "verdict")
        counts = ", ".join(f"{word} {times}" for word, times in self.tally.items())
        return "\n".join(
            [
                f"## {self.table}: {self.title}",
                "",
                f"{self.citation}.",
                "",
                f"{self.protocol[0].upper()}{self.protocol[1:]}.",
                "",
                f"| {' | '.join(head)} |",
                "|---|---|---|--:|--:|--:|---|",
                *(f"| {' | '.join(line.cells())} |" for line in self.lines),
                "",
                f"Of {counted(len(self.lines), 'figure')}: {counts or 'none can be compared'}.",
                *(["", *(f"- {note}" for note in self.notes)] if self.notes else []),
            ]
        )


def lines_of_data(table: PaperTable, facts: Mapping[str, Mapping[str, float]]) -> Iterator[Line]:
    """Yield the figures of a table about data sets."""
    for data, ours in facts.items():
        published = table.published[data, ""]
        for figure in (*published, *(extra for extra in EXTRA if extra in ours)):
            yield Line.of(data, "", figure, published, ours.get(figure))


def lines_of_runs(table: PaperTable, found: Mapping[str, Mapping[str, Sample]]) -> Iterator[Line]:
    """Yield the figures of a table about methods, given their runs on each data set."""
    ranks = {data: _ranks(table, methods) for data, methods in found.items()}
    for data, methods in found.items():
        for method in table.methods:
            published = table.published.get((data, method), {})
            sample = methods.get(method)
            for figure in (name for name in published if name in FIGURES):
                ours: float | str | None
                if figure == "rank":
                    ours = ranks[data].get(method)
                elif figure in table.marks:
                    ours = _mark(table, figure, methods, method)
                else:
                    ours = None if sample is None else sample.figure(figure)
                yield Line.of(data, method, figure, published, ours, sample)
            if "improvement" in published and sample is not None:
                correct = "improvement_correct"
                yield Line.of(data, method, correct, {}, sample.figure(correct), sample)
    if table.prints("average_rank"):
        yield from _average_ranks(table, ranks)


def _ranks(table: PaperTable, methods: Mapping[str, Sample]) -> dict[str, float]:
    """Return the rank of each method of a table; nothing unless all have runs."""
    if table.ranked_by is None or not {*table.methods} <= {*methods}:
        return {}
    quantity = _RANKED[table.ranked_by]
    found = places([methods[method].runs[quantity].mean() for method in table.methods])
    return dict(zip(table.methods, map(float, found), strict=True))


def _average_ranks(table: PaperTable, ranks: Mapping[str, Mapping[str, float]]) -> Iterator[Line]:
    """Yield average ranks, those of the paper too, over the data sets at hand."""
    for method in table.methods:
        published = table.published[ALL_DATA, method]
        if {*ranks} < {*table.data}:
            printed = [float(table.published[data, method]["rank"]) for data in ranks]
            published = {"average_rank": f"{np.mean(printed):.2f}"}
        own: Sequence[float] = [of[method] for of in ranks.values() if method in of]
        mean = float(np.mean(own)) if own and len(own) == len(ranks) else None
        yield Line.of(ALL_DATA, method, "average_rank", published, mean)


def _mark(table: PaperTable, figure: str, methods: Mapping[str, Sample], method: str) -> str | None:
    mark = table.marks[figure]
    if method not in methods or mark.against not in methods:
        return None
    found = methods[method].mark(methods[mark.against], table.tested)
    return _REVERSED[found] if mark.is_reversed else found
