"""How far from training a test lies, beside how far from it the model will be used.

Folds are honest when both distances have the same distribution (Milà et al. 2022, doi:10.1111/2041-210X.13851; the area
between their curves is Wasserstein's W, Linnenbrink et al. 2024, doi:10.5194/gmd-17-5897-2024).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from spatialsplit.diagnostics.sampling import sample_rows
from spatialsplit.distances import geodesic_m
from spatialsplit.errors import DataError
from spatialsplit.folds.grouping import group_labels
from spatialsplit.folds.places import CHORD_PLAY, Floats, Integers, Places

MOST_ROWS = 100_000
"""From so many rows distances are measured, at most; to all of them."""

NO_TARGET = "There is no row to measure to. A distance needs two ends. Give at least one."

FAR_M = 50_000
"""Nearer than this, a shorter chord is a shorter geodesic to within a millimetre."""


@dataclass(frozen=True)
class DistanceCurves:
    """Distances to the nearest training row, three times; in metres, or the plane's unit.

    Attributes
    ----------
    sample_to_sample : array of float
        From each row to the nearest other one: what a random fold meets.
    test_to_train : array of float
        From each test row to the nearest row of its training.
    prediction_to_sample : array of float
        From each place of prediction to the nearest row: what the model will meet.
    """

    sample_to_sample: Floats
    test_to_train: Floats
    prediction_to_sample: Floats

    @property
    def w(self) -> float:
        """Wasserstein's distance of test and prediction: 0 where the folds are just as hard as the use."""
        return wasserstein(self.test_to_train, self.prediction_to_sample)

    @property
    def w_random(self) -> float:
        """The same for random folds of single rows, to compare with."""
        return wasserstein(self.sample_to_sample, self.prediction_to_sample)


def distance_curves(
    places: Places, pairs: Iterable[tuple[Integers, Integers]], prediction: Places, *, seed: str = "0"
) -> DistanceCurves:
    """Measure the three curves.

    Parameters
    ----------
    places : Places
        Of the rows.
    pairs : iterable of (train, test)
        As a splitter gives them.
    prediction : Places
        Where the model will be used: a lattice over the region, say.
    seed : str
        Chooses 100,000 rows and places of prediction where there are more.

    Examples
    --------
    >>> line = Places(np.array([0.0, 1.0, 10.0, 11.0]), np.zeros(4), planar=True)
    >>> pairs = [(np.array([2, 3]), np.array([0, 1])), (np.array([0, 1]), np.array([2, 3]))]
    >>> curves = distance_curves(line, pairs, Places(np.array([5.0]), np.zeros(1), planar=True))
    >>> curves.test_to_train.tolist(), curves.prediction_to_sample.tolist(), curves.w
    ([10.0, 9.0, 9.0, 10.0], [4.0], 5.5)
    """
    _check_one_kind(places, prediction)
    asked = sample_rows(places, MOST_ROWS, seed)
    chosen = prediction.take(sample_rows(prediction, MOST_ROWS, seed))
    return DistanceCurves(
        nearest_other(places, asked), nearest_train(places, pairs, asked), nearest_between(chosen, places)
    )


def _check_one_kind(places: Places, others: Places) -> None:
    if places.planar != others.planar:
        raise DataError(
            "The places are not all in one plane: some are in degrees. Both must be the same. Say planar=True of "
            "both or of none."
        )


def nearest_between(origin: Places, targets: Places) -> Floats:
    """Measure from each place to the nearest of the targets.

    Raises
    ------
    DataError
        There is no target.
    """
    if not len(targets):
        raise DataError(NO_TARGET)
    _check_one_kind(origin, targets)
    return _nearest(origin, targets.distinct[0], None)


def nearest_of_rows(places: Places, origin: Integers, targets: Integers) -> Floats:
    """Measure from some rows to the nearest of others, of one table.

    Raises
    ------
    DataError
        There is no target.

    Examples
    --------
    >>> line = Places(np.array([0.0, 3.0, 4.0]), np.zeros(3), planar=True)
    >>> nearest_of_rows(line, np.array([0]), np.array([1, 2])).tolist()
    [3.0]
    """
    sites = places.sites_of(targets)
    if not len(sites):
        raise DataError(NO_TARGET)
    return _nearest(places.take(origin), sites, None)


def nearest_other(places: Places, rows: Integers | None = None) -> Floats:
    """Measure from each row, or some of them, to the nearest other row; 0 where another one is at the same place.

    Raises
    ------
    DataError
        There are fewer than two rows.

    Examples
    --------
    >>> nearest_other(Places(np.array([0.0, 3.0, 3.0]), np.array([0.0, 4.0, 4.0]), planar=True)).tolist()
    [5.0, 0.0, 0.0]
    """
    if len(places) < 2:
        raise DataError(f"{len(places)} rows have no nearest other row. There must be two or more. Give more rows.")
    asked = np.arange(len(places)) if rows is None else rows
    sites, at = places.distinct
    alone = np.flatnonzero(np.bincount(at)[at[asked]] == 1)
    nearest = np.zeros(len(asked))
    if alone.size:
        nearest[alone] = _nearest(places.take(asked[alone]), sites, at[asked[alone]])
    return nearest


