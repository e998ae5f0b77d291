"""The places that presence-only records must keep away from, read from a table."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from spatialsplit.errors import DataError
from spatialsplit.occurrences import RecordReader
from spatialsplit.occurrences.cells import WHOLE, cell_texts
from spatialsplit.steps.passing import Reading, position_of, refuse_faults
from spatialsplit.tables import (
    TableInput,
)


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
class Sites:
    """Sites in increasing order of their ids, so that of equally near ones the smallest is named."""

    lon: npt.NDArray[np.float64]
    lat: npt.NDArray[np.float64]
    ids: pa.Array
    name: str


def read_sites(sites: SiteTable) -> Sites:
    """Read the places and ids of sites.

    Raises
    ------
    DataError
        A row has no place, or no row is a site.
    """
    source = sites.reading.source(sites.path)
    reader = RecordReader(source, sites.reading.rules(section="inputs.sites"))
    id_column = _id_column(source, sites.id_column)
    lon, lat, ids = [], [], []
    for batch in source.batches():
        checked = reader.check(batch)
        chosen = np.ones(batch.rows.num_rows, dtype=bool)
        if sites.where is not None:
            position = position_of(source, sites.where[0])
            chosen = pc.equal(cell_texts(batch.column(position)), sites.where[1]).to_numpy(zero_copy_only=False)
        checked.reasons[~chosen] = 0
        reader.tally(checked)
        lon.append(checked.places.lon[chosen])
        lat.append(checked.places.lat[chosen])
        if id_column is not None:
            ids.append(cell_texts(batch.column(id_column)).filter(pa.array(chosen)))
    refuse_faults(reader)
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
    return Sites(east[order], north[order], names.take(pa.array(order)), name)


def _id_column(source: TableInput, asked: str | None) -> int | None:
    if asked is not None:
        return position_of(source, asked)
    known = ("surveyId", "observation_id", "siteid", "patchID")
    return next((source.header.index(name) for name in known if name in source.header), None)
