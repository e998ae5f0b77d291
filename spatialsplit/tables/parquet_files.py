"""A Parquet file, its cells in their own types."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet

from spatialsplit.errors import DataError, shown
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
        chosen = self.dialect.chosen(header)
        unique = len(set(header)) == len(header)  # Parquet's reader chooses columns by name
        self._chosen = [header[i] for i in chosen] if unique and len(chosen) < len(header) else None
        self._schema = pa.schema([self._schema.field(i) for i in (chosen if self._chosen else range(len(header)))])
        self.columns = list(self._schema.names)

    @property
    def types(self) -> list[pa.DataType]:
        """The type of each column, without what only matters inside the file."""
        return [_plain(kind) for kind in self._schema.types]

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
        names = [str(i) for i in range(len(self.columns))]
        try:
            with pyarrow.parquet.ParquetFile(self.path) as parquet:
                for rows in parquet.iter_batches(batch_size=batch_rows, row_groups=[number], columns=self._chosen):
                    yield first_row, pa.RecordBatch.from_arrays(rows.columns, names=names)
                    first_row += rows.num_rows
        except (pa.ArrowException, OSError) as error:
            raise DataError(self._unreadable(error)) from None

    def batches(self, batch_bytes: int = BATCH_BYTES) -> Iterator[tuple[int, pa.RecordBatch]]:
        """Give (number of the first row, rows) from the start to the end."""
        first_row = 0
        names = [str(i) for i in range(len(self.columns))]
        try:
            size = self.path.stat().st_size
            with pyarrow.parquet.ParquetFile(self.path) as parquet:
                n_all = max(parquet.metadata.num_rows, 1)
                batch_rows = max(batch_bytes * BATCH_ROWS // BATCH_BYTES, 1)
                for rows in parquet.iter_batches(batch_size=batch_rows, columns=self._chosen):
                    self.n_bytes = size * first_row // n_all
                    yield first_row, pa.RecordBatch.from_arrays(rows.columns, names=names)
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


def _plain(kind: pa.DataType) -> pa.DataType:
    """Undo what only matters inside a Parquet file: dictionaries and large text."""
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    return pa.string() if pa.types.is_large_string(kind) or pa.types.is_string_view(kind) else kind
