"""Point → quadrat by the audit's own arithmetic: Snyder's formulas, whole centimetres as integers.

EPSG:3035 and the organizers' `glc2022` grid are computed here from their definitions; other systems through
pyproj. Nothing is shared with the geometry of the build.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

Projection = Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]

_INSPIRE = re.compile(r"CRS(\d+)RES(\d+)mN(-?\d+)E(-?\d+)")
_GLC2022 = re.compile(r"e(\d{4,})n(\d{4,})")
_WGS84_A, _WGS84_F = 6_378_137.0, 1 / 298.257223563
_GRS80_F = 1 / 298.257222101
EDGE_M = 0.01


def laea_europe(lon: np.ndarray, lat: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Project to EPSG:3035 by Snyder, Map Projections: A Working Manual (1987), p. 187-190.

    ETRS89 and WGS84 longitude and latitude are taken as equal, as PROJ takes them.

    Examples
    --------
    >>> laea_europe(np.array([10.0]), np.array([52.0]))
    (array([4321000.]), array([3210000.]))
    """
    e2 = _GRS80_F * (2 - _GRS80_F)
    e = e2**0.5

    def authalic(sine: Any) -> Any:
        """Give Snyder's q of a sine of latitude: what keeps areas equal."""
        return (1 - e2) * (sine / (1 - e2 * sine**2) - np.log((1 - e * sine) / (1 + e * sine)) / (2 * e))

    whole = authalic(1.0)
    radius = _WGS84_A * (whole / 2) ** 0.5
    sin0 = np.sin(np.radians(52.0))
    sin_b0 = authalic(sin0) / whole
    cos_b0 = (1 - sin_b0**2) ** 0.5
    stretch = _WGS84_A * np.cos(np.radians(52.0)) / (1 - e2 * sin0**2) ** 0.5 / (radius * cos_b0)
    sin_b = authalic(np.sin(np.radians(lat))) / whole
    cos_b = np.sqrt((1 - sin_b) * (1 + sin_b))
    turn = np.radians(np.asarray(lon) - 10.0)
    scale = radius * np.sqrt(2 / (1 + sin_b0 * sin_b + cos_b0 * cos_b * np.cos(turn)))
    easting = 4_321_000 + scale * stretch * cos_b * np.sin(turn)
    northing = 3_210_000 + scale / stretch * (cos_b0 * sin_b - sin_b0 * cos_b * np.cos(turn))
    return easting, northing


