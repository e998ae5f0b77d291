"""Give the rows of a table their quadrats."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa

from spatialsplit.engine import map_in_order
from spatialsplit.errors import DataError
from spatialsplit.occurrences import CheckedBatch, RecordReader
from spatialsplit.occurrences.coordinates import mark_unprojectable
from spatialsplit.publishing import new_files
from spatialsplit.quadrats import Grid
from spatialsplit.steps.passing import Reading, as_they_are, check_outputs, refuse_column, refuse_faults
from spatialsplit.tables import (
    Batch,
    OutputColumn,
    open_writer,
)

PLACELESS = ("missing_coordinate", "bad_latitude", "bad_longitude", "unprojectable")
"""The reasons for which a row has no quadrat."""


def add_quadrats(
    points: Path | str,
    out: Path | str,
    grid: Grid,
    reading: Reading | None = None,
    *,
    keep_unassigned: bool = False,
) -> list[str]:
    """Write a table's rows with their `quadratId`.

    Parameters
    ----------
    points, out : path
    grid : Grid
    reading : Reading, optional
    keep_unassigned : bool
        Keep rows without a place, with an empty `quadratId`, instead of refusing them.

    Returns
    -------
    list of str
        Warnings about the grid and the rows, a line each.

    Raises
    ------
    DataError
        A row has no place, a line a reason; or there is such a column already.
    """
    points, out, reading = Path(points), Path(out), reading or Reading()
    check_outputs([points], [out])
    source = reading.source(points)
    refuse_column(source, "quadratId")
    reader = RecordReader(source, reading.rules())
    columns = [*as_they_are(source), OutputColumn("quadratId", pa.string())]
    n_outside = 0

    def work(batch: Batch) -> tuple[CheckedBatch, list[pa.Array] | None, int]:
        """Check and label the rows of a batch, in any thread."""
        checked, cells = located(reader, batch, grid, keep_unassigned=keep_unassigned)
        fine = checked.fine
        return checked, cells, grid.count_outside(checked.places.lon[fine], checked.places.lat[fine]) if cells else 0

    with new_files(out) as (part,), open_writer(part, columns) as writer:
        for checked, cells, outside in map_in_order(work, source.batches(), reading.threads):
            reader.tally(checked)
            n_outside += outside
            if cells is not None:
                writer.write(cells)
        refuse_faults(reader, PLACELESS if keep_unassigned else ())
    return [*_unassigned(reader), *grid.warnings(n_outside, reader.faults.n_rows), *reader.warnings()]


def located(
    reader: RecordReader, batch: Batch, grid: Grid, *, keep_unassigned: bool = False
) -> tuple[CheckedBatch, list[pa.Array] | None]:
    """Check the rows of a batch and give their cells with their quadrats; no cells where a faulty row is not kept.

    Rows that are nowhere in the grid have a reason like others, so that they are counted in all batches.
    """
    checked = reader.check(batch)
    try:
        return checked, _labelled(checked, grid, keep_unassigned=keep_unassigned)
    except DataError:
        checked = reader.check(batch, mark_unprojectable(grid.project))
        return checked, _labelled(checked, grid, keep_unassigned=keep_unassigned)


def _labelled(checked: CheckedBatch, grid: Grid, *, keep_unassigned: bool) -> list[pa.Array] | None:
    """Give the cells of rows with their quadrats, or nothing where there are faulty rows that may not be kept."""
    fine, cells = checked.fine, checked.batch.rows.columns
    if fine.all():
        quadrats = grid.assign(checked.places.lon, checked.places.lat)
        return [*cells, pa.array(quadrats.labels, pa.string()).take(pa.array(quadrats.codes))]
    if not keep_unassigned:
        return None
    quadrats = grid.assign(checked.places.lon[fine], checked.places.lat[fine])
    codes = np.zeros(len(fine), dtype=np.int64)
    codes[fine] = quadrats.codes
    return [*cells, pa.array(quadrats.labels, pa.string()).take(pa.array(codes, mask=~fine))]


def _unassigned(reader: RecordReader) -> list[str]:
    """Say how many rows were kept without a quadrat, by reason."""
    counts = reader.faults.counts
    if not counts:
        return []
    reasons = ", ".join(f"{reason} {n:,}" for reason, n in counts.items())
    return [
        f"{sum(counts.values()):,} of {reader.faults.n_rows:,} rows of {reader.source.name} have no quadrat "
        f"({reasons}). Their quadratId is empty."
    ]
