"""A sample of rows that depends on the rows themselves: not on their order, and on no random generator.

Each row gets a number from a hash of its place and its values; the smallest numbers are taken. Where an exact answer
would need all pairs of rows, the diagnostics look at such a sample, and say how large it was.
"""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
import numpy.typing as npt

from spatialsplit.folds.places import Floats, Integers, Places

Numbers = npt.NDArray[np.uint64]


def sample_rows(places: Places, size: int, seed: str, values: Floats | None = None) -> Integers:
    """Choose rows by the hash of what they hold.

    Parameters
    ----------
    places : Places
    size : int
        All rows where there are no more.
    seed : str
    values : array of float, shape (n,) or (n, p), optional
        Tell rows at one place apart.

    Returns
    -------
    array of int, shape (min(size, n),)
        Row numbers, increasing. A smaller sample is part of a larger one; rows that are equal in everything stand
        for each other, and each has its own chance: many visits to one place are drawn no more together than others.

    Examples
    --------
    >>> line = Places(np.arange(10.0), np.zeros(10), planar=True)
    >>> sample_rows(line, 3, "0").tolist()
    [0, 2, 3]
    """
    if len(places) <= size:
        return np.arange(len(places))
    numbers = _told_apart(row_numbers([places.east, places.north, *_columns(values)], seed))
    return np.sort(np.argpartition(numbers, size)[:size])


def _told_apart(numbers: Numbers) -> Numbers:
    """Give each further row of equal ones a number of its own."""
    order = np.argsort(numbers, kind="stable")
    sorted_numbers = numbers[order]
    new = np.ones(len(numbers), dtype=bool)
    new[1:] = sorted_numbers[1:] != sorted_numbers[:-1]
    place = np.arange(len(numbers))
    repeat = (place - np.maximum.accumulate(np.where(new, place, 0))).astype(np.uint64)
    told: Numbers = numbers.copy()
    told[order] = np.where(repeat > 0, _mixed(sorted_numbers ^ repeat), sorted_numbers)
    return told


def _columns(values: Floats | None) -> list[Floats]:
    return [] if values is None else list(np.asarray(values, dtype=np.float64).reshape(len(values), -1).T)


def row_numbers(columns: list[Floats], seed: str) -> Numbers:
    """Give each row a number of 64 bits: the finalizer of SplitMix64 (Steele et al. 2014) over its cells.

    Examples
    --------
    >>> int(row_numbers([np.array([0.0, -0.0])], "0")[0]) == int(row_numbers([np.array([0.0, -0.0])], "0")[1])
    True
    """
    start = int.from_bytes(hashlib.sha256(f"{seed}|sample".encode()).digest()[:8], "big")
    numbers: Numbers = np.full(len(columns[0]), start, dtype=np.uint64)
    for column in columns:
        bits = np.ascontiguousarray(np.asarray(column, dtype=np.float64) + 0.0).view(np.uint64)
        numbers = _mixed(numbers ^ bits)
    return numbers


def _mixed(numbers: Any) -> Numbers:
    mixed: Numbers = numbers + np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))
