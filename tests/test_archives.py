"""Packed tables and Darwin Core archives: read as they say they are, or refused for what they are."""

from __future__ import annotations

import bz2
import gzip
import hashlib
import pickle
import zipfile
from collections.abc import Mapping
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet
import pytest

from spatialsplit.errors import DataError
from spatialsplit.tables import Dialect, TableInput, read_table
from spatialsplit.tables.darwin_core import TERMS
from tests.real_data import data_folder

DWC = "http://rs.tdwg.org/dwc/terms/"
TAB = 'fieldsTerminatedBy="\\t" fieldsEnclosedBy="" ignoreHeaderLines="1" encoding="UTF-8"'


def meta_table(kind: str, row: str, file: str, terms: list[str], more: str = "", form: str = TAB) -> str:
    """Describe one table of an archive; the first column ties the tables together."""
    tie = "id" if kind == "core" else "coreid"
    fields = "".join(f'<field index="{i + 1}" term="{DWC}{term}"/>' for i, term in enumerate(terms))
    return (
        f'<{kind} rowType="{DWC}{row}" {form}><files><location>{file}</location></files>'
        f'<{tie} index="0"/>{fields}{more}</{kind}>'
    )


def put_zip(path: Path, members: Mapping[str, str | bytes], *tables: str) -> Path:
    """Write an archive, with the meta.xml that the tables make."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
        if tables:
            archive.writestr("meta.xml", f'<archive xmlns="http://rs.tdwg.org/dwc/text/">{"".join(tables)}</archive>')
    return path


def rows_of(path: Path, dialect: Dialect | None = None, **more: int) -> list[dict[str, str]]:
    """Read a whole table."""
    source = TableInput(path, dialect, **more)
    return [
        dict(zip(source.header, row.values(), strict=True))
        for batch in source.batches()
        for row in batch.rows.to_pylist()
    ]


def said(path: Path) -> str:
    """Give what is said of a table that cannot be read."""
    with pytest.raises(DataError) as caught:
        read_table(path)
    return str(caught.value)


class TestPackedTables:
    """The same table in other wrappings."""

    CONTENT = b"a;b\n1;\xc3\xa9\n2;y\n"
    ROWS: tuple[dict[str, str], ...] = ({"a": "1", "b": "é"}, {"a": "2", "b": "y"})

    @pytest.mark.parametrize("name", ["t.csv.bz2", "t.csv", "t"])
    def test_bz2_is_read_whatever_it_is_called(self, name: str, tmp_path: Path) -> None:
        path = tmp_path / name
        path.write_bytes(bz2.compress(self.CONTENT))
        source = TableInput(path)
        assert sum(batch.rows.num_rows for batch in source.batches()) == 2
        assert tuple(rows_of(path)) == self.ROWS
        assert source.files[0].sha256 == hashlib.sha256(path.read_bytes()).hexdigest()

    def test_the_encoding_to_try_is_that_of_what_is_packed(self, tmp_path: Path) -> None:
        """The first bytes of an archive tell nothing about its text."""
        (tmp_path / "t.csv.gz").write_bytes(gzip.compress("a;b\n1;é\n".encode("latin-1")))
        assert 'encoding = "latin-1"' in said(tmp_path / "t.csv.gz")

    def test_a_truncated_bz2_is_said_to_be_one(self, tmp_path: Path) -> None:
        (tmp_path / "t.csv.bz2").write_bytes(bz2.compress(b"a,b\n" + b"1,2\n" * 9999)[:-9])
        assert "cannot be read to its end" in said(tmp_path / "t.csv.bz2")

    def test_a_zip_with_one_table_is_that_table(self, tmp_path: Path) -> None:
        """With what macOS and GBIF put beside it; its hash is the archive's."""
        path = put_zip(tmp_path / "t.zip", {"__MACOSX/._t.csv": "x", "f/t.csv": self.CONTENT, "f/.DS_Store": "x"})
        source = TableInput(path)
        assert tuple(rows_of(path)) == self.ROWS
        list(source.batches())
        assert source.files[0].sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
        assert source.files[0].n_bytes == path.stat().st_size
        assert source.lines_of([(0, 1)]) == ["line 3"]

    @pytest.mark.parametrize(
        ("members", "what"),
        [
            ({"a.csv": "a\n1\n", "b.csv": "a\n1\n"}, r"holds 2 tables \(a.csv, b.csv\) and no meta.xml"),
            ({"readme.md": "x"}, "holds 0 tables and no"),
            ({"[Content_Types].xml": "x", "xl/a.xml": "x"}, "is a spreadsheet"),
            ({"a.parquet": b"PAR1xxxx"}, "holds a Parquet file"),
            ({"../a.csv": "a\n1\n"}, "a name outside the archive"),
            ({"/a.csv": "a\n1\n"}, "a name outside the archive"),
            ({"C:\\a.csv": "a\n1\n"}, "a name outside the archive"),
        ],
    )
    def test_other_archives_are_refused_with_what_they_hold(
        self, members: dict[str, str | bytes], what: str, tmp_path: Path
    ) -> None:
        with pytest.raises(DataError, match=what):
            read_table(put_zip(tmp_path / "t.zip", members))

    @pytest.mark.parametrize(
        ("start", "what"),
        [
            (b"II*\0", "is a raster or a picture"),
            (b"\xff\xd8\xff\xe0", "is a picture"),
            (b"7z\xbc\xaf", "is a 7z archive"),
            (b"\xd0\xcf\x11\xe0", "is a spreadsheet or document"),
        ],
    )
    def test_what_is_no_table_is_named_and_no_encoding_is_proposed(
        self, start: bytes, what: str, tmp_path: Path
    ) -> None:
        (tmp_path / "t.csv").write_bytes(start + b"\0\xff" * 40)
        assert what in said(tmp_path / "t.csv")

    def test_a_link_in_an_archive_is_refused(self, tmp_path: Path) -> None:
        link = zipfile.ZipInfo("a.csv")
        link.external_attr = 0o120777 << 16
        with zipfile.ZipFile(tmp_path / "t.zip", "w") as archive:
            archive.writestr(link, "/etc/passwd")
        assert "'a.csv': a link" in said(tmp_path / "t.zip")

    def test_a_bomb_is_refused_before_it_is_unpacked(self, tmp_path: Path) -> None:
        """By what the archive says of itself: a thousandfold, and large."""
        with zipfile.ZipFile(tmp_path / "t.zip", "w", zipfile.ZIP_DEFLATED) as archive, archive.open("a", "w") as file:
            for _ in range(70):
                file.write(bytes(1 << 20))
        assert "73,400,320 bytes packed into" in said(tmp_path / "t.zip")


