"""swarmrs compare and merge: experiments that survive crashes."""

import re
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from swarmrs._base._messages import counted, sized
from swarmrs._base._warnings import deferred_warnings
from swarmrs.cli._commands._report import as_text
from swarmrs.cli._input import _options as options
from swarmrs.cli._input._files import check_place
from swarmrs.cli._output import _render as render
from swarmrs.cli._output._cells_progress import Stopping, cells_progress, duration
from swarmrs.cli._output._text import complain, line, remark
from swarmrs.cli._signals import INTERRUPTED
from swarmrs.exceptions import ClusterError, SpecError, StoreError

if TYPE_CHECKING:
    from swarmrs.experiments import Plan

FAILED = 3
_SHOWN = 10

Tables = Annotated[
    list[str],
    typer.Argument(metavar="DATA...", help="Tables, as for select; or names in --data-dir."),
]
Algos = Annotated[
    str,
    typer.Option(
        "--algos",
        "-a",
        metavar="IDS",
        help="Methods, separated by commas; hyperparameters of one in brackets: "
        "bpso,vlpso[population=50],all. all selects every feature.",
    ),
]
Runs = Annotated[
    int, typer.Option(metavar="N", help="Runs of each method, with random seeds S, S+1, ...")
]
ProtocolName = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        help="cv10: nested cross-validation with 10 outer folds; split70: 70 % of the rows are "
        "searched, the others held out; resub: no rows are held out; loo: the same with "
        "leave-one-out.",
    ),
]
StorePath = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="File of all results, required unless --dry-run; the same command continues from it.",
    ),
]
FirstSeed = Annotated[
    int, typer.Option("--seed", "--random-state", metavar="N", help="Random seed of the first run.")
]
SplitSeed = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        help="Use one train/test split for all runs, of this seed.",
        show_default="each run its own",
    ),
]
TestMetric = Annotated[
    str | None,
    typer.Option(
        metavar="NAME", help="Distance on held-out rows.", show_default="that of the search"
    ),
]
DataDir = Annotated[
    Path | None, typer.Option(metavar="DIR", help="Folder of tables that are given by name.")
]
Shard = Annotated[
    str | None,
    typer.Option(metavar="I/N", help="Run part I of N; `swarmrs merge` joins the stores."),
]
ClusterAddress = Annotated[
    str | None,
    typer.Option(
        metavar="ADDRESS",
        help="Run on a dask cluster, tcp://host:8786, or on local processes: local. "
        "For trusted networks only.",
    ),
]
DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Only estimate the number of searches, time and memory.")
]


@options.reads_data
@options.takes([*options.names_of("m"), "n_jobs", "memory"])
def compare(
    data: Tables,
    algos: Algos,
    target: options.Target = None,
    *,
    given: options.Given,
    runs: Runs = 10,
    protocol: ProtocolName = "cv10",
    store: StorePath = None,
    test_metric: TestMetric = None,
    random_state: FirstSeed = 1,
    split_seed: SplitSeed = None,
    data_dir: DataDir = None,
    reading: options.Given,
    shard: Shard = None,
    cluster: ClusterAddress = None,
    dry_run: DryRun = False,
    format: options.Format = "table",
    quiet: options.Quiet = False,
    no_progress: options.NoProgress = False,
) -> None:
    """Compare methods on tables, run by run and fold by fold.

    \b
    swarmrs compare wine.csv sonar.csv --algos bpso,pbpso,all --store results.db
    swarmrs compare *.parquet --algos sfs,ga --protocol split70 --store r.db
    swarmrs compare genes.csv -a vlpso,cso --preset tran2019 --store r.db
    swarmrs compare *.csv --algos bpso,ga --store part1.db --shard 1/4
    """  # noqa: D301
    if store is None and not dry_run:
        raise SpecError("no store is given", "name the file of results: --store results.db")
    if store is not None:
        check_place(store)
    resources = {name: given.pop(name) for name in [*given] if name in ("n_jobs", "memory")}
    with Stopping() as stopping:
        from swarmrs.experiments import Plan

        plan = Plan.of(
            data,
            algos,
            target=target,
            read=reading,
            data_dir=data_dir,
            runs=runs,
            protocol=protocol,
            random_state=random_state,
            split_seed=split_seed,
            test_metric=test_metric,
            shard=_parse_shard(shard),
            **given,
        )
        remark(quiet, warning=plan.warnings)
        if dry_run:
            print(_estimated(plan, store, resources, format))
            return
        command = shlex.join(["swarmrs", *sys.argv[1:]])
        try:
            with cells_progress(not (quiet or no_progress)) as show:
                found = plan.run(
                    store,
                    cluster=cluster,
                    stop=stopping.stop,
                    on_progress=show,
                    command=command,
                    **resources,
                )
        except (ClusterError, StoreError) as problem:
            complain(str(problem), f"{problem.hint}; then continue with: {command}")
            raise typer.Exit(1) from None
        if not found.is_complete:
            remark(note=[f"stopped; finished cells are stored. Continue with: {command}"])
            raise typer.Exit(stopping.code or INTERRUPTED)
        print(as_text(found.cells, found.settings, format))
    report_failed(found.failed, "the same command tries them again; other results are stored")


def merge(
    stores: Annotated[list[Path], typer.Argument(metavar="STORE...", help="Stores of shards.")],
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="The new store.")],
    force: options.Force = False,
) -> None:
    """Merge the stores of shards into one.

    \b
    swarmrs merge part1.db part2.db -o all.db
    """  # noqa: D301
    check_place(output)
    from swarmrs.experiments import merge as merge_stores

    merge_stores(stores, output, force=force)


def _parse_shard(text: str | None) -> tuple[int, int] | None:
    if text is None:
        return None
    parts = re.fullmatch(r"(\d{1,9})/(\d{1,9})", text)
    if parts is None:
        raise SpecError(f"shard is '{text}', expected i/n", "write --shard 1/4")
    return int(parts[1]), int(parts[2])


def _estimated(plan: "Plan", store: Path | None, resources: dict[str, int], format: str) -> str:
    """Return the estimate of a comparison as text."""
    from dataclasses import asdict

    from swarmrs._base._resources import count_threads

    threads = count_threads(resources["n_jobs"])
    with deferred_warnings():
        found = plan.estimate(store, **resources)
    if format == "json":
        return render.as_json(asdict(found))
    if format == "csv":
        return render.as_csv(list(asdict(found)), [list(asdict(found).values())])
    left = found.total - found.done
    by = "finished cells" if found.done else "short trials"
    lines = [
        line("tables", str(len(plan.data))),
        line("methods", str(len(plan.methods))),
        line("cells", f"{found.total}: {found.done} done, {left} to do"),
        line("time", f"about {duration(found.seconds)} on {counted(threads, 'thread')}, by {by}"),
        line("memory", f"{sized(found.memory)} at most"),
    ]
    return "\n".join(lines)


def report_failed(failed: Sequence[tuple[str, str]], hint: str) -> None:
    """Print which cells failed and why, and exit with the code for it; nothing if none did."""
    if not failed:
        return
    lines = [f"{cell}: {text}" for cell, text in failed[:_SHOWN]]
    if len(failed) > _SHOWN:
        lines.append(f"and {len(failed) - _SHOWN} more; `swarmrs report -f csv` lists them")
    remark(failed=lines)
    complain(f"{counted(len(failed), 'cell')} failed", hint)
    raise typer.Exit(FAILED)
