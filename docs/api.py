"""Writes api.md from the docstrings: `.venv/bin/python docs/api.py`.

A test makes it anew and compares, and holds that no public name is left out.
"""

import inspect
import re
import textwrap
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import swarmrs
from swarmrs import exceptions, experiments

PAGE = Path(__file__).with_name("api.md")

INTRO = """# API reference

Every public name, generated from the docstrings by `docs/api.py`; `help(swarmrs.select)` shows the
same, with examples. Names are imported from `swarmrs`, or from the module before them. Parameters
after `*` are keyword-only. `SwarmSelector` and `FilterSelector` also have the methods of every
scikit-learn selector: `transform`, `fit_transform`, `inverse_transform`, `get_support`,
`get_feature_names_out`, `set_output`, `get_params` and `set_params`. For an introduction see
[quickstart.md](quickstart.md) and [selectors.md](selectors.md).
"""

PRESETS = """### presets

A mapping of names to `Preset`: the settings of published studies, such as
`swarmrs.presets["tran2019"].options`. `swarmrs presets` prints them.
"""

# What is called, by what it is for; then what calls return, and what they raise.
CALLED = {
    "Search": [swarmrs.select, swarmrs.SwarmSelector, swarmrs.minimize, swarmrs.algorithms],
    "Data, filters and scores": [
        swarmrs.describe,
        swarmrs.rank,
        swarmrs.FilterSelector,
        swarmrs.group,
        swarmrs.Evaluator,
        swarmrs.read_table,
    ],
    "Experiments": [
        swarmrs.compare,
        experiments.cells_frame,
        experiments.store_settings,
        experiments.summary,
        experiments.merge,
        experiments.reproduce,
        experiments.published_tables,
        experiments.write_report,
        experiments.write_selection_report,
        experiments.check_report,
        experiments.Plan,
        experiments.Reproduction,
    ],
}
RETURNED = [
    swarmrs.Selection,
    *(swarmrs.Front, swarmrs.FrontPoint, swarmrs.Parsimony, swarmrs.Baseline),
    swarmrs.Competition,
    *(swarmrs.Evaluations, swarmrs.Seconds, swarmrs.Work, swarmrs.Iteration),
    *(swarmrs.Stability, swarmrs.Agreement, swarmrs.HeldOut, swarmrs.Part, swarmrs.RowsUsed),
    swarmrs.Minimum,
    *(swarmrs.Card, swarmrs.Parameter, swarmrs.Preset),
    *(swarmrs.Description, swarmrs.Column),
    swarmrs.Ranking,
    swarmrs.Grouping,
    swarmrs.Table,
    *(swarmrs.Comparison, experiments.Findings, experiments.Protocol, experiments.Estimate),
    *(experiments.Progress, experiments.Reproduced, experiments.Line),
]
RAISED = [thing for thing in vars(exceptions).values() if inspect.isclass(thing)]


class Item(NamedTuple):
    """What a docstring says about a parameter, an attribute, a result or an error."""

    names: str
    kind: str
    text: str


class Docstring(NamedTuple):
    """The text of a docstring and the items of its sections."""

    text: str
    sections: dict[str, list[Item]]


def marked(text: str) -> str:
    """Return a text of a docstring as Markdown in one line."""
    return " ".join(text.replace("``", "`").split())


def items(section: str) -> Iterator[Item]:
    """Give the items of a section: a line for each, and what is indented below it."""
    for head, body in re.findall(r"^(\S.*)\n?((?:(?: .*)?(?:\n|$))*)", section, flags=re.M):
        names, _, kind = head.partition(" : ")
        yield Item(names, marked(kind), marked(body))


def parsed(thing: object) -> Docstring:
    """Take a numpydoc docstring apart."""
    doc = inspect.getdoc(thing)
    assert doc is not None, f"{thing} has no docstring"
    text, *rest = re.split(r"^(\w+)\n-+\n", doc, flags=re.M)
    paragraphs = [marked(part) for part in text.strip().split("\n\n")]
    sections = {
        title: list(items(section.strip("\n")))
        for title, section in zip(rest[::2], rest[1::2], strict=True)
    }
    return Docstring("\n\n".join(textwrap.fill(part, 118) for part in paragraphs), sections)


