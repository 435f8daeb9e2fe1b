"""algo="auto": methods compete on held-out rows; the winner's first features are the answer.

On each of several random splits every method ranks the features by 80 % of the rows, and the
estimator, fitted to the same rows, predicts the others from the first 5, 8, ... features of the
ranking. The method and the number of features with the best predictions are chosen, the smallest
number within half a standard error of the best. The answer is the winner's mean ranking over all
splits, which is steadier than one ranking by all rows. The score is corrected for the choice, so
that it needs no further cross-validation.
"""

import json
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from swarmrs import _swarmrs
from swarmrs._base._hints import setting
from swarmrs._base._messages import counted
from swarmrs._base._public import public
from swarmrs.data._dataset import describe_data
from swarmrs.data._table import Table
from swarmrs.evaluation._bias_correction import (
    Choice,
    Matrix,
    Resampled,
    choose,
    class_means_of,
    mean_of,
)
from swarmrs.evaluation._folds import Rows
from swarmrs.evaluation._losses import loss_from, score_from
from swarmrs.evaluation._native import Classifier, Evaluation, Work, score_of
from swarmrs.evaluation._numbers import weighted_scores
from swarmrs.evaluation._objectives import Objective
from swarmrs.exceptions import DataError
from swarmrs.filters._rank import MEASURES, score
from swarmrs.search._front import Front, FrontPoint
from swarmrs.search._nested import side_by_side
from swarmrs.search._pool import CANCEL, run_all
from swarmrs.search._progress import Callback, Iteration
from swarmrs.search._results import TRACE, Evaluations, Seconds, Selection, scoring_of
from swarmrs.search._rows import sample_rows

if TYPE_CHECKING:
    from swarmrs.search._search import Search

# The share of the rows that methods rank features by.
TRAINING = 0.8
# Competitions on more rows are held on a stratified sample of so many.
_MOST_ROWS = 2000
# Bootstrap samples of the rows.
_SAMPLES = 1000
_SIZES = (1, 2, 3, 5, 8, 12, 20, 30, 50, 75, 100, 150, 200)
# Tables with more features begin with this size: one or two of thousands are a matter of luck.
_WIDE, _LEAST = 200, 5
# Up to so many features, searches that return one subset compete, too.
_NARROW = 60
# Methods that evaluate subsets.
_SEARCHES = ("rks", "cem", "sffs", "upso2d")
# A mean ranking is that of so many splits at least; below, the winner ranks once more, by all rows.
_FEWEST_RANKINGS = 5
# Evaluations of a search by all rows, in those of a split.
_FINAL = 4
# The fewest evaluations that a ranking by subsets is worth.
_FEWEST = 100
# The shares of a time limit after which no split is begun, and that the last ranking may take.
_SPLITTING, _LAST = 0.75, 0.15


@public
@dataclass(frozen=True, eq=False)
class Competition:
    """Methods that competed for a table: how each did on rows it had not seen, at each size.

    Attributes
    ----------
    frame : polars.DataFrame
        A row for each ``method`` and ``size``: the held-out ``score``, its ``difference`` to the
        best and the ``standard_error`` of that, and whether it ``is_chosen``. The size of a method
        that chooses it by itself is a mean.
    method : str
        The winner.
    size : int
        The number of features chosen.
    score : float
        The held-out score of the choice, corrected for the choosing (BBC-CV): an estimate for new
        rows.
    interval : tuple of float
        Its interval of 95 %.
    baseline : float or None
        The score of predicting the majority class, or the mean of the training rows.
    scoring : str
        The score.
    n_splits, n_rows : int
        The splits, and the rows of the table they divide: a sample where the table is long.
    """

    frame: pl.DataFrame
    method: str
    size: int
    score: float
    interval: tuple[float, float]
    baseline: float | None
    scoring: str
    n_splits: int
    n_rows: int

    @property
    def is_noise(self) -> bool:
        """Whether the choice is no better than predicting the majority class, or the mean."""
        return self.baseline is not None and self.interval[0] <= self.baseline

    def best_of_each(self) -> pl.DataFrame:
        """Return the best size of each method, for the winner the chosen one; best first."""
        order = self.frame.sort("is_chosen", "score", descending=True, maintain_order=True)
        first = order.unique("method", keep="first", maintain_order=True)
        return first.sort("score", descending=True, maintain_order=True)

    def __repr__(self) -> str:
        low, high = self.interval
        return (
            f"Competition({counted(self.frame['method'].n_unique(), 'method')} on "
            f"{counted(self.n_splits, 'split')}: {self.method} with "
            f"{counted(self.size, 'feature')}, {self.scoring} {self.score:.4f} "
            f"({low:.4f} to {high:.4f}))"
        )

    def to_dict(self) -> dict[str, object]:
        """Return all of it as plain values, ready for JSON."""
        return {
            "method": self.method,
            "size": self.size,
            "scoring": self.scoring,
            "score": self.score,
            "interval": list(self.interval),
            "baseline": self.baseline,
            "is_noise": self.is_noise,
            "splits": self.n_splits,
            "rows": self.n_rows,
            "candidates": self.frame.to_dicts(),
        }


