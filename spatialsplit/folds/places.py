"""Where rows lie, on the ellipsoid or in a plane, and which of them are near which.

How near is near on the ellipsoid stands in `distances`; how places are found in what a splitter is handed, in
`handed`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from spatialsplit.distances import earth_centred, geodesic_m
from spatialsplit.errors import DataError, first_few

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

CHORD_PLAY = 3e-15
"""Times s³ (metres): more than a chord of the earth is shorter than its geodesic s, which is s³/(24 R²)."""

FEW_TARGETS = 50
"""Up to so many, the surroundings of each are asked of one tree of the rows; beyond, the rows are asked in turn."""

PAIRS_AT_ONCE = 1 << 20
"""Pairs of a row and a target that are measured together."""


@dataclass(frozen=True)
class Places:
    """The places of rows.

    Parameters
    ----------
    east, north : array of float, shape (n,)
        Longitude and latitude in degrees WGS84; in planar mode easting and northing in any unit.
    planar : bool
        Distances are straight lines in a plane, and no CRS is asked for; else they are geodesics in metres.

    Raises
    ------
    DataError
        A coordinate is missing or infinite, or no degree.

    Examples
    --------
    >>> Places(np.array([10.0]), np.array([45.0])).distance_to(0, np.array([0])).tolist()
    [0.0]
    """

    east: Floats
    north: Floats
    planar: bool = False

    def __post_init__(self) -> None:
        east, north = check_pairs(self.east, self.north)
        object.__setattr__(self, "east", east)
        object.__setattr__(self, "north", north)
        limits = (np.inf, np.inf) if self.planar else (180.0, 90.0)
        fine = np.isfinite(self.east) & np.isfinite(self.north)
        bad = ~(fine & (np.abs(self.east) <= limits[0]) & (np.abs(self.north) <= limits[1]))
        if bad.any():
            raise DataError(self._bad_rows(bad, in_metres=bool(fine.all())))

    def _bad_rows(self, bad: Mask, *, in_metres: bool) -> str:
        rows = np.flatnonzero(bad)
        first = first_few(f"row {i}: {self.east[i]:g} {self.north[i]:g}" for i in rows[:4].tolist())
        must = "Coordinates must be finite" if self.planar else "Longitudes lie in [-180, 180], latitudes in [-90, 90]"
        cure = self._likely_cause() if in_metres and not self.planar else ""
        return (
            f"{rows.size:,} of {self.east.size:,} rows have no valid place (first: {first}). {must}. "
            f"{cure or 'Correct these rows or leave them out.'}"
        )

    def _likely_cause(self) -> str:
        """Guess why finite numbers are no degrees: exchanged axes, or metres."""
        if (np.abs(self.east) <= 90).all() and (np.abs(self.north) <= 180).all():
            return "They would be valid with longitude and latitude exchanged: give longitude first."
        return "They look like metres: take a PlanarGrid (without a grid, planar=True), or transform them to degrees."

    def __len__(self) -> int:
        return len(self.east)

    def take(self, rows: npt.NDArray[Any]) -> Places:
        """Give the places of some rows."""
        return Places(self.east[rows], self.north[rows], self.planar)

    @cached_property
    def points(self) -> Floats:
        """The places as points whose straight distance orders them: earth-centred metres, or the plane itself."""
        return np.column_stack([self.east, self.north]) if self.planar else earth_centred(self.east, self.north)

    @cached_property
    def tree(self) -> Any:
        """The KD-tree of the points, built when first asked for."""
        from scipy.spatial import cKDTree

        return cKDTree(self.points, balanced_tree=False, compact_nodes=False)

    @cached_property
    def distinct(self) -> tuple[Places, Integers]:
        """The places without repeats, and which of them each row lies at.

        A tree slows down to all pairs where very many of its points are one: many visits to few places.
        """
        order = np.lexsort((self.north, self.east))
        first = np.ones(len(self), dtype=bool)
        first[1:] = (np.diff(self.east[order]) != 0) | (np.diff(self.north[order]) != 0)
        at = np.empty(len(self), dtype=np.int64)
        at[order] = np.cumsum(first) - 1
        return self.take(order[first]), at

    def sites_of(self, rows: npt.NDArray[Any]) -> Places:
        """Give the places of some rows without repeats; no sorting but that of `distinct`, once for all folds."""
        sites, at = self.distinct
        used = np.zeros(len(sites), dtype=bool)
        used[at[rows]] = True
        return sites.take(used)

    @property
    def extent(self) -> float:
        """The diagonal of the box round all places, in metres or the plane's unit."""
        if not len(self):
            return 0.0
        return float(np.linalg.norm(self.points.max(axis=0) - self.points.min(axis=0)))

    def distance_to(self, row: int, others: Integers) -> Floats:
        """Measure from one row to others."""
        if self.planar:
            straight: Floats = np.hypot(self.east[others] - self.east[row], self.north[others] - self.north[row])
            return straight
        n = len(others)
        here = np.full(n, self.east[row]), np.full(n, self.north[row])
        return geodesic_m(*here, self.east[others], self.north[others])

    def near(self, targets: Places, radius_m: float) -> Integers:
        """Give the rows within a radius of any target, which is in: d ≤ r."""
        if not len(targets) or not len(self):
            return np.zeros(0, dtype=np.int64)
        inside = np.zeros(len(self), dtype=bool)
        sites = targets.distinct[0]
        if len(sites) <= FEW_TARGETS:
            for east, north in zip(sites.east.tolist(), sites.north.tolist(), strict=True):
                inside[self._within(east, north, radius_m)] = True
        else:
            self._mark_near(sites, radius_m, inside)
        return np.flatnonzero(inside)

    def _mark_near(self, sites: Places, radius_m: float, inside: Mask) -> None:
        """Mark the rows within a radius of any site: sure ones by their chord, the few near the limit by geodesic."""
        reach = radius_m * (1 + 1e-9) + (1e-9 if self.planar else 0.001)
        sure_m = radius_m - (1e-9 * radius_m if self.planar else radius_m**3 * CHORD_PLAY + 0.001)
        chord, _ = sites.tree.query(self.points, distance_upper_bound=np.nextafter(reach, np.inf))
        inside[chord < sure_m] = True
        unsure = np.flatnonzero((chord >= sure_m) & (chord <= reach))
        rivals = sites.tree.query_ball_point(self.points[unsure], reach, return_length=True)
        chunk = np.cumsum(rivals) // PAIRS_AT_ONCE
        for part in np.split(unsure, np.flatnonzero(np.diff(chunk)) + 1) if unsure.size else ():
            near = sites.tree.query_ball_point(self.points[part], reach)
            row = np.repeat(part, [len(each) for each in near])
            site = np.concatenate([np.asarray(each, dtype=np.int64) for each in near])
            inside[row[_lengths(self, row, sites, site) <= radius_m]] = True

    def around(self, row: int, radius_m: float) -> Integers:
        """Give the rows within a radius of one row, itself among them."""
        return self._within(self.east[row], self.north[row], radius_m)

    def _within(self, east: float, north: float, radius_m: float) -> Integers:
        centre = Places(np.array([east]), np.array([north]), self.planar)
        reach = radius_m * (1 + 1e-9) + (1e-9 if self.planar else 0.001)
        rows = np.sort(np.asarray(self.tree.query_ball_point(centre.points[0], reach), dtype=np.int64))
        if self.planar:
            straight: Floats = np.hypot(self.east[rows] - east, self.north[rows] - north)
            return rows[straight <= radius_m]
        chord = np.linalg.norm(self.points[rows] - centre.points[0], axis=1)
        unsure = np.flatnonzero(chord > radius_m - radius_m**3 * CHORD_PLAY - 0.001)
        inside = np.ones(len(rows), dtype=bool)
        ends = np.full(unsure.size, east), np.full(unsure.size, north)
        inside[unsure] = geodesic_m(*ends, self.east[rows[unsure]], self.north[rows[unsure]]) <= radius_m
        return rows[inside]


