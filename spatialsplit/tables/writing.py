"""Write tables as CSV, byte-equal everywhere, and as Parquet.

CSV is UTF-8 with LF, a header, and a cell quoted only where it must be. A published coordinate has a fixed number of
decimals, so no library's way of printing numbers shows in the bytes.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any

import pyarrow as pa
import pyarrow.parquet

from spatialsplit.errors import DataError, shown
from spatialsplit.tables.csv_text import as_text, csv_bytes, header_line, rounded
from spatialsplit.tables.digest import ContentDigest, logical_type

ENDINGS = (".csv", ".tsv", ".txt", ".parquet")


@dataclass(frozen=True)
class OutputColumn:
    """A column to write.

    Attributes
    ----------
    name : str
        In the file.
    kind : pyarrow.DataType
    decimals : int, optional
        A fixed number of decimals, for coordinates and distances.
    means : str, optional
        Our own name for it, where a layout has another.
    """

    name: str
    kind: pa.DataType
    decimals: int | None = None
    means: str | None = None

    @property
    def type(self) -> str:
        """The logical type: integer, number or text."""
        return logical_type(self.kind)


@dataclass(frozen=True)
class Written:
    """What was written, for the manifest."""

    path: Path
    sha256: str
    n_bytes: int
    n_rows: int
    separator: str | None
    columns: tuple[OutputColumn, ...]
    content_sha256: str


@dataclass(frozen=True)
class Preparation:
    """The part of writing that can be done in any thread or process: the bytes of some rows.

    Attributes
    ----------
    columns : tuple of OutputColumn
    separator : str
    forms : tuple of str
        The ending of each file.
    """

    columns: tuple[OutputColumn, ...]
    separator: str
    forms: tuple[str, ...]

    def prepare(self, cells: Sequence[pa.Array]) -> list[Any]:
        """Make the rows of each form; the rounded cells stand in front."""
        cells = [rounded(array, column.decimals) for array, column in zip(cells, self.columns, strict=True)]
        return [cells, *(self._rows(form, cells) for form in self.forms)]

    def _rows(self, form: str, cells: Sequence[pa.Array]) -> Any:
        if form == ".parquet":
            schema = pa.schema([pa.field(column.name, column.kind) for column in self.columns])
            return pa.RecordBatch.from_arrays(list(cells), schema=schema)
        texts = [as_text(array, column.decimals) for array, column in zip(cells, self.columns, strict=True)]
        return csv_bytes(texts, self.separator)


@dataclass
class TableWriter:
    """A table that is being written, in one or several forms at once.

    Use it as a context manager; after it, `written` describes the files. A path that ends in `.parquet` is Parquet, any
    other CSV. A column with decimals is rounded to them in every form. Where `described` is off, nothing is
    hashed, and `written` holds no hashes.

    Raises
    ------
    DataError
        A column holds what no cell of a CSV can show: lists, structures or bytes.
    """

    paths: Sequence[Path]
    columns: Sequence[OutputColumn]
    separator: str = ","
    written: list[Written] = field(default_factory=list)
    n_rows: int = 0
    described: bool = True

    def __enter__(self) -> TableWriter:
        _check_kinds(self.columns)
        columns = self.columns if self.described else []
        self._digest = ContentDigest([(column.name, column.type) for column in columns])
        self._files = [
            _ParquetForm(path, self.columns, hashed=self.described)
            if path.suffix == ".parquet"
            else _CsvForm(path, self.columns, self.separator, hashed=self.described)
            for path in self.paths
        ]
        return self

    def write(self, cells: Sequence[pa.Array]) -> None:
        """Add rows: an array a column, of the column's type."""
        self.write_prepared(self.prepare(cells))

    @property
    def preparation(self) -> Preparation:
        """The part of writing that can be done anywhere."""
        return Preparation(tuple(self.columns), self.separator, tuple(path.suffix for path in self.paths))

    def prepare(self, cells: Sequence[pa.Array]) -> list[Any]:
        """Do the part of writing that can be done in any thread: make the bytes of these rows."""
        return self.preparation.prepare(cells)

    def write_prepared(self, prepared: list[Any]) -> None:
        """Add rows that `prepare` made, in the order of the table."""
        cells, *forms = prepared
        if not cells or not len(cells[0]):
            return
        self.n_rows += len(cells[0])
        self._digest.update(cells if self.described else [])
        for form, rows in zip(self._files, forms, strict=True):
            form.write(rows)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        content = self._digest.hexdigest() if self.described else ""
        with ExitStack() as closing:
            for form in self._files:
                closing.callback(form.close)
        for form in self._files:
            if error is None:
                self.written.append(
                    Written(
                        form.path,
                        form.sha256,
                        form.n_bytes,
                        self.n_rows,
                        self.separator if isinstance(form, _CsvForm) else None,
                        tuple(self.columns),
                        content,
                    )
                )


