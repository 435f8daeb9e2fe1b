"""The built-in classifiers: their settings, scores and standard errors."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from swarmrs import _swarmrs
from swarmrs._base._hints import setting, worded
from swarmrs._base._messages import check_whole, check_word
from swarmrs.data._table import Table
from swarmrs.evaluation._folds import CV, Folds
from swarmrs.evaluation._losses import Baseline, loss_of
from swarmrs.evaluation._presets import Preset, settle
from swarmrs.exceptions import DataError, SpecError

CLASSIFIERS = ("knn", "nb", "nb-cdf")
METRICS = ("euclidean", "manhattan")
WEIGHTS = ("uniform", "distance")
# With "fold-", scaling is fitted on the training rows of each fold instead of all rows.
SCALES = ("minmax", "standard", "none", "fold-minmax", "fold-standard")

# What is done where neither user nor algorithm says otherwise.
COMMON: dict[str, Any] = {
    "k": 5,
    "metric": "euclidean",
    "folds": {"scheme": "kfold", "k": 10, "shuffle": True},
}


class Work(NamedTuple):
    """Element operations done, what it would take from nothing, and those before any subset."""

    element_ops: int
    from_scratch_ops: int
    setup_ops: int


@dataclass(frozen=True)
class Evaluation:
    """All that fixes the scores of a subset.

    Attributes
    ----------
    folds : Folds
        How the rows are divided.
    scale : {"minmax", "standard", "none", "fold-minmax", "fold-standard"}
        How features are scaled; with "fold-", by the training rows of each fold.
    classifier : {"knn", "nb", "nb-cdf"}
        What predicts the class of a row.
    k, metric, weights : int, str, str
        Of k-NN: the number of neighbors, their distance and their votes. Before a search the first
        two may be None, which leaves them to the algorithm.
    """

    folds: Folds
    scale: str
    classifier: str
    k: int | None = None
    metric: str | None = None
    weights: str = "uniform"

    @classmethod
    def of(
        cls,
        table: Table,
        preset: Preset,
        *,
        classifier: object,
        k: int | None,
        metric: str | None,
        weights: str | None,
        cv: CV | None,
        cv_seed: int,
        scale: str | None,
    ) -> "Evaluation":
        """Check the settings of a built-in classifier and put them together.

        What is None is what the preset has, or else the default.
        """
        name = check_word("classifier", settle(classifier, preset.classifier, "knn"), CLASSIFIERS)
        if table.has_gaps:
            raise DataError(
                f"missing values are kept, but '{name}' cannot measure them",
                worded(
                    python="give an estimator of scikit-learn, or another missing",
                    shell=f"fill them with {setting('missing', 'median', 'mode', 'knn')}",
                ),
            )
        for what, given in (("k", k), ("metric", metric), ("weights", weights)):
            if given is not None and name != "knn":
                hint = f"leave {what} out"
                raise SpecError(f"{what} is {given}, but '{name}' has no neighbors", hint)
        distance = preset.metric if metric is None else metric
        return cls(
            folds=Folds.of(preset.cv if cv is None else cv, cv_seed, table),
            scale=check_word("scale", settle(scale, preset.scale, "minmax"), SCALES),
            classifier=name,
            k=preset.k if k is None else check_whole("k", k),
            metric=None if distance is None else check_word("metric", distance, METRICS),
            weights=check_word("weights", settle(weights, preset.weights, "uniform"), WEIGHTS),
        )

    def settled(self, by: Mapping[str, Any]) -> "Evaluation":
        """Return the evaluation with what it leaves open as another has it."""
        is_open = self.folds.scheme == "own"
        return replace(
            self,
            k=by["k"] if self.k is None else self.k,
            metric=by["metric"] if self.metric is None else self.metric,
            folds=Folds(**{"seed": self.folds.seed, **by["folds"]}) if is_open else self.folds,
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
        losses how they change when a row is left out.
        """
        engine = _swarmrs.Evaluator(dataset, json.dumps(self.spec()), 1, 0, False)
        rows, codes, folds = engine.predict(mask)
        if scoring not in (None, "accuracy"):
            return jackknife(rows, table.codes[rows], codes, folds, len(table.labels), scoring)
        tested = np.bincount(rows)
        misses = np.bincount(rows, weights=codes != table.codes[rows])
        return spread_of_mean((misses[tested > 0]) / tested[tested > 0])

    def baseline(self, table: Table, dataset: _swarmrs.Dataset, scoring: str | None) -> Baseline:
        """Return what predicting the majority class shows on the folds."""
        return constant(table, dataset, self.spec(), majority(table.codes), scoring)

    def spec(self) -> dict[str, object]:
        """Return the evaluation as the engine reads it."""
        return {
            "classifier": self.classifier,
            "k": self.k,
            "metric": self.metric,
            "weights": self.weights,
            "scale_fit": "train" if self.scale.startswith("fold-") else "all",
            "folds": self.folds.spec(),
        }

    def to_dict(self) -> dict[str, object]:
        """Return the evaluation as a result records it: only the settings that matter."""
        settings: dict[str, object] = {"classifier": self.classifier}
        if self.classifier == "knn":
            settings |= {"k": self.k, "metric": self.metric, "weights": self.weights}
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


