"""Subsets beside each other: their counts, their days in the year, their environment."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from spatialsplit.plots.palette import in_order, legend_above, look_of, tidy, words_of

Numbers = npt.ArrayLike
MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
FEATURES = (0.05, 0.25, 0.5, 0.75, 0.95)
"""Quantiles that a balance is shown by: thin line, thick line, point."""


def plot_counts(axes: Any, counts: Mapping[str, float], *, label: str) -> Any:
    """Draw one number a subset as bars with the number beside them.

    Parameters
    ----------
    axes : matplotlib axes
    counts : mapping of name to number
    label : str
        What is counted.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> axes = plot_counts(Figure().subplots(), {"train": 295, "test": 240}, label="species")
    >>> [text.get_text() for text in axes.texts]
    ['295', '240']
    """
    names = in_order(counts)
    values = [counts[name] for name in names]
    bars = axes.barh(range(len(names)), values, color=[look_of(name).colour for name in names], height=0.62)
    axes.bar_label(bars, [f"{value:,.0f}" for value in values], padding=4)
    axes.set_yticks(range(len(names)), [words_of(name) for name in names], parse_math=False)
    axes.invert_yaxis()
    axes.margins(x=0.15)
    axes.xaxis.get_major_locator().set_params(integer=all(float(value).is_integer() for value in values))
    tidy(axes, xlabel=label)
    axes.grid(False, axis="y")
    return axes


def plot_time_of_year(axes: Any, months: Mapping[str, Numbers]) -> Any:
    """Draw which share of each subset falls into each month.

    Parameters
    ----------
    axes : matplotlib axes
    months : mapping of name to array of number, shape (12,)
        Surveys or records in January to December.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> axes = plot_time_of_year(Figure().subplots(), {"train": [0, 0, 0, 1, 2, 4, 2, 1, 0, 0, 0, 0]})
    >>> float(axes.lines[0].get_ydata().max())
    0.4
    """
    for name in in_order(months):
        found = np.asarray(months[name], dtype=np.float64)
        if not found.sum():
            continue
        look = look_of(name)
        style = {"color": look.colour, "linestyle": look.line, "marker": look.mark, "markersize": 5, "linewidth": 1.8}
        axes.plot(range(12), found / found.sum(), label=words_of(name), **style)
    axes.set_xticks(range(12), [month[0] for month in MONTHS])
    tidy(axes, xlabel="month, January to December", ylabel="share of the subset", ylim=(0, None))
    axes.yaxis.set_major_formatter(lambda share, position: f"{share * 100:.0f} %")
    return legend_above(axes)


def plot_balance(axes: Any, values: Mapping[str, Numbers], *, label: str = "") -> Any:
    """Draw where the values of a column lie in each subset: median, middle half, and 90 %.

    A holdout whose line ends far from that of `train` asks models to extrapolate.

    Parameters
    ----------
    axes : matplotlib axes
    values : mapping of name to array of float
        Missing ones are left out.
    label : str
        Name and unit of the column.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> axes = plot_balance(Figure().subplots(), {"train": [1, 2, 3], "test": [2, 2, 5]}, label="elevation (m)")
    >>> [text.get_text() for text in axes.get_yticklabels()]
    ['train', 'test']
    """
    names = in_order(values)
    for row, name in enumerate(names):
        found = np.asarray(values[name], dtype=np.float64)
        found = found[np.isfinite(found)]
        if not found.size:
            continue
        low, first, middle, third, high = np.quantile(found, FEATURES)
        look = look_of(name)
        axes.plot([low, high], [row, row], color=look.colour, linewidth=1.6, solid_capstyle="butt")
        axes.plot([first, third], [row, row], color=look.colour, linewidth=7, solid_capstyle="butt")
        axes.plot(middle, row, look.mark, color="white", markeredgecolor=look.colour, markersize=8, markeredgewidth=2)
    axes.set_yticks(range(len(names)), names, parse_math=False)
    axes.set_ylim(len(names) - 0.4, -0.6)
    tidy(axes, xlabel=label)
    axes.grid(False, axis="y")
    return axes
