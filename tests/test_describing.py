"""What `describe` says of a table: counts that hold, guesses with their reasons, and a recipe that is one."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any, ClassVar

import pandas as pd
import pytest
from click.testing import CliRunner

from spatialsplit.build import build_dataset
from spatialsplit.cli import cli
from spatialsplit.describing import describe_table, describe_tables
from spatialsplit.errors import DataError, OutputError
from spatialsplit.recipe import parse_recipe, read_recipe
from spatialsplit.recipe.checks import remarks
from tests.real_data import data_folder
from tests.recipes import write_csv

GLC23_PA = "glc23_sample/Presence_Absences_occurrences/Presences_Absences_train_sample.csv"


def described(path: Path, *options: str) -> dict[str, Any]:
    """Give what the command says as JSON."""
    result = CliRunner().invoke(cli, ["describe", str(path), "--json", *options])
    assert result.exit_code == 0, result.output
    content: dict[str, Any] = json.loads(result.stdout)
    return content


def odd(content: dict[str, Any]) -> dict[str, int]:
    """Give the suspicions by name."""
    return {each["name"]: each["count"] for each in content["suspicions"]}


class TestRealTables:
    """The counts that the data's own READMEs state."""

    def test_the_beetles(self) -> None:
        """A GBIF download: what is missing, what repeats, and under which licences."""
        content = described(data_folder() / "gbif_dwca" / "beetles_occurrence.txt")
        assert (content["rows"], len(content["columns"]), content["missing_coordinates"]) == (1_580, 259, 696)
        assert content["missing"]["date"] == 650
        suspicions = odd(content)
        assert suspicions["uncertainty_missing"] == 758
        assert suspicions["uncertain"] == 100
        assert suspicions["same_species_place_day"] == 1_468
        assert sum(content["values"]["license"].values()) == 1_580
        assert set(content["values"]["license"]) == {"CC0_1_0", "CC_BY_4_0"}
        assert (content["dialect"]["separator"], content["dialect"]["quoted"]) == ("\t", False)
        assert content["crs"] == "EPSG:4326"

    def test_delphinium_and_an_interval(self) -> None:
        folder = data_folder() / "gbif_dwca"
        content = described(folder / "delphinium_fissum_simple_csv.tsv")
        assert (content["missing_coordinates"], content["missing"]["date"]) == (4, 6)
        content = described(folder / "openOccurrences_occurrence.txt")
        assert odd(content)["date_no_single_day"] == 1
        assert content["values"]["license"] == {"": 1}

    def test_the_2023_sample_and_its_zone(self) -> None:
        """30 times in seconds, which agree with dayOfYear in Paris alone; the recipe says so."""
        content = described(data_folder() / GLC23_PA)
        assert odd(content) == {"date_not_iso": 30, "seconds": 30}
        assert content["time"]["seconds_agree_in"]["Europe/Paris"] == 30
        assert content["time"]["seconds_agree_in"]["UTC"] == 0
        assert tomllib.loads(content["recipe"])["inputs"]["pa"]["time_zone"] == "Europe/Paris"
        assert content["species"] == 80

    @pytest.mark.parametrize(
        ("name", "n_rows", "n_species"),
        [("observations_fr_train.csv", 1_000, 639), ("observations_us_train.csv", 1_000, 756)],
    )
    def test_observations_of_2022(self, name: str, n_rows: int, n_species: int) -> None:
        content = described(data_folder() / "glc22_sample" / "observations" / name)
        assert (content["rows"], content["species"]) == (n_rows, n_species)
        assert tomllib.loads(content["recipe"])["surveys"]["keys"] == ["observation_id"]

    def test_a_wide_table_is_known_by_its_ones_and_zeros(self) -> None:
        content = described(data_folder() / "disdat" / "NSWtest_pa_ba.csv")
        recipe = tomllib.loads(content["recipe"])
        assert recipe["inputs"]["pa"]["species_columns"] == "nsw*"
        assert recipe["surveys"]["keys"] == ["siteid"]

    def test_metres_of_an_unknown_crs_are_not_given_one(self) -> None:
        """Swiss, and nothing in the file says so."""
        content = described(data_folder() / "disdat" / "SWItrain_po.csv")
        assert content["crs"] is None
        assert "look like metres" in content["crs_reason"]
        assert (content["rows"], content["species"]) == (35_105, 30)
        assert content["mapped"]["lon"] == "x"

    def test_points_that_share_a_place_are_no_duplicates(self) -> None:
        """`species_pb.csv` repeats 22 coordinate pairs, each time once as presence and once as background."""
        content = described(data_folder() / "blockcv_au" / "species_pb.csv", "--column", "speciesId=occ")
        assert (content["rows"], content["suspicions"]) == (10_243, [])
        assert pd.read_csv(data_folder() / "blockcv_au" / "species_pb.csv").duplicated(["x", "y"]).sum() == 22


