"""Darwin Core archives of events, packed or unpacked: visits with what they found, and visits that found nothing."""

from __future__ import annotations

import csv
import hashlib
import json
import zipfile
from pathlib import Path

import pytest

from spatialsplit.build import build_dataset
from spatialsplit.errors import DataError
from spatialsplit.steps import write_surveys
from spatialsplit.surveys import SurveyRules
from spatialsplit.tables import Dialect, TableInput, read_table
from tests.test_archives import meta_table, put_zip, rows_of, said

TERMS = ["parentEventID", "eventDate", "decimalLatitude", "decimalLongitude"]
EVENTS = (
    "id\tparent\tdate\tlat\tlon\n"
    "plot\t\t\t45\t5\n"
    "v1\tplot\t2021-02-01\t\t\n"
    "v2\tplot\t2021-03-01\t\t\n"
    "v3\t\t2021-03-01\t46\t6\n"
    "v4\tv3\t\t46.5\t\n"
    "v5\t\t2021-04-01\t47\t7\n"
)
RECORDS = "id\tname\tstatus\nv1\tAbies\tpresent\nv1\tFagus\tpresent\nv3\tUlmus\tpresent\nv4\tAbies\tpresent\n"
CORE = meta_table("core", "Event", "event.txt", TERMS)
EXTENSION = meta_table("extension", "Occurrence", "occurrence.txt", ["scientificName", "occurrenceStatus"])
WITH_EMPTY = Dialect(with_empty_events=True)


def put_events(path: Path, events: str = EVENTS, records: str = RECORDS) -> Path:
    return put_zip(path, {"event.txt": events, "occurrence.txt": records}, CORE, EXTENSION)


def read_csv_rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def unpack(archive: Path, folder: Path) -> Path:
    with zipfile.ZipFile(archive) as packed:
        packed.extractall(folder)
    return folder


class TestParents:
    """What an event does not say, its parent says for it."""

    def test_a_visit_lies_where_its_plot_lies(self, tmp_path: Path) -> None:
        """The place, but not the day that it has itself."""
        rows = rows_of(put_events(tmp_path / "a.zip"))
        first = {name: rows[0][name] for name in ("eventID", "eventDate", "decimalLatitude", "decimalLongitude")}
        assert tuple(first.values()) == ("v1", "2021-02-01", "45", "5")

    def test_half_a_place_is_not_filled_up(self, tmp_path: Path) -> None:
        """A latitude of its own and its parent's longitude would be a place where nobody was."""
        rows = rows_of(put_events(tmp_path / "a.zip"))
        assert rows[3]["eventID"] == "v4"
        assert (rows[3]["decimalLatitude"], rows[3]["decimalLongitude"]) == ("46.5", "")
        assert rows[3]["eventDate"] == "2021-03-01"

    def test_grandparents_count_and_circles_end(self, tmp_path: Path) -> None:
        events = "id\tparent\tdate\tlat\tlon\na\t\t\t45\t5\nb\ta\t\t\t\nc\tb\t\t\t\nx\ty\t\t\t\ny\tx\t\t\t\n"
        rows = rows_of(put_events(tmp_path / "a.zip", events, "id\tname\tstatus\nc\tAbies\t\nx\tFagus\t\n"))
        assert [row["decimalLatitude"] for row in rows] == ["45", ""]


class TestEmptyEvents:
    """A visit without an occurrence found nothing, where absences are asked for."""

    def test_they_follow_the_occurrences(self, tmp_path: Path) -> None:
        """A plot that only frames its visits is no visit."""
        rows = rows_of(put_events(tmp_path / "a.zip"), WITH_EMPTY)
        assert [(row["eventID"], row["scientificName"]) for row in rows[4:]] == [("v2", ""), ("v5", "")]
        assert rows[4]["decimalLatitude"] == "45"
        assert len(rows_of(put_events(tmp_path / "b.zip"))) == 4

    def test_they_are_surveys_without_a_species(self, tmp_path: Path) -> None:
        records = RECORDS.replace("v4\tAbies\tpresent\n", "")
        events = EVENTS.replace("v4\tv3\t\t46.5\t\n", "")
        path = put_events(tmp_path / "a.zip", events, records)
        assert write_surveys(path, tmp_path / "s.csv", SurveyRules(("eventID",))) == 4
        rows = {row["eventID"]: row["speciesIds"] for row in read_csv_rows(tmp_path / "s.csv")}
        assert rows == {"v1": "Abies|Fagus", "v2": "", "v3": "Ulmus", "v5": ""}

    def test_a_build_publishes_them_as_empty(self, tmp_path: Path) -> None:
        """In train they are true absences; the records alone are presence-only."""
        events = "id\tparent\tdate\tlat\tlon\n" + "".join(f"v{i}\t\t2021-02-01\t45\t{5 + i / 5}\n" for i in range(12))
        records = "id\tname\tstatus\n" + "".join(f"v{i}\tAbies\tpresent\n" for i in range(8))
        put_events(tmp_path / "a.zip", events, records)
        (tmp_path / "recipe.toml").write_text(
            'name = "t"\nseed = "s"\n[inputs.pa]\npath = "a.zip"\n[surveys]\nkeys = ["eventID"]\n'
            '[[holdouts]]\nname = "test"\nshare = 0.5\n'
        )
        folder = build_dataset(tmp_path / "recipe.toml", tmp_path / "out").folder
        empty = read_csv_rows(folder / "public/PA_train_empty.csv")
        assert sorted(row["eventID"] for row in empty) == ["v10", "v11", "v8", "v9"]

    def test_a_place_that_is_missing_is_told(self, tmp_path: Path) -> None:
        """An empty survey needs a place, too."""
        path = put_events(tmp_path / "a.zip", EVENTS + "v6\t\t2021-04-01\t\t\n", RECORDS)
        with pytest.raises(DataError, match=r"Missing coordinate in 2 of 7 rows of a\.zip .*row 7"):
            write_surveys(path, tmp_path / "s.csv", SurveyRules(("eventID",)))


