"""From a table to what the engine works on."""

import sys

import numpy as np
from numpy.typing import NDArray

from swarmrs import _swarmrs
from swarmrs.data._table import Table


def dataset_of(table: Table, scale: str = "minmax") -> _swarmrs.Dataset:
    """Return a table as the engine takes it.

    Missing values, where the table keeps them, get a value of their own below all others: filters
    see that they are missing, and no native classifier is given such a table. Imputed values are
    imputed anew for each split of an evaluation.
    """
    scale = scale.removeprefix("fold-")
    return _swarmrs.Dataset(
        _without_gaps(table),
        table.codes,
        len(table.labels),
        table.names,
        scale,
        table.unfilled,
        table.values,
    )


def _without_gaps(table: Table) -> NDArray[np.float64]:
    """Return the features with the value of their own in place of missing values."""
    if not table.has_gaps:
        return table.x
    x = table.x
    low, high = np.fmin.reduce(x, axis=0), np.fmax.reduce(x, axis=0)
    is_empty = np.isnan(low)
    low[is_empty] = high[is_empty] = 0.0
    # As far below the minimum as the maximum is above it, as far as floats reach.
    with np.errstate(over="ignore"):
        below = np.maximum(low - np.maximum(high - low, 1.0), -sys.float_info.max)
    return np.asfortranarray(np.where(np.isnan(x), below, x))


def describe_data(table: Table, fingerprint: str) -> dict[str, object]:
    """Return the entry of a result about its table."""
    is_numeric = table.values is not None
    rows, width = table.x.shape
    return {
        "name": table.name,
        "rows": rows,
        "features": width,
        "classes": None if is_numeric else len(table.labels),
        "fingerprint": fingerprint,
        "target": table.target,
        "labels": [] if is_numeric else list(table.labels),
    }
