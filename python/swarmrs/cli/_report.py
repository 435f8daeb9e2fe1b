"""swarmrs report: what is in a store, as text."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from swarmrs._words import check_word
from swarmrs.cli import _options as options
from swarmrs.cli import _render as render
from swarmrs.cli._text import printable

if TYPE_CHECKING:
    import polars as pl

StoreFile = Annotated[
    Path, typer.Argument(metavar="STORE", help="What `swarmrs compare --store` wrote.")
]

_DECIMALS = {"runs": 0, "failed": 0, "size": 1, "evaluations": 0, "seconds": 2}


def report(
    store: StoreFile,
    format: options.Format = "table",
    debug: options.Debug = False,
) -> None:
    """Print what a comparison found: each method on each table, or every cell.

    \b
    swarmrs report results.db
    swarmrs report results.db -f csv > cells.csv
    """  # noqa: D301
    check_word("format", format, render.FORMATS)
    from swarmrs.experiments import cells_frame, settings

    print(as_text(cells_frame(store), settings(store), format))


def as_text(cells: "pl.DataFrame", about: dict[str, Any], format: str) -> str:
    """Return the cells as CSV, or their statistics for people or programs."""
    if format == "csv":
        return _cells_csv(cells)
    from swarmrs.experiments._summary import summary

    means = summary(cells)
    if format == "json":
        return render.as_json({"settings": about, "summary": means.to_dicts()})
    shown = [name for name in means.columns if means[name].null_count() < means.height]
    rows = [[_shown(name, row[name]) for name in shown] for row in means.iter_rows(named=True)]
    return "\n".join(
        render.aligned([[name.upper() for name in shown], *rows], range(2, len(shown)))
    )


def _shown(name: str, value: object) -> str:
    if isinstance(value, str):
        return printable(value)
    return "" if value is None else f"{value:.{_DECIMALS.get(name, 4)}f}"


def _cells_csv(cells: "pl.DataFrame") -> str:
    """Return a line for each cell, lists as JSON; the traces are too long for a line."""
    frame = cells.drop("trace")
    rows = (
        [
            json.dumps(value, ensure_ascii=False) if isinstance(value, list) else value
            for value in row
        ]
        for row in frame.iter_rows()
    )
    return render.as_csv(frame.columns, rows)
