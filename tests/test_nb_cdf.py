"""nb-cdf, a published error repeated: against an oracle, and against the numbers it explains."""

from collections.abc import Iterator
from itertools import product

import numpy as np
import polars as pl
import pytest
from numpy.typing import NDArray
from published import table_path
from scipy.stats import norm
from sklearn.model_selection import KFold
from swarmrs import Evaluator, presets, select
from swarmrs.exceptions import SwarmrsWarning

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


pytestmark = pytest.mark.filterwarnings("ignore::swarmrs.exceptions.SwarmrsWarning")


def scores(x: Floats, y: Ints, train: Ints, row: int, n_classes: int) -> tuple[Floats, bool]:
    """Return the log score of each class, NaN for one that is not trained, and if all is certain.

    It is not where a share is so small that floats hardly have it: it may as well be 0.
    """
    found, is_certain = np.full(n_classes, np.nan), True
    for code in np.unique(y[train]):
        known = x[train][y[train] == code]
        mean, off = known.mean(axis=0), x[row] - known.mean(axis=0)
        deviation = known.std(axis=0, ddof=1) if len(known) > 1 else np.zeros(x.shape[1])
        with np.errstate(divide="ignore", invalid="ignore"):
            z = off / deviation
            share = np.where(deviation > 0, norm.cdf(z), x[row] >= mean)
            found[code] = np.log(len(known) / len(train)) + np.log(share).sum()
        is_certain &= not ((z < -37) & (z > -40) & (deviation > 0)).any()
    return found, is_certain


def tables() -> Iterator[tuple[Floats, Ints, int]]:
    """Draw fine tables, and coarse ones where classes without deviation are common."""
    for seed in range(80):
        rng = np.random.default_rng(seed)
        n, d, n_classes = int(rng.integers(12, 50)), int(rng.integers(1, 7)), seed % 3 + 2
        y = np.concatenate([np.arange(n_classes), rng.integers(0, n_classes, n - n_classes)])
        if seed % 2:
            x = rng.integers(0, 2000, (n, d)) + 600 * y[:, None]
        else:
            varies = rng.random((n_classes, d)) < (0.5 if seed % 4 else 0.1)
            stray = rng.random((n, d)) < (0.1 if seed % 4 else 0.03)
            x = rng.integers(0, 3, (n_classes, d))[y] + (varies[y] | stray) * rng.integers(
                -1, 2, (n, d)
            )
        yield x.astype(float), y, n_classes


def test_predictions_are_those_of_the_oracle() -> None:
    n_checked = n_ruled_out = n_hopeless = 0
    for x, y, n_classes in tables():
        splits = list(KFold(4, shuffle=True, random_state=0).split(x))
        engine = Evaluator(x, y, estimator="nb-cdf", cv=splits, scale="none")
        rows, codes = engine.predict(np.ones(x.shape[1], dtype=bool))
        predicted = dict(zip(rows.tolist(), codes.tolist(), strict=True))
        for train, test in splits:
            for row in test.tolist():
                found, is_certain = scores(x, y, train, row, n_classes)
                known = found[~np.isnan(found)]
                best, second = (*np.sort(known)[::-1], -np.inf)[:2]
                # Floats and integers round differently: nearer calls than this are ties.
                if not is_certain or (best > -np.inf and best - second < 1e-6):
                    continue
                n_checked += 1
                n_ruled_out += bool((known == -np.inf).any())
                n_hopeless += best == -np.inf
                assert predicted[row] == np.flatnonzero(found == best)[0]
    assert n_checked > 900
    assert n_ruled_out > 300
    assert n_hopeless > 10


def test_a_class_without_deviation_takes_all_from_its_mean_on_and_nothing_below() -> None:
    x = np.array([[1.0], [1.0], [3.0], [5.0], [0.0], [1.0]])
    splits = [([0, 1, 2, 3], [4, 5])]
    engine = Evaluator(x, ["a", "a", "b", "b", "a", "b"], estimator="nb-cdf", cv=splits)
    # At 1 class a has the whole share, b that of z = (1 - 4) / sqrt 2. At 0 only b has any.
    assert engine.predict([True])[1].tolist() == ["b", "a"]


def test_it_warns_and_is_not_naive_bayes() -> None:
    with pytest.warns(SwarmrsWarning, match="nb-cdf repeats a published error"):
        wrong = select("sklearn:wine", algo="sfs", estimator="nb-cdf")
    right = select("sklearn:wine", algo="sfs", estimator="nb")
    assert wrong.evaluation["estimator"] == "nb-cdf"
    assert right.cost < 0.05 < 0.15 < wrong.cost


def read(name: str, target: int = -1) -> tuple[Floats, NDArray[np.generic]]:
    """Return the values and the target, a column by its place: names differ between sources."""
    frame = pl.read_parquet(table_path(name))
    target_name = frame.columns[target]
    features = frame.drop(target_name).with_columns(pl.col(pl.String).rank("dense"))
    return features.to_numpy().astype(float), frame[target_name].to_numpy()


def test_the_preset_of_the_study_evaluates_by_it() -> None:
    options = presets["hafiz2018-nb"].options
    expected = {"estimator": "nb-cdf", "cv": 10, "scale": "none"}
    assert {name: options[name] for name in expected} == expected


def errors(name: str, target: int, estimator: str, n_features: int | None) -> list[float]:
    x, y = read(name, target)
    mask = np.arange(x.shape[1]) < (n_features or x.shape[1])
    return [
        float(
            Evaluator(x, y, estimator=estimator, cv=10, cv_seed=seed, scale="none").measure(mask)[
                "error"
            ][0]
        )
        for seed in range(10)
    ]


# The errors "with all features" that were published with this classifier and 5-NN. They are those
# of the first feature alone, and in two tables the first column was taken for the class; see
# docs/evaluation.md. The zoo is left out: with classes of 4 rows much depends on how folds are cut.
@pytest.mark.parametrize(
    ("name", "target", "n_features", "bayes", "neighbors"),
    [
        ("wine", -1, 1, 0.6007, 0.3157),
        ("australian", 0, 1, 0.3217, 0.3739),
        ("vehicle", -1, 1, 0.7234, 0.6311),
        ("german", -1, 1, 0.3120, 0.3660),
        ("wdbc", -1, 1, 0.3726, 0.1300),
        ("ionosphere", 0, None, 0.6790, 0.1081),
        ("sonar", -1, 1, 0.5333, 0.4717),
        ("libras", -1, 1, 0.9310, 0.8470),
        ("musk1", -1, 1, 0.4348, 0.4724),
    ],
)
def test_published_errors_are_explained(
    name: str, target: int, n_features: int | None, bayes: float, neighbors: float
) -> None:
    for estimator, published in (("nb-cdf", bayes), ("knn", neighbors)):
        found = errors(name, target, estimator, n_features)
        # The folds of the publication are unknown, so it is one more draw of folds; four decimals
        # are printed.
        assert abs(np.mean(found) - published) < 3 * np.std(found, ddof=1) + 5e-5, estimator


def test_the_published_optimum_of_wine_is_that_of_all_subsets() -> None:
    x, y = read("wine")
    masks = np.array(list(product([False, True], repeat=13)))[1:]
    least = [
        Evaluator(x, y, estimator="nb-cdf", cv=10, cv_seed=seed, scale="none")
        .measure(masks)["error"]
        .min()
        for seed in range(5)
    ]
    # The best mean published is 0.2085; the optimum moves with the folds.
    assert abs(np.mean(least) - 0.2085) < 3 * np.std(least, ddof=1)
    assert np.std(least, ddof=1) < 0.02
