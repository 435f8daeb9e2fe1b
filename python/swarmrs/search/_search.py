"""One search on one table, ready to run."""

import json
import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from swarmrs import _swarmrs
from swarmrs._base._choices import ANSWERS
from swarmrs._base._hints import setting
from swarmrs._base._messages import check_number, check_whole, check_word
from swarmrs.data._dataset import dataset_of, describe_data
from swarmrs.data._table import Table
from swarmrs.evaluation._estimator import Outside, Scorer
from swarmrs.evaluation._losses import Baseline
from swarmrs.evaluation._native import Evaluation, Work
from swarmrs.evaluation._objectives import Objective
from swarmrs.exceptions import NoFeaturesError, SpecError, TimeLimitError
from swarmrs.filters._groups import group_spec
from swarmrs.search._options._constraints import read_together, useless
from swarmrs.search._options._settings import AUTO, SINGLE, Settings
from swarmrs.search._pool import CANCEL
from swarmrs.search._results._front import Front, FrontPoint, Pick
from swarmrs.search._results._progress import Callback, Patience
from swarmrs.search._results._selection import (
    TRACE,
    Evaluations,
    RowsUsed,
    Seconds,
    Selection,
    read_evaluations,
    read_point,
    read_selection,
    scoring_of,
)
from swarmrs.search._rows import SEARCHING, sample_rows

# Samples of half as many rows are proposed for longer tables.
_LONG = 20_000
# A competition on fewer rows would hold out too few of them.
_LEAST_ROWS = 20


