"""SwarmSelector: wrapper feature selection as a scikit-learn selector."""

from collections.abc import Mapping
from inspect import isclass
from typing import TYPE_CHECKING, Any, Self

import polars as pl
from numpy.typing import ArrayLike
from sklearn.utils import Tags, get_tags
from sklearn.utils.metadata_routing import MetadataRouter
from sklearn.utils.validation import check_is_fitted

from swarmrs._base._messages import Setting, check_whole, refuse_unknown
from swarmrs._base._resources import RandomState
from swarmrs._base._tasks import REGRESSION
from swarmrs.data._read import is_frame
from swarmrs.estimators._base import Chooser, task_of
from swarmrs.estimators._callbacks import CallbackSupportMixin, Task, with_callbacks
from swarmrs.estimators._routing import route, router_of
from swarmrs.evaluation._estimator import Estimator, Scoring
from swarmrs.evaluation._folds import CV
from swarmrs.exceptions import SpecError
from swarmrs.search._options._settings import Settings
from swarmrs.search._results._selection import Selection
from swarmrs.search._select import select

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# What `constraints` may hold; each is an option of `select`.
CONSTRAINTS = ("include", "exclude", "together", "feature_groups", "one_per_group")


class SwarmSelector(CallbackSupportMixin, Chooser):  # type: ignore[misc]
    """Wrapper feature selection by metaheuristic search.

    A search algorithm (particle swarms and their rivals) proposes feature subsets; the
    cross-validated score of an estimator on each subset guides it. `KNeighborsClassifier`,
    `GaussianNB` and `RidgeClassifier` are evaluated by the Rust engine, thousands of subsets a
    second, with the score that `cross_val_score` gives; any other classifier or regressor by
    scikit-learn itself.

    Parameters
    ----------
    estimator : estimator or {"knn", "nb", "ridge"}, optional
        The classifier or regressor whose score is maximized. None and ``"knn"`` are 5 nearest
        neighbors on min-max scaled features, ``"nb"`` is Gaussian naive Bayes on the same,
        ``"ridge"`` a linear classifier on standardized ones. `KNeighborsClassifier` (Euclidean or
        Manhattan distance), `GaussianNB` and `RidgeClassifier` run natively, alone or in a pipeline
        after `MinMaxScaler` or `StandardScaler`.
    algo : str, default="auto"
        The id of the search algorithm; `swarmrs.algorithms` lists them.
    algo_params : mapping, optional
        Hyperparameters of the algorithm that differ from its defaults, such as
        ``{"population": 50}``.
    cv : int, splitter or iterable of splits, default=10
        The cross-validation, as in scikit-learn: a number of folds is stratified for classifiers
        and not shuffled, None is 5 folds. ``"loo"`` leaves one sample out at a time, ``"complete"``
        is the mean over all splits in halves, for k-NN.
    scoring : str or callable, optional
        The score to maximize, as in scikit-learn; None is the accuracy, or R2 of numbers.
    objective : str or mapping, default="error"
        The cost to minimize; see `swarmrs.select`. ``"error"`` is 1 - score, or an error.
    max_features : int or float, optional
        The largest number of features to select, or the largest share of them.
    constraints : mapping, optional
        Constraints on the features: ``include``, ``exclude``, ``together``, ``feature_groups`` and
        ``one_per_group``; see `swarmrs.select`.
    prescreen : {"su>0", "top=K", "fcbf", "cfs"}, optional
        A filter that drops features before the search, fitted on the samples given to `fit`.
    pick : {"best", "knee", "1se", "size<=K"}, default="best"
        Which evaluated subset is selected: the one of least cost, the knee of the Pareto front, the
        smallest within one standard error of the best, or the best of at most K features.
    max_iter : int, optional
        The maximum number of iterations; None is the algorithm's own.
    max_evals : int, optional
        The maximum number of subset evaluations; None is the algorithm's own.
    time_limit : float, optional
        The maximum number of seconds. Such a search is not reproducible.
    rows : int, optional
        Search a stratified sample of so many rows; `best_score_` is that of all rows.
    patience : int, optional
        Early stopping: the number of iterations without a better subset after which to stop.
    n_jobs : int, optional
        The number of threads, or of workers for an estimator of scikit-learn; -1 is all. It changes
        no result.
    random_state : int, RandomState, Generator or None
        The seed of the search.

    Attributes
    ----------
    support_ : ndarray of bool
        The mask of selected features.
    n_features_ : int
        The number of selected features.
    best_score_ : float
        The mean cross-validated score of the selected features, in the scorer's own sign. It is
        optimistic: the same folds chose the features.
    best_cost_ : float
        Their cost, which the search minimized.
    n_evaluations_, n_iter_ : int
        The number of subset evaluations and of iterations.
    stop_ : str
        Why the search stopped; see `swarmrs.Selection`.
    trace_ : polars.DataFrame
        A row for each iteration.
    front_ : Front
        The Pareto front of score and size.
    result_ : Selection
        The whole result.
    n_features_in_, feature_names_in_
        The features seen in `fit`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> selector = SwarmSelector(KNeighborsClassifier(5), algo="sfs", cv=5).fit(X, y)
    >>> selector.support_, round(selector.best_score_, 4)
    (array([False, False,  True,  True]), 0.9667)
    """

    def __init__(
        self,
        estimator: Estimator | str | None = None,
        *,
        algo: str = "auto",
        algo_params: Mapping[str, Setting] | None = None,
        cv: CV | None = 10,
        scoring: Scoring | None = None,
        objective: str | Mapping[str, Setting] = "error",
        max_features: int | float | None = None,
        constraints: Mapping[str, Any] | None = None,
        prescreen: str | None = None,
        pick: str = "best",
        max_iter: int | None = None,
        max_evals: int | None = None,
        time_limit: float | None = None,
        rows: int | None = None,
        patience: int | None = None,
        n_jobs: int | None = None,
        random_state: RandomState = None,
    ) -> None:
        self.estimator = estimator
        self.algo = algo
        self.algo_params = algo_params
        self.cv = cv
        self.scoring = scoring
        self.objective = objective
        self.max_features = max_features
        self.constraints = constraints
        self.prescreen = prescreen
        self.pick = pick
        self.max_iter = max_iter
        self.max_evals = max_evals
        self.time_limit = time_limit
        self.rows = rows
        self.patience = patience
        self.n_jobs = n_jobs
        self.random_state = random_state

    @with_callbacks  # type: ignore[untyped-decorator]
    def fit(self, X: ArrayLike | pl.DataFrame, y: ArrayLike, **params: object) -> Self:
        """Search for the feature subset with the best cross-validated score.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            The samples.
        y : array-like of shape (n_samples,)
            Their classes, or numbers; without an estimator of scikit-learn, which predicts one of
            both, what they look like decides.
        **params
            Metadata that the splitter, the estimator or its scorer have requested, such as
            ``groups``; only if scikit-learn's metadata routing is enabled.

        Returns
        -------
        SwarmSelector
            Itself.
        """
        options = self._options()
        settings = Settings.of(options)
        most = None if self.max_iter is None else check_whole("max_iter", self.max_iter)
        of_splitter, of_estimator = route(self, params)
        options["task"] = settings.task or task_of(y)
        allow_nan, continuous = self._allows_nan(), options["task"] == REGRESSION.name
        samples: Any
        if settings.classifier is None and is_frame(X):
            # The estimator may name columns of the frame, or encode their text.
            samples = self._framed(X, y, continuous=continuous)
        else:
            samples = self._checked(X, y, allow_nan=allow_nan, continuous=continuous)
        if of_splitter:
            splitter: Any = self.cv
            options["cv"] = list(splitter.split(X, y, **of_splitter))
        progress = Task(self, X, y, most)
        result = select(
            samples,
            missing="keep" if allow_nan else "error",
            fit_params=of_estimator or None,
            callback=progress.callback,
            **options,
        )
        self._keep(result)
        progress.end()
        return self

    def _options(self) -> dict[str, Any]:
        """Return the parameters as options of `select`."""
        options: dict[str, Any] = self.get_params(deep=False)
        constraints = options.pop("constraints")
        if not isinstance(constraints, Mapping | None):
            raise SpecError(
                f"constraints is {constraints!r}, expected a mapping",
                'give a dict: {"include": ["age"]}',
            )
        refuse_unknown(constraints or {}, CONSTRAINTS)
        return {**options, **(constraints or {})}

    def _allows_nan(self) -> bool:
        """Whether missing values are left to the estimator."""
        return _accepts_nan(self.estimator)

    def _keep(self, result: Selection) -> None:
        self.result_ = result
        self.support_ = result.support
        self.n_features_ = result.size
        self.best_score_ = result.score
        self.best_cost_ = result.cost
        self.n_evaluations_ = result.evaluations.total
        rounds = result.competition
        self.n_iter_ = result.trace.height if rounds is None else rounds.n_splits
        self.stop_ = result.stop
        self.trace_ = result.trace
        self.front_ = result.front

    def plot_convergence(self, ax: "Axes | None" = None) -> "Axes":
        """Plot the least cost so far against the evaluations; return the matplotlib axes."""
        return self._found().plot_convergence(ax)

    def plot_competition(self, ax: "Axes | None" = None) -> "Axes":
        """Plot the held-out score of the methods of ``"auto"`` against size; return the axes."""
        return self._found().plot_competition(ax)

    def plot_front(self, ax: "Axes | None" = None) -> "Axes":
        """Plot the Pareto front with its knee and the selection; return the axes."""
        return self._found().plot_front(ax)

    def plot_frequency(self, ax: "Axes | None" = None, *, top: int = 20) -> "Axes":
        """Plot how often the `top` features occur on the Pareto front; return the axes."""
        return self._found().plot_frequency(ax, top=top)

    def get_metadata_routing(self) -> MetadataRouter:
        """Return who may request metadata in `fit`: the splitter, the estimator and its scorer."""
        return router_of(self)

    def _found(self) -> Selection:
        check_is_fitted(self)
        return self.result_

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self._allows_nan()
        return tags


def _accepts_nan(estimator: object) -> bool:
    """Whether an estimator accepts missing values, by its tags.

    The tags of a pipeline do not say; missing values reach its steps up to an imputer.
    """
    for _, step in getattr(estimator, "steps", ()):
        if hasattr(step, "fit") and not _accepts_nan(step):
            return False
        if type(step).__module__.startswith("sklearn.impute."):
            return True
    if isclass(estimator) or not hasattr(estimator, "__sklearn_tags__"):
        return False
    return hasattr(estimator, "steps") or bool(get_tags(estimator).input_tags.allow_nan)
