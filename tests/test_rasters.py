"""Values at points: the right pixel or none, whatever the raster is like."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet
import pytest
import rasterio
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from pyproj import Transformer
from rasterio.errors import NotGeoreferencedWarning

from spatialsplit.cli.rasters import extract
from spatialsplit.errors import DataError
from spatialsplit.rasters import Raster, extract_values, patches_around, raster_values
from spatialsplit.rasters import values as values_module
from spatialsplit.tables import TableInput
from tests.raster_files import numbered, write_raster
from tests.real_data import data_folder

MakeRaster = Callable[..., Path]


@pytest.fixture
def make_raster(tmp_path: Path) -> MakeRaster:
    """Write arrays as GeoTIFFs in the test's own folder."""
    return partial(write_raster, tmp_path)


REAL_RASTERS = [
    *(f"blockcv_au/bio_{n}.tif" for n in (4, 5, 12, 15)),
    *(f"glc22_sample/rasters_crop/bio_{n}_crop_sample.tif" for n in (1, 2, 3, 4)),
    "glc22_sample/rasters_crop/torchgeo_mlc_test_sample.tif",
    "glc22_sample/rasters_crop/torchgeo_sentinel2_test_sample.tif",
    "glc23_sample/EnvironmentalRasters/HumanFootprint/detailed/Built2009_WGS84.tif",
    "glc23_sample/EnvironmentalRasters/HumanFootprint/detailed/Lights2009_WGS84.tif",
]


@pytest.mark.parametrize("name", REAL_RASTERS)
class TestRealRasters:
    """Every raster of the shared data gives what a whole-array read of it holds."""

    def test_centres_west_edges_north_edges_and_corners_belong_to_their_pixel(self, name: str) -> None:
        path = data_folder() / name
        with rasterio.open(path) as dataset:
            array, transform, crs = dataset.read(1), dataset.transform, dataset.crs.to_wkt()
            valid = dataset.read_masks(1) > 0
        valid &= np.isfinite(array) if array.dtype.kind == "f" else True
        rng = np.random.default_rng(7)
        row = np.concatenate([rng.integers(0, array.shape[0], 300), [0, 0, -1, -1] % np.array(array.shape[0])])
        column = np.concatenate([rng.integers(0, array.shape[1], 300), [0, -1, 0, -1] % np.array(array.shape[1])])
        for to_east, to_south in ((0.5, 0.5), (0.0, 0.5), (0.5, 0.0), (0.0, 0.0), (0.999, 0.999)):
            east = transform.c + (column + to_east) * transform.a
            north = transform.f + (row + to_south) * transform.e
            found = raster_values(path, east, north, crs=crs)
            np.testing.assert_array_equal(found.missing[0], ~valid[row, column])
            np.testing.assert_array_equal(found.values[0][valid[row, column]], array[row, column][valid[row, column]])
            assert (found.n_outside, found.n_nodata[0]) == (0, np.count_nonzero(~valid[row, column]))

    def test_outside_each_side_is_missing(self, name: str) -> None:
        path = data_folder() / name
        with rasterio.open(path) as dataset:
            west, south, east, north = dataset.bounds
            step, crs = dataset.transform.a, dataset.crs.to_wkt()
        middle_east, middle_north = (west + east) / 2, (south + north) / 2
        places = [(west - n * step, middle_north) for n in (0.01, 0.5, 1, 100)]
        places += [(east + n * step, middle_north) for n in (0, 0.01, 1, 100)]
        places += [(middle_east, north + n * step) for n in (0.01, 0.5, 1, 100)]
        places += [(middle_east, south - n * step) for n in (0, 0.01, 1, 100)]
        found = raster_values(path, *np.transpose(places), crs=crs)
        assert found.missing.all()
        assert found.n_outside == len(places)


