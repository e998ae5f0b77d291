"""Find the rows of a table that repeat an earlier one: it takes a pass of its own, and some 16 bytes a row.

Only rows without another fault are compared, so that no row is dropped for one that is dropped itself. The first in the
file's order stays, for any size of batch and number of threads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from spatialsplit.occurrences.oddities import row_codes
from spatialsplit.occurrences.reading import CheckedBatch, RecordReader
from spatialsplit.tables import Batch
from spatialsplit.tables.writing import is_cell

Run = Callable[[Callable[[Batch], "Codes"], Iterable[Batch]], Iterable["Codes"]]


class Codes:
    """What the fine rows of a batch are, each as one number, for each reason."""

    def __init__(self, checked: CheckedBatch, reader: RecordReader, reasons: list[str]):
        rows = np.flatnonzero(checked.fine)
        self.file = checked.batch.file
        self.rows = rows + checked.batch.first_row
        chosen = pa.array(rows)
        self.of = {}
        for reason in reasons:
            columns = _whole(checked) if reason == "duplicate_row" else _record(checked, reader)
            self.of[reason] = row_codes([column.take(chosen) for column in columns])


def _whole(checked: CheckedBatch) -> list[pa.Array]:
    return [column for column in checked.batch.rows.columns if is_cell(column.type)]


def _record(checked: CheckedBatch, reader: RecordReader) -> list[pa.Array]:
    """Give species, published place and day; where no single day is known, the date as it is written."""
    days = checked.days
    day = pa.array(np.where(days.day_of_year > 0, days.years * 1000 + days.day_of_year, 0))
    written = reader.text(checked.batch, "date")
    no_day = pa.array(days.day_of_year == 0)
    as_written = pa.compute.if_else(no_day, written, "") if written is not None else pa.array(days.years)
    species = checked.species if checked.species is not None else pa.nulls(len(days.years), pa.string())
    return [species, pa.array(checked.places.lon), pa.array(checked.places.lat), day, as_written]


def find_repeats(reader: RecordReader, reasons: list[str], run: Run) -> dict[str, Mapping[int, npt.NDArray[np.int64]]]:
    """Read a table through and give, for each reason, the rows of each file that repeat an earlier one.

    A row that repeats another in every cell is no repeated record as well.

    Parameters
    ----------
    reader : RecordReader
    reasons : list of str
        `duplicate_row`, `duplicate_record`.
    run : callable
        Maps a function over batches, in order.
    """
    parts = list(run(lambda batch: Codes(reader.check(batch), reader, reasons), reader.source.batches()))
    if not parts:
        return {}
    file = np.concatenate([np.full(len(part.rows), part.file) for part in parts])
    row = np.concatenate([part.rows for part in parts])
    left = np.ones(len(row), dtype=bool)
    found: dict[str, Mapping[int, npt.NDArray[np.int64]]] = {}
    for reason in reasons:
        codes = np.concatenate([part.of[reason] for part in parts])
        among = np.flatnonzero(left)
        _, first = np.unique(codes[among], return_index=True)
        again = np.ones(len(among), dtype=bool)
        again[first] = False
        repeated = among[again]
        left[repeated] = False
        found[reason] = {int(f): row[repeated[file[repeated] == f]] for f in np.unique(file[repeated]).tolist()}
    return found
