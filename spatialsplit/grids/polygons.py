"""Quadrats that somebody drew: regions, catchments, protected areas. A point is inside exactly one, or it is listed.

A point on an edge that two polygons share is inside one of them: the crossing number is counted with half-open edges,
each taken from its lower end, so both polygons come to the same answer about the line between them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from spatialsplit.crs import WGS84, lonlat_to_metres, read_crs
from spatialsplit.errors import DataError, first_few
from spatialsplit.folds.grouping import group_labels
from spatialsplit.folds.places import Floats, Integers, check_pairs
from spatialsplit.quadrats import Quadrats

MOST_POINTS = 1_000_000
"""So many points are looked at at once."""


@dataclass(frozen=True, eq=False)
class PolygonGrid:
    """Polygons with names as quadrats.

    Parameters
    ----------
    shapes : sequence of shapely polygons or multipolygons
        Not overlapping.
    names : sequence of str or int
        One for each; shapes of one name are one quadrat.
    crs : str, optional
        Of the shapes. None for a plane: then points are easting and northing.

    Raises
    ------
    DataError
        A shape is missing, empty, invalid or no polygon, a name is missing, or the CRS is unknown.

    Examples
    --------
    >>> import shapely
    >>> grid = PolygonGrid([shapely.box(0, 0, 1, 1), shapely.box(1, 0, 2, 1)], ["west", "east"], crs=None)
    >>> grid.assign(np.array([0.5, 1.0]), np.array([0.5, 0.5])).of_each_point()
    ['west', 'east']
    >>> grid.outside(np.array([0.5, 2.0]), np.array([0.5, 0.5])).tolist()
    [1]
    """

    shapes: Sequence[Any]
    names: Sequence[Any]
    crs: str | None = WGS84

    def __post_init__(self) -> None:
        bad = [i for i, shape in enumerate(self.shapes) if not _is_area(shape)]
        if bad or not len(self.shapes):
            raise DataError(
                f"{len(bad)} of {len(self.shapes)} shapes are no polygons (first: number "
                f"{first_few(bad) or 'none'}). A quadrat "
                "must be a polygon or multipolygon with an area. Leave the others out, or give some."
            )
        invalid = [i for i, shape in enumerate(self.shapes) if not shape.is_valid]
        if invalid:
            raise DataError(
                f"{len(invalid)} of {len(self.shapes)} shapes cross or touch themselves (first: number {invalid[0]}: "
                f"{_why_invalid(list(self.shapes)[invalid[0]])}). It must be clear what is inside. Mend them with "
                "shapely.make_valid."
            )
        if self.crs is not None:
            read_crs(self.crs)
        labels = group_labels(list(self.names), len(self.shapes), where="names")
        object.__setattr__(self, "shapes", list(self.shapes))
        object.__setattr__(self, "names", [labels.labels[code] for code in labels.codes.tolist()])

    @property
    def planar(self) -> bool:
        """Whether there is no CRS."""
        return self.crs is None

    @classmethod
    def of_frame(cls, frame: Any, names: str) -> PolygonGrid:
        """Take the shapes of a geo data frame, and the names of one of its columns."""
        if names not in frame.columns:
            raise DataError(
                f"No column '{names}' in the shapes. It has: {first_few(frame.columns, shown=12)}. Correct names."
            )
        return cls(list(frame.geometry), frame[names].tolist(), None if frame.crs is None else frame.crs.to_wkt())

    def locate(self, lon: Floats, lat: Floats) -> Integers:
        """Give the number of the shape that each point is in, -1 where it is in none.

        Raises
        ------
        DataError
            A point is in several: the shapes overlap.
        """
        east, north = check_pairs(lon, lat)
        if self.crs is not None:
            east, north = lonlat_to_metres(east, north, self.crs)
        found: Integers = np.full(len(east), -1, dtype=np.int64)
        clashes: dict[tuple[str, str], int] = {}
        for start in range(0, len(east), MOST_POINTS):
            part = slice(start, start + MOST_POINTS)
            self._locate_some(east[part], north[part], found[part], clashes)
        if clashes:
            (first, second), n = max(clashes.items(), key=lambda each: (each[1], each[0]))
            raise DataError(
                f"{sum(clashes.values()):,} points lie in more than one shape (most: {n:,} in both '{first}' and "
                f"'{second}'). A point "
                "must have one quadrat. Correct the shapes so that they do not overlap."
            )
        return found

    def _locate_some(self, east: Floats, north: Floats, found: Integers, clashes: dict[tuple[str, str], int]) -> None:
        order = np.argsort(east, kind="stable")
        sorted_east = east[order]
        for number, shape in enumerate(self.shapes):
            west, _, farthest_east, _ = shape.bounds
            strip = slice(*np.searchsorted(sorted_east, [west, np.nextafter(farthest_east, np.inf)]))
            rows = np.sort(order[strip])
            rows = rows[_rows_inside(shape, east[rows], north[rows])]
            for other in np.unique(found[rows]).tolist():
                if other >= 0 and self.names[other] != self.names[number]:
                    pair = (self.names[other], self.names[number])
                    clashes[pair] = clashes.get(pair, 0) + int(np.count_nonzero(found[rows] == other))
            found[rows] = number

    def outside(self, lon: Floats, lat: Floats) -> Integers:
        """List the points that are in no shape, by row number."""
        return np.flatnonzero(self.locate(lon, lat) < 0)

    def assign(self, lon: Floats, lat: Floats) -> Quadrats:
        """Give every point its quadrat.

        Raises
        ------
        DataError
            A point is in no shape, or in several.
        """
        lon, lat = check_pairs(lon, lat)
        number = self.locate(lon, lat)
        lost = np.flatnonzero(number < 0)
        if lost.size:
            first = first_few(f"row {i}: {lon[i]:g} {lat[i]:g}" for i in lost[:4].tolist())
            raise DataError(
                f"{lost.size:,} of {number.size:,} points lie in none of {len(self.shapes)} shapes (first: {first}). "
                "Every point must "
                "have a quadrat. Leave out the rows that outside() lists, or add shapes."
            )
        groups = group_labels([self.names[i] for i in number.tolist()], number.size)
        return Quadrats(groups.codes.astype(np.int32), groups.labels)

    def outline(self, label: str) -> Any:
        """Give the shape of a quadrat, in the CRS of the shapes."""
        import shapely

        parts = [shape for shape, name in zip(self.shapes, self.names, strict=True) if name == label]
        if not parts:
            raise DataError(
                f"There is no shape named '{label}'. Known: {first_few(sorted(set(self.names)))}. Correct it."
            )
        return shapely.union_all(parts)


def _is_area(shape: Any) -> bool:
    return getattr(shape, "geom_type", "") in ("Polygon", "MultiPolygon") and not shape.is_empty and shape.area > 0


def _why_invalid(shape: Any) -> str:
    import shapely

    return str(shapely.is_valid_reason(shape))


def _rows_inside(shape: Any, east: Floats, north: Floats) -> Integers:
    """Give the rows inside a shape, edges counted half-open; shapely decides about all that is not on an edge."""
    import shapely

    west, south, farthest_east, farthest_north = shape.bounds
    near = np.flatnonzero((east >= west) & (east <= farthest_east) & (north >= south) & (north <= farthest_north))
    if not near.size:
        return near
    shapely.prepare(shape)
    touched = near[shapely.intersects_xy(shape, east[near], north[near])]
    inner = shapely.contains_xy(shape, east[touched], north[touched])
    on_edge = touched[~inner]
    kept = np.concatenate([touched[inner], on_edge[_crossings(shape, east[on_edge], north[on_edge]) % 2 == 1]])
    return np.sort(kept)


def _crossings(shape: Any, east: Floats, north: Floats) -> Integers:
    """Count the edges to the east of each point, or through it."""
    import shapely

    count = np.zeros(len(east), dtype=np.int64)
    for ring in shapely.get_rings(shape):
        corners = shapely.get_coordinates(ring)
        for (e1, n1), (e2, n2) in zip(corners[:-1].tolist(), corners[1:].tolist(), strict=True):
            if n1 == n2:
                continue
            low, high = ((e1, n1), (e2, n2)) if n1 < n2 else ((e2, n2), (e1, n1))
            level = (north >= low[1]) & (north < high[1])
            side = (high[0] - low[0]) * (north - low[1]) - (east - low[0]) * (high[1] - low[1])
            count += level & (side > 0)
    return count
