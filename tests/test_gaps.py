"""Missing values that are kept: an estimator is given them as they are."""

from typing import Any

import numpy as np
import polars as pl
import pytest
from numpy.typing import NDArray
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.impute import SimpleImputer
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from swarmrs import Evaluator, SwarmSelector, rank, read_table, select
from swarmrs.data._dataset import dataset_of
from swarmrs.exceptions import DataError

Blobs = tuple[NDArray[np.float64], NDArray[np.str_]]


@pytest.fixture
def holed(blobs: Blobs) -> Blobs:
    x, y = blobs
    x = x.copy()
    x[np.random.default_rng(5).random(x.shape) < 0.2] = np.nan
    return x, y


def model() -> Any:
    return make_pipeline(SimpleImputer(strategy="median"), KNeighborsClassifier(3))


def test_an_imputer_is_fitted_inside_the_folds(holed: Blobs) -> None:
    found = select(holed, algo="sfs", estimator=model(), cv=5, cv_seed=0, missing="keep")
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    scores = cross_val_score(model(), holed[0][:, found.support], holed[1], cv=folds)
    assert found.scores["error"] == 1 - scores.mean()
    assert found.warnings == ()


def test_an_estimator_sees_what_is_missing(holed: Blobs) -> None:
    seen: list[NDArray[np.float64]] = []

    class Spy(KNeighborsClassifier):  # type: ignore[misc]
        def fit(self, X: NDArray[np.float64], y: NDArray[np.generic]) -> Any:
            seen.append(X)
            return super().fit(np.nan_to_num(X), y)

        def predict(self, X: NDArray[np.float64]) -> Any:
            return super().predict(np.nan_to_num(X))

    select(holed, algo="sbs", estimator=Spy(1), cv=2, max_evals=1, missing="keep")
    assert any(np.isnan(part).any() for part in seen)


def test_a_selector_keeps_them_too(holed: Blobs) -> None:
    x, y = holed
    selector = SwarmSelector(model(), algo="sfs", cv=3).fit(x, y)
    assert np.array_equal(selector.transform(x), x[:, selector.support_], equal_nan=True)
    found = select((x, y), algo="sfs", estimator=model(), cv=3, missing="keep")
    assert selector.support_.tolist() == found.support.tolist()
    trees = HistGradientBoostingClassifier(max_iter=2)
    assert SwarmSelector(trees, algo="sfs", cv=2, max_features=1).fit(x, y)
    with pytest.raises(ValueError, match="contains NaN"):
        SwarmSelector(KNeighborsClassifier(3), algo="sfs").fit(x, y)


@pytest.mark.parametrize("estimator", ["knn", "nb", "ridge"])
def test_our_own_classifiers_refuse_them(holed: Blobs, estimator: str) -> None:
    with pytest.raises(DataError) as error:
        select(holed, estimator=estimator, missing="keep")
    assert str(error.value) == f"missing values are kept, but '{estimator}' cannot handle them"
    assert error.value.hint == "give an estimator that can, or impute them with missing='median'"
    with pytest.raises(DataError, match="cannot handle them"):
        Evaluator(read_table(holed, missing="keep"), estimator=estimator)


def test_to_a_filter_missing_is_a_value_of_its_own() -> None:
    y = np.array([0, 1] * 20)
    informative = np.where(y == 1, np.nan, np.tile([1.0, 2.0, 3.0, 4.0], 10))
    noise = np.random.default_rng(2).permutation(informative)
    data = pl.DataFrame({"noise": noise, "informative": informative})
    ranking = rank((data, y), missing="keep").frame
    assert ranking.row(0, named=True)["feature"] == "informative"
    assert ranking["score"][0] == 1.0
    found = select((data, y), algo="sfs", estimator=model(), missing="keep", prescreen="su>0", cv=4)
    assert found.selected == ("informative",)


@pytest.mark.parametrize("values", [[1e308, -1e308, np.nan], [np.nan] * 3, [2.0, 2.0, np.nan]])
def test_any_column_with_gaps_reaches_the_engine(values: list[float]) -> None:
    table = read_table((np.array([values]).T, [0, 1, 0]), missing="keep")
    assert dataset_of(table).n_features == 1


def test_gaps_are_part_of_the_fingerprint() -> None:
    y = [0, 1, 0, 1]
    holed, filled = [[1.0], [np.nan], [3.0], [2.0]], [[1.0], [2.0], [3.0], [2.0]]
    prints = {
        dataset_of(read_table((np.array(x), y), missing="keep")).fingerprint
        for x in (holed, filled)
    }
    assert len(prints) == 2
