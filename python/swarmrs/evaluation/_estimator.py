"""Measures from outside the engine: any callable, or any estimator of scikit-learn."""

import signal
import warnings
from collections.abc import Callable, Mapping, Sequence, Sized
from copy import copy
from dataclasses import dataclass, replace
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from swarmrs import _swarmrs
from swarmrs._base._choices import NATIVE_SCORES
from swarmrs._base._hints import named
from swarmrs._base._messages import counted, nearest
from swarmrs._base._resources import count_threads
from swarmrs.data._table import Table
from swarmrs.evaluation._folds import CV, Folds, Rows
from swarmrs.evaluation._losses import SCORES, Baseline, loss_from
from swarmrs.evaluation._native import majority, spread_of_mean
from swarmrs.exceptions import SpecError

Scorer: TypeAlias = Callable[[NDArray[np.bool_]], Sequence[float]]


# What to do about a function of a batch of masks that returns something else.
ONE_EACH = "return one finite number for each row of the matrix"


def numbers_for(
    given: ArrayLike, masks: NDArray[np.bool_], function: str, unit: str
) -> list[float]:
    """Return what a function of the user gave for a batch of masks, as numbers.

    Raises
    ------
    SpecError
        If it is not one number for each; `function` and `unit` say what gave it, and for what.
    """
    expected = counted(len(masks), unit)
    try:
        numbers = np.asarray(given)
        # NumPy would drop the imaginary part with a warning at most.
        if np.iscomplexobj(numbers):
            raise TypeError
        numbers = numbers.astype(np.float64)
    except (TypeError, ValueError):
        kind = type(given).__name__
        raise SpecError(
            f"{function} returned a {kind} without numbers for {expected}", ONE_EACH
        ) from None
    if numbers.shape != (len(masks),):
        shape = " x ".join(map(str, numbers.shape))
        shown = "1 number" if shape == "1" else f"{shape} numbers" if shape else repr(given)
        raise SpecError(f"{function} returned {shown} for {expected}", ONE_EACH)
    return numbers.tolist()  # type: ignore[no-any-return]


class Estimator(Protocol):
    """What scikit-learn calls an estimator."""

    def fit(self, X: NDArray[np.float64], y: NDArray[np.generic]) -> object:
        """Learn from rows and their labels."""

    def predict(self, X: NDArray[np.float64]) -> ArrayLike:
        """Return a label for each row."""


Scoring: TypeAlias = str | Callable[[Estimator, NDArray[np.float64], NDArray[np.generic]], float]


