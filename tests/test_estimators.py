"""SwarmSelector in scikit-learn: frames, pipelines, grids, defaults."""

import inspect
import os
import signal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.typing import NDArray
from polars.testing import assert_frame_equal
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import MinMaxScaler
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils import get_tags
from swarmrs import FilterSelector, SwarmSelector, select
from swarmrs.estimators._swarm_selector import CONSTRAINTS
from swarmrs.exceptions import DataError

Blobs = tuple[NDArray[np.float64], NDArray[np.str_]]


@pytest.fixture
def frame(blobs: Blobs) -> pl.DataFrame:
    whole = pl.from_numpy(blobs[0], schema=list("abcdef"))
    return whole.with_columns((pl.col("b", "e") * 1000).cast(pl.Int16))


def test_it_makes_the_run_of_select(blobs: Blobs) -> None:
    settings: dict[str, Any] = {
        "estimator": KNeighborsClassifier(3),
        "algo": "pbpso",
        "cv": 5,
        "max_evals": 200,
        "random_state": 3,
        "algo_params": {"population": 10},
    }
    selector = SwarmSelector(**settings).fit(*blobs)
    result = select(blobs, **settings)
    assert selector.support_.tolist() == result.support.tolist()
    assert selector.best_cost_ == result.cost
    assert selector.result_.scores == result.scores
    assert selector.best_score_ == result.score == result.scores["accuracy"]
    assert selector.n_features_ == result.size == selector.support_.sum()
    assert selector.stop_ == "max_evals"
    assert (selector.n_evaluations_, selector.n_iter_) == (200, 20)
    assert selector.trace_.equals(result.trace)
    assert selector.front_ == result.front
    assert selector.result_.seed == 3


def test_set_output_alone_decides_the_container(blobs: Blobs, frame: pl.DataFrame) -> None:
    data = pd.DataFrame({name: frame[name].to_numpy() for name in frame.columns})
    selector = SwarmSelector(algo="sfs").fit(frame, blobs[1])
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
    selector = SwarmSelector(algo="sfs").set_output(transform="polars").fit(frame, blobs[1])
    assert_frame_equal(selector.transform(frame), frame.select("b", "e"))


def test_pandas_in_is_pandas_out_when_asked(blobs: Blobs, frame: pl.DataFrame) -> None:
    data = pd.DataFrame({name: frame[name].to_numpy() for name in frame.columns})
    selector = SwarmSelector(algo="sfs").set_output(transform="pandas").fit(data, blobs[1])
    pd.testing.assert_frame_equal(selector.transform(data), data[["b", "e"]])
    assert selector.transform(frame).columns.tolist() == ["b", "e"]


def test_arrays_in_are_arrays_out(blobs: Blobs) -> None:
    x, y = blobs
    reduced = SwarmSelector(algo="sfs").fit_transform(x, y)
    np.testing.assert_array_equal(reduced, x[:, [1, 4]])


def test_a_frame_is_reduced_by_position_after_a_fit_on_arrays(
    blobs: Blobs, frame: pl.DataFrame
) -> None:
    selector = SwarmSelector(algo="sfs").set_output(transform="polars").fit(*blobs)
    with pytest.warns(UserWarning, match="fitted without feature names"):
        reduced = selector.transform(frame)
    # Names are those of the fit.
    assert_frame_equal(reduced, frame.select(x1="b", x4="e"))


def test_constraints_name_features(blobs: Blobs, frame: pl.DataFrame) -> None:
    constraints = {"include": ["a"], "exclude": ["b"]}
    selector = SwarmSelector(algo="sfs", constraints=constraints).fit(frame, blobs[1])
    assert selector.support_[0]
    assert not selector.support_[1]


