"""The commands. Heavy modules are imported when a command runs, so that help is quick."""

import shlex
import sys
from typing import Annotated

import typer

from swarmrs._base._messages import check_word
from swarmrs.cli import _complete as complete
from swarmrs.cli import _options as options
from swarmrs.cli import _render as render
from swarmrs.cli._files import check_output, check_place
from swarmrs.cli._progress import progress
from swarmrs.cli._reading import Reading, reads_data
from swarmrs.cli._signals import INTERRUPTED
from swarmrs.cli._snippet import check_snippet, snippet
from swarmrs.cli._text import Attempts, complain, deliver, remark, told_later
from swarmrs.cli._validation import all_measured
from swarmrs.exceptions import DataError


@reads_data
def select(
    data: options.Data,
    target: options.Target = None,
    algo: options.Algo = "bpso",
    preset: options.Preset = None,
    classifier: options.Classifier = None,
    k: options.Neighbors = None,
    metric: options.Metric = None,
    weights: options.Weights = None,
    cv: options.Cv = None,
    cv_seed: options.CvSeed = 0,
    scale: options.Scale = None,
    scoring: options.Scoring = None,
    objective: options.Objective = None,
    alpha: options.Alpha = None,
    gamma: options.Gamma = None,
    sim: options.Sim = None,
    sigma_log: options.SigmaLog = None,
    max_evals: options.MaxEvals = None,
    iterations: options.Iterations = None,
    population: options.Population = None,
    time_limit: options.TimeLimit = None,
    target_cost: options.TargetCost = None,
    patience: options.Patience = None,
    settings: options.Settings = [],  # noqa: B006
    include: options.Include = [],  # noqa: B006
    exclude: options.Exclude = [],  # noqa: B006
    max_features: options.MaxFeatures = None,
    together: options.Together = [],  # noqa: B006
    one_per_group: options.OnePerGroup = False,
    prescreen: options.Prescreen = None,
    groups: options.Groups = None,
    pick: options.Pick = "best",
    parsimony: options.Parsimony = None,
    repeats: options.Repeats = 1,
    resample: options.Resample = None,
    test_size: options.TestSize = None,
    outer_cv: options.OuterCv = None,
    seed: options.Seed = None,
    jobs: options.Jobs = 0,
    memory: options.Memory = "1GiB",
    rare_class: options.RareClass = "warn",
    constant: options.Constant = None,
    *,
    reading: Reading,
    trace: options.Trace = None,
    report: options.Report = None,
    kept: options.KeepAll = None,
    checkpoint: options.Checkpoint = None,
    output: options.Output = None,
    force: options.Force = False,
    format: options.Format = "table",
    quiet: options.Quiet = False,
    no_progress: options.NoProgress = False,
    debug: options.Debug = False,
) -> None:
    """Search for the columns that tell the classes apart best.

    \b
    # a swarm looks for the columns by which 5-NN errs least
    swarmrs select data.csv --target class
    # forward selection by naive Bayes, leaving out one row at a time
    swarmrs select data.csv --algo sfs --classifier nb --cv loo
    # thousands of columns: drop the redundant ones first, select 50 at most
    swarmrs select genes.parquet --prescreen fcbf --max-features 50
    # as a published study did
    swarmrs select data.csv --algo cdbpso --preset 004
    # few columns and little error weighed against each other
    swarmrs select data.csv --algo mopbpso --pick knee
    # what rows that no search has seen will say of such a selection
    swarmrs select data.csv --outer-cv 10 --seed 1
    # whether other rows would choose the same columns
    swarmrs select data.csv --repeats 20 --resample 0.8 --seed 1
    # a long run that goes on where it was stopped; the reduced table as a file
    swarmrs select data.csv --seed 1 --checkpoint run.ckpt -o reduced.csv
    # scikit-learn code that fits the same classifier; the result for programs
    swarmrs select data.csv --seed 1 --output model.py --format json
    # a page with figures
    swarmrs select data.csv --report found.html
    """  # noqa: D301
    check_word("format", format, render.FORMATS)
    check_output(output, (".csv", ".tsv", ".parquet", ".json", ".py", "-"), force)
    if output is not None and output.suffix.lower() == ".py":
        check_snippet(data, classifier, preset)
    for rows in (trace, kept):
        check_output(rows, (".csv", ".parquet"), force)
    options.check_page(report, force)
    if checkpoint is not None:
        check_place(checkpoint)
    params = options.parse_settings(settings, population)
    n_jobs, n_bytes = options.parse_jobs(jobs), options.parse_size(memory)
    with told_later():
        try:
            from swarmrs import read_table
            from swarmrs._base._resources import count_threads
            from swarmrs.search import _select, _settings
            from swarmrs.search._time_estimate import forecast

            table = read_table(data, target, exclude=exclude, **reading)
            if not quiet:
                remark("note", table.notices)
                remark("warning", table.warnings)
                asked = _settings.Settings(
                    algo=algo,
                    preset=preset,
                    classifier=classifier,
                    objective=objective,
                    max_evals=max_evals,
                    iterations=iterations,
                    time_limit=time_limit,
                    params=params,
                )
                threads = count_threads(n_jobs)
                told = forecast(table, asked, repeats=repeats, outer_cv=outer_cv, threads=threads)
                remark("note", told)
            with progress(not (quiet or no_progress)) as callback:
                result = _select.select(
                    table,
                    algo=algo,
                    preset=preset,
                    classifier=classifier,
                    k=k,
                    metric=metric,
                    weights=weights,
                    cv=cv,
                    cv_seed=cv_seed,
                    scale=scale,
                    scoring=scoring,
                    objective=objective,
                    alpha=alpha,
                    gamma=gamma,
                    sim=sim,
                    sigma_log=sigma_log,
                    max_evals=max_evals,
                    iterations=iterations,
                    time_limit=time_limit,
                    target_cost=target_cost,
                    patience=patience,
                    params=params,
                    include=include,
                    exclude=exclude,
                    max_features=max_features,
                    together=options.parse_together(together),
                    one_per_group=one_per_group,
                    prescreen=prescreen,
                    groups=groups,
                    pick=pick,
                    parsimony=parsimony,
                    repeats=repeats,
                    resample=resample,
                    test_size=test_size,
                    outer_cv=outer_cv,
                    keep_all=kept is not None,
                    random_state=seed,
                    n_jobs=n_jobs,
                    memory=n_bytes,
                    checkpoint=checkpoint,
                    callback=callback,
                    rare_class=rare_class,
                    constant=constant,
                )
        except KeyboardInterrupt:
            complain("interrupted before anything was measured", "run the command again")
            raise typer.Exit(INTERRUPTED) from None
    if not quiet:
        remark("warning", result.warnings[len(table.warnings) :])
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
            deliver(render.as_csv(("index", "column"), pairs))
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
            render.write_text(snippet(result, table, data, exclude, reading), output)
        elif output not in (None, options.STDOUT):
            render.write_frame(table.reduced(result.selected), output)
    with attempts.attempt():
        if trace is not None:
            render.write_frame(result.trace, trace)
    with attempts.attempt():
        if report is not None:
            from swarmrs.experiments._report import write_selection_report

            write_selection_report(result, report, command=shlex.join(["swarmrs", *sys.argv[1:]]))
    with attempts.attempt():
        if kept is not None:
            render.write_frame(all_measured(result, kept.suffix.lower() == ".csv"), kept)
    attempts.settle()
    if result.stop == "interrupted":
        if checkpoint is not None and not quiet:
            remark("note", ("the same command goes on from here",))
        raise typer.Exit(INTERRUPTED)


