"""The environment of surveys: a row a survey, a column a variable, from rasters, tables, or both.

Missing values are filled in by `Imputation`, which knows the training data alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
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

LARGEST = float(np.finfo(np.float32).max)


@dataclass(frozen=True)
class Environment:
    """Where the environment comes from.

    Parameters
    ----------
    rasters : sequence of Raster
        Read at each survey's place.
    tables : sequence of path
        With an id column (`surveyId`, `Id` or `observation_id`) and a column a variable; rows are found by id, never by
        their position. Several tables are taken as one: below each other where they have the same columns (train,
        test), side by side where they have others (climate, soil).
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
            One a group; NaN where missing, infinite, or beyond what float32 holds, in which forests are grown.
        """
        blocks = [*(self._from_raster(raster, groups) for raster in self.rasters), *self._from_tables(groups)]
        names = [name for block_names, _ in blocks for name in block_names]
        whole = np.concatenate([values for _, values in blocks], axis=1)
        whole = np.where(np.abs(whole) <= LARGEST, whole, np.nan)
        ends = np.cumsum([len(group) for group in groups])
        return names, np.split(whole, ends[:-1])

    @property
    def left_out(self) -> list[str]:
        """The columns of the tables that are no variables because some cell of theirs is no number."""
        return list(self._merged.texts) if self.tables else []

    @cached_property
    def _merged(self) -> _Merged:
        return _merge([_read_table(path, self.variables) for path in self.tables], self.variables)

    def _from_raster(self, raster: Raster, groups: Sequence[Surveys]) -> tuple[list[str], Floats]:
        lon, lat = (np.concatenate([getattr(group, axis) for group in groups]) for axis in ("lon", "lat"))
        found = raster_values(raster, lon, lat)
        return list(found.names), np.column_stack([found.as_floats(band) for band in range(len(found.names))])

    def _from_tables(self, groups: Sequence[Surveys]) -> list[tuple[list[str], Floats]]:
        if not self.tables:
            return []
        return [(self._merged.names, self._merged.of(np.concatenate([group.ids for group in groups])))]


@dataclass(frozen=True)
class _Table:
    """What one table says: its rows' ids, its variables, and its columns that are none because they hold text."""

    where: str
    ids: npt.NDArray[np.str_]
    columns: dict[str, Floats]
    texts: set[str]


@dataclass(frozen=True)
class _Merged:
    """All tables as one: a row an id, in the order of the ids."""

    ids: npt.NDArray[np.str_]
    names: list[str]
    values: Floats
    texts: list[str]

    def of(self, wanted: npt.NDArray[np.str_]) -> Floats:
        """Find the row of each id; ids that are not there have nothing."""
        at = np.minimum(np.searchsorted(self.ids, wanted), len(self.ids) - 1)
        return np.where((self.ids[at] == wanted)[:, None], self.values[at], np.nan)


def _read_table(path: Path, variables: Sequence[str] | None) -> _Table:
    table = TableInput(path)
    id_column = next((name for name in ID_COLUMNS if name in table.header), None)
    if id_column is None:
        raise DataError(
            f"No column of ids in {table.name}; it has {first_few(table.header, shown=12)}. "
            f"An environment table has one of {', '.join(ID_COLUMNS)}."
        )
    known = {*COLUMNS, *ID_COLUMNS, *(alias for column in COLUMNS.values() for alias in column.aliases), ""}
    wanted = [name for name in table.header if (name in variables if variables else name not in known)]
    ids: list[str] = []
    parts: dict[str, list[Floats]] = {name: [] for name in wanted}
    texts: set[str] = set()
    for batch in table.batches():
        ids.extend(cell_texts(batch.column(table.header.index(id_column))).to_pylist())
        for name in wanted:
            values, states = parse_numbers(batch.column(table.header.index(name)))
            parts[name].append(values)
            if (states == NO_NUMBER).any():
                texts.add(name)
    columns = {name: np.concatenate(values) for name, values in parts.items() if name not in texts}
    return _Table(table.name, np.array(ids, dtype=np.str_), columns, texts)


def _merge(tables: Sequence[_Table], variables: Sequence[str] | None) -> _Merged:
    """Put tables side by side where their columns differ, and one below the other where they are the same."""
    texts = sorted({name for table in tables for name in table.texts})
    names = list(dict.fromkeys(name for table in tables for name in table.columns if name not in texts))
    _check_names(tables, names, texts, variables)
    ids, numbers = np.unique(np.concatenate([table.ids for table in tables]), return_inverse=True)
    numbers_of = np.split(numbers, np.cumsum([len(table.ids) for table in tables])[:-1])
    values = np.full((len(ids), len(names)), np.nan)
    differ = np.zeros(len(ids), dtype=bool)
    for place, name in enumerate(names):
        there = [
            (number, table.columns[name])
            for number, table in zip(numbers_of, tables, strict=True)
            if name in table.columns
        ]
        number, cells = np.concatenate([each for each, _ in there]), np.concatenate([each for _, each in there])
        values[number, place] = cells
        taken = values[number, place]
        differ[number[(cells != taken) & ~(np.isnan(cells) & np.isnan(taken))]] = True
    if differ.any():
        raise DataError(
            f"{np.count_nonzero(differ):,} ids of the environment have rows that differ "
            f"(first: {first_few(ids[differ])}). An id has one environment. Remove the wrong rows."
        )
    return _Merged(ids, names, values, texts)


def _check_names(
    tables: Sequence[_Table], names: Sequence[str], texts: Sequence[str], variables: Sequence[str] | None
) -> None:
    where = first_few(table.where for table in tables)
    named = [name for name in texts if name in (variables or ())]
    if named:
        raise DataError(f"Column '{named[0]}' of {where} holds text. A variable is a column of numbers. Leave it out.")
    lacking = [name for name in variables or () if name not in names]
    if lacking:
        raise DataError(f"No column '{lacking[0]}' in {where}. --env-columns names columns of the tables. Correct it.")
    if not names:
        raise DataError(f"No column of numbers in {where} beside the known ones. Name some: --env-columns a,b.")


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
