"""The plants: how common each species is, and how well each habitat suits it.

Each pixel of the landscape belongs to one of some thousand habitats (bands of warmth, rain and wetness of
the soil), so that a table habitat × species holds the whole flora, and millions of records are looked up in
it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from spatialsplit.synthetic.dice import Dice, Integers, Numbers
from spatialsplit.synthetic.landscape import Landscape

N_BANDS = (16, 12, 6)  # of temperature, precipitation, wetness: as many pixels in each
FEWEST_SPECIES = 60


@dataclass(frozen=True)
class Niches:
    """Which habitat each pixel is, and how much of each species grows in each habitat."""

    habitat: Integers  # a row of the tables below for each pixel
    plenty: Numbers  # habitat × species, any positive scale: what a botanist finds
    _steps: Numbers  # cumulated shares of what passers-by note, habitat after habitat

    @property
    def n_species(self) -> int:
        """How many species there are, seldom all of them recorded."""
        return int(self.plenty.shape[1])

    def noted_species(self, dice: Dice, pixel: Integers) -> Integers:
        """Draw, for each place, the species that a passer-by notes: common and showy ones more often."""
        habitat = self.habitat[pixel]
        position = np.searchsorted(self._steps, habitat + dice.fractions(len(habitat)), side="right")
        return position - habitat * self.n_species


def make_niches(seed: str, landscape: Landscape, n_species: int) -> Niches:
    """Give each species an optimum and a tolerance in warmth, rain and wetness, a commonness and a showiness.

    Parameters
    ----------
    seed : str
        Seed text.
    landscape : Landscape
        Where they grow.
    n_species : int
        How many to make. Commonness is nearly log-normal: few species make most of the records.

    Returns
    -------
    Niches
    """
    dice = Dice(seed, "niches")
    fields = (landscape.temperature_tenths, landscape.precipitation_mm, landscape.wetness)
    habitat = np.zeros(landscape.land.size, dtype=np.int64)
    common = dice.long_tailed(n_species, factors=8)
    plenty = common[None, :]
    for field, n_bands in zip(fields, N_BANDS, strict=True):
        habitat = habitat * n_bands + _bands(field, landscape, n_bands)
        suits = _suitability(dice, n_bands, n_species)
        plenty = (plenty[:, None, :] * suits[None, :, :]).reshape(-1, n_species)
    # Nobody notes the hundredth daisy: commonness counts by its root.
    noted = np.cumsum(plenty / np.sqrt(common) * dice.long_tailed(n_species, factors=3), axis=1)
    shares = noted / noted[:, -1:] + np.arange(len(noted))[:, None]
    return Niches(habitat=habitat, plenty=plenty, _steps=shares.ravel())


def species_for(n_surveys: int) -> int:
    """Say how many species so many surveys should meet: 300 for 4,000, twice that for sixteen times more.

    Examples
    --------
    >>> species_for(4_000), species_for(64_000), species_for(1)
    (300, 600, 60)
    """
    return max(FEWEST_SPECIES, math.isqrt(math.isqrt(300**4 * n_surveys // 4_000)))


def _bands(field: npt.NDArray[np.generic], landscape: Landscape, n_bands: int) -> Integers:
    ordered = np.sort(field[landscape.land])
    limits = ordered[np.arange(1, n_bands) * len(ordered) // n_bands]
    return np.searchsorted(limits, field, side="right").astype(np.int64)


def _suitability(dice: Dice, n_bands: int, n_species: int) -> Numbers:
    """Bell-shaped answers along one gradient, bands × species; no tail reaches zero, so vagrants occur."""
    optimum = dice.between(-0.1, 1.1, n_species)
    tolerance = dice.between(0.12, 0.6, n_species)
    middle = (np.arange(n_bands) + 0.5) / n_bands
    distance = (middle[:, None] - optimum) / tolerance
    bell = 1.0 / (1.0 + distance * distance)
    return bell * bell * bell
