"""The statistics against scikit-posthocs, scipy, textbooks and the worked numbers of papers."""

import itertools
import math
from typing import Any

import numpy as np
import pytest
import scikit_posthocs
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats
from swarmrs.experiments._analysis._statistics import (
    friedman,
    holm,
    improvement,
    levels,
    mid_ranks,
    moments,
    paired_t,
    places,
    rank_sum,
    reduction,
    signed_rank,
    tally,
    vargha_delaney,
    verdict,
)

Table = NDArray[np.float64]

# Demšar 2006, table 6: areas under the curve of C4.5 with none, one or both of two parameters
# tuned, on 14 data sets. Two printed as 0.975 are told apart by the ranks
# printed beside them.
DEMSAR = [
    [0.763, 0.768, 0.771, 0.798],
    [0.599, 0.591, 0.590, 0.569],
    [0.954, 0.971, 0.968, 0.967],
    [0.628, 0.661, 0.654, 0.657],
    [0.882, 0.888, 0.886, 0.898],
    [0.936, 0.931, 0.916, 0.931],
    [0.661, 0.668, 0.609, 0.685],
    [0.583, 0.583, 0.563, 0.625],
    [0.775, 0.838, 0.866, 0.875],
    [1.000, 1.000, 1.000, 1.000],
    [0.940, 0.962, 0.965, 0.962],
    [0.619, 0.666, 0.614, 0.669],
    [0.972, 0.981, 0.9751, 0.975],
    [0.957, 0.978, 0.946, 0.970],
]


def random_tables() -> list[Table]:
    """Return 240 tables of costs, half of them with many ties."""
    rng = np.random.default_rng(11)
    made = []
    for at in range(240):
        shape = rng.integers(3, 25), rng.integers(3, 11)
        table = rng.random(shape)
        made.append(np.round(table, 1) if at % 2 else table)
    return made


def test_pairs_of_methods_have_the_chances_scikit_posthocs_gives() -> None:
    # 1e-10 is what both lose to the integration of the studentized range.
    for table in random_tables():
        found = friedman(table)
        assert found is not None
        nemenyi = scikit_posthocs.posthoc_nemenyi_friedman(table).to_numpy()
        conover = scikit_posthocs.posthoc_conover_friedman(table).to_numpy()
        np.testing.assert_allclose(found.nemenyi, nemenyi, rtol=0, atol=1e-10)
        np.testing.assert_allclose(found.conover, conover, rtol=0, atol=1e-10)


def test_friedman_is_that_of_scipy() -> None:
    for table in random_tables():
        found = friedman(table)
        assert found is not None
        oracle = stats.friedmanchisquare(*table.T)
        # scipy counts ties in one more rounding step.
        assert found.chi_square.statistic == pytest.approx(oracle.statistic, rel=1e-11)
        assert found.chi_square.p == pytest.approx(oracle.pvalue, rel=1e-10)


def test_corrected_chances_are_those_of_statsmodels() -> None:
    from statsmodels.stats.multitest import multipletests

    rng = np.random.default_rng(3)
    for size in range(1, 30):
        chances = rng.random(size) ** 4
        np.testing.assert_allclose(holm(chances), multipletests(chances, method="holm")[1])


def pairs_of_samples(n: int = 200) -> list[tuple[Table, Table]]:
    rng = np.random.default_rng(17)
    made = []
    for at in range(n):
        size = int(rng.integers(4, 40))
        first, second = rng.random((2, size))
        if at % 2:
            # Quarters have exact differences, so that scipy sees the same ties.
            first, second = np.round(first * 4) / 4, np.round(second * 4) / 4
        made.append((first, second))
    return made


def test_signed_ranks_are_those_of_scipy() -> None:
    for first, second in pairs_of_samples():
        gaps = first - second
        is_exact = gaps.size <= 25 and gaps.all() and np.unique(np.abs(gaps)).size == gaps.size
        oracle = stats.wilcoxon(
            gaps,
            zero_method="pratt",
            correction=True,
            method="exact" if is_exact else "asymptotic",
        )
        found = signed_rank(first, second)
        assert found.statistic == oracle.statistic
        assert found.p == pytest.approx(oracle.pvalue, rel=1e-10)
        if not (kept := gaps[gaps != 0]).size:
            continue
        is_exact = kept.size <= 25 and np.unique(np.abs(kept)).size == kept.size
        oracle = stats.wilcoxon(kept, correction=True, method="exact" if is_exact else "approx")
        found = signed_rank(first, second, drop_equal=True)
        assert found.statistic == oracle.statistic
        assert found.p == pytest.approx(oracle.pvalue, rel=1e-10)


