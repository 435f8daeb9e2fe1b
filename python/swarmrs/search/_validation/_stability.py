"""How alike the subsets of several searches are, and what they agree on."""

from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from swarmrs._base._messages import counted
from swarmrs._base._public import public
from swarmrs.exceptions import SpecError
from swarmrs.search._results._front import FrontPoint

if TYPE_CHECKING:
    from swarmrs.search._results._selection import Selection

LEVEL = 0.95


@public
class Agreement(NamedTuple):
    """A stability and the interval that holds the true one with a probability of `LEVEL`."""

    value: float
    low: float
    high: float


@public
@dataclass(frozen=True, eq=False)
class Stability:
    """What several runs of one search agree on.

    Attributes
    ----------
    runs : tuple of Selection
        Each run, in the order of seeds.
    resample : float or None
        The share of rows that each run drew; None if all runs had all rows.
    frequency : polars.DataFrame
        A row for each feature any run chose: its position, its name, and the share of runs that
        chose it; most often chosen ones first.
    agreement : Agreement
        The stability after Nogueira, Sechidis and Brown, and its confidence interval: 1 if all runs
        chose the same, 0 on average for random selections. Features that are always in or always
        out do not count.
    consensus : FrontPoint
        The features that more than half of the runs chose; of all subsets it differs least from
        those of the runs. Where it is empty, or larger than allowed, that of the run that differs
        least from the others. Its cost and scores are measured as the search measures.
    """

    runs: "tuple[Selection, ...]"
    resample: float | None
    frequency: pl.DataFrame
    agreement: Agreement
    consensus: FrontPoint

    def __repr__(self) -> str:
        """Return the stability in one line; `to_frame` has the runs."""
        value, low, high = self.agreement
        size = counted(self.consensus.size, "feature")
        return (
            f"Stability({len(self.runs)} runs, {value:.4f} in [{low:.4f}, {high:.4f}], "
            f"consensus of {size})"
        )

    def to_frame(self) -> pl.DataFrame:
        """Return a row for each run: its seed, what it found, and why it ended."""
        return pl.DataFrame(
            {
                "seed": pl.Series([run.seed for run in self.runs], dtype=pl.UInt64),
                "size": [run.size for run in self.runs],
                "cost": [run.cost for run in self.runs],
                "error": [run.scores["error"] for run in self.runs],
                "loss": [run.loss for run in self.runs],
                "stop": [run.stop for run in self.runs],
                "selected": [list(run.selected) for run in self.runs],
            }
        )

    def to_dict(self) -> dict[str, object]:
        """Return all of it as plain values, ready for JSON."""
        runs = [
            {
                "seed": run.seed,
                "size": run.size,
                "cost": run.cost,
                "error": run.scores["error"],
                "loss": run.loss,
                "selected_indices": list(run.selected_indices),
            }
            for run in self.runs
        ]
        return {
            "repeats": len(self.runs),
            "resample": self.resample,
            "value": self.agreement.value,
            "level": LEVEL,
            "low": self.agreement.low,
            "high": self.agreement.high,
            "frequency": self.frequency.to_dicts(),
            "consensus": self.consensus.to_dict(),
            "runs": runs,
        }


def agreement(masks: NDArray[np.bool_]) -> Agreement:
    """Return the stability of subsets, a row for each, and its confidence interval.

    The stability of Nogueira, Sechidis and Brown (On the Stability of Feature Selection Algorithms,
    JMLR 18(174), 2018) is 1 less the unbiased variance of whether a feature is in, averaged over
    features, as a share of what it is where as many features are drawn at random. The interval is
    theirs too, cut to what a stability of M subsets can be, -1 / (M - 1) to 1. Equal subsets have
    stability 1, also where they are empty or full and the formula has no value.

    Raises
    ------
    SpecError
        If there are fewer than two rows.

    Examples
    --------
    >>> agreement(np.array([[1, 1, 0, 0], [1, 0, 1, 0]], dtype=bool)).value
    0.0
    """
    n_rows, n_features = masks.shape
    if n_rows < 2:
        raise SpecError("one subset alone has no stability", "compare two or more")
    if (masks == masks[0]).all():
        return Agreement(1.0, 1.0, 1.0)
    share = masks.mean(axis=0)
    sizes = masks.sum(axis=1) / n_features
    size = float(sizes.mean())
    by_chance = size * (1 - size)
    variance = n_rows / (n_rows - 1) * float((share * (1 - share)).mean())
    value = 1 - variance / by_chance
    # What each row adds to the estimate; its spread is that of the estimate.
    parts = (
        (masks * share).mean(axis=1)
        - sizes * size
        + value / 2 * (2 * sizes * size - sizes - size + 1)
    ) / by_chance
    deviation = 2 / n_rows * float(np.sqrt(((parts - parts.mean()) ** 2).sum()))
    reach = NormalDist().inv_cdf((1 + LEVEL) / 2) * deviation
    return Agreement(value, max(value - reach, -1 / (n_rows - 1)), min(value + reach, 1.0))


def agreed(masks: NDArray[np.bool_], most: int | None = None) -> NDArray[np.intp]:
    """Return the features that more than half of the rows have, or else those of the middle row.

    Both differ least from the rows: of all subsets, and of the rows themselves. The middle row, the
    first of equals, is taken where the majority is empty or has more than `most` features.
    """
    majority = np.flatnonzero(2 * masks.sum(axis=0) > len(masks))
    if len(majority) > 0 and (most is None or len(majority) <= most):
        return majority
    counts = masks.sum(axis=0)
    # In how many places a row differs from all rows together, but for what is the same for each.
    apart = masks @ (len(masks) - 2 * counts)
    return np.flatnonzero(masks[apart.argmin()])
