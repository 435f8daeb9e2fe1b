"""The plain swarms of the benches: they cost what swarmrs says, and move as their papers do."""

from collections.abc import Callable

import numpy as np
import plain
import pytest
from baselines import scaled
from bench_python import Contest, alike, load
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from plain.bpso import accelerated
from plain.evaluations import Bests, Evaluations, Masks
from plain.fitness import ENGINES, Problem
from plain.pbpso import flip_chances
from plain.relevance import levels, symmetric_uncertainty
from plain.upso2d import chosen, learned, merits, ring_bests
from plain.vlpso import Swarm, first_lengths, learning_chances, next_lengths
from scipy.stats import mannwhitneyu
from sklearn.datasets import load_wine
from sklearn.model_selection import StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier
from swarmrs import Evaluator, rank, select
from threadpoolctl import threadpool_limits

Floats = NDArray[np.float64]
# Both sides add the same few quotients in different order, or sums of distances in float32.
ROUNDING = {"error": 1e-12, "hybrid": 1e-6}


def bits(*rows: str) -> Masks:
    return np.array([[bit == "1" for bit in row] for row in rows])


def gridded(seed: int, n_rows: int, n_features: int) -> Problem:
    """Values on the 16-bit grid of swarmrs, which then rounds nothing; ties are next to none."""
    rng = np.random.default_rng(seed)
    y = np.arange(n_rows) % 3
    x = scaled(rng.normal(size=(n_rows, n_features)) + 0.7 * y[:, None] * (rng.random(n_features)))
    return Problem((x * 65535).round() / 65535, y)


def yes_and_no(seed: int) -> Problem:
    """Columns of 0 and 1, where nearly all distances are tied."""
    rng = np.random.default_rng(seed)
    x = (rng.random((70, 8)) < 0.4).astype(np.float64)
    return Problem(x, (x[:, :3].sum(axis=1) + rng.integers(0, 2, 70) > 1).astype(np.int64))


@pytest.mark.parametrize("engine", ["numpy", "scikit-learn"])
def test_the_error_is_that_of_the_evaluator(engine: str) -> None:
    problem = gridded(1, 90, 12)
    masks = np.random.default_rng(2).random((40, 12)) < 0.4
    masks[~masks.any(axis=1), 0] = True
    ours = Evaluator(problem.x, problem.y, cv=StratifiedKFold(10)).measure(masks)["error"]
    with threadpool_limits(1):
        theirs = ENGINES["error"][engine](problem)(masks)
    assert np.abs(ours - theirs).max() < ROUNDING["error"]
    assert len(np.unique(ours.round(9))) > 5


@pytest.mark.parametrize("seed", range(5))
def test_numpy_breaks_ties_as_the_evaluator_does(seed: int) -> None:
    problem = yes_and_no(seed)
    masks = np.random.default_rng(seed).random((30, 8)) < 0.5
    masks[~masks.any(axis=1), 0] = True
    errors = ENGINES["error"]["numpy"](problem)(masks)
    ours = Evaluator(problem.x, problem.y, cv=StratifiedKFold(10)).measure(masks)["error"]
    assert np.abs(ours - errors).max() < ROUNDING["error"]
    assert_hybrid_is_ours(problem, "numpy")


def assert_hybrid_is_ours(problem: Problem, engine: str) -> None:
    found = select(
        (problem.x, problem.y), algo="random", objective="hybrid", random_state=1, scale="minmax",
        estimator=KNeighborsClassifier(1, metric="manhattan"), cv="loo", max_evals=300,
        constant="keep",
    )  # fmt: skip
    masks = np.zeros((len(found.front), problem.x.shape[1]), np.bool_)
    for mask, point in zip(masks, found.front, strict=True):
        mask[list(point.selected_indices)] = True
    with threadpool_limits(1):
        theirs = ENGINES["hybrid"][engine](problem)(masks)
    assert len(masks) > 1
    assert np.abs(theirs - [point.cost for point in found.front]).max() < ROUNDING["hybrid"]


@pytest.mark.parametrize("engine", ["numpy", "scikit-learn"])
def test_the_hybrid_cost_is_that_of_a_search(engine: str) -> None:
    assert_hybrid_is_ours(gridded(3, 40, 10), engine)


