"""Our figures: what the cells of a study, or the data sets alone, come to."""

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import polars as pl
from numpy.typing import NDArray

from swarmrs.data._table import Table
from swarmrs.evaluation._evaluator import Evaluator
from swarmrs.exceptions import SwarmrsWarning
from swarmrs.experiments._compare import Plan
from swarmrs.experiments._papers._paper import Handling, Study
from swarmrs.experiments._statistics import improvement, reduction, signed_rank, verdict
from swarmrs.filters._groups import group
from swarmrs.search._nested import scores_of, side_by_side

Values: TypeAlias = NDArray[np.float64]

# Fewer cannot differ significantly, whatever they are.
FEWEST_TESTED = 6

# What each figure is of, how the runs are put together, and what makes it the paper's unit.
_STATISTICS: dict[str, tuple[str, Callable[[Values], np.floating], float]] = {
    "error": ("error", np.mean, 1.0),
    "size": ("size", np.mean, 1.0),
    "accuracy": ("accuracy", np.mean, 100.0),
    "best_accuracy": ("accuracy", np.max, 100.0),
    "train_accuracy": ("train_accuracy", np.mean, 100.0),
    "best_train_accuracy": ("train_accuracy", np.max, 100.0),
    "seconds_search": ("seconds_search", np.mean, 1.0),
    "seconds_evaluate": ("seconds_evaluate", np.mean, 1.0),
    "seconds": ("seconds", np.mean, 1.0),
    "minutes": ("seconds", np.mean, 1 / 60),
}


@dataclass(frozen=True)
class Sample:
    """What the runs of a method on a data set gave.

    Attributes
    ----------
    numbers : array
        The runs, by number.
    runs : mapping of str to array
        A value for each of them, the mean over its folds: ``error``, ``size``, ``accuracy``,
        ``seconds`` and its parts, and ``train_accuracy`` where a table asks for it.
    n_features : int
        The features there are.
    all_errors : (float, float) or None
        The error of all features: what the paper takes for it, and what it is.
    """

    numbers: NDArray[np.int64]
    runs: Mapping[str, Values]
    n_features: int
    all_errors: tuple[float, float] | None = None

    @property
    def n_runs(self) -> int:
        """The number of runs."""
        return len(self.numbers)

    def figure(self, name: str) -> float | None:
        """Return a figure of a published table."""
        if name in ("improvement", "improvement_correct"):
            assert self.all_errors is not None, "tables with improvements have them"
            of_all = self.all_errors[name == "improvement_correct"]
            return improvement(float(self.runs["error"].mean()), of_all)
        if name == "reduction":
            return reduction(float(self.runs["size"].mean()), self.n_features)
        quantity, statistic, factor = _STATISTICS[name]
        return float(statistic(self.runs[quantity])) * factor

    def deviation(self, name: str) -> float | None:
        """Return the standard deviation over runs; None of a single one."""
        quantity, _, factor = _STATISTICS[name]
        values = self.runs[quantity]
        return float(values.std(ddof=1)) * factor if len(values) > 1 else None

    def mark(self, against: "Sample", quantity: str) -> str | None:
        """Return whether the runs are significantly better (+) or worse (-) than others, or not.

        By Wilcoxon's signed ranks over the runs that both have and that differ; a method without
        chance has one run, which is held against all of the other. None where there are too few to
        tell.
        """
        first, second = self.runs[quantity], against.runs[quantity]
        if min(len(first), len(second)) > 1:
            _, mine, others = np.intersect1d(self.numbers, against.numbers, return_indices=True)
            first, second = first[mine], second[others]
        first, second = np.broadcast_arrays(first, second)
        if len(first) < FEWEST_TESTED:
            return None
        tested = signed_rank(first, second, drop_equal=True)
        return verdict(tested.lean, tested.p)


def samples(
    cells: pl.DataFrame, planned: Plan, study: Study, handling: Handling, *, on_training: bool
) -> dict[str, Sample]:
    """Return what the runs of each method came to, by our name of it.

    A run that lacks a fold is left out, a method that lacks all runs too.
    """
    score = handling.accuracy or study.accuracy
    holds_out = planned.experiment.protocol.holds_out
    accuracy = pl.col(f"test_{score}" if holds_out else f"train_{score}")
    cells = cells.filter(pl.col("state") == "done").with_columns(
        error=pl.col("train_error"), accuracy=accuracy
    )
    if study.test_scale is not None:
        cells = cells.with_columns(accuracy=_tried(cells, planned, score, study.test_scale))
    if on_training:
        cells = cells.with_columns(train_accuracy=_tried(cells, planned, score))
    kept = ["error", "size", "accuracy", "seconds", "seconds_search", "seconds_evaluate"]
    kept += ["train_accuracy"] if on_training else []
    runs = (
        cells.group_by("method", "run", maintain_order=True)
        .agg(pl.col(kept).mean(), n_folds=pl.len())
        .filter(pl.col("n_folds") == planned.experiment.protocol.n_folds)
        .sort("run")
    )
    n_features = planned.data[0].table.x.shape[1]
    return {
        str(method): Sample(
            part["run"].to_numpy(),
            {name: part[name].cast(pl.Float64).to_numpy() for name in kept},
            n_features,
        )
        for (method,), part in runs.group_by("method", maintain_order=True)
    }


def _tried(
    cells: pl.DataFrame, planned: Plan, score: str, test_scale: str | None = None
) -> pl.Series:
    """Measure the columns of each cell once more.

    On the rows held out, by another scale; without one, on the rows searched themselves.
    """
    experiment, whole = planned.experiment, planned.data[0].table
    how = dict(experiment.settings) | ({} if test_scale is None else {"scale": test_scale})
    values = []
    for cell in cells.iter_rows(named=True):
        division = experiment.protocol.divide(whole, cell["split_seed"], cell["fold"])
        train, test = division.train, division.test
        table = whole
        if test_scale is None:
            # The same rows once to learn from and once to be told.
            table = whole.take(np.tile(train, 2), by=train).as_filled()
            train, test = np.split(np.arange(2 * len(train)), 2)
        assert test is not None, "only tables of rows held out are measured again"
        table, split = side_by_side(table, (train, test))
        values.append(scores_of(table, split, cell["selected"], how)[score])
    return pl.Series(values, dtype=pl.Float64)


def all_errors(table: Table, preset: str, *, is_all_true: bool) -> tuple[float, float]:
    """Return J(U) as paper 000 found it, by the first column alone, and that of all features."""
    masks = np.ones((2, table.x.shape[1]), bool)
    if not is_all_true:
        masks[0, 1:] = False
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SwarmrsWarning)
        errors = Evaluator(table, preset=preset).measure(masks)["error"]
    return float(errors[0]), float(errors[1])


def facts(table: Table, handling: Handling, wanted: set[str]) -> dict[str, float]:
    """Return what tables about data sets tell, as far as it is wanted."""
    shares = 100 * np.bincount(table.codes) / len(table.codes)
    found = {
        "features": float(table.x.shape[1]),
        "rows": float(table.x.shape[0]),
        "classes": float(len(table.labels)),
        "smallest_class": float(shares.min()),
        "largest_class": float(shares.max()),
    }
    for name, preset in (("all_error_nb", "000-nb"), ("all_error_knn", "000")):
        if name in wanted:
            errors = all_errors(table, preset, is_all_true=handling.is_all_true)
            found[name], found[f"{name}_correct"] = errors
    if "groups" in wanted:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SwarmrsWarning)
            found["groups"] = float(len(group(table, by="lbm").groups))
    return found
