"""What a search found."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from swarmrs._base._messages import Setting, counted, listed, printable, shortened
from swarmrs._base._public import public
from swarmrs._base._versions import SCHEMA_VERSION, versions
from swarmrs.data._dataset import describe_data
from swarmrs.data._table import Table
from swarmrs.evaluation._estimator import Outside
from swarmrs.evaluation._losses import Baseline, loss_of, score_from
from swarmrs.evaluation._native import Evaluation, Work
from swarmrs.evaluation._objectives import Objective
from swarmrs.exceptions import SpecError
from swarmrs.search._results._front import Front, FrontPoint, Parsimony

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from swarmrs.search._auto import Competition
    from swarmrs.search._validation._nested import HeldOut
    from swarmrs.search._validation._stability import Stability

# A short summary names so many features, each cut to so many characters, the rest by their number.
_NAMED, _WIDE = 10, 30
# The columns that every trace has.
TRACE = {
    **dict.fromkeys(("iteration", "evaluations", "unique"), pl.Int64),
    **dict.fromkeys(("best_cost", "best_error"), pl.Float64),
    "best_size": pl.Int64,
    **dict.fromkeys(("mean_size", "diversity"), pl.Float64),
}
# Bits are spread out for so many subsets at a time: a byte for each would not fit otherwise.
_AT_A_TIME = 1024


@public
class Evaluations(NamedTuple):
    """Evaluations of subsets, and those of them whose subset was new."""

    total: int
    unique: int


@public
class Seconds(NamedTuple):
    """Where the time went: the search itself, its evaluations, both."""

    search: float
    evaluate: float
    total: float


@public
class RowsUsed(NamedTuple):
    """The rows of a search on a sample.

    Attributes
    ----------
    searched : int
        The rows that subsets were evaluated on: the trace and the front are of these.
    scored : int
        The rows that the selection was scored on: all, unless a time limit or Ctrl-C left no time
        for that.
    total : int
        The rows of the table.
    cost, loss : float
        The cost and the loss of the selection on the rows searched.
    """

    searched: int
    scored: int
    total: int
    cost: float
    loss: float


@public
@dataclass(frozen=True, eq=False)
class Selection:
    """The best subset a search measured, or the one picked of its front, and how it was found.

    Attributes
    ----------
    algorithm : str
        The id of the algorithm.
    params : dict
        All its settings.
    seed : int
        The random seed; the same seed gives the same selection.
    preset : str or None
        The study whose settings were used where the call had none.
    data, evaluation, objective, budget : dict
        The table, how subsets were measured, what was lowered, the limits in force.
    prescreen : dict or None
        The rule by which features were dropped before the search, how many candidates it was given
        and how many of them are its survivors; included and excluded ones are not counted.
    groups : tuple of tuple of str or None
        The feature groups that the search used; None where it used none.
    pick : str
        Which subset of the run this is: ``"best"``, the least cost; ``"knee"`` or ``"size<=K"`` of
        the front; or ``"1se"``, the smallest near the best. What follows, down to the scores, is
        that subset's.
    selected : tuple of str
        The names of the chosen features, in the order of the table.
    selected_indices : tuple of int
        Their positions.
    support : ndarray of bool
        The same as a mask over all features.
    cost : float
        What the objective makes of the chosen features.
    scores : dict of str to float or None
        What they show on the folds; None where a scorer from outside does not tell.
        These are the search's own scores, and optimistic: the folds chose the features.
    evaluations : Evaluations
        How many subsets were evaluated: in total, and unique ones.
    seconds : Seconds
        Where the time went. Nothing else here depends on the machine or the number of threads.
    work : Work
        Element operations.
    stop : str
        The stopping criterion that was met, by the name of its setting: ``"max_evals"``,
        ``"max_iter"``, ``"time_limit"``, ``"target_cost"``, ``"patience"`` or ``"callback"``;
        ``"finished"`` for the end of the algorithm itself, or ``"interrupted"``. In
        ``"no_features"`` no feature survived the prescreen of an outer fold, or of rows drawn:
        nothing is chosen, and the majority class is predicted.
    trace : polars.DataFrame
        A row for each iteration.
    front : Front
        The trade-off between size and loss among all subsets tried, its knee and hypervolume.
    parsimony : Parsimony or None
        The best subset and its standard error, if ``pick='1se'`` took a smaller one.
    all_evaluations : polars.DataFrame or None
        If `keep_all` was given, a row for each unique subset, in the order of evaluation: its
        iteration, size, cost and error, and the positions of its features.
    stability : Stability or None
        If the search was repeated, how alike the subsets of its runs are.
    held_out : HeldOut or None
        If rows were held out, what the features show on rows that no search has seen.
    warnings : tuple of str
        What can mislead: how the data was read, rare classes, columns the grid is too coarse for.
    scoring : str or None
        The score whose loss the front, parsimony, repeats and rows held out go by: ``"accuracy"``,
        or ``"r2"`` of numbers, unless `scoring` was given. None where a scorer tells its own
        losses.
    baseline : Baseline or None
        What predicting the majority class, or the mean, shows on the same folds; None for a
        scorer.
    ranking : polars.DataFrame or None
        If the search ranks features, a row for each, the best first: its name (``feature``), its
        ``index``, its ``support`` by the subsets evaluated and the ``standard_error`` of that.
    competition : Competition or None
        If ``algo='auto'``, the methods that competed and their held-out scores.
    rows : RowsUsed or None
        If a sample of the rows was searched, how many, and how many the selection was scored on.
    """

    algorithm: str
    params: dict[str, Setting]
    seed: int
    preset: str | None
    data: dict[str, object]
    evaluation: dict[str, object]
    objective: Objective
    budget: dict[str, float | None]
    prescreen: dict[str, str | int] | None
    groups: tuple[tuple[str, ...], ...] | None
    pick: str
    selected: tuple[str, ...]
    selected_indices: tuple[int, ...]
    support: NDArray[np.bool_]
    cost: float
    scores: dict[str, float | None]
    evaluations: Evaluations
    seconds: Seconds
    work: Work
    stop: str
    trace: pl.DataFrame
    front: Front
    warnings: tuple[str, ...]
    parsimony: Parsimony | None = None
    all_evaluations: pl.DataFrame | None = None
    stability: "Stability | None" = None
    held_out: "HeldOut | None" = None
    scoring: str | None = None
    baseline: Baseline | None = None
    ranking: pl.DataFrame | None = None
    competition: "Competition | None" = None
    rows: RowsUsed | None = None

    @property
    def score(self) -> float:
        """The mean cross-validated score of the selection, in the scorer's own sign."""
        score = self.scores.get(self.scoring or "accuracy")
        # An estimator of scikit-learn has one score, of which the error is the loss.
        return score_from(self.loss, self.scoring) if score is None else score

    @property
    def loss(self) -> float:
        """What the score named by `scoring` lacks to 1, or the error that it negates."""
        return loss_of(self.scores, self.scoring)

    @property
    def size(self) -> int:
        """How many features are chosen."""
        return len(self.selected)

    def plot_convergence(self, ax: "Axes | None" = None) -> "Axes":
        """Draw the least cost so far over the evaluations; return the matplotlib axes."""
        from swarmrs.plotting._figures import draw_convergence

        if self.competition is not None:
            raise SpecError("a competition has no convergence", "draw plot_competition() instead")
        return draw_convergence(self, ax)

    def plot_competition(self, ax: "Axes | None" = None) -> "Axes":
        """Draw the held-out score of each method against its size; return the axes."""
        from swarmrs.plotting._figures import draw_competition

        if self.competition is None:
            raise SpecError(f"'{self.algorithm}' had no rivals", "select with algo='auto'")
        return draw_competition(self.competition, ax)

    def plot_front(self, ax: "Axes | None" = None) -> "Axes":
        """Draw the front of loss and size with its knee and the choice; return the axes."""
        from swarmrs.plotting._figures import draw_front

        return draw_front(self, ax)

    def plot_frequency(self, ax: "Axes | None" = None, *, top: int = 20) -> "Axes":
        """Draw how often the `top` features are in a subset of the front; return the axes."""
        from swarmrs.plotting._figures import draw_frequency, front_shares

        return draw_frequency(front_shares(self), ax, top=top, of="subsets of the front")

    def to_dict(self) -> dict[str, object]:
        """Return the result as plain values, ready for JSON."""
        return {
            "schema_version": SCHEMA_VERSION,
            "algorithm": self.algorithm,
            "params": self.params,
            "seed": self.seed,
            "preset": self.preset,
            "data": self.data,
            "evaluation": self.evaluation,
            "objective": self.objective,
            "budget": self.budget,
            "prescreen": self.prescreen,
            "groups": None if self.groups is None else [list(group) for group in self.groups],
            "pick": self.pick,
            "selected": list(self.selected),
            "selected_indices": list(self.selected_indices),
            "size": self.size,
            "cost": self.cost,
            "scoring": self.scoring,
            "loss": self.loss,
            "baseline": None if self.baseline is None else self.baseline.to_dict(),
            **self.scores,
            "evaluations": self.evaluations._asdict(),
            "seconds": self.seconds._asdict(),
            "work": self.work._asdict(),
            "stop": self.stop,
            "front": self.front.to_dict(),
            "parsimony": None if self.parsimony is None else self.parsimony._asdict(),
            "stability": None if self.stability is None else self.stability.to_dict(),
            "held_out": None if self.held_out is None else self.held_out.to_dict(),
            "competition": None if self.competition is None else self.competition.to_dict(),
            "rows": None if self.rows is None else self.rows._asdict(),
            "versions": versions(),
        }

    def __repr__(self) -> str:
        """Return what was found in three lines; `to_dict` has everything."""
        return "\n  ".join(text for _, text in self._summary())

    def _repr_html_(self) -> str:
        """Return the same for a notebook."""
        rows = (
            f"<tr><th style='text-align: left'>{label}</th>"
            f"<td style='text-align: left'>{escape(text)}</td></tr>"
            for label, text in self._summary()
        )
        return f"<table>{''.join(rows)}</table>"

    def _summary(self) -> list[tuple[str, str]]:
        """Return the lines of a short summary, each with its label."""
        of = f"{self.size} of {counted(len(self.support), 'feature')} of {self.data['name']}"
        error, caution = "error unknown", "(optimistic: the same folds chose the features)"
        if (r2 := self.scores.get("r2")) is not None:
            error = f"inner R2 {r2:.4f} {caution}"
            if self.held_out is not None:
                error += f", outer R2 {self.held_out.scores['r2']:.4f}"
        elif (inner := self.scores["error"]) is not None:
            error = f"inner error {inner:.4f} {caution}"
            if self.held_out is not None:
                error += f", outer error {self.held_out.outer_error:.4f}"
        return [
            ("Selection", f"Selection of {of} by {self.algorithm}, seed {self.seed}"),
            (
                "features",
                listed((shortened(printable(name), _WIDE) for name in self.selected), _NAMED),
            ),
            ("errors", error),
        ]


