"""The report of one search."""

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from swarmrs._output import whole_file
from swarmrs._words import STOPS, counted, listed
from swarmrs.experiments._report._drawing import (
    COLORS,
    INK,
    Drawing,
    add_legend,
    count_ticks,
    drawing,
    new_figure,
    settle,
    shown,
)
from swarmrs.experiments._report._page import on_page, render
from swarmrs.experiments._report._svg import Sheet

if TYPE_CHECKING:
    from swarmrs._selection import Selection

# What a result says about how it came about; the rest is shown on its own.
_SETTINGS = (
    *("algorithm", "params", "seed", "preset", "data", "evaluation", "objective", "budget"),
    *("prescreen", "groups", "pick", "versions"),
)
_SHOWN_NAMES = 8
_TURNS = 400


def write_selection_report(
    selection: "Selection",
    path: str | os.PathLike[str],
    *,
    command: str | Sequence[str] | None = None,
) -> None:
    """Write what a search found as one HTML file that needs nothing else.

    Parameters
    ----------
    selection : Selection
        What `select` returned.
    path : path
        The file.
    command : str or sequence of str, optional
        The command that made it, to be shown.

    Raises
    ------
    SpecError
        If matplotlib is not installed.
    OutputError
        If the file cannot be written.
    """
    plain = selection.to_dict()
    settings: dict[str, object] = {name: plain[name] for name in _SETTINGS}
    if selection.groups is not None:
        settings["groups"] = len(selection.groups)
    if command is not None:
        settings["command"] = command
    with drawing():
        sheet = Sheet()
        drawings = [*_convergence(selection), *_front(selection)]
        for each in drawings:
            settle(each.figure)
        text = render(
            "selection.html.j2",
            sheet,
            title=_title(selection),
            settings=settings,
            found=selection,
            ended=STOPS.get(selection.stop, selection.stop),
            scores=_scores(selection.scores),
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
    total = counted(selection.support.size, "column")
    name = shown(str(selection.data["name"]), 60)
    return f"{selection.algorithm} chose {selection.size} of {total} of {name}"


def _scores(scores: Mapping[str, float | None]) -> list[tuple[str, float]]:
    known = ((name.replace("_", " "), value) for name, value in scores.items())
    return [(name, value) for name, value in known if value is not None]


def _marks(selection: "Selection", at: int) -> Iterator[str]:
    point = selection.front[at]
    if point == selection.front.knee:
        yield "knee"
    if point.selected_indices == selection.selected_indices:
        yield "chosen"


def _convergence(selection: "Selection") -> Iterator[Drawing]:
    trace = _thinned(selection.trace)
    # One iteration is a point and no line.
    if trace.height < 2:
        return
    figure = new_figure(5.4, 3.4)
    above, below = figure.subplots(2, 1, sharex=True, height_ratios=[3, 2])
    asked = trace["asked"].to_numpy()
    above.step(asked, trace["best_cost"].to_numpy(), where="post", color=COLORS[0], linewidth=1.4)
    above.set_ylabel("cost of best so far")
    sizes = trace["best_size"].to_numpy(), trace["mean_size"].to_numpy()
    below.step(asked, sizes[0], where="post", color=COLORS[0], linewidth=1.4, label="best so far")
    below.plot(asked, sizes[1], color=COLORS[1], linewidth=1, label="mean of turn")
    below.set_ylabel("size")
    below.set_xlabel("evaluations asked")
    count_ticks(below.xaxis)
    count_ticks(below.yaxis)
    below.margins(x=0.01)
    add_legend(figure, below)
    yield Drawing(
        "convergence",
        "Convergence",
        "The cost of the best subset so far, and its size; below also the mean size of the "
        "subsets tried in each turn. A line that fell until the end may fall further with more "
        "evaluations.",
        figure,
    )


def _thinned(trace: pl.DataFrame) -> pl.DataFrame:
    """Return as many turns as a line can show, the first and the last among them."""
    turns = np.linspace(0, trace.height - 1, min(trace.height, _TURNS)).round()
    return trace[turns.astype(np.int64)]


def _front(selection: "Selection") -> Iterator[Drawing]:
    front = selection.front
    if len(front) < 2:
        return
    figure = new_figure(5.4, 3.4)
    axes = figure.subplots()
    sizes, errors = [point.size for point in front], [point.error for point in front]
    axes.step(sizes, errors, where="post", color=COLORS[0], linewidth=1.2, zorder=2)
    axes.plot(sizes, errors, "o", color=COLORS[0], markersize=3.5, label="front", zorder=3)
    if front.knee is not None:
        knee = front.knee.size, front.knee.error
        axes.plot(*knee, "D", color=COLORS[1], markeredgecolor=INK, label="knee", zorder=4)
    error = selection.scores["error"]
    if error is not None:
        chosen = selection.size, error
        axes.plot(
            *chosen,
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
    axes.set_ylabel("error")
    add_legend(figure, axes)
    yield Drawing(
        "front",
        "Error and size",
        "The subsets tried that no other beats in both error and size. The knee is where fewer "
        "features begin to cost much. A chosen subset above the line is one whose objective weighs "
        "more than the error.",
        figure,
    )
