"""Who is near whom, on the WGS84 ellipsoid.

Three sieves, each exact for what it lets through. A bitmap of the sites' surroundings in longitude and latitude turns
away most records for a few nanoseconds each; a KD-tree on earth-centred coordinates finds the sites whose straight
chord is short enough; and the geodesic (Karney 2013, as in pyproj.Geod) decides about what is left. A chord is never
longer than the geodesic, and by less than s³/(23 R²) shorter, so the tree loses nobody. What becomes of the records
stands in `po_filter`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyproj

from spatialsplit.errors import DataError

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

GEOD = pyproj.Geod(ellps="WGS84")
SEMI_MAJOR_M = GEOD.a
ECCENTRICITY_SQUARED = GEOD.es

METRES_PER_DEGREE_MIN = 110_574.0
"""The shortest degree of latitude on WGS84 (at the equator), rounded down."""

TIE_M = 1e-6
"""Geodesics that differ by less are equally long: the noise of a geodesic is some nanometres."""

MAP_CELLS = 1 << 23
"""Cells of the bitmap, at most: as many as stay in a processor's cache."""

FINEST_DEGREES = 1e-6
"""The smallest cell: the column of any longitude fits an integer of 32 bits."""

SMALL_BOX_CELLS = 64
"""Boxes of at most so many cells are marked cell by cell."""

CHUNK_ROWS = 1 << 17
"""Records whose cells are looked up together: shorter steps than these make threads wait for each other."""

TIED_PAIRS = 1 << 18
"""Pairs of a record and a site that may be its nearest, as many as are measured at once."""


def geodesic_m(lon_1: Floats, lat_1: Floats, lon_2: Floats, lat_2: Floats) -> Floats:
    """Give the length of the geodesic between points, pair by pair.

    Parameters
    ----------
    lon_1, lat_1, lon_2, lat_2 : array of float, shape (n,), degrees WGS84

    Returns
    -------
    array of float, shape (n,), metres

    Examples
    --------
    >>> geodesic_m(np.array([179.9999]), np.array([60.0]), np.array([-179.9999]), np.array([60.0])).round(3).tolist()
    [11.16]
    """
    return np.asarray(GEOD.inv(lon_1, lat_1, lon_2, lat_2)[2], dtype=np.float64)


def earth_centred(lon: Floats, lat: Floats) -> Floats:
    """Turn degrees into earth-centred coordinates on the WGS84 ellipsoid (EPSG:4978, height 0).

    Returns
    -------
    array of float, shape (n, 3), metres

    Examples
    --------
    >>> earth_centred(np.array([0.0]), np.array([0.0])).tolist()
    [[6378137.0, 0.0, 0.0]]
    """
    phi, lam = np.radians(lat), np.radians(lon)
    sine, cosine = np.sin(phi), np.cos(phi)
    normal = SEMI_MAJOR_M / np.sqrt(1 - ECCENTRICITY_SQUARED * sine * sine)
    return np.column_stack(
        [normal * cosine * np.cos(lam), normal * cosine * np.sin(lam), normal * (1 - ECCENTRICITY_SQUARED) * sine]
    )


@dataclass(frozen=True)
class Near:
    """The records that lie near a site, among those asked about.

    Attributes
    ----------
    record : array of int, shape (m,)
        Positions of the near records, increasing.
    site : array of int, shape (m,)
        The nearest site of each; of equally near ones the first.
    distance_m : array of float, shape (m,)
        Geodesic distance to it.
    """

    record: Integers
    site: Integers
    distance_m: Floats


