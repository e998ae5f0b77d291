"""Folds that are just as hard as the use of the model: of the sizes of quadrats, the one whose distances match best.

The idea of kNNDM (Linnenbrink et al. 2024, doi:10.5194/gmd-17-5897-2024): choose the folds whose distances from test to
training are distributed like those from the places of prediction to the sample. There, clusters of rows are merged;
here quadrats are made larger, so the answer does not depend on the rows' order and the folds can be told to anybody.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from spatialsplit.diagnostics.block_size import round_up
from spatialsplit.diagnostics.nearest import nearest_between, nearest_other, nearest_other_fold, wasserstein
from spatialsplit.diagnostics.sampling import sample_rows
from spatialsplit.draw import Occupied
from spatialsplit.errors import DataError
from spatialsplit.folds.assigning import check_n_splits, fold_quadrats, whole_number
from spatialsplit.folds.grouping import AnyGrid
from spatialsplit.folds.handed import places_of
from spatialsplit.folds.places import Integers, Places
from spatialsplit.folds.splitters import SpatialSplitter, rows_by_fold, seed_text
from spatialsplit.grids.planar import PlanarGrid
from spatialsplit.quadrats import Grid

MOST_ROWS = 20_000
"""Sizes are compared by the distances of so many rows, at most."""

N_SIZES = 16
ATTEMPTS = 3
ALONE = 5
"""In quadrats of so many times less than the distance between neighbours, one place of thirty has company."""


@dataclass(frozen=True)
class MatchedFolds:
    """The folds that match best, and what was tried.

    Attributes
    ----------
    folds : array of int, shape (n,)
    size : int or float
        Of the quadrats; metres, or the plane's unit.
    w : float
        Wasserstein's distance that is left.
    tried : tuple of (size, attempt, w)
        Every candidate.
    """

    folds: Integers
    size: int | float
    w: float
    tried: tuple[tuple[int | float, int, float], ...]


def matched_folds(
    places: Places, prediction: Places, n_splits: int = 5, *, seed: str | int = "0", crs: str = "EPSG:6933"
) -> MatchedFolds:
    """Find the size of quadrats whose k folds are just as hard as the use of the model.

    Parameters
    ----------
    places : Places
        Of the rows.
    prediction : Places
        Where the model will be used: a lattice over the region, say.
    n_splits : int
    seed : str or int
        Attempt k at a size is dealt out with `{seed}#k`.
    crs : str
        Of the quadrats, for degrees; a CRS of the region has squares that are truer than the world's.

    Raises
    ------
    DataError
        There are fewer places than folds.

    Notes
    -----
    16 sizes from the distance between neighbours to half the extent, and one at which nearly every place is alone (as
    in random folds, which match a random sample), 3 attempts each, judged by 20,000 rows at most: O(n log n).

    Examples
    --------
    >>> dice = np.random.default_rng(1)
    >>> rows = Places(dice.uniform(0, 10, 300), dice.uniform(0, 10, 300), planar=True)
    >>> far = matched_folds(rows, Places(np.array([20.0]), np.array([5.0]), planar=True), 3)
    >>> near = matched_folds(rows, Places(rows.east + 0.1, rows.north, planar=True), 3)
    >>> far.size > 3 * near.size
    True
    """
    judged = places.take(sample_rows(places, MOST_ROWS, seed_text(seed)))
    wanted = nearest_between(prediction.take(sample_rows(prediction, MOST_ROWS, seed_text(seed))), judged)
    tried: list[tuple[int | float, int, float]] = []
    for size in _sizes(judged):
        for attempt in range(1, ATTEMPTS + 1):
            folds = _dealt(judged, _grid(judged, size, crs), n_splits, f"{seed_text(seed)}#{attempt}")
            if folds is not None:
                tried.append((size, attempt, wasserstein(nearest_other_fold(judged, folds), wanted)))
    if not tried:
        check_n_splits(n_splits, len(np.unique(np.column_stack([places.east, places.north]), axis=0)), "places")
        raise DataError(f"{n_splits} folds cannot be made of these places at any size. Lower n_splits.")
    size, attempt, w = min(tried, key=lambda each: (each[2], each[0], each[1]))
    chosen = _dealt(places, _grid(places, size, crs), n_splits, f"{seed_text(seed)}#{attempt}")
    if chosen is None:
        raise DataError(f"Quadrats of {size:g} are too few for {n_splits} folds of all rows. Lower n_splits.")
    return MatchedFolds(chosen, size, w, tuple(tried))


def _sizes(places: Places) -> list[int | float]:
    apart = nearest_other(places)
    low = float(np.median(apart[apart > 0])) if (apart > 0).any() else 1.0
    ladder = np.geomspace(low, max(places.extent / 2, low), N_SIZES)
    rounded = [round_up(each) for each in [low / ALONE, *ladder.tolist()]]
    return sorted(set(rounded if places.planar else [max(int(each), 1) for each in rounded]))


def _grid(places: Places, size: int | float, crs: str) -> AnyGrid:
    return PlanarGrid(size) if places.planar else Grid(crs, int(size))


def _dealt(places: Places, grid: AnyGrid, n_splits: int, seed: str) -> Integers | None:
    """Deal the quadrats out, or give None where they are too few."""
    quadrats = grid.assign(places.east, places.north)
    if len(quadrats.labels) < n_splits:
        return None
    counts = np.bincount(quadrats.codes, minlength=len(quadrats.labels)).tolist()
    folds = fold_quadrats(Occupied(quadrats.labels, counts), n_splits, seed)
    return np.array([folds[label] for label in quadrats.labels], dtype=np.int64)[quadrats.codes]


class MatchedKFold(SpatialSplitter):
    """K-fold whose distances match those of the model's use; see `matched_folds`.

    Parameters
    ----------
    prediction : array of float, shape (m, 2), data frame or geo data frame
        Longitude and latitude of where the model will be used, or easting and northing.
    n_splits : int
    seed : str or int
    planar : bool
    crs : str
    buffer_m : float, optional
        As for `QuadratKFold`; it comes on top of what was matched.
    """

    def __init__(
        self,
        prediction: Any,
        n_splits: int = 5,
        *,
        seed: str | int = "0",
        planar: bool = False,
        crs: str = "EPSG:6933",
        buffer_m: float | None = None,
    ):
        self.prediction = prediction
        self.n_splits = n_splits
        self.seed = seed
        self.planar = planar
        self.crs = crs
        self.buffer_m = buffer_m

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Count the folds."""
        return whole_number(self.n_splits, "n_splits", 2)

    def matched(self, X: Any, groups: Any = None) -> MatchedFolds:
        """Give the folds with their size, W, and what was tried."""
        wide = hasattr(self.prediction, "columns") and len(self.prediction.columns) != 2
        prediction = places_of(self.prediction, None if wide else self.prediction, planar=self.planar)
        rows = places_of(X, groups, planar=self.planar)
        return matched_folds(rows, prediction, self.n_splits, seed=self.seed, crs=self.crs)

    def _places(self, X: Any, groups: Any) -> Places:
        return places_of(X, groups, planar=self.planar)

    def _tests(self, X: Any, y: Any, groups: Any) -> Iterator[Integers]:
        yield from rows_by_fold(self.matched(X, groups).folds, self.n_splits)
