"""Patches → files: GeoTIFF with the raster's own numbers, or 8-bit PNG or JPEG with a stated stretch."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import rasterio
from PIL import Image
from rasterio.errors import RasterioError

from spatialsplit.errors import DataError, OutputError
from spatialsplit.rasters.pixels import Raster
from spatialsplit.rasters.values import Flags, stored_nodata

JPEG_QUALITY = 90
"""As GeoLifeCLEF 2023 and 2024 wrote theirs."""

FORMATS = ("tif", "png", "jpeg")
SUFFIX = re.compile(r"(?!.*\.\.)[A-Za-z0-9._-]*")
BANDS_OF_PICTURES = {"png": (1, 3, 4), "jpeg": (1, 3)}


@dataclass(frozen=True)
class PatchForm:
    """What the files of patches are like.

    Parameters
    ----------
    size_px : int
        Height and width.
    format : {'tif', 'png', 'jpeg'}
        GeoTIFF keeps the numbers, their place and what is missing. PNG and JPEG are 8-bit pictures, in which missing
        pixels are 0 and only the index counts them.
    bands : tuple of int, optional
        Counted from 1.
    stretch : tuple of (low, high, gamma), optional
        How numbers become 0 to 255: `rint(255 · clip((v - low) / (high - low), 0, 1) ** (1 / gamma))`. Needed for
        pictures of rasters that are not 8-bit themselves.
    suffix : str
        Between id and ending, such as `_rgb` for GeoLifeCLEF 2022.

    Examples
    --------
    >>> PatchForm(format="jpeg", stretch=(0, 10_000, 2.5), suffix="_rgb").ending  # GeoLifeCLEF 2023's stretch
    '_rgb.jpeg'
    """

    size_px: int = 128
    format: Literal["tif", "png", "jpeg"] = "tif"
    bands: tuple[int, ...] | None = None
    stretch: tuple[float, float, float] | None = None
    suffix: str = ""

    def __post_init__(self) -> None:
        if self.size_px < 1:
            raise DataError(f"Invalid size_px {self.size_px}. A patch has at least one pixel. Say --size-px 128.")
        if self.format not in FORMATS:
            raise DataError(f"Unknown format '{self.format}'. Known: {', '.join(FORMATS)}. Correct it.")
        if not SUFFIX.fullmatch(self.suffix):
            raise DataError(
                f"Invalid suffix '{self.suffix}'. It is a part of a file's name, made of letters, digits, single '.', "
                "'_' and '-', such as _rgb. Correct --suffix."
            )
        if self.stretch and not _is_stretch(*self.stretch):
            low, high, gamma = self.stretch
            raise DataError(
                f"Invalid stretch {low:g},{high:g},{gamma:g}. It must be LOW,HIGH,GAMMA, finite, with LOW < HIGH and "
                "GAMMA > 0, such as 0,10000,2.5."
            )

    @property
    def ending(self) -> str:
        """What comes after the id in a file's name."""
        return f"{self.suffix}.{self.format}"

    def stored(self, raster: Raster, dataset: Any, bands: list[int]) -> Stored:
        """Settle how patches of a raster are stored.

        Raises
        ------
        DataError
            A picture of it would need a stretch, or another number of bands.
        """
        dtype = np.result_type(*(dataset.dtypes[band - 1] for band in bands))
        if self.format == "tif":
            dtype = np.dtype(np.uint8) if self.stretch else dtype
            return Stored(self, bands, dtype, None if self.stretch else stored_nodata(raster, dataset, dtype))
        if dtype != np.uint8 and not self.stretch:
            raise DataError(
                f"{raster.path} holds {dtype} numbers, which an 8-bit picture cannot. Say how they become 0 to 255: "
                "--stretch LOW,HIGH,GAMMA, such as 0,10000,2.5; or write --format tif."
            )
        if len(bands) not in BANDS_OF_PICTURES[self.format]:
            known = " or ".join(map(str, BANDS_OF_PICTURES[self.format]))
            raise DataError(
                f"A {self.format} has {known} bands, and {raster.path} gives {len(bands)}. Choose: --bands 1,2,3."
            )
        return Stored(self, bands, np.dtype(np.uint8), None)