def test_glc22_points_meet_the_crop_as_its_readme_counts(tmp_path: Path) -> None:
    """68 of 1,000 French points fall inside, one of them on missing data: 0 in bio_1, 3.4e38 in bio_3."""
    data = data_folder() / "glc22_sample"
    crops = [data / "rasters_crop" / f"bio_{n}_crop_sample.tif" for n in (1, 3)]
    points = data / "observations" / "observations_fr_train.csv"
    out = tmp_path / "values.csv"
    options = [str(points), "--out", str(out), "--nodata", "bio_1=0"]
    result = CliRunner().invoke(
        extract, [*options, "--raster", f"bio_1={crops[0]}", "--raster", str(crops[1])], catch_exceptions=False
    )
    assert result.exit_code == 0
    assert "bio_1: 1,000 points; missing: 932 off the raster, 1 on no data." in result.stderr
    assert "bio_3_crop_sample: 1,000 points; missing: 932 off the raster, 1 on no data." in result.stderr
    lines, given_lines = out.read_text().splitlines(), points.read_text().splitlines()
    assert lines[0] == given_lines[0].replace(";", ",") + ",bio_1,bio_3_crop_sample"
    assert [line.rsplit(",", 2)[0] for line in lines] == [line.replace(";", ",") for line in given_lines]


def test_values_in_a_projected_raster_are_those_of_the_projected_point() -> None:
    path = data_folder() / "glc22_sample" / "rasters_crop" / "torchgeo_sentinel2_test_sample.tif"
    with rasterio.open(path) as dataset:
        array, transform = dataset.read(1), dataset.transform
    row, column = np.mgrid[0:600:7, 0:600:11].reshape(2, -1)
    east, north = transform.c + (column + 0.5) * transform.a, transform.f + (row + 0.5) * transform.e
    lon, lat = Transformer.from_crs("EPSG:32631", "EPSG:4326", always_xy=True).transform(east, north)
    np.testing.assert_array_equal(raster_values(path, lon, lat).values[0], array[row, column])


