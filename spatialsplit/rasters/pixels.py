"""Points → pixels: which one a point lies in, or that it lies off the raster.

A pixel holds its west and north edge and not its east and south one, so every point of the raster has exactly one.
What is written in the pixel stands in `values`; windows round it in `patches`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import rasterio
from rasterio.errors import RasterioError

from spatialsplit.crs import WGS84, is_degrees, lonlat_to_metres, read_crs, to_lonlat
from spatialsplit.errors import DataError

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

ROUNDING = 8 * float(np.finfo(np.float64).eps)
"""How far, relative to the numbers that went in, float arithmetic may have moved a pixel coordinate.

A point nearer than this to a pixel's edge is on it: 8.29 comes out as 28.999999999999964 pixels of 0.01 east of 8.0.
"""

CACHE_BYTES = 64 * 2**20
"""What GDAL may keep of the blocks it has read; its own default is a twentieth of the machine's memory."""

SMALL_BLOCK_PX = 1 << 16
"""Blocks smaller than this are read several at a time."""


@dataclass(frozen=True)
class Raster:
    """A raster file, and what is known of it that the file does not say.

    Parameters
    ----------
    path : path
    name : str, optional
        Of its column; the file's stem where it is not given.
    nodata : tuple of float
        Values that mean "no data" though the file does not declare them, beside the one it may declare.
    crs : str, optional
        For a file that declares none.

    Examples
    --------
    >>> Raster(Path("rasters/bio_1.tif"), nodata=(0,)).column
    'bio_1'
    """

    path: Path
    name: str | None = None
    nodata: tuple[float, ...] = ()
    crs: str | None = None

    @property
    def column(self) -> str:
        """The name of its column in a table."""
        return self.name or Path(self.path).stem

    @contextmanager
    def open(self) -> Iterator[Any]:
        """Open the file for reading, with a bounded cache.

        Raises
        ------
        DataError
            The file is not there, is no raster, is damaged, or does not say where its pixels lie.
        """
        if not Path(self.path).exists():
            raise DataError(f"There is no raster {self.path}. Correct the path.")
        try:
            with rasterio.Env(GDAL_CACHEMAX=CACHE_BYTES, GDAL_NUM_THREADS="1"), _quiet_open(self.path) as dataset:
                self._check(dataset)
                yield dataset
        except RasterioError as error:
            text = str(error.__cause__ or error).splitlines()[0]
            raise DataError(
                f"{self.path} cannot be read as a raster ({text}). It must be whole, and of a form that GDAL knows. "
                "Fetch or write it again."
            ) from None

    def _check(self, dataset: Any) -> None:
        if dataset.transform.is_identity:
            raise DataError(
                f"{self.path} has no geotransform, so its pixels lie nowhere. A raster must be georeferenced. "
                "Write it with its geotransform, or with a world file beside it."
            )
        if dataset.transform.is_degenerate:
            raise DataError(
                f"{self.path} has a geotransform whose pixels have no area, so they lie nowhere. "
                "Write it with its geotransform, or with a world file beside it."
            )
        if not (dataset.crs or self.crs):
            raise DataError(
                f"{self.path} declares no CRS, so points cannot be found in it. Say which it has: "
                "--raster-crs EPSG:…, or Raster(path, crs=…)."
            )
        unreal = [dtype for dtype in dataset.dtypes if dtype.startswith("complex")]
        if unreal:
            raise DataError(f"{self.path} holds {unreal[0]} numbers. Only real ones can be read.")

    def crs_of(self, dataset: Any) -> str:
        """Give the CRS that the file declares, else the one that was said."""
        return str(dataset.crs.to_wkt()) if dataset.crs else str(self.crs)


@contextmanager
def _quiet_open(path: Path) -> Iterator[Any]:
    """Open a raster; a missing geotransform is our own error, with its cure."""
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", rasterio.errors.NotGeoreferencedWarning)
        dataset = rasterio.open(path)
    with dataset:
        yield dataset


@dataclass(frozen=True)
class Pixels:
    """The pixel of each point.

    Attributes
    ----------
    row, column : array of int, shape (n,)
        Counted from the raster's first row and column; also for points off the raster, where it can be told.
    inside : array of bool, shape (n,)
        Whether the point lies in a pixel of the raster.
    placed : array of bool, shape (n,)
        Whether it lies anywhere: False without a coordinate, or where the raster's CRS has no place for it.
    """

    row: Integers
    column: Integers
    inside: npt.NDArray[np.bool_]
    placed: npt.NDArray[np.bool_]


