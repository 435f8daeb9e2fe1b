"""minimize(): any function of bits, by every algorithm."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from swarmrs import algorithms, minimize
from swarmrs.exceptions import SpecError
from swarmrs.search._results._progress import Iteration

Bits = NDArray[np.bool_]

IDS = [card.id for card in algorithms() if card.family not in ("filter", "competition")]
FILTERS = [card.id for card in algorithms() if card.family == "filter"]
# Searches that never propose all bits 0, and those that do in their first iteration only.
NEVER_EMPTY = {
    "cem",
    "rks",
    "gsbs",
    "sfs",
    "sbs",
    "pta",
    "sffs",
    "sbfs",
    "hga",
    "psomp",
    "psomp-t",
    "psorws",
}
EMPTY_AT_FIRST = {"clpso2d", "gpso2d", "lpso2d", "upso2d"}


def onemax(x: Bits) -> NDArray[np.int64]:
    return np.asarray(x.shape[1] - x.sum(axis=1))


class Recorder:
    """A cost function that remembers its candidates and their costs."""

    def __init__(self, cost: Callable[[Bits], NDArray[np.float64]]) -> None:
        self.cost = cost
        self.seen: dict[bytes, float] = {}
        self.n_asked = 0

    def __call__(self, x: Bits) -> NDArray[np.float64]:
        costs = self.cost(x)
        assert x.dtype == bool
        assert x.ndim == 2
        self.n_asked += len(x)
        for row, cost in zip(x, costs, strict=True):
            self.seen[row.tobytes()] = float(cost)
        return costs


def knapsack(n: int, seed: int) -> tuple[Callable[[Bits], NDArray[np.float64]], int]:
    """Return a knapsack as a cost and the largest profit, which dynamic programming finds."""
    rng = np.random.default_rng(seed)
    weights, profits = rng.integers(10, 100, n), rng.integers(10, 100, n)
    capacity = int(weights.sum() // 2)
    best = np.zeros(capacity + 1, dtype=np.int64)
    for weight, profit in zip(weights, profits, strict=True):
        best[weight:] = np.maximum(best[weight:], best[: capacity + 1 - weight] + profit)

    def cost(x: Bits) -> NDArray[np.float64]:
        over = x @ weights - capacity
        return np.where(over > 0, over, -(x @ profits)).astype(np.float64)

    return cost, int(best[-1])


def rugged(x: Bits) -> NDArray[np.float64]:
    """Return costs around 0 that neighbors hardly share."""
    weights = np.random.default_rng(3).normal(size=(x.shape[1], 8))
    return np.asarray(np.sin(3 * (x @ weights)).sum(axis=1))


def test_onemax_of_twenty_is_solved() -> None:
    for seed in range(5):
        found = minimize(onemax, 20, random_state=seed)
        assert found.algorithm == "pbpso"
        assert found.fun == 0
        assert found.x.dtype == bool
        assert found.x.all()


def test_a_small_knapsack_is_packed_as_dynamic_programming_packs_it() -> None:
    for seed in range(3):
        cost, profit = knapsack(16, seed)
        found = minimize(cost, 16, random_state=seed)
        assert -found.fun == profit
        assert cost(found.x[None, :]) == found.fun


@pytest.mark.parametrize("algo", IDS)
def test_every_algorithm_returns_the_best_it_measured(algo: str) -> None:
    cost = Recorder(rugged)
    found = minimize(cost, 12, algo=algo, max_evals=600, random_state=1)
    assert found.n_evaluations <= 600
    assert found.n_unique == cost.n_asked == len(cost.seen)
    assert found.fun == min(cost.seen.values()) < 0
    assert cost.seen[found.x.tobytes()] == found.fun
    assert found.n_iter == found.trace.height > 0
    assert found.trace["best_cost"][-1] == found.fun
    assert found.trace["evaluations"][-1] == found.n_evaluations


@pytest.mark.parametrize("algo", FILTERS)
def test_a_filter_without_a_table_takes_the_first_bits_it_may(algo: str) -> None:
    cost = Recorder(rugged)
    found = minimize(cost, 12, algo=algo, max_bits=5)
    assert found.x.tolist() == [True] * 5 + [False] * 7
    assert found.n_evaluations == cost.n_asked == 1


@pytest.mark.parametrize("algo", IDS)
def test_no_algorithm_is_misled_by_where_zero_is(algo: str) -> None:
    # Rules that need costs within 0..1 get them spread over it, which hides how negative they are.
    far = minimize(lambda x: rugged(x) - 1000, 12, algo=algo, max_evals=600, random_state=1)
    near = minimize(lambda x: rugged(x) - 100, 12, algo=algo, max_evals=600, random_state=1)
    assert far.fun + 1000 == pytest.approx(near.fun + 100, abs=1e-9)


@pytest.mark.parametrize("algo", sorted({*IDS} - NEVER_EMPTY - EMPTY_AT_FIRST))
def test_all_bits_zero_can_be_the_answer(algo: str) -> None:
    cost = Recorder(lambda x: x.sum(axis=1) - 5.0)
    found = minimize(cost, 4, algo=algo, max_evals=600, random_state=1)
    assert found.fun == -5
    assert not found.x.any()


@pytest.mark.parametrize("algo", sorted(NEVER_EMPTY))
def test_who_never_tries_all_bits_zero_finds_the_best_of_the_rest(algo: str) -> None:
    cost = Recorder(lambda x: x.sum(axis=1) - 5.0)
    assert minimize(cost, 4, algo=algo, max_evals=600, random_state=1).fun == -4
    assert bytes(4) not in cost.seen


@pytest.mark.parametrize("algo", sorted(EMPTY_AT_FIRST))
def test_two_dimensional_learning_tries_all_bits_zero_only_at_the_start(algo: str) -> None:
    cost = Recorder(lambda x: x.sum(axis=1) - 5.0)
    assert minimize(cost, 2, algo=algo, max_evals=30, random_state=1).fun == -5
    cost = Recorder(lambda x: x.sum(axis=1) - 5.0)
    assert minimize(cost, 12, algo=algo, max_evals=600, random_state=1).fun == -4
    assert bytes(12) not in cost.seen


def test_a_seed_fixes_the_search() -> None:
    runs = [minimize(rugged, 30, max_evals=500, random_state=seed) for seed in (7, 7, 8)]
    assert runs[0].trace.equals(runs[1].trace)
    assert not runs[0].trace.equals(runs[2].trace)
    assert runs[0].seed == 7


def test_the_cost_is_what_the_function_says_and_no_mixture_with_size() -> None:
    runs = [minimize(rugged, 30, algo=algo, random_state=1) for algo in ("pbpso", "pbpsofs")]
    assert runs[0].trace.equals(runs[1].trace)


def test_bits_are_forced_in_and_out_and_limited() -> None:
    def checked(x: Bits) -> NDArray[np.int64]:
        assert x[:, [0, 9]].all()
        assert not x[:, 3].any()
        assert (x.sum(axis=1) <= 6).all()
        return onemax(x)

    found = minimize(checked, 10, include=[0, -1], exclude=[3], max_bits=6, random_state=1)
    assert found.fun == 4


def test_limits_end_the_search() -> None:
    assert minimize(onemax, 40, max_iter=3, random_state=1).n_iter == 3
    found = minimize(onemax, 40, target_cost=10, random_state=1)
    assert found.stop == "target_cost"
    assert found.fun <= 10
    assert minimize(rugged, 40, max_evals=120, random_state=1).n_evaluations == 100
    assert minimize(rugged, 40, time_limit=0.05, random_state=1).stop == "time_limit"


def test_settings_reach_the_algorithm() -> None:
    found = minimize(onemax, 10, algo="BPSO", algo_params={"population": 7}, max_iter=2)
    assert found.algorithm == "bpso"
    assert found.params["population"] == 7
    assert found.n_evaluations == 14


def test_callback_is_told_and_may_stop() -> None:
    iterations: list[Iteration] = []

    def watch(iteration: Iteration) -> bool:
        iterations.append(iteration)
        return len(iterations) == 4

    found = minimize(rugged, 30, callback=watch, random_state=1)
    assert found.stop == "callback"
    assert [iteration["evaluations"] for iteration in iterations] == [50, 100, 150, 200]
    assert iterations[-1]["best_cost"] == found.fun


def test_a_checkpoint_is_gone_on_from(tmp_path: Path) -> None:
    file = tmp_path / "run.ckpt"
    whole = minimize(rugged, 30, max_evals=1000, random_state=1)
    first = Recorder(rugged)
    minimize(
        first,
        30,
        max_evals=1000,
        random_state=1,
        checkpoint=file,
        callback=lambda iteration: iteration["iteration"] == 9,
    )
    second = Recorder(rugged)
    found = minimize(second, 30, max_evals=1000, random_state=1, checkpoint=file)
    assert found.trace.equals(whole.trace)
    assert first.n_asked + second.n_asked == whole.n_unique
    with pytest.raises(SpecError, match="made from other data"):
        minimize(rugged, 31, max_evals=1000, random_state=1, checkpoint=file)


def test_what_the_function_raises_is_passed_on() -> None:
    def broken(x: Bits) -> list[float]:
        raise ZeroDivisionError("seven")

    with pytest.raises(ZeroDivisionError, match="seven"):
        minimize(broken, 5)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([1.0, 2.0], "returned 2 numbers for 50 candidates"),
        (1.0, r"returned 1\.0 for 50 candidates"),
        (np.zeros((50, 1)), "returned 50 x 1 numbers for 50 candidates"),
        (None, "returned None for 50 candidates"),
        (["a"] * 50, "returned a list without numbers"),
        ([0.0] * 49 + [float("nan")], r"returned nan for a candidate with \d+ bits? set"),
        ([float("-inf")] * 50, r"returned -inf for a candidate with \d+ bits? set"),
    ],
)
def test_a_function_that_gives_no_cost_for_each_is_refused(given: object, message: str) -> None:
    with pytest.raises(SpecError, match=message) as refused:
        minimize(lambda x: given, 40)  # type: ignore[arg-type,return-value]
    assert refused.value.hint is not None
    assert "finite number for each row" in refused.value.hint


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_bits": 0}, "n_bits is 0"),
        ({"n_bits": True}, "n_bits is True"),
        ({"n_bits": 2.5}, r"n_bits is 2\.5"),
        ({"n_bits": 2**40}, "n_bits is 1099511627776"),
        ({"fn": 3}, "fn is 3"),
        ({"algo": "bspo"}, "unknown algorithm 'bspo'"),
        ({"algo_params": {"speed": 1}}, "unknown parameter 'speed'"),
        ({"max_evals": 0}, "max_evals is 0"),
        ({"include": [5]}, r"include is \[5\]"),
        ({"exclude": ["a"]}, r"exclude is \['a'\]"),
        ({"include": [1], "exclude": [1]}, "bit 1 is both"),
        ({"exclude": range(5)}, "nothing is left to choose"),
        ({"include": [1, 2], "max_bits": 2}, "max_bits is 2"),
        ({"max_bits": 0}, "max_bits is 0"),
        ({"max_bits": "2"}, "max_bits is '2'"),
        ({"random_state": -1}, "random_state is -1"),
    ],
)
def test_bad_settings_are_refused_by_name(settings: dict[str, object], message: str) -> None:
    call: dict[str, object] = {"fn": onemax, "n_bits": 5, **settings}
    with pytest.raises(SpecError, match=message):
        minimize(**call)  # type: ignore[arg-type]
