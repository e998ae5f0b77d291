"""Tables as the world has them, through a whole build: GBIF's, GeoLifeCLEF's of each year, and odd ones."""

from __future__ import annotations

import csv
import zipfile
from pathlib import Path

import pytest

from spatialsplit.build import BuildReport, build_dataset
from spatialsplit.errors import DataError, RecipeError
from spatialsplit.layouts import files_of_layout
from spatialsplit.recipe import read_recipe
from spatialsplit.tables import read_table
from tests.real_data import data_folder
from tests.recipes import PA_HEADER, four_quadrats, write_csv, write_recipe


def rows_of(path: Path, separator: str = ",") -> list[dict[str, str]]:
    """Read a written table with Python's own reader."""
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter=separator))


def build(folder: Path, recipe: str, holdouts: str = '[[holdouts]]\nname = "test"\nshare = 0.5\n') -> BuildReport:
    """Build from the text of a recipe's sections."""
    (folder / "recipe.toml").write_text(f'name = "t"\nseed = "s"\n{recipe}{holdouts}')
    return build_dataset(folder / "recipe.toml", folder / "out")


def steps_of(report: BuildReport) -> dict[str, dict[str, object]]:
    """Give the steps of a manifest by name."""
    return {step["step"]: step for step in report.manifest["steps"]}


class TestGbifDownloads:
    """Presence-only records as GBIF gives them."""

    def test_a_download_goes_in_as_it_is(self, tmp_path: Path) -> None:
        """The zip that GBIF calls SIMPLE_CSV: species by number, four rows without a place, dates compared."""
        source = data_folder() / "gbif_dwca" / "delphinium_fissum_simple_csv.tsv"
        with zipfile.ZipFile(tmp_path / "download.zip", "w") as archive:
            archive.write(source, "0009886-250127130748423.csv")
        write_csv(tmp_path / "pa.csv", PA_HEADER, four_quadrats({i: [2482507, 3033339] for i in range(4)}))
        report = build(
            tmp_path,
            '[inputs.pa]\npath = "pa.csv"\n[inputs.po]\npath = "download.zip"\ndrop = ["missing_coordinate"]\n',
        )
        assert steps_of(report)["read_po"] == {
            "step": "read_po", "in": 32, "kept": 28, "dropped": {"missing_coordinate": 4}
        }  # fmt: skip
        po = rows_of(report.folder / "public" / "PO_train.csv")
        assert len(po) == 28
        assert {"lon", "lat", "speciesId", "date", "license", "gbifID"} <= set(po[0])
        assert "kingdom" not in po[0]

    def test_the_beetles_tell_all_that_is_wrong_at_once(self, tmp_path: Path) -> None:
        """696 rows have no place; the dates agree with year and startDayOfYear."""
        write_csv(tmp_path / "pa.csv", PA_HEADER, four_quadrats())
        path = data_folder() / "gbif_dwca" / "beetles_occurrence.txt"
        with pytest.raises(DataError) as caught:
            build(tmp_path, f'[inputs.pa]\npath = "pa.csv"\n[inputs.po]\npath = "{path}"\n')
        assert "Missing coordinate in 696 of 1,580 rows" in str(caught.value)

    def test_more_columns_are_read_where_they_are_asked_for(self, tmp_path: Path) -> None:
        """In place of the usual ones."""
        path = data_folder() / "gbif_dwca" / "delphinium_fissum_simple_csv.tsv"
        write_csv(tmp_path / "pa.csv", PA_HEADER, four_quadrats())
        report = build(
            tmp_path,
            f'[inputs.pa]\npath = "pa.csv"\n[inputs.po]\npath = "{path}"\ndrop = ["missing_coordinate"]\n'
            'read_columns = ["kingdom"]\ncolumns = { speciesId = "taxonKey" }\n',
        )
        po = rows_of(report.folder / "public" / "PO_train.csv")
        assert {row["kingdom"] for row in po} == {"Plantae"}
        assert "license" not in po[0]


