"""Packed tables that would swell beyond reason, and tables that are held in memory: refused before they fill it."""

from __future__ import annotations

import bz2
import gzip
import io
import zipfile
from pathlib import Path

import pyarrow as pa
import pytest

from spatialsplit.errors import DataError
from spatialsplit.occurrences import RecordRules, SpeciesReader, read_presence_absence
from spatialsplit.tables import Batch, TableInput, held, holding, packing, read_table, streams
from spatialsplit.tables.holding import memory_bytes
from spatialsplit.tables.streams import CountedLines
from tests.test_archives import meta_table, put_zip, rows_of, said

ROWS = b"a,b\n" + b"1,2\n" * 50_000


@pytest.fixture
def small_is_small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the ratio count from 50 kB on."""
    monkeypatch.setattr(packing, "SMALL_BYTES", 50_000)


class TestSwelling:
    """The ratio counts for every way of packing, and only where a table is large."""

    @pytest.mark.parametrize(("name", "pack"), [("t.csv.gz", gzip.compress), ("t.csv.bz2", bz2.compress), ("t", None)])
    @pytest.mark.usefixtures("small_is_small")
    def test_a_bomb_is_refused_in_any_wrapping(self, name: str, pack: object, tmp_path: Path) -> None:
        """200 kB in a few hundred bytes."""
        path = tmp_path / name
        if callable(pack):
            path.write_bytes(pack(ROWS))
        else:
            put_zip(path, {"t.csv": ROWS})
        assert "bytes" in said(path)
        assert "Unpack it with care, if you trust it, and name the table itself." in said(path)

    def test_a_small_one_is_read_whatever_its_ratio(self, tmp_path: Path) -> None:
        (tmp_path / "t.csv.gz").write_bytes(gzip.compress(ROWS))
        assert (tmp_path / "t.csv.gz").stat().st_size * 200 < len(ROWS)
        assert len(rows_of(tmp_path / "t.csv.gz")) == 50_000

    @pytest.mark.usefixtures("small_is_small")
    def test_one_long_repetition_among_other_rows_is_no_bomb(self, tmp_path: Path) -> None:
        """The whole file counts, not what stands at its beginning."""
        others = b"".join(b"%d,%d\n" % (i * 7_919 % 10_007, i * i % 10_009) for i in range(2_000))
        (tmp_path / "t.csv.gz").write_bytes(gzip.compress(ROWS + others))
        assert len(rows_of(tmp_path / "t.csv.gz")) == 52_000

    @pytest.mark.usefixtures("small_is_small")
    def test_a_bomb_in_the_header_is_refused(self, tmp_path: Path) -> None:
        """It is looked at before the rows are."""
        (tmp_path / "t.csv.gz").write_bytes(gzip.compress(b"x" * 3_000_000))
        assert "unpacks to more than" in said(tmp_path / "t.csv.gz")

    def test_a_first_line_that_never_ends_is_refused_in_an_archive(self, tmp_path: Path) -> None:
        core = meta_table("core", "Occurrence", "o.txt", ["decimalLatitude"])
        path = put_zip(tmp_path / "a.zip", {"o.txt": "x" * 5_000_000}, core)
        assert "o.txt in a.zip begins with a line of more than 4,194,304 characters" in said(path)

    def test_a_directory_that_lies_does_not_help(self, tmp_path: Path) -> None:
        """No more than the directory says is unpacked."""
        path = put_zip(tmp_path / "t.zip", {"t.csv": ROWS})
        with zipfile.ZipFile(path) as archive:
            told = archive.getinfo("t.csv").file_size.to_bytes(4, "little")
        content = path.read_bytes()
        path.write_bytes(content.replace(told, (100).to_bytes(4, "little")))
        assert "cannot be read" in said(path)


class TestHolding:
    """A table that must be in memory as a whole may not be larger than a part of it."""

    BATCH = Batch(0, 0, pa.RecordBatch.from_pydict({"n": list(range(1_000))}))

    def test_batches_pass_up_to_the_limit_and_not_beyond(self) -> None:
        assert len(list(held([self.BATCH] * 2, "t.csv", most_bytes=16_000))) == 2
        with pytest.raises(DataError, match=r"first 3,000 rows of t\.csv take 24,000 bytes.* may take 23,999 on this"):
            list(held([self.BATCH] * 3, "t.csv", most_bytes=23_999))

    def test_presence_absence_and_whole_tables_are_held(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """Whatever the file's own size is."""
        monkeypatch.setattr(holding, "memory_bytes", lambda: 4_000)
        (tmp_path / "t.csv.gz").write_bytes(gzip.compress(b"lon,lat,speciesId\n" + b"5.0,45.0,1\n" * 500))
        with pytest.raises(DataError, match="500 rows of"):
            read_table(tmp_path / "t.csv.gz")
        with pytest.raises(DataError, match="500 rows of"):
            read_presence_absence(TableInput(tmp_path / "t.csv.gz"), RecordRules(species=SpeciesReader()))

    def test_a_container_has_less_memory_than_its_machine(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Where Linux says so; a container without a limit says max."""
        monkeypatch.setattr(holding, "LIMITS", (tmp_path / "memory.max", tmp_path / "none"))
        (tmp_path / "memory.max").write_text("max\n")
        whole = memory_bytes()
        (tmp_path / "memory.max").write_text("1048576\n")
        assert memory_bytes() == 1_048_576 < whole

    def test_a_system_that_does_not_tell_its_memory_has_8_gib(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(holding, "LIMITS", ())
        monkeypatch.delattr("os.sysconf")
        assert memory_bytes() == 8 << 30


class TestReadingAhead:
    """A parser reads ahead in a thread of its own."""

    def test_a_stopped_stream_gives_nothing_more(self) -> None:
        """What was read before stays counted; who asks again gets the end."""
        stream = CountedLines(io.BytesIO(b"a\nb\nc\n"))
        assert stream.read(4) == b"a\nb\n"
        stream.stop()
        assert stream.read(4) == b""
        assert stream.n_lines == 2

    def test_at_its_end_nobody_is_waited_for(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(streams, "LONGEST_WAIT_S", 60)
        stream = CountedLines(io.BytesIO(b"a\n"))
        while stream.read(4):
            pass
        stream.stop()

    def test_a_table_that_is_left_is_not_read_on(self, tmp_path: Path) -> None:
        """After a fault, or when somebody has seen enough."""
        (tmp_path / "t.csv").write_bytes(ROWS * 20)
        source = TableInput(tmp_path / "t.csv", batch_bytes=1_000)
        batches = source.batches()
        next(batches)
        batches.close()  # type: ignore[attr-defined]  # it is a generator
        assert source.files[0].n_rows == 0
