"""The steps of a build one by one, file in and file out, for somebody's Makefile.

They call the same functions as `build`. Coordinates are taken as they are unless a number of decimals is given; rows are passed on text for text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from spatialsplit.crs import WGS84
from spatialsplit.draw import Draw, DrawRules, Occupied, check_fixed, commonest, draw_quadrats, quadrat_number
from spatialsplit.engine import map_in_order
from spatialsplit.errors import DataError, first_few, nearest_name
from spatialsplit.occurrences import RecordReader, RecordRules, SpeciesReader, WideColumns, read_presence_absence
from spatialsplit.occurrences.cells import WHOLE, cell_texts
from spatialsplit.po_filter import HoldoutSites, PoFilter, Removed
from spatialsplit.publishing import new_files
from spatialsplit.quadrats import Grid
from spatialsplit.surveys import SurveyRules, group_surveys
from spatialsplit.tables import Batch, Dialect, OutputColumn, TableInput, open_writer, write_table
from spatialsplit.tables.assignments import read_assignment
from spatialsplit.tables.writing import TableWriter


@dataclass(frozen=True)
class Reading:
    """How a step reads its input.

    Parameters
    ----------
    columns : mapping of str to str
        Our name of a column to the file's.
    crs : str
    decimals : int, optional
        Round coordinates first; as they are, unless said.
    dialect : Dialect
    threads : int, optional
    """

    columns: Mapping[str, str] = field(default_factory=dict)
    crs: str = WGS84
    decimals: int | None = None
    dialect: Dialect = field(default_factory=Dialect)
    threads: int | None = None

    def source(self, path: Path) -> TableInput:
        """Open a table."""
        return TableInput(path, self.dialect)

    def rules(self, **more: Any) -> RecordRules:
        """Give the rules by which its rows are read; only surveys need to know their day."""
        return RecordRules(columns=self.columns, crs=self.crs, decimals=self.decimals, **{"with_days": False, **more})


def add_quadrats(points: Path, out: Path, grid: Grid, reading: Reading | None = None) -> list[str]:
    """Write a table's rows with their `quadratId`.

    Returns
    -------
    list of str
        Warnings about the grid, a line each.

    Raises
    ------
    DataError
        A row has no place, a line a reason; or there is such a column already.
    """
    reading = reading or Reading()
    source = reading.source(points)
    _refuse_column(source, "quadratId")
    reader = RecordReader(source, reading.rules())
    columns = [*_as_they_are(source), OutputColumn("quadratId", pa.string())]
    n_outside = 0

    def work(batch: Batch) -> tuple[Any, list[pa.Array] | None, int]:
        checked = reader.check(batch)
        if not checked.fine.all():
            return checked, None, 0
        quadrats = grid.assign(checked.places.lon, checked.places.lat)
        labels = pa.array(quadrats.labels, pa.string()).take(pa.array(quadrats.codes))
        return checked, [*batch.rows.columns, labels], grid.count_outside(checked.places.lon, checked.places.lat)

    with new_files(out) as (part,), open_writer(part, columns) as writer:
        for checked, cells, outside in map_in_order(work, source.batches(), reading.threads):
            reader.tally(checked)
            n_outside += outside
            if cells is not None:
                writer.write(cells)
        _refuse_faults(reader)
    return [*grid.warnings(n_outside, reader.faults.n_rows), *reader.warnings()]


@dataclass(frozen=True)
class DrawTask:
    """What the step `draw` is asked for.

    Parameters
    ----------
    rules : DrawRules
    seed : str
    grid : Grid
        For points without `quadratId`.
    strata : str, optional
    fixed, extend : path, optional
        A table of `quadratId` and `subset`: all there is, or an earlier release that keeps its places.
    """

    rules: DrawRules
    seed: str
    grid: Grid = field(default_factory=Grid)
    strata: str | None = None
    fixed: Path | None = None
    extend: Path | None = None


def draw_table(
    points: Path, out: Path, task: DrawTask, *, rows: Path | None = None, reading: Reading | None = None
) -> Draw:
    """Draw holdouts of whole quadrats among those that a table's rows lie in.

    Parameters
    ----------
    points : path
        A table with `quadratId` or coordinates; each row counts as one record.
    out : path
        Gets a row a quadrat: `quadratId, n_records, <name>_number, subset`.
    task : DrawTask
    rows : path, optional
        Gets the rows of `points` with their `subset`.

    Raises
    ------
    DataError
        A row has no place, or a holdout comes out empty.
    """
    reading = reading or Reading()
    source = reading.source(points)
    label_rows = _labeller(source, reading, task.grid)
    counts: dict[str, int] = {}
    values: dict[str, list[str]] = {}
    for batch in source.batches():
        labels = label_rows(batch)
        _count(counts, labels)
        if task.strata is not None:
            _gather(values, labels, cell_texts(batch.column(_position(source, task.strata))))
    label_rows.finish()
    names = sorted(counts)
    strata = [commonest(values[label]) for label in names] if task.strata is not None else None
    draw = draw_quadrats(
        Occupied(names, [counts[label] for label in names], strata), task.rules, task.seed, fixed=_fixed(task, names)
    )
    with new_files(out, rows) as parts:
        write_table(parts[0], _draw_rows(draw, task, names, counts, strata))
        if rows is not None:
            _write_subsets(parts[1], reading.source(points), label_rows, draw)
    return draw


def _draw_rows(
    draw: Draw, task: DrawTask, names: list[str], counts: Mapping[str, int], strata: list[str] | None
) -> pa.Table:
    table: dict[str, Any] = {"quadratId": pa.array(names, pa.string()), "n_records": [counts[label] for label in names]}
    if strata is not None:
        table["stratum"] = strata
    for holdout in task.rules.holdouts:
        table[f"{holdout.name}_number"] = [f"{quadrat_number(draw.seed, holdout.name, label):016x}" for label in names]
    return pa.table(table | {"subset": [draw.subsets[label] for label in names]})


class _labeller:
    """Gives each row its quadrat: the column there is, or the one its place lies in."""

    def __init__(self, source: TableInput, reading: Reading, grid: Grid):
        self._grid = grid
        self._own = source.header.index("quadratId") if "quadratId" in source.header else None
        self._reader = RecordReader(source, reading.rules()) if self._own is None else None
        self._source = source
        self._missing = 0
        self._counting = True

    def __call__(self, batch: Batch) -> pa.Array:
        if self._reader is None:
            labels = cell_texts(batch.column(self._own or 0))
            self._missing += len(labels) - int(
                np.count_nonzero(pc.not_equal(labels, "").to_numpy(zero_copy_only=False))
            )
            return labels
        checked = self._reader.check(batch)
        if self._counting:
            self._reader.tally(checked)
        if not checked.fine.all():
            return pa.array([""] * len(checked.reasons))
        quadrats = self._grid.assign(checked.places.lon, checked.places.lat)
        return pa.array(quadrats.labels, pa.string()).take(pa.array(quadrats.codes))

    def finish(self) -> None:
        """Refuse rows without a quadrat."""
        self._counting = False
        if self._reader is not None:
            _refuse_faults(self._reader)
        if self._missing:
            raise DataError(
                f"{self._missing:,} rows of {self._source.name} have no quadratId. Every row needs one. Make them with spatialsplit quadrats."
            )


def _write_subsets(out: Path, source: TableInput, label_rows: _labeller, draw: Draw) -> None:
    _refuse_column(source, "subset")
    with open_writer(out, [*_as_they_are(source), OutputColumn("subset", pa.string())]) as writer:
        for batch in source.batches():
            encoded = label_rows(batch).dictionary_encode()
            subsets = pa.array([draw.subsets[label] for label in encoded.dictionary.to_pylist()], pa.string())
            writer.write([*batch.rows.columns, subsets.take(encoded.indices)])


def _fixed(task: DrawTask, names: Sequence[str]) -> dict[str, str]:
    path = task.fixed or task.extend
    if path is None:
        return {}
    fixed = read_assignment(path)
    check_fixed(fixed, task.rules, path.name)
    return {label: fixed.get(label, task.rules.remainder) for label in names} if task.fixed else fixed


def write_surveys(
    presence_absence: Path,
    out: Path,
    rules: SurveyRules,
    *,
    wide: Sequence[str] | None = None,
    reading: Reading | None = None,
) -> int:
    """Write a row a survey: `surveyId`, keys, `lon, lat, n_species, speciesIds`.

    `speciesIds` holds the species in increasing order, a space between; names stand with `|` between them.

    Returns
    -------
    int
        The number of surveys.

    Raises
    ------
    DataError
        A line for each fault of the rows or of the surveys.
    """
    reading = reading or Reading()
    record_rules = reading.rules(keys=rules.keys, species=SpeciesReader(), section="inputs.pa", with_days=True)
    table, problems = read_presence_absence(
        reading.source(presence_absence), record_rules, wide=WideColumns(wide) if wide else None
    )
    surveys, more = group_surveys(table, rules)
    if problems or more:
        raise DataError([*problems, *more])
    n_species = surveys.n_species
    mark = "|" if pa.types.is_string(surveys.label_species.type) else " "
    offsets = pa.array(np.concatenate([[0], np.cumsum(n_species)]), pa.int32())
    lists = pa.ListArray.from_arrays(offsets, surveys.label_species.cast(pa.string()))
    columns: dict[str, Any] = {"surveyId": surveys.ids}
    columns |= {name: key for name, key in surveys.keys.items() if name != "surveyId"}
    columns |= {
        "lon": surveys.lon,
        "lat": surveys.lat,
        "n_species": n_species,
        "speciesIds": pc.binary_join(lists, mark),
    }
    decimals = {name: reading.decimals for name in ("lon", "lat") if reading.decimals is not None}
    with new_files(out) as (part,):
        write_table(part, pa.table(columns), decimals=decimals)
    return len(surveys)


@dataclass(frozen=True)
class SiteTable:
    """The sites that records must keep away from.

    Parameters
    ----------
    path : path
    where : tuple of (column, value), optional
        Take only the rows with this value.
    id_column : str, optional
        The column that names a site; else `surveyId`, `observation_id`, `siteid`, `patchID`, or the row's number.
    reading : Reading
    """

    path: Path
    where: tuple[str, str] | None = None
    id_column: str | None = None
    reading: Reading = field(default_factory=Reading)


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
) -> FilterCounts:
    """Remove the presence-only records at the radius of a site or nearer.

    Parameters
    ----------
    po : path
    sites : SiteTable
    radius_m : float
    outputs : FilterOutputs
        The kept rows are written untouched; the removed ones with `distance_m` and the nearest site's id.
    uncertainty : str, optional
        Column whose metres are added to a record's radius.

    Raises
    ------
    DataError
        A row of either table has no place, or no site is there.
    """
    reading = reading or Reading()
    place = _read_sites(sites)
    po_filter = PoFilter([HoldoutSites("near_site", place.lon, place.lat)], radius_m)
    source = reading.source(po)
    reader = RecordReader(source, reading.rules(uncertainty=uncertainty))
    kept_columns = _as_they_are(source)
    removed_columns = [
        *kept_columns,
        OutputColumn("distance_m", pa.float64(), 3),
        OutputColumn(place.name, place.ids.type),
    ]
    n_removed = 0

    with new_files(outputs.kept, outputs.removed) as parts:
        writers = [
            open_writer(part, columns) for part, columns in zip(parts, (kept_columns, removed_columns), strict=False)
        ]

        def work(batch: Batch) -> tuple[Any, int, list[Any]]:
            checked = reader.check(batch)
            if not checked.fine.all():
                return checked, 0, []
            gone = po_filter.removed(checked.places.lon, checked.places.lat, checked.uncertainty_m)
            return checked, len(gone.record), _prepare(writers, batch, gone, place)

        with _all(writers):
            for checked, n_gone, prepared in map_in_order(work, source.batches(), reading.threads):
                reader.tally(checked)
                n_removed += n_gone
                for writer, rows in zip(writers, prepared, strict=False):
                    writer.write_prepared(rows)
            _refuse_faults(reader)
    return FilterCounts(reader.faults.n_rows, n_removed, len(place.lon))


def _prepare(writers: Sequence[TableWriter], batch: Batch, gone: Removed, place: _Sites) -> list[Any]:
    stays = np.ones(batch.rows.num_rows, dtype=bool)
    stays[gone.record] = False
    kept = batch.rows.columns if stays.all() else batch.rows.filter(pa.array(stays)).columns
    prepared = [writers[0].prepare(kept)]
    if len(writers) > 1:
        removed = batch.rows.take(pa.array(gone.record)).columns
        prepared.append(writers[1].prepare([*removed, pa.array(gone.distance_m), place.ids.take(pa.array(gone.site))]))
    return prepared


class _all:
    """Enters and leaves several writers together."""

    def __init__(self, writers: Sequence[TableWriter]):
        self._writers = writers

    def __enter__(self) -> None:
        for writer in self._writers:
            writer.__enter__()

    def __exit__(self, *error: Any) -> None:
        for writer in self._writers:
            writer.__exit__(*error)


@dataclass(frozen=True)
class _Sites:
    """Sites in increasing order of their ids, so that of equally near ones the smallest is named."""

    lon: npt.NDArray[np.float64]
    lat: npt.NDArray[np.float64]
    ids: pa.Array
    name: str


def _read_sites(sites: SiteTable) -> _Sites:
    source = sites.reading.source(sites.path)
    reader = RecordReader(source, sites.reading.rules(section="inputs.sites"))
    id_column = _id_column(source, sites.id_column)
    lon, lat, ids = [], [], []
    for batch in source.batches():
        checked = reader.check(batch)
        chosen = np.ones(batch.rows.num_rows, dtype=bool)
        if sites.where is not None:
            position = _position(source, sites.where[0])
            chosen = pc.equal(cell_texts(batch.column(position)), sites.where[1]).to_numpy(zero_copy_only=False)
        checked.reasons[~chosen] = 0
        reader.tally(checked)
        lon.append(checked.places.lon[chosen])
        lat.append(checked.places.lat[chosen])
        if id_column is not None:
            ids.append(cell_texts(batch.column(id_column)).filter(pa.array(chosen)))
    _refuse_faults(reader)
    east, north = np.concatenate(lon), np.concatenate(lat)
    if not east.size:
        column, value = sites.where or ("", "")
        raise DataError(f"No row of {source.name} has {column} = '{value}', so there is no site. Correct --where.")
    names = pa.chunked_array(ids).combine_chunks() if ids else pa.array(np.arange(1, east.size + 1))
    if pa.types.is_string(names.type) and all(
        WHOLE.fullmatch(name) and len(name) < 19 for name in names.unique().to_pylist()
    ):
        names = names.cast(pa.int64())
    order = pc.sort_indices(names).to_numpy()
    name = f"nearest_{source.header[id_column] if id_column is not None else 'site'}"
    return _Sites(east[order], north[order], names.take(pa.array(order)), name)


def _id_column(source: TableInput, asked: str | None) -> int | None:
    if asked is not None:
        return _position(source, asked)
    known = ("surveyId", "observation_id", "siteid", "patchID")
    return next((source.header.index(name) for name in known if name in source.header), None)


def _position(source: TableInput, name: str) -> int:
    """Find a column that an option names."""
    if name not in source.header:
        near = nearest_name(name, source.header)
        hint = f" Did you mean '{near}'?" if near else ""
        raise DataError(f"No column '{name}' in {source.name}. It has: {first_few(source.header, shown=12)}.{hint}")
    return source.header.index(name)


def _as_they_are(source: TableInput) -> list[OutputColumn]:
    return [OutputColumn(name, kind) for name, kind in zip(source.header, source.types, strict=True)]


def _refuse_column(source: TableInput, name: str) -> None:
    if name in source.header:
        raise DataError(
            f"{source.name} has a column '{name}' already. It would stand there twice. Rename or remove it."
        )


def _refuse_faults(reader: RecordReader) -> None:
    problems = [
        problem.split(", or say drop")[0] + "." if ", or say drop" in problem else problem
        for problem in reader.problems()
    ]
    if problems:
        raise DataError(problems)


def _count(counts: dict[str, int], labels: pa.Array) -> None:
    tally = labels.value_counts()
    for label, n in zip(tally.field("values").to_pylist(), tally.field("counts").to_pylist(), strict=True):
        counts[label] = counts.get(label, 0) + n


def _gather(values: dict[str, list[str]], labels: pa.Array, strata: pa.Array) -> None:
    for label, value in zip(labels.to_pylist(), strata.to_pylist(), strict=True):
        values.setdefault(label, []).append(value)
