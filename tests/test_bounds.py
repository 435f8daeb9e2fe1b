"""Settings have upper bounds, and what is wrong with one is said by its name."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from swarmrs import Evaluator, algorithms, compare, minimize, rank, select
from swarmrs.exceptions import SpecError

XY = tuple[NDArray[np.float64], NDArray[np.int64]]

HUGE = 10**12


@pytest.fixture(scope="module")
def table() -> XY:
    """Return a small table."""
    rng = np.random.default_rng(1)
    return rng.random((30, 5)), np.arange(30) % 2


def whole_parameters() -> list[tuple[str, str, int]]:
    """Return every whole number that sets an algorithm, with the upper bound it says."""
    return [
        (card.id, parameter.name, int(parameter.range.split(" to ")[1].split(",")[0]))
        for card in algorithms()
        for parameter in card.params
        if parameter.range.startswith("a whole number")
    ]


@pytest.mark.parametrize(("algo", "name", "most"), whole_parameters())
def test_a_whole_number_has_an_upper_bound(table: XY, algo: str, name: str, most: int) -> None:
    for value in (HUGE, 2**63, most + 1, 1.5):
        with pytest.raises(SpecError, match=f"^{name} is {value}, expected a whole number from"):
            select(table, algo=algo, algo_params={name: value}, cv=2)


def test_all_populations_are_bounded() -> None:
    bounded = {algo for algo, name, most in whole_parameters() if name == "population"}
    assert len(bounded) == 33
    named = {(algo, name) for algo, name, _ in whole_parameters()}
    assert {("mopbpso", "archive"), ("vlpso-ls", "tries"), ("ga", "elite")} <= named


def test_a_population_too_large_for_the_features_is_refused() -> None:
    def cost(bits: NDArray[np.bool_]) -> NDArray[np.int64]:
        raise AssertionError

    with pytest.raises(SpecError) as caught:
        minimize(cost, 100_000, algo="bpso", algo_params={"population": 100_000})
    said = "bpso with 100000 members of 100000 features needs about 298 GiB"
    assert str(caught.value).startswith(said)
    assert caught.value.hint == "lower population or archive, or leave out features"


@pytest.mark.parametrize("n_jobs", [10**6, 1.5, "2", -(10**6)])
@pytest.mark.parametrize(
    "call",
    [
        lambda table, n_jobs: select(table, n_jobs=n_jobs, max_evals=30),
        lambda table, n_jobs: rank(table, n_jobs=n_jobs),
        lambda table, n_jobs: Evaluator(*table, n_jobs=n_jobs),
        lambda _, n_jobs: compare(["sklearn:iris"], "sfs", runs=1, n_jobs=n_jobs),
    ],
)
def test_threads_are_bounded(table: XY, call: Callable[[XY, Any], object], n_jobs: object) -> None:
    with pytest.raises(
        SpecError, match=r"n_jobs is .*, expected a whole number from -1024 to 1024"
    ):
        call(table, n_jobs)


@pytest.mark.parametrize("command", [["select"], ["rank"], ["evaluate"]])
def test_jobs_are_bounded(cli: Callable[..., Any], command: list[str]) -> None:
    outcome = cli(*command, "sklearn:iris", "--jobs", 1_000_000)
    assert outcome.code == 2
    assert "error: --jobs is 1000000, expected a whole number from -1024 to 1024\n" in outcome.err


def test_runs_are_bounded(table: XY) -> None:
    with pytest.raises(SpecError, match="repeats is 1000000000, expected a whole number from 1"):
        select(table, repeats=10**9)
    with pytest.raises(SpecError, match="repeats is '255', expected a whole number from 1"):
        select(table, repeats="255", algo="gpso2d")  # type: ignore[arg-type]
    for folds in (10**400, "9" * 5000):
        with pytest.raises(SpecError, match="cv"):
            select(table, outer_cv=folds, algo="bpso")
    with pytest.raises(SpecError, match="runs is 1000000000, expected a whole number from 1"):
        compare(["sklearn:iris"], "sfs", runs=10**9)


NAN, INFINITY = float("nan"), float("inf")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"time_limit": NAN}, "time_limit is nan, expected a finite number above 0"),
        ({"time_limit": INFINITY}, "time_limit is inf, expected a finite number above 0"),
        ({"time_limit": "x"}, "time_limit is 'x', expected a finite number above 0"),
        ({"time_limit": 0}, "time_limit is 0, expected a finite number above 0"),
        ({"target_cost": NAN}, "target_cost is nan, expected a finite number"),
        ({"algo": None}, "algo is None, expected a string"),
        (
            {"algo": "bpso", "algo_params": {"inertia": NAN}},
            "inertia is nan, expected a number, 0 or more",
        ),
        (
            {"algo": "bpso", "algo_params": {"population": 1.5}},
            "population is 1.5, expected a whole number from 1",
        ),
        ({"cv": [([0, 1], [2, -1])]}, "cv names row -1, expected 0 or more"),
        ({"objective": {"kind": "weighted", "alpha": NAN}}, "alpha is nan, expected"),
        ({"checkpoint": "/dev/null"}, "checkpoint /dev/null: it is no regular file"),
    ],
)
def test_a_bad_setting_is_named(table: XY, settings: dict[str, Any], message: str) -> None:
    with pytest.raises(SpecError) as caught:
        select(table, **settings)
    assert str(caught.value).startswith(message)


def test_minimize_names_a_bad_setting_too() -> None:
    for settings, message in [
        ({"algo": None}, "algo is None"),
        ({"time_limit": NAN}, "time_limit is nan"),
        ({"target_cost": INFINITY}, "target_cost is inf"),
    ]:
        with pytest.raises(SpecError, match=message):
            minimize(lambda bits: bits.sum(axis=1), 5, **settings)  # type: ignore[arg-type]