def test_rank_sums_are_those_of_scipy() -> None:
    for first, second in pairs_of_samples():
        oracle = stats.mannwhitneyu(first, second[:-1])
        found = rank_sum(first, second[:-1])
        assert found[:2] == pytest.approx((oracle.statistic, oracle.pvalue), rel=1e-12)


def test_paired_t_is_that_of_scipy() -> None:
    for first, second in pairs_of_samples():
        oracle = stats.ttest_rel(first, second)
        found = paired_t(first, second)
        assert found[:2] == pytest.approx((oracle.statistic, oracle.pvalue), rel=1e-9)


def test_ranks_are_those_of_scipy() -> None:
    rng = np.random.default_rng(2)
    for _ in range(50):
        values = rng.integers(0, 9, rng.integers(1, 20)) / 8
        assert (mid_ranks(values) == stats.rankdata(values)).all()
        assert (places(values) == stats.rankdata(values, method="min")).all()


def test_the_example_of_demsar() -> None:
    found = friedman(-np.array(DEMSAR))
    assert found is not None
    # As printed there; the paper's statistics leave ties uncorrected, which ours do not.
    assert found.average_ranks.round(3).tolist() == [3.143, 2.0, 2.893, 1.964]
    uncorrected = 12 * 14 / 20 * ((found.average_ranks**2).sum() - 4 * 25 / 4)
    assert round(uncorrected, 2) == 9.28
    assert round(13 * uncorrected / (14 * 3 - uncorrected), 2) == 3.69
    assert found.chi_square.statistic > uncorrected
    assert round(found.critical_difference, 2) == 1.25


@pytest.mark.parametrize(
    ("n_methods", "quantile"),
    # Demšar 2006, table 5: the two-tailed Nemenyi test at 0.05.
    list(enumerate([1.960, 2.343, 2.569, 2.728, 2.850, 2.949, 3.031, 3.102, 3.164], start=2)),
)
def test_critical_differences_are_those_of_the_table(n_methods: int, quantile: float) -> None:
    found = friedman(np.random.default_rng(1).random((6, n_methods)))
    assert found is not None
    unit = math.sqrt(n_methods * (n_methods + 1) / 36)
    # The table has three digits, some of them cut and not rounded.
    assert found.critical_difference / unit == pytest.approx(quantile, abs=1e-3)


def test_the_multiple_comparison_of_rank_sums() -> None:
    # Conover's formula with the 16.91 published for ten methods on ten data sets: the t quantile
    # and what the ranks left unexplained.
    accuracies = [[0.90, 0.85, 0.80], [0.88, 0.88, 0.70], [0.75, 0.80, 0.60], [0.95, 0.90, 0.85]]
    found = friedman(1 - np.array(accuracies))
    assert found is not None
    assert found.rank_sums.tolist() == [5.5, 6.5, 12.0]
    assert found.chi_square[:2] == pytest.approx((6.53333, 0.038133), abs=1e-5)
    assert found.f[:2] == pytest.approx((13.36364, 0.006162), abs=1e-5)
    assert found.critical_sum_difference == pytest.approx(3.313134, abs=1e-6)
    differs = found.conover < 0.05
    assert differs.tolist() == [[False, False, True], [False, False, True], [True, True, False]]


def test_chances_and_critical_sums_agree() -> None:
    for table in random_tables()[:60]:
        found = friedman(table)
        assert found is not None
        gaps = np.abs(found.rank_sums[:, None] - found.rank_sums)
        assert ((gaps > found.critical_sum_difference) == (found.conover < 0.05)).all()
        means = found.average_ranks
        gaps = np.abs(means[:, None] - means)
        assert ((gaps > found.critical_difference) == (found.nemenyi < 0.05)).all()


@pytest.mark.parametrize("value", [0.0, 0.1, 1 / 3])
def test_where_nothing_differs_every_chance_is_one(value: float) -> None:
    found = friedman(np.full((5, 4), value))
    assert found is not None
    assert found.chi_square.p == found.f.p == 1
    assert (found.nemenyi == 1).all()
    assert (found.conover == 1).all()
    same = np.full(6, value)
    for test in (paired_t, signed_rank, rank_sum):
        assert test(same, same).p == 1
        assert test(same, same).lean == 0
    assert vargha_delaney(same, same) == 0.5
    assert tally(same, same) == (0, 6, 0)


