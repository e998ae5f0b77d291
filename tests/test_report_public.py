"""The public page: nothing on it that only the organizers may know, also not packed in a picture or in the map."""

from __future__ import annotations

import csv
import shutil
from pathlib import Path

import pytest

from spatialsplit.errors import DataError
from spatialsplit.manifest import verify_dataset
from spatialsplit.report import write_report
from tests.recipes import TEST_HALF, write_csv
from tests.report_pages import PARTS, PUBLIC_SHARE, Page, everything_in, map_data, small

SECRET = "c0ffee0123456789" * 2


@pytest.fixture(scope="module")
def sealed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build a dataset under a sealed seed, with Public and Private; read it, do not write into it."""
    folder = tmp_path_factory.mktemp("sealed") / "d"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("THE_SEED", SECRET)
        return small(folder, more=PUBLIC_SHARE, seed_env="THE_SEED")


def with_canaries(dataset: Path, copy: Path) -> Path:
    """Copy a dataset with a canary in every cell of text of every private file, dropped tables and Usage included."""
    shutil.copytree(dataset, copy)
    places = {"lon", "lat", "distance_m"}
    for path in sorted((copy / "private").glob("*.csv")):
        with path.open(encoding="utf-8", newline="") as file:
            header, *rows = list(csv.reader(file))
        for row in rows:
            row[:] = [
                cell if name in places else f"canary-{name}-{cell}" for name, cell in zip(header, row, strict=True)
            ]
        with path.open("w", encoding="utf-8", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows([header, *rows])
    (copy / "private" / "dropped_po.csv").write_text("reason,file,line,note\ncanary-reason,po.csv,2,canary-note\n")
    (copy / "run.json").write_text('{"python": "canary-python", "platform": "canary-host"}')
    (copy / "private" / "canary-name.txt").write_text("canary-text")
    return copy


def test_no_canary_of_the_private_data_is_on_the_public_page(sealed: Path, tmp_path: Path) -> None:
    """Neither in text nor in attributes, nor in the map's data, nor packed as base64."""
    copy = with_canaries(sealed, tmp_path / "d")
    text = write_report(copy, tmp_path / "page.html", public=True).read_text("utf-8")
    assert "canary" not in everything_in(text).casefold()


def test_the_organizers_page_shows_the_canaries(sealed: Path, tmp_path: Path) -> None:
    """Or the search above would prove nothing."""
    copy = with_canaries(sealed, tmp_path / "d")
    text = write_report(copy, tmp_path / "page.html").read_text("utf-8")
    found = everything_in(text)
    assert "canary-region-low" in found
    assert "canary-nearest_surveyId-" in found
    assert "canary-speciesId-" in found
    assert "canary-python" in found


@pytest.mark.parametrize("public", [True, False])
def test_a_sealed_seed_is_on_no_page(public: bool, sealed: Path, tmp_path: Path) -> None:
    """Only the commitment; also on the page that the build itself wrote, with the seed at hand."""
    text = write_report(sealed, tmp_path / "page.html", public=public).read_text("utf-8")
    for each in (text, (sealed / "report.html").read_text("utf-8")):
        found = everything_in(each)
        assert SECRET not in found
        assert SECRET[:16] not in found
        assert map_data(each)["seed"] == ""
        assert "Committed to by its SHA-256" in Page(each).said("recipe")


def test_no_species_count_of_the_test_and_no_removed_record_is_public(sealed: Path, tmp_path: Path) -> None:
    """What would tell a participant what the test holds: its species, its environment, where records were removed."""
    text = write_report(sealed, tmp_path / "page.html", public=True).read_text("utf-8")
    page = Page(text)
    assert map_data(text)["removed"] == []
    assert "The species of the test are known to the organizers only" in page.said("species")
    assert "known to the organizers only" in page.said("dropped")
    assert "elevation test" not in page.said("environment")
    assert "elevation train" in page.said("environment")
    assert "Warnings of the build" not in page.text
    assert "private/" not in page.said("recipe")
    assert "pa.csv" not in text


def test_which_surveys_are_public_or_private_is_on_no_page(sealed: Path, tmp_path: Path) -> None:
    """Usage is what a leaderboard hides; the organizers' page has no need of it either."""
    for public in (True, False):
        text = write_report(sealed, tmp_path / "page.html", public=public).read_text("utf-8")
        assert "usage" not in text.casefold().replace("usage_shares_no_quadrat", "").replace("usage_<wbr>", "")


def test_the_public_folder_alone_gives_the_public_page(sealed: Path, tmp_path: Path) -> None:
    """A stranger has no manifest: the page says what is unknown; nothing is written among the published files."""
    shutil.copytree(sealed / "public", tmp_path / "public")
    before = sorted(path.name for path in (tmp_path / "public").iterdir())
    written = write_report(tmp_path / "public")
    page = Page(written.read_text("utf-8"))
    assert written == tmp_path / "public_report.html"
    assert sorted(path.name for path in (tmp_path / "public").iterdir()) == before
    assert "Split report · public" in page.text
    assert "There is no manifest.json" in page.said("numbers")
    assert [part for part in PARTS if part not in page.sections] == []
    assert page.said("map").startswith("Map Whole quadrats were drawn")
    assert len(map_data(written.read_text("utf-8"))["column"]) == 24


def test_the_public_page_goes_beside_the_dataset(sealed: Path, tmp_path: Path) -> None:
    """It is no file of the dataset, and `verify` stays content."""
    shutil.copytree(sealed, tmp_path / "d")
    for written in (write_report(tmp_path / "d", public=True), write_report(tmp_path / "d" / "public")):
        assert written == tmp_path / "d_report.html"
        assert verify_dataset(tmp_path / "d") == []


def test_without_public_files_there_is_no_public_page(sealed: Path, tmp_path: Path) -> None:
    """A dataset whose public files were moved away still has the private ones: they must not make the page."""
    shutil.copytree(sealed, tmp_path / "d", ignore=shutil.ignore_patterns("public"))
    with pytest.raises(DataError, match="There is no public/ folder in"):
        write_report(tmp_path / "d", public=True)
    assert not (tmp_path / "d_report.html").exists()


def test_no_folder_of_the_organizers_machine_is_public(tmp_path: Path) -> None:
    """Of a file that the recipe names by an absolute path the last part stands on the page and in the manifest."""
    fixed = write_csv(tmp_path / "fixed.csv", "quadratId,subset", ["CRS3035RES5000mN2440000E3965000,test"])
    folder = small(tmp_path / "d", more=f'[draw]\nquadrats = "{fixed}"\n', holdouts=TEST_HALF)
    page = write_report(folder, tmp_path / "page.html", public=True).read_text("utf-8")
    assert "fixed.csv" in page
    for text in (page, (folder / "manifest.json").read_text("utf-8")):
        assert str(tmp_path) not in text


def test_checks_that_need_private_files_say_what_the_build_found(sealed: Path, tmp_path: Path) -> None:
    """The manifest holds the outcome; here they could not run."""
    said = Page(write_report(sealed, tmp_path / "page.html", public=True).read_text("utf-8")).said("audit")
    assert "? Not run at the build: passed Every test species can be learnt" in said
