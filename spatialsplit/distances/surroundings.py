"""The first sieve: a bitmap of the sites' surroundings in longitude and latitude.

It turns away most records for a few nanoseconds each, and never one that is near a site.
"""

from __future__ import annotations

import numpy as np

from spatialsplit.distances.geodesics import Floats, Integers

METRES_PER_DEGREE_MIN = 110_574.0
"""The shortest degree of latitude on WGS84 (at the equator), rounded down."""

MAP_CELLS = 1 << 23
"""Cells of the bitmap, at most: as many as stay in a processor's cache."""

FINEST_DEGREES = 1e-6
"""The smallest cell: the column of any longitude fits an integer of 32 bits."""

SMALL_BOX_CELLS = 64
"""Boxes of at most so many cells are marked cell by cell."""

CHUNK_ROWS = 1 << 17
"""Records whose cells are looked up together: shorter steps than these make threads wait for each other."""


class Surroundings:
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
