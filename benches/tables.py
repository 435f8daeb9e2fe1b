"""The tables of published comparisons: their values, their folds, and the figures printed."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from functools import cache

import numpy as np
import polars as pl
from large import TABLES
from numpy.typing import NDArray

FIGURES = TABLES.parent / "reference" / "paper_results.csv"

Rows = NDArray[np.int64]


@cache
def table(name: str) -> tuple[NDArray[np.float64], Rows]:
    """Return the values, those that are missing as NaN, and the classes."""
    frame = pl.read_parquet(TABLES / f"{name}.parquet")
    x = frame.drop("class").cast(pl.Float64).to_numpy()
    y = np.unique(frame["class"].to_numpy(), return_inverse=True)[1].astype(np.int64)
    return x, y


def deal(y: Rows, seed: int, n_folds: int) -> Rows:
    """Return the fold of each row.

    Classes too small for all folds are dealt out too, each going on where the last ended.
    """
    rng = np.random.default_rng(seed)
    dealt = np.concatenate([rng.permutation(np.flatnonzero(y == c)) for c in np.unique(y)])
    folds = np.empty(len(y), np.int64)
    folds[dealt] = np.arange(len(y)) % n_folds
    return folds


def published(paper: str) -> Iterator[dict[str, str]]:
    """Yield the rows of a paper's tables, if they are at hand."""
    if FIGURES.exists():
        with FIGURES.open(encoding="utf-8", newline="") as file:
            yield from (row for row in csv.DictReader(file) if row["paper"] == paper)
