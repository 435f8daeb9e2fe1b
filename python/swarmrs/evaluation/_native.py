"""The built-in classifiers and regressors: their settings, scores and standard errors."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from swarmrs import _swarmrs
from swarmrs._base._choices import CLASSIFIERS, METRICS, SCALES, WEIGHTS
from swarmrs._base._hints import setting, worded
from swarmrs._base._messages import check_number, check_whole, check_word
from swarmrs._base._public import public
from swarmrs._base._tasks import CLASSIFICATION, REGRESSION, Task
from swarmrs.data._table import Table
from swarmrs.evaluation._folds import CV, Folds, only_for_neighbors
from swarmrs.evaluation._losses import Baseline, loss_of
from swarmrs.evaluation._numbers import jackknife_numbers
from swarmrs.exceptions import DataError, SpecError

# Beside those that users choose from: one paper's misprint of naive Bayes.
_MISPRINT = "nb-cdf"
# The distances of scikit-learn that the engine has, by name; Minkowski's by its exponent.
_METRICS = {
    "euclidean": "euclidean",
    "l2": "euclidean",
    "manhattan": "manhattan",
    "cityblock": "manhattan",
    "l1": "manhattan",
    1: "manhattan",
    2: "euclidean",
}
# The smoothing of variances that the engine has, which is the default of GaussianNB.
_SMOOTHING = 1e-9
# Variances further apart than this are changed by smoothing.
_MOST_UNEQUAL = 1e3


@public
class Work(NamedTuple):
    """Element operations done, what it would take from nothing, and those before any subset."""

    element_ops: int
    from_scratch_ops: int
    setup_ops: int


@dataclass(frozen=True)
class Classifier:
    """A classifier that the engine has; on a numeric target the regressor of the same name.

    Attributes
    ----------
    name : {"knn", "nb", "ridge", "nb-cdf"}
        k nearest neighbors, Gaussian naive Bayes, ridge, or naive Bayes as one study published it.
    n_neighbors, metric, weights : int, str, str
        Of k-NN.
    ridge_alpha : float or None
        The penalty of ridge; None is the number of rows, and 1 for numbers.
    scale : str
        The scaling that goes with it: its pipeline's, "none" for an estimator alone.
    """

    name: str
    n_neighbors: int = 5
    metric: str = "euclidean"
    weights: str = "uniform"
    scale: str = "minmax"
    ridge_alpha: float | None = None

    @classmethod
    def named(
        cls,
        name: object,
        *,
        n_neighbors: int | None = None,
        metric: str | None = None,
        weights: str | None = None,
        ridge_alpha: float | None = None,
    ) -> "Classifier":
        """Return the classifier of this name.

        Raises
        ------
        SpecError
            If there is none, or a setting is none of its own.
        """
        word = _MISPRINT if name == _MISPRINT else check_word("estimator", name, CLASSIFIERS)
        own = {"n_neighbors": n_neighbors, "metric": metric, "weights": weights}
        given: dict[str, Any] = {what: value for what, value in own.items() if value is not None}
        if given and word != "knn":
            what = next(iter(given))
            raise SpecError(
                f"{what} is {given[what]}, but '{word}' has no neighbors", f"leave {what} out"
            )
        if ridge_alpha is not None and word != "ridge":
            raise SpecError(
                f"ridge_alpha is {ridge_alpha}, but '{word}' has no penalty",
                "leave ridge_alpha out",
            )
        if n_neighbors is not None:
            check_whole("n_neighbors", n_neighbors)
        if metric is not None:
            check_word("metric", metric, METRICS)
        if weights is not None:
            check_word("weights", weights, WEIGHTS)
        if word == "ridge":
            if ridge_alpha is not None:
                ridge_alpha = check_number("ridge_alpha", ridge_alpha, above=0)
            return cls(word, scale="standard", ridge_alpha=ridge_alpha)
        return cls(word, **given)

    @classmethod
    def of(cls, estimator: object, **settings: Any) -> "Classifier | None":
        """Return the engine's equal of a name or an estimator; None if it has none.

        Raises
        ------
        SpecError
            If there is no such name, or a setting is none of its own.
        """
        if isinstance(estimator, Classifier):
            return estimator
        if estimator is None or isinstance(estimator, str):
            return cls.named("knn" if estimator is None else estimator, **settings)
        for name, value in settings.items():
            if value is not None:
                raise SpecError(
                    f"{name} is {value!r}, but the estimator has its own", f"leave {name} out"
                )
        return cls.like(estimator)

    @classmethod
    def like(cls, estimator: object) -> "Classifier | None":
        """Return the engine's equal of an estimator of scikit-learn; None if it has none."""
        kind = type(estimator).__name__
        if not type(estimator).__module__.startswith("sklearn."):
            return None
        settings = vars(estimator)
        if kind == "Pipeline":
            return _piped(settings["steps"])
        if kind == "GaussianNB":
            is_ours = settings["priors"] is None and settings["var_smoothing"] == _SMOOTHING
            return cls("nb", scale="none") if is_ours else None
        if kind in ("RidgeClassifier", "Ridge"):
            return _ridge(settings)
        if kind not in ("KNeighborsClassifier", "KNeighborsRegressor"):
            return None
        metric, n_neighbors = settings["metric"], settings["n_neighbors"]
        exponent = settings["p"] if metric == "minkowski" else metric
        is_hashable = isinstance(exponent, str | int | float)
        distance = _METRICS.get(exponent) if is_hashable else None
        is_ours = (
            distance is not None
            and settings["metric_params"] is None
            and settings["weights"] in WEIGHTS
            and isinstance(n_neighbors, int | np.integer)
            and n_neighbors >= 1
        )
        if not is_ours or distance is None:
            return None
        return cls("knn", int(n_neighbors), distance, settings["weights"], "none")

    @property
    def own(self) -> tuple[str, ...]:
        """The names of the settings that this classifier has."""
        names = {"knn": ("n_neighbors", "metric", "weights"), "ridge": ("ridge_alpha",)}
        return names.get(self.name, ())

    def equals_sklearn(self, table: Table) -> bool:
        """Whether the engine scores subsets of a table as scikit-learn does.

        `GaussianNB` adds 1e-9 of the largest variance of the selected features to every variance,
        the engine 1e-9 of the largest of all features. That is the same to six digits unless a
        class has a variance a thousand times smaller than the largest.
        """
        if self.name != "nb":
            return True
        deviations = table.x.std(axis=0)
        within = np.array(
            [table.x[table.codes == code].std(axis=0) for code in range(len(table.labels))]
        )
        if self.scale != "none":
            widths = np.ptp(table.x, axis=0) if self.scale == "fold-minmax" else deviations
            with np.errstate(divide="ignore", invalid="ignore"):
                deviations, within = deviations / widths, within / widths
        least, largest = float(np.nanmin(within)), float(np.nanmax(deviations))
        return bool(least * np.sqrt(_MOST_UNEQUAL) > largest)

    def scaling(self, scale: str | None) -> str:
        """Return the feature scaling that is given, or else the classifier's own.

        Raises
        ------
        SpecError
            If it is unknown, or the classifier's pipeline scales already.
        """
        if scale is not None and self.scale.startswith("fold-"):
            raise SpecError(f"scale is '{scale}', but the pipeline scales already", "leave it out")
        return check_word("scale", scale or self.scale, SCALES)

    def settled(self, table: Table) -> "Classifier":
        """Return the same with the penalty that it has on a table, if it has one."""
        if self.name != "ridge" or self.ridge_alpha is not None:
            return self
        # Signs of decision values stand any shrinkage, numbers do not: as in scikit-learn.
        alpha = 1.0 if table.values is not None else float(len(table.codes))
        return replace(self, ridge_alpha=alpha)

    def to_sklearn(self, task: Task) -> Any:
        """Return the estimator of scikit-learn for a name and a task, after its scaler.

        Raises
        ------
        SpecError
            If there is none.
        """
        from sklearn.linear_model import Ridge, RidgeClassifier
        from sklearn.naive_bayes import GaussianNB
        from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import MinMaxScaler, StandardScaler

        self.check_task(task)
        is_numeric = task is REGRESSION
        if self.name == _MISPRINT:
            raise SpecError("'nb-cdf' has no equal in scikit-learn", "take 'nb'")
        if self.name == "nb":
            return make_pipeline(MinMaxScaler(), GaussianNB())
        if self.name == "ridge":
            ridge = Ridge if is_numeric else RidgeClassifier
            return make_pipeline(StandardScaler(), ridge(self.ridge_alpha))
        neighbors = KNeighborsRegressor if is_numeric else KNeighborsClassifier
        settings = {"weights": self.weights, "metric": self.metric}
        return make_pipeline(MinMaxScaler(), neighbors(self.n_neighbors, **settings))

    def check_task(self, task: Task) -> None:
        """Refuse a task that it is not for.

        Raises
        ------
        SpecError
            If it predicts nothing of the kind.
        """
        if self.name not in (*task.estimators, *([_MISPRINT] * (task is CLASSIFICATION))):
            raise SpecError(
                f"'{self.name}' needs classes, and the target is numeric",
                f"take {setting('estimator', *task.estimators)}",
            )