def is_regressor(judge: Any) -> bool:
    """Return whether it is an estimator that predicts numbers.

    Raises
    ------
    SpecError
        If it is neither a name nor an estimator.
    """
    if judge is None or isinstance(judge, str):
        return False  # Without scikit-learn, which takes long to load.
    from sklearn import base

    if isinstance(judge, type) or not hasattr(judge, "fit"):
        kind = "the class" if isinstance(judge, type) else "a"
        name = judge.__name__ if isinstance(judge, type) else type(judge).__name__
        raise SpecError(
            f"{named('estimator')} is {kind} {name}, expected a name or an estimator",
            "give 'knn', 'nb', 'ridge' or an estimator of scikit-learn, such as SVC()",
        )
    try:
        # scikit-learn before 1.8 also takes classes without tags: refuse them on every version.
        judge.__sklearn_tags__()
        return bool(base.is_regressor(judge))
    except AttributeError:
        raise SpecError(
            f"{named('estimator')} is a {type(judge).__name__}, which scikit-learn cannot use",
            "derive it from sklearn.base.BaseEstimator",
        ) from None


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
        The score to compute.
    folds : Folds, optional
        The folds an estimator is scored on.
    has_classes : bool
        Whether its folds are of classes, so that the engine can warn of rare ones.
    splits : sequence of pairs of rows
        The same as rows.
    score : callable, optional
        Returns the scores of an estimator on the features of a mask, one for each split of a table.
    score_constant : callable, optional
        Returns those of one that predicts one value, whatever the features.
    """

    name: str
    scorer: Scorer
    scoring: str | None = None
    folds: Folds | None = None
    has_classes: bool = False
    splits: Sequence[Rows] = ()
    score: Callable[[NDArray[np.bool_], Table, Sequence[Rows]], NDArray[np.float64]] | None = None
    score_constant: Callable[[Table, Sequence[Rows]], NDArray[np.float64]] | None = None

    @classmethod
    def of_callable(cls, scorer: Scorer) -> "Outside":
        """Return a measure by a function of a batch of masks."""

        def checked(masks: NDArray[np.bool_]) -> list[float]:
            return numbers_for(scorer(masks), masks, "the scorer", "subset")

        return cls(getattr(scorer, "__qualname__", type(scorer).__qualname__), checked)

    @classmethod
    def of_estimator(
        cls,
        estimator: Estimator,
        table: Table,
        *,
        scoring: Scoring | None,
        cv: CV | None,
        cv_seed: int | None,
        n_jobs: int | None,
        params: Mapping[str, object] | None = None,
    ) -> "Outside":
        """Return the loss of the mean score of an estimator over folds, features unscaled.

        `params` is what its `fit` is given beside the samples, and the scorer, too, where metadata
        routing is enabled: then both by what they have requested.
        """
        from joblib import parallel_config
        from joblib.parallel import get_active_backend
        from sklearn import config_context, get_config
        from sklearn.utils.parallel import Parallel, delayed

        _check_scoring(scoring)
        folds = Folds.of(cv, cv_seed, table)
        if table.values is not None and folds.scheme == "loo" and scoring in (None, "r2"):
            raise SpecError(
                "cv is 'loo', but a part of one row has no r2",
                "take folds, or a scoring such as 'neg_mean_absolute_error'",
            )
        splits = folds.rows(table)
        seen = _Seen.of(table, splits, params)
        # The engine asks from a thread of its own, where neither the settings of scikit-learn nor
        # those of joblib are known that are in force here.
        n_workers, config = count_threads(n_jobs), get_config()
        backend = copy(get_active_backend()[0])
        # Ctrl-C is the engine's, which then ends with the best so far; a worker that dies of it
        # would take the search along. Old versions of joblib have no such setting.
        if hasattr(backend, "backend_kwargs"):
            backend.backend_kwargs = {"initializer": _ignore_interrupts, **backend.backend_kwargs}

        def scorer(masks: NDArray[np.bool_]) -> list[float]:
            with config_context(**config):
                parts = (seen.only(mask) for mask in masks)
                if n_workers == 1:
                    return [_error(estimator, part, scoring) for part in parts]
                with parallel_config(backend=backend):
                    jobs = (delayed(_error)(estimator, part, scoring) for part in parts)
                    return list(Parallel(n_jobs=n_workers)(jobs))

        shown = scoring if isinstance(scoring, str) else getattr(scoring, "__qualname__", None)
        name = " ".join(repr(estimator).split())

        def score(
            mask: NDArray[np.bool_], table: Table, splits: Sequence[Rows]
        ) -> NDArray[np.float64]:
            with config_context(**config):
                return _scores(estimator, _Seen.of(table, splits, params).only(mask), scoring)

        def score_constant(table: Table, splits: Sequence[Rows]) -> NDArray[np.float64]:
            with config_context(**config):
                return _constant_scores(_Seen.of(table, splits, None), table, scoring)

        # A function of the caller may look at what the estimator learned, which a constant has not.
        constant = None if callable(scoring) else score_constant
        return cls(name, scorer, shown, folds, table.values is None, splits, score, constant)

    def baseline(self, table: Table, splits: Sequence[Rows] | None = None) -> Baseline | None:
        """Return what predicting one value shows; None where that cannot be scored.

        Of classes it is the majority, with the shares of classes as probabilities, of numbers the
        mean; each of the training rows.
        """
        if self.score_constant is None:
            return None
        try:
            scores = self.score_constant(table, self.splits if splits is None else splits)
        except ValueError:
            return None
        loss = loss_from(float(scores.mean()), self.scoring)
        label = str(table.labels[majority(table.codes)]) if self.has_classes else None
        return Baseline(label, loss, {**dict.fromkeys(SCORES), "error": loss})

    def standard_error(
        self,
        table: Table,
        _dataset: _swarmrs.Dataset,
        mask: NDArray[np.bool_],
        _scoring: str | None = None,
    ) -> float:
        """Return the standard error of the error of a subset, by its spread over the folds."""
        assert self.score is not None, "a search that asks for it has an estimator"
        return spread_of_mean(self.score(mask, table, self.splits))

    def spec(self) -> dict[str, object]:
        """Return what stands in the engine's place for an evaluation; it is not used."""
        folds: dict[str, object] = {"scheme": "loo"}
        if self.folds is not None and self.has_classes:
            folds = self.folds.spec()
        return {
            "classifier": "knn",
            "k": 1,
            "metric": "euclidean",
            "weights": "uniform",
            "folds": folds,
        }

    def to_dict(self) -> dict[str, object]:
        """Return the measure as a result records it."""
        settings: dict[str, object] = {"estimator": self.name, "scale": "none"}
        if self.scoring is not None:
            settings["scoring"] = self.scoring
        if self.folds is not None:
            settings["folds"] = self.folds.to_dict()
        return settings


