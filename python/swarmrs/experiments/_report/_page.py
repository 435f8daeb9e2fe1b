"""Pages: one HTML file each, that asks for nothing and lets nothing in its data act.

All text is escaped where it is put in; the only markup that is not is that of drawings, which is
escaped where it is made, and the style and script of this package. The policy in the page allows
that one script, by its hash, and no address at all.
"""

import json
import shlex
from base64 import b64encode
from collections.abc import Iterable, Mapping
from hashlib import sha256
from importlib.resources import files
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from swarmrs._base._messages import counted, printable
from swarmrs.experiments._report._drawing import Drawing, shown
from swarmrs.experiments._report._svg import Sheet, as_svg

# A name in full has its limits too: it is repeated in every row.
_FULL = 300
_SIGNS = {"+": "+", "-": "\N{MINUS SIGN}", "=": "=", None: ""}


def render(
    template: str, sheet: Sheet, *, title: str, settings: Mapping[str, object], **content: object
) -> str:
    """Return a page. `settings` close it, the ``"command"`` among them on its own."""
    environment = Environment(
        loader=PackageLoader("swarmrs.experiments", "_report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
    )
    environment.filters |= {
        "shown": shown,
        "full": full,
        "sign": _SIGNS.__getitem__,
        "counted": counted,
    }
    style, script = _asset("style.css"), _asset("tables.js")
    digest = b64encode(sha256(script.encode()).digest()).decode()
    policy = (
        "default-src 'none'; style-src 'unsafe-inline'; img-src data:; "
        f"script-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    )
    return environment.get_template(template).render(
        title=title,
        policy=policy,
        style=Markup(style) + sheet.css(),
        script=Markup(script),
        command=_command(settings.get("command")),
        settings=[
            (key.replace("_", " "), _shown(value))
            for key, value in sorted(settings.items())
            if key != "command"
        ],
        **content,
    )


def on_page(drawings: Iterable[Drawing], sheet: Sheet) -> list[dict[str, str]]:
    """Return drawings as a page shows them."""
    return [
        {"title": each.title, "caption": each.caption, "svg": as_svg(each, sheet)}
        for each in drawings
    ]


def full(text: object) -> str:
    """Return a text on one line, cut only where it is absurdly long."""
    return shown(str(text), _FULL) if str(text) else ""


def _command(command: Any) -> str:
    if command is None:
        return ""
    return printable(command if isinstance(command, str) else shlex.join(map(str, command)))


def _shown(value: object) -> str:
    """Return a setting as text, nested ones by their parts."""
    if isinstance(value, Mapping):
        parts = (f"{key} {_shown(each)}" for key, each in value.items() if each is not None)
        return ", ".join(parts) or "none"
    if isinstance(value, list | tuple):
        is_nested = any(isinstance(each, Mapping) for each in value)
        return ("; " if is_nested else ", ").join(map(_shown, value))
    if value is None:
        return "none"
    return value if isinstance(value, str) else json.dumps(value, default=str, ensure_ascii=False)


def _asset(name: str) -> str:
    return files("swarmrs.experiments").joinpath("_report", name).read_text(encoding="utf-8")
