"""Leave one row out, with a buffer round it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from spatialsplit.errors import DataError
from spatialsplit.folds.handed import n_rows, places_of
from spatialsplit.folds.parting import check_distance
from spatialsplit.folds.places import Integers, Mask, Places
from spatialsplit.folds.splitters import SpatialSplitter


class BufferedLeaveOneOut(SpatialSplitter):
    """Each row is tested once, and trains with no row within the buffer (d ≤ r).

    Choose it for small data where every row counts; the buffer should be the range of the autocorrelation (Le Rest et
    al. 2014, doi:10.1111/geb.12161). As many folds as rows: above some thousand rows prefer `QuadratKFold`.

    Parameters
    ----------
    buffer_m : float
        Metres on the WGS84 ellipsoid, or the plane's unit. Rows at the same place are within every buffer.
    planar : bool
        Places are easting and northing of a plane.
    only : optional
        Only rows whose `y` is this value are tested (presences, say); all rows train.

    Examples
    --------
    >>> cv = BufferedLeaveOneOut(1, planar=True)
    >>> [train.tolist() for train, _ in cv.split(np.zeros((3, 1)), groups=[[0, 1], [1, 1], [3, 1]])]
    [[2], [2], [0, 1]]
    """

    buffer_m: float

    def __init__(self, buffer_m: float, *, planar: bool = False, only: Any = None):
        self.buffer_m = buffer_m
        self.planar = planar
        self.only = only

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Count the rows that are tested."""
        if X is None:
            raise DataError("BufferedLeaveOneOut makes as many folds as there are rows. It must see them. Give X=.")
        return len(self._tested(X, y))

    def _tested(self, X: Any, y: Any) -> Integers:
        if self.only is None:
            return np.arange(n_rows(X))
        rows = np.zeros(0, dtype=np.int64)
        if y is not None:
            values = np.asarray(y)
            if values.shape != (n_rows(X),):
                raise DataError(
                    f"y has the shape {values.shape} for {n_rows(X):,} rows. Each row needs one value, to be compared "
                    "with only. Give one column."
                )
            rows = np.flatnonzero(values == self.only)
        if not rows.size:
            raise DataError(
                f"No row has y = {self.only!r}, so none is tested. At least one must. Correct only, or give y=."
            )
        return rows

    def _tests(self, X: Any, y: Any, groups: Any) -> Iterator[Integers]:
        check_distance(self.buffer_m, "buffer_m")
        for row in self._tested(X, y).tolist():
            yield np.array([row])

    def _places(self, X: Any, groups: Any) -> Places:
        return places_of(X, groups, planar=self.planar)

    def _trains(self, X: Any, test: Integers, places: Places | None, number: int) -> Mask:
        trains = np.ones(n_rows(X), dtype=bool)
        trains[test] = False
        if places is not None:
            trains[places.around(int(test[0]), self.buffer_m)] = False
        return trains
