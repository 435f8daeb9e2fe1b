"""describe(): what is in a table and what a search would do with it, before there is one."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any, NamedTuple, Unpack

import numpy as np
import polars as pl
from numpy.typing import NDArray

from swarmrs._base._arguments import check_arguments, check_options
from swarmrs._base._hints import setting
from swarmrs._base._messages import counted
from swarmrs._base._options import defaults_of, takes_options
from swarmrs._base._public import public
from swarmrs._base._resources import count_threads
from swarmrs._base._tasks import REGRESSION
from swarmrs._base._versions import SCHEMA_VERSION, versions
from swarmrs.data._column_checks import Findings, copies_of, inspect
from swarmrs.data._dates import dates_to_numbers, is_date, read_dates
from swarmrs.data._encode import (
    count_infinite,
    mark_missing,
    matrix_of,
    other_kinds,
    ranked,
    text_columns,
)
from swarmrs.data._formats import Reading
from swarmrs.data._options import ReadOptions
from swarmrs.data._read import Raw
from swarmrs.data._suggest import Found, Reader, suggest_policies, suggest_target, try_policies
from swarmrs.data._table import POLICIES, Data, Table, check_policies, prepare
from swarmrs.data._target import (
    Label,
    Target,
    classes_of,
    guess_task,
    present_names,
    split,
)
from swarmrs.exceptions import DataError, SpecError
from swarmrs.search._auto import Plan
from swarmrs.search._time_estimate import auto_seconds

# The table itself, the engine's copy of it, and the grid its classifiers work on.
_BYTES_OF_A_CELL = 8 + 8 + 4


@public
@dataclass(frozen=True)
class Column:
    """A feature as it was found, and what `select` would do with it.

    Attributes
    ----------
    index, name : int, str
        Where it is among the features, and what it is called.
    kind : str
        ``"number"``, ``"whole"``, ``"boolean"``, ``"text"``, ``"date"``, ``"time"``,
        ``"duration"``, or the type of what is none of these.
    missing, distinct : int
        How many values are missing, and how many different ones there are.
    least, greatest : float or None
        Of finite numbers.
    action : {"search", "leave out", "refuse"}
        What `select` would do.
    reason : str
        Why, or how.
    remark : str
        What is strange about it.
    """

    index: int
    name: str
    kind: str
    missing: int
    distinct: int
    least: float | None
    greatest: float | None
    action: str
    reason: str
    remark: str


@public
@dataclass(frozen=True, eq=False, repr=False)
class Description:
    """The features and classes of a table, and what `select` would do with them.

    Attributes
    ----------
    name, kind : str
        What it is called, and what was read.
    rows : int
        How many samples.
    labeled : int
        How many of them have a label.
    target : str
        The column of classes.
    task : {"classification", "regression"}
        What `select` would predict.
    classes : dict of label to int
        The rows of each class; empty if the target has no classes.
    columns : tuple of Column
        The features.
    null_words : tuple of str
        What stood for a missing value beside an empty field; empty where the file has types.
    memory : int
        The bytes a search needs for the table, about; what it keeps between evaluations is extra.
    notices, warnings : tuple of str
        What reading it would tell.
    refusal, hint : str or None
        Why it would be refused, and what to do about it.
    settings : dict or None
        The arguments of `read_table`, as far as they are not defaults, by which the table can be
        searched: what was given, and what is missing to it. Identifiers are excluded, too. None if
        there are none, such as where no column has classes.
    seconds : float or None
        How long the default search of that table takes on all cores of this machine; a rough
        estimate, good to a factor of about three.
    """

    name: str
    kind: str
    rows: int
    labeled: int
    target: str
    task: str
    classes: dict[Label, int]
    columns: tuple[Column, ...]
    null_words: tuple[str, ...]
    memory: int
    notices: tuple[str, ...]
    warnings: tuple[str, ...]
    refusal: str | None
    hint: str | None
    settings: dict[str, object] | None
    seconds: float | None

    def __repr__(self) -> str:
        width = len(self.columns)
        classes = counted(len(self.classes), "class") if self.classes else "no classes"
        if self.task == REGRESSION.name:
            classes = "numbers"
        searched = sum(column.action == "search" for column in self.columns)
        outcome = f"search {searched} of {counted(width, 'feature')}"
        return (
            f"Description of '{self.name}': {counted(self.rows, 'row')}, "
            f"{counted(width, 'feature')}, target '{self.target}' ({classes})\n"
            f"  select would {outcome if self.refusal is None else f'refuse it: {self.refusal}'}"
        )

    def _repr_html_(self) -> str:
        return f"<p>{escape(repr(self)).replace(chr(10), '<br>')}</p>{self.frame._repr_html_()}"

    @property
    def frame(self) -> pl.DataFrame:
        """The features, a row each."""
        numbers = {"least": pl.Float64, "greatest": pl.Float64}
        return pl.DataFrame([vars(column) for column in self.columns], schema_overrides=numbers)

    def to_dict(self) -> dict[str, object]:
        """Return the description as plain values, ready for JSON."""
        return {
            "schema_version": SCHEMA_VERSION,
            **vars(self),
            "classes": [{"label": label, "rows": n} for label, n in self.classes.items()],
            "columns": [vars(column) for column in self.columns],
            "versions": versions(),
        }


@takes_options(ReadOptions)
def describe(
    data: Data,
    target: Target = None,
    **options: Unpack[ReadOptions],
) -> Description:
    """Describe the features and classes of a table, and what `select` would do with each feature.

    What `select` would refuse is described, not refused; only what cannot be read at all is. If
    another encoding or separator reads it, it is described as read so.

    Parameters
    ----------
    data, target
        As for `read_table`.
    {options}

    Returns
    -------
    Description

    Examples
    --------
    >>> import polars as pl
    >>> frame = pl.DataFrame({"a": [1, 2, 3], "b": [0, 0, 0], "class": ["x", "y", "x"]})
    >>> [(column.name, column.action, column.reason) for column in describe(frame).columns]
    [('a', 'search', ''), ('b', 'leave out', 'constant')]
    >>> describe(frame.with_columns(c=pl.Series(["u", None, "v"]))).settings
    {'target': 'class', 'missing': 'median', 'encode': 'onehot'}
    """
    check_arguments(describe, locals())
    check_options(describe, options)
    settled = {**defaults_of(ReadOptions), **options}
    check_policies(settled["missing"], settled["encode"], settled["task"])
    reading = Reading.of(options)
    source, target = data if isinstance(data, tuple) else (data, target)
    if isinstance(source, Table):
        raise SpecError("a table that was read is described already", "give what it was read from")
    reader = Reader.of(source, reading)
    found = reader.read(reading)
    given = {name: settled[name] for name in POLICIES} | {"exclude": list(settled["exclude"])}
    look = _Look.at(found.raw, target, given)
    refusal, hint = look.refusal, look.hint
    if found.problem is not None:
        refusal, hint = str(found.problem), found.problem.hint
    settings, seconds = _working(reader, found, look, target, given)
    return Description(
        found.raw.name,
        found.raw.kind,
        look.rows,
        look.labeled,
        look.target,
        look.task,
        look.classes,
        look.columns,
        found.raw.null_words,
        look.cells * _BYTES_OF_A_CELL,
        look.notices,
        look.warnings,
        refusal,
        hint,
        settings,
        seconds,
    )


class _Look(NamedTuple):
    """A table that was read, looked at with a target and policies."""

    rows: int
    labeled: int
    target: str
    task: str
    classes: dict[Label, int]
    columns: tuple[Column, ...]
    cells: int
    notices: tuple[str, ...]
    warnings: tuple[str, ...]
    refusal: str | None
    hint: str | None
    table: Table | None

    @classmethod
    def at(cls, raw: Raw, target: Target, given: Mapping[str, Any]) -> "_Look":
        features, labels, notices = split(raw, target)
        features = mark_missing(features)
        is_apart = labels.name not in raw.frame.columns
        policies = _Policies(
            given["missing"], given["encode"], given["allow_target_copy"] or is_apart
        )
        task = given["task"] or guess_task(labels).name
        table = refusal = hint = None
        warnings, constant = raw.warnings, set()
        cells = features.height * features.width
        try:
            table = prepare(raw, target, **given)
            cells, warnings = table.x.size, table.warnings
            constant = {table.names[at] for at in table.constant}
            notices = list(table.notices)
        except DataError as problem:
            refusal, hint = str(problem), problem.hint
        blank = present_names(
            features.columns, given["exclude"], raw.name, given["encode"], labels.name
        )
        excluded = {features.get_column_index(name) for name in blank}
        return cls(
            features.height,
            len(labels) - labels.null_count(),
            labels.name,
            task,
            {} if task == REGRESSION.name else _count_classes(labels, raw.name),
            tuple(_columns(features, labels, excluded, policies, constant)),
            cells,
            tuple(notices),
            warnings,
            refusal,
            hint,
            table,
        )


def _working(
    reader: Reader, found: Found, look: _Look, target: Target, given: dict[str, Any]
) -> tuple[dict[str, object] | None, float | None]:
    """Return settings by which the table can be searched, and the seconds that takes."""
    better = reader.with_numbers(found)
    aim = suggest_target(better.raw, target, given["task"])
    if aim is None:
        return None, None
    is_named = isinstance(aim, str | int)
    if better is not found or (is_named and aim not in (target, look.target)):
        look = _Look.at(better.raw, aim, given)
    columns = [vars(column) for column in look.columns]
    policies = suggest_policies(columns, look.rows, look.labeled, given)
    table = look.table if policies == given else try_policies(better.raw, aim, policies)
    if table is None:
        return None, None
    chosen = {**policies, **vars(better.reading)}
    defaults = defaults_of(ReadOptions)
    settings: dict[str, object] = {"target": look.target} if is_named else {}
    settings |= {
        name: value
        for name, value in chosen.items()
        if (tuple(value) if isinstance(value, list | np.ndarray) else value) != defaults[name]
    }
    return settings, _seconds(table, policies["exclude"])


def _seconds(table: Table, exclude: Sequence[str | int]) -> float:
    """Return the seconds of the default search on all cores of this machine, roughly."""
    width = table.x.shape[1] - len({*table.constant, *table.locate(exclude)})
    return auto_seconds(table, Plan.of(table, width), count_threads(-1))


class _Policies(NamedTuple):
    missing: str
    encode: str
    allow_target_copy: bool

    def decide(self, column: pl.Series, found: "_Found") -> tuple[str, str]:
        """Return what is done with a column that is not excluded, and why or how."""
        gaps = column.null_count()
        if found.is_other:
            return "refuse", "neither number nor text"
        if found.is_copy and not self.allow_target_copy:
            return "refuse", "equal to the target"
        if found.is_text and self.encode == "error":
            return "refuse", f"text: {setting('encode')}"
        if found.infinite:
            return "refuse", counted(found.infinite, "infinite value")
        if gaps and self.missing == "error":
            return "refuse", f"{counted(gaps, 'missing value')}: {setting('missing')}"
        if gaps and self.missing == "drop-columns":
            return "leave out", "missing values"
        if gaps == len(column) and self.missing != "keep":
            return "refuse", "no value at all"
        if found.is_constant:
            return "leave out", "constant"
        ways = [f"encoded {self.encode}"] if found.is_text else []
        ways += ["as a number"] if found.is_date else []
        if gaps and self.missing in ("mean", "median", "mode", "knn"):
            is_middle = found.is_text and self.missing in ("mean", "median")
            ways.append(f"imputed by {'mode' if is_middle else self.missing}")
        return "search", ", ".join(ways)


class _Found(NamedTuple):
    is_other: bool
    is_text: bool
    is_date: bool
    is_copy: bool
    is_constant: bool
    infinite: int


def _columns(
    features: pl.DataFrame,
    labels: pl.Series,
    excluded: set[int],
    policies: _Policies,
    made_constant: set[str],
) -> list[Column]:
    """Describe the features; some have one value only after what is missing is filled or gone."""
    copies = set(copies_of(labels, features))
    dated, dates = read_dates(features)
    kinds = [_kind(column) for column in dated]
    features, _ = dates_to_numbers(dated)
    others, text = other_kinds(features), set(text_columns(features))
    known = features
    if others:
        known = features.with_columns(pl.lit(0.0).alias(name) for name in others)
    numbers, _ = ranked(known)
    infinite, x = count_infinite(numbers), matrix_of(numbers)
    names = features.columns
    blind = excluded | {names.index(name) for name in others}
    findings = inspect(x, blind, {names.index(name) for name in text})
    remarks = _remarks(findings, names, copies)
    columns = []
    for at, column in enumerate(features):
        found = _Found(
            column.name in others,
            column.name in text,
            column.name in dates,
            column.name in copies,
            at in findings.constant or column.name in made_constant,
            infinite.get(column.name, 0),
        )
        is_in = at not in excluded
        action, reason = policies.decide(column, found) if is_in else ("leave out", "excluded")
        finite = x[:, at][np.isfinite(x[:, at])]
        has_range = not (found.is_other or found.is_text) and finite.size
        columns.append(
            Column(
                at,
                column.name,
                kinds[at],
                column.null_count(),
                _distinct(column, x[:, at]),
                float(finite.min()) if has_range else None,
                float(finite.max()) if has_range else None,
                action,
                reason,
                remarks[at],
            )
        )
    return columns


def _remarks(findings: Findings, names: list[str], copies: set[str]) -> list[str]:
    remarks: list[list[str]] = [[] for _ in names]
    for at in findings.identifiers:
        remarks[at].append("looks like a row identifier")
    for group in findings.duplicates:
        for at in group:
            twin = group[0] if at != group[0] else group[1]
            remarks[at].append(f"equal to '{names[twin]}'")
    for name in copies:
        remarks[names.index(name)].append("equal to the target")
    return ["; ".join(remark) for remark in remarks]


def _distinct(column: pl.Series, numbers: NDArray[np.float64]) -> int:
    """Count the different values; of floats in numpy, which takes a tenth of the time."""
    gaps = column.null_count()
    if column.dtype.is_float() and not gaps:
        return len(np.unique(numbers))
    if column.dtype == pl.Object:
        # Python objects of mixed types, which polars cannot compare.
        return len({repr(value) for value in column if value is not None})
    return column.n_unique() - (gaps > 0)


def _kind(column: pl.Series) -> str:
    dtype = column.dtype
    if dtype.is_integer():
        return "whole"
    if dtype.is_numeric():
        return "number"
    if dtype == pl.Boolean:
        return "boolean"
    if is_date(dtype):
        return {pl.Date: "date", pl.Datetime: "date", pl.Time: "time"}.get(
            dtype.base_type(), "duration"
        )
    return "text" if text_columns(column.to_frame()) else str(dtype)


def _count_classes(labels: pl.Series, where: str) -> dict[Label, int]:
    try:
        codes, classes = classes_of(labels.drop_nulls(), where)
    except DataError:
        return {}
    return dict(zip(classes, np.bincount(codes).tolist(), strict=True))
