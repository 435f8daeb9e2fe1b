"""How messages name things: short lists, and the nearest known word for an unknown one."""

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from numbers import Integral, Real
from typing import TypeAlias

from swarmrs.exceptions import SpecError

# A value of a setting of an algorithm.
Setting: TypeAlias = bool | int | float | str | None

_SHOWN = 5
# More runs of one search than this are a slip of the keyboard.
MOST_RUNS = 100_000

# Stopping criteria: the key of a budget that each belongs to, and the unit of its value.
_LIMITS = {
    "max_evals": ("evaluations", ""),
    "max_iter": ("iterations", ""),
    "time_limit": ("seconds", " s"),
    "target_cost": ("cost", ""),
    "patience": ("patience", " iterations"),
}


def rows_text(searched: int, scored: int, total: int) -> str:
    """Say which rows of a table were searched and scored.

    Examples
    --------
    >>> rows_text(10_000, 1_000_000, 1_000_000)
    'searched on 10000 of 1000000, scored on all'
    """
    of = f"{searched} of {total}"
    if scored == total:
        return f"searched on {of}, scored on all"
    return f"searched and scored on {of}: no time was left to score on all"


def why_stopped(stop: str, params: Mapping[str, object], budget: Mapping[str, object]) -> str:
    """Say which stopping criterion ended a search.

    Examples
    --------
    >>> why_stopped("max_evals", {}, {"evaluations": 6000})
    'max_evals of 6000 reached'
    >>> why_stopped("finished", {"iterations": 100}, {}), why_stopped("finished", {}, {})
    ('all 100 iterations done', 'search complete')
    """
    if stop in _LIMITS:
        key, unit = _LIMITS[stop]
        return f"{stop} of {budget[key]}{unit} reached"
    if stop == "finished" and "iterations" in params:
        return f"all {params['iterations']} iterations done"
    others = {
        "finished": "search complete",
        "callback": "by a callback",
        "interrupted": "interrupted, best so far",
        "no_features": "no feature survives the prescreen: the majority class is predicted",
    }
    return others[stop]


def listed(items: Iterable[str], shown: int = _SHOWN) -> str:
    """Join items by commas, the first few in full and the rest by their number.

    Examples
    --------
    >>> listed(["a", "b", "c"], shown=2)
    'a, b and 1 more'
    """
    items = list(items)
    more = f" and {len(items) - shown} more" if len(items) > shown else ""
    return ", ".join(items[:shown]) + more


def quoted(names: Iterable[str]) -> str:
    """List names in quotes, each cut to 80 characters.

    Examples
    --------
    >>> quoted(["a", "b"])
    "'a', 'b'"
    """
    return listed(f"'{shortened(name, 80)}'" for name in names)


def counted(number: int, noun: str) -> str:
    """Say how many there are.

    Examples
    --------
    >>> counted(1, "column"), counted(2, "class")
    ('1 column', '2 classes')
    """
    plural = "es" if noun.endswith("s") else "s"
    return f"{number} {noun}{'' if number == 1 else plural}"


def counted_range(least: int, most: int, noun: str) -> str:
    """Say from how many to how many there are.

    Examples
    --------
    >>> counted_range(1, 5, "column"), counted_range(1, 1, "column")
    ('1 to 5 columns', '1 column')
    """
    return counted(most, noun) if least == most else f"{least} to {counted(most, noun)}"


def printable(text: str) -> str:
    r"""Return the text without characters that steer a terminal or a page, all on one line.

    Examples
    --------
    >>> printable("red\x1b[31m\nfish")
    'red[31m fish'
    """
    return "".join(char for char in " ".join(text.split()) if char.isprintable())


def shortened(text: str, most: int = 40) -> str:
    """Cut text that is longer than `most` characters.

    Examples
    --------
    >>> shortened("a label of many words", 10)
    'a label...'
    """
    return text if len(text) <= most else f"{text[: most - 3]}..."


def nearest(word: str, known: Iterable[str]) -> str | None:
    """Return the known word most like this one, if any is."""
    matches = get_close_matches(word, list(known), n=1)
    return matches[0] if matches else None


