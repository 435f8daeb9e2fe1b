"""The command that ranks features."""

from typing import Annotated

import typer

from swarmrs._base._messages import check_word
from swarmrs.cli import _complete as complete
from swarmrs.cli import _options as options
from swarmrs.cli import _render as render
from swarmrs.cli._reading import Reading, reads_data
from swarmrs.cli._text import deferred_warnings, remark


@reads_data
def rank(
    data: options.Data,
    target: options.Target = None,
    by: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="su, symmetrical uncertainty; mi, mutual information in bits; f, F statistic "
            "(ANOVA); mrmr, minimum redundancy, maximum relevance; relieff, ReliefF weights; "
            "ridge-rfe, recursive elimination by a ridge classifier.",
            autocompletion=complete.words("filters._rank", "MEASURES"),
        ),
    ] = "su",
    top: Annotated[
        int | None, typer.Option(metavar="K", help="Show the best K only.", show_default="all")
    ] = None,
    exclude: options.Exclude = [],  # noqa: B006
    n_jobs: options.Jobs = -1,
    *,
    reading: Reading,
    format: options.Format = "table",
    quiet: options.Quiet = False,
    debug: options.Debug = False,
) -> None:
    """Rank features by relevance to the class, without a classifier.

    \b
    # the 20 most relevant features
    swarmrs rank data.csv --target class --top 20
    # all features by mutual information in bits, for programs
    swarmrs rank genes.parquet --by mi --format csv
    # the 50 features of most relevance and least redundancy
    swarmrs rank genes.parquet --by mrmr --top 50
    """  # noqa: D301
    check_word("format", format, render.FORMATS)
    from swarmrs import read_table
    from swarmrs.filters import _rank

    table = read_table(data, target, exclude=exclude, **reading)
    if not quiet:
        remark("note", table.notices)
        remark("warning", table.warnings)
    with deferred_warnings():
        ranking = _rank.rank(table, by=by, top=top, exclude=exclude, n_jobs=n_jobs)
    if format == "json":
        print(render.as_json(ranking.to_dict()))
    elif format == "csv":
        print(render.as_csv(ranking.frame.columns, ranking.frame.iter_rows()))
    else:
        print(render.ranking_table(ranking.to_dict()))
