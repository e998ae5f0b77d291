"""From numbers a species to ranked lists, and from ranked lists to sets whose size is chosen by F1."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Integers = npt.NDArray[np.int64]

AS_GOOD = 1e-12
"""Mean F1s nearer than this are equal: the order of a float sum must not choose the size."""


def best_first(scores: npt.NDArray[Any], species: Integers, n_best: int) -> Integers:
    """Give the species with the highest scores of each row, best first; of equal ones the smaller id first.

    Parameters
    ----------
    scores : array, shape (n, n_species)
    species : array of int, shape (n_species,)
        In increasing order.
    n_best : int

    Examples
    --------
    >>> best_first(np.array([[0.2, 0.5, 0.2, 0.1]]), np.array([3, 5, 8, 9]), 3).tolist()
    [[5, 3, 8]]
    """
    n_best = min(n_best, scores.shape[1])
    lowest = np.partition(scores, scores.shape[1] - n_best, axis=1)[:, scores.shape[1] - n_best]
    ranked = np.empty((len(scores), n_best), dtype=np.int64)
    for row, (numbers, limit) in enumerate(zip(scores, lowest, strict=True)):
        places = np.flatnonzero(numbers >= limit)
        ranked[row] = species[places[np.argsort(-numbers[places], kind="stable")[:n_best]]]
    return ranked


def by_frequency(species: Integers) -> Integers:
    """Give the species of some records, the commonest first; of equally common ones the smaller id first.

    Examples
    --------
    >>> by_frequency(np.array([7, 2, 2, 9, 7, 1])).tolist()
    [2, 7, 1, 9]
    """
    ids, counts = np.unique(species, return_counts=True)
    return ids[np.argsort(-counts, kind="stable")]


@dataclass(frozen=True)
class SizeCurve:
    """The mean F1 of the first K ranked species, for each K.

    Attributes
    ----------
    f1 : array of float, shape (n_sizes,)
        That of K species at position K - 1.
    """

    f1: npt.NDArray[np.float64]

    @property
    def best_size(self) -> int:
        """The K with the highest F1; of equally good ones the smallest."""
        return int(np.flatnonzero(self.f1 >= self.f1.max() - AS_GOOD)[0]) + 1

    @property
    def best_f1(self) -> float:
        """The F1 of that K."""
        return float(self.f1[self.best_size - 1])

    def lines(self, n_lines: int = 12) -> list[str]:
        r"""Draw the curve as text: sizes round the best one, doubling away from it.

        Examples
        --------
        >>> print(*SizeCurve(np.array([0.2, 0.4, 0.3])).lines(), sep="\n")
            K  mean F1
            1  0.200000  ##########
            2  0.400000  ####################  best
            3  0.300000  ###############
        """
        best = self.best_size
        steps = [0, *(sign * 2**power for power in range(n_lines) for sign in (1, -1))]
        sizes = sorted({1, len(self.f1), *(best + step for step in steps if 1 <= best + step <= len(self.f1))})
        lines = ["    K  mean F1"]
        for size in sizes:
            share = self.f1[size - 1] / self.best_f1 if self.best_f1 else 0.0
            bar = "#" * round(20 * share)
            lines.append(f"{size:>5}  {self.f1[size - 1]:.6f}  {bar}{'  best' if size == best else ''}".rstrip())
        return lines


def size_curve(truth_places: Integers, truth_row: Integers, n_true: Integers, n_sizes: int) -> SizeCurve:
    """Compute the mean F1 for every size of the predicted sets at once.

    With the first K species of a ranking, row i has F1 = 2 TP / (K + n_i), and TP grows by one at each place where a
    true species stands: counts by (n_i, place) say all of it, in whole numbers.

    Parameters
    ----------
    truth_places : array of int, shape (n_pairs,)
        For each (row, true species), the place of the species in the row's ranking, counted from 0; `n_sizes` or more
        where it is not in it.
    truth_row : array of int, shape (n_pairs,)
    n_true : array of int, shape (n_rows,)
        True species of each row, at least one.
    n_sizes : int
        Sizes 1 to this are tried.

    Examples
    --------
    >>> size_curve(np.array([0, 1, 0]), np.array([0, 0, 1]), np.array([2, 1]), 3).f1.round(4).tolist()
    [0.8333, 0.8333, 0.65]
    """
    size = np.arange(1, n_sizes + 1)
    total = np.zeros(n_sizes)
    for length in np.unique(n_true):
        of_length = (n_true[truth_row] == length) & (truth_places < n_sizes)
        hits = np.cumsum(np.bincount(truth_places[of_length], minlength=n_sizes))
        total += 2.0 * hits / (size + length)
    return SizeCurve(total / len(n_true))


def places_in_one_ranking(ranking: Integers, species: Integers) -> Integers:
    """Give the place of each species in a ranking, counted from 0, and the ranking's length where it is not in it.

    Examples
    --------
    >>> places_in_one_ranking(np.array([5, 9, 2]), np.array([2, 5, 7])).tolist()
    [2, 0, 3]
    """
    order = np.argsort(ranking)
    at = np.searchsorted(ranking[order], species)
    at = np.minimum(at, len(ranking) - 1)
    found = ranking[order][at] == species
    return np.where(found, order[at], len(ranking))


def places_in_rankings(rankings: Integers, row: Integers, species: Integers) -> Integers:
    """Give the place of each species in the ranking of its row, and the rankings' length where it is not in it."""
    places = np.full(len(species), rankings.shape[1], dtype=np.int64)
    for start in range(0, len(species), 1 << 16):
        part = slice(start, start + (1 << 16))
        equal = rankings[row[part]] == species[part, None]
        places[part] = np.where(equal.any(axis=1), equal.argmax(axis=1), rankings.shape[1])
    return places
