"""Who is near whom: the answers of the sieves are those of every geodesic, wherever on the earth."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spatialsplit.crs import lonlat_to_metres, to_lonlat
from spatialsplit.distances import TIE_M, Sites, check_radius, earth_centred, geodesic_m
from spatialsplit.errors import DataError
from tests.invariants import geodesics
from tests.real_data import data_folder, each_known_answer, known_answers
from tests.strategies import quick, sites_and_records


def brute_force(sites: np.ndarray, records: np.ndarray, radius: np.ndarray) -> tuple[list[int], list[int], np.ndarray]:
    """Give what `near` must give, from the geodesics of all pairs."""
    pairs = geodesics(records[:, 0], records[:, 1], sites[:, 0], sites[:, 1])
    nearest = pairs.min(axis=1) if len(records) else np.zeros(0)
    first = [int(np.flatnonzero(row <= row.min() + TIE_M)[0]) for row in pairs]
    hit = np.flatnonzero(nearest <= radius)
    return hit.tolist(), [first[i] for i in hit], nearest[hit]


@given(sites_and_records())
@quick
def test_near_agrees_with_every_geodesic(case: tuple[np.ndarray, np.ndarray, float]) -> None:
    """Exactly the records with d ≤ r, with the first of the nearest sites: at poles, the antimeridian, at exactly r."""
    sites, records, radius = case
    near = Sites(sites[:, 0], sites[:, 1], radius).near(records[:, 0], records[:, 1], radius)
    record, site, distance = brute_force(sites, records, np.full(len(records), radius))
    assert near.record.tolist() == record
    assert near.site.tolist() == site
    np.testing.assert_allclose(near.distance_m, distance, rtol=0, atol=TIE_M)


@given(sites_and_records(), st.randoms(use_true_random=False))
@quick
def test_a_radius_for_each_record_agrees_with_every_geodesic(case: tuple[Any, Any, float], random: Any) -> None:
    """Each record is judged by its own radius."""
    sites, records, radius = case
    own = np.array([radius * random.choice([0, 0.3, 1, 1.0000001]) for _ in range(len(records))])
    near = Sites(sites[:, 0], sites[:, 1], radius * 1.0000001).near(records[:, 0], records[:, 1], own)
    record, site, _ = brute_force(sites, records, own)
    assert (near.record.tolist(), near.site.tolist()) == (record, site)


@given(sites_and_records())
@quick
def test_nearest_finds_the_nearest_site_however_far(case: tuple[np.ndarray, np.ndarray, float]) -> None:
    """Also on the other side of the earth the nearest by chord does not stand for the nearest by geodesic."""
    sites, records, _ = case
    nearest = Sites(sites[:, 0], sites[:, 1], 0).nearest(records[:, 0], records[:, 1])
    _, site, distance = brute_force(sites, records, np.full(len(records), np.inf))
    np.testing.assert_allclose(nearest.distance_m, distance, rtol=0, atol=TIE_M)
    assert nearest.site.tolist() == site


@given(sites_and_records())
@quick
def test_a_chord_is_never_longer_than_the_geodesic(case: tuple[np.ndarray, np.ndarray, float]) -> None:
    """The tree that asks by chord loses nobody."""
    sites, records, _radius = case
    pairs = geodesics(records[:, 0], records[:, 1], sites[:, 0], sites[:, 1])
    a, b = earth_centred(*records.T), earth_centred(*sites.T)
    chords = np.sqrt(((a[:, None] - b[None]) ** 2).sum(axis=2))
    assert (chords <= pairs + 1e-6).all()


def test_many_records_and_clustered_sites_agree_with_every_geodesic() -> None:
    """The bitmap's cells and the chunks of records lose nobody at the size of a region."""
    random = np.random.default_rng(7)
    sites = np.column_stack([random.normal(5, 0.2, 20), random.normal(45, 0.2, 20)])
    records = np.column_stack([random.uniform(4, 6, 70_000), random.uniform(44, 46, 70_000)])
    near = Sites(*sites.T, 2_000).near(*records.T, 2_000.0)
    pairs = np.full(len(records), np.inf)
    for lon, lat in sites:
        pairs = np.minimum(
            pairs, geodesic_m(records[:, 0], records[:, 1], np.full(len(records), lon), np.full(len(records), lat))
        )
    assert near.record.tolist() == np.flatnonzero(pairs <= 2_000).tolist()
    assert len(near.record) > 100


