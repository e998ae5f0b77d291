"""The audit finds every planted fault by the name of its check, and finds nothing in a clean dataset."""

from __future__ import annotations

import ast
import json
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from spatialsplit import audit as audit_module
from spatialsplit.audit import audit_dataset
from spatialsplit.cli.auditing import audit
from spatialsplit.errors import DataError
from tests import audit_example
from tests.audit_example import Example, example, lonlat, metres, write_sums
from tests.audit_faults import (
    BLIND,
    FAULTS,
    PO,
    QUADRATS,
    SPECIES,
    TEST,
    TRAIN,
    VAL,
    add_a_column_off_the_list,
    bring_po_near,
    bring_po_to_the_radius,
    draw_another_quadrat,
    label_the_blinded_table,
    move,
    near_an_edge,
    share_a_quadrat,
)

NAMES = [
    "surveys_in_one_subset", "quadrats_in_one_subset", "po_outside_radius", "test_species_known",
    "no_empty_test_survey", "ids_agree", "no_label_in_blind", "nothing_private_in_public",
    "no_duplicate_across_subsets", "draw_rederives", "usage_shares_no_quadrat", "counts_add_up",
    "files_match_manifest",
]  # fmt: skip


def test_a_clean_dataset_passes_every_check(tmp_path: Path) -> None:
    """No false alarm: nothing fails, and nothing is left unchecked."""
    report = audit_dataset(example().write(tmp_path / "dataset"))
    assert [check.name for check in report.checks] == NAMES
    assert [check.name for check in report.checks if check.passed is not True] == []


@pytest.mark.parametrize("plant", FAULTS, ids=lambda plant: plant.__name__)
def test_a_planted_fault_fails_the_check_it_is_about(plant: Callable[[Example], None], tmp_path: Path) -> None:
    """Also when all hashes were mended."""
    made = example()
    plant(made)
    report = audit_dataset(made.write(tmp_path / "dataset"))
    assert FAULTS[plant] in report.failed
    assert "files_match_manifest" not in report.failed


def test_a_record_beyond_the_radius_by_a_hair_passes(tmp_path: Path) -> None:
    """The radius is inclusive, and exact."""
    made = example()
    bring_po_to_the_radius(made)
    wanted = made.manifest["recipe"]["po_filter"]
    wanted["radius_m"] = np.nextafter(wanted["radius_m"], 0)
    assert audit_dataset(made.write(tmp_path / "dataset")).passed


def test_a_survey_a_metre_before_an_edge_passes(tmp_path: Path) -> None:
    """Only the step over the edge is a fault."""
    made = example()
    near_an_edge(made)
    assert audit_dataset(made.write(tmp_path / "dataset")).passed


def test_a_step_over_an_edge_into_the_same_subset_is_found_by_counting(tmp_path: Path) -> None:
    """No quadrat is shared then, but quadrats.csv counts other surveys."""
    made = example()
    subset = {row["quadratId"]: row["subset"] for row in made.rows(QUADRATS)}
    for survey in made.rows(TRAIN):
        column, row = audit_example.place_of(survey["quadrat"])
        if subset.get(audit_example.label_of(column + 1, row)) == "train":
            move(made, survey["surveyId"], lonlat(column, row, 5001, 2500))
            break
    assert audit_dataset(made.write(tmp_path / "dataset")).failed == ("counts_add_up",)


