"""Arguments of public calls: checked against their annotations before anything is done."""

import inspect
import os
import reprlib
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cache, partial
from numbers import Integral, Real
from types import NoneType, UnionType
from typing import Any, NamedTuple, Union, get_args, get_origin

import numpy as np

from swarmrs._base._hints import named
from swarmrs._base._messages import refuse_unknown
from swarmrs.exceptions import SpecError

# An argument is of one kind if the test holds; a message names the kinds by these words.
_Test = Callable[[Any], bool]


class _Kind(NamedTuple):
    is_one: _Test
    words: str


def _is_list(value: object) -> bool:
    # What can be walked through once only is none: lists are looked at more than once.
    is_text = isinstance(value, str | bytes | Mapping)
    return isinstance(value, Collection) and not is_text and getattr(value, "ndim", 1) != 0


def _is_instance(kind: type, value: object) -> bool:
    return isinstance(value, kind)


def _is_path(value: object) -> bool:
    return isinstance(value, os.PathLike) or (isinstance(value, str) and "\0" not in value)


_KINDS: dict[object, _Kind] = {
    NoneType: _Kind(lambda value: value is None, "None"),
    str: _Kind(lambda value: isinstance(value, str), "a string"),
    bool: _Kind(lambda value: isinstance(value, bool | np.bool_), "True or False"),
    int: _Kind(
        lambda value: isinstance(value, Integral) and not isinstance(value, bool), "a whole number"
    ),
    float: _Kind(lambda value: isinstance(value, Real) and not isinstance(value, bool), "a number"),
    os.PathLike: _Kind(_is_path, "a path"),
    Sequence: _Kind(_is_list, "a list"),
    Mapping: _Kind(lambda value: isinstance(value, Mapping), "a mapping"),
    Callable: _Kind(callable, "a function"),
}

_NUMBERS = {_KINDS[int], _KINDS[float], _KINDS[NoneType]}


def check_arguments(call: Callable[..., object], given: Mapping[str, object]) -> None:
    """Refuse arguments that are of none of the kinds that a call is annotated with.

    Numbers are left to those who know their range, arrays and estimators to those who use them.

    Parameters
    ----------
    call : callable
        The function.
    given : mapping
        Its arguments by name, as `locals()` has them on its first line.

    Raises
    ------
    SpecError
        If an argument is of another kind.

    Examples
    --------
    >>> def search(include: Sequence[str] = (), checkpoint: str | os.PathLike[str] | None = None):
    ...     check_arguments(search, locals())
    >>> search(include="age")
    Traceback (most recent call last):
    ...
    swarmrs.exceptions.SpecError: include is 'age', expected a list
    >>> search(checkpoint=5)
    Traceback (most recent call last):
    ...
    swarmrs.exceptions.SpecError: checkpoint is 5, expected a path or None
    """
    for name, kinds in _annotated(call).items():
        if name in given and not any(kind.is_one(given[name]) for kind in kinds):
            words = " or ".join(kind.words for kind in kinds)
            raise SpecError(f"{named(name)} is {_shown(given[name])}, expected {words}")


def check_options(call: Callable[..., object], given: Mapping[str, object]) -> None:
    """Refuse keywords that a call does not have, and values of the wrong kind.

    Parameters
    ----------
    call : callable
        The function; its signature names the options that it takes as ``**options``.
    given : mapping
        The keywords.

    Raises
    ------
    SpecError
        If a keyword is unknown, with the nearest known one as a hint, or a value of another kind.
    """
    parameters = inspect.signature(call).parameters.values()
    refuse_unknown(
        given,
        [parameter.name for parameter in parameters if parameter.kind is parameter.KEYWORD_ONLY],
    )
    check_arguments(call, given)


@cache
def _annotated(call: Callable[..., object]) -> dict[str, tuple[_Kind, ...]]:
    """Return the kinds of those parameters that have nothing but plain ones."""
    found = {
        name: _kinds(parameter.annotation)
        for name, parameter in inspect.signature(call).parameters.items()
        if parameter.kind is not parameter.VAR_KEYWORD and name != "self"
    }
    return {name: kinds for name, kinds in found.items() if not _NUMBERS.issuperset(kinds)}


def _kinds(annotation: object) -> tuple[_Kind, ...]:
    """Return the kinds that an annotation joins; none if one of them is not plain."""
    parts = get_args(annotation) if get_origin(annotation) in (Union, UnionType) else (annotation,)
    kinds = []
    # Whole numbers of numpy are whole numbers.
    parts = tuple(part for part in parts if part is not np.integer)
    for part in parts:
        kind = _KINDS.get(get_origin(part) or part)
        if kind is None and inspect.isclass(part) and not getattr(part, "_is_protocol", False):
            kind = _Kind(partial(_is_instance, part), f"a {part.__name__}")
        if kind is None:
            return ()
        kinds.append(kind)
    # A string that may be a path is no other kind.
    if _KINDS[os.PathLike] in kinds:
        kinds = [kind for kind in kinds if kind is not _KINDS[str]]
    return tuple(kinds)


def _shown(value: object) -> str:
    """Return a value as a message shows it: in short, and whatever it is."""
    try:
        return " ".join(reprlib.repr(value).split())
    except Exception:
        return f"a {type(value).__name__}"
