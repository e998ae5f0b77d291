"""Rows that wait in a file until all of them are known, in any number: memory holds a batch."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.ipc

from spatialsplit.tables import OutputColumn


class Spool:
    """Record batches that wait in a file; the columns' names do not matter there."""

    def __init__(self, folder: Path, name: str):
        self._path = folder / f".{name}.arrows"
        self._writer: Any = None
        self.used = False

    def __enter__(self) -> Spool:
        return self

    def __exit__(self, *error: object) -> None:
        self._close()
        self._path.unlink(missing_ok=True)

    def _close(self) -> None:
        if self._writer is not None:
            self._writer.close()
            self._writer = None

    def write(self, columns: Sequence[OutputColumn], cells: Sequence[pa.Array]) -> None:
        """Add rows: an array a column."""
        if not len(cells[0]):
            return
        self.used = True
        schema = pa.schema([pa.field(str(i), column.kind) for i, column in enumerate(columns)])
        if self._writer is None:
            self._writer = pa.ipc.new_stream(str(self._path), schema)
        self._writer.write_batch(pa.RecordBatch.from_arrays(list(cells), schema=schema))

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Give all rows that wait, in their order."""
        self._close()
        if self._path.exists():
            with self._path.open("rb") as file, pa.ipc.open_stream(file) as stream:
                yield from stream
