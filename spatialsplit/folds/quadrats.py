"""Folds of whole quadrats for scikit-learn: by hash, stratified, balanced, one at a time, or in a fixed pattern."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from spatialsplit.draw import Occupied, commonest
from spatialsplit.errors import DataError
from spatialsplit.folds.assigning import check_n_splits, fold_quadrats, whole_number
from spatialsplit.folds.balancing import BalancedFolds, balanced_folds
from spatialsplit.folds.grouping import AnyGrid, Groups, class_labels, quadrats_of
from spatialsplit.folds.places import Integers
from spatialsplit.folds.splitters import SpatialSplitter, rows_by_fold, seed_text, seeds_of


@dataclass(frozen=True)
class FoldRules:
    """How quadrats are dealt out; see `fold_quadrats`.

    Parameters
    ----------
    method : {'quota', 'threshold'}
    share_of : {'surveys', 'quadrats'}
        What is equal between folds; a row of `X` counts as one survey.
    fixed : mapping of str to int, optional
        Quadrat to fold, of an earlier release.
    """

    method: str = "quota"
    share_of: str = "surveys"
    fixed: Mapping[str, int] | None = None


class QuadratKFold(SpatialSplitter):
    """K-fold over whole quadrats, by the SHA-256 order of their labels.

    Choose it for an honest score of a model that will be used away from its training data: quadrats should be as wide
    as the range of the autocorrelation, which `suggest_size` finds. Which fold a quadrat is in depends on the seed and
    on its label; further rows move quadrats over the folds' edges only.

    Parameters
    ----------
    n_splits : int
    seed : str or int
    grid : optional
        The grid that gives each place its quadrat, where `groups` holds no labels. Default: 5 km in EPSG:3035.
    buffer_m : float, optional
        Rows within it of a test row are set aside from training; needs places.
    repeats : int
        So many draws, with the seeds `{seed}#1` … `{seed}#n` where there is more than one.
    rules : FoldRules, optional

    Examples
    --------
    >>> X, quadrats = np.zeros((6, 1)), ["a", "a", "b", "c", "d", "d"]
    >>> [test.tolist() for _, test in QuadratKFold(2).split(X, groups=quadrats)]
    [[0, 1, 2], [3, 4, 5]]
    """

    def __init__(
        self,
        n_splits: int = 5,
        *,
        seed: str | int = "0",
        grid: AnyGrid | None = None,
        buffer_m: float | None = None,
        repeats: int = 1,
        rules: FoldRules | None = None,
    ):
        self.n_splits = n_splits
        self.seed = seed
        self.grid = grid
        self.buffer_m = buffer_m
        self.repeats = repeats
        self.rules = rules

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Count the folds of all repeats."""
        return whole_number(self.n_splits, "n_splits", 2) * whole_number(self.repeats, "repeats", 1)

    def folds(self, X: Any, y: Any = None, groups: Any = None) -> Integers:
        """Give the fold of each row, from 0; of the first repeat where there are several."""
        return next(self._every_repeat(X, y, groups))

    def _every_repeat(self, X: Any, y: Any, groups: Any) -> Iterator[Integers]:
        quadrats = quadrats_of(X, groups, self.grid)
        for seed in seeds_of(self.seed, self.repeats):
            folds = self._deal(quadrats, y, seed)
            yield np.array([folds[label] for label in quadrats.labels], dtype=np.int64)[quadrats.codes]

    def _deal(self, quadrats: Groups, y: Any, seed: str) -> Mapping[str, int]:
        return self._fold(Occupied(quadrats.labels, quadrats.counts().tolist()), seed)

    def _fold(self, occupied: Occupied, seed: str) -> dict[str, int]:
        rules = FoldRules() if self.rules is None else self.rules
        if not isinstance(rules, FoldRules):
            raise DataError(f"Invalid rules {rules!r}. They must be FoldRules, such as FoldRules('threshold').")
        return fold_quadrats(
            occupied, self.n_splits, seed, method=rules.method, share_of=rules.share_of, fixed=rules.fixed
        )

    def _tests(self, X: Any, y: Any, groups: Any) -> Iterator[Integers]:
        for folds in self._every_repeat(X, y, groups):
            yield from rows_by_fold(folds, self.n_splits)


