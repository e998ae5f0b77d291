"""Square quadrats of one size in one projected CRS: point → quadrat → label → bounds."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt

from spatialsplit.crs import FARTHEST_M, count_outside_area_of_use, is_equal_area, lonlat_to_metres, read_crs
from spatialsplit.engine import map_in_order
from spatialsplit.errors import DataError, shown
from spatialsplit.quadrats.numbering import Floats, Integers, Quadrats, number_quadrats, parts_of, steps_in_place

LARGEST_M = 100_000_000
"""A larger quadrat, or a farther origin, is a slip of the hand: the earth's girth is 40,075,017 m."""


@dataclass(frozen=True)
class Grid:
    """Square quadrats of one size in one projected CRS.

    Choose an equal-area CRS, so that every quadrat covers the same ground: EPSG:3035 in Europe, EPSG:6933 for the
    world, or a national one.

    Parameters
    ----------
    crs : str
        A projected CRS in metres with an EPSG code.
    size_m : int
        Side of a quadrat in metres.
    origin : tuple of int
        Easting and northing of a quadrat corner, in metres.

    Raises
    ------
    DataError
        The size is no positive whole number, the origin is not whole, or the CRS counts in degrees or has no EPSG code.

    Examples
    --------
    >>> grid = Grid()
    >>> quadrats = grid.assign(np.array([10.0, 10.0]), np.array([52.0, 51.99]))
    >>> quadrats.labels
    ['CRS3035RES5000mN3205000E4320000', 'CRS3035RES5000mN3210000E4320000']
    >>> quadrats.codes.tolist()
    [1, 0]
    """

    crs: str = "EPSG:3035"
    size_m: int = 5000
    origin: tuple[int, int] = (0, 0)

    def __post_init__(self) -> None:
        object.__setattr__(self, "size_m", _plain(self.size_m))
        problems = [*size_problems(self.size_m, self.origin), *_crs_problems(self.crs)]
        if problems:
            raise DataError(problems)

    @property
    def preset(self) -> str | None:
        """Name of the preset that this grid is, for the manifest."""
        from spatialsplit.quadrats.presets import PRESETS  # which are grids themselves

        return next((name for name, grid in PRESETS.items() if grid == self), None)

    def project(self, lon: Floats, lat: Floats) -> tuple[Floats, Floats]:
        """Give easting and northing in metres of points in WGS84 degrees, infinite where there are none."""
        return lonlat_to_metres(lon, lat, self.crs)

    def locate(self, easting: Floats, northing: Floats) -> tuple[Integers, Integers]:
        """Give column and row, counted from the origin, of points in metres.

        Both coordinates are rounded to the centimetre first, so that the noise of a projection moves no point over an
        edge; then the lower and left edge belong to the quadrat, the upper and right one to the next.

        Raises
        ------
        DataError
            A coordinate is not finite, or farther out than any place on the earth.

        Examples
        --------
        >>> column, row = Grid().locate(np.array([4999.994, 4999.996, -0.006]), np.zeros(3))
        >>> column.tolist(), row.tolist()
        ([0, 1, -1], [0, 0, 0])
        """
        return self._along(easting, self.origin[0]), self._along(northing, self.origin[1])

    def _along(self, metres: Floats, origin: int) -> Integers:
        metres = np.array(metres, dtype=np.float64)
        placed = np.abs(metres) <= FARTHEST_M  # false for NaN
        if not placed.all():
            raise DataError(self._no_place(int(np.count_nonzero(~placed)), metres.size))
        return steps_in_place(metres, origin, self.size_m).astype(np.int64)

    def placed(self, easting: Floats, northing: Floats) -> npt.NDArray[np.bool_]:
        """Tell which points in metres have a place in the grid: false for what could not be projected.

        Examples
        --------
        >>> grid = Grid()
        >>> grid.placed(*grid.project(np.array([10.0, 190.0]), np.array([52.0, -52.0]))).tolist()
        [True, False]
        """
        return (np.abs(easting) <= FARTHEST_M) & (np.abs(northing) <= FARTHEST_M)  # false for NaN

    def _no_place(self, n_lost: int, n: int) -> str:
        return (
            f"{n_lost:,} of {n:,} points cannot be projected to {self.crs}. Every point must have a place in the "
            "grid. Choose a CRS that covers them (EPSG:6933 covers the world) or leave them out."
        )

    def label(self, column: int, row: int) -> str:
        """Name one quadrat by its lower-left corner, as the European statistical grids do.

        The form is INSPIRE's (D2.8.I.2, section 4.2).

        Examples
        --------
        >>> Grid("EPSG:6933").label(-1, -3)
        'CRS6933RES5000mN-15000E-5000'
        """
        return self._row_part(int(row)) + self._column_part(int(column))

    def bounds(self, label: str) -> tuple[int, int, int, int]:
        """Give (west, south, east, north) of a quadrat in metres.

        Raises
        ------
        DataError
            The label is none of this grid.

        Examples
        --------
        >>> Grid().bounds("CRS3035RES5000mN3210000E4320000")
        (4320000, 3210000, 4325000, 3215000)
        """
        match = re.fullmatch(r"CRS\d+RES\d+mN(-?\d{1,12})E(-?\d{1,12})", label)
        if not match or label != self.label(*self._corner(int(match[2]), int(match[1]))):
            raise DataError(self._no_label(label))
        west, south = int(match[2]), int(match[1])
        return west, south, west + self.size_m, south + self.size_m

    def _no_label(self, label: str) -> str:
        return (
            f"'{shown(label)}' is no quadrat of this grid (CRS {self.crs}, {self.size_m} m, origin "
            f"{self.origin[0]},{self.origin[1]}). Its labels look like '{self.label(0, 0)}'. Correct the label or "
            "the grid."
        )

    def _corner(self, west: int, south: int) -> tuple[int, int]:
        return (west - self.origin[0]) // self.size_m, (south - self.origin[1]) // self.size_m

    def labels(self, columns: Integers, rows: Integers) -> list[str]:
        """Name many quadrats, pair by pair; each column and each row is worded once."""
        souths = {row: self._row_part(row) for row in np.unique(rows).tolist()}
        wests = {column: self._column_part(column) for column in np.unique(columns).tolist()}
        return [souths[row] + wests[column] for column, row in zip(columns.tolist(), rows.tolist(), strict=True)]

    def _row_part(self, row: int) -> str:
        return f"CRS{_epsg(self.crs)}RES{self.size_m}mN{self.origin[1] + row * self.size_m}"

    def _column_part(self, column: int) -> str:
        return f"E{self.origin[0] + column * self.size_m}"

    def assign(self, lon: Floats, lat: Floats, threads: int | None = None) -> Quadrats:
        """Give every point its quadrat.

        Parameters
        ----------
        lon, lat : array of float, shape (n,), degrees WGS84
        threads : int, optional
            For many points; as many as there are processors, unless said.

        Returns
        -------
        Quadrats
            A code for each point, and a label for each code. Points in, points out, in the same order.

        Raises
        ------
        DataError
            A point cannot be projected, or there are not as many longitudes as latitudes.
        """
        lon, lat = np.asarray(lon, dtype=np.float64), np.asarray(lat, dtype=np.float64)
        if lon.ndim != 1 or lon.shape != lat.shape:
            raise DataError(
                f"Invalid lon and lat of the shapes {lon.shape} and {lat.shape}. They must be two columns of equal "
                "length. Correct them."
            )
        column, row = np.empty(len(lon), dtype=np.int32), np.empty(len(lon), dtype=np.int32)
        parts = parts_of(len(lon))
        lowest, highest = np.empty((len(parts), 2)), np.empty((len(parts), 2))

        def place(number: int) -> int:
            """Place one part of the points; give how many have no place."""
            part = parts[number]
            metres = self.project(lon[part], lat[part])
            lowest[number] = [along.min() for along in metres]
            highest[number] = [along.max() for along in metres]
            if not self.placed(lowest[number], highest[number]).all():
                return int(np.count_nonzero(~self.placed(*metres)))
            column[part], row[part] = map(steps_in_place, metres, self.origin, [self.size_m] * 2)
            return 0

        n_lost = sum(map_in_order(place, range(len(parts)), threads if len(parts) > 1 else 1))
        if n_lost:
            raise DataError(self._no_place(n_lost, len(lon)))
        if not parts:
            return Quadrats(np.zeros(0, dtype=np.int32), [])
        first, last = self.locate(*lowest.min(axis=0)), self.locate(*highest.max(axis=0))
        return number_quadrats(column, row, first, last, self.labels, threads)

    def count_outside(self, lon: Floats, lat: Floats) -> int:
        """Count the points outside the area of use of the grid's CRS."""
        return count_outside_area_of_use(np.asarray(lon), np.asarray(lat), self.crs)

    def warnings(self, n_outside: int, n: int) -> list[str]:
        """Say what a careful person would want to know of this grid when so many of n points lie outside."""
        lines = []
        if not is_equal_area(self.crs):
            lines.append(
                f"{self.crs} is not an equal-area CRS: quadrats cover different areas on the ground. EPSG:3035 "
                "(Europe) and EPSG:6933 (world) are equal-area."
            )
        if n_outside:
            lines.append(
                f"{n_outside:,} of {n:,} points lie outside the area of use of {self.crs}: quadrats are distorted "
                "there. Choose EPSG:6933 (world) or a national equal-area CRS."
            )
        return lines


