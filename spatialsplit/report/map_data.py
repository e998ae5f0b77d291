"""What the map that can be asked knows: quadrats, test surveys, removed records, and where records are at all."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from spatialsplit.audit.report import CannotRun
from spatialsplit.audit.tables import Unreadable
from spatialsplit.errors import DataError
from spatialsplit.plots.palette import in_order
from spatialsplit.quadrats import EquatorGrid, Grid
from spatialsplit.report.source import Source

MOST_POINTS = 20_000
"""Test surveys or removed records on a map, at most; of more, every so-and-so-many-th is shown."""

MOST_CELLS = 20_000
"""Squares of the background, at most."""

DEGREE_M = 111_195.0
Numbers = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Points:
    """Places on the map, perhaps a part of all.

    Attributes
    ----------
    metres : array of int, shape (n, 2)
    names : list of str
        The survey of each, or nothing.
    n_all : int
        How many there are in all.
    """

    metres: Numbers
    names: list[str]
    n_all: int


@dataclass(frozen=True)
class MapFrame:
    """The plane of the map: that of the grid, or degrees drawn as metres where the grid is not known."""

    grid: Grid | None

    def project(self, lon: Any, lat: Any) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        """Give easting and northing in metres; infinite or NaN where there is no place."""
        lon, lat = np.asarray(lon, dtype=np.float64), np.asarray(lat, dtype=np.float64)
        if self.grid is None:
            return lon * DEGREE_M * 0.7, lat * DEGREE_M
        there = (np.abs(lon) <= 360) & (np.abs(lat) <= 90)
        east, north = np.full(lon.shape, np.nan), np.full(lon.shape, np.nan)
        east[there], north[there] = self.grid.project(lon[there], lat[there])
        placed = self.grid.placed(east, north)
        return np.where(placed, east, np.nan), np.where(placed, north, np.nan)


def frame_of(source: Source) -> MapFrame:
    """Find the grid in the manifest, or in the labels of the quadrats."""
    grid = source.evidence.promise.grid
    if grid is None:
        return MapFrame(None)
    try:
        if grid.crs is None:
            return MapFrame(EquatorGrid())
        origin = (round(grid.origin[0]), round(grid.origin[1]))
        return MapFrame(Grid(grid.crs, round(grid.size_m), origin))
    except DataError:
        return MapFrame(None)


@dataclass(frozen=True)
class MapData:
    """All that is on the map.

    Attributes
    ----------
    frame : MapFrame
    quadrats : DataFrame
        `label, subset, n_surveys, n_empty, west, south`: a row a quadrat that could be placed.
    sites, removed : Points
    records : DataFrame
        `lon, lat` of presence-only records, or of some.
    sampled : bool
        Whether the records are some of them.
    unplaced : int
        Quadrats whose label is none of the grid.
    """

    frame: MapFrame
    quadrats: pd.DataFrame
    sites: Points
    removed: Points
    records: pd.DataFrame
    sampled: bool
    unplaced: int = 0

    @cached_property
    def corners(self) -> Numbers:
        """The lower-left corners, shape (n, 2)."""
        return self.quadrats[["west", "south"]].to_numpy(dtype=np.int64)

    @property
    def size_m(self) -> int:
        """The side of a quadrat; 0 where there is no grid."""
        return self.frame.grid.size_m if self.frame.grid is not None else 0

    def as_dict(self) -> dict[str, Any]:
        """Give what the page's script reads; metres count from the south-western corner."""
        west, south, east, north = self._extent()
        cells, factor = self._record_cells()
        names = in_order(set(self.quadrats["subset"]))
        columns, rows = ((self.corners - (west, south)) // max(self.size_m, 1)).T
        return {
            "size": self.size_m,
            "extent": [0, 0, east - west, north - south],
            "subsets": names,
            "subset": [names.index(name) for name in self.quadrats["subset"]],
            "column": columns.tolist(),
            "row": rows.tolist(),
            "surveys": self.quadrats["n_surveys"].tolist(),
            "empty": self.quadrats["n_empty"].tolist(),
            "labels": short_labels(self.quadrats["label"].tolist(), self.corners, (west, south)),
            "west": west,
            "south": south,
            "sites": {"at": (self.sites.metres - (west, south)).ravel().tolist(), "names": self.sites.names},
            "removed": (self.removed.metres - (west, south)).ravel().tolist(),
            "records": {
                "side": self.size_m * factor,
                "at": (cells[:, :2] - (west, south)).ravel().tolist(),
                "n": cells[:, 2].tolist(),
                "sampled": self.sampled,
            },
            "lines": self._graticule((west, south, east, north)),
        }

    def _extent(self) -> tuple[int, int, int, int]:
        size = self.size_m
        corners = [self.corners, self.corners + size, self.sites.metres, self.removed.metres]
        every = np.concatenate([part for part in corners if len(part)] or [np.array([[0, 0], [1000, 1000]])])
        low, high = every.min(axis=0), np.maximum(every.max(axis=0), every.min(axis=0) + 1)
        if len(self.corners):
            low = self.corners.min(axis=0) - np.ceil((self.corners.min(axis=0) - low) / size).astype(int) * size
        return int(low[0]), int(low[1]), int(high[0]), int(high[1])

    def _record_cells(self) -> tuple[Numbers, int]:
        """Count the records a square; squares grow until there are not too many."""
        empty = np.zeros((0, 3), dtype=np.int64)
        if self.frame.grid is None or not {"lon", "lat"} <= set(self.records.columns):
            return empty, 1
        easting, northing = self.frame.project(self.records["lon"], self.records["lat"])
        there = np.isfinite(easting) & np.isfinite(northing)
        if not there.any():
            return empty, 1
        origin = self.corners[0] if len(self.corners) else np.zeros(2, dtype=np.int64)
        at = np.column_stack([easting[there], northing[there]]) - origin
        factor = 1
        while True:
            cells, counts = np.unique(
                np.floor(at / (self.size_m * factor)).astype(np.int64), axis=0, return_counts=True
            )
            if len(cells) <= MOST_CELLS:
                return np.column_stack([cells * self.size_m * factor + origin, counts]).astype(np.int64), factor
            factor *= 2

    def _graticule(self, extent: tuple[int, int, int, int]) -> list[dict[str, Any]]:
        """Give lines of equal longitude and latitude, with their words."""
        lonlat = self._lonlat()
        if lonlat is None:
            return []
        west, south, east, north = lonlat
        step = _round_step(max(east - west, north - south) / 4)
        up, along = np.linspace(south - step, north + step, 60), np.linspace(west - step, east + step, 60)
        lons, lats = _multiples(west, east, step), _multiples(south, north, step)
        lines = [self._line(np.full(60, lon), up, extent, lon, "EW") for lon in lons]
        lines += [self._line(along, np.full(60, lat), extent, lat, "NS") for lat in lats]
        return [line for line in lines if len(line["at"]) > 2]

    def _lonlat(self) -> tuple[float, float, float, float] | None:
        """Give the extent in degrees of what is on the map."""
        parts = [frame for frame in (self.records, self._places) if len(frame) and {"lon", "lat"} <= set(frame.columns)]
        if not parts:
            return None
        every = pd.concat([part[["lon", "lat"]] for part in parts]).dropna()
        if every.empty or float(every["lon"].max() - every["lon"].min()) > 300:
            return None
        low, high = every.min(), every.max()
        return float(low["lon"]), float(low["lat"]), float(high["lon"]), float(high["lat"])

    @cached_property
    def _places(self) -> pd.DataFrame:
        return pd.DataFrame(self.quadrats.attrs.get("lonlat", np.zeros((0, 2))), columns=["lon", "lat"])

    def _line(self, lon: Any, lat: Any, extent: tuple[int, int, int, int], value: float, sides: str) -> dict[str, Any]:
        east, north = self.frame.project(lon, np.clip(lat, -89.9, 89.9))
        there = np.isfinite(east) & np.isfinite(north)
        at = np.column_stack([east[there] - extent[0], north[there] - extent[1]]).round().astype(np.int64)
        side = "" if value == 0 else sides[0 if value > 0 else 1]
        return {"at": at.ravel().tolist(), "word": f"{abs(value):g}° {side}".strip(), "upright": sides == "EW"}


def _round_step(degrees: float) -> float:
    return next((step for step in (0.1, 0.2, 0.5, 1, 2, 5, 10, 20) if step >= degrees), 30.0)


def _multiples(low: float, high: float, step: float) -> list[float]:
    return [round(float(k * step), 6) for k in range(int(np.ceil(low / step)), int(np.floor(high / step)) + 1)]


def short_labels(labels: Sequence[str], corners: Numbers, corner: tuple[int, int]) -> dict[str, Any]:
    """Give labels as a pattern of easting and northing where all follow it, else one by one.

    Examples
    --------
    >>> short_labels(["CRS3035RES5000mN10000E5000"], np.array([[5000, 10000]]), (0, 0))
    {'pattern': 'CRS3035RES5000mN{n}E{e}'}
    >>> short_labels(["here"], np.array([[5000, 10000]]), (0, 0))
    {'each': ['here']}
    """
    match = re.fullmatch(r"(CRS\d+RES\d+mN)-?\d+E-?\d+", labels[0]) if labels else None
    if match and all(
        label == f"{match[1]}{north}E{east}" for label, (east, north) in zip(labels, corners.tolist(), strict=True)
    ):
        return {"pattern": f"{match[1]}{{n}}E{{e}}"}
    return {"each": list(labels)}


def quadrats_of(source: Source, frame: MapFrame) -> tuple[pd.DataFrame, int]:
    """Give the quadrats with their corners, and how many labels are none of the grid."""
    table = _listed(source)
    corners, known = [], []
    for position, label in enumerate(table["label"].tolist()):
        try:
            corners.append(frame.grid.bounds(label)[:2] if frame.grid is not None else _nowhere())
            known.append(position)
        except DataError:
            continue
    placed = table.iloc[known].reset_index(drop=True)
    placed[["west", "south"]] = np.array(corners, dtype=np.int64).reshape(-1, 2)
    places = source.evidence.places[["lon", "lat"]].dropna()
    placed.attrs["lonlat"] = places.to_numpy()
    return placed, len(table) - len(placed)


def _nowhere() -> tuple[int, int]:
    raise DataError("there is no grid")


def _listed(source: Source) -> pd.DataFrame:
    """Read quadrats.csv, or count the quadrats of the surveys where it is not there."""
    table = source.table("quadrats")
    columns = ["quadratId", "n_surveys", "n_empty", "subset"]
    try:
        listed = table.naming(columns).read(*columns) if table is not None else pd.DataFrame()
    except Unreadable:
        listed = pd.DataFrame()
    if {"quadratId", "subset"} <= set(listed.columns):
        counts = {name: _whole(listed, name) for name in ("n_surveys", "n_empty")}
        return pd.DataFrame({"label": listed["quadratId"], "subset": listed["subset"], **counts})
    return _counted(source)


def _counted(source: Source) -> pd.DataFrame:
    evidence = source.evidence
    try:
        stands = evidence.places.assign(label=evidence.quadrat_of_places)
    except CannotRun:
        return pd.DataFrame({"label": [], "subset": [], "n_surveys": [], "n_empty": []})
    stands = stands[stands["label"] != ""].drop_duplicates(["label", "subset", "survey", "key"])
    counts = (
        stands.astype({"label": str, "subset": str}).groupby(["label", "subset"]).size().reset_index(name="n_surveys")
    )
    return counts.drop_duplicates("label").assign(n_empty=0)


def _whole(listed: pd.DataFrame, name: str) -> pd.Series:
    if name not in listed.columns:
        return pd.Series(0, index=listed.index)
    return pd.to_numeric(listed[name], errors="coerce").fillna(0).clip(0, 1e9).astype(np.int64)


def points_of(frame: MapFrame, places: pd.DataFrame) -> Points:
    """Put places on the map; of very many, evenly some."""
    if not {"lon", "lat"} <= set(places.columns):
        return Points(np.zeros((0, 2), dtype=np.int64), [], 0)
    step = max(1, -(-len(places) // MOST_POINTS))
    chosen = places.iloc[::step]
    easting, northing = frame.project(chosen["lon"], chosen["lat"])
    there = np.isfinite(easting) & np.isfinite(northing)
    metres = np.column_stack([easting[there], northing[there]]).round().astype(np.int64)
    names = chosen["survey"][there].astype(str).tolist() if "survey" in chosen.columns else []
    return Points(metres.reshape(-1, 2), names, len(places))