def test_blocks_that_agree_leave_no_doubt() -> None:
    found = friedman([[0.1, 0.2, 0.3]] * 4)
    assert found is not None
    assert found.f == (math.inf, 0.0, 0)
    assert found.critical_sum_difference == 0
    assert found.conover[0].tolist() == [1, 0, 0]
    # Equal average ranks are no difference, not even where no variation is left.
    tied = friedman([[0.1, 0.1, 0.3]] * 4)
    assert tied is not None
    assert tied.conover[0].tolist() == [1, 1, 0]


@pytest.mark.parametrize("shape", [(1, 3), (3, 1), (0, 3)])
def test_one_block_or_one_method_is_no_comparison(shape: tuple[int, int]) -> None:
    assert friedman(np.zeros(shape)) is None


def test_rounding_decides_nothing() -> None:
    first = [0.1 + 0.2, 0.3, 0.5]
    second = [0.3, 0.1 + 0.2, 0.5]
    assert first != second
    assert paired_t(first, second) == (0.0, 1.0, 0)
    assert signed_rank(first, second) == (0.0, 1.0, 0)
    assert rank_sum(first, second).p == 1
    assert vargha_delaney(first, second) == 0.5
    assert tally(first, second) == (0, 3, 0)
    assert moments([0.1 + 0.2, 0.3]).std == 0


def test_a_difference_that_is_always_the_same_is_certain_to_t() -> None:
    assert paired_t([0.2, 0.3, 0.4], [0.1, 0.2, 0.3]) == (math.inf, 0.0, 1)
    assert paired_t([0.1, 0.2, 0.3], [0.2, 0.3, 0.4]) == (-math.inf, 0.0, -1)


def test_equal_pairs_are_ranked_and_not_counted() -> None:
    # Pratt: the zero takes rank 1, so the others have 2, 3 and 4; a test without it has 1, 2, 3.
    found = signed_rank([0, 1, 2, -3], [0, 0, 0, 0])
    assert found.statistic == 4.0
    assert found.lean == 1
    variance = (4 + 9 + 16) / 4
    assert found.p == pytest.approx(math.erfc((0.5 - 0.5) / math.sqrt(2 * variance)))
    # Without it the others have 1, 2 and 3, and half of the eight signs have a sum of 3 or less.
    assert signed_rank([0, 1, 2, -3], [0, 0, 0, 0], drop_equal=True) == (3.0, 1.0, 0)


def test_percentages_of_the_papers() -> None:
    gain = improvement(0.2259, of_all=0.6007)
    assert gain is not None
    assert round(gain, 1) == 62.4
    assert improvement(0.2, of_all=0.0) is None
    assert round(reduction(6.70, n_features=13), 1) == 48.5


def test_one_run_has_no_spread() -> None:
    assert moments([0.25]) == (0.25, None, 0.25)


def test_signs() -> None:
    assert [verdict(lean, p) for lean in (-1, 0, 1) for p in (0.0499, 0.05)] == [
        *("-", "="),
        *("=", "="),
        *("+", "="),
    ]


values = st.lists(st.integers(0, 6).map(lambda n: n / 8), min_size=1, max_size=8)


@given(values)
def test_ranks_add_up(costs: list[float]) -> None:
    n = len(costs)
    assert mid_ranks(costs).sum() == n * (n + 1) / 2
    assert levels(costs).max() + 1 == len(set(costs))
    assert places(costs).min() == 1


@given(values, values)
def test_effects_of_both_directions_add_up(first: list[float], second: list[float]) -> None:
    share = vargha_delaney(first, second)
    naive = [(a > b) + (a == b) / 2 for a, b in itertools.product(first, second)]
    assert share == pytest.approx(np.mean(naive))
    assert share + vargha_delaney(second, first) == pytest.approx(1)


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=2, max_size=40))
def test_tests_turn_around(pairs: list[tuple[int, int]]) -> None:
    first, second = (np.array(side) / 16 for side in zip(*pairs, strict=True))
    for test in (paired_t, signed_rank, rank_sum):
        one: Any = test(first, second)
        other: Any = test(second, first)
        assert 0 <= one.p <= 1
        assert one.p == pytest.approx(other.p)
        assert one.lean == -other.lean
    assert tally(first, second) == tally(second, first)[::-1]
