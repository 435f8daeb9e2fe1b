"""Defects met in other packages of this kind, none of which is ours."""

import builtins
import logging
import pickle
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.typing import NDArray
from sklearn.base import clone
from swarmrs import Evaluator, FilterSelector, SwarmSelector, algorithms, select

Blobs = tuple[NDArray[np.float64], NDArray[np.str_]]
IDS = [card.id for card in algorithms()]


@pytest.mark.parametrize("algo", IDS)
def test_the_subset_returned_is_the_best_one_evaluated(blobs: Blobs, algo: str) -> None:
    table: dict[bytes, float] = {}
    evaluator = Evaluator(blobs, cv=3)

    def scorer(masks: NDArray[np.bool_]) -> list[float]:
        errors: list[float] = evaluator.measure(masks)["error"].tolist()
        table.update(zip((mask.tobytes() for mask in masks), errors, strict=True))
        return errors

    found = select(blobs, algo=algo, scorer=scorer, objective="error", max_iter=5, random_state=2)
    best = min((error, np.frombuffer(mask, bool).sum()) for mask, error in table.items())
    assert (found.cost, found.size) == best
    assert table[found.support.tobytes()] == found.cost


@pytest.mark.parametrize("algo", IDS)
def test_a_selector_has_the_cost_and_subset_of_select(blobs: Blobs, algo: str) -> None:
    found = select(blobs, algo=algo, cv=3, objective="error", max_iter=3, random_state=2)
    again = SwarmSelector(algo=algo, cv=3, max_iter=3, random_state=2).fit(*blobs)
    assert again.best_cost_ == found.cost == found.scores["error"]
    assert again.support_.tolist() == found.support.tolist()


def test_the_random_state_of_numpy_and_the_root_logger_are_left_alone(
    blobs: Blobs, monkeypatch: pytest.MonkeyPatch
) -> None:
    def ask(*_: object) -> str:
        raise AssertionError("somebody was asked")

    monkeypatch.setattr(builtins, "input", ask)
    np.random.seed(1)
    state, root = np.random.get_state(), logging.getLogger()
    handlers, level = list(root.handlers), root.level
    for seed in (None, 3):
        SwarmSelector(algo="bpso", max_evals=60, random_state=seed).fit(*blobs)
    FilterSelector().fit(*blobs)
    after = np.random.get_state()
    assert all(np.array_equal(*pair) for pair in zip(state, after, strict=True))
    assert (root.handlers, root.level) == (handlers, level)


def test_a_seed_is_obeyed_and_none_draws_one(blobs: Blobs) -> None:
    def trace(seed: Any) -> pl.DataFrame:
        return select(blobs, algo="bpso", max_evals=120, random_state=seed).trace

    assert trace(5).equals(trace(5))
    assert not trace(5).equals(trace(6))
    assert not trace(None).equals(trace(None))


@pytest.mark.parametrize(
    "draw", [np.random.default_rng, np.random.RandomState, lambda seed: np.int64(seed)]
)
def test_generators_of_numpy_are_seeds(blobs: Blobs, draw: Any) -> None:
    seeds = [
        SwarmSelector(algo="bpso", max_evals=60, random_state=draw(4)).fit(*blobs).result_.seed
        for _ in range(2)
    ]
    assert seeds[0] == seeds[1]


def test_a_generator_goes_on_and_its_clone_does_not(blobs: Blobs) -> None:
    selector = SwarmSelector(algo="bpso", max_evals=60, random_state=np.random.default_rng(4))
    copied = clone(selector)
    seeds = [selector.fit(*blobs).result_.seed for _ in range(2)]
    assert seeds[0] != seeds[1]
    assert copied.fit(*blobs).result_.seed == seeds[0]


@pytest.mark.parametrize(
    "selector", [SwarmSelector(algo="igpso", max_iter=2, random_state=1), FilterSelector("fcbf")]
)
def test_a_fitted_selector_can_be_stored(blobs: Blobs, selector: Any) -> None:
    fitted = clone(selector).fit(*blobs)
    loaded = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(loaded.transform(blobs[0]), fitted.transform(blobs[0]))
    assert loaded.get_params() == fitted.get_params()
    if isinstance(loaded, SwarmSelector):
        assert loaded.trace_.equals(fitted.trace_)
        assert loaded.front_ == fitted.front_
        assert loaded.result_.groups == fitted.result_.groups


@pytest.mark.parametrize("make", [SwarmSelector, FilterSelector])
def test_frames_in_are_frames_out_with_their_types(blobs: Blobs, make: Any) -> None:
    x, y = blobs
    whole = pl.from_numpy((x * 100).round(), schema=list("abcdef"))
    frame = whole.cast({"b": pl.Int64, "e": pl.Float32, "a": pl.UInt8, "c": pl.Boolean})
    selector = make(n_jobs=2).set_output(transform="polars").fit(frame, y)
    reduced = selector.transform(frame)
    assert set(reduced.columns) == set(selector.get_feature_names_out())
    assert reduced.schema == {name: frame.schema[name] for name in reduced.columns}
    pandas = pd.DataFrame({name: frame[name].to_numpy() for name in frame.columns})
    kept = make(n_jobs=2).set_output(transform="pandas").fit(pandas, y).transform(pandas)
    assert kept.dtypes.to_dict() == pandas[kept.columns].dtypes.to_dict()
