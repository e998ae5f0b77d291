"""Tables come from the disk text for text and go there byte for byte; what cannot be read is said in one line."""

from __future__ import annotations

import csv
import datetime as dt
import decimal
import gzip
import hashlib
import io
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spatialsplit.errors import DataError
from spatialsplit.manifest import content_of
from spatialsplit.tables import (
    Dialect,
    OutputColumn,
    TableInput,
    TableWriter,
    open_writer,
    read_table,
    write_table,
    writing,
)
from spatialsplit.tables.csv_text import as_text
from spatialsplit.tables.digest import ContentDigest, logical_type
from tests.strategies import cells, quick

two_columns = st.lists(st.tuples(cells, cells), min_size=1, max_size=20)
separators = st.sampled_from([",", ";", "\t"])

PACKED = gzip.compress(b"a,b\n" + b"1,2\n" * 9999, mtime=0)


def put(path: Path, content: bytes | str) -> Path:
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def all_rows(source: TableInput) -> list[tuple[Any, ...]]:
    return [tuple(row.values()) for batch in source.batches() for row in batch.rows.to_pylist()]


def first_line(path: Path, dialect: Dialect | None = None) -> str:
    """Give what reading a faulty table says; it must be one line for one fault."""
    with pytest.raises(DataError, match=path.name.split(".")[0]) as caught:
        read_table(path, dialect)
    assert "\n" not in str(caught.value)
    return str(caught.value)


