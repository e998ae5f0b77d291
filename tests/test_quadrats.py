"""A point has one quadrat, which depends on the point and the grid alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pyproj
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from spatialsplit.errors import DataError
from spatialsplit.quadrats import PRESETS, EquatorGrid, Grid, grid_named
from spatialsplit.quadrats.numbering import DENSE_CELLS, PART_POINTS
from tests.real_data import data_folder, each_known_answer
from tests.strategies import european, metres, quick

sizes = st.sampled_from([1, 10, 250, 2322, 5000, 10_000, 450_000])
origins = st.tuples(st.integers(-1_000_000, 1_000_000), st.integers(-1_000_000, 1_000_000))
grids = st.builds(Grid, st.sampled_from(["EPSG:3035", "EPSG:6933"]), sizes, origins)


def one(value: float) -> np.ndarray:
    return np.array([value])


def label_of(grid: Grid, easting: float, northing: float) -> str:
    column, row = grid.locate(one(easting), one(northing))
    return grid.label(column[0], row[0])


@given(grids, metres, metres)
@quick
def test_a_point_lies_within_the_bounds_of_its_quadrat(grid: Grid, easting: float, northing: float) -> None:
    """Half-open: west and south belong to the quadrat, east and north to the next; after rounding to the centimetre."""
    west, south, east, north = grid.bounds(label_of(grid, easting, northing))
    assert round(west * 100) <= round(easting * 100) < round(east * 100)
    assert round(south * 100) <= round(northing * 100) < round(north * 100)


@given(grids, metres, metres)
@quick
def test_a_label_gives_its_bounds_and_the_bounds_the_label(grid: Grid, easting: float, northing: float) -> None:
    """Label → bounds → label, also of corners that are negative."""
    label = label_of(grid, easting, northing)
    west, south, east, north = grid.bounds(label)
    assert (east - west, north - south) == (grid.size_m, grid.size_m)
    assert label_of(grid, west, south) == label
    assert label_of(grid, east - 0.01, north - 0.01) == label


@given(grids, st.integers(-1000, 1000), st.integers(-1000, 1000))
@quick
def test_the_lower_left_edges_belong_to_a_quadrat_and_the_others_to_the_next(grid: Grid, column: int, row: int) -> None:
    """A point on a corner, and one a centimetre before it."""
    west, south = grid.origin[0] + column * grid.size_m, grid.origin[1] + row * grid.size_m
    assert [int(i[0]) for i in grid.locate(one(west), one(south))] == [column, row]
    assert [int(i[0]) for i in grid.locate(one(west - 0.01), one(south - 0.01))] == [column - 1, row - 1]


@given(
    st.lists(european, min_size=1, max_size=30), st.lists(st.tuples(st.floats(-20, 40), st.floats(30, 75)), max_size=5)
)
@quick
def test_other_points_change_nothing(points: list[tuple[float, float]], more: list[tuple[float, float]]) -> None:
    """A new point, however far away, never moves an old one, and neither does the order."""
    lon, lat = np.array(points).T
    alone = Grid().assign(lon, lat).of_each_point()
    both_lon, both_lat = np.array([*more, *points]).T
    assert Grid().assign(both_lon, both_lat).of_each_point()[len(more) :] == alone
    assert Grid().assign(lon[::-1], lat[::-1]).of_each_point() == alone[::-1]
    assert [Grid().assign(one(x), one(y)).labels[0] for x, y in points] == alone


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=20))
@quick
def test_codes_and_labels_tell_the_same_by_table_and_by_sorting(cells: list[tuple[int, int]]) -> None:
    """Points spread over more quadrats than a table can number are sorted instead; nothing else differs."""
    grid = Grid("EPSG:6933", 5000)
    near = np.array(cells, dtype=float) * 5000
    far = np.vstack([near, [[-17e6, -7e6], [17e6, 7e6]]])
    assert 34e6 / 5000 * 14e6 / 5000 < DENSE_CELLS < 34e6 / 100 * 14e6 / 100
    for size in (5000, 100):
        grid = Grid("EPSG:6933", size)
        lon, lat = pyproj.Transformer.from_crs(6933, 4326, always_xy=True).transform(*far.T)
        quadrats = grid.assign(lon, lat)
        column, row = grid.locate(*grid.project(lon, lat))
        expected = [grid.label(c, r) for c, r in zip(column, row, strict=True)]
        assert quadrats.of_each_point() == expected
        assert sorted(quadrats.labels) == sorted(set(expected))


def test_no_point_has_no_quadrat() -> None:
    """An empty batch is fine."""
    quadrats = Grid().assign(np.zeros(0), np.zeros(0))
    assert (len(quadrats), quadrats.labels, quadrats.of_each_point()) == (0, [], [])


def test_a_quadrat_larger_than_the_extent_holds_everything() -> None:
    """One quadrat is a grid too."""
    assert len(Grid(size_m=10_000_000).assign(np.array([-9.0, 25.0]), np.array([37.0, 69.0])).labels) == 1


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, 1e300, 2e9])
def test_a_point_without_a_place_is_counted_and_refused(bad: float) -> None:
    """NaN, infinity, and what lies farther out than the earth is wide."""
    with pytest.raises(DataError, match=r"1 of 2 points cannot be projected to EPSG:3035\. .*EPSG:6933 covers"):
        Grid().locate(np.array([0.0, bad]), np.zeros(2))


def test_points_without_a_place_are_counted_over_all_parts() -> None:
    """The number is that of the whole table, and not that of the part in which the first one lies."""
    lon, lat = np.full(3 * PART_POINTS, 10.0), np.full(3 * PART_POINTS, 52.0)
    lon[[5, PART_POINTS + 5, -1]], lat[[5, PART_POINTS + 5, -1]] = 190.0, -52.0
    with pytest.raises(DataError, match=r"3 of 393,216 points cannot be projected"):
        Grid().assign(lon, lat)


@given(st.integers(-(10**11), 10**11), st.integers(1, 10**8), st.integers(-(10**8), 10**8))
@example(10**11 - 1, 1, 0)
@example(-1, 10**8, 0)
@quick
def test_columns_are_those_of_whole_number_arithmetic(centimetres: int, size_m: int, origin: int) -> None:
    """The division in floating point never crosses an edge, at any size, origin and distance."""
    column, row = Grid("EPSG:3035", size_m, (origin, 0)).locate(one(centimetres / 100), one(0.0))
    assert (column[0], row[0]) == ((centimetres - origin * 100) // (size_m * 100), 0)


@pytest.mark.parametrize("size", [0, -5000, 5000.0, True, "5000", 10**18])
def test_a_size_that_is_no_whole_number_of_metres_is_refused(size: Any) -> None:
    """The label has whole metres."""
    with pytest.raises(DataError, match=r"Invalid quadrat size .* whole number of metres, from 1 to 100,000,000"):
        Grid(size_m=size)


@pytest.mark.parametrize("origin", [(0,), (0, 0, 0), (0.5, 0), (True, 0), (0, 10**18)])
def test_an_origin_that_is_no_whole_number_of_metres_is_refused(origin: Any) -> None:
    """Easting and northing, both whole."""
    with pytest.raises(DataError, match=r"Invalid origin .* easting and northing in whole metres"):
        Grid(origin=origin)


@pytest.mark.parametrize("crs", ["EPSG:4326", "EPSG:2263", "EPSG:5773", "EPSG:4978"])
def test_a_crs_that_does_not_count_in_metres_is_refused(crs: str) -> None:
    """Degrees, feet, heights and earth-centred axes make no quadrats."""
    with pytest.raises(DataError, match=r"does not count in metres\. Quadrats need a projected CRS"):
        Grid(crs)


def test_a_crs_without_an_epsg_code_is_refused() -> None:
    """The label names the code."""
    own = "+proj=laea +lat_0=47.123 +lon_0=9.5 +ellps=WGS84 +units=m"
    with pytest.raises(DataError, match="has no EPSG code, which a quadrat's label needs"):
        Grid(own)


def test_all_that_is_wrong_with_a_grid_is_told_at_once() -> None:
    """Size, origin and CRS in one error, a line each."""
    with pytest.raises(DataError, match="Invalid quadrat size") as caught:
        Grid("EPSG:4326", 0, (0.5, 0))  # type: ignore[arg-type]
    assert len(caught.value.problems) == 3


@pytest.mark.parametrize(
    "label",
    [
        "",
        "N3210E4321",
        "CRS3035RES1000mN3210000E4320000",
        "CRS3035RES5000mN3210001E4320000",
        "CRS3035RES5000mN-0E0",
        "CRS3035RES5000mN٣E0",
        "CRS3035RES5000mN" + "9" * 5000 + "E0",
        "e0745n0965",
    ],
)
def test_a_label_of_another_grid_is_refused(label: str) -> None:
    """Also one that only looks like ours, and however long it is."""
    with pytest.raises(DataError, match=r"is no quadrat of this grid .* Its labels look like 'CRS3035RES5000mN0E0'"):
        Grid().bounds(label)


def test_an_unknown_preset_names_the_known_ones() -> None:
    """A grid by name is one of two."""
    with pytest.raises(DataError, match=r"Unknown grid 'glc2019'\. Known: glc2022, glc2024"):
        grid_named("glc2019")


def test_presets_know_their_names() -> None:
    """The manifest says which preset a grid is; the grid of glc2024 is one by CRS, size and origin."""
    assert [grid.preset for grid in PRESETS.values()] == ["glc2022", "glc2024"]
    assert Grid("EPSG:3035", 10_000, (5000, 5000)).preset == "glc2024"
    assert Grid().preset is None


def test_a_grid_that_is_not_equal_area_warns() -> None:
    """Quadrats of UTM cover different ground; those of EPSG:3035 do not."""
    assert "not an equal-area CRS" in Grid("EPSG:32632").warnings(0, 10)[0]
    assert Grid().warnings(0, 10) == []
    assert "3 of 10 points lie outside the area of use of EPSG:3035" in Grid().warnings(3, 10)[0]


@each_known_answer("geometry.json", "grid", where=lambda case: "file" not in case["input"])
def test_known_grids(case: dict[str, Any]) -> None:
    """Columns and rows as other tools document or test them."""
    told, expect = case["input"], case["expect"]
    grid = Grid("EPSG:3035", told["size_m"], tuple(told["origin"]))
    if "lattice" in told:
        lattice = told["lattice"]
        rows, columns = np.divmod(np.arange(lattice["columns"] * lattice["rows"]), lattice["columns"])
        told["easting"] = lattice["easting_start"] + columns * lattice["step"]
        told["northing"] = lattice["northing_start"] + rows * lattice["step"]
    column, row = grid.locate(np.array(told["easting"], dtype=float), np.array(told["northing"], dtype=float))
    if "column" in expect:
        assert (column.tolist(), row.tolist()) == (expect["column"], expect["row"])
        return
    groups = pd.DataFrame({"row": row, "column": column}).groupby(["row", "column"]).indices
    if "rows_of_each_quadrat" in expect:
        assert [sorted(groups[key].tolist()) for key in sorted(groups)] == expect["rows_of_each_quadrat"]
    else:
        assert (len(column), len(groups)) == (expect["points"], expect["occupied"])
        assert np.bincount(column).tolist() == expect["points_per_column"]


@each_known_answer("geometry.json", "grid", where=lambda case: "file" in case["input"])
def test_known_grids_of_real_points(case: dict[str, Any]) -> None:
    """Occupied quadrats of blockCV's Australian points."""
    told, expect = case["input"], case["expect"]
    table = pd.read_csv(data_folder() / told["file"])
    grid = Grid(told["crs"], told["size_m"], tuple(told["origin"]))
    column, row = grid.locate(*(table[name].to_numpy() for name in told["columns"]))
    counts = pd.Series(list(zip(column, row, strict=True))).value_counts().tolist()
    assert (sum(counts), len(counts), counts[0]) == (expect["points"], expect["occupied"], expect["largest"])
    assert counts == expect.get("rows_per_quadrat_descending", counts)