REAL = [
    "gbif_dwca/beetles_occurrence.txt",
    "gbif_dwca/openOccurrences_occurrence.txt",
    GLC23_PA,
    "glc22_sample/observations/observations_fr_train.csv",
    "disdat/AWTtest_pa_bird.csv",
    "blockcv_au/species.csv",
]


@pytest.mark.parametrize("name", REAL)
def test_the_drafted_recipe_is_a_recipe(name: str) -> None:
    """Every key of it is known, whatever the table is."""
    text = describe_table(data_folder() / name).recipe
    assert parse_recipe(tomllib.loads(text)).name


@pytest.mark.parametrize("name", ["disdat/NSWtest_pa_ba.csv", GLC23_PA])
def test_the_drafted_recipe_of_a_survey_table_builds(name: str, tmp_path: Path) -> None:
    """With larger holdouts: as it stands, with nothing filled in."""
    path = tmp_path / "recipe.toml"
    path.write_text(describe_table(data_folder() / name).recipe.replace("0.025", "0.2"))
    assert build_dataset(path, tmp_path / "d").audit.passed


class TestWhatLooksOdd:
    """Made-up tables with one oddity each."""

    HEADER = "id;date;lon;lat;species"

    @pytest.mark.parametrize(
        ("row", "name"),
        [
            ("1;2021-01-01;0;0;Abies", "zero_zero"),
            ("1;2021-01-01;5.25;5.25;Abies", "equal_coordinates"),
            ("1;2021-01-01;5.2;45;Abies", "coarse_coordinates"),
            ("1;2021-01-01;45;125.5;Abies", "swapped_axes"),
            ("1;2021-01-01;200;45.55;Abies", "out_of_range"),
            ("1;2021-01-01;inf;45.55;Abies", "out_of_range"),
            ("1;2021-01-01;;45.55;Abies", "missing_coordinate"),
            ("1;2021-01-01;5,25;45,55;Abies", "decimal_comma"),
            ("1;2021-01-01;x;45.55;Abies", "no_number"),
            ("1;31.12.2021;5.25;45.55;Abies", "day_first"),
            ("1;2021;5.25;45.55;Abies", "date_no_single_day"),
            ("1;2021-02-30;5.25;45.55;Abies", "bad_date"),
            ("1;2021-01-01;5.25;45.55;", "missing_species"),
            ("1;2021-01-01;5.25;45.55;17", "mixed_species"),
            ("0;2021-01-01;5.251;45.551;Abies", "exact_duplicates"),
            ("9;2021-01-01;5.251;45.551;Abies", "same_species_place_day"),
        ],
    )
    def test_a_row_that_looks_odd_is_counted(self, row: str, name: str, tmp_path: Path) -> None:
        """Once, beside a row that is fine."""
        path = write_csv(tmp_path / "t.csv", self.HEADER, ["0;2021-01-01;5.251;45.551;Abies", row])
        assert odd(described(path))[name] == 1

    def test_a_plain_table_has_none(self, tmp_path: Path) -> None:
        path = write_csv(tmp_path / "t.csv", self.HEADER, ["0;2021-01-01;5.251;45.551;Abies", "1;;5.3;45.33;Fagus"])
        assert described(path)["suspicions"] == []

    def test_what_darwin_core_says_of_itself(self, tmp_path: Path) -> None:
        """Absence, another datum, and how far off the place may be."""
        header = (
            "gbifID\tdecimalLatitude\tdecimalLongitude\tgeodeticDatum\toccurrenceStatus\tcoordinateUncertaintyInMeters"
        )
        rows = [
            "1\t45.55\t5.25\tWGS84\tPRESENT\t10",
            "2\t45.56\t5.25\tED50\tABSENT\t5000",
            "3\t45.57\t5.25\t\tPRESENT\t",
        ]
        found = odd(described(write_csv(tmp_path / "occurrence.txt", header, rows)))
        assert found == {"uncertain": 1, "uncertainty_missing": 1, "absent": 1, "other_datum": 1}

    def test_float_species_and_infinite_areas(self, tmp_path: Path) -> None:
        """And the layout that reads them."""
        path = write_csv(tmp_path / "pa.csv", "surveyId,lon,lat,speciesId,areaInM2", ["1,5.25,45.55,6310.0,inf"])
        content = described(path)
        assert odd(content) == {"float_species": 1, "infinite_area": 1}
        assert 'layout = "glc2024"' in content["recipe"]


