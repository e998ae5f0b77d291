"""What all splitters share: scikit-learn's contract, and the buffer between test and training.

A splitter is handed to `cv=`. It holds settings only, never rows; places and quadrats come with `X` or `groups`, so a
splitter may be cloned, printed, searched over, and used inside another one. The designs stand in the files beside.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.model_selection import BaseCrossValidator

from spatialsplit.errors import DataError
from spatialsplit.folds.assigning import whole_number
from spatialsplit.folds.grouping import AnyGrid, is_planar
from spatialsplit.folds.handed import n_rows, places_of
from spatialsplit.folds.parting import part_rows
from spatialsplit.folds.places import Integers, Mask, Places

Pair = tuple[Integers, Integers]


class SpatialSplitter(BaseEstimator, BaseCrossValidator):  # type: ignore[misc]  # scikit-learn has no types
    """A way of making folds, as scikit-learn takes it.

    Subclasses say which rows each fold tests; this class sees to the rest.
    """

    __metadata_request__split = {"groups": True}  # noqa: RUF012 - scikit-learn's own form

    buffer_m: float | None = None
    grid: AnyGrid | None = None

    @abstractmethod
    def _tests(self, X: Any, y: Any, groups: Any) -> Iterator[Integers]:
        """Give the rows that each fold tests."""

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[Pair]:
        """Give the folds, one after the other.

        Parameters
        ----------
        X : array, data frame or geo data frame, n rows
            Its column `quadratId`, its `lon` and `lat`, or its geometry tell where a row lies, unless `groups` does.
        y : array, shape (n,) or (n, species), optional
            Only designs that balance it look at it.
        groups : array, shape (n,) or (n, 2), or geometry, optional
            With one column the quadrat of each row, with two its longitude and latitude.

        Yields
        ------
        train, test : array of int
            Row numbers, increasing.

        Raises
        ------
        DataError
            Nothing tells where the rows lie, a fold cannot be filled, or a buffer leaves no training.
        """
        n = n_rows(X)
        places = self._places(X, groups) if self.buffer_m is not None else None
        for number, test in enumerate(self._tests(X, y, groups)):
            train = np.flatnonzero(self._trains(X, test, places, number))
            if not train.size:
                raise DataError(self._no_training(number, n))
            yield train, test

    def _places(self, X: Any, groups: Any) -> Places:
        return places_of(X, groups, planar=is_planar(self.grid))

    def _trains(self, X: Any, test: Integers, places: Places | None, number: int) -> Mask:
        """Mark the rows that may train while `test` is tested."""
        trains = np.ones(n_rows(X), dtype=bool)
        trains[test] = False
        if places is not None:
            trains[part_rows(places, test, buffer_m=self.buffer_m).set_aside] = False
        return trains

    def _no_training(self, number: int, n: int) -> str:
        buffer = f" with a buffer of {self.buffer_m:g} m" if self.buffer_m is not None else ""
        return (
            f"Fold {number} of {n:,} rows{buffer} leaves no row to train on. Every fold needs some. Lower buffer_m, "
            "or make "
            "smaller folds."
        )


def rows_by_fold(folds: Integers, n_folds: int) -> Iterator[Integers]:
    """Give the rows of each fold, increasing."""
    order = np.argsort(folds, kind="stable")
    ends = np.cumsum(np.bincount(folds, minlength=n_folds))
    yield from np.split(order, ends[:-1])


def seed_text(seed: str | int) -> str:
    """Give a seed as text; a whole number means its decimal digits.

    Examples
    --------
    >>> seed_text(42)
    '42'
    """
    if isinstance(seed, str | bool) or not isinstance(seed, int | np.integer):
        return seed  # type: ignore[return-value]  # what is no text is refused where the seed is used
    return str(int(seed))


def seeds_of(seed: str | int, repeats: int) -> list[str]:
    """Give the seed of each repeat: itself where there is one, else `{seed}#1` … `{seed}#n`.

    Examples
    --------
    >>> seeds_of(7, 1), seeds_of("s", 2)
    (['7'], ['s#1', 's#2'])
    """
    text, n = seed_text(seed), whole_number(repeats, "repeats", 1)
    return [text] if n == 1 else [f"{text}#{k}" for k in range(1, n + 1)]
