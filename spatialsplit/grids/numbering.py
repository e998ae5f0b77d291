"""Columns and rows of points → a code a point, a label a code."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from spatialsplit.folds.places import Integers
from spatialsplit.quadrats import Quadrats


def numbered(column: Integers, row: Integers, label: Callable[[int, int], str]) -> Quadrats:
    """Give numbers to the quadrats that occur, by column and row, and a code to each point.

    Examples
    --------
    >>> numbered(np.array([4, 2, 4]), np.array([0, 0, 0]), lambda column, row: f"C{column}R{row}")
    Quadrats(codes=array([1, 0, 1], dtype=int32), labels=['C2R0', 'C4R0'])
    """
    if not column.size:
        return Quadrats(np.zeros(0, dtype=np.int32), [])
    low = int(row.min())
    height = int(row.max()) - low + 1
    if (int(column.max()) - int(column.min()) + 1) * height < 2**62:
        cell, codes = np.unique((column - column.min()) * height + (row - low), return_inverse=True)
        columns, rows = cell // height + column.min(), cell % height + low
    else:
        pairs, codes = np.unique(np.column_stack([column, row]), axis=0, return_inverse=True)
        columns, rows = pairs.T
    labels = [label(c, r) for c, r in zip(columns.tolist(), rows.tolist(), strict=True)]
    return Quadrats(codes.ravel().astype(np.int32), labels)
