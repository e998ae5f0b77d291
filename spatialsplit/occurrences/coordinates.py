"""Cells → published longitude and latitude, with the reason where there is none.

Coordinates are rounded to what will be published here, before anything is decided by them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from spatialsplit.crs import FARTHEST_M, WGS84, is_degrees, to_lonlat
from spatialsplit.occurrences.faults import CODES

Floats = npt.NDArray[np.float64]

MISSING_WORDS = ("", "na", "nan", "null", "none", "n/a")
"""What stands for a missing number in people's tables, in any case."""

NUMBER = r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$|^[+-]?(?i:inf|infinity)$"

FOUND, MISSING, NO_NUMBER = 0, 1, 2


@dataclass(frozen=True)
class Places:
    """Where the rows of a batch lie.

    Attributes
    ----------
    lon, lat : array of float, shape (n,)
        WGS84 degrees, rounded to what is published; NaN where there is a reason.
    reasons : array of int8, shape (n,)
        Position in `faults.REASONS`, 0 where all is fine.
    like_degrees : int
        Rows of a CRS in metres whose coordinates could be degrees.
    would_fit_swapped : int
        Rows whose latitude is none, but which would be valid with the axes exchanged.
    like_metres : int
        Rows of a CRS in degrees whose coordinates are far too large.
    """

    lon: Floats
    lat: Floats
    reasons: npt.NDArray[np.int8]
    like_degrees: int
    would_fit_swapped: int
    like_metres: int


def mark_unprojectable(project: Callable[[Floats, Floats], tuple[Floats, Floats]]) -> Callable[[Places], None]:
    """Give a look at places that marks those without a place in a grid's CRS.

    Parameters
    ----------
    project : callable
        Gives easting and northing of longitudes and latitudes, not finite where there are none.
    """

    def mark(places: Places) -> None:
        """Mark the places that are nowhere."""
        fine = np.flatnonzero(places.reasons == 0)
        easting, northing = project(places.lon[fine], places.lat[fine])
        lost = fine[~(np.isfinite(easting) & np.isfinite(northing))]
        places.reasons[lost] = CODES["unprojectable"]

    return mark


def parse_numbers(array: pa.Array) -> tuple[Floats, npt.NDArray[np.int8]]:
    """Read cells as numbers: the values, and for each cell whether it is FOUND, MISSING or NO_NUMBER.

    Examples
    --------
    >>> values, states = parse_numbers(pa.array([" 1.5", "NA", "1,5"]))
    >>> values.tolist(), states.tolist()
    ([1.5, nan, nan], [0, 1, 2])
    """
    if pa.types.is_string(array.type):
        return _parse_text(array)
    if not (pa.types.is_integer(array.type) or pa.types.is_floating(array.type) or pa.types.is_null(array.type)):
        return _parse_text(array.cast(pa.string()))
    values = array.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)  # a missing cell is NaN here
    return values, np.where(np.isnan(values), np.int8(MISSING), np.int8(FOUND))


def _parse_text(array: pa.Array) -> tuple[Floats, npt.NDArray[np.int8]]:
    """Read texts as numbers: at once where all are numbers or empty, as nearly always; else kind by kind."""
    for empty_is_missing in (False, True):
        cells = pc.if_else(pc.equal(array, ""), None, array) if empty_is_missing else array
        try:
            values = cells.cast(pa.float64()).fill_null(np.nan).to_numpy(zero_copy_only=False)
        except pa.ArrowInvalid:
            continue
        return values, np.where(np.isnan(values), np.int8(MISSING), np.int8(FOUND))
    return _parse_mixed(array)


def _parse_mixed(array: pa.Array) -> tuple[Floats, npt.NDArray[np.int8]]:
    text = pc.utf8_trim_whitespace(array.fill_null(""))
    missing = pc.is_in(pc.utf8_lower(text), value_set=pa.array(MISSING_WORDS))
    number = pc.match_substring_regex(text, NUMBER)
    values = pc.if_else(number, text, "nan").cast(pa.float64()).to_numpy(zero_copy_only=False)
    states = np.full(len(text), NO_NUMBER, dtype=np.int8)
    states[number.to_numpy(zero_copy_only=False)] = FOUND
    states[missing.to_numpy(zero_copy_only=False)] = MISSING
    return values, states


def read_places(first: pa.Array, second: pa.Array, crs: str = WGS84, decimals: int | None = 6) -> Places:
    """Read two columns, east first, as places.

    Parameters
    ----------
    first, second : pyarrow.Array
        Longitude and latitude, or easting and northing.
    crs : str
    decimals : int, optional
        Published decimals of a degree; None leaves the coordinates as they are.

    Examples
    --------
    >>> places = read_places(pa.array(["10.1234567", "10"]), pa.array(["52", "91"]))
    >>> places.lon.tolist(), places.reasons.tolist()
    ([10.123457, nan], [0, 2])
    """
    east, east_state = parse_numbers(first)
    north, north_state = parse_numbers(second)
    degrees = is_degrees(crs)
    inside = (np.abs(east) <= 180) & (np.abs(north) <= 90)  # false for NaN
    if degrees and inside.all():
        reasons = np.zeros(len(east), dtype=np.int8)
        return Places(*_to_published(east, north, reasons, crs, decimals), reasons, 0, 0, 0)
    bad_north = (north_state == NO_NUMBER) | np.isinf(north)
    bad_east = (east_state == NO_NUMBER) | np.isinf(east)
    swapped = like_metres = like_degrees = 0
    if degrees:
        out_north, out_east = np.abs(north) > 90, np.abs(east) > 180
        swapped = int(np.count_nonzero(out_north & (np.abs(north) <= 180) & (np.abs(east) <= 90)))
        like_metres = int(np.count_nonzero((np.abs(north) > 1000) & (np.abs(east) > 1000)))
        bad_north, bad_east = bad_north | out_north, bad_east | out_east
    else:
        like_degrees = int(np.count_nonzero(inside))
    missing = (east_state == MISSING) | (north_state == MISSING)
    reasons = np.zeros(len(east), dtype=np.int8)
    for name, mask in (("bad_longitude", bad_east), ("bad_latitude", bad_north), ("missing_coordinate", missing)):
        reasons[mask] = CODES[name]
    lon, lat = _to_published(east, north, reasons, crs, decimals)
    return Places(lon, lat, reasons, like_degrees, swapped, like_metres)


def _to_published(
    east: Floats, north: Floats, reasons: npt.NDArray[np.int8], crs: str, decimals: int | None
) -> tuple[Floats, Floats]:
    fine = reasons == 0
    lon, lat = np.where(fine, east, np.nan), np.where(fine, north, np.nan)
    if crs != WGS84:
        lon[fine], lat[fine] = to_lonlat(east[fine], north[fine], crs)
        lost = fine & ~((np.abs(lon) <= 180) & (np.abs(lat) <= 90))
        if not is_degrees(crs):
            lost |= fine & ~((np.abs(east) <= FARTHEST_M) & (np.abs(north) <= FARTHEST_M))
        reasons[lost] = CODES["unprojectable"]
        lon[lost] = lat[lost] = np.nan
    if decimals is not None:
        lon, lat = np.round(lon, decimals), np.round(lat, decimals)
    return lon, lat
