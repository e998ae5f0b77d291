"""Which species a split shows, and which it hides: rows of each in each subset, and in how many quadrats."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from spatialsplit.errors import DataError
from spatialsplit.folds.grouping import group_labels


@dataclass(frozen=True)
class SpeciesCoverage:
    """Rows of each species in each subset.

    Attributes
    ----------
    species : list of str
        In code-point order.
    subsets : list of str
        In code-point order.
    counts : array of int, shape (species, subsets)
    n_quadrats : array of int, shape (species,), optional
    """

    species: list[str]
    subsets: list[str]
    counts: Any
    n_quadrats: Any = None

    def frame(self) -> Any:
        """Give the table as a data frame: `speciesId`, a column `n_<subset>` each, `n_quadrats`."""
        import pandas as pd

        columns = {f"n_{name}": self.counts[:, i] for i, name in enumerate(self.subsets)}
        more = {} if self.n_quadrats is None else {"n_quadrats": self.n_quadrats}
        return pd.DataFrame({"speciesId": self.species} | columns | more)

    def only_in(self, subset: str) -> list[str]:
        """Name the species that no other subset has: those only in the test cannot be learned."""
        if subset not in self.subsets:
            raise DataError(f"There is no subset '{subset}'. Known: {', '.join(self.subsets)}. Correct it.")
        others = np.delete(self.counts, self.subsets.index(subset), axis=1)
        return [name for name, row in zip(self.species, others, strict=True) if not row.any()]

    def in_one_quadrat(self) -> list[str]:
        """Name the species that lie in a single quadrat: no split by quadrats can have them on both sides."""
        if self.n_quadrats is None:
            raise DataError(
                "Nobody knows the quadrats of the rows. They must be given. Call species_coverage(…, quadrats=…)."
            )
        return [name for name, n in zip(self.species, self.n_quadrats.tolist(), strict=True) if n == 1]


def species_coverage(
    species: Sequence[Any], subset: Sequence[Any], quadrats: Sequence[Any] | None = None
) -> SpeciesCoverage:
    """Count the rows of each species in each subset, or fold.

    Parameters
    ----------
    species, subset : sequence, shape (n,)
        Of each label: a row a survey and species.
    quadrats : sequence, shape (n,), optional

    Examples
    --------
    >>> coverage = species_coverage([7, 7, 8], ["train", "test", "test"], ["a", "b", "b"])
    >>> coverage.only_in("test"), coverage.in_one_quadrat()
    (['8'], ['8'])
    >>> coverage.counts.tolist()
    [[1, 1], [1, 0]]
    """
    kinds = group_labels(species, len(species), where="species")
    sides = group_labels(subset, len(species), where="subset")
    shape = (len(kinds.labels), len(sides.labels))
    counts = np.bincount(kinds.codes * shape[1] + sides.codes, minlength=shape[0] * shape[1]).reshape(shape)
    if quadrats is None:
        return SpeciesCoverage(kinds.labels, sides.labels, counts)
    places = group_labels(quadrats, len(species), where="quadrats")
    distinct = np.unique(kinds.codes * len(places.labels) + places.codes) // len(places.labels)
    return SpeciesCoverage(kinds.labels, sides.labels, counts, np.bincount(distinct, minlength=shape[0]))
