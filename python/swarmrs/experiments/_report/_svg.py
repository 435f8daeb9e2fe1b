"""Drawings as elements of a page: matplotlib's SVG, rewritten to share the page's style.

Colors of ink and rules become those of the page, styles become classes that all drawings share, and
paths become steps of tenths of a point: a third of the bytes, and the same picture.
"""

import io
import re
from dataclasses import dataclass, field
from typing import Any
from xml.etree import ElementTree

from markupsafe import Markup, escape

from swarmrs.experiments._report._drawing import INK, RULE, Drawing

_OF_PAGE = {INK: "currentColor", RULE: "var(--rule)"}
_SVG = "{http://www.w3.org/2000/svg}"
_HREF = "{http://www.w3.org/1999/xlink}href"
_REFERRING = (_HREF, "clip-path")
_COORDINATES = ("x", "y", "width", "height", "transform")


@dataclass
class Sheet:
    """The drawings of one page: their styles are kept once, and no two have an id in common."""

    n_drawings: int = 0
    classes: dict[str, str] = field(default_factory=dict)

    def class_of(self, style: str) -> str:
        """Return the class that stands for a style."""
        return self.classes.setdefault(style, f"s{len(self.classes)}")

    def css(self) -> Markup:
        """Return the rules of all classes."""
        return Markup("".join(f".{name}{{{style}}}" for style, name in self.classes.items()))


def as_svg(drawn: Drawing, sheet: Sheet) -> Markup:
    """Return a drawing as an element of a page; ids that nothing refers to are left out."""
    from matplotlib.backends.backend_svg import FigureCanvasSVG

    out = io.StringIO()
    # Not by savefig, which draws everything twice.
    canvas: Any = FigureCanvasSVG(drawn.figure)
    canvas.print_svg(out, metadata={"Date": None, "Creator": None})
    root = ElementTree.fromstring(out.getvalue())
    used = (
        found
        for element in root.iter()
        for key, value in element.attrib.items()
        if key in _REFERRING
        for found in re.findall(r"#([\w.-]+)", value)
    )
    sheet.n_drawings += 1
    prefix = f"f{sheet.n_drawings}"
    ids = {old: f"{prefix}-{number}" for number, old in enumerate(dict.fromkeys(used))}
    inner = "".join(_markup(child, ids, sheet) for child in root)
    box, title = root.attrib["viewBox"], escape(drawn.title)
    return Markup(
        f'<svg viewBox="{box}" role="img" aria-label="{title}"><title>{title}</title>{inner}</svg>'
    )


def _markup(element: ElementTree.Element, ids: dict[str, str], sheet: Sheet) -> str:
    """Return an element without what draws nothing and groups that group nothing."""
    tag = element.tag.removeprefix(_SVG)
    if tag in ("style", "metadata"):
        return ""
    inner = "".join(_markup(child, ids, sheet) for child in element)
    attributes = {key: _compact(key, value, ids) for key, value in element.attrib.items()}
    if attributes.get("style") == "fill:none" or (tag in ("g", "defs") and not inner):
        return ""
    if style := attributes.pop("style", ""):
        attributes["class"] = sheet.class_of(style)
    written = "".join(
        f' {key.replace(_HREF, "href")}="{escape(value)}"'
        for key, value in attributes.items()
        if value
    )
    if tag == "text":
        inner = escape(element.text or "")
    elif tag == "g" and not written:
        return inner
    return f"<{tag}{written}>{inner}</{tag}>" if inner else f"<{tag}{written}/>"


def _compact(key: str, value: str, ids: dict[str, str]) -> str:
    """Return an attribute with the page's colors and font, our ids and no needless digits.

    What is empty can be left out.
    """
    if key == "id":
        return ids.get(value, "")
    if key in _REFERRING and "#" in value:
        return re.sub(r"#([\w.-]+)", lambda found: f"#{ids[found[1]]}", value)
    if key == _HREF:
        return "".join(value.split())
    if key == "style":
        for drawn, of_page in _OF_PAGE.items():
            value = value.replace(drawn, of_page)
        # Matplotlib gives the font in one property or in two, by its version.
        value = re.sub(r"font: ([\d.]+px)[^;]*", r"font-size: \1", value)
        return re.sub(r"font-family: [^;]*; ?|text-anchor: start; ?|(?<=[;:]) ", "", value)
    if key == "transform" and value.startswith("rotate(-0"):
        return ""
    if key == "d":
        return _compact_path(value)
    if key in _COORDINATES:
        # What is stretched needs more digits than what is placed.
        digits = 3 if key == "transform" else 1
        return re.sub(r"-?\d+\.\d+", lambda found: f"{round(float(found[0]), digits):g}", value)
    return value


def _compact_path(path: str) -> str:
    """Return a path in steps of tenths of a point, which is enough for the eye.

    Examples
    --------
    >>> _compact_path("M 10.04 20 L 11 19.5 L 11 30 M 5 5 L 6 6 z")
    'M10 20l1-.5 0 10.5M5 5l1 1z'
    """
    written, here = [], (0, 0)
    before = ""
    for command, points in re.findall(r"([MLCQz])([^MLCQz]*)", path):
        at = [round(10 * float(number)) for number in points.split()]
        ends = list(zip(at[::2], at[1::2], strict=True))
        if command == "M":
            steps, letter = at, "M"
        else:
            # A step is between rounded points, so that errors do not add up.
            steps = [to - start for end in ends for to, start in zip(end, here, strict=True)]
            letter = command.lower() if command.lower() != before or not steps else " "
        before = command.lower()
        written.append(letter + " ".join(map(_tenths, steps)))
        here = ends[-1] if ends else here
    return "".join(written).replace(" -", "-")


def _tenths(number: int) -> str:
    return f"{number / 10:g}".replace("0.", ".") if abs(number) < 10 else f"{number / 10:g}"
