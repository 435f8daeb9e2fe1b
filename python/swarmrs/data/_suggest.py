"""Suggested settings: those by which a table can be read and searched."""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from swarmrs._base._tasks import CLASSIFICATION, REGRESSION
from swarmrs.data._encode import NumberText, text_columns
from swarmrs.data._formats import Reading, name_of, parse_content
from swarmrs.data._formats._bytes import fetch
from swarmrs.data._formats._text import guess_reading
from swarmrs.data._read import Raw
from swarmrs.data._table import Source, Table, find, prepare
from swarmrs.data._target import Target, classes_of, guess_task
from swarmrs.exceptions import DataError, SwarmrsError

# Words that stand for a missing number are few; more are text.
_NULL_WORDS = 3
# Text with more values is no set of categories: it is not encoded one-hot.
_CATEGORIES = 20
# Where the last column has no classes: what a column of classes is often called.
_CLASSES = ("class", "target", "label", "outcome", "diagnosis", "species", "y")


class Found(NamedTuple):
    """A table as it was read: how, and why not as requested."""

    raw: Raw
    reading: Reading
    problem: DataError | None


@dataclass(frozen=True)
class Reader:
    """A source that may be read more than once, standard input too."""

    parse: Callable[[Reading], Raw]
    guess: Callable[[Reading], dict[str, object]]

    @classmethod
    def of(cls, source: Source, reading: Reading) -> "Reader":
        """Return the reader of whatever holds a table."""
        is_file = isinstance(source, str | os.PathLike)
        if not is_file or os.fspath(source).startswith("sklearn:"):  # type: ignore[arg-type]
            return cls(lambda options: find(source, options), lambda _: {})
        text = os.fspath(source)  # type: ignore[arg-type]
        path, name = Path(text), name_of(text)
        content, packed = fetch(text, name, reading.max_bytes)
        return cls(
            lambda options: parse_content(content, packed, path, name, options),
            lambda options: guess_reading(content, options.separator_of(path), options.encoding),
        )

    def read(self, reading: Reading) -> Found:
        """Read a table; if that fails, with other options.

        Raises
        ------
        DataError
            If it cannot be read with any that are known.
        """
        try:
            return Found(self.parse(reading), reading, None)
        except DataError as problem:
            changes = self.guess(reading)
            if not changes:
                raise
            other = replace(reading, **changes)  # type: ignore[arg-type]
            try:
                return Found(self.parse(other), other, problem)
            except SwarmrsError:
                raise problem from None

    def with_numbers(self, found: Found) -> Found:
        """Return the table read again where text holds numbers with commas or a few words."""
        while changes := _number_changes(found):
            try:
                other = replace(found.reading, **changes)  # type: ignore[arg-type]
                raw = self.parse(other)
            except SwarmrsError:
                break
            found = Found(raw, other, found.problem)
        return found


def _number_changes(found: Found) -> dict[str, object]:
    """Return the options by which columns of text become numbers, if any do."""
    if found.raw.kind not in ("CSV", "TSV"):
        return {}
    reading, text = found.reading, found.raw.frame[:, text_columns(found.raw.frame)]
    if reading.decimal == ",":
        text = text.with_columns(pl.all().str.replace(",", ".", literal=True))
    looks = [look for column in text if (look := NumberText.of(column))]
    # A comma that separates no fields is a decimal one rather than between thousands.
    commas = ("decimal", "either") if reading.separator not in (None, ",") else ("decimal",)
    if reading.decimal == "." and any(look.kind in commas for look in looks):
        return {"decimal": ","}
    words = {
        word
        for look in looks
        if look.kind == "words" and len(look.examples) <= _NULL_WORDS
        for word in look.examples
    }
    new = sorted(words - {*reading.null_words})
    return {"null": [*reading.null, *new]} if new else {}


def suggest_target(raw: Raw, target: Target, task: str | None) -> Target:
    """Return the requested target, or else a column that has classes: the last, or a likely one.

    Numbers in the last column are a target, too, unless classes are asked for.
    """
    frame = raw.frame
    if target is not None or raw.target is not None:
        return target if target is not None else raw.target

    def has_classes(name: str, most: int | None = None) -> bool:
        try:
            _, classes = classes_of(frame[name].drop_nulls(), raw.name)
        except DataError:
            return False
        return most is None or len(classes) <= most

    last = frame.columns[-1]
    if has_classes(last):
        return last
    likely = [name for name in frame.columns if name.lower() in _CLASSES and has_classes(name)]
    is_number = guess_task(frame[last]) is REGRESSION and not likely
    if task != CLASSIFICATION.name and is_number:
        return last
    others = (name for name in reversed(frame.columns) if has_classes(name, _CATEGORIES))
    return likely[0] if likely else next(others, None)


def suggest_policies(
    columns: Sequence[Mapping[str, Any]], rows: int, labeled: int, given: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the policies by which no column is refused; what was given stays.

    Identifiers, copies of the target and what holds no numbers are excluded; so is what is missing
    in most rows, where rows without a label have to be dropped.

    Parameters
    ----------
    columns : sequence of mappings
        The columns as `describe` has them.
    rows, labeled : int
        The rows, and those with a label.
    given : mapping
        The requested policies: missing, encode, exclude, allow_target_copy.
    """
    policies = dict(given)
    drops = labeled < rows and given["missing"] in ("error", "drop-rows")
    exclude, included = [], []
    for column in columns:
        name, is_text = column["name"], column["kind"] == "text"
        is_name = is_text and column["distinct"] > max(_CATEGORIES, rows / 2)
        is_empty = column["missing"] == rows or (drops and 2 * column["missing"] > rows)
        is_copy = "equal to the target" in column["remark"] and not given["allow_target_copy"]
        is_bad = column["reason"] == "neither number nor text" or "infinite" in column["reason"]
        is_id = "row identifier" in column["remark"]
        if column["reason"] == "excluded":
            continue
        if is_name or is_empty or is_copy or is_bad or is_id:
            exclude.append(name)
        else:
            included.append(column)
    policies["exclude"] = [*given["exclude"], *exclude]
    if given["missing"] == "error":
        if labeled < rows:
            policies["missing"] = "drop-rows"
        elif any(column["missing"] for column in included):
            policies["missing"] = "median"
    values = [column["distinct"] for column in included if column["kind"] == "text"]
    if values and given["encode"] == "error":
        policies["encode"] = "onehot" if max(values) <= _CATEGORIES else "ordinal"
    return policies


def try_policies(raw: Raw, target: Target, policies: Mapping[str, Any]) -> Table | None:
    """Return the table that policies make, if it can be searched."""
    try:
        table = prepare(raw, target, **policies)
    except SwarmrsError:
        return None
    out = {*table.constant, *table.locate(policies["exclude"])}
    return table if len(out) < table.x.shape[1] else None
