"""Stream the presence-only records through check and filter into the published file.

A batch is checked, filtered and turned into bytes in any thread; only the writing is in order. Where a record's fate
or number depends on
all records (names that get numbers, rare species, a maximum a species), the kept records wait in an Arrow file in the
build's folder.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.ipc

from spatialsplit.build.steps import Step
from spatialsplit.engine import Engine
from spatialsplit.occurrences import CheckedBatch, RecordReader
from spatialsplit.occurrences.faults import REASONS
from spatialsplit.occurrences.reading import Tally
from spatialsplit.po_filter import PoFilter, Removed, count_reasons
from spatialsplit.tables import Batch, OutputColumn, Piece, TableWriter, Written
from spatialsplit.tables.writing import Preparation

RARE, OVER_MAXIMUM = "rare_species", "over_maximum"

DISTANCE_DECIMALS = 3


@dataclass(frozen=True)
class SpeciesLimits:
    """How many records a species must and may have.

    Attributes
    ----------
    min_records : int
        Species with fewer training records, presence-only and presence-absence together, lose their presence-only ones.
    max_records : int, optional
        Presence-only records a species keeps; those with the smallest SHA-256 of `seed|po|species|k`, k counting its
        records from 0.
    """

    min_records: int = 1
    max_records: int | None = None

    @property
    def apply(self) -> bool:
        """Whether there is any limit."""
        return self.min_records > 1 or self.max_records is not None


@dataclass(frozen=True)
class Beside:
    """What the presence-absence data says about species.

    Attributes
    ----------
    labels : mapping
        Training labels of each species, by number or name.
    names : set of str
        Names that the published presence-absence tables hold, where species are names.
    seed : str
    """

    labels: Mapping[int | str, int]
    names: set[str]
    seed: str


@dataclass(frozen=True)
class PoOutputs:
    """Where the records go, each in one or several forms.

    Attributes
    ----------
    folder : path
        For files that are only needed meanwhile.
    """

    kept: Sequence[Path]
    removed: Sequence[Path]
    dropped: Sequence[Path]
    separator: str
    folder: Path


@dataclass
class PoResult:
    """What became of the presence-only records.

    Attributes
    ----------
    n_read : int
    faulty, removed : dict of str to int
        Rows by reason: dropped as faulty, and removed by the filter or the limits.
    written : dict of str to list of Written
        By role, a file a form.
    species : dict
        Published records of each species, by number or name.
    numbers : dict of str to int
        Number of each name, where species are names.
    """

    n_read: int = 0
    faulty: dict[str, int] = field(default_factory=dict)
    removed: dict[str, int] = field(default_factory=dict)
    written: dict[str, list[Written]] = field(default_factory=dict)
    species: dict[int | str, int] = field(default_factory=dict)
    numbers: dict[str, int] = field(default_factory=dict)

    def steps(self) -> list[Step]:
        """Give the counts of reading and of filtering."""
        return [
            Step("read_po", self.n_read, self.faulty),
            Step("filter_po", self.n_read - sum(self.faulty.values()), self.removed),
        ]


@dataclass(frozen=True)
class _Filtered:
    """A batch after check and filter: small enough to come from another machine."""

    tally: Tally
    kept: list[pa.Array]
    removed: list[pa.Array]
    removed_reasons: dict[str, int]
    dropped: list[pa.Array] | None
    species: dict[int | str, int]
    prepared: Any


@dataclass(frozen=True)
class _FilterTask:
    """Check, filter and prepare batches; pure, and the same in every thread, process and machine.

    Called with a batch, or with a piece of a table that it then reads itself.
    """

    reader: RecordReader
    filter: PoFilter
    survey_ids: Sequence[npt.NDArray[np.int64]]
    species_at: int
    preparation: Preparation | None

    def __call__(self, work: Batch | Piece) -> list[_Filtered]:
        batches = self.reader.source.read_piece(work) if isinstance(work, Piece) else [work]
        return [self._filtered(batch) for batch in batches]

    def _filtered(self, batch: Batch) -> _Filtered:
        checked = self.reader.check(batch)
        fine = np.flatnonzero(checked.fine)
        lon, lat = checked.places.lon[fine], checked.places.lat[fine]
        uncertainty = checked.uncertainty_m[fine] if checked.uncertainty_m is not None else None
        gone = self.filter.removed(lon, lat, uncertainty)
        cells, stays = self._cells(checked), checked.fine
        stays[fine[gone.record]] = False
        mask, lost = pa.array(stays), pa.array(fine[gone.record])
        kept = cells if stays.all() else [column.filter(mask) for column in cells]
        removed = [*(column.take(lost) for column in cells), *self._verdicts(gone)]
        species = _tally(kept[self.species_at])
        prepared = self.preparation.prepare(kept) if self.preparation is not None else None
        return _Filtered(
            self.reader.look(checked),
            kept if prepared is None else [],
            removed,
            count_reasons(gone),
            _dropped_cells(checked),
            species,
            prepared,
        )

    def _cells(self, checked: CheckedBatch) -> list[pa.Array]:
        cells = list(checked.batch.rows.columns)
        found = self.reader.found
        cells[found["lon"]], cells[found["lat"]] = pa.array(checked.places.lon), pa.array(checked.places.lat)
        cells[found["speciesId"]] = checked.species
        return cells

    def _verdicts(self, gone: Removed) -> list[pa.Array]:
        nearest = np.zeros(len(gone.record), dtype=np.int64)
        for number, ids in enumerate(self.survey_ids):
            mine = gone.holdout == number
            nearest[mine] = ids[gone.site[mine]]
        return [pa.array(gone.reason.tolist(), pa.string()), pa.array(gone.distance_m), pa.array(nearest)]


def _dropped_cells(checked: CheckedBatch) -> list[pa.Array] | None:
    """Give reason, file, row and the input's cells of the faulty rows, if there are any."""
    rows = np.flatnonzero(checked.reasons)
    if not rows.size:
        return None
    reasons = pa.array([REASONS[code] for code in checked.reasons[rows].tolist()])
    file = pa.array(np.full(rows.size, checked.batch.file))
    cells = checked.batch.rows.take(pa.array(rows)).columns
    return [reasons, file, pa.array(checked.batch.first_row + rows), *cells]