@each_known_answer("geometry.json", "label")
def test_known_labels(case: dict[str, Any]) -> None:
    """Labels as the European statistical grids write them."""
    told, expect = case["input"], case["expect"]
    grid = Grid(told["grid_crs"], told["size_m"], tuple(told["origin"]))
    if "lon" in told:
        easting, northing = grid.project(one(told["lon"]), one(told["lat"]))
        assert easting[0] == pytest.approx(expect["easting"], abs=0.001)
        assert northing[0] == pytest.approx(expect["northing"], abs=0.001)
        assert grid.assign(one(told["lon"]), one(told["lat"])).labels == [expect["label"]]
    else:
        assert label_of(grid, told["easting"], told["northing"]) == expect["label"]


class TestTheGridOf2022:
    """5 km along the equator from longitude −30, and along the meridian from latitude 0."""

    @pytest.mark.parametrize(
        ("lon", "lat", "label"),
        [
            (-30.0, 0.0, "e0000n0000"),
            (-30.0, -0.0, "e0000n0000"),
            (-29.96, 0.04, "e0000n0000"),
            (-29.95, 0.046, "e0001n0001"),
            (0.0, 0.0, "e0667n0000"),
            (-30.0001, 0.0, "e8015n0000"),
            (-30.001, 0.0, "e8014n0000"),
            (-180.0, 10.0, "e4675n0221"),
            (180.0, 10.0, "e4675n0221"),
            (0.0, 90.0, "e0667n2000"),
        ],
    )
    def test_its_corners(self, lon: float, lat: float, label: str) -> None:
        """At its origin, west of it (round the equator), at the antimeridian and at the pole."""
        assert EquatorGrid().assign(one(lon), one(lat)).labels == [label]

    def test_south_of_the_equator_is_refused(self) -> None:
        """It has no quadrats there."""
        with pytest.raises(DataError, match=r"1 of 2 points have no quadrat .* ends at the equator"):
            EquatorGrid().assign(np.array([0.0, 0.0]), np.array([1.0, -1e-9]))

    @given(st.floats(-180, 180), st.floats(0, 90))
    @quick
    def test_easting_and_northing_are_geodesics_along_equator_and_meridian(self, lon: float, lat: float) -> None:
        """Measured by pyproj.Geod in pieces that are shorter than half the equator."""
        assume(lon >= -30)
        geod = pyproj.Geod(ellps="WGS84")
        middle = (lon - 30) / 2
        along = geod.inv(-30, 0, middle, 0)[2] + geod.inv(middle, 0, lon, 0)[2]
        easting, northing = EquatorGrid().project(one(lon), one(lat))
        assert easting[0] == pytest.approx(along, abs=1e-3)
        assert northing[0] == pytest.approx(geod.inv(lon, 0, lon, lat)[2], abs=1e-3)

    @given(st.floats(-180, 180), st.floats(0, 90))
    @quick
    def test_a_label_gives_its_bounds(self, lon: float, lat: float) -> None:
        """The point lies within them."""
        grid = EquatorGrid()
        west, south, east, north = grid.bounds(grid.assign(one(lon), one(lat)).labels[0])
        easting, northing = grid.project(one(lon), one(lat))
        assert west - 0.005 <= easting[0] < east
        assert south - 0.005 <= northing[0] < north

    @pytest.mark.parametrize("label", ["e00745n0965", "e745n0965", "CRS3035RES5000mN0E0", "e0745n0965 "])
    def test_a_label_that_is_none_is_refused(self, label: str) -> None:
        """Zeros in front are part of a label."""
        with pytest.raises(DataError, match="is no quadrat of this grid"):
            EquatorGrid().bounds(label)


