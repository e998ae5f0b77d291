"""What is wrong with folds, seen by their counts: empty, tiny, one class only, a class that nobody trains on, too near.

The rules and their limits are those of blockCV's `cv_summary` (Valavi et al. 2019, doi:10.1111/2041-210X.13107).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np
import numpy.typing as npt

from spatialsplit.diagnostics.nearest import nearest_between, nearest_of_rows, rows_of
from spatialsplit.errors import DataError, first_few
from spatialsplit.folds.balancing import class_counts
from spatialsplit.folds.places import Integers, Places

LEAKAGE_PERCENT = 90.0
"""So much of a test nearer to training than the median prediction is high leakage."""


@dataclass(frozen=True)
class FoldFlags:
    """The folds, from 0, to which a fault applies.

    Attributes
    ----------
    empty_test : list of int
        No row is tested; then no other count is judged.
    single_class_test : list of int
        Only one class is tested: no score that compares classes is defined.
    class_missing_train : list of int
        A class has no training row.
    tiny_test : list of int
        Fewer rows are tested than `min_test`.
    imbalance : list of int
        A class is tested, with less than a quarter of its even share.
    high_leakage : list of int
        At least 90 % of the test is nearer to training than the median place of prediction.
    """

    empty_test: list[int] = field(default_factory=list)
    single_class_test: list[int] = field(default_factory=list)
    class_missing_train: list[int] = field(default_factory=list)
    tiny_test: list[int] = field(default_factory=list)
    imbalance: list[int] = field(default_factory=list)
    high_leakage: list[int] = field(default_factory=list)

    def __bool__(self) -> bool:
        return any(getattr(self, each.name) for each in fields(self))

    def sentences(self) -> list[str]:
        """Say each fault with its cure, a line a fault."""
        return [
            f"{SAID[each.name]} in fold {first_few(getattr(self, each.name), shown=10)}. {CURES[each.name]}"
            for each in fields(self)
            if getattr(self, each.name)
        ]


SAID = {
    "empty_test": "No row is tested",
    "single_class_test": "Only one class is tested",
    "class_missing_train": "A class has no training row",
    "tiny_test": "Too few rows are tested",
    "imbalance": "A class is tested with less than a quarter of its even share",
    "high_leakage": "Nearly all of the test is nearer to training than the places of prediction are",
}
CURES = {
    "empty_test": "Make fewer folds.",
    "single_class_test": "Make fewer folds, or use BalancedQuadratKFold.",
    "class_missing_train": "Use BalancedQuadratKFold or smaller quadrats, or leave the class out.",
    "tiny_test": "Make fewer folds.",
    "imbalance": "Use BalancedQuadratKFold or smaller quadrats.",
    "high_leakage": "Use larger quadrats or a buffer, or see matched_folds.",
}


def fold_flags(
    train_counts: npt.ArrayLike,
    test_counts: npt.ArrayLike,
    *,
    percent_nearer: npt.ArrayLike | None = None,
    min_test: int = 5,
) -> FoldFlags:
    """Judge folds by their counts.

    Parameters
    ----------
    train_counts, test_counts : array of int, shape (folds, classes)
    percent_nearer : array of float, shape (folds,), optional
        How much of each test, in percent, is nearer to its training than the median place of prediction; see
        `percent_nearer_than_prediction`.
    min_test : int

    Examples
    --------
    >>> flags = fold_flags([[100, 60], [100, 60]], [[10, 30], [2, 1]])
    >>> flags.tiny_test
    [1]
    >>> flags.sentences()[0]
    'Too few rows are tested in fold 1. Make fewer folds.'
    """
    train, test = np.asarray(train_counts), np.asarray(test_counts)
    near = np.zeros(0) if percent_nearer is None else np.asarray(percent_nearer, dtype=np.float64)
    _check_counts(train, test, near if percent_nearer is not None else None)
    some = test.sum(axis=1) > 0
    even = test.sum(axis=0) / len(test)
    uneven = (test > 0) & (4 * test < even) & (even >= 2)
    several = np.count_nonzero(test.sum(axis=0) + train.sum(axis=0)) > 1
    return FoldFlags(
        _numbers(~some),
        _numbers(some & (np.count_nonzero(test, axis=1) == 1) & several),
        _numbers(some & (train == 0).any(axis=1)),
        _numbers(some & (test.sum(axis=1) < min_test)),
        _numbers(some & uneven.any(axis=1)),
        _numbers(near >= LEAKAGE_PERCENT),
    )


def _check_counts(train: Any, test: Any, near: Any) -> None:
    if train.ndim != 2 or train.shape != test.shape or not len(train):
        raise DataError(
            f"Counts of the shapes {train.shape} and {test.shape} are not of the same folds and classes. Both must "
            "have a row a fold and a column a class. Take them from fold_counts."
        )
    if near is not None and near.shape != (len(train),):
        raise DataError(
            f"percent_nearer has the shape {near.shape} for {len(train)} folds. There must be a number for each. Take "
            "it from percent_nearer_than_prediction."
        )


def _numbers(mask: npt.NDArray[np.bool_]) -> list[int]:
    return [int(number) for number in np.flatnonzero(mask)]


def fold_counts(pairs: Iterable[tuple[Integers, Integers]], y: Any) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Count training and test rows of each class in each fold.

    Parameters
    ----------
    pairs : iterable of (train, test)
    y : array, shape (n,) or (n, species)
        A class for each row, or a column of 0/1 for each species (dense or sparse).

    Returns
    -------
    train_counts, test_counts : array of int, shape (folds, classes)

    Examples
    --------
    >>> train, test = fold_counts([(np.array([0, 1]), np.array([2]))], ["a", "b", "b"])
    >>> train.tolist(), test.tolist()
    ([[1, 1]], [[0, 1]])
    """
    if y is None:
        raise DataError("There is no y to count. It must be a class for each row, or 0/1 for each species. Give y=.")
    n = y.shape[0] if hasattr(y, "shape") else len(y)
    marks = class_counts(np.arange(n), n, y)
    sides = [(rows_of(train), rows_of(test)) for train, test in pairs]
    last = max((int(rows.max()) for side in sides for rows in side if rows.size), default=-1)
    if last >= n:
        raise DataError(f"A fold names row {last:,}, and y has {n:,} rows. They must be of one table. Give its y.")
    return _sums(marks, [train for train, _ in sides]), _sums(marks, [test for _, test in sides])


def _sums(marks: Any, rows_of_folds: list[Integers]) -> npt.NDArray[Any]:
    sums = [np.asarray(marks[rows].sum(axis=0)).ravel() for rows in rows_of_folds]
    return np.array(sums, dtype=np.int64).reshape(len(sums), marks.shape[1])


def percent_nearer_than_prediction(
    places: Places, pairs: Iterable[tuple[Integers, Integers]], prediction: Places
) -> npt.NDArray[np.float64]:
    """Give, for each fold, the percentage of test rows nearer to training than the median place of prediction is."""
    median = float(np.median(nearest_between(prediction, places)))
    nearer = [nearest_of_rows(places, rows_of(test), rows_of(train)) < median for train, test in pairs]
    return np.array([100.0 * np.count_nonzero(each) / each.size if each.size else 0.0 for each in nearer])
