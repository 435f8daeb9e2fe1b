"""The results of a comparison of methods: means, ranks and tests."""

import math
from dataclasses import dataclass, fields
from typing import Any, NamedTuple

import numpy as np

from swarmrs.experiments._analysis._runs import is_accuracy
from swarmrs.experiments._analysis._statistics import LEVEL, Friedman, Tally, Tested

SCHEMA_VERSION = 1


class Entry(NamedTuple):
    """A method on a data set. Quantities of searches are means over all folds of all runs.

    `mean`, `std` (of a sample; None for one run) and `best` are of the measure; `improvement` is
    PI(%) and `reduction` Ξ(%), both None where they are undefined; `place` is that among the
    methods by the mean.
    """

    data: str
    method: str
    runs: int
    incomplete: int
    mean: float
    std: float | None
    best: float
    improvement: float | None
    place: int
    size: float
    n_features: int
    reduction: float
    train_error: float | None
    train_loss: float | None
    evaluations: float
    unique: float
    seconds_search: float
    seconds_evaluate: float
    seconds: float


class Versus(NamedTuple):
    """The reference against another method on one data set, over their runs.

    The tests are paired by the number of the run, but for the rank sum. `holm` corrects the signed
    rank for the number of methods on this data set. `verdict` is ``+`` where the reference is
    significantly better by the corrected signed rank, ``-`` where it is worse, else ``=``;
    `t_verdict` goes by the uncorrected paired t, and says ``?`` where it cannot tell and ``=``
    where all pairs are equal. `effect` is the probability that a run of the reference is better.
    A test that has too few pairs is None.
    """

    data: str
    method: str
    pairs: int
    t: Tested | None
    t_verdict: str | None
    signed_rank: Tested | None
    holm: float | None
    verdict: str | None
    rank_sum: Tested | None
    effect: float


class Overall(NamedTuple):
    """A method over all data sets that every method has finished.

    `tally` is win, tie and loss of the reference against it by means; `signed_rank` and its Holm
    correction are over the means too.
    """

    method: str
    average_rank: float
    place: int
    tally: Tally | None
    signed_rank: Tested | None
    holm: float | None


@dataclass(frozen=True, eq=False)
class Findings:
    """The summary of a comparison.

    Attributes
    ----------
    measure : str
        The measure that is compared.
    scoring : str
        The score that the searches maximized; a loss is 1 - score.
    reference : str
        The method the others are tested against.
    datasets, methods : tuple of str
        All of them; the methods from the best average rank on.
    entries : tuple of Entry
        By data set and method, in these orders.
    versus : tuple of Versus
        The reference against each other method on each data set.
    overall : tuple of Overall
        A row for each method, in the order of `methods`.
    blocks : {"data sets", "runs"}
        The blocks that ranks are averaged over: the means of data sets, because the runs of one are
        not independent; of a single data set its runs.
    ranked_on : tuple
        Those blocks: names of data sets, or numbers of runs.
    friedman : Friedman or None
        The test over these blocks; None if there are fewer than two blocks or methods.
    notes : tuple of str
        Runs and data sets that are left out, and why.
    """

    measure: str
    scoring: str
    reference: str
    datasets: tuple[str, ...]
    methods: tuple[str, ...]
    entries: tuple[Entry, ...]
    versus: tuple[Versus, ...]
    overall: tuple[Overall, ...]
    blocks: str
    ranked_on: tuple[str | int, ...]
    friedman: Friedman | None
    notes: tuple[str, ...]

    def entry(self, data: str, method: str) -> Entry | None:
        """Return the entry of a method on a data set; None if it finished no run there."""
        return next((e for e in self.entries if (e.data, e.method) == (data, method)), None)

    def to_dict(self) -> dict[str, object]:
        """Return all values, ready for JSON; numbers that are not finite are None."""
        plain = {
            "schema_version": SCHEMA_VERSION,
            "measure": self.measure,
            "scoring": self.scoring,
            "is_higher_better": is_accuracy(self.measure),
            "level": LEVEL,
            "reference": self.reference,
            "datasets": self.datasets,
            "methods": self.methods,
            "results": [entry._asdict() for entry in self.entries],
            "against_reference": [row._asdict() for row in self.versus],
            "overall": [row._asdict() for row in self.overall],
            "blocks": self.blocks,
            "ranked_on": self.ranked_on,
            "friedman": None if self.friedman is None else self._friedman(self.friedman),
            "notes": self.notes,
        }
        result: dict[str, object] = _plain(plain)
        return result

    def _friedman(self, found: Friedman) -> dict[str, object]:
        sums = found.rank_sums
        return {field.name: getattr(found, field.name) for field in fields(found)} | {
            "methods": self.methods,
            "average_ranks": found.average_ranks,
            "rank_sums": sums,
            "differ_by_conover": [
                (self.methods[i], self.methods[j])
                for i in range(sums.size)
                for j in range(i + 1, sums.size)
                if abs(sums[i] - sums[j]) > found.critical_sum_difference
            ],
        }


def _plain(value: Any) -> Any:
    """Return a value as JSON has it; numbers that are not finite are None."""
    if isinstance(value, np.ndarray):
        return _plain(value.tolist())
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: _plain(each) for key, each in value.items()}
    if hasattr(value, "_asdict"):
        return _plain(value._asdict())
    return [_plain(each) for each in value] if isinstance(value, list | tuple) else value
