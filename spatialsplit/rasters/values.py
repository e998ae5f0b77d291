"""Pixels → values: what a raster says at each point, and why it says nothing where it does.

Blocks are read one after the other, each once, so memory holds one block and the points, however large the raster.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from rasterio.enums import ColorInterp, MaskFlags
from rasterio.windows import Window

from spatialsplit.crs import WGS84
from spatialsplit.rasters.pixels import (
    Blocks,
    Floats,
    Integers,
    Pixels,
    Raster,
    blocks_of,
    by_block,
    checked_places,
    pixels_of,
)

FEWEST_BLOCKS = 32
"""With fewer blocks to read, a thread is not worth opening the file once more."""

WHOLE_IN_DOUBLE = 2**53
"""Up to here doubles tell whole numbers apart. A GeoTIFF declares its nodata value as one."""

Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class RasterValues:
    """What a raster says at n points.

    Attributes
    ----------
    names : tuple of str
        Of the bands, as columns: `<stem>`, or `<stem>_1`, `<stem>_2`, … where there are several.
    values : array, shape (n_bands, n)
        In the raster's own type; where `missing`, the number there means nothing.
    missing : array of bool, shape (n_bands, n)
    n_unplaced : int
        Points without a coordinate, or for which the raster's CRS has no place.
    n_outside : int
        Points off the raster.
    n_nodata : tuple of int
        For each band, points on a pixel without data.
    types : tuple of dtype
        What each band stores, where the file's bands differ in it and `values` has a type that holds them all.
    """

    names: tuple[str, ...]
    values: npt.NDArray[Any]
    missing: Flags
    n_unplaced: int
    n_outside: int
    n_nodata: tuple[int, ...]
    types: tuple[np.dtype[Any], ...] = ()

    def column(self, band: int) -> pa.Array:
        """Give a band as a column: whole numbers stay whole, float32 keeps its short form (9.8), missing is null."""
        values = self.values[band].astype(self.types[band] if self.types else self.values.dtype)
        if values.dtype.kind in "iu":
            is_large = values.max(initial=0, where=~self.missing[band]) > np.iinfo(np.int64).max
            values = values.astype(np.uint64 if is_large else np.int64)
        return pa.array(values, mask=self.missing[band])

    def as_floats(self, band: int) -> Floats:
        """Give a band as doubles, NaN where missing."""
        return np.where(self.missing[band], np.nan, self.values[band].astype(np.float64))


def raster_values(
    raster: Raster | Path | str,
    east: npt.ArrayLike,
    north: npt.ArrayLike,
    *,
    crs: str = WGS84,
    scaled: bool = False,
    n_threads: int = 1,
) -> RasterValues:
    """Read the values of all bands of a raster at points.

    Parameters
    ----------
    raster : Raster or path
    east, north : array of float, shape (n,)
        Longitude and latitude in degrees, or easting and northing of `crs`; NaN where a point has none.
    crs : str
        Of the points.
    scaled : bool
        Apply the scale and offset that the file declares. Without it the stored numbers are given, as GDAL's own
        tools do.
    n_threads : int
        Read so many parts of a large raster at once. The result does not depend on it.

    Returns
    -------
    RasterValues
        In the order of the points.

    Raises
    ------
    DataError
        The file cannot be read, or does not say where its pixels lie; or the coordinates are not two lists of one
        length.

    Notes
    -----
    Missing are: points off the raster (never a pixel by a negative index), pixels with the declared nodata value or
    one of `raster.nodata`, masked pixels, and NaN or infinite ones. A pixel holds its west and north edge.

    Examples
    --------
    >>> import tempfile, rasterio
    >>> path = Path(tempfile.mkdtemp()) / "height.tif"
    >>> profile = dict(driver="GTiff", width=2, height=1, count=1, dtype="int16", crs="EPSG:4326", nodata=-1)
    >>> with rasterio.open(path, "w", transform=rasterio.Affine(1, 0, 8, 0, -1, 51), **profile) as file:
    ...     file.write(np.array([[[7, -1]]], dtype="int16"))
    >>> found = raster_values(path, [8.0, 9.5, 10.0], [50.5, 50.5, 50.5])
    >>> found.column(0).to_pylist(), found.n_outside, found.n_nodata
    ([7, None, None], 1, (1,))
    """
    raster = raster if isinstance(raster, Raster) else Raster(Path(raster))
    with raster.open() as dataset:
        pixels = pixels_of(raster, dataset, *checked_places(east, north), crs)
        values, missing = _read_pixels(raster, dataset, pixels, n_threads)
        n_nodata = (missing & pixels.inside).sum(axis=1)
        return RasterValues(
            names=_band_names(raster, dataset.count),
            values=_scaled(values, dataset) if scaled else values,
            missing=missing,
            n_unplaced=int(np.count_nonzero(~pixels.placed)),
            n_outside=int(np.count_nonzero(pixels.placed & ~pixels.inside)),
            n_nodata=tuple(int(n) for n in n_nodata),
            types=() if scaled or len(set(dataset.dtypes)) == 1 else tuple(map(np.dtype, dataset.dtypes)),
        )


def _band_names(raster: Raster, n_bands: int) -> tuple[str, ...]:
    return (raster.column,) if n_bands == 1 else tuple(f"{raster.column}_{band + 1}" for band in range(n_bands))


def _read_pixels(raster: Raster, dataset: Any, pixels: Pixels, n_threads: int) -> tuple[npt.NDArray[Any], Flags]:
    """Read the pixels block by block; all that is not read is missing."""
    n = len(pixels.inside)
    values = np.zeros((dataset.count, n), dtype=np.result_type(*dataset.dtypes))
    missing = np.ones((dataset.count, n), dtype=bool)
    inside = np.flatnonzero(pixels.inside)
    row, column = pixels.row[inside], pixels.column[inside]
    blocks = blocks_of(dataset)
    has_mask = needs_mask(dataset)

    def read(groups: list[npt.NDArray[np.intp]]) -> None:
        """Read some blocks for the points in them, by a handle of its own."""
        with raster.open() as own:  # a dataset serves one thread
            for members in groups:
                found, masked = _read_block(own, blocks, row[members], column[members], has_mask)
                values[:, inside[members]] = found
                missing[:, inside[members]] = masked | is_nodata(raster, own, found)

    groups = list(by_block(blocks, row, column))
    n_threads = max(1, min(n_threads, len(groups) // FEWEST_BLOCKS))
    cuts = [len(groups) * part // n_threads for part in range(n_threads + 1)]
    with ThreadPoolExecutor(n_threads) as pool:
        list(pool.map(read, (groups[start:end] for start, end in pairwise(cuts))))
    return values, missing


def _read_block(
    dataset: Any, blocks: Blocks, row: Integers, column: Integers, has_mask: bool
) -> tuple[npt.NDArray[Any], Flags | bool]:
    top, left, height, width = blocks.window(int(row[0]), int(column[0]))
    window = Window(left, top, width, height)
    found = read_window(dataset, dataset.indexes, window)[:, row - top, column - left]
    masked = read_hidden(dataset, dataset.indexes, window)[:, row - top, column - left] if has_mask else False
    return found, masked


def read_window(dataset: Any, bands: Sequence[int], window: Window) -> npt.NDArray[Any]:
    """Read bands in a type that holds them all; rasterio itself reads bands of one type only."""
    if len({dataset.dtypes[band - 1] for band in bands}) > 1:
        return np.stack([dataset.read(band, window=window) for band in bands])
    values: npt.NDArray[Any] = dataset.read(list(bands), window=window)
    return values


def needs_mask(dataset: Any) -> bool:
    """Tell whether a mask or an alpha band says which pixels hold data, beside the values themselves."""
    known = {MaskFlags.all_valid, MaskFlags.nodata}
    return _alpha_band(dataset) is not None or any(not known.intersection(flags) for flags in dataset.mask_flag_enums)


def read_hidden(dataset: Any, bands: Sequence[int], window: Window) -> Flags:
    """Tell which pixels a mask or alpha band hides. GDAL itself overlooks alpha where a nodata value is declared."""
    hidden: Flags = dataset.read_masks(list(bands), window=window) == 0
    alpha = _alpha_band(dataset)
    if alpha is not None:
        is_colour = np.array([band != alpha for band in bands])
        hidden |= is_colour[:, None, None] & (dataset.read(alpha, window=window) == 0)
    return hidden


def _alpha_band(dataset: Any) -> int | None:
    interpretations = dataset.colorinterp
    return interpretations.index(ColorInterp.alpha) + 1 if ColorInterp.alpha in interpretations else None


def is_nodata(raster: Raster, dataset: Any, values: npt.NDArray[Any], bands: Sequence[int] | None = None) -> Flags:
    """Tell which values mean that there is none.

    Parameters
    ----------
    raster : Raster
    dataset : rasterio dataset
    values : array, shape (n_bands, …)
    bands : sequence of int, optional
        Which bands these are, counted from 1; all where not given.
    """
    missing = ~np.isfinite(values) if values.dtype.kind == "f" else np.zeros(values.shape, dtype=bool)
    for position, band in enumerate(bands or dataset.indexes):
        for nodata in _nodata_of(raster, dataset, band):
            stored = _as_stored(nodata, np.dtype(dataset.dtypes[band - 1]))
            if stored is not None:
                missing[position] |= values[position] == stored
    return missing


def stored_nodata(raster: Raster, dataset: Any, dtype: np.dtype[Any]) -> Any:
    """Give a value that says "no data" in a copy of the raster, or None where its type has none that is known."""
    for nodata in _nodata_of(raster, dataset, 1)[::-1]:
        stored = _as_stored(nodata, dtype)
        if stored is not None and abs(int(stored) if dtype.kind in "iu" else 0) <= WHOLE_IN_DOUBLE:
            return stored
    return dtype.type(np.nan) if dtype.kind == "f" else None


def _nodata_of(raster: Raster, dataset: Any, band: int) -> tuple[float, ...]:
    declared = dataset.nodatavals[band - 1]
    return raster.nodata if declared is None else (*raster.nodata, declared)


def _as_stored(nodata: float, dtype: np.dtype[Any]) -> Any:
    """Give a nodata value as the raster's type stores it (-3.4e38 in float32), or None where it cannot hold it."""
    if dtype.kind == "f":
        with np.errstate(over="ignore"):
            return dtype.type(nodata)
    limits = np.iinfo(dtype)
    is_whole = (isinstance(nodata, int) or float(nodata).is_integer()) and limits.min <= nodata <= limits.max
    return dtype.type(int(nodata)) if is_whole else None


def _scaled(values: npt.NDArray[Any], dataset: Any) -> npt.NDArray[Any]:
    scales, offsets = np.array(dataset.scales), np.array(dataset.offsets)
    if (scales == 1).all() and (offsets == 0).all():
        return values
    scaled: Floats = values * scales[:, None] + offsets[:, None]
    return scaled
