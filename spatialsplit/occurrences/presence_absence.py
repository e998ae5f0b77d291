"""Read a whole presence-absence table, long or wide, into rows and labels.

Long tables have a row a survey and species, and a row without one for a visit of an event archive that found nothing;
wide ones a row a survey and a column a species, 0 or 1. Behind this door they are the same: rows that say where and
when, and labels that say which row found which species.
"""

from __future__ import annotations

import fnmatch
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from spatialsplit.errors import DataError, first_few, shown
from spatialsplit.occurrences.cells import SpeciesReader, cell_texts
from spatialsplit.occurrences.coordinates import Places
from spatialsplit.occurrences.faults import CODES, REASONS
from spatialsplit.occurrences.found_nothing import keep_visits
from spatialsplit.occurrences.reading import CheckedBatch, RecordReader, RecordRules
from spatialsplit.tables import Batch, TableInput, held

Integers = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

SET_ASIDE = {"subset": "sourceSubset"}
"""Columns of an earlier split, which must not be taken for ours: their name there and their name here."""


@dataclass(frozen=True)
class WideColumns:
    """Which columns of a wide table are species: names or patterns such as `swi*`."""

    patterns: Sequence[str]

    def positions(self, header: Sequence[str], where: str) -> list[int]:
        """Find the species columns.

        Raises
        ------
        DataError
            A pattern matches no column.
        """
        found: list[int] = []
        for pattern in self.patterns:
            matching = [i for i, name in enumerate(header) if fnmatch.fnmatchcase(name, pattern)]
            if not matching:
                raise DataError(
                    f"No column of {where} matches '{pattern}' in species_columns. It has: "
                    f"{first_few(header, shown=12)}. Correct the pattern."
                )
            found.extend(matching)
        return list(dict.fromkeys(found))


@dataclass
class Dropped:
    """Rows of an input that were dropped, with their reason and where they stood."""

    reasons: list[str] = field(default_factory=list)
    places: list[tuple[int, int]] = field(default_factory=list)
    rows: list[pa.RecordBatch] = field(default_factory=list)

    def add(self, checked: CheckedBatch) -> None:
        """Set aside the rows of a batch that have a reason."""
        positions = np.flatnonzero(checked.reasons)
        if positions.size:
            batch = checked.batch
            self.reasons.extend(REASONS[code] for code in checked.reasons[positions].tolist())
            self.places.extend((batch.file, batch.first_row + i) for i in positions.tolist())
            self.rows.append(batch.rows.take(pa.array(positions)))


@dataclass(frozen=True)
class PresenceAbsence:
    """A presence-absence table, checked.

    Attributes
    ----------
    lon, lat : array of float, shape (rows,)
    keys : list of pyarrow.StringArray
        One for each key column.
    years : array of int, shape (rows,)
        0 where none is known.
    attributes : pyarrow.Table
        The further columns, a row a row, under their published names.
    label_row : array of int, shape (labels,)
        The row that found the species.
    label_species : pyarrow.Array
        int64 or text.
    places : list of (int, int)
        File and row in it, for messages.
    n_in : int
        Rows read, counted as rows of a long table: labels, and one for each row without any; a row that is dropped is
        one, whatever it holds.
    dropped_counts : dict of str to int
        The same of the rows that were dropped, by reason.
    """

    reader: RecordReader
    lon: npt.NDArray[np.float64]
    lat: npt.NDArray[np.float64]
    keys: list[pa.StringArray]
    years: Integers
    attributes: pa.Table
    label_row: Integers
    label_species: pa.Array
    places: npt.NDArray[np.int64]
    n_in: int
    dropped_counts: dict[str, int]
    dropped: Dropped


@dataclass
class _Collected:
    """What the batches of a table add up to."""

    checked: list[CheckedBatch] = field(default_factory=list)
    label_row: list[Integers] = field(default_factory=list)
    label_species: list[pa.Array] = field(default_factory=list)
    units: list[Integers] = field(default_factory=list)


