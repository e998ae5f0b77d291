"""Which presence-only records a species keeps, and the numbers of species that are names."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

RARE, OVER_MAXIMUM = "rare_species", "over_maximum"
"""Why a record that passed the filter goes all the same."""


@dataclass(frozen=True)
class SpeciesLimits:
    """How many records a species must and may have.

    Attributes
    ----------
    min_records : int
        Species with fewer training records, presence-only and presence-absence together, lose their presence-only ones.
    max_records : int, optional
        Presence-only records a species keeps; those with the smallest SHA-256 of `seed|po|species|k`, k counting its
        records from 0.
    """

    min_records: int = 1
    max_records: int | None = None

    @property
    def apply(self) -> bool:
        """Whether there is any limit."""
        return self.min_records > 1 or self.max_records is not None


@dataclass(frozen=True)
class Beside:
    """What the presence-absence data says about species.

    Attributes
    ----------
    labels : mapping
        Training labels of each species, by number or name.
    names : set of str
        Names that the published presence-absence tables hold, where species are names.
    seed : str
    """

    labels: Mapping[int | str, int]
    names: set[str]
    seed: str


class Fates:
    """Which of the records that passed the filter fall to the limits."""

    def __init__(self, limits: SpeciesLimits, species: Mapping[int | str, int], beside: Beside):
        self._rare = {name for name, n in species.items() if n + beside.labels.get(name, 0) < limits.min_records}
        self._kept_of: dict[int | str, set[int]] = {}
        if limits.max_records is not None:
            for name, n in species.items():
                if n > limits.max_records and name not in self._rare:
                    numbers = [(hashlib.sha256(f"{beside.seed}|po|{name}|{k}".encode()).digest(), k) for k in range(n)]
                    self._kept_of[name] = {k for _, k in sorted(numbers)[: limits.max_records]}
        self._seen: dict[int | str, int] = {}
        self._species = species

    def left(self) -> dict[int | str, int]:
        """Give the records that each species keeps."""
        return {
            name: len(self._kept_of[name]) if name in self._kept_of else n
            for name, n in self._species.items()
            if name not in self._rare
        }

    def of(self, species: pa.Array) -> npt.NDArray[np.object_]:
        """Give the reason of each record, empty for one that stays; batches must come in order."""
        reasons = np.full(len(species), "", dtype=object)
        if not self._rare and not self._kept_of:
            return reasons
        for i, name in enumerate(species.to_pylist()):
            if name in self._rare:
                reasons[i] = RARE
            elif name in self._kept_of:
                k = self._seen.get(name, 0)
                self._seen[name] = k + 1
                if k not in self._kept_of[name]:
                    reasons[i] = OVER_MAXIMUM
        return reasons


def species_numbers(names: pa.Array, numbers: Mapping[str, int]) -> pa.Array:
    """Give the number of each name, missing where a name has none."""
    encoded = names.dictionary_encode()
    known = pa.array([numbers.get(name) for name in encoded.dictionary.to_pylist()], pa.int64())
    return known.take(encoded.indices)
