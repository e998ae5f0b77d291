"""Folds in which every class can be learnt: one with several quadrats is never tested with all of them at once.

The folds of a draw know no classes; here as few quadrats as can be change their fold. Which draw is balanced best
stands in `balancing`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from spatialsplit.folds.places import Integers


@dataclass(frozen=True)
class Spread:
    """Folds after the moves.

    Attributes
    ----------
    folds : dict of str to int
        Label to fold.
    moved : tuple of str
        The quadrats that changed their fold, in the order of the moves.
    gathered : tuple of int
        The classes (columns of the counts) that no move could help: they have several quadrats, all in one fold.
    """

    folds: dict[str, int]
    moved: tuple[str, ...]
    gathered: tuple[int, ...]


def spread_classes(folds: Mapping[str, int], counts: Any, n_rows: Integers, n_splits: int) -> Spread:
    """Move quadrats so that each class with two quadrats or more lies in two folds or more.

    Classes are looked at from the rarest to the commonest. Of a class that is all in one fold, the first quadrat (in
    the order of `folds`) that can go moves to the fold with the fewest rows (a tie: the first). It can go if it is not
    alone in its fold, and no other class would be all in one fold by that. So each move helps, and nobody is worse off.

    Parameters
    ----------
    folds : mapping of str to int
    counts : sparse matrix of int, shape (quadrats, classes)
        Rows of each class in each quadrat, in the order of `folds`.
    n_rows : array of int, shape (quadrats,)
    n_splits : int

    Examples
    --------
    >>> from scipy.sparse import csr_matrix
    >>> counts = csr_matrix([[1, 0], [1, 0], [0, 1], [0, 1]])
    >>> spread_classes({"a": 0, "b": 0, "c": 1, "d": 0}, counts, np.ones(4, dtype=np.int64), 2)
    Spread(folds={'a': 1, 'b': 0, 'c': 1, 'd': 0}, moved=('a',), gathered=())
    """
    names, fold_of = list(folds), np.array(list(folds.values()), dtype=np.int64)
    by_quadrat = (counts > 0).tocsr()
    by_class = by_quadrat.tocsc()
    n_in = np.zeros((n_splits, by_class.shape[1]), dtype=np.int64)
    for fold in range(n_splits):
        n_in[fold] = np.asarray(by_quadrat[fold_of == fold].sum(axis=0)).ravel()
    total = n_in.sum(axis=0)
    sizes = np.bincount(fold_of, weights=n_rows, minlength=n_splits)
    moved: list[str] = []
    gathered: list[int] = []
    together = np.flatnonzero((total > 1) & (n_in.max(axis=0) == total))
    for each in together[np.lexsort((together, total[together]))].tolist():
        if n_in[:, each].max() < total[each]:
            continue  # a move for another class has helped it
        members = np.sort(by_class.indices[by_class.indptr[each] : by_class.indptr[each + 1]])
        move = _move(members, fold_of, by_quadrat, n_in, total, sizes)
        if move is None:
            gathered.append(each)
            continue
        quadrat, fold = move
        classes = _row(by_quadrat, quadrat)
        n_in[fold_of[quadrat], classes] -= 1
        n_in[fold, classes] += 1
        sizes[fold_of[quadrat]] -= n_rows[quadrat]
        sizes[fold] += n_rows[quadrat]
        fold_of[quadrat] = fold
        moved.append(names[quadrat])
    return Spread(dict(zip(names, fold_of.tolist(), strict=True)), tuple(moved), tuple(gathered))


def _move(
    members: Integers, fold_of: Integers, by_quadrat: Any, n_in: Integers, total: Integers, sizes: Any
) -> tuple[int, int] | None:
    """Find a quadrat and the fold it can go to without gathering another class there."""
    for quadrat in members.tolist():
        own = int(fold_of[quadrat])
        if np.count_nonzero(fold_of == own) == 1:
            continue
        classes = _row(by_quadrat, quadrat)
        several = classes[total[classes] > 1]
        for fold in np.argsort(sizes, kind="stable").tolist():
            if fold != own and (n_in[fold, several] + 1 < total[several]).all():
                return quadrat, fold
    return None


def _row(by_quadrat: Any, quadrat: int) -> Integers:
    classes: Integers = by_quadrat.indices[by_quadrat.indptr[quadrat] : by_quadrat.indptr[quadrat + 1]]
    return classes
