"""Which species lie in which quadrats, and which quadrats the remainder cannot spare.

A draw that knows no species may take all the quadrats of a rare one, and nobody can learn it then. With `Keeping` a
draw passes over each quadrat without which some species would have too few left.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True)
class Labels:
    """The (quadrat, species) pairs of all labels.

    Attributes
    ----------
    quadrat : array of int, shape (n,)
        Position of the label's quadrat in `Occupied.labels`.
    species : array of int, shape (n,)
        Any codes 0 … m − 1.
    """

    quadrat: npt.NDArray[np.integer]
    species: npt.NDArray[np.integer]

    def pairs(self) -> Labels:
        """Give each quadrat and species that occur together once."""
        width = int(self.species.max(initial=-1)) + 1
        cells = np.unique(self.quadrat.astype(np.int64) * max(width, 1) + self.species)
        return Labels(cells // max(width, 1), cells % max(width, 1))


class Keeping:
    """Counts the quadrats of each species that are left, and tells which ones may go.

    Parameters
    ----------
    names : sequence of str
        The quadrats, as in `Occupied.labels`.
    labels : Labels
    least : int
        Quadrats that each species keeps; a species with fewer keeps all it has.

    Examples
    --------
    >>> keeping = Keeping(["a", "b", "c"], Labels(np.array([0, 1, 1, 2]), np.array([0, 0, 1, 0])), least=1)
    >>> keeping.spared(["a", "b", "c"])  # b is the only place of species 1; c is the last one of species 0 but for b
    ['a', 'c']
    >>> keeping.take(["a", "c"])
    >>> keeping.spared(["b"])
    []
    """

    def __init__(self, names: Sequence[str], labels: Labels, least: int):
        pairs = labels.pairs()
        ends = np.searchsorted(pairs.quadrat, np.arange(len(names) + 1))
        self._species = {name: pairs.species[ends[i] : ends[i + 1]] for i, name in enumerate(names)}
        self._left = np.bincount(pairs.species, minlength=1)
        self._least = least

    def spared(self, ordered: Iterable[str]) -> list[str]:
        """Give the quadrats that can all go, one after the other; any first few of them can go alone."""
        left, spared = self._left.copy(), []
        for name in ordered:
            species = self._species[name]
            if (left[species] > self._least).all():
                left[species] -= 1
                spared.append(name)
        return spared

    def take(self, names: Iterable[str]) -> None:
        """Count quadrats as gone."""
        for name in names:
            self._left[self._species[name]] -= 1
