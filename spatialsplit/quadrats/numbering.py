"""Points in metres → steps of a grid → a number for each quadrat that occurs.

Arithmetic on large arrays, part by part, in threads. How a quadrat is called stands with its grid.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from spatialsplit.engine import map_in_order

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
Steps = npt.NDArray[np.int32]

PART_POINTS = 1 << 17
"""Points that are looked at together."""

DENSE_CELLS = 1 << 25
"""Up to so many cells between the outermost quadrats, a table numbers them; beyond it, sorting does."""


@dataclass(frozen=True)
class Quadrats:
    """The quadrat of each point: an integer code a point and a label a code.

    Attributes
    ----------
    codes : array of int, shape (n,)
        Position in `labels` of each point's quadrat.
    labels : list of str
        The occupied quadrats, south to north within west to east.
    """

    codes: npt.NDArray[np.int32]
    labels: list[str]

    def __len__(self) -> int:
        return len(self.codes)

    def of_each_point(self) -> list[str]:
        """Give the label of every point, in order."""
        return [self.labels[code] for code in self.codes.tolist()]


def steps_in_place(metres: Floats, origin: int, size_m: int) -> Floats:
    """Turn metres into whole steps of the grid from its origin, in the same array.

    The quotient is exact enough: centimetres are whole numbers below 2**53, so that a quotient that is not whole lies
    farther from the next whole number than its rounding goes.
    """
    metres *= 100
    np.rint(metres, out=metres)
    metres -= origin * 100
    metres /= size_m * 100
    return np.floor(metres, out=metres)


def parts_of(n: int) -> list[slice]:
    """Give parts of n points, small enough for a processor's cache."""
    return [slice(start, start + PART_POINTS) for start in range(0, n, PART_POINTS)]


def _in_parts(work: Callable[[slice], None], n: int, threads: int | None) -> None:
    """Do some work part by part, in threads where there are several parts."""
    parts = parts_of(n)
    for _ in map_in_order(work, parts, threads if len(parts) > 1 else 1):
        pass


def number_quadrats(
    column: Steps,
    row: Steps,
    first: tuple[Integers, Integers],
    last: tuple[Integers, Integers],
    labels: Callable[[Integers, Integers], list[str]],
    threads: int | None,
) -> Quadrats:
    """Give a number to each quadrat that occurs, by column and row, and code each point; the arrays are used up."""
    (first_column, first_row), (last_column, last_row) = map(int, first), map(int, last)
    n_rows = last_row - first_row + 1
    n_cells = (last_column - first_column + 1) * n_rows
    if n_cells <= DENSE_CELLS:
        column -= np.int32(first_column)
        row -= np.int32(first_row)
        occupied, codes = _number_cells(column, row, n_rows, n_cells, threads)
    else:
        cells = (column.astype(np.int64) - first_column) * n_rows + (row.astype(np.int64) - first_row)
        occupied, inverse = np.unique(cells, return_inverse=True)
        codes = inverse.astype(np.int32)
    columns, rows = np.divmod(occupied, n_rows)
    return Quadrats(codes, labels(columns + first_column, rows + first_row))


def _number_cells(column: Steps, row: Steps, n_rows: int, n_cells: int, threads: int | None) -> tuple[Integers, Steps]:
    """Give the cells that occur and the number of each point's cell among them, by a table of all cells.

    Both arrays are used up: one holds the cells in the end, the other the numbers.
    """
    present = np.zeros(n_cells, dtype=bool)

    def mark(part: slice) -> None:
        """Mark the cells of some points; `column` holds them from then on."""
        column[part] *= np.int32(n_rows)
        column[part] += row[part]
        present[column[part]] = True

    _in_parts(mark, len(column), threads)
    occupied = np.flatnonzero(present)
    number = np.zeros(n_cells, dtype=np.int32)
    number[occupied] = np.arange(occupied.size, dtype=np.int32)

    def code(part: slice) -> None:
        """Look up the numbers of some points' cells."""
        row[part] = number[column[part]]

    _in_parts(code, len(column), threads)
    return occupied, row