@pytest.mark.parametrize("grid", [Grid(), EquatorGrid()])
@pytest.mark.parametrize(("lon", "lat"), [([10.0, 11.0], [45.0]), ([[10.0]], [[45.0]]), (10.0, 45.0)])
def test_places_are_two_columns_of_equal_length(grid: Grid, lon: Any, lat: Any) -> None:
    """Arrays that are no places are named by their shapes, before the projection sees them."""
    with pytest.raises(DataError, match="Invalid lon and lat of the shapes"):
        grid.assign(np.array(lon), np.array(lat))


def test_a_place_that_is_not_finite_is_not_said_to_lie_in_the_south() -> None:
    """The grid of GeoLifeCLEF 2022 has no quadrat for NaN, and names both rules."""
    with pytest.raises(DataError, match=r"1 of 2 points have no quadrat.*finite and latitudes 0 or more"):
        EquatorGrid().assign(np.array([3.0, np.nan]), np.array([43.0, np.nan]))


def test_a_size_may_be_a_number_of_numpy_and_an_origin_must_be_two() -> None:
    """As they come out of a search over sizes; the label is written in plain digits."""
    assert Grid("EPSG:3035", np.int64(20_000)) == Grid("EPSG:3035", 20_000)
    assert repr(Grid("EPSG:3035", np.int64(20_000))) == repr(Grid("EPSG:3035", 20_000))
    with pytest.raises(DataError, match=r"Invalid origin None\. It must be easting and northing"):
        Grid("EPSG:3035", 5_000, None)  # type: ignore[arg-type]
