"""The ridge classifier of the engine against RidgeClassifier of scikit-learn, and its ranking."""

import json
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pytest
import swarmrs
from numpy.typing import NDArray
from sklearn.linear_model import Ridge, RidgeClassifier
from sklearn.model_selection import (
    KFold,
    LeaveOneOut,
    RepeatedKFold,
    ShuffleSplit,
    StratifiedKFold,
    cross_val_score,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from swarmrs import Evaluator, SwarmSelector, _swarmrs, select
from swarmrs.exceptions import SpecError

# Classes of one row are among the cases.
pytestmark = [
    pytest.mark.filterwarnings("ignore::swarmrs.exceptions.SwarmrsWarning"),
    pytest.mark.filterwarnings("ignore:The least populated class:UserWarning"),
]
# Decision values nearer to each other than this are a tie: rounding decides.
MARGIN = 1e-7
CASES = 160


@dataclass
class Case:
    """A table, its splits and a subset."""

    x: NDArray[np.float64]
    y: NDArray[np.int64]
    splits: list[tuple[NDArray[np.int64], NDArray[np.int64]]]
    mask: NDArray[np.bool_]
    alpha: float


def cases(seed: int, count: int) -> Iterator[Case]:
    """Draw tables with duplicate and constant columns, wide and tall, of two and more classes."""
    for number in range(count):
        rng = np.random.default_rng([seed, number])
        n, n_classes = int(rng.integers(12, 70)), int(rng.choice([2, 2, 3, 5, 9]))
        width = int(rng.choice([2, 5, 12, 40, 120]))
        y = np.concatenate([np.arange(n_classes), rng.integers(0, n_classes, n - n_classes)])
        y = rng.permutation(y)
        x = rng.normal(size=(n, width)) + rng.normal(size=(n_classes, width))[y] * 0.7
        x *= 10.0 ** rng.integers(-1, 2, width)
        x[:, rng.integers(width)] = 3.5
        x[:, rng.integers(width)] = x[:, 0]
        x[:, rng.integers(width)] = np.rint(x[:, 0])
        state = int(rng.integers(1 << 30))
        splitters = [
            LeaveOneOut(),
            KFold(int(rng.integers(2, 8)), shuffle=True, random_state=state),
            KFold(2),
            RepeatedKFold(n_splits=4, n_repeats=2, random_state=state),
            # Rows that neither train nor are tested.
            ShuffleSplit(3, test_size=0.3, train_size=0.5, random_state=state),
        ]
        splits = list(splitters[number % len(splitters)].split(x))
        mask = rng.random(width) < rng.choice([0.2, 0.5, 1.0])
        mask[0] = True
        yield Case(x, y, splits, mask, float(rng.choice([0.1, 1.0, 30.0])))


@pytest.mark.parametrize("seed", range(2))
def test_predictions_are_those_of_scikit_learn(seed: int) -> None:
    ties = n_predictions = 0
    for number, case in enumerate(cases(seed, CASES // 2)):
        estimator = RidgeClassifier(case.alpha)
        evaluator = Evaluator(case.x, case.y, estimator=estimator, cv=case.splits)
        assert evaluator.evaluation.to_dict()["ridge_alpha"] == case.alpha
        rows, labels = evaluator.predict(case.mask)
        expected: dict[int, list[tuple[int, float]]] = {}
        for train, test in case.splits:
            fitted = estimator.fit(case.x[train][:, case.mask], case.y[train])
            values = np.atleast_2d(fitted.decision_function(case.x[test][:, case.mask]).T).T
            codes = fitted.predict(case.x[test][:, case.mask])
            if values.shape[1] == 1:
                values = np.hstack([-values, values]) / 2
            order = np.sort(values, axis=1)
            for row, code, margin in zip(test, codes, order[:, -1] - order[:, -2], strict=True):
                expected.setdefault(int(row), []).append((int(code), float(margin)))
        assert np.array_equal(rows, np.sort(np.concatenate([test for _, test in case.splits])))
        found = iter(labels.tolist())
        for row in sorted(expected):
            for code, margin in expected[row]:
                label = next(found)
                n_predictions += 1
                ties += margin < MARGIN
                assert label == code or margin < MARGIN, (number, row, margin)
    assert n_predictions > 2000
    # Some subsets hold nothing but constant features.
    assert ties < 0.03 * n_predictions


@pytest.mark.filterwarnings("ignore:y_pred contains classes not in y_true")
@pytest.mark.parametrize("scaler", [None, MinMaxScaler(), StandardScaler()])
def test_scores_are_those_of_cross_val_score(scaler: object) -> None:
    for number, case in enumerate(cases(5, 20)):
        estimator = RidgeClassifier(case.alpha)
        if scaler is not None:
            estimator = make_pipeline(scaler, estimator)
        cv = StratifiedKFold(3, shuffle=True, random_state=number)
        y = case.y % 2 if number % 2 else case.y % 3
        scores = Evaluator(case.x, y, estimator=estimator, cv=cv).measure(case.mask)
        for scoring in ("accuracy", "balanced_accuracy", "f1_macro", "matthews_corrcoef"):
            chosen = case.x[:, case.mask]
            theirs = cross_val_score(estimator, chosen, y, cv=cv, scoring=scoring).mean()
            assert scores[scoring][0] == pytest.approx(theirs, abs=1e-12), (number, scoring)


def test_the_name_stands_for_standardized_features_and_as_large_a_penalty_as_there_are_rows() -> (
    None
):
    table = swarmrs.read_table("sklearn:wine")
    evaluator = Evaluator(table, estimator="ridge", cv="loo")
    settings = {"estimator": "ridge", "ridge_alpha": 178.0, "scale": "standard"}
    assert evaluator.evaluation.to_dict() == settings | {"folds": {"scheme": "loo"}}
    masks = np.random.default_rng(3).random((3, 13)) < 0.5
    masks[:, 0] = True
    x = StandardScaler().fit_transform(table.x)
    for mask, error in zip(masks, evaluator.measure(masks)["error"], strict=True):
        accuracy = cross_val_score(RidgeClassifier(178.0), x[:, mask], table.y, cv=LeaveOneOut())
        assert error == pytest.approx(1 - accuracy.mean(), abs=1e-12)


@pytest.mark.parametrize(
    "estimator",
    [
        RidgeClassifier(0),
        RidgeClassifier(class_weight="balanced"),
        RidgeClassifier(fit_intercept=False),
        RidgeClassifier(positive=True),
        RidgeClassifier(solver="sag"),
    ],
    ids=["zero", "class_weight", "intercept", "positive", "solver"],
)
def test_what_the_engine_does_not_have_is_left_to_scikit_learn(estimator: RidgeClassifier) -> None:
    with pytest.raises(SpecError, match="which the engine does not have"):
        Evaluator("sklearn:iris", estimator=estimator)


def test_a_search_reports_the_score_of_cross_val_score_and_scores_held_out_rows() -> None:
    table = swarmrs.read_table("sklearn:wine")
    piped = make_pipeline(StandardScaler(), RidgeClassifier(5.0))
    selector = SwarmSelector(piped, algo="sfs", cv=4).fit(table.x, table.y)
    assert selector.result_.evaluation["estimator"] == "ridge"
    scores = cross_val_score(piped, table.x[:, selector.support_], table.y, cv=4)
    assert selector.best_score_ == pytest.approx(scores.mean(), abs=1e-12)

    found = select(table, algo="sfs", estimator="ridge", outer_cv=3)
    assert found.evaluation["ridge_alpha"] == 178.0
    assert found.held_out is not None
    for part, (train, test) in zip(
        found.held_out.parts, StratifiedKFold(3).split(table.x, table.y), strict=True
    ):
        # The penalty of a part is the number of rows that its search was given.
        alpha = part.selection.evaluation["ridge_alpha"]
        assert alpha == len(train) == part.n_train
        model = make_pipeline(StandardScaler(), RidgeClassifier(alpha))
        chosen = table.x[:, part.selection.support]
        accuracy = model.fit(chosen[train], table.y[train]).score(chosen[test], table.y[test])
        assert part.loss == pytest.approx(1 - accuracy, abs=1e-12)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"estimator": "knn", "ridge_alpha": 2.0}, "ridge_alpha is 2.0, but 'knn' has no penalty"),
        ({"estimator": "ridge", "ridge_alpha": 0}, "ridge_alpha is 0, expected a finite number"),
        ({"estimator": "ridge", "n_neighbors": 3}, "n_neighbors is 3, but 'ridge' has no neigh"),
        ({"estimator": "ridge", "objective": "hybrid"}, "hybrid"),
    ],
)
def test_settings_that_do_not_fit_are_refused(settings: dict[str, object], message: str) -> None:
    with pytest.raises(SpecError, match=message):
        swarmrs.compare(["sklearn:iris"], "sfs", runs=1, max_evals=5, **settings)  # type: ignore[arg-type]


