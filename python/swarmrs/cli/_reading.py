"""The reading options on the command line, derived from their declarations in `data._options`."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from typing import Annotated, Any, TypeAlias, get_origin

import typer

from swarmrs._base._messages import sized
from swarmrs.cli._options import parse_size
from swarmrs.cli._signature import set_signature
from swarmrs.data._options import Declared, ReadOption, read_options

# The reading options of a command, as `read_table` takes them.
Reading: TypeAlias = Mapping[str, Any]

# Commands that exclude features have an option of their own for that.
_DERIVED = {name: declared for name, declared in read_options().items() if name != "exclude"}


def flag_of(name: str) -> str:
    """Return the flag of an option.

    Examples
    --------
    >>> flag_of("max_bytes")
    '--max-bytes'
    """
    return f"--{name.replace('_', '-')}"


def _offer(choices: Sequence[str]) -> Callable[[str], list[str]]:
    """Return what offers the choices to a shell that completes words."""

    def offer(incomplete: str) -> list[str]:
        return list(choices)

    return offer


def _parameter(name: str, declared: Declared) -> tuple[object, object]:
    """Return the annotation and the default by which typer makes an option."""
    kind, option = declared
    flags = [flag_of(name), *map(flag_of, option.aliases)]
    default, repeat = option.default, ""
    if get_origin(kind) is Sequence:
        kind, default, repeat = list[str], list(default), " Repeat for more."
    elif _is_size(option):
        kind, default = str, sized(default).replace(" ", "")
    settings = typer.Option(
        *flags,
        metavar=option.metavar or None,
        help=f"{option.help}{repeat}",
        autocompletion=_offer(option.choices) if option.choices else None,
        show_default=option.default_help or True,
    )
    return Annotated[kind, settings], default


def _is_size(option: ReadOption) -> bool:
    return option.metavar == "SIZE"


_PARAMETERS = {name: _parameter(name, declared) for name, declared in _DERIVED.items()}


def reads_data(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the reading options in place of its parameter `reading`, which holds them."""
    parameters: list[inspect.Parameter] = []
    for parameter in inspect.signature(command).parameters.values():
        if parameter.name == "reading":
            parameters += [
                parameter.replace(name=name, annotation=annotation, default=default)
                for name, (annotation, default) in _PARAMETERS.items()
            ]
        else:
            parameters.append(parameter)

    @wraps(command)
    def with_options(**given: Any) -> None:
        reading = {name: given.pop(name) for name in _DERIVED}
        for name, (_, option) in _DERIVED.items():
            if _is_size(option):
                reading[name] = parse_size(reading[name], name.replace("_", "-"))
        command(**given, reading=reading)

    set_signature(with_options, parameters)
    return with_options


def words_of(settings: Mapping[str, Any]) -> list[str]:
    """Return arguments of `read_table` as the words of a command.

    Examples
    --------
    >>> words_of({"target": "class", "exclude": ["id"], "separator": ";", "dedupe_names": True})
    ['--target', 'class', '--exclude', 'id', '--separator', ';', '--dedupe-names']
    """
    words: list[str] = []
    for name, value in settings.items():
        flag = flag_of(name)
        if value is True:
            words.append(flag)
        elif isinstance(value, list):
            words += [word for item in value for word in (flag, str(item))]
        else:
            words += [flag, str(value).replace("\t", r"\t")]
    return words
