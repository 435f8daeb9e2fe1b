"""Two methods: paired t, signed ranks, rank sums, the size of an effect, wins and losses."""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from swarmrs.experiments._statistics._ranks import SAME, levels, mid_ranks

LEVEL = 0.05
# Up to so many pairs without ties the distribution of signed ranks is counted out.
_EXACT = 25
# And that of rank sums, if one of two samples without ties has no more values than this.
_EXACT_SUM = 8


class Tested(NamedTuple):
    """The statistic of a test and the two-sided chance of one as large without a difference.

    `lean` is 1 where the test finds the first of two larger, -1 where it finds it smaller, else 0.
    """

    statistic: float
    p: float
    lean: int = 0


class Tally(NamedTuple):
    """How often the first of two was better, equal and worse."""

    win: int
    tie: int
    loss: int


def paired_t(first: ArrayLike, second: ArrayLike) -> Tested:
    """Test whether paired values differ in the mean, by Student's t.

    Pairs that are all equal have p = 1; a difference that is the same in all has p = 0.

    Examples
    --------
    >>> a = [0.12, 0.10, 0.15, 0.11, 0.13, 0.09, 0.14, 0.12]
    >>> b = [0.10, 0.09, 0.15, 0.10, 0.10, 0.08, 0.12, 0.13]
    >>> found = paired_t(a, b)
    >>> round(found.statistic, 4), round(found.p, 5)
    (2.5529, 0.03794)
    """
    from scipy.special import stdtr

    gaps = _gaps(first, second)
    if not gaps.any():
        return Tested(0.0, 1.0)
    if gaps.size < 2:
        return Tested(math.nan, 1.0)
    mean = gaps.mean()
    if levels(gaps).max() == 0:
        return Tested(math.copysign(math.inf, mean), 0.0, _sign(mean))
    t = float(mean / (gaps.std(ddof=1) / math.sqrt(gaps.size)))
    return Tested(t, float(2 * stdtr(gaps.size - 1, -abs(t))), _sign(t))


def signed_rank(first: ArrayLike, second: ArrayLike, *, drop_equal: bool = False) -> Tested:
    """Test whether paired values differ, by Wilcoxon's signed ranks.

    Pairs that are equal take part in the ranking and in neither sum, as Pratt has it; with
    `drop_equal` they are left out before the ranking, as Wilcoxon had it. Up to 25 pairs without
    equals and ties the chance is exact; else it is that of a normal distribution with the variance
    of the ranks as they are, and half a rank taken off for continuity. The statistic is the lesser
    of the two sums.

    Examples
    --------
    >>> signed_rank([3, 0, 2, 4, 0, 5, 6], [0, 1, 0, 0, 2.5, 0, 0])
    Tested(statistic=4.0, p=0.109375, lean=1)
    """
    gaps = _gaps(first, second)
    if not gaps.any():
        return Tested(0.0, 1.0)
    if drop_equal:
        gaps = gaps[gaps != 0]
    sizes = np.abs(gaps)
    ranks = mid_ranks(sizes)
    up, down = float(ranks[gaps > 0].sum()), float(ranks[gaps < 0].sum())
    least, lean = min(up, down), _sign(up - down)
    is_untied = levels(sizes).max() == sizes.size - 1 and bool(sizes.all())
    if is_untied and sizes.size <= _EXACT:
        ways = np.ones(1)
        for rank in range(1, sizes.size + 1):
            ways = np.convolve(ways, np.bincount([0, rank]))
        return Tested(least, min(1.0, 2 * float(ways[: int(least) + 1].sum() / ways.sum())), lean)
    spread = math.sqrt(float((ranks[gaps != 0] ** 2).sum()) / 4)
    off = max(0.0, abs(up - down) / 2 - 0.5)
    return Tested(least, math.erfc(off / spread / math.sqrt(2)), lean)


def rank_sum(first: ArrayLike, second: ArrayLike) -> Tested:
    """Test whether values that are not paired differ, by the rank sums of Wilcoxon.

    The statistic is U of Mann and Whitney, of the first. The chance is exact if one has at most 8
    values and none are equal; else normal, corrected for ties and continuity.

    Examples
    --------
    >>> rank_sum([1, 2, 3], [4, 5, 6])
    Tested(statistic=0.0, p=0.1, lean=-1)
    """
    one, other = _codes(first, second)
    middle = one.size * other.size / 2
    counts = np.bincount(np.concatenate([one, other]))
    total = one.size + other.size
    if counts.size == 1:
        return Tested(middle, 1.0)
    ranks = mid_ranks(np.concatenate([one, other]))[: one.size]
    larger = float(ranks.sum() - one.size * (one.size + 1) / 2)
    lean = _sign(larger - middle)
    if counts.max() == 1 and min(one.size, other.size) <= _EXACT_SUM:
        from scipy.stats import mannwhitneyu

        return Tested(larger, float(mannwhitneyu(one, other, method="exact").pvalue), lean)
    ties = float((counts**3 - counts).sum()) / (total * (total - 1))
    spread = math.sqrt(middle / 6 * (total + 1 - ties))
    off = max(0.0, abs(larger - middle) - 0.5)
    return Tested(larger, math.erfc(off / spread / math.sqrt(2)), lean)


def holm(p_values: ArrayLike) -> NDArray[np.float64]:
    """Return chances corrected for the number of tests, after Holm.

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
    """Return the chance that a value of the first is larger than one of the second.

    Equals count half. 0.5 is no difference; 0.56, 0.64 and 0.71 are called a small, a medium and a
    large one, and so are 0.44, 0.36 and 0.29.

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
    gaps = _gaps(first, second)
    wins, losses = int((gaps < 0).sum()), int((gaps > 0).sum())
    return Tally(wins, gaps.size - wins - losses, losses)


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


def _gaps(first: ArrayLike, second: ArrayLike) -> NDArray[np.float64]:
    """Return the differences of pairs, exactly 0 where these are equal."""
    gaps = np.asarray(first, dtype=np.float64) - np.asarray(second, dtype=np.float64)
    return np.where(np.abs(gaps) <= SAME, 0.0, gaps)


def _codes(first: ArrayLike, second: ArrayLike) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return both samples as whole numbers in the order of their values."""
    one, other = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    codes = levels(np.concatenate([one, other]))
    return codes[: one.size], codes[one.size :]
