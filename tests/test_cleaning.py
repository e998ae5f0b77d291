"""`[clean]`: each reason finds its rows, each policy does what it says, and everything is counted."""

from __future__ import annotations

import csv
import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from spatialsplit.build import BuildOptions, BuildReport, build_dataset
from spatialsplit.errors import DataError, RecipeError
from spatialsplit.occurrences import CLEANABLE, DROPPABLE, Cleaning, RecordRules, SpeciesReader
from spatialsplit.occurrences.cleaning import license_code
from spatialsplit.occurrences.repeats import find_repeats
from spatialsplit.recipe import Recipe, parse_recipe
from spatialsplit.recipe.cleaning import CleanSection
from spatialsplit.tables import Dialect, TableInput
from spatialsplit.tables.darwin_core import TERMS
from tests.real_data import data_folder
from tests.recipes import PA_HEADER, four_quadrats, write_csv, write_recipe
from tests.record_tables import po_reader

HEADER = (
    "gbifID,date,lon,lat,speciesId,coordinateUncertaintyInMeters,basisOfRecord,occurrenceStatus,issue,license,"
    "informationWithheld"
)
GOOD = "1,2021-05-01,9.123,45.123,1,10,HumanObservation,PRESENT,,CC0_1_0"

LIMITS = {
    "near_centroid": 'centroids = "centroids.csv"',
    "outside_area": 'area = "area.geojson"',
    "uncertain": "max_uncertainty_m = 1000",
    "year_outside": "years = [1990, 2022]",
    "basis_of_record": 'allow_basis_of_record = ["HUMAN_OBSERVATION"]',
    "flagged_issue": 'refuse_issues = ["COORDINATE_ROUNDED"]',
    "license": 'allow_licenses = ["CC0_1_0", "CC_BY_4_0"]',
}

ODD = {
    "zero_coordinate": "2,2021-05-01,0,0,1,10,HumanObservation,PRESENT,,CC0_1_0",
    "equal_coordinates": "2,2021-05-01,45.321,45.321,1,10,HumanObservation,PRESENT,,CC0_1_0",
    "coarse_coordinate": "2,2021-05-01,9.1,45.2,1,10,HumanObservation,PRESENT,,CC0_1_0",
    "near_centroid": "2,2021-05-01,9.501,45.503,1,10,HumanObservation,PRESENT,,CC0_1_0",
    "outside_area": "2,2021-05-01,12.345,45.123,1,10,HumanObservation,PRESENT,,CC0_1_0",
    "uncertain": "2,2021-05-01,9.123,45.123,1,1000.5,HumanObservation,PRESENT,,CC0_1_0",
    "uncertainty_missing": "2,2021-05-01,9.123,45.123,1,,HumanObservation,PRESENT,,CC0_1_0",
    "obscured": "2,2021-05-01,9.123,45.123,1,10,HumanObservation,PRESENT,,CC0_1_0,Coordinate uncertainty increased",
    "year_outside": "2,1989-12-31,9.123,45.123,1,10,HumanObservation,PRESENT,,CC0_1_0",
    "absent": "2,2021-05-01,9.123,45.123,1,10,HumanObservation,absent,,CC0_1_0",
    "basis_of_record": "2,2021-05-01,9.123,45.123,1,10,PRESERVED_SPECIMEN,PRESENT,,CC0_1_0",
    "flagged_issue": "2,2021-05-01,9.123,45.123,1,10,HumanObservation,PRESENT,A_FLAG;COORDINATE_ROUNDED,CC0_1_0",
    "license": "2,2021-05-01,9.123,45.123,1,10,HumanObservation,PRESENT,,CC_BY_NC_4_0",
    "duplicate_row": GOOD,
    "duplicate_record": "2,2021-05-01T10:00,9.1230000001,45.123,1,99,HumanObservation,PRESENT,,CC0_1_0",
}
"""For each reason, a row that it alone holds for, beside the good one."""


def write_po(path: Path, rows: list[str]) -> Path:
    """Write records; most say nothing of what is withheld."""
    return write_csv(path, HEADER, [row + "," * (HEADER.count(",") - row.count(",")) for row in rows])


