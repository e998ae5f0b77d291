"""Test rows → test, training, and the rows set aside between them.

A buffer keeps training away from the test: rows within it of a test row, and not in the test, train nobody. The limit
is in (d ≤ r), as in blockCV, spatialsample, sperrorest and mlr3spatiotempcv.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from spatialsplit.errors import DataError
from spatialsplit.folds.places import Integers, Places


@dataclass(frozen=True)
class Parting:
    """What becomes of every row; each is in one of the three.

    Attributes
    ----------
    test, set_aside, train : array of int
        Row numbers, increasing.
    """

    test: Integers
    set_aside: Integers
    train: Integers


def part_rows(places: Places, test: Integers, *, grow_m: float = 0.0, buffer_m: float | None = None) -> Parting:
    """Part rows into test, training and a buffer between.

    Parameters
    ----------
    places : Places
    test : array of int
        Row numbers that are tested.
    grow_m : float
        Rows within it of these join the test first. With 0 they stay alone; with more, rows at the same place join.
    buffer_m : float, optional
        Rows within it of any test row are set aside. With 0 these are the rows at the very place of a test row;
        without a buffer none.

    Raises
    ------
    DataError
        A distance is negative or not finite.

    Notes
    -----
    O(n log n): a KD-tree of the test rows, and the geodesic for those near the limit.

    Examples
    --------
    >>> line = Places(np.array([0.0, 1.0, 3.0]), np.ones(3), planar=True)
    >>> parting = part_rows(line, np.array([1]), buffer_m=1)
    >>> parting.test.tolist(), parting.set_aside.tolist(), parting.train.tolist()
    ([1], [0], [2])
    """
    check_distance(grow_m, "grow_m")
    role = np.zeros(len(places), dtype=np.int8)
    seeds = np.asarray(test, dtype=np.int64)
    if grow_m:
        seeds = np.union1d(seeds, places.near(places.take(seeds), grow_m))
    if buffer_m is not None:
        role[places.near(places.take(seeds), check_distance(buffer_m, "buffer_m"))] = 1
    role[seeds] = 2
    return Parting(np.flatnonzero(role == 2), np.flatnonzero(role == 1), np.flatnonzero(role == 0))


def check_distance(metres: float, name: str) -> float:
    """Return a distance that can be used.

    Raises
    ------
    DataError
        It is negative, not finite or no number.

    Examples
    --------
    >>> check_distance(300, "buffer_m")
    300.0
    """
    if isinstance(metres, bool) or not isinstance(metres, int | float | np.number) or not 0 <= metres < np.inf:
        raise DataError(f"Invalid {name} {metres!r}. It must be a finite number from 0 up. Correct it.")
    return float(metres)
