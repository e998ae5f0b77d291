"""Every picture of the page, each with its words for those who do not see it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from spatialsplit.plots import (
    plot_balance,
    plot_counts,
    plot_nearest,
    plot_quadrats,
    plot_rank_abundance,
    plot_removal_distances,
    plot_time_of_year,
)
from spatialsplit.plots.palette import in_order, words_of
from spatialsplit.plots.subsets import MONTHS
from spatialsplit.report.balance import Balance
from spatialsplit.report.findings import Distances
from spatialsplit.report.map_data import MapData
from spatialsplit.report.pictures import MARGINS, picture
from spatialsplit.report.reading import Sample

MOST_BALANCE = 6
"""Columns with a picture; the table has them all."""


MOST_MARKS = 1_500
"""Marks on the printed map; the map that can be asked has more."""


@dataclass(frozen=True)
class Figure:
    """A picture and what it says in words."""

    svg: str
    alt: str


def _figure(
    name: str,
    alt: str,
    draw: Callable[[Any], Any],
    height: float = 3.1,
    margins: tuple[float, float, float, float] = MARGINS,
) -> Figure:
    return Figure(picture(draw, inches=(4.9, height), margins=margins, name=name), alt)


def map_figure(data: MapData) -> Figure | None:
    """Draw the map for paper, and for browsers without scripts."""
    if not len(data.corners) or data.frame.grid is None:
        return None
    counts = {str(name): int(n) for name, n in data.quadrats["subset"].value_counts().items()}
    words = ", ".join(f"{counts[name]:,} {name}" for name in in_order(counts))
    subsets, size = data.quadrats["subset"].to_numpy(dtype=str), data.frame.grid.size_m

    points = {"test": _some(data.sites.metres), "removed": _some(data.removed.metres)}

    def draw(axes: Any) -> Any:
        return plot_quadrats(axes, data.corners, subsets, size, {name: at for name, at in points.items() if len(at)})

    west, south = data.corners.min(axis=0)
    east, north = data.corners.max(axis=0) + size
    tall = float(np.clip(4.8 * (north - south) / (east - west) + 0.55, 1.2, 6.5))
    return _figure("map", f"Map of the quadrats by subset: {words}.", draw, tall, (0.05, 0.05, 0.5, 0.05))


def _some(metres: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
    """Thin points out to as many as a printed map can show."""
    return metres[:: max(1, -(-len(metres) // MOST_MARKS))].astype(np.float64)


def nearest_figure(found: Distances) -> Figure | None:
    """Draw the curves of distances from test to training."""
    if not found.to:
        return None
    medians = {name: float(np.median(far[np.isfinite(far)])) for name, far in found.to.items()}
    words = "; ".join(f"to {words_of(name)} {length(medians[name])}" for name in in_order(medians))
    return _figure(
        "nearest",
        f"Cumulative curves of the distance from each {found.held_out} survey to the nearest training data. "
        f"Medians: {words}.",
        lambda axes: plot_nearest(axes, found.to, compare=found.compare if len(found.compare) else None),
    )


def species_figures(counts: pd.DataFrame) -> list[Figure]:
    """Draw species a subset, and how common they are."""
    if counts.empty:
        return []
    numbers = {str(name): int((counts[name] > 0).sum()) for name in counts.columns}
    words = ", ".join(f"{words_of(name)} {number:,}" for name, number in numbers.items())
    commonest = ", ".join(f"{words_of(str(name))} {int(counts[name].max()):,}" for name in counts.columns)
    abundance = {str(name): counts[name].to_numpy() for name in counts.columns}
    return [
        _figure(
            "species",
            f"Species of each subset: {words}.",
            lambda axes: plot_counts(axes, numbers, label="species"),
            0.65 + 0.4 * len(numbers),
            (1.15, 0.12, 0.5, 0.1),
        ),
        _figure(
            "abundance",
            f"Rank-abundance curves. Surveys or records of the commonest species: {commonest}.",
            lambda axes: plot_rank_abundance(axes, abundance),
        ),
    ]


def months_figure(months: Mapping[str, npt.NDArray[np.float64]]) -> Figure | None:
    """Draw the time of year of each subset."""
    if not months:
        return None
    words = ", ".join(f"{words_of(name)} {MONTHS[int(np.argmax(count))]}" for name, count in months.items())
    return _figure(
        "months", f"Share of each subset by month. The fullest month: {words}.", lambda a: plot_time_of_year(a, months)
    )


def removed_figure(removed: Sample | None, radius_m: float | None) -> Figure | None:
    """Draw how far removed records lay from the test."""
    if removed is None or "distance_m" not in removed.records.columns:
        return None
    metres = pd.to_numeric(removed.records["distance_m"], errors="coerce").dropna().to_numpy(dtype=np.float64)
    if not metres.size:
        return None
    return _figure(
        "removed",
        f"Histogram of the distance of {metres.size:,} removed records to the nearest test survey; half lie within "
        f"{length(float(np.median(metres)))}.",
        lambda axes: plot_removal_distances(axes, metres, radius_m=radius_m),
    )


def balance_figures(balance: Balance) -> list[tuple[str, Figure]]:
    """Draw each numeric column; its name stands on the page and not in the picture."""
    figures = []
    for number, (column, values) in enumerate(list(balance.numbers.items())[:MOST_BALANCE]):
        medians = {name: np.median(part[np.isfinite(part)]) for name, part in values.items() if np.isfinite(part).any()}
        words = ", ".join(f"{name} {medians[name]:,.4g}" for name in in_order(medians))
        alt = f"Medians: {words}."
        figures.append((column, _balance_figure(f"balance{number}", alt, values)))
    return figures


def _balance_figure(name: str, alt: str, values: Mapping[str, npt.NDArray[np.float64]]) -> Figure:
    return _figure(
        name, alt, lambda axes: plot_balance(axes, values), 0.45 + 0.36 * len(values), (0.66, 0.12, 0.3, 0.1)
    )


def length(metres: float) -> str:
    """Say a distance in words.

    Examples
    --------
    >>> length(12.34), length(48_213.0)
    ('12.3 m', '48.2 km')
    """
    return (
        f"{metres / 1000:,.3g} km"
        if 1000 <= metres < 1e6
        else f"{metres / 1000:,.0f} km"
        if metres >= 1e6
        else f"{metres:.3g} m"
    )
