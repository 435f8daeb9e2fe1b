"""rank(): the columns of a table by what each tells about the class, without a classifier."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from swarmrs import _swarmrs
from swarmrs._base._arguments import check_arguments
from swarmrs._base._messages import check_whole, check_word
from swarmrs._base._resources import count_threads
from swarmrs._base._versions import SCHEMA_VERSION, versions
from swarmrs.data._dataset import dataset_of, describe_data
from swarmrs.data._table import Data, read_table
from swarmrs.data._target import Target
from swarmrs.exceptions import SpecError, SwarmrsWarning

MEASURES = ("su", "mi")


@dataclass(frozen=True, eq=False)
class Ranking:
    """The columns of a table, the most relevant first.

    Attributes
    ----------
    by : {"su", "mi"}
        What they are ranked by.
    data : dict
        The table.
    ranked, relevant : int
        How many columns were ranked, and how many of them tell anything about the class.
    frame : polars.DataFrame
        A row for each column, with its ``rank`` from 1 on, its ``index`` in the table, its name
        (``column``), its ``score`` and how many ``levels`` it was cut into. A column of one level
        is irrelevant and has score 0. Of equal scores the lower index comes first.
    """

    by: str
    data: dict[str, object]
    ranked: int
    relevant: int
    frame: pl.DataFrame

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


def rank(
    data: Data,
    target: Target = None,
    *,
    by: str = "su",
    exclude: Sequence[str | int] = (),
    missing: str = "error",
    encode: str = "error",
    n_jobs: int | None = None,
) -> Ranking:
    """Rank the columns by what each alone tells about the class.

    Columns are cut into levels where that pays (Fayyad and Irani's rule); entropies come from
    counts of levels.

    Parameters
    ----------
    data : str, path, frame, array, pair or Table
        The samples; see `read_table`.
    target : str, int or array-like, optional
        The column that holds the classes, or the labels themselves. By default the last column.
    by : {"su", "mi"}
        Symmetric uncertainty with the class, from 0 to 1, or information about it in bits.
    exclude : sequence of str or int
        Columns that are not looked at and not ranked.
    missing, encode : str
        What to do about missing values and text; see `read_table`.
    n_jobs : int, optional
        Threads: None is 1, -1 is all. It changes no result.

    Returns
    -------
    Ranking

    Examples
    --------
    >>> ranking = rank("sklearn:iris")
    >>> ranking.frame["column"][0], round(ranking.frame["score"][0], 3)
    ('petal width (cm)', 0.871)
    """
    check_arguments(rank, locals())
    check_word("measure", by, MEASURES)
    table = read_table(data, target, missing=missing, encode=encode, exclude=exclude)
    for message in table.warnings:
        warnings.warn(message, SwarmrsWarning, stacklevel=2)
    dataset = dataset_of(table)
    scores, levels = relevance(dataset, by, count_threads(n_jobs))
    excluded = set(table.locate(exclude))
    order = [index for index in best_first(scores).tolist() if index not in excluded]
    if not order:
        raise SpecError("every column is excluded: nothing is left to rank", "exclude fewer")
    frame = pl.DataFrame(
        {
            "rank": range(1, len(order) + 1),
            "index": order,
            "column": [table.names[index] for index in order],
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
    """Return the score of each column and how many levels it has."""
    uncertainty, information, levels = dataset.rank(threads)
    return (uncertainty.astype(np.float64) if by == "su" else information), levels


def best_first(scores: NDArray[np.float64]) -> NDArray[np.intp]:
    """Return the columns by score, the highest first, of equals the lowest."""
    return np.argsort(-scores, kind="stable")