def put(folder: Path, rows: list[str], clean: str) -> Path:
    """Write tables, the files that reasons need, and a recipe."""
    write_csv(folder / "pa.csv", PA_HEADER, four_quadrats())
    write_po(folder / "po.csv", rows)
    write_csv(folder / "centroids.csv", "lon,lat", ["9.5,45.5"])
    ring = [[4, 40], [12, 40], [12, 50], [4, 50], [4, 40]]
    area = {"type": "Feature", "properties": {}, "geometry": {"type": "Polygon", "coordinates": [ring]}}
    (folder / "area.geojson").write_text(json.dumps({"type": "FeatureCollection", "features": [area]}))
    return write_recipe(folder, po="po.csv", more=f"[clean]\n{clean}\n")


def step_of(report: BuildReport, name: str) -> dict[str, Any]:
    """Give a step of the manifest."""
    found: dict[str, Any] = next(step for step in report.manifest["steps"] if step["step"] == name)
    return found


def table(path: Path) -> list[dict[str, str]]:
    """Read a written table with Python's own reader."""
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


class TestEachReason:
    """One odd row beside a good one."""

    def test_every_reason_of_cleaning_has_its_case(self) -> None:
        """And every reason at all has a key under [clean]."""
        assert set(ODD) == set(CLEANABLE)
        assert set(DROPPABLE) < set(CleanSection.model_fields)

    @pytest.mark.parametrize(("clean", "warned"), [("", True), ('absent = "drop"', False), ('absent = "flag"', False)])
    def test_absences_are_not_used_as_presences_without_a_word(self, clean: str, warned: bool, tmp_path: Path) -> None:
        """Where the recipe decides, it is not asked again."""
        report = build_dataset(put(tmp_path, [GOOD, ODD["absent"]], clean), tmp_path / "d")
        assert any("are used as if it was there" in line for line in report.manifest["warnings"]) == warned

    @pytest.mark.parametrize("policy", ["drop", "flag"])
    def test_what_the_recipe_decides_is_not_warned_of_a_second_time(self, policy: str, tmp_path: Path) -> None:
        """Rows at 0, 0 and uncertain ones: dropped, they are not used; flagged, they are told under their reason."""
        clean = f'zero_coordinate = "{policy}"\nuncertain = "drop"\nmax_uncertainty_m = 300'
        report = build_dataset(put(tmp_path, [GOOD, ODD["zero_coordinate"], ODD["uncertain"]], clean), tmp_path / "d")
        told = [line for line in report.manifest["warnings"] if "po.csv" in line]
        flagged = "1 rows of po.csv are flagged and used: coordinates 0, 0 (zero_coordinate)."
        assert told == ([flagged] if policy == "flag" else [])

    @pytest.mark.parametrize("reason", list(ODD))
    def test_drop_sets_the_row_aside_with_its_line(self, reason: str, tmp_path: Path) -> None:
        """Counted in the manifest, listed with reason, file and line; the good row stays."""
        report = build_dataset(
            put(tmp_path, [GOOD, ODD[reason]], f'{reason} = "drop"\n{LIMITS.get(reason, "")}'), tmp_path / "d"
        )
        assert step_of(report, "read_po")["dropped"] == {reason: 1}
        (dropped,) = table(report.folder / "private" / "dropped_po.csv")
        assert (dropped["reason"], dropped["file"], dropped["line"]) == (reason, "po.csv", "3")
        assert [row["gbifID"] for row in table(report.folder / "public" / "PO_train.csv")] == ["1"]

    @pytest.mark.parametrize("reason", list(ODD))
    def test_error_refuses_the_table_and_flag_uses_it(self, reason: str, tmp_path: Path) -> None:
        """One line that says what to do; or one warning."""
        more = LIMITS.get(reason, "")
        recipe = put(tmp_path, [GOOD, ODD[reason]], f'{reason} = "error"\n{more}')
        with pytest.raises(DataError) as caught:
            build_dataset(recipe, tmp_path / "d")
        (problem,) = caught.value.problems
        assert "in 1 of 2 rows of po.csv (first: line 3: " in problem
        assert problem.endswith(f'or say drop = ["{reason}"] under [inputs.po].')
        recipe.write_text(recipe.read_text().replace('"error"', '"flag"'))
        report = build_dataset(recipe, tmp_path / "d")
        assert step_of(report, "read_po") == {"step": "read_po", "in": 2, "kept": 2, "dropped": {}}
        assert [w for w in report.manifest["warnings"] if f"({reason})" in w and w.startswith("1 rows of po.csv")]

    @pytest.mark.parametrize("reason", list(ODD))
    def test_without_a_policy_nothing_is_looked_for(self, reason: str, tmp_path: Path) -> None:
        report = build_dataset(put(tmp_path, [GOOD, ODD[reason]], ""), tmp_path / "d")
        assert step_of(report, "read_po")["kept"] == 2
        assert report.manifest["recipe"]["clean"] == {}

    def test_the_good_row_has_no_reason_at_all(self, tmp_path: Path) -> None:
        """With every reason looked for at once; a radius and an area count their edge."""
        clean = "\n".join([*(f'{reason} = "drop"' for reason in ODD), *LIMITS.values()])
        report = build_dataset(put(tmp_path, [GOOD, *ODD.values()], clean), tmp_path / "d")
        dropped = step_of(report, "read_po")["dropped"]
        assert sum(dropped.values()) == len(ODD)
        assert step_of(report, "read_po")["kept"] == 1
        assert len(table(report.folder / "private" / "dropped_po.csv")) == len(ODD)


