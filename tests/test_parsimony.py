"""The smallest subset within one standard error of the best."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.model_selection import RepeatedStratifiedKFold, StratifiedKFold, cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier
from swarmrs import Evaluator, Selection, algorithms, select
from swarmrs.exceptions import SpecError
from swarmrs.search._results._front import Parsimony

Blobs = tuple[NDArray[np.float64], NDArray[np.str_]]


def given_up(found: Selection) -> Parsimony:
    assert found.parsimony is not None
    return found.parsimony


def row_wise(data: Blobs, mask: NDArray[np.bool_], **settings: Any) -> float:
    """Return the standard error of the mean over rows of how often each is misclassified."""
    rows, said = Evaluator(data, **settings).predict(mask)
    shares = [np.mean(said[rows == row] != data[1][row]) for row in np.unique(rows)]
    mean = np.mean(shares)
    n = len(shares)
    return float(np.sqrt(sum((share - mean) ** 2 for share in shares) / (n - 1) / n))


PROTOCOLS: list[dict[str, Any]] = [
    {"cv": 5},
    {"cv": "loo"},
    {"cv": "holdout=0.4"},
    {"cv": "wrap5"},
    {"cv": StratifiedKFold(4), "estimator": "nb"},
    {"cv": RepeatedStratifiedKFold(n_splits=3, n_repeats=2, random_state=1), "estimator": "nb"},
]


@pytest.mark.parametrize("settings", PROTOCOLS, ids=lambda settings: str(settings["cv"])[:12])
def test_the_error_spreads_over_rows(blobs: Blobs, settings: dict[str, Any]) -> None:
    search: dict[str, Any] = {"algo": "sffs", "random_state": 1}
    best = select(blobs, **search, **settings)
    found = select(blobs, pick="1se", **search, **settings)
    rule, size, error, loss, spread = given_up(found)
    assert loss == error
    assert (rule, size, error) == ("1se", best.size, best.scores["error"])
    # Sums are taken in another order.
    assert spread == pytest.approx(row_wise(blobs, best.support, **settings), abs=1e-12)
    near = [point for point in best.front if point.error <= error + spread]
    assert found.selected == min(near, key=lambda point: point.size).selected
    assert found.pick == "1se"


def test_of_equal_folds_it_is_the_binomial_one(blobs: Blobs) -> None:
    found = select(blobs, algo="sfs", cv="loo", pick="1se")
    error = given_up(found).best_error
    # The same number by another formula.
    expected = pytest.approx(np.sqrt(error * (1 - error) / 59), abs=1e-12)
    assert given_up(found).standard_error == expected


@pytest.mark.parametrize("algo", [card.id for card in algorithms() if card.id != "auto"])
def test_no_smaller_subset_evaluated_is_as_near(algo: str) -> None:
    settings: dict[str, Any] = {"algo": algo, "random_state": 2, "max_evals": 400, "cv": 5}
    found = select("sklearn:wine", pick="1se", keep_all=True, **settings)
    best = select("sklearn:wine", **settings)
    _, size, error, _, spread = given_up(found)
    assert (size, error) == (best.size, best.scores["error"])
    assert found.all_evaluations is not None
    near = found.all_evaluations.filter(found.all_evaluations["error"] <= error + spread)
    assert found.size == near["size"].min()
    assert found.size <= best.size


def test_an_estimator_spreads_over_its_folds(blobs: Blobs) -> None:
    # The engine has no such smoothing, so that scikit-learn evaluates it.
    bayes = GaussianNB(var_smoothing=1e-8)
    settings: dict[str, Any] = {"estimator": bayes, "cv": 4, "algo": "sffs"}
    best = select(blobs, **settings)
    found = select(blobs, pick="1se", **settings)
    scores = cross_val_score(bayes, blobs[0][:, best.support], blobs[1], cv=4)
    assert given_up(found).standard_error == np.std(scores, ddof=1) / 2


def test_a_point_off_the_front_may_be_the_best(blobs: Blobs) -> None:
    """If the objective is not the error, the best has the least cost, and its error counts."""
    estimator = KNeighborsClassifier(5, metric="manhattan")
    settings: dict[str, Any] = {"objective": "hybrid", "estimator": estimator, "scale": "minmax"}
    settings |= {"algo": "bpso", "random_state": 1}
    best = select(blobs, max_evals=90, **settings)
    found = select(blobs, max_evals=90, pick="1se", **settings)
    assert given_up(found).best_error == best.scores["error"]
    error = found.scores["error"]
    assert error is not None
    assert error <= given_up(found).best_error + given_up(found).standard_error


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"pick": "2se"}, "pick is '2se', expected best, knee, 1se, size<=K"),
        (
            {"pick": "1se", "scorer": lambda masks: [0.5] * len(masks)},
            "pick is '1se', but one score has no standard error",
        ),
        (
            {"pick": "1se", "estimator": DecisionTreeClassifier(), "cv": "holdout=0.3"},
            "pick is '1se', but one score has no standard error",
        ),
    ],
)
def test_what_has_no_standard_error_is_refused(
    blobs: Blobs, settings: dict[str, Any], message: str
) -> None:
    with pytest.raises(SpecError) as error:
        select(blobs, algo="sfs", **settings)
    assert str(error.value) == message
