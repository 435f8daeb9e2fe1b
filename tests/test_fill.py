"""Missing values inside folds: what is measured is what the rows that train would fill."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl
import pytest
from numpy.typing import NDArray
from sklearn.impute import KNNImputer, SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from swarmrs import Evaluator, read_table, select

Splits = Sequence[tuple[NDArray[np.intp], NDArray[np.intp]]]
STRATEGY = {"mean": "mean", "median": "median", "mode": "most_frequent"}


def gappy(n: int = 60, share: float = 0.2, seed: int = 5) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return rows of 16-bit numbers, some missing; the ends of each column are known."""
    rng = np.random.default_rng(seed)
    x = rng.integers(0, 65536, (n, 5)).astype(float)
    x[rng.random(x.shape) < share] = np.nan
    x[0], x[1] = 0.0, 65535.0
    y = np.where(np.nan_to_num(x[:, 0], nan=30000) + rng.normal(0, 9000, n) > 32000, "b", "a")
    return x, y


def splits_of(y: NDArray[Any], k: int = 4) -> Splits:
    return list(StratifiedKFold(k).split(y, y))


@pytest.mark.parametrize("policy", ["mean", "median", "mode"])
def test_each_fold_is_filled_as_scikit_learn_does_in_a_pipeline(policy: str) -> None:
    x, y = gappy()
    splits = splits_of(y)
    table = read_table((x, y), missing=policy)
    judge = Evaluator(table, estimator=KNeighborsClassifier(3), cv=splits, scale="minmax")
    fill = SimpleImputer(strategy=STRATEGY[policy])
    for width in range(1, 6):
        mask = np.arange(5) < width
        rows, labels = judge.predict(mask)
        said = dict(zip(rows.tolist(), labels.tolist(), strict=True))
        for train, test in splits:
            solid = fill.fit(x[train]).transform(x[:, :])[:, mask]
            knn = KNeighborsClassifier(3, algorithm="brute").fit(solid[train], y[train])
            assert [said[row] for row in test] == knn.predict(solid[test]).tolist()


def test_folds_drawn_by_the_engine_are_filled_the_same_way() -> None:
    x, y = gappy()
    table = read_table((x, y), missing="median")
    masks = np.array([[True, True, False, True, True], [True] * 5])
    for cv in ("loo", 5, 3, "holdout=0.3"):
        drawn = Evaluator(table, cv=cv, cv_seed=4)
        rows, _ = drawn.predict(masks[0])
        once = Evaluator(table.as_filled(), cv=cv, cv_seed=4)
        assert np.array_equal(once.predict(masks[0])[0], rows)
        assert drawn.fingerprint != once.fingerprint
    leave_one_out = [(np.delete(np.arange(60), row), np.array([row])) for row in range(60)]
    given = Evaluator(table, cv=leave_one_out).measure(masks)
    assert np.array_equal(Evaluator(table, cv="loo").measure(masks), given)


def test_the_values_of_rows_tested_are_never_looked_at() -> None:
    x, y = gappy()
    splits = splits_of(y)[:1]
    (train, test) = splits[0]
    other = x.copy()
    # Far values in the rows tested would pull a mean over all rows.
    other[test] = np.where(np.isnan(x[test]), np.nan, 65535.0)
    for policy in ("mean", "median", "mode", "knn"):
        one = read_table((x, y), missing=policy).unfilled
        two = read_table((other, y), missing=policy).unfilled
        assert one is not None
        assert two is not None
        gaps = np.flatnonzero(np.isin(one.rows, train))
        assert np.array_equal(one.values(train)[gaps], two.values(train)[gaps])


