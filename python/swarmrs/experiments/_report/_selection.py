"""The report of one search."""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import polars as pl

from swarmrs._base._files import whole_file
from swarmrs._base._messages import counted, counted_range, listed, rows_text, why_stopped
from swarmrs._base._tasks import CLASSIFICATION, REGRESSION
from swarmrs.evaluation._losses import against, loss_name
from swarmrs.experiments._report._drawing import (
    COLORS,
    INK,
    Drawing,
    add_legend,
    check_report,
    color_of,
    count_ticks,
    dashes_of,
    drawing,
    new_figure,
    settle,
    shown,
)

if TYPE_CHECKING:
    from swarmrs.search._results._selection import Selection

# The settings of a result; the rest is shown separately.
_SETTINGS = (
    *("algorithm", "params", "seed", "preset", "data", "evaluation", "objective", "budget"),
    *("prescreen", "groups", "pick", "versions"),
)
_SHOWN_NAMES = 8
_POINTS = 400


def write_selection_report(
    selection: "Selection",
    path: str | os.PathLike[str],
    *,
    command: str | Sequence[str] | None = None,
) -> None:
    """Write the report of a search as one self-contained HTML file.

    Parameters
    ----------
    selection : Selection
        The result of `select`.
    path : path
        The file.
    command : str or sequence of str, optional
        The command that made it, to be shown.

    Raises
    ------
    SpecError
        If matplotlib or jinja2 is not installed.
    OutputError
        If the file cannot be written.
    """
    check_report()
    from swarmrs.experiments._report._page import on_page, render
    from swarmrs.experiments._report._svg import Sheet

    plain, name = selection.to_dict(), loss_name(selection.scoring)
    settings: dict[str, object] = {name: plain[name] for name in _SETTINGS}
    if selection.groups is not None:
        settings["groups"] = len(selection.groups)
    if (rows := selection.rows) is not None:
        settings["rows"] = rows_text(rows.searched, rows.scored, rows.total)
    if command is not None:
        settings["command"] = command
    with drawing():
        sheet = Sheet()
        rivals = list(_rivals(selection))
        drawings = [*_convergence(selection), *_front(selection)]
        for each in (*rivals, *drawings):
            settle(each.figure)
        text = render(
            "selection.html.j2",
            sheet,
            title=_title(selection),
            settings=settings,
            found=selection,
            ended=why_stopped(selection.stop, selection.params, selection.budget),
            scores=list(_scores(selection)),
            verdicts=list(_verdicts(selection)),
            majority=None if selection.baseline is None else selection.baseline.label,
            held_out=_held_out(selection),
            competition=_competition(selection),
            rivals=on_page(rivals, sheet),
            loss="Error" if name == "error" else "Loss",
            loss_of=name,
            chosen=list(zip(selection.selected_indices, selection.selected, strict=True)),
            drawings=on_page(drawings, sheet),
            points=[
                (point, ", ".join(_marks(selection, at)), listed(point.selected, _SHOWN_NAMES))
                for at, point in enumerate(selection.front)
            ],
        )
    with whole_file(Path(path)) as file:
        file.write(text.encode(errors="backslashreplace"))


def _title(selection: "Selection") -> str:
    total = counted(selection.support.size, "feature")
    name = shown(str(selection.data["name"]), 60)
    return f"{selection.algorithm} selected {selection.size} of {total} of {name}"


class _Score(NamedTuple):
    """A score of the selection: its own, on rows held out, and those of the majority class."""

    name: str
    inner: float
    inner_baseline: float | None
    outer: float | None
    outer_baseline: float | None


def _scores(selection: "Selection") -> Iterator[_Score]:
    held_out, baseline = selection.held_out, selection.baseline
    guess = {} if baseline is None else baseline.scores
    outer, outer_guess = {}, {}
    if held_out is not None:
        outer = held_out.scores
        outer_guess = {} if held_out.baseline is None else held_out.baseline.scores
    for name, value in selection.scores.items():
        if value is not None:
            others = (each.get(name) for each in (guess, outer, outer_guess))
            yield _Score(name.replace("_", " "), value, *others)


def _held_out(selection: "Selection") -> dict[str, object] | None:
    """Return the part of a page on held-out rows."""
    held_out = selection.held_out
    if held_out is None:
        return None
    parts, spread = held_out.parts, held_out.spread
    deviation = "" if spread is None else f" ± {spread:.4f}"
    rows = counted(sum(part.n_test for part in parts), "row")
    how = f"{rows} held out once"
    if len(parts) > 1:
        how = f"{len(parts)} outer folds, each held out from a search of the other rows"
    sizes = [part.selection.size for part in parts]
    return {
        "how": how,
        "inner": f"{held_out.inner_loss:.4f}",
        "outer": f"{held_out.outer_loss:.4f}{deviation}",
        "optimism": f"{held_out.optimism:.4f}",
        "sizes": f"{min(sizes)} to {max(sizes)}" if len(sizes) > 1 else str(sizes[0]),
        "stability": None if held_out.agreement is None else f"{held_out.agreement.value:.2f}",
        "parts": held_out.to_frame().to_dicts(),
        "notes": held_out.notes,
    }


def _competition(selection: "Selection") -> dict[str, object] | None:
    """Return the part of a page on the methods that competed."""
    competition = selection.competition
    if competition is None:
        return None
    return {
        "winner": competition.method,
        "scoring": competition.scoring.replace("_", " "),
        "score": competition.score,
        "interval": competition.interval,
        "baseline": competition.baseline,
        "is_noise": competition.is_noise,
        "splits": counted(competition.n_splits, "split"),
        "size": competition.size,
        "sizes": counted_range(*competition.sizes, "feature"),
        "rows": counted(competition.n_rows, "row"),
        "methods": competition.methods.to_dicts(),
    }


