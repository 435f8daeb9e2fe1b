"""Tests of several methods on several blocks: Friedman and its post-hoc tests."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from swarmrs.experiments._analysis._statistics._pairs import LEVEL, Tested
from swarmrs.experiments._analysis._statistics._ranks import mid_ranks


@dataclass(frozen=True, eq=False)
class Friedman:
    """The Friedman test of k methods on b blocks, and post-hoc tests of pairs of methods.

    Attributes
    ----------
    ranks : ndarray of shape (b, k)
        The ranks within each block; ties share the mean of theirs.
    chi_square : Tested
        Friedman's statistic, corrected for ties, against chi square with k - 1 degrees of freedom.
    f : Tested
        That of Iman and Davenport, against F with k - 1 and (b - 1)(k - 1) degrees of freedom; less
        conservative, and infinite if all blocks agree.
    level : float
        The level of significance of both critical differences.
    critical_difference : float
        Average ranks that differ by more differ significantly, after Nemenyi.
    nemenyi : ndarray of shape (k, k)
        The p-values of each pair, after Nemenyi.
    critical_sum_difference : float
        Rank sums that differ by more differ significantly, after Conover. It is less conservative
        than Nemenyi's and presumes that the test itself is significant.
    conover : ndarray of shape (k, k)
        The p-values of each pair, after Conover.
    """

    ranks: NDArray[np.float64]
    chi_square: Tested
    f: Tested
    level: float
    critical_difference: float
    nemenyi: NDArray[np.float64]
    critical_sum_difference: float
    conover: NDArray[np.float64]

    @property
    def average_ranks(self) -> NDArray[np.float64]:
        """The mean rank of each method."""
        means: NDArray[np.float64] = self.rank_sums / len(self.ranks)
        return means

    @property
    def rank_sums(self) -> NDArray[np.float64]:
        """The sum of the ranks of each method."""
        sums: NDArray[np.float64] = self.ranks.sum(axis=0)
        return sums


def friedman(costs: ArrayLike, *, level: float = LEVEL) -> Friedman | None:
    """Compare methods (columns) over blocks (rows), by ranks within blocks.

    None if there are fewer than two of either. Where all blocks have nothing but ties, every
    p-value is 1. The statistic is that of `scipy.stats.friedmanchisquare`, which needs three
    methods and has no post-hoc tests.

    Examples
    --------
    >>> errors = [[0.10, 0.15, 0.20], [0.12, 0.12, 0.30], [0.25, 0.20, 0.40], [0.05, 0.10, 0.15]]
    >>> found = friedman(errors)
    >>> found.rank_sums
    array([ 5.5,  6.5, 12. ])
    >>> round(found.chi_square.statistic, 5), round(found.f.p, 6)
    (6.53333, 0.006162)
    >>> round(found.critical_sum_difference, 6)
    3.313134
    """
    table = np.asarray(costs, dtype=np.float64)
    n_blocks, n_methods = table.shape
    if n_blocks < 2 or n_methods < 2:
        return None
    ranks = np.array([mid_ranks(block) for block in table])
    sums = ranks.sum(axis=0)
    # Exact: ranks are multiples of 1/2, and their squares of 1/4.
    spread = float((ranks**2).sum() - n_blocks * n_methods * (n_methods + 1) ** 2 / 4)
    between = float(((sums - n_blocks * (n_methods + 1) / 2) ** 2).sum())
    chi_square = (n_methods - 1) * between / spread if spread else 0.0
    # The variation that the methods do not explain; 0 if all blocks agree.
    left = n_blocks * spread - between
    nemenyi, critical = _nemenyi(sums / n_blocks, n_blocks, level)
    conover, critical_sum = _conover(sums, left, n_blocks, level)
    return Friedman(
        ranks=ranks,
        chi_square=_chi_square_test(chi_square, n_methods - 1),
        f=_f_test(between, left, n_blocks, n_methods),
        level=level,
        critical_difference=critical,
        nemenyi=nemenyi,
        critical_sum_difference=critical_sum,
        conover=conover,
    )


def _chi_square_test(statistic: float, freedom: int) -> Tested:
    from scipy.special import chdtrc

    return Tested(statistic, float(chdtrc(freedom, statistic)))


def _f_test(between: float, left: float, n_blocks: int, n_methods: int) -> Tested:
    """Return the test of Iman and Davenport: (b - 1) T / (b (k - 1) - T) with T of Friedman."""
    from scipy.special import fdtrc

    if between == 0:
        return Tested(0.0, 1.0)
    if left == 0:
        return Tested(math.inf, 0.0)
    statistic = (n_blocks - 1) * between / left
    freedom = n_methods - 1
    return Tested(statistic, float(fdtrc(freedom, (n_blocks - 1) * freedom, statistic)))


def _nemenyi(
    means: NDArray[np.float64], n_blocks: int, level: float
) -> tuple[NDArray[np.float64], float]:
    """Return the p-values of all pairs and the critical difference of average ranks."""
    from scipy.stats import studentized_range

    n_methods = means.size
    # The studentized range is of single values, whose variance is half of that of a difference.
    unit = math.sqrt(n_methods * (n_methods + 1) / (12 * n_blocks))
    p_values = np.ones((n_methods, n_methods))
    above = np.triu_indices(n_methods, 1)
    gaps = np.abs(means[above[0]] - means[above[1]])
    # With ranks there are few different gaps: the integral is computed once for each.
    different, which = np.unique(gaps, return_inverse=True)
    found = studentized_range.sf(different / unit, n_methods, np.inf)
    p_values[above] = np.clip(found, 0, 1)[which]
    p_values.T[above] = p_values[above]
    return p_values, float(studentized_range.ppf(1 - level, n_methods, np.inf)) * unit


def _conover(
    sums: NDArray[np.float64], left: float, n_blocks: int, level: float
) -> tuple[NDArray[np.float64], float]:
    """Return the p-values of all pairs and the critical difference of rank sums."""
    from scipy.special import stdtr, stdtrit

    freedom = (n_blocks - 1) * (sums.size - 1)
    unit = math.sqrt(2 * left / freedom)
    gaps = np.abs(sums[:, None] - sums)
    with np.errstate(divide="ignore", invalid="ignore"):
        p_values = np.where(gaps == 0, 1.0, 2 * stdtr(freedom, -gaps / unit))
    return p_values, float(stdtrit(freedom, 1 - level / 2)) * unit
