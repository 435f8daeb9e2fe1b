"""The command that describes data without a search."""

import shlex
from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import typer

from swarmrs._base._messages import counted, listed, printable, shortened, sized
from swarmrs._base._tasks import REGRESSION
from swarmrs.cli._input import _options as options
from swarmrs.cli._output import _render as render
from swarmrs.cli._output._text import aligned, line, remark

_BAR = 30
_CLASSES = 20
_COLUMNS = 50


@options.reads_data
@options.takes(("exclude",))
def describe(
    data: options.Data,
    target: options.Target = None,
    every: Annotated[
        bool, typer.Option("--all", help=f"Show all columns, not {_COLUMNS} at most.")
    ] = False,
    *,
    given: options.Given,
    reading: options.Given,
    format: options.Format = "table",
    quiet: options.Quiet = False,
) -> None:
    """Describe the features and classes of the data, and what a search would do with them.

    It ends with the command that searches the data, and the time it takes.

    \b
    # rows, classes, types, missing values and conspicuous features
    swarmrs describe data.csv --target class
    # what a search with these policies would do with each feature
    swarmrs describe data.csv --missing median --encode onehot
    # for programs
    swarmrs describe genes.parquet --format json
    """  # noqa: D301
    from swarmrs.search import _describe

    found = _describe.describe(data, target, **given, **reading)
    remark(quiet, note=found.notices, warning=found.warnings)
    if format == "json":
        print(render.as_json(found.to_dict()))
    elif format == "csv":
        print(render.as_csv(found.frame.columns, found.frame.iter_rows()))
    else:
        print(_table(found.to_dict(), every, data))


def _table(found: Mapping[str, Any], every: bool, data: str) -> str:
    columns = found["columns"]
    searched = sum(column["action"] == "search" for column in columns)
    incomplete = [column["missing"] for column in columns if column["missing"]]
    gaps = [f"{counted(sum(incomplete), 'value')} in {counted(len(incomplete), 'column')}"]
    unlabeled = found["rows"] - found["labeled"]
    if unlabeled:
        gaps = [*gaps[: len(incomplete)], f"{counted(unlabeled, 'value')} of the target"]
    words = listed([f"'{word}'" for word in found["null_words"]], len(found["null_words"]))
    would = f"search {searched} of {counted(len(columns), 'column')}"
    if found["refusal"] is not None:
        would = f"refuse it: {found['refusal']}"
    hint = [] if found["hint"] is None else [line("", found["hint"])]
    return "\n".join(
        [
            line("data", f"{found['name']}, {found['kind']}: {_size(found)}"),
            *_classes(found["target"], found["task"], found["classes"]),
            line("missing", ", ".join(gaps) if incomplete or unlabeled else "none"),
            *([line("null words", f"empty, {words}")] if words else []),
            line("memory", f"about {sized(found['memory'])}, and what --memory allows"),
            line("select would", would),
            *hint,
            *_advice(found["settings"], found["seconds"], data),
            "",
            *_columns(columns, every),
        ]
    )


def _advice(settings: Mapping[str, Any] | None, seconds: float | None, data: str) -> list[str]:
    """Return the command that searches the data, and how long it takes."""
    from swarmrs.search._time_estimate import said

    if settings is None or seconds is None:
        return [line("command", "none is known: see what select would refuse")]
    return [
        line("command", shlex.join(["swarmrs", "select", data, *_words(settings)])),
        line("time", f"about {said(seconds)}, by a rough estimate"),
    ]


def _words(settings: Mapping[str, Any]) -> list[str]:
    """Return arguments of `read_table` as the words of a command.

    Examples
    --------
    >>> _words({"target": "class", "exclude": ["id"], "separator": ";", "dedupe_names": True})
    ['--target', 'class', '--exclude', 'id', '--separator', ';', '--dedupe-names']
    """
    words: list[str] = []
    for name, value in settings.items():
        flag = options.flag_of(name)
        if value is True:
            words.append(flag)
        elif isinstance(value, list):
            words += [word for item in value for word in (flag, str(item))]
        else:
            words += [flag, str(value).replace("\t", r"\t")]
    return words


def _size(found: Mapping[str, Any]) -> str:
    columns = counted(len(found["columns"]), "feature")
    return f"{counted(found['rows'], 'row')}, {columns} and the target"


def _classes(target: str, task: str, classes: Sequence[Mapping[str, Any]]) -> list[str]:
    if task == REGRESSION.name:
        return [line("target", f"'{target}': numbers ({task})")]
    if not classes:
        return [line("target", f"'{target}', no classes")]
    total, most = sum(row["rows"] for row in classes), max(row["rows"] for row in classes)
    rows = [
        (
            f"  {printable(shortened(str(row['label'])))}",
            str(row["rows"]),
            f"{100 * row['rows'] / total:.1f} %",
            "#" * max(1, round(_BAR * row["rows"] / most)),
        )
        for row in classes[:_CLASSES]
    ]
    more = [f"  and {len(classes) - _CLASSES} more"] if len(classes) > _CLASSES else []
    head = line("target", f"'{target}': {counted(len(classes), 'class')}")
    return [head, *aligned(rows, right=(1, 2)), *more]


def _columns(columns: Sequence[Mapping[str, Any]], every: bool) -> list[str]:
    """List all columns, or of very many only those there is something to say about."""
    shown = columns
    if len(columns) > _COLUMNS and not every:
        conspicuous = [
            column
            for column in columns
            if column["missing"] or column["remark"] or column["action"] != "search"
        ]
        shown = (conspicuous or columns)[:_COLUMNS]
    rows = [("INDEX", "COLUMN", "TYPE", "MISSING", "DISTINCT", "LEAST", "GREATEST", "SELECT WOULD")]
    rows += [
        (
            str(column["index"]),
            printable(shortened(column["name"])),
            column["kind"],
            str(column["missing"]),
            str(column["distinct"]),
            _number(column["least"]),
            _number(column["greatest"]),
            _action(column),
        )
        for column in shown
    ]
    hidden = len(columns) - len(shown)
    more = [f"and {counted(hidden, 'column')} more; --all shows them"] if hidden else []
    return [*aligned(rows, right=(0, 3, 4, 5, 6)), *more]


def _action(column: Mapping[str, Any]) -> str:
    reason = f" ({column['reason']})" if column["reason"] else ""
    strange = shortened(column["remark"], 60) if column["remark"] != column["reason"] else ""
    return printable(f"{column['action']}{reason}{'; ' if strange else ''}{strange}")


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.6g}"