class TestReading:
    """A CSV is never guessed at."""

    @given(two_columns, separators)
    @quick
    def test_any_text_comes_back_from_pythons_own_writer(
        self, tmp_path: Path, rows: list[tuple[str, str]], separator: str
    ) -> None:
        """Quotation marks, separators, line breaks, NUL, spaces and what looks like a missing value."""
        text = io.StringIO(newline="")
        csv.writer(text, delimiter=separator, quoting=csv.QUOTE_ALL).writerows([("one", "two"), *rows])
        source = TableInput(put(tmp_path / "t.csv", text.getvalue()))
        assert all_rows(source) == rows
        assert source.header == ["one", "two"]

    @given(
        st.lists(st.tuples(st.integers(), st.text("xyz é\n", max_size=9)), min_size=1, max_size=60),
        st.integers(60, 400),
    )
    @quick
    def test_any_batch_size_gives_the_same_rows(
        self, tmp_path: Path, rows: list[tuple[int, str]], batch_bytes: int
    ) -> None:
        """And each batch knows the number of its first row."""
        write_table(tmp_path / "t.csv", pa.table({"a": [str(n) for n, _ in rows], "b": [text for _, text in rows]}))
        source = TableInput(tmp_path / "t.csv", batch_bytes=batch_bytes)
        batches = list(source.batches())
        assert all_rows(source) == [(str(n), text) for n, text in rows]
        sizes = [batch.rows.num_rows for batch in batches]
        assert [batch.first_row for batch in batches] == np.cumsum([0, *sizes[:-1]]).tolist()

    @given(
        st.lists(st.sampled_from(["plain", "blank", "broken", "empty"]), max_size=25),
        st.sampled_from(["\n", "\r\n"]),
        st.booleans(),
    )
    @quick
    def test_line_numbers_are_the_files_own(self, tmp_path: Path, kinds: list[str], end: str, ends: bool) -> None:
        """Blank lines and line breaks inside cells count, CRLF counts once, and the last line may lack its end."""
        lines = ["a,b"]
        expected = []
        for kind in [*kinds, "plain"]:
            if kind != "blank":
                expected.append(f"line {len(lines) + 1}")
            lines += {"plain": ["1,x"], "blank": [""], "broken": ['"1', "", '2",x'], "empty": [","]}[kind]
        put(tmp_path / "t.csv", end.join(lines) + (end if ends else ""))
        source = TableInput(tmp_path / "t.csv")
        n = len(all_rows(source))
        assert source.lines_of([(0, i) for i in range(n)]) == expected

    def test_a_header_may_be_broken_too(self, tmp_path: Path) -> None:
        """A line break inside a quoted column name."""
        source = TableInput(put(tmp_path / "t.csv", '"a\nz",b\n1,2\n'))
        assert (source.header, all_rows(source), source.lines_of([(0, 0)])) == (["a\nz", "b"], [("1", "2")], ["line 3"])

    def test_old_line_ends_count_as_lines(self, tmp_path: Path) -> None:
        """A lone carriage return, mixed with others."""
        source = TableInput(put(tmp_path / "t.csv", "a,b\r1,2\r\r3,4\n5,6"))
        assert all_rows(source) == [("1", "2"), ("3", "4"), ("5", "6")]
        assert source.lines_of([(0, 0), (0, 1), (0, 2)]) == ["line 2", "line 4", "line 5"]
        even = TableInput(put(tmp_path / "t.csv", "a,b\n\n1,2\r3,4\n"))  # a blank line more, a line feed less
        assert len(all_rows(even)) == 2
        assert even.lines_of([(0, 0), (0, 1)]) == ["line 3", "line 4"]

    def test_a_header_may_be_longer_than_a_batch(self, tmp_path: Path) -> None:
        """As that of a wide table with thousands of species."""
        source = TableInput(put(tmp_path / "t.csv", "a" * 500 + ",b\n1,2\n3,4\n"), batch_bytes=100)
        assert all_rows(source) == [("1", "2"), ("3", "4")]

    def test_a_cell_of_any_length_has_a_line(self, tmp_path: Path) -> None:
        """Python's own reader, asked for line numbers, has a limit of 131,072 characters."""
        source = TableInput(put(tmp_path / "t.csv", "a,b\n1," + "x" * 300_000 + "\n\n2,y\n"))
        assert len(all_rows(source)) == 2
        assert source.lines_of([(0, 1)]) == ["line 4"]
        assert csv.field_size_limit() == 131_072

    @pytest.mark.parametrize("name", ["t.csv.gz", "t.csv"])
    def test_gz_is_known_by_its_bytes(self, tmp_path: Path, name: str) -> None:
        """Whatever the file is called."""
        assert read_table(put(tmp_path / name, gzip.compress(b"a,b\n1,2\n", mtime=0))).to_pylist() == [
            {"a": "1", "b": "2"}
        ]

    @pytest.mark.parametrize("encoding", ["utf-8", "UTF_8", "utf-8-sig", "latin-1", "utf-16", "cp1252"])
    def test_an_encoding_is_read_as_said(self, tmp_path: Path, encoding: str) -> None:
        """A byte-order mark is no part of the first column's name, and lines are counted."""
        source = TableInput(put(tmp_path / "t.csv", "à,b\n\né,2\n".encode(encoding)), Dialect(encoding=encoding))
        assert (source.header, all_rows(source)) == (["à", "b"], [("é", "2")])
        assert source.lines_of([(0, 0)]) == ["line 3"]

    def test_a_byte_order_mark_is_skipped(self, tmp_path: Path) -> None:
        """Spreadsheets write one."""
        assert TableInput(put(tmp_path / "t.csv", b"\xef\xbb\xbfa,b\n1,2\n")).header == ["a", "b"]

    def test_names_are_trimmed_and_may_be_empty_or_twice_there(self, tmp_path: Path) -> None:
        """An unnamed index column, as pandas writes it."""
        assert TableInput(put(tmp_path / "t.csv", ", a ,a\n1,2,3\n")).header == ["", "a", "a"]

    def test_the_hash_is_that_of_the_files_bytes(self, tmp_path: Path) -> None:
        """Of the compressed ones where it is compressed, and for Parquet too."""
        put(tmp_path / "a.csv.gz", gzip.compress(b"a,b\n" + b"1,2\n" * 5000, mtime=0))
        write_table(tmp_path / "b.parquet", pa.table({"a": [1]}))
        for path in (tmp_path / "a.csv.gz", tmp_path / "b.parquet"):
            source = TableInput(path)
            n = len(all_rows(source))
            file = source.files[0]
            content = path.read_bytes()
            assert (file.sha256, file.n_bytes, file.n_rows) == (hashlib.sha256(content).hexdigest(), len(content), n)

    def test_files_are_joined_by_the_names_of_their_columns(self, tmp_path: Path) -> None:
        """Not by position; what a file lacks is missing, and what only one has is kept."""
        put(tmp_path / "a.csv", "x,y\n1,2\n")
        put(tmp_path / "b.csv", "z;x\n5;3\n")
        source = TableInput([tmp_path / "a.csv", tmp_path / "b.csv"])
        assert (source.header, all_rows(source)) == (["x", "y", "z"], [("1", "2", None), ("3", None, "5")])
        assert source.lines_of([(0, 0), (1, 0)]) == ["a.csv line 2", "b.csv line 2"]

    def test_a_folder_of_parquet_is_one_table(self, tmp_path: Path) -> None:
        """In the order of the names; hidden files are none; whole numbers of two widths are whole numbers."""
        write_table(tmp_path / "1.parquet", pa.table({"a": pa.array([1], pa.int32()), "b": pa.nulls(1)}))
        write_table(tmp_path / "2.parquet", pa.table({"a": pa.array([2**40]), "b": [0.5]}))
        put(tmp_path / "_SUCCESS", "")
        source = TableInput(tmp_path)
        assert all_rows(source) == [(1, None), (2**40, 0.5)]
        assert source.types == [pa.int64(), pa.float64()]

    def test_types_that_differ_become_text(self, tmp_path: Path) -> None:
        """A column of numbers here and names there."""
        write_table(tmp_path / "1.parquet", pa.table({"a": [1.5]}))
        write_table(tmp_path / "2.parquet", pa.table({"a": ["x"]}))
        assert all_rows(TableInput(tmp_path)) == [("1.5",), ("x",)]

    @pytest.mark.parametrize("kind", [pa.large_string(), pa.dictionary(pa.int32(), pa.string()), pa.string_view()])
    def test_every_kind_of_text_is_text(self, tmp_path: Path, kind: pa.DataType) -> None:
        """Large, dictionary-encoded, or a view."""
        pq.write_table(pa.table({"a": pa.array(["x", None]).cast(kind)}), tmp_path / "t.parquet")
        source = TableInput(tmp_path / "t.parquet")
        assert (source.types, all_rows(source)) == ([pa.string()], [("x",), (None,)])

    def test_a_file_that_changes_meanwhile_is_noticed(self, tmp_path: Path) -> None:
        """Its hash would be that of neither."""
        source = TableInput(put(tmp_path / "t.csv", "a,b\n1,2\n"))
        source.check_unchanged()
        put(tmp_path / "t.csv", "a,b\n1,2\n3,4\n")
        with pytest.raises(DataError, match=r"t\.csv changed while it was read"):
            source.check_unchanged()


