"""Rasters that tests make."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import rasterio


def write_raster(folder: Path, values: Any, name: str = "height", **profile: Any) -> Path:
    """Write an array as a GeoTIFF; its north-west corner lies at lon 8, lat 51, its pixels have 0.01 degrees."""
    bands = np.asarray(values)
    bands = bands if bands.ndim == 3 else bands[None]
    path = folder / f"{name}.tif"
    settings = {"crs": "EPSG:4326", "transform": rasterio.Affine(0.01, 0, 8, 0, -0.01, 51), **profile}
    shape = {"count": bands.shape[0], "height": bands.shape[1], "width": bands.shape[2], "dtype": bands.dtype}
    with rasterio.open(path, "w", driver="GTiff", **shape, **settings) as file:
        file.write(bands)
    return path


def numbered(height: int = 30, width: int = 40, dtype: str = "int32") -> Any:
    """Give pixels numbered from 1, so that each value names its pixel."""
    return np.arange(1, height * width + 1, dtype=dtype).reshape(height, width)
