"""How a subset is measured: the classifier, its settings and the folds."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, TypeAlias, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from swarmrs import _swarmrs
from swarmrs._doors import setting, worded
from swarmrs._loss import Baseline, loss_of
from swarmrs._presets import Preset, settle
from swarmrs._table import Table
from swarmrs._words import check_whole, check_word, counted
from swarmrs.exceptions import DataError, SpecError

CLASSIFIERS = ("knn", "nb", "nb-cdf")
METRICS = ("euclidean", "manhattan")
WEIGHTS = ("uniform", "distance")
# With "fold-", scaling is fitted on the training rows of each fold instead of all rows.
SCALES = ("minmax", "standard", "none", "fold-minmax", "fold-standard")

CVS = ("10", "kfold=10,contiguous", "loo", "holdout=0.3", "wrap5")

# What is done where neither user nor algorithm says otherwise.
COMMON: dict[str, Any] = {
    "k": 5,
    "metric": "euclidean",
    "folds": {"scheme": "kfold", "k": 10, "shuffle": True},
}

Split: TypeAlias = tuple[ArrayLike, ArrayLike]
Rows: TypeAlias = tuple[NDArray[np.intp], NDArray[np.intp]]


class Splitter(Protocol):
    """What scikit-learn calls a splitter: an object that cuts rows into training and test parts."""

    def split(
        self, X: NDArray[np.float64], y: NDArray[np.generic]
    ) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
        """Yield the rows of each training and test part."""


CV: TypeAlias = int | str | Splitter | Iterable[Split]


@dataclass(frozen=True)
class Folds:
    """Which rows are tested on what was learned from which.

    Attributes
    ----------
    scheme : {"kfold", "loo", "holdout", "wrap5", "splits", "own"}
        Stratified folds, leave-one-out, one stratified test part, five folds repeated while errors
        spread, or the splits given; "own" leaves it to the algorithm.
    k, shuffle : int, bool
        Of folds: how many, and whether the rows are shuffled.
    test : float
        The share of rows held out.
    seed : int
        Shuffles the rows of folds, and draws those held out.
    splits : tuple of pairs of lists of int
        The rows of each training and test part, if the scheme is ``"splits"``.
    """

    scheme: str
    k: int = 0
    shuffle: bool = True
    test: float = 0.0
    seed: int = 0
    splits: tuple[tuple[list[int], list[int]], ...] = ()

    @classmethod
    def of(cls, cv: CV | None, seed: int, table: Table) -> "Folds":
        """Return the folds that `cv` stands for on a table; None leaves them open."""
        seed = check_whole("cv_seed", seed, 0)
        if cv is None:
            return cls("own", seed=seed)
        if isinstance(cv, int | np.integer):
            return cls("kfold", k=check_whole("cv", cv), seed=seed)
        if isinstance(cv, str):
            if cv == "loo":
                return cls("loo")
            if cv == "wrap5":
                return cls("wrap5", seed=seed)
            if kfold := re.fullmatch(r"(?:kfold=)?(\d{1,18})(,contiguous)?", cv):
                return cls("kfold", k=int(kfold[1]), shuffle=kfold[2] is None, seed=seed)
            if holdout := re.fullmatch(r"holdout=(0?\.\d+)", cv):
                return cls("holdout", test=float(holdout[1]), seed=seed)
            raise SpecError(f"unknown cv '{cv}'", f"known: {', '.join(CVS)}")
        is_scalar = isinstance(cv, np.ndarray) and cv.ndim == 0
        if is_scalar or not (hasattr(cv, "split") or isinstance(cv, Iterable)):
            raise SpecError(f"cv is {cv!r}, expected folds", f"known: {', '.join(CVS)}")
        pairs = cv.split(table.x, table.y) if hasattr(cv, "split") else cv
        return cls("splits", splits=tuple(_pair(split) for split in pairs))

    def rows(self, table: Table) -> list[Rows]:
        """Return the rows of each training and test part as scikit-learn draws them.

        They are stratified where there are classes.

        Raises
        ------
        SpecError
            If the scheme is ``"wrap5"`` or ``"own"``, which no estimator from outside knows, or the
            splits given are none of this table.
        DataError
            If the classes are too small for it.
        """
        from sklearn.model_selection import (
            KFold,
            LeaveOneOut,
            ShuffleSplit,
            StratifiedKFold,
            StratifiedShuffleSplit,
        )

        if self.scheme == "splits":
            parts = [(np.array(train), np.array(test)) for train, test in self.splits]
            n = table.frame.height
            for part in (rows for both in parts for rows in both):
                if not part.size or part.min() < 0 or part.max() >= n:
                    raise SpecError(f"a part of cv is empty or names no row, expected 0 to {n - 1}")
            return parts
        if self.scheme == "loo":
            return list(LeaveOneOut().split(table.x))
        has_classes, seed = table.values is None, self.seed % 2**32
        most = np.bincount(table.codes).max() if has_classes else table.frame.height
        if self.scheme == "holdout":
            one = StratifiedShuffleSplit if has_classes else ShuffleSplit
            cut = one(1, test_size=self.test, random_state=seed)
        elif self.scheme == "kfold":
            if self.k < 2:
                raise SpecError(f"{self.k} fold leaves nothing to learn from", "take 2 or more")
            if self.k > most:
                whose = f"the largest class of {table.name}" if has_classes else table.name
                problem = f"{self.k} folds, but {whose} has {counted(int(most), 'row')}"
                raise DataError(problem, "take fewer folds, or leave-one-out")
            parts = StratifiedKFold if has_classes else KFold
            cut = parts(self.k, shuffle=self.shuffle, random_state=seed if self.shuffle else None)
        else:
            raise SpecError(
                f"cv is '{self.scheme}', which is for classifiers knn and nb", "give cv folds"
            )
        try:
            return list(cut.split(table.x, table.y))
        except ValueError as problem:
            raise DataError(
                f"{self.test:g} of {counted(table.frame.height, 'row')} of {table.name} cannot be "
                "held out: either part needs a row of each class",
                "hold out another share, or leave small classes out with "
                f"{setting('rare_class', 'drop')}",
            ) from problem

    def spec(self) -> dict[str, object]:
        """Return the folds as the engine reads them."""
        if self.scheme == "splits":
            return {"scheme": "splits", "splits": self.splits}
        return self.to_dict()

    def to_dict(self) -> dict[str, object]:
        """Return the folds as a result records them."""
        if self.scheme == "kfold":
            return {"scheme": "kfold", "k": self.k, "shuffle": self.shuffle, "seed": self.seed}
        if self.scheme == "holdout":
            return {"scheme": "holdout", "test": self.test, "seed": self.seed}
        if self.scheme == "splits":
            return {"scheme": "splits", "n_splits": len(self.splits)}
        if self.scheme in ("wrap5", "own"):
            return {"scheme": self.scheme, "seed": self.seed}
        return {"scheme": "loo"}


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
        rows, codes = engine.predict(mask)
        if scoring not in (None, "accuracy"):
            return jackknife(rows, table.codes[rows], codes, len(table.labels), scoring)
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
    >>> round(jackknife(rows, truth, predicted, 2, "ovr_accuracy"), 4)
    0.25
    """
    hits = np.bincount(truth[truth == predicted], minlength=n_classes).astype(np.float64)
    are = np.bincount(truth, minlength=n_classes).astype(np.float64)
    said = np.bincount(predicted, minlength=n_classes).astype(np.float64)
    order = np.lexsort((predicted, rows))
    starts = np.flatnonzero(np.diff(rows[order], prepend=-1))
    losses, known = [], dict[tuple[int, ...], float]()
    for cases in np.split(order, starts[1:]):
        # Rows of one class with the same predictions leave the same loss behind.
        case = (int(truth[cases[0]]), *predicted[cases].tolist())
        if case not in known:
            left = [count.copy() for count in (hits, are, said)]
            for code in case[1:]:
                left[0][code] -= code == case[0]
                left[1][case[0]] -= 1
                left[2][code] -= 1
            known[case] = loss_of({scoring: _score(scoring, *left)}, scoring)
        losses.append(known[case])
    spread = np.array(losses)
    n = len(losses)
    return float(np.sqrt((n - 1) / n * ((spread - spread.mean()) ** 2).sum()))


def _score(
    scoring: str, hits: NDArray[np.float64], are: NDArray[np.float64], said: NDArray[np.float64]
) -> float:
    """Return a score of predictions, pooled: of each class those right, its rows, its predictions.

    Classes that are neither tested nor predicted do not count.
    """
    n, right = are.sum(), hits.sum()
    if scoring == "balanced_accuracy":
        return float((hits[are > 0] / are[are > 0]).mean())
    if scoring == "ovr_accuracy":
        return float(1.0 - 2.0 * (n - right) / n / len(are))
    if scoring == "macro_f1":
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


def _pair(split: Split) -> tuple[list[int], list[int]]:
    if not isinstance(split, Sequence | np.ndarray) or len(split) != 2:
        raise SpecError("a split of cv is not a pair of training and test rows")
    train, test = split
    return _rows(train), _rows(test)


def _rows(part: ArrayLike) -> list[int]:
    rows = np.asarray(part)
    if rows.ndim != 1 or not np.issubdtype(rows.dtype, np.integer):
        raise SpecError("a part of cv is not a list of row numbers")
    if rows.size and rows.min() < 0:
        raise SpecError(f"cv names row {rows.min()}, expected 0 or more", "rows count from 0")
    return cast(list[int], rows.tolist())
