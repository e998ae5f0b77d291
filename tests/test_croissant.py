"""The descriptions for machines: the real mlcroissant reads them, offline, and gives the rows of the tables."""

from __future__ import annotations

import csv
import functools
import importlib.util
import json
import os
import re
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from spatialsplit.audit import audit_dataset
from spatialsplit.build import BuildReport, build_dataset
from spatialsplit.cli import cli
from spatialsplit.columns import COLUMNS
from spatialsplit.errors import ManifestError, OutputError, RecipeError
from spatialsplit.exports.croissant import CONTEXT, export_croissant
from spatialsplit.exports.frictionless import datapackage
from spatialsplit.manifest import verify_dataset
from tests.recipes import write_csv, write_recipe

if os.environ.get("CI", "").casefold() == "true":
    needs_mlcroissant = pytest.mark.skipif(False, reason="in CI its absence is a failure")
else:
    needs_mlcroissant = pytest.mark.skipif(
        importlib.util.find_spec("mlcroissant") is None,
        reason="mlcroissant, which reads Croissant files, is not installed: pip install 'spatialsplit[dev]'",
    )

ABOUT = """[about]
title = "Four quadrats"
description = "A table of four surveys."
license = "CC-BY-4.0"
url = "https://example.org/four"
creators = ["A. Botanist", "B. Botanist"]
citation = "Botanist & Botanist (2026): Four quadrats."
version = "1.0.0"
date_published = "2026-01-31"
"""

PA_ROWS = [
    f"p0{i},{10 + i},2021-01-{10 + i},{5 + 0.2 * (i % 8):.1f},45.{i},{species},{note}"
    for i, note in enumerate(["dry", "", '"wet, cold"', "=1+1", "dry", "wet", "dry", "wet"])
    for species in (1, 2)
]
PO_ROWS = [
    "1,10,9.0,45.0,1,Atlas,12",
    '2,,9.1,45.0,2,"Atlas, second",',
    "3,300,9.2,45.0,1,Äcker,7.5",
]
"""Rows with missing numbers, commas, a formula and letters beyond ASCII."""

SEMICOLONS = "glc2023"


def build(folder: Path, *, about: str = ABOUT, output: str = "", holdouts: str = "", changed: str = "") -> Path:
    """Build a small dataset whose tables have missing cells, commas and letters beyond ASCII."""
    folder.mkdir()
    write_csv(folder / "pa.csv", "patchID,dayOfYear,date,lon,lat,speciesId,weather", PA_ROWS)
    write_csv(folder / "po.csv", "glcID,dayOfYear,lon,lat,speciesId,datasetName,geoUncertaintyInM", PO_ROWS)
    shares = holdouts or '[[holdouts]]\nname = "test"\nshare = 0.25\n[[holdouts]]\nname = "val"\nshare = 0.34\n'
    recipe = write_recipe(folder, po="po.csv", holdouts=shares, more=f"{changed}{output}{about}")
    return build_dataset(recipe, folder / "dataset").folder


