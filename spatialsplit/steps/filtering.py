"""Remove the presence-only records near sites, from a table or from a folder of its parts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from spatialsplit.engine import Engine, Threads
from spatialsplit.errors import DataError, first_few
from spatialsplit.occurrences import RecordReader
from spatialsplit.occurrences.reading import Tally
from spatialsplit.po_filter import HoldoutSites, PoFilter
from spatialsplit.publishing import new_files, new_folder
from spatialsplit.steps.passing import Reading, as_they_are, check_outputs, refuse_faults
from spatialsplit.steps.sites import Sites, SiteTable, read_sites
from spatialsplit.tables import (
    Batch,
    OutputColumn,
    Piece,
    TableInput,
    open_writer,
)
from spatialsplit.tables.writing import Preparation

DONE = "_SUCCESS"
"""The file that says that a folder of parts is complete, as other writers of such folders do."""


@dataclass(frozen=True)
class FilterCounts:
    """What the step `filter-po` did."""

    n_in: int
    n_removed: int
    n_sites: int

    @property
    def n_kept(self) -> int:
        """Records that are farther away than the radius."""
        return self.n_in - self.n_removed


@dataclass(frozen=True)
class FilterOutputs:
    """Where the kept rows go, and the removed ones where they are wanted."""

    kept: Path
    removed: Path | None = None


def filter_po_table(
    po: Path,
    sites: SiteTable,
    radius_m: float,
    outputs: FilterOutputs,
    *,
    uncertainty: str | None = None,
    reading: Reading | None = None,
    engine: Engine | None = None,
) -> FilterCounts:
    """Remove the presence-only records at the radius of a site or nearer.

    Parameters
    ----------
    po : path
        A table; or a folder of Parquet files, where the outputs are folders too.
    sites : SiteTable
    radius_m : float
    outputs : FilterOutputs
        The kept rows are written untouched; the removed ones with `distance_m` and the nearest site's id. A name
        without an
        ending is a folder and gets a Parquet file for each file of `po`, written where the file is worked on.
    uncertainty : str, optional
        Column whose metres are added to a record's radius.
    engine : Engine, optional
        In threads of this process, unless said.

    Raises
    ------
    DataError
        A row of either table has no place, or no site is there.
    OutputError
        An output cannot be written.
    """
    reading = reading or Reading()
    check_outputs([po, sites.path], [outputs.kept, outputs.removed])
    place = read_sites(sites)
    po_filter = PoFilter([HoldoutSites("near_site", place.lon, place.lat)], radius_m)
    source = reading.source(po)
    reader = RecordReader(source, reading.rules(uncertainty=uncertainty))
    kept = as_they_are(source)
    removed = [*kept, OutputColumn("distance_m", pa.float64(), 3), OutputColumn(place.name, place.ids.type)]
    judge = _Judge(reader, po_filter, place)
    engine = engine or Threads(reading.threads)
    columns = [kept] if outputs.removed is None else [kept, removed]
    if outputs.kept.suffix == "":
        n_removed = _filter_parts(judge, columns, outputs, engine)
    else:
        n_removed = _filter_whole(judge, columns, outputs, engine, reading.on_progress)
    return FilterCounts(reader.faults.n_rows, n_removed, len(place.lon))


@dataclass(frozen=True)
class _Judge:
    """Says of the rows of a batch which stay and which go; pure, and the same in every thread, process and machine."""

    reader: RecordReader
    filter: PoFilter
    place: Sites

    def rows(self, batch: Batch) -> tuple[Tally, int, list[list[pa.Array]]]:
        """Give what the batch showed, how many rows go, and the cells of those that stay and of those that go."""
        checked = self.reader.check(batch)
        if not checked.fine.all():
            return self.reader.look(checked), 0, []
        gone = self.filter.removed(checked.places.lon, checked.places.lat, checked.uncertainty_m)
        stays = np.ones(batch.rows.num_rows, dtype=bool)
        stays[gone.record] = False
        kept = batch.rows.columns
        if len(gone.record):
            mask = pa.array(stays)
            kept = [column.filter(mask) for column in kept]
        removed = batch.rows.take(pa.array(gone.record)).columns
        nearest = self.place.ids.take(pa.array(gone.site))
        return self.reader.look(checked), len(gone.record), [kept, [*removed, pa.array(gone.distance_m), nearest]]

    def batches(self, work: Batch | Piece) -> Iterator[Batch]:
        """Give the rows that a piece of work means."""
        return iter([work]) if isinstance(work, Batch) else self.reader.source.read_piece(work)


@dataclass(frozen=True)
class _WholeTask:
    """Judge some rows and make the bytes of both outputs."""

    judge: _Judge
    preparations: tuple[Preparation, ...]

    def __call__(self, work: Batch | Piece) -> list[tuple[Tally, int, list[Any]]]:
        done = []
        for batch in self.judge.batches(work):
            tally, n_gone, cells = self.judge.rows(batch)
            pairs = zip(self.preparations, cells, strict=False)
            done.append((tally, n_gone, [preparation.prepare(rows) for preparation, rows in pairs]))
        return done


def _filter_whole(
    judge: _Judge,
    columns: list[list[OutputColumn]],
    outputs: FilterOutputs,
    engine: Engine,
    on_progress: Callable[[int, float], None],
) -> int:
    """Write one file for each output; the rows come back to this process."""
    n_removed = 0
    source = judge.reader.source
    with new_files(outputs.kept, outputs.removed) as parts, ExitStack() as stack:
        writers = [stack.enter_context(open_writer(part, own)) for part, own in zip(parts, columns, strict=True)]
        task = _WholeTask(judge, tuple(writer.preparation for writer in writers))
        pieces = source.pieces() if engine.remote else None
        work: Iterable[Batch | Piece] = source.batches() if pieces is None else pieces
        for done in engine.map(task, work):
            for tally, n_gone, prepared in done:
                judge.reader.add(tally)
                on_progress(judge.reader.faults.n_rows, source.fraction_read)
                n_removed += n_gone
                for writer, rows in zip(writers, prepared, strict=False):
                    writer.write_prepared(rows)
        refuse_faults(judge.reader)
    return n_removed


@dataclass(frozen=True)
class _PartTask:
    """Judge one file of a folder and write its parts of both outputs, wherever this runs."""

    judge: _Judge
    columns: list[list[OutputColumn]]
    folders: tuple[Path, ...]

    def __call__(self, pieces: list[Piece]) -> tuple[list[Tally], int]:
        name = f"{self.judge.reader.source.files[pieces[0].file].path.stem}.parquet"
        tallies, n_removed = [], 0
        with new_files(*(folder / name for folder in self.folders)) as parts, ExitStack() as stack:
            writers = [
                stack.enter_context(open_writer(part, own)) for part, own in zip(parts, self.columns, strict=True)
            ]
            for piece in pieces:
                for batch in self.judge.batches(piece):
                    tally, n_gone, cells = self.judge.rows(batch)
                    tallies.append(tally)
                    n_removed += n_gone
                    for writer, rows in zip(writers, cells, strict=False):
                        writer.write(rows)
        return tallies, n_removed


def _filter_parts(judge: _Judge, columns: list[list[OutputColumn]], outputs: FilterOutputs, engine: Engine) -> int:
    """Write a folder for each output, a file a file; the rows never come to this process."""
    pieces = judge.reader.source.pieces()
    if pieces is None:
        raise DataError(
            f"{outputs.kept} has no ending, so it is a folder of Parquet files, but {judge.reader.source.name} is "
            f"not Parquet. Name an output that ends "
            "in .csv or .parquet."
        )
    if outputs.removed is not None and outputs.removed.suffix:
        raise DataError(
            f"--out is a folder, so --removed must be one too: '{outputs.removed.name}' has an ending. Leave it out."
        )
    _refuse_twins(judge.reader.source)
    by_file = [list(group) for _, group in groupby(pieces, key=lambda piece: piece.file)]
    targets = [path for path in (outputs.kept, outputs.removed) if path is not None]
    n_removed = 0
    with ExitStack() as stack:
        folders = tuple(stack.enter_context(new_folder(path, force=True, replaces=DONE)) for path in targets)
        for tallies, n_gone in engine.map(_PartTask(judge, columns, folders), by_file):
            n_removed += n_gone
            for tally in tallies:
                judge.reader.add(tally)
        refuse_faults(judge.reader)
        for folder in folders:
            (folder / DONE).touch()
    return n_removed


def _refuse_twins(source: TableInput) -> None:
    stems = [file.path.stem for file in source.files]
    twice = sorted({stem for stem in stems if stems.count(stem) > 1})
    if twice:
        raise DataError(
            f"Files of {source.name} have the same name in different folders: {first_few(twice)}. Each part needs "
            f"its own. Rename them."
        )
