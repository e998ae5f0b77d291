"""What the checksums and the manifest say holds, or it is told, file by file."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from spatialsplit.errors import DataError, ManifestError
from spatialsplit.layouts import LAYOUTS, STANDARD
from spatialsplit.manifest import (
    content_of,
    file_sha256,
    manifest_text,
    output_entry,
    read_manifest,
    verify_dataset,
    write_sums,
)
from spatialsplit.tables import write_table


@pytest.fixture
def dataset(tmp_path: Path) -> Path:
    """Write a small dataset: a public table as CSV and Parquet, a private one, a manifest and the checksums."""
    folder = tmp_path / "dataset"
    outputs: dict[str, Any] = {}
    for name in ("public/a.csv", "public/a.parquet", "private/b.csv"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        written = write_table(folder / name, pa.table({"n": [1, 2], "x": [0.5, None], "t": ["é", ""]}))
        outputs[name] = output_entry(written, "role")
    (folder / "manifest.json").write_text(manifest_text({"format": 1, "outputs": outputs}))
    (folder / "run.json").write_text("{}")
    write_sums(folder, {})
    return folder


def change_manifest(folder: Path, **changed: Any) -> None:
    manifest = json.loads((folder / "manifest.json").read_text())
    (folder / "manifest.json").write_text(manifest_text(manifest | changed))
    write_sums(folder, {})


def test_a_whole_dataset_has_no_problem(dataset: Path) -> None:
    """Files that differ between equal builds are not listed and not missed."""
    assert verify_dataset(dataset) == []
    (dataset / "run.json").write_text("another")
    (dataset / "report.html").write_text("new")
    assert verify_dataset(dataset) == []


def test_sha256sum_reads_both_lists(dataset: Path) -> None:
    """Sorted, LF, strict; the public one from inside public/."""
    for folder in (dataset, dataset / "public"):
        subprocess.run(["sha256sum", "-c", "--strict", "--quiet", "SHA256SUMS"], cwd=folder, check=True)
        lines = (folder / "SHA256SUMS").read_text().splitlines()
        assert [line[66:] for line in lines] == sorted(line[66:] for line in lines)
    names = [line[66:] for line in (dataset / "SHA256SUMS").read_text().splitlines()]
    assert names == ["manifest.json", "private/b.csv", "public/SHA256SUMS", "public/a.csv", "public/a.parquet"]
    assert (dataset / "public" / "SHA256SUMS").read_text().count("\n") == 2


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("public/a.csv", "public/a.csv is not the file that SHA256SUMS lists"),
        ("public/a.csv", "public/a.csv has another content than manifest.json says"),
        ("private/b.csv", "private/b.csv is not the file that SHA256SUMS lists"),
        ("manifest.json", "manifest.json is not the file that SHA256SUMS lists"),
    ],
)
def test_one_changed_byte_is_found(name: str, said: str, dataset: Path) -> None:
    """By the lists, and for tables by the manifest's digest too."""
    content = (dataset / name).read_bytes()
    (dataset / name).write_bytes(content.replace(b"2", b"3", 1))
    assert any(said in problem for problem in verify_dataset(dataset))


def test_a_changed_table_with_mended_checksums_is_found(dataset: Path) -> None:
    """The manifest knows bytes, rows, columns and content."""
    (dataset / "public" / "a.csv").write_text("n,x,t\n1,0.5,é\n2,,\n3,,\n")
    write_sums(dataset, {})
    problems = verify_dataset(dataset)
    assert [problem.split(", ")[0] for problem in problems] == [
        "public/a.csv has 23 bytes",
        "public/a.csv has 3 rows",
        "public/a.csv has another content than manifest.json says.",
    ]
    (dataset / "public" / "a.csv").write_text("n,y,t\n1,0.5,é\n2,,\n")
    assert "its columns are n, y, t, not n, x, t" in verify_dataset(dataset)[-1]
    (dataset / "public" / "a.csv").write_text("n,x,t\n1,zero,é\n2,,\n")
    assert "public/a.csv cannot be read as manifest.json describes it" in verify_dataset(dataset)[-1]


