"""The critical-difference diagram: average ranks, and which methods do not differ."""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from swarmrs.experiments._analysis._findings import Findings
from swarmrs.experiments._report._drawing import COLORS, INK, Drawing, new_figure, shown

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Distances down the page, in lines of names.
_AXIS, _BAR, _LINE = 0.0, 0.32, 0.8


def critical_difference(found: Findings) -> Iterator[Drawing]:
    """Yield the diagram, if there is a test to draw it from."""
    if found.friedman is None:
        return
    ranks = [row.average_rank for row in found.overall]
    bars = alike(ranks, found.friedman.critical_difference)
    n_left = -(-len(ranks) // 2)
    first = 0.75 + _BAR * len(bars)
    depth = first + _LINE * n_left
    figure = new_figure(8.6, 0.24 * (depth + 2.6))
    axes = figure.subplots()
    axes.axis("off")
    n_methods = len(ranks)
    axes.set_xlim(1 - 0.42 * (n_methods - 1), n_methods + 0.42 * (n_methods - 1))
    axes.set_ylim(depth, -2.3)
    _scale(axes, n_methods)
    critical = found.friedman.critical_difference
    axes.plot([1, 1 + critical], [-1.7, -1.7], color=INK, linewidth=1.2, marker="|", markersize=5)
    text = f"critical difference {critical:.2f}"
    axes.text(1, -1.9, text, ha="left", va="bottom", fontsize=8)
    for at, (low, high) in enumerate(bars):
        axes.plot(
            [ranks[low] - 0.03, ranks[high] + 0.03],
            [0.4 + _BAR * at] * 2,
            color=COLORS[0],
            linewidth=3.2,
            solid_capstyle="round",
        )
    ends = 1 - 0.06 * (n_methods - 1), n_methods + 0.06 * (n_methods - 1)
    for at, (method, rank) in enumerate(zip(found.methods, ranks, strict=True)):
        is_left = at < n_left
        down = first + _LINE * (at if is_left else n_methods - 1 - at)
        end = ends[0] if is_left else ends[1]
        axes.plot([rank, rank, end], [_AXIS, down, down], color=INK, linewidth=0.7)
        name, value = shown(method, 30), f"{rank:.2f}"
        text = f"{name}  {value}" if is_left else f"{value}  {name}"
        axes.text(
            end + (-0.01 if is_left else 0.01) * n_methods,
            down,
            text,
            ha="right" if is_left else "left",
            va="center",
        )
    yield Drawing(
        "ranks",
        f"Average ranks over {len(found.ranked_on)} {found.blocks}",
        "Rank 1 is the best. Methods joined by a bar do not differ significantly by the Nemenyi "
        f"test at level {found.friedman.level}: their average ranks differ by less than the "
        "critical difference.",
        figure,
    )


def alike(ranks: Sequence[float], critical: float) -> list[tuple[int, int]]:
    """Return the first and last of each longest row of methods that do not differ.

    Examples
    --------
    >>> alike([1.0, 1.5, 2.4, 4.0], critical=1.0)
    [(0, 1), (1, 2)]
    """
    reach = [
        max(at for at in range(low, len(ranks)) if ranks[at] - ranks[low] <= critical)
        for low in range(len(ranks))
    ]
    starts = [0, *(low for low, (one, other) in enumerate(pairwise(reach), start=1) if other > one)]
    return [(low, reach[low]) for low in starts if reach[low] > low]


def _scale(axes: "Axes", n_methods: int) -> None:
    axes.plot([1, n_methods], [_AXIS, _AXIS], color=INK, linewidth=0.9)
    step = max(1, round(n_methods / 12))
    for rank in range(1, n_methods + 1, step):
        axes.plot([rank, rank], [_AXIS - 0.25, _AXIS], color=INK, linewidth=0.8)
        axes.text(rank, _AXIS - 0.35, str(rank), ha="center", va="bottom", fontsize=7.5)