def check_word(what: str, word: object, known: Sequence[str]) -> str:
    """Return the word if it is known.

    Raises
    ------
    SpecError
        If it is not; the hint offers the nearest known word.
    """
    if isinstance(word, str) and word in known:
        return word
    guess = nearest(str(word), known)
    offer = f"did you mean '{guess}'? " if guess else ""
    raise SpecError(f"unknown {what} '{word}'", f"{offer}known: {', '.join(known)}")


def refuse_unknown(given: Iterable[object], known: Iterable[str]) -> None:
    """Refuse options that do not exist, and keys that are not names.

    Raises
    ------
    SpecError
        If one of the `given` names is not `known`; the hint offers the nearest known name.

    Examples
    --------
    >>> refuse_unknown(["classifer"], ["classifier", "cv"])
    Traceback (most recent call last):
    ...
    swarmrs.exceptions.SpecError: unknown option 'classifer'
    hint: did you mean 'classifier'?
    """
    names = list(known)
    for name in given:
        if name not in names:
            guess = nearest(name, names) if isinstance(name, str) else None
            hint = f"did you mean '{guess}'?" if guess else f"known: {', '.join(names)}"
            raise SpecError(f"unknown option '{name}'", hint)


def check_whole(what: str, number: object, least: int = 1, most: int = 2**64 - 1) -> int:
    """Return the number as Python has it if it is whole, not too small and not too large.

    Raises
    ------
    SpecError
        If it is not.

    Examples
    --------
    >>> check_whole("k", 5)
    5
    """
    if isinstance(number, int | Integral) and not isinstance(number, bool):
        whole = int(number)
        if least <= whole <= most:
            return whole
    # The engine has no room for more than 64 bits, which nobody wants to read.
    expected = f"of {least} or more" if most == 2**64 - 1 else f"from {least} to {most}"
    raise SpecError(f"{what} is {number!r}, expected a whole number {expected}")


def check_number(what: str, number: object, *, above: float | None = None) -> float:
    """Return the number as Python has it if it is finite, and above a bound if there is one.

    Raises
    ------
    SpecError
        If it is not.

    Examples
    --------
    >>> check_number("time_limit", 5, above=0)
    5.0
    """
    if isinstance(number, int | float | Real) and not isinstance(number, bool):
        try:
            finite = float(number)
        except OverflowError:  # A whole number can be too large for a float.
            finite = math.inf
        if math.isfinite(finite) and (above is None or finite > above):
            return finite
    expected = "a finite number" if above is None else f"a finite number above {above:g}"
    raise SpecError(f"{what} is {number!r}, expected {expected}")


def locate(
    column: str | int, names: Sequence[str], where: str, *, target: str | None = None
) -> int:
    """Return the position of a column given by its name or its index.

    Digits that are no column's name are an index; a negative one counts from the end. The target,
    if named, is no feature.

    Raises
    ------
    SpecError
        If there is no such column; the hint offers the nearest name.
    """
    if isinstance(column, str) and column in names:
        return names.index(column)
    if isinstance(column, str) and column == target:
        raise SpecError(
            f"column '{target}' is the target of {where}, not a feature", "leave it out"
        )
    try:
        return range(len(names))[int(column)]
    except (TypeError, ValueError, OverflowError, IndexError):
        guess = nearest(str(column), names)
        offer = f"did you mean '{guess}'? " if guess else ""
        raise SpecError(
            f"column '{column}' not found in {where}",
            f"{offer}{counted(len(names), 'column')}: {quoted(names)}",
        ) from None


def sized(n_bytes: int) -> str:
    """Say how large something is.

    Examples
    --------
    >>> sized(1000), sized(1536), sized(16 << 30)
    ('1000 B', '1.5 KiB', '16 GiB')
    """
    size, unit = float(n_bytes), "B"
    for larger in ("KiB", "MiB", "GiB", "TiB"):
        if size < 1024:
            break
        size, unit = size / 1024, larger
    return f"{size:.3g} {unit}" if size < 1000 else f"{size:.0f} {unit}"


def read_setting(text: str) -> Setting:
    """Return the JSON scalar that a text is, or else the text.

    Examples
    --------
    >>> read_setting("50"), read_setting("true"), read_setting("ring")
    (50, True, 'ring')
    """
    try:
        value = json.loads(text)
    except json.JSONDecodeError:
        return text
    return text if isinstance(value, list | dict) else value
