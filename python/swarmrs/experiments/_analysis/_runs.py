"""The runs of a comparison, aggregated from its cells."""

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from swarmrs.exceptions import DataError

DONE = "done"
# The measures of cells by column; of accuracies, F1 and MCC higher is better.
MEASURES = {
    "test_accuracy": "test accuracy",
    "test_balanced_accuracy": "test balanced accuracy",
    "test_ovr_accuracy": "test one-vs-rest accuracy",
    "test_f1_macro": "test macro F1",
    "test_matthews_corrcoef": "test MCC",
    "test_error": "test error",
    "test_loss": "test loss",
    "train_error": "training error",
    "train_loss": "training loss",
    "train_cost": "training cost",
    "size": "size",
    "seconds": "seconds",
}
_KEPT = (*MEASURES, "evaluations", "unique", "seconds_search", "seconds_evaluate")

Values = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Runs:
    """The finished runs of a method on a data set, a value being the mean over a run's folds.

    Attributes
    ----------
    data, method : str
        The data set and the method; the label has the hyperparameters that distinguish methods.
    n_features : int
        How many features there were to choose from.
    numbers : ndarray of int
        The numbers of the runs, ascending.
    values : dict of str to ndarray
        The values of each run by measure; NaN where there is none.
    incomplete : int
        How many runs are left out, because not all of their folds are finished.
    """

    data: str
    method: str
    n_features: int
    numbers: NDArray[np.int64]
    values: Mapping[str, Values]
    incomplete: int


def labelled(cells: pl.DataFrame) -> pl.DataFrame:
    """Return the cells in a fixed order, each data set and method with a unique label.

    A method whose settings differ from data set to data set, as by a preset, is one method; one
    with several settings on the same data set is several. A data set under several protocols is
    several.
    """
    if cells["protocol"].n_unique() > 1:
        name = pl.format("{} [{}]", "data", pl.col("protocol").fill_null("none"))
        cells = cells.with_columns(name.alias("data"))
    names = {
        (row["method"], row["params"]): row["method"]
        for row in cells.select("method", "params").unique().to_dicts()
    }
    several = (
        cells.group_by("data", "method")
        .agg(pl.col("params").n_unique())
        .filter(pl.col("params") > 1)["method"]
        .unique()
    )
    for method in sorted(several):
        variants = {params: json.loads(params) for name, params in names if name == method}
        common = set.intersection(*(set(map(_item, each.items())) for each in variants.values()))
        for params, settings in variants.items():
            own = sorted(item for item in map(_item, settings.items()) if item not in common)
            names[method, params] = f"{method} ({', '.join(own)})" if own else method
    keys = cells.select("method", "params").rows()
    labels = pl.Series("method", [names[key] for key in keys], dtype=pl.String)
    return _with_losses(cells).with_columns(labels).sort("data", "method", "run", "fold", "params")


def _with_losses(cells: pl.DataFrame) -> pl.DataFrame:
    """Return the cells with all that can be compared, where they were kept without some of it."""
    for part in ("train", "test"):
        if f"{part}_loss" not in cells.columns:
            cells = cells.with_columns(pl.col(f"{part}_error").alias(f"{part}_loss"))
    missing = [name for name in _KEPT if name not in cells.columns]
    return cells.with_columns(pl.lit(None, pl.Float64).alias(name) for name in missing)


def scoring_of(cells: pl.DataFrame) -> str:
    """Return the score that all cells go by; where they differ, or do not say, the accuracy."""
    names = cells["scoring"].unique().to_list() if "scoring" in cells.columns else []
    return names[0] if len(names) == 1 and names[0] is not None else "accuracy"


def collect(cells: pl.DataFrame) -> list[Runs]:
    """Return the runs in labelled cells of each method on each data set that has any.

    Raises
    ------
    DataError
        If no cell is finished.
    """
    numbers_only = [pl.col(name).cast(pl.Float64).fill_null(math.nan) for name in _KEPT]
    done = cells.filter(pl.col("state") == DONE).with_columns(numbers_only)
    if done.is_empty():
        raise DataError("no cell is finished", "run the comparison first")
    n_folds = dict(cells.group_by("data").agg(pl.col("fold").n_unique()).rows())
    found = []
    for (data, method), mine in done.group_by("data", "method", maintain_order=True):
        numbers, starts = np.unique(mine["run"].to_numpy(), return_index=True)
        counts = np.diff(starts, append=mine.height)
        is_whole = counts == n_folds[data]
        # Sums in the order of the rows, whatever the number of threads.
        values = {
            name: (np.add.reduceat(mine[name].to_numpy(), starts) / counts)[is_whole]
            for name in _KEPT
        }
        if is_whole.any():
            n_features, missing = int(mine["n_features"][0]), int((~is_whole).sum())
            found.append(
                Runs(str(data), str(method), n_features, numbers[is_whole], values, missing)
            )
    if not found:
        raise DataError("no run has all of its folds finished", "run the comparison again")
    return found


def default_measure(runs: Iterable[Runs], scoring: str) -> str:
    """Return the default measure: the test score if all runs have one."""
    runs = list(runs)
    for name in (f"test_{scoring}", "train_error" if scoring == "accuracy" else "train_loss"):
        if not any(np.isnan(each.values[name]).any() for each in runs):
            return name
    return "train_cost"


def is_accuracy(measure: str) -> bool:
    """Return whether more of it is better."""
    return measure.endswith(("accuracy", "f1_macro", "matthews_corrcoef"))


def costs(values: Values, measure: str) -> Values:
    """Return values as costs: 1 - value where higher is better."""
    return 1 - values if is_accuracy(measure) else values


def _item(pair: tuple[str, object]) -> str:
    name, value = pair
    return f"{name}={value if isinstance(value, str) else json.dumps(value)}"
