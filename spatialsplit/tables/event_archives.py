"""An event core with its occurrences as one table: each occurrence with what its event says.

The events are in memory meanwhile, the occurrences are streamed. An event that lacks its place or day has its parent's.
Where it is asked for, events without an occurrence follow at the end: visits that found nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from spatialsplit.errors import DataError
from spatialsplit.tables.csv_files import CsvFile
from spatialsplit.tables.files import BATCH_BYTES, TableFile
from spatialsplit.tables.holding import held_rows

INHERITED = (
    ("decimalLatitude", "decimalLongitude", "coordinateUncertaintyInMeters", "geodeticDatum"),
    ("eventDate", "startDayOfYear", "year", "month", "day"),
    ("countryCode",),
)
"""Terms that an event has from its parent: each group as a whole, where the event says nothing of the kind itself."""

DEEPEST = 8
"""How many parents an event may have above it: expedition, site, visit, plot, trap, sample."""


@dataclass
class EventArchive(TableFile):
    """The occurrences of an event core, each with its event's cells where it has none of its own."""

    events: CsvFile = field(kw_only=True)
    records: CsvFile = field(kw_only=True)
    event_id_at: int = field(kw_only=True)
    record_id_at: int = field(kw_only=True)
    hash_events: bool = field(kw_only=True, default=False)

    def __post_init__(self) -> None:
        self.darwin_core = True
        own = [name for i, name in enumerate(self.records.columns) if i != self.record_id_at]
        of_event = ["eventID" if i == self.event_id_at else name for i, name in enumerate(self.events.columns)]
        self._from_record = [i for i in range(len(self.records.columns)) if i != self.record_id_at]
        self._of_event = {name: i for i, name in reversed(list(enumerate(of_event)))}
        self.columns = list(dict.fromkeys([*own, *of_event]))

    @property
    def types(self) -> list[pa.DataType]:
        """Text for every column."""
        return [pa.string()] * len(self.columns)

    def batches(self, batch_bytes: int = BATCH_BYTES) -> Iterator[tuple[int, pa.RecordBatch]]:
        """Give (number of the first row, rows): the occurrences, then perhaps the events without one."""
        self.records.hashed, self.events.hashed = self.hashed, self.hashed and self.hash_events
        events = self._read_events(batch_bytes)
        ids = events.column(self.event_id_at)
        has_record = np.zeros(len(ids), dtype=bool)
        for first_row, rows in self.records.batches(batch_bytes):
            which = pc.index_in(rows.column(self.record_id_at), value_set=ids)
            has_record[which.drop_null().to_numpy()] = True
            yield first_row, self._joined(rows, events, which)
        self.sha256, self.n_rows, self.n_bytes = self.records.sha256, self.records.n_rows, self.records.n_bytes
        if self.dialect.with_empty_events:
            yield from self._without_record(events, np.flatnonzero(~has_record & ~self._is_parent(events)))

    def _without_record(
        self, events: pa.RecordBatch, which: npt.NDArray[np.intp]
    ) -> Iterator[tuple[int, pa.RecordBatch]]:
        if not which.size:
            return
        self.empty_from = self.n_rows
        nothing = pa.array([""] * len(which), pa.string())
        no_record = pa.RecordBatch.from_arrays(
            [nothing] * len(self.records.columns), names=[str(i) for i in range(len(self.records.columns))]
        )
        self.n_rows += len(which)
        yield self.empty_from, self._joined(no_record, events, pa.array(which.astype(np.int32)))

    def _read_events(self, batch_bytes: int) -> pa.RecordBatch:
        parts = list(held_rows((rows for _, rows in self.events.batches(batch_bytes)), self.name))
        if not parts:
            raise DataError(f"{self.name} has no events. Fetch the archive again.")
        events = pa.Table.from_batches(parts).combine_chunks().to_batches()[0]
        ids = events.column(self.event_id_at)
        n_twice = len(ids) - len(ids.unique())
        if n_twice:
            raise DataError(
                f"{n_twice:,} of {len(ids):,} events of {self.name} repeat an earlier one's id. Each has its own. Ask "
                "the publisher to mend the archive."
            )
        return self._with_inherited(events)

    def _with_inherited(self, events: pa.RecordBatch) -> pa.RecordBatch:
        """Fill an event's place, and its day, from its parent, where it says nothing of it at all."""
        if "parentEventID" not in self._of_event:
            return events
        columns = list(events.columns)
        parent = pc.index_in(columns[self._of_event["parentEventID"]], value_set=columns[self.event_id_at])
        for terms in INHERITED:
            there = [self._of_event[term] for term in terms if term in self._of_event]
            for _ in range(DEEPEST if there else 0):
                inherits = pc.and_(_all_empty([columns[i] for i in there]), parent.is_valid())
                if not pc.any(inherits).as_py():
                    break
                told = [columns[i].take(parent) for i in there]
                for i, cells in zip(there, told, strict=True):
                    columns[i] = pc.if_else(inherits, cells, columns[i])
        return pa.RecordBatch.from_arrays(columns, names=events.schema.names)

    def _is_parent(self, events: pa.RecordBatch) -> npt.NDArray[np.bool_]:
        """Tell which events are the frame of others, and no visit of their own."""
        if "parentEventID" not in self._of_event:
            return np.zeros(events.num_rows, dtype=bool)
        parents = events.column(self._of_event["parentEventID"])
        return np.asarray(pc.is_in(events.column(self.event_id_at), value_set=parents))

    def _joined(self, rows: pa.RecordBatch, events: pa.RecordBatch, which: pa.Array) -> pa.RecordBatch:
        own = {self.records.columns[i]: rows.column(i) for i in self._from_record}
        cells = []
        for name in self.columns:
            column = own.get(name)
            if name in self._of_event:
                told = events.column(self._of_event[name]).take(which).fill_null("")
                column = told if column is None else pc.if_else(pc.equal(column, ""), told, column)
            cells.append(column)
        return pa.RecordBatch.from_arrays(cells, names=[str(i) for i in range(len(cells))])

    def lines_of(self, rows: Sequence[int]) -> list[int | None]:
        """Give the line in the occurrences' file of each row; an event without one has none there."""
        of_records = [self.empty_from is None or row < self.empty_from for row in rows]
        lines = iter(self.records.lines_of([row for row, there in zip(rows, of_records, strict=True) if there]))
        return [next(lines) if there else None for there in of_records]


def _all_empty(columns: Sequence[pa.Array]) -> pa.BooleanArray:
    empty = pc.equal(columns[0], "")
    for column in columns[1:]:
        empty = pc.and_(empty, pc.equal(column, ""))
    return empty
