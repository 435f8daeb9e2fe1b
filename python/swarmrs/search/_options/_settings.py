"""The settings of a search: options given, filled up by a preset and the defaults."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from numbers import Integral
from typing import Any, cast

import numpy as np

from swarmrs import _swarmrs
from swarmrs._base._choices import AUTO_CARD
from swarmrs._base._hints import named, worded
from swarmrs._base._messages import (
    MOST_RUNS,
    Setting,
    check_number,
    check_whole,
    check_word,
    refuse_unknown,
)
from swarmrs._base._options import defaults_of
from swarmrs._base._tasks import CLASSIFICATION, REGRESSION, TASKS
from swarmrs.data._table import Table
from swarmrs.evaluation._estimator import Estimator, Outside, is_regressor
from swarmrs.evaluation._evaluator import Evaluator
from swarmrs.evaluation._native import Classifier, Evaluation
from swarmrs.evaluation._objectives import (
    Objective,
    check_score,
    is_native_score,
    read_objective,
)
from swarmrs.evaluation._rare_classes import settle_rare
from swarmrs.exceptions import DataError, SpecError
from swarmrs.search._options._cards import Card, Parameter, read_cards
from swarmrs.search._options._declarations import SearchOptions
from swarmrs.search._options._presets import Preset, find_preset

# The settings of the classifiers of the engine.
# The algorithm that lets others compete, and the one that runs where a competition is not possible.
AUTO, SINGLE = "auto", "vlpso-ls"
# Options that belong to one search, with the values that leave it open which one.
_ONE_SEARCH: dict[str, object] = {
    "algo_params": None,
    "answer": "best",
    "objective": "error",
    "feature_groups": None,
    "one_per_group": False,
    "prescreen": None,
    "pick": "best",
    "max_iter": None,
    "target_cost": None,
    "patience": None,
    "checkpoint": None,
    "keep_all": False,
    "scorer": None,
    "fit_params": None,
}
OF_CLASSIFIERS = ("n_neighbors", "metric", "weights", "ridge_alpha")


@dataclass(frozen=True)
class Settings:
    """The settings of a search, each option with its value.

    Attributes
    ----------
    options : SearchOptions
        All options: as given, else as the preset has them, else their defaults.
    preset : Preset or None
        The published study.
    """

    options: SearchOptions
    preset: Preset | None

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> "Settings":
        """Fill up the options given.

        Raises
        ------
        SpecError
            If an option or a preset is unknown.
        """
        defaults = defaults_of(SearchOptions)
        refuse_unknown(given, defaults)
        name = given.get("preset")
        preset = None if name is None else find_preset(name)
        study = {} if preset is None else dict(preset.options)
        if "estimator" in given:
            # The neighbors of the study are those of its own estimator, and an estimator of
            # scikit-learn scales as it will.
            is_named = isinstance(given["estimator"], str)
            foreign = OF_CLASSIFIERS if is_named else (*OF_CLASSIFIERS, "scale")
            study = {name: value for name, value in study.items() if name not in foreign}
        return cls(cast(SearchOptions, defaults | study | dict(given)), preset)

    @cached_property
    def algo(self) -> str:
        """The id of the algorithm; that of one search where ``"auto"`` cannot hold rows out."""
        algo, options = str(self.options["algo"]), self.options
        if algo.lower() != AUTO:
            return algo
        cv, given = options["cv"], cast(Mapping[str, object], options)
        is_tied = not (cv is None or isinstance(cv, int | str | np.integer) or hasattr(cv, "split"))
        # An array is compared by its cells, and is none of these values.
        is_one = any(
            isinstance(given[name], np.ndarray) or given[name] != value
            for name, value in _ONE_SEARCH.items()
        )
        return SINGLE if is_tied or is_one else AUTO

    @cached_property
    def card(self) -> Card | None:
        """The card of the algorithm; None if there is none, which the engine says later."""
        return find_card(self.algo)

    @cached_property
    def classifier(self) -> Classifier | None:
        """The classifier of the engine that evaluates subsets; None if something else does."""
        options = self.options
        if options["scorer"] is not None:
            return None
        is_enough = is_native_score(options["scoring"]) and not options["fit_params"]
        equal = self.equal_classifier
        return equal if is_enough else None

    @cached_property
    def equal_classifier(self) -> Classifier | None:
        """The classifier of the engine that is the estimator's equal; a name always has one."""
        options = self.options
        own = {name: options[name] for name in OF_CLASSIFIERS}  # type: ignore[literal-required]
        return Classifier.of(options["estimator"], **own)

    @property
    def task(self) -> str | None:
        """What is predicted: as given, or what the estimator predicts; None if either will do.

        Raises
        ------
        SpecError
            If the estimator predicts something else than what is given.
        """
        task, estimator = self.options["task"], self.options["estimator"]
        if task is not None:
            check_word("task", task, tuple(TASKS))
        if self.options["scorer"] is not None or estimator is None or isinstance(estimator, str):
            return task
        own = REGRESSION if is_regressor(estimator) else CLASSIFICATION
        if task not in (None, own.name):
            raise SpecError(
                f"task is '{task}', but the estimator predicts {own.target}",
                f"leave it out, or give an estimator of {TASKS[task].target}",
            )
        return own.name

    @property
    def rows(self) -> int | None:
        """The rows that a search is held on, at most; None for its default.

        Raises
        ------
        SpecError
            If it is no whole number of 2 or more.
        """
        rows = self.options["rows"]
        return None if rows is None else check_whole("rows", rows, 2)

    @property
    def repeats(self) -> int:
        """How many times the search is run."""
        return check_whole("repeats", self.options["repeats"], most=MOST_RUNS)

    @property
    def outer_seed(self) -> int:
        """The seed that draws rows outside of a search."""
        return self.options["cv_seed"] or 0

    def settle(self, table: Table) -> Table:
        """Return the table with rare classes handled.

        Raises
        ------
        SpecError
            If there are no classes to handle.
        DataError
            If the target is numeric, but a classifier needs classes.
        """
        policy, is_numeric = self.options["rare_class"], table.values is not None
        if is_numeric and self.task == CLASSIFICATION.name:
            raise DataError(
                f"target '{table.target}' of {table.name} is numeric, expected classes",
                "give a regressor as the estimator",
            )
        if self.options["scorer"] is not None or is_numeric:
            if policy != "warn":
                why = "a numeric target has none" if is_numeric else "a scorer has its own rows"
                raise SpecError(f"rare_class is '{policy}', but {why}", "leave it out")
            return table
        return settle_rare(table, policy, self.options["cv"])

    def evaluation(self, table: Table, n_jobs: int | None) -> Evaluation | Outside:
        """Return what evaluates subsets of a table.

        Raises
        ------
        SpecError
            If settings do not fit each other.
        """
        options, scoring = self.options, self.options["scoring"]
        check_score(scoring, table.task)
        if (scorer := options["scorer"]) is not None:
            for name in ("scoring", "fit_params", "estimator"):
                if options[name]:
                    raise SpecError(f"{name} and scorer are both given", "give only one of them")
            return Outside.of_callable(scorer)
        is_named = options["estimator"] is None or isinstance(options["estimator"], str)
        native = self.classifier
        if native is not None and (is_named or native.equals_sklearn(table)):
            return Evaluation.of(
                table,
                native,
                cv=options["cv"],
                cv_seed=options["cv_seed"],
                scale=options["scale"],
            )
        if (scale := options["scale"]) is not None:
            raise SpecError(
                f"scale is '{scale}', which is for knn, nb and ridge",
                "put a scaler before the estimator in a pipeline",
            )
        estimator = options["estimator"]
        if estimator is None or isinstance(estimator, str):
            if options["fit_params"]:
                raise SpecError(
                    "fit_params are given, but only an estimator takes them", "leave them out"
                )
            assert self.equal_classifier is not None, "every name has a classifier"
            classifier = self.equal_classifier.settled(table)
            estimator = cast(Estimator, classifier.to_sklearn(table.task))
        return Outside.of_estimator(
            estimator,
            table,
            scoring=scoring,
            cv=options["cv"],
            cv_seed=options["cv_seed"],
            n_jobs=n_jobs,
            params=options["fit_params"],
        )

    def evaluator(self, table: Table, **resources: int | None) -> Evaluator:
        """Return an evaluator of subsets of a table, on so many threads and so much memory."""
        options = self.options
        return Evaluator(
            table,
            estimator=self.classifier,
            cv=options["cv"],
            cv_seed=options["cv_seed"],
            scale=options["scale"],
            rare_class=options["rare_class"],
            task=table.task.name,
            **resources,  # type: ignore[arg-type]
        )

    def objective(self, evaluation: Evaluation | Outside, table: Table) -> Objective | None:
        """Return the objective as the engine reads it; None for that of the algorithm's paper.

        Raises
        ------
        SpecError
            If what evaluates subsets does not have what the objective needs.
        """
        objective = read_objective(self.options["objective"])
        paper = self.card.objective if self.card is not None else {"kind": "error"}
        kind = (objective or paper)["kind"]
        is_knn = isinstance(evaluation, Evaluation) and evaluation.classifier.name == "knn"
        if kind == "hybrid" and table.values is not None:
            raise SpecError(
                f"{named('objective')} is 'hybrid', which needs classes, and the target is numeric",
                "minimize the error instead",
            )
        if kind == "hybrid" and not is_knn:
            raise SpecError(
                f"{named('objective')} is 'hybrid', which needs the neighbors of knn",
                "minimize the error instead",
            )
        return objective

    def max_features(self, n_features: int) -> int | None:
        """Return the largest number of features allowed, a share being rounded down to 1 or more.

        Raises
        ------
        SpecError
            If it is neither a number of features nor a share of them.
        """
        most = self.options["max_features"]
        if isinstance(most, float):
            if not 0.0 < most <= 1.0:
                raise SpecError(f"max_features is {most!r}, expected a share from 0 to 1")
            return max(1, int(most * n_features))
        return None if most is None else check_whole("max_features", most)

    def filled_up(self, n_features: int) -> tuple[dict[str, Setting], dict[str, float | None]]:
        """Return the algorithm's hyperparameters and the limits of the search."""
        options = self.options
        params = check_algorithm(options["algo"], options["algo_params"], self.algo)
        limits = budget(options["max_evals"], options["max_iter"], options["time_limit"])
        if self.preset is not None and self.card is not None:
            members = self.preset.members(self.card, n_features)
            if members is not None:
                params.setdefault("population", members)
            if all(limit is None for limit in limits.values()):
                limits["evaluations"] = self.preset.budget(self.card, n_features)
        return params, limits