class TestUnpackedArchives:
    """A folder with a meta.xml is what the zip would be."""

    @pytest.mark.parametrize("dialect", [None, WITH_EMPTY])
    def test_it_has_the_same_rows_as_the_zip(self, dialect: Dialect | None, tmp_path: Path) -> None:
        archive = put_events(tmp_path / "a.zip")
        assert rows_of(unpack(archive, tmp_path / "a"), dialect) == rows_of(archive, dialect)
        core = meta_table("core", "Occurrence", "o.txt", ["decimalLatitude", "scientificName"])
        archive = put_zip(tmp_path / "b.zip", {"o.txt": "x\ty\tz\n1\t45\tAbies\n"}, core)
        assert rows_of(unpack(archive, tmp_path / "b"), dialect) == rows_of(archive, dialect)

    def test_its_hash_is_that_of_the_sums_of_its_files(self, tmp_path: Path) -> None:
        """As `sha256sum meta.xml event.txt occurrence.txt | sha256sum` prints it; its size is theirs."""
        folder = unpack(put_events(tmp_path / "a.zip"), tmp_path / "a")
        source = TableInput(folder)
        list(source.batches())
        names = ["meta.xml", "event.txt", "occurrence.txt"]
        lines = [f"{hashlib.sha256((folder / name).read_bytes()).hexdigest()}  {name}\n" for name in names]
        assert source.files[0].sha256 == hashlib.sha256("".join(lines).encode()).hexdigest()
        assert source.files[0].n_bytes == sum((folder / name).stat().st_size for name in names)
        assert source.name == "a"

    def test_a_change_of_any_of_its_files_is_noticed(self, tmp_path: Path) -> None:
        folder = unpack(put_events(tmp_path / "a.zip"), tmp_path / "a")
        source = TableInput(folder)
        (folder / "event.txt").write_text(EVENTS + "v9\t\t\t\t\n")
        with pytest.raises(DataError, match="a changed while it was read"):
            source.check_unchanged()

    @pytest.mark.parametrize("name", ["../secret.txt", "/etc/passwd", "none.txt", "..\\\\secret.txt"])
    def test_a_meta_xml_does_not_lead_out_of_its_folder(self, name: str, tmp_path: Path) -> None:
        (tmp_path / "secret.txt").write_text("a\tb\n1\t2\n")
        (tmp_path / "a").mkdir()
        core = meta_table("core", "Occurrence", name, ["decimalLatitude"])
        (tmp_path / "a/meta.xml").write_text(f"<archive>{core}</archive>")
        assert "which is not there" in said(tmp_path / "a")

    def test_a_recipe_reads_a_folder(self, tmp_path: Path) -> None:
        """The manifest names it."""
        events = "id\tparent\tdate\tlat\tlon\n" + "".join(f"v{i}\t\t2021-02-01\t45\t{5 + i / 5}\n" for i in range(4))
        records = "id\tname\tstatus\n" + "".join(f"v{i}\tAbies\tpresent\n" for i in range(4))
        unpack(put_events(tmp_path / "a.zip", events, records), tmp_path / "dwca")
        (tmp_path / "recipe.toml").write_text(
            'name = "t"\nseed = "s"\n[inputs.pa]\npath = "dwca"\n[surveys]\nkeys = ["eventID"]\n'
            '[[holdouts]]\nname = "test"\nshare = 0.5\n'
        )
        folder = build_dataset(tmp_path / "recipe.toml", tmp_path / "out").folder
        (entry,) = json.loads((folder / "manifest.json").read_text())["inputs"]
        assert (entry["name"], entry["rows"]) == ("dwca", 4)


def test_events_are_read_whole_where_the_library_asks_for_a_table(tmp_path: Path) -> None:
    """`read_table` gives the occurrences."""
    assert read_table(put_events(tmp_path / "a.zip")).num_rows == 4
