"""One search on one table: the settings a user gives, and what is ready to run by them."""

import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NotRequired, TypeAlias, TypedDict

import numpy as np
from numpy.typing import NDArray

from swarmrs import _swarmrs
from swarmrs._constraints import Together, read_together, useless
from swarmrs._dataset import dataset_of
from swarmrs._evaluation import COMMON, CV, Evaluation
from swarmrs._front import FrontPoint, Pick
from swarmrs._groups import Groups, group_spec
from swarmrs._measured import read_measured
from swarmrs._objective import read_objective, read_scoring
from swarmrs._presets import Preset, count, find_preset
from swarmrs._rare import settle_rare
from swarmrs._scorer import Estimator, Outside, Scorer, Scoring
from swarmrs._selection import (
    Card,
    Selection,
    Setting,
    read_cards,
    read_point,
    read_selection,
)
from swarmrs._table import Table
from swarmrs._words import check_whole
from swarmrs.exceptions import SpecError


class Turn(TypedDict):
    """What `on_turn` is told after each turn; of several searches, also which of how many."""

    turn: int
    asked: int
    unique: int
    limit: int | None
    best_cost: float
    best_error: float
    best_size: int
    seconds: float
    run: NotRequired[int]
    runs: NotRequired[int]


OnTurn: TypeAlias = Callable[[Turn], bool | None]


@dataclass(frozen=True, kw_only=True)
class Settings:
    """All that fixes a search but its table and its seed; see `select`."""

    algo: str = "bpso"
    preset: str | None = None
    classifier: str | Estimator | None = None
    k: int | None = None
    metric: str | None = None
    weights: str | None = None
    cv: CV | None = None
    cv_seed: int = 0
    scale: str | None = None
    scoring: Scoring | None = None
    scorer: Scorer | None = None
    objective: str | None = None
    alpha: float | None = None
    gamma: float | None = None
    sim: str | None = None
    sigma_log: str | None = None
    max_evals: int | None = None
    iterations: int | None = None
    time_limit: float | None = None
    target_cost: float | None = None
    params: Mapping[str, Setting] | None = None
    include: Sequence[str | int] = ()
    exclude: Sequence[str | int] = ()
    max_features: int | None = None
    together: Together = ()
    one_per_group: bool = False
    prescreen: str | None = None
    groups: Groups | None = None
    pick: str = "best"
    memory: int = 2**30
    rare_class: str = "warn"
    constant: str | None = None
    parsimony: str | None = None

    @cached_property
    def study(self) -> Preset:
        """The settings that a published study has for what is left open."""
        return find_preset(self.preset)

    @property
    def judge(self) -> str | Estimator:
        """What predicts, where no scorer takes its place."""
        return self.classifier if self.classifier is not None else self.study.classifier or "knn"

    def settle(self, table: Table) -> Table:
        """Return the table as the policy for rare classes wants it."""
        if self.scorer is not None:
            if self.rare_class != "warn":
                raise SpecError(
                    f"rare_class is '{self.rare_class}', but a scorer has its own rows", "leave it"
                )
            return table
        card = _find_card(self.algo) if isinstance(self.judge, str) else None
        own = COMMON["folds"] if card is None else card.measured_by["folds"]
        folds = self.study.cv if self.cv is None else self.cv
        return settle_rare(table, self.rare_class, folds, own)

    def measure(self, table: Table, n_jobs: int | None) -> Evaluation | Outside:
        """Return what measures subsets of a table."""
        folds = self.study.cv if self.cv is None else self.cv
        if self.scorer is not None:
            if self.scoring is not None:
                raise SpecError(f"scoring is {self.scoring!r}, but a scorer says what errors are")
            return Outside.of_callable(self.scorer)
        if not isinstance(self.judge, str):
            return Outside.of_estimator(
                self.judge,
                table,
                scoring=self.scoring,
                cv=folds,
                cv_seed=self.cv_seed,
                n_jobs=n_jobs,
            )
        return Evaluation.of(
            table,
            self.study,
            classifier=self.judge,
            k=self.k,
            metric=self.metric,
            weights=self.weights,
            cv=folds,
            cv_seed=self.cv_seed,
            scale=self.scale,
        )


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
        study, scores = settings.study, None
        measure = settings.measure(table, n_jobs)
        if isinstance(measure, Evaluation):
            scores = read_scoring(settings.scoring) or study.scoring
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
        limits = budget(settings.max_evals, settings.iterations, settings.time_limit)
        width, most = table.x.shape[1], settings.max_features
        params, limits = _filled_up(study, settings.algo, width, settings.params or {}, limits)
        spec = {
            "algorithm": settings.algo,
            "params": params,
            "evaluation": measure.spec(),
            "objective": read_objective(
                settings.objective or study.objective,
                alpha=settings.alpha,
                gamma=settings.gamma,
                sim=settings.sim,
                sigma_log=settings.sigma_log,
            ),
            "scoring": scores,
            "budget": {**limits, "target": settings.target_cost},
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
        text, kept = _swarmrs.run(
            self.dataset,
            self._said(seed),
            threads=threads,
            checkpoint=None if checkpoint is None else os.fspath(checkpoint),
            on_turn=on_turn,
            scorer=self._scorer,
            keep_all=keep_all,
        )
        found, measure = json.loads(text), self.measure
        if isinstance(measure, Evaluation):
            measure = measure.settled(found["measured_by"])

        def spread(indices: Sequence[int]) -> float:
            return measure.standard_error(self.table, self.dataset, self._mask(indices))

        chosen, parsimony = self.pick.of(found, spread)
        return read_selection(
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


def algorithms() -> list[Card]:
    """Return the cards of all algorithms, by id.

    Examples
    --------
    >>> {card.id: card.year for card in algorithms()}["bpso"]
    1997
    """
    return read_cards(_swarmrs.algorithms())


def _find_card(algo: str) -> Card | None:
    """Return the card of an algorithm; None if there is none, which the engine says later."""
    names = ((card, name) for card in algorithms() for name in (card.id, *card.aliases))
    return next((card for card, name in names if name.lower() == str(algo).lower()), None)


def budget(
    max_evals: int | None, iterations: int | None, time_limit: float | None
) -> dict[str, float | None]:
    """Return the limits of a search as the engine names them."""
    return {
        "evaluations": None if max_evals is None else check_whole("max_evals", max_evals),
        "turns": None if iterations is None else check_whole("iterations", iterations),
        "seconds": time_limit,
    }


def _filled_up(
    study: Preset,
    algo: str,
    n_features: int,
    params: Mapping[str, Setting],
    limits: Mapping[str, float | None],
) -> tuple[dict[str, Setting], dict[str, float | None]]:
    """Return the settings of an algorithm and its limits, filled up by what a study has."""
    settings, bounds = dict(params), dict(limits)
    if not (study.population or study.max_evals):
        return settings, bounds
    card = _find_card(algo)
    if card is None:
        return settings, bounds
    has_members = any(parameter.name == "population" for parameter in card.params)
    if has_members and card.family in study.population:
        settings.setdefault("population", count(study.population[card.family], n_features))
    # A search that ends by itself is not cut.
    ends = card.evaluations is None
    if not ends and card.family in study.max_evals and all(n is None for n in limits.values()):
        bounds["evaluations"] = count(study.max_evals[card.family], n_features)
    return settings, bounds


def plain(value: object) -> object:
    """Return a number of numpy as one of Python, for JSON."""
    if isinstance(value, np.generic):
        return value.item()
    raise SpecError(f"{value!r} is no setting", "give a number, a string, a boolean or None")
