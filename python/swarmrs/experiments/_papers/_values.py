"""Our figures: computed from the cells of a setup, or from the data sets alone."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import polars as pl
from numpy.typing import NDArray

from swarmrs._base._warnings import deferred_warnings
from swarmrs.data._table import Table
from swarmrs.experiments._analysis._statistics import improvement, reduction, signed_rank, verdict
from swarmrs.experiments._papers._paper import Handling, Setup
from swarmrs.experiments._plan import Plan
from swarmrs.filters._groups import group
from swarmrs.search._options._settings import Settings
from swarmrs.search._rows import side_by_side
from swarmrs.search._validation._nested import scores_of

Values: TypeAlias = NDArray[np.float64]

# Fewer pairs cannot differ significantly, whatever their values.
FEWEST_TESTED = 6

# What figures and comparisons are computed from; the last is not of all tables.
QUANTITIES = (
    *("error", "size", "accuracy", "seconds", "seconds_search", "seconds_evaluate", "evaluations"),
    "train_accuracy",
)
# The quantity of each figure, how it is aggregated over runs, and the factor to the paper's unit.
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
    """The runs of a method on a data set.

    Attributes
    ----------
    numbers : array
        The runs, by number.
    runs : mapping of str to array
        A value for each of them, the mean over its folds: ``error``, ``size``, ``accuracy``,
        ``seconds`` and its parts, and ``train_accuracy`` where a table has it.
    n_features : int
        The number of all features.
    all_errors : (float, float) or None
        The error of all features: as the paper computed it, and the true one.
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
        """Return the standard deviation over runs; None for a single one."""
        quantity, _, factor = _STATISTICS[name]
        values = self.runs[quantity]
        return float(values.std(ddof=1)) * factor if len(values) > 1 else None

    def mark(self, against: "Sample", quantity: str) -> str | None:
        """Return whether the runs are significantly better (+) or worse (-) than others, or not.

        By the Wilcoxon signed-rank test over the runs that both have, without equal pairs; a
        deterministic method has one run, which is paired with all of the other. None where there
        are too few pairs.
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
    cells: pl.DataFrame, plan: Plan, setup: Setup, handling: Handling, *, on_training: bool
) -> dict[str, Sample]:
    """Return the runs of each method, by our name of it."""
    cells = quantities(cells, plan, setup, handling, on_training=on_training)
    return collect(cells, plan.experiment.protocol.n_folds, plan.data[0].table.x.shape[1])


def quantities(
    cells: pl.DataFrame, plan: Plan, setup: Setup, handling: Handling, *, on_training: bool
) -> pl.DataFrame:
    """Return the finished cells with what figures are computed from.

    ``error``, ``accuracy`` and, with `on_training`, ``train_accuracy`` are as in the paper.
    """
    score = handling.accuracy or setup.accuracy
    holds_out = plan.experiment.protocol.holds_out
    accuracy = pl.col(f"test_{score}" if holds_out else f"train_{score}")
    cells = cells.filter(pl.col("state") == "done").with_columns(
        error=pl.col("train_error"), accuracy=accuracy
    )
    if setup.test_scale is not None:
        cells = cells.with_columns(accuracy=_rescored(cells, plan, score, setup.test_scale))
    if on_training:
        return cells.with_columns(train_accuracy=_rescored(cells, plan, score))
    # That of the search itself is on other rows.
    return cells.drop("train_accuracy")


def collect(cells: pl.DataFrame, n_folds: int, n_features: int) -> dict[str, Sample]:
    """Return the runs of each method from cells with `quantities`.

    Incomplete runs, which lack a fold, are left out, and so are methods without a complete run.
    """
    kept = [name for name in QUANTITIES if name in cells.columns]
    runs = (
        cells.group_by("method", "run", maintain_order=True)
        .agg(pl.col(kept).mean(), n_folds=pl.len())
        .filter(pl.col("n_folds") == n_folds)
        .sort("run")
    )
    return {
        str(method): Sample(
            part["run"].to_numpy(),
            {name: part[name].cast(pl.Float64).to_numpy() for name in kept},
            n_features,
        )
        for (method,), part in runs.group_by("method", maintain_order=True)
    }


def _rescored(
    cells: pl.DataFrame, plan: Plan, score: str, test_scale: str | None = None
) -> pl.Series:
    """Score the selected features of each cell again.

    On the held-out rows, by another scaling; without one, on the training rows themselves.
    """
    experiment, whole = plan.experiment, plan.data[0].table
    how = dict(experiment.options) | ({} if test_scale is None else {"scale": test_scale})
    values = []
    for cell in cells.iter_rows(named=True):
        division = experiment.protocol.divide(whole, cell["split_seed"], cell["fold"])
        train, test = division.train, division.test
        table = whole
        if test_scale is None:
            # The same rows as training and as test rows.
            table = whole.take(np.tile(train, 2), by=train).as_filled()
            train, test = np.split(np.arange(2 * len(train)), 2)
        assert test is not None, "only tables of held-out rows are scored again"
        table, split = side_by_side(table, (train, test))
        values.append(scores_of(table, split, cell["selected"], how)[score])
    return pl.Series(values, dtype=pl.Float64)


def all_errors(
    table: Table, preset: str, *, is_all_true: bool, cv_seed: int = 0
) -> tuple[float, float]:
    """Return J(U) as hafiz2018 computed it, from the first column, and that of all features."""
    masks = np.ones((2, table.x.shape[1]), bool)
    if not is_all_true:
        masks[0, 1:] = False
    with deferred_warnings():
        settings = Settings.of({"preset": preset, "cv_seed": cv_seed})
        errors = settings.evaluator(table).measure(masks)["error"]
    return float(errors[0]), float(errors[1])


def facts(
    table: Table, handling: Handling, wanted: set[str], *, cv_seed: int = 0
) -> dict[str, float]:
    """Return the figures of a data set that a table wants; errors by the folds of a seed."""
    shares = 100 * np.bincount(table.codes) / len(table.codes)
    found = {
        "features": float(table.x.shape[1]),
        "rows": float(table.x.shape[0]),
        "classes": float(len(table.labels)),
        "smallest_class": float(shares.min()),
        "largest_class": float(shares.max()),
    }
    for name, preset in (("all_error_nb", "hafiz2018-nb"), ("all_error_knn", "hafiz2018")):
        if name in wanted:
            errors = all_errors(table, preset, is_all_true=handling.is_all_true, cv_seed=cv_seed)
            found[name], found[f"{name}_correct"] = errors
    if "groups" in wanted:
        with deferred_warnings():
            found["groups"] = float(len(group(table, by="lbm").groups))
    return found