class Sites:
    """Places that can be asked which records are near them.

    Parameters
    ----------
    lon, lat : array of float, shape (k,), degrees WGS84
        Also none at all. Of sites that are equally near, the first in this order is named.
    max_radius_m : float
        The largest radius that will be asked for.

    Raises
    ------
    DataError
        A coordinate is not finite or out of range, or the radius is negative or not finite.

    Examples
    --------
    >>> sites = Sites(np.array([10.0]), np.array([45.0]), max_radius_m=500)
    >>> near = sites.near(np.array([10.0, 10.1]), np.array([45.001, 45.0]), 500.0)
    >>> near.record.tolist(), near.distance_m.round(1).tolist()
    ([0], [111.1])
    """

    def __init__(self, lon: Floats, lat: Floats, max_radius_m: float):
        self.lon = np.asarray(lon, dtype=np.float64)
        self.lat = np.asarray(lat, dtype=np.float64)
        self.max_radius_m = check_radius(max_radius_m)
        _check_places(self.lon, self.lat)
        self._map = _Surroundings(self.lon, self.lat, self.max_radius_m)
        self._places, first = np.unique(np.column_stack([self.lon, self.lat]), axis=0, return_index=True)
        self._first_site = first  # np.unique gives the first of the sites that coincide
        self._tree: Any = None

    def near(self, lon: Floats, lat: Floats, radius_m: float | Floats) -> Near:
        """Find the records with a site at the radius or nearer (d ≤ r), and that site.

        Parameters
        ----------
        lon, lat : array of float, shape (n,), degrees WGS84, finite
        radius_m : float or array of float, shape (n,)
            One radius, or one a record; not above `max_radius_m`.

        Returns
        -------
        Near
            Exactly the records for which pyproj.Geod gives d ≤ r.

        Raises
        ------
        DataError
            A radius is larger than `max_radius_m`, for which these sites were prepared.
        """
        largest = float(np.max(radius_m, initial=0.0))
        if not largest <= self.max_radius_m:
            raise DataError(
                f"Invalid radius {largest} m. These sites were prepared for radii up to {self.max_radius_m} m. Give a "
                "larger max_radius_m."
            )
        candidates = self._map.inside(lon, lat)
        if not candidates.size:
            return Near(candidates, candidates.copy(), np.zeros(0))
        radius = np.broadcast_to(np.asarray(radius_m, dtype=np.float64), lon.shape)[candidates]
        return self._ask_tree(candidates, lon[candidates], lat[candidates], radius, self.max_radius_m + 0.01)

    def near_however_far(self, lon: Floats, lat: Floats, radius_m: Floats) -> Near:
        """Find the same as `near` for radii of any size, without the map: for the few records that have such ones."""
        if not len(lon) or not self.lon.size:
            return Near(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64), np.zeros(0))
        return self._ask_tree(np.arange(len(lon)), lon, lat, radius_m, np.inf)

    def nearest(self, lon: Floats, lat: Floats) -> Near:
        """Find the nearest site of every record, however far; without any site there is no answer."""
        if not len(lon) or not self.lon.size:
            return Near(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64), np.zeros(0))
        points = earth_centred(lon, lat)
        chord, place = self._kd_tree().query(points, k=1)
        distance, site = self._nearest(lon, lat, points, chord, place)
        return Near(np.arange(len(lon)), site, distance)

    def _ask_tree(self, record: Integers, lon: Floats, lat: Floats, radius: Floats, farthest_m: float) -> Near:
        points = earth_centred(lon, lat)
        chord, place = self._kd_tree().query(points, k=1, distance_upper_bound=farthest_m)
        reached = np.flatnonzero(chord <= radius + 0.001)  # a chord is no longer than the geodesic, but for noise
        distance, site = self._nearest(lon[reached], lat[reached], points[reached], chord[reached], place[reached])
        hit = distance <= radius[reached]
        return Near(record[reached][hit], site[hit], distance[hit])

    def _nearest(
        self, lon: Floats, lat: Floats, points: Floats, chord: Floats, place: Integers
    ) -> tuple[Floats, Integers]:
        """Decide by geodesic among all places whose chord is as short as the shortest, but for the curvature's play.

        A chord is s³/(24 R²) shorter than the geodesic, which is 1.03e-15 s³ and varies by one part in a hundred with
        the direction.
        """
        play = 0.001 + chord**3 * 3e-15
        distance = geodesic_m(lon, lat, self._places[place, 0], self._places[place, 1])
        site = self._first_site[place]
        rivals = self._kd_tree().query_ball_point(points, chord + play, return_length=True)
        tied = np.flatnonzero(rivals > 1)
        chunk = np.cumsum(rivals[tied]) // TIED_PAIRS
        for part in np.split(tied, np.flatnonzero(np.diff(chunk)) + 1) if tied.size else ():
            others = self._kd_tree().query_ball_point(points[part], (chord + play)[part])
            distance[part], site[part] = self._first_of_the_shortest(lon[part], lat[part], others)
        return distance, site

    def _first_of_the_shortest(self, lon: Floats, lat: Floats, places: Any) -> tuple[Floats, Integers]:
        """Give the length of the shortest geodesic from each record to its places, and the first site at its end."""
        counts = np.array([len(each) for each in places])
        starts = np.cumsum(counts) - counts
        place = np.concatenate(places.tolist())
        record = np.repeat(np.arange(len(counts)), counts)
        lengths = geodesic_m(lon[record], lat[record], self._places[place, 0], self._places[place, 1])
        shortest = np.minimum.reduceat(lengths, starts)
        site = np.where(lengths <= shortest[record] + TIE_M, self._first_site[place], np.iinfo(np.int64).max)
        return shortest, np.minimum.reduceat(site, starts)

    def _kd_tree(self) -> Any:
        """Build the tree when the first candidate asks for it: scipy is slow to import."""
        if self._tree is None:
            from scipy.spatial import cKDTree

            self._tree = cKDTree(earth_centred(self._places[:, 0], self._places[:, 1]))
        return self._tree


