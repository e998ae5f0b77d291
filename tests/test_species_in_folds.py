"""Folds and holdouts for scikit-learn in which every species can be learnt."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_matrix
from sklearn.base import clone
from sklearn.dummy import DummyClassifier
from sklearn.model_selection import GridSearchCV, cross_val_score

from spatialsplit.draw import DrawRules, Holdout, Occupied, draw_quadrats
from spatialsplit.errors import DataError
from spatialsplit.folds import BalancedQuadratKFold, QuadratHoldout, spread_classes
from spatialsplit.quadrats import Grid
from tests.invariants import geodesics
from tests.strategies import quick


@st.composite
def dealt(draw: Any) -> tuple[dict[str, int], np.ndarray, int]:
    """Folds of quadrats, none of them empty, and which species lie where."""
    n, n_splits = draw(st.integers(4, 14)), draw(st.integers(2, 4))
    folds = [i % n_splits for i in range(n_splits)]
    folds += [draw(st.integers(0, n_splits - 1)) for _ in range(n - n_splits)]
    marks = [[draw(st.booleans()) for _ in range(5)] for _ in range(n)]
    return {f"q{i:02d}": fold for i, fold in enumerate(folds)}, np.array(marks, dtype=np.int64), n_splits


def all_in_one_fold(folds: dict[str, int], marks: np.ndarray) -> set[int]:
    """Name the species with several quadrats, all in one fold."""
    fold = np.array(list(folds.values()))
    return {
        species
        for species in range(marks.shape[1])
        if marks[:, species].sum() > 1 and len(set(fold[marks[:, species] > 0].tolist())) == 1
    }


@given(dealt())
@quick
def test_moves_only_ever_help(world: tuple[dict[str, int], np.ndarray, int]) -> None:
    """What is left in one fold was there before and is named, no fold is emptied, nothing moves without need."""
    folds, marks, n_splits = world
    spread = spread_classes(folds, csr_matrix(marks), np.ones(len(folds), dtype=np.int64), n_splits)
    before, after = all_in_one_fold(folds, marks), all_in_one_fold(spread.folds, marks)
    assert set(spread.gathered) == after <= before
    assert set(spread.folds.values()) == set(range(n_splits))
    moved = [label for label in folds if folds[label] != spread.folds[label]]
    assert set(moved) <= set(spread.moved)
    assert len(spread.moved) <= len(before)
    assert list(spread.folds) == list(folds)


def world_of_rare_species(n: int = 60, n_rare: int = 25) -> tuple[np.ndarray, list[str]]:
    """Make a survey in each of n quadrats; each rare species in two of them."""
    dice = np.random.default_rng(8)
    species = np.zeros((n, n_rare + 2), dtype=int)
    species[:, :2] = dice.uniform(size=(n, 2)) < 0.7
    for each in range(n_rare):
        species[dice.choice(n, 2, replace=False), 2 + each] = 1
    return species, [f"q{i:02d}" for i in range(n)]


def test_balanced_folds_teach_every_species_that_has_two_quadrats() -> None:
    """The best attempt of a plain draw loses some; after the moves every fold trains on all of them."""
    species, quadrats = world_of_rare_species()
    X = np.zeros((60, 1))
    cv = BalancedQuadratKFold(4, attempts=2)
    best = cv.best(X, species, quadrats)
    assert len(best.moved) > 0
    assert best.gathered == ()
    for train, test in cv.split(X, species, quadrats):
        assert species[train].any(axis=0).all()
        assert 10 <= len(test) <= 20
    order = np.random.default_rng(1).permutation(60)
    shuffled = cv.folds(X, species[order], [quadrats[i] for i in order])
    assert np.array_equal(shuffled, cv.folds(X, species, quadrats)[order])


def test_a_species_that_cannot_be_spread_is_named() -> None:
    """Two quadrats that are the folds cannot both be in both."""
    X, quadrats = np.zeros((4, 1)), ["a", "a", "b", "b"]
    species = np.array([[1, 1], [0, 1], [1, 0], [1, 0]])
    assert BalancedQuadratKFold(2, attempts=1).best(X, species, quadrats).gathered == ()  # species 1 has one quadrat
    folds = {"a": 0, "b": 0, "c": 1}
    marks = np.array([[1, 0, 1], [1, 1, 0], [0, 1, 1]])
    spread = spread_classes(folds, csr_matrix(marks), np.ones(3, dtype=np.int64), 2)
    assert (spread.folds, spread.moved, spread.gathered) == (folds, (), (0,))


GRID = Grid("EPSG:3035", 20_000)


def places(n: int = 400) -> pd.DataFrame:
    dice = np.random.default_rng(4)
    table = pd.DataFrame({"lon": dice.uniform(9, 11, n).round(5), "lat": dice.uniform(47, 49, n).round(5)})
    return table.assign(x=dice.normal(size=n), species=dice.choice(["oak", "fir", "yew"], n))


def test_a_holdout_is_the_draw_of_a_build() -> None:
    """The same quadrats as `draw_quadrats` takes for a test of that seed, in any order of the rows."""
    table = places()
    labels = GRID.assign(table.lon.to_numpy(), table.lat.to_numpy()).of_each_point()
    counts = pd.Series(labels).value_counts()
    drawn = draw_quadrats(Occupied(list(counts.index), counts.tolist()), DrawRules([Holdout("test", 0.25)]), "s")
    ((train, test),) = QuadratHoldout(0.25, seed="s", grid=GRID).split(table)
    assert {labels[i] for i in test} == {label for label, subset in drawn.subsets.items() if subset == "test"}
    assert not {labels[i] for i in train} & {labels[i] for i in test}
    assert len(train) + len(test) == len(table)
    order = np.random.default_rng(5).permutation(len(table))
    ((_, shuffled),) = QuadratHoldout(0.25, seed="s", grid=GRID).split(table.iloc[order])
    assert sorted(order[shuffled].tolist()) == test.tolist()


def test_repeats_are_other_draws_and_by_surveys_the_share_counts_rows() -> None:
    table = places()
    cv = QuadratHoldout(0.3, grid=GRID, repeats=3, share_of="surveys")
    tests = [test.tolist() for _, test in cv.split(table)]
    assert cv.get_n_splits(table) == len(tests) == 3
    assert len({tuple(test) for test in tests}) == 3
    assert all(abs(len(test) - 120) < 15 for test in tests)
    assert np.flatnonzero(cv.held_out(table)).tolist() == tests[0]


def test_a_holdout_keeps_species_in_training() -> None:
    """Sparse and dense columns of species, and a class a row, are the same promise."""
    species, quadrats = world_of_rare_species()
    X = np.zeros((60, 1))
    plain, kept = (QuadratHoldout(0.4, min_train_quadrats=least) for least in (0, 1))
    ((train, _),) = plain.split(X, species, quadrats)
    assert not species[train].any(axis=0).all()
    for y in (species, csr_matrix(species)):
        ((train, test),) = kept.split(X, y, quadrats)
        assert species[train].any(axis=0).all()
        assert len(test) == 24
    classes = np.repeat([f"species {i}" for i in range(30)], 2)
    ((train, _),) = QuadratHoldout(0.5, min_train_quadrats=1).split(X, classes, quadrats)
    assert set(classes[train]) == set(classes)


def test_a_buffer_sets_training_aside() -> None:
    """By brute force: what trains is farther than the buffer from every test row."""
    table = places()
    ((train, test),) = QuadratHoldout(0.2, grid=GRID, buffer_m=5_000).split(table)
    lon_lat = table[["lon", "lat"]].to_numpy()
    nearest = geodesics(*lon_lat.T, *lon_lat[test].T).min(axis=1)
    untested = np.setdiff1d(np.arange(len(table)), test)
    assert train.tolist() == untested[nearest[untested] > 5_000].tolist()
    assert len(train) < len(untested)


def test_scikit_learn_takes_it() -> None:
    """Clone, repr, scoring and search work as with its own splitters."""
    table = places()
    cv = QuadratHoldout(0.2, grid=GRID, min_train_quadrats=1)
    assert repr(clone(cv)) == repr(cv)
    model = DummyClassifier(strategy="most_frequent")
    groups = table[["lon", "lat"]].to_numpy()
    scores = cross_val_score(model, table[["x"]], table.species, groups=groups, cv=cv)
    assert scores.shape == (1,)
    search = GridSearchCV(model, {"strategy": ["most_frequent", "prior"]}, cv=cv)
    search.fit(table[["x"]], table.species, groups=groups)
    assert search.n_splits_ == 1


@pytest.mark.parametrize(
    ("settings", "y", "said"),
    [
        ({"share": 0}, None, "Invalid share 0 of the holdout 'test'"),
        ({"share": 0.001}, None, "The holdout 'test' is empty"),
        ({"repeats": 0}, None, "Invalid repeats 0"),
        ({"min_train_quadrats": 1}, None, "There is no y"),
        ({"min_train_quadrats": -1}, ["a"] * 4, "Invalid min_train_quadrats -1"),
        ({"share": 0.5, "min_train_quadrats": 1}, ["a", "b", "c", "d"], "cannot be filled: of 4 free quadrats only 0"),
        ({"share_of": "rows"}, None, "Unknown share_of 'rows'"),
    ],
)
def test_what_cannot_be_held_out_is_said(settings: dict[str, Any], y: Any, said: str) -> None:
    with pytest.raises(DataError, match=said):
        list(QuadratHoldout(**settings).split(np.zeros((4, 1)), y, list("wxyz")))