def _nearest(origin: Places, targets: Places, own: Integers | None) -> Floats:
    """Measure to the nearest target that is not one's own; its straight line is among the shortest few."""
    k = min((1 if origin.planar else 3) + (own is not None), len(targets))
    found = np.asarray(targets.tree.query(origin.points, k=k)[1]).reshape(len(origin), k)
    lengths = np.column_stack([_pairwise(origin, targets, found[:, rank]) for rank in range(k)])
    if own is not None:
        lengths[found == own[:, None]] = np.inf
    nearest: Floats = lengths.min(axis=1)
    if not origin.planar:
        _look_further(origin, targets, own, found[:, -1], nearest)
    return nearest


def _pairwise(origin: Places, targets: Places, rows: Integers) -> Floats:
    """Measure from each place to one target."""
    east, north = targets.east[rows], targets.north[rows]
    if origin.planar:
        straight: Floats = np.hypot(origin.east - east, origin.north - north)
        return straight
    return geodesic_m(origin.east, origin.north, east, north)


def _look_further(origin: Places, targets: Places, own: Integers | None, farthest: Integers, nearest: Floats) -> None:
    """Compare all rivals where more than the few looked at may be nearest: chords and geodesics differ in order."""
    reach = nearest + nearest**3 * CHORD_PLAY + 0.001
    chord = np.linalg.norm(origin.points - targets.points[farthest], axis=1)
    for i in np.flatnonzero((chord < reach) & (nearest > FAR_M)).tolist():
        rivals = np.asarray(targets.tree.query_ball_point(origin.points[i], reach[i]))
        rivals = rivals[rivals != own[i]] if own is not None else rivals
        nearest[i] = min(nearest[i], float(_pairwise(origin.take(np.full(rivals.size, i)), targets, rivals).min()))


def nearest_train(places: Places, pairs: Iterable[tuple[Integers, Integers]], asked: Integers | None = None) -> Floats:
    """Measure from each test row of all folds to the nearest row of its training, fold after fold.

    Parameters
    ----------
    places : Places
    pairs : iterable of (train, test)
    asked : array of int, optional
        Only test rows among these.
    """
    wanted = np.ones(len(places), dtype=bool)
    if asked is not None:
        wanted[:] = False
        wanted[asked] = True
    found = []
    for train, test in pairs:
        rows = rows_of(test)
        found.append(nearest_of_rows(places, rows[wanted[rows]], rows_of(train)))
    return np.concatenate(found) if found else np.zeros(0)


def rows_of(side: Any) -> Integers:
    """Give the row numbers of one side of a fold, also where it comes as a list or as a mask."""
    rows = np.asarray(side)
    return np.flatnonzero(rows) if rows.dtype == bool else rows.astype(np.int64)


def nearest_other_fold(places: Places, folds: Sequence[int] | Integers) -> Floats:
    """Measure from each row to the nearest row of another fold, in the rows' order.

    Examples
    --------
    >>> nearest_other_fold(Places(np.array([0.0, 1.0, 5.0]), np.zeros(3), planar=True), [0, 0, 1]).tolist()
    [5.0, 4.0, 4.0]
    """
    numbers = group_labels(folds, len(places), where="folds").codes
    distances = np.empty(len(places))
    for fold in np.unique(numbers):
        inside = numbers == fold
        distances[inside] = nearest_of_rows(places, np.flatnonzero(inside), np.flatnonzero(~inside))
    return distances


def wasserstein(first: Floats, second: Floats) -> float:
    """Give the Wasserstein-1 distance of two samples: the area between their cumulative curves.

    Examples
    --------
    >>> wasserstein(np.array([0.0, 2.0]), np.array([1.0]))
    1.0
    """
    one, two = np.sort(np.asarray(first, dtype=np.float64)), np.sort(np.asarray(second, dtype=np.float64))
    if not (np.isfinite(one).all() and np.isfinite(two).all()):
        raise DataError("A distance is missing or infinite, so W is not defined. All must be finite. Leave it out.")
    if not one.size or not two.size:
        raise DataError(
            f"W of {one.size} and {two.size} distances is not defined. Both samples need one or more. Give them."
        )
    every = np.sort(np.concatenate([one, two]))
    share_one = np.searchsorted(one, every[:-1], side="right") / one.size
    share_two = np.searchsorted(two, every[:-1], side="right") / two.size
    return float(np.sum(np.abs(share_one - share_two) * np.diff(every)))
