"""The command that lists the presets."""

from typing import Annotated

import typer

from swarmrs.cli._input import _complete as complete
from swarmrs.cli._input import _options as options
from swarmrs.cli._output import _render as render
from swarmrs.cli._output._text import aligned


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
