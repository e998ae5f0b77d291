"""Degrees to metres and back, by PROJ's default operation, always east first."""

from __future__ import annotations

import numpy as np
import pyproj.network
import pytest
from hypothesis import given

from spatialsplit.crs import (
    count_outside_area_of_use,
    is_ballpark,
    is_degrees,
    is_equal_area,
    lonlat_to_metres,
    read_crs,
    to_lonlat,
)
from spatialsplit.errors import DataError
from tests.strategies import european, quick


@given(european)
@quick
def test_there_and_back_is_the_same_place(place: tuple[float, float]) -> None:
    """Within some millimetres: the inverse of an equal-area projection is a series."""
    lon, lat = np.array([place[0]]), np.array([place[1]])
    again = to_lonlat(*lonlat_to_metres(lon, lat, "EPSG:3035"), "EPSG:3035")
    np.testing.assert_allclose(np.array(again), np.array([lon, lat]), rtol=0, atol=5e-8)


def test_the_axes_are_east_first_whatever_the_crs_declares() -> None:
    """EPSG:3035 declares northing first, EPSG:4258 latitude first."""
    easting, northing = lonlat_to_metres(np.array([10.0]), np.array([52.0]), "EPSG:3035")
    assert (easting[0], northing[0]) == (pytest.approx(4_321_000), pytest.approx(3_210_000))
    lon, lat = to_lonlat(np.array([10.0]), np.array([52.0]), "EPSG:4258")
    assert (lon[0], lat[0]) == (pytest.approx(10), pytest.approx(52))


def test_the_input_is_left_as_it_was() -> None:
    """Transforming in place is for our own copies only."""
    lon, lat = np.array([10.0]), np.array([52.0])
    lonlat_to_metres(lon, lat, "EPSG:3035")
    assert (lon[0], lat[0]) == (10.0, 52.0)


def test_what_has_no_place_is_infinite() -> None:
    """No exception for one bad point among many."""
    easting, _ = lonlat_to_metres(np.array([10.0, 10.0]), np.array([52.0, -89.99999999]), "EPSG:2056")
    assert np.isfinite(easting[0])
    lon, _ = to_lonlat(np.array([1e30]), np.array([1e30]), "EPSG:3035")
    assert not np.isfinite(lon[0])


def test_nothing_is_nothing() -> None:
    """An empty batch needs no operation."""
    assert [len(part) for part in lonlat_to_metres(np.zeros(0), np.zeros(0), "EPSG:3035")] == [0, 0]


def test_the_network_is_off() -> None:
    """The same everywhere, whatever grids somebody could download."""
    lonlat_to_metres(np.array([10.0]), np.array([52.0]), "EPSG:31467")
    assert not pyproj.network.is_network_enabled()  # type: ignore[attr-defined]


@pytest.mark.parametrize("crs", ["", "EPSG:99999999", "EPSG:\0", "Gauß", "EPSG:" + "9" * 500])
def test_an_unknown_crs_is_named_in_one_line(crs: str) -> None:
    """Whatever was written, on one line and not longer than one reads."""
    with pytest.raises(DataError, match=r"Unknown CRS .* EPSG number") as caught:
        read_crs(crs)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize("crs", ["EPSG:5773", "EPSG:4978"])
def test_a_crs_without_east_and_north_is_refused(crs: str) -> None:
    """Heights and earth-centred axes are no places on a map."""
    with pytest.raises(DataError, match="has no longitude and latitude, and no easting and northing"):
        to_lonlat(np.array([1.0]), np.array([1.0]), crs)


@pytest.mark.parametrize(
    ("crs", "degrees", "ballpark", "equal_area"),
    [
        ("EPSG:4326", True, False, False),
        ("EPSG:4258", True, False, False),
        ("EPSG:4008", True, True, False),
        ("EPSG:3035", False, False, True),
        ("EPSG:6933", False, False, True),
        ("EPSG:5070", False, False, True),
        ("EPSG:21781", False, False, False),
        ("EPSG:3857", False, False, False),
    ],
)
def test_what_is_known_of_a_crs(crs: str, degrees: bool, ballpark: bool, equal_area: bool) -> None:
    """Its unit, whether PROJ knows its datum, and whether its areas are true."""
    assert (is_degrees(crs), is_ballpark(crs), is_equal_area(crs)) == (degrees, ballpark, equal_area)


def test_points_outside_the_area_of_use_are_counted() -> None:
    """Also where the area crosses the antimeridian: EPSG:2193 (New Zealand) lies within, 3851's does not end at 180."""
    assert count_outside_area_of_use(np.array([10.0, -60.0]), np.array([50.0, 50.0]), "EPSG:3035") == 1
    assert read_crs("EPSG:3832").area_of_use.west > read_crs("EPSG:3832").area_of_use.east
    assert count_outside_area_of_use(np.array([179.0, -179.0, 0.0]), np.zeros(3), "EPSG:3832") == 1
