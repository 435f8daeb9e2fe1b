"""What chosen features are worth on rows that no search has seen."""

import json
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeAlias

import numpy as np
import polars as pl
from numpy.typing import NDArray

from swarmrs import _swarmrs
from swarmrs._dataset import dataset_of
from swarmrs._evaluation import CV, Evaluation, Folds, Rows
from swarmrs._runs import Job, run_all
from swarmrs._scorer import Outside
from swarmrs._search import Search
from swarmrs._selection import Selection
from swarmrs._stability import LEVEL, Agreement, agreement
from swarmrs._table import Table
from swarmrs._watch import OnTurn
from swarmrs._words import counted, quoted
from swarmrs.exceptions import SpecError

# Values to predict that are so many times farther out than any learned from are all equally far:
# without a bound, one of them would take the grid of the engine away from all other values.
_FAR = 64.0

# Does all that is to be done on one table, on so many threads.
Procedure: TypeAlias = Callable[[Search, int, OnTurn | None], Selection]


class Part(NamedTuple):
    """What one search found on the rows it was given, and what that shows on those held out.

    Attributes
    ----------
    selection : Selection
        What was found, with the search's own scores.
    scores : dict of str to float or None
        What the same classifier shows on the rows held out; it learns from the others.
    n_train, n_test : int
        How many rows the search was given, and how many were held out.
    """

    selection: Selection
    scores: dict[str, float | None]
    n_train: int
    n_test: int


@dataclass(frozen=True, eq=False)
class HeldOut:
    """Scores on rows that no search has seen, beside those of the searches themselves.

    Attributes
    ----------
    folds : dict
        How rows were held out.
    parts : tuple of Part
        Each search, with what it found shows on the rows held out from it.
    scores : dict of str to float or None
        The scores on rows held out, averaged over the parts.
    inner_error, outer_error : float
        The mean error of what was found: the search's own, and on the rows held out.
    spread : float or None
        The standard deviation of the latter over the parts; None where there is one.
    agreement : Agreement or None
        The stability of what was found, over the parts; None where there is one.
    """

    folds: dict[str, object]
    parts: tuple[Part, ...]
    scores: dict[str, float | None]
    inner_error: float
    outer_error: float
    spread: float | None
    agreement: Agreement | None

    @classmethod
    def of(cls, folds: Folds, parts: list[Part], free: NDArray[np.bool_]) -> "HeldOut":
        """Put parts together; only features that are `free` to be in or out tell stability."""
        errors = np.array([[_error(it.selection.scores), _error(it.scores)] for it in parts])
        inner, outer = errors.mean(axis=0).tolist()
        several = len(parts) > 1
        supports = np.array([part.selection.support for part in parts])
        return cls(
            folds=folds.to_dict(),
            parts=tuple(parts),
            scores={name: _mean([it.scores[name] for it in parts]) for name in parts[0].scores},
            inner_error=inner,
            outer_error=outer,
            spread=float(errors[:, 1].std(ddof=1)) if several else None,
            agreement=agreement(supports[:, free]) if several else None,
        )

    @property
    def optimism(self) -> float:
        """By how much the error on rows held out exceeds the search's own."""
        return self.outer_error - self.inner_error

    def to_frame(self) -> pl.DataFrame:
        """Return a row for each part: its rows, what was found, its errors inside and outside."""
        parts = self.parts
        return pl.DataFrame(
            {
                "train_rows": [part.n_train for part in parts],
                "test_rows": [part.n_test for part in parts],
                "size": [part.selection.size for part in parts],
                "inner_error": [_error(part.selection.scores) for part in parts],
                "outer_error": [_error(part.scores) for part in parts],
                "selected": [list(part.selection.selected) for part in parts],
            }
        )

    def to_dict(self) -> dict[str, object]:
        """Return all of it as plain values, ready for JSON."""
        agreed = self.agreement
        return {
            "folds": self.folds,
            "inner_error": self.inner_error,
            "outer_error": self.outer_error,
            "optimism": self.optimism,
            "spread": self.spread,
            "scores": self.scores,
            "stability": None if agreed is None else {**agreed._asdict(), "level": LEVEL},
            "parts": self.to_frame().to_dicts(),
        }


def hold_out(
    search: Search, share: float, procedure: Procedure, threads: int, on_turn: OnTurn | None
) -> Selection:
    """Search a part of the rows and measure what was found on the rest."""
    folds = Folds("holdout", test=share, seed=search.settings.cv_seed)
    (rows,) = folds.rows(search.table)
    found = procedure(search.on(search.table.take(rows[0])), threads, on_turn)
    held_out = HeldOut.of(folds, [score(search, rows, found)], search.free)
    return replace(found, held_out=held_out)


