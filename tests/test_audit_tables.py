"""The audit of datasets that were made elsewhere: their names, their grids, and the one known answer."""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import spatialsplit
from spatialsplit.audit import audit_tables
from spatialsplit.audit.grids import Grid, named_grid
from spatialsplit.cli.auditing import audit
from spatialsplit.errors import DataError
from tests.audit_example import example, lonlat

REPOSITORY = Path(__file__).parents[1]


def real_data(name: str) -> Path:
    """Find a real data set, or skip with the places where it was looked for; in CI it must be there."""
    folder = Path(os.environ.get("SPATIALSPLIT_DATA") or REPOSITORY.parent / "shared/data") / name
    if not folder.exists():
        reason = f"no real data: neither $SPATIALSPLIT_DATA nor ../shared/data holds {name}"
        if os.environ.get("CI") == "true":
            pytest.fail(reason)
        pytest.skip(reason)
    return folder


def outcome(report: object) -> dict[str, object]:
    return {check.name: check.passed for check in report.checks}  # type: ignore[attr-defined]


@pytest.mark.parametrize(("origin", "shared"), [((0, 0), 2), ((2500, 0), 171), ((0, 2500), 170), ((2500, 2500), 328)])
def test_glc22_train_and_val_share_two_quadrats_of_the_organizers_grid(
    origin: tuple[float, float], shared: int
) -> None:
    """A known answer: 1,025 val and 10,264 train quadrats with 2 in common, hundreds once the grid is moved."""
    table = real_data("glc22_geobench_27k") / "observations_sample_original_labels.csv"
    report = audit_tables({"train": table}, grid=Grid(None, 5000, origin))
    found = {check.name: check for check in report.checks}["quadrats_in_one_subset"]
    assert found.value == report.facts["quadrats_shared"] == shared
    if origin == (0, 0):
        assert report.facts["quadrats"] == {"train": 10_264, "val": 1_025}


def test_the_grid_of_glc22_is_found() -> None:
    """Of all grids that are tried the organizers' own is the best, by far."""
    table = real_data("glc22_geobench_27k") / "observations_sample_original_labels.csv"
    result = CliRunner().invoke(audit, ["--train", str(table), "--find-grid", "--json"])
    best, *others = json.loads(result.stdout)["facts"]["grids"]
    assert (best["grid"], best["size"], best["origin"], best["shared"]) == ("glc2022", 5000, [0, 0], 2)
    assert best["plausible"]
    assert all(not other["plausible"] or other["grid"] == "glc2022" for other in others)


def test_the_tables_of_glc23_are_read_as_they_are() -> None:
    """Semicolons, an unnamed first column, accents, commas in fields, no survey id but its keys."""
    folder = real_data("glc23_sample")
    report = audit_tables(
        {
            "train": folder / "Presence_Absences_occurrences/Presences_Absences_train_sample.csv",
            "po": folder / "Presence_only_occurrences/Presences_only_train_sample.csv",
        }
    )
    assert report.passed
    assert report.facts["surveys"] == {"train": 99}
    assert report.facts["species"] == {"train": 80}
    assert (report.facts["po_records"], report.facts["po_species"]) == (100, 96)


def foreign(tmp_path: Path) -> dict[str, Path]:
    """Write the example under the names of GeoLifeCLEF 2024: species as floats, latitude first."""
    made = example()
    paths = {}
    for role, name in (
        ("train", "public/PA_train.csv"),
        ("val", "public/PA_val.csv"),
        ("test", "private/PA_test.csv"),
        ("po", "public/PO_train.csv"),
    ):
        frame = pd.DataFrame(made.rows(name))
        frame["speciesId"] = frame["speciesId"].astype(float)
        kept = [column for column in ("lat", "lon", "year", "surveyId", "speciesId") if column in frame]
        paths[role] = tmp_path / f"GLC24_{role}.csv"
        frame[kept].to_csv(paths[role], index=False)
    return paths


GRID = Grid("EPSG:3035", 5000, (0, 0))


def test_an_honest_foreign_split_passes_what_can_be_checked(tmp_path: Path) -> None:
    """The rest says what it would need."""
    report = audit_tables(foreign(tmp_path), grid=GRID, radius_m=300)
    assert [name for name, passed in outcome(report).items() if passed] == [
        "surveys_in_one_subset", "quadrats_in_one_subset", "po_outside_radius", "test_species_known",
        "no_empty_test_survey", "no_duplicate_across_subsets",
    ]  # fmt: skip
    assert all(check.detail for check in report.checks)
    assert report.facts["species"]["train"] == 40