def equator_and_meridian(lon: np.ndarray, lat: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Measure along the equator eastward from 30° W and along the meridian from the equator, on WGS84.

    The organizers' bins of GeoLifeCLEF 2020-2022. The arc is an incomplete elliptic integral of the second
    kind. South of the equator there are no bins: NaN.

    Examples
    --------
    >>> easting, northing = equator_and_meridian(np.array([0.0]), np.array([90.0]))
    >>> round(float(easting[0]), 3), round(float(northing[0]), 3)
    (3339584.724, 10001965.729)
    """
    from scipy.special import ellipeinc

    e2 = _WGS84_F * (2 - _WGS84_F)
    angle = np.radians(np.asarray(lat, dtype=float))
    bend = e2 * np.sin(angle) * np.cos(angle) / np.sqrt(1 - e2 * np.sin(angle) ** 2)
    northing = _WGS84_A * (ellipeinc(angle, e2) - bend)
    easting = _WGS84_A * np.radians((np.asarray(lon, dtype=float) + 30.0) % 360.0)
    return easting, np.where(angle >= 0, northing, np.nan)


_BATCH = 1 << 18
"""Points projected at once: formulas need many numbers a point."""

_ROWS = 1 << 32
"""More rows of quadrats than there are: a column and a row make one number."""


def projection(crs: str) -> Projection:
    """Give the function from WGS84 lon, lat to metres in a CRS (to degrees in a geographic one).

    Raises
    ------
    ValueError
        A CRS that PROJ does not know.
    """
    import pyproj
    import pyproj.network

    try:
        system = pyproj.CRS.from_user_input(crs)
    except pyproj.exceptions.CRSError as error:
        raise ValueError(f"Unknown CRS {crs!r}. Give an EPSG code as EPSG:3035.") from error
    if system.to_epsg() == 3035:
        return laea_europe
    pyproj.network.set_network_enabled(False)  # type: ignore[attr-defined]  # not in its __all__
    transformer = pyproj.Transformer.from_crs("OGC:CRS84", system, always_xy=True)

    def project(lon: np.ndarray, lat: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Transform by PROJ."""
        easting, northing = transformer.transform(lon, lat)
        return np.asarray(easting, dtype=float), np.asarray(northing, dtype=float)

    return project


@dataclass(frozen=True)
class Grid:
    """Half-open square quadrats in one coordinate system.

    Parameters
    ----------
    crs : str or None
        As `EPSG:3035`; None for the organizers' `glc2022`.
    size_m : float
        Side of a quadrat, metres (degrees where the CRS has degrees).
    origin : tuple of float
        A corner of a quadrat, easting first, in the same unit.

    Examples
    --------
    >>> Grid("EPSG:3035", 5000, (0, 0)).labels(np.array([10.0]), np.array([52.0])).tolist()
    ['CRS3035RES5000mN3210000E4320000']
    >>> Grid(None, 5000, (0, 0)).labels(np.array([2.35]), np.array([48.85])).tolist()
    ['e0720n1082']
    """

    crs: str | None
    size_m: float
    origin: tuple[float, float]

    @property
    def name(self) -> str:
        """What people call it."""
        if self.crs is None:
            return "glc2022" if self == Grid(None, 5000, (0, 0)) else f"glc2022 {self.size_m:g} m"
        return f"{self.crs} {self.size_m:g}"

    def project(self, lon: np.ndarray, lat: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Give easting and northing, not snapped."""
        transform = equator_and_meridian if self.crs is None else projection(self.crs)
        parts = [transform(lon[i : i + _BATCH], lat[i : i + _BATCH]) for i in range(0, len(lon) or 1, _BATCH)]
        return np.concatenate([part[0] for part in parts]), np.concatenate([part[1] for part in parts])

    def labels(self, lon: np.ndarray, lat: np.ndarray) -> np.ndarray:
        """Give each point its quadrat's label; empty text where a point has none."""
        texts, codes = self.coded_labels(lon, lat)
        return np.asarray(np.array(texts, dtype=object)[codes])

    def coded_labels(self, lon: np.ndarray, lat: np.ndarray) -> tuple[list[str], np.ndarray]:
        """Give the different labels in their order, the empty one first, and the position of each point's."""
        columns, rows, placed = indices(*self.project(lon, lat), self.size_m, self.origin)
        numbers, back = np.unique(columns * _ROWS + rows, return_inverse=True)
        column, row = (numbers + _ROWS // 2) // _ROWS, (numbers + _ROWS // 2) % _ROWS - _ROWS // 2
        texts = [self._label(*pair) for pair in zip(column.tolist(), row.tolist(), strict=True)]
        order = sorted(range(len(texts)), key=texts.__getitem__)
        place = np.empty(len(texts), dtype=np.int32)
        place[order] = np.arange(1, len(texts) + 1)
        return ["", *(texts[i] for i in order)], np.where(placed, place[back.ravel()], 0)

    def n_near_edges(self, lon: np.ndarray, lat: np.ndarray) -> int:
        """Count the points within 1 cm of a quadrat's edge: a change in the last digit could move them."""
        near = np.zeros(len(lon), dtype=bool)
        for metres, start in zip(self.project(lon, lat), self.origin, strict=True):
            rest = np.mod(metres - start, self.size_m)
            near |= np.minimum(rest, self.size_m - rest) <= EDGE_M
        return int(near.sum())

    def _label(self, column: int, row: int) -> str:
        if self.crs is None:
            return f"e{column:04d}n{row:04d}"
        east, north = (int(o + i * self.size_m) for o, i in zip(self.origin, (column, row), strict=True))
        return f"CRS{self.crs.rpartition(':')[2]}RES{int(self.size_m)}mN{north}E{east}"


def indices(
    easting: np.ndarray, northing: np.ndarray, size_m: float, origin: tuple[float, float]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Give column and row of each point by floor division of whole centimetres, and which points have one.

    Examples
    --------
    >>> easting, northing = np.array([4999.994, 4999.996, np.inf]), np.array([0.0, -0.01, 0.0])
    >>> columns, rows, placed = indices(easting, northing, 5000, (0, 0))
    >>> columns.tolist(), rows.tolist(), placed.tolist()
    ([0, 1, 0], [0, -1, 0], [True, True, False])
    """
    placed = np.isfinite(easting) & np.isfinite(northing)
    step = round(size_m * 100)
    cells = []
    for metres, start in zip((easting, northing), origin, strict=True):
        centimetres = np.rint(np.where(placed, metres, start) * 100).astype(np.int64)
        cells.append((centimetres - round(start * 100)) // step)
    return cells[0], cells[1], placed


def grid_of_labels(labels: list[str]) -> Grid | None:
    """Read the grid off its own labels, or None where they are of no known kind.

    Examples
    --------
    >>> grid_of_labels(["CRS3035RES10000mN2695000E4335000"])
    Grid(crs='EPSG:3035', size_m=10000, origin=(5000, 5000))
    """
    if not labels:
        return None
    if all(_GLC2022.fullmatch(label) for label in labels):
        return Grid(None, 5000, (0, 0))
    found = [_INSPIRE.fullmatch(label) for label in labels]
    grids = {
        (match[1], int(match[2]), int(match[4]) % int(match[2]), int(match[3]) % int(match[2]))
        for match in found
        if match is not None
    }
    if len(grids) != 1 or not all(found):
        return None
    code, size, east, north = grids.pop()
    return Grid(f"EPSG:{code}", size, (east, north))


def named_grid(name: str) -> Grid:
    """Give a grid by the name of its preset.

    Examples
    --------
    >>> named_grid("glc2024")
    Grid(crs='EPSG:3035', size_m=10000, origin=(5000, 5000))
    """
    presets = {"glc2022": Grid(None, 5000, (0, 0)), "glc2024": Grid("EPSG:3035", 10_000, (5000, 5000))}
    if name not in presets:
        raise ValueError(f"Unknown grid {name!r}. Known: {', '.join(presets)}.")
    return presets[name]
