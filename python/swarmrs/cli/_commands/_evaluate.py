"""The command that scores a feature subset."""

from typing import Annotated

import typer

from swarmrs._base._warnings import deferred_warnings
from swarmrs.cli._input import _complete as complete
from swarmrs.cli._input import _options as options
from swarmrs.cli._output import _render as render
from swarmrs.cli._output._text import remark

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
