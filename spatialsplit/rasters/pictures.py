"""Patch files: where they lie in a folder, ours or GeoLifeCLEF's, and what is in them.

A file that is not there is an error with its path, never a picture of zeros.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import rasterio
from PIL import Image, UnidentifiedImageError
from rasterio.errors import NotGeoreferencedWarning, RasterioError

from spatialsplit.errors import DataError, first_few

ENDINGS = (".jpeg", ".jpg", ".png", ".tif", ".tiff")
REGIONS_2022 = {"1": "patches-fr", "2": "patches-us"}
KINDS_2022 = {"rgb": "_rgb", "nir": "_near_ir", "altitude": "_altitude", "landcover": "_landcover"}

Channels = Literal["rgb", "rgnir"]


def patch_path(patch_id: str | int, ending: str = ".tif") -> PurePosixPath:
    """Give the path that GeoLifeCLEF files an id under: `CD/AB/<id>` for an id that ends in ABCD.

    Ids are not padded, which is GeoLifeCLEF's own way: 212 lies under `12/2`, 26 under `26`.

    Examples
    --------
    >>> patch_path(10561900, "_rgb.jpg"), patch_path(212, ".jpeg"), patch_path("7")
    (PurePosixPath('00/19/10561900_rgb.jpg'), PurePosixPath('12/2/212.jpeg'), PurePosixPath('7/7.tif'))
    """
    text = str(patch_id)
    return PurePosixPath(text[-2:], text[-4:-2], text + ending)


@dataclass(frozen=True)
class PatchFolder:
    """A folder of patches, in one of three layouts, which is found by looking.

    Parameters
    ----------
    folder : path
        That holds `patches-fr` or `patches-us` (GeoLifeCLEF 2022), `rgb` and `nir` (2023 and 2024, such as
        `SatelliteImages`), or `CD/AB/<id>.<ending>` with red, green, blue and near infrared as bands 1 to 4.

    Examples
    --------
    >>> PatchFolder(Path("nowhere"))
    Traceback (most recent call last):
    spatialsplit.errors.DataError: There is no folder nowhere. Correct the path of the patches.
    """

    folder: Path

    def __post_init__(self) -> None:
        object.__setattr__(self, "folder", Path(self.folder))
        if not self.folder.is_dir():
            raise DataError(f"There is no folder {self.folder}. Correct the path of the patches.")

    @property
    def layout(self) -> Literal["2022", "2023", "bands"]:
        """Which layout the folder has."""
        if any((self.folder / region).is_dir() for region in REGIONS_2022.values()):
            return "2022"
        return "2023" if (self.folder / "rgb").is_dir() else "bands"

    def find(self, patch_id: str | int, kind: str = "rgb") -> Path | None:
        """Find the file of an id, or None.

        Parameters
        ----------
        patch_id : str or int
            In 2022's layout ids beginning with 1 lie in France, with 2 in the United States; a file in the other
            country's folder is not that id's.
        kind : {'rgb', 'nir', 'altitude', 'landcover'}
        """
        if kind not in KINDS_2022:
            raise DataError(f"Unknown kind of patch '{kind}'. Known: {', '.join(KINDS_2022)}. Correct it.")
        folder, suffix = self.folder, ""
        if self.layout == "2022":
            region = REGIONS_2022.get(str(patch_id)[:1])
            if region is None:
                return None
            folder, suffix = self.folder / region, KINDS_2022[kind]
        elif self.layout == "2023":
            folder = self.folder / kind
        candidates = (folder / patch_path(patch_id, suffix + ending) for ending in ENDINGS)
        return next((path for path in candidates if path.is_file()), None)

    def missing(self, patch_ids: Iterable[str | int], channels: Channels = "rgb") -> list[str]:
        """List the files that are not there, as `<id> (<kind>)`."""
        kinds = self._kinds(channels)
        return [f"{each} ({kind})" for each in patch_ids for kind in kinds if self.find(each, kind) is None]

    def _kinds(self, channels: Channels) -> tuple[str, ...]:
        return ("rgb",) if channels == "rgb" or self.layout == "bands" else ("rgb", "nir")

    def read(self, patch_id: str | int, kind: str = "rgb") -> npt.NDArray[Any]:
        """Read the file of an id.

        Returns
        -------
        array, shape (n_bands, height, width)

        Raises
        ------
        DataError
            There is none, or it cannot be read.
        """
        path = self.find(patch_id, kind)
        if path is None:
            raise DataError(
                f"No {kind} patch of {patch_id} in {self.folder}. It would lie at {patch_path(patch_id, '')}.*. "
                "Fetch it, or leave the row out."
            )
        return read_picture(path)

    def read_channels(self, patch_id: str | int, channels: Channels) -> npt.NDArray[np.uint8]:
        """Read three channels of an id: red, green and blue, or red, green and near infrared.

        Returns
        -------
        array of uint8, shape (3, height, width)

        Raises
        ------
        DataError
            A file is missing, is no 8-bit picture, or lacks a channel.
        """
        pixels = self.read(patch_id, "rgb")
        if channels == "rgnir":
            near_infrared = pixels[3:4] if self.layout == "bands" else self.read(patch_id, "nir")[:1]
            if near_infrared.shape[1:] != pixels.shape[1:]:
                raise DataError(
                    f"The patch of {patch_id} in {self.folder} has {first_few(pixels.shape[1:])} pixels in rgb and "
                    f"{first_few(near_infrared.shape[1:])} in nir. Both must be of one size. Fetch them again."
                )
            pixels = np.concatenate([pixels[:2], near_infrared])
        if pixels.dtype != np.uint8 or pixels.shape[0] < 3:
            raise DataError(
                f"The patch of {patch_id} has {first_few(pixels.shape)} {pixels.dtype} numbers where three 8-bit bands "
                f"are needed for {channels}. Write patches with --format png --stretch LOW,HIGH,GAMMA and enough bands."
            )
        return np.ascontiguousarray(pixels[:3])


def read_picture(path: Path) -> npt.NDArray[Any]:
    """Read a patch file as an array of shape (n_bands, height, width).

    Raises
    ------
    DataError
        It cannot be read.
    """
    try:
        if path.suffix in (".tif", ".tiff"):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", NotGeoreferencedWarning)
                with rasterio.open(path) as dataset:
                    values: npt.NDArray[Any] = dataset.read()
                    return values
        with Image.open(path) as picture:
            # a palette's numbers are no colours, and those of printing inks are others
            pixels = np.asarray(picture.convert("RGB") if picture.mode in ("P", "CMYK", "YCbCr") else picture)
    except (RasterioError, UnidentifiedImageError, OSError, SyntaxError) as error:  # Pillow's for a broken PNG
        raise DataError(f"{path} cannot be read as a patch ({error}). Fetch or write it again.") from None
    return pixels[None] if pixels.ndim == 2 else np.moveaxis(pixels, -1, 0)
