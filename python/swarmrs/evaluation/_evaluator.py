"""Evaluator: the scores of subsets one names oneself."""

import json
import warnings

import numpy as np
from numpy.typing import ArrayLike, NDArray

from swarmrs import _swarmrs
from swarmrs._base._arguments import check_arguments
from swarmrs._base._messages import check_whole
from swarmrs._base._resources import count_threads
from swarmrs._base._tasks import REGRESSION
from swarmrs.data._dataset import dataset_of, describe_data
from swarmrs.data._table import Source, read_table
from swarmrs.data._target import Target
from swarmrs.evaluation._estimator import Estimator, is_regressor
from swarmrs.evaluation._folds import CV
from swarmrs.evaluation._native import Classifier, Evaluation, Work
from swarmrs.evaluation._rare_classes import settle_rare
from swarmrs.exceptions import SpecError, SwarmrsWarning


class Evaluator:
    """Measures subsets of features, exactly as a search does.

    Parameters
    ----------
    X : array, frame, str, path or Table
        The samples; see `read_table`.
    y : array-like, str or int, optional
        Their labels or numbers, or the column that holds them. By default the last column.
    estimator : {"knn", "nb", "ridge"}, estimator or pipeline, optional
        The classifier, which the engine must have; see `select`. None is 5 nearest neighbors on
        min-max scaled features.
    cv, cv_seed, scale, n_jobs, memory
        As for `select`.
    incremental : bool
        Whether a subset may be built from one measured before. It changes no score.
    rare_class : {"warn", "error", "drop", "merge"}
        What to do about classes with fewer rows than there are folds, as for `select`.
    task : {"classification", "regression"}, optional
        What is predicted; None guesses it from the target, as for `select`.

    Attributes
    ----------
    table : Table
        The data as it was read.
    evaluation : Evaluation
        The settings.
    baseline : Baseline
        What predicting the majority class, or the mean, shows on the same folds.
    warnings : tuple of str
        What can mislead: how the data was read, rare classes, columns the grid is too coarse for.

    Examples
    --------
    >>> evaluator = Evaluator("sklearn:iris", estimator="nb", cv="loo")
    >>> scores = evaluator.measure([[True, True, False, False], [False, False, True, True]])
    >>> scores["accuracy"].round(2)
    array([0.78, 0.96])
    """

    def __init__(
        self,
        X: Source,
        y: Target = None,
        *,
        estimator: str | Estimator | Classifier | None = None,
        cv: CV | None = 10,
        cv_seed: int | None = None,
        scale: str | None = None,
        n_jobs: int | None = None,
        memory: int = 2**30,
        incremental: bool = True,
        rare_class: str = "warn",
        task: str | None = None,
    ) -> None:
        check_arguments(Evaluator.__init__, locals())
        if is_regressor(None if isinstance(estimator, Classifier) else estimator):
            task = REGRESSION.name
        classifier = Classifier.of(estimator)
        if classifier is None:
            raise SpecError(
                f"estimator is {' '.join(repr(estimator).split())}, which the engine does not have",
                "score it with cross_val_score of scikit-learn",
            )
        table = read_table(X, y, task=task)
        self.table = settle_rare(table, rare_class, cv) if table.values is None else table
        self.evaluation = Evaluation.of(self.table, classifier, cv=cv, cv_seed=cv_seed, scale=scale)
        table = self.table
        dataset = dataset_of(table, self.evaluation.scale)
        self.fingerprint = dataset.fingerprint
        self.baseline = self.evaluation.baseline(table, dataset, None)
        self._engine = _swarmrs.Evaluator(
            dataset,
            json.dumps(self.evaluation.spec()),
            count_threads(n_jobs),
            check_whole("memory", memory, 0),
            incremental,
        )
        noted = table.name_classes([*dataset.warnings, *self._engine.warnings])
        self.warnings = (*table.warnings, *noted)
        for message in self.warnings:
            warnings.warn(message, SwarmrsWarning, stacklevel=2)

    def measure(self, masks: ArrayLike) -> NDArray[np.void]:
        """Return the scores of each subset.

        Parameters
        ----------
        masks : array-like of bool
            A row for each subset, a column for each feature; or one row alone.

        Returns
        -------
        structured ndarray
            An element for each subset, a field for each score.
        """
        scores = self._engine.measure(self._check(masks, 2))
        fields = np.dtype([(name, np.float64) for name in self._engine.scores])
        return scores.view(fields)[:, 0]

    def predict(self, mask: ArrayLike) -> tuple[NDArray[np.uint32], NDArray[np.generic]]:
        """Return what is predicted for each tested row.

        Parameters
        ----------
        mask : array-like of bool
            Whether each feature is in.

        Returns
        -------
        rows : ndarray of uint32
            The tested rows, ascending; as often as they are tested.
        labels : ndarray
            The label or number predicted for each.
        """
        if self.table.values is not None:
            rows, numbers, _ = self._engine.predict_numbers(self._check(mask, 1))
            return rows, numbers
        rows, codes, _ = self._engine.predict(self._check(mask, 1))
        return rows, np.array(self.table.labels)[codes]

    @property
    def work(self) -> Work:
        """The element operations done so far."""
        return Work(*self._engine.work())

    def describe_data(self) -> dict[str, object]:
        """Return what a result says about the table."""
        return describe_data(self.table, self.fingerprint)

    def _check(self, masks: ArrayLike, ndim: int) -> NDArray[np.bool_]:
        try:
            array = np.ascontiguousarray(masks, dtype=bool)
        except (TypeError, ValueError):
            raise SpecError("masks are no array of True and False: rows differ in length") from None
        if array.ndim == 1:
            array = array.reshape((1,) * (ndim - 1) + array.shape)
        width = len(self.table.names)
        if array.ndim != ndim or array.shape[-1] != width:
            shape = " x ".join(map(str, array.shape))
            raise SpecError(f"masks are {shape}, expected {width} features in the last dimension")
        return array
