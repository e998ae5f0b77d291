"""Folds that leave out a place, a time, or both: for series of visits to the same places.

Meyer et al. 2018 (doi:10.1016/j.envsoft.2017.12.001) call them LLO, LTO and LLTO.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from spatialsplit.draw import Occupied
from spatialsplit.errors import DataError, nearest_name
from spatialsplit.folds.assigning import fold_quadrats, whole_number
from spatialsplit.folds.grouping import AnyGrid, Groups, column_of, group_labels, quadrats_of
from spatialsplit.folds.handed import is_geometry, n_columns, n_rows
from spatialsplit.folds.places import Integers, Mask, Places
from spatialsplit.folds.splitters import SpatialSplitter, rows_by_fold, seed_text

WAYS = ("place", "time", "both")
ORDINALS = ("first", "second", "third")


class PlaceTimeKFold(SpatialSplitter):
    """K-fold over places, over times, or over both at once.

    By both, a fold tests the rows of one fold of places and one of times, and trains on rows that are in neither.
    Choose what your model will meet: new places, new years, or new places in new years.

    Parameters
    ----------
    n_splits : int
        Folds of places, and of times; by both up to n_splits² pairs of them, those without a row left out.
    by : {'place', 'time', 'both'}
    time : str
        Column of `X` with the time (a year, a day) where `groups` does not hold it. Equal values are one time.
    seed : str or int
    grid, buffer_m : optional
        As for `QuadratKFold`.

    Examples
    --------
    >>> visits = [["p1", "d1"], ["p1", "d2"], ["p2", "d1"], ["p2", "d2"]]
    >>> cv = PlaceTimeKFold(2, by="both")
    >>> [(train.tolist(), test.tolist()) for train, test in cv.split(np.zeros((4, 1)), groups=visits)]
    [([0], [3]), ([1], [2]), ([2], [1]), ([3], [0])]
    """

    def __init__(
        self,
        n_splits: int = 5,
        *,
        by: str = "place",
        time: str = "year",
        seed: str | int = "0",
        grid: AnyGrid | None = None,
        buffer_m: float | None = None,
    ):
        self.n_splits = n_splits
        self.by = by
        self.time = time
        self.seed = seed
        self.grid = grid
        self.buffer_m = buffer_m

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Count the folds; by both only after a look at the rows."""
        n_splits = self._checked()
        if self.by != "both":
            return n_splits
        if X is None and groups is None:
            raise DataError("By 'both', the number of folds depends on the rows. It must see them. Give X= or groups=.")
        return len(np.unique(self._cells(groups if X is None else X, groups)))

    def _checked(self) -> int:
        if self.by not in WAYS:
            raise DataError(f"Unknown by '{self.by}'. Known: {', '.join(WAYS)}.")
        return whole_number(self.n_splits, "n_splits", 2)

    def _cells(self, X: Any, groups: Any) -> Integers:
        """Give a number to the pair of folds that each row lies in."""
        place, time = self._folds_of_both(X, groups)
        return place * self._checked() + time

    def _folds_of_both(self, X: Any, groups: Any) -> tuple[Integers, Integers]:
        self._checked()
        none = np.zeros(n_rows(X), dtype=np.int64)
        place = self._deal(self._place_of(X, groups), "place") if self.by != "time" else none
        time = self._deal(self._time_of(X, groups), "time") if self.by != "place" else none
        return place, time

    def _deal(self, groups: Groups, what: str) -> Integers:
        occupied = Occupied(groups.labels, groups.counts().tolist())
        seed = seed_text(self.seed) if what == "place" else f"{seed_text(self.seed)}#time"
        folds = fold_quadrats(occupied, self.n_splits, seed, share_of="surveys")
        return np.array([folds[label] for label in groups.labels], dtype=np.int64)[groups.codes]

    def _place_of(self, X: Any, groups: Any) -> Groups:
        if _count_columns(groups) != 2:
            return quadrats_of(X, _place_alone(groups), self.grid)
        names = column_of(groups, 0)
        if self.grid is not None or _has_fractions(names):
            raise DataError(
                "The two columns of groups are the labels of place and time, and what is given are coordinates. A grid "
                "needs both of a row. Give three columns: longitude, latitude and time."
            )
        return group_labels(names, n_rows(X), where="the first column of groups")

    def _time_of(self, X: Any, groups: Any) -> Groups:
        last = _count_columns(groups) - 1
        if last > 0:
            return group_labels(column_of(groups, last), n_rows(X), where=f"the {ORDINALS[last]} column of groups")
        names = [str(name) for name in getattr(X, "columns", [])]
        if self.time not in names:
            near = nearest_name(self.time, names)
            hint = f" Did you mean time='{near}'?" if near else ""
            raise DataError(
                f"Nobody knows the time of the rows: X has no column '{self.time}'. Each row needs one.{hint} Name "
                "the column by "
                "time=, or give groups=, an array of two columns with place and time."
            )
        return group_labels(X[self.time], n_rows(X), where=f"column '{self.time}' of X")

    def _tests(self, X: Any, y: Any, groups: Any) -> Iterator[Integers]:
        cells = self._cells(X, groups)
        _, numbers = np.unique(cells, return_inverse=True)
        yield from rows_by_fold(numbers, int(numbers.max()) + 1)

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[tuple[Integers, Integers]]:
        """Give the folds; see `SpatialSplitter.split`.

        `groups` may also hold place and time as two columns of labels, or longitude, latitude and time as three.
        """
        if self.by != "both":
            yield from super().split(X, y, groups)
            return
        place, time = self._folds_of_both(X, groups)
        for number, (train, test) in enumerate(super().split(X, y, groups)):
            apart: Mask = (place[train] != place[test[0]]) & (time[train] != time[test[0]])
            if not apart.any():
                raise DataError(self._no_training(number, n_rows(X)))
            yield train[apart], test

    def _places(self, X: Any, groups: Any) -> Places:
        return super()._places(X, None if _count_columns(groups) == 2 else _place_alone(groups))


def _count_columns(groups: Any) -> int:
    """Count the columns of `groups`; one where it is points, whose time stands in `X`."""
    if isinstance(groups, Places) or is_geometry(groups):
        return 1
    return n_columns(groups, (1, 2, 3), meaning="two with place and time, or three with longitude, latitude and time")


def _place_alone(groups: Any) -> Any:
    """Give `groups` without its third column, the time."""
    if _count_columns(groups) != 3:
        return groups
    return groups.iloc[:, :2] if hasattr(groups, "iloc") else [row[:2] for row in groups]


def _has_fractions(names: Any) -> bool:
    values = np.asarray(names)
    return values.dtype.kind == "f" and bool((np.mod(values[np.isfinite(values)], 1) != 0).any())
