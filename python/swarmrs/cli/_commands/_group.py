"""The command that clusters redundant features."""

from pathlib import Path
from typing import Annotated

import typer

from swarmrs._base._warnings import deferred_warnings
from swarmrs.cli._input import _complete as complete
from swarmrs.cli._input import _options as options
from swarmrs.cli._input._files import check_output
from swarmrs.cli._output import _render as render
from swarmrs.cli._output._text import remark


@options.reads_data
@options.takes(("exclude", "n_jobs"))
def group(
    data: options.Data,
    target: options.Target = None,
    by: Annotated[
        str,
        typer.Option(
            metavar="HOW",
            help="lbm, latent block model; hclust, average linkage; =K for a number of groups; "
            "then settings after commas: rows=N, levels=N, criterion=aic|icl, restarts=N, "
            "distance=su|spearman. prefix or prefix=SEP, by names. Or a file, a line per group.",
            autocompletion=complete.words("filters._groups", "METHODS"),
        ),
    ] = "lbm",
    random_state: Annotated[
        int, typer.Option("--seed", "--random-state", metavar="N", help="Random seed.")
    ] = 0,
    *,
    given: options.Given,
    reading: options.Given,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Write a file for --feature-groups (txt), or the result (json).",
        ),
    ] = None,
    force: options.Force = False,
    format: options.Format = "table",
    quiet: options.Quiet = False,
) -> None:
    """Cluster redundant features.

    \b
    # as many groups as a block model finds
    swarmrs group data.csv --target class
    # eight groups of features with high rank correlation
    swarmrs group data.csv --by hclust=8,distance=spearman
    # keep the groups, then search with them
    swarmrs group data.csv --by lbm --output groups.txt
    swarmrs select data.csv --feature-groups groups.txt --algo gpso
    """  # noqa: D301
    check_output(output, (".txt", ".json", "-"), force)
    from swarmrs import read_table
    from swarmrs.filters import _groups

    table = read_table(data, target, exclude=given.get("exclude", ()), **reading)
    remark(quiet, note=table.notices, warning=table.warnings)
    with deferred_warnings():
        grouping = _groups.group(table, by=by, random_state=random_state, **given)
    plain = grouping.to_dict()
    if output == options.STDOUT:
        print(grouping.to_text())
    elif format == "json":
        print(render.as_json(plain))
    elif format == "csv":
        print(render.as_csv(("group", "index", "feature"), render.group_rows(plain)))
    else:
        print(render.grouping_table(plain))
    if output not in (None, options.STDOUT):
        text = render.as_json(plain) if output.suffix.lower() == ".json" else grouping.to_text()
        render.write_text(text, output)
