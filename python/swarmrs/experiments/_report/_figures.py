"""The figures of a comparison."""

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from swarmrs._base._messages import counted
from swarmrs.evaluation._losses import loss_name
from swarmrs.experiments._analysis._findings import Findings
from swarmrs.experiments._analysis._runs import DONE, MEASURES, Runs, Values
from swarmrs.experiments._design._methods import ALL
from swarmrs.experiments._report._drawing import (
    COLORS,
    INK,
    OTHERS,
    Drawing,
    add_legend,
    color_of,
    count_ticks,
    dashes_of,
    label,
    new_figure,
    settle,
    shown,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# How many points a line has, columns a heat map, and single runs a scatter before only means are
# shown: what an eye can use, and half a megabyte can hold.
_POINTS = 24
_COLUMNS = 24
_DOTS = 400
_WIDTH = 5.4


def draw_all(
    found: Findings, runs: Sequence[Runs], cells: pl.DataFrame
) -> tuple[list[Drawing], dict[str, list[Drawing]]]:
    """Return the figures of all data sets together and those of each; `cells` are labelled."""
    from swarmrs.experiments._report._rank_figure import critical_difference

    done = cells.filter(pl.col("state") == DONE)
    of_all = [*critical_difference(found), *_timing(found)]
    of_each = {}
    for data in found.datasets:
        mine = [each for each in runs if each.data == data]
        here = done.filter(pl.col("data") == data)
        of_each[data] = [
            *_convergence(found, data, here),
            *_tradeoff(found, data, mine),
            *_boxes(found, data, mine),
            *_frequencies(found, data, here),
        ]
    for drawn in (of_all, *of_each.values()):
        for each in drawn:
            settle(each.figure)
    return of_all, of_each


def _convergence(found: Findings, data: str, cells: pl.DataFrame) -> Iterator[Drawing]:
    """Yield the best cost so far against evaluations: the median of searches and its quartiles."""
    from matplotlib.ticker import LogLocator

    traced = cells.filter(pl.col("trace").list.len() > 0)
    # What was evaluated once, as all features are, is a level and no beginning.
    is_moving = pl.col("trace").list.len() > 1
    if traced.filter(is_moving).is_empty():
        return
    evaluations = pl.col("trace").list.eval(pl.element().struct.field("evaluations"))
    traced = traced.with_columns(first=evaluations.list.first(), last=evaluations.list.last())
    ends = traced.filter(is_moving)
    start, stop = int(ends["first"].to_numpy().min()), int(ends["last"].to_numpy().max())
    grid = np.unique(np.geomspace(start, stop, _POINTS))
    figure = new_figure(_WIDTH, 3.1)
    axes = figure.subplots()
    for place, method in enumerate(found.methods):
        mine = traced.filter(pl.col("method") == method)
        if mine.is_empty():
            continue
        known = grid[grid >= mine["first"].to_numpy().max()]
        if known.size < 2:
            continue
        low, middle, high = np.quantile(_best_at(mine, known), [0.25, 0.5, 0.75], axis=0)
        is_named = place < len(COLORS)
        axes.plot(
            known,
            middle,
            color=color_of(place),
            linestyle=dashes_of(place),
            linewidth=1.4 if is_named else 0.7,
            label=label(method) if is_named else "_",
            zorder=100 - place,
        )
        if is_named:
            axes.fill_between(
                known, low, high, color=color_of(place), alpha=0.12, linewidth=0, zorder=1
            )
    if grid[-1] > 20 * grid[0]:
        axes.set_xscale("log", subs=[])
        axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axes.xaxis.set_major_formatter("{x:g}")
    else:
        count_ticks(axes.xaxis)
    axes.set_xlabel("evaluations")
    axes.set_ylabel("cost of the best so far")
    axes.margins(x=0.01)
    add_legend(figure, axes)
    rest = _rest(found)
    yield Drawing(
        f"convergence-{data}",
        f"Convergence on {shown(data, 60)}",
        "The cost of the best subset found so far, as the search itself sees it. Lines are the "
        f"median over searches, bands hold the middle half of them.{rest}",
        figure,
    )


def _best_at(cells: pl.DataFrame, grid: Values) -> Values:
    """Return the best cost of each search after so many evaluations; after its end that at it."""
    lengths = cells["trace"].list.len().to_numpy().astype(np.intp)
    points = cells["trace"].explode().struct.unnest()
    evaluations = points["evaluations"].to_numpy()
    best = points["best_cost"].to_numpy()
    rows, start = [], 0
    for length in lengths:
        stop = start + length
        at = np.searchsorted(evaluations[start:stop], grid, side="right") - 1
        rows.append(best[start:stop][at])
        start = stop
    return np.array(rows)


def _tradeoff(found: Findings, data: str, runs: Sequence[Runs]) -> Iterator[Drawing]:
    """Yield loss against size: the runs, the means of methods, and the front of all runs."""
    formula = loss_name(found.scoring)
    loss = "error" if formula == "error" else "loss"
    name = (
        f"test_{loss}" if not any(_lacks(each, "test_loss") for each in runs) else f"train_{loss}"
    )
    shown_runs = [each for each in runs if not _lacks(each, name)]
    if not shown_runs:
        return
    figure = new_figure(_WIDTH, 3.1)
    axes = figure.subplots()
    is_dotted = sum(each.numbers.size for each in shown_runs) <= _DOTS
    points = np.concatenate([_points(each, name) for each in shown_runs])
    front = _front(points)
    if len(front) > 1:
        axes.step(*front.T, where="post", color=INK, linewidth=0.9, label="front of runs", zorder=1)
    for each in sorted(shown_runs, key=lambda each: found.methods.index(each.method)):
        place = found.methods.index(each.method)
        mine = _points(each, name)
        if is_dotted:
            _dots(axes, mine, color_of(place))
        axes.plot(
            *mine.mean(axis=0),
            "osD^vP"[place % 6],
            color=color_of(place),
            markeredgecolor=INK,
            markeredgewidth=0.6,
            markersize=6 if place < len(COLORS) else 3.5,
            label=label(each.method) if place < len(COLORS) else "_",
            zorder=100 - place,
        )
    count_ticks(axes.xaxis)
    axes.set_xlabel("features selected")
    axes.set_ylabel(MEASURES[name] if loss == "error" else f"{MEASURES[name]}, {formula}")
    add_legend(figure, axes)
    dots = "Small dots are runs, large marks" if is_dotted else "Marks"
    line = f" The line is the front: no run has both fewer features and less {loss}."
    yield Drawing(
        f"tradeoff-{data}",
        f"{loss.capitalize()} and size on {shown(data, 60)}",
        f"{dots} are the means of methods: the nearer to the lower left, the better."
        f"{line if len(front) > 1 else ''}{_rest(found)}",
        figure,
    )


def _points(runs: Runs, name: str) -> Values:
    return np.column_stack([runs.values["size"], runs.values[name]])


def _front(points: Values) -> Values:
    """Return the points that no other beats in both, from the smallest on."""
    ordered = points[np.lexsort((points[:, 1], points[:, 0]))]
    least = np.minimum.accumulate(ordered[:, 1])
    is_lower = np.diff(least, prepend=np.inf) < 0
    kept: Values = ordered[is_lower]
    return kept


def _dots(axes: "Axes", points: Values, color: str) -> None:
    """Draw points as one path of strokes without length, a fifth of the bytes of markers."""
    different = np.unique(points, axis=0)
    strokes = np.repeat(different, 3, axis=0)
    strokes[2::3] = np.nan
    axes.plot(*strokes.T, color=color, linewidth=2.6, solid_capstyle="round", alpha=0.7, zorder=2)


def _boxes(found: Findings, data: str, runs: Sequence[Runs]) -> Iterator[Drawing]:
    """Yield a box for each method: the quartiles of its runs, and how far the others reach."""
    samples = {each.method: each.values[found.measure] for each in runs}
    methods = [
        name for name in found.methods if name in samples and not np.isnan(samples[name]).any()
    ]
    # A single run does not spread.
    if not any(samples[name].size > 1 for name in methods):
        return
    figure = new_figure(_WIDTH, 0.75 + 0.21 * max(4, len(methods)))
    axes = figure.subplots()
    whiskers, medians, corners, beyond = [], [], [], []
    gap = (math.nan, math.nan)
    for at, method in enumerate(methods):
        values = samples[method]
        low, middle, high = np.quantile(values, [0.25, 0.5, 0.75])
        near = values[np.abs(values - np.clip(values, low, high)) <= 1.5 * (high - low)]
        whiskers += [(near.min(), at), (low, at), gap, (high, at), (near.max(), at), gap]
        medians += [(middle, at - 0.3), (middle, at + 0.3), gap]
        corners += [(low, at - 0.3), (high, at - 0.3), (high, at + 0.3), (low, at + 0.3)]
        corners += [(low, at - 0.3), gap]
        beyond += [(value, at) for value in np.unique(values) if not np.isin(value, near)]
    axes.plot(*zip(*whiskers, strict=True), color=INK, linewidth=0.8)
    axes.fill(*zip(*corners, strict=True), facecolor=COLORS[0], alpha=0.3, linewidth=0)
    axes.plot(*zip(*corners, strict=True), color=INK, linewidth=0.7)
    axes.plot(*zip(*medians, strict=True), color=INK, linewidth=1.8, solid_capstyle="butt")
    if beyond:
        _dots(axes, np.array(beyond, dtype=np.float64), OTHERS)
    _name_rows(axes, methods)
    axes.set_xlabel(MEASURES[found.measure])
    yield Drawing(
        f"boxes-{data}",
        f"Spread of {MEASURES[found.measure]} on {shown(data, 60)}",
        "Boxes hold the middle half of the runs, the thick line is their median; whiskers reach "
        "to the last run within 1.5 boxes, dots are those beyond. Methods from the best average "
        "rank down.",
        figure,
    )


def _frequencies(found: Findings, data: str, cells: pl.DataFrame) -> Iterator[Drawing]:
    """Yield how often each method selected each of the features that were selected most."""
    searches = dict(cells.group_by("method").agg(pl.len()).rows())
    # Who takes every column tells nothing about any.
    methods = [name for name in found.methods if name in searches and name != ALL]
    cells = cells.filter(pl.col("method").is_in(methods))
    chosen = cells.select("method", "selected").explode("selected").drop_nulls()
    if chosen.is_empty():
        return
    counts = chosen.group_by("method", "selected").agg(pl.len())
    totals = counts.group_by("selected").agg(pl.col("len").sum())
    columns = totals.sort(["len", "selected"], descending=[True, False])["selected"].to_list()
    top = columns[:_COLUMNS]
    by_pair = {(method, column): count for method, column, count in counts.rows()}
    shares = np.array(
        [[by_pair.get((name, column), 0) / searches[name] for column in top] for name in methods]
    )
    longest = max(len(shown(column, 16)) for column in top)
    figure = new_figure(_WIDTH, 0.85 + 0.2 * max(3, len(methods)) + 0.055 * longest)
    axes = figure.subplots()
    image = axes.imshow(shares, vmin=0, vmax=1, cmap="viridis", aspect="auto", interpolation="none")
    axes.grid(False)
    axes.spines[:].set_visible(False)
    axes.set_xticks(range(len(top)), [shown(column, 16) for column in top], rotation=90)
    axes.set_yticks(range(len(methods)), [shown(name, 22) for name in methods])
    bar = figure.colorbar(image, ax=axes, ticks=[0, 0.5, 1], pad=0.02, aspect=12)
    bar.set_label("share of searches")
    bar.outline.set_visible(False)
    which = (
        f"the {len(top)} most often selected of {counted(len(columns), 'feature')} ever selected"
        if len(columns) > len(top)
        else "all features that were ever selected"
    )
    yield Drawing(
        f"chosen-{data}",
        f"Features selected on {shown(data, 60)}",
        f"The share of its searches in which each method selected a feature: {which}. Features "
        "that all methods agree on are bright from top to bottom.",
        figure,
    )


def _timing(found: Findings) -> Iterator[Drawing]:
    """Yield the time of a search: T1 of the method itself, T2 of its evaluations."""
    if not any(entry.seconds > 0 for entry in found.entries):
        return
    n_columns = min(3, len(found.datasets))
    n_rows = -(-len(found.datasets) // n_columns)
    height = 0.42 + 0.17 * max(4, len(found.methods))
    figure = new_figure(10.4 if n_columns > 1 else 6.4, 0.5 + n_rows * height)
    grid = figure.subplots(n_rows, n_columns, sharey=True, squeeze=False)
    rows = range(len(found.methods))
    for axes, data in zip(grid.flat, found.datasets, strict=False):
        entries = [found.entry(data, method) for method in found.methods]
        own = np.array([entry.seconds_search if entry else 0 for entry in entries])
        evaluating = np.array([entry.seconds_evaluate if entry else 0 for entry in entries])
        _bars(axes, np.zeros(len(rows)), own, COLORS[1], "T1, the method itself")
        _bars(axes, own, own + evaluating, COLORS[0], "T2, its evaluations")
        axes.set_title(shown(data, 40))
        axes.set_xlim(left=0)
        _name_rows(axes, found.methods)
    for axes in grid.flat[len(found.datasets) :]:
        axes.set_visible(False)
    figure.supxlabel("seconds of a search", fontsize=8)
    handles, labels = grid.flat[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper right", ncols=2)
    yield Drawing(
        "timing",
        "Time of a search",
        "Wall time of one search, the mean over all: T1 is spent by the method itself, T2 by the "
        "evaluations it asks for. Times depend on the machine and what else it did.",
        figure,
    )


def _bars(axes: "Axes", left: Values, right: Values, color: str, name: str) -> None:
    """Draw bars as one path."""
    corners = []
    for at, (start, end) in enumerate(zip(left, right, strict=True)):
        low, high = at - 0.35, at + 0.35
        corners += [(start, low), (end, low), (end, high), (start, high), (start, low)]
        corners.append((math.nan, math.nan))
    axes.fill(*zip(*corners, strict=True), color=color, linewidth=0, label=name)


def _name_rows(axes: "Axes", methods: Sequence[str]) -> None:
    """Write the methods beside the axes, the first on top."""
    axes.set_yticks(range(len(methods)), [shown(name, 22) for name in methods])
    axes.set_ylim(len(methods) - 0.4, -0.6)
    axes.grid(False, axis="y")


def _rest(found: Findings) -> str:
    more = len(found.methods) - len(COLORS)
    return f" Gray: {counted(more, 'method')} of lower average rank." if more > 0 else ""


def _lacks(runs: Runs, name: str) -> bool:
    return bool(np.isnan(runs.values[name]).any())
