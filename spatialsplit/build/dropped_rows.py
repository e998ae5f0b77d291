"""The rows of an input that are dropped as faulty: why, where they stood, and their own cells."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa

from spatialsplit.build.spool import Spool
from spatialsplit.occurrences import CheckedBatch, RecordReader
from spatialsplit.occurrences.faults import REASONS
from spatialsplit.tables import OutputColumn, TableWriter, Written


def dropped_cells(checked: CheckedBatch) -> list[pa.Array] | None:
    """Give reason, file, row and the input's cells of the faulty rows, if there are any."""
    rows = np.flatnonzero(checked.reasons)
    if not rows.size:
        return None
    reasons = pa.array([REASONS[code] for code in checked.reasons[rows].tolist()])
    file = pa.array(np.full(rows.size, checked.batch.file))
    cells = checked.batch.rows.take(pa.array(rows)).columns
    return [reasons, file, pa.array(checked.batch.first_row + rows), *cells]


class DroppedRows:
    """The rows that were dropped as faulty, until their lines are known."""

    def __init__(self, reader: RecordReader, folder: Path):
        self._reader = reader
        self._spool = Spool(folder, "dropped")
        self._columns = [
            OutputColumn("reason", pa.string()),
            OutputColumn("file", pa.int64()),
            OutputColumn("row", pa.int64()),
            *(OutputColumn(name, kind) for name, kind in zip(reader.source.header, reader.source.types, strict=True)),
        ]

    def add(self, cells: list[pa.Array] | None) -> None:
        """Set aside what `dropped_cells` gave for a batch."""
        if cells is not None:
            self._spool.write(self._columns, cells)

    def __enter__(self) -> DroppedRows:
        return self

    def __exit__(self, *error: object) -> None:
        self._spool.__exit__(*error)

    def write(self, paths: Sequence[Path]) -> dict[str, list[Written]]:
        """Write the table of dropped rows, by its role; nothing where no row was dropped."""
        if not self._spool.used:
            return {}
        with TableWriter(paths, dropped_columns(self._reader), ",") as writer:
            for batch in self._spool.batches():
                places = list(zip(batch.column(1).to_pylist(), batch.column(2).to_pylist(), strict=True))
                writer.write([batch.column(0), *source_lines(self._reader, places), *batch.columns[3:]])
        return {"dropped_po": writer.written}


def dropped_columns(reader: RecordReader) -> list[OutputColumn]:
    """Declare the table of dropped rows: why, where, and the input's own columns."""
    own = [OutputColumn(name, kind) for name, kind in zip(reader.source.header, reader.source.types, strict=True)]
    return [
        OutputColumn("reason", pa.string()),
        OutputColumn("file", pa.string()),
        OutputColumn("line", pa.int64()),
        *own,
    ]


def source_lines(reader: RecordReader, places: Sequence[tuple[int, int]]) -> list[pa.Array]:
    """Give file name and line of rows; for files without lines, the row counted from 1."""
    files = reader.source.files
    lines: dict[tuple[int, int], int] = {}
    for number in {file for file, _ in places}:
        rows = [row for file, row in places if file == number]
        for row, line in zip(rows, files[number].lines_of(rows), strict=True):
            lines[number, row] = line if line is not None else row + 1
    return [
        pa.array([files[file].name for file, _ in places], pa.string()),
        pa.array([lines[place] for place in places], pa.int64()),
    ]