def jackknife(
    rows: NDArray[np.uint32],
    truth: NDArray[np.uint32],
    predicted: NDArray[np.uint32],
    folds: NDArray[np.uint32],
    n_classes: int,
    scoring: str,
) -> float:
    """Return the standard error of a loss by leaving out one row at a time.

    Its n losses spread about their mean: the error is the root of (n - 1) / n times the sum of
    their squared deviations, which of a mean of values is its usual standard error. A row that is
    tested more than once is left out with all its predictions.

    Examples
    --------
    >>> rows = np.arange(4, dtype=np.uint32)
    >>> truth, predicted = np.array([[0, 0, 1, 1], [0, 1, 1, 1]], dtype=np.uint32)
    >>> round(jackknife(rows, truth, predicted, rows // 4, 2, "ovr_accuracy"), 4)
    0.25
    """
    sizes = np.bincount(folds)
    # As the engine does: a score of one row has no meaning, so leave-one-out scores all together.
    if scoring == "ovr_accuracy" or sizes.max() == 1:
        folds, sizes = np.zeros_like(folds), np.array([len(folds)])
    # Of each fold and class: those right, its rows, its predictions.
    counts = np.zeros((3, len(sizes), n_classes))
    np.add.at(counts[0], (folds, truth), truth == predicted)
    np.add.at(counts[1], (folds, truth), 1)
    np.add.at(counts[2], (folds, predicted), 1)
    scores = np.array([_score(scoring, *counts[:, fold]) for fold in range(len(sizes))])
    order = np.lexsort((predicted, folds, rows))
    starts = np.flatnonzero(np.diff(rows[order], prepend=-1))
    losses, known = [], dict[tuple[int, tuple[int, ...], tuple[int, ...]], float]()
    for cases in np.split(order, starts[1:]):
        # Rows of one class with the same predictions in the same folds leave the same loss behind.
        is_class, said_by = int(truth[cases[0]]), (folds[cases], predicted[cases])
        case = (is_class, tuple(said_by[0].tolist()), tuple(said_by[1].tolist()))
        if case not in known:
            touched, at = np.unique(said_by[0], return_inverse=True)
            left = counts[:, touched]
            np.subtract.at(left[0, :, is_class], at, said_by[1] == is_class)
            np.subtract.at(left[1, :, is_class], at, 1)
            np.subtract.at(left[2], (at, said_by[1]), 1)
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


def spread_of_mean(values: NDArray[np.float64]) -> float:
    """Return the standard error of the mean of some values, two or more: deviation over root.

    Examples
    --------
    >>> round(spread_of_mean(np.array([0.0, 0.0, 1.0, 1.0])), 4)
    0.2887
    """
    return float(values.std(ddof=1) / np.sqrt(len(values)))