def test_nothing_is_said_of_a_validation_that_is_not_there(tmp_path: Path) -> None:
    """No record within the radius of a validation is not the same as no validation."""
    tables = foreign(tmp_path)
    tables.pop("val", None)
    assert audit_tables(tables, grid=GRID, radius_m=300).facts["po_within_radius_of_val"] is None


@pytest.mark.parametrize("grid", [GRID, spatialsplit.Grid(GRID.crs, int(GRID.size_m), (0, 0))])
def test_a_grid_may_be_the_one_that_the_library_makes(grid: Any, tmp_path: Path) -> None:
    """Its CRS, size and origin are taken, and none of its code."""
    assert audit_tables(foreign(tmp_path), grid=grid).facts["grid"] == f"{GRID.crs} {GRID.size_m:g}"


@pytest.mark.parametrize("grid", ["glc2022", spatialsplit.grid_named("glc2022")])
def test_a_grid_may_be_named(grid: Any, tmp_path: Path) -> None:
    """As on the command line; an unknown name is an error that lists the known ones."""
    assert str(audit_tables(foreign(tmp_path), grid=grid).facts["grid"]).startswith("glc2022")
    with pytest.raises(DataError, match=r"Unknown grid 'glc1999'. Known: glc2022"):
        audit_tables(foreign(tmp_path), grid="glc1999")


def test_what_was_not_given_is_said_and_not_guessed(tmp_path: Path) -> None:
    """No grid, no radius: no answer, and how to get one."""
    details = {check.name: check.detail for check in audit_tables(foreign(tmp_path)).checks}
    assert "--crs" in details["quadrats_in_one_subset"]
    assert "--radius" in details["po_outside_radius"]


@pytest.mark.parametrize("form", ["semicolon", "tab", "gzip", "parquet", "bom"])
def test_the_form_of_a_table_does_not_matter(form: str, tmp_path: Path) -> None:
    """Separators are seen in the header, not in the name of the file."""
    paths = foreign(tmp_path)
    expected = audit_tables(paths, grid=GRID, radius_m=300)
    frame = pd.read_csv(paths["train"])
    path = paths["train"].with_suffix(".parquet" if form == "parquet" else ".csv.gz")
    if form == "parquet":
        frame.to_parquet(path)
    elif form == "gzip":
        path.write_bytes(gzip.compress(paths["train"].read_bytes()))
    else:
        separator = {"semicolon": ";", "tab": "\t"}.get(form, ",")
        path = paths["train"].with_suffix(".txt")
        frame.to_csv(path, sep=separator, index=False, encoding="utf-8-sig" if form == "bom" else "utf-8")
    again = audit_tables({**paths, "train": path}, grid=GRID, radius_m=300)
    assert outcome(again) == outcome(expected)
    assert again.facts == expected.facts


def test_one_file_with_a_column_subset_is_a_whole_dataset(tmp_path: Path) -> None:
    """As GeoLifeCLEF 2022 has it: val in the training file; given as test too, the held-out rows are the test."""
    rows = [(1, *lonlat(0, 0), 5, "train"), (2, *lonlat(0, 0, 2600), 5, "val"), (3, *lonlat(3, 3), 6, "train")]
    frame = pd.DataFrame(rows, columns=["observation_id", "longitude", "latitude", "species_id", "subset"])
    path = tmp_path / "observations.csv"
    frame.to_csv(path, sep=";", index=False)
    alone = audit_tables({"train": path}, grid=GRID)
    assert alone.failed == ("quadrats_in_one_subset",)
    assert alone.facts["surveys"] == {"train": 2, "val": 1}
    assert alone.facts["nearest_train_m"]["min"] == pytest.approx(100, abs=0.5)
    both = audit_tables({"train": path, "test": path}, grid=GRID)
    assert both.facts["surveys"] == {"train": 2, "test": 1}
    assert outcome(both)["test_species_known"] is True


