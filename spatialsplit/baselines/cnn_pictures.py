"""Patch files → batches of normalized pictures."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from spatialsplit.errors import DataError
from spatialsplit.rasters.pictures import Channels, PatchFolder

LARGEST_PX = 224
"""Larger pictures are cropped to this, as ImageNet's were."""

MEAN = np.array([0.485, 0.456, 0.406], dtype=np.float32)[:, None, None]
SPREAD = np.array([0.229, 0.224, 0.225], dtype=np.float32)[:, None, None]
"""ImageNet's, by which torchvision's weights were learnt; near infrared takes those of blue, whose place it takes."""


@dataclass(frozen=True)
class PictureLoader:
    """Loads pictures in three channels.

    Parameters
    ----------
    folder : PatchFolder
    channels : {'rgb', 'rgnir'}
    """

    folder: PatchFolder
    channels: Channels

    def load(self, names: Sequence[str], rng: np.random.Generator | None = None) -> npt.NDArray[np.float32]:
        """Load a batch.

        Parameters
        ----------
        names : sequence of str
            Ids of the files.
        rng : Generator, optional
            For training: crops, mirrors and quarter turns at random. Without it the middle is taken as it is.

        Returns
        -------
        array of float32, shape (n, 3, size, size)

        Raises
        ------
        DataError
            A file is missing or unfit, or the pictures differ in size.
        """
        with ThreadPoolExecutor() as pool:
            pictures = list(pool.map(lambda name: self.folder.read_channels(name, self.channels), names))
        cropped = [_cropped(picture, rng) for picture in pictures]
        sizes = {picture.shape for picture in cropped}
        if len(sizes) > 1:
            shown = " and ".join(str(shape[1:]) for shape in sorted(sizes))
            raise DataError(f"Pictures in {self.folder.folder} differ in size: {shown}. They must all be of one size.")
        batch = np.stack([picture if rng is None else _turned(picture, rng) for picture in cropped])
        return (batch.astype(np.float32) / np.float32(255) - MEAN) / SPREAD


def _cropped(picture: npt.NDArray[np.uint8], rng: np.random.Generator | None) -> npt.NDArray[np.uint8]:
    _, height, width = picture.shape
    size = min(height, width, LARGEST_PX)
    top, left = (height - size) // 2, (width - size) // 2
    if rng is not None:
        top, left = int(rng.integers(height - size + 1)), int(rng.integers(width - size + 1))
    return picture[:, top : top + size, left : left + size]


def _turned(picture: npt.NDArray[np.uint8], rng: np.random.Generator) -> npt.NDArray[np.uint8]:
    """Mirror and turn: seen from above, a place has no upright."""
    picture = picture[:, :, ::-1] if rng.integers(2) else picture
    return np.rot90(picture, int(rng.integers(4)), axes=(1, 2))
