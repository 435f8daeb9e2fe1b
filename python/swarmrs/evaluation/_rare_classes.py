"""Classes with too few rows for the folds: named, refused, left out or joined."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from swarmrs._base._choices import RARE_CLASS
from swarmrs._base._hints import setting
from swarmrs._base._messages import check_word, counted, listed, shortened
from swarmrs.data._table import Table
from swarmrs.data._target import Label
from swarmrs.evaluation._folds import CV, Folds
from swarmrs.exceptions import DataError, SpecError


def settle_rare(table: Table, policy: str, cv: CV | None) -> Table:
    """Return the table as a policy wants it where classes have fewer rows than there are folds.

    Schemes without a number of folds need two rows.

    ``"warn"`` changes nothing: the engine names the classes its folds are too many for, and a class
    of one row is warned of here. ``"drop"`` leaves out the rows of rare classes. ``"merge"`` joins
    these classes to one, which takes in the next rarest as long as it is rare itself or alone.

    Raises
    ------
    DataError
        If a class is rare and the policy is ``"error"``, or no two classes would be left.
    SpecError
        If the policy is unknown, or moves rows that `cv` names.
    """
    check_word("policy for rare classes", policy, RARE_CLASS)
    counts = np.bincount(table.codes, minlength=len(table.labels))
    if policy == "warn":
        lone = [_named(table, code) for code in np.flatnonzero(counts == 1)]
        message = (
            f"{counted(len(lone), 'class')} of 1 row, never learned when tested: {listed(lone)}"
        )
        return replace(table, warnings=(*table.warnings, message)) if lone else table
    least = _fewest(table, cv)
    rare = counts < least
    if not rare.any():
        return table
    shown = listed(f"{_named(table, code)} ({counts[code]})" for code in np.flatnonzero(rare))
    message = f"{counted(int(rare.sum()), 'class')} of fewer than {least} rows: {shown}"
    if policy == "error":
        raise DataError(
            message,
            f"leave their rows out with {setting('rare_class', 'drop')}, join them with merge, "
            "or take fewer folds",
        )
    if policy == "drop":
        if not (cv is None or _is_named(cv) or hasattr(cv, "split")):
            raise SpecError(
                "rows are left out, but cv lists row numbers",
                "give a number of folds or a splitter",
            )
        if (~rare).sum() < 2:
            raise DataError(f"{message}; without them no two classes are left", "take fewer folds")
        kept = table.take(np.flatnonzero(~rare[table.codes]))
        return replace(kept, warnings=(*table.warnings, f"{message}; their rows are left out"))
    joined = _joined(counts, rare, least)
    if joined.all():
        raise DataError(f"{message}; joined they leave one class", "take fewer folds")
    return _merged(table, joined, message)


def _fewest(table: Table, cv: CV | None) -> int:
    """Return the rows that a class needs to be in every fold."""
    if not (cv is None or _is_named(cv)):
        return 2
    folds = Folds.of(cv, None, table)
    return {"kfold": folds.k, "wrap5": 5}.get(folds.scheme, 2)


def _is_named(cv: CV) -> bool:
    return isinstance(cv, int | str | np.integer)


def _named(table: Table, code: np.intp) -> str:
    return f"'{shortened(str(table.labels[code]), 80)}'"


def _joined(counts: NDArray[np.intp], rare: NDArray[np.bool_], least: int) -> NDArray[np.bool_]:
    joined = rare.copy()
    for code in np.argsort(counts, kind="stable"):
        if joined.sum() > 1 and counts[joined].sum() >= least:
            break
        joined[code] = True
    return joined


def _merged(table: Table, joined: NDArray[np.bool_], message: str) -> Table:
    kept = [str(label) for label, gone in zip(table.labels, joined, strict=True) if not gone]
    name = "other"
    while name in kept:
        name += "_"
    pairs = zip(table.labels, joined, strict=True)
    labels = np.array([name if gone else str(label) for label, gone in pairs])
    classes, codes = np.unique(labels[table.codes], return_inverse=True)
    into: tuple[Label, ...] = tuple(classes.tolist())
    members = listed(_named(table, code) for code in np.flatnonzero(joined))
    return replace(
        table,
        codes=codes.astype(np.uint32),
        labels=into,
        warnings=(*table.warnings, f"{message}; {members} are merged into '{name}'"),
    )
