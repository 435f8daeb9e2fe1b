"""Cells of made comparisons, as `cells_frame` gives them."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

SCHEMA: dict[str, Any] = {
    "data": pl.String,
    "method": pl.String,
    "params": pl.String,
    "run": pl.Int64,
    "seed": pl.Int64,
    "fold": pl.Int64,
    "protocol": pl.String,
    "state": pl.String,
    "error_text": pl.String,
    "size": pl.Int64,
    "selected": pl.List(pl.String),
    "n_features": pl.Int64,
    "train_cost": pl.Float64,
    "train_error": pl.Float64,
    "test_error": pl.Float64,
    "test_accuracy": pl.Float64,
    "test_balanced_accuracy": pl.Float64,
    "test_ovr_accuracy": pl.Float64,
    "evaluations": pl.Int64,
    "unique": pl.Int64,
    "seconds_search": pl.Float64,
    "seconds_evaluate": pl.Float64,
    "seconds": pl.Float64,
    "trace": pl.List(
        pl.Struct({"evaluations": pl.Int64, "best_cost": pl.Float64, "best_size": pl.Int64})
    ),
}

COLUMNS = [f"column {number}" for number in range(12)]


def cell(data: str, method: str, run: int, fold: int = 0, **known: object) -> dict[str, object]:
    """Return a cell, finished unless told otherwise, with what is known of it."""
    blank: dict[str, object] = dict.fromkeys(SCHEMA)
    made = {
        "params": "{}",
        "seed": run,
        "protocol": "cv10",
        "state": "done",
        "size": 3,
        "selected": ["a", "b", "c"],
        "n_features": 10,
        "evaluations": 100,
        "unique": 90,
        "seconds_search": 0.1,
        "seconds_evaluate": 0.3,
        "seconds": 0.4,
        "trace": [],
    }
    return blank | made | {"data": data, "method": method, "run": run, "fold": fold} | known


def frame(cells: Iterable[Mapping[str, object]]) -> pl.DataFrame:
    return pl.DataFrame(list(cells), schema=SCHEMA)


def failed(data: str, method: str, run: int, fold: int, text: str) -> dict[str, object]:
    """Return a cell that came to nothing."""
    nothing: dict[str, object] = dict.fromkeys(list(SCHEMA)[9:])
    return cell(data, method, run, fold) | nothing | {"state": "failed", "error_text": text}


def made_comparison(
    datasets: Sequence[str],
    methods: Sequence[str],
    *,
    runs: int = 5,
    folds: int = 2,
    columns: Sequence[str] = COLUMNS,
    iterations: int = 20,
) -> pl.DataFrame:
    """Return cells that look like those of searches: costs fall, better methods fall further."""
    rng = np.random.default_rng(5)
    cells = []
    for at, data in enumerate(datasets):
        for order, method in enumerate(methods):
            for run in range(runs):
                for fold in range(folds):
                    size = int(rng.integers(1, len(columns)))
                    end = 0.1 + 0.03 * at + 0.01 * order + 0.02 * rng.random()
                    drops = np.sort(rng.random(iterations))[::-1] * 0.2
                    trace = [
                        {
                            "evaluations": 20 * (iteration + 1),
                            "best_cost": end + drop,
                            "best_size": size,
                        }
                        for iteration, drop in enumerate(drops - drops[-1])
                    ]
                    chosen = sorted(rng.choice(len(columns), size, replace=False))
                    search, evaluate = rng.random(2) * (order + 1) / 10
                    error = end + 0.02 * rng.random()
                    cells.append(
                        cell(
                            data,
                            method,
                            run,
                            fold,
                            params=json.dumps({"population": 20}),
                            size=size,
                            selected=[columns[index] for index in chosen],
                            n_features=len(columns),
                            train_cost=end,
                            train_error=end,
                            test_error=error,
                            test_accuracy=1 - error,
                            test_balanced_accuracy=1 - error,
                            test_ovr_accuracy=1 - error,
                            evaluations=20 * iterations,
                            unique=19 * iterations,
                            seconds_search=search,
                            seconds_evaluate=evaluate,
                            seconds=search + evaluate,
                            trace=trace,
                        )
                    )
    return frame(cells)
