"""The environment of surveys: a row a survey, a column a variable, from rasters, tables, or both.

Missing values are filled in by `Imputation`, which knows the training data alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from spatialsplit.baselines.dataset import ID_COLUMNS, Floats, Surveys
from spatialsplit.columns import COLUMNS
from spatialsplit.errors import DataError, first_few
from spatialsplit.occurrences.cells import cell_texts
from spatialsplit.occurrences.coordinates import NO_NUMBER, parse_numbers
from spatialsplit.rasters import Raster, raster_values
from spatialsplit.tables import TableInput


@dataclass(frozen=True)
class Environment:
    """Where the environment comes from.

    Parameters
    ----------
    rasters : sequence of Raster
        Read at each survey's place.
    tables : sequence of path
        With an id column (`surveyId`, `Id` or `observation_id`) and a column a variable; rows are found by id, never by
        their position. Several tables with the same columns (train, test) are taken as one.
    variables : sequence of str, optional
        Columns of the tables to take; where not given, all columns of numbers that are not known to be something else.
    """

    rasters: Sequence[Raster] = ()
    tables: Sequence[Path] = ()
    variables: Sequence[str] | None = None

    def __post_init__(self) -> None:
        if not self.rasters and not self.tables:
            raise DataError(
                "No environment to learn from. The random forest needs rasters or a table by survey: "
                "--raster FILE, or --env TABLE."
            )

    def of(self, *groups: Surveys) -> tuple[list[str], list[Floats]]:
        """Read the environment of groups of surveys.

        Returns
        -------
        names : list of str
            Of the variables.
        values : list of array of float, shape (n_surveys, n_variables)
            One a group; NaN where missing.
        """
        blocks = [*(self._from_raster(raster, groups) for raster in self.rasters), *self._from_tables(groups)]
        names = [name for block_names, _ in blocks for name in block_names]
        whole = np.concatenate([values for _, values in blocks], axis=1)
        ends = np.cumsum([len(group) for group in groups])
        return names, np.split(whole, ends[:-1])

    def _from_raster(self, raster: Raster, groups: Sequence[Surveys]) -> tuple[list[str], Floats]:
        lon, lat = (np.concatenate([getattr(group, axis) for group in groups]) for axis in ("lon", "lat"))
        found = raster_values(raster, lon, lat)
        return list(found.names), np.column_stack([found.as_floats(band) for band in range(len(found.names))])

    def _from_tables(self, groups: Sequence[Surveys]) -> list[tuple[list[str], Floats]]:
        if not self.tables:
            return []
        tables = [_read_table(path, self.variables) for path in self.tables]
        names = list(dict.fromkeys(name for _, own in tables for name in own))
        ids = np.concatenate([own for own, _ in tables])
        columns = [
            np.concatenate([own.get(name, np.full(len(own_ids), np.nan)) for own_ids, own in tables]) for name in names
        ]
        return [(names, _by_id(ids, np.column_stack(columns), np.concatenate([group.ids for group in groups])))]


def _read_table(path: Path, variables: Sequence[str] | None) -> tuple[npt.NDArray[np.str_], dict[str, Floats]]:
    table = TableInput(path)
    id_column = next((name for name in ID_COLUMNS if name in table.header), None)
    if id_column is None:
        raise DataError(
            f"No column of ids in {table.name}; it has {first_few(table.header, shown=12)}. "
            f"An environment table has one of {', '.join(ID_COLUMNS)}."
        )
    missing = [name for name in variables or () if name not in table.header]
    if missing:
        raise DataError(f"No column '{missing[0]}' in {table.name}; it has {first_few(table.header, shown=12)}.")
    known = {*COLUMNS, *ID_COLUMNS, *(alias for column in COLUMNS.values() for alias in column.aliases), ""}
    wanted = list(variables or (name for name in table.header if name not in known))
    ids: list[str] = []
    parts: dict[str, list[Floats]] = {name: [] for name in wanted}
    texts: set[str] = set()
    for batch in table.batches():
        ids.extend(cell_texts(batch.column(table.header.index(id_column))).to_pylist())
        for name in wanted:
            values, states = parse_numbers(batch.column(table.header.index(name)))
            parts[name].append(np.where(np.isinf(values), np.nan, values))
            if (states == NO_NUMBER).any():
                texts.add(name)
    _refuse_texts(table.name, texts, variables)
    columns = {name: np.concatenate(values) for name, values in parts.items() if name not in texts}
    if not columns:
        raise DataError(f"No column of numbers in {table.name} beside the known ones. Name some: --env-columns a,b.")
    return np.array(ids, dtype=np.str_), columns


def _refuse_texts(where: str, texts: set[str], variables: Sequence[str] | None) -> None:
    named = sorted(texts.intersection(variables or ()))
    if named:
        raise DataError(f"Column '{named[0]}' of {where} holds text. A variable is a column of numbers. Leave it out.")


def _by_id(ids: npt.NDArray[np.str_], values: Floats, wanted: npt.NDArray[np.str_]) -> Floats:
    """Find the row of each id; ids that are not there have nothing."""
    known, first, number = np.unique(ids, return_index=True, return_inverse=True)
    if len(known) < len(ids):
        unequal = ~np.array(values == values[first][number]) & ~(np.isnan(values) & np.isnan(values[first][number]))
        if unequal.any():
            again = ids[unequal.any(axis=1)]
            raise DataError(
                f"{len(np.unique(again)):,} ids of the environment have rows that differ (first: {first_few(again)}). "
                "An id has one environment. Remove the wrong rows."
            )
    at = np.minimum(np.searchsorted(known, wanted), len(known) - 1)
    there = known[at] == wanted
    return np.where(there[:, None], values[first[at]], np.nan)


@dataclass(frozen=True)
class Imputation:
    """Fills in missing values with the median of the training data.

    The median is that of the known values of a variable over the training surveys, each counted once. Validation and
    test data take no part in it. A variable that no training survey knows is 0 in all of them and so never splits.

    Attributes
    ----------
    medians : array of float, shape (n_variables,)

    Examples
    --------
    >>> fitted = Imputation.fit(np.array([[1.0, 5.0], [np.nan, 7.0], [3.0, np.nan]]))
    >>> fitted.fill(np.array([[np.nan, np.nan]])).tolist()
    [[2.0, 6.0]]
    """

    medians: Floats

    @classmethod
    def fit(cls, training: Floats) -> Imputation:
        """Learn the medians of the training data."""
        known = [column[np.isfinite(column)] for column in training.T]
        return cls(np.array([float(np.median(column)) if column.size else 0.0 for column in known]))

    def fill(self, values: Floats) -> Floats:
        """Give the values, the missing ones filled in."""
        return np.where(np.isfinite(values), values, self.medians)
