"""A Parquet file, its cells in their own types."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet

from spatialsplit.errors import DataError, shown
from spatialsplit.tables.darwin_core import has_terms
from spatialsplit.tables.files import BATCH_BYTES, BATCH_ROWS, TableFile
from spatialsplit.tables.streams import HashedInput

MAGIC = b"PAR1"


@dataclass
class ParquetFile(TableFile):
    """A Parquet file, its cells in their own types."""

    def __post_init__(self) -> None:
        try:
            self._schema = pyarrow.parquet.read_schema(self.path)
        except (pa.ArrowException, OSError) as error:
            raise DataError(self._unreadable(error)) from None
        header = list(self._schema.names)
        self.darwin_core = has_terms(header)
        chosen = self.dialect.chosen(header, darwin_core=self.darwin_core)
        unique = len(set(header)) == len(header)  # Parquet's reader chooses columns by name
        self._chosen = [header[i] for i in chosen] if unique and len(chosen) < len(header) else None
        self._schema = pa.schema([self._schema.field(i) for i in (chosen if self._chosen else range(len(header)))])
        self.columns = list(self._schema.names)

    @property
    def types(self) -> list[pa.DataType]:
        """The type of each column, without what only matters inside the file."""
        return [pa.string() if self._is_list(kind) else _plain(kind) for kind in self._schema.types]

    def _is_list(self, kind: pa.DataType) -> bool:
        """Tell whether cells are lists of words, as flags are in GBIF's snapshots; elsewhere a list is no cell."""
        return self.darwin_core and _words_of(kind) is not None

    def _cells(self, rows: pa.RecordBatch) -> pa.RecordBatch:
        columns = [_joined(column) if self._is_list(column.type) else column for column in rows.columns]
        return pa.RecordBatch.from_arrays(columns, names=[str(i) for i in range(len(columns))])

    def groups(self) -> list[tuple[int, int]]:
        """Give (number of the row group, number of its first row) of each row group."""
        try:
            metadata = pyarrow.parquet.read_metadata(self.path)
        except (pa.ArrowException, OSError) as error:
            raise DataError(self._unreadable(error)) from None
        firsts, first_row = [], 0
        for number in range(metadata.num_row_groups):
            firsts.append((number, first_row))
            first_row += metadata.row_group(number).num_rows
        return firsts

    def group_batches(self, number: int, first_row: int, batch_rows: int) -> Iterator[tuple[int, pa.RecordBatch]]:
        """Give (number of the first row, rows) of one row group, whose own first row is given."""
        try:
            with pyarrow.parquet.ParquetFile(self.path) as parquet:
                for rows in parquet.iter_batches(batch_size=batch_rows, row_groups=[number], columns=self._chosen):
                    yield first_row, self._cells(rows)
                    first_row += rows.num_rows
        except (pa.ArrowException, OSError) as error:
            raise DataError(self._unreadable(error)) from None

    def batches(self, batch_bytes: int = BATCH_BYTES) -> Iterator[tuple[int, pa.RecordBatch]]:
        """Give (number of the first row, rows) from the start to the end."""
        first_row = 0
        try:
            size = self.path.stat().st_size
            with pyarrow.parquet.ParquetFile(self.path) as parquet:
                n_all = max(parquet.metadata.num_rows, 1)
                batch_rows = max(batch_bytes * BATCH_ROWS // BATCH_BYTES, 1)
                for rows in parquet.iter_batches(batch_size=batch_rows, columns=self._chosen):
                    self.n_bytes = size * first_row // n_all
                    yield first_row, self._cells(rows)
                    first_row += rows.num_rows
        except (pa.ArrowException, OSError) as error:
            raise DataError(self._unreadable(error)) from None
        with HashedInput(self.path, hashed=self.hashed) as whole:
            self.sha256, self.n_rows, self.n_bytes = whole.finish(), first_row, whole.n_bytes

    def _unreadable(self, error: object) -> str:
        return (
            f"{self.name} cannot be read as Parquet ({shown(str(error).splitlines()[0].rstrip('.'))}). It may be "
            "truncated or damaged. Fetch or write it again."
        )


FileFacts = tuple[int, int, str]
"""Rows, bytes and SHA-256 of a file."""


def parquet_facts(path: Path) -> FileFacts:
    """Give rows, bytes and SHA-256 of a Parquet file."""
    with HashedInput(path) as whole:
        sha256 = whole.finish()
        return pyarrow.parquet.read_metadata(path).num_rows, whole.n_bytes, sha256


def is_parquet(start: bytes) -> bool:
    """Tell by its first bytes whether a file is Parquet.

    Examples
    --------
    >>> is_parquet(b"PAR1"), is_parquet(b"a,b")
    (True, False)
    """
    return start[:4] == MAGIC


def _words_of(kind: pa.DataType) -> pa.DataType | None:
    """Give the type of the words of a list, which may each be wrapped once more; None where it is no list of words."""
    if not pa.types.is_list(kind) and not pa.types.is_large_list(kind):
        return None
    word = kind.value_type
    if pa.types.is_struct(word) and word.num_fields == 1:
        word = word.field(0).type
    return word if pa.types.is_string(word) or pa.types.is_large_string(word) else None


def _joined(lists: pa.Array) -> pa.StringArray:
    """Write lists of words as GBIF's text tables do, with a semicolon between."""
    words = lists.flatten()
    if pa.types.is_struct(words.type):
        words = words.field(0)
    lengths = pc.fill_null(pc.list_value_length(lists), 0).cast(pa.int32()).to_numpy(zero_copy_only=False)
    offsets = pa.array(np.concatenate([[0], np.cumsum(lengths)]), pa.int32())
    texts = words.cast(pa.string()).fill_null("")
    return pc.binary_join(pa.ListArray.from_arrays(offsets, texts), ";")


def _plain(kind: pa.DataType) -> pa.DataType:
    """Undo what only matters inside a Parquet file: dictionaries and large text."""
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    return pa.string() if pa.types.is_large_string(kind) or pa.types.is_string_view(kind) else kind