class TestGeoLifeClefLayouts:
    """Each year's tables, and what a build writes in a year's layout."""

    @pytest.mark.parametrize(
        ("layout", "role", "name"),
        [
            ("glc2020", "pa", "occurrences_fr_train.csv"),
            ("glc2021", "pa", "observations/observations_us_train.csv"),
            ("glc2023", "po", "Presence_only_occurrences/Presences_only_train.csv"),
            ("glc2023", "pa", "Presence_Absence_surveys/Presences_Absences_train.csv"),
            ("glc2024", "po", "GLC24_P0_metadata_train.csv"),
            ("glc2024", "po", "GLC24-PO-metadata-train.csv"),
            ("glc2024", "pa", "GLC24_PA_metadata_train.csv"),
            ("glc2025", "pa", "GLC25_PA_metadata_train.csv"),
        ],
    )
    def test_a_download_is_known_by_its_names(self, layout: str, role: str, name: str, tmp_path: Path) -> None:
        """A digit zero, hyphens, folders: whatever that year's files are called."""
        for each in (name, "other.csv", "GLC24_PA_metadata_test.csv"):
            (tmp_path / each).parent.mkdir(exist_ok=True)
            (tmp_path / each).write_text("a\n1\n")
        assert files_of_layout(layout, role, tmp_path) == [tmp_path / name]

    def test_a_folder_without_such_files_says_what_it_holds(self, tmp_path: Path) -> None:
        (tmp_path / "x.csv").write_text("a\n1\n")
        with pytest.raises(DataError, match=r"no table of the layout glc2024 for \[inputs.po\]. It holds: x.csv"):
            files_of_layout("glc2024", "po", tmp_path)
        assert files_of_layout("long", "po", tmp_path) == [tmp_path]

    def test_the_folder_of_the_2023_sample_builds(self, tmp_path: Path) -> None:
        """Both tables found by their names, the times in seconds read in their zone."""
        folder = data_folder() / "glc23_sample"
        report = build(
            tmp_path,
            f'[inputs.pa]\npath = "{folder}"\nlayout = "glc2023"\ntime_zone = "Europe/Paris"\n'
            f'[inputs.po]\npath = "{folder}"\nlayout = "glc2023"\n',
        )
        assert [entry["rows"] for entry in report.manifest["inputs"]] == [100, 100]
        assert not [warning for warning in report.manifest["warnings"] if "dates" in warning]

    def test_float_species_and_infinite_areas_of_2024_go_through(self, tmp_path: Path) -> None:
        """6310.0 is species 6310; an area stays the text that it was."""
        header = "lon,lat,year,geoUncertaintyInM,areaInM2,region,country,speciesId,surveyId"
        areas = ("inf", "-inf", "", "100.0")
        rows = [
            f"{5 + 0.2 * i:.1f},45.0,2021,5.0,{areas[i]},ALPINE,France,{s}.0,{i + 7}" for i in range(4) for s in (1, 2)
        ]
        write_csv(tmp_path / "GLC24_PA_metadata_train.csv", header, rows)
        report = build(tmp_path, '[inputs.pa]\npath = "."\nlayout = "glc2024"\n[surveys]\nkeys = ["surveyId"]\n')
        rows = [*rows_of(report.folder / "public/PA_train.csv"), *rows_of(report.folder / "private/PA_test.csv")]
        assert {row["surveyId"]: row["areaInM2"] for row in rows} == dict(zip("789", areas[:3], strict=True)) | {
            "10": "100.0"
        }
        assert {row["speciesId"] for row in rows} == {"1", "2"}

    def test_observations_of_2020_have_a_key_called_id(self, tmp_path: Path) -> None:
        rows = [f"{i + s * 10};45.0;{5 + 0.2 * i:.1f};{s}" for i in range(4) for s in (1, 2)]
        write_csv(tmp_path / "occurrences_fr_train.csv", "id;lat;lon;species_id", rows)
        report = build(tmp_path, '[inputs.pa]\npath = "."\nlayout = "glc2020"\n[surveys]\nkeys = ["observation_id"]\n')
        assert steps_of(report)["surveys"]["in"] == 8

    @pytest.mark.parametrize(
        ("layout", "keys", "more"),
        [
            ("glc2022", "observation_id", ""),
            ("glc2023", "surveyId", '[draw]\nremainder = "val"\n'),
            ("glc2024", "surveyId", ""),
        ],
    )
    def test_what_a_build_writes_in_a_layout_the_reader_reads(
        self, layout: str, keys: str, more: str, tmp_path: Path
    ) -> None:
        """From the folder that was published, by the layout's name alone; the labels come back."""
        single = layout == "glc2022"
        if single:
            rows = [f"{i + 10 * s},{5 + 0.2 * i:.1f},45.0,{s}" for i in range(4) for s in (1, 2)]
            write_csv(tmp_path / "pa.csv", "observation_id,lon,lat,speciesId", rows)
        else:
            write_csv(tmp_path / "pa.csv", PA_HEADER, four_quadrats())
            write_csv(tmp_path / "po.csv", "gbifID,lon,lat,speciesId", ["1,9.0,45.0,1", "2,9.0,45.1,2"])
        po = "" if single else '[inputs.po]\npath = "po.csv"\n'
        keys_first = '[surveys]\nkeys = ["observation_id"]\n' if single else ""
        first = build(tmp_path, f'[inputs.pa]\npath = "pa.csv"\n{po}{keys_first}[output]\nlayout = "{layout}"\n{more}')
        again = tmp_path / "again"
        again.mkdir()
        public = first.folder / "public"
        po = "" if single else f'[inputs.po]\npath = "{public}"\nlayout = "{layout}"\n'
        second = build(
            again, f'[inputs.pa]\npath = "{public}"\nlayout = "{layout}"\n{po}[surveys]\nkeys = ["{keys}"]\n'
        )
        n = {"glc2022": 4, "glc2023": 4, "glc2024": 4}[layout]
        assert steps_of(second)["read_pa"]["in"] == n
        if not single:
            assert steps_of(second)["read_po"]["in"] == 2