def read_presence_absence(
    source: TableInput,
    rules: RecordRules,
    *,
    wide: WideColumns | None = None,
    refine: Callable[[Places], None] | None = None,
    drop: Sequence[str] = (),
) -> tuple[PresenceAbsence, list[str]]:
    """Read and check a whole table.

    Parameters
    ----------
    source : TableInput
    rules : RecordRules
    wide : WideColumns, optional
        For a wide table.
    refine : callable, optional
        Looks at the places of a batch once more; see `RecordReader.check`.
    drop : sequence of str
        Reasons for which rows are dropped and not refused.

    Returns
    -------
    PresenceAbsence
    list of str
        What forbids its use, a line each; empty where all is well.
    """
    reader = RecordReader(source, rules, with_species=wide is None)
    batches = list(held(source.batches(), source.name))
    species_columns = wide.positions(source.header, source.name) if wide else []
    _settle_species(reader, batches, species_columns)
    collected = _Collected()
    dropped = Dropped()
    n_kept = 0
    for checked, ones, nothing in _looked_at(reader, batches, species_columns, refine, drop):
        reader.tally(checked)
        dropped.add(checked)
        n_kept = _collect(collected, checked, ones, nothing, n_kept)
    table = _assemble(reader, collected, species_columns, dropped)
    return table, reader.problems(drop)


def _looked_at(
    reader: RecordReader,
    batches: Sequence[Batch],
    species_columns: Sequence[int],
    refine: Callable[[Places], None] | None,
    drop: Sequence[str],
) -> Iterator[tuple[CheckedBatch, Flags | None, Flags]]:
    """Check batch by batch: the rows, the cells of a wide table, and the rows that are visits which found nothing."""
    cleaning = reader.rules.cleaning
    absences_go = "absent" in drop or (cleaning is not None and "absent" in cleaning.dropped)
    if species_columns or not absences_go:
        for batch in batches:
            checked, ones = _check(reader, batch, species_columns, refine)
            yield checked, ones, np.zeros(len(checked.reasons), dtype=bool)
        return
    long = [_check(reader, batch, (), refine)[0] for batch in batches]
    for checked, nothing in zip(long, keep_visits(long), strict=True):
        yield checked, None, nothing


def _settle_species(reader: RecordReader, batches: Sequence[Batch], species_columns: Sequence[int]) -> None:
    species = reader.rules.species
    if species is None:
        return
    if species_columns:
        texts = [pa.array([reader.source.header[i] for i in species_columns])]
    else:
        texts = [cell_texts(batch.column(reader.found["speciesId"])).unique() for batch in batches]
    species.settle(pa.chunked_array(texts, pa.string()).combine_chunks())
    if species_columns:
        _check_wide_names(species, texts[0].to_pylist(), reader.source.name)


def _check_wide_names(species: SpeciesReader, names: Sequence[str], where: str) -> None:
    """Refuse names of species columns that are no species: all are whole numbers, or all are names."""
    bad = [name for name in names if species.judge(name.strip())]
    if bad:
        raise DataError(
            f"{len(bad):,} of {len(names):,} species columns of {where} are named unlike the others or the other "
            f"table's species (first: {first_few(shown(name) for name in bad)}). Species are all whole numbers from "
            "0 or all names. Correct species_columns or the header."
        )
    if len(set(names)) < len(names):
        twice = sorted(name for name, count in Counter(names).items() if count > 1)
        raise DataError(
            f"{len(twice):,} species of {where} have more than one column (first: {first_few(twice)}). Each has one. "
            "Correct the header."
        )


def _check(
    reader: RecordReader, batch: Batch, species_columns: Sequence[int], refine: Callable[[Places], None] | None
) -> tuple[CheckedBatch, Flags | None]:
    file = reader.source.files[batch.file]
    found_nothing = file.empty_from is not None and batch.first_row >= file.empty_from
    checked = reader.check(batch, refine, with_species=not found_nothing)
    if not species_columns:
        return checked, None
    there = set(file.columns)
    ones = np.zeros((batch.rows.num_rows, len(species_columns)), dtype=bool)
    for k, position in enumerate(species_columns):
        name = reader.source.header[position]
        if name not in there:
            continue  # another file's species: these rows did not look for it
        texts = cell_texts(batch.column(position))
        one, zero = (pc.equal(texts, digit).to_numpy(zero_copy_only=False) for digit in "10")
        ones[:, k] = one
        _refuse_cells(reader, checked, ~(one | zero), f"{name} is neither 0 nor 1")
    return checked, ones