@reads_data
def evaluate(
    data: options.Data,
    features: Annotated[
        list[str],
        typer.Option(
            metavar="A,B,C",
            help="Columns to measure.",
            show_default="all",
            autocompletion=complete.column_list,
        ),
    ] = [],  # noqa: B006
    target: options.Target = None,
    preset: options.Preset = None,
    classifier: options.Classifier = None,
    k: options.Neighbors = None,
    metric: options.Metric = None,
    weights: options.Weights = None,
    cv: options.Cv = None,
    cv_seed: options.CvSeed = 0,
    scale: options.Scale = None,
    jobs: options.Jobs = 0,
    memory: options.Memory = "1GiB",
    rare_class: options.RareClass = "warn",
    *,
    reading: Reading,
    format: options.Format = "table",
    quiet: options.Quiet = False,
    debug: options.Debug = False,
) -> None:
    """Measure a subset of columns, as a search would.

    \b
    # two columns, leaving out one row at a time
    swarmrs evaluate data.csv --features age,income --cv loo
    # all columns, for programs
    swarmrs evaluate data.csv --format json
    """  # noqa: D301
    check_word("format", format, render.FORMATS)
    n_jobs, n_bytes = options.parse_jobs(jobs), options.parse_size(memory)
    from swarmrs import Evaluator, read_table
    from swarmrs._base import _versions

    table = read_table(data, target, **reading)
    names = table.names
    columns = [
        column for text in features for column in ([text] if text in names else text.split(","))
    ]
    asked = set(table.locate(columns)) if columns else set(range(len(names)))
    mask = [index in asked for index in range(len(names))]
    with told_later():
        evaluator = Evaluator(
            table,
            preset=preset,
            classifier=classifier,
            k=k,
            metric=metric,
            weights=weights,
            cv=cv,
            cv_seed=cv_seed,
            scale=scale,
            n_jobs=n_jobs,
            memory=n_bytes,
            rare_class=rare_class,
        )
    if not quiet:
        remark("note", table.notices)
        remark("warning", evaluator.warnings)
    measured = evaluator.measure(mask)[0]
    scores = dict(zip(measured.dtype.names, measured.tolist(), strict=True))
    plain = {
        "schema_version": _versions.SCHEMA_VERSION,
        "preset": preset,
        "data": evaluator.describe_data(),
        "evaluation": evaluator.evaluation.to_dict(),
        "selected": [names[index] for index in sorted(asked)],
        "selected_indices": sorted(asked),
        "size": len(asked),
        "baseline": evaluator.baseline.to_dict(),
        **scores,
        "work": evaluator.work._asdict(),
        "versions": _versions.versions(),
    }
    if format == "json":
        print(render.as_json(plain))
    elif format == "csv":
        print(render.as_csv(("size", *scores), [(len(asked), *scores.values())]))
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
    debug: options.Debug = False,
) -> None:
    """List the algorithms, or describe one.

    \b
    # all of them, a line each
    swarmrs algorithms
    # the parameters of one, their defaults and ranges, and its paper
    swarmrs algorithms vlpso
    """  # noqa: D301
    check_word("format", format, render.FORMATS)
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
