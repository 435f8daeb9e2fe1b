"""How messages name settings: written once, in the words of the door that the user came through.

A message names a setting by `setting("missing", "median")`. A script reads ``missing="median"``, a
shell ``--missing median``, and where a file of settings has a say, ``missing`` of that file.
"""

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol, TypeAlias

Value: TypeAlias = str | int | float | bool | list[str]


class Door(Protocol):
    """What a user calls swarmrs by."""

    def has(self, name: str) -> bool:
        """Whether the call that is under way has this setting."""

    def named(self, name: str) -> str:
        """Return the name of a setting."""

    def setting(self, name: str, values: tuple[Value, ...]) -> str:
        """Return a setting as it is given, with the values to choose from if there are any."""

    def worded(self, python: str, shell: str) -> str:
        """Return what is said at this door."""


class Python:
    """Calls from a script."""

    # What `read_table` alone takes is given to it, whoever was called.
    _OF_READING = (
        *("separator", "decimal", "encoding", "null", "null_only", "dedupe_names"),
        *("max_bytes", "input_format", "allow_target_copy"),
    )

    def has(self, name: str) -> bool:
        """Whether there is such a setting: no function knows better which one was called."""
        return True

    def named(self, name: str) -> str:
        """Return the name of a keyword argument."""
        return name

    def setting(self, name: str, values: tuple[Value, ...]) -> str:
        """Return a keyword argument."""
        shown = alternatives([_literal(value) for value in values])
        if name in self._OF_READING:
            return f"read_table(..., {name}={shown or '...'})"
        return f"{name}={shown or '...'}"

    def worded(self, python: str, shell: str) -> str:
        """Return what is said to a script."""
        return python


_current: Door = Python()


def named(name: str) -> str:
    """Return the name of a setting, such as what a message says the value of."""
    return _current.named(name)


def setting(name: str, *values: Value) -> str:
    """Return a setting as the user would give it, with the values to choose from.

    Examples
    --------
    >>> print(setting("missing", "median", "mode"), setting("exclude"))
    missing="median" or "mode" exclude=...
    >>> print(setting("dedupe_names", True))
    read_table(..., dedupe_names=True)
    """
    return _current.setting(name, values)


# A setting in a text of the engine, whose names are those of Python: what the text says the value
# of, or a name of several words. What stands in quotes is the user's.
_NAMED = re.compile(r"'[^']*'|^\w+(?= is )|\b[a-z]+(?:_[a-z]+)+\b")


def rendered(text: str) -> str:
    """Return a text with the settings in it named as the user would name them."""

    def name(found: re.Match[str]) -> str:
        is_ours = not found[0].startswith("'") and has_setting(found[0])
        return named(found[0]) if is_ours else found[0]

    return _NAMED.sub(name, text)


def has_setting(name: str) -> bool:
    """Whether the user can give a setting to the call that is under way."""
    return _current.has(name)


def worded(*, python: str, shell: str) -> str:
    """Return what is said to the user of a script or a shell, where more than a name differs."""
    return _current.worded(python, shell)


def leaving_out(what: str = "them") -> str:
    """Say how columns are left out.

    Examples
    --------
    >>> leaving_out("it")
    'leave it out with exclude=...'
    """
    if has_setting("exclude"):
        return f"leave {what} out with {setting('exclude')}"
    return f"remove {what} from the table"


@contextmanager
def entered(door: Door) -> Iterator[None]:
    """Speak the words of a door for a while."""
    global _current
    before, _current = _current, door
    try:
        yield
    finally:
        _current = before


def alternatives(items: list[str]) -> str:
    """List what there is to choose from.

    Examples
    --------
    >>> alternatives(["a", "b", "c"])
    'a, b or c'
    """
    return " or ".join(filter(None, [", ".join(items[:-1]), *items[-1:]]))


def _literal(value: Value) -> str:
    return repr(value) if isinstance(value, bool) else json.dumps(value, ensure_ascii=False)