class TestTheCommand:
    """What a newcomer sees."""

    def test_it_tells_a_person_all_of_it(self) -> None:
        result = CliRunner().invoke(cli, ["describe", str(data_folder() / "gbif_dwca" / "beetles_occurrence.txt")])
        assert result.exit_code == 0
        for part in ("1,580", "lon = decimalLongitude", "EPSG:4326", "696 rows have no longitude", "[inputs.po]"):
            assert part in result.output

    def test_the_json_has_the_keys_of_the_contract(self, tmp_path: Path) -> None:
        content = described(write_csv(tmp_path / "t.csv", "lon,lat", ["5,45"]))
        contract = {"rows", "columns", "mapped", "missing_coordinates", "extent", "crs", "species", "suspicions"}
        assert contract <= set(content)
        assert content["extent"] == [5, 45, 5, 45]
        assert content["species"] is None

    def test_a_table_without_rows_or_places_is_described_too(self, tmp_path: Path) -> None:
        content = described(write_csv(tmp_path / "t.csv", "a,b", []))
        assert (content["rows"], content["extent"], content["crs"]) == (0, None, None)
        assert "no columns of coordinates" in content["crs_reason"]

    def test_what_is_no_table_is_an_error(self, tmp_path: Path) -> None:
        (tmp_path / "t.csv").write_bytes(b"%PDF-1.7")
        with pytest.raises(DataError, match="is a PDF document"):
            describe_table(tmp_path / "t.csv")

    def test_names_of_coordinates_tell_their_crs(self, tmp_path: Path) -> None:
        content = described(write_csv(tmp_path / "t.csv", "x_EPSG3035,y_EPSG3035", ["4321000,3210000"]))
        assert (content["crs"], content["mapped"]) == ("EPSG:3035", {"lon": "x_EPSG3035", "lat": "y_EPSG3035"})
        assert 'crs = "EPSG:3035"' in content["recipe"]


