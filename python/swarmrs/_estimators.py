"""The searches as scikit-learn has selectors."""

from collections.abc import Mapping, Sequence
from typing import Self

import polars as pl
from numpy.typing import ArrayLike
from sklearn.utils import Tags

from swarmrs._chooser import Chooser
from swarmrs._constraints import Together
from swarmrs._evaluation import CV
from swarmrs._groups import Groups
from swarmrs._scorer import Estimator, Scoring
from swarmrs._seeds import RandomState
from swarmrs._select import select
from swarmrs._selection import Setting


class SwarmSelector(Chooser):
    """Chooses features by any algorithm of the registry.

    Parameters
    ----------
    algo : str
        The id of an algorithm; `swarmrs.algorithms` lists them.
    preset : str, optional
        The study whose settings take the place of the defaults, as for `swarmrs.select`.
    classifier, k, metric, weights, cv, cv_seed, scale, scoring
        How a subset is measured, as for `swarmrs.select`.
    objective, alpha, gamma, sim, sigma_log
        What is lowered.
    max_evals, iterations, time_limit, target_cost
        When to stop; by default after the algorithm's own number of evaluations.
    params : mapping, optional
        Settings of the algorithm that differ from its defaults.
    include, exclude : sequence of str or int
        Features that are always, or never, in.
    max_features : int, optional
        How many features may be chosen.
    together : sequence of sequences of str or int
        Features that go in or out together.
    one_per_group : bool
        Whether at most one feature of each group may be chosen.
    prescreen : {"su>0", "top=K", "fcbf", "cfs"}, optional
        Drop features before the search, by the samples given to `fit` alone.
    groups : str, path, sequence of sequences or Grouping, optional
        Which features belong together, for algorithms that ask, as for `swarmrs.select`. These are
        groups of features; the groups of samples that a splitter of `cv` may ask for are not meant.
    pick : {"best", "knee", "size<=K"}
        Which of the subsets tried is chosen, as for `swarmrs.select`.
    random_state : int, RandomState, Generator or None
        The seed of the search.
    n_jobs : int, optional
        Threads: None is 1, -1 is all. It changes no result.
    memory : int
        Bytes for distances kept between evaluations. It changes no result.
    missing, rare_class, constant
        What to do about missing values, rare classes and constant columns, as for `swarmrs.select`.
        With ``missing="keep"`` an estimator is given missing values as they are.

    Attributes
    ----------
    support_ : ndarray of bool
        The chosen features.
    cost_, scores_, stop_, n_evaluations_, trace_, front_
        What the search found and how; see `swarmrs.Selection`.
    groups_ : tuple of tuple of str or None
        The groups of features the search knew of.
    result_ : Selection
        All of it.
    n_features_in_, feature_names_in_
        The features seen in `fit`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> SwarmSelector("sfs", cv=5).fit(X, y).support_
    array([False, False, False,  True])
    """

    def __init__(
        self,
        algo: str = "bpso",
        *,
        preset: str | None = None,
        classifier: str | Estimator | None = None,
        k: int | None = None,
        metric: str | None = None,
        weights: str | None = None,
        cv: CV | None = None,
        cv_seed: int = 0,
        scale: str | None = None,
        scoring: Scoring | None = None,
        objective: str | None = None,
        alpha: float | None = None,
        gamma: float | None = None,
        sim: str | None = None,
        sigma_log: str | None = None,
        max_evals: int | None = None,
        iterations: int | None = None,
        time_limit: float | None = None,
        target_cost: float | None = None,
        params: Mapping[str, Setting] | None = None,
        include: Sequence[str | int] = (),
        exclude: Sequence[str | int] = (),
        max_features: int | None = None,
        together: Together = (),
        one_per_group: bool = False,
        prescreen: str | None = None,
        groups: Groups | None = None,
        pick: str = "best",
        random_state: RandomState = None,
        n_jobs: int | None = None,
        memory: int = 2**30,
        missing: str = "error",
        rare_class: str = "warn",
        constant: str | None = None,
    ) -> None:
        self.algo = algo
        self.preset = preset
        self.classifier = classifier
        self.k = k
        self.metric = metric
        self.weights = weights
        self.cv = cv
        self.cv_seed = cv_seed
        self.scale = scale
        self.scoring = scoring
        self.objective = objective
        self.alpha = alpha
        self.gamma = gamma
        self.sim = sim
        self.sigma_log = sigma_log
        self.max_evals = max_evals
        self.iterations = iterations
        self.time_limit = time_limit
        self.target_cost = target_cost
        self.params = params
        self.include = include
        self.exclude = exclude
        self.max_features = max_features
        self.together = together
        self.one_per_group = one_per_group
        self.prescreen = prescreen
        self.groups = groups
        self.pick = pick
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.memory = memory
        self.missing = missing
        self.rare_class = rare_class
        self.constant = constant

    def fit(self, X: ArrayLike | pl.DataFrame, y: ArrayLike) -> Self:
        """Search for the features that tell the classes apart best.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            The samples.
        y : array-like of shape (n_samples,)
            Their classes.

        Returns
        -------
        SwarmSelector
            Itself.
        """
        samples = self._checked(X, y, allow_nan=self.missing != "error")
        result = select(samples, **self.get_params(deep=False))
        self.result_ = result
        self.support_ = result.support
        self.cost_ = result.cost
        self.scores_ = result.scores
        self.stop_ = result.stop
        self.n_evaluations_ = result.evaluations.asked
        self.trace_ = result.trace
        self.front_ = result.front
        self.groups_ = result.groups
        return self

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.missing != "error"
        return tags
