"""What chosen features are worth on rows that no search has seen."""

import json
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeAlias

import numpy as np
import polars as pl
from numpy.typing import NDArray

from swarmrs import _swarmrs
from swarmrs._base._messages import counted, quoted
from swarmrs._base._public import public
from swarmrs.data._dataset import dataset_of
from swarmrs.data._table import Table
from swarmrs.evaluation._estimator import Outside
from swarmrs.evaluation._folds import CV, Folds, Rows
from swarmrs.evaluation._losses import Baseline, loss_from, loss_of
from swarmrs.evaluation._native import Evaluation, constant, majority, training_mean
from swarmrs.exceptions import NoFeaturesError, SpecError
from swarmrs.search._pool import Job, run_all
from swarmrs.search._results._progress import Callback
from swarmrs.search._results._selection import Selection
from swarmrs.search._rows import side_by_side
from swarmrs.search._search import Search
from swarmrs.search._validation._stability import LEVEL, Agreement, agreement

# Does all that is to be done on one table, on so many threads.
Procedure: TypeAlias = Callable[[Search, int, Callback | None], Selection]


@public
class Part(NamedTuple):
    """What one search found on the rows it was given, and what that shows on those held out.

    Attributes
    ----------
    selection : Selection
        What was found, with the search's own scores.
    scores : dict of str to float or None
        What the same classifier shows on the rows held out; it learns from the others. Where no
        feature survived the prescreen, what the majority class of the training rows shows.
    baseline : Baseline or None
        What the majority class of the whole table shows on the rows held out; None where that
        cannot be scored.
    n_train, n_test : int
        How many rows the search was given, and how many were held out.
    """

    selection: Selection
    scores: dict[str, float | None]
    baseline: Baseline | None
    n_train: int
    n_test: int

    def __repr__(self) -> str:
        """Return its losses in one line."""
        return (
            f"Part({counted(self.selection.size, 'feature')}, "
            f"inner loss {self.selection.loss:.4f} on {counted(self.n_train, 'row')}, "
            f"outer loss {self.loss:.4f} on {counted(self.n_test, 'row')})"
        )

    @property
    def loss(self) -> float:
        """The loss on the rows held out, of the score that the search went by."""
        return loss_of(self.scores, self.selection.scoring)