class StratifiedQuadratKFold(QuadratKFold):
    """K-fold over whole quadrats in which each stratum is dealt out on its own.

    A quadrat's stratum is the commonest value of `y` among its rows (a tie: first in code-point order). Choose it for
    one class label with few values, such as a region; for species see `BalancedQuadratKFold`. Parameters as
    `QuadratKFold`.
    """

    def _deal(self, quadrats: Groups, y: Any, seed: str) -> Mapping[str, int]:
        if y is None:
            raise DataError("There is no y to stratify by. It must be a class for each row. Give y=.")
        classes = class_labels(y, len(quadrats.codes))
        values: list[list[str]] = [[] for _ in quadrats.labels]
        for code, value in zip(quadrats.codes.tolist(), classes.codes.tolist(), strict=True):
            values[code].append(classes.labels[value])
        strata = [commonest(each) for each in values]
        return self._fold(Occupied(quadrats.labels, quadrats.counts().tolist(), strata), seed)


class BalancedQuadratKFold(SpatialSplitter):
    """The k-fold over whole quadrats, of several draws, that spreads species or classes most evenly.

    Choose it where rare species would otherwise be missing from training or test: a class that lies in two quadrats or
    more is in the training of every fold, but for the few that `best(X, y).gathered` names.

    Parameters
    ----------
    n_splits : int
    seed : str or int
        Attempt k is drawn with `{seed}#k`.
    grid, buffer_m : optional
        As for `QuadratKFold`.
    attempts : int

    Examples
    --------
    >>> X, quadrats = np.zeros((8, 1)), list("abcdefgh")
    >>> cv = BalancedQuadratKFold(2, attempts=30)
    >>> [test.tolist() for _, test in cv.split(X, [0, 0, 0, 0, 1, 1, 1, 1], quadrats)]
    [[2, 3, 6, 7], [0, 1, 4, 5]]
    """

    def __init__(
        self,
        n_splits: int = 5,
        *,
        seed: str | int = "0",
        grid: AnyGrid | None = None,
        buffer_m: float | None = None,
        attempts: int = 20,
    ):
        self.n_splits = n_splits
        self.seed = seed
        self.grid = grid
        self.buffer_m = buffer_m
        self.attempts = attempts

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Count the folds."""
        return whole_number(self.n_splits, "n_splits", 2)

    def best(self, X: Any, y: Any, groups: Any = None) -> BalancedFolds:
        """Give the attempt that is kept, with the objective of each."""
        return self._best(quadrats_of(X, groups, self.grid), y)

    def _best(self, quadrats: Groups, y: Any) -> BalancedFolds:
        return balanced_folds(quadrats, y, self.n_splits, seed_text(self.seed), self.attempts)

    def folds(self, X: Any, y: Any, groups: Any = None) -> Integers:
        """Give the fold of each row, from 0."""
        quadrats = quadrats_of(X, groups, self.grid)
        folds = self._best(quadrats, y).folds
        return np.array([folds[label] for label in quadrats.labels], dtype=np.int64)[quadrats.codes]

    def _tests(self, X: Any, y: Any, groups: Any) -> Iterator[Integers]:
        yield from rows_by_fold(self.folds(X, y, groups), self.n_splits)


class LeaveQuadratOut(SpatialSplitter):
    """Each quadrat, or any other group, is tested once while the others train.

    Choose it for few large groups: regions, campaigns, observers, years. The folds come in the code-point order of
    the labels.

    Parameters
    ----------
    grid, buffer_m : optional
        As for `QuadratKFold`.

    Examples
    --------
    >>> [test.tolist() for _, test in LeaveQuadratOut().split(np.zeros((3, 1)), groups=["north", "east", "north"])]
    [[1], [0, 2]]
    """

    def __init__(self, *, grid: AnyGrid | None = None, buffer_m: float | None = None):
        self.grid = grid
        self.buffer_m = buffer_m

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Count the groups."""
        if X is None and groups is None:
            raise DataError(
                "LeaveQuadratOut makes as many folds as there are groups. It must see them. Give X= or groups=."
            )
        return len(quadrats_of(X, groups, self.grid).labels)

    def folds(self, X: Any, y: Any = None, groups: Any = None) -> Integers:
        """Give the fold of each row, from 0."""
        return quadrats_of(X, groups, self.grid).codes

    def _tests(self, X: Any, y: Any, groups: Any) -> Iterator[Integers]:
        quadrats = quadrats_of(X, groups, self.grid)
        check_n_splits(2, len(quadrats.labels), "groups")
        yield from rows_by_fold(quadrats.codes, len(quadrats.labels))