class PresenceOnly:
    """The presence-only records of a build.

    Parameters
    ----------
    reader : RecordReader
    po_filter : PoFilter
    survey_ids : sequence of array of int
        `surveyId` of the sites of each holdout of the filter.
    on_progress : callable, optional
        Told the rows that are done, and which fraction of the work that is.
    """

    def __init__(
        self,
        reader: RecordReader,
        po_filter: PoFilter,
        survey_ids: Sequence[npt.NDArray[np.int64]],
        on_progress: Callable[[int, float], None] = lambda rows, fraction: None,
    ):
        self.reader, self.filter, self.survey_ids, self.on_progress = reader, po_filter, survey_ids, on_progress
        decimals = reader.rules.decimals
        self.text_species = reader.rules.species is not None and reader.rules.species.kind == "text"
        kinds = {name: OutputColumn(name, pa.float64(), decimals) for name in ("lon", "lat")}
        species_type = pa.string() if self.text_species else pa.int64()
        kinds["speciesId"] = OutputColumn("speciesId", species_type)
        self.columns = reader.output_columns(kinds)
        self.removed_columns = [
            *self.columns,
            OutputColumn("reason", pa.string()),
            OutputColumn("distance_m", pa.float64(), DISTANCE_DECIMALS),
            OutputColumn("nearest_surveyId", pa.int64()),
        ]
        self._species_at = [column.name for column in self.columns].index("speciesId")

    def stream(self, outputs: PoOutputs, limits: SpeciesLimits, beside: Beside, engine: Engine) -> PoResult:
        """Read, check, filter and write all records.

        Whether rows had faults that are not dropped is for the caller to ask of the reader, before the files are used.
        """
        result = PoResult()
        with _Spool(outputs.folder, "removed") as removed, _DroppedRows(self.reader, outputs.folder) as dropped:
            if self.text_species or limits.apply:
                with _Spool(outputs.folder, "kept") as kept:
                    self._first_pass(result, kept, removed, dropped, engine)
                    self._finish(result, outputs, _Fates(limits, result.species, beside), kept, removed, beside)
            else:
                with TableWriter(outputs.kept, self.columns, outputs.separator) as direct:
                    self._first_pass(result, direct, removed, dropped, engine)
                result.written["po_train"] = direct.written
            self._write_removed(result, outputs, removed)
            result.written |= dropped.write(outputs)
        return result

    def _first_pass(
        self, result: PoResult, kept: TableWriter | _Spool, removed: _Spool, dropped: _DroppedRows, engine: Engine
    ) -> None:
        preparation = kept.preparation if isinstance(kept, TableWriter) else None
        task = _FilterTask(self.reader, self.filter, self.survey_ids, self._species_at, preparation)
        for filtered in _flat(engine.map(task, self._work(engine))):
            self.reader.add(filtered.tally)
            self._tell(engine)
            dropped.add(filtered.dropped)
            _add(result.removed, filtered.removed_reasons)
            _add(result.species, filtered.species)
            removed.write(self.removed_columns, filtered.removed)
            if isinstance(kept, TableWriter):
                kept.write_prepared(filtered.prepared)
            else:
                kept.write(self.columns, filtered.kept)
        result.n_read, result.faulty = self.reader.faults.n_rows, dict(self.reader.faults.counts)

    def _tell(self, engine: Engine) -> None:
        """Say how far the work is: by rows where the number of all rows is known, else by bytes."""
        source, n_rows = self.reader.source, self.reader.faults.n_rows
        known = sum(file.n_rows for file in source.files) if engine.remote else 0
        self.on_progress(n_rows, n_rows / known if known else source.fraction_read)

    def _work(self, engine: Engine) -> Iterable[Batch | Piece]:
        """Give pieces of files where workers can read them themselves, else the rows."""
        pieces = self.reader.source.pieces() if engine.remote else None
        if pieces is None:
            return self.reader.source.batches()
        self.reader.source.describe_files(engine.map)
        return pieces

    def _finish(
        self, result: PoResult, outputs: PoOutputs, fates: _Fates, kept: _Spool, removed: _Spool, beside: Beside
    ) -> None:
        """Write the records that waited: drop what the limits drop, and give names their numbers."""
        result.species = fates.left()
        if self.text_species:
            names = sorted({str(name) for name in result.species} | beside.names)
            result.numbers = {name: number for number, name in enumerate(names)}
        with TableWriter(outputs.kept, self._numbered_columns(self.columns), outputs.separator) as writer:
            for rows in kept.batches():
                reasons = fates.of(rows.column(self._species_at))
                for reason in (RARE, OVER_MAXIMUM):
                    late = np.flatnonzero(reasons == reason)
                    _add(result.removed, {reason: late.size})
                    removed.write(self.removed_columns, self._late(rows, late, reason))
                stays = rows.take(pa.array(np.flatnonzero(reasons == "")))
                writer.write(self._numbered(stays.columns, result.numbers))
        result.written["po_train"] = writer.written

    def _late(self, rows: pa.RecordBatch, positions: npt.NDArray[np.intp], reason: str) -> list[pa.Array]:
        n = len(positions)
        cells = rows.take(pa.array(positions)).columns
        return [*cells, pa.array([reason] * n, pa.string()), pa.nulls(n, pa.float64()), pa.nulls(n, pa.int64())]

    def _numbered_columns(self, columns: Sequence[OutputColumn]) -> list[OutputColumn]:
        return [OutputColumn(c.name, pa.int64()) if c.name == "speciesId" else c for c in columns]

    def _numbered(self, cells: Sequence[pa.Array], numbers: Mapping[str, int]) -> list[pa.Array]:
        """Put numbers in the place of names; a name that is not published has none."""
        cells = list(cells)
        if self.text_species:
            cells[self._species_at] = species_numbers(cells[self._species_at], numbers)
        return cells

    def _write_removed(self, result: PoResult, outputs: PoOutputs, removed: _Spool) -> None:
        columns = self._numbered_columns(self.removed_columns)
        if self.text_species:
            columns.append(OutputColumn("speciesName", pa.string()))
        with TableWriter(outputs.removed, columns, ",") as writer:
            for rows in removed.batches():
                names = [rows.column(self._species_at)] if self.text_species else []
                writer.write([*self._numbered(rows.columns, result.numbers), *names])
        result.written["po_removed"] = writer.written


