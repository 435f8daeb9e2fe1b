"""swarmrs reproduce: the tables of published studies, our figures beside those printed."""

import shlex
import sys
from collections.abc import Iterator
from dataclasses import astuple, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from swarmrs._base._messages import counted, printable
from swarmrs.cli._commands._compare import FirstSeed, report_failed
from swarmrs.cli._input import _options as options
from swarmrs.cli._output import _render as render
from swarmrs.cli._output._cells_progress import Stopping, cells_progress
from swarmrs.cli._output._text import complain, deliver, line, remark
from swarmrs.cli._signals import INTERRUPTED
from swarmrs.exceptions import SpecError, StoreError

if TYPE_CHECKING:
    from swarmrs.experiments import Reproduced

_SEPARATOR = ","


@options.takes(("n_jobs", "memory"))
def reproduce(
    table: Annotated[
        str | None,
        typer.Argument(
            metavar="TABLE", help="tran2019-III, or tran2019 for all tables of a study."
        ),
    ] = None,
    datasets: Annotated[
        str | None,
        typer.Option(
            metavar="NAMES", help="Data sets, separated by commas.", show_default="all available"
        ),
    ] = None,
    runs: Annotated[
        int | None,
        typer.Option(metavar="N", help="Runs of each method.", show_default="as in the paper"),
    ] = None,
    data_dir: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Folder of the data sets, in files of their names."),
    ] = None,
    fetch: Annotated[
        bool, typer.Option("--fetch", help="Download data sets that are not there from OpenML.")
    ] = False,
    store: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="Folder of all results; the same command continues from it."
        ),
    ] = None,
    random_state: FirstSeed = 1,
    split_seed: Annotated[
        int, typer.Option(metavar="N", help="Seed of the train/test split of all runs.")
    ] = 1,
    max_evals: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="Maximum number of subset evaluations of each search.",
            show_default="the study's",
        ),
    ] = None,
    listed: Annotated[
        bool, typer.Option("--list", help="Only list the tables and their data sets.")
    ] = False,
    *,
    given: options.Given,
    format: options.Format = "table",
    quiet: options.Quiet = False,
    no_progress: options.NoProgress = False,
) -> None:
    """Reproduce a published table: our figures beside those printed.

    \b
    swarmrs reproduce --list
    swarmrs reproduce chuang2012-2 --datasets wine,wdbc
    swarmrs reproduce hafiz2018-4 --datasets wine,sonar --runs 10
    swarmrs reproduce tran2019-III --data-dir tables --store results --format csv
    """  # noqa: D301
    if listed:
        print(_list(table, format))
        return
    if table is None:
        raise SpecError("no table is given", "name one, such as chuang2012-2; --list has them all")
    with Stopping() as stopping:
        from swarmrs.experiments import Reproduction

        found = Reproduction.of(
            table,
            datasets=None if datasets is None else _words(datasets),
            runs=runs,
            data_dir=data_dir,
            fetch=fetch,
            random_state=random_state,
            split_seed=split_seed,
            max_evals=max_evals,
        )
        remark(quiet, warning=found.warnings)
        command = shlex.join(["swarmrs", *sys.argv[1:]])
        try:
            with cells_progress(not (quiet or no_progress)) as show:
                found.run(
                    store=store,
                    stop=stopping.stop,
                    on_progress=show,
                    command=command,
                    **given,
                )
        except StoreError as problem:
            complain(str(problem), f"{problem.hint}; then continue with: {command}")
            raise typer.Exit(1) from None
        if found.is_stopped:
            kept = "nothing is stored without --store" if store is None else "cells are stored"
            remark(note=[f"stopped; {kept}. Continue with: {command}"])
            raise typer.Exit(stopping.code or INTERRUPTED)
        deliver(_shown(found.results(), format))
    hint = "the same command tries them again"
    report_failed(found.failed, hint if store is None else f"{hint}; other results are stored")


def _words(text: str) -> list[str]:
    return [word.strip() for word in text.split(_SEPARATOR) if word.strip()]


def _shown(tables: "list[Reproduced]", format: str) -> str:
    if format == "json":
        return render.as_json([table.to_dict() for table in tables])
    if format == "csv":
        from swarmrs.experiments import Line

        head = ["table", *(field.name for field in fields(Line))]
        rows = ([table.table, *astuple(line)] for table in tables for line in table.lines)
        return render.as_csv(head, rows)
    return "\n\n".join(table.to_markdown() for table in tables)


def _list(name: str | None, format: str) -> str:
    """Return the tables as text: their titles, methods and data sets."""
    from swarmrs.experiments import published_tables

    rows = published_tables(name)
    if format == "json":
        return render.as_json(rows)
    if format == "csv":
        lines = (
            (row["table"], row["title"], row["runs"], " ".join(row["methods"]), data, needs)
            for row in rows
            for data, needs in row["data"].items()
        )
        return render.as_csv(("table", "title", "runs", "methods", "data", "from"), lines)
    studies: dict[str, list[str]] = {row["citation"]: [] for row in rows}
    for row in rows:
        studies[row["citation"]].append("\n".join(_listed(row)))
    return "\n\n".join(
        "\n\n".join([printable(citation), *tables]) for citation, tables in studies.items()
    )


def _listed(row: dict[str, Any]) -> Iterator[str]:
    yield line(row["table"], row["title"])
    if row["methods"]:
        yield line("  methods", f"{', '.join(row['methods'])}; {counted(row['runs'], 'run')} each")
    origins = dict.fromkeys(row["data"].values())
    for which in origins:
        names = [data for data, needs in row["data"].items() if needs == which]
        yield line("  data", f"{', '.join(names)}: {which}")
