"""Squares in a plane without a CRS: simulated landscapes, grids of plots, any unit."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from spatialsplit.errors import DataError, shown
from spatialsplit.folds.places import Floats, Integers, check_pairs
from spatialsplit.grids.numbering import numbered
from spatialsplit.quadrats import Quadrats

PARTS = 1_000_000
"""Coordinates are rounded to a millionth of a quadrat, so that 0.3 / 0.1 is 3."""


@dataclass(frozen=True)
class PlanarGrid:
    """Square quadrats of any size in a plane.

    Choose it for simulated data and local coordinates. Half-open as all quadrats: `[west, east) × [south, north)`.

    Parameters
    ----------
    size : float
        Side of a quadrat, in the unit of the coordinates.
    origin : tuple of float
        A quadrat corner.
    unit : str
        The coordinates' unit, which stands in the labels.

    Raises
    ------
    DataError
        The size is not positive and finite, the origin not finite, or the unit holds other than letters.

    Examples
    --------
    >>> grid = PlanarGrid(0.1, unit="deg")
    >>> grid.assign(np.array([0.29, 0.3, -0.01]), np.zeros(3)).of_each_point()
    ['PLANARdeg0.1C2R0', 'PLANARdeg0.1C3R0', 'PLANARdeg0.1C-1R0']
    """

    size: float
    origin: tuple[float, float] = (0.0, 0.0)
    unit: str = "m"

    planar: ClassVar[bool] = True

    def __post_init__(self) -> None:
        problems = []
        if not _is_number(self.size) or not 0 < self.size < np.inf:
            problems.append(f"Invalid quadrat size {self.size!r}. It must be a finite number above 0. Correct size.")
        corner = tuple(self.origin) if isinstance(self.origin, Iterable) else ()
        if len(corner) != 2 or not all(map(_is_number, corner)) or not np.isfinite(corner).all():
            problems.append(f"Invalid origin {self.origin!r}. It must be two finite numbers. Correct origin.")
        if not isinstance(self.unit, str) or not re.fullmatch(r"[A-Za-z]+", self.unit):
            problems.append(f"Invalid unit '{shown(str(self.unit))}'. It must be letters, as in m or km. Correct unit.")
        if problems:
            raise DataError(problems)

    def locate(self, easting: Floats, northing: Floats) -> tuple[Integers, Integers]:
        """Give column and row, counted from the origin.

        Raises
        ------
        DataError
            A coordinate is not finite, or more than a billion quadrats away.
        """
        return self._along(easting, self.origin[0]), self._along(northing, self.origin[1])

    def _along(self, values: Floats, origin: float) -> Integers:
        parts = np.rint((np.asarray(values, dtype=np.float64) - origin) / self.size * PARTS)
        lost = ~(np.abs(parts) <= 1e9 * PARTS)  # true for NaN
        if lost.any():
            raise DataError(
                f"{np.count_nonzero(lost):,} of {lost.size:,} points have no place in quadrats of {self.size:g} "
                f"{self.unit}. Every "
                "coordinate must be finite, and within a billion quadrats of the origin. Correct them or leave them "
                "out."
            )
        return parts.astype(np.int64) // PARTS

    def label(self, column: int, row: int) -> str:
        """Name a quadrat by its column and row."""
        return f"PLANAR{self.unit}{self.size:.12g}C{column}R{row}"

    def column_row(self, label: str) -> tuple[int, int]:
        """Give the column and row of a quadrat.

        Raises
        ------
        DataError
            The label is none of this grid.
        """
        match = re.search(r"C(-?\d{1,12})R(-?\d{1,12})$", label)
        if not match or label != self.label(int(match[1]), int(match[2])):
            raise DataError(
                f"'{shown(label)}' is no quadrat of this grid. Its labels look like '{self.label(0, 0)}'. Correct "
                "the label or "
                "the grid."
            )
        return int(match[1]), int(match[2])

    def bounds(self, label: str) -> tuple[float, float, float, float]:
        """Give (west, south, east, north) of a quadrat."""
        column, row = self.column_row(label)
        west, south = self.origin[0] + column * self.size, self.origin[1] + row * self.size
        return west, south, west + self.size, south + self.size

    def assign(self, easting: Floats, northing: Floats) -> Quadrats:
        """Give every point its quadrat."""
        return numbered(*self.locate(*check_pairs(easting, northing)), self.label)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | np.number) and not isinstance(value, bool)