@pytest.mark.parametrize("engine", ["numpy", "scikit-learn"])
def test_the_hybrid_cost_has_the_worked_values(engine: str) -> None:
    x = np.array([[0.0, 1.0], [0.2, 0.0], [0.8, 0.8], [1.0, 0.2]])
    costs = ENGINES["hybrid"][engine](Problem(x, np.array([0, 0, 1, 1])))
    found = costs(bits("10", "01", "11"))
    # Distances are float32 in numpy.
    assert found == pytest.approx([-0.984828363995751, -0.009485174635513, -0.5], abs=1e-7)


def test_relevance_has_the_worked_values_and_is_that_of_rank() -> None:
    classes = np.array([0, 0, 0, 0, 1, 1, 1, 1])
    rising = np.arange(8.0)
    assert levels(rising, classes).tolist() == [0, 0, 0, 0, 1, 1, 1, 1]
    assert levels(rising, np.arange(8) % 2).tolist() == [0] * 8
    few = np.array([1.0, 1, 1, 2, 2, 2, 3, 3, 3, 3])
    assert levels(few, np.array([0, 0, 0, 0, 1, 1, 1, 1, 1, 1])).tolist() == [0] * 3 + [1] * 7
    # Six decimals are worked out.
    pair = np.array([0, 0, 0, 0, 1, 1, 1, 1]), np.array([0, 0, 0, 0, 0, 1, 1, 1])
    assert symmetric_uncertainty(*pair) == pytest.approx(0.561590, abs=5e-7)

    x, y = load_wine(return_X_y=True)
    ours = rank((x, y)).frame
    scores = [symmetric_uncertainty(levels(column, y), y) for column in x.T]
    # Ours are rounded to 32 bits.
    names = [f"x{at}" for at in range(x.shape[1])]
    theirs = dict(zip(names, scores, strict=True))
    assert sorted(ours["score"]) == pytest.approx(sorted(theirs.values()), abs=1e-6)
    assert [names[at] for at in plain.ranking(x, y)] == ours["feature"].to_list()


def test_a_velocity_of_bpso_has_the_worked_numbers() -> None:
    def moved(v: float) -> float:
        ones, r = bits("1"), np.ones((1, 1))
        v_new = accelerated(
            np.full((1, 1), v), bits("0"), ones, ones[0], 2 * 0.5 * r, 2 * 0.25 * r, 1.0, 6.0
        )
        return float(v_new[0, 0])

    assert moved(0.0) == 1.5
    assert moved(5.5) == 6.0


def test_flip_chances_are_the_printed_table() -> None:
    chances = flip_chances(bits("0000"), bits("0101"), bits("0011")[0], (0.05, 0.35, 0.65))
    # Decimal fractions are not exact in binary.
    assert chances[0] == pytest.approx([0.05, 0.40, 0.70, 1.0], abs=1e-15)


def test_a_2d_move_has_the_worked_numbers() -> None:
    v = np.array([[[0.2, 0.4, 0.6, 0.8, 1.0]], [[0.1, 0.3, 0.5, 0.7, 0.9]]])
    own, leader, local = bits("01001"), bits("11010"), bits("00110")
    r1, r2, r3, r4 = (np.array([r]) for r in (0.5, 0.8, 0.3, 0.6))

    def moved(u: float) -> Floats:
        pulls = [
            (1.49 * (u * r1 + (1 - u) * r3), own),
            (1.49 * u * r2, leader),
            (1.49 * (1 - u) * r4, local),
        ]
        return learned(v, bits("10101"), 0.729, pulls, np.array([0.2]))

    # Four decimals are worked out.
    for u, sizes, features in [
        (1.0, [0.1458, 1.0366, 1.8294, 0.5832, 0.7290], [0.2729, 2.1557, 0.5645, 1.7023, 0.8561]),
        (0.0, [0.1458, 1.6326, 0.6374, 0.5832, 0.7290], [0.2729, 0.6657, 0.5645, 1.4043, 0.8561]),
        (0.2, [0.1458, 1.5134, 0.8758, 0.5832, 0.7290], [0.2729, 0.9637, 0.5645, 1.4639, 0.8561]),
    ]:
        assert np.abs(moved(u)[:, 0] - [sizes, features]).max() < 5e-5
    assert (chosen(moved(1.0), np.array([0.5])) == bits("01011")).all()


