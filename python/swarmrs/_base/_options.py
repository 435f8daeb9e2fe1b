"""Options: each is declared once and offered by every door that has it."""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ForwardRef, TypeVar, get_args, get_type_hints

Call = TypeVar("Call", bound=Callable[..., Any])


@dataclass(frozen=True, kw_only=True)
class Option:
    """How an option is offered.

    Attributes
    ----------
    default : object
        Its value when it is not given.
    help : str
        What it does: one sentence for the command line, and the first one in Python.
    more : str
        More for the docstring: units, ranges, what None means.
    doors : str
        Who offers it: "p" Python, "c" the command line, "m" `compare`.
    cli : type
        What the command line reads: str, int, float, bool, Path or list[str].
    flags : tuple of str
        Its flags, if they are not made of its name.
    metavar : str
        The placeholder of its value.
    section : str
        The heading under which the help lists it.
    brief : bool
        Whether the short help lists it, too.
    shown : str or None
        The default as the help shows it; None for the value itself.
    words : tuple of str
        The values to choose from, for shell completion.
    """

    default: Any
    help: str
    more: str = ""
    doors: str = "pcm"
    cli: Any = str
    flags: tuple[str, ...] = ()
    metavar: str = ""
    section: str = "Other"
    brief: bool = False
    shown: str | None = None
    words: tuple[str, ...] = ()


def options_of(declaration: type, door: str | None = None) -> dict[str, Option]:
    """Return the options of a typed dictionary, in their order; those of one door if one is given.

    Their types stay unread, so that nothing is imported for them.
    """
    found = {
        name: annotation.__metadata__[0] for name, annotation in declaration.__annotations__.items()
    }
    return {name: option for name, option in found.items() if door is None or door in option.doors}


def type_of(declaration: type, name: str) -> str:
    """Return the type of an option as it is written in its declaration."""
    written = get_args(declaration.__annotations__[name])[0]
    return written.__forward_arg__ if isinstance(written, ForwardRef) else str(written.__name__)


def defaults_of(declaration: type, door: str | None = None) -> dict[str, Any]:
    """Return the defaults by name."""
    return {name: option.default for name, option in options_of(declaration, door).items()}


def takes_options(
    *declarations: type, types: Mapping[str, object], door: str = "p"
) -> Callable[[Call], Call]:
    """Show the options that a function takes as keywords in its signature and its docstring.

    The docstring says where: a line ``{options}`` in its section of parameters. `types` are those
    that the declarations name, so that the arguments can be checked against them.
    """

    def show(function: Call) -> Call:
        own = [
            parameter
            for parameter in inspect.signature(function).parameters.values()
            if parameter.kind is not parameter.VAR_KEYWORD
        ]
        entries = []
        for declaration in declarations:
            known = get_type_hints(declaration, localns=dict(types))
            for name, option in options_of(declaration, door).items():
                written = type_of(declaration, name)
                kind = inspect.Parameter.KEYWORD_ONLY
                own.append(
                    inspect.Parameter(name, kind, default=option.default, annotation=known[name])
                )
                head = f"    {name} : {written}, default={option.default!r}"
                entries.append(f"{head}\n        {option.help} {option.more}".rstrip())
        function.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
            own, return_annotation=inspect.signature(function).return_annotation
        )
        # Docstrings are left out under python -OO.
        if function.__doc__:
            function.__doc__ = function.__doc__.replace("    {options}", "\n".join(entries))
        return function

    return show
