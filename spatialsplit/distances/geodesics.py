"""Lengths on the WGS84 ellipsoid, and earth-centred coordinates whose chords are nearly as long."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyproj

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

GEOD = pyproj.Geod(ellps="WGS84")
SEMI_MAJOR_M = GEOD.a
ECCENTRICITY_SQUARED = GEOD.es


def geodesic_m(lon_1: Floats, lat_1: Floats, lon_2: Floats, lat_2: Floats) -> Floats:
    """Give the length of the geodesic between points, pair by pair.

    Parameters
    ----------
    lon_1, lat_1, lon_2, lat_2 : array of float, shape (n,), degrees WGS84

    Returns
    -------
    array of float, shape (n,), metres

    Examples
    --------
    >>> geodesic_m(np.array([179.9999]), np.array([60.0]), np.array([-179.9999]), np.array([60.0])).round(3).tolist()
    [11.16]
    """
    return np.asarray(GEOD.inv(lon_1, lat_1, lon_2, lat_2)[2], dtype=np.float64)


def earth_centred(lon: Floats, lat: Floats) -> Floats:
    """Turn degrees into earth-centred coordinates on the WGS84 ellipsoid (EPSG:4978, height 0).

    Returns
    -------
    array of float, shape (n, 3), metres

    Examples
    --------
    >>> earth_centred(np.array([0.0]), np.array([0.0])).tolist()
    [[6378137.0, 0.0, 0.0]]
    """
    phi, lam = np.radians(lat), np.radians(lon)
    sine, cosine = np.sin(phi), np.cos(phi)
    normal = SEMI_MAJOR_M / np.sqrt(1 - ECCENTRICITY_SQUARED * sine * sine)
    return np.column_stack(
        [normal * cosine * np.cos(lam), normal * cosine * np.sin(lam), normal * (1 - ECCENTRICITY_SQUARED) * sine]
    )
