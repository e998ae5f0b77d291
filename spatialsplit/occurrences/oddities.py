"""Places and rows that are often not what they say: each test looks at arrays and tells which rows are odd.

The tests are CoordinateCleaner's (Zizka et al. 2019), written anew. What becomes of odd rows is a policy and stands in
`cleaning`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from spatialsplit.tables.csv_text import as_text

Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]

COARSE_DEGREES = 0.1
"""Coordinates that are both multiples of it name a cell of some kilometres and not a place."""


def lies_at_zero(lon: Floats, lat: Floats) -> Flags:
    """Tell which points lie at longitude 0, latitude 0, where missing coordinates end up."""
    flags: Flags = (lon == 0) & (lat == 0)
    return flags


def has_equal_coordinates(lon: Floats, lat: Floats) -> Flags:
    """Tell which points have one number in both coordinates, as a column that was copied twice has.

    Examples
    --------
    >>> has_equal_coordinates(np.array([5.5, 0.0, 5.5]), np.array([5.5, 0.0, 45.0])).tolist()
    [True, False, False]
    """
    flags: Flags = (lon == lat) & (lon != 0)
    return flags


def is_coarse(lon: Floats, lat: Floats) -> Flags:
    """Tell which points have both coordinates rounded to a tenth of a degree or coarser.

    Examples
    --------
    >>> is_coarse(np.array([5.3, 5.3, 5.25]), np.array([45.0, 45.01, 45.0])).tolist()
    [True, False, False]
    """
    flags = np.ones(len(lon), dtype=bool)
    for degrees in (lon, lat):
        steps = degrees / COARSE_DEGREES
        with np.errstate(invalid="ignore"):
            flags &= np.abs(steps - np.rint(steps)) < 1e-6
    return flags


def row_codes(columns: Sequence[pa.Array]) -> npt.NDArray[np.uint64]:
    r"""Give each row a number of 64 bits by the text of its cells, so that equal rows have equal numbers.

    Different rows have different ones, but for one chance in 10^5 among ten million rows.

    Examples
    --------
    >>> codes = row_codes([pa.array(["a", "a", "b"]), pa.array([1, 1, 1])])
    >>> bool(codes[0] == codes[1]), bool(codes[0] == codes[2])
    (True, False)
    """
    import pandas as pd  # slow to import, and seldom needed

    texts = [as_text(column) for column in columns]
    joined = pc.binary_join_element_wise(*texts, "\x1f") if len(texts) > 1 else texts[0]
    codes: npt.NDArray[np.uint64] = pd.util.hash_array(joined.to_numpy(zero_copy_only=False), categorize=False)
    return codes
