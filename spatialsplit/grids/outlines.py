"""Quadrats as polygons, for a map or somebody else's tool."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from spatialsplit.crs import WGS84
from spatialsplit.distances import GEOD
from spatialsplit.errors import DataError, first_few
from spatialsplit.quadrats import EquatorGrid


def quadrat_outlines(grid: Any, labels: Iterable[str], columns: Mapping[str, Sequence[Any]] | None = None) -> Any:
    """Give quadrats as a geo data frame: `quadratId`, further columns, and the outline in the grid's own CRS.

    Those of the grid glc2022, which has none, come in longitude and latitude.

    Write it with `to_file("quadrats.geojson")` after `to_crs(4326)`, or with `to_parquet`.

    Parameters
    ----------
    grid
        Any grid that has `bounds` or `outline`.
    labels : iterable of str
    columns : mapping of str to sequence, optional
        Counts or subsets, one value a label.

    Examples
    --------
    >>> from spatialsplit.quadrats import Grid
    >>> frame = quadrat_outlines(Grid(), ["CRS3035RES5000mN3210000E4320000"], {"subset": ["test"]})
    >>> frame.crs.to_epsg(), frame.geometry.area.tolist(), frame["subset"].tolist()
    (3035, [25000000.0], ['test'])
    """
    import geopandas

    names = list(labels)
    uneven = [name for name, values in (columns or {}).items() if len(values) != len(names)]
    if uneven:
        raise DataError(
            f"Column {first_few(uneven)} has not {len(names)} values. There must be one for each label. Correct "
            "columns."
        )
    shapes = [_shape(grid, label) for label in names]
    return geopandas.GeoDataFrame({"quadratId": names} | dict(columns or {}), geometry=shapes, crs=_crs_of(grid))


def _shape(grid: Any, label: str) -> Any:
    import shapely

    if isinstance(grid, EquatorGrid):
        return shapely.box(*_degrees_of(*grid.bounds(label)))
    if not hasattr(grid, "outline"):
        return shapely.box(*grid.bounds(label))
    outline = grid.outline(label)
    return shapely.Polygon(outline) if isinstance(outline, list) else outline


def _degrees_of(west: float, south: float, east: float, north: float) -> tuple[float, float, float, float]:
    """Turn lengths along the equator from longitude -30, and along a meridian, into degrees."""
    lons = [math.degrees(along / GEOD.a) - 30 for along in (west, east)]
    _, lats, _ = GEOD.fwd([0, 0], [0, 0], [0, 0], [south, north])
    turn = 360 * ((lons[0] + 180) // 360)  # what is west of the origin was counted round the equator
    return lons[0] - turn, float(lats[0]), lons[1] - turn, float(lats[1])


def _crs_of(grid: Any) -> str | None:
    """Give the CRS of the outlines; H3 cells are in degrees, a plane has none."""
    if getattr(grid, "planar", False):
        return None
    return getattr(grid, "crs", WGS84)
