"""From a table to what the engine works on."""

import sys

import numpy as np
from numpy.typing import NDArray

from swarmrs import _swarmrs
from swarmrs.data._table import Table


def dataset_of(table: Table, scale: str = "minmax") -> _swarmrs.Dataset:
    """Return a table as the engine takes it.

    A missing value, where the table keeps them, is one of its own below all others: filters see
    that it is missing, and no classifier of the engine is given such a table. One that was filled
    is filled anew for each split that something is measured on.
    """
    scale = scale.removeprefix("fold-")
    return _swarmrs.Dataset(
        _solid(table), table.codes, len(table.labels), table.names, scale, table.unfilled
    )


def _solid(table: Table) -> NDArray[np.float64]:
    if not table.has_gaps:
        return table.x
    x = table.x.copy(order="F")
    for column in x.T:
        gaps = np.isnan(column)
        if gaps.any():
            known = column[~gaps]
            low, high = (float(known.min()), float(known.max())) if known.size else (0.0, 0.0)
            # As far below the least as the greatest is above it, as far as floats reach.
            column[gaps] = max(low - max(high - low, 1.0), -sys.float_info.max)
    return x


def describe_data(table: Table, fingerprint: str) -> dict[str, object]:
    """Return what a result says about its table."""
    is_measured = table.values is not None
    return {
        "name": table.name,
        "rows": table.frame.height,
        "features": table.frame.width,
        "classes": None if is_measured else len(table.labels),
        "fingerprint": fingerprint,
        "target": table.target,
        "labels": [] if is_measured else list(table.labels),
    }