class HashedOutput:
    """A new file whose bytes are hashed as they are written, where the hash is wanted."""

    def __init__(self, path: Path, *, hashed: bool = True):
        self.path = path
        self._file = path.open("wb")
        self._hash = hashlib.sha256()
        self._hashed = hashed
        self.n_bytes = 0

    def write(self, data: bytes | memoryview) -> int:
        """Write and hash some bytes."""
        self._file.write(data)
        if self._hashed:
            self._hash.update(data)
        self.n_bytes += len(data)
        return len(data)

    def close(self) -> None:
        """Bring the bytes of a file that is published to the disk, so that a full disk shows here and not later."""
        if not self._file.closed:
            with self._file:
                self._file.flush()
                if self._hashed:
                    os.fsync(self._file.fileno())

    @property
    def closed(self) -> bool:
        """Whether the file is closed."""
        return self._file.closed

    @property
    def sha256(self) -> str:
        """The SHA-256 of all bytes so far; nothing where it is not wanted."""
        return self._hash.hexdigest() if self._hashed else ""


class _CsvForm(HashedOutput):
    def __init__(self, path: Path, columns: Sequence[OutputColumn], separator: str, *, hashed: bool):
        super().__init__(path, hashed=hashed)
        self.write(header_line([column.name for column in columns], separator).encode())


class _ParquetForm:
    """A Parquet file in row groups of a fixed size, so that the batches in which rows come do not show in its bytes.

    The writer is opened with the first rows, which show where a dictionary pays.
    """

    def __init__(self, path: Path, columns: Sequence[OutputColumn], *, hashed: bool):
        self.path = path
        self._out = HashedOutput(path) if hashed else None
        self._compression = "zstd" if hashed else "snappy"  # small to publish, quick to pass on
        self._schema = pa.schema([pa.field(column.name, column.kind) for column in columns])
        self._writer: pyarrow.parquet.ParquetWriter | None = None
        self._waiting: list[pa.RecordBatch] = []
        self._n_waiting = 0

    def _open(self, rows: pa.Table) -> pyarrow.parquet.ParquetWriter:
        names = self._schema.names
        repeated = [
            name for name, cells in zip(names, rows.columns, strict=True) if len(rows) and repeats_itself(cells)
        ]
        dictionary: list[str] | bool = repeated if len(set(names)) == len(names) else False
        sink = pa.PythonFile(self._out, mode="w") if self._out else str(self.path)
        return pyarrow.parquet.ParquetWriter(
            sink, self._schema, compression=self._compression, use_dictionary=dictionary
        )

    def write(self, rows: pa.RecordBatch) -> None:
        """Add rows; they wait until a row group is full."""
        self._waiting.append(rows)
        self._n_waiting += len(rows)
        if self._n_waiting >= GROUP_ROWS:
            self._write_groups(at_the_end=False)

    def _write_groups(self, *, at_the_end: bool) -> None:
        """Write the whole row groups among the rows that wait, in the end also what is left."""
        rows = pa.Table.from_batches(self._waiting, self._schema)
        if self._writer is None:
            self._writer = self._open(rows.slice(0, GROUP_ROWS))
        n = len(rows) if at_the_end else len(rows) // GROUP_ROWS * GROUP_ROWS
        for start in range(0, n, GROUP_ROWS):
            group = rows.slice(start, min(GROUP_ROWS, n - start)).combine_chunks()
            self._writer.write_table(group, row_group_size=GROUP_ROWS)
        self._waiting = rows.slice(n).to_batches()
        self._n_waiting = len(rows) - n

    def close(self) -> None:
        """Write what still waits, and the end of the file."""
        try:
            self._write_groups(at_the_end=True)
        finally:
            if self._writer is not None:
                self._writer.close()
            if self._out:
                self._out.close()

    @property
    def sha256(self) -> str:
        """The SHA-256 of the whole file; nothing where it is not wanted."""
        return self._out.sha256 if self._out else ""

    @property
    def n_bytes(self) -> int:
        """Bytes of the file."""
        return self._out.n_bytes if self._out else self.path.stat().st_size


