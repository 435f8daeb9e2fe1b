"""rank(): the features of a table by their relevance to the target."""

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from html import escape
from typing import NamedTuple, Unpack

import numpy as np
import polars as pl
from numpy.typing import NDArray

from swarmrs import _swarmrs
from swarmrs._base._arguments import check_arguments, check_options
from swarmrs._base._messages import check_whole, check_word, counted, shortened
from swarmrs._base._options import takes_options
from swarmrs._base._public import public
from swarmrs._base._resources import RandomState, count_threads, draw_seed
from swarmrs._base._tasks import CLASSIFICATION, Task
from swarmrs._base._versions import SCHEMA_VERSION, versions
from swarmrs.data._dataset import dataset_of, describe_data
from swarmrs.data._options import ReadOptions
from swarmrs.data._table import Data, Table, read_table
from swarmrs.data._target import Target
from swarmrs.exceptions import SpecError, SwarmrsWarning
from swarmrs.filters._support import support

RANKINGS = CLASSIFICATION.rankings
# Those that evaluate no subset.
MEASURES = tuple(name for name in RANKINGS if name != "rks")
# Features that mRMR selects in turn unless more or fewer are asked for. Its work grows with them.
_MOST_SELECTED = 200
# Nearest hits, and nearest misses of each other class, of ReliefF: the number of its papers.
_NEIGHBORS = 10
# Features that a representation shows.
_SHOWN = 5


@public
@dataclass(frozen=True, eq=False, repr=False)
class Ranking:
    """The features of a table, the most relevant first.

    Attributes
    ----------
    by : {"su", "mi", "f", "mrmr", "relieff", "ridge-rfe", "ridge-sfs", "rks"}
        The measure of relevance; see `rank`.
    data : dict
        The table.
    ranked, relevant : int
        The number of features ranked, and of those with a score above 0; of ``"rks"``, of those
        better than noise.
    frame : polars.DataFrame
        A row for each feature, with its ``rank`` from 1 on, its ``index`` in the table, its name
        (``feature``) and its ``score``. Of ``"su"`` and ``"mi"`` also its number of ``levels``,
        the intervals of the discretization: a feature of one level is irrelevant and has score 0.
        Of ``"rks"`` also the ``standard_error`` of the score, and whether it ``is_noise``. Of equal
        scores the lower index comes first.
    seed : int or None
        The seed of ``"rks"``; the other measures need none.
    """

    by: str
    data: dict[str, object]
    ranked: int
    relevant: int
    frame: pl.DataFrame
    seed: int | None = None

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
        """Return the ranking as plain values, ready for JSON; NaN and infinity are None."""
        rows = self.frame.to_dicts()
        for row in rows:
            for name, value in row.items():
                if isinstance(value, float) and not math.isfinite(value):
                    row[name] = None
        return {
            "schema_version": SCHEMA_VERSION,
            "data": self.data,
            "by": self.by,
            "seed": self.seed,
            "ranked": self.ranked,
            "relevant": self.relevant,
            "ranking": rows,
            "versions": versions(),
        }


