"""Folds are those of scikit-learn; presets have those of their study."""

import numpy as np
import pytest
from sklearn.model_selection import StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier
from swarmrs import Evaluator, algorithms, select


@pytest.mark.parametrize("seed", range(20))
def test_a_number_of_folds_is_that_of_scikit_learn(seed: int) -> None:
    rng = np.random.default_rng(seed)
    # Labels in any order, classes of any size: the first row may be of any class.
    y = rng.permutation(np.repeat(list("cabd"), rng.integers(4, 12, 4)))
    x = rng.random((len(y), 2))
    errors = []
    for train, test in StratifiedKFold(4).split(x, y):
        fitted = KNeighborsClassifier(1).fit(x[train], y[train])
        errors.append(1 - fitted.score(x[test], y[test]))
    for cv in (4, StratifiedKFold(4)):
        evaluator = Evaluator(x, y, estimator=KNeighborsClassifier(1), cv=cv)
        error = evaluator.measure([True, True])["error"][0]
        assert error == pytest.approx(np.mean(errors), abs=1e-12)


@pytest.mark.parametrize("algo", ["cdbpso", "sga", "hga"])
def test_these_are_evaluated_as_in_their_paper_by_its_preset(algo: str) -> None:
    card = {card.id: card for card in algorithms()}[algo]
    assert (card.evaluated_by["n_neighbors"], card.evaluated_by["metric"]) == (1, "euclidean")
    assert card.evaluated_by["folds"]["scheme"] == "loo"
    rng = np.random.default_rng(1)
    data = (rng.random((20, 4)), np.arange(20) % 2)
    found = select(data, algo=algo, preset="chuang2012", max_evals=60)
    assert found.preset == "chuang2012"
    assert found.evaluation["n_neighbors"] == 1
    assert found.evaluation["folds"] == {"scheme": "loo"}
