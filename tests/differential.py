"""Compare native predictions with scikit-learn on raw float64 tables that are hard on fixed point.

A case is a random table, split and subset under one classifier, scale and metric. Every prediction
of a case is compared with the pipeline (scaler, classifier) of scikit-learn, which sees the float64
values as they are. `make differential` runs many cases; a test runs some.

A prediction may differ only where float64 itself does not decide: where the distance of the k-th
neighbor and of another row agree to twelve digits and they would vote differently, where the votes
or the posteriors of two classes agree to nine. Such ties are counted apart.
"""

import argparse
import json
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from swarmrs import _swarmrs

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]
Split = tuple[Ints, Ints]


def _gauss(rng: np.random.Generator, n: int, d: int) -> Floats:
    return rng.normal(size=(n, d))


def _outliers(rng: np.random.Generator, n: int, d: int) -> Floats:
    x = rng.normal(size=(n, d))
    x[rng.integers(n, size=d), np.arange(d)] *= 10.0 ** rng.uniform(2, 12)
    return x


def _heavy_tails(rng: np.random.Generator, n: int, d: int) -> Floats:
    return np.asarray(np.exp(rng.uniform(1, 6) * rng.normal(size=(n, d))))


def _cauchy(rng: np.random.Generator, n: int, d: int) -> Floats:
    return rng.standard_cauchy(size=(n, d))


def _tiny_differences(rng: np.random.Generator, n: int, d: int) -> Floats:
    return np.asarray(1e6 + rng.normal(size=(n, d)) * 10.0 ** rng.uniform(-6, 0))


def _mixed_scales(rng: np.random.Generator, n: int, d: int) -> Floats:
    return np.asarray(rng.normal(size=(n, d)) * 10.0 ** rng.uniform(-4, 4, size=d))


def _whole_numbers(rng: np.random.Generator, n: int, d: int) -> Floats:
    return rng.integers(0, rng.integers(2, 200, size=d), size=(n, d)).astype(float)


def _decimals(rng: np.random.Generator, n: int, d: int) -> Floats:
    return np.round(rng.normal(size=(n, d)), int(rng.integers(0, 4)))