class TestPolicies:
    """Where they are said, and for which table."""

    def test_the_short_form_under_an_input_is_the_same(self, tmp_path: Path) -> None:
        recipe = put(tmp_path, [GOOD, ODD["zero_coordinate"]], "")
        recipe.write_text(recipe.read_text().replace('path = "po.csv"', 'path = "po.csv"\ndrop = ["zero_coordinate"]'))
        report = build_dataset(recipe, tmp_path / "d")
        assert step_of(report, "read_po")["dropped"] == {"zero_coordinate": 1}

    def test_rows_that_cannot_be_used_are_dropped_by_clean_too(self, tmp_path: Path) -> None:
        """In both tables, also whole surveys."""
        recipe = put(tmp_path, [GOOD, "2,,9.1,95,1,,,,,"], 'bad_latitude = "drop"\nsurvey_years = "drop"')
        years = ["p9,10,2020-01-10,5.9,45,1", "p9,10,2021-01-10,5.9,45,1"]
        write_csv(tmp_path / "pa.csv", PA_HEADER, [*four_quadrats(), *years, "p8,10,,5,91,1"])
        report = build_dataset(recipe, tmp_path / "d")
        assert step_of(report, "read_po")["dropped"] == {"bad_latitude": 1}
        assert step_of(report, "read_pa")["dropped"] == {"bad_latitude": 1}
        assert step_of(report, "surveys")["dropped"] == {"survey_years": 2}

    def test_one_table_alone_can_be_cleaned(self, tmp_path: Path) -> None:
        """The surveys of four_quadrats are coarse; unless it is said, only records are dropped."""
        recipe = put(tmp_path, [GOOD, ODD["coarse_coordinate"]], 'coarse_coordinate = "drop"\ntables = ["po"]')
        report = build_dataset(recipe, tmp_path / "d")
        assert step_of(report, "read_pa")["dropped"] == {}
        assert step_of(report, "read_po")["dropped"] == {"coarse_coordinate": 1}
        recipe.write_text(recipe.read_text().replace('["po"]', '["pa"]'))
        with pytest.raises(DataError, match=r"No row of pa.csv is left: all 8 are dropped"):
            build_dataset(recipe, tmp_path / "e")

    def test_a_column_that_a_reason_needs_must_be_there(self, tmp_path: Path) -> None:
        recipe = put(tmp_path, [GOOD], f'tables = ["pa"]\nlicense = "drop"\n{LIMITS["license"]}')
        with pytest.raises(DataError, match=r"No column 'license' in pa.csv"):
            build_dataset(recipe, tmp_path / "d")

    @pytest.mark.parametrize(
        ("clean", "said"),
        [
            ({"uncertain": "drop"}, "The reason 'uncertain' needs 'max_uncertainty_m'"),
            ({"max_uncertainty_m": 5}, "'max_uncertainty_m' under [clean] is for the reason 'uncertain'"),
            ({"centroid_radius_m": 5}, "'centroid_radius_m' under [clean] is for 'centroids'"),
            ({"year_outside": "drop", "years": [2000, 1990]}, "ends before it begins"),
            ({"bad_latitude": "flag"}, "'bad_latitude'"),
            ({"zero_coordinates": "drop"}, "Did you mean 'zero_coordinate'?"),
        ],
    )  # fmt: skip
    def test_a_section_that_cannot_be_meant_is_refused(self, clean: dict[str, Any], said: str) -> None:
        recipe = {"name": "t", "seed": "s", "inputs": {"pa": {"path": "a"}}, "clean": clean}
        with pytest.raises(RecipeError) as caught:
            parse_recipe(recipe | {"holdouts": [{"name": "test", "share": 0.5}]})
        assert said in str(caught.value)

    @pytest.mark.parametrize(
        ("content", "said"),
        [
            ('{"type": "FeatureCollection", "features": []}', "holds no polygons"),
            ("nothing", "cannot be read as polygons"),
        ],
    )
    def test_an_area_that_is_none_is_refused(self, content: str, said: str, tmp_path: Path) -> None:
        recipe = put(tmp_path, [GOOD], 'outside_area = "drop"\narea = "area.geojson"')
        (tmp_path / "area.geojson").write_text(content)
        with pytest.raises(DataError, match=said):
            build_dataset(recipe, tmp_path / "d")

    def test_places_at_the_radius_of_a_centroid_are_near_and_beyond_are_not(self, tmp_path: Path) -> None:
        """D ≤ r, as everywhere; 222.6 m lie between them."""
        rows = ["1,,9.5,45.5,1,,,,,", "2,,9.5,45.502003,1,,,,,"]
        for radius, n in ((222, 1), (223, 2)):
            recipe = put(
                tmp_path,
                [GOOD, *rows],
                f'near_centroid = "drop"\ncentroids = "centroids.csv"\ncentroid_radius_m = {radius}',
            )
            report = build_dataset(recipe, tmp_path / f"d{radius}")
            assert step_of(report, "read_po")["dropped"] == {"near_centroid": n}

    def test_the_first_and_the_last_year_are_inside(self, tmp_path: Path) -> None:
        """And a row without a year is not outside."""
        rows = [f"{year},{year}-06-01,9.5,45.1,1,,,,," for year in (1989, 1990, 2022, 2023)] + ["0,,9.5,45.1,1,,,,,"]
        report = build_dataset(put(tmp_path, rows, 'year_outside = "drop"\nyears = [1990, 2022]'), tmp_path / "d")
        kept = [row["gbifID"] for row in table(report.folder / "public" / "PO_train.csv")]
        assert kept == ["1990", "2022", "0"]