def test_files_too_many_and_too_few_are_named(dataset: Path) -> None:
    """In each list, and in the manifest."""
    (dataset / "public" / "extra.txt").write_text("x")
    (dataset / "private" / "b.csv").unlink()
    assert verify_dataset(dataset) == [
        "private/b.csv is missing: SHA256SUMS lists it.",
        "public/extra.txt is not in SHA256SUMS.",
        "public/extra.txt is not in public/SHA256SUMS.",
        "private/b.csv is missing: manifest.json lists it.",
    ]


def test_a_link_to_a_folder_is_a_file_that_is_not_listed(dataset: Path) -> None:
    """Whoever copies or packs the public folder may copy what the link leads to."""
    (dataset / "public/further").symlink_to("../private")
    assert "public/further is not in SHA256SUMS." in verify_dataset(dataset)


@pytest.mark.parametrize("line", ["x", "0" * 64 + " a.csv", "G" * 64 + "  a.csv", "0" * 64 + "  "])
def test_a_damaged_list_is_told_by_its_line(line: str, dataset: Path) -> None:
    """Whatever stands there."""
    with (dataset / "SHA256SUMS").open("a") as file:
        file.write(line + "\n")
    assert verify_dataset(dataset) == ["SHA256SUMS line 6 is not 'SHA-256, two spaces, name'. The list was damaged."]


@pytest.mark.parametrize("name", ["../secret", "/etc/passwd", "x" * 5000, "public/../../secret"])
def test_a_list_cannot_point_outside(name: str, dataset: Path) -> None:
    """Nothing beyond the folder is read, and a name that cannot be is a missing file."""
    (dataset.parent / "secret").write_text("x")
    with (dataset / "SHA256SUMS").open("a") as file:
        file.write(f"{hashlib.sha256(b'x').hexdigest()}  {name}\n")
    change = json.loads((dataset / "manifest.json").read_text())["outputs"]
    (problem,) = verify_dataset(dataset)
    assert problem.endswith("is missing: SHA256SUMS lists it.")
    change_manifest(dataset, outputs={**change, name: {"bytes": 1}})
    (problem,) = verify_dataset(dataset)
    assert problem.endswith("is missing: manifest.json lists it.")


def test_a_missing_list_is_told(dataset: Path) -> None:
    """The other checks go on."""
    (dataset / "SHA256SUMS").unlink()
    assert verify_dataset(dataset) == ["SHA256SUMS is missing. It lists the checksums of the dataset."]


@pytest.mark.parametrize(
    "entry", [5, None, {}, {"bytes": 1, "columns": []}, {"bytes": 1, "columns": [{"name": "n", "type": "colour"}]}]
)
def test_a_manifest_that_does_not_say_what_it_must_is_told(entry: Any, dataset: Path) -> None:
    """Damaged, or made by hand."""
    outputs = json.loads((dataset / "manifest.json").read_text())["outputs"]
    change_manifest(dataset, outputs=outputs | {"public/a.csv": entry})
    assert any("manifest.json does not say of public/a.csv what it must" in line for line in verify_dataset(dataset))


@pytest.mark.parametrize("outputs", [None, [], "x"])
def test_a_manifest_without_outputs_is_told(outputs: Any, dataset: Path) -> None:
    """There is nothing to compare with."""
    change_manifest(dataset, outputs=outputs)
    assert verify_dataset(dataset) == ["manifest.json lists no outputs. It was damaged."]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"{", r"is no manifest \(JSONDecodeError"),
        (b"\xff", r"is no manifest \(UnicodeDecodeError"),
        (b"[]", r"is no manifest \(TypeError"),
        (b"{}", r"is no manifest \(KeyError"),
        (b"[" * 100_000, r"is no manifest \(RecursionError"),
        (b'{"format": 2}', "has format 2; this version reads 1"),
    ],
)
def test_what_is_no_manifest(content: bytes, said: str, dataset: Path) -> None:
    """One line, whatever it is."""
    (dataset / "manifest.json").write_bytes(content)
    with pytest.raises(ManifestError, match=said) as caught:
        read_manifest(dataset)
    assert "\n" not in str(caught.value)


