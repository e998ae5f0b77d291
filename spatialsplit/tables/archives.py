"""An archive as a table: Darwin Core as its `meta.xml` says, packed or unpacked, or the one table that a zip holds.

An archive with an occurrence core is that core. One with an event core and an occurrence extension is its occurrences,
each with what its event says (`event_archives`).
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import IO

import pyarrow as pa
import pyarrow.compute as pc

from spatialsplit.errors import DataError, first_few, shown
from spatialsplit.tables.csv_files import LONGEST_HEADER, CsvFile
from spatialsplit.tables.darwin_core import EVENT, OCCURRENCE, Meta, MetaTable, read_meta
from spatialsplit.tables.event_archives import EventArchive
from spatialsplit.tables.files import BATCH_BYTES, Dialect, TableFile
from spatialsplit.tables.packing import Packing, open_archive, opened_member, read_small, tables_in
from spatialsplit.tables.parquet_files import is_parquet

META = "meta.xml"
LARGEST_META = 1 << 22
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


def open_folder(path: Path, dialect: Dialect) -> TableFile:
    """Open an unpacked Darwin Core archive: a folder with a `meta.xml`.

    Raises
    ------
    DataError
        Its `meta.xml` describes something else, or files that are not in the folder.
    """
    with (path / META).open("rb") as file:
        meta = read_meta(file.read(LARGEST_META), path.name)

    def table(of: MetaTable, *needed: str) -> _ArchiveTable:
        """Open one file of the archive."""
        location = PurePosixPath(of.location)
        inside = not location.is_absolute() and ".." not in location.parts and "\\" not in of.location
        if not inside or not (path / location).is_file():
            raise DataError(_not_there(path, of))
        return _ArchiveTable(path / location, dialect, described=of, needed=needed)

    return _UnpackedArchive(path, dialect, table=_described(path, dialect, meta, table))


def _open_darwin_core(path: Path, dialect: Dialect, meta: Meta, folder: PurePosixPath, names: list[str]) -> TableFile:
    def table(of: MetaTable, *needed: str) -> _ArchiveTable:
        """Open one file of the archive."""
        member = str(folder / of.location)
        if member not in names:
            raise DataError(_not_there(path, of))
        return _ArchiveTable(path, dialect, packing=Packing("zip", member), described=of, needed=needed)

    return _described(path, dialect, meta, table)


def _not_there(path: Path, of: MetaTable) -> str:
    return f"meta.xml of {path.name} names {shown(of.location)}, which is not there. Fetch the archive again."


def _described(path: Path, dialect: Dialect, meta: Meta, table: Callable[..., _ArchiveTable]) -> TableFile:
    """Open the table that an archive is, by what opens one of its files."""
    if meta.core.row_type == OCCURRENCE:
        return table(meta.core)
    occurrences = [extension for extension in meta.extensions if extension.row_type == OCCURRENCE]
    if meta.core.row_type != EVENT or len(occurrences) != 1:
        raise DataError(
            f"{path.name} is a Darwin Core archive of {meta.core.row_type or 'no known'} rows. Records come from an "
            "occurrence core, or an event core with one occurrence extension. Choose another archive."
        )
    events, records = (table(of, of.header(0)[of.id_index]) for of in (meta.core, occurrences[0]))
    return EventArchive(
        path, dialect, events=events, records=records, event_id_at=events.id_at, record_id_at=records.id_at
    )


@dataclass
class _ArchiveTable(CsvFile):
    """One table of a Darwin Core archive, its columns named by `meta.xml` and not by its first line."""

    described: MetaTable = field(default_factory=lambda: MetaTable("", "", ",", True, "utf-8", 0, 0))
    needed: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        self.dialect = Dialect(
            self.described.separator,
            self.described.encoding if self.dialect.is_utf8 else self.dialect.encoding,  # a publisher may be wrong
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
        """Give (number of the first row, rows), with the values that `meta.xml` has for cells that are not there."""
        names = [str(i) for i in range(len(self.columns))]
        for first_row, rows in super().batches(batch_bytes):
            own = [
                self._filled(name, cells) for name, cells in zip(self.columns, rows.columns, strict=False)
            ]  # the constant columns have no cells yet
            same = [pa.array([value] * rows.num_rows, pa.string()) for value in self.described.defaults.values()]
            yield first_row, pa.RecordBatch.from_arrays([*own, *same], names=names)

    def _filled(self, name: str, cells: pa.Array) -> pa.Array:
        value = self.described.where_empty.get(name)
        return cells if value is None else pc.if_else(pc.equal(cells, ""), value, cells)


@dataclass
class _UnpackedArchive(TableFile):
    """The table that the files of a folder make, named after the folder.

    Its SHA-256 is that of what `sha256sum meta.xml …` prints of the files that were read, in that order.
    """

    table: TableFile = field(kw_only=True)

    def __post_init__(self) -> None:
        self.columns, self.darwin_core = self.table.columns, True
        if isinstance(self.table, EventArchive):
            self.table.hash_events = True

    @property
    def types(self) -> list[pa.DataType]:
        """Text for every column."""
        return self.table.types

    @property
    def _tables(self) -> list[TableFile]:
        return [self.table.events, self.table.records] if isinstance(self.table, EventArchive) else [self.table]

    @property
    def parts(self) -> list[Path]:
        """The files that it lies in."""
        return [self.path / META, *(table.path for table in self._tables)]

    def batches(self, batch_bytes: int = BATCH_BYTES) -> Iterator[tuple[int, pa.RecordBatch]]:
        """Give (number of the first row, rows) from the start to the end."""
        self.table.hashed = self.hashed
        for first_row, rows in self.table.batches(batch_bytes):
            self.n_bytes, self.empty_from = self.table.n_bytes, self.table.empty_from
            yield first_row, rows
        self.n_rows = self.table.n_rows
        self.n_bytes = sum(part.stat().st_size for part in self.parts)
        if self.hashed:
            meta = hashlib.sha256((self.path / META).read_bytes()).hexdigest()
            hashes = zip([meta, *(table.sha256 for table in self._tables)], self.parts, strict=True)
            lines = [f"{digest}  {part.relative_to(self.path).as_posix()}\n" for digest, part in hashes]
            self.sha256 = hashlib.sha256("".join(lines).encode()).hexdigest()

    def lines_of(self, rows: Sequence[int]) -> list[int | None]:
        """Give the line in the records' file of each row."""
        return self.table.lines_of(rows)
