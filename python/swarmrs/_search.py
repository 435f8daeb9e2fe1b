"""One search on one table, ready to run."""

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from swarmrs import _swarmrs
from swarmrs._constraints import read_together, useless
from swarmrs._dataset import dataset_of
from swarmrs._evaluation import Evaluation
from swarmrs._front import FrontPoint, Pick
from swarmrs._groups import group_spec
from swarmrs._measured import read_measured
from swarmrs._objective import read_objective, read_scoring
from swarmrs._scorer import Outside, Scorer
from swarmrs._selection import Selection, read_point, read_selection
from swarmrs._settings import Settings
from swarmrs._table import Table
from swarmrs._watch import OnTurn, Patience
from swarmrs._words import check_number, check_whole
from swarmrs.exceptions import SpecError


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
    dataset : Dataset
        The table as the engine has it.
    n_jobs : int or None
        The processes that an estimator from outside is measured by.
    """

    table: Table
    settings: Settings
    measure: Evaluation | Outside
    spec: dict[str, Any]
    pick: Pick
    dataset: _swarmrs.Dataset
    n_jobs: int | None

    @classmethod
    def of(cls, table: Table, settings: Settings, n_jobs: int | None = None) -> "Search":
        """Check settings against a table whose rare classes are settled."""
        measure, scores = settings.measure(table, n_jobs), None
        if isinstance(measure, Evaluation):
            scores = read_scoring(settings.scoring) or settings.study.scoring
        included, excluded = table.locate(settings.include), table.locate(settings.exclude)
        lists = read_together(table, settings.together)
        default = "drop" if settings.preset is None and settings.scorer is None else "keep"
        excluded += useless(table, settings.constant or default, included, excluded, lists)
        pick = Pick.read(settings.pick, len({*included}), settings.parsimony)
        if pick.rule == "1se" and isinstance(measure, Outside) and len(measure.splits) < 2:
            raise SpecError(
                "parsimony goes by how an error spreads, which one score does not tell",
                "give an estimator and two folds or more",
            )
        most, (params, limits) = settings.max_features, settings.filled_up(table.x.shape[1])
        cost = settings.target_cost
        cost = None if cost is None else check_number("target_cost", cost)
        spec = {
            "algorithm": settings.algo,
            "params": params,
            "evaluation": measure.spec(),
            "objective": read_objective(
                settings.goal(measure),
                alpha=settings.alpha,
                gamma=settings.gamma,
                sim=settings.sim,
                sigma_log=settings.sigma_log,
            ),
            "scoring": scores,
            "budget": {**limits, "target": cost},
            "include": included,
            "exclude": excluded,
            "max_features": None if most is None else check_whole("max_features", most),
            "together": lists,
            "one_per_group": bool(settings.one_per_group),
            "prescreen": settings.prescreen,
            "groups": None if settings.groups is None else group_spec(settings.groups, table)[1],
            "memory": check_whole("memory", settings.memory, 0),
        }
        grid = measure.scale if isinstance(measure, Evaluation) else "minmax"
        return cls(table, settings, measure, spec, pick, dataset_of(table, grid), n_jobs)

    def on(self, table: Table) -> "Search":
        """Return the same search on other rows.

        Raises
        ------
        SpecError
            If it is tied to its rows.
        """
        if self.settings.scorer is not None:
            raise SpecError(
                "rows cannot be held out or drawn: a scorer has its own",
                "give a classifier or an estimator instead",
            )
        cv = self.settings.cv
        if not (cv is None or isinstance(cv, int | str | np.integer) or hasattr(cv, "split")):
            raise SpecError(
                "cv names rows, some of which are held out or not drawn",
                "give cv a number or a splitter",
            )
        if self.settings.fit_params:
            raise SpecError(
                "fit_params are of all rows, some of which are held out or not drawn",
                "hold out rows before",
            )
        return Search.of(table, self.settings, self.n_jobs)

    @property
    def free(self) -> NDArray[np.bool_]:
        """Whether each feature is neither always in nor always out."""
        free = ~self._mask([*self.spec["include"], *self.spec["exclude"]])
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
        on_turn: OnTurn | None = None,
        keep_all: bool = False,
    ) -> Selection:
        """Search, and return what was found; its warnings are left to the caller."""
        turns = self.settings.patience
        patient = None if turns is None else Patience(check_whole("patience", turns), on_turn)
        text, kept = _swarmrs.run(
            self.dataset,
            self._said(seed),
            threads=threads,
            checkpoint=None if checkpoint is None else os.fspath(checkpoint),
            on_turn=patient or on_turn,
            scorer=self._scorer,
            keep_all=keep_all,
        )
        found, measure = json.loads(text), self.measure
        if isinstance(measure, Evaluation):
            measure = measure.settled(found["measured_by"])

        def spread(indices: Sequence[int]) -> float:
            return measure.standard_error(self.table, self.dataset, self._mask(indices))

        chosen, parsimony = self.pick.of(found, spread)
        selection = read_selection(
            found,
            chosen,
            self.table,
            measure,
            fingerprint=self.dataset.fingerprint,
            preset=self.settings.preset,
            pick=self.pick.rule,
            parsimony=parsimony,
            measured=None if kept is None else read_measured(*kept, self.table.frame.width),
        )
        if patient is None:
            return selection
        is_spent = patient.is_spent and selection.stop == "stopped"
        return replace(
            selection,
            stop="patience" if is_spent else selection.stop,
            budget=selection.budget | {"patience": patient.turns},
        )

    def price(self, indices: Sequence[int], threads: int = 1) -> FrontPoint:
        """Return what a subset costs and shows, measured as in a run."""
        masks = self._mask(indices)[np.newaxis]
        priced = _swarmrs.price(
            self.dataset, self._said(0), masks, threads=threads, scorer=self._scorer
        )
        return read_point(json.loads(priced)[0], self.table, self.measure)

    @property
    def _scorer(self) -> Scorer | None:
        return self.measure.scorer if isinstance(self.measure, Outside) else None

    def _mask(self, indices: Sequence[int]) -> NDArray[np.bool_]:
        mask = np.zeros(self.table.frame.width, dtype=bool)
        mask[list(indices)] = True
        return mask

    def _said(self, seed: int) -> str:
        return json.dumps({**self.spec, "seed": seed}, default=plain)


def plain(value: object) -> object:
    """Return a number of numpy as one of Python, for JSON."""
    if isinstance(value, np.generic):
        return value.item()
    raise SpecError(f"{value!r} is no setting", "give a number, a string, a boolean or None")