class TestDarwinCoreArchives:
    """Columns are what meta.xml says, not what a header says."""

    TERMS = ("decimalLatitude", "decimalLongitude", "scientificName", "eventDate")
    RECORDS = 'x\ty\tz\tq\tr\n1\t45\t5\tAbies "alba\t2021-02-01\n2\t46\t6\tAlso, this\t\n'

    def test_an_occurrence_core_is_read_as_it_is_described(self, tmp_path: Path) -> None:
        """Its own header does not matter, a quotation mark is a character, and a default fills a column."""
        core = meta_table(
            "core",
            "Occurrence",
            "o.txt",
            list(self.TERMS),
            f'<field term="{DWC}basisOfRecord" default="HumanObservation"/>',
        )
        rows = rows_of(put_zip(tmp_path / "a.zip", {"o.txt": self.RECORDS, "verbatim.txt": "x"}, core))
        assert rows[0] == {
            "id": "1",
            "decimalLatitude": "45",
            "decimalLongitude": "5",
            "scientificName": 'Abies "alba',
            "eventDate": "2021-02-01",
            "basisOfRecord": "HumanObservation",
        }
        assert len(rows) == 2

    def test_a_quoted_core_without_a_header_in_latin_1(self, tmp_path: Path) -> None:
        """As the standard allows: comma, quotation marks, no header line."""
        form = 'fieldsTerminatedBy="," fieldsEnclosedBy="&quot;" encoding="ISO-8859-1"'
        core = meta_table("core", "Occurrence", "o.csv", ["decimalLatitude", "locality"], form=form)
        path = put_zip(tmp_path / "a.zip", {"o.csv": '1,45,"Là, bas"\n'.encode("latin-1")}, core)
        assert rows_of(path) == [{"id": "1", "decimalLatitude": "45", "locality": "Là, bas"}]

    def test_a_default_of_a_column_fills_its_empty_cells(self, tmp_path: Path) -> None:
        """A default with a position is for rows that say nothing; a term is there once, however often it is described.

        Which rows are absences may hang on it.
        """
        fields = (
            f'<field index="2" term="{DWC}occurrenceStatus" default="ABSENT"/>'
            f'<field index="3" term="{DWC}year"/><field term="{DWC}year" default="2020"/>'
        )
        core = meta_table("core", "Occurrence", "o.txt", ["decimalLatitude"], fields)
        path = put_zip(tmp_path / "a.zip", {"o.txt": "a\tb\tc\td\n1\t45\tPRESENT\t\n2\t46\t\t2021\n"}, core)
        assert [list(row.values())[2:] for row in rows_of(path)] == [["PRESENT", "2020"], ["ABSENT", "2021"]]
        assert list(rows_of(path)[0]) == ["id", "decimalLatitude", "occurrenceStatus", "year"]
        (row,) = rows_of(path, Dialect(only=frozenset({"occurrenceStatus"})))[1:]
        assert row == {"occurrenceStatus": "ABSENT"}

    def test_lines_are_counted_behind_several_lines_of_header(self, tmp_path: Path) -> None:
        """Line 5 is line 5, also where a blank line makes it worth counting."""
        form = TAB.replace('ignoreHeaderLines="1"', 'ignoreHeaderLines="2"')
        core = meta_table("core", "Occurrence", "o.txt", ["decimalLatitude"], form=form)
        source = TableInput(put_zip(tmp_path / "a.zip", {"o.txt": "about\na\tb\n1\t45\n\n2\t46\n"}, core))
        assert [row for batch in source.batches() for row in batch.rows.column(1).to_pylist()] == ["45", "46"]
        assert source.lines_of([(0, 0), (0, 1)]) == ["line 3", "line 5"]

    def test_an_encoding_that_meta_xml_has_wrong_can_be_said(self, tmp_path: Path) -> None:
        """The message names what helps, and it does help."""
        core = meta_table("core", "Occurrence", "o.txt", ["scientificName"])
        path = put_zip(tmp_path / "a.zip", {"o.txt": "a\tb\n1\té\n".encode("latin-1")}, core)
        assert 'encoding = "latin-1"' in said(path)
        assert rows_of(path, Dialect(encoding="latin-1"))[0]["scientificName"] == "é"

    def event_archive(self, folder: Path, events: str = "e1\t45\t5\t2021-02-01\ne2\t46\t6\t2021-03-01\n") -> Path:
        """Write an event core of two events, and three records of which one has a date of its own."""
        core = meta_table("core", "Event", "e.txt", ["decimalLatitude", "decimalLongitude", "eventDate"])
        more = meta_table("extension", "Occurrence", "o.txt", ["scientificName", "eventDate"])
        members = {
            "e.txt": "id\ta\tb\tc\n" + events,
            "o.txt": "id\ta\tb\ne2\tAbies\t\ne1\tFagus\t2021-02-02\ne9\tUlmus\t\n",
        }
        return put_zip(folder / "a.zip", members, core, more)

    def test_records_of_an_event_core_have_what_their_event_says(self, tmp_path: Path) -> None:
        """A record's own cell goes before the event's; a record without an event has nothing of it."""
        path = self.event_archive(tmp_path)
        rows = [
            (r["scientificName"], r["eventDate"], r["eventID"], r["decimalLatitude"], r["decimalLongitude"])
            for r in rows_of(path)
        ]
        assert rows == [
            ("Abies", "2021-03-01", "e2", "46", "6"),
            ("Fagus", "2021-02-02", "e1", "45", "5"),
            ("Ulmus", "", "", "", ""),
        ]
        assert TableInput(path).lines_of([(0, 0)]) == ["line 2"]

    def test_the_columns_to_read_can_be_chosen(self, tmp_path: Path) -> None:
        """The one that ties the tables is read in any case."""
        only = Dialect(only=frozenset({"scientificName", "decimalLatitude"}), only_in_darwin_core=True)
        rows = rows_of(self.event_archive(tmp_path), only)
        assert rows[0] == {"scientificName": "Abies", "eventID": "e2", "decimalLatitude": "46"}

    def test_an_id_that_two_events_have_is_refused(self, tmp_path: Path) -> None:
        assert "1 of 2 events of a.zip repeat" in said(self.event_archive(tmp_path, "e1\t4\t5\t\ne1\t4\t5\t\n"))

    def test_an_archive_can_be_sent_to_another_process(self, tmp_path: Path) -> None:
        source = pickle.loads(pickle.dumps(TableInput(self.event_archive(tmp_path))))
        assert sum(batch.rows.num_rows for batch in source.batches()) == 3

    @pytest.mark.parametrize("batch_bytes", [64, 1 << 20])
    def test_any_batch_size_gives_the_same_rows(self, tmp_path: Path, batch_bytes: int) -> None:
        core = meta_table("core", "Occurrence", "o.txt", ["decimalLatitude", "scientificName"])
        text = "a\tb\tc\n" + "".join(f'{i}\t{i}\t"{i}\n' for i in range(500))
        rows = rows_of(put_zip(tmp_path / "a.zip", {"o.txt": text}, core), batch_bytes=batch_bytes)
        assert [row["scientificName"] for row in rows] == [f'"{i}' for i in range(500)]

    @pytest.mark.parametrize(
        ("meta", "what"),
        [
            ("<archive>", "is no XML"),
            ('<!DOCTYPE a [<!ENTITY x "y">]><archive/>', "declares entities"),
            ("<archive/>", "has 0 core tables"),
            (meta_table("core", "Taxon", "o.txt", []), "archive of Taxon rows"),
            (meta_table("core", "Occurrence", "p.txt", []), "names p.txt, which is not there"),
            (meta_table("core", "Occurrence", "o.txt</location><location>p.txt", []), "gives 2 files for one table"),
            (meta_table("core", "Occurrence", "o.txt", [], form='fieldsTerminatedBy="|"'), "separated by '|'"),
            (meta_table("core", "Occurrence", "o.txt", [], form='fieldsEnclosedBy="\'"'), 'enclosed by "\'"'),
            (meta_table("core", "Occurrence", "o.txt", [], f'<field index="x" term="{DWC}year"/>'), "with 'x'"),
            (meta_table("core", "Occurrence", "o.txt", [], form='ignoreHeaderLines="-1"'), "with '-1'"),
        ],
    )
    def test_what_meta_xml_cannot_mean_is_said(self, meta: str, what: str, tmp_path: Path) -> None:
        content = meta if meta.startswith("<archive") or "DOCTYPE" in meta else f"<archive>{meta}</archive>"
        path = put_zip(tmp_path / "a.zip", {"o.txt": "a\tb\n1\t2\n", "meta.xml": content})
        assert what in said(path)

    def test_a_row_of_another_length_is_told_with_its_line(self, tmp_path: Path) -> None:
        """A tab inside a cell makes one too many."""
        core = meta_table("core", "Occurrence", "o.txt", ["decimalLatitude"])
        text = said(put_zip(tmp_path / "a.zip", {"o.txt": "a\tb\n1\t2\n1\t2\t3\n"}, core))
        assert "(first: line 3: 3 cells)" in text
        assert "Remove separators from inside cells" in text  # quotation marks mean nothing there