@takes_options(ReadOptions)
def rank(
    data: Data,
    target: Target = None,
    *,
    by: str | None = None,
    top: int | None = None,
    random_state: RandomState = None,
    n_jobs: int | None = None,
    **options: Unpack[ReadOptions],
) -> Ranking:
    """Rank features by relevance to the class or number.

    ``"su"`` and ``"mi"`` discretize features by Fayyad and Irani's rule (minimum description
    length); entropies come from the counts of the intervals, here called levels. The other
    measures use the values. For a numeric target there are ``"mi"``, by five bins of it with about
    a fifth of the rows each, ``"f"``, ``"ridge-rfe"`` and ``"ridge-sfs"``.

    Parameters
    ----------
    data : str, path, frame, array, pair or Table
        The samples; see `read_table`.
    target : str, int or array-like, optional
        The column that holds the classes or numbers, or the labels themselves. By default the last
        column.
    by : {"su", "mi", "f", "mrmr", "relieff", "ridge-rfe", "ridge-sfs", "rks"}, optional
        None is ``"su"``, or ``"f"`` for numbers. ``"su"``: symmetrical uncertainty with the class,
        from 0 to 1. ``"mi"``: mutual information in bits. ``"f"``: F statistic of a one-way
        analysis of variance, as scikit-learn's ``f_classif``, or of a linear regression, as
        ``f_regression``; infinite for a feature that is constant within each class, or the target
        itself. ``"mrmr"``: minimum redundancy, maximum relevance; features in the order of a greedy
        selection by the F statistic over the mean absolute correlation with those selected before.
        ``"relieff"``: ReliefF weights from 10 nearest hits and misses, from -1 to 1.
        ``"ridge-rfe"``: recursive elimination by ridge regression or classification; the score
        counts the features eliminated before. ``"ridge-sfs"``: greedy forward selection by the
        leave-one-out error of ridge regression or classification; the score counts the features
        behind. ``"rks"``: random-subspace support; how much the mean
        accuracy of random subsets with the feature is above that of all subsets, by 5-NN and
        10-fold cross-validation. Each feature competes with a copy of permuted values, and what
        comes behind the best copy is marked as noise.
    top : int, optional
        Return the first `top` features only. For ``"mrmr"`` and ``"ridge-sfs"`` it is also the
        number of features to select one after the other, by default 200; the others follow in order
        of their F statistic, or of the error with one of them added.
    random_state : int, Generator or RandomState, optional
        The seed of ``"rks"``. By default a random one.
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
    if by is not None:
        check_word("measure", by, RANKINGS)
    top = None if top is None else check_whole("top", top)
    table = read_table(data, target, **options)
    by = check_measure(by, table.task)
    for message in table.warnings:
        warnings.warn(message, SwarmrsWarning, stacklevel=2)
    excluded = set(table.locate(options.get("exclude", ())))
    features = [index for index in range(len(table.names)) if index not in excluded]
    if not features:
        raise SpecError("every feature is excluded: nothing is left to rank", "exclude fewer")
    dataset = dataset_of(table)
    seed = draw_seed(random_state) if by == "rks" else None
    found = scored(table, dataset, by, features, top, seed, count_threads(n_jobs))
    best = found.order[:top]
    indices = [features[place] for place in best.tolist()]
    columns: dict[str, object] = {
        "rank": range(1, len(indices) + 1),
        "index": indices,
        "feature": [table.names[index] for index in indices],
        "score": found.scores[best],
    }
    if found.levels is not None:
        columns["levels"] = found.levels[best]
    if found.standard_errors is not None:
        columns["standard_error"] = found.standard_errors[best]
        columns["is_noise"] = ~found.is_relevant[best]
    frame = pl.DataFrame(columns, schema_overrides={"rank": pl.UInt32, "index": pl.UInt32})
    return Ranking(
        by=by,
        data=describe_data(table, dataset.fingerprint),
        ranked=len(features),
        relevant=int(found.is_relevant.sum()),
        frame=frame,
        seed=seed,
    )


def check_measure(by: str | None, task: Task) -> str:
    """Return the measure of relevance, that of a task if none is given.

    Raises
    ------
    SpecError
        If it needs another target.
    """
    if by is None:
        return "su" if task is CLASSIFICATION else "f"
    if by not in task.rankings:
        raise SpecError(
            f"'{by}' needs classes, and the target is numeric",
            f"take {', '.join(task.rankings[:-1])} or {task.rankings[-1]}",
        )
    return by


class Scored(NamedTuple):
    """The scores of features.

    Attributes
    ----------
    order : ndarray of intp
        The places of the features, the best first; ties in ascending order.
    scores : ndarray of float64
        The score of each feature.
    is_relevant : ndarray of bool
        Whether it is better than nothing.
    levels : ndarray of uint32 or None
        The number of levels of each feature; None for a measure that does not discretize.
    standard_errors : ndarray of float64 or None
        The standard error of each score; None for a measure that has none.
    """

    order: NDArray[np.intp]
    scores: NDArray[np.float64]
    is_relevant: NDArray[np.bool_]
    levels: NDArray[np.uint32] | None = None
    standard_errors: NDArray[np.float64] | None = None


def scored(
    table: Table,
    dataset: _swarmrs.Dataset,
    by: str,
    features: Sequence[int],
    top: int | None,
    seed: int | None,
    threads: int,
) -> Scored:
    """Score some features of a table by any ranking; only ``"rks"`` needs a seed."""
    if seed is None:
        return score(dataset, by, features, top, threads)
    found = support(table, list(features), seed, threads)
    return Scored(found.order, found.scores, ~found.is_noise, standard_errors=found.standard_errors)


def score(
    dataset: _swarmrs.Dataset, by: str, features: Sequence[int], top: int | None, threads: int
) -> Scored:
    """Score some features of a table by a measure of `MEASURES`; no others are considered."""
    levels = None
    wanted = list(features)
    n_steps = min(_MOST_SELECTED if top is None else top, len(wanted))
    if by == "mrmr":
        order, quotients = dataset.mrmr(wanted, n_steps, threads)
        scores = np.empty(len(wanted))
        scores[order] = quotients
        return Scored(order.astype(np.intp), scores, scores > 0)
    if by == "f":
        scores = dataset.f_scores(wanted, threads)
    elif by in ("ridge-rfe", "ridge-sfs"):
        places = {feature: at for at, feature in enumerate(wanted)}
        scores = np.empty(len(wanted))
        if by == "ridge-rfe":
            ordered = dataset.ridge_rfe(wanted, None, threads)
        else:
            ordered = dataset.ridge_sfs(wanted, n_steps, None, threads)
        scores[[places[feature] for feature in ordered]] = np.arange(len(wanted), 0, -1)
    elif by == "relieff":
        scores = dataset.relieff(wanted, _NEIGHBORS, threads)
    else:
        uncertainty, information, counts = dataset.rank(threads)
        scores = (uncertainty.astype(np.float64) if by == "su" else information)[wanted]
        levels = counts[wanted]
    return Scored(np.argsort(-scores, kind="stable"), scores, scores > 0, levels)