def _check_scoring(scoring: Scoring | None) -> None:
    """Refuse names that no scorer of scikit-learn has.

    Raises
    ------
    SpecError
        If it is one; the hint offers the nearest name.
    """
    from sklearn.metrics import get_scorer_names

    if isinstance(scoring, str) and scoring not in (names := get_scorer_names()):
        guess = nearest(scoring, names)
        offer = f"did you mean '{guess}'? " if guess else ""
        raise SpecError(
            f"unknown scoring '{scoring}'",
            f"{offer}known: the scorers of scikit-learn, such as {', '.join(NATIVE_SCORES)}",
        )


def _ignore_interrupts() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)


@dataclass(frozen=True)
class _Seen:
    """What an estimator is given: samples, labels, more for each row if any, and the splits.

    The samples are the data frame that the user gave, if there is one, so that an estimator can
    name its columns. Missing values are imputed from the training rows; then the samples are an
    array, in which rows that had some stand once for each split.
    """

    x: Any
    y: NDArray[np.generic]
    params: Mapping[str, object] | None
    splits: Sequence[Rows]

    @classmethod
    def of(
        cls, table: Table, splits: Sequence[Rows], params: Mapping[str, object] | None
    ) -> "_Seen":
        if table.unfilled is None:
            x = table.x if table.samples is None else table.samples
            return cls(x, table.y, params, splits)
        x, rows, splits = table.unfilled.copies(table.x, splits)

        def repeated(value: object) -> object:
            is_of_rows = isinstance(value, Sized) and len(value) == len(table.y)
            return np.asarray(value)[rows] if is_of_rows else value

        more = None if params is None else {name: repeated(it) for name, it in params.items()}
        return cls(x, table.y[rows], more, splits)

    def only(self, mask: NDArray[np.bool_]) -> "_Seen":
        """Return the same with some features."""
        from sklearn.utils import _safe_indexing

        return replace(self, x=_safe_indexing(self.x, np.flatnonzero(mask), axis=1))


def _error(estimator: Estimator, seen: _Seen, scoring: Scoring | None) -> float:
    """Return the loss of the mean score."""
    name = scoring if isinstance(scoring, str) else None
    return loss_from(float(_scores(estimator, seen, scoring).mean()), name)


def _scores(estimator: Estimator, seen: _Seen, scoring: Scoring | None) -> NDArray[np.float64]:
    """Return the score on each split: a function of its arguments alone, for other processes."""
    from sklearn.base import clone
    from sklearn.model_selection import cross_val_score

    scores = cross_val_score(
        clone(estimator),
        seen.x,
        seen.y,
        cv=seen.splits,
        scoring=scoring,
        # With metadata routing, scikit-learn 1.6.0 refuses None.
        params=seen.params or {},
        error_score="raise",
    )
    return np.asarray(scores, dtype=np.float64)


def _constant_scores(seen: _Seen, table: Table, scoring: Scoring | None) -> NDArray[np.float64]:
    """Return the score on each split of an estimator that looks at no feature."""
    from sklearn.dummy import DummyClassifier, DummyRegressor

    guess = DummyClassifier() if table.values is None else DummyRegressor()
    with warnings.catch_warnings():
        # A class that is never predicted has no precision, which is no news here.
        warnings.simplefilter("ignore")
        return _scores(guess, replace(seen, x=np.zeros((len(seen.y), 1))), scoring)