def species_numbers(names: pa.Array, numbers: Mapping[str, int]) -> pa.Array:
    """Give the number of each name, missing where a name has none."""
    encoded = names.dictionary_encode()
    known = pa.array([numbers.get(name) for name in encoded.dictionary.to_pylist()], pa.int64())
    return known.take(encoded.indices)


def _flat(lists: Iterable[list[_Filtered]]) -> Iterator[_Filtered]:
    for each in lists:
        yield from each


def _add(total: dict[Any, int], counts: Mapping[Any, int]) -> None:
    for name, n in counts.items():
        total[name] = total.get(name, 0) + n


def _tally(species: pa.Array) -> dict[int | str, int]:
    counts = species.value_counts()
    return dict(zip(counts.field("values").to_pylist(), counts.field("counts").to_pylist(), strict=True))


class _Fates:
    """Which of the records that passed the filter fall to the limits."""

    def __init__(self, limits: SpeciesLimits, species: Mapping[int | str, int], beside: Beside):
        self._rare = {name for name, n in species.items() if n + beside.labels.get(name, 0) < limits.min_records}
        self._kept_of: dict[int | str, set[int]] = {}
        if limits.max_records is not None:
            for name, n in species.items():
                if n > limits.max_records and name not in self._rare:
                    numbers = [(hashlib.sha256(f"{beside.seed}|po|{name}|{k}".encode()).digest(), k) for k in range(n)]
                    self._kept_of[name] = {k for _, k in sorted(numbers)[: limits.max_records]}
        self._seen: dict[int | str, int] = {}
        self._species = species

    def left(self) -> dict[int | str, int]:
        """Give the records that each species keeps."""
        return {
            name: len(self._kept_of[name]) if name in self._kept_of else n
            for name, n in self._species.items()
            if name not in self._rare
        }

    def of(self, species: pa.Array) -> npt.NDArray[np.object_]:
        """Give the reason of each record, empty for one that stays; batches must come in order."""
        reasons = np.full(len(species), "", dtype=object)
        if not self._rare and not self._kept_of:
            return reasons
        for i, name in enumerate(species.to_pylist()):
            if name in self._rare:
                reasons[i] = RARE
            elif name in self._kept_of:
                k = self._seen.get(name, 0)
                self._seen[name] = k + 1
                if k not in self._kept_of[name]:
                    reasons[i] = OVER_MAXIMUM
        return reasons


