"""Longitude and latitude to metres and back, by PROJ's default operation with the network off.

Coordinates are always (lon, lat) or (easting, northing), in that order, whatever axis order the CRS declares. Which
metres make a quadrat stands in `quadrats`; distances need no CRS and stand in `distances`.
"""

from __future__ import annotations

import warnings
from functools import cache

import numpy as np
import numpy.typing as npt
import pyproj
from pyproj.exceptions import CRSError, ProjError
from pyproj.network import set_network_enabled  # type: ignore[attr-defined]  # documented there, not listed
from pyproj.transformer import TransformerGroup

from spatialsplit.errors import DataError, shown

Floats = npt.NDArray[np.float64]

WGS84 = "EPSG:4326"

FARTHEST_M = 1_000_000_000
"""No place on the earth has coordinates in metres beyond it, though some projections would find one."""


@cache
def read_crs(crs: str) -> pyproj.CRS:
    """Read a CRS from its code or WKT.

    Raises
    ------
    DataError
        PROJ does not know it.

    Examples
    --------
    >>> read_crs("EPSG:3035").name
    'ETRS89-extended / LAEA Europe'
    """
    try:
        return pyproj.CRS.from_user_input(crs)
    except CRSError:
        raise DataError(
            f"Unknown CRS '{shown(crs)}'. It must be a code such as EPSG:3035 or WKT that PROJ can read. Look it up "
            "by its EPSG number."
        ) from None


@cache
def _transformer(source: str, target: str) -> pyproj.Transformer:
    set_network_enabled(False)
    for crs in (source, target):
        if not (read_crs(crs).is_geographic or read_crs(crs).is_projected):
            raise DataError(
                f"The CRS {shown(crs)} ({read_crs(crs).name}) has no longitude and latitude, and no easting and "
                "northing. Coordinates need one that has. Correct crs."
            )
    try:
        return pyproj.Transformer.from_crs(read_crs(source), read_crs(target), always_xy=True)
    except ProjError as error:
        raise DataError(
            f"PROJ knows no way from {shown(source)} to {shown(target)} ({shown(error)}). Coordinates must be "
            "transformed. Choose another CRS."
        ) from None


def lonlat_to_metres(lon: Floats, lat: Floats, crs: str) -> tuple[Floats, Floats]:
    """Project WGS84 degrees to a CRS.

    Parameters
    ----------
    lon, lat : array of float, shape (n,), degrees
    crs : str

    Returns
    -------
    easting, northing : array of float, shape (n,)
        In the CRS's unit; infinite where a point cannot be projected.

    Examples
    --------
    >>> easting, northing = lonlat_to_metres(np.array([10.0]), np.array([52.0]), "EPSG:3035")
    >>> easting.round(2).tolist(), northing.round(2).tolist()
    ([4321000.0], [3210000.0])
    """
    return _transform(lon, lat, WGS84, crs)


def to_lonlat(first: Floats, second: Floats, crs: str) -> tuple[Floats, Floats]:
    """Turn coordinates of a CRS, east first, into WGS84 degrees; infinite where PROJ cannot.

    Examples
    --------
    >>> lon, lat = to_lonlat(np.array([4321000.0]), np.array([3210000.0]), "EPSG:3035")
    >>> lon.round(6).tolist(), lat.round(6).tolist()
    ([10.0], [52.0])
    """
    return _transform(first, second, crs, WGS84)


def _transform(first: Floats, second: Floats, source: str, target: str) -> tuple[Floats, Floats]:
    first = np.array(first, dtype=np.float64)
    second = np.array(second, dtype=np.float64)
    if source == target or not first.size or read_crs(source) == read_crs(target):
        return first, second
    return _transformer(source, target).transform(first, second, inplace=True)


def is_degrees(crs: str) -> bool:
    """Tell whether a CRS counts in degrees.

    Examples
    --------
    >>> is_degrees("EPSG:4326"), is_degrees("EPSG:3035")
    (True, False)
    """
    return bool(read_crs(crs).is_geographic)


def is_ballpark(crs: str) -> bool:
    """Tell whether PROJ knows no datum shift between a CRS and WGS84 and leaves it out.

    Coordinates may then be off by hundreds of metres. It is so for EPSG:4008 (Clarke 1866, no datum).

    Examples
    --------
    >>> is_ballpark("EPSG:4008"), is_ballpark("EPSG:21781")
    (True, False)
    """
    source = read_crs(crs)
    if source == read_crs(WGS84):
        return False
    set_network_enabled(False)
    with warnings.catch_warnings():  # that a finer way needs a grid file that is not here: the default one is taken
        warnings.simplefilter("ignore")
        operations = TransformerGroup(source, read_crs(WGS84), always_xy=True).transformers
    return not operations or "ballpark" in operations[0].description.casefold()


def is_equal_area(crs: str) -> bool:
    """Tell whether equal areas on the ground are equal areas in a CRS.

    Examples
    --------
    >>> is_equal_area("EPSG:3035"), is_equal_area("EPSG:3857")
    (True, False)
    """
    operation = read_crs(crs).coordinate_operation
    name = operation.method_name.casefold() if operation else ""
    return "equal area" in name or any(word in name for word in ("albers", "mollweide", "equal earth", "sinusoidal"))


def count_outside_area_of_use(lon: Floats, lat: Floats, crs: str) -> int:
    """Count the points that lie outside the area a CRS is made for, as EPSG's register bounds it.

    Examples
    --------
    >>> count_outside_area_of_use(np.array([10.0, -60.0]), np.array([52.0, -10.0]), "EPSG:3035")
    1
    """
    area = read_crs(crs).area_of_use
    if area is None:
        return 0
    if area.west <= area.east:
        in_width = (lon >= area.west) & (lon <= area.east)
    else:  # across the antimeridian
        in_width = (lon >= area.west) | (lon <= area.east)
    return int(np.count_nonzero(~(in_width & (lat >= area.south) & (lat <= area.north))))
