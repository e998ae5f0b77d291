"""Which id a patch is filed under, and where it lies: one place an id."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from spatialsplit.columns import find_columns
from spatialsplit.errors import DataError, first_few
from spatialsplit.occurrences.cells import cell_texts
from spatialsplit.rasters.pixels import Floats, Integers
from spatialsplit.rasters.points import PointColumns, read_points
from spatialsplit.tables import TableInput

ID_COLUMNS = ("surveyId", "observation_id", "patchID", "glcID", "Id")
"""Whose ids patches are filed under, where a table has several: the first of these."""

FILE_NAME = re.compile(r"(?!.*\.\.)[A-Za-z0-9_-][A-Za-z0-9._-]*")
"""Two dots in a row could become the name of a folder, and that of the one above."""


@dataclass(frozen=True)
class PatchPlaces:
    """The ids of a table in the order in which they come, each once, and where they lie.

    Attributes
    ----------
    id_column, east_column, north_column : str
        As the table has them.
    ids : list of str
    east, north : array of float, shape (n,)
        Of the id's first row, in `crs`.
    east_texts, north_texts : list of str
        The same as the table has it.
    crs : str
    """

    id_column: str
    east_column: str
    north_column: str
    ids: list[str]
    east: Floats
    north: Floats
    east_texts: list[str]
    north_texts: list[str]
    crs: str
    _other: _OtherRows

    def refuse_moving_ids(self) -> None:
        """Refuse ids whose rows do not all lie in one place: one patch would silently stand for another's place.

        Raises
        ------
        DataError
            With the first offenders.
        """
        moved = self._other.moved(self.east, self.north)
        if moved:
            first = first_few(self.ids[number] for number in moved)
            raise DataError(
                f"{len(moved):,} of {len(self.ids):,} ids in column '{self.id_column}' lie in more than one place "
                f"(first: {first}). A patch is filed under one id, and one id has one place. "
                "Choose a column that tells the places apart: --id-col NAME."
            )


@dataclass(frozen=True)
class _OtherRows:
    """The coordinates of all rows, with the number of the id of each."""

    number: Integers
    east: Floats
    north: Floats

    def moved(self, east: Floats, north: Floats) -> list[int]:
        """Give the ids, by number, of which a row lies elsewhere than the id itself."""
        same = (self.east == east[self.number]) & (self.north == north[self.number])
        both_missing = np.isnan(self.east) & np.isnan(east[self.number])
        return sorted(set(self.number[~(same | both_missing)].tolist()))


def read_patch_places(table: TableInput, id_column: str | None, columns: PointColumns) -> PatchPlaces:
    """Read the ids of a table and where they lie.

    Raises
    ------
    DataError
        No id column is there, or ids are missing or cannot name a file.
    """
    found = find_columns(table.header, ["lon", "lat"], columns.names, where=table.name)
    position = _id_position(table, id_column)
    points = read_points(table, columns)
    texts: list[list[str]] = [[], [], []]
    for batch in table.batches():
        for cells, place in zip(texts, (position, found["lon"], found["lat"]), strict=True):
            cells.extend(cell_texts(batch.column(place)).to_pylist())
    _check_ids(table, texts[0], table.header[position])
    _, first, number = np.unique(np.array(texts[0]), return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    first = first[order]
    return PatchPlaces(
        table.header[position],
        table.header[found["lon"]],
        table.header[found["lat"]],
        [texts[0][row] for row in first],
        points.east[first],
        points.north[first],
        [texts[1][row] for row in first],
        [texts[2][row] for row in first],
        points.crs,
        _OtherRows(rank[number], points.east, points.north),
    )


def _id_position(table: TableInput, id_column: str | None) -> int:
    if id_column is not None:
        if table.header.count(id_column) == 1:
            return table.header.index(id_column)
        raise DataError(
            f"No column '{id_column}' in {table.name}. It has: {first_few(table.header, shown=12)}. "
            "Choose one of them: --id-col NAME."
        )
    for name in ID_COLUMNS:
        found = find_columns(table.header, [], optional=[name], where=table.name)
        if found:
            return found[name]
    raise DataError(
        f"No column of ids in {table.name}. It has: {first_few(table.header, shown=12)}. "
        f"Known: {', '.join(ID_COLUMNS)}. Say which: --id-col NAME."
    )


def _check_ids(table: TableInput, ids: list[str], column: str) -> None:
    bad = [row for row, text in enumerate(ids) if not FILE_NAME.fullmatch(text)]
    if bad:
        shown = first_few(f"row {row + 1}: '{ids[row]}'" for row in bad)
        raise DataError(
            f"{len(bad):,} of {len(ids):,} ids in column '{column}' of {table.name} cannot name a file "
            f"(first: {shown}). An id is made of letters, digits, single '.', '_' and '-'. Choose another column: "
            "--id-col NAME."
        )
