"""algo="auto": methods compete on held-out rows; the winner's first features are the answer.

The rows are dealt to ten blocks. Each split holds out two of them, and every method ranks the
features by the rows of the others. A block is predicted by the estimator, fitted to all other rows,
from the first 5, 8, ... features of the mean ranking over the splits that did not see it. So mean
rankings, which are steadier than any ranking, are judged by rows that had no part in them. The
method that does best on average is chosen, or `rks` if it is within one standard error of the best,
then the number of features. The answer is the mean ranking of that method over all splits. The
score is corrected for the choice, so that it needs no further cross-validation.
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
from swarmrs.search._pool import CANCEL, run_all
from swarmrs.search._results._front import Front, FrontPoint
from swarmrs.search._results._progress import Callback, Iteration
from swarmrs.search._results._selection import TRACE, Evaluations, Seconds, Selection, scoring_of
from swarmrs.search._rows import sample_rows, side_by_side

if TYPE_CHECKING:
    from swarmrs.search._search import Search

# Blocks of rows, an even number. The splits of a round hold out two of them each.
_BLOCKS = 10
_ROUND = _BLOCKS // 2
# Classes of fewer rows are never held out: a split could leave no row of them.
_FEWEST_ROWS = 3
# Competitions on more rows are held on a stratified sample of so many.
_MOST_ROWS = 2000
_MOST_ROUNDS = 4
# Bootstrap samples of the rows.
_SAMPLES = 1000
_SIZES = (1, 2, 3, 5, 8, 12, 20, 30, 50, 75, 100)
# Tables with more features begin with this size: one or two of thousands are a matter of luck.
_WIDE, _LEAST = 200, 5
# There the score of a size is averaged with those of its neighbors, in a window of so many sizes.
_WINDOW = 5
# In the others the smallest size within so many standard errors of the best is chosen.
_NEARLY = 0.5
# An average over thousands of subsets varies less than a single ranking or subset.
_FAVORITE = "rks"
# Splits rank so many features at most, the best by the F statistic of their rows.
_MOST_FEATURES = 2000
# Up to so many features, searches that return one subset compete, too.
_NARROW = 60
# Methods that evaluate subsets, and the evaluations of each in a split.
_SEARCHES = ("rks", "cem", "sffs", "upso2d")
_EVALUATIONS = 600
# A mean ranking is that of so many splits at least; below, the winner ranks once more, by all rows.
_FEWEST_RANKINGS = 5
# Evaluations of a search by all rows, in those of a split.
_FINAL = 4
# The fewest evaluations that a ranking by subsets is worth.
_FEWEST = 100
# The shares of a time limit after which no split is begun, and that the last ranking may take.
_SPLITTING, _LAST = 0.75, 0.15
# The share after which no block is predicted.
_JUDGING = 0.9


@public
@dataclass(frozen=True, eq=False)
class Competition:
    """Methods that competed for a table: how each did on rows it had not seen, at each size.

    Attributes
    ----------
    frame : polars.DataFrame
        A row for each ``method`` and ``size``: the held-out ``score``, and whether it
        ``is_chosen``.
    methods : polars.DataFrame
        A row for each ``method``, the best first: its mean ``score`` over the `sizes`, the
        ``difference`` to that of the best and the ``standard_error`` of that.
    sizes : tuple of int
        The least and the greatest of the larger half of the numbers of features.
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
    methods: pl.DataFrame
    sizes: tuple[int, int]
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

    def __repr__(self) -> str:
        low, high = self.interval
        return (
            f"Competition({counted(self.methods.height, 'method')} on "
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
            "sizes": list(self.sizes),
            "methods": self.methods.to_dicts(),
            "candidates": self.frame.to_dicts(),
        }


class Ranked(NamedTuple):
    """The features of a table in the order of a method, best first."""

    order: list[int]
    evaluations: Evaluations


class _Trial(NamedTuple):
    """One split: the blocks that it holds out, and how each method ranks the features without them.

    `rankings` are as long as the largest size at most. Without one the split was not begun.
    """

    held_out: tuple[int, int]
    rankings: dict[str, list[int]]
    evaluations: Evaluations
    stop: str = "finished"


class _Judged(NamedTuple):
    """What is predicted for the rows of a block by each method and size, sizes within methods.

    Where an estimator of scikit-learn predicts, `predicted` is one row with the scores.
    """

    rows: NDArray[np.intp]
    predicted: NDArray[Any]
    stop: str = "finished"


