"""Input that was made to hurt, or was hurt on its way: a result or a clear line, never a traceback, within bounds."""

from __future__ import annotations

import gzip
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from spatialsplit.audit import audit_dataset, audit_tables
from spatialsplit.build import BuildReport, build_dataset
from spatialsplit.build.inputs import paths_outside
from spatialsplit.cli import cli
from spatialsplit.comparing import describe_changes, rebuild_dataset
from spatialsplit.errors import DataError, ManifestError, RecipeError, SubmissionError
from spatialsplit.exports.codabench import export_codabench
from spatialsplit.exports.croissant import export_croissant
from spatialsplit.exports.kaggle import export_kaggle
from spatialsplit.manifest import verify_dataset
from spatialsplit.planting import plant_fault
from spatialsplit.quadrats import Grid
from spatialsplit.recipe import read_recipe
from spatialsplit.steps import FilterOutputs, SiteTable, add_quadrats, filter_po_table, write_surveys
from spatialsplit.submission import check_submission, score
from spatialsplit.surveys import SurveyRules
from tests import hostile
from tests.hostile import fewer, fuzzing, may_be


def put(folder: Path, **files: bytes) -> Path:
    """Write files into a new folder inside; `pa_csv` is pa.csv."""
    place = Path(tempfile.mkdtemp(dir=folder))
    for name, content in files.items():
        (place / name.replace("_", ".", 1)).write_bytes(content)
    return place


class TestRandomDamage:
    """Only lines that a person can read come out, whatever goes in."""

    @fuzzing
    @given(pa=hostile.pa_tables, po=hostile.po_tables)
    def test_random_tables_build_or_say_why_not(self, pa: bytes, po: bytes) -> None:
        """`build`: both tables damaged."""
        with tempfile.TemporaryDirectory() as room:
            place = put(Path(room), pa_csv=pa, po_csv=po, recipe_toml=hostile.RECIPE.encode())
            may_be(lambda: build_dataset(place / "recipe.toml", place / "out"))

    @fuzzing
    @given(recipe=hostile.recipes())
    def test_random_recipes_are_read_or_refused(self, recipe: bytes) -> None:
        """`read_recipe`, and a build of what it lets pass."""
        pa = "\n".join(
            ["patchID,dayOfYear,lon,lat,speciesId", *(f"p{i},1{i},{5 + 0.2 * i:.1f},45.0,1" for i in range(4))]
        )
        po = b"lon,lat,speciesId\n9.0,45.0,1\n"
        with tempfile.TemporaryDirectory() as room:
            place = put(Path(room), pa_csv=pa.encode(), po_csv=po, recipe_toml=recipe)
            may_be(lambda: read_recipe(place / "recipe.toml"))
            may_be(lambda: build_dataset(place / "recipe.toml", place / "out"))

    @fuzzing
    @given(
        table=st.one_of(hostile.pa_tables, hostile.po_tables), name=st.sampled_from(["t.csv", "t.csv.gz", "t.parquet"])
    )
    def test_random_tables_pass_the_steps_or_say_why_not(self, table: bytes, name: str) -> None:
        """`quadrats`, `surveys`, and `filter-po` with the table as records and as sites."""
        with tempfile.TemporaryDirectory() as room:
            place = put(Path(room), sites_csv=b"surveyId,lon,lat\n1,5.0,45.0\n")
            path = place / name
            path.write_bytes(table)
            may_be(lambda: add_quadrats(path, place / "q.csv", Grid("EPSG:3035", 5000, (0, 0))))
            may_be(lambda: write_surveys(path, place / "s.csv", SurveyRules(("patchID", "dayOfYear"))))
            outputs = FilterOutputs(place / "kept.csv", place / "removed.csv")
            may_be(lambda: filter_po_table(path, SiteTable(place / "sites.csv"), 300, outputs))
            may_be(lambda: filter_po_table(place / "sites.csv", SiteTable(path), 300, outputs))

    @fuzzing
    @given(submission=hostile.submissions, solution=hostile.submissions)
    def test_random_submissions_are_checked_or_refused(self, submission: bytes, solution: bytes) -> None:
        """`check-submission` and `score`: the submission damaged, or the solution."""
        sound = b"surveyId,predictions\n1,1 2\n2,1\n3,2\n4,1\n5,1\n6,2\n"
        with tempfile.TemporaryDirectory() as room:
            place = put(Path(room), a_csv=submission, b_csv=solution, s_csv=sound)
            may_be(lambda: check_submission(place / "s.csv", place / "a.csv", "f1_samples"))
            may_be(lambda: score(place / "s.csv", place / "a.csv", "f1_samples", resamples=0))
            may_be(lambda: check_submission(place / "b.csv", place / "s.csv", "f1_samples"))

    @fuzzing
    @given(train=hostile.pa_tables, po=hostile.po_tables)
    def test_random_tables_are_audited_or_refused(self, train: bytes, po: bytes) -> None:
        """`audit --train --test --po`."""
        with tempfile.TemporaryDirectory() as room:
            place = put(Path(room), a_csv=train, b_csv=po, c_csv=b"surveyId,lon,lat,speciesId\n1,5.0,45.0,1\n")
            tables = {"train": [place / "a.csv"], "test": [place / "c.csv"], "po": [place / "b.csv"]}
            may_be(lambda: audit_tables(tables, radius_m=300))


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> BuildReport:
    """Build a tiny dataset that can be exported; copy it before you change it."""
    folder = tmp_path_factory.mktemp("small")
    rows = [f"p{i},{10 + i},{5 + 0.2 * i:.1f},45.0,{species}" for i in range(6) for species in (1, 2)]
    (folder / "pa.csv").write_text("\n".join(["patchID,dayOfYear,lon,lat,speciesId", *rows]) + "\n")
    (folder / "po.csv").write_text("lon,lat,speciesId\n9.0,45.0,1\n9.1,45.0,2\n")
    about = 'license = "CC0-1.0"\ncitation = "c"\nversion = "1.0.0"\ndate_published = "2026-01-31"\n'
    (folder / "recipe.toml").write_text(f"{hostile.RECIPE}[about]\n{about}")
    return build_dataset(folder / "recipe.toml", folder / "dataset")


