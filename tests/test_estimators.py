"""SwarmSelector is a citizen of scikit-learn."""

import inspect
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
from swarmrs import FilterSelector, SwarmSelector, select
from swarmrs.exceptions import DataError

Blobs = tuple[NDArray[np.float64], NDArray[np.str_]]


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


def test_set_output_alone_decides_the_container(blobs: Blobs, frame: pl.DataFrame) -> None:
    data = pd.DataFrame({name: frame[name].to_numpy() for name in frame.columns})
    selector = SwarmSelector("sfs").fit(frame, blobs[1])
    assert selector.get_feature_names_out().tolist() == ["b", "e"]
    containers = {"default": np.ndarray, "polars": pl.DataFrame, "pandas": pd.DataFrame}
    for output, container in containers.items():
        selector.set_output(transform=output)
        for samples in (frame, data):
            reduced = selector.transform(samples)
            assert isinstance(reduced, container)
            np.testing.assert_array_equal(np.asarray(reduced), frame.select("b", "e").to_numpy())


def test_polars_in_is_polars_out_with_its_types_when_asked(
    blobs: Blobs, frame: pl.DataFrame
) -> None:
    selector = SwarmSelector("sfs").set_output(transform="polars").fit(frame, blobs[1])
    assert_frame_equal(selector.transform(frame), frame.select("b", "e"))


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
    np.testing.assert_array_equal(reduced, frame.select("b", "e").to_numpy())


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


def test_a_grid_goes_over_algorithms_and_their_settings(blobs: Blobs) -> None:
    pipeline = make_pipeline(SwarmSelector(iterations=2, cv=3, random_state=0), GaussianNB())
    choices = {
        "swarmselector__algo": ["vlpso", "bpso"],
        "swarmselector__params": [None, {"population": 5}],
    }
    grid = GridSearchCV(pipeline, choices, cv=3, error_score="raise").fit(*blobs)
    assert len(grid.cv_results_["params"]) == 4
    assert grid.best_score_ > 0.9
    assert grid.best_estimator_[0].get_params()["algo"] == grid.best_params_["swarmselector__algo"]


def test_the_first_settings_are_those_agreed_on() -> None:
    settings = inspect.signature(SwarmSelector).parameters
    first = [
        "algo",
        "classifier",
        "cv",
        "objective",
        "max_evals",
        "random_state",
        "n_jobs",
        "params",
    ]
    assert list(settings)[:8] == first
    assert settings["algo"].default == "vlpso"
    assert all(settings[name].kind is inspect.Parameter.KEYWORD_ONLY for name in [*settings][1:])


def test_what_select_does_not_know_of_is_not_passed_on() -> None:
    ours, theirs = (inspect.signature(door).parameters for door in (SwarmSelector, select))
    assert set(ours) - set(theirs) == {"on_interrupt"}


class TestFrames:
    @pytest.fixture(params=[SwarmSelector("sfs"), FilterSelector()], ids=lambda made: type(made))
    def selector(self, request: pytest.FixtureRequest) -> Any:
        return clone(request.param)

    def test_a_lazy_one_is_to_be_collected(self, selector: Any, blobs: Blobs) -> None:
        lazy = pl.from_numpy(blobs[0]).lazy()
        with pytest.raises(DataError, match="LazyFrame, which holds no values yet") as error:
            selector.fit(lazy, blobs[1])
        assert error.value.hint == "give X.collect()"
        fitted = selector.fit(lazy.collect(), blobs[1])
        with pytest.raises(DataError, match="LazyFrame"):
            fitted.transform(lazy)

    def test_equal_names_are_refused_by_position(self, selector: Any, blobs: Blobs) -> None:
        twice = pd.DataFrame(blobs[0], columns=list("abcdea"))
        with pytest.raises(DataError, match="two columns called 'a': 1 and 6"):
            selector.fit(twice, blobs[1])

    @pytest.mark.parametrize("dtype", [pl.String, pl.Categorical])
    def test_text_of_digits_is_not_taken_for_numbers(
        self, selector: Any, blobs: Blobs, dtype: Any
    ) -> None:
        whole = pl.from_numpy(blobs[0], schema=list("abcdef"))
        frame = whole.with_columns(pl.col("b", "d").cast(pl.Int64).cast(pl.String).cast(dtype))
        with pytest.raises(DataError, match="2 columns of text: 'b', 'd'") as error:
            selector.fit(frame, blobs[1])
        assert error.value.hint is not None

    @pytest.mark.parametrize("dtype", ["str", "object", "string", "category"])
    def test_neither_is_text_of_pandas(self, selector: Any, blobs: Blobs, dtype: str) -> None:
        frame = pd.DataFrame(blobs[0], columns=list("abcdef"))
        frame["c"] = frame["c"].round().astype(str).astype(dtype)
        with pytest.raises(DataError, match="1 column of text: 'c'"):
            selector.fit(frame, blobs[1])

    def test_names_of_two_kinds_are_refused(self, selector: Any, blobs: Blobs) -> None:
        frame = pd.DataFrame(blobs[0], columns=["a", 1, 2, 3, 4, 5])
        with pytest.raises(TypeError, match="Feature names are only supported"):
            selector.fit(frame, blobs[1])

    def test_another_order_of_columns_is_refused(
        self, selector: Any, blobs: Blobs, frame: pl.DataFrame
    ) -> None:
        fitted = selector.fit(frame, blobs[1])
        with pytest.raises(ValueError, match="same order"):
            fitted.transform(frame.select(reversed(frame.columns)))

    def test_numbers_are_no_classes(self, selector: Any, blobs: Blobs) -> None:
        with pytest.raises(ValueError, match="Unknown label type: continuous"):
            selector.fit(blobs[0], blobs[0][:, 0])


def test_any_classifier_measures(blobs: Blobs) -> None:
    selector = SwarmSelector("sfs", classifier=GaussianNB(), scoring="accuracy", cv=3)
    assert clone(selector).fit(*blobs).support_[[1, 4]].all()


def test_its_defaults_are_knn_ten_folds_and_the_error(blobs: Blobs) -> None:
    parameters = inspect.signature(SwarmSelector).parameters
    head = {name: it.default for name, it in list(parameters.items())[:8]}
    assert head == {
        "algo": "vlpso",
        "classifier": "knn",
        "cv": 10,
        "objective": "error",
        "max_evals": None,
        "random_state": None,
        "n_jobs": None,
        "params": None,
    }
    few: dict[str, Any] = {"max_evals": 200, "random_state": 1}
    found = SwarmSelector(**few).fit(*blobs).result_
    assert found.objective["kind"] == "error"
    assert found.evaluation["folds"]["k"] == 10
    own = SwarmSelector(cv=None, objective=None, **few).fit(*blobs).result_
    assert (own.objective["kind"], own.evaluation["folds"]) == ("hybrid", {"scheme": "loo"})


def test_a_preset_says_what_has_its_default(blobs: Blobs) -> None:
    few: dict[str, Any] = {"random_state": 1, "iterations": 2}
    selector = SwarmSelector(preset="002", **few)
    found = selector.fit(*blobs).result_
    expected = select(blobs, algo="vlpso", preset="002", **few)
    assert found.evaluation == expected.evaluation
    assert (found.objective, found.cost) == (expected.objective, expected.cost)
    assert (selector.cv, selector.objective) == (10, "error")
    ten = SwarmSelector(preset="002", cv="10", **few).fit(*blobs).result_
    assert ten.evaluation["folds"]["k"] == 10
