"""Pictures for the page: matplotlib's SVG, with the page's colours and letters in place of its own."""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from typing import Any

INK, LINE = "#1a1b1d", "#8a8b8d"
"""Stand for the page's own ink and line while a picture is drawn."""

INCHES = (4.9, 3.1)
MARGINS = (0.8, 0.2, 0.52, 0.46)
"""Left, right, below and above the axes, in inches: fixed, since to measure them takes as long as to draw."""

STYLE = {
    "svg.fonttype": "none",
    "font.family": "sans-serif",
    "font.size": 10,
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.edgecolor": LINE,
    "axes.facecolor": "none",
    "xtick.color": LINE,
    "ytick.color": LINE,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "grid.color": LINE,
    "text.usetex": False,
    "figure.facecolor": "none",
}

VARIABLES = {
    INK: "--ink",
    LINE: "--line",
    "#ffffff": "--paper",
    "#0072b2": "--train",
    "#e69f00": "--val",
    "#d55e00": "--test",
    "#009e73": "--po",
    "#cc79a7": "--removed",
    "#56b4e9": "--other",
    "#999999": "--pale",
}
"""Colours of the pictures, and what the page calls them: it has others in the dark."""


def picture(
    draw: Callable[[Any], Any],
    *,
    inches: tuple[float, float] = INCHES,
    margins: tuple[float, float, float, float] = MARGINS,
    name: str = "picture",
) -> str:
    """Draw a picture on fresh axes and give it as SVG to stand in a page.

    Parameters
    ----------
    draw : callable
        Told the axes.
    inches : (float, float)
    margins : (left, right, below, above)
        Inches round the axes.
    name : str
        Different for each picture of a page, so that their inner names do not meet.

    Examples
    --------
    >>> svg = picture(lambda axes: axes.plot([0, 1], color="#0072b2"), name="line")
    >>> svg[:4], "var(--train)" in svg, "DejaVu" in svg
    ('<svg', True, False)
    """
    import matplotlib
    from matplotlib.figure import Figure

    with matplotlib.rc_context():
        matplotlib.rcdefaults()  # a person's own settings would change the page, or put its pictures beside it
        matplotlib.rcParams.update({**STYLE, "svg.hashsalt": name})
        figure = Figure(figsize=inches)
        (width, height), (left, right, below, above) = inches, margins
        box = (left / width, below / height, 1 - (left + right) / width, 1 - (below + above) / height)
        draw(figure.add_axes(box))
        text = io.StringIO()
        figure.savefig(text, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    return on_the_page(text.getvalue(), name)


def on_the_page(svg: str, name: str) -> str:
    """Take a drawn SVG's head, sizes and fonts away, and put the page's colours in."""
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<(metadata|style)\b.*?</\1>", "", svg, flags=re.DOTALL)
    svg = re.sub(r' (?:width|height)="[\d.]+pt"', "", svg, count=2)
    svg = re.sub(r"font-family: [^;\"]*;?|(?<=font: )([\d.]+px) [^;\"]*", r"\1", svg)
    svg = re.sub(r"font: ([\d.]+px)", r"font-size: \1", svg)
    used = set(re.findall(r'(?:xlink:href="#|url\(#)([^")]+)', svg))
    svg = re.sub(r' id="([^"]+)"', lambda match: _inner_name(match[1], used, name), svg)
    svg = re.sub(r'(xlink:href="#|url\(#)', rf"\g<1>{name}-", svg)
    svg = re.sub("#[0-9a-f]{6}", lambda match: _variable(match[0]), svg)
    return re.sub(r">\s+<", "><", svg).strip()


def _inner_name(found: str, used: set[str], name: str) -> str:
    return f' id="{name}-{found}"' if found in used else ""


def _variable(colour: str) -> str:
    return f"var({VARIABLES[colour]})" if colour in VARIABLES else colour