def build_layout(folder: Path, layout: str | None) -> Path:
    """Build the small dataset in the layout of a year."""
    output = f'[output]\nlayout = "{layout}"\n' if layout else ""
    if layout == "glc2023":
        return build(
            folder,
            holdouts='[[holdouts]]\nname = "test"\nshare = 0.25\n',
            changed='[draw]\nremainder = "val"\n',
            output=output,
        )
    if layout == "glc2022":
        folder.mkdir()
        rows = [f"{1000 + i},{5 + 0.2 * (i % 4):.1f},{45 + i / 1000},{i // 4}" for i in range(12)]
        write_csv(folder / "pa.csv", "observation_id,longitude,latitude,species_id", rows)
        more = '[surveys]\nkeys = ["observation_id"]\n[evaluation]\nmetric = "top_k_error"\noptions = { k = 2 }\n'
        return build_dataset(write_recipe(folder, more=f"{more}{output}{ABOUT}"), folder / "dataset").folder
    return build(folder, output=output)


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build a dataset with all of [about]; read it, do not write into it."""
    return build(tmp_path_factory.mktemp("croissant") / "small")


@pytest.fixture(scope="module")
def in_layout(dataset: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str | None], Path]:
    """Give the small dataset in a layout, built once each; read it, do not write into it."""
    folder = tmp_path_factory.mktemp("layouts")
    done: dict[str | None, Path] = {None: dataset}

    def build_once(layout: str | None) -> Path:
        if layout not in done:
            done[layout] = build_layout(folder / str(layout), layout)
        return done[layout]

    return build_once


@pytest.fixture
def offline(monkeypatch: pytest.MonkeyPatch) -> None:
    """No connection can be made."""

    def refuse(*args: object, **options: object) -> None:
        raise AssertionError("a connection was asked for")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "create_connection", refuse)


def described(data: Path, out: Path) -> dict[str, Any]:
    """Write a description and read it again."""
    export_croissant(data, out)
    content: dict[str, Any] = json.loads(out.read_text("utf-8"))
    return content


def table(path: Path, separator: str) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter=separator))


@functools.cache
def opened(croissant: str) -> Any:
    """Open a description with mlcroissant; each is written once."""
    import mlcroissant

    return mlcroissant.Dataset(croissant)


def records_of(croissant: Path, record_set: str) -> list[dict[str, Any]]:
    """Load a record set with mlcroissant, and give its fields by their own names, text as text."""
    loaded = opened(str(croissant)).records(record_set)
    return [
        {name.split("/", 1)[1]: value.decode() if isinstance(value, bytes) else value for name, value in row.items()}
        for row in loaded
    ]


def first(kinds: str | list[str]) -> str:
    return kinds if isinstance(kinds, str) else kinds[0]


def as_loaded(rows: Sequence[dict[str, str]], content: dict[str, Any], record_set: str) -> list[dict[str, Any]]:
    """Give the rows of a table as their description promises them."""
    (described,) = [each for each in content["recordSet"] if each["@id"] == record_set]
    fields = {field["name"]: field for field in described["field"]}
    constant = {name: field["value"] for name, field in fields.items() if "value" in field}
    taken_apart = any("transform" in field.get("source", {}) for field in fields.values())
    read = {"sc:Integer": int, "sc:Float": float, "sc:Text": str}
    return [
        {
            **{
                name: read[first(fields[name]["dataType"])](cell) if cell or taken_apart else None
                for name, cell in row.items()
            },
            **constant,
        }
        for row in rows
    ]


@needs_mlcroissant
@pytest.mark.filterwarnings("ignore:ConjunctiveGraph is deprecated:DeprecationWarning")  # rdflib of its own parser
@pytest.mark.filterwarnings("ignore:The inplace keyword")  # pandas of mlcroissant
class TestTheRealReader:
    """What mlcroissant makes of our files."""

    @pytest.mark.parametrize("layout", [None, "glc2023"])
    def test_it_passes_validate_without_a_word(
        self, layout: str | None, in_layout: Callable[[str | None], Path], tmp_path: Path
    ) -> None:
        """`mlcroissant validate` says nothing but that it is done."""
        export_croissant(in_layout(layout), tmp_path / "croissant.json")
        command = [str(Path(sys.executable).with_name("mlcroissant")), "validate", "--jsonld", "croissant.json"]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stderr
        assert re.fullmatch(r"I\S+ \S+ +\d+ validate\.py:\d+\] Done\.\n", done.stderr)

    @pytest.mark.usefixtures("offline")
    @pytest.mark.parametrize("layout", [None, "glc2022", "glc2023", "glc2024"])
    def test_every_record_set_gives_the_rows_of_its_table(
        self,
        layout: str | None,
        in_layout: Callable[[str | None], Path],
        tmp_path: Path,
        caplog: pytest.LogCaptureFixture,
    ) -> None:
        """Cell for cell, in order, missing ones missing, without the network and without a warning."""
        folder = in_layout(layout)
        content = described(folder, tmp_path / "croissant.json")
        outputs = json.loads((folder / "manifest.json").read_text("utf-8"))["outputs"]
        tables = {
            Path(name).stem: entry for name, entry in outputs.items() if "rows" in entry and name[:7] == "public/"
        }
        assert {each["@id"] for each in content["recordSet"]} == {"splits", *tables}
        for name, entry in tables.items():
            rows = table(folder / "public" / f"{name}.csv", entry["separator"])
            assert len(rows) == entry["rows"] > 0
            assert records_of(tmp_path / "croissant.json", name) == as_loaded(rows, content, name)
        assert [record.message for record in caplog.records if record.levelname != "INFO"] == []

    @pytest.mark.usefixtures("offline")
    def test_parquet_gives_text_as_it_is(self, tmp_path: Path) -> None:
        """A reader of CSV takes the text 007 for a number; where there is Parquet, it is not asked."""
        folder = tmp_path / "small"
        data = build(folder, output='[output]\nformats = ["csv", "parquet"]\n')
        content = described(data, tmp_path / "croissant.json")
        names = [each["name"] for each in content["distribution"]]
        assert "PA_train.csv" in names
        assert "PA_train.parquet" in names
        rows = table(data / "public" / "PA_train.csv", ",")
        loaded = records_of(tmp_path / "croissant.json", "PA_train")
        assert [row["patchID"] for row in loaded] == [row["patchID"] for row in rows]
        assert [(row["surveyId"], row["lon"]) for row in loaded] == [
            (int(row["surveyId"]), float(row["lon"])) for row in rows
        ]

    @pytest.mark.usefixtures("offline")
    def test_the_splits_are_named_and_referred_to(self, dataset: Path, tmp_path: Path) -> None:
        """Each row says which subset it is of, and the subsets are what Croissant calls splits."""
        described(dataset, tmp_path / "croissant.json")
        splits = records_of(tmp_path / "croissant.json", "splits")
        assert splits == [
            {"name": "train", "url": "cr:TrainingSplit"},
            {"name": "val", "url": "cr:ValidationSplit"},
            {"name": "test", "url": "cr:TestSplit"},
        ]
        for name, subset in (("PO_train", "train"), ("PA_val", "val"), ("PA_test_blind", "test")):
            assert {row["split"] for row in records_of(tmp_path / "croissant.json", name)} == {subset}
        assert {row["subset"] for row in records_of(tmp_path / "croissant.json", "quadrats")} == {
            "train",
            "val",
            "test",
        }

    def test_a_changed_file_is_not_loaded(self, tmp_path: Path) -> None:
        """The checksums are those that mlcroissant compares."""
        data = build(tmp_path / "small")
        described(data, data / "croissant.json")
        with (data / "public" / "PA_val.csv").open("a") as file:
            file.write("\n")
        with pytest.raises(Exception, match="PA_val") as caught:
            records_of(data / "croissant.json", "PA_val")
        assert "is not identical" in str(caught.value.__cause__)

    def test_our_context_is_the_readers_own(self) -> None:
        """A reader warns of every name that is missing there."""
        from mlcroissant._src.core.context import Context, CroissantVersion
        from mlcroissant._src.core.rdf import make_context

        assert make_context(Context(conforms_to=CroissantVersion.V_1_1)) == CONTEXT


class TestTheDescription:
    """What stands in it, and what does not."""

    def test_only_public_files_are_named(self, dataset: Path, tmp_path: Path) -> None:
        """Nothing of `private/`, and nobody's answers."""
        content = described(dataset, tmp_path / "croissant.json")
        names = {each["name"] for each in content["distribution"]}
        assert names == {path.name for path in (dataset / "public").iterdir()} - {"SHA256SUMS"}
        text = (tmp_path / "croissant.json").read_text("utf-8")
        assert not [
            word for word in ("private", "solution", "Usage", "PO_removed", "PA_test.csv", "seed") if word in text
        ]

    def test_files_have_their_checksum_and_the_way_to_them(self, dataset: Path, tmp_path: Path) -> None:
        """A checksum by `sha256sum`, and a path that leads there from the description's folder."""
        (tmp_path / "deep").mkdir()
        content = described(dataset, tmp_path / "deep" / "croissant.json")
        sums = dict(reversed(line.split("  ")) for line in (dataset / "public" / "SHA256SUMS").read_text().splitlines())
        for file in content["distribution"]:
            path = tmp_path / "deep" / file["contentUrl"]
            assert path.read_bytes() == (dataset / "public" / file["name"]).read_bytes()
            assert file["sha256"] == sums[file["name"]]
            assert file["contentSize"] == f"{path.stat().st_size} B"

    def test_a_base_url_stands_before_the_names(self, dataset: Path, tmp_path: Path) -> None:
        """For a description that is published elsewhere than it was written."""
        export_croissant(dataset, tmp_path / "c.json", base_url="https://example.org/files/")
        urls = [each["contentUrl"] for each in json.loads((tmp_path / "c.json").read_text())["distribution"]]
        assert "https://example.org/files/PA_train.csv" in urls
        export_croissant(dataset, tmp_path / "c.json", base_url="")
        urls = [each["contentUrl"] for each in json.loads((tmp_path / "c.json").read_text())["distribution"]]
        assert "PA_train.csv" in urls

    def test_fields_are_described_by_the_one_declaration(self, dataset: Path, tmp_path: Path) -> None:
        """Type and words of a known column are those of `COLUMNS`; cells that are not of that type make it text."""
        content = described(dataset, tmp_path / "croissant.json")
        types = {"integer": "sc:Integer", "number": "sc:Float", "text": "sc:Text"}
        fields = [field for each in content["recordSet"] for field in each["field"] if "source" in field]
        known = [field for field in fields if field["name"] in COLUMNS]
        assert len(known) > 30
        for field in known:
            column = COLUMNS[field["name"]]
            assert (field["description"], first(field["dataType"])) == (column.about, types[column.type])
        assert {f["dataType"] for f in fields if f["name"] in ("weather", "datasetName")} == {"sc:Text"}
        assert {f["dataType"] for f in fields if f["name"] == "glcID"} == {"sc:Integer"}

    def test_a_declared_type_that_the_cells_are_not_is_not_claimed(self, tmp_path: Path) -> None:
        """`year` is a whole number by declaration; here it is text, and a reader that believed us would fail."""
        folder = tmp_path / "small"
        folder.mkdir()
        rows = [f"p{i},1{i},{5 + 0.2 * i:.1f},45.0,1,{year}" for i, year in enumerate(["2021", "2021?", "", "2021"])]
        write_csv(folder / "pa.csv", "patchID,dayOfYear,lon,lat,speciesId,month", rows)
        data = build_dataset(write_recipe(folder, more=ABOUT), folder / "dataset").folder
        content = described(data, tmp_path / "croissant.json")
        kinds = {
            each["@id"]: field["dataType"]
            for each in content["recordSet"]
            for field in each["field"]
            if field["name"] == "month"
        }
        assert "sc:Text" in kinds.values()

    def test_the_key_of_a_table_is_told(self, dataset: Path, tmp_path: Path) -> None:
        """What names a row of it."""
        sets = {each["@id"]: each.get("key") for each in described(dataset, tmp_path / "c.json")["recordSet"]}
        assert sets["PA_train"] == [{"@id": "PA_train/surveyId"}, {"@id": "PA_train/speciesId"}]
        assert sets["PA_test_blind"] == {"@id": "PA_test_blind/surveyId"}
        assert sets["PO_train"] is None

    def test_a_table_no_reader_takes_apart_is_described_as_a_file(self, tmp_path: Path) -> None:
        """A quoted cell between semicolons: the file is named, its rows are not promised, and it is said."""
        folder = tmp_path / "small"
        data = build_layout(folder, SEMICOLONS)
        text = (folder / "po.csv").read_text("utf-8").replace("Äcker", '"a ""b"" c;d"')
        (folder / "po.csv").write_text(text, "utf-8")
        shutil.rmtree(data)
        data = build_dataset(folder / "recipe.toml", data).folder
        done = export_croissant(data, tmp_path / "c.json")
        content = json.loads((tmp_path / "c.json").read_text("utf-8"))
        assert "Presences_only_train.csv" in {each["name"] for each in content["distribution"]}
        assert "Presences_only_train" not in {each["@id"] for each in content["recordSet"]}
        assert [note for note in done.notes if note.startswith("Presences_only_train.csv has quotation marks")]

    def test_it_may_lie_in_the_dataset(self, tmp_path: Path) -> None:
        """In the folder or beside the public files, `verify` and `audit` know it for what it is."""
        data = build(tmp_path / "small")
        for out in (data / "croissant.json", data / "public" / "croissant.json"):
            export_croissant(data, out, frictionless=True)
        assert verify_dataset(data) == []
        assert audit_dataset(data).passed
        assert audit_dataset(data / "public").passed

    def test_the_same_dataset_has_the_same_description(self, dataset: Path, tmp_path: Path) -> None:
        """No time and no machine stands in it."""
        for name in ("a.json", "b.json"):
            described(dataset, tmp_path / name)
        assert (tmp_path / "a.json").read_bytes() == (tmp_path / "b.json").read_bytes()
        assert str(tmp_path) not in (tmp_path / "a.json").read_text()


