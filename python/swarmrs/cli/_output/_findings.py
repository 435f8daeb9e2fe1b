"""How a comparison looks on the terminal."""

from collections.abc import Iterator, Mapping
from typing import Any

from swarmrs._base._messages import counted, printable
from swarmrs.cli._output._text import aligned, line
from swarmrs.evaluation._losses import loss_name

_HEADER = (
    *("DATA", "METHOD", "RUNS", "MEAN", "STD", "BEST", "PI%", "SIZE", "REDUCED%", "TRAIN", "EVALS"),
    *("T1 S", "T2 S", "PLACE", "TEST", "EFFECT"),
)


def findings_table(found: Mapping[str, Any]) -> str:
    """Return a comparison, given as for JSON, for people."""
    better = "higher" if found["is_higher_better"] else "lower"
    return "\n".join(
        [
            line("measure", f"{found['measure'].replace('_', ' ')}, the {better} the better"),
            line("reference", f"{found['reference']}: in TEST + says it is better, - worse"),
            line("tests", f"signed rank over runs, Holm, level {found['level']}"),
            *_loss(found["scoring"]),
            *(line("note", note) for note in found["notes"]),
            "",
            *aligned([_HEADER, *_rows(found)], right=range(2, len(_HEADER))),
            "",
            line("ranks", f"over {counted(len(found['ranked_on']), found['blocks'][:-1])}"),
            *(f"  {row}" for row in aligned(list(_ranks(found)), right=(0, 2, 3, 4))),
            *_friedman(found["friedman"]),
        ]
    )


def _loss(scoring: str) -> list[str]:
    name = loss_name(scoring)
    return [] if name == "error" else [line("loss", f"{name}: in TRAIN that of the searches")]


def _rows(found: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    against = {(row["data"], row["method"]): row for row in found["against_reference"]}
    for row in found["results"]:
        other = against.get((row["data"], row["method"]), {})
        yield (
            printable(row["data"]),
            printable(row["method"]),
            str(row["runs"]),
            f"{row['mean']:.4f}",
            _number(row["std"], ".4f"),
            f"{row['best']:.4f}",
            _number(row["improvement"], ".1f"),
            f"{row['size']:.1f}",
            f"{row['reduction']:.1f}",
            _number(row["train_loss"], ".4f"),
            f"{row['evaluations']:.0f}",
            f"{row['seconds_search']:.2f}",
            f"{row['seconds_evaluate']:.2f}",
            str(row["place"]),
            other.get("verdict") or "",
            _number(other.get("effect"), ".2f"),
        )


def _ranks(found: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    yield "PLACE", "METHOD", "RANK", "WIN/TIE/LOSS", "P"
    for row in found["overall"]:
        counts = "" if row["tally"] is None else "/".join(map(str, row["tally"].values()))
        rank = f"{row['average_rank']:.2f}"
        p = _number(row["holm"], ".4f")
        yield str(row["place"]), printable(row["method"]), rank, counts, p


def _friedman(found: Mapping[str, Any] | None) -> list[str]:
    if found is None:
        return []
    chi_square, f = found["chi_square"], found["f"]
    ratio = "F infinite" if f["statistic"] is None else f"F {f['statistic']:.4f}"
    pairs = len(found["differ_by_conover"])
    return [
        "",
        line("friedman", f"chi square {chi_square['statistic']:.4f}, p {chi_square['p']:.4g}"),
        line("", f"{ratio} (Iman and Davenport), p {f['p']:.4g}"),
        line("nemenyi", f"average ranks differ if more than {found['critical_difference']:.4f}"),
        line(
            "conover",
            f"rank sums differ if more than {found['critical_sum_difference']:.4f}: "
            f"{counted(pairs, 'pair')}",
        ),
    ]


def _number(value: float | None, form: str) -> str:
    return "" if value is None else format(value, form)
