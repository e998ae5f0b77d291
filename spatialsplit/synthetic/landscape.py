"""The made-up country: relief, climate, coast, and where a point stands in it.

Coordinates inside this folder are whole microdegrees (WGS84), so that a written coordinate is the one that
was decided on. The country lies round 10 E 50 N, in the land area of EPSG:3035, and has nothing to do with
what is there.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from spatialsplit.synthetic.dice import Dice, Flags, Integers, Numbers

WEST, NORTH = 8_000_000, 51_300_000  # microdegrees
PIXEL = 10_000  # microdegrees: 0.01 degrees, about 0.7 by 1.1 km
N_ROWS, N_COLUMNS = 270, 420  # about 300 by 300 km
LON_PER_KM, LAT_PER_KM = 13_970, 8_990  # microdegrees, at 50 N; near enough to scatter points with
SEA_PERCENT = 12
COUNTRIES = ("Avelland", "Brune", "Corvany", "Dornmark", "Esterre")
REGIONS = ("COASTAL", "LOWLAND", "UPLAND", "MONTANE")
_REGION_LIMITS_M = (40, 250, 600)


@dataclass(frozen=True)
class Landscape:
    """Rasters of the country as flat arrays, row by row from the north-west; at sea they mean nothing."""

    land: Flags
    elevation_m: Integers
    temperature_tenths: Integers  # of a degree Celsius
    precipitation_mm: Integers
    wetness: Numbers  # of the soil, 0 to 1: the hidden cause that no raster shows
    country: Integers

    @property
    def region(self) -> Integers:
        """The altitudinal belt of each pixel, a position in REGIONS."""
        return np.searchsorted(np.array(_REGION_LIMITS_M), self.elevation_m, side="right").astype(np.int64)

    def is_land(self, lon: Integers, lat: Integers) -> Flags:
        """Tell which points stand on land; outside the map is sea."""
        column, row = (lon - WEST) // PIXEL, (NORTH - lat) // PIXEL
        inside = (column >= 0) & (column < N_COLUMNS) & (row >= 0) & (row < N_ROWS)
        on_land: Flags = self.land[np.where(inside, row * N_COLUMNS + column, 0)]
        return inside & on_land

    def random_places(self, dice: Dice, n: int) -> tuple[Integers, Integers]:
        """Draw n points anywhere on land."""
        pixels = np.flatnonzero(self.land)
        pixel = pixels[dice.below(len(pixels), n)]
        lon = WEST + pixel % N_COLUMNS * PIXEL + 1 + dice.below(PIXEL - 1, n)
        return lon, NORTH - pixel // N_COLUMNS * PIXEL - 1 - dice.below(PIXEL - 1, n)


def pixel_of(lon: Integers, lat: Integers) -> Integers:
    """Give the pixel in which points of the map lie."""
    return (NORTH - lat) // PIXEL * N_COLUMNS + (lon - WEST) // PIXEL


def pixel_centre(pixel: Integers) -> tuple[Integers, Integers]:
    """Give the lon and lat of pixels' centres."""
    half = PIXEL // 2
    return WEST + pixel % N_COLUMNS * PIXEL + half, NORTH - pixel // N_COLUMNS * PIXEL - half


def shifted(lon: Integers, lat: Integers, east_km: Numbers, north_km: Numbers) -> tuple[Integers, Integers]:
    """Move points, and keep them off the edges of pixels, where two readers of a raster may disagree."""
    moved_lon = lon + np.rint(east_km * LON_PER_KM).astype(np.int64)
    moved_lat = lat + np.rint(north_km * LAT_PER_KM).astype(np.int64)
    return moved_lon + (moved_lon % PIXEL == 0), moved_lat + (moved_lat % PIXEL == 0)


def make_landscape(seed: str) -> Landscape:
    """Raise the land: a sea in the north-west, mountains towards the south-east, a climate that follows both.

    Parameters
    ----------
    seed : str
        Seed text. The country depends on it alone, not on how many records are made.

    Returns
    -------
    Landscape
    """
    dice = Dice(seed, "landscape")
    south = np.repeat(np.arange(N_ROWS) / N_ROWS, N_COLUMNS)
    east = np.tile(np.arange(N_COLUMNS) / N_COLUMNS, N_ROWS)
    relief = (_noise(dice, 97) + _noise(dice, 41) * 0.5 + _noise(dice, 17) * 0.2 + _noise(dice, 7) * 0.1) / 1.8
    height = relief + (south + east) * 0.4
    shore = np.sort(height)[height.size * SEA_PERCENT // 100]
    rise = np.maximum(height - shore, 0.0) / (height.max() - shore)
    elevation = np.rint(rise * rise * 1_900.0 + rise * 60.0 + 1.0)
    temperature = 108.0 - elevation * 0.06 + south * 12.0 + (_noise(dice, 61) - 0.5) * 30.0
    precipitation = 560.0 + elevation * 0.4 - east * 160.0 + (_noise(dice, 53) - 0.5) * 420.0
    return Landscape(
        land=height >= shore,
        elevation_m=elevation.astype(np.int64),
        temperature_tenths=np.rint(temperature).astype(np.int64),
        precipitation_mm=np.rint(precipitation).astype(np.int64),
        wetness=(_noise(dice, 23) * 2.0 + _noise(dice, 9)) / 3.0,
        country=_nearest_capital(dice),
    )


def _noise(dice: Dice, spacing_px: int) -> Numbers:
    """Smooth hills between 0 and 1: random heights on a lattice, joined by smooth steps."""
    row, row_step = _smooth_steps(N_ROWS, spacing_px)
    column, column_step = _smooth_steps(N_COLUMNS, spacing_px)
    shape = (int(row[-1]) + 2, int(column[-1]) + 2)
    lattice = dice.fractions(shape[0] * shape[1]).reshape(shape)
    along = lattice[:, column] * (1.0 - column_step) + lattice[:, column + 1] * column_step
    down = row_step[:, None]
    hills: Numbers = along[row] * (1.0 - down) + along[row + 1] * down
    return hills.ravel()


def _smooth_steps(n: int, spacing_px: int) -> tuple[Integers, Numbers]:
    position = np.arange(n, dtype=np.int64)
    part = (position % spacing_px) / spacing_px
    return position // spacing_px, part * part * (3.0 - part * 2.0)


def _nearest_capital(dice: Dice) -> Integers:
    """Share the map among the countries, each pixel to the nearest capital."""
    pixel = np.arange(N_ROWS * N_COLUMNS)
    n = len(COUNTRIES)
    row, column = dice.below(N_ROWS, n), dice.below(N_COLUMNS, n)
    distances = [
        (pixel // N_COLUMNS - r) ** 2 * 9 + (pixel % N_COLUMNS - c) ** 2 * 4 for r, c in zip(row, column, strict=True)
    ]
    nearest: Integers = np.argmin(np.stack(distances), axis=0).astype(np.int64)
    return nearest