@pytest.fixture(scope="module")
def without_about(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build a dataset without [about]; read it, do not write into it."""
    return build(tmp_path_factory.mktemp("without") / "small", about="")


class TestWhatIsMissing:
    """What a reader would warn about is asked for, and nothing is written meanwhile."""

    def test_each_missing_key_is_a_line_that_names_it(self, without_about: Path, tmp_path: Path) -> None:
        """One line a key, with what to write."""
        data = without_about
        with pytest.raises(RecipeError) as caught:
            export_croissant(data, tmp_path / "croissant.json")
        lines = caught.value.problems
        assert [line.split("'")[1] for line in lines] == ["license", "citation", "version", "date_published"]
        assert all("[about]" in line and "\n" not in line for line in lines)
        assert not (tmp_path / "croissant.json").exists()

    def test_on_the_command_line_it_is_exit_code_1(self, without_about: Path, tmp_path: Path) -> None:
        """The lines go to standard error."""
        data = without_about
        command = [sys.executable, "-m", "spatialsplit", "export", "croissant", "--data", str(data), "--out", "c.json"]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 1
        assert done.stdout == ""
        assert len(done.stderr.splitlines()) == 4

    @pytest.mark.parametrize(
        ("key", "value"),
        [("version", "1.0.0.0"), ("version", "v1"), ("version", "01.0"), ("date_published", "31.1.2026")],
    )
    def test_a_value_that_the_format_refuses_is_named(self, key: str, value: str, tmp_path: Path) -> None:
        """A reader would warn of the version, and fail at the date."""
        about = re.sub(f'{key} = ".*"', f'{key} = "{value}"', ABOUT)
        data = build(tmp_path / "small", about=about)
        with pytest.raises(RecipeError, match=f"^Invalid {key} '{re.escape(value)}' in \\[about\\]"):
            export_croissant(data, tmp_path / "croissant.json")

    def test_what_the_format_only_wishes_is_a_note(self, tmp_path: Path) -> None:
        """Readers let a missing page or creator pass; so do we, with a word."""
        about = "\n".join(line for line in ABOUT.splitlines() if not line.startswith(("url", "creators")))
        done = export_croissant(build(tmp_path / "small", about=about), tmp_path / "croissant.json")
        assert [note.split("'")[1] for note in done.notes] == ["url", "creators"]

    def test_a_changed_public_file_is_not_described(self, tmp_path: Path) -> None:
        """A description of what is not published would be a wrong one."""
        data = build(tmp_path / "small")
        with (data / "public" / "species.csv").open("a") as file:
            file.write("9,9,9,9\n")
        with pytest.raises(ManifestError, match=r"public/species\.csv is not the file that manifest\.json lists"):
            export_croissant(data, tmp_path / "croissant.json")

    def test_the_flora_is_described_as_it_comes(self, built: BuildReport, tmp_path: Path) -> None:
        """`synth`, `build`, `export croissant`: nothing has to be added by hand."""
        out = tmp_path / "croissant.json"
        done = CliRunner().invoke(cli, ["export", "croissant", "--data", str(built.folder), "--out", str(out)])
        assert done.exit_code == 0, done.output
        assert done.stdout == f"{out}\n"
        assert done.stderr == ""


class TestFrictionless:
    """The Data Package beside it."""

    def test_the_tables_and_their_columns_are_there(self, dataset: Path, tmp_path: Path) -> None:
        """The same files, types and keys, by the names of Table Schema."""
        files = export_croissant(dataset, dataset.parent / "croissant.json", frictionless=True).files
        package = json.loads(files[1].read_text("utf-8"))
        assert files[1].name == "datapackage.json"
        resources = {each["name"]: each for each in package["resources"]}
        train = resources["pa_train"]
        assert (files[1].parent / train["path"]).read_bytes() == (dataset / "public" / "PA_train.csv").read_bytes()
        assert train["schema"]["primaryKey"] == ["surveyId", "speciesId"]
        header = (dataset / "public" / "PA_train.csv").read_text().splitlines()[0].split(",")
        assert [field["name"] for field in train["schema"]["fields"]] == header
        assert "required" not in next(f for f in train["schema"]["fields"] if f["name"] == "weather").get(
            "constraints", {}
        )

    def test_it_names_no_file_outside_its_folder(self, dataset: Path, tmp_path: Path) -> None:
        """The format forbids `..`, and nothing is written then."""
        (tmp_path / "elsewhere").mkdir()
        with pytest.raises(OutputError, match="may name files in its own folder or below"):
            export_croissant(dataset, tmp_path / "elsewhere" / "croissant.json", frictionless=True)
        assert not list((tmp_path / "elsewhere").iterdir())

    def test_semicolons_are_told(self, in_layout: Callable[[str | None], Path]) -> None:
        """Its dialect knows any separator."""
        from spatialsplit.exports.described import describe_dataset

        package = datapackage(describe_dataset(in_layout(SEMICOLONS)))
        dialects = {each["path"]: each["dialect"]["delimiter"] for each in package["resources"]}
        assert dialects["Presences_only_train.csv"] == ";"
        assert dialects["sample_submission.csv"] == ","