@pytest.fixture(scope="module")
def numbered_raster(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_raster(tmp_path_factory.mktemp("numbered"), numbered())


@given(row=st.integers(-3, 32), column=st.integers(-3, 42), edge=st.booleans())
def test_a_point_has_the_pixel_that_holds_its_west_and_north_edge(
    numbered_raster: Path, row: int, column: int, edge: bool
) -> None:
    """Decimal coordinates are inexact in binary (8.29 is 28.999999999999964 pixels), and still no edge slips."""
    shift = 0 if edge else 5
    lon, lat = float(f"{8 + (column * 10 + shift) / 1000:.6f}"), float(f"{51 - (row * 10 + shift) / 1000:.6f}")
    found = raster_values(numbered_raster, [lon], [lat])
    inside = 0 <= row < 30 and 0 <= column < 40
    assert found.column(0).to_pylist() == [row * 40 + column + 1 if inside else None]


def test_blocks_and_threads_do_not_show(make_raster: MakeRaster, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tiles, strips, edge blocks and points in any order give what the whole array holds."""
    array = numbered(700, 500)
    rng = np.random.default_rng(1)
    row, column = rng.integers(-50, 750, 5000), rng.integers(-50, 550, 5000)
    lon, lat = 8 + (column + 0.5) * 0.01, 51 - (row + 0.5) * 0.01
    inside = (row >= 0) & (row < 700) & (column >= 0) & (column < 500)
    expected = np.where(inside, array[np.clip(row, 0, 699), np.clip(column, 0, 499)], 0)
    tiled = {"tiled": True, "blockxsize": 256, "blockysize": 128, "compress": "deflate"}
    monkeypatch.setattr(values_module, "FEWEST_BLOCKS", 1)
    for profile in (tiled, {"blockysize": 1}, {"blockysize": 700}):
        found = raster_values(make_raster(array, **profile), lon, lat)
        np.testing.assert_array_equal(np.where(found.missing[0], 0, found.values[0]), expected)
        assert found.n_outside == np.count_nonzero(~inside)


def test_several_bands_have_their_number_in_the_name(make_raster: MakeRaster) -> None:
    found = raster_values(make_raster([[[1, 2]], [[3, 4]]], name="rgb"), [8.015], [50.995])
    assert found.names == ("rgb_1", "rgb_2")
    assert found.values[:, 0].tolist() == [2, 4]


def test_nodata_is_missing_in_each_way_of_saying_it(make_raster: MakeRaster) -> None:
    """Declared, undeclared, both at once, NaN, infinite, and -3.4e38 as float32 stores it."""
    lon, lat = 8.005 + np.arange(4) * 0.01, np.full(4, 50.995)

    def missing(path: Path, *nodata: float) -> list[bool]:
        found = raster_values(Raster(path, nodata=nodata), lon, lat)
        assert found.n_nodata == (int(found.missing.sum()),)
        return [bool(flag) for flag in found.missing[0]]

    whole = make_raster(np.array([[0, 7, -1, 255]], "int16"), nodata=-1)
    assert missing(whole) == [False, False, True, False]
    assert missing(whole, 0) == [True, False, True, False]
    assert missing(whole, 255, 0, 1e9, 0.5) == [True, False, True, True]
    floats = make_raster(np.array([[np.nan, np.inf, -3.4e38, 2.5]], "float32"))
    assert missing(floats) == [True, True, False, False]
    assert missing(floats, -3.4e38) == [True, True, True, False]


def test_a_mask_beside_the_values_counts(make_raster: MakeRaster) -> None:
    path = make_raster(numbered(2, 2))
    with rasterio.Env(GDAL_TIFF_INTERNAL_MASK=True), rasterio.open(path, "r+") as file:
        file.write_mask(np.array([[True, False], [True, True]]))
    found = raster_values(path, [8.005, 8.015], [50.995, 50.995])
    assert found.missing.tolist() == [[False, True]]


def test_an_alpha_band_counts_beside_a_nodata_value(make_raster: MakeRaster) -> None:
    """GDAL's own mask overlooks alpha where a nodata value is declared."""
    path = make_raster([[[10, 20, 30]], [[255, 0, 255]]], name="grey", nodata=30, photometric="MINISBLACK", ALPHA="YES")
    found = raster_values(path, [8.005, 8.015, 8.025], [50.995] * 3)
    assert found.missing[0].tolist() == [False, True, True]
    assert found.n_nodata == (2, 0)


def test_bands_of_several_types_are_each_read_as_their_own(make_raster: MakeRaster, tmp_path: Path) -> None:
    """A virtual raster may stack what rasterio reads one by one only."""
    make_raster(np.array([[7, 8, 9]], "int32"), name="whole")
    make_raster(np.array([[9.8, -3.4e38, 0.1]], "float32"), name="broken")
    bands = "".join(
        f'<VRTRasterBand dataType="{kind}" band="{band}"><NoDataValue>{nodata}</NoDataValue><SimpleSource>'
        f'<SourceFilename relativeToVRT="1">{name}.tif</SourceFilename></SimpleSource></VRTRasterBand>'
        for band, (kind, name, nodata) in enumerate((("Int32", "whole", 9), ("Float32", "broken", -3.4e38)), start=1)
    )
    path = tmp_path / "both.vrt"
    path.write_text(
        '<VRTDataset rasterXSize="3" rasterYSize="1"><SRS>EPSG:4326</SRS>'
        f"<GeoTransform>8, 0.01, 0, 51, 0, -0.01</GeoTransform>{bands}</VRTDataset>"
    )
    found = raster_values(path, [8.005, 8.015, 8.025], [50.995] * 3)
    assert found.column(0).to_pylist() == [7, 8, None]
    assert [str(each) for each in found.column(1)] == ["9.800000190734863", "None", "0.10000000149011612"]
    assert str(found.column(1).type) == "float"
    (patch,) = patches_around(Raster(path), [8.015], [50.995], 3)
    assert patch.values[0, 1].tolist() == [7, 8, 9]
    assert patch.missing[:, 1].tolist() == [[False, False, True], [False, True, False]]


def test_whole_numbers_beyond_doubles_are_told_apart(make_raster: MakeRaster) -> None:
    """2^53 + 1 is no double, and 2^63 no int64."""
    lon, lat = [8.005, 8.015], [50.995] * 2
    signed = make_raster(np.array([[2**53 + 1, 2**53]], "int64"))
    assert raster_values(Raster(signed, nodata=(2**53 + 1,)), lon, lat).column(0).to_pylist() == [None, 2**53]
    assert raster_values(Raster(signed, nodata=(2**70,)), lon, lat).column(0).to_pylist() == [2**53 + 1, 2**53]
    unsigned = make_raster(np.array([[2**64 - 1, 2**63 + 5]], "uint64"))
    assert raster_values(unsigned, lon, lat).column(0).to_pylist() == [2**64 - 1, 2**63 + 5]


def test_a_raster_of_0_to_360_degrees_is_met_from_the_west(make_raster: MakeRaster) -> None:
    world = make_raster(numbered(180, 360), transform=rasterio.Affine(1, 0, 0, 0, -1, 90))
    found = raster_values(world, [-0.5, 0.5, 179.5, -179.5, -180.0], [89.5] * 5)
    assert found.values[0].tolist() == [360, 1, 180, 181, 181]


def test_a_turned_raster_is_read_along_its_own_axes(make_raster: MakeRaster) -> None:
    turned = rasterio.Affine(8, 6, 500_000, 6, -8, 5_000_000)  # pixels of 10 m, turned by 36.87 degrees
    path = make_raster(numbered(), transform=turned, crs="EPSG:32632")
    east, north = 500_000 + 8 * 17.5 + 6 * 4.5, 5_000_000 + 6 * 17.5 - 8 * 4.5
    found = raster_values(path, [east, 500_000 - 50], [north, 5_000_000.0], crs="EPSG:32632")
    assert found.column(0).to_pylist() == [4 * 40 + 18, None]


def test_points_are_two_lists_of_one_length(make_raster: MakeRaster) -> None:
    """A single latitude is not taken for all."""
    raster = Raster(make_raster(numbered()))
    for east, north in (([8.005, 8.015], [50.995]), (8.005, 50.995), ([[8.005]], [[50.995]])):
        for read in (raster_values, lambda *places: list(patches_around(*places, 3))):
            with pytest.raises(DataError, match=r"two lists of one length, and have shapes \("):
                read(raster, east, north)


def test_a_point_at_infinity_is_nowhere(make_raster: MakeRaster) -> None:
    found = raster_values(make_raster(numbered()), [np.inf, 8.005], [50.995, -np.inf])
    assert (found.n_unplaced, found.missing.tolist()) == (2, [[True, True]])


def test_points_without_a_place_are_missing_and_counted(make_raster: MakeRaster) -> None:
    found = raster_values(make_raster(numbered(), crs="EPSG:3035"), [np.nan, 10.0], [50.0, np.nan])
    assert found.missing.all()
    assert (found.n_unplaced, found.n_outside) == (2, 0)


def test_scale_and_offset_are_applied_when_asked_for(make_raster: MakeRaster) -> None:
    path = make_raster(np.array([[2881, 2900]], "uint16"))
    with rasterio.open(path, "r+") as file:
        file.scales, file.offsets = (0.1,), (-273.15,)
    assert raster_values(path, [8.005], [50.995]).values.tolist() == [[2881]]
    assert raster_values(path, [8.005], [50.995], scaled=True).values[0] == pytest.approx([14.95])


def test_bad_rasters_are_named_with_their_cure(make_raster: MakeRaster, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="There is no raster nowhere"):
        raster_values("nowhere.tif", [8], [51])
    with pytest.warns(NotGeoreferencedWarning):
        placeless = make_raster(numbered(), name="placeless", transform=rasterio.Affine.identity())
    with pytest.raises(DataError, match=r"placeless\.tif has no geotransform"):
        raster_values(placeless, [8], [51])
    flat = make_raster(numbered(), name="flat", transform=rasterio.Affine(0, 0, 8, 0, 0, 51))
    with pytest.raises(DataError, match=r"flat\.tif has a geotransform whose pixels have no area"):
        raster_values(flat, [8], [51])
    with pytest.raises(DataError, match=r"declares no CRS.*--raster-crs"):
        raster_values(make_raster(numbered(), crs=None), [8], [51])
    (tmp_path / "text.tif").write_text("no raster")
    with pytest.raises(DataError, match=r"text\.tif cannot be read as a raster"):
        raster_values(tmp_path / "text.tif", [8], [51])
    cut = make_raster(np.random.default_rng(0).random((300, 300)), name="cut")
    cut.write_bytes(cut.read_bytes()[:200_000])
    with pytest.raises(DataError, match=r"cut\.tif cannot be read as a raster"):
        raster_values(cut, [8.005], [51 - 2.995])


def test_a_raster_without_a_crs_takes_the_one_that_is_said(make_raster: MakeRaster) -> None:
    path = make_raster(numbered(), crs=None)
    assert raster_values(Raster(path, crs="EPSG:4326"), [8.005], [50.995]).values.tolist() == [[1]]


class TestExtract:
    """`spatialsplit extract`: the rows in order, text for text."""

    def run(self, tmp_path: Path, text: str, *options: str, out: str = "out.csv") -> tuple[Any, Path]:
        points = tmp_path / "points.csv"
        points.write_text(text, encoding="utf-8")
        return CliRunner().invoke(extract, [str(points), "--out", str(tmp_path / out), *options]), tmp_path / out

    def test_rows_stay_as_they_were(self, make_raster: MakeRaster, tmp_path: Path) -> None:
        """Order, odd numbers, quoted cells, equal rows and missing coordinates stay."""
        text = 'id,lat,lon,note\n007,50.995,8.005,"a, b"\n' + 2 * "2,50.990000,8.3900,\n" + "3,,8.1,é\n4,99e-1,8,x\n"
        height = make_raster(numbered())
        temperature = make_raster(numbered(dtype="float32") / np.float32(10), name="temperature")
        result, out = self.run(tmp_path, text, "--raster", str(height), "--raster", str(temperature))
        assert result.exit_code == 0, result.output
        assert out.read_text(encoding="utf-8").splitlines() == [
            "id,lat,lon,note,height,temperature",
            '007,50.995,8.005,"a, b",1,0.1',
            "2,50.990000,8.3900,,80,8",
            "2,50.990000,8.3900,,80,8",
            "3,,8.1,é,,",
            "4,99e-1,8,x,,",
        ]
        assert "height: 5 points; missing: 1 without a place, 1 off the raster." in result.stderr
        assert result.stdout == ""

    def test_parquet_keeps_whole_numbers_whole(self, make_raster: MakeRaster, tmp_path: Path) -> None:
        raster = make_raster(numbered(dtype="uint16"))
        result, out = self.run(tmp_path, "lon,lat\n8.005,50.995\n0,0\n", "--raster", str(raster), out="out.parquet")
        assert result.exit_code == 0, result.output
        assert pyarrow.parquet.read_table(out)["height"].to_pylist() == [1, None]

    def test_coordinates_in_another_crs_and_under_other_names(self, make_raster: MakeRaster, tmp_path: Path) -> None:
        raster = make_raster(numbered(), transform=rasterio.Affine(10, 0, 600_000, 0, -10, 200_000), crs="EPSG:21781")
        options = ["--input-crs", "EPSG:21781", "--column", "lon=x", "--column", "lat=y", "--raster", str(raster)]
        result, out = self.run(tmp_path, "y;x\n199990;600010\n", *options)
        assert result.exit_code == 0, result.output
        assert out.read_text() == "y,x,height\n199990,600010,42\n"

    def test_degrees_are_rounded_first_when_told_to(self, make_raster: MakeRaster, tmp_path: Path) -> None:
        """8.0099999 lies in the first pixel; as it would be published, 8.01, in the second."""
        options = ["--raster", str(make_raster(numbered()))]
        for more, expected in (([], "1"), (["--coordinate-decimals", "6"], "2")):
            _, out = self.run(tmp_path, "lon,lat\n8.00999999,50.995\n", *options, *more)
            assert out.read_text().splitlines()[1] == f"8.00999999,50.995,{expected}"

    def test_bad_coordinates_are_refused_with_their_lines(self, make_raster: MakeRaster, tmp_path: Path) -> None:
        raster = make_raster(numbered())
        result, out = self.run(tmp_path, "lon,lat\n8,51\n8,91\nx,51\n", "--raster", str(raster))
        assert isinstance(result.exception, DataError)
        assert "Invalid latitude in 1 of 3 rows of points.csv (first: line 3: 8, 91)" in str(result.exception)
        assert "Invalid longitude in 1 of 3 rows of points.csv (first: line 4: x, 51)" in str(result.exception)
        assert not out.exists()

    def test_two_columns_of_one_name_are_refused(self, make_raster: MakeRaster, tmp_path: Path) -> None:
        raster = make_raster(numbered())
        result, out = self.run(tmp_path, "lon,lat,height\n8,51,3\n", "--raster", str(raster))
        assert "There would be two columns 'height'" in str(result.exception)
        result, out = self.run(tmp_path, "lon,lat,height\n8,51,3\n", "--raster", f"dem={raster}")
        assert out.read_text() == "lon,lat,height,dem\n8,51,3,1\n"

    def test_a_nodata_value_for_an_unknown_raster_is_a_usage_error(
        self, make_raster: MakeRaster, tmp_path: Path
    ) -> None:
        options = ["--raster", str(make_raster(numbered())), "--nodata", "hight=0"]
        result, _ = self.run(tmp_path, "lon,lat\n8,51\n", *options)
        assert result.exit_code == 2
        assert "there is no raster 'hight'. Known: height." in result.stderr

    @pytest.mark.parametrize("text", ["", "height=", "0,255", "sea"])
    def test_a_nodata_value_is_one_number(self, make_raster: MakeRaster, tmp_path: Path, text: str) -> None:
        """Of two numbers the second would be left out in silence."""
        options = ["--raster", str(make_raster(numbered())), "--nodata", text]
        result, _ = self.run(tmp_path, "lon,lat\n8,51\n", *options)
        assert result.exit_code == 2
        assert "--nodata must be one number" in result.stderr

    def test_batches_do_not_show(self, make_raster: MakeRaster, tmp_path: Path) -> None:
        column = np.random.default_rng(3).integers(0, 40, 2000)
        rows = [f"{n},{8.005 + each * 0.01:.3f},50.995" for n, each in enumerate(column)]
        (tmp_path / "points.csv").write_text("\n".join(["id,lon,lat", *rows, ""]))
        table = TableInput(tmp_path / "points.csv", batch_bytes=1000)
        extract_values(table, [Raster(make_raster(numbered()))], tmp_path / "out.csv")
        expected = ["id,lon,lat,height", *(f"{row},{each + 1}" for row, each in zip(rows, column, strict=True))]
        assert (tmp_path / "out.csv").read_text().splitlines() == expected

    def test_the_output_may_replace_the_input(self, make_raster: MakeRaster, tmp_path: Path) -> None:
        raster = make_raster(numbered())
        result, out = self.run(tmp_path, "lon,lat\n8,51\n", "--raster", str(raster), out="points.csv")
        assert result.exit_code == 0, result.output
        assert out.read_text() == "lon,lat,height\n8,51,1\n"
