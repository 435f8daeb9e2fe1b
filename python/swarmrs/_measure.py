"""What measures the subsets of a search: a classifier of ours, an estimator or a function."""

from collections.abc import Mapping
from typing import NamedTuple

from swarmrs._evaluation import COMMON, CV, Evaluation
from swarmrs._objective import read_scoring
from swarmrs._presets import Preset
from swarmrs._rare import settle_rare
from swarmrs._scorer import Estimator, Outside, Scorer, Scoring
from swarmrs._selection import Card
from swarmrs._table import Table
from swarmrs.exceptions import DataError, SpecError


class Measured(NamedTuple):
    """A table as it is measured, what measures it, and the score of ours that counts, if named."""

    table: Table
    measure: Evaluation | Outside
    scores: str | None


def is_regressor(judge: object) -> bool:
    """Return whether it is an estimator that predicts numbers."""
    if judge is None or isinstance(judge, str):
        return False  # Without scikit-learn, which takes long to load.
    from sklearn import base

    return bool(base.is_regressor(judge))


def read_measure(
    table: Table,
    study: Preset,
    card: Card | None,
    *,
    classifier: str | Estimator | None,
    k: int | None,
    metric: str | None,
    weights: str | None,
    cv: CV | None,
    cv_seed: int,
    scale: str | None,
    scoring: Scoring | None,
    scorer: Scorer | None,
    rare_class: str,
    n_jobs: int | None,
    fit_params: Mapping[str, object] | None,
) -> Measured:
    """Put together what measures a table in a search by the algorithm of a card, if known.

    Raises
    ------
    SpecError
        If settings do not fit each other.
    DataError
        If what measures cannot work on the table.
    """
    folds = study.cv if cv is None else cv
    judge = classifier if classifier is not None else study.classifier or "knn"
    if fit_params and (scorer is not None or isinstance(judge, str)):
        raise SpecError("fit_params are given, but only an estimator takes them", "leave them out")
    if scorer is not None:
        if rare_class != "warn":
            raise SpecError(
                f"rare_class is '{rare_class}', but a scorer has its own rows", "leave it"
            )
        if scoring is not None:
            raise SpecError(f"scoring is {scoring!r}, but a scorer says what errors are")
        return Measured(table, Outside.of_callable(scorer), None)
    if is_regressor(judge):
        if rare_class != "warn":
            raise SpecError(f"rare_class is '{rare_class}', but a regressor has none", "leave it")
    elif table.values is not None:
        raise DataError(
            f"target '{table.target}' of {table.name} is continuous, expected classes",
            "give a regressor of scikit-learn as the classifier",
        )
    else:
        protocol = card.measured_by if card is not None and isinstance(judge, str) else COMMON
        table = settle_rare(table, rare_class, folds, protocol["folds"])
    if isinstance(judge, str):
        evaluation = Evaluation.of(
            table,
            study,
            classifier=judge,
            k=k,
            metric=metric,
            weights=weights,
            cv=folds,
            cv_seed=cv_seed,
            scale=scale,
        )
        return Measured(table, evaluation, read_scoring(scoring) or study.scoring)
    outside = Outside.of_estimator(
        judge,
        table,
        scoring=scoring,
        cv=folds,
        cv_seed=cv_seed,
        n_jobs=n_jobs,
        params=fit_params,
    )
    return Measured(table, outside, None)
