"""Columns in groups."""

import csv
import io
from dataclasses import dataclass

import polars as pl

from swarmrs._selection import SCHEMA_VERSION, versions
from swarmrs._words import counted, listed


@dataclass(frozen=True, eq=False, repr=False)
class Grouping:
    """Columns in groups, and how their number was chosen.

    Attributes
    ----------
    by : str
        Where they come from: ``"lbm"``, ``"hclust"``, ``"prefix"``, ``"file"`` or ``"given"``.
    settings : dict
        All settings of a method, its seed among them; empty for the others.
    data : dict
        The table.
    groups : tuple of tuple of str
        The names of the columns in each group. Groups are in the order of their first columns.
    indices : tuple of tuple of int
        Their positions.
    ungrouped : tuple of str
        The columns that belong to no group: those of one value, and those excluded.
    criterion : str or None
        What chose the number of groups: ``"aic"`` or ``"icl"``, lower being better, or
        ``"silhouette"``, higher being better.
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
        lines = [
            f"{len(self)} groups of {counted(sum(map(len, self.groups)), 'column')} by {self.by}"
        ]
        lines += [f"  {place}: {listed(group)}" for place, group in enumerate(self.groups)]
        return "\n".join(lines)

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