class TestTheRecipe:
    """What a newcomer builds from next, without having to mend it."""

    SURVEYS: ClassVar[list[str]] = [f"p{i},150.{i},-33.{i},{i % 3}" for i in range(1, 9)]

    def tables(self, folder: Path) -> list[Path]:
        """Write surveys and records of Australia, whose columns have other names."""
        surveys = write_csv(folder / "plots.csv", "site,x,y,spid", self.SURVEYS)
        return [surveys, write_csv(folder / "po_all.csv", "spid,x,y", ["1,150.3,-33.3", "2,150.4,-33.4"])]

    def test_tables_that_belong_together_make_one(self, tmp_path: Path) -> None:
        """Surveys and presence-only records each find their section, with their columns."""
        _, text = describe_tables(self.tables(tmp_path))
        inputs = parse_recipe(tomllib.loads(text)).inputs
        assert inputs.po is not None
        assert (Path(inputs.pa.path).name, Path(inputs.po.path).name) == ("plots.csv", "po_all.csv")  # type: ignore[arg-type]
        assert inputs.pa.columns == inputs.po.columns == {"lon": "x", "lat": "y"}

    def test_several_wide_tables_are_one_input(self, tmp_path: Path) -> None:
        """Species columns that have one pattern are named by it, others one by one."""
        one = write_csv(tmp_path / "a.csv", "site,x,y,sp1,sp2", ["p,5,45,0,1"])
        two = write_csv(tmp_path / "b.csv", "site,x,y,sp3,sp4", ["q,5,46,1,0"])
        other = write_csv(tmp_path / "c.csv", "site,x,y,Abies,Picea", ["r,5,47,1,0"])
        same = parse_recipe(tomllib.loads(describe_tables([one, two])[1])).inputs.pa
        mixed = parse_recipe(tomllib.loads(describe_tables([one, other])[1])).inputs.pa
        assert (len(same.paths), same.species_columns) == (2, "sp*")
        assert mixed.species_columns == ["sp*", "Abies", "Picea"]

    @pytest.mark.parametrize(("row", "crs"), [("5,45", "EPSG:3035"), ("150,-33", "EPSG:6933"), ("-60,-3", "EPSG:6933")])
    def test_the_quadrats_suit_the_place(self, row: str, crs: str, tmp_path: Path) -> None:
        """The default CRS is made for Europe; elsewhere the recipe says another."""
        text = describe_table(write_csv(tmp_path / "t.csv", "lon,lat", [row])).recipe
        assert parse_recipe(tomllib.loads(text)).grid().crs == crs

    @pytest.mark.parametrize(("n", "share"), [(100, 0.1), (10_000, 0.025)])
    def test_a_small_table_gets_a_test_that_is_large_enough(self, n: int, share: float, tmp_path: Path) -> None:
        """A fortieth of a few hundred surveys is a handful, whose score says nothing."""
        text = describe_table(write_csv(tmp_path / "t.csv", "lon,lat", ["5,45"] * n)).recipe
        assert parse_recipe(tomllib.loads(text)).holdouts[0].share == share

    def test_it_is_written_where_it_will_be_used(self, tmp_path: Path) -> None:
        """Paths are relative to the recipe, and nothing is overwritten."""
        paths = [str(path) for path in self.tables(tmp_path)]
        with pytest.MonkeyPatch.context() as patch:
            patch.chdir(tmp_path)
            (tmp_path / "sub").mkdir()
            arguments = ["describe", *(Path(path).name for path in paths), "--recipe", "sub/recipe.toml"]
            done = CliRunner().invoke(cli, arguments)
            again = CliRunner().invoke(cli, arguments)
        assert done.exit_code == 0, done.output
        assert "spatialsplit build sub/recipe.toml" in done.output
        assert read_recipe(tmp_path / "sub" / "recipe.toml").inputs.pa.path == "../plots.csv"
        assert isinstance(again.exception, OutputError)

    def test_species_in_columns_are_counted(self, tmp_path: Path) -> None:
        """A wide table has species too."""
        write_csv(tmp_path / "w.csv", "site,x,y,sp1,sp2,sp3", ["p,5,45,0,1,1"])
        assert "3, a column each" in CliRunner().invoke(cli, ["describe", str(tmp_path / "w.csv")]).output

    def test_a_build_in_the_wrong_crs_says_so(self, tmp_path: Path) -> None:
        """Metres of Australia that a recipe takes for those of Britain lie somewhere, and not in Britain."""
        rows = [f"{i},{1_300_000 + 9_000 * i},{-2_300_000 - 9_000 * i},{i % 3}" for i in range(40)]
        write_csv(tmp_path / "pa.csv", "site,x,y,spid", rows)
        text = describe_table(tmp_path / "pa.csv").recipe.replace("0.1", "0.3").replace("EPSG:…", "EPSG:27700")
        (tmp_path / "recipe.toml").write_text(text.replace("# crs", "crs"))
        said = build_dataset(tmp_path / "recipe.toml", tmp_path / "d").manifest["warnings"]
        assert any("40 of 40 surveys lie outside the area of use of EPSG:27700" in line for line in said)

    def test_a_build_says_that_the_seed_was_not_chosen(self) -> None:
        """The recipe's own proposal is no seed; any other is."""
        recipe = parse_recipe(
            {
                "name": "n",
                "seed": "change me",
                "inputs": {"pa": {"path": "t"}},
                "holdouts": [{"name": "test", "share": 0.5}],
            }
        )
        assert "spatialsplit new-seed" in remarks(recipe)[0]
        assert remarks(recipe.model_copy(update={"seed": "42"})) == []