def test_text_is_filled_by_the_mode_of_training_rows_and_spread() -> None:
    frame = pl.DataFrame(
        {
            "color": ["red", "red", None, "blue", "blue", "blue"],
            "size": [1.0, 2.0, 3.0, None, 5.0, 6.0],
            "class": ["x", "y", "x", "y", "x", "y"],
        }
    )
    table = read_table(frame, missing="median", encode="onehot")
    assert table.names == ["color=blue", "color=red", "size"]
    unfilled = table.unfilled
    assert unfilled is not None
    assert unfilled.rows.tolist() == [2, 3]
    assert table.x[2].tolist() == [1, 0, 3]
    assert unfilled.values(np.array([0, 1, 5])).tolist() == [[0, 1, 3], [1, 0, 2]]


def test_a_column_that_training_rows_know_nothing_of_tells_nothing() -> None:
    x = np.array([[1, np.nan], [2, np.nan], [3, 5.0], [4, 7.0]], dtype=float)
    for policy in ("mean", "median", "mode", "knn"):
        unfilled = read_table((x, [0, 1, 0, 1]), missing=policy).unfilled
        assert unfilled is not None
        assert unfilled.values(np.array([0, 1]))[:, 1].tolist() == [0, 0]
        assert read_table((x, [0, 1, 0, 1]), missing=policy).take(np.array([0, 1])).x[0, 1] == 0


def test_rows_that_miss_nothing_are_a_table_like_any_other() -> None:
    x = np.array([[1, np.nan], [2, 3.0], [3, 5.0], [4, 7.0]])
    table = read_table((x, [0, 1, 0, 1]), missing="mean")
    part = table.take(np.array([1, 2, 3]))
    assert part.unfilled is None
    assert part.x.tolist() == x[1:].tolist()
    assert table.take(np.array([0, 1, 2])).x[0, 1] == 4


def test_the_nearest_row_is_one_that_trains() -> None:
    x, y = gappy()
    train = np.arange(0, 60, 2)
    # One column missing at a time: otherwise the nearest has gaps of its own, seen differently.
    x = np.where(np.isnan(x), 20000.0, x)
    x[7, 2] = np.nan
    unfilled = read_table((x, y), missing="knn").unfilled
    assert unfilled is not None
    low, width = x[train].min(axis=0), np.ptp(x[train], axis=0)
    nearest = KNNImputer(n_neighbors=1).fit((x[train] - low) / width)
    expected = nearest.transform((x[[7]] - low) / width)[0, 2] * width[2] + low[2]
    # Scaled and scaled back.
    assert unfilled.values(train)[0, 2] == pytest.approx(expected, rel=1e-12)


def test_an_estimator_is_given_what_an_imputer_before_it_would_give() -> None:
    x, y = gappy(120)
    splits = splits_of(y)
    table = read_table((x, y), missing="mean")
    judge = LogisticRegression(max_iter=1000)
    weight = np.linspace(0.5, 2, len(y))
    found = select(
        table,
        algo="sfs",
        estimator=make_pipeline(judge),
        cv=splits,
        max_features=3,
        fit_params={"logisticregression__sample_weight": weight},
    )
    scores = []
    for train, test in splits:
        solid = SimpleImputer().fit(x[train]).transform(x)[:, found.support]
        judge.fit(solid[train], y[train], sample_weight=weight[train])
        scores.append(judge.score(solid[test], y[test]))
    # A mean of a few fractions.
    assert found.scores["error"] == pytest.approx(1 - np.mean(scores), abs=1e-12)
    plain = cross_val_score(
        make_pipeline(SimpleImputer(), judge), x[:, found.support], y, cv=splits
    )
    unweighted = select(table, algo="sfs", estimator=judge, cv=splits, include=found.selected)
    assert unweighted.cost <= 1 - plain.mean() + 1e-12


def test_a_search_measures_its_answer_as_the_evaluator_does() -> None:
    x, y = gappy()
    table = read_table((x, y), missing="knn")
    found = select(table, algo="ga", max_evals=200, cv=5, pick="1se", random_state=2)
    again = Evaluator(table, cv=5).measure(found.support)
    assert found.scores["error"] == again["error"][0]