def _ridge(settings: Mapping[str, Any]) -> Classifier | None:
    """Return the engine's equal of ridge of scikit-learn, or its classifier; None if there is none.

    Every solver but the stochastic and the iterative ones reaches the minimum to the last digits.
    """
    alpha = settings["alpha"]
    is_ours = (
        isinstance(alpha, int | float | np.integer | np.floating)
        and 0 < alpha < np.inf
        and settings["fit_intercept"]
        and settings.get("class_weight") is None
        and not settings["positive"]
        and settings["solver"] in ("auto", "svd", "cholesky")
    )
    return Classifier("ridge", scale="none", ridge_alpha=float(alpha)) if is_ours else None


def _piped(steps: Sequence[tuple[str, object]]) -> Classifier | None:
    """Return the engine's equal of a scaler and a classifier; None if it has none."""
    if len(steps) != 2:
        return None
    scaler, last = (step for _, step in steps)
    scales: dict[str, tuple[str, dict[str, object]]] = {
        "MinMaxScaler": ("fold-minmax", {"feature_range": (0, 1), "clip": False}),
        "StandardScaler": ("fold-standard", {"with_mean": True, "with_std": True}),
    }
    kind = type(scaler).__name__
    if kind not in scales or not type(scaler).__module__.startswith("sklearn."):
        return None
    scale, settings = scales[kind]
    if any(vars(scaler)[name] != value for name, value in settings.items()):
        return None
    classifier = Classifier.like(last)
    return None if classifier is None else replace(classifier, scale=scale)


