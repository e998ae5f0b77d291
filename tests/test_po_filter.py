"""What is at the radius of a holdout's survey, or nearer, goes; nothing else does."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spatialsplit.engine import map_in_order
from spatialsplit.errors import DataError
from spatialsplit.po_filter import DrawnQuadrats, HoldoutSites, PoFilter, count_reasons
from spatialsplit.quadrats import Grid
from tests.invariants import check_nothing_is_within, geodesics
from tests.strategies import GEOD, quick, sites_and_records


def kept(n: int, removed: Any) -> np.ndarray:
    stays = np.ones(n, dtype=bool)
    stays[removed.record] = False
    return stays


@given(sites_and_records())
@quick
def test_nothing_that_is_kept_is_within_the_radius_and_all_that_goes_is(case: tuple[Any, Any, float]) -> None:
    """By geodesics of every pair; the distance and the survey that are told are right."""
    sites, records, radius = case
    removed = PoFilter([HoldoutSites("near_test", *sites.T)], radius).removed(*records.T)
    stays = kept(len(records), removed)
    check_nothing_is_within(radius, *records[stays].T, *sites.T)
    pairs = geodesics(*records[~stays].T, *sites.T)
    assert (pairs.min(axis=1) <= radius).all() if len(pairs) else True
    np.testing.assert_allclose(removed.distance_m, pairs.min(axis=1) if len(pairs) else [], atol=1e-6)
    assert (removed.record[1:] > removed.record[:-1]).all()


@given(
    sites_and_records(), st.lists(st.sampled_from([0.0, 0.5, 7.0, 900.0, 60_000.0, 3e5, 2e7]), min_size=20, max_size=20)
)
@quick
def test_an_uncertainty_is_added_to_the_radius_record_by_record(case: tuple[Any, Any, float], own: list[float]) -> None:
    """Exactly d ≤ radius + uncertainty, from nothing to half the earth."""
    sites, records, radius = case
    uncertainty = np.array(own)[: len(records)]
    uncertainty = np.resize(uncertainty, len(records)) if len(records) else np.zeros(0)
    removed = PoFilter([HoldoutSites("near_test", *sites.T)], radius).removed(*records.T, uncertainty)
    pairs = geodesics(*records.T, *sites.T)
    expected = np.flatnonzero(pairs.min(axis=1) <= radius + uncertainty) if len(records) else []
    assert removed.record.tolist() == list(expected)


@given(sites_and_records(), st.integers(1, 7), st.integers(1, 3))
@quick
def test_batches_and_threads_do_not_show(case: tuple[Any, Any, float], size: int, threads: int) -> None:
    """What happens to a record depends on the record and the holdouts alone."""
    sites, records, radius = case
    po_filter = PoFilter([HoldoutSites("near_test", *sites.T)], radius)
    whole = po_filter.removed(*records.T)
    starts = range(0, len(records), size)
    parts = map_in_order(lambda start: po_filter.removed(*records[start : start + size].T), starts, threads)
    pieces = [(start + part.record, part.site, part.distance_m) for start, part in zip(starts, parts, strict=True)]
    joined = [np.concatenate(values) for values in zip(*pieces, strict=True)] if pieces else [[], [], []]
    for ours, theirs in zip((whole.record, whole.site, whole.distance_m), joined, strict=True):
        np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("azimuth", [0.0, 37.0, 90.0, 180.0, 271.5])
@pytest.mark.parametrize("lat", [0.0, 45.0, 89.9, -70.0])
@pytest.mark.parametrize("radius", [1.0, 50.0, 500.0, 5_000.0, 50_000.0])
def test_the_boundary_is_inside_and_a_tenth_of_a_millimetre_beyond_is_not(
    radius: float, lat: float, azimuth: float
) -> None:
    """D ≤ r at exactly r as the geodesic measures it."""
    lon_2, lat_2, _ = GEOD.fwd(10, lat, azimuth, radius)
    exact = GEOD.inv(lon_2, lat_2, 10, lat)[2]
    for r, gone in ((exact, 1), (exact + 1e-4, 1), (exact - 1e-4, 0)):
        po_filter = PoFilter([HoldoutSites("near_test", np.array([10.0]), np.array([lat]))], r)
        assert len(po_filter.removed(np.array([lon_2]), np.array([lat_2])).record) == gone


def test_a_record_near_two_holdouts_goes_for_the_first() -> None:
    """Test before val, with the survey of test."""
    test = HoldoutSites("near_test", np.array([10.0]), np.array([45.0]))
    val = HoldoutSites("near_val", np.array([9.0, 10.0]), np.array([45.0, 45.001]))
    removed = PoFilter([test, val], 300).removed(np.array([10.0, 10.0, 9.0]), np.array([45.001, 45.0035, 45.0]))
    assert removed.reason.tolist() == ["near_test", "near_val", "near_val"]
    assert (removed.holdout.tolist(), removed.site.tolist()) == ([0, 1, 1], [0, 1, 0])
    assert count_reasons(removed, {"near_test": 5}) == {"near_test": 6, "near_val": 2}


def test_of_equally_near_surveys_the_first_is_named() -> None:
    """The smallest number, as sites are in their order; also of two at one place."""
    sites = HoldoutSites("near_test", np.array([10.001, 9.999, 10.001]), np.zeros(3))
    removed = PoFilter([sites], 300).removed(np.array([10.0, 10.001]), np.zeros(2))
    assert removed.site.tolist() == [0, 0]


def test_all_records_in_drawn_quadrats_can_go() -> None:
    """Also those far from any survey; a near one goes for being near; what no grid holds stays."""
    grid = Grid()
    label = grid.assign(np.array([10.0]), np.array([45.0])).labels[0]
    sites = HoldoutSites("near_test", np.array([10.0]), np.array([45.0]))
    po_filter = PoFilter([sites], 10, DrawnQuadrats("in_test_quadrat", grid, frozenset([label])))
    west, south, east, north = grid.bounds(label)
    from spatialsplit.crs import to_lonlat

    lon, lat = to_lonlat(
        np.array([west + 1.0, east - 1.0, east + 1.0]), np.array([south + 1.0, north - 1.0, north - 1.0]), "EPSG:3035"
    )
    removed = po_filter.removed(np.append(lon, 10.0), np.append(lat, 45.0))
    assert (removed.record.tolist(), removed.reason.tolist()) == ([0, 1, 3], ["in_test_quadrat"] * 2 + ["near_test"])
    assert removed.distance_m[:2] == pytest.approx([GEOD.inv(lon[i], lat[i], 10, 45)[2] for i in (0, 1)])


def test_no_record_and_no_survey_are_fine() -> None:
    """An empty batch; a holdout without surveys."""
    nothing = HoldoutSites("near_test", np.zeros(0), np.zeros(0))
    assert PoFilter([nothing], 300).removed(np.array([1.0]), np.array([1.0])).record.tolist() == []
    assert PoFilter([nothing], 300).removed(np.zeros(0), np.zeros(0), np.zeros(0)).record.tolist() == []


@pytest.mark.parametrize("uncertainty", [np.nan, -1.0])
def test_an_uncertainty_that_is_none_is_refused(uncertainty: float) -> None:
    """Nobody guesses how far the record may lie."""
    po_filter = PoFilter([HoldoutSites("near_test", np.array([1.0]), np.array([1.0]))], 300)
    with pytest.raises(DataError, match="1 of 2 records have an uncertainty that is negative or no number"):
        po_filter.removed(np.ones(2), np.ones(2), np.array([5.0, uncertainty]))


@pytest.mark.parametrize("radius", [-1.0, np.nan, 2e6])
def test_an_impossible_radius_is_refused(radius: float) -> None:
    """When the filter is made, not at the first record."""
    with pytest.raises(DataError, match="Invalid radius"):
        PoFilter([], radius)
