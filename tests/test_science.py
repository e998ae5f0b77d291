"""The scientific point: with autocorrelation, random folds look better than the model is, and block folds do not.

A field with a range of 20 km is surveyed in clusters, as people do; the model will be used everywhere. What it is worth
there is told by a probability sample of the whole region, a design that knows nothing of folds. Random k-fold must
promise too much; folds of quadrats of the size that `suggest_size` finds must come near.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from sklearn.ensemble import RandomForestRegressor
from sklearn.metrics import r2_score
from sklearn.model_selection import KFold, cross_val_predict
from sklearn.neighbors import KNeighborsRegressor

from spatialsplit.diagnostics import distance_curves, suggest_size
from spatialsplit.folds import Places, QuadratKFold
from spatialsplit.grids import PlanarGrid
from tests.made_up_fields import field_with_range, value_at

RANGE_KM = 20
SIDE_KM = 300
N_SURVEYS = 900
WORLDS = (1, 2, 3, 4)

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class World:
    """A region with a climate that can be seen, soil that cannot, and richness that follows both."""

    climate: Floats
    soil: Floats

    def survey(self, places: Places, dice: np.random.Generator) -> tuple[Floats, Floats]:
        """Give what is known of places (where they are, and their climate), and their richness."""
        climate = value_at(self.climate, places.east, places.north)
        richness = climate + value_at(self.soil, places.east, places.north) + dice.normal(size=len(places)) * 0.3
        return np.column_stack([places.east, places.north, climate]), richness


def clustered(dice: np.random.Generator) -> Places:
    """Put surveys in sixty clusters of some kilometres."""
    centre = dice.uniform(0, SIDE_KM, (60, 2))[dice.integers(0, 60, N_SURVEYS)]
    at = np.clip(centre + dice.normal(scale=6, size=(N_SURVEYS, 2)), 0, SIDE_KM - 0.001) * 1000
    return Places(at[:, 0], at[:, 1], planar=True)


def anywhere(dice: np.random.Generator) -> Places:
    """Draw a probability sample of the region."""
    return Places(*dice.uniform(0, SIDE_KM * 1000, (2, 4_000)), planar=True)


def world(seed: int) -> World:
    return World(field_with_range(RANGE_KM, SIDE_KM, 2 * seed), field_with_range(RANGE_KM, SIDE_KM, 2 * seed + 1))


@dataclass(frozen=True)
class Verdict:
    """R² of the same model: as it is, as random folds say, and as block folds say."""

    true: float
    random: float
    block: float
    size_m: float


def judge(seed: int, model: Any) -> Verdict:
    dice = np.random.default_rng(seed)
    made, places = world(seed), clustered(dice)
    X, y = made.survey(places, dice)
    elsewhere, truth = made.survey(anywhere(dice), dice)
    size = suggest_size(places, y).size_m
    assert size is not None
    blocks = QuadratKFold(5, seed=str(seed), grid=PlanarGrid(size))
    random = KFold(5, shuffle=True, random_state=seed)
    return Verdict(
        r2_score(truth, model.fit(X, y).predict(elsewhere)),
        r2_score(y, cross_val_predict(model, X, y, cv=random)),
        r2_score(y, cross_val_predict(model, X, y, groups=places.points, cv=blocks)),
        size,
    )


MODELS = {
    "forest": RandomForestRegressor(30, min_samples_leaf=3, random_state=1, n_jobs=1),
    "neighbours": KNeighborsRegressor(3),
}


@pytest.mark.parametrize("name", MODELS)
def test_random_folds_promise_too_much_and_block_folds_come_near(name: str) -> None:
    """In the mean of four worlds: random is off by more than 0.15 of R², blocks by less than a third of that."""
    verdicts = [judge(seed, MODELS[name]) for seed in WORLDS]
    true, random, block = (np.mean([getattr(each, kind) for each in verdicts]) for kind in ("true", "random", "block"))
    assert random - true > 0.15
    assert abs(block - true) < (random - true) / 3


def test_the_suggested_size_is_about_the_range() -> None:
    """In most worlds it lies between the range and one and a half times the range, never below it by much."""
    sizes = []
    for seed in WORLDS:
        dice = np.random.default_rng(seed)
        places = clustered(dice)
        sizes.append(suggest_size(places, world(seed).survey(places, dice)[1]).size_m)
    assert min(sizes) / 1000 > 0.8 * RANGE_KM
    assert 1 <= np.median(sizes) / 1000 / RANGE_KM <= 1.5


def test_the_distance_curves_tell_the_two_designs_apart() -> None:
    """Without knowing any value: block folds are nearly as far from training as the use is, random folds are not."""
    dice = np.random.default_rng(1)
    places = clustered(dice)
    blocks = QuadratKFold(5, grid=PlanarGrid(25_000)).split(places.points, groups=places.points)
    curves = distance_curves(places, blocks, anywhere(dice))
    assert curves.w < 0.5 * curves.w_random