# The card of what lets algorithms compete, which the engine does not know.
_AUTO = Card(
    id=AUTO_CARD[0],
    name=AUTO_CARD[1],
    family="competition",
    year=2018,
    paper="estimate after I. Tsamardinos, E. Greasidou, G. Borboudakis, Bootstrapping the "
    "out-of-sample predictions for efficient and accurate cross-validation, Machine Learning 107",
    doi="10.1007/s10994-018-5714-4",
    aliases=(),
    summary="runs several methods on random splits and selects by the one that predicts best",
    evaluations=None,
    objective={"kind": "error"},
    evaluated_by={"n_neighbors": 5, "metric": "euclidean", "folds": {"scheme": "kfold", "k": 10}},
    seeks_front=False,
    params=(),
)


def algorithms() -> list[Card]:
    """Return the cards of all algorithms, by id.

    Examples
    --------
    >>> {card.id: card.year for card in algorithms()}["bpso"]
    1997
    """
    return sorted([_AUTO, *read_cards(_swarmrs.algorithms())], key=lambda card: card.id)


# Reading them takes milliseconds, as long as a short search.
_cards = cache(algorithms)


def find_card(algo: str) -> Card | None:
    """Return the card of an algorithm by any of its names, in capitals or not."""
    names = ((card, name) for card in _cards() for name in (card.id, *card.aliases))
    return next((card for card, name in names if name.lower() == algo.lower()), None)


def budget(
    max_evals: int | None, max_iter: int | None, time_limit: float | None
) -> dict[str, float | None]:
    """Return the limits of a search as the engine names them."""
    return {
        "evaluations": None if max_evals is None else check_whole("max_evals", max_evals),
        "iterations": None if max_iter is None else check_whole("max_iter", max_iter),
        "seconds": None if time_limit is None else check_number("time_limit", time_limit, above=0),
    }


def check_algorithm(
    algo: object, params: object, resolved: str | None = None
) -> dict[str, Setting]:
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
            f"algo_params is {params!r}, expected a mapping", 'give a dict: {"population": 50}'
        )
    given: dict[str, Setting] = dict(params or {})
    card = find_card(resolved or algo)
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