class TestRandomManifests:
    """A manifest that anybody may have changed."""

    @fewer
    @given(data=st.data())
    def test_random_manifests_are_verified_or_refused(self, small: BuildReport, data: st.DataObject) -> None:
        """`verify`, `audit`, `diff`, `export` and `synth --plant` with a part of the manifest gone or another."""
        manifest = json.loads((small.folder / "manifest.json").read_text("utf-8"))
        changed: Any = data.draw(hostile.changed_json(manifest))
        with tempfile.TemporaryDirectory() as room:
            copy = Path(room) / "inner" / "dataset"
            shutil.copytree(small.folder, copy)
            (copy / "manifest.json").write_text(json.dumps(changed), "utf-8")
            may_be(lambda: verify_dataset(copy))
            may_be(lambda: audit_dataset(copy))
            may_be(lambda: describe_changes(small.folder, copy))
            may_be(lambda: describe_changes(copy, small.folder))
            may_be(lambda: export_kaggle(copy, Path(room) / "kaggle"))
            may_be(lambda: export_croissant(copy, Path(room) / "croissant.json", frictionless=True))
            may_be(lambda: plant_fault("label-column", copy, Path(room) / "inner" / "planted"))
            expected = {"inner", "kaggle", "croissant.json", "datapackage.json"}
            assert {path.name for path in Path(room).iterdir()} <= expected


PROGRAM = """
import resource, runpy, sys
limit, sys.argv = int(sys.argv[1]), ["spatialsplit", *sys.argv[2:]]
resource.setrlimit(resource.RLIMIT_CPU, (120, 120))
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
try:
    runpy.run_module("spatialsplit", run_name="__main__")
finally:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    if peak > max(limit, before):
        print(f"used {peak} KiB of memory", file=sys.stderr)
"""


