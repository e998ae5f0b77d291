"""The two baselines that look at no place: the same species everywhere."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from spatialsplit.baselines.dataset import BuiltDataset, Integers, Surveys
from spatialsplit.baselines.ranking import by_frequency


@dataclass
class SameEverywhere:
    """One ranking for all places. What it is learnt from is what the two kinds differ in."""

    ranking: Integers = field(default_factory=lambda: np.zeros(0, np.int64), init=False)
    depth: int | None = field(default=None, init=False)

    def rank(self, surveys: Surveys, n_best: int) -> Integers:
        """Give the same species to every survey."""
        return np.broadcast_to(self.ranking[:n_best], (len(surveys), min(n_best, len(self.ranking))))


@dataclass
class ConstantComposition(SameEverywhere):
    """The K commonest species of the validation surveys, for the K that has the best F1 there: GeoLifeCLEF 2023.

    The organizers' R script did so on the presence-absence data that participants were given. All K are tried; of
    equally common species the smaller id comes first, of equally good K the smaller one is taken.
    """

    def fit(self, data: BuiltDataset) -> list[str]:
        """Count the species of the validation surveys."""
        if data.val is not None:
            self.ranking = by_frequency(data.val.species)
            return []
        surveys, source = data.training()
        self.ranking = by_frequency(surveys.species)
        return [f"No validation surveys: the species are those of the training {source}."]


@dataclass
class MostFrequent(SameEverywhere):
    """The commonest species of the training data: GeoLifeCLEF 2022, where the 30 first were the prediction.

    Parameters
    ----------
    source : {'surveys', 'records', 'both'}, optional
        As in `BuiltDataset.training`.
    """

    source: str | None = None

    def fit(self, data: BuiltDataset) -> list[str]:
        """Count the species of the training data."""
        surveys, source = data.training(self.source)
        self.ranking = by_frequency(surveys.species)
        return [f"Counted {len(surveys.species):,} labels of the training {source}."]