def test_of_equally_near_sites_the_first_is_named_however_many_there_are(monkeypatch: pytest.MonkeyPatch) -> None:
    """On rounded coordinates ties are the rule; they are decided in parts, and the parts do not show."""
    monkeypatch.setattr("spatialsplit.distances.sites.TIED_PAIRS", 7)
    generator = np.random.default_rng(5)
    sites = np.round(generator.uniform(-0.05, 0.05, (120, 2)), 2)
    records = np.round(generator.uniform(-0.05, 0.05, (400, 2)) * 200) / 200
    near = Sites(sites[:, 0], sites[:, 1], 3000).near(records[:, 0], records[:, 1], 3000)
    record, site, distance = brute_force(sites, records, np.full(len(records), 3000))
    assert (near.record.tolist(), near.site.tolist()) == (record, site)
    np.testing.assert_allclose(near.distance_m, distance, rtol=0, atol=TIE_M)


def test_a_radius_of_nothing_finds_what_lies_at_the_same_place() -> None:
    """The smallest bitmap is asked about the whole earth, and about a place that has two longitudes."""
    lon, lat = np.array([180.0, -180.0, 179.99999999, -170.0, 0.0]), np.array([10.0, 10.0, 10.0, -45.0, 90.0])
    assert Sites(lon[:1], lat[:1], 0).near(lon, lat, 0.0).record.tolist() == [0, 1]
    inland = Sites(np.array([10.0]), np.array([45.0]), 0)
    assert inland.near(np.array([-170.0, 10.0, 180.0]), np.array([-45.0, 45.0, 90.0]), 0.0).record.tolist() == [1]


def test_no_site_is_near_nobody() -> None:
    """Without any site there is no answer, and no fault."""
    sites = Sites(np.zeros(0), np.zeros(0), 100)
    assert sites.near(np.array([1.0]), np.array([1.0]), 100.0).record.tolist() == []
    assert sites.nearest(np.array([1.0]), np.array([1.0])).record.tolist() == []


def test_no_record_is_near_no_site() -> None:
    """An empty batch has an empty answer."""
    near = Sites(np.array([1.0]), np.array([1.0]), 100).near(np.zeros(0), np.zeros(0), 100.0)
    assert near.record.tolist() == near.site.tolist() == near.distance_m.tolist() == []


@pytest.mark.parametrize("radius", [-1.0, np.nan, np.inf, 1_000_001.0])
def test_an_impossible_radius_is_refused(radius: float) -> None:
    """Negative, not finite, or larger than a thousand kilometres."""
    with pytest.raises(DataError, match=r"Invalid radius .* must lie between 0 and 1,000,000 m"):
        check_radius(radius)


@pytest.mark.parametrize(("lon", "lat"), [(181.0, 0.0), (0.0, 91.0), (np.nan, 0.0), (0.0, np.inf)])
def test_a_site_without_a_place_is_refused(lon: float, lat: float) -> None:
    """The tree never sees what is not finite."""
    with pytest.raises(DataError, match=r"1 of 2 sites have no valid place \(first: number 1"):
        Sites(np.array([0.0, lon]), np.array([0.0, lat]), 10)


def test_a_larger_radius_than_prepared_for_is_refused() -> None:
    """Silently, records would be missed."""
    with pytest.raises(DataError, match=r"prepared for radii up to 10\.0 m"):
        Sites(np.array([0.0]), np.array([0.0]), 10).near(np.array([0.0]), np.array([0.001]), 500.0)


@each_known_answer("geometry.json", "geodesic")
def test_known_geodesics(case: dict[str, Any]) -> None:
    """Lengths and nearness as worked out elsewhere."""
    (lon_1, lat_1), (lon_2, lat_2) = case["input"]["from"], case["input"]["to"]
    one, other = (np.array([lon_1]), np.array([lat_1])), (np.array([lon_2]), np.array([lat_2]))
    assert geodesic_m(*one, *other)[0] == pytest.approx(case["expect"]["distance_m"], abs=0.001)
    for radius, near in case["expect"]["within"].items():
        assert bool(len(Sites(*one, float(radius)).near(*other, float(radius)).record)) == near


