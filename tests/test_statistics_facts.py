"""Single facts about the statistics, each computed by hand or by scipy.

They are quick and each fails for one small change of a formula: `make mutants` runs them first.
"""

import math

import numpy as np
import pytest
from scipy import stats
from swarmrs.experiments._analysis._statistics import (
    LEVEL,
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

# Powers of two: differences and sums of these are exact.
STEP = 2.0**-40  # 9.1e-13, below the width within which values are equal
OVER = 2.0**-39  # 1.8e-12, above it


def test_values_are_equal_within_1e_12_and_no_further() -> None:
    assert levels([0.0, STEP, 1.0]).tolist() == [0, 0, 1]
    assert levels([0.0, OVER, 1.0]).tolist() == [0, 1, 2]
    assert levels([0.0, 1e-12]).tolist() == [0, 0]
    assert levels([1.0, 0.0, 0.5, 0.0]).tolist() == [2, 0, 1, 0]
    # A chain of equal steps is one level: each value is compared with the next lower one.
    assert levels([0.0, STEP, 2 * STEP, 3 * STEP]).tolist() == [0, 0, 0, 0]
    assert tally([0.0, 0.0, 1e-12], [STEP, OVER, 0.0]) == (1, 2, 0)
    assert tally([0.0, 0.0, 1.0], [STEP, -OVER, 0.5]) == (0, 1, 2)


def test_ranks_of_ties() -> None:
    assert mid_ranks([3, 1, 3, 2, 3]).tolist() == [4, 1, 4, 2, 4]
    assert places([3, 1, 3, 2, 3]).tolist() == [3, 1, 3, 2, 3]


def test_moments_are_those_of_a_sample() -> None:
    found = moments([1.0, 2.0, 4.0, 9.0])
    assert found.mean == 4.0
    assert found.std == pytest.approx(math.sqrt((9 + 4 + 0 + 25) / 3), rel=1e-15)
    assert found.best == 1.0
    # Two values have a spread: half of their difference, times the root of two.
    assert moments([1.0, 3.0]) == (2.0, math.sqrt(2), 1.0)
    assert moments([0.0, 1e-12]) == (0.0, 0.0, 0.0)
    assert moments([0.0, OVER]).std == pytest.approx(OVER / math.sqrt(2))
    # Equal runs far from 0 have none.
    assert moments([7.0, 7.0, 7.0]) == (7.0, 0.0, 7.0)


def test_percentages() -> None:
    assert improvement(0.25, of_all=0.5) == 50
    assert improvement(2.0, of_all=1.0) == -100
    assert improvement(0.5, of_all=0.0) is None
    assert reduction(3, n_features=4) == 25


def test_paired_t_by_hand() -> None:
    # Differences 1, 2, 3: mean 2, deviation 1, t = 2 sqrt(3); with 2 degrees of freedom
    # p = 1 - t / sqrt(t^2 + 2).
    found = paired_t([2.0, 4.0, 6.0], [1.0, 2.0, 3.0])
    assert found.statistic == pytest.approx(2 * math.sqrt(3), rel=1e-14)
    assert found.p == pytest.approx(1 - math.sqrt(12 / 14), rel=1e-12)
    assert found.lean == 1
    assert paired_t([1.0, 2.0, 3.0], [2.0, 4.0, 6.0]).lean == -1


def test_paired_t_of_few_pairs() -> None:
    one = paired_t([2.0], [1.0])
    assert math.isnan(one.statistic)
    assert one[1:] == (1.0, 0)
    # Two pairs are enough: differences 1 and 3, t = 2 / (sqrt(2) / sqrt(2)) = 2, one degree.
    two = paired_t([1.0, 3.0], [0.0, 0.0])
    assert two.statistic == pytest.approx(2.0)
    assert two.p == pytest.approx(1 - 2 / math.pi * math.atan(2.0), rel=1e-12)
    assert paired_t([2.0, 2.0], [1.0, 1.0]) == (math.inf, 0.0, 1)
    assert paired_t([], []) == (0.0, 1.0, 0)


def test_signed_ranks_are_counted_out_up_to_25_pairs() -> None:
    for size, exact in ((25, True), (26, False)):
        gaps = np.arange(1.0, size + 1) * np.where(np.arange(size) % 3 == 0, -1, 1)
        oracle = stats.wilcoxon(gaps, correction=True, method="exact" if exact else "asymptotic")
        other = stats.wilcoxon(gaps, correction=True, method="asymptotic" if exact else "exact")
        found = signed_rank(gaps, np.zeros(size))
        assert found.p == pytest.approx(oracle.pvalue, rel=1e-12)
        assert abs(found.p - other.pvalue) > 1e-6
        assert found.statistic == oracle.statistic
        assert found.lean == 1
        assert signed_rank(np.zeros(size), gaps).lean == -1


def test_signed_ranks_by_hand() -> None:
    # 1, 2 and 3 all up: 2 of 8 signs are as extreme.
    assert signed_rank([1, 2, 3], [0, 0, 0]) == (0.0, 0.25, 1)
    # One pair: either sign is as extreme.
    assert signed_rank([1], [0]) == (0.0, 1.0, 1)
    # 1, 2 against -3: sums 3 and 3.
    assert signed_rank([1, 2, -3], [0, 0, 0]) == (3.0, 1.0, 0)
    # A tie makes it normal: sizes 1, 1, 2 have ranks 1.5, 1.5, 3, variance (2.25+2.25+9)/4,
    # and half a rank is taken off 3.
    found = signed_rank([1, 1, 2], [0, 0, 0])
    assert found.p == pytest.approx(math.erfc(2.5 / math.sqrt(3.375) / math.sqrt(2)), rel=1e-14)
    # Sums that differ by less than one are no evidence at all.
    assert signed_rank([1, -1, 0, 0], [0, 0, 0, 0]).p == 1
    # The sums are 3.5 and 6.5: 1.5 apart from their middle, less the half.
    tied = signed_rank([1, -2, 2, -1], [0, 0, 0, 0])
    assert tied[:2] == (5.0, 1.0)
    uneven = signed_rank([1, 1, -2, 3], [0, 0, 0, 0])
    spread = math.sqrt((1.5**2 * 2 + 9 + 16) / 4)
    assert uneven.statistic == 3.0
    assert uneven.p == pytest.approx(math.erfc((4 / 2 - 0.5) / spread / math.sqrt(2)), rel=1e-14)


def test_pairs_left_out_change_the_ranks() -> None:
    # The zero has rank 1, the others 2 and 3: a tie by Pratt, so the normal distribution.
    pratt = signed_rank([0, 1, 2], [0, 0, 0])
    assert pratt.statistic == 0
    assert pratt.p == pytest.approx(math.erfc(2 / math.sqrt(13 / 4) / math.sqrt(2)), rel=1e-14)
    # Without it there are 1 and 2, and 2 of 4 signs are as extreme.
    assert signed_rank([0, 1, 2], [0, 0, 0], drop_equal=True) == (0.0, 0.5, 1)


def test_rank_sums_are_counted_out_if_one_sample_is_small() -> None:
    for sizes, exact in (((8, 12), True), ((12, 8), True), ((9, 12), False), ((9, 9), False)):
        first = np.arange(sizes[0]) * 2.0 + 5
        second = np.arange(sizes[1]) * 2.0
        oracle = stats.mannwhitneyu(first, second, method="exact" if exact else "asymptotic")
        other = stats.mannwhitneyu(first, second, method="asymptotic" if exact else "exact")
        found = rank_sum(first, second)
        assert found[:2] == pytest.approx((oracle.statistic, oracle.pvalue), rel=1e-12)
        assert abs(found.p - other.pvalue) > 1e-6
        assert found.lean == np.sign(oracle.statistic - sizes[0] * sizes[1] / 2)


def test_rank_sums_by_hand() -> None:
    # All of the first are larger: U = 2 * 3, and 2 of 10 ways are as extreme.
    assert rank_sum([4, 5], [1, 2, 3]) == (6.0, 0.2, 1)
    assert rank_sum([7, 7], [7, 7, 7]) == (3.0, 1.0, 0)
    # A tie makes it normal. Ranks 1, 2.5 | 2.5, 4: U = 3.5 - 3 = 0.5 of a middle of 2.
    found = rank_sum([1, 2], [2, 3])
    spread = math.sqrt(2 / 6 * (5 - 6 / 12))
    assert found.statistic == 0.5
    assert found.p == pytest.approx(math.erfc(1.0 / spread / math.sqrt(2)), rel=1e-14)
    assert found.lean == -1
    # U within a half of the middle is no evidence.
    assert rank_sum([1, 2, 2], [2, 2, 1]) == (4.5, 1.0, 0)
    assert rank_sum([1, 1], [1, 2]).p == pytest.approx(
        math.erfc((1 - 0.5) / math.sqrt(2 / 6 * (5 - 24 / 12)) / math.sqrt(2)), rel=1e-14
    )


def test_holm_by_hand() -> None:
    # Sorted: 0.01 * 4, 0.02 * 3, 0.02 * 2 (held at the one before), 0.9 * 1.
    assert holm([0.02, 0.9, 0.01, 0.02]).tolist() == [0.06, 0.9, 0.04, 0.06]
    assert holm([0.6, 0.7]).tolist() == [1.0, 1.0]
    assert holm([]).tolist() == []


def test_effect_sizes_by_hand() -> None:
    # Pairs (1,1) tie, (1,2) less, (3,1) and (3,2) more: (0.5 + 0 + 1 + 1) / 4.
    assert vargha_delaney([1, 3], [1, 2]) == 0.625
    assert vargha_delaney([1, 2, 3], [4]) == 0
    assert vargha_delaney([4], [1, 2, 3]) == 1


def test_verdicts_are_below_the_level() -> None:
    assert LEVEL == 0.05
    assert verdict(1, 0.05) == "="
    assert verdict(1, math.nextafter(0.05, 0)) == "+"
    assert verdict(-1, 0.02, level=0.01) == "="
    assert verdict(-1, 0.02, level=0.1) == "-"


def test_friedman_by_hand() -> None:
    # Ranks 1 2 3 | 1 3 2 | 2 1 3: sums 4, 6, 8; squares 14 each, 3 * 3 * 16 / 4 = 36.
    # Spread 42 - 36 = 6; between 4 + 0 + 4 = 8; T = 2 * 8 / 6; left 3 * 6 - 8 = 10.
    found = friedman([[1, 2, 3], [1, 3, 2], [2, 1, 3]])
    assert found is not None
    assert found.rank_sums.tolist() == [4, 6, 8]
    assert found.average_ranks.tolist() == [4 / 3, 2, 8 / 3]
    assert found.chi_square.statistic == pytest.approx(8 / 3, rel=1e-15)
    # With 2 degrees of freedom p is exp(-T / 2).
    assert found.chi_square.p == pytest.approx(math.exp(-4 / 3), rel=1e-12)
    # F = (3 - 1) * 8 / 10 with 2 and 4 degrees of freedom: p = (1 + 2 F / 4)^-2.
    assert found.f.statistic == pytest.approx(1.6, rel=1e-15)
    assert found.f.p == pytest.approx(1.8**-2, rel=1e-12)
    assert found.level == 0.05
    # Conover: t with 4 degrees, rank sums in units of sqrt(2 * 10 / 4).
    unit = math.sqrt(5)
    quantile = float(stats.t.ppf(0.975, 4))
    assert found.critical_sum_difference == pytest.approx(quantile * unit, rel=1e-12)
    assert found.conover[0, 2] == pytest.approx(2 * float(stats.t.sf(4 / unit, 4)), rel=1e-12)
    assert found.conover[0, 1] == pytest.approx(2 * float(stats.t.sf(2 / unit, 4)), rel=1e-12)
    assert found.conover.diagonal().tolist() == [1, 1, 1]
    assert (found.conover == found.conover.T).all()
    # Nemenyi: the studentized range of 3, average ranks in units of sqrt(3 * 4 / (12 * 3)).
    unit = math.sqrt(1 / 3)
    spread = stats.studentized_range
    assert found.critical_difference == pytest.approx(spread.ppf(0.95, 3, np.inf) * unit, rel=1e-8)
    assert found.nemenyi[0, 2] == pytest.approx(spread.sf(4 / 3 / unit, 3, np.inf), rel=1e-8)
    assert found.nemenyi[1, 2] == pytest.approx(spread.sf(2 / 3 / unit, 3, np.inf), rel=1e-8)
    assert found.nemenyi.diagonal().tolist() == [1, 1, 1]
    assert (found.nemenyi == found.nemenyi.T).all()


def test_the_level_moves_both_critical_differences() -> None:
    table = [[1, 2, 3], [1, 3, 2], [2, 1, 3]]
    found = friedman(table, level=0.1)
    assert found is not None
    assert found.level == 0.1
    quantile = float(stats.studentized_range.ppf(0.9, 3, np.inf))
    assert found.critical_difference == pytest.approx(quantile * math.sqrt(1 / 3), rel=1e-8)
    quantile = float(stats.t.ppf(0.95, 4))
    assert found.critical_sum_difference == pytest.approx(quantile * math.sqrt(5), rel=1e-12)


def test_two_methods_on_two_blocks_are_enough() -> None:
    # Ranks 1 2 | 2 1: nothing between, so both tests have p = 1.
    found = friedman([[1, 2], [2, 1]])
    assert found is not None
    assert found.chi_square == (0.0, 1.0, 0)
    assert found.f == (0.0, 1.0, 0)
    assert friedman([[1, 2]]) is None
    assert friedman([[1], [2]]) is None
    # Ranks 1 2 | 1 2: they agree, and nothing is left.
    agreed = friedman([[1, 2], [1, 2]])
    assert agreed is not None
    assert agreed.chi_square.statistic == 2
    assert agreed.f == (math.inf, 0.0, 0)
