"""Leave one row out, and its neighbours with it, until the test is as hard as the use of the model.

Nearest neighbour distance matching (Milà et al. 2022, doi:10.1111/2041-210X.13851). For more than some thousand rows
see `matched_folds`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from spatialsplit.diagnostics.nearest import nearest_between
from spatialsplit.errors import DataError
from spatialsplit.folds.parting import check_distance
from spatialsplit.folds.places import Floats, Integers, Places

MOST_ROWS = 3_000
"""All distances between rows are held at once, and each removal looks at all rows."""


@dataclass(frozen=True)
class LeftOut:
    """A fold a row.

    Attributes
    ----------
    pairs : list of (train, test)
        For `cv=`; each test is one row.
    distances : array of float, shape (n,)
        From each row to the nearest that trains for it.
    """

    pairs: list[tuple[Integers, Integers]]
    distances: Floats


def nndm(places: Places, prediction: Places, *, farthest: float | None = None, min_train: float = 0.5) -> LeftOut:
    """Leave out each row, and so many neighbours that distances to training match those of the use.

    Parameters
    ----------
    places : Places
    prediction : Places
        Where the model will be used.
    farthest : float, optional
        Up to which distances are matched: the range of autocorrelation. Default: the largest between rows.
    min_train : float
        Share of the rows that trains in every fold, at least.

    Raises
    ------
    DataError
        There are more than 3,000 rows or fewer than 2, or the share is none.

    Notes
    -----
    O(n²) memory, and O(n) for each row left out. Of equally near rows the first is left out first, as in CAST; so rows
    in another order may give other folds where distances are equal.

    Examples
    --------
    >>> rows = Places(np.array([0.0, 1.0, 3.0, 6.0]), np.zeros(4), planar=True)
    >>> found = nndm(rows, Places(np.array([8.0, 9.0]), np.zeros(2), planar=True))
    >>> [train.tolist() for train, _ in found.pairs]
    [[2, 3], [2, 3], [0, 1, 3], [0, 1, 2]]
    """
    if not 2 <= len(places) <= MOST_ROWS:
        raise DataError(
            f"{len(places):,} rows are not for nndm, which compares all with all. There must be 2 to {MOST_ROWS:,}. "
            "Use "
            "matched_folds."
        )
    if not 0 < min_train < 1:
        raise DataError(f"Invalid min_train {min_train!r}. It must lie between 0 and 1. Correct it.")
    if farthest is not None:
        check_distance(farthest, "farthest")
    every = np.arange(len(places))
    apart = np.array([places.distance_to(row, every) for row in every.tolist()])
    np.fill_diagonal(apart, np.inf)
    use = np.sort(nearest_between(prediction, places))
    reach = float(apart[np.isfinite(apart)].max()) if farthest is None else farthest
    _leave_out(apart, use, reach, min_train)
    pairs = [(np.flatnonzero(np.isfinite(row)), np.array([i])) for i, row in enumerate(apart)]
    return LeftOut(pairs, apart.min(axis=1))


def _leave_out(apart: Floats, use: Floats, reach: float, min_train: float) -> None:
    """Strike out distances, from the shortest up, while more rows than places of use have one as short."""
    n = len(apart)
    nearest = apart.min(axis=1)
    trains = np.full(n, n - 1)
    now = float(nearest.min())
    while now <= reach:
        row = int(np.flatnonzero(nearest == now)[0])
        too_near = (np.count_nonzero(nearest <= now) - 1) / n >= np.searchsorted(use, now, side="right") / use.size
        if too_near and trains[row] / n > min_train:
            apart[row, int(np.flatnonzero(apart[row] == now)[0])] = np.inf
            trains[row] -= 1
            nearest[row] = apart[row].min()
            now = float(nearest[nearest >= now].min())
        elif not (nearest > now).any():
            return
        else:
            now = float(nearest[nearest > now].min())
