"""Features that cannot help a search, or help too well: constant, duplicate, row identifiers."""

from collections.abc import Collection
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from swarmrs._base._hints import has_setting, setting
from swarmrs._base._messages import counted, listed, quoted
from swarmrs.data._arrays import blocks
from swarmrs.data._encode import TEXT
from swarmrs.data._read import columns_of

# In fewer rows than this random values are too often in order to call a feature an identifier.
_MIN_ROWS_FOR_IDENTIFIER = 10
# Rows that rule out nearly all features, so that few are compared on all rows.
_FIRST_ROWS = 16


class Findings(NamedTuple):
    """Conspicuous features, by their positions.

    Attributes
    ----------
    constant : tuple of int
        Features of one value, or of none.
    identifiers : dict of int to str
        Features that look like row identifiers, and why.
    duplicates : tuple of tuples of int
        Groups of features with equal values.
    """

    constant: tuple[int, ...]
    identifiers: dict[int, str]
    duplicates: tuple[tuple[int, ...], ...]

    def notices(self, names: list[str]) -> list[str]:
        """Return messages about what is harmless: constant and duplicate features."""
        messages = []
        if self.constant:
            constant = quoted(names[index] for index in self.constant)
            messages.append(f"{counted(len(self.constant), 'constant feature')}: {constant}")
        if self.duplicates:
            groups = (_equation([names[index] for index in group]) for group in self.duplicates)
            number = counted(len(self.duplicates), "group")
            messages.append(f"{number} of duplicate features: {listed(groups)}")
        return messages

    def warnings(self, names: list[str]) -> list[str]:
        """Return messages about what can mislead: row identifiers."""
        reasons: dict[str, list[str]] = {}
        for index, reason in self.identifiers.items():
            reasons.setdefault(reason, []).append(names[index])
        return [_identifier_warning(found, reason) for reason, found in reasons.items()]


def inspect(
    x: NDArray[np.float64], excluded: Collection[int], nominal: Collection[int] = ()
) -> Findings:
    """Check all features but the excluded ones; a missing value is a NaN.

    Nominal features, which hold text as codes, are identifiers if no value repeats; numbers if they
    are strictly increasing or decreasing.
    """
    is_checked = np.ones(x.shape[1], dtype=bool)
    is_checked[list(excluded)] = False
    is_constant = constant_features(x)
    varying = np.flatnonzero(is_checked & ~is_constant)
    return Findings(
        tuple(np.flatnonzero(is_checked & is_constant).tolist()),
        _identifiers(x, varying, nominal),
        _duplicates(x, varying),
    )


