"""Quadrats in larger quadrats: each lies in exactly one where the larger side is a multiple of the smaller."""

from __future__ import annotations

from dataclasses import replace

from spatialsplit.errors import DataError
from spatialsplit.folds.assigning import whole_number
from spatialsplit.folds.patterns import column_row
from spatialsplit.grids.planar import PlanarGrid
from spatialsplit.quadrats import Grid


def coarser(grid: Grid | PlanarGrid, factor: int) -> Grid | PlanarGrid:
    """Give the grid of quadrats so many times as wide, with the same origin.

    Raises
    ------
    DataError
        The factor is no whole number from 1 up, or the grid is not of squares.

    Examples
    --------
    >>> coarser(Grid("EPSG:3035", 5000), 4).size_m
    20000
    """
    factor = whole_number(factor, "factor", 1)
    if isinstance(grid, PlanarGrid):
        return replace(grid, size=grid.size * factor)
    if not isinstance(grid, Grid):
        raise DataError(f"A {type(grid).__name__} does not nest: larger ones cut smaller ones. Use Grid or PlanarGrid.")
    return replace(grid, size_m=grid.size_m * factor)


def parent_label(grid: Grid | PlanarGrid, label: str, factor: int) -> str:
    """Give the quadrat of `coarser(grid, factor)` that holds a quadrat.

    Examples
    --------
    >>> parent_label(Grid("EPSG:3035", 5000), "CRS3035RES5000mN3210000E4325000", 2)
    'CRS3035RES10000mN3210000E4320000'
    """
    larger, factor = coarser(grid, factor), int(factor)
    column, row = column_row(grid, label)
    return larger.label(column // factor, row // factor)
