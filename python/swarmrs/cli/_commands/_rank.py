"""The command that ranks features."""

from typing import Annotated

import typer

from swarmrs._base._warnings import deferred_warnings
from swarmrs.cli._input import _complete as complete
from swarmrs.cli._input import _options as options
from swarmrs.cli._output import _render as render
from swarmrs.cli._output._text import remark


@options.reads_data
@options.takes(("exclude", "random_state", "n_jobs"))
def rank(
    data: options.Data,
    target: options.Target = None,
    by: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="su, symmetrical uncertainty; mi, mutual information in bits; f, F statistic "
            "(ANOVA, or a regression on numbers); mrmr, minimum redundancy, maximum relevance; "
            "relieff, ReliefF weights; ridge-rfe and ridge-sfs, backward and forward selection by "
            "ridge; rks, support by random subsets, with a level of noise. Numbers have mi, f, "
            "ridge-rfe and ridge-sfs.",
            show_default="su, f for numbers",
            autocompletion=complete.words("filters._rank", "RANKINGS"),
        ),
    ] = None,
    top: Annotated[
        int | None, typer.Option(metavar="K", help="Show the best K only.", show_default="all")
    ] = None,
    *,
    given: options.Given,
    reading: options.Given,
    format: options.Format = "table",
    quiet: options.Quiet = False,
) -> None:
    """Rank features by relevance to the class or number.

    \b
    # the 20 most relevant features
    swarmrs rank data.csv --target class --top 20
    # all features by mutual information in bits, for programs
    swarmrs rank genes.parquet --by mi --format csv
    # the 50 features of most relevance and least redundancy
    swarmrs rank genes.parquet --by mrmr --top 50
    # by random subsets: which features are better than noise?
    swarmrs rank genes.parquet --by rks --seed 1
    """  # noqa: D301
    from swarmrs import read_table
    from swarmrs.filters import _rank

    table = read_table(data, target, exclude=given.get("exclude", ()), **reading)
    remark(quiet, note=table.notices, warning=table.warnings)
    with deferred_warnings():
        ranking = _rank.rank(table, by=by, top=top, **given)
    if format == "json":
        print(render.as_json(ranking.to_dict()))
    elif format == "csv":
        print(render.as_csv(ranking.frame.columns, ranking.frame.iter_rows()))
    else:
        print(render.ranking_table(ranking.to_dict()))
