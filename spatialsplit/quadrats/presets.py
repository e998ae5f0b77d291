"""Grids that competitions have used, by name."""

from __future__ import annotations

from spatialsplit.errors import DataError
from spatialsplit.quadrats.equator import EquatorGrid
from spatialsplit.quadrats.squares import Grid

PRESETS: dict[str, Grid] = {"glc2022": EquatorGrid(), "glc2024": Grid("EPSG:3035", 10_000, (5000, 5000))}


def grid_named(name: str) -> Grid:
    """Give a preset grid.

    Raises
    ------
    DataError
        There is none of that name.
    """
    if name not in PRESETS:
        raise DataError(f"Unknown grid '{name}'. Known: {', '.join(PRESETS)}. Or give crs, size_m and origin.")
    return PRESETS[name]