def run(*arguments: str | Path, memory_mb: int = 500, env: dict[str, str] | None = None) -> tuple[int, list[str]]:
    """Run the program in a process of its own, within some memory; give its exit code and its lines on stderr."""
    command = [sys.executable, "-c", PROGRAM, str(memory_mb * 1024), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", env={**os.environ, **(env or {})})
    lines = [line for line in done.stderr.splitlines() if not line.endswith(" …")]
    assert "Traceback" not in done.stderr, done.stderr[-2_000:]
    assert "KiB of memory" not in done.stderr, done.stderr[-200:]
    assert all(len(line) < hostile.LONGEST_LINE for line in lines)
    return done.returncode, lines


HEADER = "patchID,dayOfYear,lon,lat,speciesId"
ROWS = [f"p{i},{10 + i},{5 + 0.2 * i:.1f},45.0,{species}" for i in range(4) for species in (1, 2)]
SOUND = "\n".join([HEADER, *ROWS]) + "\n"


def write_recipe(folder: Path, path: str = "pa.csv", more: str = "") -> Path:
    recipe = f'name = "t"\nseed = "s"\n[inputs.pa]\npath = "{path}"\n{more}[[holdouts]]\nname = "test"\nshare = 0.5\n'
    (folder / "recipe.toml").write_text(recipe)
    return folder / "recipe.toml"


class TestTables:
    """Tables that were made to fill the memory, to be executed, or to be misread."""

    def test_a_line_of_100_mb_is_refused(self, tmp_path: Path) -> None:
        """Rows have a longest length, and it is told."""
        with (tmp_path / "pa.csv").open("w") as file:
            file.write(SOUND)
            for _ in range(100):
                file.write("x" * 1_000_000)
            file.write(",1,5,45,1\n")
        code, lines = run("quadrats", tmp_path / "pa.csv", "--out", tmp_path / "q.csv")
        assert code == 1
        assert len(lines) == 1
        assert "has a row of more than" in lines[0]
        assert not (tmp_path / "q.csv").exists()

    def test_a_header_of_20_mb_is_refused(self, tmp_path: Path) -> None:
        """Its line says what a header is, and does not repeat it."""
        (tmp_path / "pa.csv").write_text("x" * 20_000_000 + ",a\n1,2\n")
        for command in (
            ("quadrats", tmp_path / "pa.csv", "--out", tmp_path / "q.csv"),
            (
                "check-submission",
                "--metric",
                "f1_samples",
                "--solution",
                tmp_path / "pa.csv",
                "--submission",
                tmp_path / "pa.csv",
            ),
        ):
            code, lines = run(*command)
            assert (code, len(lines)) == (1, 1)

    def test_10_000_columns_pass_through_in_seconds(self, tmp_path: Path) -> None:
        """They are only passed on; what is needed is found by name."""
        more = "," + ",".join(f"c{i}" for i in range(10_000))
        (tmp_path / "pa.csv").write_text("\n".join([HEADER + more, *(row + ",1" * 10_000 for row in ROWS)]) + "\n")
        code, lines = run(
            "filter-po",
            tmp_path / "pa.csv",
            "--sites",
            tmp_path / "pa.csv",
            "--radius",
            "1",
            "--out",
            tmp_path / "f.csv",
        )
        assert code == 0, lines
        assert (tmp_path / "f.csv").read_text().splitlines()[0] == HEADER + more

    def test_a_byte_of_nul_is_a_character_like_others(self, tmp_path: Path) -> None:
        """It cuts nothing off: the cell is published as it is."""
        (tmp_path / "pa.csv").write_bytes(SOUND.replace("p1,", "p\0one,").encode())
        folder = build_dataset(write_recipe(tmp_path), tmp_path / "out").folder
        published = b"".join((folder / name).read_bytes() for name in ("public/PA_train.csv", "private/PA_test.csv"))
        assert published.count(b"p\0one,") == 2

    def test_a_file_of_nul_is_refused(self, tmp_path: Path) -> None:
        """It is no text, and the line says what it may be."""
        (tmp_path / "pa.csv").write_bytes(b"\0" * 1_000_000)
        with pytest.raises(DataError, match="NUL bytes in its header"):
            build_dataset(write_recipe(tmp_path), tmp_path / "out")

    def test_a_formula_stays_the_text_that_it_is(self, tmp_path: Path) -> None:
        """Nothing is executed or changed: a cell that a spreadsheet would run is published as the source has it."""
        formula = '=HYPERLINK(""http://x"")'
        (tmp_path / "pa.csv").write_text(SOUND.replace("p1,", f'"{formula}",'))
        folder = build_dataset(write_recipe(tmp_path), tmp_path / "out").folder
        texts = [(folder / name).read_text() for name in ("public/PA_train.csv", "private/PA_test.csv")]
        assert sum(text.count(f'"{formula}",') for text in texts) == 2

    @pytest.mark.parametrize("rest", [10, 100_000])
    def test_a_quotation_mark_that_is_never_closed_is_told_with_its_line(self, rest: int, tmp_path: Path) -> None:
        """However much of the file it swallows."""
        (tmp_path / "pa.csv").write_text(SOUND + '"p9,1,5,45,1\n' + "p8,1,5,45,1\n" * rest)
        code, lines = run("surveys", tmp_path / "pa.csv", "--keys", "patchID,dayOfYear", "--out", tmp_path / "s.csv")
        assert (code, len(lines)) == (1, 1)
        assert "line 10" in lines[0]

    @staticmethod
    def packed_po(folder: Path, note: Callable[[int], bytes]) -> tuple[Path, int]:
        """Write 120 MB of records with a note each; give the file and how many times its size it has unpacked."""
        with gzip.open(folder / "po.csv.gz", "wb", compresslevel=9) as file:
            file.write(b"lon,lat,speciesId,note\n")
            for i in range(30_000):
                file.write(b"9.0,45.0,1," + note(i) + b"\n")
        (folder / "sites.csv").write_text("lon,lat\n5.0,45.0\n")
        return folder / "po.csv.gz", 120_000_000 // (folder / "po.csv.gz").stat().st_size

    def test_a_gz_bomb_is_refused(self, tmp_path: Path) -> None:
        """120 MB in 160 kB: nobody's records repeat themselves so."""
        po, ratio = self.packed_po(tmp_path, lambda i: b"x" * 4_000)
        assert ratio > 700
        arguments = ("--sites", tmp_path / "sites.csv", "--radius", "300", "--out", tmp_path / "kept.csv")
        code, lines = run("filter-po", po, *arguments)
        assert (code, len(lines)) == (1, 1)
        assert re.search(r"po\.csv\.gz has 16\d,\d{3} bytes and unpacks to more than 67,108,864\.", lines[0])
        assert not (tmp_path / "kept.csv").exists()

    def test_records_that_repeat_themselves_are_streamed(self, tmp_path: Path) -> None:
        """The same 120 MB in less than one, a long note that only counts: they pass, and the memory stays small."""
        po, ratio = self.packed_po(tmp_path, lambda i: b"%016x" % (i * 0x9E3779B97F4A7C15 % (1 << 64)) + b"x" * 3_984)
        assert 100 < ratio < 400
        arguments = ("--sites", tmp_path / "sites.csv", "--radius", "300", "--out", tmp_path / "kept.csv")
        code, lines = run("filter-po", po, *arguments)
        assert code == 0, lines
        assert (tmp_path / "kept.csv").stat().st_size > 120_000_000

    def test_a_gz_bomb_without_a_line_break_is_refused(self, tmp_path: Path) -> None:
        """A cell of 300 MB, 300 kB packed, is no row, whichever of the two is noticed first."""
        with gzip.open(tmp_path / "pa.csv.gz", "wb", compresslevel=9) as file:
            file.write(SOUND.encode())
            for _ in range(300):
                file.write(b"\0" * 1_000_000)
        code, lines = run("build", write_recipe(tmp_path, "pa.csv.gz"), "--out", tmp_path / "out")
        assert (code, len(lines)) == (1, 1)
        assert "has a row of more than" in lines[0]

    @pytest.mark.parametrize("cells", [[[1, 2], []] * 4, [b"\xff\xfe", b""] * 4, [{"a": 1}] * 8])
    @pytest.mark.parametrize("name", ["note", "speciesId"])
    def test_a_column_that_no_csv_can_hold_is_refused(self, cells: list[object], name: str, tmp_path: Path) -> None:
        """Lists, structures and bytes of a Parquet file, where they are needed or only passed on."""
        columns: dict[str, list[object]] = {
            name: [row.split(",")[i] for row in ROWS] for i, name in enumerate(HEADER.split(","))
        }
        pyarrow.parquet.write_table(pa.table({**columns, name: cells}), tmp_path / "pa.parquet")
        with pytest.raises(DataError, match=r"which no .*CSV can|not numbers or text"):
            build_dataset(write_recipe(tmp_path, "pa.parquet"), tmp_path / "out")

    def test_two_columns_of_one_name_are_told_for_both_tables(self, tmp_path: Path) -> None:
        """They are only passed on, but nobody could tell them apart in what is published."""
        (tmp_path / "pa.csv").write_text("\n".join([HEADER + ",note,note", *(row + ",a,b" for row in ROWS)]) + "\n")
        (tmp_path / "po.csv").write_text("lon,lat,speciesId,by,by\n9.0,45.0,1,a,b\n")
        with pytest.raises(DataError) as caught:
            build_dataset(write_recipe(tmp_path, more='[inputs.po]\npath = "po.csv"\n'), tmp_path / "out")
        assert [line.split("'")[1] for line in caught.value.problems] == ["note", "by"]

    def test_links_are_read_and_stay_links(self, tmp_path: Path) -> None:
        """An input may be a link; one that leads in a circle is told; a dataset's link is not written through."""
        (tmp_path / "real.csv").write_text(SOUND)
        (tmp_path / "pa.csv").symlink_to("real.csv")
        build_dataset(write_recipe(tmp_path), tmp_path / "out")
        assert (tmp_path / "pa.csv").is_symlink()
        (tmp_path / "loop.csv").symlink_to("loop.csv")
        with pytest.raises(DataError, match=r"loop\.csv"):
            build_dataset(write_recipe(tmp_path, "loop.csv"), tmp_path / "out2")

    @pytest.mark.parametrize("device", ["/dev/null", "/dev/zero", "."])
    def test_what_is_no_file_is_no_table(self, device: str, tmp_path: Path) -> None:
        """A device or a folder ends in a line, at once."""
        code, lines = run("quadrats", device if device[0] == "/" else tmp_path, "--out", tmp_path / "q.csv")
        assert (code, len(lines)) == (1, 1)


class TestRecipes:
    """Recipes that were made to fill the memory or to lead elsewhere."""

    def test_an_input_outside_the_folder_is_allowed_and_shown(self, tmp_path: Path) -> None:
        """The warning stands in the manifest and on the screen."""
        (tmp_path / "pa.csv").write_text(SOUND)
        (tmp_path / "inner").mkdir()
        recipe = write_recipe(tmp_path / "inner", "../pa.csv")
        report = build_dataset(recipe, tmp_path / "out")
        warning = "The input pa reads ../pa.csv, outside the recipe's folder."
        assert warning in report.manifest["warnings"]
        done = CliRunner().invoke(cli, ["build", str(recipe), "--out", str(tmp_path / "out"), "--force"])
        assert done.exit_code == 0
        assert f"Warning: {warning}" in done.stderr.splitlines()

    def test_many_inputs_outside_the_folder_are_one_line(self, tmp_path: Path) -> None:
        """Eight files of one table are one warning, not eight."""
        recipe = write_recipe(tmp_path, "../pa.csv")
        recipe.write_text(recipe.read_text().replace('"../pa.csv"', '["../a.csv", "../b.csv", "../c.csv"]'))
        outside = paths_outside(read_recipe(recipe))
        assert outside == ["The input pa reads ../a.csv and 2 more, outside the recipe's folder."]

    @pytest.mark.parametrize("path", ["pa.csv", "./pa.csv", "x/../pa.csv"])
    def test_an_input_inside_the_folder_needs_no_warning(self, path: str, tmp_path: Path) -> None:
        """However it is written."""
        (tmp_path / "x").mkdir()
        (tmp_path / "pa.csv").write_text(SOUND)
        warnings = build_dataset(write_recipe(tmp_path, path), tmp_path / "out").manifest["warnings"]
        assert not [warning for warning in warnings if "outside" in warning]

    def test_a_rebuild_reads_its_inputs_where_it_was_told(self, tmp_path: Path) -> None:
        """A recipe that names `../pa.csv` finds the file in the folder that was given, and none beside it."""
        (tmp_path / "pa.csv").write_text(SOUND)
        (tmp_path / "inner").mkdir()
        build_dataset(write_recipe(tmp_path / "inner", "../pa.csv"), tmp_path / "out")
        (tmp_path / "elsewhere" / "inputs").mkdir(parents=True)
        (tmp_path / "elsewhere" / "pa.csv").write_text("not to be read")
        shutil.copyfile(tmp_path / "pa.csv", tmp_path / "elsewhere" / "inputs" / "pa.csv")
        assert rebuild_dataset(tmp_path / "out", tmp_path / "elsewhere" / "inputs").differences == ()

    @pytest.mark.parametrize("text", ["x = " + "[" * 50_000, "x = " + "{a=" * 50_000, "[" + "a." * 50_000 + "b]\n"])
    def test_a_deeply_nested_recipe_is_refused(self, text: str, tmp_path: Path) -> None:
        """In a line, whatever the reader's recursion does."""
        (tmp_path / "recipe.toml").write_text(text)
        with pytest.raises(RecipeError) as caught:
            read_recipe(tmp_path / "recipe.toml")
        assert all(len(line) < hostile.LONGEST_LINE for line in caught.value.problems)

    @pytest.mark.parametrize("line", ["# xxxxxxxx", "k{i} = 1"])
    def test_a_recipe_of_50_mb_is_refused(self, line: str, tmp_path: Path) -> None:
        """Nobody wrote it by hand; it is not even read."""
        with (tmp_path / "recipe.toml").open("w") as file:
            for start in range(0, 5_000_000, 100_000):
                file.writelines(line.format(i=i) + "\n" for i in range(start, start + 100_000))
        with pytest.raises(RecipeError, match="larger than a recipe"):
            read_recipe(tmp_path / "recipe.toml")


class TestDatasets:
    """Dataset folders of somebody who wants our files read or written."""

    @staticmethod
    def hostile(source: Path, folder: Path, name: str) -> Path:
        """Copy a dataset and let its manifest call a file, and a role, by another name."""
        shutil.copytree(source, folder)
        manifest = json.loads((folder / "manifest.json").read_text("utf-8"))
        for listed in ("public/PA_test_blind.csv", "private/solution.csv"):
            manifest["outputs"][name + listed.replace("/", "_")] = manifest["outputs"].pop(listed)
        (folder / "manifest.json").write_text(json.dumps(manifest), "utf-8")
        return folder

    @pytest.mark.parametrize("name", ["../../etc/passwd", "/etc/passwd", "public/../../x"])
    def test_a_manifest_that_leads_outside_is_refused(self, name: str, small: BuildReport, tmp_path: Path) -> None:
        """By every command that reads a manifest; nothing outside is opened for writing, and nothing is left."""
        data = self.hostile(small.folder, tmp_path / "a" / "b" / "data", name)
        for lines in (verify_dataset(data), [str(audit_dataset(data).checks[-1].detail)]):
            assert any("passwd" in line or "x" in line for line in lines)
        assert not audit_dataset(data).passed
        for attempt in (
            lambda: describe_changes(data, small.folder),
            lambda: rebuild_dataset(data, tmp_path),
            lambda: export_kaggle(data, tmp_path / "a" / "kaggle"),
            lambda: export_codabench(data, tmp_path / "a" / "bundle.zip"),
            lambda: export_croissant(data, tmp_path / "a" / "croissant.json"),
            lambda: plant_fault("label-column", data, tmp_path / "a" / "planted"),
            lambda: plant_fault("empty-survey", data, tmp_path / "a" / "planted"),
        ):
            with pytest.raises(ManifestError, match="outside the dataset's folder"):
                attempt()
        assert [path.name for path in tmp_path.iterdir()] == ["a"]
        assert [path.name for path in (tmp_path / "a").iterdir()] == ["b"]

    def test_a_link_in_a_dataset_is_not_written_through(self, small: BuildReport, tmp_path: Path) -> None:
        """A planted fault changes the copy, not what a link of the dataset leads to."""
        data = tmp_path / "data"
        shutil.copytree(small.folder, data)
        blind = data / "public" / "PA_test_blind.csv"
        shutil.move(blind, tmp_path / "precious.csv")
        blind.symlink_to(tmp_path / "precious.csv")
        before = (tmp_path / "precious.csv").read_bytes()
        plant_fault("label-column", data, tmp_path / "planted")
        assert (tmp_path / "precious.csv").read_bytes() == before
        assert not (tmp_path / "planted" / "public" / "PA_test_blind.csv").is_symlink()

    @pytest.mark.parametrize("text", ["[" * 100_000, "{}", "null", '"x"', "\ufeff{}", '{"format": 1}', "NaN"])
    def test_a_manifest_that_is_none_is_told(self, text: str, tmp_path: Path) -> None:
        """Damaged, empty, of another kind: a line from each command."""
        (tmp_path / "public").mkdir()
        (tmp_path / "manifest.json").write_text(text, "utf-8")
        for attempt in (
            lambda: verify_dataset(tmp_path),
            lambda: describe_changes(tmp_path, tmp_path),
            lambda: export_kaggle(tmp_path, tmp_path / "kaggle"),
            lambda: export_croissant(tmp_path, tmp_path / "croissant.json"),
            lambda: plant_fault("label-column", tmp_path, tmp_path / "planted"),
            lambda: audit_dataset(tmp_path),
        ):
            may_be(attempt)
        assert sorted(path.name for path in tmp_path.iterdir()) == ["manifest.json", "public"]


class TestSubmissions:
    """Files that a participant sends: no fault of theirs ends in a traceback or fills the memory."""

    @pytest.mark.parametrize(
        ("content", "said"),
        [
            (b"\0" * 5_000_000, "NUL"),
            (b"\xff" * 5_000_000, "not UTF-8"),
            (bytes(range(256)) * 10_000, "not UTF-8"),
            (b'"' * 5_000_000, "the header must be"),
            (b"surveyId,predictions\n1," + b"," * 5_000_000, "cells where the header has 2"),
            (b"surveyId,predictions\n1," + b"1 " * 5_000_000, "2 of 3 ids are missing"),
            (b"surveyId,predictions\n" + b"1,1 2\n" * 300_000, "twice|repeated|more than once"),
            (b"surveyId,predictions\n1,=1+1\n2,1\n3,2\n", "=1"),
            (b"PK\x03\x04" + b"x" * 1_000, "header"),
            (b"", "empty"),
        ],
    )
    def test_each_is_checked_and_told(self, content: bytes, said: str, tmp_path: Path) -> None:
        """By `check-submission` and by `score` alike."""
        (tmp_path / "truth.csv").write_text("surveyId,predictions\n1,1 2\n2,1\n3,2\n")
        (tmp_path / "sent.csv").write_bytes(content)
        for attempt in (check_submission, score):
            with pytest.raises(SubmissionError) as caught:
                attempt(tmp_path / "truth.csv", tmp_path / "sent.csv", "f1_samples")
            assert re.search(said, str(caught.value))
            assert all(len(line) < hostile.LONGEST_LINE for line in caught.value.problems)
            assert len(caught.value.problems) < 50

    def test_an_endless_one_is_refused(self, tmp_path: Path) -> None:
        """A line longer than a row can be is not read further: no single cell fills the memory."""
        (tmp_path / "truth.csv").write_text("surveyId,predictions\n1,1 2\n2,1\n")
        arguments = ("--metric", "f1_samples", "--solution", tmp_path / "truth.csv", "--submission", "/dev/zero")
        code, lines = run("check-submission", *arguments, memory_mb=120)
        assert (code, len(lines)) == (1, 1)
        assert "line 1: more than 16,777,216 bytes" in lines[0]

    def test_one_of_half_a_gibibyte_is_refused(self, tmp_path: Path) -> None:
        """What is larger is no submission, though each of its lines could be a row."""
        (tmp_path / "truth.csv").write_text("surveyId,predictions\n1,1 2\n2,1\n")
        with (tmp_path / "sent.csv").open("wb") as file:
            for _ in range(60):
                file.write(b"1," + b"7 " * 4_500_000 + b"\n")
        arguments = ("--solution", tmp_path / "truth.csv", "--submission", tmp_path / "sent.csv")
        code, lines = run("check-submission", "--metric", "f1_samples", *arguments, memory_mb=700)
        assert (code, len(lines)) == (1, 1)
        assert "more than 536,870,912 bytes" in lines[0]
        (tmp_path / "sent.csv").unlink()

    def test_millions_of_rows_stay_within_the_memory(self, tmp_path: Path) -> None:
        """Reading stops at two million rows; three million are 18 MB."""
        (tmp_path / "truth.csv").write_text("surveyId,predictions\n1,1 2\n2,1\n")
        (tmp_path / "sent.csv").write_bytes(b"surveyId,predictions\n" + b"1,1,2\n" * 3_000_000)
        arguments = (
            "--metric",
            "f1_samples",
            "--solution",
            tmp_path / "truth.csv",
            "--submission",
            tmp_path / "sent.csv",
        )
        code, lines = run("score", *arguments, memory_mb=1_000)
        assert code == 1
        assert any("more than 2,000,000 rows" in line for line in lines)
