"""Statistical tests of comparisons. All are of costs: lower is better, and rank 1 is the lowest.

Values that differ by no more than 1e-12 are ties: means of the same errors, summed in another
order, differ by less. The tests themselves are those of scipy, on data without such differences.
"""

from swarmrs.experiments._analysis._statistics._friedman import Friedman, friedman
from swarmrs.experiments._analysis._statistics._moments import (
    Moments,
    improvement,
    moments,
    reduction,
)
from swarmrs.experiments._analysis._statistics._pairs import (
    LEVEL,
    Tally,
    Tested,
    holm,
    paired_t,
    rank_sum,
    signed_rank,
    tally,
    vargha_delaney,
    verdict,
)
from swarmrs.experiments._analysis._statistics._ranks import levels, mid_ranks, places

__all__ = [
    "LEVEL",
    "Friedman",
    "Moments",
    "Tally",
    "Tested",
    "friedman",
    "holm",
    "improvement",
    "levels",
    "mid_ranks",
    "moments",
    "paired_t",
    "places",
    "rank_sum",
    "reduction",
    "signed_rank",
    "tally",
    "vargha_delaney",
    "verdict",
]
