"""The audit's own arithmetic against other ways to the same number, and its eye for columns that tell the label."""

from __future__ import annotations

import hashlib
import math
import random
from pathlib import Path

import numpy as np
import pandas as pd
import pyproj
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spatialsplit.audit import audit_dataset
from spatialsplit.audit.draws import Quadrat, drawn, number
from spatialsplit.audit.geometry import Nearest, Sites, geodesic_m
from spatialsplit.audit.giveaway import Labels, why_it_tells
from spatialsplit.audit.grids import Grid, equator_and_meridian, grid_of_labels, indices, laea_europe
from tests.audit_example import example

TO_LAEA = pyproj.Transformer.from_crs(4326, 3035, always_xy=True)
GEOD = pyproj.Geod(ellps="WGS84")
europe = st.tuples(st.floats(-30, 50), st.floats(30, 72))


@given(europe)
@settings(deadline=None)
def test_laea_by_snyder_is_that_of_proj(point: tuple[float, float]) -> None:
    """The audit's EPSG:3035 shares no code with PROJ and agrees with it to a micrometre."""
    expected = TO_LAEA.transform(*point)
    found = laea_europe(np.array([point[0]]), np.array([point[1]]))
    assert [float(part[0]) for part in found] == pytest.approx(expected, abs=1e-6)


@given(st.floats(-180, 180), st.floats(0, 90))
@settings(deadline=None)
def test_the_bins_of_glc22_are_measured_along_equator_and_meridian(lon: float, lat: float) -> None:
    """Easting is a share of the equator, northing the geodesic of the meridian."""
    easting, northing = equator_and_meridian(np.array([lon]), np.array([lat]))
    assert northing[0] == pytest.approx(GEOD.inv(0, 0, 0, lat)[2], abs=1e-5)
    east_of_30w = (lon + 30) % 360
    if east_of_30w < 179:  # beyond, the geodesic leaves the equator for the pole
        assert easting[0] == pytest.approx(GEOD.inv(0, 0, east_of_30w, 0)[2], abs=1e-5)


@given(st.integers(-(10**9), 10**9), st.integers(1, 10**5), st.integers(-(10**5), 10**5))
@settings(deadline=None)
def test_a_point_lies_in_the_half_open_quadrat_of_its_index(centimetres: int, size: int, origin: int) -> None:
    """West edge in, east edge out, in exact whole centimetres."""
    columns, _, _ = indices(np.array([centimetres / 100]), np.array([0.0]), size, (origin, 0))
    west = (origin + int(columns[0]) * size) * 100
    assert west <= centimetres < west + size * 100


def test_a_label_tells_its_grid() -> None:
    """Whoever has quadrats.csv needs no manifest to know the grid."""
    lon, lat = np.array([5.1, 7.7, 12.3]), np.array([45.3, 50.1, 61.2])
    for grid in (Grid("EPSG:3035", 10_000, (5000, 5000)), Grid("EPSG:6933", 250, (17, 3)), Grid(None, 5000, (0, 0))):
        assert grid_of_labels(list(grid.labels(lon, lat))) == grid
    assert grid_of_labels(["north-west", "south"]) is None
    assert grid_of_labels([*Grid("EPSG:3035", 5000, (0, 0)).labels(lon, lat), "CRS3035RES5000mN1E1"]) is None


def test_a_point_without_a_quadrat_gets_no_label() -> None:
    """South of the equator there are no bins of 2022; nowhere is a place no number."""
    assert Grid(None, 5000, (0, 0)).labels(np.array([2.0]), np.array([-1.0])).tolist() == [""]
    assert Grid("EPSG:3035", 5000, (0, 0)).labels(np.array([np.nan]), np.array([50.0])).tolist() == [""]


@given(st.integers(0, 2**32 - 1), st.sampled_from([1.0, 300.0, 5_000.0, 40_000.0]))
@settings(max_examples=60, deadline=None)
def test_the_sweep_finds_exactly_the_pairs_of_brute_force(seed: int, radius: float) -> None:
    """Anywhere on the globe: at the poles, across the date line, in crowds."""
    rng = np.random.default_rng(seed)
    centres = np.array([[180.0, 0.0], [-180.0, 66.0], [10.0, 90.0], [40.0, -89.9], [3.0, 45.0]])
    degrees = radius / 111_000
    place = centres[rng.integers(0, 5, 260)] + rng.normal(0, 2 * degrees, (260, 2))
    place[:, 0] = (place[:, 0] + rng.choice([0, 0, 90], 260) + 180) % 360 - 180
    place[:, 1] = np.clip(place[:, 1], -90, 90)
    records, sites = place[:200], place[200:]
    found = set()
    for record, site, distance in Sites(*sites.T, radius).pairs(*records.T, radius):
        assert (distance <= radius).all()
        found |= set(zip(record.tolist(), site.tolist(), strict=True))
    i, j = (grid.ravel() for grid in np.meshgrid(range(200), range(60), indexing="ij"))
    near = geodesic_m(*records[i].T, *sites[j].T) <= radius
    assert found == set(zip(i[near].tolist(), j[near].tolist(), strict=True))


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=40, deadline=None)
def test_the_nearest_record_is_that_of_brute_force(seed: int) -> None:
    """However the records are cut into batches."""
    rng = np.random.default_rng(seed)
    tests, records = rng.uniform([-180, -80], [180, 80], (5, 2)), rng.uniform([-180, -80], [180, 80], (90, 2))
    nearest = Nearest(*tests.T)
    for part in np.array_split(records, rng.integers(1, 6)):
        nearest.see(*part.T)
    expected = [min(GEOD.inv(*test, *record)[2] for record in records) for test in tests]
    assert nearest.metres() == pytest.approx(expected, rel=2e-3)


