"""Grids beside squares: every point has one quadrat, edges are half-open, and folds can be made of all of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import geopandas
import numpy as np
import pandas as pd
import pytest
import rasterio
import shapely
from hypothesis import given, settings
from hypothesis import strategies as st

from spatialsplit.errors import DataError
from spatialsplit.folds import QuadratKFold, SystematicKFold
from spatialsplit.grids import (
    H3Grid,
    HexagonGrid,
    PlanarGrid,
    PolygonGrid,
    RasterGrid,
    coarser,
    parent_label,
    quadrat_outlines,
)
from spatialsplit.quadrats import Grid, grid_named
from tests.raster_files import write_raster

HEXAGONS = HexagonGrid("EPSG:3035", 1_000)
metres = st.floats(-1e7, 1e7).map(lambda value: round(value, 2))


# hexagons


@given(metres, metres)
@settings(max_examples=300)
def test_a_point_is_in_the_hexagon_whose_centre_is_nearest(easting: float, northing: float) -> None:
    """No other centre of the lattice is nearer, but for the centimetre to which points are rounded."""
    column, row = (int(each[0]) for each in HEXAGONS.locate(np.array([easting]), np.array([northing])))
    own = np.hypot(*np.subtract(HEXAGONS.centre(HEXAGONS.label(column, row)), (easting, northing)))
    others = [HEXAGONS.centre(HEXAGONS.label(column + c, row + r)) for c in (-1, 0, 1) for r in (-2, -1, 0, 1, 2)]
    assert own <= min(np.hypot(*np.subtract(other, (easting, northing))) for other in others) + 0.01


def test_upright_edges_of_hexagons_belong_to_the_eastern_one() -> None:
    """Half-open as squares are: the western edge is in, the eastern in the next."""
    east = np.array([-500.0, 499.99, 500.0, 1_499.99])
    column, row = HEXAGONS.locate(east, np.zeros(4))
    assert column.tolist() == [0, 0, 1, 1]
    assert row.tolist() == [0, 0, 0, 0]


@given(st.integers(-(10**9), 10**9), st.integers(-(10**9), 10**9), st.integers(-5, 5), st.integers(-5, 5))
def test_a_point_moved_by_a_hexagon_is_in_the_next_hexagon(east_cm: int, north_cm: int, across: int, up: int) -> None:
    """On edges and corners too: all hexagons have the same shape and the same half of their border."""
    height_cm = round(100_000 * 3**0.5 / 2)
    moved = east_cm + across * 100_000 + up * 50_000, north_cm + up * height_cm
    east, north = np.array([east_cm, moved[0]]) / 100, np.array([north_cm, moved[1]]) / 100
    column, row = HEXAGONS.locate(east, north)
    assert row[1] - row[0] == up
    assert (2 * column + row % 2)[1] - (2 * column + row % 2)[0] == 2 * across + up


def test_slanting_edges_of_hexagons_belong_to_the_eastern_one() -> None:
    """Of points just as near to a centre and its north-eastern one; and to its north-western one, which loses."""
    grid, height = HexagonGrid("EPSG:3035", 3_000), 259_808
    north = np.arange(86_000, 173_000)
    twice = (150_000**2 + height**2) - 2 * height * north
    north = north[twice % 300_000 == 0]
    east = (150_000**2 + height**2 - 2 * height * north) // 300_000
    assert north.size
    column, row = grid.locate(east / 100, north / 100)
    assert (set(column), set(row)) == ({0}, {1})
    column, row = grid.locate(-east / 100, north / 100)
    assert (set(column), set(row)) == ({0}, {0})


def test_a_hexagon_does_not_depend_on_the_other_points() -> None:
    dice = np.random.default_rng(1)
    lon, lat = dice.uniform(5, 15, 300), dice.uniform(45, 55, 300)
    together = HEXAGONS.assign(lon, lat).of_each_point()
    alone = [HEXAGONS.assign(lon[i : i + 1], lat[i : i + 1]).of_each_point()[0] for i in range(300)]
    assert together == alone


def test_a_hexagon_has_six_corners_round_its_centre() -> None:
    label = HEXAGONS.label(4321, 3001)
    outline = shapely.Polygon(HEXAGONS.outline(label))
    assert outline.centroid.coords[0] == pytest.approx(HEXAGONS.centre(label))
    assert outline.area == pytest.approx(1_000**2 * 3**0.5 / 2)
    assert shapely.box(*HEXAGONS.bounds(label)).contains(outline)


# polygons


def test_points_on_shared_edges_are_in_one_polygon() -> None:
    """A square of two triangles and two boxes, cut by a slanting line: each point of a lattice is in exactly one."""
    shapes = [
        shapely.Polygon([(0, 0), (4, 0), (4, 4)]),
        shapely.Polygon([(0, 0), (4, 4), (0, 4)]),
        shapely.box(4, 0, 8, 4),
        shapely.Polygon([(0, 4), (8, 4), (8, 8), (0, 8)], holes=[[(2, 5), (3, 5), (3, 6), (2, 6)]]),
        shapely.box(2, 5, 3, 6),
    ]
    east, north = (each.ravel() for each in np.meshgrid(np.arange(-1, 10, 0.5), np.arange(-1, 10, 0.5)))
    inside = (east >= 0) & (east < 8) & (north >= 0) & (north < 8)
    grid = PolygonGrid(shapes, list("abcde"), crs=None)
    assert np.array_equal(grid.outside(east, north), np.flatnonzero(~inside))
    found = grid.assign(east[inside], north[inside]).of_each_point()
    assert {name: found.count(name) for name in "cde"} == {"c": 64, "d": 128 - 4, "e": 4}
    assert found.count("a") + found.count("b") == 64


def test_the_order_of_polygons_does_not_matter() -> None:
    """A point on the border of two regions has the same one whichever comes first."""
    left, right = shapely.Polygon([(0, 0), (3, 0), (1, 3), (0, 3)]), shapely.Polygon([(3, 0), (5, 0), (5, 3), (1, 3)])
    east, north = np.array([2.0, 1.6666666666666667, 3.0]), np.array([1.5, 2.0, 0.0])
    forth, back = PolygonGrid([left, right], ["l", "r"], crs=None), PolygonGrid([right, left], ["r", "l"], crs=None)
    assert forth.assign(east, north).of_each_point() == back.assign(east, north).of_each_point()


def test_polygons_may_come_in_any_crs() -> None:
    frame = geopandas.GeoDataFrame(
        {"region": ["west", "east"]}, geometry=[shapely.box(5, 45, 8, 50), shapely.box(8, 45, 12, 50)], crs=4326
    )
    lon, lat = np.array([6.0, 11.0]), np.array([47.0, 47.0])
    for shapes in (frame, frame.to_crs(3035)):
        assert PolygonGrid.of_frame(shapes, "region").assign(lon, lat).of_each_point() == ["west", "east"]


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (
            lambda: squares().assign(np.array([0.5, 9.0]), np.array([0.5, 9.0])),
            r"1 of 2 points lie in none of 2 shapes \(first: row 1: 9 9\)",
        ),
        (
            lambda: squares(0.8).assign(np.array([0.9, 0.1]), np.array([0.5, 0.5])),
            r"1 points lie in more than one shape \(most: 1 in both 'w' and 'e'\)",
        ),
        (lambda: PolygonGrid([shapely.Point(0, 0)], ["a"]), r"1 of 1 shapes are no polygons \(first: number 0\)"),
        (lambda: PolygonGrid([shapely.box(0, 0, 1, 1)], [None]), r"1 of 1 rows have no value in names"),
        (lambda: PolygonGrid([], []), r"0 of 0 shapes"),
        (
            lambda: PolygonGrid([shapely.Polygon([(0, 0), (3, 3), (3, 0), (0, 2)])], ["a"]),
            r"1 of 1 shapes cross or touch themselves \(first: number 0: Self-intersection\[1.2 1.2\]\).*make_valid",
        ),
        (lambda: PolygonGrid([shapely.box(0, 0, 1, 1)], ["a"], crs="EPSG:999999"), r"Unknown CRS 'EPSG:999999'"),
        (lambda: squares().locate(np.zeros(2), np.zeros(1)), r"2 first and 1 second coordinates make no places"),
        (
            lambda: squares().assign(pd.Series([9.0, 0.5], index=[7, 8]), pd.Series([9.0, 0.5], index=[7, 8])),
            r"1 of 2 points lie in none of 2 shapes \(first: row 0: 9 9\)",
        ),
    ],
)
def test_polygons_that_cannot_be_are_refused_with_a_cure(call: Any, said: str) -> None:
    with pytest.raises(DataError, match=said):
        call()


def squares(start: float = 1.0) -> PolygonGrid:
    return PolygonGrid([shapely.box(0, 0, 1, 1), shapely.box(start, 0, 2, 1)], ["w", "e"], crs=None)


# zones of a raster


@pytest.fixture
def zones(tmp_path: Path) -> Path:
    """Three by two pixels of one degree from (10, 52): 1 2 3 above, 4 5 nothing below."""
    values = np.array([[1, 2, 3], [4, 5, -1]], dtype="int16")
    return write_raster(tmp_path, values, "zones", nodata=-1, transform=rasterio.Affine(1, 0, 10, 0, -1, 52))


def test_a_point_has_the_zone_of_its_pixel(zones: Path) -> None:
    found = RasterGrid(zones).assign(np.array([10.5, 12.5, 11.5]), np.array([51.5, 51.5, 50.5]))
    assert found.of_each_point() == ["zone1", "zone3", "zone5"]


def test_pixels_are_half_open_as_quadrats_are(zones: Path) -> None:
    """West and south edges are in, east and north in the next pixel."""
    grid = RasterGrid(zones)
    assert grid.assign(np.array([11.0, 10.0]), np.array([51.0, 50.0])).of_each_point() == ["zone2", "zone4"]
    assert grid.outside(np.array([10.5, 13.0, 12.5, 10.5]), np.array([52.0, 51.5, 50.5, 51.99])).tolist() == [0, 1, 2]


def test_points_off_the_raster_are_refused_by_number(zones: Path, tmp_path: Path) -> None:
    with pytest.raises(
        DataError, match=r"2 of 3 points lie off zones.tif or where it has no data \(first: row 1: 50 51"
    ):
        RasterGrid(zones).assign(np.array([10.5, 50.0, 12.5]), np.array([51.5, 51.5, 50.5]))
    with pytest.raises(DataError, match=r"zones.tif has no band 2\. It has 1"):
        RasterGrid(zones, band=2)
    with pytest.raises(DataError, match=r"cannot be opened as a raster"):
        RasterGrid(tmp_path / "nothing.tif")


# planes, nesting


def test_a_plane_has_no_gaps_at_any_size() -> None:
    """Multiples of 0.1, 0.3 and 0.7 lie in the quadrat that they begin."""
    for size in (0.1, 0.3, 0.7, 3.0, 1e-6, 12_345.678):
        steps = np.arange(-500, 500)
        column, row = PlanarGrid(size).locate(steps * size, np.zeros(1000))
        assert np.array_equal(column, steps)
        assert not row.any()


@given(st.floats(-1e6, 1e6), st.floats(-1e6, 1e6), st.sampled_from([0.1, 1.0, 7.5, 1000.0]))
def test_a_point_lies_within_the_bounds_of_its_planar_quadrat(easting: float, northing: float, size: float) -> None:
    grid = PlanarGrid(size, origin=(5.0, -3.0), unit="km")
    label = grid.assign(np.array([easting]), np.array([northing])).labels[0]
    west, south, east, north = grid.bounds(label)
    slack = size / 500_000
    assert west - slack <= easting < east + slack
    assert south - slack <= northing < north + slack
    assert grid.label(*grid.column_row(label)) == label


def test_a_quadrat_larger_than_everything_is_one_quadrat() -> None:
    assert len(PlanarGrid(1e9).assign(np.arange(10.0), np.arange(10.0)).labels) == 1


@given(st.floats(-40, 40), st.floats(34, 71), st.integers(1, 9))
def test_each_quadrat_lies_in_one_larger_quadrat(lon: float, lat: float, factor: int) -> None:
    """The parent's label is the one that the larger grid gives the point itself."""
    grid = Grid("EPSG:3035", 5_000)
    at = np.array([lon]), np.array([lat])
    assert parent_label(grid, grid.assign(*at).labels[0], factor) == coarser(grid, factor).assign(*at).labels[0]