def test_several_presence_only_tables_are_all_looked_at(tmp_path: Path) -> None:
    """An offender in the last file counts, and is named with its own file and line."""
    paths = foreign(tmp_path)
    test = pd.read_csv(paths["test"]).iloc[0]
    near = tmp_path / "more_po.csv"
    pd.DataFrame([{"lon": test["lon"], "lat": test["lat"] + 0.001, "speciesId": 3}]).to_csv(near, index=False)
    report = audit_tables({**paths, "po": [paths["po"], near]}, radius_m=300)
    found = {check.name: check for check in report.checks}["po_outside_radius"]
    assert found.value == 1
    assert found.detail.startswith("line 2 of more_po.csv is 111.")


def test_a_blinded_test_table_with_a_species_column_name_fails(tmp_path: Path) -> None:
    """A column of predictions beside the test surveys is a label, whatever is in it."""
    paths = foreign(tmp_path)
    frame = pd.read_csv(paths["test"]).drop(columns="speciesId").drop_duplicates("surveyId")
    frame.to_csv(paths["test"], index=False)
    assert outcome(audit_tables(paths))["no_label_in_blind"] is None
    frame.assign(target_species_ids="1 2").to_csv(paths["test"], index=False)
    assert outcome(audit_tables(paths))["no_label_in_blind"] is False


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("a,b\n1,2\n", "no longitude and latitude"),
        ("", "no header"),
        ("lon,lat,lon\n1,2,3\n", "more than once"),
        ("lon,lat\n1,2,3\n", "cannot be read"),
    ],
)
def test_a_table_that_is_none_is_bad_input(text: str, says: str, tmp_path: Path) -> None:
    """One line a fault, no traceback."""
    path = tmp_path / "train.csv"
    path.write_text(text)
    with pytest.raises(DataError, match=says):
        audit_tables({"train": path, "test": path})


def test_a_grid_needs_a_known_system_and_a_size(tmp_path: Path) -> None:
    """Half a grid is a mistake in the call; an unknown system is bad input."""
    paths = foreign(tmp_path)
    call = ["--train", str(paths["train"]), "--test", str(paths["test"])]
    half = CliRunner().invoke(audit, [*call, "--crs", "EPSG:3035"])
    assert (half.exit_code, "--size" in half.stderr) == (2, True)
    with pytest.raises(DataError, match="Unknown CRS 'EPSG:1'"):
        audit_tables(paths, grid=Grid("EPSG:1", 5000, (0, 0)))


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--radius", "nan"], "--radius"),
        (["--radius", "inf"], "--radius"),
        (["--crs", "EPSG:3035", "--size", "nan"], "--size"),
        (["--crs", "EPSG:3035", "--size", "0.001"], "--size"),
        (["--crs", "EPSG:3035", "--size", "5000", "--origin", "nan,0"], "--origin"),
        (["--crs", "EPSG:3035", "--size", "5000", "--origin", "inf,0"], "--origin"),
        (["--origin", "5000,5000"], "--origin"),
        (["--grid", "glc2024", "--size", "5000"], "--size"),
        (["--seed", "abc"], "--seed"),
    ],
)
def test_a_number_that_is_none_is_a_mistake_in_the_call(words: list[str], says: str, tmp_path: Path) -> None:
    """And so is an option that nothing would come of: neither may accuse the dataset, nor pass it."""
    paths = foreign(tmp_path)
    result = CliRunner().invoke(audit, ["--train", str(paths["train"]), "--test", str(paths["test"]), *words])
    assert (result.exit_code, says in result.stderr) == (2, True)


@pytest.mark.parametrize("words", [["--grid", "glc2022"], ["--crs", "EPSG:3035", "--size", "100"], ["--origin", "1,1"]])
def test_a_dataset_says_its_own_grid(words: list[str], tmp_path: Path) -> None:
    """Another one beside it is refused, where it was once passed over in silence."""
    result = CliRunner().invoke(audit, [str(example(side=4).write(tmp_path / "dataset")), *words])
    assert (result.exit_code, words[0] in result.stderr) == (2, True)


def test_quadrats_in_degrees_have_degrees_for_their_side(tmp_path: Path) -> None:
    """A size in metres would make one quadrat of the whole Earth, and every split a fault."""
    with pytest.raises(DataError, match="degrees"):
        audit_tables(foreign(tmp_path), grid=Grid("EPSG:4326", 5000, (0, 0)))
    assert audit_tables(foreign(tmp_path), grid=Grid("EPSG:4326", 0.5, (0, 0))).checks