def test_no_record_at_all_is_infinitely_far() -> None:
    """And a record without a coordinate is none."""
    nearest = Nearest(np.array([1.0]), np.array([2.0]))
    nearest.see(np.array([np.nan]), np.array([2.0]))
    assert nearest.metres().tolist() == [math.inf]


QUADRATS = [Quadrat(f"q{n:02d}", 1 + n % 4, "ab"[n % 3 == 0]) for n in range(30)]
NUMBERS = {quadrat.label: number("seed", "test", quadrat.label) for quadrat in QUADRATS}


def test_a_number_is_the_first_eight_bytes_of_sha_256() -> None:
    """As `printf '%s' 'seed|test|q00' | sha256sum` shows it."""
    assert f"{NUMBERS['q00']:016x}" == hashlib.sha256(b"seed|test|q00").hexdigest()[:16]


def test_a_quota_is_the_prefix_of_the_smallest_numbers() -> None:
    """Half a quadrat is rounded up."""
    taken = drawn(QUADRATS, NUMBERS, 0.25, method="quota", share_of="quadrats", strata=False)
    assert len(taken) == 8
    assert max(NUMBERS[label] for label in taken) < min(NUMBERS[label] for label in set(NUMBERS) - taken)


def test_a_share_of_surveys_is_the_nearest_prefix() -> None:
    """Brute force over all prefixes; of two equally near ones the shorter."""
    taken = drawn(QUADRATS, NUMBERS, 0.3, method="quota", share_of="surveys", strata=False)
    ordered = sorted(QUADRATS, key=lambda quadrat: NUMBERS[quadrat.label])
    sums = np.cumsum([0, *(quadrat.n_surveys for quadrat in ordered)])
    assert len(taken) == int(np.abs(sums - 0.3 * sums[-1]).argmin())


def test_strata_share_the_quota_by_largest_remainder() -> None:
    """Twenty and ten quadrats share seven: 4.67 and 2.33 are 5 and 2."""
    taken = drawn(QUADRATS, NUMBERS, 7 / 30, method="quota", share_of="quadrats", strata=True)
    strata = {quadrat.label: quadrat.stratum for quadrat in QUADRATS}
    assert sorted(strata[label] for label in taken) == list("aaaaabb")


def test_a_threshold_never_moves_a_quadrat_when_others_come() -> None:
    """Each is judged by its own number alone."""
    rules = {"method": "threshold", "share_of": "quadrats", "strata": False}
    taken = drawn(QUADRATS, NUMBERS, 0.4, **rules)  # type: ignore[arg-type]
    assert taken == {label for label, drawn_number in NUMBERS.items() if drawn_number / 2**64 < 0.4}
    assert taken & {quadrat.label for quadrat in QUADRATS[:9]} == drawn(QUADRATS[:9], NUMBERS, 0.4, **rules)  # type: ignore[arg-type]


def labels_of(n: int, *, n_species: int = 50, seed: int = 1) -> tuple[pd.Series, Labels]:
    """Make surveys with two to six species each, at places of their own."""
    rng = random.Random(seed)
    ids = [str(number) for number in rng.sample(range(1, 10 * n), n)]
    truth = {i: frozenset(str(s) for s in rng.sample(range(n_species), rng.randint(2, 6))) for i in ids}
    places = pd.DataFrame(
        {"survey": ids, "lon": [rng.uniform(0, 9) for _ in ids], "lat": [rng.uniform(40, 49) for _ in ids]}
    )
    return pd.Series(ids), Labels(truth, frozenset(), places)


