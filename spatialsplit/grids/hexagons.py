"""Hexagons: point → quadrat by arithmetic, as exact on the edges as squares are.

The centres are two rectangular lattices, one in the middle of the other; a point belongs to the nearest centre, in
whole numbers of centimetres. Of equally near ones the eastern wins, then the northern: so the lower and left edges
belong to a hexagon, and the upper and right ones to the next.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from spatialsplit.errors import DataError, shown
from spatialsplit.folds.places import check_pairs
from spatialsplit.grids.numbering import numbered
from spatialsplit.quadrats import Floats, Grid, Integers, Quadrats

LARGEST_HEXAGON_M = 10_000_000
"""Squares of its centimetres still fit an integer of 64 bits."""


@dataclass(frozen=True)
class HexagonGrid:
    """Hexagons of one size in one projected CRS, two sides of each running north and south.

    Choose it where neighbours should be equally far in all directions; squares are easier to tell and to nest.

    Parameters
    ----------
    crs : str
        A projected CRS in metres with an EPSG code; an equal-area one, so that all cover the same ground.
    size_m : int
        Width of a hexagon, which is also the distance between neighbouring centres, in metres. The lattice's rows are
        size × √3 / 2 apart, rounded to the centimetre.
    origin : tuple of int
        A centre, in metres.

    Raises
    ------
    DataError
        As `Grid`; or the size is larger than 10,000 km.

    Examples
    --------
    >>> grid = HexagonGrid("EPSG:3035", 10_000)
    >>> grid.assign(np.array([10.0, 10.2]), np.array([52.0, 52.0])).of_each_point()
    ['CRS3035HEX10000mR371C432', 'CRS3035HEX10000mR371C433']
    """

    crs: str = "EPSG:3035"
    size_m: int = 5000
    origin: tuple[int, int] = (0, 0)

    def __post_init__(self) -> None:
        square = self._square  # checks the three
        if square.size_m > LARGEST_HEXAGON_M:
            raise DataError(
                f"Invalid hexagon size {self.size_m} m. It must be at most {LARGEST_HEXAGON_M:,} m. Correct size_m."
            )

    @property
    def _square(self) -> Grid:
        """The grid of squares of the same CRS, which projects, checks and warns."""
        return Grid(self.crs, self.size_m, self.origin)

    @property
    def _row_cm(self) -> int:
        """Distance between two rows of centres, in centimetres."""
        return round(self.size_m * 100 * 3**0.5 / 2)

    def locate(self, easting: Floats, northing: Floats) -> tuple[Integers, Integers]:
        """Give column and row of the hexagon of each point; odd rows are shifted east by half a hexagon."""
        self._square.locate(easting, northing)  # refuses what has no place
        width, height = self.size_m * 100, self._row_cm
        east, north = (self._centimetres(*each) for each in ((easting, self.origin[0]), (northing, self.origin[1])))
        even = _nearest(east, north, width, height)
        odd = _nearest(east - width // 2, north - height, width, height)
        nearer = (odd[2] < even[2]) | ((odd[2] == even[2]) & (odd[0] * width + width // 2 > even[0] * width))
        return np.where(nearer, odd[0], even[0]), np.where(nearer, 2 * odd[1] + 1, 2 * even[1])

    def _centimetres(self, metres: Floats, origin: int) -> Integers:
        return np.rint(np.asarray(metres, dtype=np.float64) * 100).astype(np.int64) - origin * 100

    def label(self, column: int, row: int) -> str:
        """Name a hexagon by its row and column."""
        return f"{self._square.label(0, 0).split('RES')[0]}HEX{self.size_m}mR{int(row)}C{int(column)}"

    def centre(self, label: str) -> tuple[float, float]:
        """Give easting and northing of a hexagon's centre, in metres.

        Raises
        ------
        DataError
            The label is none of this grid.
        """
        match = re.search(r"R(-?\d{1,12})C(-?\d{1,12})$", label)
        if not match or label != self.label(int(match[2]), int(match[1])):
            raise DataError(
                f"'{shown(label)}' is no hexagon of this grid. Its labels look like '{self.label(0, 0)}'. Correct "
                "the label "
                "or the grid."
            )
        row, column = int(match[1]), int(match[2])
        return self.origin[0] + (column + row % 2 / 2) * self.size_m, self.origin[1] + row * self._row_cm / 100

    def outline(self, label: str) -> list[tuple[float, float]]:
        """Give the six corners of a hexagon, in metres, from the south round by the east."""
        easting, northing = self.centre(label)
        half, short, tall = self.size_m / 2, self.size_m / 12**0.5, self.size_m / 3**0.5
        return [
            (easting, northing - tall),
            (easting + half, northing - short),
            (easting + half, northing + short),
            (easting, northing + tall),
            (easting - half, northing + short),
            (easting - half, northing - short),
        ]

    def bounds(self, label: str) -> tuple[int, int, int, int]:
        """Give (west, south, east, north) of the box round a hexagon, in whole metres outwards."""
        corners = np.array(self.outline(label))
        west, south = np.floor(corners.min(axis=0)).astype(int).tolist()
        east, north = np.ceil(corners.max(axis=0)).astype(int).tolist()
        return west, south, east, north

    def count_outside(self, lon: Floats, lat: Floats) -> int:
        """Count the points outside the area of use of the grid's CRS."""
        return self._square.count_outside(lon, lat)

    def warnings(self, n_outside: int, n: int) -> list[str]:
        """Say what a careful person would want to know of this grid when so many of n points lie outside."""
        return self._square.warnings(n_outside, n)

    def assign(self, lon: Floats, lat: Floats) -> Quadrats:
        """Give every point its hexagon.

        Raises
        ------
        DataError
            A point cannot be projected.
        """
        projected = self._square.project(*check_pairs(lon, lat))
        return numbered(*self.locate(*projected), self.label)


def _nearest(east: Integers, north: Integers, width: int, height: int) -> tuple[Integers, Integers, Integers]:
    """Give the nearest centre of a lattice of width × 2 height, and the square of the distance to it."""
    column = (2 * east + width) // (2 * width)
    row = (north + height) // (2 * height)
    return column, row, (east - column * width) ** 2 + (north - row * 2 * height) ** 2
