"""The picture of a split: a small PNG whose bytes depend on the split alone.

A drawing library's bytes change with its version, and a published file's must not; so this map is a grid of coloured
squares, written as a palette
PNG (ISO/IEC 15948) with stored blocks (RFC 1951, 3.2.4). Richer pictures are the report's.
"""

from __future__ import annotations

import struct
import zlib
from pathlib import Path

import numpy as np
import numpy.typing as npt

from spatialsplit.split import Split

PALETTE = ((255, 255, 255), (0x86, 0xAE, 0xD2), (0xE6, 0xA8, 0x17), (0xB2, 0x18, 0x2B), (0x55, 0x55, 0x55))
"""Paper, train, val, test, frame: told apart also by those who see no red and green, and in grey."""

LAYERS = {"train": 1, "val": 2, "test": 3}
FRAME = 4

LONGER_SIDE_PX = 640
MARGIN_PX = 8
BLOCK_BYTES = 65_535


def write_split_picture(path: Path, split: Split) -> None:
    """Write the map of a split: a square a quadrat, north up, holdouts drawn larger where they would be lost."""
    path.write_bytes(png(split_picture(split)))


def split_picture(split: Split) -> npt.NDArray[np.uint8]:
    """Give the map as palette numbers, shape (height, width)."""
    grid = split.rules.grid
    bounds = np.array([grid.bounds(label)[:2] for label in split.quadrats.labels], dtype=np.int64) // grid.size_m
    column, row = (bounds - bounds.min(axis=0)).T
    n_columns, n_rows = int(column.max()) + 1, int(row.max()) + 1
    scale = LONGER_SIDE_PX / max(n_columns, n_rows)
    height, width = max(int(n_rows * scale), 1), max(int(n_columns * scale), 1)
    image = np.zeros((height + 2 * MARGIN_PX, width + 2 * MARGIN_PX), dtype=np.uint8)
    image[[0, -1], :] = image[:, [0, -1]] = FRAME
    side = max(int(np.ceil(scale)), 2)
    subsets = np.array(split.quadrats.subsets)
    for name, colour in LAYERS.items():
        grown = 0 if name == "train" else 1
        for i in np.flatnonzero(subsets == name).tolist():
            left = MARGIN_PX + int(column[i] * scale) - grown
            top = MARGIN_PX + int((n_rows - 1 - row[i]) * scale) - grown
            image[max(top, 1) : top + side + grown, max(left, 1) : left + side + grown] = colour
    return image


def png(image: npt.NDArray[np.uint8]) -> bytes:
    """Write palette numbers as a PNG of 4 bits a pixel, uncompressed: every machine writes the same bytes."""
    height, width = image.shape
    even = np.pad(image, ((0, 0), (0, width % 2)))
    packed = (even[:, ::2] << 4 | even[:, 1::2]).astype(np.uint8)
    lines = np.pad(packed, ((0, 0), (1, 0))).tobytes()
    header = struct.pack(">IIBBBBB", width, height, 4, 3, 0, 0, 0)
    palette = bytes(value for colour in PALETTE for value in colour)
    chunks = [(b"IHDR", header), (b"PLTE", palette), (b"IDAT", _stored(lines)), (b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(kind, data) for kind, data in chunks)


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def _stored(data: bytes) -> bytes:
    """Wrap data as a zlib stream of stored blocks."""
    parts = [b"\x78\x01"]
    for start in range(0, len(data), BLOCK_BYTES):
        block = data[start : start + BLOCK_BYTES]
        last = start + BLOCK_BYTES >= len(data)
        parts.append(struct.pack("<BHH", last, len(block), len(block) ^ 0xFFFF) + block)
    return b"".join(parts) + struct.pack(">I", zlib.adler32(data))
