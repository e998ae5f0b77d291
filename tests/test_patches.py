"""Patches: whole windows round points, and the pictures of GeoLifeCLEF."""

from __future__ import annotations

import csv
import json
import threading
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import rasterio
from click.testing import CliRunner
from PIL import Image

from spatialsplit.cli.rasters import patches
from spatialsplit.errors import DataError, OutputError
from spatialsplit.rasters import PatchFolder, PatchForm, Raster, patch_path, patches_around
from spatialsplit.rasters import patches as patches_module
from tests.raster_files import numbered, write_raster
from tests.real_data import data_folder

MakeRaster = Callable[..., Path]


@pytest.fixture
def make_raster(tmp_path: Path) -> MakeRaster:
    """Write arrays as GeoTIFFs in the test's own folder."""
    return partial(write_raster, tmp_path)


@pytest.fixture
def run(tmp_path: Path) -> Callable[..., Any]:
    """Run `spatialsplit patches` on a table and give the rows of its index by id."""

    def run(text: str, raster: Path, *options: str) -> dict[str, dict[str, str]]:
        (tmp_path / "points.csv").write_text(text)
        arguments = [str(tmp_path / "points.csv"), "--raster", str(raster), "--out", str(tmp_path / "out"), *options]
        CliRunner().invoke(patches, arguments, catch_exceptions=False, standalone_mode=False)
        with (tmp_path / "out" / "index.csv").open() as file:
            return {row["surveyId"]: row for row in csv.DictReader(file)}

    return run


def read_masked(path: Path) -> Any:
    with rasterio.open(path) as dataset:
        return dataset.read(masked=True)


