"""The grid of GeoLifeCLEF 2020 to 2022: lengths along the equator and along the meridian."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
import pyproj

from spatialsplit.errors import DataError
from spatialsplit.quadrats.numbering import Floats, Integers
from spatialsplit.quadrats.squares import Grid, size_problems


@dataclass(frozen=True)
class EquatorGrid(Grid):
    """The grid of GeoLifeCLEF 2020 to 2022: 5 km along the equator and along the meridian.

    Easting is the length along the WGS84 equator from longitude −30, northing the length of the meridian from latitude
    0; what is west of the origin wraps round the equator. A quadrat is 5 km wide at the equator only: 3.8 km at 41° N,
    3.2 km at 51° N. Source: the organizers' `_old/spatial_split` in github.com/plantnet/GeoLifeCLEF.

    Examples
    --------
    >>> EquatorGrid().assign(np.array([3.5]), np.array([43.6])).labels
    ['e0745n0965']
    """

    crs: str = "EPSG:4326"

    def __post_init__(self) -> None:
        problems = size_problems(self.size_m, self.origin)
        if problems:
            raise DataError(problems)

    def project(self, lon: Floats, lat: Floats) -> tuple[Floats, Floats]:
        """Give the lengths along the equator and the meridian, in metres: infinite south of the equator.

        Examples
        --------
        >>> easting, northing = EquatorGrid().project(np.array([-29.0, 3.0]), np.array([1.0, -1.0]))
        >>> easting.round(1).tolist(), northing.round(1).tolist()
        ([111319.5, 3673543.2], [110574.4, inf])
        """
        geod = pyproj.Geod(ellps="WGS84")
        easting = geod.a * np.radians(np.mod(np.asarray(lon) + 30.0, 360.0))
        zeros = np.zeros(len(lat))
        northing = np.asarray(geod.inv(zeros, zeros, zeros, lat)[2], dtype=np.float64)
        return easting, np.where(np.asarray(lat) < 0, np.inf, northing)

    def _no_place(self, n_lost: int, n: int) -> str:
        return (
            f"{n_lost:,} of {n:,} points have no quadrat in the grid glc2022, which ends at the equator. Coordinates "
            "must be finite and latitudes 0 or more. Choose a grid by CRS, such as EPSG:6933, or leave them out."
        )

    def label(self, column: int, row: int) -> str:
        """Name one quadrat by its column and row, as the organizers did."""
        return f"e{int(column):04d}n{int(row):04d}"

    def labels(self, columns: Integers, rows: Integers) -> list[str]:
        """Name many quadrats, pair by pair."""
        return [self.label(column, row) for column, row in zip(columns.tolist(), rows.tolist(), strict=True)]

    def bounds(self, label: str) -> tuple[int, int, int, int]:
        """Give (west, south, east, north) of a quadrat in metres along equator and meridian."""
        match = re.fullmatch(r"e(-?\d{3,9})n(-?\d{3,9})", label)
        if not match or label != self.label(int(match[1]), int(match[2])):
            raise DataError(self._no_label(label))
        west = self.origin[0] + int(match[1]) * self.size_m
        south = self.origin[1] + int(match[2]) * self.size_m
        return west, south, west + self.size_m, south + self.size_m

    def count_outside(self, lon: Floats, lat: Floats) -> int:
        """Count none: the grid covers all points that it takes."""
        return 0

    def warnings(self, n_outside: int, n: int) -> list[str]:
        """Say that these quadrats are not square on the ground."""
        return [
            "The grid glc2022 is 5 km wide at the equator only (3.2 km at 51° N). EPSG:3035 and EPSG:6933 are "
            "equal-area."
        ]