def test_nesting_goes_down_west_and_south_of_the_origin_too() -> None:
    label = parent_label(Grid("EPSG:6933", 5_000), "CRS6933RES5000mN-5000E-25000", 4)
    assert label == "CRS6933RES20000mN-20000E-40000"


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: PlanarGrid(0), r"Invalid quadrat size 0\. It must be a finite number above 0"),
        (lambda: PlanarGrid("5"), r"Invalid quadrat size '5'"),
        (lambda: PlanarGrid(None), r"Invalid quadrat size None"),
        (lambda: PlanarGrid(1, origin=5), r"Invalid origin 5"),
        (lambda: PlanarGrid(1, origin=("a", "b")), r"Invalid origin \('a', 'b'\)"),
        (lambda: PlanarGrid(1, unit=None), r"Invalid unit 'None'"),
        (lambda: PlanarGrid(1).assign(np.zeros(2), np.zeros(1)), r"2 first and 1 second coordinates"),
        (lambda: HEXAGONS.assign(np.zeros(2), np.zeros(1)), r"2 first and 1 second coordinates"),
        (lambda: quadrat_outlines(PlanarGrid(1), ["PLANARm1C0R0"], {"n": [1, 2]}), r"Column n has not 1 values"),
        (lambda: PlanarGrid(1, unit="m 2"), r"Invalid unit 'm 2'\. It must be letters"),
        (lambda: PlanarGrid(1).locate(np.array([np.nan]), np.zeros(1)), r"1 of 1 points have no place"),
        (
            lambda: PlanarGrid(1).bounds("CRS3035RES1mN0E0"),
            r"no quadrat of this grid\. Its labels look like 'PLANARm1C0R0'",
        ),
        (lambda: HEXAGONS.centre("R1C1"), r"no hexagon of this grid"),
        (lambda: HexagonGrid("EPSG:4326", 5), r"does not count in metres"),
        (lambda: HexagonGrid("EPSG:3035", 20_000_000), r"at most 10,000,000 m"),
        (lambda: coarser(Grid(), 0), r"Invalid factor 0"),
        (lambda: coarser(HEXAGONS, 2), r"A HexagonGrid does not nest"),
        (
            lambda: SystematicKFold(2, grid=HEXAGONS).folds(np.zeros((2, 1)), groups=[[9, 50], [9, 51]]),
            r"has no columns and rows",
        ),
    ],
)
def test_what_is_no_grid_is_refused_with_a_cure(call: Any, said: str) -> None:
    with pytest.raises(DataError, match=said):
        call()