def read_selection(
    found: Mapping[str, Any],
    chosen: Mapping[str, Any],
    table: Table,
    measure: Evaluation | Outside,
    *,
    fingerprint: str,
    preset: str | None,
    pick: str,
    parsimony: Parsimony | None,
    all_evaluations: pl.DataFrame | None,
    baseline: Baseline | None,
) -> Selection:
    """Return the selection in what the engine says about its run, `chosen` being the subset."""
    scoring, groups = found.get("scoring"), found["groups"]
    point = read_point(chosen, table, measure, scoring)
    points = tuple(read_point(each, table, measure, scoring) for each in found["front"]["points"])
    knee = found["front"]["knee"]
    support = np.zeros(len(table.names), dtype=bool)
    support[list(point.selected_indices)] = True
    return Selection(
        algorithm=found["algorithm"],
        params=found["params"],
        seed=found["seed"],
        preset=preset,
        data=describe_data(table, fingerprint) | {"codes": table.text_codes(point.selected)},
        evaluation=measure.to_dict(),
        objective=found["objective"] | ({"scoring": scoring} if scoring else {}),
        budget=found["budget"],
        prescreen=found["prescreen"],
        groups=None if groups is None else tuple(_names(table, group) for group in groups),
        pick=pick,
        selected=point.selected,
        selected_indices=point.selected_indices,
        support=support,
        cost=point.cost,
        scores=point.scores,
        evaluations=Evaluations(**found["evaluations"]),
        seconds=Seconds(**found["seconds"]),
        work=Work(**found["work"]),
        stop=found["stop"],
        trace=pl.DataFrame(found["trace"]),
        front=Front(points, None if knee is None else points[knee], found["front"]["hypervolume"]),
        warnings=(*table.warnings, *table.name_classes(found["warnings"])),
        parsimony=parsimony,
        all_evaluations=all_evaluations,
        scoring=scoring_of(measure, scoring),
        baseline=baseline,
        ranking=_read_ranking(found.get("ranking"), table),
    )


