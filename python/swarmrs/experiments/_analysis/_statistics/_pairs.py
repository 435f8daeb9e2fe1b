"""Tests of two methods: paired t, signed rank, rank sum; effect size, wins and losses."""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from swarmrs.experiments._analysis._statistics._ranks import SAME, levels, mid_ranks

LEVEL = 0.05
# Signed-rank tests of up to so many pairs without ties are exact.
_EXACT = 25


class Tested(NamedTuple):
    """The statistic of a test and its two-sided p-value.

    `lean` is 1 where the first of two samples is larger, -1 where it is smaller, else 0.
    """

    statistic: float
    p: float
    lean: int = 0


class Tally(NamedTuple):
    """The number of wins, ties and losses of the first of two methods."""

    win: int
    tie: int
    loss: int


def paired_t(first: ArrayLike, second: ArrayLike) -> Tested:
    """Compare the means of paired values by Student's t-test.

    Pairs that are all equal have p = 1; a difference that is the same in all has p = 0.

    Examples
    --------
    >>> a = [0.12, 0.10, 0.15, 0.11, 0.13, 0.09, 0.14, 0.12]
    >>> b = [0.10, 0.09, 0.15, 0.10, 0.10, 0.08, 0.12, 0.13]
    >>> found = paired_t(a, b)
    >>> round(found.statistic, 4), round(found.p, 5)
    (2.5529, 0.03794)
    """
    from scipy.stats import ttest_1samp

    differences = _differences(first, second)
    if not differences.any():
        return Tested(0.0, 1.0)
    if differences.size < 2:
        return Tested(math.nan, 1.0)
    if levels(differences).max() == 0:
        sign = _sign(differences[0])
        return Tested(math.copysign(math.inf, sign), 0.0, sign)
    t, p = ttest_1samp(differences, 0.0)
    return Tested(float(t), float(p), _sign(t))


def signed_rank(first: ArrayLike, second: ArrayLike, *, drop_equal: bool = False) -> Tested:
    """Compare paired values by the Wilcoxon signed-rank test.

    Equal pairs are ranked but in neither sum (Pratt's method); with `drop_equal` they are left out
    before the ranking (Wilcoxon's own). The p-value is exact for up to 25 pairs without ties or
    equal pairs, else of the normal approximation with continuity correction. The statistic is the
    lower of the two rank sums.

    Examples
    --------
    >>> signed_rank([3, 0, 2, 4, 0, 5, 6], [0, 1, 0, 0, 2.5, 0, 0])
    Tested(statistic=4.0, p=0.109375, lean=1)
    """
    from scipy.stats import wilcoxon

    differences = _differences(first, second)
    if not differences.any():
        return Tested(0.0, 1.0)
    if drop_equal:
        differences = differences[differences != 0]
    # The level of 0 is 0: whole numbers tie where the differences do but for rounding.
    sizes = levels(np.concatenate([[0.0], np.abs(differences)]))[1:]
    is_exact = sizes.size <= _EXACT and sizes.all() and np.unique(sizes).size == sizes.size
    found = wilcoxon(
        np.sign(differences) * sizes,
        zero_method="pratt",
        correction=True,
        method="exact" if is_exact else "approx",
    )
    lean = _sign(float(np.sign(differences) @ mid_ranks(sizes)))
    return Tested(float(found.statistic), float(found.pvalue), lean)


def rank_sum(first: ArrayLike, second: ArrayLike) -> Tested:
    """Compare unpaired values by the Mann-Whitney U test (Wilcoxon rank-sum test).

    The statistic is U of the first sample. The p-value is exact if a sample has at most 8 values
    and there are no ties, else of the normal approximation, corrected for ties and continuity.

    Examples
    --------
    >>> rank_sum([1, 2, 3], [4, 5, 6])
    Tested(statistic=0.0, p=0.1, lean=-1)
    """
    from scipy.stats import mannwhitneyu

    one, other = _codes(first, second)
    middle = one.size * other.size / 2
    if not (one.any() or other.any()):
        return Tested(middle, 1.0)
    found = mannwhitneyu(one, other)
    return Tested(float(found.statistic), float(found.pvalue), _sign(found.statistic - middle))


def holm(p_values: ArrayLike) -> NDArray[np.float64]:
    """Return p-values corrected for the number of tests, after Holm.

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03])
    array([0.03, 0.06, 0.06])
    """
    given = np.asarray(p_values, dtype=np.float64)
    order = np.argsort(given, kind="stable")
    times = np.arange(given.size, 0, -1)
    corrected = np.empty_like(given)
    corrected[order] = np.minimum(1, np.maximum.accumulate(given[order] * times))
    return corrected


def vargha_delaney(first: ArrayLike, second: ArrayLike) -> float:
    """Return the probability that a value of the first is larger than one of the second.

    Ties count half. 0.5 is no effect; 0.56, 0.64 and 0.71 are called small, medium and large, and
    so are 0.44, 0.36 and 0.29.

    Examples
    --------
    >>> vargha_delaney([2, 3], [1, 2])
    0.875
    """
    one, other = _codes(first, second)
    higher = one[:, None] > other
    equal = one[:, None] == other
    return float((higher + equal / 2).mean())


def tally(first: ArrayLike, second: ArrayLike) -> Tally:
    """Count how often the first of paired costs is less, equal and more than the second.

    Examples
    --------
    >>> tally([0.1, 0.2, 0.3], [0.2, 0.2, 0.4])
    Tally(win=2, tie=1, loss=0)
    """
    differences = _differences(first, second)
    wins, losses = int((differences < 0).sum()), int((differences > 0).sum())
    return Tally(wins, differences.size - wins - losses, losses)


def verdict(lean: int, p: float, *, level: float = LEVEL) -> str:
    """Return ``+`` where the first is significantly larger, ``-`` where it is smaller, else ``=``.

    Examples
    --------
    >>> verdict(1, p=0.01), verdict(-1, p=0.01), verdict(1, p=0.5)
    ('+', '-', '=')
    """
    return "=" if p >= level else "-=+"[lean + 1]


def _sign(number: float) -> int:
    return int(np.sign(number))


def _differences(first: ArrayLike, second: ArrayLike) -> NDArray[np.float64]:
    """Return the differences of pairs, exactly 0 for ties."""
    given = np.asarray(first, dtype=np.float64) - np.asarray(second, dtype=np.float64)
    return np.where(np.abs(given) <= SAME, 0.0, given)


def _codes(first: ArrayLike, second: ArrayLike) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return both samples as whole numbers in the order of their values."""
    one, other = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    codes = levels(np.concatenate([one, other]))
    return codes[: one.size], codes[one.size :]