@dataclass(frozen=True)
class Plan:
    """What competes: the methods, the sizes, the number of splits, the evaluations of a search.

    `most_rows` are the rows that the competition is held on, at most. `tolerance` are the standard
    errors by which a smaller subset may fall behind the best, `window` the sizes that are averaged.
    """

    methods: tuple[str, ...]
    sizes: tuple[int, ...]
    n_splits: int
    evaluations: int
    most_rows: int
    tolerance: float
    window: int

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
        is_wide = width > _WIDE
        least = _LEAST if is_wide else 1
        most = min(limit, _SIZES[-1])
        sizes = (*(size for size in _SIZES if least <= size < most), most)
        methods = [*table.task.methods]
        if not table.has_gaps:
            searches = table.task.searches
            methods += searches if width <= _NARROW else searches[:-2]
        # Long tables get fewer: each evaluation takes longer, and says more.
        evaluations = int(_EVALUATIONS * min(1.0, 200 / n))
        n_splits = _ROUND * max(1, min(_MOST_ROUNDS, 1200 // n))
        plan = cls(
            methods=tuple(methods),
            sizes=sizes,
            n_splits=n_splits,
            evaluations=max(evaluations, _FEWEST),
            most_rows=most_rows,
            tolerance=0.0 if is_wide else _NEARLY,
            window=_WINDOW if is_wide else 1,
        )
        if max_evals is None or max_evals >= plan.total:
            return plan
        share = int(plan.evaluations * max_evals / plan.total)
        if share >= _FEWEST:
            return replace(plan, evaluations=share)
        return replace(plan, methods=tuple(it for it in methods if it not in _SEARCHES))

    @property
    def favorite(self) -> int | None:
        """The position of the method that wins unless another is better by a standard error."""
        return self.methods.index(_FAVORITE) if _FAVORITE in self.methods else None

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
    arena = _Arena(search, seed, threads, is_watched=callback is not None)
    if isinstance(search.measure, Evaluation):
        # Settings that do not fit the table are refused in terms of it, not of a split.
        arena.search.price([int(np.flatnonzero(search.free)[0])])
    ran = run_all([arena.job(pair) for pair in arena.pairs()], threads, True, callback)
    trials = [trial for trial in ran.done if trial is not None and trial.rankings]
    if not trials:
        raise KeyboardInterrupt
    judged = run_all([arena.judging(at, trials) for at in range(_BLOCKS)], threads, True, None)
    blocks = [block for block in judged.done if block is not None and block.rows.size]
    if not blocks:
        raise KeyboardInterrupt
    choice, resampled = arena.choose(blocks)
    plan = arena.plan
    method = plan.methods[choice.method]
    winner = arena.final(method, trials)
    indices = arena.first(winner.order, plan.sizes[choice.size])
    point = arena.search.price(indices, threads)
    spent = [trial.evaluations for trial in trials] + [winner.evaluations]
    total, unique = (sum(counts) for counts in zip(*spent, strict=True))
    seconds = time.perf_counter() - arena.begun
    baseline = search.baseline(search.measure)
    scoring = scoring_of(search.measure, search.scoring) or "score"
    frame = pl.DataFrame(
        {
            "method": np.repeat(plan.methods, len(plan.sizes)),
            "size": np.tile(plan.sizes, len(plan.methods)),
            "score": resampled.scores,
        }
    ).with_columns(
        is_chosen=(pl.col("method") == method) & (pl.col("size") == plan.sizes[choice.size])
    )
    methods = pl.DataFrame(
        {
            "method": plan.methods,
            "score": choice.means,
            "difference": choice.means.max() - choice.means,
            "standard_error": choice.standard_errors,
        }
    ).sort("score", descending=True, maintain_order=True)
    competition = Competition(
        frame=frame,
        methods=methods,
        sizes=(plan.sizes[len(plan.sizes) // 2], plan.sizes[-1]),
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
        stop=ran.stop or judged.stop or ("time_limit" if arena.is_late else "finished"),
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


def log_steps(ranks: NDArray[np.int_]) -> NDArray[np.int64]:
    """Return logarithms in whole steps of 2^-24.

    The last bit of a logarithm depends on the processor and the version of numpy, and the sum on
    the order. No logarithm up to that of 4000 is so close to the middle of a step that this shows.
    """
    steps: NDArray[np.int64] = np.rint(np.ldexp(np.log(ranks), 24)).astype(np.int64)
    return steps


def mean_ranking(rankings: Sequence[Sequence[int]], width: int) -> list[int]:
    """Return the features of some rankings in the order of their mean logarithmic ranks.

    A feature that is not in a ranking has twice the last rank of it. Ties are in ascending order.

    Examples
    --------
    >>> mean_ranking([[3, 1], [3, 0], [1, 3]], width=5)
    [3, 1, 0]
    """
    scores = np.zeros(width, dtype=np.int64)
    for ranking in rankings:
        ranks = np.full(width, 2 * len(ranking))
        ranks[ranking] = np.arange(1, len(ranking) + 1)
        scores += log_steps(ranks)
    ranked = np.unique(np.concatenate([np.asarray(ranking) for ranking in rankings]))
    order: list[int] = ranked[np.argsort(scores[ranked], kind="stable")].tolist()
    return order


class _Arena:
    """The table of a competition, its plan, and the methods on parts of it."""

    def __init__(
        self, search: "Search", seed: int, threads: int, *, is_watched: bool = False
    ) -> None:
        self.begun = time.perf_counter()
        self.seed = seed
        self.threads = threads
        self.is_watched = is_watched
        self.done = self.judged = 0
        self.draw = np.random.RandomState(seed % 2**32)
        rows = search.settings.rows
        sample = sample_rows(search.table, rows or _MOST_ROWS, seed)
        self.search = search if sample is None else search.on(search.table.take(sample))
        self.blocks = self._deal(self.search.table.codes)
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
        return self._is_past(_SPLITTING)

    def _is_past(self, share: float) -> bool:
        """Whether more than a share of the time limit is over."""
        elapsed = time.perf_counter() - self.begun
        return self.limit is not None and elapsed > share * self.limit

    @property
    def number_scoring(self) -> str:
        """The score of a numeric target that counts."""
        return self.search.scoring or self.search.table.task.scorings[0]

    def _deal(self, codes: NDArray[np.uint32]) -> NDArray[np.intp]:
        """Deal the rows to blocks, those of each class evenly; -1 for rows that are never held out.

        Raises
        ------
        DataError
            If no class has enough rows.
        """
        blocks = np.full(len(codes), -1)
        dealt = 0
        for code in np.unique(codes):
            rows = self.draw.permutation(np.flatnonzero(codes == code))
            if len(rows) >= _FEWEST_ROWS:
                blocks[rows] = np.arange(dealt, dealt + len(rows)) % _BLOCKS
                dealt += len(rows)
        if not dealt:
            raise DataError(
                f"no class has {_FEWEST_ROWS} rows, so that none can be held out",
                f"search all rows with {setting('algo', 'vlpso-ls')}",
            )
        return blocks

    def pairs(self) -> list[tuple[int, int]]:
        """Return the blocks that each split holds out: in each round every block once.

        Rounds are those of a tournament: no two blocks are held out together twice.
        """
        others = _BLOCKS - 1
        pairs = []
        for turn in range(self.plan.n_splits // _ROUND):
            pairs.append((others, turn))
            pairs += [((turn + at) % others, (turn - at) % others) for at in range(1, _ROUND)]
        return pairs

    def job(self, held_out: tuple[int, int]) -> Any:
        """Return what ranks features by the rows of the other blocks."""

        def run(threads: int, callback: Callback) -> _Trial:
            if self.is_late and self.done:
                return _Trial(held_out, {}, Evaluations(0, 0))
            share = _SPLITTING * self.threads / (self.plan.n_splits * max(1, self.plan.n_searches))
            is_held = np.isin(self.blocks, held_out)
            train, test = np.flatnonzero(~is_held), np.flatnonzero(is_held)
            here, features = self.on(train)
            rankings: dict[str, list[int]] = {}
            total = unique = 0
            for method in self.plan.methods:
                ranked = self.rank(here, method, self.plan.evaluations, share)
                rankings[method] = features[ranked.order[: self.plan.sizes[-1]]].tolist()
                total, unique = total + ranked.evaluations.total, unique + ranked.evaluations.unique
            self.done += 1
            if self.is_watched and len(test):
                # One size shows how things are going.
                size = self.plan.sizes[len(self.plan.sizes) // 2]
                subsets = [self.first(order, size) for order in rankings.values()]
                callback(self.progress(total, unique, *self.predict((train, test), subsets)))
            return _Trial(held_out, rankings, Evaluations(total, unique))

        return run

    def on(self, rows: NDArray[np.intp]) -> tuple["Search", NDArray[np.intp]]:
        """Return the search on some rows and the best features by these rows, and these features.

        Features that go together or in groups are all kept, and so are those of a table with
        missing values.
        """
        here = self.search.on(self.search.table.take(rows))
        free = np.flatnonzero(here.free)
        is_whole = bool(self.units or here.spec["groups"] or self.search.table.unfilled)
        if len(free) <= _MOST_FEATURES or is_whole or here.table.has_gaps:
            return here, np.arange(len(here.table.names))
        scores = self.search.dataset.f_scores(free.tolist(), 1, rows.tolist())
        best = free[np.argsort(-scores, kind="stable")[:_MOST_FEATURES]]
        features = np.union1d(best, np.array(self.included, dtype=np.intp))
        return here.narrowed(features), features

    def judging(self, block: int, trials: Sequence[_Trial]) -> Any:
        """Return what predicts a block by the mean rankings of the splits that did not see it."""

        def run(threads: int, callback: Callback) -> _Judged:
            test = np.flatnonzero(self.blocks == block)
            unseen = [trial for trial in trials if block in trial.held_out]
            if not (len(test) and unseen) or (self._is_past(_JUDGING) and self.judged):
                return _Judged(np.empty(0, dtype=np.intp), np.empty(0))
            subsets = []
            for method in self.plan.methods:
                order = self.mean_ranking(method, unseen)
                subsets += [self.first(order, size) for size in self.plan.sizes]
            found = _Judged(*self.predict((np.flatnonzero(self.blocks != block), test), subsets))
            self.judged += 1
            return found

        return run

    def mean_ranking(self, method: str, trials: Sequence[_Trial]) -> list[int]:
        """Return the mean ranking of a method over some splits."""
        rankings = [trial.rankings[method] for trial in trials]
        return mean_ranking(rankings, self.search.table.x.shape[1])

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
            return Ranked(free[order].tolist(), none)
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
        text, _ = _swarmrs.run(search.dataset, here.said(self.seed), threads=1, cancel=CANCEL.get())
        found = json.loads(text)
        spent = Evaluations(**found["evaluations"])
        if ranking := found.get("ranking"):
            return Ranked([each["feature"] for each in ranking], spent)
        # A subset has no order of its own: its features are in that of the F statistic.
        chosen = {*found["selected"]} - {*search.spec["include"]}
        first = score(search.dataset, "f", sorted(chosen), len(chosen), 1).order
        return Ranked(np.array(sorted(chosen))[first].tolist(), spent)

    def final(self, method: str, trials: Sequence[_Trial]) -> Ranked:
        """Return the ranking of the winner: the mean over the splits, or a new one by all rows."""
        if len(trials) < _FEWEST_RANKINGS:
            return self.rank(self.search, method, _FINAL * self.plan.evaluations, _LAST)
        return Ranked(self.mean_ranking(method, trials), Evaluations(0, 0))

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

    def choose(self, blocks: Sequence[_Judged]) -> tuple[Choice, Resampled]:
        """Choose a method and a size by what the blocks show together."""
        resampled = self._resampled(
            np.concatenate([block.rows for block in blocks]),
            np.concatenate([block.predicted for block in blocks]),
        )
        plan = self.plan
        chosen = choose(resampled, len(plan.methods), plan.tolerance, plan.window, plan.favorite)
        return chosen, resampled

    def _resampled(self, rows: NDArray[np.intp], predicted: NDArray[Any]) -> Resampled:
        """Return the scores of predictions on bootstrap samples of the rows, or of the blocks."""
        if not isinstance(self.search.measure, Evaluation):
            return Resampled.of(
                len(predicted), _SAMPLES, self.seed, lambda weights: mean_of(weights, predicted)
            )
        if self.search.table.values is not None:
            return self._resampled_numbers(rows, predicted)
        codes, scoring = self.search.table.codes[rows], self.search.scoring or "accuracy"
        right = (predicted == codes[:, np.newaxis]).astype(np.float64)

        def score(weights: Matrix) -> Matrix:
            if scoring == "accuracy":
                return mean_of(weights, right)
            if scoring == "balanced_accuracy":
                return class_means_of(weights, right, codes)
            return np.array(
                [
                    [score_of(scoring, codes, column, case) for column in predicted.T]
                    for case in weights
                ]
            )

        n_samples = _SAMPLES if scoring in ("accuracy", "balanced_accuracy") else _SAMPLES // 5
        return Resampled.of(len(rows), n_samples, self.seed, score)

    def _resampled_numbers(self, rows: NDArray[np.intp], predicted: Matrix) -> Resampled:
        """Do the same for a numeric target.

        Raises
        ------
        DataError
            If the score is undefined.
        """
        values, scoring = self.search.table.values, self.number_scoring
        assert values is not None, "the target is numeric"
        residuals = values[rows][:, np.newaxis] - predicted
        squares, absolutes = residuals**2, np.abs(residuals)

        def score(weights: Matrix) -> Matrix:
            return weighted_scores(scoring, weights, values[rows], squares, absolutes)

        resampled = Resampled.of(len(rows), _SAMPLES, self.seed, score)
        if np.isnan(resampled.scores).all():
            raise DataError(
                f"{scoring} is undefined: all held-out rows have the same number as target",
                f"try {setting('scoring', 'neg_mean_absolute_error')}",
            )
        return resampled
