"""The command that shows which settings are in force, and where they come from."""

import inspect
import json
from collections.abc import Iterator
from typing import Annotated, NamedTuple

import typer

from swarmrs._base._messages import check_word, printable
from swarmrs.cli._command import settable
from swarmrs.cli._input import _complete as complete
from swarmrs.cli._input import _options as options
from swarmrs.cli._input._config import Options, Settings
from swarmrs.cli._output import _render as render
from swarmrs.cli._output._text import aligned


class Row(NamedTuple):
    """An option of a command, its value, and where that comes from."""

    command: str
    option: str
    value: object
    origin: str


def config(
    context: typer.Context,
    command: Annotated[
        str | None,
        typer.Argument(
            metavar="COMMAND",
            help="Show all its options, set or not.",
            autocompletion=complete.commands,
        ),
    ] = None,
    format: options.Format = "table",
) -> None:
    """Show the settings in force, and where each comes from.

    \b
    # what is set in this directory, and by what
    swarmrs config
    # all options of select, with the values they would have
    swarmrs config select
    # the same if another file were in force
    swarmrs config select --config lab.toml
    """  # noqa: D301
    known = settable(context)
    if command is not None:
        known = {command: known[check_word("command", command, list(known))]}
    rows = [row for row in _rows(known, context.obj) if command or row.origin != "default"]
    if format == "json":
        print(render.as_json([row._asdict() for row in rows]))
    elif format == "csv":
        print(render.as_csv(Row._fields, [row._replace(value=_shown(row.value)) for row in rows]))
    elif rows:
        cells = [tuple(field.upper() for field in Row._fields)]
        for row in rows:
            cells.append(
                (row.command, row.option, printable(_shown(row.value)), printable(row.origin))
            )
        print("\n".join(aligned(cells)))
    else:
        print("nothing is set: all defaults are in force")


def _rows(known: Options, settings: Settings) -> Iterator[Row]:
    for command, names in known.items():
        for name, option in names.items():
            setting = settings[command].get(name)
            # A required option has none.
            default = None if option.default is inspect.Parameter.empty else option.default
            value = default if setting is None else setting.value
            yield Row(command, name, value, "default" if setting is None else setting.origin)


def _shown(value: object) -> str:
    """Return a value as TOML has it, and nothing for none."""
    return "" if value is None else json.dumps(value, ensure_ascii=False)