@dataclass(frozen=True, eq=False)
class Search:
    """Settings on a table: everything is checked, and each seed is a run.

    Attributes
    ----------
    table : Table
        The samples.
    settings : Settings
        What the user said.
    measure : Evaluation or Outside
        What measures subsets.
    spec : dict
        All that fixes a run but its seed, as the engine reads it.
    pick : Pick
        Which subset of a run is wanted.
    n_jobs : int or None
        The processes that an estimator from outside is measured by.
    """

    table: Table
    settings: Settings
    measure: Evaluation | Outside
    spec: dict[str, Any]
    pick: Pick
    n_jobs: int | None

    @classmethod
    def of(cls, table: Table, settings: Settings, n_jobs: int | None = None) -> "Search":
        """Check settings against a table whose rare classes are settled."""
        options, evaluation = settings.options, settings.evaluation(table, n_jobs)
        scoring = options["scoring"] if isinstance(evaluation, Evaluation) else None
        if scoring is None and isinstance(evaluation, Evaluation) and table.values is not None:
            scoring = table.task.scorings[0]
        included, excluded = table.locate(options["include"]), table.locate(options["exclude"])
        lists = read_together(table, options["together"])
        # A scorer may use any feature.
        policy = options["constant"] if options["scorer"] is None else "keep"
        excluded += useless(table, policy, included, excluded, lists)
        pick = Pick.read(options["pick"], len({*included}))
        if pick.rule == "1se" and isinstance(evaluation, Outside) and len(evaluation.splits) < 2:
            raise SpecError(
                "pick is '1se', but one score has no standard error",
                "give an estimator and two folds or more",
            )
        width = table.x.shape[1]
        params, limits = settings.filled_up(width)
        groups, cost = options["feature_groups"], options["target_cost"]
        cost = None if cost is None else check_number("target_cost", cost)
        algo, answer = settings.algo, check_word("answer", options["answer"], ANSWERS)
        if algo == AUTO and len(table.x) < _LEAST_ROWS:
            algo = SINGLE
        spec = {
            "algorithm": algo,
            **({} if answer == "best" else {"answer": answer}),
            "params": params,
            "evaluation": evaluation.spec(),
            "objective": settings.objective(evaluation, table),
            "scoring": scoring,
            "budget": {**limits, "cost": cost},
            "include": included,
            "exclude": excluded,
            "max_features": settings.max_features(width),
            "together": lists,
            "one_per_group": bool(options["one_per_group"]),
            "prescreen": options["prescreen"],
            "groups": None if groups is None else group_spec(groups, table)[1],
            "memory": check_whole("memory", options["memory"], 0),
        }
        return cls(table, settings, evaluation, spec, pick, n_jobs)

    @cached_property
    def dataset(self) -> _swarmrs.Dataset:
        """The table as the engine has it."""
        measure = self.measure
        scale = measure.scale if isinstance(measure, Evaluation) else "minmax"
        return dataset_of(self.table, scale)

    def on(self, table: Table) -> "Search":
        """Return the same search on other rows.

        Raises
        ------
        SpecError
            If it is tied to its rows.
        """
        options = self.settings.options
        if options["scorer"] is not None:
            raise SpecError(
                "rows cannot be held out or drawn: a scorer has its own",
                "give a classifier or an estimator instead",
            )
        cv = options["cv"]
        if not (cv is None or isinstance(cv, int | str | np.integer) or hasattr(cv, "split")):
            raise SpecError(
                "cv lists row numbers, but some rows are held out or not drawn",
                "give a number of folds or a splitter",
            )
        if options["fit_params"]:
            raise SpecError(
                "fit_params hold a value for each row, but some rows are held out or not drawn",
                "split the data before the search",
            )
        return Search.of(table, self.settings, self.n_jobs)

    def narrowed(self, features: NDArray[np.intp]) -> "Search":
        """Return the same search on some features, in this order; groups are not known any more."""
        places = {feature: at for at, feature in enumerate(features.tolist())}
        kept = {
            name: [places[feature] for feature in self.spec[name] if feature in places]
            for name in ("include", "exclude")
        }
        spec = self.spec | kept | {"together": [], "groups": None}
        return replace(self, table=self.table.columns(features), spec=spec)

    @property
    def free(self) -> NDArray[np.bool_]:
        """Whether each feature is neither always in nor always out."""
        free = ~self.mask([*self.spec["include"], *self.spec["exclude"]])
        for members in self.spec["together"]:
            # What holds for one of them holds for all.
            free[members] &= free[members].all()
        return free

    def run(
        self,
        seed: int,
        *,
        threads: int = 1,
        checkpoint: str | os.PathLike[str] | None = None,
        callback: Callback | None = None,
        keep_all: bool = False,
    ) -> Selection:
        """Search, and return what was found; its warnings are left to the caller."""
        if self.spec["algorithm"] == AUTO:
            from swarmrs.search._auto import compete

            return compete(self, seed, threads=threads, callback=callback)
        most = self.settings.rows
        drawn = None if most is None else sample_rows(self.table, most, seed)
        run = (seed, threads, checkpoint, callback, keep_all)
        if drawn is None:
            return self._run(*run)
        begun, limit = time.perf_counter(), self.spec["budget"]["seconds"]
        here = self.on(self.table.take(drawn))
        if limit is not None:
            budget = here.spec["budget"] | {"seconds": SEARCHING * limit}
            here = replace(here, spec=here.spec | {"budget": budget})
        found = here._run(*run)
        found = replace(found, budget=found.budget | {"seconds": limit})
        return self.rescored(found, len(drawn), begun, threads)

    def rescored(
        self, found: Selection, searched: int, begun: float, threads: int = 1
    ) -> Selection:
        """Return what was found on a sample with its scores on all rows.

        Where an interruption or the time limit, which counts from `begun`, leaves no time for that,
        the scores stay those of the sample.
        """
        start, limit = time.perf_counter(), self.spec["budget"]["seconds"]
        left = None if limit is None else max(0.0, begun + limit - start)
        point = None
        if found.stop != "interrupted":
            try:
                point = self.price_within(left, found.selected_indices, threads)
            except KeyboardInterrupt:
                found = replace(found, stop="interrupted")
        spent = time.perf_counter() - start
        total = len(self.table.x)
        scored = searched if point is None else total
        found = replace(
            found,
            data=describe_data(self.table, self.dataset.fingerprint)
            | {"codes": self.table.text_codes(found.selected)},
            seconds=Seconds(
                found.seconds.search, found.seconds.evaluate + spent, found.seconds.total + spent
            ),
            rows=RowsUsed(searched, scored, total, found.cost, found.loss),
        )
        if point is None:
            return found
        return replace(
            found,
            evaluation=self.measure.to_dict(),
            cost=point.cost,
            scores=point.scores,
            baseline=self.baseline(self.measure),
        )

    def _run(
        self,
        seed: int,
        threads: int,
        checkpoint: str | os.PathLike[str] | None,
        callback: Callback | None,
        keep_all: bool,
    ) -> Selection:
        """Search the rows of this table."""
        patience, patient = self.settings.options["patience"], None
        if patience is not None:
            patient = Patience(check_whole("patience", patience), callback)
        try:
            text, kept = _swarmrs.run(
                self.dataset,
                self.said(seed),
                threads=threads,
                checkpoint=None if checkpoint is None else os.fspath(checkpoint),
                callback=patient or callback,
                scorer=self._scorer,
                keep_all=keep_all,
                cancel=CANCEL.get(),
            )
        except TimeLimitError as problem:
            if len(self.table.x) > _LONG:
                fewer = setting("rows", _LONG // 2)
                raise TimeLimitError(
                    str(problem), f"search a sample of the rows with {fewer}, or allow more time"
                ) from None
            raise
        found, measure = json.loads(text), self.measure

        def spread(indices: Sequence[int]) -> float:
            return measure.standard_error(
                self.table, self.dataset, self.mask(indices), self.scoring
            )

        chosen, parsimony = self.pick.of(found, spread)
        selection = read_selection(
            found,
            chosen,
            self.table,
            measure,
            fingerprint=self.dataset.fingerprint,
            preset=self.settings.options["preset"],
            pick=self.pick.rule,
            parsimony=parsimony,
            all_evaluations=(
                None if kept is None else read_evaluations(*kept, len(self.table.names))
            ),
            baseline=self.baseline(measure),
        )
        if patient is None:
            return selection
        is_spent = patient.is_spent and selection.stop == "callback"
        return replace(
            selection,
            stop="patience" if is_spent else selection.stop,
            budget=selection.budget | {"patience": patient.iterations},
        )

    def price(self, indices: Sequence[int], threads: int = 1) -> FrontPoint:
        """Return what a subset costs and shows, measured as in a run."""
        point = self.price_within(None, indices, threads)
        assert point is not None, "there is no time limit"
        return point

    def price_within(
        self, seconds: float | None, indices: Sequence[int], threads: int = 1
    ) -> FrontPoint | None:
        """Return what a subset costs and shows; None if that takes longer than so many seconds."""
        masks = self.mask(indices)[np.newaxis]
        spec = {**self.spec, "seed": 0, "budget": {**self.spec["budget"], "seconds": None}}
        if spec["algorithm"] == AUTO:
            # The engine does not know it, and needs an algorithm of any name here.
            spec["algorithm"] = SINGLE
        priced = _swarmrs.price(
            self.dataset,
            as_json(spec),
            masks,
            threads=threads,
            scorer=self._scorer,
            seconds=seconds,
            cancel=CANCEL.get(),
        )
        if priced is None:
            return None
        return read_point(json.loads(priced)[0], self.table, self.measure, self.scoring)

    def baseline(self, measure: Evaluation | Outside) -> Baseline | None:
        """Return what predicting one value shows, nothing about the measure being open."""
        if isinstance(measure, Evaluation):
            return measure.baseline(self.table, self.dataset, self.scoring)
        return measure.baseline(self.table)

    def majority(self, seed: int, problem: NoFeaturesError) -> Selection:
        """Return the selection of no feature at all, by which one value is predicted.

        It stands for a run that `problem` ended before its first subset.
        """
        options, measure, card = self.settings.options, self.measure, self.settings.card
        baseline = self.baseline(measure)
        if card is None or baseline is None:
            raise problem
        objective: Objective = self.spec["objective"] or card.objective
        defaults = {parameter.name: parameter.default for parameter in card.params}
        free = int(self.free.sum())
        return Selection(
            algorithm=card.id,
            params=defaults | self.spec["params"],
            seed=seed,
            preset=options["preset"],
            data=describe_data(self.table, self.dataset.fingerprint),
            evaluation=measure.to_dict(),
            objective=objective | ({"scoring": self.scoring} if self.scoring else {}),
            budget=self.spec["budget"],
            prescreen={"rule": str(options["prescreen"]), "candidates": free, "survivors": 0},
            groups=None,
            pick=self.pick.rule,
            selected=(),
            selected_indices=(),
            support=self.mask(()),
            cost=baseline.loss,
            scores=baseline.scores,
            evaluations=Evaluations(0, 0),
            seconds=Seconds(0.0, 0.0, 0.0),
            work=Work(0, 0, 0),
            stop="no_features",
            trace=pl.DataFrame(schema=TRACE),
            front=Front((), None, 0.0),
            warnings=(*self.table.warnings, f"{problem}; {self.table.task.guess} is predicted"),
            scoring=scoring_of(measure, self.scoring),
            baseline=baseline,
        )

    @property
    def scoring(self) -> str | None:
        """The score of a predictor of ours that counts, if one was requested."""
        scoring: str | None = self.spec["scoring"]
        return scoring

    @property
    def _scorer(self) -> Scorer | None:
        return self.measure.scorer if isinstance(self.measure, Outside) else None

    def mask(self, indices: Sequence[int]) -> NDArray[np.bool_]:
        """Return features as a mask over all of them."""
        mask = np.zeros(len(self.table.names), dtype=bool)
        mask[list(indices)] = True
        return mask

    def said(self, seed: int) -> str:
        """Return the spec of a run as the engine reads it."""
        return as_json({**self.spec, "seed": seed})


def as_json(spec: object, **layout: Any) -> str:
    """Return a spec as the engine reads it; `layout` is for `json.dumps`.

    Raises
    ------
    SpecError
        If it holds what JSON does not: a number that is not finite, an object.
    """
    try:
        return json.dumps(spec, default=plain, allow_nan=False, **layout)
    except ValueError:
        name, value = _not_finite(spec) or ("a setting", float("nan"))
        raise SpecError(f"{_SAID.get(name, name)} is {value}, expected a finite number") from None


# What users call what the engine calls otherwise.
_SAID = {"seconds": "time_limit", "cost": "target_cost"}


def _not_finite(spec: object) -> tuple[str, float] | None:
    for name, value in spec.items() if isinstance(spec, Mapping) else ():
        if isinstance(value, Mapping):
            if found := _not_finite(value):
                return found
        elif isinstance(value, float | np.floating) and not np.isfinite(value):
            return name, float(value)
    return None


def plain(value: object) -> object:
    """Return a number of numpy as one of Python, for JSON."""
    if isinstance(value, np.generic):
        return value.item()
    raise SpecError(f"{value!r} is no setting", "give a number, a string, a boolean or None")