def _is_stretch(low: float, high: float, gamma: float) -> bool:
    return all(math.isfinite(number) for number in (low, high, gamma)) and low < high and gamma > 0


@dataclass(frozen=True)
class Stored:
    """How the patches of one raster are stored: a form that fits the raster."""

    form: PatchForm
    bands: list[int]
    dtype: np.dtype[Any]
    nodata: Any

    @property
    def nodata_text(self) -> str:
        """What missing pixels are in the files, in words."""
        if self.form.format != "tif":
            return "missing pixels are 0; index.csv counts them"
        return "an internal mask" if self.nodata is None else str(self.nodata)

    def numbers(self, values: npt.NDArray[Any], missing: Flags) -> npt.NDArray[Any]:
        """Give the numbers of a patch as they are stored."""
        if self.form.stretch:
            values = stretched(values, *self.form.stretch)
        return np.where(missing, self.dtype.type(0 if self.nodata is None else self.nodata), values).astype(self.dtype)


def stretched(values: npt.NDArray[Any], low: float, high: float, gamma: float) -> npt.NDArray[np.uint8]:
    """Turn numbers into 0 to 255.

    Examples
    --------
    >>> stretched(np.array([-5.0, 0.0, 2500.0, 20_000.0]), 0, 10_000, 2.0).tolist()
    [0, 0, 128, 255]
    """
    with np.errstate(invalid="ignore", over="ignore"):
        share = np.clip(np.nan_to_num((values.astype(np.float64) - low) / (high - low)), 0.0, 1.0)
    return np.rint(255.0 * share ** (1.0 / gamma)).astype(np.uint8)


def shifted(transform: Any, column: int, row: int) -> Any:
    """Give the transform of a window that begins at a column and row."""
    a, b, c, d, e, f = tuple(transform)[:6]
    return rasterio.Affine(a, b, a * column + b * row + c, d, e, d * column + e * row + f)


PatchWriter = Callable[[Path, npt.NDArray[Any], Flags, int, int], None]
"""Writes one patch: path, values, missing, and its first row and column."""


def patch_writer(stored: Stored, dataset: Any) -> PatchWriter:
    """Give the function that writes one patch, in any thread: it does not touch the dataset."""
    crs, transform = dataset.crs, dataset.transform

    def write_picture(path: Path, values: npt.NDArray[Any], missing: Flags, row: int, column: int) -> None:
        """Write a patch as a picture."""
        pixels = np.moveaxis(stored.numbers(values, missing), 0, -1)
        picture = Image.fromarray(pixels[..., 0] if pixels.shape[-1] == 1 else pixels)
        picture.save(path, quality=JPEG_QUALITY)  # PNG has no quality and takes no notice

    def write_geotiff(path: Path, values: npt.NDArray[Any], missing: Flags, row: int, column: int) -> None:
        """Write a patch with its place."""
        profile = {
            "driver": "GTiff",
            "height": values.shape[1],
            "width": values.shape[2],
            "count": values.shape[0],
            "dtype": stored.dtype,
            "crs": crs,
            "transform": shifted(transform, column, row),
            "nodata": stored.nodata,
            "compress": "deflate",
        }
        try:
            with rasterio.Env(GDAL_TIFF_INTERNAL_MASK=True), rasterio.open(path, "w", **profile) as file:
                file.write(stored.numbers(values, missing))
                if stored.nodata is None and missing.any():
                    file.write_mask(~missing.any(axis=0))
        except RasterioError as error:
            raise OutputError(
                f"Cannot write the patch {path.name} ({error}). Make room, or choose another --out."
            ) from None

    return write_geotiff if stored.form.format == "tif" else write_picture