def on_the_ellipsoid(points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Put points in metres on the equator, where a metre east and a metre north are known in degrees."""
    lon = points[:, 0] / 111_319.49079327358
    lat = points[:, 1] / 110_574.2758
    return lon, lat


def lattice(told: dict[str, Any]) -> np.ndarray:
    """Give the points of a lattice from its corner, row by row, easting fastest."""
    rows, columns = np.divmod(np.arange(told["columns"] * told["rows"]), told["columns"])
    return np.column_stack([columns * told["step"], rows * told["step"]]).astype(float)


def not_in_train(points: np.ndarray, test: int, radius: float) -> list[int]:
    lon, lat = on_the_ellipsoid(points)
    slack = 1e-6  # the cases are planar, and a metre on the ellipsoid is one within a millionth
    return Sites(lon[[test]], lat[[test]], radius + slack).near(lon, lat, radius + slack).record.tolist()


@each_known_answer(
    "geometry.json", "buffer", where=lambda case: not case["input"].get("grow_m") and "file" not in case["input"]
)
def test_known_buffers(case: dict[str, Any]) -> None:
    """At the radius is inside, as in the tools that these cases come from."""
    told, expect = case["input"], case["expect"]
    points = np.array(told["points_m"], dtype=float) if "points_m" in told else lattice(told["lattice"])
    radius = told.get("buffer_m", told.get("radius_m"))
    tests = range(len(points)) if told["test"] == "each row in turn" else told["test"]
    out = {test: not_in_train(points, test, radius) for test in tests}
    if "folds" in expect:
        assert sum(map(len, out.values())) == expect["sum_not_in_train"]
        assert sum(len(points) - len(rows) for rows in out.values()) == expect["sum_train"]
    elif "not_in_train" in expect:
        assert out[tests[0]] == expect["not_in_train"]
    else:
        assert [row for row in out[tests[0]] if row not in tests] == expect["dropped"]


def australian_species() -> tuple[np.ndarray, np.ndarray]:
    table = pd.read_csv(data_folder() / "blockcv_au" / "species.csv")
    return table["x"].to_numpy(), table["y"].to_numpy()


def test_the_australian_points_come_back_from_degrees() -> None:
    """The planar cases of this file are told in EPSG:7845, which we reach and leave without loss."""
    east, north = australian_species()
    again = lonlat_to_metres(*to_lonlat(east, north, "EPSG:7845"), "EPSG:7845")
    np.testing.assert_allclose(np.array(again), np.array([east, north]), rtol=0, atol=1e-3)


def test_leaving_one_out_with_a_buffer_of_350_km_trains_on_as_many_as_elsewhere() -> None:
    """The planar counts of 500 folds are told; ours differ where the projection stretches the radius."""
    (case,) = [c for c in known_answers("geometry.json", "buffer") if c["id"] == "buffer-species-350km"]
    east, north = australian_species()
    planar = np.hypot(east[:, None] - east, north[:, None] - north)
    sizes = (planar > 350_000).sum(axis=1)
    told = case["expect"]
    assert [sizes.min(), sizes.max(), sizes.sum()] == [told["train_min"], told["train_max"], told["train_sum"]]
    lon, lat = to_lonlat(east, north, "EPSG:7845")
    sites = [Sites(lon[[i]], lat[[i]], 350_000) for i in range(0, 500, 10)]
    ours = np.array([500 - len(site.near(lon, lat, 350_000.0).record) for site in sites])
    unsure = (np.abs(planar[::10] - 350_000) <= 10_500).sum(axis=1)
    assert (np.abs(ours - sizes[::10]) <= unsure).all()


def test_a_buffer_of_100_km_keeps_what_lies_beyond_it() -> None:
    """Sites are the first 50 rows, records the others; the planar answer is met within the projection's play."""
    (case,) = [c for c in known_answers("geometry.json", "buffer") if c["id"] == "buffer-species-two-tables-100km"]
    east, north = australian_species()
    lon, lat = to_lonlat(east, north, "EPSG:7845")
    near = Sites(lon[:50], lat[:50], 100_000).near(lon[50:], lat[50:], 100_000.0)
    planar = np.hypot(east[50:, None] - east[:50], north[50:, None] - north[:50]).min(axis=1)
    assert np.count_nonzero(planar <= 100_000) == case["expect"]["dropped"]
    assert planar[planar > 100_000].min() == pytest.approx(case["expect"]["min_kept_distance_m"], abs=0.001)
    certain = np.flatnonzero(np.abs(planar - 100_000) > 3_000)  # the scale of EPSG:7845 is within 3 % there
    assert set(near.record) & set(certain) == set(np.flatnonzero(planar <= 100_000)) & set(certain)