CHANGES: dict[str, Callable[[Path], object]] = {
    "a byte changed": lambda folder: flip_a_byte(folder / PO),
    "a file removed": lambda folder: (folder / SPECIES).unlink(),
    "a file added": lambda folder: (folder / "private/note.txt").write_text("x"),
    "a file added in public": lambda folder: (folder / "public/note.txt").write_text("x"),
    "a file cut": lambda folder: (folder / TRAIN).write_bytes((folder / TRAIN).read_bytes()[:-9]),
    "a file of noise": lambda folder: (folder / BLIND).write_bytes(bytes(range(256)) * 9),
    "an empty file": lambda folder: (folder / TEST).write_bytes(b""),
    "a broken manifest": lambda folder: (folder / "manifest.json").write_text("{"),
    "a manifest of another kind": lambda folder: (folder / "manifest.json").write_text("[]"),
    "no checksums": lambda folder: (folder / "SHA256SUMS").unlink(),
    "a link to a folder in public": lambda folder: (folder / "public/further").symlink_to("../private"),
    "checksums of noise": lambda folder: (folder / "SHA256SUMS").write_bytes(b"\xff\x00noise\n"),
}


def flip_a_byte(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_after_writing_fails_and_stops_no_other_check(change: str, tmp_path: Path) -> None:
    """Hashes that do not fit are one offence; whatever else can be checked is."""
    folder = example().write(tmp_path / "dataset")
    CHANGES[change](folder)
    report = audit_dataset(folder)
    assert "files_match_manifest" in report.failed
    assert sum(check.passed is True for check in report.checks) >= 2
    assert str(tmp_path) not in report.as_json()


@pytest.mark.parametrize("part", ["recipe", "seed", "grid", "draw", "steps", "outputs"])
@pytest.mark.parametrize("value", [None, 3, "x", [], {}, [3], {"a": {"b": 3}}])
def test_a_manifest_of_any_shape_gives_a_report(part: str, value: object, tmp_path: Path) -> None:
    """Somebody else's manifest may hold anything; that is never a traceback."""
    made = example(side=4)
    folder = made.write(tmp_path / "dataset")
    said = json.loads((folder / "manifest.json").read_text())
    (folder / "manifest.json").write_text(json.dumps({**said, part: value}))
    assert len(audit_dataset(folder).checks) == len(NAMES)


def test_the_public_folder_alone_is_audited_as_far_as_it_goes(tmp_path: Path) -> None:
    """What needs the organizers' part says so and is no failure."""
    made = example()
    folder = made.write(tmp_path / "dataset")
    report = audit_dataset(folder / "public", radius_m=300)
    results = {check.name: check.passed for check in report.checks}
    assert report.passed
    assert [name for name, passed in results.items() if passed] == [
        "surveys_in_one_subset", "quadrats_in_one_subset", "po_outside_radius", "ids_agree",
        "nothing_private_in_public", "counts_add_up", "files_match_manifest",
    ]  # fmt: skip
    assert all(check.detail for check in report.checks)


def test_a_fault_in_the_public_folder_alone_is_found(tmp_path: Path) -> None:
    """A participant needs no manifest to see a shared quadrat: quadrats.csv tells the grid."""
    made = example()
    share_a_quadrat(made)
    folder = made.write(tmp_path / "dataset")
    assert "quadrats_in_one_subset" in audit_dataset(folder / "public").failed


def test_a_dataset_without_its_private_folder_passes_with_its_manifest(tmp_path: Path) -> None:
    """A stranger has the public part and the manifest; the missing private files are no fault."""
    folder = example().write(tmp_path / "dataset")
    shutil.rmtree(folder / "private")
    report = audit_dataset(folder)
    assert report.passed
    assert {check.name for check in report.checks if check.passed} >= {
        "po_outside_radius",
        "files_match_manifest",
    }


def test_a_sealed_draw_is_checked_without_the_seed_by_its_published_numbers(tmp_path: Path) -> None:
    """The subsets must follow from the numbers; whether the numbers follow from the seed stays open."""
    folder = example(sealed=True).write(tmp_path / "dataset")
    check = {check.name: check for check in audit_dataset(folder).checks}["draw_rederives"]
    assert check.passed is None
    assert "sealed" in check.detail
    made = example(sealed=True)
    draw_another_quadrat(made)
    assert "draw_rederives" in audit_dataset(made.write(tmp_path / "faulty")).failed


def test_a_revealed_seed_must_be_the_one_committed_to(tmp_path: Path) -> None:
    """The right seed proves the draw; another one fails."""
    folder = example(sealed=True).write(tmp_path / "dataset")
    results = {
        seed: {check.name: check.passed for check in audit_dataset(folder, seed=seed).checks}["draw_rederives"]
        for seed in (audit_example.SEED, "another")
    }
    assert results == {audit_example.SEED: True, "another": False}


def test_a_sealed_seed_in_a_public_file_is_private_content(tmp_path: Path) -> None:
    """Whoever finds it could derive Usage."""
    made = example(sealed=True)
    made.further["public/README.md"] = f"seed: {audit_example.SEED}\n".encode()
    report = audit_dataset(made.write(tmp_path / "dataset"), seed=audit_example.SEED)
    assert report.failed == ("nothing_private_in_public",)


def test_two_audits_of_one_dataset_say_the_same_at_any_place(tmp_path: Path) -> None:
    """The checks stand in manifest.json: no path and no chance in them."""
    first = audit_dataset(example().write(tmp_path / "here"))
    second = audit_dataset(example().write(tmp_path / "there" / "deeper"))
    assert first.checks_as_dicts() == second.checks_as_dicts()
    assert first.as_json() == second.as_json()


def test_the_detail_names_id_file_and_line_of_the_first_offenders(tmp_path: Path) -> None:
    """Who is told of a fault must be able to look at it."""
    made = example()
    bring_po_near(made)
    report = audit_dataset(made.write(tmp_path / "dataset"))
    detail = {check.name: check.detail for check in report.checks}["po_outside_radius"]
    test = made.rows(BLIND)[0]
    distance = metres(made.rows(PO)[-1], test)
    line = len(made.rows(PO)) + 1
    assert detail == f"line {line} of {PO} is {distance:.3f} m from survey {test['surveyId']}"


def test_the_facts_are_those_of_brute_force(tmp_path: Path) -> None:
    """The nearest training record of each test survey, over surveys and presence-only records."""
    made = example()
    report = audit_dataset(made.write(tmp_path / "dataset"))
    records = [*made.rows(TRAIN), *made.rows("public/PA_train_empty.csv"), *made.rows(PO)]
    nearest = [min(metres(test, record) for record in records) for test in made.rows(BLIND)]
    expected = {"min": min(nearest), "q05": np.quantile(nearest, 0.05), "median": np.median(nearest)}
    assert report.facts["nearest_train_m"] == pytest.approx(expected, abs=0.001)
    assert report.facts["nearest_train_of"] == ["PA_train", "PO_train"]


def test_the_command_speaks_json_and_gives_3_for_a_failed_check(tmp_path: Path) -> None:
    """Programs read it, Makefiles stop at it."""
    made = example()
    share_a_quadrat(made)
    result = CliRunner().invoke(audit, [str(made.write(tmp_path / "dataset")), "--json"])
    said = json.loads(result.stdout)
    assert result.exit_code == 3
    assert said["passed"] is False
    assert set(said["checks"][0]) == {"name", "passed", "value", "limit", "detail"}
    assert set(said["facts"]["nearest_train_m"]) == {"min", "q05", "median"}


def test_the_command_prints_an_aligned_table_and_gives_0_when_all_is_well(tmp_path: Path) -> None:
    """People read it."""
    result = CliRunner().invoke(audit, [str(example().write(tmp_path / "dataset"))])
    lines = result.stdout.splitlines()
    assert result.exit_code == 0
    assert lines[0].split() == ["check", "result", "value", "detail"]
    assert len({line.index("passed") for line in lines[1:14]}) == 1
    assert lines[-1] == "The audit passed: 13 checks passed, 0 failed, 0 could not run."


def test_nothing_to_audit_is_said_in_one_line(tmp_path: Path) -> None:
    """A wrong folder is bad input, not a dataset with faults."""
    with pytest.raises(DataError, match="No such folder"):
        audit_dataset(tmp_path / "nowhere")
    with pytest.raises(DataError, match="There is no dataset in"):
        audit_dataset(tmp_path)


def test_parquet_files_are_audited_like_csv(tmp_path: Path) -> None:
    """A dataset of Parquet files under the standard names, with numbers as numbers."""
    import pyarrow.csv
    import pyarrow.parquet

    folder = example().write(tmp_path / "dataset") / "public"
    for path in folder.glob("*.csv"):
        pyarrow.parquet.write_table(pyarrow.csv.read_csv(path), path.with_suffix(".parquet"))
        path.unlink()
    write_sums(folder)
    report = audit_dataset(folder, radius_m=300)
    assert report.passed
    assert sum(check.passed is True for check in report.checks) == 7


def test_a_column_subset_of_the_input_is_not_taken_for_ours(tmp_path: Path) -> None:
    """An input that was split before may carry its old `subset` into PA_train and PA_test."""
    made = example()
    for name in (TRAIN, TEST):
        made.add_column(name, "subset", ["val"] * len(made.rows(name)))
    assert audit_dataset(made.write(tmp_path / "dataset")).passed


def test_a_survey_key_that_is_the_survey_id_is_read(tmp_path: Path) -> None:
    """Single observations are surveys whose key is their number."""
    made = example()
    made.manifest["recipe"]["surveys"]["keys"] = ["surveyId"]
    for header, _ in made.tables.values():
        header[:] = [name for name in header if name != "patchID"]
    assert audit_dataset(made.write(tmp_path / "dataset")).passed


def test_a_sealed_seed_may_stand_in_no_file_at_all(tmp_path: Path) -> None:
    """Not even in the recipe that the manifest repeats; that is seen without knowing the seed."""
    made = example(sealed=True)
    made.manifest["recipe"]["seed"] = audit_example.SEED
    report = audit_dataset(made.write(tmp_path / "dataset"))
    assert report.failed == ("nothing_private_in_public",)
    assert report.facts["usage_is_secret"] is True


def test_a_manifest_that_leads_out_of_its_folder_is_not_followed(tmp_path: Path) -> None:
    """Somebody else's manifest must not make the audit read other files."""
    (tmp_path / "secret.csv").write_text("surveyId,lon,lat\n1,2,3\n")
    folder = example().write(tmp_path / "dataset")
    said = json.loads((folder / "manifest.json").read_text())
    said["outputs"]["public/../../secret.csv"] = {"role": "pa_val", "sha256": "0" * 64}
    (folder / "manifest.json").write_text(json.dumps(said))
    found = {check.name: check for check in audit_dataset(folder).checks}["files_match_manifest"]
    assert "public/../../secret.csv leads out of the folder" in found.detail


@pytest.mark.parametrize("name", ["public/\ud800.csv", "public/\x1b[31mred\x07.csv", "public/two\nlines.csv"])
def test_a_name_that_no_terminal_should_obey_is_written_by_its_numbers(name: str, tmp_path: Path) -> None:
    """Half a character ended in a traceback; an escape sequence reached the terminal."""
    folder = example(side=4).write(tmp_path / "dataset")
    said = json.loads((folder / "manifest.json").read_text())
    said["outputs"][name] = {"role": "notes", "sha256": "0" * 64}
    (folder / "manifest.json").write_text(json.dumps(said))
    text = CliRunner().invoke(audit, [str(folder)])
    assert text.exit_code == CliRunner().invoke(audit, [str(folder), "--json"]).exit_code == 3
    assert f"\\u{ord(next(letter for letter in name if not letter.isprintable())):04x}" in text.stdout


def test_a_parquet_copy_with_other_columns_is_found(tmp_path: Path) -> None:
    """The CSV is what the checks read; the form beside it must have the same columns and rows."""
    folder = example().write(tmp_path / "dataset")
    path = folder / "public/PA_val.parquet"
    pd.DataFrame({"surveyId": [1], "further": ["x"]}).to_parquet(path)
    said = json.loads((folder / "manifest.json").read_text())
    said["outputs"]["public/PA_val.parquet"] = {**said["outputs"][VAL], "separator": None}
    (folder / "manifest.json").write_text(json.dumps(said))
    found = {check.name: check for check in audit_dataset(folder).checks}["files_match_manifest"]
    assert found.value is not None
    assert found.value >= 3


def test_without_a_manifest_a_column_off_the_list_is_an_open_question(tmp_path: Path) -> None:
    """The recipe may allow it with `blind_columns`; a column named like a label is a fault all the same."""
    made = example()
    add_a_column_off_the_list(made)
    public = made.write(tmp_path / "dataset") / "public"
    found = {check.name: check for check in audit_dataset(public).checks}["no_label_in_blind"]
    assert found.passed is None
    assert "'habitat' is not on the allow-list" in found.detail
    label_the_blinded_table(made)
    public = made.write(tmp_path / "labelled") / "public"
    assert "no_label_in_blind" in audit_dataset(public).failed


def test_a_survey_that_is_nowhere_is_an_offender(tmp_path: Path) -> None:
    """It cannot be shown to be in one subset, and must not be passed over in silence."""
    made = example()
    move(made, made.rows(TRAIN)[0]["surveyId"], ("", 95.0))  # type: ignore[arg-type]
    found = {check.name: check for check in audit_dataset(made.write(tmp_path / "dataset")).checks}
    assert "has no place on the grid" in found["quadrats_in_one_subset"].detail


FORBIDDEN = ("crs", "distances", "draw", "po_filter", "quadrats", "split", "surveys", "occurrences", "tables", "build")


def test_the_audit_imports_nothing_that_built_the_dataset() -> None:
    """A judge that uses the build's own arithmetic repeats its mistakes."""
    imported = set()
    for path in Path(audit_module.__file__).parent.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom):
                imported.add(node.module or "")
            elif isinstance(node, ast.Import):
                imported |= {alias.name for alias in node.names}
    ours = {name for name in imported if name.split(".")[0] == "spatialsplit"}
    assert {name for name in ours if not name.startswith("spatialsplit.audit")} == {"spatialsplit.errors"}
    assert not any(name.split(".")[1] in FORBIDDEN for name in ours)