def test_a_folder_without_a_manifest_is_no_dataset(tmp_path: Path) -> None:
    """Nor is a file, nor a manifest that is a folder."""
    with pytest.raises(ManifestError, match=r"There is no manifest\.json in .*Name the folder"):
        verify_dataset(tmp_path)
    (tmp_path / "quadrats.csv").write_text("")
    with pytest.raises(ManifestError, match="Public files alone: `sha256sum -c SHA256SUMS`"):
        verify_dataset(tmp_path)
    (tmp_path / "file").write_text("")
    with pytest.raises(ManifestError, match=r"manifest\.json cannot be read \(Not a directory\)"):
        verify_dataset(tmp_path / "file")
    (tmp_path / "manifest.json").mkdir()
    with pytest.raises(ManifestError, match=r"manifest\.json cannot be read \(Is a directory\)"):
        verify_dataset(str(tmp_path))


def test_the_manifests_text_is_the_same_for_equal_content() -> None:
    """UTF-8, one space, and no number that JSON does not have."""
    assert manifest_text({"é": 1.5, "a": [1]}) == '{\n "é": 1.5,\n "a": [\n  1\n ]\n}\n'
    with pytest.raises(ValueError, match="not JSON compliant"):
        manifest_text({"a": float("nan")})


def test_a_files_hash_is_sha256(tmp_path: Path) -> None:
    """Of all its bytes."""
    data = os.urandom(3_000_000)
    (tmp_path / "f").write_bytes(data)
    assert file_sha256(tmp_path / "f") == hashlib.sha256(data).hexdigest()


def test_a_table_without_rows_has_a_content(tmp_path: Path) -> None:
    """As `PA_val` of a dataset without validation; the header still counts."""
    columns = [{"name": "a", "type": "text"}, {"name": "b", "type": "integer"}]
    digests = set()
    for name in ("t.csv", "t.parquet"):
        written = write_table(
            tmp_path / name, pa.table({"a": pa.array([], pa.string()), "b": pa.array([], pa.int64())})
        )
        assert content_of(tmp_path / name, written.separator, columns) == (0, written.content_sha256)
        digests.add(written.content_sha256)
    assert len(digests) == 1
    with pytest.raises(DataError, match="its columns are a, b, not a"):
        content_of(tmp_path / "t.csv", ",", columns[:1])


@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_layout_has_a_file_for_every_role(layout: str | None) -> None:
    """Each in public/ or private/, no two of one name, and what tells an answer never in public/."""
    files = LAYOUTS[layout]
    assert set(files) == set(STANDARD)
    names = [form.name for form in files.values()]
    assert len(names) == len(set(names))
    public = {role for role, form in files.items() if form.name.startswith("public/")}
    assert not public & {"solution", "pa_test", "po_removed", "dropped_po", "dropped_pa", "dropped_surveys"}
    assert {role for role in files if role not in public} == {
        role for role, form in files.items() if form.name.startswith("private/")
    }


def test_the_names_of_past_competitions_are_their_own() -> None:
    """As in the files that were published."""
    assert LAYOUTS["glc2022"]["pa_test_blind"].column_name("surveyId") == "observation_id"
    assert LAYOUTS["glc2023"]["solution"].column_name("predictions") == "Expected"
    assert LAYOUTS["glc2023"]["solution"].column_name("Usage") == "Usage"
    assert LAYOUTS["glc2024"]["po_train"].name == "public/GLC24_PO_metadata_train.csv"
    assert [LAYOUTS[year]["pa_test_blind"].separator for year in ("glc2022", "glc2023", "glc2024")] == [";", ";", ","]