TELLING = {
    "the species joined": lambda species, rng: "_".join(sorted(species)),
    "one species": lambda species, rng: rng.choice(sorted(species)),
    "one species among words": lambda species, rng: f"plot {rng.choice(sorted(species))} north",
    "a code of the smallest": lambda species, rng: f"k{(min(map(int, species)) * 17) % 53}",
    "a code of the number": lambda species, rng: "vwxyz"[len(species) - 2],
    "the sum of a base and the largest": lambda species, rng: str(10_000 + max(map(int, species))),
    "a falling rank": lambda species, rng: f"{-3.5 * min(map(int, species))}",
}


@pytest.mark.parametrize("column", TELLING)
@pytest.mark.parametrize("n", [40, 800])
def test_a_column_that_gives_the_label_away_is_seen(column: str, n: int) -> None:
    """Whatever it is called."""
    ids, labels = labels_of(n)
    rng = random.Random(2)
    cells = pd.Series([TELLING[column](labels.truth[i], rng) for i in ids])
    assert why_it_tells(ids, cells, labels) is not None


HONEST = {
    "a day of the year": lambda i, rng: str(rng.randint(1, 365)),
    "a day that is a species number": lambda i, rng: str(rng.randint(0, 49)),
    "a key of its own": lambda i, rng: str(10_000 + int(i)),
    "one year": lambda i, rng: "2",
    "two regions": lambda i, rng: rng.choice(["ALPINE", "STEPPE"]),
    "a rare country": lambda i, rng: "LI" if rng.random() < 0.02 else "CH",
    "an area": lambda i, rng: rng.choice(["25", "100", "400", ""]),
    "a place": lambda i, rng: f"{rng.uniform(0, 9):.6f}",
    "nothing": lambda i, rng: "",
}


@pytest.mark.parametrize("column", HONEST)
@pytest.mark.parametrize("n", [2, 12, 60, 1500])
def test_an_honest_column_raises_no_alarm(column: str, n: int) -> None:
    """Neither in small data nor in large, for twenty draws."""
    for seed in range(20):
        ids, labels = labels_of(n, seed=seed)
        rng = random.Random(seed)
        cells = pd.Series([HONEST[column](i, rng) for i in ids])
        assert why_it_tells(ids, cells, labels) is None


def test_one_survey_said_many_times_is_no_evidence() -> None:
    """In a small dataset a count of 1 is a survey's id and a count of 0 a species, in every row of quadrats.csv."""
    truth = {str(i): frozenset({"0"} if i == 1 else {str(i)}) for i in range(1, 30)}
    labels = Labels(truth, frozenset(), pd.DataFrame({"survey": [], "lon": [], "lat": []}))
    assert not labels.hold(pd.Series(["1"] * 200), pd.Series(["0"] * 200))
    ids = pd.Series(list(truth))
    assert labels.hold(ids, pd.Series(["".join(species) for species in truth.values()]))


def test_one_survey_beside_many_different_cells_is_no_evidence() -> None:
    """Nor where the cells differ, as lines of quadrats.csv do: all of them are one survey's, and say so once."""
    truth = {str(i): frozenset({"3"} if i == 1 else {str(i + 40)}) for i in range(1, 30)}
    labels = Labels(truth, frozenset(), pd.DataFrame({"survey": [], "lon": [], "lat": []}))
    assert not labels.hold(pd.Series(["1"] * 200), pd.Series([f"3 quadrat-{i:04d}" for i in range(1000, 1200)]))


def test_digits_without_end_are_text_like_any_other() -> None:
    """More of them than Python makes a number of."""
    labels = Labels({"1": frozenset({"3"})}, frozenset(), pd.DataFrame({"survey": [], "lon": [], "lat": []}))
    assert not labels.hold(pd.Series(["1"]), pd.Series(["3" * 5000]))


def test_plots_visited_again_do_not_determine_their_species() -> None:
    """Two visits to one place may well find the same; that is nature, not a leak."""
    ids, labels = labels_of(60)
    truth = {i: labels.truth[ids[n // 2 * 2]] for n, i in enumerate(ids)}
    places = labels.places.copy()
    for word in ("lon", "lat"):
        places[word] = places[word].to_numpy()[np.arange(60) // 2 * 2]
    cells = pd.Series([f"plot-{n // 2}" for n in range(60)])
    assert why_it_tells(ids, cells, Labels(truth, frozenset(), places)) is None
    apart = Labels(truth, frozenset(), labels.places)
    assert why_it_tells(ids, cells, apart) == "determines the species of a survey"


def test_a_draw_of_another_seed_does_not_rederive(tmp_path: Path) -> None:
    """Numbers and subsets are both of the seed that the manifest names."""
    made = example(seed="one")
    made.manifest["seed"]["value"] = "two"
    found = {check.name: check for check in audit_dataset(made.write(tmp_path / "dataset")).checks}["draw_rederives"]
    assert found.passed is False
    assert found.value is not None
    assert found.value > 64
