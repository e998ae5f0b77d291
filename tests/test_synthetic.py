"""The virtual flora: the same everywhere, and like real data in what matters to a split."""

from __future__ import annotations

import hashlib
import os
import tomllib
from datetime import date, timedelta
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import rasterio
from click.testing import CliRunner
from pyproj import Geod
from scipy.spatial import cKDTree

from spatialsplit.cli import cli
from spatialsplit.errors import DataError, OutputError
from spatialsplit.synthetic import DEFAULT_SEED, make_virtual_flora, write_virtual_flora
from spatialsplit.synthetic.dice import Dice

KEYS = ["patchID", "dayOfYear"]

# Equal on Python 3.11 to 3.13 and every numpy from 2.0: who changes these changes everybody's flora.
GOLDEN = {
    "pa.csv": "47310317fc1c04e51f9f40051927847c4d358a2fe8ba010e24fe90a6613b6900",
    "po.csv": "d1011e6a61ea05a63f3fa4a8364a0c7a6833bde74d3221b2cb1312ab4d09cbeb",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write a flora of the default size."""
    folder = tmp_path_factory.mktemp("synth") / "flora"
    write_virtual_flora(folder)
    return folder


@pytest.fixture(scope="module")
def pa(folder: Path) -> pd.DataFrame:
    return pd.read_csv(folder / "pa.csv")


@pytest.fixture(scope="module")
def surveys(pa: pd.DataFrame) -> pd.DataFrame:
    return pa.drop_duplicates(KEYS)


@pytest.fixture(scope="module")
def po(folder: Path) -> pd.DataFrame:
    return pd.read_csv(folder / "po.csv")


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _earth_centred_m(table: pd.DataFrame) -> np.ndarray:
    lon, lat = np.radians(table["lon"].to_numpy()), np.radians(table["lat"].to_numpy())
    return 6_371_000 * np.column_stack([np.cos(lat) * np.cos(lon), np.cos(lat) * np.sin(lon), np.sin(lat)])


# --- the same everywhere


def test_a_small_flora_has_the_bytes_that_it_always_had(tmp_path: Path) -> None:
    """Tables depend on the seed and the sizes alone: not on platform, Python or a library's version."""
    write_virtual_flora(tmp_path, n_surveys=300, n_po=5_000, seed="golden")
    assert {name: _sha256(tmp_path / name) for name in GOLDEN} == GOLDEN


def test_the_same_seed_gives_the_same_files_and_another_seed_others(tmp_path: Path) -> None:
    """Also the rasters are equal within one version of GDAL."""
    for name, seed in (("first", "a"), ("again", "a"), ("other", "b")):
        write_virtual_flora(tmp_path / name, n_surveys=20, n_po=50, seed=seed)
    for path in ("pa.csv", "po.csv", "recipe.toml", "rasters/elevation.tif"):
        first, again, other = (_sha256(tmp_path / name / path) for name in ("first", "again", "other"))
        assert first == again != other


def test_an_integer_seed_means_its_decimal_digits() -> None:
    """As it does in a recipe."""
    assert make_virtual_flora(5, 5, seed=7).pa.equals(make_virtual_flora(5, 5, seed="7").pa)


def test_more_sightings_do_not_move_the_surveys() -> None:
    """Each part of the flora has its own stream of chance, and the country is that of any other size."""
    few, many = make_virtual_flora(50, 10), make_virtual_flora(50, 1_000)
    assert few.pa.equals(many.pa)
    np.testing.assert_array_equal(few.landscape.elevation_m, make_virtual_flora(9, 1).landscape.elevation_m)


def test_dice_stay_below_their_limit_and_reach_every_face() -> None:
    """Integers are spread evenly: each face of six comes up in a sixth of the throws, give or take."""
    faces = np.bincount(Dice("any", "faces").below(6, 60_000))
    assert len(faces) == 6
    assert np.abs(faces - 10_000).max() < 400


def test_dice_fractions_lie_strictly_between_0_and_1() -> None:
    """So that they can be divided by, and never reach the end of a table of shares."""
    fractions = Dice("any", "fractions").fractions(100_000)
    assert 0 < fractions.min() < 0.001
    assert 0.999 < fractions.max() < 1


# --- the files


def test_the_folder_holds_two_tables_three_rasters_and_a_recipe(folder: Path) -> None:
    """And nothing else: no temporary file stays behind, neither inside nor beside it."""
    files = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    rasters = ["rasters/elevation.tif", "rasters/precipitation.tif", "rasters/temperature.tif"]
    assert files == ["pa.csv", "po.csv", *rasters, "recipe.toml"]
    assert os.listdir(folder.parent) == ["flora"]


def test_the_columns_are_named_as_in_geolifeclef(pa: pd.DataFrame, po: pd.DataFrame) -> None:
    """Columns are found by these names, so that the recipe needs no mapping."""
    day, place = ["dayOfYear", "date", "year"], ["lon", "lat", "geoUncertaintyInM"]
    assert list(pa) == ["patchID", *day, *place, "areaInM2", "region", "country", "speciesId"]
    assert list(po) == ["glcID", "observer", "datasetName", *day, *place, "speciesId"]


def test_the_text_of_the_tables_is_plain(folder: Path) -> None:
    """LF, no quotes, six decimals: a row can be read by eye and by anything."""
    for name in ("pa.csv", "po.csv"):
        data = (folder / name).read_bytes()
        assert data.endswith(b"\n")
        assert b'"' not in data
        assert b"\r" not in data
        cells = dict(zip(*(line.split(",") for line in data.decode().split("\n")[:2]), strict=True))
        assert [len(cells[column].split(".")[1]) for column in ("lon", "lat")] == [6, 6]


def test_the_recipe_says_what_the_contract_says(tmp_path: Path) -> None:
    """Its values are those of the documented example, with the flora's own seed, whatever is in it."""
    write_virtual_flora(tmp_path, n_surveys=1, n_po=1, seed='a "seed" \\ ü')
    recipe = tomllib.loads((tmp_path / "recipe.toml").read_text(encoding="utf-8"))
    about = recipe.pop("about")
    assert about["license"] == "CC0-1.0"
    assert {"title", "description"} <= set(about)
    assert recipe == {
        "name": "virtual-flora",
        "seed": 'a "seed" \\ ü',
        "inputs": {"pa": {"path": "pa.csv"}, "po": {"path": "po.csv"}},
        "surveys": {"keys": KEYS},
        "quadrats": {"crs": "EPSG:3035", "size_m": 5000, "origin": [0, 0]},
        "holdouts": [{"name": "test", "share": 0.025}, {"name": "val", "share": 0.025}],
        "po_filter": {"radius_m": 300, "around": ["test"]},
        "evaluation": {"metric": "f1_samples", "public_share": 0.3},
    }


def test_the_rasters_cover_every_record_and_have_a_sea(folder: Path, surveys: pd.DataFrame, po: pd.DataFrame) -> None:
    """No record stands in the sea, which is nodata, nor on a pixel's edge, where readers disagree."""
    points = pd.concat([surveys, po])[["lon", "lat"]].to_numpy()
    for path in (folder / "rasters").iterdir():
        with rasterio.open(path) as raster:
            assert raster.crs.to_epsg() == 4326
            band = raster.read(1, masked=True)
            to = raster.transform
            column, row = (points[:, 0] - to.c) / to.a, (points[:, 1] - to.f) / to.e
            assert np.abs(np.stack([column, row]) % 1 - 0.5).max() < 0.49999
            values = band[row.astype(int), column.astype(int)]
        assert 0.05 < band.mask.mean() < 0.5
        assert values.count() == len(points)
        assert len(np.unique(values)) > 50


def test_records_stream_in_bounded_tables_with_one_header(tmp_path: Path) -> None:
    """Memory does not grow with the sightings, and their numbers run through from table to table."""
    flora = make_virtual_flora(10, 200_001)
    assert [table.num_rows for table in flora.po_tables()] == [200_000, 1]
    write_virtual_flora(tmp_path, n_surveys=10, n_po=200_001)
    glc_id = pd.read_csv(tmp_path / "po.csv")["glcID"]
    assert (glc_id == glc_id[0] + np.arange(200_001)).all()


def test_the_tables_in_memory_are_those_in_the_files(tmp_path: Path) -> None:
    """Who uses the library sees the same numbers as who reads the files."""
    write_virtual_flora(tmp_path, n_surveys=40, n_po=300)
    flora = make_virtual_flora(40, 300)
    for name, table in (("pa.csv", flora.pa), ("po.csv", flora.po)):
        in_memory = table.to_pandas().astype({"date": "str"})
        pd.testing.assert_frame_equal(pd.read_csv(tmp_path / name), in_memory, check_dtype=False, check_exact=True)


# --- like real data


def test_every_survey_has_one_place_one_date_and_distinct_species(pa: pd.DataFrame) -> None:
    """The keys name a survey: nothing but the species varies inside, and no species stands twice."""
    varying = pa.groupby(KEYS, sort=False).nunique(dropna=False).drop(columns="speciesId")
    assert (varying == 1).all(axis=None)
    assert not pa.duplicated([*KEYS, "speciesId"]).any()
    assert len(varying) == 4_000


def test_a_survey_lists_some_five_to_twenty_five_species(pa: pd.DataFrame) -> None:
    """No survey is empty: a long table could not say so."""
    richness = pa.groupby(KEYS).size()
    assert richness.between(5, 25).all()
    assert 10 < richness.mean() < 16


def test_a_patch_is_visited_again_on_another_day(surveys: pd.DataFrame) -> None:
    """The patch alone is no key: some have two surveys, at the same place."""
    visits = surveys.groupby("patchID").agg(days=("dayOfYear", "nunique"), places=("lon", "nunique"))
    assert visits["places"].max() == 1
    assert 0.05 < (visits["days"] == 2).mean() < 0.3


@pytest.mark.parametrize("table", ["pa", "po"])
def test_day_of_year_agrees_with_date(table: str, request: pytest.FixtureRequest) -> None:
    """Also after February of the leap year 2020; five years, 2017 to 2021, all occur."""
    days = request.getfixturevalue(table)[["date", "year", "dayOfYear"]].drop_duplicates()
    for text, year, day in days.itertuples(index=False):
        assert text == str(date(year, 1, 1) + timedelta(day - 1))
        assert text.startswith(str(year))
    assert sorted(days["year"].unique()) == [2017, 2018, 2019, 2020, 2021]


def test_several_surveys_share_a_quadrat(surveys: pd.DataFrame) -> None:
    """Campaigns cluster: fewer than half as many places of 5 km as surveys, but enough to draw 2.5 % from."""
    east_km, north_km = surveys["lon"] * 71.6, surveys["lat"] * 111.2
    quadrats = pd.Series(list(zip(east_km // 5, north_km // 5, strict=True))).value_counts()
    assert 700 < len(quadrats) < 1_600
    assert quadrats.max() > 20


def test_some_sightings_lie_within_300_m_of_a_survey(surveys: pd.DataFrame, po: pd.DataFrame) -> None:
    """The filter has work: more records than chance alone would put there, and by far not most of them."""
    metres, nearest = cKDTree(_earth_centred_m(surveys)).query(_earth_centred_m(po))
    assert 0.03 < (metres <= 300).mean() < 0.2
    one = int(np.argmin(np.abs(metres - 250)))
    site = surveys.iloc[nearest[one]]
    geodesic = Geod(ellps="WGS84").inv(po["lon"][one], po["lat"][one], site["lon"], site["lat"])[2]
    assert geodesic == pytest.approx(250, rel=0.01)


def test_sightings_heap_where_people_are(po: pd.DataFrame) -> None:
    """A twentieth of the places with records holds more than a third of them."""
    places = (po[["lon", "lat"]] * 20).round().value_counts()
    assert places.head(len(places) // 20).sum() > len(po) / 3


def test_few_species_are_common_and_many_are_rare(pa: pd.DataFrame, po: pd.DataFrame) -> None:
    """A long tail, in another order in the sightings, since showy plants are noted more often."""
    for table in (pa, po):
        counts = table["speciesId"].value_counts()
        assert 270 <= len(counts) <= 300
        assert counts.index.min() >= 0
        assert counts.index.max() <= 299
        assert counts.head(30).sum() > 0.35 * len(table)
        assert counts.iloc[0] < 0.1 * len(table)
        assert (counts < 20).sum() > 30
    ranks = pd.concat([t["speciesId"].value_counts().rank() for t in (pa, po)], axis=1).corr().iloc[0, 1]
    assert 0.3 < ranks < 0.95


def test_species_follow_the_environment(folder: Path, pa: pd.DataFrame) -> None:
    """Niches are real: common species differ in the warmth of their places by more than chance allows."""
    with rasterio.open(folder / "rasters/temperature.tif") as raster:
        warmth = pd.Series([value[0] for value in raster.sample(pa[["lon", "lat"]].to_numpy())])
    means = warmth.groupby(pa["speciesId"]).agg(["mean", "size"]).query("size > 200")["mean"]
    assert means.std() > 0.3 * warmth.std()


def test_sightings_have_the_flaws_of_real_ones(po: pd.DataFrame) -> None:
    """Unknown and coarse uncertainties, and now and then a record under two ids."""
    assert 0.05 < po["geoUncertaintyInM"].isna().mean() < 0.4
    assert 0 < (po["geoUncertaintyInM"] > 300).mean() < 0.3
    assert 0.002 < po.drop(columns="glcID").duplicated().mean() < 0.05
    assert po["glcID"].is_unique


# --- what is refused


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"n_surveys": 0}, r"Invalid number of surveys: 0\. A virtual flora has 1 to"),
        ({"n_po": -3}, r"Invalid number of presence-only records: -3\."),
        ({"seed": ""}, r"Invalid seed ''\."),
        ({"seed": "a|b"}, r"Invalid seed 'a\|b'\. A seed is text in one line, not empty and without '\|'"),
        ({"seed": "a\nb"}, r"Invalid seed 'a\\nb'"),
    ],
)
def test_impossible_wishes_are_refused(wrong: dict[str, object], message: str, tmp_path: Path) -> None:
    """Before anything is written, with the value and what must hold."""
    with pytest.raises(DataError, match=message):
        write_virtual_flora(tmp_path / "flora", **wrong)  # type: ignore[arg-type]
    assert not (tmp_path / "flora").exists()


def test_all_impossible_wishes_are_told_at_once() -> None:
    """A line each."""
    with pytest.raises(DataError, match="surveys") as refusal:
        make_virtual_flora(0, 0, seed="|")
    assert len(refusal.value.problems) == 3


def test_a_folder_that_is_not_empty_is_refused_unless_forced(tmp_path: Path) -> None:
    """Forced, it gets the flora's files and keeps the others."""
    (tmp_path / "notes.txt").write_text("mine")
    (tmp_path / "pa.csv").write_text("old")
    with pytest.raises(OutputError, match=r"is not empty\. Name another one, or use --force"):
        write_virtual_flora(tmp_path, n_surveys=1, n_po=1)
    assert (tmp_path / "pa.csv").read_text() == "old"
    write_virtual_flora(tmp_path, n_surveys=1, n_po=1, force=True)
    assert sorted(os.listdir(tmp_path)) == ["notes.txt", "pa.csv", "po.csv", "rasters", "recipe.toml"]
    assert (tmp_path / "pa.csv").read_text().startswith("patchID,")


def test_a_file_in_the_place_of_the_folder_is_refused(tmp_path: Path) -> None:
    """Nobody's file is replaced by a folder."""
    (tmp_path / "flora").write_text("mine")
    with pytest.raises(OutputError, match="is a file"):
        write_virtual_flora(tmp_path / "flora", n_surveys=1, n_po=1, force=True)


def test_a_folder_that_cannot_be_made_is_one_clear_line(tmp_path: Path) -> None:
    """The system's own reason, and the folder."""
    (tmp_path / "file").write_text("mine")
    with pytest.raises(OutputError, match=r"Cannot write the virtual flora to '.*flora': .*\.") as refusal:
        write_virtual_flora(tmp_path / "file" / "flora", n_surveys=1, n_po=1)
    assert len(refusal.value.problems) == 1


def test_a_failure_half_way_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The folder is there with all its files, or not at all."""

    def full_disk(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("spatialsplit.synthetic.folder._write_rasters", full_disk)
    with pytest.raises(OutputError, match="No space left on device"):
        write_virtual_flora(tmp_path / "flora", n_surveys=1, n_po=1)
    assert os.listdir(tmp_path) == []


# --- the command


def test_the_command_says_what_it_wrote_and_what_comes_next(tmp_path: Path) -> None:
    """Whoever runs it can go on by copying the last line."""
    folder = tmp_path / "my flora"
    result = CliRunner().invoke(cli, ["synth", "--out", str(folder), "--surveys", "30", "--po", "70"])
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    assert lines[0].startswith("Wrote a virtual flora of ")
    assert "30 surveys" in lines[1]
    assert "70 rows" in lines[2]
    assert lines[-1] == f"Next:  spatialsplit build '{folder / 'recipe.toml'}' --out dataset"
    assert len(pd.read_csv(folder / "pa.csv").drop_duplicates(KEYS)) == 30
    assert tomllib.loads((folder / "recipe.toml").read_text())["seed"] == DEFAULT_SEED


def test_the_command_refuses_a_full_folder_and_can_be_forced(tmp_path: Path) -> None:
    """As the library does."""
    call = ["synth", "--out", str(tmp_path), "--surveys", "3", "--po", "3", "--seed", "x"]
    assert CliRunner().invoke(cli, call).exit_code == 0
    assert isinstance(CliRunner().invoke(cli, call).exception, OutputError)
    assert CliRunner().invoke(cli, [*call, "--force"]).exit_code == 0


def test_the_command_knows_a_number_from_a_word(tmp_path: Path) -> None:
    """A usage fault is told apart from bad data by its exit code."""
    assert CliRunner().invoke(cli, ["synth", "--out", str(tmp_path), "--po", "many"]).exit_code == 2
    assert CliRunner().invoke(cli, ["synth"]).exit_code == 2
