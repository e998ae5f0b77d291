"""The best balanced of several ways of dealing quadrats out.

What is balanced are classes or species: each in as many folds as it can be, in equal parts. R's blockCV orders designs
in the same way (its fold balance): first by empty cells, then by chi-square.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from spatialsplit.draw import Occupied
from spatialsplit.errors import DataError
from spatialsplit.folds.assigning import fold_quadrats, whole_number
from spatialsplit.folds.grouping import Groups, class_labels
from spatialsplit.folds.places import Integers
from spatialsplit.folds.spreading import spread_classes


@dataclass(frozen=True)
class FoldBalance:
    """How evenly classes lie in folds; lower is better, the first number first.

    Attributes
    ----------
    empty_cells : int
        Folds without a class, over the classes that have at least as many rows as there are folds.
    chi_square : float
        Σ (count − even)² / even over classes and folds, even being the class's rows / folds.
    """

    empty_cells: int
    chi_square: float


@dataclass(frozen=True)
class BalancedFolds:
    """The attempt that was kept.

    Attributes
    ----------
    folds : dict of str to int
        Label to fold.
    attempt : int
        Its number k; its seed is `{seed}#k`.
    balances : tuple of FoldBalance
        Of each attempt.
    moved : tuple of str
        Quadrats that changed their fold afterwards, so that no class is all in one fold.
    gathered : tuple of int
        Classes for which no such move could be found, as positions among the sorted classes or the columns of y: the
        fold that tests them trains without them.
    """

    folds: dict[str, int]
    attempt: int
    balances: tuple[FoldBalance, ...]
    moved: tuple[str, ...] = ()
    gathered: tuple[int, ...] = ()


def fold_balance(counts: npt.ArrayLike) -> FoldBalance:
    """Measure the balance of folds.

    Parameters
    ----------
    counts : array of int, shape (folds, classes)
        Test rows of each class in each fold.

    Examples
    --------
    >>> fold_balance([[4, 0], [0, 4]])
    FoldBalance(empty_cells=2, chi_square=8.0)
    """
    table = np.asarray(counts, dtype=np.float64)
    totals = table.sum(axis=0)
    table, totals = table[:, totals > 0], totals[totals > 0]
    even = totals / len(table)
    empty = np.count_nonzero(table[:, totals >= len(table)] == 0)
    return FoldBalance(int(empty), float((((table - even) ** 2) / even).sum()))


def balanced_folds(groups: Groups, y: Any, n_splits: int, seed: str, attempts: int) -> BalancedFolds:
    """Deal with the seeds `{seed}#1` … `{seed}#n`, keep what is balanced best, and let every class be learnt.

    A class that lies in two quadrats or more and is all in one fold would be tested by models that never saw it; a
    quadrat then changes its fold, see `spread_classes`.

    Of equally good ones the smallest k wins. More rows of one species may change which attempt wins: fix the folds of
    an earlier release by `FoldRules.fixed` where that must not be.

    Parameters
    ----------
    groups : Groups
    y : array, shape (n,) or (n, species)
        A class for each row, or a column of 0/1 for each species (dense or sparse).

    Raises
    ------
    DataError
        There is no y, or too few quadrats.

    Notes
    -----
    O(labels + attempts × quadrats × species present in them).
    """
    attempts = whole_number(attempts, "attempts", 1)
    counts = class_counts(groups.codes, len(groups.labels), y)
    occupied = Occupied(groups.labels, groups.counts().tolist())
    tried = [fold_quadrats(occupied, n_splits, f"{seed}#{k}") for k in range(1, attempts + 1)]
    balances = tuple(fold_balance(_by_fold(counts, list(folds.values()), n_splits)) for folds in tried)
    best = min(range(attempts), key=lambda i: (balances[i].empty_cells, balances[i].chi_square, i))
    spread = spread_classes(tried[best], counts, groups.counts(), n_splits)
    return BalancedFolds(spread.folds, best + 1, balances, spread.moved, spread.gathered)


def class_counts(codes: Integers, n_groups: int, y: Any) -> Any:
    """Count the rows of each class in each group, as a sparse matrix of shape (groups, classes)."""
    from scipy.sparse import csr_matrix, issparse

    if y is None:
        raise DataError("There is no y to balance. It must be a class for each row, or 0/1 for each species. Give y=.")
    n = len(codes)
    member = csr_matrix((np.ones(n, dtype=np.int64), (codes, np.arange(n))), shape=(n_groups, n))
    if issparse(y) or np.ndim(y) == 2:
        marks = _marks(y, n)
        return member @ (marks != 0).astype(np.int64)
    classes = class_labels(y, n)
    marks = csr_matrix((np.ones(n, dtype=np.int64), (np.arange(n), classes.codes)), shape=(n, len(classes.labels)))
    return member @ marks


def _marks(y: Any, n: int) -> Any:
    """Give the columns of species as a sparse matrix of numbers that has a row for each row."""
    from scipy.sparse import csr_matrix, issparse

    try:
        marks = csr_matrix(y if issparse(y) else np.asarray(y, dtype=np.float64), dtype=np.float64)
    except (TypeError, ValueError):
        raise DataError(
            "The columns of y are no numbers. They must be 0 or 1 for each species. Turn them into numbers."
        ) from None
    missing = np.count_nonzero(~np.isfinite(marks.data))
    if missing:
        raise DataError(f"{missing:,} cells of y have no value. Each must be 0 or 1, or a count. Fill them in.")
    if marks.shape[0] != n:
        raise DataError(f"y has {marks.shape[0]:,} rows for {n:,}. Each row needs one. Give them in the rows' order.")
    return marks


def _by_fold(counts: Any, folds: list[int], n_splits: int) -> npt.NDArray[np.int64]:
    from scipy.sparse import csr_matrix

    n = len(folds)
    member = csr_matrix((np.ones(n, dtype=np.int64), (folds, np.arange(n))), shape=(n_splits, n))
    return np.asarray((member @ counts).toarray())
