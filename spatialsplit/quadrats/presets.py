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


def preset_name(grid: Grid) -> str | None:
    """Give the name of the preset that a grid is, for the manifest; none for any other grid.

    Examples
    --------
    >>> preset_name(Grid("EPSG:3035", 10_000, (5000, 5000))), preset_name(Grid())
    ('glc2024', None)
    """
    return next((name for name, preset in PRESETS.items() if preset == grid), None)
