"""Curves: how far the test lies from training, how common species are, how near removed records lay to the test."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from spatialsplit.plots.palette import PALE, in_order, legend_above, look_of, tidy, words_of

Numbers = npt.ArrayLike
MOST_POINTS = 200
"""A curve has no more corners than this: nobody sees more, and a page stays small."""


def plot_nearest(axes: Any, metres: Mapping[str, Numbers], *, compare: Numbers | None = None) -> Any:
    """Draw how near training data lies to each test survey, as cumulative curves on a logarithmic axis.

    Read it so: at 1 km the curve shows the share of the test surveys that have training data within 1 km.

    Parameters
    ----------
    axes : matplotlib axes
    metres : mapping of name to array of float, metres
        Distances from each test survey to the nearest record of `train`, `PO` or `val`. Infinite and missing ones are
        left out.
    compare : array of float, metres, optional
        Distances from each survey to the nearest other one: what single surveys drawn at random would have met.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> axes = plot_nearest(Figure().subplots(), {"train": [900.0, 4000.0, 7000.0]}, compare=[5.0, 30.0, 100.0])
    >>> axes.get_xscale(), len(axes.lines)
    ('log', 2)
    """
    if compare is not None:
        _cumulative(axes, compare, color=PALE, linestyle="-", linewidth=1.2, label="if single surveys were drawn")
    for name in in_order(metres):
        look = look_of(name)
        style = {"color": look.colour, "linestyle": look.line, "linewidth": 2}
        _cumulative(axes, metres[name], label=f"to {words_of(name)}", **style)
    axes.set_xscale("log")
    axes.minorticks_off()
    axes.xaxis.set_major_formatter(_length)
    tidy(axes, xlabel="distance to the nearest", ylabel="share of the test surveys", ylim=(0, 1.02))
    axes.yaxis.set_major_formatter(_percent)
    return legend_above(axes)


def _cumulative(axes: Any, values: Numbers, **style: Any) -> None:
    found = np.sort(np.asarray(values, dtype=np.float64))
    found = np.maximum(found[np.isfinite(found)], 1.0)  # a logarithm has no 0: nearer than a metre is a metre
    if not found.size:
        return
    at = np.unique(np.linspace(0, found.size - 1, min(found.size, MOST_POINTS)).round().astype(int))
    axes.step(found[at], (at + 1) / found.size, where="post", **style)


def plot_rank_abundance(axes: Any, counts: Mapping[str, Numbers]) -> Any:
    """Draw how often each species was found, the commonest first; both axes are logarithmic.

    Two subsets whose curves run side by side have the same mix of common and rare species.

    Parameters
    ----------
    axes : matplotlib axes
    counts : mapping of name to array of int
        For each subset (or `PO`) the surveys or records of each species, in any order. Species that were not found do
        not count.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> axes = plot_rank_abundance(Figure().subplots(), {"train": [5, 100, 0, 20], "test": [2, 9]})
    >>> axes.lines[0].get_ydata().tolist()
    [100.0, 20.0, 5.0]
    """
    for name in in_order(counts):
        found = np.sort(np.asarray(counts[name], dtype=np.float64))[::-1]
        found = found[found > 0]
        if not found.size:
            continue
        ranks = np.unique(np.geomspace(1, found.size, MOST_POINTS).round().astype(int))
        look = look_of(name)
        axes.plot(ranks, found[ranks - 1], color=look.colour, linestyle=look.line, linewidth=2, label=words_of(name))
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.minorticks_off()
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(_whole)
    tidy(axes, xlabel="species, the commonest first", ylabel="surveys or records")
    return legend_above(axes)


def plot_removal_distances(axes: Any, metres: Numbers, *, radius_m: float | None = None) -> Any:
    """Draw how far the removed presence-only records lay from the nearest test survey.

    A peak at zero means that records repeat the surveys; a flat rise is what chance gives.

    Parameters
    ----------
    axes : matplotlib axes
    metres : array of float, metres
    radius_m : float, optional
        Drawn as an upright line.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> axes = plot_removal_distances(Figure().subplots(), [0.0, 120.0, 299.0], radius_m=300)
    >>> sum(int(bar.get_height()) for bar in axes.patches)
    3
    """
    found = np.asarray(metres, dtype=np.float64)
    found = found[np.isfinite(found)]
    reach = max(float(found.max(initial=0.0)), radius_m or 0.0) or 1.0
    heights, edges = np.histogram(found, bins=20, range=(0, reach))
    axes.bar(edges[:-1], heights, np.diff(edges) * 0.92, align="edge", color=look_of("removed").colour)
    axes.yaxis.get_major_locator().set_params(integer=True)
    if radius_m is not None:
        axes.axvline(radius_m, color=PALE, linestyle="--", linewidth=1.2)
        axes.set_title(f"dashed: the radius, {radius_m:g} m", fontsize="small", loc="right")
    return tidy(axes, xlabel="metres to the nearest test survey", ylabel="records removed")


def _length(metres: float, position: int = 0) -> str:
    return f"{metres / 1000:g} km" if metres >= 1000 else f"{metres:g} m"


def _percent(share: float, position: int = 0) -> str:
    return f"{share * 100:.0f} %" if share <= 1 else ""


def _whole(number: float, position: int = 0) -> str:
    return f"{number:,.0f}" if number >= 1 else ""
