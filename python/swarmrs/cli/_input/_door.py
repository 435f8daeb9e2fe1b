"""The words of the command line for settings: flags, keys of files, variables."""

import json
import re
import shlex
from collections.abc import Mapping

from swarmrs._base._hints import Value, alternatives
from swarmrs.cli._input._config import PREFIX, Setting
from swarmrs.cli._input._signature import Option

# What is called otherwise in Python.
_NAMES = {
    "keep_all": "kept",
}


class CommandLine:
    """A command.

    Parameters
    ----------
    known : mapping
        Its options.
    elsewhere : mapping
        Those that a file or a variable has set.
    """

    def __init__(self, known: Mapping[str, Option], elsewhere: Mapping[str, Setting]) -> None:
        self._flags = {option.parameter: flag for flag, option in known.items()}
        self._elsewhere = elsewhere

    def has(self, name: str) -> bool:
        """Whether the command has this option."""
        return _NAMES.get(name, name) in self._flags

    def named(self, name: str) -> str:
        """Return the flag, the key or the variable of an option."""
        return self.setting(name, ())

    def setting(self, name: str, values: tuple[Value, ...]) -> str:
        """Return a flag; or a key or a variable, if that is where its value comes from."""
        parameter = _NAMES.get(name, name)
        flag = self._flags.get(parameter, parameter.replace("_", "-"))
        origin = self._elsewhere[flag].origin if flag in self._elsewhere else ""
        if origin.startswith(PREFIX):
            return " ".join([origin, *self._words(values)])
        if origin:
            shown = alternatives([json.dumps(value, ensure_ascii=False) for value in values])
            return f"{flag}{f' = {shown}' if shown else ''} in '{origin}'"
        return " ".join([f"-{flag}" if len(flag) == 1 else f"--{flag}", *self._words(values)])

    def worded(self, python: str, shell: str) -> str:
        """Return what is said to a shell."""
        return shell

    def _words(self, values: tuple[Value, ...]) -> list[str]:
        """Return values as a shell takes them: a flag has none, a list is several words."""
        shown = [
            " ".join(map(_quoted, value)) if isinstance(value, list) else _quoted(str(value))
            for value in values
            if not isinstance(value, bool)
        ]
        return [alternatives(shown)] if shown else []


def _quoted(text: str) -> str:
    r"""Return a word that a shell leaves as it is.

    Examples
    --------
    >>> print(_quoted("a b"), _quoted("\t"), _quoted(","))
    'a b' '\t' ,
    """
    visible = text.replace("\t", r"\t")
    return visible if re.fullmatch(r"[\w.,=/+-]+", visible) else shlex.quote(visible)
