"""The commands. Heavy modules are imported when a command runs, so that help is quick."""

import shlex
import sys
from typing import Annotated

import typer

from swarmrs._base._messages import check_word
from swarmrs._base._warnings import deferred_warnings
from swarmrs.cli import _complete as complete
from swarmrs.cli import _options as options
from swarmrs.cli import _render as render
from swarmrs.cli._files import check_output, check_place
from swarmrs.cli._progress import progress
from swarmrs.cli._signals import INTERRUPTED
from swarmrs.cli._snippet import check_snippet, snippet
from swarmrs.cli._text import Attempts, aligned, complain, deliver, remark
from swarmrs.cli._validation import all_measured
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


_EVALUATION = (
    *("preset", "estimator", "n_neighbors", "metric", "weights", "ridge_alpha"),
    *("cv", "cv_seed", "scale", "rare_class", "n_jobs", "memory"),
)


@options.reads_data
@options.takes(_EVALUATION)
def evaluate(
    data: options.Data,
    features: Annotated[
        list[str],
        typer.Option(
            metavar="A,B,C",
            help="Features to evaluate.",
            show_default="all",
            autocompletion=complete.column_list,
        ),
    ] = [],  # noqa: B006
    target: options.Target = None,
    *,
    given: options.Given,
    reading: options.Given,
    format: options.Format = "table",
    quiet: options.Quiet = False,
) -> None:
    """Score a feature subset, as a search does.

    \b
    # two features, leave-one-out
    swarmrs evaluate data.csv --features age,income --cv loo
    # all features, as JSON
    swarmrs evaluate data.csv --format json
    """  # noqa: D301
    from swarmrs import read_table
    from swarmrs._base import _versions
    from swarmrs.search._options._settings import Settings

    table = read_table(data, target, **reading)
    names = table.names
    columns = [
        column for text in features for column in ([text] if text in names else text.split(","))
    ]
    wanted = set(table.locate(columns)) if columns else set(range(len(names)))
    mask = [index in wanted for index in range(len(names))]
    with deferred_warnings():
        settings = Settings.of(given)
        resources = {name: given[name] for name in ("n_jobs", "memory") if name in given}
        evaluator = settings.evaluator(table, **resources)
    remark(quiet, note=table.notices, warning=evaluator.warnings)
    measured = evaluator.measure(mask)[0]
    scores = dict(zip(measured.dtype.names, measured.tolist(), strict=True))
    plain = {
        "schema_version": _versions.SCHEMA_VERSION,
        "preset": settings.options["preset"],
        "data": evaluator.describe_data(),
        "evaluation": evaluator.evaluation.to_dict(),
        "selected": [names[index] for index in sorted(wanted)],
        "selected_indices": sorted(wanted),
        "size": len(wanted),
        "baseline": evaluator.baseline.to_dict(),
        **scores,
        "work": evaluator.work._asdict(),
        "versions": _versions.versions(),
    }
    if format == "json":
        print(render.as_json(plain))
    elif format == "csv":
        print(render.as_csv(("size", *scores), [(len(wanted), *scores.values())]))
    else:
        print(render.evaluation_table(plain, scores))


def algorithms(
    algorithm: Annotated[
        str | None,
        typer.Argument(
            metavar="ID",
            help="Show this one, with its parameters.",
            autocompletion=complete.algorithms,
        ),
    ] = None,
    format: options.Format = "table",
) -> None:
    """List the algorithms, or describe one.

    \b
    # all of them, a line each
    swarmrs algorithms
    # the parameters of one, their defaults and ranges, and its paper
    swarmrs algorithms vlpso
    """  # noqa: D301
    from swarmrs import algorithms as read_cards

    cards = read_cards()
    if algorithm is not None:
        by_name = {name.lower(): card for card in cards for name in (card.id, *card.aliases)}
        cards = [by_name[check_word("algorithm", algorithm.lower(), list(by_name))]]
    if format == "json":
        plain = [card.to_dict() for card in cards]
        print(render.as_json(plain if algorithm is None else plain[0]))
    elif format == "csv" and algorithm is None:
        header = ("id", "name", "family", "year", "evaluations", "doi", "summary")
        print(render.as_csv(header, [[getattr(card, key) for key in header] for card in cards]))
    elif format == "csv":
        print(render.as_csv(("name", "default", "range", "about"), cards[0].params))
    else:
        print(render.cards_table(cards) if algorithm is None else render.card_table(cards[0]))


def presets(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="NAME", help="Print the options of this one.", autocompletion=complete.presets
        ),
    ] = None,
    format: options.Format = "table",
) -> None:
    """List the presets: the settings of published studies, or print one.

    \b
    # all of them, a line each
    swarmrs presets
    # the options of one, with its citation
    swarmrs presets tran2019
    """  # noqa: D301
    from swarmrs.search._options._presets import find_preset
    from swarmrs.search._options._presets import presets as known

    if name is None:
        header = ("name", "year", "doi", "about")
        rows = [[getattr(preset, key) for key in header] for preset in known.values()]
        if format == "json":
            print(render.as_json([preset.to_dict() for preset in known.values()]))
        elif format == "csv":
            print(render.as_csv(header, rows))
        else:
            shown = [[key.upper() for key in header], *([str(it) for it in row] for row in rows)]
            print("\n".join(aligned(shown)))
        return
    preset = find_preset(name)
    plain = preset.to_dict()
    if format == "json":
        print(render.as_json(plain))
    elif format == "csv":
        print(render.as_csv(("option", "value"), plain["options"].items()))
    else:
        print(render.preset_table(preset))