class TestOddTables:
    """One table of four surveys, written in many ways; the dataset is the same."""

    @pytest.fixture
    def usual(self, tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, str]]:
        folder = tmp_path_factory.mktemp("usual")
        write_csv(folder / "pa.csv", PA_HEADER, four_quadrats())
        return self.labels(build_dataset(write_recipe(folder), folder / "out"))

    def labels(self, report: BuildReport) -> list[dict[str, str]]:
        wanted = ("patchID", "dayOfYear", "lon", "lat", "speciesId")
        rows = [*rows_of(report.folder / "public/PA_train.csv"), *rows_of(report.folder / "private/PA_test.csv")]
        return sorted(({name: row[name] for name in wanted} for row in rows), key=lambda row: sorted(row.items()))

    def test_a_decimal_comma_is_read_where_it_is_declared(self, usual: list[dict[str, str]], tmp_path: Path) -> None:
        """In a table with semicolons."""
        rows = [row.replace(",", ";").replace(".", ",") for row in four_quadrats()]
        write_csv(tmp_path / "pa.csv", PA_HEADER.replace(",", ";"), rows)
        assert self.labels(build(tmp_path, '[inputs.pa]\npath = "pa.csv"\ndecimal = ","\n')) == usual

    def test_a_decimal_comma_that_is_not_declared_is_an_error(self, tmp_path: Path) -> None:
        rows = [row.replace(",", ";").replace(".", ",") for row in four_quadrats()]
        write_csv(tmp_path / "pa.csv", PA_HEADER.replace(",", ";"), rows)
        with pytest.raises(DataError, match="Invalid latitude in 8 of 8 rows"):
            build(tmp_path, '[inputs.pa]\npath = "pa.csv"\n')

    def test_a_byte_order_mark_crlf_and_quoted_line_breaks_do_not_matter(
        self, usual: list[dict[str, str]], tmp_path: Path
    ) -> None:
        """As a spreadsheet saves it."""
        lines = [f"{PA_HEADER},note", *(f'{row},"two\r\nlines"' for row in four_quadrats())]
        (tmp_path / "pa.csv").write_bytes(b"\xef\xbb\xbf" + "\r\n".join(lines).encode() + b"\r\n")
        assert self.labels(build(tmp_path, '[inputs.pa]\npath = "pa.csv"\n')) == usual

    def test_latin_1_is_read_where_it_is_declared(self, tmp_path: Path) -> None:
        lines = [f"{PA_HEADER},région", *(f"{row},Île-de-France" for row in four_quadrats())]
        (tmp_path / "pa.csv").write_bytes("\n".join(lines).encode("latin-1"))
        report = build(tmp_path, '[inputs.pa]\npath = "pa.csv"\nencoding = "latin-1"\n')
        assert rows_of(report.folder / "public/PA_train.csv")[0]["région"] == "Île-de-France"

    def test_ids_beyond_what_a_float_holds_are_kept(self, tmp_path: Path) -> None:
        """2^53 + 1 is no double; it stays what it is, as key, as species and in passing."""
        big = 2**53 + 1
        rows = [f"{big + i},{10 + i},{5 + 0.2 * i:.1f},45.0,{big + s},{big}" for i in range(4) for s in (0, 1)]
        write_csv(tmp_path / "pa.csv", "patchID,dayOfYear,lon,lat,speciesId,gbifID", rows)
        report = build(tmp_path, '[inputs.pa]\npath = "pa.csv"\n')
        train = rows_of(report.folder / "public/PA_train.csv")
        assert {row["speciesId"] for row in train} == {str(big), str(big + 1)}
        assert {row["gbifID"] for row in train} == {str(big)}
        assert {int(row["patchID"]) - big for row in train} <= {0, 1, 2, 3}

    def test_columns_with_spaces_are_named_in_the_recipe(self, usual: list[dict[str, str]], tmp_path: Path) -> None:
        write_csv(tmp_path / "pa.csv", "Plot No.,dayOfYear,date,Lon (deg),lat,speciesId", four_quadrats())
        columns = 'columns = { patchID = "Plot No.", lon = "Lon (deg)" }'
        assert self.labels(build(tmp_path, f'[inputs.pa]\npath = "pa.csv"\n{columns}\n')) == usual

    def test_a_column_that_is_there_twice_is_refused_only_where_it_is_needed(self, tmp_path: Path) -> None:
        write_csv(tmp_path / "pa.csv", f"{PA_HEADER},lat", [f"{row},1" for row in four_quadrats()])
        with pytest.raises(DataError, match="Column 'lat' could be any of 2 columns"):
            build(tmp_path, '[inputs.pa]\npath = "pa.csv"\n')

    def test_a_survey_in_two_files_is_suspected(self, tmp_path: Path) -> None:
        """Two releases may give one id to different surveys; rows of one file are one survey."""
        rows = four_quadrats()
        write_csv(tmp_path / "pa1.csv", PA_HEADER, rows[:5])
        write_csv(tmp_path / "pa2.csv", PA_HEADER, rows[5:])
        report = build(tmp_path, '[inputs.pa]\npath = ["pa1.csv", "pa2.csv"]\n')
        said = "1 surveys of pa1.csv, pa2.csv stand in more than one file"
        assert any(said in line for line in report.manifest["warnings"])
        write_csv(tmp_path / "pa1.csv", PA_HEADER, rows[:4])
        write_csv(tmp_path / "pa2.csv", PA_HEADER, rows[4:])
        (tmp_path / "again").mkdir()
        report = build_dataset(tmp_path / "recipe.toml", tmp_path / "again/out")
        assert not any("more than one file" in line for line in report.manifest["warnings"])

    def test_a_point_south_of_the_equator_is_dropped_where_its_grid_ends(self, tmp_path: Path) -> None:
        """The grid glc2022 begins there: a reason like others, and listed."""
        write_csv(tmp_path / "pa.csv", PA_HEADER, [*four_quadrats(), "s,9,2021-01-09,5,-1,1"])
        recipe = '[quadrats]\ngrid = "glc2022"\n[inputs.pa]\npath = "pa.csv"\n'
        with pytest.raises(DataError, match=r"1 of 9 rows of pa\.csv \(first: line 10: lon 5 lat -1\)"):
            build(tmp_path, recipe)
        build(tmp_path, recipe + 'drop = ["unprojectable"]\n')
        assert rows_of(tmp_path / "out/private/dropped_pa.csv")[0]["reason"] == "unprojectable"

    def test_wide_tables_have_no_choice_of_columns(self, tmp_path: Path) -> None:
        recipe = write_recipe(tmp_path)
        text = recipe.read_text().replace(
            '"pa.csv"\n', '"a"\nlayout = "wide"\nspecies_columns = "s*"\nread_columns = []\n'
        )
        recipe.write_text(text)
        with pytest.raises(RecipeError, match="is not for wide tables"):
            read_recipe(recipe)


