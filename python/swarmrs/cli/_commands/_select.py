"""The command that selects features."""

import shlex
import sys

import typer

from swarmrs._base._warnings import deferred_warnings
from swarmrs.cli._input import _options as options
from swarmrs.cli._input._files import check_output, check_place
from swarmrs.cli._output import _render as render
from swarmrs.cli._output._progress import progress
from swarmrs.cli._output._snippet import check_snippet, snippet
from swarmrs.cli._output._text import Attempts, complain, deliver, remark
from swarmrs.cli._output._validation import all_measured
from swarmrs.cli._signals import INTERRUPTED
from swarmrs.exceptions import DataError


@options.reads_data
@options.takes(options.names_of("c"))
def select(
    data: options.Data,
    target: options.Target = None,
    *,
    given: options.Given,
    reading: options.Given,
    trace: options.Trace = None,
    report: options.Report = None,
    kept: options.KeepAll = None,
    output: options.Output = None,
    force: options.Force = False,
    format: options.Format = "table",
    quiet: options.Quiet = False,
    no_progress: options.NoProgress = False,
) -> None:
    """Search for the feature subset with the best score (wrapper feature selection).

    \b
    # several methods compete; the one that predicts held-out rows best selects
    swarmrs select data.csv --target class
    # one particle swarm search, scored by 5-NN and 10-fold cross-validation
    swarmrs select data.csv --algo vlpso-ls
    # an unbiased score: nested cross-validation
    swarmrs select data.csv --outer-cv 10 --seed 1
    # thousands of features: at most 50 of them
    swarmrs select genes.parquet --max-features 50
    # forward selection by naive Bayes, leave-one-out
    swarmrs select data.csv --algo sfs --estimator nb --cv loo
    # the Pareto front of error and size; return its knee
    swarmrs select data.csv --algo mopbpso --pick knee
    # the settings of a published study
    swarmrs select data.csv --algo cdbpso --preset chuang2012
    # how stable is the selection when other rows are drawn?
    swarmrs select data.csv --repeats 20 --resample 0.8 --seed 1
    # a long search that resumes where it stopped; the reduced table as a file
    swarmrs select data.csv --seed 1 --checkpoint run.ckpt -o reduced.csv
    # scikit-learn code that fits the same classifier; the result as JSON
    swarmrs select data.csv --seed 1 --output model.py --format json
    # a report with figures
    swarmrs select data.csv --report found.html
    """  # noqa: D301
    check_output(output, (".csv", ".tsv", ".parquet", ".json", ".py", "-"), force)
    if output is not None and output.suffix.lower() == ".py":
        check_snippet(data, given.get("estimator"), given.get("preset"))
    for rows in (trace, kept):
        check_output(rows, (".csv", ".parquet"), force)
    options.check_page(report, force)
    checkpoint = given.get("checkpoint")
    if checkpoint is not None:
        check_place(checkpoint)
    given["keep_all"] = kept is not None
    with deferred_warnings():
        try:
            from swarmrs import read_table
            from swarmrs.search import _select
            from swarmrs.search._options import _settings
            from swarmrs.search._time_estimate import forecast

            settings = _settings.Settings.of(given)
            exclude = settings.options["exclude"]
            table = read_table(data, target, exclude=exclude, **reading)
            remark(quiet, note=table.notices, warning=table.warnings)
            remark(quiet, note=forecast(table, settings))
            with progress(not (quiet or no_progress)) as callback:
                settings = _settings.Settings.of({**given, "callback": callback})
                result = _select.run_search(table, settings)
        except KeyboardInterrupt:
            complain("interrupted before the first subset was evaluated", "run the command again")
            raise typer.Exit(INTERRUPTED) from None
    remark(quiet, warning=result.warnings[len(table.warnings) :])
    plain = result.to_dict()
    pairs = zip(result.selected_indices, result.selected, strict=True)
    is_writable = bool(result.selected) or output is None or output.suffix.lower() == ".json"
    attempts = Attempts()
    with attempts.attempt():
        if output == options.STDOUT and is_writable:
            deliver(table.reduced(result.selected).write_csv(), end="")
        elif format == "json":
            deliver(render.as_json(plain))
        elif format == "csv":
            deliver(render.as_csv(("index", "feature"), pairs))
        else:
            cards = {card.id: card for card in _settings.algorithms()}
            is_front_wanted = cards[result.algorithm].seeks_front or result.pick != "best"
            deliver(render.selection_table(plain, is_front_wanted))
    if not is_writable:
        raise DataError(
            "no feature is selected, so that there is no table to write",
            "leave --output out, or search without --prescreen",
        )
    with attempts.attempt():
        if output is not None and output.suffix.lower() == ".json":
            render.write_text(render.as_json(plain), output)
        elif output is not None and output.suffix.lower() == ".py":
            render.write_text(snippet(result, table, data, settings, reading), output)
        elif output not in (None, options.STDOUT):
            render.write_frame(table.reduced(result.selected), output)
    with attempts.attempt():
        if trace is not None:
            render.write_frame(result.trace, trace)
    with attempts.attempt():
        if report is not None:
            from swarmrs.experiments import write_selection_report

            write_selection_report(result, report, command=shlex.join(["swarmrs", *sys.argv[1:]]))
    with attempts.attempt():
        if kept is not None:
            render.write_frame(all_measured(result, kept.suffix.lower() == ".csv"), kept)
    attempts.settle()
    if result.stop == "interrupted":
        if checkpoint is not None:
            remark(quiet, note=["the same command goes on from here"])
        raise typer.Exit(INTERRUPTED)