def _read_ranking(ranked: Sequence[Mapping[str, Any]] | None, table: Table) -> pl.DataFrame | None:
    if ranked is None:
        return None
    indices = [each["feature"] for each in ranked]
    return pl.DataFrame(
        {
            "feature": _names(table, indices),
            "index": indices,
            "support": [each["support"] for each in ranked],
            "standard_error": [each["standard_error"] for each in ranked],
        },
        schema_overrides={"index": pl.UInt32, "standard_error": pl.Float64},
    )


def scoring_of(measure: Evaluation | Outside, scoring: str | None) -> str | None:
    """Return the name of the score that counts, if it has one."""
    return measure.scoring if isinstance(measure, Outside) else scoring or "accuracy"


def read_point(
    point: Mapping[str, Any], table: Table, measure: Evaluation | Outside, scoring: str | None
) -> FrontPoint:
    """Return a subset with what the engine measured of it."""
    scores = point["scores"]
    if isinstance(measure, Outside):
        scores = {name: scores[name] if name == "error" else None for name in scores}
    indices: Sequence[int] = point["selected"]
    names = _names(table, indices)
    return FrontPoint(
        point["size"],
        scores["error"],
        point["cost"],
        scores,
        names,
        tuple(indices),
        loss_of(scores, scoring),
    )


def _names(table: Table, indices: Sequence[int]) -> tuple[str, ...]:
    return tuple(table.names[index] for index in indices)


def read_evaluations(
    iterations: NDArray[np.uint64],
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
        {
            "iteration": iterations,
            "size": lists.list.len(),
            "cost": costs,
            "error": errors,
            lists.name: lists,
        }
    )


def _lists(bits: NDArray[np.uint8], width: int) -> pl.Series:
    rows, features = np.nonzero(np.unpackbits(bits, axis=1, count=width, bitorder="little"))
    chosen = pl.DataFrame({"row": rows, "selected_indices": features.astype(np.uint32)})
    return chosen.group_by("row", maintain_order=True).agg("selected_indices")["selected_indices"]
