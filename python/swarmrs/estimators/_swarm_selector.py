"""The searches as scikit-learn has selectors."""

import warnings
from collections.abc import Mapping, Sequence
from inspect import signature
from typing import TYPE_CHECKING, Any, Self

import polars as pl
from numpy.typing import ArrayLike
from sklearn.utils import Tags
from sklearn.utils.metadata_routing import MetadataRouter
from sklearn.utils.validation import check_is_fitted

from swarmrs._base._messages import Setting, check_whole, check_word
from swarmrs._base._resources import RandomState
from swarmrs.estimators._base import Chooser
from swarmrs.estimators._callbacks import CallbackSupportMixin, Task, with_callbacks
from swarmrs.estimators._routing import route, router_of
from swarmrs.evaluation._estimator import Estimator, Scoring, is_regressor
from swarmrs.evaluation._folds import CV
from swarmrs.exceptions import SwarmrsWarning
from swarmrs.filters._groups import Groups
from swarmrs.search._constraints import Together
from swarmrs.search._results import Selection
from swarmrs.search._select import select

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ON_INTERRUPT = ("return", "raise")
# Settings that have defaults of their own here, which are those of a preset where one is given.
_LEFT_TO_PRESETS = ("classifier", "cv", "objective")


class SwarmSelector(CallbackSupportMixin, Chooser):  # type: ignore[misc]
    """Chooses features by any algorithm of the registry.

    None as a setting leaves it to the preset, or else to the algorithm, which measures as its paper
    does, or else to the common default. So ``SwarmSelector("vlpso", cv=None, objective=None)`` has
    what the paper of VLPSO has: leave-one-out and an objective that also counts how far classes lie
    apart. Where a preset is given, `classifier`, `cv` and `objective` at their defaults are left to
    it, too.

    Parameters
    ----------
    algo : str
        The id of an algorithm; `swarmrs.algorithms` lists them.
    classifier : {"knn", "nb", "nb-cdf"} or estimator
        What measures a subset. Any classifier or regressor of scikit-learn can:
        then subsets are measured in batches over `n_jobs`, none of them twice. A regressor makes
        the target numbers, not classes.
    cv : int, str, splitter or iterable of splits, optional
        The folds, as for `swarmrs.select`; None for the algorithm's own. What a splitter asks for
        beside the samples, such as ``groups``, is given to `fit`.
    objective : str, optional
        What is lowered, as for `swarmrs.select`; None for the algorithm's own, mostly the error.
    max_evals : int, optional
        How many subsets may be evaluated; by default the algorithm's own number. An iteration of a
        swarm evaluates one subset of each member; of less than one iteration, a part is evaluated.
    random_state : int, RandomState, Generator or None
        The seed of the search.
    n_jobs : int, optional
        Threads, or workers for an estimator: None is 1 unless `joblib.parallel_config` says
        otherwise, -1 is all. It changes no result.
    params : mapping, optional
        Settings of the algorithm that differ from its defaults.
    scoring : str or callable, optional
        The score that counts, as for `swarmrs.select`; an estimator is asked for any score that
        scikit-learn knows. The cost is made of 1 - score.
    preset : str, optional
        The study whose settings take the place of the defaults, as for `swarmrs.select`.
    k, metric, weights, cv_seed, scale
        How a subset is measured, as for `swarmrs.select`.
    alpha, gamma, sim, sigma_log
        Settings of the objective.
    iterations, time_limit, target_cost, patience
        When else to stop: iterations, seconds, a cost that is good enough, iterations without a
        better subset.
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
    parsimony : {"1se"}, optional
        Choose the smallest subset tried within one standard error of the best.
    memory : int
        Bytes for distances kept between evaluations. It changes no result.
    missing, rare_class, constant
        What to do about missing values, rare classes and constant columns, as for `swarmrs.select`.
        With ``missing="keep"`` an estimator is given missing values as they are.
    on_interrupt : {"return", "raise"}
        What Ctrl-C does: end the search and keep the best subset so far, with a warning, or raise
        KeyboardInterrupt, which also ends what called `fit`. Either waits for the batch of subsets
        that an estimator is measuring.

    Attributes
    ----------
    support_ : ndarray of bool
        The chosen features.
    cost_, scores_, stop_, trace_, front_
        What the search found and how; see `swarmrs.Selection`.
    n_evaluations_ : int
        How many subsets were evaluated.
    groups_ : tuple of tuple of str or None
        The groups of features the search knew of.
    interrupted_ : bool
        Whether Ctrl-C ended the search.
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
        algo: str = "vlpso",
        *,
        classifier: str | Estimator | None = "knn",
        cv: CV | None = 10,
        objective: str | None = "error",
        max_evals: int | None = None,
        random_state: RandomState = None,
        n_jobs: int | None = None,
        params: Mapping[str, Setting] | None = None,
        scoring: Scoring | None = None,
        preset: str | None = None,
        k: int | None = None,
        metric: str | None = None,
        weights: str | None = None,
        cv_seed: int = 0,
        scale: str | None = None,
        alpha: float | None = None,
        gamma: float | None = None,
        sim: str | None = None,
        sigma_log: str | None = None,
        iterations: int | None = None,
        time_limit: float | None = None,
        target_cost: float | None = None,
        patience: int | None = None,
        include: Sequence[str | int] = (),
        exclude: Sequence[str | int] = (),
        max_features: int | None = None,
        together: Together = (),
        one_per_group: bool = False,
        prescreen: str | None = None,
        groups: Groups | None = None,
        pick: str = "best",
        parsimony: str | None = None,
        memory: int = 2**30,
        missing: str = "error",
        rare_class: str = "warn",
        constant: str | None = None,
        on_interrupt: str = "return",
    ) -> None:
        self.algo = algo
        self.classifier = classifier
        self.cv = cv
        self.objective = objective
        self.max_evals = max_evals
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.params = params
        self.scoring = scoring
        self.preset = preset
        self.k = k
        self.metric = metric
        self.weights = weights
        self.cv_seed = cv_seed
        self.scale = scale
        self.alpha = alpha
        self.gamma = gamma
        self.sim = sim
        self.sigma_log = sigma_log
        self.iterations = iterations
        self.time_limit = time_limit
        self.target_cost = target_cost
        self.patience = patience
        self.include = include
        self.exclude = exclude
        self.max_features = max_features
        self.together = together
        self.one_per_group = one_per_group
        self.prescreen = prescreen
        self.groups = groups
        self.pick = pick
        self.parsimony = parsimony
        self.memory = memory
        self.missing = missing
        self.rare_class = rare_class
        self.constant = constant
        self.on_interrupt = on_interrupt

    @with_callbacks  # type: ignore[untyped-decorator]
    def fit(self, X: ArrayLike | pl.DataFrame, y: ArrayLike, **params: object) -> Self:
        """Search for the features that predict the target best.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            The samples.
        y : array-like of shape (n_samples,)
            Their classes, or numbers if a regressor measures.
        **params
            What the splitter, the estimator or its scorer have requested beside the samples, such
            as ``groups``; only if scikit-learn's metadata routing is enabled.

        Returns
        -------
        SwarmSelector
            Itself.
        """
        check_word("on_interrupt", self.on_interrupt, ON_INTERRUPT)
        iterations = None if self.iterations is None else check_whole("iterations", self.iterations)
        of_splitter, of_estimator = route(self, params)
        samples = self._checked(
            X,
            y,
            allow_nan=self.missing != "error",
            continuous=is_regressor(self.classifier),
        )
        settings = self.get_params(deep=False)
        del settings["on_interrupt"]
        if self.preset is not None:
            settings |= {name: None for name in _LEFT_TO_PRESETS if self._has_default(name)}
        if of_splitter:
            splitter: Any = self.cv
            settings["cv"] = list(splitter.split(*samples, **of_splitter))
        task = Task(self, X, y, iterations)
        result = select(
            samples, **settings, fit_params=of_estimator or None, callback=task.callback
        )
        self._keep(result)
        task.end()
        return self

    def _has_default(self, name: str) -> bool:
        given, default = getattr(self, name), signature(SwarmSelector).parameters[name].default
        return isinstance(given, type(default)) and bool(given == default)

    def _keep(self, result: Selection) -> None:
        is_interrupted = result.stop == "interrupted"
        if is_interrupted and self.on_interrupt == "raise":
            raise KeyboardInterrupt
        if is_interrupted:
            warnings.warn(
                f"interrupted after {result.evaluations.total} evaluations: the best so far it is",
                SwarmrsWarning,
                stacklevel=4,  # Past this, `fit` and its decorator.
            )
        self.result_ = result
        self.support_ = result.support
        self.cost_ = result.cost
        self.scores_ = result.scores
        self.stop_ = result.stop
        self.interrupted_ = is_interrupted
        self.n_evaluations_ = result.evaluations.total
        self.trace_ = result.trace
        self.front_ = result.front
        self.groups_ = result.groups

    def plot_convergence(self, ax: "Axes | None" = None) -> "Axes":
        """Draw the least cost so far over the evaluations; return the matplotlib axes."""
        return self._found().plot_convergence(ax)

    def plot_front(self, ax: "Axes | None" = None) -> "Axes":
        """Draw the front of error and size with its knee and the choice; return the axes."""
        return self._found().plot_front(ax)

    def plot_frequency(self, ax: "Axes | None" = None, *, top: int = 20) -> "Axes":
        """Draw how often the `top` features are in a subset of the front; return the axes."""
        return self._found().plot_frequency(ax, top=top)

    def get_metadata_routing(self) -> MetadataRouter:
        """Return who may ask for metadata in `fit`: the splitter, an estimator and its scorer."""
        return router_of(self)

    def _found(self) -> Selection:
        check_is_fitted(self)
        return self.result_

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.missing != "error"
        return tags
