"""Figures of a search: matplotlib axes that can be restyled."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from swarmrs._base._extras import check_extra
from swarmrs._base._messages import counted
from swarmrs.evaluation._losses import loss_name
from swarmrs.exceptions import SpecError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from swarmrs.search._auto import Competition
    from swarmrs.search._results._selection import Selection


def axes_of(ax: "Axes | None") -> "Axes":
    """Return the axes given, or new ones."""
    if ax is not None:
        return ax
    check_extra("plot", "figures")
    from matplotlib import pyplot

    return pyplot.subplots()[1]


def draw_convergence(selection: "Selection", ax: "Axes | None" = None) -> "Axes":
    """Draw the least cost so far over the evaluations, as steps."""
    ax = axes_of(ax)
    trace = selection.trace
    ax.plot(
        trace["evaluations"].to_numpy(),
        trace["best_cost"].to_numpy(),
        drawstyle="steps-post",
        label=selection.algorithm,
    )
    ax.set(
        xlabel="evaluations",
        ylabel=f"least cost so far ({selection.objective['kind']})",
        title=f"{selection.algorithm} on {selection.data['name']}",
    )
    return ax


def draw_front(selection: "Selection", ax: "Axes | None" = None) -> "Axes":
    """Draw the least loss for each size among the subsets tried; mark the knee and the choice."""
    ax = axes_of(ax)
    points = selection.front
    sizes = [point.size for point in points]
    losses = [point.loss for point in points]
    ax.plot(sizes, losses, marker="o", drawstyle="steps-post", label="front")
    if points.knee is not None:
        ax.plot(
            points.knee.size, points.knee.loss, "s", markersize=9, fillstyle="none", label="knee"
        )
    ax.plot(selection.size, selection.loss, "x", markersize=9, label=f"chosen ({selection.pick})")
    ax.set(
        xlabel="features",
        ylabel=f"{loss_name(selection.scoring)}, the search's own and optimistic",
        title=f"{selection.algorithm} on {selection.data['name']}",
    )
    ax.locator_params(axis="x", integer=True)
    ax.legend()
    return ax


def draw_competition(competition: "Competition", ax: "Axes | None" = None) -> "Axes":
    """Draw the held-out score of each method against the number of features; mark the choice.

    The error bar is the interval of the choice, corrected for the choosing.
    """
    ax = axes_of(ax)
    for (method,), rows in competition.frame.group_by("method", maintain_order=True):
        ax.plot(rows["size"].to_numpy(), rows["score"].to_numpy(), marker=".", label=str(method))
    low, high = competition.interval
    ax.errorbar(
        competition.size,
        competition.score,
        yerr=[[competition.score - low], [high - competition.score]],
        fmt="kx",
        capsize=4,
        label="expected on new rows",
    )
    ax.set(
        xscale="log",
        xlabel="features",
        ylabel=f"{competition.scoring} on held-out rows",
        title=f"{competition.method} wins with {counted(competition.size, 'feature')}",
    )
    ax.legend()
    return ax


def draw_frequency(
    shares: Mapping[str, float], ax: "Axes | None" = None, *, top: int = 20, of: str = "subsets"
) -> "Axes":
    """Draw in what share of subsets each feature is, the most frequent `top` from above."""
    ax = axes_of(ax)
    # The order of the table decides between equals.
    first = sorted(shares, key=lambda name: -shares[name])[:top]
    if not first:
        raise SpecError("there is no subset to count features in")
    ax.barh(range(len(first)), [shares[name] for name in first])
    ax.set_yticks(range(len(first)), labels=first)
    ax.invert_yaxis()
    ax.set(xlabel=f"share of {of}", xlim=(0, 1), title=f"how often a feature is in ({of})")
    return ax


def front_shares(selection: "Selection") -> dict[str, float]:
    """Return in what share of the front's subsets each feature is; those in none are left out."""
    counts: dict[int, int] = {}
    names: dict[int, str] = {}
    for point in selection.front:
        for at, name in zip(point.selected_indices, point.selected, strict=True):
            counts[at], names[at] = counts.get(at, 0) + 1, name
    return {names[at]: counts[at] / len(selection.front) for at in sorted(counts)}
