"""Looking for the grid that a published split respects: plausible systems, sizes and origins, best first.

A grid that was not drawn on shares as many quadrats between two subsets as chance will have it; the one that
was drawn on shares next to none. Chance is measured on the same grid moved by odd fractions of its size.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from spatialsplit.audit.grids import Grid, indices
from spatialsplit.errors import DataError

SYSTEMS: tuple[str | None, ...] = (
    None, "EPSG:3035", "EPSG:6933", "EPSG:3857", "EPSG:2154", "EPSG:27700", "EPSG:21781", "EPSG:5070",
    "EPSG:4326",
)  # fmt: skip
SIZES_M = (1_000.0, 2_000.0, 2_500.0, 5_000.0, 10_000.0, 20_000.0, 25_000.0, 50_000.0, 100_000.0)
SIZES_DEGREES = (0.01, 0.05, 0.1, 1 / 6, 0.25, 0.5, 1.0)
_MOVES = ((0.31, 0.0), (0.0, 0.37), (0.29, 0.43), (0.71, 0.19))
_ENOUGH = 10.0
_FAR_BELOW = 0.1


@dataclass(frozen=True)
class FoundGrid:
    """One grid that was tried: how many quadrats two subsets share in it, and how many by chance."""

    grid: Grid
    shared: int
    chance: float

    @property
    def plausible(self) -> bool:
        """True where the shared ones are far fewer than chance would give, and chance would give some."""
        return self.chance >= _ENOUGH and self.shared <= _FAR_BELOW * self.chance

    @property
    def ratio(self) -> float:
        """Shared ones over those by chance, so that small numbers say little."""
        return (self.shared + 1) / (self.chance + 1)

    def as_dict(self) -> dict[str, Any]:
        """Give the grid as it stands in JSON."""
        return {
            "grid": "glc2022" if self.grid.crs is None else self.grid.crs,
            "size": round(self.grid.size_m, 6),
            "origin": [round(part, 6) for part in self.grid.origin],
            "shared": self.shared,
            "by_chance": round(self.chance, 1),
            "plausible": self.plausible,
        }


def find_grid(rows: pd.DataFrame, *, shown: int = 10) -> list[FoundGrid]:
    """Try plausible grids and give the best ones, the most telling first.

    Parameters
    ----------
    rows : DataFrame
        `subset, lon, lat`: at least two subsets. Every place counts once.
    shown : int
        How many to give.

    Raises
    ------
    DataError
        Fewer than two subsets.
    """
    places = rows.drop_duplicates(["subset", "lon", "lat"]).dropna(subset=["lon", "lat"])
    held = (places["subset"] != "train").to_numpy()
    if held.all() or not held.any():
        raise DataError(
            "A grid is found by two subsets, train and another; there is one only. Give --val or --test too."
        )
    lon, lat = places["lon"].to_numpy(), places["lat"].to_numpy()
    found = [grid for crs in SYSTEMS for grid in _tried(crs, lon, lat, held)]
    return sorted(found, key=lambda grid: (not grid.plausible, grid.ratio, -grid.grid.size_m))[:shown]


def _tried(crs: str | None, lon: np.ndarray, lat: np.ndarray, held: np.ndarray) -> Iterator[FoundGrid]:
    easting, northing = Grid(crs, 1.0, (0, 0)).project(lon, lat)
    if (np.isfinite(easting) & np.isfinite(northing)).mean() < 0.9:
        return
    scale = 100_000.0 if crs == "EPSG:4326" else 1.0  # degrees are counted in units of about a metre
    for size in SIZES_DEGREES if crs == "EPSG:4326" else SIZES_M:
        chance = _chance(easting * scale, northing * scale, size * scale, held)
        for origin in ((0.0, 0.0), (size / 2, size / 2), (size / 2, 0.0), (0.0, size / 2)):
            moved = (origin[0] * scale, origin[1] * scale)
            shared = _shared(easting * scale, northing * scale, size * scale, moved, held)
            yield FoundGrid(Grid(crs, size, origin), shared, chance)


def _chance(easting: np.ndarray, northing: np.ndarray, size: float, held: np.ndarray) -> float:
    moves = [(east * size, north * size) for east, north in _MOVES]
    return float(np.mean([_shared(easting, northing, size, move, held) for move in moves]))


def _shared(
    easting: np.ndarray, northing: np.ndarray, size: float, origin: tuple[float, float], held: np.ndarray
) -> int:
    """Count the quadrats that hold places of both sides."""
    columns, rows, placed = indices(easting, northing, size, origin)
    number = columns * (1 << 32) + rows
    ours, theirs = np.unique(number[held & placed]), np.unique(number[~held & placed])
    return int(np.isin(ours, theirs, assume_unique=True).sum())
