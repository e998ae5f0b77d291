"""The second and third sieve: a KD-tree on chords, and the geodesic for what is left."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from spatialsplit.distances.geodesics import Floats, Integers, earth_centred, geodesic_m
from spatialsplit.distances.surroundings import Surroundings
from spatialsplit.errors import DataError

TIE_M = 1e-6
"""Geodesics that differ by less are equally long: the noise of a geodesic is some nanometres."""

TIED_PAIRS = 1 << 18
"""Pairs of a record and a site that may be its nearest, as many as are measured at once."""


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
        self._map = Surroundings(self.lon, self.lat, self.max_radius_m)
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