def test_the_wheel_and_the_merits_are_the_worked_ones() -> None:
    def spun(sizes: list[float], u: float) -> int:
        v = np.array([[sizes], [np.arange(len(sizes), 0.0, -1.0)]])
        return int(chosen(v, np.array([u])).sum())

    v = np.array([[[0.14, 2.56, 1.35, 0.38, 0.71]], [[1.31, 2.40, 0.57, 1.46, 1.30]]])
    assert (chosen(v, np.array([0.632296])) == bits("11010")).all()
    negative = [-0.2, 0.5, 0.0, -0.1, 0.3]
    assert [spun(negative, u) for u in (0.0, 0.1, 0.7, 1.0)] == [2, 2, 5, 5]
    assert spun([-1.0, 0.0, -2.0], 0.5) == 2
    assert merits(np.array([0.2, 0.1, 0.4])) == pytest.approx([0.5, 0.75, 0.0])
    assert merits(np.zeros(3)).tolist() == [0.0] * 3
    assert ring_bests(np.array([0.3, 0.3, 0.1, 0.2, 0.2])).tolist() == [4, 2, 2, 2, 4]


def test_lengths_and_chances_are_the_worked_ones() -> None:
    assert first_lengths(2308, 12).tolist()[:3] == [192, 384, 577]
    assert first_lengths(3, 5).tolist() == [1, 1, 1, 2, 3]
    five = next_lengths(first_lengths(5000, 5), 2)
    assert five.tolist() == [600, 1200, 3000, 1800, 2400]
    assert next_lengths(five, 4).tolist() == [480, 960, 1440, 1920, 2400]
    assert next_lengths(np.array([200, 50, 100, 150]), 2).tolist() == [25, 50, 100, 75]
    assert next_lengths(np.array([4, 5, 6, 7, 8]), 0).tolist() == [4, 1, 1, 2, 3]
    worked = [0.05, 0.0502284684, 0.0530117829, 0.0869194956, 0.5]
    # Ten decimals are worked out.
    assert learning_chances(np.arange(5)) == pytest.approx(worked, abs=5e-11)


@given(st.lists(st.integers(1, 30), min_size=2, max_size=12), st.integers(0, 2**32 - 1))
@settings(max_examples=60, deadline=None)
def test_exemplars_have_the_dimension_they_teach(lengths: list[int], seed: int) -> None:
    rng = np.random.default_rng(seed)
    p, n = len(lengths), max(lengths)
    x = rng.random((p, n))
    each = np.arange(p)
    costs, sizes = rng.integers(0, 3, p) / 3, rng.integers(1, 4, p).astype(np.float64)
    no_one, stall = np.full((p, n), -1), np.zeros(p, np.int64)
    swarm = Swarm(np.array(lengths), x, x - 0.5, x.copy(), costs, sizes, no_one, stall)
    swarm.assign(each, rng)
    for me, d in np.argwhere(swarm.has):
        teacher = swarm.exemplars[me, d]
        others = [j for j in each if j != me and lengths[j] > d]
        assert teacher == me or (teacher in others and len(others) >= 2)
    swarm.move(0.9, rng)
    assert (np.abs(swarm.v) <= 0.6).all()
    assert ((swarm.x >= 0.0) & (swarm.x <= 1.0)).all()

    before = swarm.chosen(swarm.best)
    resized, cut = swarm.resize(next_lengths(np.array(lengths), int(rng.integers(p))), rng)
    after = np.zeros_like(before)
    after[:, : swarm.x.shape[1]] = swarm.chosen(swarm.best)
    assert not (after & ~before).any(), "what grows changes no best"
    assert set(cut) == set(np.flatnonzero((before & ~after).any(axis=1))) <= set(resized)
    assert swarm.x.shape[1] == swarm.lengths.max() <= n


def planted(n: int, members: list[int]) -> Callable[[Masks], Floats]:
    goal = np.isin(np.arange(n), members)
    return lambda masks: (masks != goal).sum(axis=1) / n