class TestGbifDownloads:
    """Real occurrence tables: tab, not quoted, of which a few columns matter."""

    @pytest.mark.parametrize(
        ("name", "n_rows", "n_columns"),
        [
            ("beetles_occurrence.txt", 1_580, 259),
            ("delphinium_fissum_simple_csv.tsv", 32, 50),
            ("openOccurrences_occurrence.txt", 1, 66),
        ],
    )
    def test_their_rows_and_columns_are_those_of_the_readme(self, name: str, n_rows: int, n_columns: int) -> None:
        table = read_table(data_folder() / "gbif_dwca" / name)
        assert table.shape == (n_rows, n_columns)

    def test_quotation_marks_are_characters(self) -> None:
        """744 rows of the beetles hold one."""
        table = read_table(data_folder() / "gbif_dwca" / "beetles_occurrence.txt")
        assert sum(any('"' in cell for cell in row.values()) for row in table.to_pylist()) == 744

    def test_a_quotation_mark_at_the_start_of_a_cell_opens_nothing(self, tmp_path: Path) -> None:
        """It is never closed, and the rest of the file is no part of the cell; other tables can say the same."""
        rows = 'gbifID\tlocality\tspecies\n1\t"Le Bois\tAbies\n2\t"a" b\tFagus\n'
        (tmp_path / "occurrence.txt").write_text(rows)
        (tmp_path / "other.tsv").write_text(rows.replace("gbifID", "id"))
        for path, quoted in ((tmp_path / "occurrence.txt", None), (tmp_path / "other.tsv", False)):
            assert [row["locality"] for row in rows_of(path, Dialect(quoted=quoted))] == ['"Le Bois', '"a" b']

    def test_only_the_terms_that_matter_are_read_where_it_is_asked(self) -> None:
        path = data_folder() / "gbif_dwca" / "beetles_occurrence.txt"
        source = TableInput(path, Dialect(only=frozenset(TERMS), only_in_darwin_core=True))
        assert set(source.header) <= set(TERMS)
        assert "speciesKey" in source.header
        assert "verbatimLocality" not in source.header
        whole = read_table(path).column("speciesKey").to_pylist()
        place = source.header.index("speciesKey")
        assert [cell for batch in source.batches() for cell in batch.column(place).to_pylist()] == whole


def test_columns_of_parquet_can_be_chosen_too(tmp_path: Path) -> None:
    """By name, in the file's order; row groups alike."""
    pyarrow.parquet.write_table(pa.table({"a": [1, 2], "b": ["x", "y"], "c": [1.5, 2.5]}), tmp_path / "t.parquet")
    source = TableInput(tmp_path / "t.parquet", Dialect(only=frozenset({"c", "a"})))
    assert source.header == ["a", "c"]
    pieces = source.pieces()
    assert pieces is not None
    assert [batch.rows.to_pylist() for batch in source.read_piece(pieces[0])] == [
        [{"0": 1, "1": 1.5}, {"0": 2, "1": 2.5}]
    ]
    assert sum(batch.rows.num_rows for batch in source.batches()) == 2
