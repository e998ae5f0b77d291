"""The bytes of a text table that may be packed with gzip, and the refusal of one that swells beyond reason."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import pyarrow as pa

MOST_TIMES = 400
"""How many times its size a packed table may have; tables of records have 3 to 40."""

ANY_RATIO_BYTES = 1 << 26
"""Up to this size a table may have any ratio."""

_BLOCK_BYTES = 1 << 20


def is_packed(path: Path) -> bool:
    """Tell by its first bytes whether a file is packed, whatever it is called."""
    with path.open("rb") as file:
        return file.read(2) == b"\x1f\x8b"


def check_unpacked_size(path: Path) -> None:
    """Unpack a packed file once, keeping nothing, before anybody holds what it holds.

    Raises
    ------
    OSError
        It swells beyond reason, or is damaged.
    """
    if not is_packed(path):
        return
    most = max(ANY_RATIO_BYTES, MOST_TIMES * path.stat().st_size)
    left = most
    with gzip.open(path) as stream:
        while block := stream.read(_BLOCK_BYTES):
            left -= len(block)
            if left < 0:
                raise OSError(
                    f"it unpacks to more than {most:,} bytes, over {MOST_TIMES} times its size. Unpack it with care, "
                    "if you trust it, and name the table itself"
                )


def open_bytes(path: Path) -> Any:
    """Open a table's own bytes, as a file of Arrow."""
    file = pa.OSFile(str(path))
    return pa.CompressedInputStream(file, "gzip") if is_packed(path) else file
