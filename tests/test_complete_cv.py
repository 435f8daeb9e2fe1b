"""Complete cross-validation: the mean of k-NN over all splits, against splits that are listed."""

from collections.abc import Callable
from fractions import Fraction
from itertools import combinations
from math import comb
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.metrics import f1_score, matthews_corrcoef
from sklearn.neighbors import KNeighborsClassifier, NearestNeighbors
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler
from sklearn.tree import DecisionTreeClassifier
from swarmrs import Evaluator, select
from swarmrs.data._dataset import dataset_of
from swarmrs.exceptions import SpecError

Rows = NDArray[np.intp]


class Outcome(NamedTuple):
    code: int
    out: str
    err: str


Cli = Callable[..., Outcome]


def table(
    n: int, d: int, n_classes: int = 2, seed: int = 0
) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """Return values without ties of distance, and classes."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % n_classes
    return rng.normal(size=(n, d)) + 0.7 * y[:, None], y


def listed(
    x: NDArray[np.float64], y: NDArray[np.intp], kept: int, k: int
) -> dict[int, dict[int, Fraction]]:
    """Return the share of splits that predict each class for a row, by fitting every split."""
    n = len(y)
    counts: dict[int, dict[int, Fraction]] = {row: {} for row in range(n)}
    for train in combinations(range(n), kept):
        tested = [row for row in range(n) if row not in train]
        model = KNeighborsClassifier(k, algorithm="brute").fit(x[list(train)], y[list(train)])
        for row, said in zip(tested, model.predict(x[tested]).tolist(), strict=True):
            counts[row][said] = counts[row].get(said, Fraction()) + Fraction(1, comb(n - 1, kept))
    return counts


@pytest.mark.parametrize(
    ("n", "k", "n_classes", "test"),
    [(8, 1, 2, 0.5), (8, 1, 3, 0.3), (9, 3, 2, 0.5), (8, 3, 3, 0.4), (8, 2, 2, 0.5)],
)
def test_scores_are_means_over_all_splits(n: int, k: int, n_classes: int, test: float) -> None:
    x, y = table(n, 3, n_classes, seed=n + k)
    evaluator = Evaluator(x, y, estimator=KNeighborsClassifier(k), cv=f"complete={test}")
    kept = round((1 - test) * (n - 1) + 1e-9)
    for features in ([0, 1, 2], [1]):
        mask = np.isin(np.arange(3), features)
        shares = listed(x[:, mask], y, kept, k)
        matrix = np.zeros((n_classes, n_classes))
        for row, of_classes in shares.items():
            for said, share in of_classes.items():
                matrix[y[row], said] += float(share)
        scores = evaluator.measure(mask)[0]
        right = [float(shares[row].get(int(y[row]), 0)) for row in range(n)]
        recall = [np.mean([right[row] for row in np.flatnonzero(y == c)]) for c in np.unique(y)]
        # A weight is rounded to 2^-40, and a row has at most ten of them.
        assert scores["accuracy"] == pytest.approx(np.mean(right), abs=1e-11)
        assert scores["error"] == scores["pooled_error"]
        assert scores["accuracy"] == 1 - scores["error"]
        assert scores["balanced_accuracy"] == pytest.approx(np.mean(recall), abs=1e-11)
        truth, predicted = np.divmod(np.arange(n_classes**2), n_classes)
        weights = matrix.ravel()
        f1 = f1_score(truth, predicted, average="macro", sample_weight=weights)
        assert scores["f1_macro"] == pytest.approx(f1, abs=1e-10)
        mcc = matthews_corrcoef(truth, predicted, sample_weight=weights)
        assert scores["matthews_corrcoef"] == pytest.approx(mcc, abs=1e-10)
        rows, labels = evaluator.predict(mask)
        assert rows.tolist() == list(range(n))
        for row, label in zip(rows.tolist(), labels.tolist(), strict=True):
            assert shares[row][label] == max(shares[row].values())


def test_the_worked_example_of_the_docs() -> None:
    # The others of the first row, nearest first: b, a, a, b. Two of four are kept.
    x, y = np.array([[0.0], [1.0], [2.1], [3.3], [4.6]]), np.array(list("abaab"))
    evaluator = Evaluator(x, y, estimator=KNeighborsClassifier(1), cv="complete")
    rows, codes, _, shares = evaluator._engine.distribution(np.array([True]))
    first = dict(zip(codes[rows == 0].tolist(), shares[rows == 0].tolist(), strict=True))
    assert first == pytest.approx({0: 1 / 2, 1: 1 / 2}, abs=1e-11)


def test_long_lists_end_within_their_bound() -> None:
    x, y = table(200, 4, seed=3)
    others = NearestNeighbors(n_neighbors=199).fit(x).kneighbors(return_distance=False)
    right = y[others] == y[:, None]
    for share in (0.5, 0.8):
        kept = round((1 - share) * 199 + 1e-9)
        exact = [comb(199 - j, kept - 1) / comb(199, kept) for j in range(1, 200)]
        scores = Evaluator(x, y, estimator=KNeighborsClassifier(1), cv=f"complete={share}")
        error = 1 - (right * exact).sum(axis=1).mean()
        assert scores.measure([True] * 4)["error"][0] == pytest.approx(error, abs=2**-10)


def test_a_search_records_it_and_goes_on_from_a_checkpoint(tmp_path: Path) -> None:
    x, y = table(60, 8, seed=5)
    settings = {"algo": "vlpso", "estimator": KNeighborsClassifier(1), "cv": "complete"}
    whole = select(x, y, **settings, random_state=1, max_evals=400)
    assert whole.evaluation["folds"] == {"scheme": "complete", "test": 0.5}
    given = settings | {"checkpoint": tmp_path / "run.ckpt"}
    select(x, y, **given, random_state=1, max_evals=400, callback=lambda _: True)
    again = select(x, y, **given, random_state=1, max_evals=400, n_jobs=2)
    assert (again.support == whole.support).all()
    assert again.scores == whole.scores
    # No row is drawn, so that no seed matters.
    seeded = select(x, y, **settings, random_state=1, max_evals=400, cv_seed=9)
    assert seeded.scores == whole.scores
    measured = Evaluator(x, y, estimator=KNeighborsClassifier(1), cv="complete")
    assert measured.measure(whole.support)["error"][0] == whole.scores["error"]
    loo = Evaluator(x, y, estimator=KNeighborsClassifier(1), cv="loo")
    assert measured.baseline.scores == loo.baseline.scores


def test_the_hybrid_objective_separates_classes_as_with_leave_one_out() -> None:
    x, y = table(40, 6, seed=2)
    shared = {
        "algo": "vlpso",
        "estimator": KNeighborsClassifier(1, metric="manhattan"),
        "scale": "minmax",
        "random_state": 1,
        "max_evals": 100,
    }
    separation: dict[str, str | float | None] = {"kind": "hybrid", "gamma": 0.0}
    costs = [select(x, y, **shared, objective=separation, cv=cv).cost for cv in ("complete", "loo")]
    assert costs[0] == costs[1]


@pytest.mark.parametrize("scoring", [None, "f1_macro"])
def test_the_standard_error_is_that_of_the_chances_of_rows(scoring: str | None) -> None:
    x, y = table(50, 4, seed=8)
    evaluator = Evaluator(x, y, estimator=KNeighborsClassifier(1), cv="complete")
    rows, codes, _, shares = evaluator._engine.distribution(np.array([True] * 4))
    counts = np.zeros((50, 2))
    counts[rows, codes] = shares

    def loss(left: Rows) -> float:
        matrix = np.array([counts[left][y[left] == c].sum(axis=0) for c in (0, 1)])
        if scoring is None:
            return 1 - float(np.trace(matrix) / matrix.sum())
        halves = 2 * np.diag(matrix) / (matrix.sum(axis=0) + matrix.sum(axis=1))
        return 1 - float(halves.mean())

    losses = np.array([loss(np.delete(np.arange(50), row)) for row in range(50)])
    expected = np.sqrt(49 / 50 * ((losses - losses.mean()) ** 2).sum())
    given = evaluator.evaluation.standard_error(
        evaluator.table, dataset_of(evaluator.table, "none"), np.array([True] * 4), scoring
    )
    assert given == pytest.approx(expected)


@pytest.mark.parametrize(
    ("settings", "message", "hint"),
    [
        ({"estimator": "nb"}, "the classifier is 'nb': complete cross-validation is for k-NN", ""),
        (
            {"estimator": KNeighborsClassifier(3, weights="distance")},
            "votes have the weights 'distance': complete cross-validation is for k-NN",
            'take KNeighborsClassifier(1), or leave-one-out with cv="loo"',
        ),
        (
            {"estimator": DecisionTreeClassifier()},
            "an estimator of scikit-learn is fitted on each split: complete cross-validation is "
            "for k-NN",
            'take KNeighborsClassifier(1), or leave-one-out with cv="loo"',
        ),
        (
            {"estimator": make_pipeline(MinMaxScaler(), KNeighborsClassifier(1))},
            "the scaling 'fold-minmax' is fitted on each split",
            'scale by all rows with scale="minmax" or "standard"',
        ),
        ({"estimator": KNeighborsClassifier(21)}, "n_neighbors is 21, expected 1 to 20", ""),
        ({"cv": "complete=1.5"}, "unknown cv 'complete=1.5'", "known: 10, loo, complete"),
        ({"cv": "complete=0.0"}, "test is 0, expected a fraction between 0 and 1", ""),
    ],
)
def test_what_has_no_closed_form_is_refused(
    settings: dict[str, Any], message: str, hint: str
) -> None:
    x, y = table(40, 3)
    with pytest.raises(SpecError) as refused:
        select(x, y, algo="sfs", **({"cv": "complete"} | settings))
    assert message in str(refused.value)
    assert hint in (refused.value.hint or "")


def test_the_command_line_has_it(cli: Cli) -> None:
    shared = ("select", "sklearn:iris", "--algo", "sfs", "--cv", "complete=0.4")
    done = cli(*shared, "-k", 1)
    assert done.code == 0
    assert "1-NN, euclidean, complete cross-validation, 0.4 left out" in done.out
    refused = cli(*shared, "--estimator", "nb")
    assert refused.code == 2
    assert "take --estimator knn --n-neighbors 1, or leave-one-out with --cv loo" in refused.err