def pixels_of(raster: Raster, dataset: Any, east: Floats, north: Floats, crs: str = WGS84) -> Pixels:
    """Find the pixel of each point.

    Parameters
    ----------
    raster : Raster
    dataset : rasterio dataset
        `raster`, opened.
    east, north : array of float, shape (n,)
        Longitude and latitude in degrees, or easting and northing; NaN where there is none.
    crs : str
        Of the points. Points in the raster's own CRS are taken as they are.
    """
    own = raster.crs_of(dataset)
    first, second = _in_crs(east, north, crs, own)
    if is_degrees(own):
        first = _turned(first, dataset)
    column, row = _pixel_coordinates(dataset.transform, first, second)
    placed = np.isfinite(column) & np.isfinite(row)
    # beyond 2^31 pixels a point is far off any raster, and its number need not be right
    rows, columns = (np.clip(np.where(placed, each, -1), -(2**31), 2**31).astype(np.int64) for each in (row, column))
    inside = placed & (rows >= 0) & (rows < dataset.height) & (columns >= 0) & (columns < dataset.width)
    return Pixels(rows, columns, inside, placed)


def checked_places(east: npt.ArrayLike, north: npt.ArrayLike) -> tuple[Floats, Floats]:
    """Give coordinates as arrays of float.

    Raises
    ------
    DataError
        They are not two lists of one length.
    """
    places = np.asarray(east, dtype=np.float64), np.asarray(north, dtype=np.float64)
    if places[0].ndim != 1 or places[0].shape != places[1].shape:
        raise DataError(
            f"Coordinates must be two lists of one length, and have shapes {places[0].shape} and {places[1].shape}. "
            "Give an easting and a northing for each point."
        )
    return places


def _in_crs(east: Floats, north: Floats, source: str, target: str) -> tuple[Floats, Floats]:
    if read_crs(source).equals(read_crs(target), ignore_axis_order=True):
        return east, north
    lon, lat = to_lonlat(east, north, source)
    return lonlat_to_metres(lon, lat, target)


def _turned(lon: Floats, dataset: Any) -> Floats:
    """Turn longitudes once round the earth where only so they meet the raster, as one of 0 to 360 degrees needs."""
    west, _, east, _ = dataset.bounds
    off = np.isfinite(lon) & ((lon < west) | (lon >= east))
    turned = np.where(lon < west, lon + 360.0, lon - 360.0)
    return np.where(off & (turned >= west) & (turned < east), turned, lon)


def _pixel_coordinates(transform: Any, first: Floats, second: Floats) -> tuple[Floats, Floats]:
    """Give the whole column and row of each point: the floor, after what float arithmetic did to edges is undone."""
    inverse = ~transform
    with np.errstate(invalid="ignore"):  # of a point at infinity
        column = _floor(inverse.a * first, inverse.b * second, inverse.c)
        return column, _floor(inverse.d * first, inverse.e * second, inverse.f)


def _floor(first: Floats, second: Floats, shift: float) -> Floats:
    """Give the floor of a sum, or the whole number that it would be but for rounding."""
    with np.errstate(invalid="ignore", over="ignore"):
        pixel = first + second + shift
        nearest = np.rint(pixel)
        margin = ROUNDING * (np.abs(first) + np.abs(second) + abs(shift))
        return np.where(np.abs(pixel - nearest) <= margin, nearest, np.floor(pixel))


@dataclass(frozen=True)
class Blocks:
    """How a raster is cut into pieces to read: the file's own blocks, or several of them where they are small."""

    height: int
    width: int
    n_rows: int
    n_columns: int

    def numbers(self, row: Integers, column: Integers) -> Integers:
        """Give the number of the block that each pixel lies in, counted row by row."""
        return row // self.height * -(-self.n_columns // self.width) + column // self.width

    def window(self, row: int, column: int) -> tuple[int, int, int, int]:
        """Give the block round a pixel: its first row and column, and its height and width within the raster."""
        top, left = row // self.height * self.height, column // self.width * self.width
        return top, left, min(self.height, self.n_rows - top), min(self.width, self.n_columns - left)


def blocks_of(dataset: Any) -> Blocks:
    """Cut a raster along the blocks that its file is stored in."""
    height, width = dataset.block_shapes[0]
    height *= max(1, math.ceil(SMALL_BLOCK_PX / (height * width)))
    return Blocks(height, width, dataset.height, dataset.width)


def by_block(blocks: Blocks, row: Integers, column: Integers) -> Iterator[npt.NDArray[np.intp]]:
    """Give the positions of the pixels block by block, so that each block is read once."""
    numbers = blocks.numbers(row, column)
    order = np.argsort(numbers, kind="stable")
    starts = np.flatnonzero(np.diff(numbers[order], prepend=-1))
    yield from np.split(order, starts[1:]) if len(order) else ()