class _Surroundings:
    """A bitmap, in longitude and latitude, of the boxes round the sites: outside it no record is near."""

    def __init__(self, lon: Floats, lat: Floats, radius_m: float):
        self.empty = not lon.size
        if self.empty:
            return
        reach_lat = radius_m / METRES_PER_DEGREE_MIN + 1e-9
        reach_lon = _reach_in_longitude(lat, reach_lat, radius_m)
        west: Floats = lon - reach_lon
        east: Floats = lon + reach_lon
        self.wraps = bool((west < -180).any() or (east > 180).any() or (reach_lon >= 180).any())
        self.west, self.east = (-180.0, 180.0) if self.wraps else (float(west.min()), float(east.max()))
        self.south, self.north = float(lat.min()) - reach_lat, float(lat.max()) + reach_lat
        self._choose_cells(reach_lat)
        self._mark(west, east, lat - reach_lat, lat + reach_lat)

    def _choose_cells(self, reach_lat: float) -> None:
        width, height = self.east - self.west, self.north - self.south
        side = max(np.sqrt(width * height / MAP_CELLS), reach_lat / 4, FINEST_DEGREES)
        self.n_columns = min(int(width / side) + 1, MAP_CELLS) + 1
        self.n_rows = min(int(height / side) + 1, MAP_CELLS) + 1  # the outermost edges lie in cells of their own
        self.columns_per_degree = (self.n_columns - 1) / max(width, side)
        self.rows_per_degree = (self.n_rows - 1) / max(height, side)

    def _column(self, lon: Floats) -> Integers:
        return _whole(np.clip((lon - self.west) * self.columns_per_degree, 0, self.n_columns - 1))

    def _row(self, lat: Floats) -> Integers:
        return _whole(np.clip((lat - self.south) * self.rows_per_degree, 0, self.n_rows - 1))

    def _mark(self, west: Floats, east: Floats, south: Floats, north: Floats) -> None:
        """Mark the cells of each box."""
        self.marked = np.zeros(self.n_rows * self.n_columns, dtype=bool)
        for left, right, south_side, north_side in self._pieces(west, east, south, north):
            if not len(left):
                continue
            first, last = self._column(left), self._column(right)
            bottom, top = self._row(south_side), self._row(north_side)
            width, height = int((last - first).max()) + 1, int((top - bottom).max()) + 1
            if width * height <= SMALL_BOX_CELLS:
                self._mark_small(first, last, bottom, top, width, height)
            else:
                self._mark_by_sums(first, last, bottom, top)

    def _mark_small(
        self, first: Integers, last: Integers, bottom: Integers, top: Integers, width: int, height: int
    ) -> None:
        """Mark boxes of few cells: the same cell of all boxes at once."""
        for up in range(height):
            row = np.minimum(bottom + up, top) * self.n_columns
            for right in range(width):
                self.marked[row + np.minimum(first + right, last)] = True

    def _mark_by_sums(self, first: Integers, last: Integers, bottom: Integers, top: Integers) -> None:
        """Mark boxes of many cells by their four corners: two running sums make the bitmap."""
        corners = np.zeros((self.n_rows + 1, self.n_columns + 1), dtype=np.int32)
        np.add.at(corners, (bottom, first), 1)
        np.add.at(corners, (bottom, last + 1), -1)
        np.add.at(corners, (top + 1, first), -1)
        np.add.at(corners, (top + 1, last + 1), 1)
        np.cumsum(corners, axis=0, out=corners)
        np.cumsum(corners, axis=1, out=corners)
        self.marked |= (corners[:-1, :-1] > 0).ravel()

    def _pieces(
        self, west: Floats, east: Floats, south: Floats, north: Floats
    ) -> list[tuple[Floats, Floats, Floats, Floats]]:
        """Cut boxes that cross the antimeridian in two; a box round a pole takes the whole circle."""
        pieces = [(np.maximum(west, -180.0), np.minimum(east, 180.0), south, north)]
        over_west, over_east = west < -180, east > 180
        for over, left, right in (
            (over_west, west[over_west] + 360, np.full(over_west.sum(), 180.0)),
            (over_east, np.full(over_east.sum(), -180.0), east[over_east] - 360),
        ):
            pieces.append((np.maximum(left, -180.0), np.minimum(right, 180.0), south[over], north[over]))
        return pieces

    def inside(self, lon: Floats, lat: Floats) -> Integers:
        """Give the positions of the records in a marked cell, chunk by chunk so that the work stays in the cache."""
        if self.empty:
            return np.zeros(0, dtype=np.int64)
        found = [
            start + self._inside_chunk(lon[start : start + CHUNK_ROWS], lat[start : start + CHUNK_ROWS])
            for start in range(0, len(lon), CHUNK_ROWS)
        ]
        return np.concatenate(found) if found else np.zeros(0, dtype=np.int64)

    def _inside_chunk(self, lon: Floats, lat: Floats) -> Integers:
        """Look up the cells; a record outside the map, which is near no site, may find any cell and be let through."""
        column, row = lon - self.west, lat - self.south
        column *= self.columns_per_degree
        row *= self.rows_per_degree
        cell = row.astype(np.int32)
        cell *= np.int32(self.n_columns)
        cell += column.astype(np.int32)
        return np.flatnonzero(self.marked.take(cell, mode="clip"))


