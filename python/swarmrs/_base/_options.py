"""Options: each is declared once and offered by every door that has it."""

import inspect
import re
import textwrap
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, TypeVar, get_args, get_type_hints

Call = TypeVar("Call", bound=Callable[..., Any])

# What the command line reads for a type, by the first word of the type.
_CLI = {"int": int, "float": float, "bool": bool, "Sequence": list[str]}
_METAVARS = {int: "N", float: "X", str: "NAME"}


@dataclass(frozen=True, kw_only=True)
class Option:
    """How an option is offered.

    Attributes
    ----------
    help : str
        What it does: one sentence for the command line, and the first one in Python.
    default : object
        Its value when it is not given.
    more : str
        More for the docstring: units, ranges, what None means.
    doors : str
        Who offers it: "p" Python, "c" the command line, "m" `compare`.
    cli : type
        What the command line reads: str, int, float, bool, Path or list[str]; by default what its
        type says, or else str.
    flags : tuple of str
        Its flags, if they are not made of its name.
    metavar : str
        The placeholder of its value, by default one of its type.
    section : str
        The heading under which the help lists it.
    brief : bool
        Whether the short help lists it, too.
    shown : str or None
        The default as the help shows it; None for the value itself.
    words : tuple of str
        The values to choose from, for shell completion.
    """

    help: str
    default: Any = None
    more: str = ""
    doors: str = "pcm"
    cli: Any = None
    flags: tuple[str, ...] = ()
    metavar: str = ""
    section: str = "Other"
    brief: bool = False
    shown: str | None = None
    words: tuple[str, ...] = ()


@cache
def options_of(declaration: type, door: str = "") -> dict[str, Option]:
    """Return the options of a typed dictionary, in their order; those of one door if one is given.

    Their types stay unread, so that nothing is imported for them.
    """
    found = {}
    for name, (kind, option) in _declared(declaration).items():
        cli = option.cli or _CLI.get(re.findall(r"\w+", kind)[0], str)
        metavar = option.metavar or _METAVARS.get(cli, "")
        if door in option.doors:
            found[name] = replace(option, cli=cli, metavar=metavar)
    return found


def _declared(declaration: type) -> dict[str, tuple[str, Option]]:
    """Return the type of each option as it is written, and the option."""
    parts = {name: get_args(given) for name, given in declaration.__annotations__.items()}
    return {
        name: (getattr(kind, "__forward_arg__", None) or kind.__name__, option)
        for name, (kind, option) in parts.items()
    }


def defaults_of(declaration: type) -> dict[str, Any]:
    """Return the defaults by name."""
    return {name: option.default for name, option in options_of(declaration).items()}


def takes_options(
    declaration: type, types: Mapping[str, object] | None = None, door: str = "p"
) -> Callable[[Call], Call]:
    """Show the options that a function takes as keywords in its signature and its docstring.

    The docstring says where: a line ``{options}`` in its section of parameters. `types` are those
    that the declaration names and its module does not import, so that the arguments can be checked
    against them.
    """

    def show(function: Call) -> Call:
        signature = inspect.signature(function)
        parameters = [
            parameter
            for parameter in signature.parameters.values()
            if parameter.kind is not parameter.VAR_KEYWORD
        ]
        known, written = get_type_hints(declaration, localns=types), _declared(declaration)
        lines = []
        for name, option in options_of(declaration, door).items():
            kind, default = inspect.Parameter.KEYWORD_ONLY, option.default
            parameters.append(
                inspect.Parameter(name, kind, default=default, annotation=known[name])
            )
            shown = written[name][0]
            if option.words and shown in ("str", "str | None"):
                shown = "{" + ", ".join(f'"{word}"' for word in option.words) + "}"
            lines.append(f"    {name} : {shown}, default={default!r}")
            indent = " " * 8
            text = f"{option.help} {option.more}"
            lines += textwrap.wrap(text, 100, initial_indent=indent, subsequent_indent=indent)
        function.__signature__ = signature.replace(  # type: ignore[attr-defined]
            parameters=parameters
        )
        # Docstrings are left out under python -OO.
        if function.__doc__:
            function.__doc__ = function.__doc__.replace("    {options}", "\n".join(lines))
        return function

    return show
