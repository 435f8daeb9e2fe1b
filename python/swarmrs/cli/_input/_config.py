"""Settings from a file and from the environment, which take the place of defaults."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from swarmrs._base._messages import nearest
from swarmrs.cli._input._signature import Option
from swarmrs.exceptions import SpecError

FILE, PROJECT = Path("swarmrs.toml"), Path("pyproject.toml")
PREFIX = "SWARMRS_"
# What says where settings come from, or how errors look, is no setting itself; and a file that
# happens to lie in a directory must not have others overwritten.
NEVER = ("config", "isolated", "debug", "force")

_EXPECTED = {bool: "true or false", int: "a whole number", float: "a number", str: "text"}
_EXAMPLES = {bool: "true", int: "10", float: "0.5", str: '"word"'}
_TRUTHS = {"1": True, "true": True, "yes": True, "on": True}
_TRUTHS |= {"0": False, "false": False, "no": False, "off": False}

# The options of each command.
Options: TypeAlias = Mapping[str, Mapping[str, Option]]


class Setting(NamedTuple):
    """The value of an option, and the file or the variable it comes from."""

    value: object
    origin: str


Settings: TypeAlias = dict[str, dict[str, Setting]]


def find_settings(options: Options, config: Path | None, is_isolated: bool) -> Settings:
    """Return what is set for each command, by the names of its options.

    Parameters
    ----------
    options : mapping
        The options of all commands.
    config : Path or None
        A file to read; None is the one in the working directory.
    is_isolated : bool
        Whether to read no file.

    Raises
    ------
    SpecError
        If a file cannot be read, or holds what no command knows or takes.
    """
    if is_isolated and config is not None:
        raise SpecError("--isolated reads no file, but --config names one", "give only one of them")
    origin, tables = ("", {}) if is_isolated else _read(config)
    found = from_tables(origin, tables, options)
    for command, known in options.items():
        found[command] |= _from_environment(known)
    return found


def variable(option: str) -> str:
    """Return the environment variable of an option.

    Examples
    --------
    >>> variable("max-evals")
    'SWARMRS_MAX_EVALS'
    """
    return PREFIX + option.upper().replace("-", "_")


def _read(config: Path | None) -> tuple[str, Mapping[str, Any]]:
    """Return the name of the file in force, for messages, and what it sets."""
    if config is not None:
        path = config
    elif FILE.is_file():
        path = FILE
    elif PROJECT.is_file():
        path = PROJECT
    else:
        return "", {}
    import tomllib

    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise SpecError(f"file '{path}' does not exist", "give a TOML file to --config") from None
    except OSError as problem:
        reason = problem.strerror or problem
        raise SpecError(f"'{path}' cannot be read: {reason}", "give a TOML file") from None
    except (ValueError, RecursionError) as problem:
        raise SpecError(
            f"'{path}' is no TOML: {problem}", "correct it, or use --isolated"
        ) from None
    if path.name != PROJECT.name:
        return str(path), tables
    tool = tables.get("tool", {})
    ours = tool.get("swarmrs", {}) if isinstance(tool, dict) else {}
    if not isinstance(ours, dict):
        raise SpecError(f"'{path}': tool.swarmrs is no table", "write [tool.swarmrs]")
    return str(path), ours


def from_tables(origin: str, tables: Mapping[str, Any], options: Options) -> Settings:
    """Check all that a file holds, also for other commands, and part it by command.

    Raises
    ------
    SpecError
        If something in it is unknown or of the wrong type.
    """
    found: Settings = {command: {} for command in options}
    everywhere = {name for known in options.values() for name in known}
    for key, value in tables.items():
        if isinstance(value, dict):
            continue
        _check_key(f"'{origin}'", key, everywhere, "a key before the first table is an option")
        for command, known in options.items():
            if key in known:
                converted = _convert(f"'{origin}'", key, value, known[key])
                found[command][key] = Setting(converted, origin)
    for command, table in tables.items():
        if not isinstance(table, dict):
            continue
        _check_key(f"'{origin}'", command, options, "a table is named after a command")
        where = f"'{origin}', [{command}]"
        for key, value in table.items():
            known = options[command]
            _check_key(where, key, known, f"swarmrs {command} --help lists them")
            found[command][key] = Setting(_convert(where, key, value, known[key]), origin)
    return found


def _check_key(where: str, key: str, known: "Mapping[str, Any] | set[str]", rule: str) -> None:
    if key not in known:
        guess = nearest(key, sorted(known))
        offer = f"did you mean '{guess}'? " if guess else ""
        raise SpecError(f"{where}: unknown key '{key}'", f"{offer}{rule}")


def _convert(where: str, key: str, value: object, option: Option) -> object:
    """Return a value of a file as the command line would give it."""
    items = value if option.is_list and isinstance(value, list) else [value]
    for item in items:
        if not _fits(item, option.kind):
            shown = f"'{item}'" if isinstance(item, str) else str(item).lower()
            example = _EXAMPLES[option.kind]
            raise SpecError(
                f"{where}: {key} is {shown}, expected {_EXPECTED[option.kind]}",
                f"write {key} = {f'[{example}]' if option.is_list else example}",
            )
    # Where there is text on the command line, a file may have a number: folds are 10 or loo.
    converted = [str(item) if option.kind is str else item for item in items]
    return converted if option.is_list else converted[0]


def _fits(value: object, kind: type) -> bool:
    if kind is bool or isinstance(value, bool):
        return kind is bool and isinstance(value, bool)
    accepted: dict[type, tuple[type, ...]] = {int: (int,), float: (int, float)}
    return isinstance(value, accepted.get(kind, (int, float, str)))


def _from_environment(known: Mapping[str, Option]) -> dict[str, Setting]:
    found: dict[str, Setting] = {}
    for name, option in known.items():
        text = os.environ.get(variable(name), "")
        if text:
            value = _parse(variable(name), text, option.kind)
            found[name] = Setting([value] if option.is_list else value, variable(name))
    return found


def _parse(name: str, text: str, kind: type) -> object:
    try:
        return _TRUTHS[text.lower()] if kind is bool else kind(text)
    except (KeyError, ValueError):
        raise SpecError(
            f"{name} is '{text}', expected {_EXPECTED[kind]}", "change it, or unset it"
        ) from None