class TestWhatCannotBeRead:
    """One line a fault: what, where, what must hold, what to do. Never a library's traceback."""

    @pytest.mark.parametrize(
        ("name", "content", "said"),
        [
            ("t.csv", b"", "t.csv is empty. A table needs a header line and rows"),
            ("t.csv", b"\n\na,b\n1,2\n", "begins with an empty line"),
            ("t.csv", b"a,b\n", "t.csv has a header but no rows. A table needs at least one"),
            ("t.csv", b"a,b", "has a header but no rows"),
            ("t.csv", b"a,b\n1,2,3\n4,5\n\n6\n", "2 rows of t.csv do not have the header's 2 cells (first: line 2: 3"),
            ("t.csv", "a,b\n1,é\n".encode("latin-1"), 'is not utf-8 text ('),
            ("t.csv", b"a,b\n" + b"1,2\n" * 9000 + b"1,\xe9\n", 'Say which encoding it has: encoding = "latin-1"'),
            ("t.csv", "a,b\n1,é\n".encode("utf-16"), 'Say which encoding it has: encoding = "utf-16"'),
            ("t.csv", "a,b\n1,é\n".encode("utf-16-le"), "utf-16-le"),
            ("t.csv", "a,b\n1,2\n".encode("utf-16-le"), "has NUL bytes in its header"),
            ("t.csv", b'a,b\n1,2\n3,"4\n5,6\n', "opened in the row on line 3 and never closed"),
            ("t.csv", b'a,"b\n' + b"1,2\n" * 99_999, "The header of t.csv cannot be read (field larger than"),
            ("t.csv.gz", PACKED[:-9], "cannot be read to its end"),
            ("t.csv.gz", PACKED[:60] + b"\xff" * 99, "cannot be read to its end"),
            ("t.csv.gz", b"a,b\n1,2\n", "cannot be read to its end (Not a gzipped file"),
            ("t.parquet", b"", "cannot be read as Parquet (Parquet file size is 0 bytes). It may be truncated"),
            ("t.parquet", b"PAR1" + b"x" * 99, "cannot be read as Parquet"),
            ("t.csv", b"PAR1" + b"x" * 99, "cannot be read as Parquet"),
            ("t.csv", b"PK\x03\x04\xff\xff", "a zip archive"),
            ("t.csv", b"SQLite format 3\0", "is a database"),
        ],
    )  # fmt: skip
    def test_a_faulty_file(self, tmp_path: Path, name: str, content: bytes, said: str) -> None:
        """Empty, cut off, in another encoding, ragged, or no table at all."""
        assert said in first_line(put(tmp_path / name, content))

    def test_a_truncated_parquet_file(self, tmp_path: Path) -> None:
        """Its end, which holds the schema, is gone; or its middle is damaged."""
        write_table(tmp_path / "t.parquet", pa.table({"a": [str(i) for i in range(9999)]}))
        whole = (tmp_path / "t.parquet").read_bytes()
        assert "may be truncated" in first_line(put(tmp_path / "t.parquet", whole[: len(whole) // 2]))
        assert "may be truncated" in first_line(put(tmp_path / "t.parquet", whole[:50] + b"\0" * 5000 + whole[5050:]))

    def test_a_parquet_file_without_rows(self, tmp_path: Path) -> None:
        """As a CSV with a header only."""
        write_table(tmp_path / "t.parquet", pa.table({"a": pa.array([], pa.string())}))
        assert "has a header but no rows" in first_line(tmp_path / "t.parquet")

    def test_a_directory(self, tmp_path: Path) -> None:
        """A folder is a table if it holds Parquet files."""
        put(tmp_path / "t.csv", "a,b\n1,2\n")
        assert "is a folder without Parquet files and without the meta.xml of a Darwin Core archive" in first_line(
            tmp_path
        )

    def test_a_missing_file(self, tmp_path: Path) -> None:
        """With what lies beside it."""
        put(tmp_path / "pa.csv", "a,b\n1,2\n")
        assert "pa_.csv. Beside it lie: pa.csv. Correct the path" in first_line(tmp_path / "pa_.csv")

    def test_the_likest_names_are_told_first(self, tmp_path: Path) -> None:
        """Of a folder of many tables a person sees the one that was meant."""
        for name in ("a.csv", "b.csv", "c.csv", "surveys_2021.csv"):
            put(tmp_path / name, "a,b\n1,2\n")
        assert "Beside it lie: surveys_2021.csv, " in first_line(tmp_path / "survey_2021.csv")

    def test_a_name_that_no_file_can_have(self) -> None:
        """The system's refusal is told, not thrown."""
        assert "File name too long" in first_line(Path("x" * 300))

    def test_all_faulty_files_are_told_at_once(self, tmp_path: Path) -> None:
        """A line each."""
        put(tmp_path / "a.csv", "")
        with pytest.raises(DataError, match=r"a\.csv is empty") as caught:
            TableInput([tmp_path / "a.csv", tmp_path / "b.csv"])
        assert len(caught.value.problems) == 2

    @pytest.mark.parametrize("separator", ["|", "", ", "])
    def test_an_impossible_separator(self, separator: str) -> None:
        """Comma, semicolon and tab are known."""
        with pytest.raises(DataError, match=r"Invalid separator .* one of ',' ';' and tab"):
            Dialect(separator)

    @pytest.mark.parametrize("encoding", ["klingon", "rot13", "base64", "utf\0"])
    def test_an_unknown_encoding(self, encoding: str) -> None:
        """Also one that encodes no text."""
        with pytest.raises(DataError, match=r"Unknown encoding .* name of a text encoding, such as utf-8"):
            Dialect(encoding=encoding)

    def test_a_row_longer_than_a_batch(self, tmp_path: Path) -> None:
        """As one with a quotation mark that is never closed, in a file larger than memory."""
        put(tmp_path / "t.csv", 'a,b\n1,"' + "x\n" * 5000)
        with pytest.raises(
            DataError, match=r"t\.csv has a row of more than 1,000 bytes.* never closed looks like this"
        ):
            list(TableInput(tmp_path / "t.csv", batch_bytes=1000).batches())


class TestWriting:
    """CSV is byte-equal everywhere."""

    @given(two_columns, separators)
    @quick
    def test_any_text_comes_back(self, tmp_path: Path, rows: list[tuple[str, str]], separator: str) -> None:
        """Through our reader and through Python's own."""
        table = pa.table({"one": [a for a, _ in rows], "two": [b for _, b in rows]})
        write_table(tmp_path / "t.csv", table, separator=separator)
        assert all_rows(TableInput(tmp_path / "t.csv", Dialect(separator))) == rows
        with (tmp_path / "t.csv").open(encoding="utf-8", newline="") as file:
            assert [tuple(row) for row in csv.reader(file, delimiter=separator)][1:] == rows

    @given(st.lists(cells, min_size=1, max_size=20))
    @quick
    def test_any_text_comes_back_alone_in_its_row(self, tmp_path: Path, texts: list[str]) -> None:
        """An empty cell that is alone is quoted: its line would be a blank one."""
        write_table(tmp_path / "t.csv", pa.table({"one": texts}))
        assert [row for (row,) in all_rows(TableInput(tmp_path / "t.csv"))] == texts

    def test_a_cell_is_quoted_only_where_it_must_be(self, tmp_path: Path) -> None:
        """LF, UTF-8, a header; a missing cell is empty."""
        table = pa.table({"a": ["x", 'q"q', "c,c", None], "é b": pa.array([1, 2, None, 4])})
        write_table(tmp_path / "t.csv", table)
        assert (tmp_path / "t.csv").read_bytes() == 'a,é b\nx,1\n"q""q",2\n"c,c",\n,4\n'.encode()

    @pytest.mark.parametrize("name", ['a"b', "a,b", "a\rb", "a\nb", ""])
    def test_a_name_of_a_column_is_quoted_as_a_cell_is(self, tmp_path: Path, name: str) -> None:
        """The same on every version of Python, whose own writer changed its mind about carriage returns."""
        write_table(tmp_path / "t.csv", pa.table([["x"], ["y"]], names=[name, "two"]))
        quoted = f'"{name.replace(chr(34), chr(34) * 2)}"' if name else ""
        assert (tmp_path / "t.csv").read_bytes() == f"{quoted},two\nx,y\n".encode()

    @given(st.lists(st.floats(-180, 180), min_size=1, max_size=30))
    @quick
    def test_decimals_are_those_of_numpys_round(self, values: list[float]) -> None:
        """`numpy.round(x, 6)`, with a fixed number of decimals and without a negative zero."""
        texts = as_text(pa.array(values), 6).to_pylist()
        assert [float(text) for text in texts] == (np.round(values, 6) + 0.0).tolist()
        assert all(len(text.split(".")[1]) == 6 and text != "-0.000000" for text in texts)

    def test_every_form_holds_the_value_that_csv_shows(self, tmp_path: Path) -> None:
        """A coordinate is rounded in Parquet too, and NaN is a missing cell."""
        columns = [OutputColumn("lon", pa.float64(), 3)]
        for name in ("t.csv", "t.parquet"):
            with open_writer(tmp_path / name, columns) as writer:
                writer.write([pa.array([1.23456, -0.0001, np.nan, None])])
        assert (tmp_path / "t.csv").read_text() == 'lon\n1.235\n0.000\n""\n""\n'
        held = pq.read_table(tmp_path / "t.parquet").column("lon").to_pylist()
        assert [str(value) for value in held] == ["1.235", "0.0", "None", "None"]  # −0.0 == 0.0, but not as text

    @given(two_columns, st.integers(1, 20))
    @quick
    def test_batches_do_not_show_in_the_bytes(self, tmp_path: Path, rows: list[tuple[str, str]], size: int) -> None:
        """A table written at once and in pieces, some of them empty."""
        columns = [OutputColumn("a", pa.string()), OutputColumn("b", pa.string())]
        written = []
        for step in (len(rows), size):
            with TableWriter([tmp_path / "t.csv"], columns) as writer:
                for start in range(0, len(rows) + 1, step):
                    part = rows[start : start + step]
                    writer.write([pa.array([row[i] for row in part], pa.string()) for i in (0, 1)])
            written.append((writer.written[0], (tmp_path / "t.csv").read_bytes()))
        assert written[0] == written[1]
        assert written[0][0].sha256 == hashlib.sha256(written[0][1]).hexdigest()

    def test_what_was_not_hashed_has_no_hash(self, tmp_path: Path) -> None:
        """And not that of nothing."""
        with open_writer(tmp_path / "t.csv", [OutputColumn("a", pa.string())]) as writer:
            writer.write([pa.array(["x"])])
        (written,) = writer.written
        assert (written.sha256, written.content_sha256, written.n_rows, written.n_bytes) == ("", "", 1, 4)

    @pytest.mark.parametrize("name", ["t", "t.xlsx", "t.csv.gz"])
    def test_an_ending_that_says_nothing_is_refused(self, tmp_path: Path, name: str) -> None:
        """The form is told by the name."""
        with pytest.raises(DataError, match=r"Cannot tell the form of .* ends in \.csv, \.tsv or \.parquet"):
            write_table(tmp_path / name, pa.table({"a": [1]}))

    @pytest.mark.parametrize("form", ["csv", "parquet"])
    @pytest.mark.parametrize("kind", [pa.list_(pa.int64()), pa.struct([("x", pa.int64())]), pa.binary()])
    def test_what_no_cell_can_show_is_refused(self, tmp_path: Path, kind: pa.DataType, form: str) -> None:
        """Lists, structures and bytes, by name, before anything is written."""
        with pytest.raises(DataError, match=r"Column 'tags' holds .*, which no cell of a CSV can show"):
            write_table(tmp_path / f"t.{form}", pa.table({"tags": pa.nulls(1, kind)}))
        assert list(tmp_path.iterdir()) == []


KINDS: dict[str, pa.Array] = {
    "int64": pa.array([1, None, -(2**62)]),
    "int8": pa.array([1, None, -7], pa.int8()),
    "uint64": pa.array([2**64 - 1, None, 0], pa.uint64()),
    "float64": pa.array([0.1, None, -1e300]),
    "nan and inf": pa.array([np.nan, -np.inf, -0.0]),
    "float32": pa.array([0.1, None, 1e30], pa.float32()),
    "float16": pa.array(np.array([0.1, 2, -3], np.float16)),
    "decimal": pa.array([decimal.Decimal("1.50"), None, decimal.Decimal("-0.01")]),
    "date": pa.array([dt.date(2024, 2, 29), None, dt.date(1, 1, 1)]),
    "time": pa.array([dt.datetime(2024, 2, 29, 1, 2, 3), None, dt.datetime(1969, 1, 1)]),
    "bool": pa.array([True, None, False]),
    "text": pa.array(["", None, "é\n"]),
    "large text": pa.array(["", None, "x"], pa.large_string()),
    "dictionary": pa.array(["", None, "x"]).dictionary_encode(),
    "nothing": pa.nulls(3),
}


class TestTheDigest:
    """One number for what a table says."""

    @pytest.mark.parametrize("kind", KINDS)
    def test_it_is_equal_through_csv_and_parquet(self, tmp_path: Path, kind: str) -> None:
        """Each type of a cell, missing ones among them, when it is written and when it is read again."""
        cells = KINDS[kind]
        columns = [OutputColumn("id", pa.int64()), OutputColumn("x", cells.type)]
        described = [{"name": column.name, "type": column.type} for column in columns]
        digests = set()
        for name, separator in (("t.csv", ";"), ("t.parquet", None)):
            with TableWriter([tmp_path / name], columns, ";") as writer:
                writer.write([pa.array([1, 2, 3]), cells])
            digests.add(writer.written[0].content_sha256)
            digests.add(content_of(tmp_path / name, separator, described)[1])
        assert len(digests) == 1

    @given(st.lists(st.tuples(st.integers(-(2**63), 2**63 - 1), st.floats(), cells), min_size=1), st.integers(1, 9))
    @quick
    def test_batches_do_not_show(self, rows: list[tuple[int, float, str]], step: int) -> None:
        """However the rows are cut, also with slices that begin in the middle of an array."""
        columns = [("a", "integer"), ("b", "number"), ("c", "text")]
        arrays = [
            pa.array([row[0] for row in rows]),
            pa.array([row[1] for row in rows]),
            pa.array([row[2] for row in rows]),
        ]
        whole, pieces = ContentDigest(columns), ContentDigest(columns)
        whole.update(arrays)
        for start in range(0, len(rows) + step, step):
            pieces.update([array.slice(start, step) for array in arrays])
        assert whole.hexdigest() == pieces.hexdigest()

    @pytest.mark.parametrize(
        "other",
        [
            {"a": [1, 2], "b": ["x", "z"]},
            {"a": [2, 1], "b": ["x", "y"]},
            {"a": [1, None], "b": ["x", "y"]},
            {"a": [1, 0], "b": ["x", "y"]},
            {"a": [1, 2], "b": ["xy", ""]},
            {"a": [1, 2], "c": ["x", "y"]},
            {"a": [1, 2, 3], "b": ["x", "y", ""]},
        ],
    )
    def test_another_content_is_another_number(self, other: dict[str, list[Any]]) -> None:
        """A cell, an order, a missing value, a boundary between cells, a name, a row."""

        def digest(table: dict[str, list[Any]]) -> str:
            arrays = [pa.array(values) for values in table.values()]
            made = ContentDigest([(name, logical_type(a.type)) for name, a in zip(table, arrays, strict=True)])
            made.update(arrays)
            return made.hexdigest()

        assert digest({"a": [1, 2], "b": ["x", "y"]}) != digest(other)

    def test_a_missing_number_is_not_zero_but_a_missing_text_is_empty(self) -> None:
        """As in CSV, where an empty cell is both."""

        def digest(kind: str, *values: Any) -> str:
            made = ContentDigest([("x", kind)])
            made.update([pa.array(values)])
            return made.hexdigest()

        assert digest("number", None, 1.0) != digest("number", 0.0, 1.0)
        assert digest("text", None, "x") == digest("text", "", "x")


@pytest.mark.parametrize("described", [True, False])
def test_the_batches_in_which_rows_come_do_not_show_in_the_bytes_of_a_parquet_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, described: bool
) -> None:
    """Rows come in other batches from other engines: row groups, pages and dictionaries are the same."""
    monkeypatch.setattr(writing, "GROUP_ROWS", 100)
    generator = np.random.default_rng(3)
    cells = [
        pa.array(range(1_003)),
        pa.array([None if n % 7 == 0 else f"name {n % 5}" for n in range(1_003)]),
        pa.array(generator.uniform(size=1_003)),
    ]
    columns = [OutputColumn(name, array.type) for name, array in zip("abc", cells, strict=True)]
    contents = set()
    for size in (1, 7, 100, 101, 333, 2_000):
        path = tmp_path / f"{size}.parquet"
        with TableWriter([path], columns, described=described) as writer:
            for start in range(0, 1_003, size):
                writer.write([array.slice(start, size) for array in cells])
        contents.add(path.read_bytes())
    assert len(contents) == 1
    assert pq.read_metadata(path).num_row_groups == 11
    assert pq.read_table(path).columns == [pa.chunked_array([array]) for array in cells]
