"""FilterSelector: filters behind the interface of scikit-learn's selectors."""

import warnings
from numbers import Real
from typing import Self

import numpy as np
import polars as pl
from numpy.typing import ArrayLike

from swarmrs._base._messages import check_whole, check_word
from swarmrs._base._resources import RandomState, count_threads, draw_seed
from swarmrs._base._tasks import CLASSIFICATION
from swarmrs.data._dataset import dataset_of
from swarmrs.data._table import read_table
from swarmrs.estimators._base import Chooser
from swarmrs.exceptions import SpecError, SwarmrsWarning
from swarmrs.filters._rank import RANKINGS, scored

METHODS = (*RANKINGS, "fcbf", "cfs")
# Rankings whose scores mean nothing by themselves.
_WITHOUT_THRESHOLD = ("mrmr", "ridge-rfe", "ridge-sfs", "rks")


class FilterSelector(Chooser):
    """Filter feature selection by relevance and redundancy.

    Parameters
    ----------
    method : {"su", "mi", "f", "mrmr", "relieff", "ridge-rfe", "ridge-sfs", "rks", "fcbf", "cfs"}
        Take the best features by symmetrical uncertainty with the class, by mutual information, by
        the F statistic, by minimum redundancy and maximum relevance (mRMR), by ReliefF weights, by
        recursive elimination or forward selection with ridge, or by random-subspace support, as
        `rank` has them; or take relevant features that are not redundant, by the fast
        correlation-based filter (FCBF) or correlation-based feature selection (CFS).
    n_features : int, optional
        The largest number of features. Irrelevant features are not taken to reach it.
    threshold : float, optional
        For ``"su"``, ``"mi"``, ``"f"`` and ``"relieff"``: take only features with a higher score.
        By default 0, which leaves out irrelevant features.
    random_state : int, Generator or RandomState, optional
        The seed of ``"rks"``. By default a random one.
    n_jobs : int, optional
        Threads: None is 1, -1 is all. It changes no result.

    Attributes
    ----------
    support_ : ndarray of bool
        The selected features. If none is relevant enough, the best-ranked one, with a warning.
    scores_ : ndarray of float64
        The score of each feature; for ``"fcbf"`` and ``"cfs"`` its symmetrical uncertainty.
    ranking_ : ndarray of int
        The rank of each feature by score, 1 for the best; for ``"mrmr"`` in the order of selection.
    levels_ : ndarray of uint32 or None
        The number of levels each feature is discretized into; one level means irrelevant. None for
        measures that do not discretize.
    n_features_in_, feature_names_in_
        The features seen in `fit`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> FilterSelector("su", n_features=2).fit(X, y).support_
    array([False, False,  True,  True])
    """

    def __init__(
        self,
        method: str = "su",
        *,
        n_features: int | None = None,
        threshold: float | None = None,
        random_state: RandomState = None,
        n_jobs: int | None = None,
    ) -> None:
        self.method = method
        self.n_features = n_features
        self.threshold = threshold
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: ArrayLike | pl.DataFrame, y: ArrayLike) -> Self:
        """Score the features and select among them.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            The samples.
        y : array-like of shape (n_samples,)
            Their classes.

        Returns
        -------
        FilterSelector
            Itself.
        """
        check_word("method", self.method, METHODS)
        limit = None if self.n_features is None else check_whole("n_features", self.n_features)
        is_ranked = self.method in RANKINGS
        has_threshold = is_ranked and self.method not in _WITHOUT_THRESHOLD
        if self.threshold is not None and not has_threshold:
            raise SpecError(
                f"threshold is {self.threshold}, but '{self.method}' has none", "leave it out"
            )
        if not isinstance(self.threshold, Real | None) or self.threshold != self.threshold:
            raise SpecError(f"threshold is {self.threshold!r}, expected a number")
        table = read_table(self._checked(X, y), task=CLASSIFICATION.name)
        dataset = dataset_of(table)
        threads = count_threads(self.n_jobs)
        by = self.method if is_ranked else "su"
        features = range(dataset.n_features)
        seed = draw_seed(self.random_state) if by == "rks" else None
        found = scored(table, dataset, by, features, limit, seed, threads)
        order, self.scores_, self.levels_ = found.order, found.scores, found.levels
        self.ranking_ = np.empty(len(order), dtype=np.intp)
        self.ranking_[order] = np.arange(1, len(order) + 1)
        most = len(order) if limit is None else min(limit, len(order))
        if is_ranked:
            best = order[:most]
            above = self.threshold
            is_relevant = found.is_relevant if above is None else found.scores > above
            selected = best[is_relevant[best]]
        else:
            survivors = dataset.survivors(self.method, most, threads)
            selected = np.array(survivors, dtype=np.intp)
        if not selected.size:
            warnings.warn(
                "no feature is relevant enough: the best-ranked one is selected",
                SwarmrsWarning,
                stacklevel=2,
            )
            selected = order[:1]
        self.support_ = np.zeros(len(order), dtype=bool)
        self.support_[selected] = True
        return self
