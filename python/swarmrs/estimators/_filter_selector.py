"""The filters as scikit-learn has selectors."""

import warnings
from numbers import Real
from typing import Self

import numpy as np
import polars as pl
from numpy.typing import ArrayLike

from swarmrs._base._messages import check_whole, check_word
from swarmrs._base._resources import count_threads
from swarmrs.data._dataset import dataset_of
from swarmrs.data._table import read_table
from swarmrs.estimators._base import Chooser
from swarmrs.exceptions import SpecError, SwarmrsWarning
from swarmrs.filters._rank import MEASURES, best_first, relevance

METHODS = (*MEASURES, "fcbf", "cfs")


class FilterSelector(Chooser):
    """Chooses features by what they tell about the class, without a classifier.

    Parameters
    ----------
    method : {"su", "mi", "fcbf", "cfs"}
        Rank by symmetric uncertainty or by information about the class and take the best; or let
        the fast correlation-based filter, or correlation-based selection, choose those that do not
        stand for each other.
    n_features : int, optional
        Take at most so many. Irrelevant features are not taken to make up the number.
    threshold : float, optional
        With ``"su"`` and ``"mi"``: take only features with a higher score. By default 0, which
        leaves out what is irrelevant.
    n_jobs : int, optional
        Threads: None is 1, -1 is all. It changes no result.

    Attributes
    ----------
    support_ : ndarray of bool
        The chosen features. If none is relevant enough it is the best-ranked one, with a warning.
    scores_ : ndarray of float64
        The score of each feature; for ``"fcbf"`` and ``"cfs"`` its symmetric uncertainty.
    ranking_ : ndarray of int
        The rank of each feature by score, 1 for the best.
    levels_ : ndarray of uint32
        How many levels each feature was cut into; one level means irrelevant.
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
        n_jobs: int | None = None,
    ) -> None:
        self.method = method
        self.n_features = n_features
        self.threshold = threshold
        self.n_jobs = n_jobs

    def fit(self, X: ArrayLike | pl.DataFrame, y: ArrayLike) -> Self:
        """Score the features and choose among them.

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
        is_ranked = self.method in MEASURES
        if self.threshold is not None and not is_ranked:
            raise SpecError(
                f"threshold is {self.threshold}, but '{self.method}' has none", "leave it out"
            )
        if not isinstance(self.threshold, Real | None) or self.threshold != self.threshold:
            raise SpecError(f"threshold is {self.threshold!r}, expected a number")
        dataset = dataset_of(read_table(self._checked(X, y)))
        threads = count_threads(self.n_jobs)
        by = self.method if is_ranked else "su"
        self.scores_, self.levels_ = relevance(dataset, by, threads)
        order = best_first(self.scores_)
        self.ranking_ = np.empty(len(order), dtype=np.intp)
        self.ranking_[order] = np.arange(1, len(order) + 1)
        most = len(order) if limit is None else min(limit, len(order))
        if is_ranked:
            best = order[:most]
            chosen = best[self.scores_[best] > (self.threshold or 0.0)]
        else:
            survivors = dataset.survivors(self.method, most, threads)
            chosen = np.array(survivors, dtype=np.intp)
        if not chosen.size:
            warnings.warn(
                "no feature is relevant enough: the best-ranked one is chosen",
                SwarmrsWarning,
                stacklevel=2,
            )
            chosen = order[:1]
        self.support_ = np.zeros(len(order), dtype=bool)
        self.support_[chosen] = True
        return self