def call(thing: Callable[..., object], name: str) -> str:
    """Return a call with all parameters and their defaults, wrapped."""
    parameters = inspect.signature(thing).parameters.values()
    words: list[str] = []
    for parameter in parameters:
        if parameter.name == "self":
            continue
        starred = any(word.startswith("*") for word in words)
        if parameter.kind is parameter.KEYWORD_ONLY and not starred:
            words.append("*")
        default = parameter.default
        bare = parameter.replace(annotation=parameter.empty, default=parameter.empty)
        given = "" if default is parameter.empty else "=" + repr(default).replace("'", '"')
        words.append(f"{bare}{given}")
    # A blank inside a word would be a place to wrap at.
    text = f"{name}({', '.join(word.replace(' ', chr(0)) for word in words)})"
    indent = " " * (len(name) + 1)
    wrapped = textwrap.fill(text, 110, subsequent_indent=indent, break_long_words=False)
    return wrapped.replace(chr(0), " ")


def table(heads: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    """Return a table of Markdown."""
    lines = [heads, ("---",) * len(heads), *rows]
    cells = ([cell.replace("|", "\\|") for cell in line] for line in lines)
    return "".join(f"| {' | '.join(line)} |\n" for line in cells)


def coded(names: str) -> str:
    """Return names as code."""
    return ", ".join(f"`{name}`" for name in names.split(", "))


def members(thing: type) -> Iterator[tuple[str, str]]:
    """Give the public methods and properties that a class defines itself, and what they do."""
    for name, member in vars(thing).items():
        is_method = inspect.isfunction(member)
        if not name.startswith("_") and (is_method or isinstance(member, property)):
            shown = call(member, name) if is_method else name
            first = parsed(member).text.partition("\n\n")[0]
            yield f"`{' '.join(shown.split())}`", first.replace("\n", " ")


def entry(thing: type | Callable[..., object], is_called: bool) -> str:
    """Return what the page has about a name."""
    home = "experiments." if thing.__name__ in experiments.__all__ else ""
    home = "" if thing.__name__ in swarmrs.__all__ else home
    doc = parsed(thing)
    parts = [f"### {home}{thing.__name__}\n"]
    if is_called:
        parts.append(f"```text\n{call(thing, thing.__name__)}\n```\n")
    parts.append(f"{doc.text}\n")
    for title, word in {"Parameters": "parameter", "Attributes": "attribute"}.items():
        if title in doc.sections:
            rows = [(coded(names), kind, text) for names, kind, text in doc.sections[title]]
            parts.append(table((word, "type", "description"), rows))
    fields = getattr(thing, "_fields", ())
    if fields and "Attributes" not in doc.sections:
        parts.append(f"Fields: {coded(', '.join(fields))}.\n")
    if inspect.isclass(thing) and (own := list(members(thing))):
        parts.append(table(("method or property", "description"), own))
    for title in ("Returns", "Raises"):
        for names, _, text in doc.sections.get(title, ()):
            parts.append(
                textwrap.fill(f"{title} `{names}`{': ' + text if text else '.'}", 118) + "\n"
            )
    return "\n".join(parts)


def page() -> str:
    """Return the page."""
    parts = [INTRO]
    for title, things in CALLED.items():
        parts += [f"## {title}\n", *(entry(thing, is_called=True) for thing in things)]
        if title == "Search":
            parts.append(PRESETS)
    parts += ["## Results\n", *(entry(thing, is_called=False) for thing in RETURNED)]
    parts += ["## Exceptions\n", "All are in `swarmrs.exceptions`.\n"]
    rows = (
        (
            f"`{thing.__name__}`",
            coded(", ".join(base.__name__ for base in thing.__bases__)),
            parsed(thing).text.replace("\n", " "),
        )
        for thing in RAISED
    )
    parts.append(table(("error or warning", "base", "description"), rows))
    return "\n".join(parts)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