class Ranked(NamedTuple):
    """The features of a table in the order of a method, best first.

    `is_subset` says whether the method chose how many they are.
    """

    order: list[int]
    is_subset: bool
    evaluations: Evaluations


class _Trial(NamedTuple):
    """What the methods showed on the rows held out in one split.

    `predicted` has a column for each configuration: what is predicted for the held-out `rows`, or
    one row with the scores where an estimator of scikit-learn predicts. `rankings` are the first
    features of each method that ranks, as many as the largest size.
    """

    rows: NDArray[np.intp]
    predicted: NDArray[Any]
    configurations: list[tuple[str, int | None]]
    sizes: list[int]
    rankings: dict[str, list[int]]
    evaluations: Evaluations
    stop: str = "finished"


@dataclass(frozen=True)
class Plan:
    """What competes: the methods, the sizes, the number of splits, the evaluations of a search.

    `most_rows` are the rows that the competition is held on, at most.
    """

    methods: tuple[str, ...]
    sizes: tuple[int, ...]
    n_splits: int
    evaluations: int
    most_rows: int

    @classmethod
    def of(
        cls,
        table: Table,
        limit: int | None = None,
        max_evals: int | None = None,
        most_rows: int | None = None,
    ) -> "Plan":
        """Plan by the size of the table alone, so that the same seed gives the same result."""
        rows, width = table.x.shape
        most_rows = most_rows or _MOST_ROWS
        n, limit = min(rows, most_rows), width if limit is None else limit
        least = 1 if width <= _WIDE else _LEAST
        most = min(limit, _SIZES[-1])
        sizes = (*(size for size in _SIZES if least <= size < most), most)
        methods = [*table.task.methods]
        if not table.has_gaps:
            searches = table.task.searches
            methods += searches if width <= _NARROW else searches[:-2]
        # A feature should be in about a hundred subsets. Long tables get fewer: each takes longer,
        # and says more.
        evaluations = min(5500.0, max(600.0, 50.0 * width)) * min(1.0, 200 / n)
        n_splits = max(5, min(20, 6000 // n))
        plan = cls(tuple(methods), sizes, n_splits, max(int(evaluations), 300), most_rows)
        if max_evals is None or max_evals >= plan.total:
            return plan
        share = int(plan.evaluations * max_evals / plan.total)
        if share >= _FEWEST:
            return replace(plan, evaluations=share)
        return replace(plan, methods=tuple(it for it in methods if it not in _SEARCHES))

    @property
    def n_searches(self) -> int:
        """How many of the methods evaluate subsets."""
        return sum(method in _SEARCHES for method in self.methods)

    @property
    def total(self) -> int:
        """The evaluations of all searches, at most."""
        return (self.n_splits * self.n_searches + _FINAL) * self.evaluations


def compete(
    search: "Search", seed: int, *, threads: int = 1, callback: Callback | None = None
) -> Selection:
    """Hold the competition, and select features by its winner."""
    arena = _Arena(search, seed, threads)
    if isinstance(search.measure, Evaluation):
        # Settings that do not fit the table are refused in terms of it, not of a split.
        arena.search.price([int(np.flatnonzero(search.free)[0])])
    ran = run_all([arena.job(split) for split in arena.splits()], threads, True, callback)
    trials = [trial for trial in ran.done if trial is not None and trial.rows.size]
    if not trials:
        raise KeyboardInterrupt
    choice, configurations, sizes, resampled = arena.choose(trials)
    method, size = configurations[choice.chosen]
    winner = arena.final(method, trials)
    indices = arena.first(winner.order, len(winner.order) if size is None else size)
    point = arena.search.price(indices, threads)
    spent = [trial.evaluations for trial in trials] + [winner.evaluations]
    total, unique = (sum(counts) for counts in zip(*spent, strict=True))
    seconds = time.perf_counter() - arena.begun
    baseline = search.baseline(search.measure)
    scoring = scoring_of(search.measure, search.scoring) or "score"
    frame = pl.DataFrame(
        {
            "method": [method for method, _ in configurations],
            "size": sizes,
            "score": resampled.scores,
            "difference": resampled.scores[choice.best] - resampled.scores,
            "standard_error": choice.standard_errors,
            "is_chosen": np.arange(len(sizes)) == choice.chosen,
        }
    )
    competition = Competition(
        frame=frame,
        method=method,
        size=len(indices),
        score=choice.estimate,
        interval=choice.interval,
        baseline=None if baseline is None else score_from(baseline.loss, scoring),
        scoring=scoring,
        n_splits=len(trials),
        n_rows=len(arena.search.table.codes),
    )
    warnings = [*search.table.warnings]
    if competition.is_noise:
        warnings.append("no feature is better than noise: the held-out score is that of guessing")
    objective: Objective = {"kind": "error"}
    if search.scoring:
        objective["scoring"] = search.scoring
    found = Selection(
        algorithm="auto",
        params={"method": method, "size": len(indices)},
        seed=seed,
        preset=search.settings.options["preset"],
        data=describe_data(search.table, search.dataset.fingerprint)
        | {"codes": search.table.text_codes(point.selected)},
        evaluation=search.measure.to_dict(),
        objective=objective,
        budget=search.spec["budget"],
        prescreen=None,
        groups=None,
        pick="best",
        selected=point.selected,
        selected_indices=point.selected_indices,
        support=search.mask(point.selected_indices),
        cost=point.cost,
        scores=point.scores,
        evaluations=Evaluations(total, unique),
        seconds=Seconds(0.0, seconds, seconds),
        work=Work(0, 0, 0),
        stop=ran.stop or ("time_limit" if arena.is_late else "finished"),
        trace=pl.DataFrame(schema=TRACE),
        front=_front_of(point, search.mask(()).size),
        warnings=tuple(warnings),
        scoring=scoring_of(search.measure, search.scoring),
        baseline=baseline,
        competition=competition,
    )
    if arena.search is search:
        return found
    found = search.rescored(found, competition.n_rows, arena.begun, threads)
    error = found.scores["error"]
    assert error is not None, "every measure tells its error"
    point = point._replace(error=error, cost=found.cost, scores=found.scores, loss=found.loss)
    return replace(found, front=_front_of(point, found.support.size))


def _front_of(point: FrontPoint, width: int) -> Front:
    """Return the front of one subset."""
    return Front((point,), point, max(0.0, 1.0 - point.loss) * (1.0 - point.size / width))


def mean_ranking(rankings: Sequence[Sequence[int]], width: int) -> list[int]:
    """Return the features of some rankings in the order of their mean logarithmic ranks.

    A feature that is not in a ranking has twice the last rank of it. Ties are in ascending order.

    Examples
    --------
    >>> mean_ranking([[3, 1], [3, 0], [1, 3]], width=5)
    [3, 1, 0]
    """
    scores = np.zeros(width)
    for ranking in rankings:
        ranks = np.full(width, 2.0 * len(ranking))
        ranks[ranking] = np.arange(1, len(ranking) + 1)
        scores += np.log(ranks)
    ranked = np.unique(np.concatenate([np.asarray(ranking) for ranking in rankings]))
    order: list[int] = ranked[np.argsort(scores[ranked], kind="stable")].tolist()
    return order


class _Arena:
    """The table of a competition, its plan, and the methods on parts of it."""

    def __init__(self, search: "Search", seed: int, threads: int) -> None:
        self.begun = time.perf_counter()
        self.seed = seed
        self.threads = threads
        self.done = 0
        self.draw = np.random.RandomState(seed % 2**32)
        rows = search.settings.rows
        sample = (
            self._sample(search.table) if rows is None else sample_rows(search.table, rows, seed)
        )
        self.search = search if sample is None else search.on(search.table.take(sample))
        self.included = search.spec["include"]
        self.units = search.spec["together"]
        width = search.table.x.shape[1]
        most = search.spec["max_features"] or width
        n_free = int(search.free.sum())
        limits = search.spec["budget"]
        self.limit: float | None = limits["seconds"]
        self.plan = Plan.of(
            self.search.table,
            min(n_free, most - len(self.included)),
            limits["evaluations"],
            rows,
        )

    @property
    def is_late(self) -> bool:
        """Whether no time is left to begin another split."""
        elapsed = time.perf_counter() - self.begun
        return self.limit is not None and elapsed > _SPLITTING * self.limit

    @property
    def number_scoring(self) -> str:
        """The score of a numeric target that counts."""
        return self.search.scoring or self.search.table.task.scorings[0]

    def _sample(self, table: Table) -> NDArray[np.intp] | None:
        """Return stratified rows of a long table."""
        n = len(table.codes)
        if n <= _MOST_ROWS:
            return None
        return np.sort(self._stratified(table, _MOST_ROWS / n))

    def _stratified(self, table: Table, share: float) -> NDArray[np.intp]:
        """Draw a share of the rows of each class, one at least."""
        parts = []
        for code in np.unique(table.codes):
            rows = np.flatnonzero(table.codes == code)
            # Of two rows or more of a class one is left.
            n = max(1, min(round(share * len(rows)), len(rows) - 1))
            parts.append(self.draw.permutation(rows)[:n])
        return np.concatenate(parts)

    def splits(self) -> list[Rows]:
        """Draw the splits: training rows, then held-out rows."""
        every = np.arange(len(self.search.table.codes))
        splits = []
        for _ in range(self.plan.n_splits):
            train = np.sort(self._stratified(self.search.table, TRAINING))
            splits.append((train, np.setdiff1d(every, train)))
        return splits

    def job(self, split: Rows) -> Any:
        """Return what ranks features by the training rows and predicts the others."""

        def run(threads: int, callback: Callback) -> _Trial:
            if self.is_late and self.done:
                nothing = np.empty(0, dtype=np.intp)
                return _Trial(nothing, nothing, [], [], {}, Evaluations(0, 0))
            share = _SPLITTING * self.threads / (self.plan.n_splits * max(1, self.plan.n_searches))
            here = self.search.on(self.search.table.take(split[0]))
            configurations: list[tuple[str, int | None]] = []
            subsets: list[list[int]] = []
            rankings: dict[str, list[int]] = {}
            total = unique = 0
            for method in self.plan.methods:
                ranked = self.rank(here, method, self.plan.evaluations, share)
                cuts: Sequence[int | None] = [None] if ranked.is_subset else self.plan.sizes
                if not ranked.is_subset:
                    rankings[method] = ranked.order[: self.plan.sizes[-1]]
                for size in cuts:
                    configurations.append((method, size))
                    subsets.append(self.first(ranked.order, size or len(ranked.order)))
                total, unique = total + ranked.evaluations.total, unique + ranked.evaluations.unique
            rows, predicted = self.predict(split, subsets)
            self.done += 1
            callback(self.progress(total, unique, rows, predicted))
            sizes = [len(subset) for subset in subsets]
            spent = Evaluations(total, unique)
            return _Trial(rows, predicted, configurations, sizes, rankings, spent)

        return run

    def progress(
        self, total: int, unique: int, rows: NDArray[np.intp], predicted: NDArray[Any]
    ) -> Iteration:
        """Return what a callback is given after a split."""
        measure, values = self.search.measure, self.search.table.values
        if not isinstance(measure, Evaluation):
            loss = loss_from(float(predicted.max()), measure.scoring)
        elif values is not None:
            scoring, equal = self.number_scoring, np.ones((1, len(rows)))
            residuals = values[rows][:, np.newaxis] - predicted
            scores = weighted_scores(scoring, equal, values[rows], residuals**2, np.abs(residuals))
            loss = loss_from(float(scores.max()), scoring)
        else:
            right = predicted == self.search.table.codes[rows][:, np.newaxis]
            loss = 1.0 - float(right.mean(axis=0).max())
        return {
            "iteration": 0,
            "evaluations": total,
            "unique": unique,
            "limit": None,
            "best_cost": loss,
            "best_error": loss,
            "best_loss": loss,
            "best_size": 0,
            "seconds": time.perf_counter() - self.begun,
        }

    def native(
        self,
        search: "Search",
        algo: str,
        evaluations: int | None = None,
        seconds: float | None = None,
    ) -> "Search":
        """Return the same search by one algorithm of the engine."""
        budget = {"evaluations": evaluations, "iterations": None, "seconds": seconds, "cost": None}
        spec = {
            "algorithm": algo,
            "params": {},
            "objective": {"kind": "error"},
            "budget": budget,
        }
        return replace(search, spec=search.spec | spec)

    def rank(self, search: "Search", method: str, evaluations: int, share: float) -> Ranked:
        """Rank the features of a table by a method, which may take a share of the time limit."""
        none = Evaluations(0, 0)
        if method in MEASURES:
            free = np.flatnonzero(search.free)
            order = score(search.dataset, method, free.tolist(), self.plan.sizes[-1], 1).order
            return Ranked(free[order].tolist(), False, none)
        seconds = None if self.limit is None else share * self.limit
        here = self.native(search, method, evaluations, seconds)
        if not isinstance(search.measure, Evaluation):
            # An estimator of scikit-learn judges; thousands of subsets are for k-NN.
            classifier = Classifier.of(None)
            assert classifier is not None, "the default is native"
            knn = Evaluation.of(search.table, classifier, cv=10, cv_seed=None, scale=None)
            here = replace(
                here, measure=knn, spec=here.spec | {"evaluation": knn.spec(), "scoring": None}
            )
        folds: dict[str, Any] = here.spec["evaluation"]["folds"]
        if folds.get("k", 0) > len(search.table.x):
            evaluation = here.spec["evaluation"] | {"folds": {"scheme": "loo"}}
            here = replace(here, spec=here.spec | {"evaluation": evaluation})
        text, _ = _swarmrs.run(here.dataset, here.said(self.seed), threads=1, cancel=CANCEL.get())
        found = json.loads(text)
        spent = Evaluations(**found["evaluations"])
        if ranking := found.get("ranking"):
            return Ranked([each["feature"] for each in ranking], False, spent)
        chosen = [index for index in found["selected"] if index not in self.included]
        return Ranked(chosen, True, spent)

    def final(self, method: str, trials: Sequence[_Trial]) -> Ranked:
        """Return the ranking of the winner: the mean over the splits, or a new one by all rows."""
        rankings = [trial.rankings[method] for trial in trials if method in trial.rankings]
        if len(rankings) < _FEWEST_RANKINGS:
            return self.rank(self.search, method, _FINAL * self.plan.evaluations, _LAST)
        order = mean_ranking(rankings, self.search.table.x.shape[1])
        return Ranked(order, False, Evaluations(0, 0))

    def first(self, order: Iterable[int], size: int) -> list[int]:
        """Return the first features of a ranking and those always in; what goes together does."""
        chosen: list[int] = []
        for feature in order:
            unit = next((unit for unit in self.units if feature in unit), [feature])
            if feature not in chosen and len(chosen) + len(unit) <= size:
                chosen.extend(unit)
            if len(chosen) == size:
                break
        return sorted({*chosen, *self.included})

    def predict(
        self, split: Rows, subsets: Sequence[Sequence[int]]
    ) -> tuple[NDArray[np.intp], NDArray[Any]]:
        """Return the held-out rows and their predictions by each subset, or the scores."""
        search, measure = self.search, self.search.measure
        if not isinstance(measure, Evaluation):
            assert measure.score is not None, "a scorer is refused before"
            scores = [measure.score(search.mask(it), search.table, [split])[0] for it in subsets]
            return split[1], np.array([scores])
        table, (train, test) = side_by_side(search.table, split)
        columns = sorted({feature for subset in subsets for feature in subset})
        places = {feature: at for at, feature in enumerate(columns)}
        names = [str(feature) for feature in columns]
        x = np.asfortranarray(table.x[:, columns])
        scale = measure.scale.removeprefix("fold-")
        numbers = table.values
        dataset = _swarmrs.Dataset(x, table.codes, len(table.labels), names, scale, None, numbers)
        folds = {"scheme": "splits", "splits": [(train.tolist(), test.tolist())]}
        spec = measure.spec() | {"scale_fit": "train", "folds": folds}
        engine = _swarmrs.Evaluator(dataset, json.dumps(spec), 1, 0, False)
        kind = np.uint32 if numbers is None else np.float64
        predicted = np.empty((len(test), len(subsets)), dtype=kind)
        predict = engine.predict if numbers is None else engine.predict_numbers
        for at, subset in enumerate(subsets):
            mask = np.zeros(len(columns), dtype=bool)
            mask[[places[feature] for feature in subset]] = True
            rows, said, _ = predict(mask)
            predicted[:, at] = said[np.searchsorted(rows, test)]
        return split[1], predicted

    def choose(
        self, trials: Sequence[_Trial]
    ) -> tuple[Choice, list[tuple[str, int | None]], Matrix, Resampled]:
        """Choose a method and a size by what the trials show together."""
        configurations = trials[0].configurations
        sizes = np.mean([trial.sizes for trial in trials], axis=0)
        predicted = np.concatenate([trial.predicted for trial in trials])
        if not isinstance(self.search.measure, Evaluation):
            resampled = Resampled.of(
                len(trials), _SAMPLES, self.seed, lambda weights: mean_of(weights, predicted)
            )
            return choose(resampled, sizes), configurations, sizes, resampled
        rows = np.concatenate([trial.rows for trial in trials])
        if self.search.table.values is not None:
            resampled = self._resampled_numbers(rows, predicted)
            return choose(resampled, sizes), configurations, sizes, resampled
        codes, scoring = self.search.table.codes, self.search.scoring or "accuracy"
        tested, units = np.unique(rows, return_inverse=True)
        times = np.bincount(units)
        right = np.zeros((len(tested), len(configurations)))
        np.add.at(right, units, predicted == codes[rows][:, np.newaxis])
        right /= times[:, np.newaxis]

        def score(weights: Matrix) -> Matrix:
            if scoring == "accuracy":
                return mean_of(weights, right)
            if scoring == "balanced_accuracy":
                return class_means_of(weights, right, codes[tested])
            cases = (weights / times)[:, units]
            return np.array(
                [
                    [score_of(scoring, codes[rows], column, case) for column in predicted.T]
                    for case in cases
                ]
            )

        n_samples = _SAMPLES if scoring in ("accuracy", "balanced_accuracy") else _SAMPLES // 5
        resampled = Resampled.of(len(tested), n_samples, self.seed, score)
        return choose(resampled, sizes), configurations, sizes, resampled

    def _resampled_numbers(self, rows: NDArray[np.intp], predicted: Matrix) -> Resampled:
        """Resample the rows of a numeric target: a row has the means of its residuals."""
        values, scoring = self.search.table.values, self.number_scoring
        assert values is not None, "the target is numeric"
        tested, units = np.unique(rows, return_inverse=True)
        times = np.bincount(units)[:, np.newaxis]
        residuals = values[rows][:, np.newaxis] - predicted
        squares, absolutes = np.zeros((2, len(tested), predicted.shape[1]))
        np.add.at(squares, units, residuals**2)
        np.add.at(absolutes, units, np.abs(residuals))

        squares, absolutes = squares / times, absolutes / times

        def score(weights: Matrix) -> Matrix:
            return weighted_scores(scoring, weights, values[tested], squares, absolutes)

        resampled = Resampled.of(len(tested), _SAMPLES, self.seed, score)
        if np.isnan(resampled.scores).all():
            raise DataError(
                f"{scoring} is undefined: all held-out rows have the same number as target",
                f"try {setting('scoring', 'neg_mean_absolute_error')}",
            )
        return resampled
