"""Drawings: matplotlib figures in one style, and as files.

The same drawing gives the same bytes: no dates, no random ids, no settings of the user's. Names
from outside are drawn as they are read, never as formulas.
"""

import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from swarmrs._base._extras import check_extra
from swarmrs._base._files import whole_file
from swarmrs._base._messages import printable

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

# What is drawn in these takes the colors of the page, light or dark.
INK, RULE = "#24292f", "#d0d7de"
# Ten that differ in hue and lightness, on white and on black, and one for all others.
COLORS = (
    *("#3f90da", "#ffa90e", "#d2381f", "#9650c8", "#6fa53a"),
    *("#a96b59", "#e76300", "#2aa7a1", "#d65fa8", "#717581"),
)
OTHERS = "#9aa1a9"
_DASHES = ("-", "-", "-", "-", "-", "--", "--", "--", "--", "--")

_STYLE: dict[Any, Any] = {
    "axes.edgecolor": INK,
    "axes.facecolor": "none",
    "axes.grid": True,
    "axes.labelcolor": INK,
    "axes.labelsize": 8,
    "axes.axisbelow": True,
    "axes.linewidth": 0.6,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlesize": 8.5,
    "axes.unicode_minus": False,
    "figure.dpi": 72,
    "figure.facecolor": "none",
    "font.family": "DejaVu Sans",
    "font.size": 8,
    "grid.color": RULE,
    "grid.linewidth": 0.5,
    "legend.fontsize": 7.5,
    "legend.frameon": False,
    "path.simplify": False,
    "pdf.fonttype": 42,
    "svg.fonttype": "none",
    "svg.hashsalt": "swarmrs",
    "text.color": INK,
    "text.parse_math": False,
    "xtick.color": INK,
    "xtick.labelsize": 7.5,
    "xtick.major.size": 0,
    "ytick.color": INK,
    "ytick.labelsize": 7.5,
    "ytick.major.size": 0,
}


@dataclass(frozen=True, eq=False)
class Drawing:
    """A figure with its title and a caption that says what to see in it."""

    name: str
    title: str
    caption: str
    figure: "Figure"


def check_report() -> None:
    """Refuse to go on without the packages that draw and write reports.

    Raises
    ------
    SpecError
        If matplotlib, jinja2 or markupsafe is not installed.
    """
    check_extra("report", "reports")


@contextmanager
def drawing() -> Iterator[None]:
    """Draw and save in the one style.

    Raises
    ------
    SpecError
        If matplotlib is not installed.
    """
    check_extra("plot", "figures")
    import matplotlib as mpl

    with mpl.rc_context(), warnings.catch_warnings():
        # What the drawing font lacks, the font of the page has.
        warnings.filterwarnings("ignore", message=r"Glyph \d+")
        mpl.rcdefaults()
        mpl.rcParams.update(_STYLE)
        yield


def new_figure(width: float, height: float) -> "Figure":
    """Return an empty figure of so many inches that finds room for its labels."""
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def shown(name: str, width: int = 26) -> str:
    """Return a name as it fits a figure, without what could steer a page.

    Examples
    --------
    >>> shown("mean of the third quarter of the year", width=16)
    'mean of th… year'
    """
    text = printable(name) or "(no name)"
    tail = width // 3
    return text if len(text) <= width else f"{text[: width - tail - 1]}…{text[-tail:]}"


def color_of(place: int) -> str:
    """Return the color of the method in this place, counted from 0."""
    return COLORS[place] if place < len(COLORS) else OTHERS


def dashes_of(place: int) -> str:
    """Return how its line is drawn, for those who see no color."""
    return _DASHES[place] if place < len(_DASHES) else ":"


def add_legend(figure: "Figure", axes: "Axes") -> None:
    """Put the labelled artists of the axes beside it."""
    handles, labels = axes.get_legend_handles_labels()
    if handles:
        figure.legend(handles, labels, loc="outside right upper", handlelength=1.8)


def count_ticks(axis: "Axis") -> None:
    """Mark an axis of counts at whole numbers alone, however short it is."""
    from matplotlib.ticker import MaxNLocator

    axis.set_major_locator(MaxNLocator(nbins="auto", integer=True, min_n_ticks=1))


def label(name: str) -> str:
    """Return a name for a legend, which would leave out what begins with an underscore."""
    text = shown(name, 20)
    return f" {text}" if text.startswith("_") else text


def settle(figure: "Figure") -> None:
    """Fix where everything stands, so that all files of a figure show it the same."""
    for axes in figure.axes:
        # What lies within the axes asks for no room beside them, and is slow to measure.
        for artist in (*axes.lines, *axes.collections, *axes.patches, *axes.images):
            artist.set_in_layout(False)
    engine = figure.get_layout_engine()
    if engine is not None:
        engine.execute(figure)
    figure.set_layout_engine("none")


def save(drawn: Drawing, folder: Path) -> list[Path]:
    """Write a drawing as PDF and PNG, on white, and return the files."""
    dateless = {"pdf": {"CreationDate": None}, "png": {"Software": None}}
    paths = []
    for kind, metadata in dateless.items():
        path = folder / f"{slug(drawn.name)}.{kind}"
        with whole_file(path) as file:
            drawn.figure.savefig(file, format=kind, dpi=200, facecolor="white", metadata=metadata)
        paths.append(path)
    return paths


def slug(name: str) -> str:
    """Return a name as a file and an id may have it; different names stay different.

    Examples
    --------
    >>> slug("boxes-wine"), slug("boxes-../wine")
    ('boxes-wine', 'boxes-wine-d5e30831')
    """
    plain = re.sub(r"[^A-Za-z0-9_-]+", "-", name)[:60].strip("-").replace("--", "-")
    return plain if plain == name else f"{plain}-{sha256(name.encode()).hexdigest()[:8]}"