@public
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
    inner_loss, outer_loss : float
        The same of the loss of the score named by `scoring`; without it they are the errors.
    spread : float or None
        The standard deviation of the outer loss over the parts; None where there is one.
    baseline : Baseline or None
        What predicting the majority class, or the mean of the training rows, shows on the rows held
        out, averaged over the parts.
    notes : tuple of str
        Which parts had no feature to choose from, if any.
    agreement : Agreement or None
        The stability of what was found, over the parts; None where there is one.
    """

    folds: dict[str, object]
    parts: tuple[Part, ...]
    scores: dict[str, float | None]
    inner_error: float
    outer_error: float
    inner_loss: float
    outer_loss: float
    spread: float | None
    baseline: Baseline | None
    agreement: Agreement | None
    notes: tuple[str, ...]

    def __repr__(self) -> str:
        """Return the losses in one line; `to_dict` has everything."""
        spread = "" if self.spread is None else f" ± {self.spread:.4f}"
        return (
            f"HeldOut({counted(len(self.parts), 'outer fold')}, inner loss {self.inner_loss:.4f}, "
            f"outer loss {self.outer_loss:.4f}{spread})"
        )

    @classmethod
    def of(cls, folds: Folds, parts: list[Part], free: NDArray[np.bool_], guess: str) -> "HeldOut":
        """Put parts together; only features that are `free` to be in or out tell stability.

        `guess` is what is predicted without any feature.
        """
        errors = np.array([[_error(it.selection.scores), _error(it.scores)] for it in parts])
        losses = np.array([[it.selection.loss, it.loss] for it in parts])
        (inner, outer), (inner_loss, outer_loss) = errors.mean(axis=0), losses.mean(axis=0)
        several = len(parts) > 1
        supports = np.array([part.selection.support for part in parts])
        return cls(
            folds=folds.to_dict(),
            parts=tuple(parts),
            scores={name: _mean([it.scores[name] for it in parts]) for name in parts[0].scores},
            inner_error=float(inner),
            outer_error=float(outer),
            inner_loss=float(inner_loss),
            outer_loss=float(outer_loss),
            spread=float(losses[:, 1].std(ddof=1)) if several else None,
            baseline=_mean_baseline([part.baseline for part in parts]),
            notes=tuple(_without_features(parts, guess)),
            agreement=agreement(supports[:, free]) if several else None,
        )

    @property
    def optimism(self) -> float:
        """By how much the loss on rows held out exceeds the search's own."""
        return self.outer_loss - self.inner_loss

    def to_frame(self) -> pl.DataFrame:
        """Return a row for each part: its rows, what was found, its losses inside and outside."""
        parts = self.parts
        return pl.DataFrame(
            {
                "train_rows": [part.n_train for part in parts],
                "test_rows": [part.n_test for part in parts],
                "size": [part.selection.size for part in parts],
                "inner_error": [_error(part.selection.scores) for part in parts],
                "outer_error": [_error(part.scores) for part in parts],
                "inner_loss": [part.selection.loss for part in parts],
                "outer_loss": [part.loss for part in parts],
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
            "inner_loss": self.inner_loss,
            "outer_loss": self.outer_loss,
            "optimism": self.optimism,
            "spread": self.spread,
            "baseline": None if self.baseline is None else self.baseline.to_dict(),
            "notes": list(self.notes),
            "scores": self.scores,
            "stability": None if agreed is None else {**agreed._asdict(), "level": LEVEL},
            "parts": self.to_frame().to_dicts(),
        }


def hold_out(
    search: Search, share: float, procedure: Procedure, threads: int, callback: Callback | None
) -> Selection:
    """Search a part of the rows and measure what was found on the rest."""
    folds = Folds("holdout", test=share, seed=search.settings.outer_seed)
    (rows,) = folds.rows(search.table)
    found = procedure(search.on(search.table.take(rows[0])), threads, callback)
    guess = search.table.task.guess
    held_out = HeldOut.of(folds, [score(search, rows, found)], search.free, guess)
    return replace(found, held_out=held_out)


def cross_validate(
    search: Search, cv: CV, seed: int, procedure: Procedure, threads: int, callback: Callback | None
) -> Selection:
    """Search all rows, and say what such a search is worth by others that do not see some rows."""
    folds = Folds.of(cv, search.settings.options["cv_seed"], search.table)
    with warnings.catch_warnings():
        # Said in our own words below.
        warnings.filterwarnings("ignore", "The least populated class", UserWarning)
        splits = folds.rows(search.table)

    def job(rows: Rows | None) -> Job[Selection]:
        def run(threads: int, callback: Callback) -> Selection:
            here = search if rows is None else search.on(search.table.take(rows[0]))
            try:
                return procedure(here, threads, callback)
            except NoFeaturesError as problem:
                # The other folds tell what such a search is worth all the same.
                return here.majority(seed, problem)

        return run

    at_once = not isinstance(search.measure, Outside)
    ran = run_all([job(None), *map(job, splits)], threads, at_once, callback)
    whole = ran.done[0] or next(iter(ran.cut), None)
    if whole is None:
        raise KeyboardInterrupt
    if ran.stop is not None:
        return replace(whole, stop=ran.stop)
    both = zip(splits, ran.done[1:], strict=True)
    parts = [score(search, rows, found) for rows, found in both if found is not None]
    held_out = HeldOut.of(folds, parts, search.free, search.table.task.guess)
    notes = (*_rare(search.table, folds), *held_out.notes)
    return replace(whole, held_out=held_out, warnings=(*whole.warnings, *notes))


def score(search: Search, rows: Rows, found: Selection) -> Part:
    """Measure on the test rows what was found on the training rows of the table of a search.

    The classifier is that of the search. Missing values, the scale of columns and whatever it
    learns come from the training rows alone.
    """
    table, split = side_by_side(search.table, rows)
    measure, baseline = search.measure, None
    scores: dict[str, float | None]
    if isinstance(measure, Evaluation):
        baseline = predict_one(table, split, majority(search.table.codes), found.scoring)
        if found.selected:
            scores = {**own_scores(table, split, found)}
        else:
            code = majority(table.codes[split[0]])
            scores = predict_one(table, split, code, found.scoring).scores
    elif measure.score is not None:
        baseline = measure.baseline(table, [split])
        if found.selected or baseline is None:
            score = float(measure.score(found.support, table, [split])[0])
            error = loss_from(score, measure.scoring)
            scores = {name: error if name == "error" else None for name in found.scores}
        else:
            scores = baseline.scores
    else:
        raise SpecError(
            "a scorer cannot predict held-out rows", "give a classifier or an estimator instead"
        )
    return Part(found, scores, baseline, len(rows[0]), len(rows[1]))


def predict_one(table: Table, split: Rows, code: int, scoring: str | None) -> Baseline:
    """Return what predicting one class shows on the test rows of a split; of numbers, the mean."""
    part = replace(table.as_filled(), frame=table.frame[:, :1], x=np.asfortranarray(table.x[:, :1]))
    spec = {"classifier": "nb", "weights": "uniform", "folds": _folds(split)}
    if table.values is not None:
        return training_mean(dataset_of(part, "none"), spec, scoring)
    return constant(table, dataset_of(part, "none"), spec, code, scoring)


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
    x = np.asfortranarray(table.x[:, indices])
    part = replace(table.as_filled(), frame=table.frame[:, list(features)], x=x)
    spec: dict[str, object] = {
        "classifier": how["estimator"],
        "k": how.get("n_neighbors"),
        "metric": metric if metric is not None and "metric" in how else how.get("metric"),
        "weights": how.get("weights", "uniform"),
        "alpha": how.get("ridge_alpha"),
        "scale_fit": "train",
        "folds": _folds(split),
    }
    dataset = dataset_of(part, str(how["scale"]))
    engine = _swarmrs.Evaluator(dataset, json.dumps(spec), 1, 0, False)
    measured = engine.measure(np.ones((1, len(indices)), dtype=bool))[0]
    return dict(zip(engine.scores, measured.tolist(), strict=True))


def _folds(split: Rows) -> dict[str, object]:
    return {"scheme": "splits", "splits": [tuple(rows.tolist() for rows in split)]}


def _rare(table: Table, folds: Folds) -> tuple[str, ...]:
    if folds.scheme != "kfold" or table.values is not None:
        return ()
    counts = np.bincount(table.codes, minlength=len(table.labels))
    rare = [str(table.labels[code]) for code in np.flatnonzero(counts < folds.k)]
    message = (
        f"{counted(len(rare), 'class')} of fewer rows than {folds.k} outer folds: {quoted(rare)}"
    )
    return (message,) if rare else ()


def _without_features(parts: Sequence[Part], guess: str) -> Iterator[str]:
    """Say of how many parts a guess was predicted, because nothing could be chosen."""
    number = sum(not part.selection.selected for part in parts)
    if number:
        where = f"{number} of {counted(len(parts), 'outer fold')}"
        yield f"no feature survives the prescreen in {where}: {guess} is predicted there"


def _mean_baseline(baselines: Sequence[Baseline | None]) -> Baseline | None:
    known = [baseline for baseline in baselines if baseline is not None]
    if len(known) < len(baselines):
        return None
    loss = float(np.mean([baseline.loss for baseline in known]))
    names = known[0].scores
    scores = {name: _mean([baseline.scores[name] for baseline in known]) for name in names}
    return Baseline(known[0].label, loss, scores)


def _error(scores: dict[str, float | None]) -> float:
    error = scores["error"]
    assert error is not None, "every measure tells its error"
    return error


def _mean(values: list[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return float(np.mean(known)) if len(known) == len(values) else None
