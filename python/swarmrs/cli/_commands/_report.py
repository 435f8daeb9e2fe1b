"""swarmrs report: the results of a store as text, as a page and as figures."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from swarmrs.cli._input import _options as options
from swarmrs.cli._output import _render as render
from swarmrs.cli._output._findings import findings_table
from swarmrs.exceptions import DataError

if TYPE_CHECKING:
    import polars as pl

StoreFile = Annotated[
    Path, typer.Argument(metavar="STORE", help="A file of `swarmrs compare --store`.")
]


def report(
    store: StoreFile,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Write a page with figures: html. Needs swarmrs[report].",
        ),
    ] = None,
    figures: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Write the figures as PDF and PNG.")
    ] = None,
    measure: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Score to compare: test_accuracy, test_balanced_accuracy, test_ovr_accuracy, "
            "test_f1_macro, test_matthews_corrcoef, test_error, test_loss, train_error, "
            "train_loss, train_cost, size, seconds.",
            show_default="test_accuracy or that of --scoring, or train_error",
        ),
    ] = None,
    reference: Annotated[
        str | None,
        typer.Option(
            metavar="METHOD",
            help="Test the other methods against this one.",
            show_default="the best average rank",
        ),
    ] = None,
    force: options.Force = False,
    format: options.Format = "table",
) -> None:
    """Summarize a comparison with statistical tests; write it as a page.

    \b
    swarmrs report results.db
    swarmrs report results.db -o report.html --figures figures
    swarmrs report results.db -f csv > cells.csv
    """  # noqa: D301
    options.check_page(output, force)
    from swarmrs.experiments import cells_frame, store_settings

    cells, about = cells_frame(store), store_settings(store)
    if output is not None or figures is not None:
        from swarmrs.experiments import write_report

        write_report(cells, about, output, figures=figures, measure=measure, reference=reference)
    print(as_text(cells, about, format, measure=measure, reference=reference))


def as_text(
    cells: "pl.DataFrame",
    about: dict[str, Any],
    format: str,
    *,
    measure: str | None = None,
    reference: str | None = None,
) -> str:
    """Return the cells as CSV, or their summary as text or JSON."""
    if format == "csv":
        return _cells_csv(cells)
    from swarmrs.experiments import summary

    found, note = None, None
    try:
        found = summary(cells, measure=measure, reference=reference).to_dict()
    except DataError as problem:
        # A finished shard may have no complete run.
        note = f"nothing to compare yet: {problem}"
    if format == "json":
        return render.as_json({"settings": about, "summary": found, "note": note})
    return note or findings_table(found or {})


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