def test_the_point_lies_in_the_middle_pixel(make_raster: MakeRaster) -> None:
    path = make_raster(numbered())
    for size in (1, 4, 5):
        (patch,) = patches_around(Raster(path), [8.105], [50.895], size)
        assert patch.values.shape == (1, size, size)
        assert patch.values[0, size // 2, size // 2] == 10 * 40 + 11
        assert not patch.missing.any()


@pytest.mark.parametrize(("row", "column"), [(0, 0), (0, 39), (29, 0), (29, 39), (15, 0), (0, 20)])
def test_at_the_edge_a_patch_is_whole_and_what_sticks_out_is_missing(
    make_raster: MakeRaster,
    row: int,
    column: int,
) -> None:
    """GeoLifeCLEF 2023's slices became (0, 128) there."""
    array = numbered()
    (patch,) = patches_around(
        Raster(make_raster(array)), [8 + (column + 0.5) * 0.01], [51 - (row + 0.5) * 0.01], size_px=8
    )
    rows, columns = np.mgrid[row - 4 : row + 4, column - 4 : column + 4]
    there = (rows >= 0) & (rows < 30) & (columns >= 0) & (columns < 40)
    np.testing.assert_array_equal(patch.missing[0], ~there)
    np.testing.assert_array_equal(patch.values[0][there], array[rows[there], columns[there]])


def test_a_window_larger_than_the_raster_holds_it_all(make_raster: MakeRaster) -> None:
    (patch,) = patches_around(Raster(make_raster(numbered(3, 3))), [8.015], [50.985], size_px=64)
    assert (~patch.missing).sum() == 9


def test_patches_lie_at_geolifeclefs_paths_and_keep_their_place(
    run: Callable[..., Any], make_raster: MakeRaster, tmp_path: Path
) -> None:
    raster = make_raster(numbered(), nodata=-1)
    index = run(
        "surveyId,lon,lat,speciesId\n10561900,8.105,50.895,1\n212,8.205,50.895,2\n212,8.205,50.895,3\n7,8.305,50.895,4\n",
        raster,
        "--size-px",
        "6",
    )
    assert [row["path"] for row in index.values()] == ["00/19/10561900.tif", "12/2/212.tif", "7/7.tif"]
    assert {(row["status"], row["n_missing"], row["reason"]) for row in index.values()} == {("whole", "0", "")}
    with rasterio.open(tmp_path / "out" / index["212"]["path"]) as patch, rasterio.open(raster) as whole:
        assert (patch.crs, patch.nodata, patch.dtypes) == (whole.crs, -1, ("int32",))
        assert patch.index(8.205, 50.895) == (3, 3)
        np.testing.assert_array_equal(patch.read(1), whole.read(1)[7:13, 17:23])


def test_the_index_says_which_failed_and_why(run: Callable[..., Any], make_raster: MakeRaster, tmp_path: Path) -> None:
    array = numbered()
    array[20:, :] = -1
    text = "surveyId,lon,lat\n1,8.105,50.895\n2,7.9,50.9\n3,,50.9\n4,8.105,50.725\n5,8.005,50.995\n"
    index = run(text, make_raster(array, nodata=-1), "--size-px", "4")
    found = {key: (row["status"], row["n_missing"], row["reason"], row["path"] != "") for key, row in index.items()}
    assert found == {
        "1": ("whole", "0", "", True),
        "2": ("failed", "", "outside", False),
        "3": ("failed", "", "no_coordinate", False),
        "4": ("failed", "16", "no_data", False),
        "5": ("partial", "12", "", True),
    }
    assert len(list((tmp_path / "out").rglob("*.tif"))) == 2
    description = json.loads((tmp_path / "out" / "patches.json").read_text())
    assert description["counts"] == {"whole": 1, "partial": 1, "failed": 3}
    assert read_masked(tmp_path / "out" / index["5"]["path"]).mask.sum() == 12


@pytest.mark.parametrize(
    ("dtype", "nodata"), [("int16", None), ("uint8", None), ("float32", None), ("int16", -9), ("uint8", 255)]
)
def test_missing_pixels_read_as_missing_from_the_file(
    run: Callable[..., Any],
    make_raster: MakeRaster,
    tmp_path: Path,
    dtype: str,
    nodata: float | None,
) -> None:
    """With no nodata value to write, whole numbers get a mask and floats NaN: nowhere a silent zero."""
    array = (numbered() % 100).astype(dtype)
    index = run("surveyId,lon,lat\n1,8.005,50.995\n", make_raster(array, nodata=nodata), "--size-px", "4")
    patch = read_masked(tmp_path / "out" / index["1"]["path"])
    missing = np.ma.getmaskarray(patch)[0] | (np.isnan(patch.data[0]) if dtype == "float32" else False)
    assert missing.tolist() == [[True] * 4] * 2 + [[True, True, False, False]] * 2
    np.testing.assert_array_equal(patch.data[0][2:, 2:], array[:2, :2])


def test_pictures_are_stretched_as_said(run: Callable[..., Any], make_raster: MakeRaster, tmp_path: Path) -> None:
    """GeoLifeCLEF 2023: clipped at 10,000, power 1/2.5, 8 bits."""
    bands = np.stack([np.full((30, 40), value, "uint16") for value in (0, 2500, 12_000, 7)])
    options = ["--size-px", "4", "--format", "png", "--bands", "1,2,3", "--stretch", "0,10000,2.5"]
    index = run("surveyId,lon,lat\n123456,8.1,50.9\n", make_raster(bands), *options)
    pixels = np.asarray(Image.open(tmp_path / "out" / index["123456"]["path"]))
    assert pixels.shape == (4, 4, 3)
    assert pixels[0, 0].tolist() == [0, round(255 * 0.25 ** (1 / 2.5)), 255]
    assert PatchFolder(tmp_path / "out").read_channels(123456, "rgb")[:, 0, 0].tolist() == pixels[0, 0].tolist()


def test_jpegs_come_out_near_what_went_in(run: Callable[..., Any], make_raster: MakeRaster, tmp_path: Path) -> None:
    bands = np.stack([np.full((30, 40), value, "uint8") for value in (10, 120, 240)])
    index = run(
        "surveyId,lon,lat\n1,8.1,50.9\n", make_raster(bands), "--size-px", "16", "--format", "jpeg", "--suffix", "_rgb"
    )
    assert index["1"]["path"] == "1/1_rgb.jpeg"
    pixels = np.asarray(Image.open(tmp_path / "out" / "1" / "1_rgb.jpeg")).astype(int)
    assert np.abs(pixels - [10, 120, 240]).max() <= 3


def test_what_cannot_be_done_is_said_before_anything_is_written(
    run: Callable[..., Any], make_raster: MakeRaster, tmp_path: Path
) -> None:
    wide, two = make_raster(numbered()), make_raster(numbered()[None].repeat(2, axis=0).astype("uint8"), name="two")
    one = "surveyId,lon,lat\n1,8.1,50.9\n"
    for text, raster, options, message in (
        (one, wide, ["--format", "png"], r"holds int32 numbers, which an 8-bit picture cannot.*--stretch"),
        (one, two, ["--format", "jpeg"], r"A jpeg has 1 or 3 bands, and .*two\.tif gives 2"),
        (one, wide, ["--bands", "1,3"], "No band 3 in .*which has 1"),
        (one, wide, ["--stretch", "5,5,1"], "Invalid stretch 5,5,1"),
        (one, wide, ["--stretch", "0,inf"], "Invalid stretch 0,inf,1"),
        (one, wide, ["--stretch", "0,1,inf"], "Invalid stretch 0,1,inf"),
        (one, wide, ["--suffix", "/../rgb"], "Invalid suffix '/../rgb'"),
        (one, wide, ["--size-px", "70000"], "1 bands of 70,000 × 70,000 pixels.*Say another --size-px"),
        ("path,lon,lat\n1,8.1,50.9\n", wide, ["--id-col", "path"], "would have two columns 'path'.*--id-col"),
        ("surveyId,lon,lat\nab..,8,50.9\nx..yz,8,50.9\n", wide, [], r"2 of 2 ids.*cannot name a file.*'ab\.\.'"),
        ("surveyId,lon,lat\n../x,8.1,50.9\n,8,50.9\n", wide, [], r"2 of 2 ids.*cannot name a file.*'\.\./x'"),
        (
            "surveyId,lon,lat\n1,8.1,50.9\n1,8.2,50.9\n",
            wide,
            [],
            "1 of 1 ids in column 'surveyId' lie in more than one",
        ),
        ("plot,lon,lat\n1,8.1,50.9\n", wide, [], "No column of ids in points.csv.*--id-col"),
        (one, wide, ["--id-col", "plot"], "No column 'plot' in .*points.csv. It has: surveyId, lon, lat.*--id-col"),
    ):
        with pytest.raises(DataError, match=message):
            run(text, raster, *options)
        assert not (tmp_path / "out").exists()


def test_a_form_is_one_that_can_be_written() -> None:
    with pytest.raises(DataError, match=r"Unknown format 'gif'\. Known: tif, png, jpeg"):
        PatchForm(format="gif")  # type: ignore[arg-type]


@pytest.mark.parametrize("bands", ["1.5", "nan", "1,,2", ""])
def test_bands_are_whole_numbers(make_raster: MakeRaster, tmp_path: Path, bands: str) -> None:
    (tmp_path / "points.csv").write_text("surveyId,lon,lat\n1,8.1,50.9\n")
    arguments = [str(tmp_path / "points.csv"), "--raster", str(make_raster(numbered())), "--bands", bands]
    result = CliRunner().invoke(patches, [*arguments, "--out", str(tmp_path / "out")])
    assert result.exit_code == 2
    assert "--bands must be whole numbers" in result.stderr


def test_a_nodata_value_that_a_file_cannot_declare_becomes_a_mask(
    run: Callable[..., Any], make_raster: MakeRaster, tmp_path: Path
) -> None:
    raster = make_raster(np.array([[2**63 - 1, 5]], "int64"))
    index = run("surveyId,lon,lat\n1,8.015,50.995\n", raster, "--size-px", "2", "--nodata", str(2**63 - 1))
    read = read_masked(tmp_path / "out" / index["1"]["path"])
    assert read.mask.tolist() == [[[True, True], [True, False]]]


def test_several_tables_make_one_folder(make_raster: MakeRaster, tmp_path: Path) -> None:
    """Train, validation and test are three tables of one dataset."""
    tables = {"train": "surveyId,lon,lat,speciesId\n1,8.1,50.9,4\n", "test": "surveyId,lon,lat\n2,8.2,50.9\n"}
    for name, text in tables.items():
        (tmp_path / f"{name}.csv").write_text(text)
    arguments = [*(str(tmp_path / f"{name}.csv") for name in tables), "--raster", str(make_raster(numbered()))]
    result = CliRunner().invoke(patches, [*arguments, "--size-px", "2", "--out", str(tmp_path / "out")])
    assert result.exit_code == 0, result.output
    assert PatchFolder(tmp_path / "out").missing([1, 2]) == []


@pytest.mark.parametrize("form", ["tif", "png"])
def test_threads_share_the_writing_and_do_not_show(
    run: Callable[..., Any], make_raster: MakeRaster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: str
) -> None:
    """The same folder, file by file, however many threads make the files."""
    at_work = set()
    make = patches_module.patch_writer

    def watched(*arguments: Any) -> Any:
        write = make(*arguments)

        def work(*patch: Any) -> None:
            at_work.add(threading.get_ident())
            write(*patch)

        return work

    monkeypatch.setattr(patches_module, "patch_writer", watched)
    rng = np.random.default_rng(1)
    places = rng.uniform([7.95, 50.75], [8.3, 51.05], (300, 2)).round(4)
    text = "surveyId,lon,lat\n" + "".join(f"{i},{lon},{lat}\n" for i, (lon, lat) in enumerate(places))
    stretch = ["--stretch", "0,5000"] if form == "png" else []
    folders = []
    for threads in ("1", "3"):
        at_work.clear()
        run(
            text, make_raster(numbered()), "--size-px", "6", "--format", form, "--threads", threads, *stretch, "--force"
        )
        assert (len(at_work) > 1) == (threads == "3")
        paths = sorted(path for path in (tmp_path / "out").rglob("*") if path.is_file())
        folders.append({str(path): path.read_bytes() for path in paths})
    assert folders[0] == folders[1]
    assert len(folders[0]) > 100


def test_a_folder_is_replaced_only_when_told_to(run: Callable[..., Any], make_raster: MakeRaster) -> None:
    raster, text = make_raster(numbered()), "surveyId,lon,lat\n1,8.1,50.9\n"
    run(text, raster, "--size-px", "4")
    with pytest.raises(OutputError, match="--force"):
        run(text, raster, "--size-px", "4")
    assert run(text.replace("\n1,", "\n2,"), raster, "--size-px", "4", "--force").keys() == {"2"}


class TestGeoLifeClefsPatches:
    """The reader half: their own files, found and loaded."""

    def test_all_of_2023s_pictures_are_found_and_loaded(self) -> None:
        data = data_folder() / "glc23_sample"
        folder = PatchFolder(data / "SatelliteImages")
        table = data / "Presence_only_occurrences" / "Presences_only_train_sample.csv"
        with table.open(encoding="utf-8") as file:
            ids = [row["patchID"] for row in csv.DictReader(file, delimiter=";")]
        assert folder.layout == "2023"
        assert folder.missing(ids, "rgnir") == []
        for patch_id in ids[:10]:
            rgb, rgnir = (folder.read_channels(patch_id, channels) for channels in ("rgb", "rgnir"))
            assert (rgb.shape, rgb.dtype) == ((3, 128, 128), np.uint8)
            np.testing.assert_array_equal(rgb[:2], rgnir[:2])
            np.testing.assert_array_equal(rgnir[2], np.asarray(Image.open(folder.find(patch_id, "nir"))))

    def test_2022s_patches_are_taken_from_their_own_country(self) -> None:
        """A French picture, 10561985, also lies in the American tree, alone."""
        folder = PatchFolder(data_folder() / "glc22_sample")
        found = folder.find(10561985)
        assert folder.layout == "2022"
        assert found is not None
        assert found.relative_to(folder.folder).as_posix() == "patches-fr/85/19/10561985_rgb.jpg"
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert folder.read(10561985, "altitude").shape == (1, 256, 256)
        assert folder.read_channels(20000173, "rgnir").shape == (3, 256, 256)
        assert folder.find(30000173) is None

    def test_a_missing_file_is_listed_and_never_zeros(self) -> None:
        folder = PatchFolder(data_folder() / "glc22_sample")
        assert folder.missing([10561985, 10561986], "rgnir") == ["10561986 (rgb)", "10561986 (nir)"]
        with pytest.raises(DataError, match=r"No rgb patch of 10561986 in .*86/19/10561986"):
            folder.read_channels(10561986, "rgb")

    def test_a_broken_file_is_named(self, tmp_path: Path) -> None:
        (tmp_path / "56" / "34").mkdir(parents=True)
        (tmp_path / "56" / "34" / "123456.jpeg").write_bytes(b"\xff\xd8 no picture")
        with pytest.raises(DataError, match=r"123456\.jpeg cannot be read as a patch"):
            PatchFolder(tmp_path).read("123456")

    def test_a_png_with_a_broken_chunk_is_named(self, tmp_path: Path) -> None:
        """Pillow raises a SyntaxError for it."""
        Image.fromarray(numbered(9, 9, "uint8")).save(tmp_path / "whole.png")
        content = bytearray((tmp_path / "whole.png").read_bytes())
        at = content.index(b"IDAT")
        content[at - 4 : at] = (5).to_bytes(4)  # what follows is then no chunk
        (tmp_path / "7").mkdir()
        (tmp_path / "7" / "7.png").write_bytes(content)
        with pytest.raises(DataError, match=r"7\.png cannot be read as a patch"):
            PatchFolder(tmp_path).read(7)

    def test_colours_of_a_palette_are_read_as_colours(self, tmp_path: Path) -> None:
        (tmp_path / "7").mkdir()
        Image.new("RGB", (4, 4), (10, 200, 30)).quantize(2).save(tmp_path / "7" / "7.png")
        assert PatchFolder(str(tmp_path)).read_channels(7, "rgb")[:, 0, 0].tolist() == [10, 200, 30]  # type: ignore[arg-type]

    def test_two_pictures_of_one_place_have_one_size(self, tmp_path: Path) -> None:
        for kind, mode, size in (("rgb", "RGB", 4), ("nir", "L", 5)):
            (tmp_path / kind / "7").mkdir(parents=True)
            Image.new(mode, (size, size)).save(tmp_path / kind / "7" / "7.jpeg")
        with pytest.raises(DataError, match=r"The patch of 7 in .* has 4, 4 pixels in rgb and 5, 5 in nir"):
            PatchFolder(tmp_path).read_channels(7, "rgnir")

    def test_a_kind_that_is_not_known_is_named(self) -> None:
        with pytest.raises(DataError, match=r"Unknown kind of patch 'near_ir'. Known: rgb, nir, altitude, landcover"):
            PatchFolder(data_folder() / "glc22_sample").find(10561985, "near_ir")


def test_paths_of_short_ids_are_geolifeclefs_own() -> None:
    paths = [patch_path(patch_id, ".jpeg").as_posix() for patch_id in (1234567, 1234, 212, 26, 5)]
    assert paths == ["67/45/1234567.jpeg", "34/12/1234.jpeg", "12/2/212.jpeg", "26/26.jpeg", "5/5.jpeg"]
