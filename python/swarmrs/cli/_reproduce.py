"""swarmrs reproduce: the tables of the papers run again."""

import shlex
import sys
from collections.abc import Iterator
from dataclasses import astuple, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from swarmrs._base._messages import check_word, counted
from swarmrs.cli import _options as options
from swarmrs.cli import _render as render
from swarmrs.cli._cells_progress import Stopping, cells_progress
from swarmrs.cli._compare import FirstSeed, tell_failed
from swarmrs.cli._text import complain, deliver, line, remark
from swarmrs.exceptions import SpecError, StoreError

if TYPE_CHECKING:
    from swarmrs.experiments._papers._results import Reproduced

_SEPARATOR = ","


def reproduce(
    table: Annotated[
        str | None,
        typer.Argument(metavar="TABLE", help="002-III, or 002 for all tables of a paper."),
    ] = None,
    datasets: Annotated[
        str | None,
        typer.Option(metavar="NAMES", help="Data sets with commas.", show_default="all at hand"),
    ] = None,
    runs: Annotated[
        int | None,
        typer.Option(metavar="N", help="Runs of each method.", show_default="as in the paper"),
    ] = None,
    data_dir: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Where the data sets are, in files of their names."),
    ] = None,
    fetch: Annotated[
        bool, typer.Option("--fetch", help="Ask OpenML for data sets that are not there.")
    ] = False,
    store: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Keeps every cell; the same command goes on from it."),
    ] = None,
    seed: FirstSeed = 1,
    split_seed: Annotated[
        int, typer.Option(metavar="N", help="Deals the rows that are held out.")
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
        bool, typer.Option("--list", help="Only say which tables there are and what they need.")
    ] = False,
    jobs: options.Jobs = -1,
    memory: options.Memory = "1GiB",
    format: options.Format = "table",
    quiet: options.Quiet = False,
    no_progress: options.NoProgress = False,
    debug: options.Debug = False,
) -> None:
    """Run a published table again, our figures beside those printed.

    \b
    swarmrs reproduce --list
    swarmrs reproduce 004-2 --datasets wine,wdbc
    swarmrs reproduce 000-4 --datasets wine,sonar --runs 10 --data-dir tables
    swarmrs reproduce 002-III --data-dir tables --store kept --format csv
    """  # noqa: D301
    check_word("format", format, render.FORMATS)
    if listed:
        print(_list(table, format))
        return
    if table is None:
        raise SpecError("no table is given", "name one, such as 004-2; --list has them all")
    n_bytes = options.parse_size(memory)
    with Stopping() as stopping:
        from swarmrs.experiments._papers._reproduce import Reproduction

        found = Reproduction.of(
            table,
            datasets=None if datasets is None else _words(datasets),
            runs=runs,
            data_dir=data_dir,
            fetch=fetch,
            seed=seed,
            split_seed=split_seed,
            max_evals=max_evals,
        )
        if not quiet:
            remark("warning", found.warnings)
        command = shlex.join(["swarmrs", *sys.argv[1:]])
        try:
            with cells_progress(not (quiet or no_progress)) as show:
                found.run(
                    store=store,
                    n_jobs=jobs,
                    memory=n_bytes,
                    stop=stopping.stop,
                    show=show,
                    command=command,
                )
        except StoreError as problem:
            complain(str(problem), f"{problem.hint}; then go on with: {command}")
            raise typer.Exit(1) from None
        if found.is_stopped:
            kept = "nothing is kept without --store" if store is None else "cells are stored"
            remark("note", (f"stopped; {kept}. Go on with: {command}",))
            raise typer.Exit(stopping.code)
        deliver(_shown(found.results(), format))
    hint = "the same command tries them again"
    tell_failed(found.failed, hint if store is None else f"{hint}; other results are stored")


def _words(text: str) -> list[str]:
    return [word.strip() for word in text.split(_SEPARATOR) if word.strip()]


def _shown(tables: "list[Reproduced]", format: str) -> str:
    if format == "json":
        return render.as_json([table.to_dict() for table in tables])
    if format == "csv":
        from swarmrs.experiments._papers._results import Line

        head = ["table", *(field.name for field in fields(Line))]
        rows = ([table.table, *astuple(line)] for table in tables for line in table.lines)
        return render.as_csv(head, rows)
    return "\n\n".join(table.to_markdown() for table in tables)


def _list(name: str | None, format: str) -> str:
    """Say which tables there are: what is in them, what they need, what cannot be had."""
    from swarmrs.experiments._papers import PAPERS, find_tables
    from swarmrs.experiments._papers._data import origin

    chosen = [find_tables(name)] if name else [(it, [*it.tables]) for it in PAPERS.values()]
    rows: list[dict[str, Any]] = [
        {
            "table": table.name,
            "title": table.title,
            "runs": paper.runs if table.studies else None,
            "methods": [method for method in table.methods if method],
            "data": {data: paper.absent.get(data, origin(data)) for data in table.data},
        }
        for paper, tables in chosen
        for table in tables
    ]
    if format == "json":
        return render.as_json(rows)
    if format == "csv":
        lines = (
            (row["table"], row["title"], row["runs"], " ".join(row["methods"]), data, needs)
            for row in rows
            for data, needs in row["data"].items()
        )
        return render.as_csv(("table", "title", "runs", "methods", "data", "from"), lines)
    return "\n\n".join("\n".join(_listed(row)) for row in rows)


def _listed(row: dict[str, Any]) -> Iterator[str]:
    yield line(row["table"], row["title"])
    if row["methods"]:
        yield line("  methods", f"{', '.join(row['methods'])}; {counted(row['runs'], 'run')} each")
    origins = dict.fromkeys(row["data"].values())
    for which in origins:
        names = [data for data, needs in row["data"].items() if needs == which]
        yield line("  data", f"{', '.join(names)}: {which}")