def test_the_command_audits_tables(tmp_path: Path) -> None:
    """The call that the contract names."""
    paths = foreign(tmp_path)
    call = [word for role, path in paths.items() for word in (f"--{role}", str(path))]
    grid = ["--crs", "EPSG:3035", "--size", "5000", "--origin", "0,0", "--radius", "300"]
    result = CliRunner().invoke(audit, [*call, *grid, "--json"])
    assert result.exit_code == 0
    assert json.loads(result.stdout)["passed"] is True
    shifted = CliRunner().invoke(audit, [*call, *grid[:-4], "--origin", "2500,0"])
    assert shifted.exit_code == 3


def test_a_grid_is_found_among_made_up_points() -> None:
    """Points drawn by quadrats of a known grid: that grid comes first, of its own system and size."""
    from spatialsplit.audit.grid_search import find_grid

    rng = np.random.default_rng(4)
    lon, lat = rng.uniform(5, 12, 6000), rng.uniform(45, 50, 6000)
    labels = named_grid("glc2024").labels(lon, lat)
    held = {label for label in set(labels) if hash_of(label) < 0.2}
    subset = np.where([label in held for label in labels], "val", "train")
    best = find_grid(pd.DataFrame({"lon": lon, "lat": lat, "subset": subset}))[0]
    assert (best.grid.crs, best.grid.size_m, best.grid.origin) == ("EPSG:3035", 10_000, (5000, 5000))
    assert best.shared == 0
    assert best.plausible


def hash_of(label: str) -> float:
    import hashlib

    return int(hashlib.sha256(label.encode()).hexdigest()[:8], 16) / 2**32


def test_a_table_without_its_other_side_is_no_split(tmp_path: Path) -> None:
    """Training data alone cannot fail anything, so it is refused and not passed."""
    table = tmp_path / "train.csv"
    table.write_text("surveyId,lon,lat,speciesId\n1,5.0,45.0,3\n")
    with pytest.raises(DataError, match="one subset only, train"):
        audit_tables({"train": table})


class TestColumnsOfOtherNames:
    """What a table calls otherwise can be said, as for the steps, and is not to be renamed first."""

    @staticmethod
    def tables(folder: Path) -> dict[str, Path]:
        for name, subset in (("train", 0), ("test", 1)):
            rows = [[f"s{subset}{i}", *lonlat(subset * 4 + i, 0), 7] for i in range(3)]
            table = pd.DataFrame(rows, columns=["plot", "grad_e", "grad_n", "taxon"])
            table.to_csv(folder / f"{name}.csv", index=False)
        return {name: folder / f"{name}.csv" for name in ("train", "test")}

    def test_they_are_named(self, tmp_path: Path) -> None:
        tables = self.tables(tmp_path)
        columns = {"lon": "grad_e", "lat": "grad_n", "speciesId": "taxon", "surveyId": "plot"}
        report = audit_tables(tables, grid=Grid("EPSG:3035", 5000, (0, 0)), columns=columns)
        assert outcome(report)["surveys_in_one_subset"] is True
        assert outcome(report)["test_species_known"] is True
        words = [word for name, column in columns.items() for word in ("--column", f"{name}={column}")]
        call = [*words, "--train", str(tables["train"]), "--test", str(tables["test"])]
        done = CliRunner().invoke(audit, [*call, "--crs", "EPSG:3035", "--size", "5000", "--json"])
        assert json.loads(done.stdout)["checks"] == json.loads(report.as_json())["checks"]

    def test_a_table_without_places_asks_for_them(self, tmp_path: Path) -> None:
        with pytest.raises(DataError, match=r"test\.csv has no longitude and latitude .* --column lon=… --col"):
            audit_tables(self.tables(tmp_path))

    def test_a_column_that_is_nowhere_is_an_error(self, tmp_path: Path) -> None:
        columns = {"lon": "grad_e", "lat": "grad_n", "speciesId": "taxom"}
        with pytest.raises(DataError, match=r"No table has a column 'taxom', which is said to be speciesId"):
            audit_tables(self.tables(tmp_path), columns=columns)

    def test_a_dataset_says_so_itself(self, tmp_path: Path) -> None:
        done = CliRunner().invoke(audit, [str(tmp_path), "--column", "lon=x"])
        assert (done.exit_code, "Give DIR or --column, not both" in done.output) == (2, True)
