"""The cells of a store as a frame: the input of statistics and reports."""

import json
import os
from collections.abc import Iterable, Mapping
from contextlib import closing
from typing import Any

import polars as pl

from swarmrs.evaluation._losses import loss_of
from swarmrs.experiments._execution._run_cell import TESTED
from swarmrs.experiments._execution._store import Store

SCHEMA: dict[str, pl.DataType | type[pl.DataType]] = {
    "data": pl.String,
    "method": pl.String,
    "params": pl.String,
    "run": pl.Int64,
    "seed": pl.UInt64,
    "split_seed": pl.UInt64,
    "fold": pl.Int64,
    "protocol": pl.String,
    "scoring": pl.String,
    "state": pl.String,
    "error_text": pl.String,
    "size": pl.Int64,
    "selected": pl.List(pl.String),
    "n_features": pl.Int64,
    "train_cost": pl.Float64,
    **{f"train_{name}": pl.Float64 for name in ("loss", *TESTED)},
    **{f"test_{name}": pl.Float64 for name in ("loss", *TESTED)},
    "evaluations": pl.Int64,
    "unique": pl.Int64,
    "stop": pl.String,
    "seconds_search": pl.Float64,
    "seconds_evaluate": pl.Float64,
    "seconds": pl.Float64,
    "trace": pl.List(
        pl.Struct({"evaluations": pl.Int64, "best_cost": pl.Float64, "best_size": pl.Int64})
    ),
}


def cells_frame(store: Store | str | os.PathLike[str]) -> pl.DataFrame:
    """Return a row for each cell: tables and methods as they were given, then runs, then folds.

    Parameters
    ----------
    store : path or Store
        The store.

    Returns
    -------
    polars.DataFrame
        ``data``, ``method``, ``params`` (JSON), ``run``, ``seed``, ``split_seed``, ``fold``,
        ``protocol``, ``scoring``, ``state`` (``"todo"``, ``"done"``, ``"failed"``) and
        ``error_text`` identify the cell and its outcome. ``size`` of ``n_features`` features are
        ``selected``. ``train_...`` are the scores of the search on its own folds, ``test_...``
        those of the selected features on held-out rows; null where the protocol holds out none. A
        ``..._loss`` is that of the score named by ``scoring``, of the accuracy the error. A cell
        whose ``stop`` is ``"no_features"`` selected none, because none survived the prescreen, and
        predicts the majority class. Of the ``evaluations``, ``unique`` were of different subsets.
        ``seconds_search`` and ``seconds_evaluate`` add up to ``seconds``. ``trace`` has the
        iterations at which the best changed, and the last.
    """
    if not isinstance(store, Store):
        with closing(Store(store, read_only=True)) as opened:
            return cells_frame(opened)
    return frame_of(store.rows(), store.about()["experiment"])


def frame_of(rows: Iterable[dict[str, Any]], experiment: Mapping[str, Any]) -> pl.DataFrame:
    """Return the cells of one experiment as `cells_frame` does, from the columns of a store."""
    scoring = experiment.get("scoring") or "accuracy"
    shared = {"protocol": experiment.get("protocol"), "scoring": scoring}
    return pl.DataFrame([_row(row, scoring) | shared for row in rows], schema=SCHEMA)


def store_settings(store: Store | str | os.PathLike[str]) -> dict[str, Any]:
    """Return the settings that all cells of a store share.

    Parameters
    ----------
    store : path or Store
        The store.

    Returns
    -------
    dict
        ``command`` (None if it was run in Python), ``created``, ``versions``, ``protocol``,
        ``preset``, ``data`` (the tables with their rows, features and classes) and ``experiment``:
        all settings that the cells share.
    """
    if not isinstance(store, Store):
        with closing(Store(store, read_only=True)) as opened:
            return store_settings(opened)
    about = store.about()
    experiment = about["experiment"]
    return {
        "command": about.get("command"),
        "created": about.get("created"),
        "versions": about["versions"],
        "protocol": experiment.get("protocol"),
        "preset": experiment.get("preset"),
        "data": [table._asdict() for table in store.data()],
        "experiment": experiment,
    }


def _row(cell: dict[str, Any], scoring: str) -> dict[str, Any]:
    same = ("data", "method", "params", "run", "fold", "state", "n_features")
    timed = ("seconds_search", "seconds_evaluate", "seconds")
    row = {name: cell[name] for name in (*same, *timed)}
    row |= {"seed": int(cell["seed"]), "split_seed": int(cell["split_seed"])}
    row["error_text"] = cell["error"]
    if cell["result_json"] is None:
        return row
    found = json.loads(cell["result_json"])
    for part in ("train", "test"):
        scores = found[part] or {}
        if scores:
            row[f"{part}_loss"] = loss_of(scores, scoring)
        row |= {f"{part}_{name}": scores.get(name) for name in TESTED}
    trace = [
        dict(zip(("evaluations", "best_cost", "best_size"), step, strict=True))
        for step in found["trace"]
    ]
    return row | {
        "size": found["size"],
        "selected": found["selected"],
        "train_cost": found["cost"],
        "evaluations": found["evaluations"],
        "unique": found["unique"],
        "stop": found["stop"],
        "trace": trace,
    }
