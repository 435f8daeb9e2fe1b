"""rank(): the features of a table by their relevance to the class, without a classifier."""

import warnings
from dataclasses import dataclass, replace
from html import escape
from typing import Unpack

import numpy as np
import polars as pl
from numpy.typing import NDArray

from swarmrs import _swarmrs
from swarmrs._base._arguments import check_arguments, check_options
from swarmrs._base._messages import check_whole, check_word, counted, shortened
from swarmrs._base._options import takes_options
from swarmrs._base._public import public
from swarmrs._base._resources import count_threads
from swarmrs._base._versions import SCHEMA_VERSION, versions
from swarmrs.data._dataset import dataset_of, describe_data
from swarmrs.data._options import ReadOptions
from swarmrs.data._table import Data, read_table
from swarmrs.data._target import Target
from swarmrs.exceptions import SpecError, SwarmrsWarning

MEASURES = ("su", "mi")
# Features that a representation shows.
_SHOWN = 5


@public
@dataclass(frozen=True, eq=False, repr=False)
class Ranking:
    """The features of a table, the most relevant first.

    Attributes
    ----------
    by : {"su", "mi"}
        The measure of relevance: symmetrical uncertainty or mutual information.
    data : dict
        The table.
    ranked, relevant : int
        The number of features ranked, and of those with any relevance to the class.
    frame : polars.DataFrame
        A row for each feature, with its ``rank`` from 1 on, its ``index`` in the table, its name
        (``feature``), its ``score`` and its number of ``levels``, the intervals of the
        discretization. A feature of one level is irrelevant and has score 0. Of equal scores the
        lower index comes first.
    """

    by: str
    data: dict[str, object]
    ranked: int
    relevant: int
    frame: pl.DataFrame

    def __repr__(self) -> str:
        best = self.frame.head(_SHOWN).select("feature", "score").iter_rows()
        shown = ", ".join(f"{shortened(name)} {score:.4g}" for name, score in best)
        more = f" and {self.frame.height - _SHOWN} more" if self.frame.height > _SHOWN else ""
        return (
            f"Ranking of {counted(self.ranked, 'feature')} by {self.by}, {self.relevant} relevant\n"
            f"  {shown}{more}"
        )

    def _repr_html_(self) -> str:
        return f"<p>{escape(repr(self).partition(chr(10))[0])}</p>{self.frame._repr_html_()}"

    def top(self, k: int) -> "Ranking":
        """Return the ranking with its first `k` rows only.

        Raises
        ------
        SpecError
            If `k` is not 1 or more.
        """
        return replace(self, frame=self.frame.head(check_whole("top", k)))

    def to_dict(self) -> dict[str, object]:
        """Return the ranking as plain values, ready for JSON."""
        return {
            "schema_version": SCHEMA_VERSION,
            "data": self.data,
            "by": self.by,
            "ranked": self.ranked,
            "relevant": self.relevant,
            "ranking": self.frame.to_dicts(),
            "versions": versions(),
        }


@takes_options(ReadOptions)
def rank(
    data: Data,
    target: Target = None,
    *,
    by: str = "su",
    n_jobs: int | None = None,
    **options: Unpack[ReadOptions],
) -> Ranking:
    """Rank features by univariate relevance (symmetrical uncertainty, mutual information).

    Features are discretized by Fayyad and Irani's rule (minimum description length); entropies come
    from the counts of the intervals, here called levels.

    Parameters
    ----------
    data : str, path, frame, array, pair or Table
        The samples; see `read_table`.
    target : str, int or array-like, optional
        The column that holds the classes, or the labels themselves. By default the last column.
    by : {"su", "mi"}
        Symmetrical uncertainty with the class, from 0 to 1, or mutual information in bits.
    n_jobs : int, optional
        Threads: None is 1, -1 is all. It changes no result.
    {options}

    Returns
    -------
    Ranking

    Examples
    --------
    >>> ranking = rank("sklearn:iris")
    >>> ranking.frame["feature"][0], round(ranking.frame["score"][0], 3)
    ('petal width (cm)', 0.871)
    """
    check_arguments(rank, locals())
    check_options(rank, options)
    check_word("measure", by, MEASURES)
    table = read_table(data, target, **options)
    for message in table.warnings:
        warnings.warn(message, SwarmrsWarning, stacklevel=2)
    dataset = dataset_of(table)
    scores, levels = relevance(dataset, by, count_threads(n_jobs))
    excluded = set(table.locate(options.get("exclude", ())))
    order = [index for index in best_first(scores).tolist() if index not in excluded]
    if not order:
        raise SpecError("every feature is excluded: nothing is left to rank", "exclude fewer")
    frame = pl.DataFrame(
        {
            "rank": range(1, len(order) + 1),
            "index": order,
            "feature": [table.names[index] for index in order],
            "score": scores[order],
            "levels": levels[order],
        },
        schema_overrides={"rank": pl.UInt32, "index": pl.UInt32},
    )
    relevant = int((levels[order] > 1).sum())
    return Ranking(by, describe_data(table, dataset.fingerprint), len(order), relevant, frame)


def relevance(
    dataset: _swarmrs.Dataset, by: str, threads: int
) -> tuple[NDArray[np.float64], NDArray[np.uint32]]:
    """Return the relevance of each feature and its number of levels."""
    uncertainty, information, levels = dataset.rank(threads)
    return (uncertainty.astype(np.float64) if by == "su" else information), levels


def best_first(scores: NDArray[np.float64]) -> NDArray[np.intp]:
    """Return the features in descending order of score, ties in ascending order of position."""
    return np.argsort(-scores, kind="stable")
