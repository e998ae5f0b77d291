"""Stream the presence-only records through check and filter into the published file.

A batch is checked, filtered and turned into bytes in any thread; only the writing is in order. Where a record's fate
or number depends on
all records (names that get numbers, rare species, a maximum a species), the kept records wait in an Arrow file in the
build's folder.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from spatialsplit.build.dropped_rows import DroppedRows, dropped_cells
from spatialsplit.build.species import OVER_MAXIMUM, RARE, Beside, Fates, SpeciesLimits, species_numbers
from spatialsplit.build.spool import Spool
from spatialsplit.build.steps import Step
from spatialsplit.engine import Engine
from spatialsplit.occurrences import CheckedBatch, RecordReader
from spatialsplit.occurrences.reading import Tally
from spatialsplit.po_filter import PoFilter, Removed, count_reasons
from spatialsplit.tables import Batch, OutputColumn, Piece, TableWriter, Written
from spatialsplit.tables.writing import Preparation

DISTANCE_DECIMALS = 3


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
            dropped_cells(checked),
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
        self.verdict_columns = [
            OutputColumn("reason", pa.string()),
            OutputColumn("distance_m", pa.float64(), DISTANCE_DECIMALS),
            OutputColumn("nearest_surveyId", pa.int64()),
        ]
        self.removed_columns = [*self.columns, *self.verdict_columns]
        self._species_at = [column.name for column in self.columns].index("speciesId")

    def stream(self, outputs: PoOutputs, limits: SpeciesLimits, beside: Beside, engine: Engine) -> PoResult:
        """Read, check, filter and write all records.

        Whether rows had faults that are not dropped is for the caller to ask of the reader, before the files are used.
        """
        result = PoResult()
        with Spool(outputs.folder, "removed") as removed, DroppedRows(self.reader, outputs.folder) as dropped:
            if self.text_species or limits.apply:
                with Spool(outputs.folder, "kept") as kept:
                    self._first_pass(result, kept, removed, dropped, engine)
                    self._finish(result, outputs, Fates(limits, result.species, beside), kept, removed, beside)
            else:
                with TableWriter(outputs.kept, self.columns, outputs.separator) as direct:
                    self._first_pass(result, direct, removed, dropped, engine)
                result.written["po_train"] = direct.written
            self._write_removed(result, outputs, removed)
            result.written |= dropped.write(outputs.dropped)
        return result

    def _first_pass(
        self, result: PoResult, kept: TableWriter | Spool, removed: Spool, dropped: DroppedRows, engine: Engine
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
        self, result: PoResult, outputs: PoOutputs, fates: Fates, kept: Spool, removed: Spool, beside: Beside
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

    def _write_removed(self, result: PoResult, outputs: PoOutputs, removed: Spool) -> None:
        n = len(self.columns)
        names = [OutputColumn("speciesName", pa.string())] if self.text_species else []
        columns = [*self._numbered_columns(self.columns), *names, *self.verdict_columns]
        with TableWriter(outputs.removed, columns, ",") as writer:
            for rows in removed.batches():
                own = self._numbered(rows.columns[:n], result.numbers)
                named = [rows.column(self._species_at)] if self.text_species else []
                writer.write([*own, *named, *rows.columns[n:]])
        result.written["po_removed"] = writer.written


def _flat(lists: Iterable[list[_Filtered]]) -> Iterator[_Filtered]:
    for each in lists:
        yield from each


def _add(total: dict[Any, int], counts: Mapping[Any, int]) -> None:
    for name, n in counts.items():
        total[name] = total.get(name, 0) + n


def _tally(species: pa.Array) -> dict[int | str, int]:
    counts = species.value_counts()
    return dict(zip(counts.field("values").to_pylist(), counts.field("counts").to_pylist(), strict=True))