def eliminate(
    x: NDArray[np.float64], y: NDArray[np.int64], alpha: float
) -> tuple[list[int], float]:
    """Rank features as the engine does, by scikit-learn; also the least gap between two scores."""
    x = StandardScaler().fit_transform(x)
    left, eliminated, gap = list(range(x.shape[1])), list[int](), np.inf
    while len(left) > 1:
        weights = RidgeClassifier(alpha).fit(x[:, left], y).coef_
        scores = (np.atleast_2d(weights) ** 2).sum(axis=0)
        order = np.lexsort((-np.array(left), scores))
        dropped = order[: max(1, len(left) // 5)]
        ranked = scores[order]
        gap = min(gap, float((np.diff(ranked) / ranked[1:]).min()))
        eliminated += [left[at] for at in dropped]
        left = [feature for at, feature in enumerate(left) if at not in set(dropped)]
    return [*left, *eliminated[::-1]], gap


def test_features_are_ranked_as_by_scikit_learn() -> None:
    compared = 0
    for number in range(40):
        rng = np.random.default_rng([9, number])
        n, width, n_classes = int(rng.integers(15, 60)), int(rng.integers(2, 150)), number % 3 + 2
        y = rng.permutation(np.concatenate([np.arange(n_classes), rng.integers(0, 2, n)]))
        x = rng.normal(size=(len(y), width)) * rng.uniform(0.1, 50, width)
        x[:, 0] += y
        names = [f"x{at}" for at in range(width)]
        codes = y.astype(np.uint32)
        dataset = _swarmrs.Dataset(np.asfortranarray(x), codes, n_classes, names, "minmax")
        alpha = None if number % 2 else 3.0
        found = dataset.ridge_rfe(list(range(width)), alpha, 1)
        assert found == dataset.ridge_rfe(list(range(width)), alpha, 2)
        expected, gap = eliminate(x, y, len(y) if alpha is None else alpha)
        if gap > 1e-9:
            compared += 1
            assert found == expected, number
    assert compared > 30
    with pytest.raises(SpecError, match="ridge_alpha is -1, expected a number above 0"):
        dataset.ridge_rfe([0], -1.0, 1)


def test_equal_features_are_ranked_by_their_index() -> None:
    rng = np.random.default_rng(4)
    y = np.arange(40) % 2
    for width in (10, 90):
        x = rng.normal(size=(40, width)) + y[:, None] * 0.2
        x[:, 5] = x[:, 7] = x[:, 2]
        names = [f"x{at}" for at in range(width)]
        table = np.asfortranarray(x)
        dataset = _swarmrs.Dataset(table, y.astype(np.uint32), 2, names, "none")
        order = dataset.ridge_rfe(list(range(width)), None, 1)
        places = [order.index(feature) for feature in (2, 5, 7)]
        assert places == sorted(places)


def test_a_spec_without_a_penalty_has_the_number_of_rows() -> None:
    rng = np.random.default_rng(8)
    y = np.arange(30) % 3
    x = np.asfortranarray(rng.normal(size=(30, 6)) + y[:, None])
    dataset = _swarmrs.Dataset(x, y.astype(np.uint32), 3, list("abcdef"), "standard")
    spec = {"classifier": "ridge", "weights": "uniform", "folds": {"scheme": "loo"}}
    masks = rng.random((30, 6)) < 0.6
    engines = [
        _swarmrs.Evaluator(dataset, json.dumps(spec | more), 1, 0, True)
        for more in ({}, {"alpha": None}, {"alpha": 30.0})
    ]
    first, *others = [engine.measure(masks) for engine in engines]
    assert all(np.array_equal(first, other) for other in others)


def forward(x: NDArray[np.float64], y: NDArray[np.int64], alpha: float, n_steps: int) -> list[int]:
    """Select greedily by leave-one-out residuals, each from a fit without the row."""
    x = x / x.std(axis=0)
    classes = np.unique(y)[-1:] if len(np.unique(y)) == 2 else np.unique(y)
    targets = np.where(y[:, None] == classes, 1.0, -1.0)

    def loss(features: list[int]) -> float:
        total = 0.0
        for row in range(len(y)):
            rest = np.arange(len(y)) != row
            model = Ridge(alpha=alpha).fit(x[rest][:, features], targets[rest])
            total += float(((targets[row] - model.predict(x[[row]][:, features])) ** 2).sum())
        return total

    selected: list[int] = []
    for _ in range(n_steps):
        left = [feature for feature in range(x.shape[1]) if feature not in selected]
        selected.append(min(left, key=lambda feature: loss([*selected, feature])))
    return selected


@pytest.mark.parametrize("number", range(12))
def test_forward_selection_takes_the_least_leave_one_out_error(number: int) -> None:
    rng = np.random.default_rng([31, number])
    n, width, n_classes = int(rng.integers(8, 25)), int(rng.integers(3, 12)), number % 3 + 2
    y = rng.permutation(np.arange(n) % n_classes)
    x = rng.normal(size=(n, width)) * rng.uniform(0.1, 50, width)
    x[:, 0] += y
    codes, names = y.astype(np.uint32), [f"x{at}" for at in range(width)]
    dataset = _swarmrs.Dataset(np.asfortranarray(x), codes, n_classes, names, "minmax")
    alpha = float(n) if number % 2 else 2.0
    found = dataset.ridge_sfs(list(range(width)), width, alpha, 1)
    assert found == dataset.ridge_sfs(list(range(width)), width, alpha, 2)
    assert found == forward(x, y, alpha, width)
    # What follows the last step is in the order of the next.
    short = dataset.ridge_sfs(list(range(width)), 2, alpha, 1)
    assert short[:3] == found[:3]
    assert sorted(short) == list(range(width))


def test_forward_selection_considers_the_given_features_alone() -> None:
    rng = np.random.default_rng(5)
    y = np.arange(30) % 2
    x = np.asfortranarray(rng.normal(size=(30, 8)))
    x[:, 2] = y
    dataset = _swarmrs.Dataset(x, y.astype(np.uint32), 2, list("abcdefgh"), "minmax")
    assert dataset.ridge_sfs(list(range(8)), 8, None, 1)[0] == 2
    assert sorted(dataset.ridge_sfs([7, 0, 4], 8, None, 1)) == [0, 4, 7]
