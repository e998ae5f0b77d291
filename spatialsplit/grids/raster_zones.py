"""The zones of a raster as quadrats: land-cover classes, ecoregions, tiles of a model. A point has its pixel's value.

Pixels are half-open as quadrats are: the southern and western edge belong to a pixel, the northern and eastern to the
next.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from spatialsplit.crs import lonlat_to_metres
from spatialsplit.errors import DataError, first_few
from spatialsplit.folds.places import Floats, Integers, check_pairs
from spatialsplit.quadrats import Quadrats

PARTS = 1_000_000
"""Places are rounded to a millionth of a pixel, so that the noise of a projection moves nobody over an edge."""


@dataclass(frozen=True)
class RasterGrid:
    """Quadrats that are the zones of a raster of whole numbers.

    Parameters
    ----------
    path : path
        A raster that rasterio opens, with a CRS, rows running east and west.
    band : int
        Counted from 1.

    Raises
    ------
    DataError
        There is no such file or band, it holds no whole numbers, has no CRS, or is turned.
    """

    path: Path | str
    band: int = 1

    def __post_init__(self) -> None:
        with self._open() as raster:
            problems = list(_problems(raster, self.band))
        if problems:
            raise DataError(f"{Path(self.path).name} {problem}" for problem in problems)

    def _open(self) -> Any:
        import rasterio
        from rasterio.errors import RasterioIOError

        try:
            return rasterio.open(self.path)
        except RasterioIOError:
            raise DataError(
                f"{self.path} cannot be opened as a raster. It must be one that GDAL reads. Correct path."
            ) from None

    def locate(self, lon: Floats, lat: Floats) -> tuple[Integers, Any]:
        """Give the zone of each point, and a mark where it has one.

        Returns
        -------
        zone : array of int, shape (n,)
        inside : array of bool, shape (n,)
            False off the raster and on no data.
        """
        with self._open() as raster:
            east, north = lonlat_to_metres(*check_pairs(lon, lat), raster.crs.to_wkt())
            column, row, inside = _pixels(raster, east, north)
            zone = np.zeros(len(column), dtype=np.int64)
            if inside.any():
                window, left, top = _window(column[inside], row[inside])
                values = raster.read(self.band, window=window, masked=True)
                at = values[row[inside] - top, column[inside] - left]
                zone[inside] = np.ma.getdata(at)
                inside[inside] = ~np.ma.getmaskarray(at)
        return zone, inside

    def outside(self, lon: Floats, lat: Floats) -> Integers:
        """List the points that have no zone, by row number."""
        return np.flatnonzero(~self.locate(lon, lat)[1])

    def assign(self, lon: Floats, lat: Floats) -> Quadrats:
        """Give every point its zone; labels are `zone<value>`.

        Raises
        ------
        DataError
            A point has no zone.
        """
        zone, inside = self.locate(lon, lat)
        lost = np.flatnonzero(~inside)
        if lost.size:
            first = first_few(f"row {i}: {lon[i]:g} {lat[i]:g}" for i in lost[:4].tolist())
            raise DataError(
                f"{lost.size:,} of {zone.size:,} points lie off {Path(self.path).name} or where it has no data "
                f"(first: {first}). "
                "Every point must have a zone. Leave out the rows that outside() lists."
            )
        values, codes = np.unique(zone, return_inverse=True)
        return Quadrats(codes.astype(np.int32), [f"zone{value}" for value in values.tolist()])


def _problems(raster: Any, band: int) -> list[str]:
    problems = []
    if not 1 <= band <= raster.count:
        problems.append(f"has no band {band}. It has {raster.count}. Correct band.")
    elif np.dtype(raster.dtypes[band - 1]).kind not in "iu":
        problems.append(f"holds {raster.dtypes[band - 1]}. Zones must be whole numbers. Round the raster first.")
    if raster.crs is None:
        problems.append("has no CRS. Points must be put into it. Write the CRS into the file.")
    if raster.transform.b or raster.transform.d or raster.transform.a < 0 or raster.transform.e > 0:
        problems.append("is turned or upside down. Rows must run from west to east, the northern first. Warp it.")
    return problems


def _pixels(raster: Any, east: Floats, north: Floats) -> tuple[Integers, Integers, Any]:
    placed = np.isfinite(east) & np.isfinite(north)
    transform = raster.transform
    across = np.where(placed, (east - transform.c) / transform.a, -1.0)
    down = np.where(placed, (north - transform.f) / transform.e, -1.0)
    column = np.rint(np.clip(across, -1, raster.width + 1) * PARTS).astype(np.int64) // PARTS
    row = -(-np.rint(np.clip(down, -1, raster.height + 1) * PARTS).astype(np.int64) // PARTS) - 1
    return column, row, (column >= 0) & (column < raster.width) & (row >= 0) & (row < raster.height)


def _window(column: Integers, row: Integers) -> tuple[Any, int, int]:
    """Give the part of the raster that holds all points."""
    from rasterio.windows import Window

    left, top = int(column.min()), int(row.min())
    return Window(left, top, int(column.max()) - left + 1, int(row.max()) - top + 1), left, top