@dataclass(frozen=True)
class Evaluation:
    """All that fixes the scores of a subset.

    Attributes
    ----------
    folds : Folds
        How the rows are divided.
    scale : {"minmax", "standard", "none", "fold-minmax", "fold-standard"}
        How features are scaled; with "fold-", by the training rows of each fold.
    classifier : Classifier
        What predicts the class or number of a row.
    """

    folds: Folds
    scale: str
    classifier: Classifier

    @classmethod
    def of(
        cls,
        table: Table,
        classifier: Classifier,
        *,
        cv: CV | None,
        cv_seed: int | None,
        scale: str | None,
    ) -> "Evaluation":
        """Check the settings of an evaluation and put them together.

        Without a `scale` features are scaled as the classifier's pipeline does it; they are left as
        they are for an estimator, standardized for "ridge", and min-max scaled for other names.

        Raises
        ------
        DataError
            If values are missing.
        SpecError
            If the scaling is unknown, or the folds or the classifier are for another target.
        """
        classifier.check_task(table.task)
        if table.has_gaps:
            raise DataError(
                f"missing values are kept, but '{classifier.name}' cannot handle them",
                worded(
                    python="give an estimator that can, or impute them with missing='median'",
                    shell=f"impute them with {setting('missing', 'median', 'mode', 'knn')}",
                ),
            )
        scale = classifier.scaling(scale)
        evaluation = cls(Folds.of(cv, cv_seed, table), scale, classifier.settled(table))
        if evaluation.folds.scheme == "complete":
            evaluation._check_complete(table.task)
        return evaluation

    def _check_complete(self, task: Task) -> None:
        """Refuse complete cross-validation where it has no closed form.

        Raises
        ------
        SpecError
            If the classifier is not k-NN with uniform votes, scaling is fitted on each split, or
            the target is numeric.
        """
        if task is REGRESSION:
            raise SpecError(
                "cv is 'complete', which needs classes, and the target is numeric",
                f"take folds, or leave-one-out with {setting('cv', 'loo')}",
            )
        if self.classifier.name != "knn":
            raise only_for_neighbors(f"the classifier is '{self.classifier.name}'")
        if self.classifier.weights != "uniform":
            raise only_for_neighbors(f"votes have the weights '{self.classifier.weights}'")
        if self.scale.startswith("fold-"):
            raise SpecError(
                f"cv is 'complete', but the scaling '{self.scale}' is fitted on each split",
                f"scale by all rows with {setting('scale', 'minmax', 'standard')}",
            )

    def standard_error(
        self,
        table: Table,
        dataset: _swarmrs.Dataset,
        mask: NDArray[np.bool_],
        scoring: str | None = None,
    ) -> float:
        """Return the standard error of the loss of a subset.

        Rows are what is sampled, whatever the folds, and to test a row again adds none. Of the
        error the share of misses of a row, over the times it is tested, is what spreads; of other
        losses, those of numbers among them, how they change when a row is left out. Under complete
        cross-validation a row is tested by all splits, and the share is a probability.
        """
        engine = _swarmrs.Evaluator(dataset, json.dumps(self.spec()), 1, 0, False)
        if table.values is not None:
            rows, numbers, folds = engine.predict_numbers(mask)
            scoring = scoring or REGRESSION.scorings[0]
            return jackknife_numbers(rows, table.values[rows], numbers, folds, scoring)
        rows, codes, folds, weights = engine.distribution(mask)
        truth = table.codes[rows]
        if scoring not in (None, "accuracy"):
            return jackknife(rows, truth, codes, folds, len(table.labels), scoring, weights)
        tested = np.bincount(rows, weights=weights)
        misses = np.bincount(rows, weights=weights * (codes != truth))
        return spread_of_mean((misses[tested > 0]) / tested[tested > 0])

    def baseline(self, table: Table, dataset: _swarmrs.Dataset, scoring: str | None) -> Baseline:
        """Return what predicting the majority class, or the mean, shows on the folds."""
        if table.values is not None:
            return training_mean(dataset, self.spec(), scoring)
        return constant(table, dataset, self.spec(), majority(table.codes), scoring)

    def spec(self) -> dict[str, object]:
        """Return the evaluation as the engine reads it."""
        return {
            "classifier": self.classifier.name,
            "k": self.classifier.n_neighbors,
            "metric": self.classifier.metric,
            "weights": self.classifier.weights,
            "alpha": self.classifier.ridge_alpha,
            "scale_fit": "train" if self.scale.startswith("fold-") else "all",
            "folds": self.folds.spec(),
        }

    def to_dict(self) -> dict[str, object]:
        """Return the evaluation as a result records it: only the settings that matter."""
        settings: dict[str, object] = {"estimator": self.classifier.name}
        settings |= {name: getattr(self.classifier, name) for name in self.classifier.own}
        return settings | {"scale": self.scale, "folds": self.folds.to_dict()}


