"""The report of a split: what stands on the page, whatever the dataset is and whatever of it is missing."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from spatialsplit.audit import audit_dataset
from spatialsplit.build import BuildOptions, BuildReport, build_dataset
from spatialsplit.cli import cli
from spatialsplit.errors import DataError, OutputError
from spatialsplit.manifest import verify_dataset
from spatialsplit.planting import plant_fault
from spatialsplit.report import reading, write_report
from tests.recipes import write_csv, write_recipe
from tests.report_pages import HOLDOUTS, HOSTILE, PARTS, Page, in_layout, map_data, pa_rows, small


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build a small dataset with environment; read it, do not write into it."""
    return small(tmp_path_factory.mktemp("report") / "small")


@pytest.fixture(scope="module")
def page(built: BuildReport) -> Page:
    """Read the page that the build of the virtual flora wrote."""
    return Page((built.folder / "report.html").read_text("utf-8"))


def page_of(folder: Path, out: Path, *, public: bool = False) -> Page:
    """Write the report of a dataset and read it."""
    return Page(write_report(folder, out / "page.html", public=public).read_text("utf-8"))


class TestAtTheEndOfABuild:
    """`build` writes report.html into the dataset."""

    def test_the_report_stands_in_no_list_and_no_check_minds_it(self, built: BuildReport) -> None:
        """It differs from build to build, as run.json does: no checksum, no manifest entry, no complaint."""
        assert (built.folder / "report.html").is_file()
        assert "report.html" not in (built.folder / "SHA256SUMS").read_text()
        assert "report.html" not in (built.folder / "manifest.json").read_text()
        assert verify_dataset(built.folder) == []
        assert audit_dataset(built.folder).failed == ()
        assert built.problems == []

    def test_a_report_that_cannot_be_made_loses_no_dataset(
        self, flora: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A picture is no reason to throw hours of work away; the person is told."""

        def fail(*_: object) -> None:
            raise RuntimeError("no ink")

        monkeypatch.setattr("spatialsplit.build.write_report_of", fail)
        report = build_dataset(flora / "recipe.toml", tmp_path / "d")
        assert verify_dataset(report.folder) == []
        assert not (report.folder / "report.html").exists()
        assert report.problems == ["The dataset is whole, but report.html could not be made (RuntimeError: no ink)."]

    def test_a_stop_while_it_is_made_is_told_as_one(
        self, flora: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Control-C means stop: nothing is published, and the person is told how to build without the report."""

        def stop(*_: object) -> None:
            raise KeyboardInterrupt

        monkeypatch.setattr("spatialsplit.build.write_report_of", stop)
        done = CliRunner().invoke(cli, ["build", str(flora / "recipe.toml"), "--out", str(tmp_path / "d")])
        assert done.exit_code == 130
        assert done.stderr.startswith("Stopped while reporting. Nothing was published")
        assert "--no-report" in done.stderr
        assert list(tmp_path.iterdir()) == []

    def test_a_build_without_it_makes_the_same_dataset(self, built: BuildReport, flora: Path, tmp_path: Path) -> None:
        """`--no-report` leaves the page out, does not send anybody to it, and changes nothing else."""
        done = CliRunner().invoke(
            cli, ["build", str(flora / "recipe.toml"), "--out", str(tmp_path / "d"), "--no-report"]
        )
        assert done.exit_code == 0, done.output
        assert not (tmp_path / "d" / "report.html").exists()
        assert "report" not in done.stdout
        assert (tmp_path / "d" / "SHA256SUMS").read_bytes() == (built.folder / "SHA256SUMS").read_bytes()

    def test_it_is_made_whatever_window_pictures_are_shown_in(self, dataset: Path, tmp_path: Path) -> None:
        """A notebook names its own backend of matplotlib to every program it starts, installed there or not."""
        command = [sys.executable, "-m", "spatialsplit", "report", str(dataset), "--out", str(tmp_path / "r.html")]
        done = subprocess.run(
            command, env={**os.environ, "MPLBACKEND": "module://nobody"}, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr

    def test_each_part_of_a_build_tells_its_time_and_its_counts(self, flora: Path, tmp_path: Path) -> None:
        """So that a person who waits sees what is going on."""
        told: list[tuple[str, float, str]] = []
        options = BuildOptions(on_done=lambda *part: told.append(part))
        report = build_dataset(flora / "recipe.toml", tmp_path / "d", options)
        assert [name for name, _, _ in told] == ["read", "draw", "filter", "write", "audit", "report"]
        counted = {name: words for name, _, words in told}
        assert "600 surveys" in counted["read"]
        assert re.fullmatch(r"[\d,]+ of 5,000 presence-only records kept", counted["filter"])
        assert counted["audit"] == "13 of 13 checks passed"
        assert {name: seconds for name, seconds, _ in told} == report.seconds


class TestWhatStandsOnThePage:
    """Every part of the contract, with the numbers of the manifest and of the audit."""

    def test_every_part_is_there(self, page: Page) -> None:
        """Map, distances, dropped, species, time of year, environment, audit, recipe, how to verify and cite."""
        assert [part for part in PARTS if part not in page.sections] == []

    def test_the_page_may_load_nothing(self, page: Page) -> None:
        """Its policy forbids everything but its own style, its one script by hash, and pictures within the page."""
        policy = next(
            attributes["content"]
            for tag, attributes in page.tags
            if tag == "meta" and attributes.get("http-equiv") == "Content-Security-Policy"
        )
        assert policy is not None
        assert policy.startswith("default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-")
        assert not [
            (tag, attributes)
            for tag, attributes in page.tags
            if tag in ("link", "iframe", "img", "object", "embed", "base")
            or any(name in ("src", "srcset", "action", "data") for name in attributes)
            or (tag == "a" and not str(attributes["href"]).startswith("#"))
        ]

    def test_every_check_stands_there_in_words(self, page: Page, built: BuildReport) -> None:
        """Name, outcome as a word, value and limit."""
        said = page.said("audit")
        for check in built.audit.checks:
            assert f"{check.name} {check.value} 0 {check.detail}" in said
        assert said.count("✓ Passed") == 13

    def test_every_step_stands_there_with_what_it_dropped(self, page: Page, built: BuildReport) -> None:
        """The counts of the manifest: in, kept, dropped, and why."""
        said = page.said("dropped")
        for step in built.manifest["steps"]:
            assert f"{step['in']:,} {step['kept']:,} {step['in'] - step['kept']:,}" in said
        near = built.manifest["steps"][4]["dropped"]["near_test"]
        assert f"{near:,} within the radius of a test survey" in said

    def test_recipe_seed_and_versions_stand_there(self, page: Page, built: BuildReport) -> None:
        """Whoever has the page has the recipe."""
        said = page.said("recipe")
        assert f"Seed (open) {built.manifest['seed']['value']}" in said
        assert "quadrats.size_m = 5000" in said
        assert '[[holdouts]] name = "test" share = 0.05' in said
        assert built.manifest["recipe_sha256"] in said
        assert "numpy" in said

    def test_the_map_knows_every_quadrat(self, built: BuildReport) -> None:
        """Place, subset and counts are those of quadrats.csv."""
        data = map_data((built.folder / "report.html").read_text("utf-8"))
        listed = pd.read_csv(built.folder / "public" / "quadrats.csv")
        pattern = data["labels"]["pattern"]
        labels = [
            pattern.replace("{n}", str(data["south"] + row * 5000)).replace("{e}", str(data["west"] + column * 5000))
            for column, row in zip(data["column"], data["row"], strict=True)
        ]
        assert labels == listed["quadratId"].tolist()
        assert [data["subsets"][number] for number in data["subset"]] == listed["subset"].tolist()
        assert data["surveys"] == listed["n_surveys"].tolist()
        assert len(data["removed"]) / 2 == built.manifest["outputs"]["private/PO_removed.csv"]["rows"]
        assert sum(data["records"]["n"]) == built.manifest["outputs"]["public/PO_train.csv"]["rows"]

    def test_the_months_are_those_of_the_surveys(self, page: Page, built: BuildReport) -> None:
        """Counted from the day of the year, a survey once."""
        train = pd.read_csv(built.folder / "public" / "PA_train.csv").drop_duplicates("surveyId")
        june = int(train["dayOfYear"].between(152, 181).sum())
        assert f"Jun {june:,} " in page.said("year")

    def test_the_environment_is_compared(self, dataset: Path, tmp_path: Path) -> None:
        """Numeric columns by quantiles, the others by shares; the test has its private columns too."""
        said = page_of(dataset, tmp_path).said("environment")
        train = pd.read_csv(dataset / "public" / "PA_train.csv").drop_duplicates("surveyId")["elevation"]
        assert f"elevation train {len(train)} 0 " in said
        assert f"{train.median():,.4g}" in said
        assert re.search(r"elevation test \d+ 0 ", said)
        assert "Shares of the values of region" in said

    def test_pictures_have_words_for_those_who_do_not_see_them(self, page: Page) -> None:
        """Every picture has a label, and a number is in it."""
        labels = [attributes["aria-label"] for _, attributes in page.tags if attributes.get("class") == "picture"]
        assert len(labels) >= 7
        assert all(label and re.search(r"\d|Jun|May", label) for label in labels)


class TestAnyDataset:
    """Whatever was built can be looked at."""

    @pytest.mark.parametrize("layout", [None, "glc2022", "glc2023", "glc2024"])
    def test_every_layout_has_a_page_with_its_numbers(self, layout: str | None, tmp_path: Path) -> None:
        """Subsets, species and quadrats are found under the names of each year."""
        folder = in_layout(tmp_path / "d", layout)
        text = (folder / "report.html").read_text("utf-8")
        page = Page(text)
        assert [part for part in PARTS if part not in page.sections] == []
        assert "What this page could not see" not in page.said("numbers")
        facts = audit_dataset(folder).facts
        for name, count in facts["surveys"].items():
            assert f"{name} {count:,} surveys" in page.said("numbers")
            assert f"{name} {facts['species'][name]:,}" in page.said("species")
        assert len(map_data(text)["column"]) == sum(facts["quadrats"].values())

    def test_a_dataset_without_presence_only_says_so(self, tmp_path: Path) -> None:
        """No empty picture and no zero that means nothing."""
        page = page_of(small(tmp_path / "d", po=False), tmp_path)
        assert "The dataset has no presence-only records" in page.said("dropped")
        assert "presence-only" not in page.said("numbers")

    def test_a_dataset_in_parquet_alone_has_the_same_numbers(self, dataset: Path, tmp_path: Path) -> None:
        """Whoever has only the Parquet files sees the same."""
        other = small(tmp_path / "d", more='[output]\nformats = ["csv", "parquet"]\n')
        for path in other.rglob("*.csv"):
            path.unlink()
        first, second = page_of(dataset, tmp_path), page_of(other, tmp_path)
        for part in ("distance", "dropped", "species", "year", "environment"):
            assert second.said(part) == first.said(part)
        assert second.said("map").split("Click one")[1] == first.said("map").split("Click one")[1]

    def test_species_that_are_text_stand_with_their_names(self, tmp_path: Path) -> None:
        """The number and the name side by side."""
        page = page_of(small(tmp_path / "d", species="Abies alba {}"), tmp_path)
        assert "Abies alba 3" in page.said("species")

    def test_one_is_not_many(self, tmp_path: Path) -> None:
        """A test of one survey in one quadrat, beside which one record was removed."""
        one = '[[holdouts]]\nname = "test"\nshare = 0.04\n'
        page = page_of(small(tmp_path / "d", holdouts=one), tmp_path)
        assert "1 survey " in page.said("numbers")
        assert not re.search(r"\b1 (surveys|quadrats|records)\b", page.said("numbers") + page.said("dropped"))

    def test_survey_tables_without_environment_say_so(self, tmp_path: Path) -> None:
        """The part is there, and says what to do."""
        page = page_of(in_layout(tmp_path / "d", "glc2022"), tmp_path)
        assert "there is no environment to compare" in page.said("environment")

    def test_a_name_that_is_a_script_stays_text(self, tmp_path: Path) -> None:
        """Title, column and species names of anybody's recipe and tables are escaped everywhere."""
        quoted = HOSTILE.replace('"', '""')
        title = json.dumps(HOSTILE)
        folder = small(
            tmp_path / "d",
            species=f'"{quoted.replace("{", "{{").replace("}", "}}")}{{}}"',
            column=f'"{quoted}"',
            more=f"[about]\ntitle = {title}\ndescription = {title}\nlicense = {title}\ncitation = {title}\n",
        )
        text = (folder / "report.html").read_text("utf-8")
        page = Page(text)
        assert "onerror" not in {name for _, attributes in page.tags for name in attributes}
        assert [tag for tag, _ in page.tags].count("script") == 2
        assert page.text.count("{{ 7 * 7 }}") >= 5
        assert HOSTILE in page.sections["species"]
        assert HOSTILE in page.sections["environment"]

    def test_a_seed_with_a_quote_cannot_break_out_of_the_command(self, tmp_path: Path) -> None:
        """A reader pastes the command into a shell: the seed stays one word of it."""
        write_csv(tmp_path / "pa.csv", "patchID,dayOfYear,lon,lat,speciesId,elevation,region", pa_rows())
        recipe = write_recipe(tmp_path, holdouts=HOLDOUTS, top='seed = "it\'s; touch x"')
        page = Page((build_dataset(recipe, tmp_path / "d").folder / "report.html").read_text("utf-8"))
        command = next(line for line in page.sections["verify"].splitlines() if line.startswith("printf"))
        assert shlex.split(command)[:3] == ["printf", "%s", "it's; touch x|test|QUADRAT"]

    def test_a_number_that_no_axis_holds_counts_as_missing(self, tmp_path: Path) -> None:
        """GIS programs write the largest number there is where they have none."""
        rows = [row.replace(",0,high", ",-1.7976931348623157e308,high") for row in pa_rows()]
        write_csv(tmp_path / "pa.csv", "patchID,dayOfYear,lon,lat,speciesId,elevation,region", rows)
        report = build_dataset(write_recipe(tmp_path, holdouts=HOLDOUTS), tmp_path / "d")
        page = Page((report.folder / "report.html").read_text("utf-8"))
        assert report.problems == []
        assert re.search(r"elevation (train|val|test) \d+ 1 ", page.said("environment"))

    def test_a_persons_own_settings_of_matplotlib_change_no_page(self, built: BuildReport, tmp_path: Path) -> None:
        """Neither its looks nor where its pictures are: within the page, and not as files beside it."""
        import matplotlib

        written = write_report(built.folder, tmp_path / "plain.html").read_text("utf-8")
        with matplotlib.rc_context({"svg.image_inline": False, "savefig.bbox": "tight", "axes.titlesize": 40}):
            assert write_report(built.folder, tmp_path / "own.html").read_text("utf-8") == written

    def test_a_failed_check_is_said_in_colour_and_words(self, built: BuildReport, tmp_path: Path) -> None:
        """The page of a faulty dataset leads with the verdict."""
        plant_fault("shared-quadrat", built.folder, tmp_path / "faulty")
        page = page_of(tmp_path / "faulty", tmp_path)
        assert "The audit failed." in page.text
        assert "not each is in one subset" in page.said("map")
        assert "no quadrat is in two subsets" not in page.text
        assert "✕ Failed" in page.said("audit")
        assert {"badge failed", "verdict failed"} <= {str(attributes.get("class")) for _, attributes in page.tags}


class TestMissingFiles:
    """What is not there is said, and the rest is shown."""

    def test_without_private_the_test_species_are_unknown(self, dataset: Path, tmp_path: Path) -> None:
        """A stranger who has public/ and the manifest."""
        shutil.copytree(dataset, tmp_path / "d", ignore=shutil.ignore_patterns("private", "report.html"))
        page = page_of(tmp_path / "d", tmp_path)
        assert "There is no private/ folder" in page.said("numbers")
        assert "✓ Passed" in page.said("audit")
        assert "? Not run" in page.said("audit")

    def test_what_is_not_known_is_not_claimed(self, dataset: Path, tmp_path: Path) -> None:
        """Tables alone, as somebody else published them: no grid, no radius, no count of what was removed."""
        (tmp_path / "theirs").mkdir()
        for name in ("PA_train", "PA_test_blind", "PO_train"):
            shutil.copy(dataset / "public" / f"{name}.csv", tmp_path / "theirs")
        page = page_of(tmp_path / "theirs", tmp_path)
        assert "whether each is in one subset could not be checked" in page.said("map")
        assert "Whether any were removed is not known without a manifest." in page.said("dropped")
        assert "Where they lay is known" not in page.said("dropped")

    @pytest.mark.parametrize(
        ("name", "part", "said"),
        [
            ("public/PO_train.csv", "numbers", "PO_train.csv cannot be read"),
            ("public/quadrats.csv", "numbers", "quadrats.csv cannot be read"),
            ("manifest.json", "recipe", "There is no manifest to say the recipe."),
            ("run.json", "recipe", "Seed (open)"),
        ],
    )
    def test_a_missing_file_is_named(self, name: str, part: str, said: str, dataset: Path, tmp_path: Path) -> None:
        """And every part still stands there."""
        shutil.copytree(dataset, tmp_path / "d")
        (tmp_path / "d" / name).unlink()
        page = page_of(tmp_path / "d", tmp_path)
        assert said in page.said(part)
        assert [each for each in PARTS if each not in page.sections] == []

    @pytest.mark.parametrize("name", ["PO_train", "PA_train", "PA_test_blind", "quadrats", "species"])
    @pytest.mark.parametrize("content", [b"", b"\x00\xff,\n1,2,3\n", b'a,b\n"1,2\n'])
    def test_a_damaged_table_is_no_reason_to_show_nothing(
        self, name: str, content: bytes, dataset: Path, tmp_path: Path
    ) -> None:
        """Empty, binary, or cut off within a cell."""
        shutil.copytree(dataset, tmp_path / "d")
        (tmp_path / "d" / "public" / f"{name}.csv").write_bytes(content)
        page = page_of(tmp_path / "d", tmp_path)
        assert [each for each in PARTS if each not in page.sections] == []

    @pytest.mark.parametrize(
        "value", [None, 5, "<b>", [], [1], {"a": 1}, [{"name": 3, "step": [], "dropped": {"x": "y"}}]]
    )
    def test_a_manifest_of_any_shape_gives_a_page(self, value: object, dataset: Path, tmp_path: Path) -> None:
        """What does not fit counts as not said; whoever damaged it cannot hide the rest."""
        shutil.copytree(dataset, tmp_path / "d")
        manifest = json.loads((dataset / "manifest.json").read_text())
        changed = {key: value for key in manifest if key not in ("format", "outputs")}
        recipe = {key: value for key in manifest["recipe"]}
        draw = {key: value for key in manifest["draw"]}
        for place, parts in enumerate(
            (changed, {"recipe": recipe, "draw": draw, "seed": {"kind": value, "value": value}})
        ):
            (tmp_path / "d" / "manifest.json").write_text(json.dumps({**manifest, **parts}))
            page = page_of(tmp_path / "d", tmp_path / str(place))
            assert [each for each in PARTS if each not in page.sections] == []

    @pytest.mark.parametrize("value", [None, [], {}])
    def test_an_entry_of_any_shape_within_the_manifest_gives_a_page(
        self, value: object, dataset: Path, tmp_path: Path
    ) -> None:
        """Also within the lists of steps and checks."""
        shutil.copytree(dataset, tmp_path / "d")
        manifest = json.loads((dataset / "manifest.json").read_text())
        manifest["steps"][4]["dropped"]["near_test"] = value
        for check, key in zip(manifest["audit"], ("name", "passed") * 7, strict=False):
            check[key] = value
        (tmp_path / "d" / "manifest.json").write_text(json.dumps(manifest))
        page = page_of(tmp_path / "d", tmp_path, public=True)
        assert [each for each in PARTS if each not in page.sections] == []

    def test_what_is_no_text_is_no_reason_to_show_nothing(self, dataset: Path, tmp_path: Path) -> None:
        """Half a character in the manifest's JSON, a file whose name is no UTF-8."""
        shutil.copytree(dataset, tmp_path / "d")
        said = (dataset / "manifest.json").read_text().replace('"title": null', '"title": "half \\ud800"')
        assert "\\ud800" in said
        (tmp_path / "d" / "manifest.json").write_text(said)
        with contextlib.suppress(OSError):  # macOS and Windows have no such names
            (tmp_path / "d" / "public" / os.fsdecode(b"caf\xe9.csv")).write_text("x")
        assert "half ?" in page_of(tmp_path / "d", tmp_path).text

    def test_a_folder_without_a_dataset_is_refused_in_one_line(self, tmp_path: Path) -> None:
        """Nothing to audit is nothing to show."""
        with pytest.raises(DataError, match="There is no dataset in"):
            write_report(tmp_path)


class TestSize:
    """Bounded time, memory and bytes."""

    def test_1600_quadrats_with_100_000_surveys_stay_below_3_mb(self, tmp_path: Path) -> None:
        """The contract's size; test surveys 10,000, species 5,000."""
        folder = tmp_path / "public"
        folder.mkdir()
        rng = np.random.default_rng(1)
        n = 100_000
        lon, lat = 3 + rng.random(n) * 2.4, 45 + rng.random(n) * 1.7
        table = pd.DataFrame({"surveyId": range(n), "dayOfYear": rng.integers(1, 366, n), "lon": lon, "lat": lat})
        table = table.round(6).assign(speciesId=rng.integers(0, 5000, n), elevation=rng.random(n))
        table[: n - 10_000].to_csv(folder / "PA_train.csv", index=False)
        table[n - 10_000 :].drop(columns="speciesId").to_csv(folder / "PA_test_blind.csv", index=False)
        labels = [
            f"CRS3035RES5000mN{2_400_000 + 5000 * r}E{3_800_000 + 5000 * c}" for r in range(40) for c in range(40)
        ]
        counts = {"n_surveys": 62, "n_empty": 0, "subset": np.where(np.arange(1600) % 40, "train", "test")}
        pd.DataFrame({"quadratId": labels, **counts}).to_csv(folder / "quadrats.csv", index=False)
        text = write_report(folder).read_text("utf-8")
        assert len(text.encode()) < 3e6
        assert len(map_data(text)["column"]) == 1600

    def test_of_many_records_a_sample_is_shown_and_the_page_says_so(
        self, built: BuildReport, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Pieces from all over the table; estimates are called so."""
        monkeypatch.setattr(reading, "READ_WHOLE_BYTES", 50_000)
        monkeypatch.setattr(reading, "PIECE_BYTES", 4_000)
        monkeypatch.setattr(reading, "N_PIECES", 12)
        page = page_of(built.folder, tmp_path)
        total = built.manifest["outputs"]["public/PO_train.csv"]["rows"]
        found = re.search(r"from a sample of ([\d,]+) of ([\d,]+) records", page.said("map"))
        assert found is not None
        assert found[2] == f"{total:,}"
        assert 100 < int(found[1].replace(",", "")) < total / 2
        assert "from a sample" in page.said("year")

    def test_the_sample_holds_whole_records_from_all_over(
        self, built: BuildReport, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """No cell is cut, and the last rows are as likely as the first."""
        from spatialsplit.audit.tables import open_table

        table = open_table(built.folder / "public" / "PO_train.csv").naming(["glcID"])
        monkeypatch.setattr(reading, "READ_WHOLE_BYTES", 50_000)
        monkeypatch.setattr(reading, "PIECE_BYTES", 4_000)
        monkeypatch.setattr(reading, "N_PIECES", 12)
        sample = reading.sample_records(table, ("glcID", "lon", "lat"))
        every = pd.read_csv(built.folder / "public" / "PO_train.csv")
        together = sample.records.astype({"glcID": "int64"}).merge(every, on="glcID", suffixes=("", "_written"))
        assert not sample.whole
        assert len(together) == len(sample.records)
        assert (together["lon"] == together["lon_written"]).all()
        places = every.index[every["glcID"].isin(sample.records["glcID"].astype("int64"))]
        assert places.min() < len(every) / 20
        assert places.max() > len(every) * 19 / 20


class TestTheCommand:
    """`spatialsplit report DIR`."""

    def test_the_page_goes_into_the_dataset_unless_said(self, dataset: Path, tmp_path: Path) -> None:
        """And its path is the only thing that is printed."""
        shutil.copytree(dataset, tmp_path / "d", ignore=shutil.ignore_patterns("report.html"))
        done = CliRunner().invoke(cli, ["report", str(tmp_path / "d")])
        assert (done.exit_code, done.output) == (0, f"{tmp_path / 'd' / 'report.html'}\n")
        assert "<!doctype html>" in (tmp_path / "d" / "report.html").read_text()
        assert verify_dataset(tmp_path / "d") == []

    def test_out_names_another_place(self, dataset: Path, tmp_path: Path) -> None:
        """A folder that is not there is made."""
        done = CliRunner().invoke(cli, ["report", str(dataset), "--out", str(tmp_path / "new" / "page.html")])
        assert done.exit_code == 0
        assert (tmp_path / "new" / "page.html").is_file()

    @pytest.mark.parametrize("name", ["manifest.json", "public/PA_train.csv"])
    def test_the_page_takes_no_file_of_the_dataset(self, name: str, dataset: Path, tmp_path: Path) -> None:
        """A slip of the hand would lose what cannot be made again."""
        copy = shutil.copytree(dataset, tmp_path / "copy")
        with pytest.raises(OutputError, match=r"is a file of the dataset: it would be lost"):
            write_report(copy, copy / name)
        assert (copy / name).read_bytes() == (dataset / name).read_bytes()

    @pytest.mark.parametrize("out", ["", ".", "/"])
    def test_a_folder_is_no_page(self, out: str, dataset: Path) -> None:
        """Said in one line, also of nothing, which is the folder one is in."""
        done = CliRunner().invoke(cli, ["report", str(dataset), "--out", out])
        assert (done.exit_code, type(done.exception)) == (1, OutputError)
        assert str(done.exception).startswith(f"{out or '.'} is a folder. An output is a file.")
