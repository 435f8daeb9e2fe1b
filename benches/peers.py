"""Whole searches by other packages against swarmrs: `make bench-peers`.

All score subsets by 5-NN on the same 10 folds of the same scaled values, one thread, one seed. A
peer runs until it has made about the evaluations requested; swarmrs then makes as many, up to whole
iterations, by an algorithm of the same kind, population 10 like the peers. Peers that take a
function call `cross_val_score`, as their users do. Times are CPU seconds of a whole search, that of
swarmrs the least of several runs; it reads the table, too. `best` is the accuracy of the best
subset a peer evaluated, `returned` that of the subset returned, both on the folds of the search:
optimistic, and with one seed no ranking of algorithms.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import logging
import random
import tempfile
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np
from baselines import N_FOLDS, N_NEIGHBORS, Codes, Floats, Mask, scaled
from sklearn import datasets
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from swarmrs import Selection, select
from swarmrs.exceptions import SwarmrsWarning
from threadpoolctl import threadpool_limits
from timing import Report, add_store_option, timed

SEED = 1
POPULATION = 10
#: Our searches of a kind, and how often each is timed.
ALGORITHMS = {"sequential": "sfs", "swarm": "bpso", "genetic": "ga"}
RUNS = 3


class Accuracy:
    """The accuracy of subsets by `cross_val_score`; counts them and keeps the best."""

    def __init__(self, x: Floats, y: Codes) -> None:
        self.x, self.y, self.cv = x, y, StratifiedKFold(N_FOLDS)
        self.evaluations, self.best = 0, 0.0

    def of(self, mask: Mask) -> float:
        """Return the accuracy of a subset."""
        model = KNeighborsClassifier(N_NEIGHBORS)
        return float(cross_val_score(model, self.x[:, mask], self.y, cv=self.cv).mean())

    def __call__(self, mask: Any) -> float:
        """Evaluate a subset for a peer; an empty one has no score."""
        mask = np.asarray(mask).astype(bool).ravel()
        if not mask.any():
            return 0.0
        found = self.of(mask)
        self.evaluations, self.best = self.evaluations + 1, max(self.best, found)
        return found


class Counting(ClassifierMixin, BaseEstimator):  # type: ignore[misc] # they have no types
    """5-NN that counts its fits, for peers that cross-validate an estimator themselves."""

    fits = 0

    def fit(self, X: Floats, y: Codes) -> Counting:
        """Fit."""
        type(self).fits += 1
        self.model_ = KNeighborsClassifier(N_NEIGHBORS).fit(X, y)
        self.classes_ = self.model_.classes_
        return self

    def predict(self, X: Floats) -> Codes:
        """Predict."""
        found: Codes = self.model_.predict(X)
        return found


Search = Callable[[Accuracy, int], Mask]


def _mask_of(indices: Any, width: int) -> Mask:
    mask = np.zeros(width, bool)
    mask[list(indices)] = True
    return mask


def _size_of(evaluations: int, width: int) -> int:
    """Return the size up to which forward selection makes about so many evaluations."""
    made = np.cumsum(width - np.arange(width))
    return int(np.argmin(np.abs(made - evaluations))) + 1


def _sklearn_sfs(accuracy: Accuracy, evaluations: int) -> Mask:
    from sklearn.feature_selection import SequentialFeatureSelector

    width = accuracy.x.shape[1]
    size = min(_size_of(evaluations, width), width - 1)
    search = SequentialFeatureSelector(Counting(), n_features_to_select=size, cv=accuracy.cv)
    found: Mask = search.fit(accuracy.x, accuracy.y).get_support()
    return found


def _mlxtend_sfs(accuracy: Accuracy, evaluations: int) -> Mask:
    from mlxtend.feature_selection import SequentialFeatureSelector

    width = accuracy.x.shape[1]
    size = min(_size_of(evaluations, width), width - 1)
    search = SequentialFeatureSelector(Counting(), k_features=size, cv=accuracy.cv)
    return _mask_of(search.fit(accuracy.x, accuracy.y).k_feature_idx_, width)


def _sklearn_genetic_opt(accuracy: Accuracy, evaluations: int) -> Mask:
    from sklearn_genetic import GAFeatureSelectionCV

    # A generation evaluates two populations, subsets that are known already not again.
    generations = max(1, evaluations // (2 * POPULATION) - 1)
    search = GAFeatureSelectionCV(
        Counting(),
        cv=accuracy.cv,
        scoring="accuracy",
        population_size=POPULATION,
        generations=generations,
        verbose=False,
    ).fit(accuracy.x, accuracy.y)
    accuracy.best = float(np.max(search.cv_results_["mean_test_score"]))
    found: Mask = search.support_
    return found


def _pyswarms(accuracy: Accuracy, evaluations: int) -> Mask:
    from pyswarms.discrete import BinaryPSO

    options = {"c1": 2, "c2": 2, "w": 0.9, "k": POPULATION - 1, "p": 2}
    search = BinaryPSO(POPULATION, accuracy.x.shape[1], options, velocity_clamp=(-6, 6))

    def errors(swarm: Floats) -> Floats:
        return np.array([1 - accuracy(mask) for mask in swarm])

    _, found = search.optimize(errors, evaluations // POPULATION, verbose=False)
    return np.asarray(found, bool)


def _niapy(accuracy: Accuracy, evaluations: int) -> Mask:
    from niapy.algorithms.basic import ParticleSwarmOptimization
    from niapy.problems import Problem
    from niapy.task import Task

    class Subsets(Problem):  # type: ignore[misc] # it has no types
        def _evaluate(self, x: Floats) -> float:
            return 1 - accuracy(x > 0.5)

    task = Task(Subsets(accuracy.x.shape[1], 0, 1), max_evals=evaluations)
    found = ParticleSwarmOptimization(POPULATION, seed=SEED).run(task)[0]
    return np.asarray(found > 0.5)


def _zoofs(accuracy: Accuracy, evaluations: int) -> Mask:
    import pandas as pd
    from zoofs import ParticleSwarmOptimization

    width = accuracy.x.shape[1]
    frame = pd.DataFrame(accuracy.x, columns=[str(index) for index in range(width)])

    def error(_model: object, chosen: pd.DataFrame, *_others: object) -> float:
        return 1 - accuracy(_mask_of(map(int, chosen.columns), width))

    search = ParticleSwarmOptimization(
        error, n_iteration=evaluations // POPULATION, population_size=POPULATION, minimize=True
    )
    names = search.fit(None, frame, accuracy.y, frame, accuracy.y, verbose=False)
    return _mask_of(map(int, names), width)


def _mafese(accuracy: Accuracy, evaluations: int) -> Mask:
    from mafese import MhaSelector
    from mafese.utils.mealpy_util import FeatureSelectionProblem

    class Folds(FeatureSelectionProblem):  # type: ignore[misc] # it has no types
        """Its own problem scores one hold-out sample."""

        def obj_func(self, solution: Floats) -> list[float]:
            mask = self.decode_solution(solution)["my_var"]
            found = accuracy(mask)
            return [found, found, float(np.sum(mask))]

    search = MhaSelector(
        obj_name="AS",
        optimizer="OriginalPSO",
        optimizer_paras={"epoch": max(1, evaluations // POPULATION - 1), "pop_size": POPULATION},
        seed=SEED,
        verbose=False,
    )
    search.fit(accuracy.x, accuracy.y, fs_problem=Folds)
    return np.asarray(search.selected_feature_masks, bool)


@dataclass(frozen=True)
class Peer:
    """A search of another package, and the kind of ours it is compared with."""

    package: str
    name: str
    kind: str
    search: Search

    @property
    def title(self) -> str:
        """The package, its version if it is installed, and the class."""
        try:
            return f"{self.package} {version(self.package)} {self.name}"
        except PackageNotFoundError:
            return f"{self.package} {self.name}"


PEERS = (
    Peer("scikit-learn", "SequentialFeatureSelector", "sequential", _sklearn_sfs),
    Peer("mlxtend", "SequentialFeatureSelector", "sequential", _mlxtend_sfs),
    Peer("zoofs", "ParticleSwarmOptimization", "swarm", _zoofs),
    Peer("mafese", "OriginalPSO", "swarm", _mafese),
    Peer("niapy", "ParticleSwarmOptimization", "swarm", _niapy),
    Peer("pyswarms", "BinaryPSO", "swarm", _pyswarms),
    Peer("sklearn-genetic-opt", "GAFeatureSelectionCV", "genetic", _sklearn_genetic_opt),
)


@contextlib.contextmanager
def _quietly() -> Iterator[None]:
    """Set both seeds that peers draw from, and drop what they print and the logs they write."""
    random.seed(SEED)
    np.random.seed(SEED)
    logging.disable()
    with (
        warnings.catch_warnings(),
        contextlib.redirect_stdout(io.StringIO()),
        tempfile.TemporaryDirectory() as folder,
        contextlib.chdir(folder),
    ):
        warnings.simplefilter("ignore")
        try:
            yield
        finally:
            logging.disable(logging.NOTSET)


def contest(report: Report, name: str, peer: Peer, evaluations: int) -> None:
    """Run a peer, then swarmrs with as many evaluations."""
    x, y = getattr(datasets, f"load_{name}")(return_X_y=True)
    accuracy = Accuracy(scaled(x), y.astype(np.int64))
    try:
        with _quietly(), threadpool_limits(1):
            # What is loaded on the first call is not counted, here and below.
            peer.search(Accuracy(accuracy.x[:, :3], accuracy.y), 2 * POPULATION)
            Counting.fits = 0
            theirs, mask = timed(lambda: peer.search(accuracy, evaluations))
    except Exception as error:  # also what is not installed, or not with these versions
        report.row(name, peer.title, f"not available: {type(error).__name__}: {error}")
        return
    made = accuracy.evaluations or Counting.fits // N_FOLDS
    returned = accuracy.of(mask)
    ours, found = _ours(accuracy, peer.kind, made, int(mask.sum()))
    total = found.evaluations.total
    report.row(
        name,
        peer.title,
        ALGORITHMS[peer.kind],
        made,
        total,
        f"{theirs:.2f}",
        f"{ours:.4f}",
        f"{theirs / ours:.0f}",
        f"{made / theirs:.0f}",
        f"{total / ours:.0f}",
        f"{theirs / made / (ours / total):.0f}",
        f"{accuracy.best or returned:.4f}",
        f"{returned:.4f}",
        f"{accuracy.of(found.support):.4f}",
    )


def _ours(accuracy: Accuracy, kind: str, evaluations: int, size: int) -> tuple[float, Selection]:
    """Return the least time of our search, and what it found."""
    settings: dict[str, Any] = (
        {"max_features": size}
        if kind == "sequential"
        else {"algo_params": {"population": POPULATION}}
    )
    search = partial(
        select,
        (accuracy.x, accuracy.y),
        algo=ALGORITHMS[kind],
        cv=accuracy.cv,
        max_evals=evaluations,
        random_state=SEED,
        n_jobs=1,
        **settings,
    )
    search()
    runs = [timed(search) for _ in range(RUNS)]
    return min(seconds for seconds, _ in runs), runs[0][1]


def main() -> None:
    """Print a row for each table and peer."""
    parser = argparse.ArgumentParser(description="Searches by other packages.")
    parser.add_argument("--datasets", default="wine,breast_cancer,digits", help="with commas")
    parser.add_argument("--peers", default="", help="packages, with commas; default: all")
    parser.add_argument("--evals", type=int, default=300, help="evaluations of a search, about")
    add_store_option(parser)
    args = parser.parse_args()
    warnings.simplefilter("ignore", SwarmrsWarning)
    report = Report("peers")
    report.header(
        "table",
        "peer",
        "swarmrs",
        "evaluations",
        "swarmrs evaluations",
        "s",
        "swarmrs s",
        "s / swarmrs s",
        "evaluations/s",
        "swarmrs evaluations/s",
        "time of an evaluation / swarmrs",
        "best",
        "returned",
        "swarmrs returned",
        names=3,
    )
    wanted = args.peers.split(",") if args.peers else [peer.package for peer in PEERS]
    for name in args.datasets.split(","):
        for peer in PEERS:
            if peer.package in wanted:
                contest(report, name, peer, args.evals)
    if args.store:
        report.store()


if __name__ == "__main__":
    main()