# H3, outlines, folds


def test_h3_cells_have_their_own_names() -> None:
    found = H3Grid(5).assign(np.array([10.0, 10.0001]), np.array([52.0, 52.0]))
    assert len(found.labels) == 1
    assert shapely.Polygon(H3Grid(5).outline(found.labels[0])).contains(shapely.Point(10, 52))
    with pytest.raises(DataError, match="no H3 cell of resolution 6"):
        H3Grid(6).outline(found.labels[0])


def test_h3_is_asked_for_by_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the package the error says what to install; a resolution that is none is refused first."""
    monkeypatch.setitem(__import__("sys").modules, "h3", None)
    with pytest.raises(DataError, match=r"pip install 'spatialsplit\[h3\]'"):
        H3Grid(5)
    with pytest.raises(DataError, match=r"Invalid resolution 16"):
        H3Grid(16)


def test_outlines_hold_their_points() -> None:
    """For squares, hexagons and polygons alike; squares and hexagons of one grid do not overlap."""
    dice = np.random.default_rng(1)
    lon, lat = dice.uniform(8, 9, 60), dice.uniform(48, 49, 60)
    regions = PolygonGrid([shapely.box(7, 47, 8.5, 50), shapely.box(8.5, 47, 10, 50)], ["a", "b"])
    for grid in (Grid("EPSG:3035", 20_000), HexagonGrid("EPSG:3035", 20_000), regions):
        quadrats = grid.assign(lon, lat)
        frame = quadrat_outlines(grid, quadrats.labels, {"n": np.bincount(quadrats.codes)})
        points = geopandas.GeoSeries(geopandas.points_from_xy(lon, lat, crs=4326)).to_crs(frame.crs).to_numpy()
        assert shapely.dwithin(frame.geometry.to_numpy()[quadrats.codes], points, 0.02).all()
        assert frame.geometry.union_all().area == pytest.approx(shapely.area(frame.geometry.to_numpy()).sum(), rel=1e-6)


def test_outlines_of_glc2022_are_in_degrees() -> None:
    """Its quadrats are counted in metres along the equator and the meridian, which are in no CRS."""
    grid = grid_named("glc2022")
    lon, lat = np.array([3.5, -29.99, -30.01, 179.0, -100.0]), np.array([43.6, 0.0, 10.0, 80.0, 41.0])
    quadrats = grid.assign(lon, lat)
    frame = quadrat_outlines(grid, quadrats.labels)
    assert frame.crs.to_epsg() == 4326
    assert shapely.intersects_xy(frame.geometry.to_numpy()[quadrats.codes], lon, lat).all()


def test_sizes_may_be_numbers_of_numpy() -> None:
    assert coarser(Grid("EPSG:3035", 5000), np.int64(4)) == Grid("EPSG:3035", 20_000)
    assert H3Grid(np.int64(5)) == H3Grid(5)


def test_many_polygons_agree_with_shapely_on_every_inner_point() -> None:
    """The shapes are looked up in strips from west to east; nobody is lost between them."""
    dice = np.random.default_rng(8)
    seeds = shapely.MultiPoint(dice.uniform(0, 100, (60, 2)))
    region = shapely.box(-1, -1, 101, 101)
    shapes = [each.intersection(region) for each in shapely.voronoi_polygons(seeds, extend_to=region).geoms]
    east, north = dice.uniform(0, 100, 3_000), dice.uniform(0, 100, 3_000)
    inside = shapely.contains_xy(np.array(shapes)[:, None], east, north)
    assert np.array_equal(PolygonGrid(shapes, range(60), crs=None).locate(east, north), inside.argmax(axis=0))


def test_folds_can_be_made_of_every_grid(zones: Path) -> None:
    """Each row once, whatever the quadrats are."""
    dice = np.random.default_rng(1)
    rows = np.column_stack([dice.uniform(10, 12, 200), dice.uniform(50, 52, 200)])
    halves = PolygonGrid([shapely.box(9, 49, 11, 53), shapely.box(11, 49, 13, 53)], ["a", "b"])
    for grid in (HexagonGrid("EPSG:3035", 20_000), halves, RasterGrid(zones), PlanarGrid(0.2)):
        tests = [test for _, test in QuadratKFold(2, grid=grid).split(np.zeros((200, 1)), groups=rows)]
        assert np.array_equal(np.sort(np.concatenate(tests)), np.arange(200))