def constant_features(x: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return whether each feature has one value, or none."""
    is_constant = np.empty(x.shape[1], dtype=bool)
    for block in blocks(*x.shape):
        part = x[:, block]
        is_constant[block] = (part == part[0]).all(axis=0)
        # A missing value equals nothing, so a feature without any value is not found above.
        empty = np.isnan(part[0])
        if empty.any():
            is_constant[block] |= np.isnan(part).all(axis=0)
    return is_constant


def _is_increasing(x: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return whether each column strictly increases."""
    return np.asarray((x[1:] > x[:-1]).all(axis=0))


def _identifiers(
    x: NDArray[np.float64], varying: NDArray[np.intp], nominal: Collection[int]
) -> dict[int, str]:
    if len(x) < _MIN_ROWS_FOR_IDENTIFIER:
        return {}
    reasons: dict[int, str] = {}
    is_nominal = np.zeros(x.shape[1], dtype=bool)
    is_nominal[list(nominal)] = True
    for index in varying[is_nominal[varying]].tolist():
        if len(np.unique(x[:, index])) == len(x):
            reasons[index] = "text that never repeats"
    numbers = varying[~is_nominal[varying]]
    for sign, reason in ((1, "strictly increasing"), (-1, "strictly decreasing")):
        # Three rows rule out five features of six that are in random order, a few more nearly all.
        candidates = numbers[_is_increasing(sign * x[:3, numbers])]
        candidates = candidates[_is_increasing(sign * x[:_FIRST_ROWS, candidates])]
        for block in blocks(len(x), len(candidates)):
            part = candidates[block]
            is_monotonic = _is_increasing(sign * x[:, part])
            reasons |= dict.fromkeys(part[is_monotonic].tolist(), reason)
    return dict(sorted(reasons.items()))


def _duplicates(x: NDArray[np.float64], varying: NDArray[np.intp]) -> tuple[tuple[int, ...], ...]:
    """Return groups of equal features, each in ascending order, by their first features."""
    groups: dict[bytes, list[int]] = {}
    # Only features whose hash occurs twice are compared byte by byte.
    for index in _same_hash(x, _same_hash(x[:_FIRST_ROWS], varying)).tolist():
        groups.setdefault(_bits(x[:, index]).tobytes(), []).append(index)
    return tuple(tuple(group) for group in groups.values() if len(group) > 1)


def _same_hash(x: NDArray[np.float64], features: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return those of the features whose hash is that of another one."""
    hashes = np.empty(len(features), dtype=np.uint64)
    # Odd multipliers, a different one for each row: the golden ratio in 64 bits times 1, 2, 3, ...
    weights = np.arange(1, len(x) + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    weights |= np.uint64(1)
    for block in blocks(len(x), len(features)):
        bits = _bits(x[:, features[block]])
        # Small whole numbers have zeros in all low bits of a float: a product would keep a dozen
        # bits of the multiplier only.
        bits ^= (bits >> np.uint64(32)) ^ (bits >> np.uint64(52))
        hashes[block] = (bits * weights[:, np.newaxis]).sum(axis=0, dtype=np.uint64)
    _, first, counts = np.unique(hashes, return_inverse=True, return_counts=True)
    return features[counts[first] > 1]


def _bits(values: NDArray[np.float64]) -> NDArray[np.uint64]:
    """Return the bit patterns of floats; adding 0 makes one zero of the two that floats have."""
    return (values + 0.0).view(np.uint64)


def _equation(names: list[str], shown: int = 4) -> str:
    more = [f"{len(names) - shown} more"] if len(names) > shown else []
    return " = ".join([*(f"'{name}'" for name in names[:shown]), *more])


def _identifier_warning(names: list[str], reason: str) -> str:
    is_one = len(names) == 1
    looks, them = (
        ("looks like a row identifier", "it") if is_one else ("look like row identifiers", "them")
    )
    advice = f"consider removing {them} from the table"
    if has_setting("exclude"):
        option = setting("exclude", names) if is_one else setting("exclude")
        advice = f"consider excluding {them} with {option}"
    return f"{quoted(names)} {looks} ({reason}); {advice}"


def copies_of(labels: pl.Series, frame: pl.DataFrame) -> list[str]:
    """Return the names of the features that equal the target wherever they have a value."""
    numbers, text = _is_number(labels.dtype), labels.dtype in TEXT
    alike = columns_of(
        frame, lambda dtype: (numbers and _is_number(dtype)) or (text and dtype in TEXT)
    )
    # The first row decides for nearly all columns at little cost.
    first, values = labels[0], alike.row(0) if alike.width else ()
    return [
        alike.columns[index]
        for index, value in enumerate(values)
        if (value is None or first is None or value == first)
        and _is_copy(alike.to_series(index), labels)
    ]


def _is_number(dtype: pl.DataType) -> bool:
    return dtype.is_numeric() or dtype == pl.Boolean


def numeric_copies(labels: pl.Series, x: NDArray[np.float64]) -> NDArray[np.intp]:
    """Return the positions of the features that equal the target; no value is missing."""
    if not _is_number(labels.dtype):
        return np.empty(0, dtype=np.intp)
    values = labels.cast(pl.Float64).to_numpy()
    copies = np.arange(x.shape[1])
    # Most features differ from the target in the first few rows.
    for rows in (slice(1), slice(_FIRST_ROWS), slice(None)):
        copies = copies[(x[rows, copies] == values[rows, np.newaxis]).all(axis=0)]
    return copies


def _is_copy(column: pl.Series, labels: pl.Series) -> bool:
    """Tell whether a column of the same kind equals the target wherever both have a value."""
    kind = pl.Float64() if _is_number(labels.dtype) else pl.String()
    is_equal = bool((column.cast(kind) == labels.cast(kind)).all())
    # A few values may agree at random where most are missing.
    return is_equal and column.drop_nulls().n_unique() > 1