class TestRepeats:
    """The first in the file's order stays."""

    ROWS = (
        "1,2021-05-01,9.5,45.1,1,,,,,",
        "2,2021-05-01,9.5,95.0,1,,,,,",
        "3,2021-05,9.5,45.1,1,,,,,",
        "1,2021-05-01,9.5,45.1,1,,,,,",
        "5,2021-05,9.5,45.1,1,,,,,",
        "6,2021-06,9.5,45.1,1,,,,,",
        "7,2021-05-01,9.5,45.1,2,,,,,",
        "8,,9.5,45.1,2,,,,,",
        "9,,9.5,45.1,2,,,,,",
    )

    def test_what_repeats_what(self, tmp_path: Path) -> None:
        """Same months are the same day as far as anybody knows; a faulty row makes no other a repeat."""
        clean = 'duplicate_row = "drop"\nduplicate_record = "drop"\nbad_latitude = "drop"'
        report = build_dataset(put(tmp_path, list(self.ROWS), clean), tmp_path / "d")
        kept = [row["gbifID"] for row in table(report.folder / "public" / "PO_train.csv")]
        assert kept == ["1", "3", "6", "7", "8"]
        dropped = [(row["reason"], row["line"]) for row in table(report.folder / "private" / "dropped_po.csv")]
        assert dropped == [
            ("bad_latitude", "3"), ("duplicate_row", "5"), ("duplicate_record", "6"), ("duplicate_record", "10")
        ]  # fmt: skip

    @pytest.mark.parametrize("options", [BuildOptions(threads=1, batch_bytes=100), BuildOptions(threads=2)])
    def test_batches_and_threads_do_not_show(self, tmp_path: Path, options: BuildOptions) -> None:
        """The same rows go, across batches and files."""
        recipe = put(tmp_path, list(self.ROWS) * 5, 'duplicate_record = "drop"\nbad_latitude = "drop"')
        write_po(tmp_path / "po2.csv", list(self.ROWS))
        recipe.write_text(recipe.read_text().replace('"po.csv"', '["po.csv", "po2.csv"]'))
        report = build_dataset(recipe, tmp_path / "d", options)
        assert step_of(report, "read_po")["kept"] == 5
        assert step_of(report, "read_po")["dropped"] == {"bad_latitude": 6, "duplicate_record": 43}

    def test_the_beetles_repeat_what_their_readme_says(self) -> None:
        """1,468 rows of all repeat species, place and date; here the 884 with a place are compared."""
        only = Dialect(only=frozenset(TERMS))
        source = TableInput(data_folder() / "gbif_dwca" / "beetles_occurrence.txt", only)
        columns = {"speciesId": "speciesKey", "date": "eventDate"}
        reader, _ = po_reader(source, columns=columns, species=SpeciesReader("integer"), drop=DROPPABLE)
        found = find_repeats(reader, ["duplicate_record"], map)["duplicate_record"]
        beetles = pd.read_csv(source.files[0].path, sep="\t", quoting=3, dtype=str, keep_default_na=False)
        placed = beetles[(beetles["decimalLatitude"] != "") & (beetles["speciesKey"] != "")]
        names = ["speciesKey", "decimalLatitude", "decimalLongitude", "eventDate"]
        assert len(found[0]) == placed.duplicated(names).sum()

    def test_a_reader_that_cleans_can_be_sent_to_another_process(self, tmp_path: Path) -> None:
        """As a Dask cluster does."""
        path = write_po(tmp_path / "po.csv", [GOOD, GOOD])
        repeats = {"duplicate_row": {0: np.array([1])}}
        rules = RecordRules(cleaning=Cleaning({"duplicate_row": "drop", "absent": "drop"}, repeats=repeats))
        reader, _ = po_reader(TableInput(path), cleaning=rules.cleaning)
        again = pickle.loads(pickle.dumps(reader))
        (batch,) = again.source.batches()
        assert again.check(batch).fine.tolist() == [True, False]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("http://creativecommons.org/licenses/by/4.0/legalcode", "CC_BY_4_0"),
        ("https://creativecommons.org/licenses/by-nc/4.0/", "CC_BY_NC_4_0"),
        ("http://creativecommons.org/publicdomain/zero/1.0/legalcode", "CC0_1_0"),
        ("cc_by_4_0", "CC_BY_4_0"),
        ("CC-BY-4.0", "CC_BY_4_0"),
        ("CC BY-NC 4.0", "CC_BY_NC_4_0"),
        ("CC0 1.0", "CC0_1_0"),
        ("CC0", "CC0_1_0"),
        ("All rights reserved.", "ALL_RIGHTS_RESERVED_"),
        ("", ""),
    ],
)
def test_a_licence_has_one_name(text: str, code: str) -> None:
    """GBIF writes short names in one kind of download and addresses in another; publishers write SPDX's names."""
    assert license_code(text) == code


def test_a_recipe_without_clean_resolves_to_an_empty_section() -> None:
    """So that its manifest says nothing that nobody asked for."""
    recipe = {"name": "t", "seed": "s", "inputs": {"pa": {"path": "a"}}, "holdouts": [{"name": "test", "share": 0.5}]}
    parsed: Recipe = parse_recipe(recipe)
    assert parsed.resolved()["clean"] == {}
