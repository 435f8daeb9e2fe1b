"""Where groups of columns come from: a method, names, a file or lists."""

import csv
import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from swarmrs._grouping import Grouping
from swarmrs._table import Table
from swarmrs._words import check_whole, check_word, locate, nearest
from swarmrs.exceptions import SpecError

Members: TypeAlias = Sequence[str | int]
Groups: TypeAlias = str | os.PathLike[str] | Sequence[Members] | Grouping
Spec: TypeAlias = dict[str, object]

# What each method may be told after its name; numbers are whole.
_SETTINGS: dict[str, dict[str, tuple[str, ...] | None]] = {
    "lbm": {"rows": None, "levels": None, "criterion": ("aic", "icl"), "restarts": None},
    "hclust": {"rows": None, "levels": None, "distance": ("su", "spearman")},
}
METHODS = (*_SETTINGS, "prefix")
_FOUND = re.compile(rf"({'|'.join(_SETTINGS)})([=,].*)?")
_NAMED = re.compile(r"prefix(?:=(.+))?")


def group_spec(given: Groups, table: Table) -> tuple[str, Spec]:
    """Return what groups are found by, and the same as the engine takes it.

    Raises
    ------
    SpecError
        If it is no method, has an unknown setting, or is no partition of the columns that are not
        constant.
    """
    if isinstance(given, str) and (found := _FOUND.fullmatch(given)):
        return found[1], _method(found[1], found[2] or "")
    if isinstance(given, str) and (named := _NAMED.fullmatch(given)):
        return "prefix", _given(_by_prefix(table.names, named[1] or "_"), table, given)
    if isinstance(given, str | os.PathLike):
        path = Path(given)
        return "file", _given(_read(path), table, path.name)
    return "given", _given(_lists(given), table, "the lists")


def _method(name: str, text: str) -> Spec:
    """Return a method and its settings, given as ``=K,rows=200``."""
    spec: Spec = {"source": name}
    number, *rest = text.split(",")
    if number:
        spec["n_groups"] = _whole("groups", number.removeprefix("="))
    for setting in rest:
        key, _, value = setting.partition("=")
        known = _SETTINGS[name][check_word(f"setting of {name}", key, list(_SETTINGS[name]))]
        spec[key] = _whole(key, value) if known is None else check_word(key, value, known)
    return spec


def _whole(what: str, text: str) -> int:
    return check_whole(what, int(text) if text.isascii() and text.isdigit() else text)


def _by_prefix(names: Sequence[str], separator: str) -> Iterator[list[int]]:
    """Put names together by what stands before the last separator, or before trailing digits."""
    groups: dict[str, list[int]] = {}
    for index, name in enumerate(names):
        stem = name.rpartition(separator)[0] or name.rstrip("0123456789") or name
        groups.setdefault(stem, []).append(index)
    return iter(groups.values())


def _read(path: Path) -> list[list[str]]:
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows = [
                [cell.strip() for cell in row]
                for row in csv.reader(file, skipinitialspace=True, strict=True)
            ]
    except FileNotFoundError:
        guess = nearest(path.name.partition("=")[0].partition(",")[0], METHODS)
        offer = f"did you mean '{guess}'? " if guess else ""
        raise SpecError(
            f"groups '{path}' are no method and no file",
            f"{offer}methods: {', '.join(METHODS)}; a file has a line of columns for each group",
        ) from None
    except (OSError, UnicodeDecodeError, csv.Error) as problem:
        raise SpecError(
            f"groups cannot be read from '{path}': {problem}",
            "write a line for each group: names or indices, with commas between them",
        ) from None
    return [row for row in rows if any(row)]


def _lists(given: object) -> Iterable[Members]:
    members = given.groups if isinstance(given, Grouping) else given
    hint = "give a list of names or indices for each group"
    if not isinstance(members, Iterable):
        raise SpecError(f"groups are {given!r}, expected lists of columns", hint)
    groups = list(members)
    for group in groups:
        if isinstance(group, str) or not isinstance(group, Iterable):
            raise SpecError(f"group {group!r} is no list of columns", hint)
    return groups


def _given(groups: Iterable[Members], table: Table, where: str) -> Spec:
    names = table.names
    places = {name: index for index, name in enumerate(names)}
    located = ([_place(column, places, names, where) for column in group] for group in groups)
    is_constant = np.zeros(len(names), dtype=bool)
    is_constant[list(table.constant)] = True
    return given_groups(located, is_constant, lambda at: f"column '{names[at]}'", where)


def given_groups(
    groups: Iterable[Iterable[int]],
    is_left_out: NDArray[np.bool_],
    describe: Callable[[int], str],
    where: str,
) -> Spec:
    """Return groups as the engine takes them, if they part all positions.

    Positions that are left out may stand in a group, but do not stay there.

    Raises
    ------
    SpecError
        If a position stands twice, or one that is not left out nowhere.
    """
    is_free = np.ones(len(is_left_out), dtype=bool)
    kept: list[list[int]] = []
    for group in groups:
        kept.append([])
        for at in group:
            if not is_free[at]:
                raise SpecError(
                    f"{describe(at)} stands twice in {where}", "it can belong to one group only"
                )
            is_free[at] = False
            if not is_left_out[at]:
                kept[-1].append(at)
    missing = np.flatnonzero(is_free & ~is_left_out)
    if len(missing):
        more = f" and {len(missing) - 1} more are" if len(missing) > 1 else " is"
        raise SpecError(
            f"{describe(int(missing[0]))}{more} in no group of {where}",
            "put each that is not constant in a group, if need be in one of its own",
        )
    return {"source": "given", "groups": kept}


def _place(column: str | int, places: dict[str, int], names: Sequence[str], where: str) -> int:
    if isinstance(column, str):
        if column in places:
            return places[column]
        if column.isascii() and column.isdigit():
            column = int(column)
    return locate(column, names, where)