def _refuse_cells(reader: RecordReader, checked: CheckedBatch, bad: Flags, hint: str) -> None:
    if bad.any():
        checked.reasons[bad & (checked.reasons == 0)] = CODES["bad_species"]
        reader.faults.hints["bad_species"] = f"Cells of a wide table are 0 or 1 ({hint})."


def _collect(
    collected: _Collected,
    checked: CheckedBatch,
    ones: Flags | None,
    nothing: Flags,
    n_kept: int,
) -> int:
    """Note the rows that are kept, with their numbers, and their labels; give the number of the next row."""
    fine = checked.fine
    number = np.cumsum(fine) - 1 + n_kept
    if ones is None:
        units = np.ones(len(fine), dtype=np.int64)
        if checked.species is not None:  # else these are visits that found nothing
            named = fine & ~nothing
            collected.label_row.append(number[named])
            collected.label_species.append(checked.species.filter(pa.array(named)))
    else:
        units = np.where(fine, np.maximum(ones.sum(axis=1), 1), 1)
        row, column = np.nonzero(ones & fine[:, None])
        collected.label_row.append(number[row])
        collected.label_species.append(pa.array(column.astype(np.int64)))
    collected.checked.append(checked)
    collected.units.append(units)
    return n_kept + int(np.count_nonzero(fine))


def _assemble(
    reader: RecordReader, collected: _Collected, species_columns: Sequence[int], dropped: Dropped
) -> PresenceAbsence:
    fines = [checked.fine for checked in collected.checked]
    reasons = np.concatenate([checked.reasons for checked in collected.checked])
    units = np.concatenate(collected.units)
    counts = {REASONS[code]: int(units[reasons == code].sum()) for code in np.unique(reasons[reasons != 0]).tolist()}
    places = [
        np.column_stack([np.full(fine.sum(), checked.batch.file), checked.batch.first_row + np.flatnonzero(fine)])
        for checked, fine in zip(collected.checked, fines, strict=True)
    ]
    return PresenceAbsence(
        reader,
        np.concatenate([checked.places.lon[fine] for checked, fine in zip(collected.checked, fines, strict=True)]),
        np.concatenate([checked.places.lat[fine] for checked, fine in zip(collected.checked, fines, strict=True)]),
        [_joined([checked.keys[k] for checked in collected.checked], fines) for k in range(len(reader.rules.keys))],
        np.concatenate([checked.days.years[fine] for checked, fine in zip(collected.checked, fines, strict=True)]),
        _attributes(reader, collected, fines, species_columns),
        np.concatenate(collected.label_row or [np.zeros(0, dtype=np.int64)]),
        _species_of_labels(reader, collected, species_columns),
        np.concatenate(places),
        int(units.sum()),
        counts,
        dropped,
    )


def _joined(arrays: Sequence[pa.Array], fines: Sequence[Flags]) -> pa.Array:
    kept = [array.filter(pa.array(fine)) for array, fine in zip(arrays, fines, strict=True)]
    return pa.chunked_array(kept, kept[0].type).combine_chunks()


def _attributes(
    reader: RecordReader, collected: _Collected, fines: Sequence[Flags], species_columns: Sequence[int]
) -> pa.Table:
    """Gather the columns that are neither place, key nor species."""
    taken = {reader.found[name] for name in ("lon", "lat", "speciesId", *reader.rules.keys) if name in reader.found}
    names = reader.output_names()
    taken.update(species_columns)
    further = [i for i in range(len(names)) if i not in taken]
    columns = [_joined([checked.batch.column(i) for checked in collected.checked], fines) for i in further]
    return pa.Table.from_arrays(columns, names=[SET_ASIDE.get(names[i], names[i]) for i in further])


def _species_of_labels(reader: RecordReader, collected: _Collected, species_columns: Sequence[int]) -> pa.Array:
    labels = pa.chunked_array(collected.label_species or [pa.array([], pa.int64())]).combine_chunks()
    if not species_columns:
        return labels
    names = [reader.source.header[i] for i in species_columns]
    species = reader.rules.species
    if species is None or species.kind == "text":
        return pa.array(names, pa.string()).take(labels)
    return pa.array([species.number(name) for name in names], pa.int64()).take(labels)
