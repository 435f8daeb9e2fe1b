"""`best_score_` is the score that scikit-learn's `cross_val_score` gives the selected features."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.model_selection import (
    GridSearchCV,
    KFold,
    LeaveOneOut,
    RepeatedStratifiedKFold,
    StratifiedKFold,
    StratifiedShuffleSplit,
    cross_val_score,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from swarmrs import SwarmSelector

CASES = 200
SCORES = (None, "accuracy", "balanced_accuracy", "f1_macro", "matthews_corrcoef")


def samples(rng: np.random.Generator) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return a random classification problem without ties between distances."""
    n, width, n_classes = rng.integers(30, 90), rng.integers(3, 9), rng.integers(2, 5)
    y = np.concatenate([np.repeat(np.arange(n_classes), 6), rng.integers(0, n_classes, n)])
    y = y[rng.permutation(len(y))]
    spread = 10.0 ** rng.integers(-2, 3, width)
    X = (rng.normal(size=(len(y), width)) + 0.6 * y[:, None] * rng.random(width)) * spread
    return X, y


def estimators(rng: np.random.Generator) -> Any:
    """Return a random classifier that the engine has, alone or after a scaler."""
    neighbors = int(rng.choice([1, 3, 4, 5, 7]))
    metrics: list[dict[str, Any]] = [{"p": 1}, {"p": 2}, {"metric": "manhattan"}]
    metric = [*metrics, {"metric": "euclidean"}][rng.integers(4)]
    weights = rng.choice(["uniform", "distance"])
    classifier = (
        KNeighborsClassifier(neighbors, weights=str(weights), **metric)
        if rng.random() < 0.6
        else GaussianNB()
    )
    scaler = [None, None, MinMaxScaler(), StandardScaler()][rng.integers(4)]
    return classifier if scaler is None else make_pipeline(scaler, classifier)


def folds(rng: np.random.Generator) -> Any:
    """Return a random cross-validation as scikit-learn has it."""
    k, seed = int(rng.integers(2, 6)), int(rng.integers(100))
    shuffled = {"shuffle": True, "random_state": seed}
    return [
        k,
        None,
        StratifiedKFold(k),
        StratifiedKFold(k, **shuffled),
        KFold(k, **shuffled),
        StratifiedShuffleSplit(3, test_size=0.3, random_state=seed),
        RepeatedStratifiedKFold(n_splits=k, n_repeats=2, random_state=seed),
    ][rng.integers(7)]


@pytest.mark.parametrize("part", range(4))
def test_best_score_is_that_of_cross_val_score(part: int) -> None:
    """200 random problems, classifiers, folds and scores; equal votes and distances are absent."""
    native = 0
    for case in range(part, CASES, 4):
        rng = np.random.default_rng(case)
        X, y = samples(rng)
        estimator, cv = estimators(rng), folds(rng)
        scoring = SCORES[rng.integers(len(SCORES))]
        selector = SwarmSelector(
            estimator, algo="random", cv=cv, scoring=scoring, max_evals=50, random_state=case
        ).fit(X, y)
        chosen = X[:, selector.support_]
        expected = cross_val_score(estimator, chosen, y, cv=cv, scoring=scoring).mean()
        assert selector.best_score_ == pytest.approx(expected, abs=1e-12), (case, estimator, cv)
        native += selector.result_.evaluation["estimator"] in ("knn", "nb")
    # Naive Bayes on features of very different variance is left to scikit-learn.
    assert native > CASES / 4 * 0.7


def test_leave_one_out_is_that_of_cross_val_score() -> None:
    rng = np.random.default_rng(7)
    X, y = samples(rng)
    for estimator in (KNeighborsClassifier(3), GaussianNB()):
        selector = SwarmSelector(
            estimator, algo="random", cv=LeaveOneOut(), max_evals=50, random_state=1
        ).fit(X, y)
        scores = cross_val_score(estimator, X[:, selector.support_], y, cv=LeaveOneOut())
        assert selector.best_score_ == pytest.approx(scores.mean(), abs=1e-12)
        assert selector.result_.evaluation["folds"] == {"scheme": "loo"}


@pytest.mark.parametrize(
    "estimator",
    [
        KNeighborsClassifier(5, metric="chebyshev"),
        KNeighborsClassifier(5, p=3),
        KNeighborsClassifier(5, weights=lambda distances: 1 / (1 + distances)),
        KNeighborsClassifier(5, metric="minkowski", metric_params={"w": np.ones(1)}),
        GaussianNB(var_smoothing=1e-3),
        GaussianNB(priors=[0.2, 0.3, 0.5]),
        make_pipeline(MinMaxScaler((-1, 1)), GaussianNB()),
        make_pipeline(StandardScaler(with_mean=False), KNeighborsClassifier()),
    ],
    ids=["chebyshev", "p=3", "weights", "w", "smoothing", "priors", "range", "uncentered"],
)
def test_what_the_engine_does_not_have_is_evaluated_by_scikit_learn(estimator: Any) -> None:
    rng = np.random.default_rng(3)
    y = np.repeat([0, 1, 2], 12)
    X = rng.normal(size=(36, 2)) + y[:, None]
    selector = SwarmSelector(
        estimator, algo="random", cv=3, max_evals=50, max_features=1, random_state=0
    ).fit(X, y)
    chosen = X[:, selector.support_]
    name = " ".join(repr(estimator).split())
    assert selector.result_.evaluation["estimator"] == name
    assert selector.best_score_ == pytest.approx(
        cross_val_score(estimator, chosen, y, cv=3).mean(), abs=1e-12
    )


def test_a_score_that_the_engine_does_not_have_is_computed_by_scikit_learn() -> None:
    rng = np.random.default_rng(5)
    X, y = samples(rng)
    estimator = KNeighborsClassifier(5)
    selector = SwarmSelector(
        estimator, algo="sfs", cv=4, scoring="roc_auc_ovr", max_features=2
    ).fit(X, y)
    scores = cross_val_score(estimator, X[:, selector.support_], y, cv=4, scoring="roc_auc_ovr")
    assert selector.best_score_ == pytest.approx(scores.mean(), abs=1e-12)


def test_the_sign_of_a_score_is_its_own() -> None:
    from sklearn.linear_model import Ridge

    rng = np.random.default_rng(5)
    X = rng.normal(size=(60, 5))
    y = X[:, 0] - 2 * X[:, 3] + 0.1 * rng.normal(size=60)
    for scoring in (None, "neg_root_mean_squared_error"):
        selector = SwarmSelector(Ridge(), algo="sfs", cv=4, scoring=scoring).fit(X, y)
        scores = cross_val_score(Ridge(), X[:, selector.support_], y, cv=4, scoring=scoring)
        assert selector.best_score_ == pytest.approx(scores.mean(), abs=1e-12)
    assert selector.best_score_ < 0


def test_grid_search_reaches_the_estimator_and_the_algorithm() -> None:
    rng = np.random.default_rng(2)
    X, y = samples(rng)
    selector = SwarmSelector(KNeighborsClassifier(), cv=3, max_evals=50, random_state=1)
    pipe = make_pipeline(selector, KNeighborsClassifier())
    grid = {
        "swarmselector__estimator__n_neighbors": [1, 5],
        "swarmselector__algo": ["sfs", "bpso"],
    }
    search = GridSearchCV(pipe, grid, cv=3).fit(X, y)
    assert len(search.cv_results_["params"]) == 4
    best = search.best_estimator_["swarmselector"]
    assert best.result_.evaluation["n_neighbors"] == best.estimator.n_neighbors
    assert best.result_.algorithm == best.algo
