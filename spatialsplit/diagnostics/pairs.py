"""Pairs of rows up to a distance apart: all of them in small data, a stated number in large."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from spatialsplit.diagnostics.sampling import sample_rows
from spatialsplit.folds.places import Floats, Integers, Places

ANCHORS = 1_500
"""From so many rows pairs are made, at most."""

POOL = 200_000
"""To so many rows, at most."""

MOST_PAIRS = 3_000_000
"""So many pairs are wanted; the pool is thinned to reach about that."""

EARTH_RADIUS_M = 6_371_008.8
"""Mean radius of the earth (IUGG): pairs are measured on a sphere, right to half a percent."""

ANCHORS_AT_ONCE = 50


@dataclass(frozen=True)
class RowPairs:
    """Pairs of rows.

    Attributes
    ----------
    first, second : array of int, shape (m,)
        Row numbers; each pair stands there once.
    distance : array of float, shape (m,)
        Metres on a sphere, or the plane's unit.
    """

    first: Integers
    second: Integers
    distance: Floats

    def __len__(self) -> int:
        return len(self.first)


def row_pairs(places: Places, farthest: float, seed: str, values: Floats | None = None) -> RowPairs:
    """Make pairs of rows that are at most so far apart.

    Which rows take part depends on the seed and on the rows themselves, not on their order.

    Notes
    -----
    All pairs up to 1,500 rows; beyond, those of 1,500 rows with a sample of the others: O(n log n) time, and memory
    for the pairs (some 3 million) and the tree.

    Examples
    --------
    >>> pairs = row_pairs(Places(np.array([0.0, 1.0, 5.0]), np.zeros(3), planar=True), 4.0, "0")
    >>> pairs.first.tolist(), pairs.second.tolist(), pairs.distance.tolist()
    ([0, 1], [1, 2], [1.0, 4.0])
    """
    pool = sample_rows(places, POOL, seed, values)
    anchors = sample_rows(places, ANCHORS, seed, values)
    reach = _straight(places, farthest)
    within = places.take(pool)
    lengths = within.tree.query_ball_point(places.points[anchors], reach, return_length=True)
    n_pairs = int(lengths.sum())
    if n_pairs > MOST_PAIRS and len(pool) > ANCHORS:
        pool = sample_rows(places, max(ANCHORS, int(len(pool) * MOST_PAIRS / n_pairs)), seed, values)
        within = places.take(pool)
    return _joined(places, anchors, pool, within, reach)


def _joined(places: Places, anchors: Integers, pool: Integers, within: Places, reach: float) -> RowPairs:
    firsts, seconds = [np.zeros(0, dtype=np.int64)], [np.zeros(0, dtype=np.int64)]
    for start in range(0, len(anchors), ANCHORS_AT_ONCE):
        some = anchors[start : start + ANCHORS_AT_ONCE]
        found = within.tree.query_ball_point(places.points[some], reach)
        firsts.append(np.repeat(some, [len(each) for each in found]))
        seconds.append(pool[np.concatenate([np.asarray(each, dtype=np.int64) for each in found])])
    first, second = np.concatenate(firsts), np.concatenate(seconds)
    is_anchor = np.zeros(len(places), dtype=bool)
    is_anchor[anchors] = True
    once = (first != second) & ~(is_anchor[second] & (second < first))
    first, second = first[once], second[once]
    straight = np.linalg.norm(places.points[first] - places.points[second], axis=1)
    return RowPairs(first, second, straight if places.planar else along_the_ground(straight))


def _straight(places: Places, distance: float) -> float:
    """Give the straight line through the earth for a distance along the ground."""
    if places.planar:
        return distance
    return 2 * EARTH_RADIUS_M * float(np.sin(min(distance / (2 * EARTH_RADIUS_M), np.pi / 2)))


def along_the_ground(straight: Floats) -> Floats:
    """Give the distances along the ground of straight lines through the earth."""
    along: Floats = 2 * EARTH_RADIUS_M * np.arcsin(np.minimum(straight / (2 * EARTH_RADIUS_M), 1.0))
    return along
