"""Measures from outside the engine: any callable, or any estimator of scikit-learn."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from swarmrs import _swarmrs
from swarmrs._evaluation import CV, Folds, Rows, spread_of_mean
from swarmrs._table import Table

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
    splits : sequence of pairs of rows
        The same as rows.
    score : callable, optional
        Returns the scores of an estimator on the features of a mask, one for each split of a table.
    """

    name: str
    scorer: Scorer
    scoring: str | None = None
    folds: Folds | None = None
    splits: Sequence[Rows] = ()
    score: Callable[[NDArray[np.bool_], Table, Sequence[Rows]], NDArray[np.float64]] | None = None

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
        from sklearn.model_selection import cross_val_score

        # Ten folds, as the engine's own classifiers have them where nobody says otherwise.
        folds = Folds.of(10 if cv is None else cv, cv_seed, table)
        splits = folds.rows(table)

        def score(
            mask: NDArray[np.bool_], table: Table, splits: Sequence[Rows]
        ) -> NDArray[np.float64]:
            return np.asarray(
                cross_val_score(
                    clone(estimator),
                    table.x[:, mask],
                    table.y,
                    cv=splits,
                    scoring=scoring,
                    error_score="raise",
                )
            )

        def error(mask: NDArray[np.bool_]) -> float:
            return 1.0 - float(score(mask, table, splits).mean())

        def scorer(masks: NDArray[np.bool_]) -> list[float]:
            return list(Parallel(n_jobs=n_jobs)(delayed(error)(mask) for mask in masks))

        shown = scoring if isinstance(scoring, str) else getattr(scoring, "__qualname__", None)
        name = " ".join(repr(estimator).split())
        return cls(name, scorer, shown, folds, splits, score)

    def standard_error(
        self, table: Table, _dataset: _swarmrs.Dataset, mask: NDArray[np.bool_]
    ) -> float:
        """Return the standard error of the error of a subset, by its spread over the folds."""
        assert self.score is not None, "a search that asks for it has an estimator"
        return spread_of_mean(self.score(mask, table, self.splits))

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