GROUP_ROWS = 1 << 17
"""Rows of a row group."""

SAMPLE_ROWS = 20_000


def repeats_itself(cells: pa.Array | pa.ChunkedArray) -> bool:
    """Tell by a sample whether a column has so few values that a Parquet dictionary pays; else it takes long.

    Examples
    --------
    >>> repeats_itself(pa.array([1, 1, 2, 2] * 50)), repeats_itself(pa.array(range(200)))
    (True, False)
    """
    sample = cells.slice(0, SAMPLE_ROWS)
    return bool(len(sample.unique()) * 4 <= len(sample))


def open_writer(path: Path | str, columns: Sequence[OutputColumn], *, separator: str = ",") -> TableWriter:
    """Open one file for writing, CSV or Parquet by its ending; nothing is hashed.

    Raises
    ------
    DataError
        The ending is none of .csv, .tsv, .txt and .parquet.
    """
    path = Path(path)
    check_ending(path)
    return TableWriter([path], columns, "\t" if path.suffix == ".tsv" else separator, described=False)


def write_table(
    path: Path | str, table: pa.Table, *, decimals: dict[str, int] | None = None, separator: str = ","
) -> Written:
    """Write a whole table, CSV or Parquet by the path's ending.

    Parameters
    ----------
    path : path
    table : pyarrow.Table
    decimals : dict of str to int, optional
        A fixed number of decimals for columns of numbers.
    """
    decimals = decimals or {}
    columns = [
        OutputColumn(name, kind, decimals.get(name))
        for name, kind in zip(table.schema.names, table.schema.types, strict=True)
    ]
    writer = open_writer(path, columns, separator=separator)
    writer.described = True
    with writer:
        writer.write([column.combine_chunks() for column in table.columns])
    return writer.written[0]


def check_ending(path: Path) -> None:
    """Refuse an output whose form its name does not tell.

    Raises
    ------
    DataError
        The ending is none of .csv, .tsv, .txt and .parquet.
    """
    if path.suffix not in ENDINGS:
        raise DataError(
            f"Cannot tell the form of '{path.name}'. An output ends in .csv, .tsv or .parquet. Give it such a name."
        )


def _check_kinds(columns: Sequence[OutputColumn]) -> None:
    problems = [
        f"Column '{shown(column.name)}' holds {column.kind}, which no cell of a CSV can show. Columns are numbers, "
        "text, days or yes and no. Leave it out of the input."
        for column in columns
        if not is_cell(column.kind)
    ]
    if problems:
        raise DataError(problems)


def is_cell(kind: pa.DataType) -> bool:
    """Tell whether a cell of a CSV can show values of a type: no list, structure or bytes.

    Examples
    --------
    >>> is_cell(pa.date32()), is_cell(pa.list_(pa.int64())), is_cell(pa.binary())
    (True, False, False)
    """
    families = (pa.types.is_nested, pa.types.is_binary, pa.types.is_large_binary, pa.types.is_fixed_size_binary)
    odd = isinstance(kind, pa.BaseExtensionType) or pa.types.is_binary_view(kind)
    return not odd and not any(family(kind) for family in families)
