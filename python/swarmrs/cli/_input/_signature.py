"""Signatures: what typer reads the options of a command from, and what else can be read there."""

import inspect
from collections.abc import Callable, Iterable
from types import UnionType
from typing import NamedTuple, Union, get_args, get_origin

from typer.core import TyperCommand


class Option(NamedTuple):
    """An option of a command.

    Attributes
    ----------
    parameter : str
        The parameter of the command that takes it.
    kind : type
        What it is: bool, int, float, or else text.
    is_list : bool
        Whether it can be given more than once.
    default : object
        What it is where nobody says.
    """

    parameter: str
    kind: type
    is_list: bool
    default: object


class InForce(NamedTuple):
    """The default of an option whose parameter has none, so that a command sees what is given.

    It stands beside the type of the parameter, in its annotation.
    """

    default: object


def set_signature(command: Callable[..., None], parameters: Iterable[inspect.Parameter]) -> None:
    """Have typer read these parameters in place of those that the command is written with."""
    signature = inspect.Signature(list(parameters))
    command.__signature__ = signature  # type: ignore[attr-defined]
    command.__annotations__ = {
        name: parameter.annotation for name, parameter in signature.parameters.items()
    }


def options_of(command: TyperCommand) -> dict[str, Option]:
    """Return the options of a command by their long names, without the dashes before them."""
    assert command.callback is not None, "every command is a function"
    parameters = inspect.signature(command.callback).parameters
    options: dict[str, Option] = {}
    for param in command.params:
        if param.param_type_name == "option":
            parameter = parameters[param.name]
            plain, *notes = get_args(parameter.annotation)
            kind, is_list = _kind(plain)
            # Of several long flags the first is its name in files.
            flag = next((flag for flag in param.opts if flag.startswith("--")), param.opts[0])
            name = flag.lstrip("-")
            own = (note.default for note in notes if isinstance(note, InForce))
            options[name] = Option(param.name, kind, is_list, next(own, parameter.default))
    return options


def _kind(plain: object) -> tuple[type, bool]:
    """Return what a type such as ``int | None`` or ``list[str]`` asks for, and whether many."""
    is_list = get_origin(plain) is list
    if is_list or get_origin(plain) in (Union, UnionType):
        plain = get_args(plain)[0]
    return plain if plain in (bool, int, float) else str, is_list
