"""SwarmSelector is a citizen of scikit-learn."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.typing import NDArray
from polars.testing import assert_frame_equal
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks
from swarmrs import SwarmSelector, select

Blobs = tuple[NDArray[np.float64], NDArray[np.str_]]


@pytest.mark.filterwarnings("default::swarmrs.exceptions.SwarmrsWarning")
@parametrize_with_checks(  # type: ignore[untyped-decorator]
    [SwarmSelector("bpso", cv=3, max_evals=60), SwarmSelector("sfs", cv="loo", k=1)]
)
def test_scikit_learn_checks(
    estimator: SwarmSelector, check: Callable[[SwarmSelector], None]
) -> None:
    check(estimator)


@pytest.fixture
def frame(blobs: Blobs) -> pl.DataFrame:
    whole = pl.from_numpy(blobs[0], schema=list("abcdef"))
    return whole.with_columns((pl.col("b", "e") * 1000).cast(pl.Int16))


def test_it_makes_the_run_of_select(blobs: Blobs) -> None:
    settings: dict[str, Any] = {
        "k": 3,
        "cv": 5,
        "max_evals": 200,
        "random_state": 3,
        "params": {"population": 10},
    }
    selector = SwarmSelector("pbpso", **settings).fit(*blobs)
    result = select(blobs, algo="pbpso", **settings)
    assert selector.support_.tolist() == result.support.tolist()
    assert selector.cost_ == result.cost
    assert selector.scores_ == result.scores
    assert selector.stop_ == "evaluations"
    assert selector.n_evaluations_ == 200
    assert selector.trace_.equals(result.trace)
    assert selector.front_ == result.front
    assert selector.result_.seed == 3


def test_polars_in_is_polars_out_with_its_types(blobs: Blobs, frame: pl.DataFrame) -> None:
    selector = SwarmSelector("sfs").fit(frame, blobs[1])
    assert selector.get_feature_names_out().tolist() == ["b", "e"]
    for output in ("default", "polars"):
        reduced = selector.set_output(transform=output).transform(frame)
        assert_frame_equal(reduced, frame.select("b", "e"))


def test_pandas_in_is_pandas_out_when_asked(blobs: Blobs, frame: pl.DataFrame) -> None:
    data = pd.DataFrame({name: frame[name].to_numpy() for name in frame.columns})
    selector = SwarmSelector("sfs").set_output(transform="pandas").fit(data, blobs[1])
    pd.testing.assert_frame_equal(selector.transform(data), data[["b", "e"]])
    assert selector.transform(frame).columns.tolist() == ["b", "e"]


def test_arrays_in_are_arrays_out(blobs: Blobs) -> None:
    x, y = blobs
    reduced = SwarmSelector("sfs").fit_transform(x, y)
    np.testing.assert_array_equal(reduced, x[:, [1, 4]])


def test_a_frame_is_reduced_by_position_after_a_fit_on_arrays(
    blobs: Blobs, frame: pl.DataFrame
) -> None:
    with pytest.warns(UserWarning, match="fitted without feature names"):
        reduced = SwarmSelector("sfs").fit(*blobs).transform(frame)
    assert isinstance(reduced, pl.DataFrame)
    assert_frame_equal(reduced, frame.select("b", "e"))


def test_columns_by_name(blobs: Blobs, frame: pl.DataFrame) -> None:
    selector = SwarmSelector("sfs", include=["a"], exclude=["b"]).fit(frame, blobs[1])
    assert selector.support_[0]
    assert not selector.support_[1]


def test_it_works_in_a_pipeline_under_a_grid(blobs: Blobs) -> None:
    pipeline = make_pipeline(
        SwarmSelector("bpso", max_evals=60, cv=3, random_state=0),
        KNeighborsClassifier(),
    )
    choices = {"swarmselector__algo": ["bpso", "sfs"], "swarmselector__k": [1, 3]}
    grid = GridSearchCV(pipeline, choices, cv=3).fit(*blobs)
    assert grid.best_score_ > 0.9


def test_any_classifier_measures(blobs: Blobs) -> None:
    selector = SwarmSelector("sfs", classifier=GaussianNB(), scoring="accuracy", cv=3)
    assert clone(selector).fit(*blobs).support_[[1, 4]].all()
