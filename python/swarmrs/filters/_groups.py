"""group(): clusters of redundant features, found by a method or given by names, a file or lists."""

import csv
import io
import json
import os
import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from html import escape
from pathlib import Path
from typing import TypeAlias, Unpack

import numpy as np
import polars as pl
from numpy.typing import NDArray

from swarmrs._base._arguments import check_arguments, check_options
from swarmrs._base._messages import (
    check_whole,
    check_word,
    counted,
    listed,
    locate,
    nearest,
    shortened,
)
from swarmrs._base._options import takes_options
from swarmrs._base._public import public
from swarmrs._base._resources import count_threads
from swarmrs._base._versions import SCHEMA_VERSION, versions
from swarmrs.data._dataset import dataset_of, describe_data
from swarmrs.data._options import ReadOptions
from swarmrs.data._table import Data, Table, read_table
from swarmrs.data._target import Target
from swarmrs.exceptions import SpecError, SwarmrsWarning

# Groups that a representation shows, each cut to so many characters.
_SHOWN, _WIDE = 5, 70


@public
@dataclass(frozen=True, eq=False, repr=False)
class Grouping:
    """Features in groups, and how the number of groups was chosen.

    Attributes
    ----------
    by : str
        The source: ``"lbm"``, ``"hclust"``, ``"prefix"``, ``"file"`` or ``"given"``.
    settings : dict
        All settings of a method, its seed among them; empty for the others.
    data : dict
        The table.
    groups : tuple of tuple of str
        The names of the features in each group. Groups are in the order of their first features.
    indices : tuple of tuple of int
        Their positions.
    ungrouped : tuple of str
        The features in no group: constant and excluded ones.
    criterion : str or None
        The criterion that chose the number of groups: ``"aic"`` or ``"icl"`` (lower is better) or
        ``"silhouette"`` (higher is better).
    curve : polars.DataFrame
        A row for each number of groups tried (``n_groups``), with the number of row groups beside
        it (``n_row_groups``, in a block model), the ``value`` of the criterion, and whether it
        ``is_chosen``.
    """

    by: str
    settings: dict[str, object]
    data: dict[str, object]
    groups: tuple[tuple[str, ...], ...]
    indices: tuple[tuple[int, ...], ...]
    ungrouped: tuple[str, ...]
    criterion: str | None
    curve: pl.DataFrame

    def __len__(self) -> int:
        return len(self.groups)

    def __repr__(self) -> str:
        shown = enumerate(self.groups[:_SHOWN])
        lines = [f"  {place}: {shortened(listed(group), _WIDE)}" for place, group in shown]
        more = [f"  and {len(self) - _SHOWN} more"] if len(self) > _SHOWN else []
        return "\n".join([self._title(), *lines, *more])

    def _repr_html_(self) -> str:
        items = "".join(f"<li>{escape(listed(group))}</li>" for group in self.groups)
        return f'<p>{escape(self._title())}</p><ol start="0">{items}</ol>'

    def _title(self) -> str:
        members = counted(sum(map(len, self.groups)), "feature")
        return f"{counted(len(self), 'group')} of {members} by {self.by}"

    def to_dict(self) -> dict[str, object]:
        """Return the groups as plain values, ready for JSON."""
        return {
            "schema_version": SCHEMA_VERSION,
            "data": self.data,
            "by": self.by,
            "settings": self.settings,
            "n_groups": len(self),
            "groups": [list(group) for group in self.groups],
            "indices": [list(group) for group in self.indices],
            "ungrouped": list(self.ungrouped),
            "criterion": self.criterion,
            "curve": self.curve.to_dicts(),
            "versions": versions(),
        }

    def to_text(self) -> str:
        """Return the groups as a file has them: a line each, names with commas between them."""
        out = io.StringIO()
        csv.writer(out, lineterminator="\n").writerows(self.groups)
        return out.getvalue().removesuffix("\n")


Members: TypeAlias = Sequence[str | int]
Groups: TypeAlias = str | os.PathLike[str] | Sequence[Members] | Grouping
Spec: TypeAlias = dict[str, object]

# The settings of each method and their values; None stands for any whole number.
_SETTINGS: dict[str, dict[str, tuple[str, ...] | None]] = {
    "lbm": {"rows": None, "levels": None, "criterion": ("aic", "icl"), "restarts": None},
    "hclust": {"rows": None, "levels": None, "distance": ("su", "spearman")},
}
METHODS = (*_SETTINGS, "prefix")
_FOUND = re.compile(rf"({'|'.join(_SETTINGS)})([=,].*)?")
_NAMED = re.compile(r"prefix(?:=(.+))?")


