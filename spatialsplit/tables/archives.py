"""A zip archive as a table: Darwin Core as its `meta.xml` says, or the one table that it holds.

An archive with an occurrence core is that core. One with an event core and an occurrence extension is its occurrences,
each with what its event says; the events are in memory meanwhile, the occurrences are streamed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import IO

import pyarrow as pa
import pyarrow.compute as pc

from spatialsplit.errors import DataError, first_few
from spatialsplit.tables.csv_files import LONGEST_HEADER, CsvFile
from spatialsplit.tables.darwin_core import EVENT, OCCURRENCE, Meta, MetaTable, read_meta
from spatialsplit.tables.files import BATCH_BYTES, Dialect, TableFile
from spatialsplit.tables.packing import Packing, open_archive, opened_member, read_small, tables_in
from spatialsplit.tables.parquet_files import is_parquet

META = "meta.xml"
SPREADSHEET = "[Content_Types].xml"


def open_zip(path: Path, dialect: Dialect) -> TableFile:
    """Open an archive as a table.

    Raises
    ------
    DataError
        It holds no table or several, or its `meta.xml` describes something else.
    """
    with open_archive(path) as archive:
        names = tables_in(archive)
        if SPREADSHEET in names:
            raise DataError(f"{path.name} is a spreadsheet. A table is CSV or Parquet. Save the sheet as CSV.")
        metas = [name for name in names if PurePosixPath(name).name == META]
        if metas:
            folder = PurePosixPath(min(metas, key=len)).parent
            meta = read_meta(read_small(archive, str(folder / META)), path.name)
            return _open_darwin_core(path, dialect, meta, folder, names)
        tables = [name for name in names if PurePosixPath(name).suffix.lower() not in (".xml", ".md", ".pdf", ".html")]
        if len(tables) != 1:
            raise DataError(
                f"{path.name} holds {len(tables)} tables{_named(tables)} and no meta.xml that says which. A zip "
                "archive holds one, or is a Darwin Core archive. Unpack it and name the table."
            )
        with opened_member(archive, tables[0]) as member:
            if is_parquet(member.read(4)):
                raise DataError(f"{path.name} holds a Parquet file. It is not read inside an archive. Unpack it.")
    return CsvFile(path, dialect, packing=Packing("zip", tables[0]))


def _named(names: Sequence[str]) -> str:
    return f" ({first_few(names)})" if names else ""


def _open_darwin_core(path: Path, dialect: Dialect, meta: Meta, folder: PurePosixPath, names: list[str]) -> TableFile:
    def table(of: MetaTable, *needed: str) -> _ArchiveTable:
        member = str(folder / of.location)
        if member not in names:
            raise DataError(
                f"meta.xml of {path.name} names {of.location}, which is not there. Fetch the archive again."
            )
        return _ArchiveTable(path, dialect, packing=Packing("zip", member), described=of, needed=needed)

    if meta.core.row_type == OCCURRENCE:
        return table(meta.core)
    occurrences = [extension for extension in meta.extensions if extension.row_type == OCCURRENCE]
    if meta.core.row_type != EVENT or len(occurrences) != 1:
        raise DataError(
            f"{path.name} is a Darwin Core archive of {meta.core.row_type or 'no known'} rows. Records come from an "
            "occurrence core, or an event core with one occurrence extension. Choose another archive."
        )
    events, records = (of.header(0)[of.id_index] for of in (meta.core, occurrences[0]))
    return _EventArchive(path, dialect, events=table(meta.core, events), records=table(occurrences[0], records))


@dataclass
class _ArchiveTable(CsvFile):
    """One table of a Darwin Core archive, its columns named by `meta.xml` and not by its first line."""

    described: MetaTable = field(default_factory=lambda: MetaTable("", "", ",", True, "utf-8", 0, 0))
    needed: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        self.dialect = Dialect(
            self.described.separator,
            self.described.encoding,
            self.described.quoted,
            None if self.dialect.only is None else self.dialect.only | set(self.needed),
            self.dialect.only_in_darwin_core,
        )
        super().__post_init__()
        self.id_at = self.columns.index(self.described.header(0)[self.described.id_index]) if self.needed else 0
        self.columns += list(self.described.defaults)

    def _read_header(self, text: IO[str]) -> None:
        self.darwin_core = True
        self.separator, self.quoted = self.described.separator, self.described.quoted
        self.header_lines = self.described.header_lines
        lines = [text.readline(LONGEST_HEADER) for _ in range(max(self.header_lines, 1))]
        if len(lines[-1]) == LONGEST_HEADER:
            raise DataError(
                f"{self.described.location} in {self.name} begins with a line of more than {LONGEST_HEADER:,} "
                "characters. A table has lines. Fetch the archive again."
            )
        self.header_bytes = len("".join(lines).encode(errors="replace"))
        width = len(next(iter(self._cells_of(lines[:1])), []))
        self._choose(self.described.header(width))

    def batches(self, batch_bytes: int = BATCH_BYTES) -> Iterator[tuple[int, pa.RecordBatch]]:
        """Give (number of the first row, rows), with the columns that have one value everywhere."""
        names = [str(i) for i in range(len(self.columns))]
        for first_row, rows in super().batches(batch_bytes):
            same = [pa.array([value] * rows.num_rows, pa.string()) for value in self.described.defaults.values()]
            yield first_row, pa.RecordBatch.from_arrays([*rows.columns, *same], names=names)


@dataclass
class _EventArchive(TableFile):
    """The occurrences of an event core, each with its event's cells where it has none of its own."""

    events: _ArchiveTable = field(kw_only=True)
    records: _ArchiveTable = field(kw_only=True)

    def __post_init__(self) -> None:
        self.darwin_core = True
        own = [name for i, name in enumerate(self.records.columns) if i != self.records.id_at]
        of_event = ["eventID" if i == self.events.id_at else name for i, name in enumerate(self.events.columns)]
        self._from_record = [i for i in range(len(self.records.columns)) if i != self.records.id_at]
        self._of_event = {name: i for i, name in reversed(list(enumerate(of_event)))}
        self.columns = list(dict.fromkeys([*own, *of_event]))

    @property
    def types(self) -> list[pa.DataType]:
        """Text for every column."""
        return [pa.string()] * len(self.columns)

    def batches(self, batch_bytes: int = BATCH_BYTES) -> Iterator[tuple[int, pa.RecordBatch]]:
        """Give (number of the first row, rows) of the occurrences."""
        self.records.hashed, self.events.hashed = self.hashed, False
        parts = [rows for _, rows in self.events.batches(batch_bytes)]
        if not parts:
            raise DataError(f"{self.name} has no events. Fetch the archive again.")
        events = pa.Table.from_batches(parts).combine_chunks()
        ids = events.column(self.events.id_at).combine_chunks()
        n_twice = len(ids) - len(ids.unique())
        if n_twice:
            raise DataError(
                f"{n_twice:,} of {len(ids):,} events of {self.name} repeat an earlier one's id. Each has its own. Ask "
                "the publisher to mend the archive."
            )
        for first_row, rows in self.records.batches(batch_bytes):
            yield first_row, self._joined(rows, events, pc.index_in(rows.column(self.records.id_at), value_set=ids))
        self.sha256, self.n_rows, self.n_bytes = self.records.sha256, self.records.n_rows, self.records.n_bytes

    def _joined(self, rows: pa.RecordBatch, events: pa.Table, which: pa.Array) -> pa.RecordBatch:
        own = {self.records.columns[i]: rows.column(i) for i in self._from_record}
        cells = []
        for name in self.columns:
            column = own.get(name)
            if name in self._of_event:
                told = events.column(self._of_event[name]).combine_chunks().take(which).fill_null("")
                column = told if column is None else pc.if_else(pc.equal(column, ""), told, column)
            cells.append(column)
        return pa.RecordBatch.from_arrays(cells, names=[str(i) for i in range(len(cells))])

    def lines_of(self, rows: Sequence[int]) -> list[int | None]:
        """Give the line in the occurrences' file of each row."""
        return self.records.lines_of(rows)
