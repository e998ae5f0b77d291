"""Folds in a pattern of the grid: checkerboard and systematic. Arithmetic alone; no row ever moves another.

A pattern needs no draw, but it spreads test quadrats as evenly as can be, so each lies beside training quadrats:
honest for filling gaps inside the surveyed area, too kind for places far from it.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np

from spatialsplit.errors import DataError
from spatialsplit.folds.assigning import whole_number
from spatialsplit.folds.grouping import AnyGrid, quadrats_of
from spatialsplit.folds.places import Integers
from spatialsplit.folds.splitters import SpatialSplitter, rows_by_fold
from spatialsplit.quadrats import Grid

MOST_FOLDS = 200
"""The search for the best shift looks at n² neighbours."""


class SystematicKFold(SpatialSplitter):
    """K-fold over square quadrats in a pattern: fold = (column + shift × row) mod k.

    The shift is the one that keeps quadrats of one fold farthest apart (for k = 5 a knight's move), so no two
    neighbours are tested together. Choose it to judge interpolation, or where coverage must be even.

    Parameters
    ----------
    n_splits : int
    grid : Grid or PlanarGrid, optional
        Default: 5 km in EPSG:3035.
    buffer_m : float, optional

    Raises
    ------
    DataError
        The grid has no columns and rows, or a fold stays empty.

    Examples
    --------
    >>> cv = SystematicKFold(2)
    >>> quadrats = ["CRS3035RES5000mN0E0", "CRS3035RES5000mN0E5000", "CRS3035RES5000mN5000E5000"]
    >>> cv.folds(np.zeros((3, 1)), groups=quadrats).tolist()
    [0, 1, 0]
    """

    def __init__(self, n_splits: int = 5, *, grid: AnyGrid | None = None, buffer_m: float | None = None):
        self.n_splits = n_splits
        self.grid = grid
        self.buffer_m = buffer_m

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Count the folds."""
        return self._n_splits()

    def _n_splits(self) -> int:
        return whole_number(self.n_splits, "n_splits", 2, MOST_FOLDS)

    def folds(self, X: Any, y: Any = None, groups: Any = None) -> Integers:
        """Give the fold of each row, from 0."""
        n_splits = self._n_splits()
        quadrats = quadrats_of(X, groups, self.grid)
        grid = Grid() if self.grid is None else self.grid
        corners = np.array([column_row(grid, label) for label in quadrats.labels], dtype=np.int64).reshape(-1, 2)
        folds = self._pattern(corners[:, 0], corners[:, 1])
        empty = sorted(set(range(n_splits)) - set(folds.tolist()))
        if empty:
            raise DataError(
                f"Fold {empty[0]} is empty: {len(quadrats.labels)} occupied quadrats do not reach all "
                f"{n_splits} folds of the "
                "pattern. Every fold needs at least one. Use smaller quadrats, fewer folds, or QuadratKFold."
            )
        return folds[quadrats.codes]

    def _pattern(self, column: Integers, row: Integers) -> Integers:
        n_splits = self._n_splits()
        return (column + best_shift(n_splits) * row) % n_splits

    def _tests(self, X: Any, y: Any, groups: Any) -> Iterator[Integers]:
        yield from rows_by_fold(self.folds(X, y, groups), self.n_splits)


class Checkerboard(SystematicKFold):
    """Two folds like the fields of a chessboard; or four, in squares of two by two.

    The designs `checkerboard1` and `checkerboard2` of ENMeval (Muscarella et al. 2014, doi:10.1111/2041-210X.12261).
    For a coarser board use larger quadrats. Parameters as `SystematicKFold`, with `n_splits` 2 or 4.
    """

    def __init__(self, n_splits: int = 2, *, grid: AnyGrid | None = None, buffer_m: float | None = None):
        super().__init__(n_splits, grid=grid, buffer_m=buffer_m)

    def _n_splits(self) -> int:
        n_splits = super()._n_splits()
        if n_splits not in (2, 4):
            raise DataError(
                f"Invalid n_splits {n_splits}. A checkerboard has 2 or 4. Correct it, or use SystematicKFold."
            )
        return n_splits

    def _pattern(self, column: Integers, row: Integers) -> Integers:
        return (column + row) % 2 if self.n_splits == 2 else 2 * (row % 2) + column % 2


@cache
def best_shift(n_splits: int) -> int:
    """Give the shift that keeps the quadrats of one fold farthest apart; of equally good ones the smallest.

    Examples
    --------
    >>> [best_shift(k) for k in (2, 3, 4, 5, 10)]
    [1, 1, 2, 2, 3]
    """

    def nearest(shift: int) -> int:
        """Give the squared distance, in quadrats, to the nearest quadrat of the same fold."""
        reach = range(-n_splits, n_splits + 1)
        return min(
            c * c + r * r
            for c in reach
            for r in range(n_splits + 1)
            if (c, r) != (0, 0) and (c + shift * r) % n_splits == 0
        )

    return max(range(1, n_splits), key=lambda shift: (nearest(shift), -shift))


def column_row(grid: AnyGrid, label: str) -> tuple[int, int]:
    """Give the column and row of a square quadrat, from its label alone.

    Raises
    ------
    DataError
        The grid is not made of squares, or the label is none of it.
    """
    if hasattr(grid, "column_row"):
        column, row = grid.column_row(label)
        return int(column), int(row)
    if not isinstance(grid, Grid):
        raise DataError(
            f"A {type(grid).__name__} has no columns and rows. A pattern needs squares. Use Grid or PlanarGrid, or "
            "QuadratKFold."
        )
    west, south, _, _ = grid.bounds(label)
    return (west - grid.origin[0]) // grid.size_m, (south - grid.origin[1]) // grid.size_m
