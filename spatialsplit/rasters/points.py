"""Point tables → coordinates: where the rows of a table lie, in the table's own CRS.

A row without a coordinate has no place and no values; a coordinate that is wrong is refused, never guessed at.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from spatialsplit.columns import find_columns
from spatialsplit.crs import WGS84
from spatialsplit.errors import DataError
from spatialsplit.occurrences.cells import cell_texts
from spatialsplit.occurrences.coordinates import parse_numbers, read_places
from spatialsplit.occurrences.faults import CODES, REASONS, WHAT
from spatialsplit.rasters.pixels import Floats
from spatialsplit.tables import Batch, TableInput


@dataclass(frozen=True)
class Points:
    """Where the rows of a table lie.

    Attributes
    ----------
    east, north : array of float, shape (n,)
        Longitude and latitude in degrees, or easting and northing of `crs`; NaN where a row has none.
    crs : str
    """

    east: Floats
    north: Floats
    crs: str = WGS84


@dataclass(frozen=True)
class PointColumns:
    """How a table says where its rows lie.

    Parameters
    ----------
    names : mapping of str to str
        `lon` and `lat` to the file's own names, where these are not known ones.
    crs : str
        Of the coordinates.
    decimals : int, optional
        Round degrees first, as a build does; as they are where not given.
    """

    names: Mapping[str, str] = field(default_factory=dict)
    crs: str = WGS84
    decimals: int | None = None


def read_points(table: TableInput, columns: PointColumns | None = None) -> Points:
    """Read where the rows of a table lie.

    Parameters
    ----------
    table : TableInput
    columns : PointColumns, optional

    Raises
    ------
    DataError
        The columns are not there, or a coordinate is no number or lies off the earth: a line a kind, with counts and
        the first rows.
    """
    columns = columns or PointColumns()
    found = find_columns(table.header, ["lon", "lat"], columns.names, where=table.name)
    easts, norths = [], []
    faults = _BadCoordinates(table)
    for batch in table.batches():
        first, second = batch.column(found["lon"]), batch.column(found["lat"])
        east, _ = parse_numbers(first)
        north, _ = parse_numbers(second)
        places = read_places(first, second, columns.crs, columns.decimals)
        faults.note(batch, places.reasons, first, second)
        # not rounded, points stay in their own CRS: a raster in that same CRS is then met without a transform
        fine = places.reasons == 0
        easts.append(np.where(fine, east, np.nan) if columns.decimals is None else places.lon)
        norths.append(np.where(fine, north, np.nan) if columns.decimals is None else places.lat)
    faults.refuse()
    crs = columns.crs if columns.decimals is None else WGS84
    return Points(np.concatenate(easts), np.concatenate(norths), crs)


class _BadCoordinates:
    """The wrong coordinates met so far, by reason."""

    def __init__(self, table: TableInput):
        self._table = table
        self._found: dict[str, tuple[int, list[tuple[int, int]], list[str]]] = {}
        self._n_rows = 0

    def note(
        self, batch: Batch, reasons: np.ndarray[tuple[int], np.dtype[np.int8]], east: pa.Array, north: pa.Array
    ) -> None:
        """Note the rows of a batch that have no place, but for missing coordinates, which are no fault here."""
        self._n_rows += len(reasons)
        for code in np.unique(reasons):
            if code in (0, CODES["missing_coordinate"]):
                continue
            rows = np.flatnonzero(reasons == code)
            count, places, values = self._found.get(REASONS[code], (0, [], []))
            places = [*places, *((batch.file, batch.first_row + int(row)) for row in rows[:3])][:3]
            texts = (cell_texts(cells.take(pa.array(rows[:3]))).to_pylist() for cells in (east, north))
            values = [*values, *map(", ".join, zip(*texts, strict=True))][:3]
            self._found[REASONS[code]] = count + len(rows), places, values

    def refuse(self) -> None:
        """Raise a line for each reason, where there were such rows."""
        problems = []
        for reason, (count, places, values) in self._found.items():
            what, cure = WHAT[reason]
            lines = self._table.lines_of(places)
            first = ", ".join(f"{line}: {value}" for line, value in zip(lines, values, strict=True))
            name = self._table.name
            problems.append(f"{what} in {count:,} of {self._n_rows:,} rows of {name} (first: {first}). {cure}.")
        if problems:
            raise DataError(problems)