def group_spec(given: Groups, table: Table) -> tuple[str, Spec]:
    """Return the source of groups, and its specification for the engine.

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
    """Group names by their part before the last separator, or without trailing digits."""
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
            f"groups '{path}' are neither a method nor a file",
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
    """Return groups as the engine takes them, if they are a partition of all positions.

    Positions that are left out may be in a group; they are removed from it.

    Raises
    ------
    SpecError
        If a position is in two groups, or in none without being left out.
    """
    is_free = np.ones(len(is_left_out), dtype=bool)
    kept: list[list[int]] = []
    for group in groups:
        kept.append([])
        for at in group:
            if not is_free[at]:
                raise SpecError(
                    f"{describe(at)} occurs twice in {where}", "it can belong to one group only"
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


@takes_options(ReadOptions)
def group(
    data: Data,
    target: Target = None,
    *,
    by: Groups = "lbm",
    random_state: int = 0,
    n_jobs: int | None = None,
    **options: Unpack[ReadOptions],
) -> Grouping:
    """Cluster redundant features, without regard to the classes.

    Parameters
    ----------
    data : str, path, frame, array, pair or Table
        The samples; see `read_table`.
    target : str, int or array-like, optional
        The column that holds the classes, or the labels themselves. By default the last column.
    by : str, path or sequence of sequences
        ``"lbm"``, a latent block model of features and rows, with as many groups as AIC chooses;
        ``"hclust"``, hierarchical clustering by average linkage, with as many as the silhouette
        chooses; ``"lbm=6"`` or ``"hclust=6"`` for a number of groups. Settings follow after commas:
        ``rows=100`` (size of the random sample of rows), ``levels=3`` (of a discretized feature),
        for ``lbm`` ``criterion=aic`` or ``icl`` and ``restarts=5``, for ``hclust`` ``distance=su``
        or ``spearman``. ``"prefix"`` and ``"prefix=SEP"`` group names by the part before the last
        ``_`` or SEP, or without their trailing digits where there is none. A path names a file with
        a line of names or indices for each group, separated by commas. Lists are taken as groups.
    random_state : int
        The random seed of a method: it samples rows and initial groups.
    n_jobs : int, optional
        Threads: None is 1, -1 is all. It changes no result.
    {options}

    Returns
    -------
    Grouping

    Raises
    ------
    SpecError
        If a method or setting is unknown, or if lists are no partition of the columns that are
        not constant.

    Examples
    --------
    >>> group("sklearn:iris", by="hclust=2")
    2 groups of 4 features by hclust
      0: sepal length (cm), petal length (cm), petal width (cm)
      1: sepal width (cm)
    """
    check_arguments(group, locals())
    check_options(group, options)
    table = read_table(data, target, **options)
    for message in table.warnings:
        warnings.warn(message, SwarmrsWarning, stacklevel=2)
    if excluded := table.locate(options.get("exclude", ())):
        # A table that was read before still has the values of excluded features.
        x = table.x.copy(order="F")
        x[:, excluded] = 0.0
        table = replace(table, x=x)
    source, spec = group_spec(by, table)
    if spec["source"] != "given":
        spec["seed"] = check_whole("random_state", random_state, 0)
    dataset = dataset_of(table)
    answer = json.loads(dataset.group(json.dumps(spec), count_threads(n_jobs)))
    found, settings = answer["found"], answer["spec"]
    indices = tuple(tuple(members) for members in found["groups"])
    criterion = {"lbm": settings.get("criterion"), "hclust": "silhouette"}.get(source)
    names = table.names
    return Grouping(
        by=source,
        settings={key: settings[key] for key in settings if key not in ("source", "groups")},
        data=describe_data(table, dataset.fingerprint),
        groups=tuple(tuple(names[index] for index in members) for members in indices),
        indices=indices,
        ungrouped=tuple(names[index] for index in table.constant),
        criterion=criterion,
        curve=pl.DataFrame(
            found["curve"],
            schema={
                "n_groups": pl.UInt32,
                "n_row_groups": pl.UInt32,
                "value": pl.Float64,
                "is_chosen": pl.Boolean,
            },
        ),
    )