def majority(codes: NDArray[np.uint32]) -> int:
    """Return the most frequent class, the first of equals.

    Examples
    --------
    >>> majority(np.array([2, 1, 1, 2], dtype=np.uint32))
    1
    """
    return int(np.bincount(codes).argmax())


def constant(
    table: Table,
    dataset: _swarmrs.Dataset,
    spec: Mapping[str, object],
    code: int,
    scoring: str | None,
) -> Baseline:
    """Return what predicting one class shows on the rows that the folds of a spec test."""
    scores: dict[str, float | None] = {**dict(dataset.constant(json.dumps(spec), code))}
    return Baseline(str(table.labels[code]), loss_of(scores, scoring), scores)


def training_mean(
    dataset: _swarmrs.Dataset, spec: Mapping[str, object], scoring: str | None
) -> Baseline:
    """Return what predicting the mean of the training rows shows on those that a spec tests."""
    scores: dict[str, float | None] = {**dict(dataset.training_mean(json.dumps(spec)))}
    return Baseline(None, loss_of(scores, scoring), scores)


def jackknife(
    rows: NDArray[np.uint32],
    truth: NDArray[np.uint32],
    predicted: NDArray[np.uint32],
    folds: NDArray[np.uint32],
    n_classes: int,
    scoring: str,
    weights: NDArray[np.float64] | None = None,
) -> float:
    """Return the standard error of a loss by leaving out one row at a time.

    Its n losses spread about their mean: the error is the root of (n - 1) / n times the sum of
    their squared deviations, which of a mean of values is its usual standard error. A row that is
    tested more than once is left out with all its predictions. `weights` are the probabilities of
    predictions, which add up to 1 for each test of a row; None is 1 each.

    Examples
    --------
    >>> rows = np.arange(4, dtype=np.uint32)
    >>> truth, predicted = np.array([[0, 0, 1, 1], [0, 1, 1, 1]], dtype=np.uint32)
    >>> round(jackknife(rows, truth, predicted, rows // 4, 2, "ovr_accuracy"), 4)
    0.25
    """
    if weights is None:
        weights = np.ones(len(rows))
    sizes = np.bincount(folds, weights=weights)
    # As the engine does: a score of one row has no meaning, so leave-one-out scores all together.
    if scoring == "ovr_accuracy" or sizes.max() == 1:
        folds, sizes = np.zeros_like(folds), np.array([weights.sum()])
    # Of each fold and class: those right, its rows, its predictions.
    counts = np.zeros((3, len(sizes), n_classes))
    np.add.at(counts[0], (folds, truth), weights * (truth == predicted))
    np.add.at(counts[1], (folds, truth), weights)
    np.add.at(counts[2], (folds, predicted), weights)
    scores = np.array([_score(scoring, *counts[:, fold]) for fold in range(len(sizes))])
    order = np.lexsort((predicted, folds, rows))
    starts = np.flatnonzero(np.diff(rows[order], prepend=-1))
    losses, known = [], dict[tuple[int, bytes, bytes, bytes], float]()
    for cases in np.split(order, starts[1:]):
        # Rows of one class with the same predictions in the same folds leave the same loss behind.
        is_class, of_folds = int(truth[cases[0]]), folds[cases]
        said, shares = predicted[cases], weights[cases]
        case = (is_class, of_folds.tobytes(), said.tobytes(), shares.tobytes())
        if case not in known:
            touched, at = np.unique(of_folds, return_inverse=True)
            left = counts[:, touched]
            np.subtract.at(left[0, :, is_class], at, shares * (said == is_class))
            np.subtract.at(left[1, :, is_class], at, shares)
            np.subtract.at(left[2], (at, said), shares)
            others = np.delete(scores, touched)
            # A fold that tests this row alone is left out with it.
            anew = [_score(scoring, *fold) for fold in left.swapaxes(0, 1) if fold[1].any()]
            mean = float(np.concatenate([others, anew]).mean())
            known[case] = loss_of({scoring: mean}, scoring)
        losses.append(known[case])
    spread = np.array(losses)
    n = len(losses)
    return float(np.sqrt((n - 1) / n * ((spread - spread.mean()) ** 2).sum()))