@pytest.mark.parametrize("name", ["bpso", "pbpso", "upso2d"])
def test_a_swarm_finds_a_planted_subset(name: str) -> None:
    evaluate = Evaluations(planted(20, [2, 3, 11, 17]), 20, 6000)
    getattr(plain, name)(evaluate, np.random.default_rng(1))
    assert evaluate.best_cost == 0.0
    assert np.flatnonzero(evaluate.best).tolist() == [2, 3, 11, 17]
    assert evaluate.count == 6000
    assert len(evaluate.measured) == len({mask.tobytes() for mask in evaluate.measured}) < 6000


def test_vlpso_finds_a_planted_subset_among_the_first_of_its_order() -> None:
    order = np.arange(60)[::-1]
    evaluate = Evaluations(planted(60, [59, 58, 56, 55]), 60, 20_000)
    plain.vlpso(evaluate, np.random.default_rng(1), order)
    assert evaluate.best_cost <= 1 / 60


def test_vlpso_changes_lengths_after_nine_moves_without_progress() -> None:
    # The full particle of the first division is the best there is: 20 of 240 features.
    batches: list[Masks] = []

    def costs(masks: Masks) -> Floats:
        first = (masks[:, :20].all(axis=1)) & (masks.sum(axis=1) == 20)
        return np.where(first, 0.1, 0.2 + 1e-4 * masks.sum(axis=1))

    class Heard(Evaluations):
        def __call__(self, masks: Masks) -> Floats:
            batches.append(masks.copy())
            return super().__call__(masks)

    plain.vlpso(Heard(costs, 240, 96 * 14), np.random.default_rng(1), np.arange(240))
    assert [len(masks) for masks in batches[:10]] == [96] * 10
    assert batches[9][:, 20:].any()
    assert 88 <= len(batches[10]) <= 176
    assert not any(masks[:, 20:].any() for masks in batches[10:])


def test_bests_move_on_strict_improvement_and_a_batch_is_never_cut() -> None:
    x = bits("100", "010", "001")
    bests = Bests(x, np.array([0.3, 0.2, 0.2]))
    assert bests.update(~x, np.array([0.2, 0.2, 0.3])).tolist() == [True, False, False]
    assert bests.leader.tolist() == x[1].tolist(), "as good as the best is no better"

    evaluate = Evaluations(lambda masks: masks.mean(axis=1), 3, 7, worst=1.0)
    assert evaluate(bits("000", "110", "110")).tolist() == [1.0, 2 / 3, 2 / 3]
    assert (evaluate.count, len(evaluate.measured)) == (3, 1)
    assert evaluate.allows(4)
    assert not evaluate.allows(5)


def test_two_sides_are_compared_by_rank_sums_within_cells() -> None:
    cells = [([0.1, 0.3, 0.3, 0.5], [0.2, 0.3, 0.7]), ([2.0, 2.0], [1.0, 2.0, 1.5])]
    for ours, theirs in cells:
        expected = mannwhitneyu(ours, theirs, method="asymptotic", use_continuity=False)
        z, p = alike([(ours, theirs)])
        assert p == pytest.approx(expected.pvalue, abs=1e-12)
        assert (z > 0) == (expected.statistic > len(ours) * len(theirs) / 2)
    (first, _), (second, _) = (alike([cell]) for cell in cells)
    assert min(first, second) < alike(cells)[0] < max(first, second)
    assert alike([([1.0], [1.0])]) == (0.0, 1.0)


@pytest.mark.parametrize("algo", ["upso2d", "vlpso"])
def test_both_sides_of_a_contest_search_the_same_problem(algo: str) -> None:
    problem = load("wine")
    assert problem is not None
    with threadpool_limits(1):
        contest = Contest(problem, algo, plain.ranking(problem.x, problem.y))
        both = contest.round(1, 300, 0.0)
    assert both.one.evaluations == both.numpy.evaluations == (300 if algo == "upso2d" else 288)
    assert both.two.cost == both.one.cost
    assert both.gap_to_numpy < 1e-6
    assert both.sampled == 3
    assert load("no such table") is None
