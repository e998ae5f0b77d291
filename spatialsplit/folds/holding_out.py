"""A holdout of whole quadrats for scikit-learn: one share that is tested, drawn as a build draws its test."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from spatialsplit.draw import DrawRules, Holdout, Labels, Occupied, draw_quadrats
from spatialsplit.folds.assigning import whole_number
from spatialsplit.folds.balancing import class_counts
from spatialsplit.folds.grouping import AnyGrid, Groups, quadrats_of
from spatialsplit.folds.places import Integers, Mask
from spatialsplit.folds.splitters import SpatialSplitter, seeds_of


class QuadratHoldout(SpatialSplitter):
    """Test a share of the quadrats, train on the others: the draw that `build` makes of its test.

    Choose it for one honest number, or with `repeats` where k-fold would train too often. With `min_train_quadrats` the
    classes or species of `y` stay in training.

    Parameters
    ----------
    share : float
        Of the quadrats, between 0 and 1; of the rows with `share_of="surveys"`.
    seed : str or int
    grid : optional
        The grid that gives each place its quadrat, where `groups` holds no labels. Default: 5 km in EPSG:3035.
    buffer_m : float, optional
        Rows within it of a test row are set aside from training; needs places.
    repeats : int
        So many draws, with the seeds `{seed}#1` … `{seed}#n` where there is more than one.
    share_of : {'quadrats', 'surveys'}
    min_train_quadrats : int
        Of each class of `y` so many quadrats stay in training, or all where it has no more; a buffer may set rows of
        them aside.

    Examples
    --------
    >>> X, quadrats = np.zeros((6, 1)), ["a", "a", "b", "c", "d", "d"]
    >>> [test.tolist() for _, test in QuadratHoldout(0.25).split(X, groups=quadrats)]
    [[2]]
    >>> y = ["oak", "oak", "yew", "fir", "oak", "fir"]
    >>> [test.tolist() for _, test in QuadratHoldout(0.25, min_train_quadrats=1).split(X, y, quadrats)]
    [[3]]
    """

    def __init__(
        self,
        share: float = 0.2,
        *,
        seed: str | int = "0",
        grid: AnyGrid | None = None,
        buffer_m: float | None = None,
        repeats: int = 1,
        share_of: str = "quadrats",
        min_train_quadrats: int = 0,
    ):
        self.share = share
        self.seed = seed
        self.grid = grid
        self.buffer_m = buffer_m
        self.repeats = repeats
        self.share_of = share_of
        self.min_train_quadrats = min_train_quadrats

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Count the draws."""
        return whole_number(self.repeats, "repeats", 1)

    def held_out(self, X: Any, y: Any = None, groups: Any = None) -> Mask:
        """Mark the rows that are tested; of the first draw where there are several."""
        return next(self._every_draw(X, y, groups))

    def _every_draw(self, X: Any, y: Any, groups: Any) -> Iterator[Mask]:
        quadrats = quadrats_of(X, groups, self.grid)
        rules = DrawRules(
            [Holdout("test", self.share)],
            share_of=self.share_of,
            min_train_quadrats=whole_number(self.min_train_quadrats, "min_train_quadrats", 0),
        )
        labels = _labels(quadrats, y) if rules.min_train_quadrats else None
        occupied = Occupied(quadrats.labels, quadrats.counts().tolist())
        for seed in seeds_of(self.seed, self.repeats):
            subsets = draw_quadrats(occupied, rules, seed, labels=labels).subsets
            yield np.array([subsets[label] == "test" for label in quadrats.labels])[quadrats.codes]

    def _tests(self, X: Any, y: Any, groups: Any) -> Iterator[Integers]:
        for tested in self._every_draw(X, y, groups):
            yield np.flatnonzero(tested)


def _labels(quadrats: Groups, y: Any) -> Labels:
    pairs = class_counts(quadrats.codes, len(quadrats.labels), y).tocoo()
    there = pairs.data > 0
    return Labels(pairs.row[there].astype(np.int64), pairs.col[there].astype(np.int64))
