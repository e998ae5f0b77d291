"""The quadrat, or any other group, of each row that a splitter is handed.

It comes with `groups`, or with a column `quadratId` of `X`, or from the row's place and a grid. A group is never cut.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from spatialsplit.errors import DataError, first_few
from spatialsplit.folds.handed import as_frame, n_columns, n_rows, places_of
from spatialsplit.folds.places import Floats, Integers
from spatialsplit.quadrats import Grid, Quadrats

OWN_COLUMN = "quadratId"


class AnyGrid(Protocol):
    """Whatever gives each place one quadrat: squares, hexagons, polygons, zones; see `grids`."""

    def assign(self, first: Floats, second: Floats, /) -> Quadrats:
        """Give every place its quadrat."""


@dataclass(frozen=True)
class Groups:
    """The group of each row.

    Attributes
    ----------
    codes : array of int, shape (n,)
        Position in `labels`.
    labels : list of str
        In code-point order.
    """

    codes: Integers
    labels: list[str]

    def counts(self) -> Integers:
        """Count the rows of each group."""
        return np.bincount(self.codes, minlength=len(self.labels))


def is_planar(grid: AnyGrid | None) -> bool:
    """Tell whether a grid has no CRS, so that places are easting and northing."""
    return bool(getattr(grid, "planar", False))


def quadrats_of(X: Any, groups: Any = None, grid: AnyGrid | None = None) -> Groups:
    """Find the quadrat of each row.

    Parameters
    ----------
    X : array or data frame, n rows
        Its column `quadratId` counts, unless there is a grid; else its places do.
    groups : array, shape (n,), (n, 1) or (n, 2), or geometry, optional
        With one column a label for each row; with two columns, or as points, the places.
    grid : optional
        Default: 5 km in EPSG:3035, for degrees.

    Raises
    ------
    DataError
        A row has no label, or nothing tells where it lies.

    Examples
    --------
    >>> quadrats_of(np.zeros((3, 1)), groups=["b", "a", "b"])
    Groups(codes=array([1, 0, 1]), labels=['a', 'b'])
    """
    if n_columns(groups) == 1:
        return group_labels(column_of(groups, 0), n_rows(X) if X is not None else len(groups))
    X = as_frame(X)
    if groups is None and grid is None and OWN_COLUMN in list(getattr(X, "columns", [])):
        return group_labels(X[OWN_COLUMN], n_rows(X), where=f"column '{OWN_COLUMN}' of X")
    places = places_of(X, groups, planar=is_planar(grid))
    if not hasattr(grid, "assign") and grid is not None:
        raise DataError(f"Invalid grid {grid!r}. It must be a grid, such as Grid('EPSG:3035', 5000). Make one.")
    _warn(grid, places.east, places.north)
    quadrats = (Grid() if grid is None else grid).assign(places.east, places.north)
    return _sorted(quadrats.codes.astype(np.int64), quadrats.labels)


def column_of(table: Any, position: int) -> Any:
    """Give a column of a data frame, an array or a list of rows; a single column as it is."""
    if np.ndim(table) == 1:
        return table
    return table.iloc[:, position] if hasattr(table, "iloc") else [row[position] for row in table]


def _warn(grid: AnyGrid | None, east: Floats, north: Floats) -> None:
    import warnings

    known: Any = grid if grid is not None else Grid()
    if hasattr(known, "warnings"):
        for line in known.warnings(known.count_outside(east, north), len(east)):
            warnings.warn(line, UserWarning, stacklevel=5)


def group_labels(values: Any, n: int, *, where: str = "groups") -> Groups:
    """Give numbers to the distinct values of a column, as text in code-point order.

    Raises
    ------
    DataError
        A value is missing, or there are not as many as rows.

    Examples
    --------
    >>> group_labels([3, 1, 3], 3).labels
    ['1', '3']
    """
    import pandas as pd

    if np.ndim(values) == 2 and np.shape(values)[1] == 1:
        values = column_of(values, 0)
    if np.ndim(values) > 1:
        raise DataError(f"{where} has the shape {np.shape(values)}. It must be one column. Take the one that is meant.")
    if len(values) != n:
        raise DataError(
            f"{where} has {len(values):,} values for {n:,} rows. Each row needs one. Give them in the rows' order."
        )
    if hasattr(next(iter(values), None), "geom_type"):
        raise DataError(
            f"{where} holds shapes, which are no labels, and their CRS is not known. Give a geo series, or columns of "
            "coordinates."
        )
    try:
        codes, distinct = pd.factorize(pd.Series(values).reset_index(drop=True), use_na_sentinel=True)
        labels = [_text(value) for value in distinct]
        "".join(labels).encode()  # they are hashed as UTF-8
    except UnicodeEncodeError as error:
        raise DataError(
            f"A value in {where} holds {error.object[error.start]!r}, which is no letter of Unicode. Labels must be "
            "text that can be hashed. Read the table with its right encoding."
        ) from None
    missing = np.flatnonzero(codes < 0)
    if missing.size:
        raise DataError(
            f"{missing.size:,} of {n:,} rows have no value in {where} (first: row {first_few(missing[:4].tolist())}). "
            "A row without a group can be on no side. Fill them in or leave these rows out."
        )
    return _sorted(codes.astype(np.int64), labels)


def class_labels(y: Any, n: int) -> Groups:
    """Give numbers to the classes of `y`.

    Raises
    ------
    DataError
        As `group_labels`; or there are fractions, which are measurements and no classes.

    Examples
    --------
    >>> class_labels(["oak", "beech", "oak"], 3).labels
    ['beech', 'oak']
    """
    values = np.asarray(y)
    if values.dtype.kind == "f" and (np.mod(values[np.isfinite(values)], 1) != 0).any():
        raise DataError(
            "y holds fractions, which are measurements. Only classes can be counted and balanced. Cut y into classes."
        )
    return group_labels(y, n, where="y")


def _text(value: Any) -> str:
    """Write a value as text; a whole number in the same way whether it came as integer or float."""
    return str(int(value)) if isinstance(value, float | np.floating) and float(value).is_integer() else str(value)


def _sorted(codes: Integers, labels: list[str]) -> Groups:
    names = sorted(set(labels))
    position = {name: i for i, name in enumerate(names)}
    return Groups(np.array([position[label] for label in labels], dtype=np.int64)[codes], names)
