"""Draw holdouts among the quadrats of a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from spatialsplit.draw import Draw, DrawRules, Labels, Occupied, check_fixed, commonest, draw_quadrats, quadrat_number
from spatialsplit.errors import DataError
from spatialsplit.occurrences import RecordReader
from spatialsplit.occurrences.cells import cell_texts
from spatialsplit.publishing import new_files
from spatialsplit.quadrats import Grid
from spatialsplit.steps.locating import located
from spatialsplit.steps.passing import Reading, as_they_are, check_outputs, position_of, refuse_column, refuse_faults
from spatialsplit.tables import (
    Batch,
    OutputColumn,
    TableInput,
    open_writer,
    write_table,
)
from spatialsplit.tables.assignments import read_assignment


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
    species : str
        Column that names the species of each row, for `rules.min_train_quadrats`.
    """

    rules: DrawRules
    seed: str
    grid: Grid = field(default_factory=Grid)
    strata: str | None = None
    fixed: Path | None = None
    extend: Path | None = None
    species: str = "speciesId"


def draw_table(
    points: Path | str,
    out: Path | str,
    task: DrawTask,
    *,
    rows: Path | str | None = None,
    reading: Reading | None = None,
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
    points, out, reading = Path(points), Path(out), reading or Reading()
    rows = Path(rows) if rows is not None else None
    check_outputs([points, task.fixed, task.extend], [out, rows])
    source = reading.source(points)
    label_rows = _labeller(source, reading, task.grid)
    counts: dict[str, int] = {}
    values: dict[str, list[str]] = {}
    pairs = _SpeciesPairs()
    for batch in source.batches():
        labels = label_rows(batch)
        _count(counts, labels)
        if task.strata is not None:
            _gather(values, labels, cell_texts(batch.column(position_of(source, task.strata))))
        if task.rules.min_train_quadrats:
            pairs.see(labels, cell_texts(batch.column(position_of(source, task.species))))
    label_rows.finish()
    names = sorted(counts)
    strata = [commonest(values[label]) for label in names] if task.strata is not None else None
    occupied = Occupied(names, [counts[label] for label in names], strata)
    draw = draw_quadrats(occupied, task.rules, task.seed, fixed=_fixed(task, names), labels=pairs.labels(names))
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
        checked, cells = located(self._reader, batch, self._grid)
        if self._counting:
            self._reader.tally(checked)
        return cells[-1] if cells is not None else pa.array([""] * len(checked.reasons))

    def finish(self) -> None:
        """Refuse rows without a quadrat."""
        self._counting = False
        if self._reader is not None:
            refuse_faults(self._reader)
        if self._missing:
            raise DataError(
                f"{self._missing:,} rows of {self._source.name} have no quadratId. Every row needs one. Make them "
                f"with spatialsplit quadrats."
            )


class _SpeciesPairs:
    """Gathers which species lie in which quadrats; rows without a species name none."""

    def __init__(self) -> None:
        self._pairs: set[tuple[str, str]] = set()

    def see(self, labels: pa.Array, species: pa.Array) -> None:
        """Note the pairs of some rows."""
        different = pa.table({"quadrat": labels, "species": pc.utf8_trim_whitespace(species)})
        different = different.group_by(["quadrat", "species"]).aggregate([])
        self._pairs.update(zip(*(column.to_pylist() for column in different.columns), strict=True))

    def labels(self, names: Sequence[str]) -> Labels:
        """Give the pairs as positions in `names` and codes of species."""
        position = {name: i for i, name in enumerate(names)}
        held = sorted((position[label], species) for label, species in self._pairs if species)
        _, codes = np.unique([species for _, species in held], return_inverse=True)
        return Labels(np.array([i for i, _ in held], dtype=np.int64), codes.astype(np.int64))


def _write_subsets(out: Path, source: TableInput, label_rows: _labeller, draw: Draw) -> None:
    refuse_column(source, "subset")
    with open_writer(out, [*as_they_are(source), OutputColumn("subset", pa.string())]) as writer:
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


def _count(counts: dict[str, int], labels: pa.Array) -> None:
    tally = labels.value_counts()
    for label, n in zip(tally.field("values").to_pylist(), tally.field("counts").to_pylist(), strict=True):
        counts[label] = counts.get(label, 0) + n


def _gather(values: dict[str, list[str]], labels: pa.Array, strata: pa.Array) -> None:
    for label, value in zip(labels.to_pylist(), strata.to_pylist(), strict=True):
        values.setdefault(label, []).append(value)
