"""What fixes a search but its table and its seed, as a user says it."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from numbers import Integral

from swarmrs import _swarmrs
from swarmrs._base._hints import worded
from swarmrs._base._messages import Setting, check_number, check_whole
from swarmrs.data._table import Table
from swarmrs.evaluation._estimator import Estimator, Outside, Scorer, Scoring, is_regressor
from swarmrs.evaluation._folds import CV
from swarmrs.evaluation._native import COMMON, Evaluation
from swarmrs.evaluation._presets import Preset, count, find_preset
from swarmrs.evaluation._rare_classes import settle_rare
from swarmrs.exceptions import DataError, SpecError
from swarmrs.filters._groups import Groups
from swarmrs.search._constraints import Together
from swarmrs.search._results import Card, Parameter, read_cards


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
    patience: int | None = None
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
    fit_params: Mapping[str, object] | None = None
    parsimony: str | None = None

    @cached_property
    def study(self) -> Preset:
        """The settings that a published study has for what is left open."""
        return find_preset(self.preset)

    @property
    def judge(self) -> str | Estimator:
        """What predicts, where no scorer takes its place."""
        return self.classifier if self.classifier is not None else self.study.classifier or "knn"

    @cached_property
    def card(self) -> Card | None:
        """The card of the algorithm; None if there is none, which the engine says later."""
        return find_card(str(self.algo))

    @property
    def folds(self) -> CV | None:
        """The folds asked for; None for the algorithm's own."""
        return self.study.cv if self.cv is None else self.cv

    def settle(self, table: Table) -> Table:
        """Return the table as the policy for rare classes wants it.

        Raises
        ------
        SpecError
            If there are no classes for a policy.
        DataError
            If there are none, but something measures that needs them.
        """
        if self.scorer is not None or is_regressor(self.judge):
            if self.rare_class != "warn":
                why = "a regressor has none" if self.scorer is None else "a scorer has its own rows"
                raise SpecError(f"rare_class is '{self.rare_class}', but {why}", "leave it")
            return table
        if table.values is not None:
            raise DataError(
                f"target '{table.target}' of {table.name} is continuous, expected classes",
                "give a regressor of scikit-learn as the classifier",
            )
        is_own = isinstance(self.judge, str) and self.card is not None
        own = self.card.evaluated_by["folds"] if is_own and self.card else COMMON["folds"]
        return settle_rare(table, self.rare_class, self.folds, own)

    def measure(self, table: Table, n_jobs: int | None) -> Evaluation | Outside:
        """Return what measures subsets of a table.

        Raises
        ------
        SpecError
            If settings do not fit each other.
        """
        judge = self.judge
        if self.fit_params and (self.scorer is not None or isinstance(judge, str)):
            raise SpecError(
                "fit_params are given, but only an estimator takes them", "leave them out"
            )
        if self.scorer is not None:
            if self.scoring is not None:
                raise SpecError(f"scoring is {self.scoring!r}, but a scorer says what errors are")
            return Outside.of_callable(self.scorer)
        if not isinstance(judge, str):
            return Outside.of_estimator(
                judge,
                table,
                scoring=self.scoring,
                cv=self.folds,
                cv_seed=self.cv_seed,
                n_jobs=n_jobs,
                params=self.fit_params,
            )
        return Evaluation.of(
            table,
            self.study,
            classifier=judge,
            k=self.k,
            metric=self.metric,
            weights=self.weights,
            cv=self.folds,
            cv_seed=self.cv_seed,
            scale=self.scale,
        )

    def goal(self, measure: Evaluation | Outside) -> str | None:
        """Return the objective asked for; None for the algorithm's own."""
        asked = self.objective or self.study.objective
        lowers_hybrid = self.card is not None and self.card.objective["kind"] == "hybrid"
        if asked is None and lowers_hybrid and isinstance(measure, Outside):
            return "error"  # How far classes lie apart is known to our k-NN alone.
        return asked

    def filled_up(self, n_features: int) -> tuple[dict[str, Setting], dict[str, float | None]]:
        """Return the algorithm's settings and its limits, filled up by what the study has."""
        params = check_algorithm(self.algo, self.params)
        limits = budget(self.max_evals, self.iterations, self.time_limit)
        study, card = self.study, self.card
        if card is None:
            return params, limits
        has_members = any(parameter.name == "population" for parameter in card.params)
        if has_members and card.family in study.population:
            params.setdefault("population", count(study.population[card.family], n_features))
        # A search that ends by itself is not cut.
        ends = card.evaluations is None
        if not ends and card.family in study.max_evals and all(n is None for n in limits.values()):
            limits["evaluations"] = count(study.max_evals[card.family], n_features)
        return params, limits


def algorithms() -> list[Card]:
    """Return the cards of all algorithms, by id.

    Examples
    --------
    >>> {card.id: card.year for card in algorithms()}["bpso"]
    1997
    """
    return read_cards(_swarmrs.algorithms())


def find_card(algo: str) -> Card | None:
    """Return the card of an algorithm by any of its names, in capitals or not."""
    names = ((card, name) for card in algorithms() for name in (card.id, *card.aliases))
    return next((card for card, name in names if name.lower() == algo.lower()), None)


def budget(
    max_evals: int | None, iterations: int | None, time_limit: float | None
) -> dict[str, float | None]:
    """Return the limits of a search as the engine names them."""
    return {
        "evaluations": None if max_evals is None else check_whole("max_evals", max_evals),
        "iterations": None if iterations is None else check_whole("iterations", iterations),
        "seconds": None if time_limit is None else check_number("time_limit", time_limit, above=0),
    }


def check_algorithm(algo: object, params: object) -> dict[str, Setting]:
    """Return the settings of an algorithm, once each is of the kind that the algorithm takes.

    Unknown names and values out of range are left to the engine, which says what it knows.

    Raises
    ------
    SpecError
        If the algorithm is no text, or a setting is of another kind.
    """
    if not isinstance(algo, str):
        raise SpecError(
            f"algo is {algo!r}, expected the id of an algorithm", "`algorithms()` lists them"
        )
    if not isinstance(params, Mapping | None):
        raise SpecError(
            f"params is {params!r}, expected a mapping", 'give a dict: {"population": 50}'
        )
    given: dict[str, Setting] = dict(params or {})
    card = find_card(algo)
    for parameter in () if card is None else card.params:
        if parameter.name in given:
            given[parameter.name] = _check_parameter(parameter, given[parameter.name])
    return given


def _check_parameter(parameter: Parameter, value: Setting) -> Setting:
    """Return the value if it is of the kind that its default, or else its range, is of."""
    default, allowed = parameter.default, parameter.range
    is_whole = allowed.startswith("a whole number")
    is_number = is_whole or allowed.startswith("above") or allowed[0].isdigit()
    expected = None
    if value is None:
        expected = None if default is None or "null" in allowed else allowed
    elif not is_number:
        kind = bool if isinstance(default, bool) else str
        expected = None if isinstance(value, kind) else allowed
    elif is_whole:
        is_integer = isinstance(value, int | Integral) and not isinstance(value, bool)
        expected = None if is_integer else allowed
    else:
        try:
            check_number(parameter.name, value)
        except SpecError:
            expected = f"a number, {allowed}"
    if expected is not None:
        shown = worded(python=repr(value), shell=json.dumps(value, default=str))
        raise SpecError(f"{parameter.name} is {shown}, expected {expected}")
    return value