def test_its_parameters_are_few_and_the_estimator_comes_first() -> None:
    parameters = inspect.signature(SwarmSelector).parameters
    assert {name: it.default for name, it in parameters.items()} == {
        "estimator": None,
        "algo": "auto",
        "algo_params": None,
        "cv": 10,
        "scoring": None,
        "objective": "error",
        "max_features": None,
        "constraints": None,
        "prescreen": None,
        "pick": "best",
        "max_iter": None,
        "max_evals": None,
        "time_limit": None,
        "rows": None,
        "patience": None,
        "n_jobs": None,
        "random_state": None,
    }
    assert next(iter(parameters)) == "estimator"
    assert all(
        parameters[name].kind is inspect.Parameter.KEYWORD_ONLY for name in [*parameters][1:]
    )


def test_its_defaults_are_those_of_select() -> None:
    ours, theirs = (inspect.signature(door).parameters for door in (SwarmSelector, select))
    assert set(ours) - set(theirs) == {"constraints"}
    assert set(CONSTRAINTS) <= set(theirs)
    for name in set(ours) - {"constraints"}:
        assert ours[name].default == theirs[name].default, name


class TestFrames:
    @pytest.fixture(
        params=[SwarmSelector(algo="sfs"), FilterSelector()], ids=lambda made: type(made)
    )
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
        with pytest.raises(DataError, match="2 text features: 'b', 'd'") as error:
            selector.fit(frame, blobs[1])
        assert error.value.hint is not None

    @pytest.mark.parametrize("dtype", ["str", "object", "string", "category"])
    def test_neither_is_text_of_pandas(self, selector: Any, blobs: Blobs, dtype: str) -> None:
        frame = pd.DataFrame(blobs[0], columns=list("abcdef"))
        frame["c"] = frame["c"].round().astype(str).astype(dtype)
        with pytest.raises(DataError, match="1 text feature: 'c'"):
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
        if isinstance(selector, SwarmSelector):
            selector = clone(selector).set_params(estimator=KNeighborsClassifier())
        with pytest.raises(ValueError, match="Unknown label type: continuous"):
            selector.fit(blobs[0], blobs[0][:, 0])


@pytest.mark.parametrize("estimator", [GaussianNB(), DecisionTreeClassifier(random_state=0)])
def test_any_classifier_scores_subsets(blobs: Blobs, estimator: Any) -> None:
    selector = SwarmSelector(estimator, algo="sfs", scoring="accuracy", cv=3)
    assert clone(selector).fit(*blobs).support_[[1, 4]].all()


def test_its_defaults_are_5_nn_ten_folds_and_the_error(blobs: Blobs) -> None:
    found = SwarmSelector(max_evals=200, random_state=1).fit(*blobs).result_
    assert (found.algorithm, found.objective) == ("auto", {"kind": "error"})
    assert found.evaluation == {
        "estimator": "knn",
        "n_neighbors": 5,
        "metric": "euclidean",
        "weights": "uniform",
        "scale": "minmax",
        "folds": {"scheme": "kfold", "k": 10, "shuffle": False, "seed": 0},
    }


def test_a_share_of_the_features_is_the_most(blobs: Blobs) -> None:
    # Backward selection goes from as many features as it may have.
    half = SwarmSelector(algo="sbs", max_features=0.5, cv=3).fit(*blobs)
    three = SwarmSelector(algo="sbs", max_features=3, cv=3).fit(*blobs)
    assert half.n_features_ <= 3
    assert half.trace_.equals(three.trace_)
    assert max(point.size for point in half.front_) <= 3


