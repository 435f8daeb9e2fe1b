"""All that a search measured, as a frame."""

import numpy as np
import polars as pl
from numpy.typing import NDArray

# Bits are spread out for so many subsets at a time: a byte for each would not fit otherwise.
_AT_A_TIME = 1024


def read_measured(
    turns: NDArray[np.uint64],
    costs: NDArray[np.float64],
    errors: NDArray[np.float64],
    bits: NDArray[np.uint8],
    width: int,
) -> pl.DataFrame:
    """Return a row for each subset measured, in that order; none of them is empty.

    `bits` has a row for each, eight of its `width` features a byte, the first in the lowest bit.
    """
    parts = [_lists(bits[at : at + _AT_A_TIME], width) for at in range(0, len(bits), _AT_A_TIME)]
    lists = pl.concat([pl.Series("selected_indices", [], dtype=pl.List(pl.UInt32)), *parts])
    return pl.DataFrame(
        {"turn": turns, "size": lists.list.len(), "cost": costs, "error": errors, lists.name: lists}
    )


def _lists(bits: NDArray[np.uint8], width: int) -> pl.Series:
    rows, features = np.nonzero(np.unpackbits(bits, axis=1, count=width, bitorder="little"))
    chosen = pl.DataFrame({"row": rows, "selected_indices": features.astype(np.uint32)})
    return chosen.group_by("row", maintain_order=True).agg("selected_indices")["selected_indices"]
