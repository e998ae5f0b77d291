"""What each subset looks like everywhere: its colour, its line and its mark."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Look:
    """How one subset or table is drawn.

    Attributes
    ----------
    colour : str
        Of Okabe and Ito's eight.
    line : str or tuple
        Line style (matplotlib's name, or offset and dashes), so that a curve is known without its colour.
    mark : str
        Marker of a point.
    """

    colour: str
    line: str | tuple[float, tuple[float, ...]]
    mark: str


LOOKS: dict[str, Look] = {
    "train": Look("#0072b2", "-", "o"),
    "val": Look("#e69f00", (0, (5, 2)), "s"),
    "test": Look("#d55e00", (0, (1.5, 1.2)), "^"),
    "PO": Look("#009e73", (0, (6, 2, 1, 2)), "D"),
    "removed": Look("#cc79a7", (0, (3, 1, 1, 1, 1, 1)), "x"),
}
"""Subsets, presence-only records for training, and those that were removed."""

OTHER = Look("#56b4e9", (0, (2, 2)), "v")
PALE = "#999999"
"""Of what is only there to compare with."""


def look_of(name: str) -> Look:
    """Give the look of a subset, also of one with a name of its own.

    Examples
    --------
    >>> look_of("test").mark, look_of("elsewhere").mark
    ('^', 'v')
    """
    return LOOKS.get(name, OTHER)


def in_order(names: Iterable[str]) -> list[str]:
    """Order subsets as they are always shown: train, val, test, then the others by name.

    Examples
    --------
    >>> in_order(["test", "PO", "train"])
    ['train', 'test', 'PO']
    """
    known = list(LOOKS)
    return sorted(names, key=lambda name: (known.index(name) if name in known else len(known), name))


def words_of(name: str) -> str:
    """Say a name in words.

    Examples
    --------
    >>> words_of("PO"), words_of("test")
    ('presence-only', 'test')
    """
    return {"PO": "presence-only", "removed": "presence-only, removed"}.get(name, name)


def legend_above(axes: Any, **more: Any) -> Any:
    """Name the curves above the axes, where no curve is in the way."""
    handles, labels = axes.get_legend_handles_labels()
    if labels:
        look = {"loc": "lower left", "bbox_to_anchor": (-0.02, 1.0), "ncols": 2, "fontsize": "small", **more}
        axes.legend(handles, labels, frameon=False, handlelength=3.2, columnspacing=1.4, borderpad=0.2, **look)
    return axes


def tidy(axes: Any, **labels: Any) -> Any:
    """Take away what says nothing, and set the labels; text is never read as a formula."""
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    axes.grid(True, linewidth=0.6, alpha=0.35)
    axes.set_axisbelow(True)
    for which in ("xlabel", "ylabel"):
        if which in labels:
            getattr(axes, f"set_{which}")(labels.pop(which), parse_math=False)
    axes.set(**labels)
    return axes