class _Spool:
    """Record batches that wait in a file; the columns' names do not matter there."""

    def __init__(self, folder: Path, name: str):
        self._path = folder / f".{name}.arrows"
        self._writer: Any = None
        self.used = False

    def __enter__(self) -> _Spool:
        return self

    def __exit__(self, *error: object) -> None:
        self._close()
        self._path.unlink(missing_ok=True)

    def _close(self) -> None:
        if self._writer is not None:
            self._writer.close()
            self._writer = None

    def write(self, columns: Sequence[OutputColumn], cells: Sequence[pa.Array]) -> None:
        if not len(cells[0]):
            return
        self.used = True
        schema = pa.schema([pa.field(str(i), column.kind) for i, column in enumerate(columns)])
        if self._writer is None:
            self._writer = pa.ipc.new_stream(str(self._path), schema)
        self._writer.write_batch(pa.RecordBatch.from_arrays(list(cells), schema=schema))

    def batches(self) -> Iterator[pa.RecordBatch]:
        self._close()
        if self._path.exists():
            with self._path.open("rb") as file, pa.ipc.open_stream(file) as stream:
                yield from stream


class _DroppedRows:
    """The rows that were dropped as faulty, until their lines are known."""

    def __init__(self, reader: RecordReader, folder: Path):
        self._reader = reader
        self._spool = _Spool(folder, "dropped")
        self._columns = [
            OutputColumn("reason", pa.string()),
            OutputColumn("file", pa.int64()),
            OutputColumn("row", pa.int64()),
            *(OutputColumn(name, kind) for name, kind in zip(reader.source.header, reader.source.types, strict=True)),
        ]

    def add(self, cells: list[pa.Array] | None) -> None:
        if cells is not None:
            self._spool.write(self._columns, cells)

    def __enter__(self) -> _DroppedRows:
        return self

    def __exit__(self, *error: object) -> None:
        self._spool.__exit__(*error)

    def write(self, outputs: PoOutputs) -> dict[str, list[Written]]:
        if not self._spool.used:
            return {}
        with TableWriter(outputs.dropped, dropped_columns(self._reader), ",") as writer:
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
