"""Selection stability and nested cross-validation on the screen."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from swarmrs._base._messages import counted, counted_range, printable
from swarmrs._base._tasks import Task
from swarmrs.cli._output._text import aligned, line
from swarmrs.evaluation._losses import against

if TYPE_CHECKING:
    import polars as pl

    from swarmrs import Selection

# Features selected less often than so many others are counted, not listed.
_LISTED = 20
_LABEL = 40


def baseline_text(loss: float, baseline: Mapping[str, Any], task: Task) -> str:
    """Return the loss of a guess, given as for JSON, and whether `loss` is no better."""
    label, verdict = baseline["label"], against(loss, baseline["loss"])
    guess = task.guess
    if label is not None:
        guess = f"'{label if len(label) <= _LABEL else f'{label[: _LABEL - 1]}…'}', {task.guess}"
    judged = "" if verdict is None else f": the selection is {verdict}"
    return f"{baseline['loss']:.4f} by predicting {guess}{judged}"


def stability_lines(stability: Mapping[str, Any] | None, what: str) -> list[str]:
    """Return what repeated runs agree on, given as for JSON, for people; `what` is the loss."""
    if stability is None:
        return []
    runs, consensus, drawn = stability["runs"], stability["consensus"], stability["resample"]
    seeds = f"{len(runs)} runs, seeds {runs[0]['seed']} to {runs[-1]['seed']}"
    rows = "" if drawn is None else f", each on {drawn:.0%} of the rows, drawn anew"
    agreed = set(consensus["selected_indices"])
    table = [("INDEX", "FEATURE", "RUNS", "")]
    for at in stability["frequency"][:_LISTED]:
        mark = "consensus" if at["index"] in agreed else ""
        table.append((str(at["index"]), printable(at["feature"]), f"{at['frequency']:.0%}", mark))
    more = len(stability["frequency"]) - _LISTED
    return [
        "",
        line("repeats", f"{seeds}{rows}"),
        line("stability", _interval(stability)),
        line(
            "consensus",
            f"{counted(consensus['size'], 'feature')}, {what} {consensus['loss']:.4f}, "
            f"cost {consensus['cost']:.4f}",
        ),
        *(f"  {row}" for row in aligned(table, right=(0, 2))),
        *([f"  and {counted(more, 'feature')} selected by fewer runs"] if more > 0 else []),
    ]


def held_out_lines(held_out: Mapping[str, Any], folds: str, what: str, task: Task) -> list[str]:
    """Return what rows held out show, given as for JSON, for people.

    `folds` says which rows, and `what` which loss.
    """
    parts, spread = held_out["parts"], held_out["spread"]
    which = f"nested cross-validation, {folds}: one search per outer fold, on the other rows"
    if len(parts) == 1:
        all_rows = parts[0]["train_rows"] + parts[0]["test_rows"]
        which = f"{parts[0]['test_rows']} of {counted(all_rows, 'row')}, unseen by the search"
    loss, formula = ("error", "") if what == "error" else ("loss", f" ({what})")
    lines = [
        "",
        line("held out", which),
        line(
            f"inner {loss}",
            f"{held_out['inner_loss']:.4f}{formula}, optimistic: the same folds chose the features",
        ),
        line(
            f"outer {loss}",
            f"{held_out['outer_loss']:.4f}"
            f"{'' if spread is None else f' ± {spread:.4f}'}{formula} on held-out rows",
        ),
        *_outer_scores(held_out["scores"]),
        line("baseline", baseline_text(held_out["outer_loss"], held_out["baseline"], task)),
        line("optimism", f"{held_out['optimism']:.4f}"),
        *(line("note", note) for note in held_out["notes"]),
    ]
    if held_out["stability"] is None:
        return lines
    sizes = [part["size"] for part in parts]
    between = f"{min(sizes)} to {counted(max(sizes), 'feature')}"
    return [*lines, line("subsets", f"{between}, stability {_interval(held_out['stability'])}")]


def _outer_scores(scores: Mapping[str, float | None]) -> list[str]:
    """Return R2 and the root mean squared error of numbers; nothing of classes."""
    r2, error = scores.get("r2"), scores.get("neg_root_mean_squared_error")
    if r2 is None or error is None:
        return []
    return [line("outer R2", f"{r2:.4f}"), line("outer RMSE", f"{-error:.6g}")]


def competition_lines(competition: Mapping[str, Any] | None) -> list[str]:
    """Return how methods did on held-out rows, given as for JSON, for people."""
    if competition is None:
        return []
    rows = [("METHOD", competition["scoring"].upper(), "BELOW BEST", "")]
    for place, row in enumerate(competition["methods"]):
        gap = f"{row['difference']:.4f} ± {row['standard_error']:.4f}" if place else ""
        winner = "winner, within one standard error" if place else "winner"
        is_winner = row["method"] == competition["method"]
        rows.append((row["method"], f"{row['score']:.4f}", gap, winner if is_winner else ""))
    low, high = competition["interval"]
    splits = counted(competition["splits"], "split")
    least, most = competition["sizes"]
    sizes = counted_range(least, most, "feature")
    return [
        line("competition", f"{splits} of the rows, mean held-out score with {sizes}"),
        *(f"  {row}" for row in aligned(rows)),
        line("size", f"{competition['size']}, by the mean score of the three best methods"),
        line(
            "new rows",
            f"{competition['scoring']} {competition['score']:.4f} expected, "
            f"95 % interval {low:.4f} to {high:.4f}, corrected for the choice",
        ),
        "",
    ]


def all_measured(result: "Selection", as_text: bool) -> "pl.DataFrame":
    """Return every subset measured with the seed of its run; features as text if need be.

    Leave out runs on drawn rows: their numbers do not compare.
    """
    import polars as pl

    stability = result.stability
    repeated = stability is not None and stability.resample is None
    runs = stability.runs if stability is not None and repeated else (result,)
    frames = [
        run.all_evaluations.select(pl.lit(run.seed, pl.UInt64).alias("seed"), pl.all())
        for run in runs
        if run.all_evaluations is not None
    ]
    whole = pl.concat(frames)
    features = pl.col("selected_indices").cast(pl.List(pl.String)).list.join(" ")
    return whole.with_columns(features) if as_text else whole


def _interval(stability: Mapping[str, Any]) -> str:
    low, high, level = stability["low"], stability["high"], stability["level"]
    return f"{stability['value']:.2f}, {level:.0%} interval {low:.2f} to {high:.2f}"