def _verdicts(selection: "Selection") -> Iterator[str]:
    """Say where the selection is no better than guessing the majority class, or the mean."""
    held_out, baseline = selection.held_out, selection.baseline
    guess = (REGRESSION if selection.data["classes"] is None else CLASSIFICATION).guess
    if baseline is not None:
        verdict = against(selection.loss, baseline.loss)
        if verdict is not None:
            yield f"By its own scores the selection is {verdict} {guess}."
    if held_out is not None and held_out.baseline is not None:
        verdict = against(held_out.outer_loss, held_out.baseline.loss)
        if verdict is not None:
            yield f"On the rows held out the selection is {verdict} {guess}."


def _marks(selection: "Selection", at: int) -> Iterator[str]:
    point = selection.front[at]
    if point == selection.front.knee:
        yield "knee"
    if point.selected_indices == selection.selected_indices:
        yield "chosen"


def _rivals(selection: "Selection") -> Iterator[Drawing]:
    competition = selection.competition
    if competition is None:
        return
    figure = new_figure(5.4, 3.4)
    axes = figure.subplots()
    for place, method in enumerate(competition.methods["method"]):
        rows = competition.frame.filter(pl.col("method") == method)
        is_winner = method == competition.method
        axes.plot(
            rows["size"].to_numpy(),
            rows["score"].to_numpy(),
            marker=".",
            color=color_of(place),
            linestyle=dashes_of(place),
            linewidth=1.8 if is_winner else 1.0,
            zorder=4 if is_winner else 3,
            label=method,
        )
    low, high = competition.interval
    axes.errorbar(
        competition.size,
        competition.score,
        yerr=[[competition.score - low], [high - competition.score]],
        fmt="D",
        color=INK,
        markersize=4,
        capsize=3,
        zorder=5,
        label="expected on new rows",
    )
    axes.set_xscale("log")
    most = competition.frame["size"].to_numpy().max()
    ticks = [size for size in (1, 2, 5, 10, 20, 50, 100, 200) if size <= most]
    axes.set_xticks(ticks, labels=map(str, ticks))
    axes.minorticks_off()
    axes.set_xlabel("features")
    axes.set_ylabel(f"{competition.scoring.replace('_', ' ')} on held-out rows")
    add_legend(figure, axes)
    yield Drawing(
        "competition",
        "Methods and sizes",
        "The score of each method on rows that were held out from it, against the number of "
        "features. The interval belongs to the choice of method and size.",
        figure,
    )


def _convergence(selection: "Selection") -> Iterator[Drawing]:
    trace = _thinned(selection.trace)
    # One iteration is a point and no line.
    if trace.height < 2:
        return
    figure = new_figure(5.4, 3.4)
    above, below = figure.subplots(2, 1, sharex=True, height_ratios=[3, 2])
    evaluations = trace["evaluations"].to_numpy()
    costs = trace["best_cost"].to_numpy()
    above.step(evaluations, costs, where="post", color=COLORS[0], linewidth=1.4)
    above.set_ylabel("cost of best so far")
    sizes = trace["best_size"].to_numpy(), trace["mean_size"].to_numpy()
    best = {"color": COLORS[0], "linewidth": 1.4, "label": "best so far"}
    below.step(evaluations, sizes[0], where="post", **best)
    below.plot(evaluations, sizes[1], color=COLORS[1], linewidth=1, label="mean of iteration")
    below.set_ylabel("size")
    below.set_xlabel("evaluations")
    count_ticks(below.xaxis)
    count_ticks(below.yaxis)
    below.margins(x=0.01)
    add_legend(figure, below)
    yield Drawing(
        "convergence",
        "Convergence",
        "The cost of the best subset so far, and its size; below also the mean size of the "
        "subsets of each iteration. A line that fell until the end may fall further with more "
        "evaluations.",
        figure,
    )


def _thinned(trace: pl.DataFrame) -> pl.DataFrame:
    """Return as many iterations as a line can show, the first and the last among them."""
    iterations = np.linspace(0, trace.height - 1, min(trace.height, _POINTS)).round()
    return trace[iterations.astype(np.int64)]


def _front(selection: "Selection") -> Iterator[Drawing]:
    front = selection.front
    if len(front) < 2:
        return
    figure = new_figure(5.4, 3.4)
    axes = figure.subplots()
    sizes, losses = [point.size for point in front], [point.loss for point in front]
    axes.step(sizes, losses, where="post", color=COLORS[0], linewidth=1.2, zorder=2)
    axes.plot(sizes, losses, "o", color=COLORS[0], markersize=3.5, label="front", zorder=3)
    if front.knee is not None:
        knee = front.knee.size, front.knee.loss
        axes.plot(*knee, "D", color=COLORS[1], markeredgecolor=INK, label="knee", zorder=4)
    axes.plot(
        selection.size,
        selection.loss,
        "o",
        markerfacecolor="none",
        markeredgecolor=COLORS[2],
        markeredgewidth=1.6,
        markersize=9,
        label="chosen",
        zorder=5,
    )
    count_ticks(axes.xaxis)
    axes.set_xlabel("features")
    name = loss_name(selection.scoring)
    loss = "error" if name == "error" else "loss"
    axes.set_ylabel(name)
    add_legend(figure, axes)
    yield Drawing(
        "front",
        f"{loss.capitalize()} and size",
        f"The subsets tried that no other beats in both {loss} and size. The knee is where fewer "
        "features begin to cost much. A chosen subset above the line is one whose objective weighs "
        f"more than the {loss}.",
        figure,
    )
