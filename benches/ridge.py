"""Measure the ridge classifier against k-NN of the engine and against scikit-learn.

Each line gives microseconds of CPU per evaluated subset on one thread, everything from scratch:
the ridge classifier and 1-NN with leave-one-out, `RidgeClassifierCV`, which computes the
leave-one-out error of one penalty without refitting, and how many times faster the engine is; then
the same with ten folds, for which `cross_val_score` refits.

Run by `.venv/bin/python benches/ridge.py`.
"""

import argparse
import time
from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import RidgeClassifier, RidgeClassifierCV
from sklearn.model_selection import cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from swarmrs import Evaluator
from threadpoolctl import threadpool_limits

ROWS = (60, 100, 170)
CLASSES = (2, 4)
SIZES = (5, 20, 50)
FEATURES = 200
SUBSETS = 400
# scikit-learn takes so long that a few tell enough.
FEW = 5
TITLES = ("rows", "classes", "size", "ridge", "1-NN", "RidgeCV", "ratio", "10-fold", "refit")


def table(n: int, n_classes: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return clouds around class centers, standardized."""
    rng = np.random.default_rng([n, n_classes])
    y = np.arange(n) % n_classes
    x = rng.normal(size=(n, FEATURES)) + 0.4 * rng.normal(size=(n_classes, FEATURES))[y]
    return (x - x.mean(axis=0)) / x.std(axis=0), y


def draw_masks(size: int) -> NDArray[np.bool_]:
    """Return random subsets of one size."""
    rng = np.random.default_rng(size)
    masks = np.zeros((SUBSETS, FEATURES), bool)
    for mask in masks:
        mask[rng.choice(FEATURES, size, replace=False)] = True
    return masks


def microseconds(
    work: Callable[[NDArray[np.bool_]], object], masks: NDArray[np.bool_], repeats: int
) -> float:
    """Return the CPU time for one of the subsets, the best of some repeats."""
    best = np.inf
    for _ in range(repeats):
        started = time.process_time()
        work(masks)
        best = min(best, time.process_time() - started)
    return float(1e6 * best / len(masks))


def fit(x: NDArray[np.float64], y: NDArray[np.int64], masks: NDArray[np.bool_]) -> None:
    """Have scikit-learn compute leave-one-out errors of one fit for each subset."""
    for mask in masks:
        RidgeClassifierCV(alphas=[len(y)]).fit(x[:, mask], y)


def refit(x: NDArray[np.float64], y: NDArray[np.int64], masks: NDArray[np.bool_]) -> None:
    """Have scikit-learn fit each of ten folds for each subset."""
    for mask in masks:
        cross_val_score(RidgeClassifier(len(y)), x[:, mask], y, cv=10)


def main() -> None:
    """Print a line for each number of rows, classes and features."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--repeats", type=int, default=5, help="goes of which the best counts")
    repeats = parser.parse_args().repeats
    print("  ".join(f"{title:>8}" for title in (*TITLES, "ratio")))
    for n, n_classes in ((n, n_classes) for n in ROWS for n_classes in CLASSES):
        x, y = table(n, n_classes)
        engine = partial(Evaluator, x, y, scale="none", n_jobs=1, incremental=False)
        ridge = engine(estimator=RidgeClassifier(n), cv="loo")
        folded = engine(estimator=RidgeClassifier(n), cv=10)
        neighbor = engine(estimator=KNeighborsClassifier(1), cv="loo")
        for size in SIZES:
            masks = draw_masks(size)
            ours = microseconds(ridge.measure, masks, repeats)
            nearest = microseconds(neighbor.measure, masks, repeats)
            once = microseconds(partial(fit, x, y), masks[:FEW], repeats)
            ten = microseconds(folded.measure, masks, repeats)
            again = microseconds(partial(refit, x, y), masks[:FEW], repeats)
            times = (ours, nearest, once, once / ours, ten, again, again / ten)
            shown = [f"{value:8.1f}" for value in times]
            print("  ".join([f"{n:8}", f"{n_classes:8}", f"{size:8}", *shown]), flush=True)


if __name__ == "__main__":
    with threadpool_limits(1):
        main()