def check_pairs(first: Any, second: Any) -> tuple[Floats, Floats]:
    """Return two coordinates of each row as arrays of numbers.

    Raises
    ------
    DataError
        There are not as many of one as of the other, or they are no numbers.

    Examples
    --------
    >>> check_pairs([9, 10], [50, 51])
    (array([ 9., 10.]), array([50., 51.]))
    """
    east, north = numbers_in(first, "the first coordinate"), numbers_in(second, "the second coordinate")
    if east.shape != north.shape or east.ndim != 1:
        raise DataError(
            f"{east.size:,} first and {north.size:,} second coordinates make no places. There must be "
            "one of each for every row. Give two arrays of one length."
        )
    return east, north


def _lengths(first: Places, rows: Integers, second: Places, others: Integers) -> Floats:
    """Measure from rows of one table to rows of another, pair by pair."""
    if first.planar:
        straight: Floats = np.hypot(first.east[rows] - second.east[others], first.north[rows] - second.north[others])
        return straight
    return geodesic_m(first.east[rows], first.north[rows], second.east[others], second.north[others])


def numbers_in(values: Any, where: str) -> Floats:
    """Read values as numbers; a masked one is NaN."""
    if np.ma.isMaskedArray(values):
        values = np.ma.filled(values.astype(np.float64), np.nan)
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise DataError(
            f"The places in {where} are no numbers. They must be longitude and latitude, or easting and northing. "
            "Turn them "
            "into numbers, or give the quadrat of each row as one column."
        ) from None