def _score(
    scoring: str, hits: NDArray[np.float64], are: NDArray[np.float64], said: NDArray[np.float64]
) -> float:
    """Return a score of a fold: of each class those right, its rows, its predictions.

    Classes that are neither tested nor predicted do not count.
    """
    n, right = are.sum(), hits.sum()
    if scoring == "balanced_accuracy":
        return float((hits[are > 0] / are[are > 0]).mean())
    if scoring == "ovr_accuracy":
        return float(1.0 - 2.0 * (n - right) / n / len(are))
    if scoring == "f1_macro":
        seen = are + said > 0
        return float((2.0 * hits[seen] / (are + said)[seen]).mean())
    spread = np.sqrt((n * n - (said * said).sum()) * (n * n - (are * are).sum()))
    return float((right * n - (are * said).sum()) / spread) if spread > 0 else 0.0


def score_of(
    scoring: str,
    truth: NDArray[np.uint32],
    predicted: NDArray[np.uint32],
    weights: NDArray[np.float64],
) -> float:
    """Return a score of weighted predictions, all together.

    Examples
    --------
    >>> truth, predicted = np.array([[0, 0, 1], [0, 1, 1]], dtype=np.uint32)
    >>> round(score_of("f1_macro", truth, predicted, np.ones(3)), 4)
    0.6667
    """
    n_classes = int(max(truth.max(), predicted.max())) + 1

    def counts(codes: NDArray[np.uint32], weights: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.bincount(codes, weights=weights, minlength=n_classes).astype(np.float64)

    hits = counts(truth, weights * (truth == predicted))
    return _score(scoring, hits, counts(truth, weights), counts(predicted, weights))


def spread_of_mean(values: NDArray[np.float64]) -> float:
    """Return the standard error of the mean of some values, two or more: deviation over root.

    Examples
    --------
    >>> round(spread_of_mean(np.array([0.0, 0.0, 1.0, 1.0])), 4)
    0.2887
    """
    return float(values.std(ddof=1) / np.sqrt(len(values)))