@cache
def _epsg(crs: str) -> int | None:
    code: int | None = read_crs(crs).to_epsg()
    return code


def size_problems(size_m: object, origin: object) -> list[str]:
    """Say what is wrong with a size and an origin, a line each."""
    problems = []
    if not _is_whole(size_m, lowest=1):
        problems.append(
            f"Invalid quadrat size {shown(repr(size_m))}. It must be a whole number of metres, from 1 to "
            f"{LARGEST_M:,}. Correct size_m."
        )
    given = list(origin) if isinstance(origin, Sequence) else origin
    if not isinstance(origin, Sequence) or len(origin) != 2 or not all(_is_whole(value) for value in origin):
        problems.append(
            f"Invalid origin {shown(repr(given))}. It must be easting and northing in whole metres, such as [0, 0], "
            f"at most {LARGEST_M:,} m away. Correct origin."
        )
    return problems


def _plain(number: object) -> object:
    """Give a whole number of numpy as Python's own, and anything else as it is."""
    return int(number) if isinstance(number, np.integer) else number


def _is_whole(metres: object, *, lowest: int = -LARGEST_M) -> bool:
    return isinstance(metres, int) and not isinstance(metres, bool) and lowest <= metres <= LARGEST_M


def _crs_problems(code: str) -> list[str]:
    crs = read_crs(code)
    if not crs.is_projected or any(axis.unit_name != "metre" for axis in crs.axis_info[:2]):
        return [
            f"The grid's CRS {code} ({crs.name}) does not count in metres. Quadrats need a projected CRS in metres, "
            "such as EPSG:3035 (Europe) or EPSG:6933 (world)."
        ]
    if _epsg(code) is None:
        return [
            f"The grid's CRS '{shown(crs.name)}' has no EPSG code, which a quadrat's label needs. Choose one that has."
        ]
    return []
