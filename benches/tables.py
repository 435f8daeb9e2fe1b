"""The tables of published comparisons: their values, their folds, and the figures printed."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray
from swarmrs.experiments._papers import find_tables

ROOT = Path(__file__).resolve().parent.parent


def _folder() -> Path:
    """Return the folder of the tables: that of SWARMRS_DATA, `data`, or one for all checkouts."""
    if given := os.environ.get("SWARMRS_DATA"):
        return Path(given)
    shared = ROOT.parent / "shared" / "data"
    own = ROOT / "data"
    return shared if shared.is_dir() and not own.is_dir() else own


TABLES = _folder()

Rows = NDArray[np.int64]


def path_of(name: str) -> Path:
    """Return the file of a table, whether it is there or not."""
    return TABLES / f"{name}.parquet"


def why_absent(name: str) -> str:
    """Return what to tell about a table that is not there."""
    return f"{name}.parquet is missing: `make data` fetches it or says where it comes from"


@cache
def table(name: str) -> tuple[NDArray[np.float64], Rows]:
    """Return the values, those that are missing as NaN, and the classes."""
    frame = pl.read_parquet(path_of(name))
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


def published(*names: str) -> dict[tuple[str, str, str], str]:
    """Return the figures of some tables of studies by data set, method in lower case and figure."""
    return {
        (data, method.lower(), figure): value
        for name in names
        for printed in find_tables(name)[1]
        for (data, method), figures in printed.published.items()
        for figure, value in figures.items()
    }


def checksum(values: NDArray[np.float64], classes: Sequence[object]) -> str:
    """Return the SHA-256 of a table, whatever file it is in and however its classes are named.

    It covers the shape, the values row by row as little-endian float64, missing ones as one NaN,
    and the classes as little-endian int64, numbered in the order of their first rows.
    """
    numbers: dict[object, int] = {}
    codes = [numbers.setdefault(label, len(numbers)) for label in classes]
    # Adding zero makes -0 a 0.
    canonical = np.where(np.isnan(values), np.nan, values + 0.0).astype("<f8")
    digest = hashlib.sha256(f"{values.shape[0]} {values.shape[1]}\n".encode())
    digest.update(np.ascontiguousarray(canonical).tobytes())
    digest.update(np.array(codes, dtype="<i8").tobytes())
    return digest.hexdigest()
