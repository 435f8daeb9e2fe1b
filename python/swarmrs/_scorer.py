"""Measures from outside the engine: any callable, or any estimator of scikit-learn."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from swarmrs._evaluation import CV, Folds
from swarmrs._table import Table
from swarmrs.exceptions import SpecError

Scorer: TypeAlias = Callable[[NDArray[np.bool_]], Sequence[float]]


class Estimator(Protocol):
    """What scikit-learn calls an estimator."""

    def fit(self, X: NDArray[np.float64], y: NDArray[np.generic]) -> object:
        """Learn from rows and their labels."""

    def predict(self, X: NDArray[np.float64]) -> ArrayLike:
        """Return a label for each row."""


Scoring: TypeAlias = str | Callable[[Estimator, NDArray[np.float64], NDArray[np.generic]], float]


@dataclass(frozen=True)
class Outside:
    """A measure the engine does not know: only the error comes back.

    Attributes
    ----------
    name : str
        What it is called in results.
    scorer : callable
        Returns the error of each of a batch of masks.
    scoring : str, optional
        The score an estimator is asked for.
    folds : Folds, optional
        The folds an estimator is scored on.
    """

    name: str
    scorer: Scorer
    scoring: str | None = None
    folds: Folds | None = None

    @classmethod
    def of_callable(cls, scorer: Scorer) -> "Outside":
        """Return a measure by a function of a batch of masks."""
        return cls(getattr(scorer, "__qualname__", type(scorer).__qualname__), scorer)

    @classmethod
    def of_estimator(
        cls,
        estimator: Estimator,
        table: Table,
        *,
        scoring: Scoring | None,
        cv: CV | None,
        cv_seed: int,
        n_jobs: int | None,
    ) -> "Outside":
        """Return 1 - the mean score of an estimator over folds, features unscaled."""
        from joblib import Parallel, delayed
        from sklearn.base import clone
        from sklearn.model_selection import (
            LeaveOneOut,
            StratifiedKFold,
            StratifiedShuffleSplit,
            cross_val_score,
        )

        # Ten folds, as the engine's own classifiers have them where nobody says otherwise.
        folds = Folds.of(10 if cv is None else cv, cv_seed, table)
        splits = list(folds.splits)
        if folds.scheme == "loo":
            splits = list(LeaveOneOut().split(table.x))
        elif folds.scheme == "holdout":
            holdout = StratifiedShuffleSplit(1, test_size=folds.test, random_state=folds.seed)
            splits = list(holdout.split(table.x, table.y))
        elif folds.scheme == "wrap5":
            raise SpecError("cv is 'wrap5', which is for classifiers knn and nb", "give cv folds")
        elif folds.scheme == "kfold":
            seed = folds.seed if folds.shuffle else None
            stratified = StratifiedKFold(folds.k, shuffle=folds.shuffle, random_state=seed)
            splits = list(stratified.split(table.x, table.y))

        def error(mask: NDArray[np.bool_]) -> float:
            scores = cross_val_score(
                clone(estimator),
                table.x[:, mask],
                table.y,
                cv=splits,
                scoring=scoring,
                error_score="raise",
            )
            return 1.0 - float(scores.mean())

        def scorer(masks: NDArray[np.bool_]) -> list[float]:
            return list(Parallel(n_jobs=n_jobs)(delayed(error)(mask) for mask in masks))

        shown = scoring if isinstance(scoring, str) else getattr(scoring, "__qualname__", None)
        return cls(" ".join(repr(estimator).split()), scorer, shown, folds)

    def spec(self) -> dict[str, object]:
        """Return what stands in the engine's place for an evaluation; it is not used."""
        folds = {"scheme": "loo"} if self.folds is None else self.folds.spec()
        return {
            "classifier": "knn",
            "k": 1,
            "metric": "euclidean",
            "weights": "uniform",
            "folds": folds,
        }

    def to_dict(self) -> dict[str, object]:
        """Return the measure as a result records it."""
        settings: dict[str, object] = {"classifier": self.name, "scale": "none"}
        if self.scoring is not None:
            settings["scoring"] = self.scoring
        if self.folds is not None:
            settings["folds"] = self.folds.to_dict()
        return settings