def _duplicates(rng: np.random.Generator, n: int, d: int) -> Floats:
    return rng.normal(size=(max(2, n // 3), d))[rng.integers(max(2, n // 3), size=n)]


def _sparse(rng: np.random.Generator, n: int, d: int) -> Floats:
    x = np.round(np.exp(2 * rng.normal(size=(n, d))), 2)
    x[rng.random((n, d)) < 0.7] = 0.0
    return np.asarray(x)


TABLES: dict[str, Callable[[np.random.Generator, int, int], Floats]] = {
    "gauss": _gauss,
    "outliers": _outliers,
    "heavy tails": _heavy_tails,
    "cauchy": _cauchy,
    "tiny differences": _tiny_differences,
    "mixed scales": _mixed_scales,
    "whole numbers": _whole_numbers,
    "decimals": _decimals,
    "duplicates": _duplicates,
    "sparse": _sparse,
}
SCALES = ("minmax", "standard", "none", "fold-minmax", "fold-standard")


@dataclass
class Case:
    """One random comparison."""

    kind: str
    x: Floats
    y: Ints
    splits: list[Split]
    scale: str
    classifier: str
    k: int
    metric: str
    weights: str

    def native(self, splits: list[Split]) -> tuple[Ints, list[str]]:
        """Return the class that swarmrs predicts for each row tested, and its warnings."""
        n, d = self.x.shape
        is_knn = self.classifier == "knn"
        data = _swarmrs.Dataset(
            np.asfortranarray(self.x),
            self.y.astype(np.uint32),
            int(self.y.max()) + 1,
            [f"f{at}" for at in range(d)],
            self.scale.removeprefix("fold-"),
        )
        spec = {
            "classifier": self.classifier,
            "k": self.k if is_knn else None,
            "metric": self.metric if is_knn else None,
            "weights": self.weights,
            "scale_fit": "train" if self.scale.startswith("fold-") else "all",
            "folds": {
                "scheme": "splits",
                "splits": [(train.tolist(), test.tolist()) for train, test in splits],
            },
        }
        engine = _swarmrs.Evaluator(data, json.dumps(spec), 1, 1 << 28, True)
        rows, classes, _ = engine.predict(np.ones(d, dtype=bool))
        predicted = np.full(n, -1, dtype=np.intp)
        predicted[rows] = classes
        return predicted, [*data.warnings, *engine.warnings]

    def scaled(self, train: Ints) -> Floats:
        """Return the values that a classifier sees in a split."""
        scale = self.scale.removeprefix("fold-")
        if scale == "none":
            # An offset cancels on paper; in float64 it would cost scikit-learn's variances digits.
            return np.asarray(self.x - self.x.min(axis=0))
        scaler = MinMaxScaler() if scale == "minmax" else StandardScaler()
        scaler.fit(self.x[train] if self.scale.startswith("fold-") else self.x)
        return np.asarray(scaler.transform(self.x))


def draw(rng: np.random.Generator) -> Case:
    """Draw a case."""
    kind = str(rng.choice(list(TABLES)))
    n, d = int(rng.integers(8, 120)), int(rng.integers(1, 12))
    x = TABLES[kind](rng, n, d)
    classes = int(rng.integers(2, 4))
    y = rng.integers(classes, size=n)
    y[:classes] = np.arange(classes)
    if rng.random() < 0.7:  # a signal, as large as the spread of most values
        spread = np.subtract(*np.percentile(x, [75, 25], axis=0))
        x = x + (y[:, None] * spread * rng.uniform(0.5, 2, size=d)) * (rng.random(d) < 0.5)
    fold_of = rng.permutation(n) % int(rng.integers(2, min(n, 10) + 1))
    if rng.random() < 0.25:
        fold_of = np.arange(n)
    rows = np.arange(n)
    splits = [(rows[fold_of != fold], rows[fold_of == fold]) for fold in np.unique(fold_of)]
    least = min(len(train) for train, _ in splits)
    return Case(
        kind=kind,
        x=x,
        y=y,
        splits=splits,
        scale=str(rng.choice(SCALES)),
        classifier=str(rng.choice(["knn", "knn", "knn", "nb"])),
        k=int(rng.integers(1, min(12, least) + 1)),
        metric=str(rng.choice(["manhattan", "euclidean"])),
        weights=str(rng.choice(["uniform", "uniform", "distance"])),
    )


def compare(case: Case) -> tuple[int, int, int, list[str]]:
    """Return predictions, those that differ at a tie, those that differ otherwise, and warnings."""
    # As a partition, whose pairs of rows are compared once, and split by split.
    together, warnings = case.native(case.splits)
    predictions = ties = mismatches = 0
    for train, test in case.splits:
        found = case.native([(train, test)])[0][test]
        x = case.scaled(train)
        reference = _knn if case.classifier == "knn" else _nb
        expected, is_tie = reference(case, x, train, test)
        differs = (found != expected) | (found != together[test])
        predictions += len(test)
        ties += int(np.sum(differs & is_tie))
        mismatches += int(np.sum(differs & ~is_tie))
    return predictions, ties, mismatches, warnings


def _knn(case: Case, x: Floats, train: Ints, test: Ints) -> tuple[Ints, NDArray[np.bool_]]:
    model = KNeighborsClassifier(
        case.k, metric=case.metric, weights=case.weights, algorithm="kd_tree"
    ).fit(x[train], case.y[train])
    expected = model.predict(x[test])
    difference = np.abs(x[test][:, None, :] - x[train][None, :, :])
    distances = (
        difference.sum(-1) if case.metric == "manhattan" else np.sqrt((difference**2).sum(-1))
    )
    kth = np.sort(distances, axis=1)[:, case.k - 1 : case.k]
    near = np.abs(distances - kth) <= 1e-12 * kth
    inside = (distances < kth) & ~near
    is_tie = near.sum(1) > case.k - inside.sum(1)
    if case.weights == "distance":
        with np.errstate(divide="ignore"):
            weights = np.where(inside | near, 1 / distances, 0.0)
        weights = np.where(np.isinf(weights).any(1, keepdims=True), np.isinf(weights), weights)
        votes = np.stack([weights[:, case.y[train] == c].sum(1) for c in np.unique(case.y[train])])
        best = np.sort(votes, axis=0)[::-1]
        if len(best) > 1:
            is_tie |= best[0] - best[1] <= 1e-9 * best[0]
    return np.asarray(expected), np.asarray(is_tie)


def _nb(case: Case, x: Floats, train: Ints, test: Ints) -> tuple[Ints, NDArray[np.bool_]]:
    model = GaussianNB().fit(x[train], case.y[train])
    posterior = np.sort(model.predict_joint_log_proba(x[test]), axis=1)
    expected = model.predict(x[test])
    if posterior.shape[1] == 1:
        return np.asarray(expected), np.zeros(len(test), dtype=bool)
    gap = posterior[:, -1] - posterior[:, -2]
    return np.asarray(expected), np.asarray(gap <= 1e-6 * np.maximum(1.0, np.abs(posterior[:, -1])))


def run(count: int, seed: int) -> Iterator[tuple[Case, tuple[int, int, int, list[str]]]]:
    """Yield `count` cases and what comparing them gave."""
    for at in range(count):
        case = draw(np.random.default_rng([seed, at]))
        with np.errstate(all="ignore"):
            yield case, compare(case)


def main() -> int:
    """Compare many cases and print a table of them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    started = time.process_time()
    totals: dict[tuple[str, str], Counter[str]] = {}
    for at, (case, (predictions, ties, mismatches, warnings)) in enumerate(
        run(given.cases, given.seed)
    ):
        key = (case.kind, "naive Bayes" if case.classifier == "nb" else f"k-NN {case.metric}")
        totals.setdefault(key, Counter()).update(
            cases=1,
            predictions=predictions,
            ties=ties,
            mismatches=mismatches,
            silent=mismatches if not warnings else 0,
            warned=bool(warnings),
        )
        if mismatches:
            print(
                f"case {at}: {case.kind}, {case.classifier} {case.metric} {case.weights} "
                f"k={case.k}, {case.scale}, {case.x.shape}: {mismatches} of {predictions}",
                file=sys.stderr,
            )
    names = ("cases", "predictions", "ties", "mismatches", "silent", "warned")
    print(
        "| values | classifier | cases | predictions | differ at a tie | differ otherwise | "
        "of these without a warning | cases with a warning |"
    )
    print("| --- | --- | --: | --: | --: | --: | --: | --: |")
    for key in sorted(totals):
        print(f"| {key[0]} | {key[1]} | " + " | ".join(str(totals[key][n]) for n in names) + " |")
    total: Counter[str] = sum(totals.values(), Counter())
    print("| all | all | " + " | ".join(str(total[name]) for name in names) + " |")
    print(f"seed {given.seed}, {time.process_time() - started:.0f} CPU seconds")
    return 1 if total["silent"] else 0


if __name__ == "__main__":
    sys.exit(main())