class TestComposition:
    """Selectors in the meta-estimators of scikit-learn."""

    def selector(self, **settings: Any) -> SwarmSelector:
        return SwarmSelector(KNeighborsClassifier(3), algo="sfs", cv=3, **settings)

    def test_in_a_column_transformer(self, blobs: Blobs) -> None:
        x, y = blobs
        frame = pd.DataFrame(x, columns=list("abcdef"))
        parts = ColumnTransformer(
            [
                ("chosen", self.selector(max_features=1), ["a", "b", "c"]),
                ("scaled", MinMaxScaler(), ["d"]),
            ],
            verbose_feature_names_out=False,
        ).set_output(transform="pandas")
        reduced = parts.fit(frame, y).transform(frame)
        assert reduced.columns.tolist() == ["b", "d"]
        pd.testing.assert_series_equal(reduced["b"], frame["b"])

    def test_in_a_feature_union(self, blobs: Blobs) -> None:
        x, y = blobs
        selector = self.selector(max_features=2)
        union = FeatureUnion([("chosen", selector), ("pca", PCA(1))]).fit(x, y)
        support = clone(selector).fit(x, y).get_support(indices=True)
        np.testing.assert_array_equal(union.transform(x)[:, :-1], x[:, support])
        names = [f"chosen__x{index}" for index in support]
        assert union.get_feature_names_out().tolist() == [*names, "pca__pca0"]

    def test_a_grid_goes_over_the_estimator_and_the_algorithm(self, blobs: Blobs) -> None:
        pipeline = make_pipeline(
            SwarmSelector(KNeighborsClassifier(), max_evals=60, cv=3, random_state=0),
            KNeighborsClassifier(),
        )
        choices = {
            "swarmselector__algo": ["bpso", "sfs"],
            "swarmselector__estimator__n_neighbors": [1, 3],
        }
        grid = GridSearchCV(pipeline, choices, cv=3, error_score="raise").fit(*blobs)
        assert grid.best_score_ > 0.9
        best = grid.best_estimator_[0]
        assert best.result_.algorithm == grid.best_params_["swarmselector__algo"]
        neighbors = grid.best_params_["swarmselector__estimator__n_neighbors"]
        assert best.result_.evaluation["n_neighbors"] == neighbors

    def test_a_grid_goes_over_algorithms_and_their_parameters(self, blobs: Blobs) -> None:
        pipeline = make_pipeline(SwarmSelector(max_iter=2, cv=3, random_state=0), GaussianNB())
        choices = {
            "swarmselector__algo": ["vlpso", "bpso"],
            "swarmselector__algo_params": [None, {"population": 5}],
        }
        grid = GridSearchCV(pipeline, choices, cv=3, error_score="raise").fit(*blobs)
        assert len(grid.cv_results_["params"]) == 4
        assert grid.best_score_ > 0.9
        best = grid.best_estimator_[0]
        assert best.get_params()["algo"] == grid.best_params_["swarmselector__algo"]

    def test_ctrl_c_ends_cross_validation(self, blobs: Blobs) -> None:
        def interrupt(estimator: Any, x: Any, y: Any) -> float:
            os.kill(os.getpid(), signal.SIGINT)
            return 0.5

        # Small batches: a signal is heard after the batch that is being scored.
        settings: dict[str, Any] = {"algo": "bpso", "algo_params": {"population": 3}, "cv": 2}
        selector = SwarmSelector(GaussianNB(), scoring=interrupt, max_evals=10**12, **settings)
        with pytest.raises(KeyboardInterrupt):
            cross_val_score(make_pipeline(selector, GaussianNB()), *blobs, cv=2)


class TestMissingValues:
    """They are accepted if the estimator accepts them."""

    @pytest.fixture
    def gaps(self, blobs: Blobs) -> Blobs:
        x, y = blobs
        x = x.copy()
        x[::7, 1] = np.nan
        return x, y

    def test_an_estimator_that_can_has_them(self, gaps: Blobs) -> None:
        tree = DecisionTreeClassifier(max_depth=3, random_state=0)
        selector = SwarmSelector(tree, algo="sfs", cv=3, max_features=2)
        assert get_tags(selector).input_tags.allow_nan
        selector.fit(*gaps)
        chosen = gaps[0][:, selector.support_]
        score = cross_val_score(tree, chosen, gaps[1], cv=3).mean()
        assert selector.best_score_ == pytest.approx(score, abs=1e-12)
        assert selector.transform(gaps[0]).shape == chosen.shape

    @pytest.mark.parametrize("estimator", [None, "nb", KNeighborsClassifier(), GaussianNB()])
    def test_others_refuse_them(self, gaps: Blobs, estimator: Any) -> None:
        selector = SwarmSelector(estimator, algo="sfs", cv=3)
        assert not get_tags(selector).input_tags.allow_nan
        with pytest.raises(ValueError, match="NaN"):
            selector.fit(*gaps)
