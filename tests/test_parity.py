"""The evaluators against two oracles: a naive reference with the tie rules, and scikit-learn.

All columns hold whole numbers and span 0..65535 exactly, so that bringing them to 16 bits changes
nothing and both sides see the same values. Squared distances stay below 2^53: scikit-learn's floats
hold them exactly as well. Predictions are compared one by one.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from sklearn import metrics, model_selection
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from swarmrs import _swarmrs
from threadpoolctl import threadpool_limits

Ints = NDArray[np.int64]
Split = tuple[Ints, Ints]

TOP = 65535
NEIGHBORS = (1, 3, 5, 7)
# Both sides divide the same counts and add fewer than a hundred quotients, in different order:
# rounding stays below 1e-13, and one prediction more or less moves any score by more than 1e-5.
TOLERANCE = 1e-12


@pytest.fixture(autouse=True)
def _one_thread() -> Iterator[None]:
    """Keep scikit-learn from waking a thread for each core, thousands of times for tiny tables."""
    with threadpool_limits(1):
        yield


@dataclass(frozen=True)
class Case:
    """A table, a mask and folds; no splits means leave-one-out."""

    x: Ints
    y: Ints
    n_classes: int
    mask: NDArray[np.bool_]
    splits: list[Split] | None

    @property
    def all_splits(self) -> list[Split]:
        rows = np.arange(len(self.y))
        if self.splits is None:
            return [(np.delete(rows, row), rows[row : row + 1]) for row in rows]
        return self.splits

    @property
    def tested(self) -> list[tuple[int, int]]:
        """Every (row, split) that is tested, in row order."""
        pairs = enumerate(self.all_splits)
        return sorted((int(row), at) for at, (_, test) in pairs for row in test)

    def engine(self, **settings: object) -> _swarmrs.Evaluator:
        folds: dict[str, object] = {"scheme": "loo"}
        if self.splits is not None:
            splits = [[train.tolist(), test.tolist()] for train, test in self.splits]
            folds = {"scheme": "splits", "splits": splits}
        names = [f"x{at}" for at in range(self.x.shape[1])]
        table = np.asfortranarray(self.x, dtype=np.float64)
        codes = self.y.astype(np.uint32)
        dataset = _swarmrs.Dataset(table, codes, self.n_classes, names, "minmax")
        spec = {"k": 5, "metric": "euclidean", "weights": "uniform", "folds": folds, **settings}
        return _swarmrs.Evaluator(dataset, json.dumps(spec), 1, 1 << 30, True)

    def predictions(self, engine: _swarmrs.Evaluator) -> dict[tuple[int, int], int]:
        """Key predictions by (row, split); a row tested twice comes in the order of the splits."""
        rows, codes, _ = engine.predict(self.mask)
        assert rows.tolist() == [row for row, _ in self.tested]
        return dict(zip(self.tested, codes.tolist(), strict=True))


def draw_classes(rng: np.random.Generator) -> tuple[Ints, int]:
    n, n_classes = int(rng.integers(32, 81)), int(rng.integers(2, 6))
    least = np.repeat(np.arange(n_classes), 6)
    rest = rng.integers(0, n_classes, n - len(least))
    return rng.permutation(np.concatenate([least, rest])), n_classes


def fine_table(rng: np.random.Generator, y: Ints, n_classes: int) -> Ints:
    """Draw clouds around class centers: hardly two distances are equal."""
    d = int(rng.integers(3, 13))
    centers = rng.uniform(0.25, 0.75, (n_classes, d)) * TOP
    x = centers[y] + rng.normal(0.0, rng.uniform(0.08, 0.3) * TOP, (len(y), d))
    return spanned(rng, np.clip(np.rint(x), 0, TOP).astype(np.int64))


def coarse_table(rng: np.random.Generator, y: Ints, n_classes: int) -> Ints:
    """Draw few levels and repeated rows: equal distances and equal votes everywhere."""
    d, steps = int(rng.integers(3, 13)), int(rng.choice([1, 3, 5, 15]))
    x = rng.integers(0, steps + 1, (len(y), d)) * (TOP // steps)
    copies = rng.integers(0, len(y), len(y) // 4)
    x[rng.integers(0, len(y), len(copies))] = x[copies]
    return spanned(rng, x)


def spanned(rng: np.random.Generator, x: Ints) -> Ints:
    """Put 0 and 65535 somewhere into each column."""
    for column in x.T:
        low, high = rng.choice(len(x), 2, replace=False)
        column[low], column[high] = 0, TOP
    return x


def draw_splits(rng: np.random.Generator, y: Ints) -> list[Split]:
    """Draw the splits of a scikit-learn splitter, or ones that no splitter gives."""
    state = int(rng.integers(1 << 30))
    rows = np.arange(len(y))
    folds = int(rng.integers(2, 6))
    match int(rng.integers(8)):
        case 0:
            splitter = model_selection.StratifiedKFold(folds, shuffle=True, random_state=state)
        case 1:
            splitter = model_selection.StratifiedKFold(folds)
        case 2:
            splitter = model_selection.KFold(folds, shuffle=True, random_state=state)
        case 3:  # one split: holdout
            splitter = model_selection.StratifiedShuffleSplit(1, test_size=0.3, random_state=state)
        case 4:  # rows tested never, once or more often
            splitter = model_selection.ShuffleSplit(3, test_size=0.25, random_state=state)
        case 5:
            splitter = model_selection.RepeatedStratifiedKFold(
                n_splits=2, n_repeats=2, random_state=state
            )
        case 6:
            groups = rng.permutation(len(y)) % 9
            return list(model_selection.GroupKFold(3).split(rows, y, groups))
        case _:  # a class is left out of training
            absent = int(rng.integers(y.max() + 1))
            train = rng.permutation(rows[y != absent])
            return [(train[6:], np.concatenate([rows[y == absent], train[:6]]))]
    return list(splitter.split(rows, y))


def draw_mask(rng: np.random.Generator, d: int) -> NDArray[np.bool_]:
    mask = rng.random(d) < rng.uniform(0.2, 0.9)
    mask[rng.integers(d)] = True
    return mask


def cases(seed: int, count: int, grain: str) -> Iterator[tuple[Case, np.random.Generator]]:
    """Draw cases, a third of them leave-one-out, each with the generator it came from."""
    table = {"fine": fine_table, "coarse": coarse_table}[grain]
    for number in range(count):
        rng = np.random.default_rng([seed, number])
        y, n_classes = draw_classes(rng)
        x = table(rng, y, n_classes)
        splits = None if number % 3 == 0 else draw_splits(rng, y)
        yield Case(x, y, n_classes, draw_mask(rng, x.shape[1]), splits), rng


@dataclass
class Tally:
    """How many predictions were compared, and how many of them a tie decides."""

    predictions: int = 0
    equal_distances: int = 0
    equal_votes: int = 0
    wrong: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Voted:
    """What the naive reference says of one tested row."""

    code: int
    has_equal_distances: bool
    has_equal_votes: bool


def naive_knn(case: Case, train: Ints, row: int, k: int, metric: str, weights: str) -> Voted:
    """Apply the definition: nearer, then lower row first; most votes, then the smaller class."""
    gaps = np.abs(case.x[:, case.mask] - case.x[row, case.mask])
    sums = (gaps if metric == "manhattan" else gaps * gaps).sum(axis=1).tolist()
    ranked = sorted((sums[other], other) for other in train.tolist())
    nearest = ranked[:k]
    votes = [0.0] * case.n_classes
    has_copies = nearest[0][0] == 0
    for total, other in nearest:
        if weights == "uniform":
            share = 1.0
        elif has_copies:  # a copy of the row weighs infinitely more than any other neighbor
            share = float(total == 0)
        else:
            share = 1.0 / float(total if metric == "manhattan" else np.sqrt(total))
        votes[case.y[other]] += share
    most = max(votes)
    close = [code for code, share in enumerate(votes) if share > most * (1 - 1e-9)]
    at_edge = len(ranked) > k and ranked[k - 1][0] == ranked[k][0]
    return Voted(votes.index(most), at_edge, len(close) > 1)


def sklearn_knn(case: Case, k: int, metric: str, weights: str) -> dict[tuple[int, int], int]:
    model = KNeighborsClassifier(k, algorithm="brute", metric=metric, weights=weights)
    table = case.x[:, case.mask].astype(np.float64)
    if case.splits is None:  # predict(None) leaves each row out of its own neighbors
        return dict(zip(case.tested, model.fit(table, case.y).predict(None).tolist(), strict=True))
    found = {}
    for at, (train, test) in enumerate(case.splits):
        codes = model.fit(table[train], case.y[train]).predict(table[test])
        found.update({(int(row), at): int(code) for row, code in zip(test, codes, strict=True)})
    return found


def compare_knn(grain: str, metric: str, weights: str, count: int) -> Tally:
    """Compare each prediction with the naive one, and with scikit-learn's where that is defined.

    scikit-learn leaves open which of equally distant rows is a neighbor, and adds weighted votes in
    an order of its own; the naive reference decides those. Equal whole votes go to the smaller
    class on all three sides.
    """
    tally = Tally()
    seed = (
        ["fine", "coarse"].index(grain) * 4 + (metric == "manhattan") * 2 + (weights == "distance")
    )
    for number, (case, rng) in enumerate(cases(seed, count, grain)):
        k = int(rng.choice(NEIGHBORS))
        engine = case.engine(classifier="knn", k=k, metric=metric, weights=weights)
        ours = case.predictions(engine)
        theirs = sklearn_knn(case, k, metric, weights)
        for (row, at), code in ours.items():
            train = (
                case.all_splits[at][0] if case.splits else np.delete(np.arange(len(case.y)), row)
            )
            naive = naive_knn(case, train, row, k, metric, weights)
            tally.predictions += 1
            tally.equal_distances += naive.has_equal_distances
            tally.equal_votes += naive.has_equal_votes
            where = f"case {number} of seed {seed}, k={k}, row {row}, split {at}"
            if code != naive.code:
                tally.wrong.append(f"{where}: {code}, naive {naive.code}")
            is_open = naive.has_equal_distances or (weights == "distance" and naive.has_equal_votes)
            if not is_open and code != theirs[row, at]:
                tally.wrong.append(f"{where}: {code}, scikit-learn {theirs[row, at]}")
    return tally


@pytest.mark.parametrize("weights", ["uniform", "distance"])
@pytest.mark.parametrize("metric", ["euclidean", "manhattan"])
def test_knn_predicts_what_scikit_learn_and_the_reference_do(metric: str, weights: str) -> None:
    tally = compare_knn("fine", metric, weights, 270)
    assert tally.wrong == []
    assert tally.predictions > 10_000
    assert tally.equal_distances < 0.01 * tally.predictions


@pytest.mark.parametrize("weights", ["uniform", "distance"])
@pytest.mark.parametrize("metric", ["euclidean", "manhattan"])
def test_knn_settles_ties_as_the_reference_does(metric: str, weights: str) -> None:
    tally = compare_knn("coarse", metric, weights, 90)
    assert tally.wrong == []
    assert tally.equal_distances > 0.2 * tally.predictions
    assert tally.equal_votes > 0.02 * tally.predictions


def is_smoothing_idle(case: Case) -> bool:
    """Say whether the variance added to each class is too small to matter.

    swarmrs adds 1e-9 of the largest variance over all features, scikit-learn over the selected
    ones. The two agree where every class has a variance of its own that dwarfs both.
    """
    for train, _ in case.all_splits:
        table, y = case.x[train], case.y[train]
        floor = 1e-9 * table.var(axis=0).max()
        for code in np.unique(y):
            if table[y == code].var(axis=0).min() < 1e6 * floor:
                return False
    return True


def nb_cases(seed: int, count: int) -> Iterator[Case]:
    """Draw cases of idle smoothing; few leave one out, where scikit-learn trains once a row."""
    number = 0
    while count > 0:
        rng = np.random.default_rng([seed, number])
        y, n_classes = draw_classes(rng)
        x = fine_table(rng, y, n_classes)
        splits = None if number % 15 == 0 else draw_splits(rng, y)
        case = Case(x, y, n_classes, draw_mask(rng, x.shape[1]), splits)
        number += 1
        if is_smoothing_idle(case):
            count -= 1
            yield case


@pytest.mark.parametrize("seed", range(5))
def test_naive_bayes_predicts_what_scikit_learn_does(seed: int) -> None:
    wrong, n_predictions = [], 0
    for number, case in enumerate(nb_cases(100 + seed, 210)):
        ours = case.predictions(case.engine(classifier="nb"))
        n_predictions += len(ours)
        table = case.x[:, case.mask].astype(np.float64)
        for at, (train, test) in enumerate(case.all_splits):
            model = GaussianNB().fit(table[train], case.y[train])
            for row, code in zip(test.tolist(), model.predict(table[test]).tolist(), strict=True):
                if ours[row, at] != code:
                    odds = np.sort(model.predict_joint_log_proba(table[row : row + 1])[0])[::-1]
                    wrong.append(
                        f"case {number}, row {row}, split {at}: {ours[row, at]} not {code}, {odds}"
                    )
    assert wrong == []
    assert n_predictions > 5_000


def expected_scores(case: Case, predicted: dict[tuple[int, int], int]) -> dict[str, float]:
    """Score by scikit-learn: means over folds where its scorers have the name, else pooled."""
    true = [int(case.y[row]) for row, _ in predicted]
    codes = list(predicted.values())
    folds = [
        (case.y[test], [predicted[int(row), at] for row in test])
        for at, (_, test) in enumerate(case.all_splits)
    ]
    error = float(np.mean([metrics.zero_one_loss(*fold) for fold in folds]))
    # A fold of one row has no such score: leave-one-out scores all rows together.
    parts = [(true, codes)] if case.splits is None else folds
    one_vs_rest = [
        metrics.accuracy_score(np.equal(true, code), np.equal(codes, code))
        for code in range(case.n_classes)
    ]
    return {
        "error": error,
        "pooled_error": metrics.zero_one_loss(true, codes),
        "accuracy": 1.0 - error,
        "balanced_accuracy": np.mean([metrics.balanced_accuracy_score(*part) for part in parts]),
        "ovr_accuracy": float(np.mean(one_vs_rest)),
        "f1_macro": np.mean([metrics.f1_score(*part, average="macro") for part in parts]),
        "matthews_corrcoef": np.mean([metrics.matthews_corrcoef(*part) for part in parts]),
    }


def check_scores(found: Sequence[float], names: Sequence[str], expected: dict[str, float]) -> None:
    assert list(names) == list(expected)
    np.testing.assert_allclose(found, list(expected.values()), rtol=0, atol=TOLERANCE)


@pytest.mark.filterwarnings("ignore:y_pred contains classes not in y_true")
@pytest.mark.parametrize("classifier", ["knn", "nb"])
def test_scores_are_those_of_scikit_learn(classifier: str) -> None:
    for case, _ in cases(7, 150, "fine"):
        engine = case.engine(classifier=classifier)
        scores = engine.measure(case.mask[None, :])[0]
        check_scores(scores, engine.scores, expected_scores(case, case.predictions(engine)))


@pytest.mark.filterwarnings("ignore:y_pred contains classes not in y_true")
@pytest.mark.parametrize("classifier", ["knn", "nb"])
@settings(deadline=None)
@given(seed=st.integers(0, 2**32 - 1), n_splits=st.integers(2, 6), k=st.sampled_from(NEIGHBORS))
def test_scores_are_those_of_cross_val_score(
    classifier: str, seed: int, n_splits: int, k: int
) -> None:
    rng = np.random.default_rng(seed)
    y, n_classes = draw_classes(rng)
    x = fine_table(rng, y, n_classes)
    splitter = model_selection.StratifiedKFold(n_splits, shuffle=True, random_state=seed)
    case = Case(x, y, n_classes, np.ones(x.shape[1], bool), list(splitter.split(x, y)))
    assume(classifier == "knn" or is_smoothing_idle(case))
    engine = case.engine(classifier=classifier, k=k)
    ours = dict(zip(engine.scores, engine.measure(case.mask[None, :])[0], strict=True))
    model = KNeighborsClassifier(k) if classifier == "knn" else GaussianNB()
    for scoring in ("accuracy", "balanced_accuracy", "f1_macro", "matthews_corrcoef"):
        theirs = model_selection.cross_val_score(model, x, y, cv=splitter, scoring=scoring)
        assert ours[scoring] == pytest.approx(theirs.mean(), abs=TOLERANCE), scoring
