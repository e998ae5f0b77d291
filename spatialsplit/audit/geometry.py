"""Who is near whom, on the WGS84 ellipsoid: a sweep over bands of latitude, then the geodesic.

No tree and no chord decides whether a record is within the radius: bands of latitude and a window of
longitude find the candidates, pyproj's geodesic decides. Only the *fact* of the nearest record, which nothing
depends on, comes from a tree.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import numpy as np

_SMALLEST_RADIUS_M = 6_335_000.0  # of curvature, anywhere on the ellipsoid: windows are never too narrow
_METRES_A_DEGREE = 110_500.0  # of latitude, rounded down
_PAD_DEGREES = 1e-6
_WIDTH = 1080.0  # longitudes from -540 to 540 side by side with the number of the band
_PAIRS = 1 << 21


def geodesic_m(lon_a: np.ndarray, lat_a: np.ndarray, lon_b: np.ndarray, lat_b: np.ndarray) -> np.ndarray:
    """Measure pairs of points along the ellipsoid, metres.

    Examples
    --------
    >>> degree = geodesic_m(np.array([0.0]), np.array([0.0]), np.array([1.0]), np.array([0.0]))
    >>> round(float(degree[0]), 3)
    111319.491
    """
    from pyproj import Geod

    return np.asarray(Geod(ellps="WGS84").inv(lon_a, lat_a, lon_b, lat_b)[2], dtype=float)


def _window_degrees(lat: np.ndarray, radius_m: float) -> np.ndarray:
    """How far east or west a point within the radius can be; 180 near a pole."""
    reach = np.sin(radius_m / _SMALLEST_RADIUS_M)
    ratio = reach / np.maximum(np.cos(np.radians(lat)), reach)
    return np.where(ratio < 1, np.degrees(np.arcsin(np.minimum(ratio, 1))), 180.0) + _PAD_DEGREES


class Sites:
    """Places around which nothing may be, sorted so that the near ones are a slice.

    Parameters
    ----------
    lon, lat : array of float
        Degrees, WGS84.
    radius_m : float
        The largest distance that will be asked.
    """

    def __init__(self, lon: np.ndarray, lat: np.ndarray, radius_m: float):
        self.lon, self.lat, self.radius_m = (
            np.asarray(lon, dtype=float),
            np.asarray(lat, dtype=float),
            radius_m,
        )
        self.height = max(radius_m / _METRES_A_DEGREE + _PAD_DEGREES, 0.001)
        self.number, shifted = self._round_the_date_line()
        keys = self._band(self.lat[self.number]) * _WIDTH + shifted + 540.0
        order = np.argsort(keys, kind="stable")
        self.number, self.keys = self.number[order], keys[order]

    def _round_the_date_line(self) -> tuple[np.ndarray, np.ndarray]:
        """Repeat the sites that are near the date line on its other side."""
        everyone = np.arange(len(self.lon))
        highest = np.minimum(np.abs(self.lat) + 2 * self.height, 90.0)
        reach = _window_degrees(highest, self.radius_m)
        east, west = everyone[self.lon + reach >= 180], everyone[self.lon - reach <= -180]
        numbers = np.concatenate([everyone, east, west])
        shift = np.repeat([0.0, -360.0, 360.0], [len(everyone), len(east), len(west)])
        return numbers, self.lon[numbers] + shift

    def _band(self, lat: np.ndarray) -> np.ndarray:
        return np.floor((lat + 90.0) / self.height)

    @cached_property
    def _bands(self) -> np.ndarray:
        """Which bands hold a site, to pass over the others quickly."""
        last = int(180.0 / self.height) + 4
        occupied = np.zeros(last, dtype=bool)
        occupied[np.floor(self.keys / _WIDTH).astype(np.int64) + 1] = True
        return occupied

    def pairs(
        self, lon: np.ndarray, lat: np.ndarray, limit_m: np.ndarray | float
    ) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """Yield (record, site, metres) for all pairs at `limit_m` or nearer: exactly at it is within."""
        limits = np.broadcast_to(limit_m, np.shape(lon))
        window = _window_degrees(np.minimum(np.abs(lat) + self.height, 90.0), self.radius_m)
        band = self._band(lat)
        for step in (-1, 0, 1):
            rows = np.flatnonzero(self._bands[np.clip(band + step + 1, 0, len(self._bands) - 1).astype(np.int64)])
            middle = (band[rows] + step) * _WIDTH + lon[rows] + 540.0
            first = np.searchsorted(self.keys, middle - window[rows])
            count = np.searchsorted(self.keys, middle + window[rows], side="right") - first
            for record, place in _expanded(rows, first, count):
                site = self.number[place]
                distance = geodesic_m(lon[record], lat[record], self.lon[site], self.lat[site])
                near = distance <= limits[record]
                yield record[near], site[near], distance[near]


def _expanded(rows: np.ndarray, first: np.ndarray, count: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Write out slices as pairs, a bounded number at a time."""
    some = count > 0
    rows, first, count = rows[some], first[some], count[some]
    ends = np.cumsum(count)
    start = 0
    while start < len(rows):
        done = ends[start - 1] if start else 0
        stop = max(int(np.searchsorted(ends, done + _PAIRS, side="right")), start + 1)
        number = count[start:stop]
        within = np.arange(number.sum()) - np.repeat(np.cumsum(number) - number, number)
        yield np.repeat(rows[start:stop], number), np.repeat(first[start:stop], number) + within
        start = stop


class Nearest:
    """The nearest of many records to each of a few places, the records coming in batches."""

    def __init__(self, lon: np.ndarray, lat: np.ndarray):
        self.lon, self.lat = np.asarray(lon, dtype=float), np.asarray(lat, dtype=float)
        self._at = _earth_centred(self.lon, self.lat)
        self._chord = np.full(len(self.lon), np.inf)
        self._lon, self._lat = self.lon.copy(), self.lat.copy()

    def see(self, lon: np.ndarray, lat: np.ndarray) -> None:
        """Look at a batch of records; those without a coordinate are passed over."""
        from scipy.spatial import cKDTree

        there = np.isfinite(lon) & np.isfinite(lat)
        lon, lat = lon[there], lat[there]
        if not len(lon) or not len(self.lon):
            return
        tree = cKDTree(_earth_centred(lon, lat), balanced_tree=False, compact_nodes=False)
        chord, index = tree.query(self._at)
        better = chord < self._chord
        self._chord[better] = chord[better]
        self._lon[better], self._lat[better] = lon[index[better]], lat[index[better]]

    def metres(self) -> np.ndarray:
        """Give the distance of each place to its nearest record; infinite where there was none."""
        found = np.isfinite(self._chord)
        metres = np.full(len(self.lon), np.inf)
        metres[found] = geodesic_m(self.lon[found], self.lat[found], self._lon[found], self._lat[found])
        return metres


def _earth_centred(lon: np.ndarray, lat: np.ndarray) -> np.ndarray:
    """Place points in space, metres from the centre of the WGS84 ellipsoid."""
    e2 = (2 - 1 / 298.257223563) / 298.257223563
    angle, turn = np.radians(lat), np.radians(lon)
    normal = 6_378_137.0 / np.sqrt(1 - e2 * np.sin(angle) ** 2)
    flat = normal * np.cos(angle)
    return np.column_stack([flat * np.cos(turn), flat * np.sin(turn), normal * (1 - e2) * np.sin(angle)])