@given(st.data())
@settings(max_examples=25, deadline=None)
def test_damaged_files_give_a_report_or_one_line(data: st.DataObject) -> None:
    """Whatever somebody else's files hold, there is no traceback."""
    with tempfile.TemporaryDirectory() as name:
        folder = example(side=4).write(Path(name) / "dataset")
        files = sorted(path for path in folder.rglob("*") if path.is_file())
        path = data.draw(st.sampled_from(files))
        content = path.read_bytes()
        start = data.draw(st.integers(0, len(content)))
        stop = start + data.draw(st.sampled_from([0, 1, 7, 300]))
        junk = data.draw(
            st.sampled_from([b"", b"\x00", b'"', b"\n", b",", b"\xff", b"1e400", b"nan", b"{}", b"9" * 400])
        )
        path.write_bytes(content[:start] + junk + content[stop:])
        assert len(audit_dataset(folder).checks) == len(NAMES)


def test_duplicate_rows_are_counted_but_need_not_be_listed(tmp_path: Path) -> None:
    """Another row says the same; every other reason must have its rows in a file."""
    made = example()
    read, surveys = made.manifest["steps"][:2]
    for step, count in ((read, "in"), (read, "kept"), (surveys, "in")):
        step[count] += 3
    surveys["dropped"] = {"duplicate": 3}
    assert audit_dataset(made.write(tmp_path / "dataset")).passed
    surveys["dropped"] = {"survey_years": 3}
    assert audit_dataset(made.write(tmp_path / "again")).failed == ("counts_add_up",)