class TestWhatIsNotKnown:
    """A table under other names: the newcomer is asked, and not sent into a build that cannot work."""

    EXCEL: ClassVar[list[str]] = [
        f"{i};{1 + i % 28:02d}.05.2021;{6 + i % 9},5;47,{i % 7};Poa {i % 3}" for i in range(60)
    ]
    HEADER = "Nr;Datum;Rechtswert;Hochwert;Art"

    def excel(self, folder: Path) -> Path:
        """Write what a spreadsheet writes in Germany: a byte order mark, semicolons, decimal commas."""
        path = folder / "excel.csv"
        path.write_text("\r\n".join([self.HEADER, *self.EXCEL]) + "\r\n", "utf-8-sig")
        return path

    def test_columns_that_were_not_found_are_asked_for(self, tmp_path: Path) -> None:
        """With the option that says it; the recipe has a place for each, and the next step is not a build alone."""
        done = CliRunner().invoke(
            cli, ["describe", str(self.excel(tmp_path)), "--recipe", str(tmp_path / "recipe.toml")]
        )
        for name in ("lon", "lat", "speciesId"):
            assert f"Say --column {name}=NAME." in done.stdout
        assert "Next:  answer in" in done.stdout
        text = (tmp_path / "recipe.toml").read_text("utf-8")
        assert set(tomllib.loads(text)["inputs"]["pa"]["columns"]) == {"lon", "lat", "speciesId"}
        assert "which of Nr, Datum, Rechtswert, Hochwert, Art?" in text
        assert "metres" not in text

    def test_what_a_spreadsheet_wrote_builds_when_the_columns_are_said(self, tmp_path: Path) -> None:
        """Decimal commas and dates with the day first are seen and stand in the recipe."""
        said = {"lon": "Rechtswert", "lat": "Hochwert", "speciesId": "Art", "patchID": "Nr", "date": "Datum"}
        recipe = tmp_path / "recipe.toml"
        recipe.write_text(describe_tables([self.excel(tmp_path)], said, folder=tmp_path)[1], "utf-8")
        assert build_dataset(recipe, tmp_path / "d").audit.passed

    def test_a_column_that_is_nowhere_is_told(self, tmp_path: Path) -> None:
        """A slip in --column would leave the column unmapped, and say nothing."""
        with pytest.raises(DataError, match=r"No column 'Recht' \(for 'lon'\)\. There are: Nr, Datum,"):
            describe_table(self.excel(tmp_path), {"lon": "Recht"})

    def test_a_lone_column_of_presence_is_a_species(self, tmp_path: Path) -> None:
        """As blockCV's own example has it: x, y, occ, and no name of a place."""
        rows = [f"{5 + i / 10:.1f},45.{i},{i % 2}" for i in range(40)]
        found = describe_table(write_csv(tmp_path / "species.csv", "x,y,occ", rows))
        assert (found.species_columns, found.questions) == (["occ"], [])
        (tmp_path / "recipe.toml").write_text(found.recipe.replace("0.1", "0.3"))
        assert build_dataset(tmp_path / "recipe.toml", tmp_path / "d").audit.passed

    def test_records_without_surveys_lead_to_the_surveys(self, tmp_path: Path) -> None:
        """The recipe names a table that is not there; that is said before the build says it."""
        path = write_csv(tmp_path / "po.csv", "lon,lat,speciesId", ["5,45,1"])
        done = CliRunner().invoke(cli, ["describe", str(path), "--recipe", str(tmp_path / "recipe.toml")])
        assert "Next:  name your surveys under [inputs.pa]" in done.stdout

    def test_one_row_is_singular(self, tmp_path: Path) -> None:
        """1 row has, 2 rows have."""
        done = CliRunner().invoke(cli, ["describe", str(write_csv(tmp_path / "t.csv", "lon,lat", ["0,0", ",4"]))])
        assert "1 row has no longitude" in done.stdout
        assert "1 row lies at longitude 0" in done.stdout