def cross_validate(
    search: Search, cv: CV, procedure: Procedure, threads: int, on_turn: OnTurn | None
) -> Selection:
    """Search all rows, and say what such a search is worth by others that do not see some rows."""
    folds = Folds.of(cv, search.settings.cv_seed, search.table)
    with warnings.catch_warnings():
        # Said in our own words below.
        warnings.filterwarnings("ignore", "The least populated class", UserWarning)
        splits = folds.rows(search.table)

    def job(rows: Rows | None) -> Job:
        def run(threads: int, on_turn: OnTurn) -> Selection:
            here = search if rows is None else search.on(search.table.take(rows[0]))
            return procedure(here, threads, on_turn)

        return run

    at_once = not isinstance(search.measure, Outside)
    ran = run_all([job(None), *map(job, splits)], threads, at_once, on_turn)
    whole = ran.done[0] or next(iter(ran.cut), None)
    if whole is None:
        raise KeyboardInterrupt
    if ran.stop is not None:
        return replace(whole, stop=ran.stop)
    both = zip(splits, ran.done[1:], strict=True)
    parts = [score(search, rows, found) for rows, found in both if found is not None]
    held_out = HeldOut.of(folds, parts, search.free)
    return replace(
        whole, held_out=held_out, warnings=(*whole.warnings, *_rare(search.table, folds))
    )


def score(search: Search, rows: Rows, found: Selection) -> Part:
    """Measure on the test rows what was found on the training rows of the table of a search.

    The classifier is that of the search. Missing values, the scale of columns and whatever it
    learns come from the training rows alone.
    """
    table, split = side_by_side(search.table, rows)
    measure = search.measure
    scores: dict[str, float | None]
    if isinstance(measure, Evaluation):
        scores = {**own_scores(table, split, found)}
    elif measure.score is not None:
        error = 1.0 - float(measure.score(found.support, table, [split])[0])
        scores = {name: error if name == "error" else None for name in found.scores}
    else:
        raise SpecError("a scorer predicts nothing", "give a classifier or an estimator instead")
    return Part(found, scores, len(rows[0]), len(rows[1]))


def side_by_side(table: Table, rows: Rows) -> tuple[Table, Rows]:
    """Return training and test rows without missing values, and which is which.

    What was missing is filled by the training rows. They then come first, and a row that is on both
    sides stands there twice.
    """
    if table.unfilled is None and not np.intersect1d(*rows).size:
        return table, rows
    n_train, n = len(rows[0]), len(rows[0]) + len(rows[1])
    part = table.take(np.concatenate(rows), by=rows[0]).as_filled()
    return part, (np.arange(n_train), np.arange(n_train, n))


def own_scores(
    table: Table, split: Rows, found: Selection, metric: str | None = None
) -> dict[str, float]:
    """Have the engine learn from some rows and predict the others, on the features found.

    Its settings are those of the search, its distance the one given if any.
    """
    return scores_of(table, split, found.selected, found.evaluation, metric)


def scores_of(
    table: Table,
    split: Rows,
    features: Sequence[str],
    how: Mapping[str, object],
    metric: str | None = None,
) -> dict[str, float]:
    """Have the engine learn from some rows and predict the others, on some features.

    `how` has the classifier, its settings and the scale, which the rows learned from alone fix.
    """
    places = {name: at for at, name in enumerate(table.names)}
    indices = [places[name] for name in features]
    x = _scaled(table.x[:, indices], split[0], str(how["scale"]))
    part = replace(table.as_filled(), frame=table.frame.select(features), x=np.asfortranarray(x))
    train, test = split
    spec: dict[str, object] = {
        "classifier": how["classifier"],
        "k": how.get("k"),
        "metric": metric if metric is not None and "metric" in how else how.get("metric"),
        "weights": how.get("weights", "uniform"),
        "folds": {"scheme": "splits", "splits": [(train.tolist(), test.tolist())]},
    }
    # The columns are scaled already.
    engine = _swarmrs.Evaluator(dataset_of(part, "none"), json.dumps(spec), 1, 0, False)
    measured = engine.measure(np.ones((1, len(indices)), dtype=bool))[0]
    return dict(zip(engine.scores, measured.tolist(), strict=True))


def _scaled(x: NDArray[np.float64], train: NDArray[np.intp], scale: str) -> NDArray[np.float64]:
    """Scale columns by what the training rows show; one that is constant there is 0 everywhere."""
    if scale == "none":
        return x
    known = x[train]
    if scale == "minmax":
        origin, unit = known.min(axis=0), np.ptp(known, axis=0)
    else:
        origin, unit = known.mean(axis=0), known.std(axis=0)
    scaled = np.where(unit > 0, (x - origin) / np.where(unit > 0, unit, 1.0), 0.0)
    bound = _FAR * float(np.abs(scaled[train]).max(initial=1.0))
    return np.asarray(scaled.clip(-bound, bound))


def _rare(table: Table, folds: Folds) -> tuple[str, ...]:
    if folds.scheme != "kfold":
        return ()
    counts = np.bincount(table.codes, minlength=len(table.labels))
    rare = [str(table.labels[code]) for code in np.flatnonzero(counts < folds.k)]
    told = f"{counted(len(rare), 'class')} of fewer rows than {folds.k} outer folds: {quoted(rare)}"
    return (told,) if rare else ()


def _error(scores: dict[str, float | None]) -> float:
    error = scores["error"]
    assert error is not None, "every measure tells its error"
    return error


def _mean(values: list[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return float(np.mean(known)) if len(known) == len(values) else None