REAL_TABLES = [
    ("glc22_sample/observations/observations_fr_train.csv", 1_000),
    ("glc22_sample/observations/observations_us_train.csv", 1_000),
    ("glc22_sample/observations/observations_fr_test.csv", 26),
    ("glc22_sample/observations/observations_us_test.csv", 20),
    ("glc22_sample/metadata/minigeolifeclef2022_species_details.csv", 2_793),
    ("glc22_geobench_27k/observations_sample_original_labels.csv", 27_438),
    ("glc23_sample/Presence_only_occurrences/Presences_only_train_sample.csv", 100),
    ("glc23_sample/Presence_only_occurrences/Presences_only_train_sample_mutilabel_dummy.csv", 100),
    ("glc23_sample/Presence_Absences_occurrences/Presences_Absences_train_sample.csv", 100),
    ("blockcv_au/species.csv", 500),
    ("blockcv_au/species_pb.csv", 10_243),
]


@pytest.mark.parametrize(("name", "n_rows"), REAL_TABLES)
def test_a_real_table_has_the_rows_of_its_readme(name: str, n_rows: int) -> None:
    """Whatever its separator and its oddities."""
    assert read_table(data_folder() / name).num_rows == n_rows


def test_every_table_of_disdat_has_the_rows_and_columns_of_its_index() -> None:
    """INDEX.csv says them."""
    folder = data_folder() / "disdat"
    index = read_table(folder / "INDEX.csv").to_pylist()
    shapes = {row["file"]: (int(row["rows"]), int(row["cols"])) for row in index}
    assert shapes
    assert {name: read_table(folder / name).shape for name in shapes} == shapes


def test_every_time_series_has_a_hundred_rows() -> None:
    """Headers of two are quoted, and `eos` ends them."""
    folder = data_folder() / "glc23_sample" / "SatelliteTimeSeries"
    shapes = {path.name: read_table(path).shape for path in sorted(folder.glob("*.csv"))}
    assert len(shapes) == 6
    assert {shape[0] for shape in shapes.values()} == {100}
    assert all("timeSerieID" in read_table(folder / name).column_names for name in shapes)
