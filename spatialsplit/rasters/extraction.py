"""A table of points → the same table with a column a raster band.

The table is read twice, once for its coordinates and once to be written, so it is never in memory as a whole.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from spatialsplit.errors import DataError
from spatialsplit.publishing import new_files
from spatialsplit.rasters.pixels import Raster
from spatialsplit.rasters.points import PointColumns, read_points
from spatialsplit.rasters.values import RasterValues, raster_values
from spatialsplit.tables import OutputColumn, TableInput, open_writer
from spatialsplit.tables.writing import check_ending


@dataclass(frozen=True)
class Extraction:
    """What was found, for a summary.

    Attributes
    ----------
    n_rows : int
    rasters : list of (str, RasterValues)
        Each raster's name, and its values in the order of the rows.
    """

    n_rows: int
    rasters: list[tuple[str, RasterValues]]


def extract_values(
    table: TableInput,
    rasters: Sequence[Raster],
    out: Path | str,
    *,
    columns: PointColumns | None = None,
    scaled: bool = False,
    n_threads: int = 1,
    progress: Callable[[str], None] = lambda name: None,
) -> Extraction:
    """Write the rows of a table in their order, text for text, with a column for each band of each raster.

    Parameters
    ----------
    table : TableInput
        Points.
    rasters : sequence of Raster
        In the order of the new columns.
    out : path
        CSV or Parquet, by its ending.
    columns : PointColumns, optional
    scaled, n_threads
        As in `raster_values`.
    progress : function
        Called with the name of each raster before it is read.

    Raises
    ------
    DataError
        A column or coordinate is wrong, a raster cannot be read, or a new column's name is taken.
    """
    check_ending(Path(out))
    points = read_points(table, columns)
    found = []
    for raster in rasters:
        progress(raster.column)
        values = raster_values(raster, points.east, points.north, crs=points.crs, scaled=scaled, n_threads=n_threads)
        found.append((raster.column, values))
    _check_names(table, found)
    with new_files(Path(out)) as (part,):
        _write(table, [values for _, values in found], part)
        table.check_unchanged()
    return Extraction(len(points.east), found)


def _check_names(table: TableInput, found: Sequence[tuple[str, RasterValues]]) -> None:
    taken = set(table.header)
    problems = []
    for _, values in found:
        for name in values.names:
            if name in taken:
                problems.append(
                    f"There would be two columns '{name}'. A raster's column has the file's stem as its name. "
                    f"Give it another: --raster NAME=FILE."
                )
            taken.add(name)
    if problems:
        raise DataError(problems)


def _write(table: TableInput, found: Sequence[RasterValues], out: Path) -> None:
    new = [(name, values.column(band)) for values in found for band, name in enumerate(values.names)]
    old = [OutputColumn(name, kind) for name, kind in zip(table.header, table.types, strict=True)]
    with open_writer(out, [*old, *(OutputColumn(name, column.type) for name, column in new)]) as writer:
        start = 0
        for batch in table.batches():
            end = start + batch.rows.num_rows
            writer.write([*batch.rows.columns, *(_cut(column, start, end) for _, column in new)])
            start = end


def _cut(column: pa.Array, start: int, end: int) -> pa.Array:
    return column.slice(start, end - start)