def _whole(values: Floats) -> Integers:
    return values.astype(np.int64)


def _reach_in_longitude(lat: Floats, reach_lat: float, radius_m: float) -> Floats:
    """Give the half width, in degrees of longitude, of a box that holds a disc; the whole circle round a pole.

    On a sphere a disc of angle r at latitude φ reaches asin(sin r / cos φ) in longitude. The parallels of the ellipsoid
    are longer than those of a sphere of its smallest curvature radius, by which r is measured here, so the box is never
    too narrow.
    """
    angle = np.radians(reach_lat * 1.01)
    cosine = np.cos(np.radians(np.minimum(np.abs(lat), 90.0)))
    sine = np.sin(angle) / np.maximum(cosine, 1e-12)
    round_a_pole = (np.abs(lat) + reach_lat * 1.01 >= 90) | (sine >= 1)
    return np.where(round_a_pole, 180.0, np.degrees(np.arcsin(np.minimum(sine, 1.0))) + 1e-9)


def check_radius(radius_m: float) -> float:
    """Return a radius that can be used.

    Raises
    ------
    DataError
        It is negative, not finite or larger than 1,000 km.
    """
    if not 0 <= radius_m <= 1_000_000:
        raise DataError(f"Invalid radius {radius_m} m. It must lie between 0 and 1,000,000 m. Correct it.")
    return float(radius_m)


def _check_places(lon: Floats, lat: Floats) -> None:
    bad = ~((np.abs(lon) <= 180) & (np.abs(lat) <= 90))  # also true for NaN
    if bad.any():
        i = int(np.flatnonzero(bad)[0])
        raise DataError(
            f"{np.count_nonzero(bad):,} of {lon.size:,} sites have no valid place (first: number {i}: lon {lon[i]}, "
            f"lat {lat[i]}). Longitudes lie in [-180, 180] and latitudes in [-90, 90]. Correct them or leave them "
            "out."
        )
