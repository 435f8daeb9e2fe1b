"""Contiguous folds are those of scikit-learn; papers have their own way to measure."""

import numpy as np
import pytest
from sklearn.model_selection import StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier
from swarmrs import Evaluator, algorithms, select


@pytest.mark.parametrize("seed", range(20))
def test_contiguous_folds_are_those_of_scikit_learn(seed: int) -> None:
    rng = np.random.default_rng(seed)
    # Labels in any order, classes of any size: the first row may be of any class.
    y = rng.permutation(np.repeat(list("cabd"), rng.integers(4, 12, 4)))
    x = rng.random((len(y), 2))
    x[0], x[1] = 0, 1  # The scale is that of the values.
    errors = []
    for train, test in StratifiedKFold(4).split(x, y):
        fitted = KNeighborsClassifier(1).fit(x[train], y[train])
        errors.append(1 - fitted.score(x[test], y[test]))
    measured = Evaluator(x, y, k=1, cv="kfold=4,contiguous").measure([True, True])
    assert measured["error"][0] == pytest.approx(np.mean(errors), abs=1e-12)


@pytest.mark.parametrize("algo", ["cdbpso", "sga", "hga"])
def test_these_are_measured_as_in_their_paper(algo: str) -> None:
    card = {card.id: card for card in algorithms()}[algo]
    assert (card.evaluated_by["k"], card.evaluated_by["metric"]) == (1, "euclidean")
    assert card.evaluated_by["folds"]["scheme"] == "loo"
    rng = np.random.default_rng(1)
    found = select((rng.random((20, 4)), np.arange(20) % 2), algo=algo, max_evals=60)
    assert found.evaluation["k"] == 1
    assert found.evaluation["folds"] == {"scheme": "loo"}
