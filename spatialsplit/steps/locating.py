"""Give the rows of a table their quadrats."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa

from spatialsplit.engine import map_in_order
from spatialsplit.occurrences import RecordReader
from spatialsplit.publishing import new_files
from spatialsplit.quadrats import Grid
from spatialsplit.steps.passing import Reading, as_they_are, check_outputs, refuse_column, refuse_faults
from spatialsplit.tables import (
    Batch,
    OutputColumn,
    open_writer,
)


def add_quadrats(points: Path | str, out: Path | str, grid: Grid, reading: Reading | None = None) -> list[str]:
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
    points, out, reading = Path(points), Path(out), reading or Reading()
    check_outputs([points], [out])
    source = reading.source(points)
    refuse_column(source, "quadratId")
    reader = RecordReader(source, reading.rules())
    columns = [*as_they_are(source), OutputColumn("quadratId", pa.string())]
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
        refuse_faults(reader)
    return [*grid.warnings(n_outside, reader.faults.n_rows), *reader.warnings()]
