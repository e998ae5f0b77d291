"""Folds: each row is tested once, no quadrat is cut, nothing trains within a buffer, and scikit-learn takes them."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import geopandas
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import sklearn
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.dummy import DummyRegressor
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, check_cv, cross_val_predict, cross_val_score, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from spatialsplit.distances import geodesic_m
from spatialsplit.draw import Occupied
from spatialsplit.errors import DataError
from spatialsplit.folds import (
    BalancedQuadratKFold,
    BufferedLeaveOneOut,
    Checkerboard,
    FoldRules,
    LeaveQuadratOut,
    Places,
    PlaceTimeKFold,
    QuadratKFold,
    StratifiedQuadratKFold,
    SystematicKFold,
    fold_balance,
    fold_quadrats,
    part_rows,
    places_of,
    subset_indices,
)
from spatialsplit.quadrats import Grid
from tests.real_data import data_folder, each_known_answer

GRID = Grid("EPSG:3035", 20_000)


def survey_table(n: int = 400, seed: int = 1) -> pd.DataFrame:
    """Make up surveys in the middle of Europe, several at one place."""
    dice = np.random.default_rng(seed)
    lon, lat = dice.uniform(9, 12, n).round(2), dice.uniform(48, 50, n).round(2)
    return pd.DataFrame({"warmth": dice.normal(size=n), "lon": lon, "lat": lat, "year": dice.integers(2015, 2022, n)})


def quadrats_of_rows(table: pd.DataFrame) -> list[str]:
    return GRID.assign(table["lon"].to_numpy(), table["lat"].to_numpy()).of_each_point()


def check_every_row_is_tested_once(pairs: list[tuple[Any, Any]], n: int) -> None:
    """Hold a design to the invariant of all folds: tests are disjoint, cover all rows, and never train themselves."""
    assert np.array_equal(np.sort(np.concatenate([test for _, test in pairs])), np.arange(n))
    for train, test in pairs:
        assert not np.intersect1d(train, test).size
        assert train.size
        assert test.size


def check_no_quadrat_is_cut(pairs: list[tuple[Any, Any]], labels: list[str]) -> None:
    names = np.asarray(labels, dtype=object)
    for train, test in pairs:
        assert not set(names[train]) & set(names[test])


WHOLE_QUADRATS = [
    QuadratKFold(4, seed="s", grid=GRID),
    QuadratKFold(4, seed="s", grid=GRID, rules=FoldRules("threshold")),
    QuadratKFold(4, seed="s", grid=GRID, rules=FoldRules(share_of="quadrats")),
    StratifiedQuadratKFold(4, seed="s", grid=GRID),
    BalancedQuadratKFold(4, seed="s", grid=GRID, attempts=3),
    LeaveQuadratOut(grid=GRID),
    SystematicKFold(5, grid=GRID),
    Checkerboard(grid=GRID),
    Checkerboard(4, grid=GRID),
    PlaceTimeKFold(3, by="place", grid=GRID),
]
every_design = pytest.mark.parametrize("cv", WHOLE_QUADRATS, ids=lambda cv: repr(cv).replace("\n", "")[:60])


@every_design
def test_each_row_is_tested_once_and_no_quadrat_is_cut(cv: Any) -> None:
    table = survey_table()
    y = (table["warmth"] > 0).astype(int)
    pairs = list(cv.split(table, y))
    check_every_row_is_tested_once(pairs, len(table))
    check_no_quadrat_is_cut(pairs, quadrats_of_rows(table))
    assert len(pairs) == cv.get_n_splits(table, y)


@every_design
def test_the_order_of_the_rows_does_not_matter(cv: Any) -> None:
    """A shuffled table gives the same sets of surveys, and so do labels instead of places."""
    table = survey_table()
    y = (table["warmth"] > 0).astype(int).to_numpy()
    order = np.random.default_rng(5).permutation(len(table))
    straight = [sorted(test.tolist()) for _, test in cv.split(table, y)]
    shuffled = [sorted(order[test].tolist()) for _, test in cv.split(table.iloc[order], y[order])]
    by_label = [sorted(test.tolist()) for _, test in cv.split(table[["warmth"]], y, quadrats_of_rows(table))]
    assert straight == shuffled == by_label


@every_design
def test_a_buffer_keeps_training_rows_farther_than_its_radius(cv: Any) -> None:
    """By brute force over all pairs: d > r for all that train, d ≤ r for all set aside."""
    table = survey_table(240)
    y = (table["warmth"] > 0).astype(int)
    buffered = clone(cv).set_params(buffer_m=6_000.0)
    places = places_of(table)
    for (train, test), (whole, same) in zip(buffered.split(table, y), cv.split(table, y), strict=True):
        assert np.array_equal(test, same)
        aside = np.setdiff1d(whole, train)
        nearest = np.array([places.distance_to(row, test).min() for row in whole])
        assert np.array_equal(aside, whole[nearest <= 6_000])


@every_design
def test_a_splitter_can_be_cloned_printed_and_set(cv: Any) -> None:
    table = survey_table(200)
    y = (table["warmth"] > 0).astype(int)
    twin = clone(cv)
    assert repr(twin) == repr(cv)
    assert type(cv).__name__ in repr(cv)
    assert twin.get_params().keys() == cv.get_params().keys()
    assert all(
        np.array_equal(a[1], b[1]) for a, b in zip(cv.split(table, y), check_cv(twin).split(table, y), strict=True)
    )


def test_a_quadrat_can_be_checked_in_a_shell() -> None:
    """The threshold's fold is the first 8 bytes of SHA-256 of `seed|folds|label`, times k, over 2^64."""
    folds = fold_quadrats(Occupied([f"q{i}" for i in range(50)], [1] * 50), 3, "seed", method="threshold")
    number = int(hashlib.sha256(b"seed|folds|q7").hexdigest()[:16], 16)
    assert folds["q7"] == number * 3 // 2**64


def test_a_quota_cuts_the_hash_order_in_pieces() -> None:
    """Along the order of the numbers folds never decrease, and their sizes differ by less than one quadrat."""
    labels, sizes = [f"q{i}" for i in range(300)], [1 + i % 7 for i in range(300)]
    folds = fold_quadrats(Occupied(labels, sizes), 5, "seed")
    order = sorted(labels, key=lambda label: hashlib.sha256(f"seed|folds|{label}".encode()).hexdigest())
    along = [folds[label] for label in order]
    assert along == sorted(along)
    rows = [sum(size for label, size in zip(labels, sizes, strict=True) if folds[label] == k) for k in range(5)]
    assert max(rows) - min(rows) <= max(sizes)


@given(st.lists(st.integers(1, 30), min_size=6, max_size=60), st.integers(2, 6), st.integers(0, 59))
@settings(max_examples=60, deadline=None)
def test_one_more_row_moves_quadrats_over_a_cut_only(sizes: list[int], k: int, where: int) -> None:
    """No quadrat moves farther than to the next fold, and at most one beside each cut."""
    labels = [f"q{i}" for i in range(len(sizes))]
    more = [size + (i == where % len(sizes)) for i, size in enumerate(sizes)]
    before, after = (fold_quadrats(Occupied(labels, each), k, "s") for each in (sizes, more))
    moved = [label for label in labels if before[label] != after[label]]
    assert all(abs(before[label] - after[label]) == 1 for label in moved)
    assert len(moved) <= k - 1


def test_a_threshold_moves_nothing_when_quadrats_are_added() -> None:
    few, many = ([f"q{i}" for i in range(n)] for n in (100, 1000))
    before, after = (fold_quadrats(Occupied(each, [1] * len(each)), 4, "s", method="threshold") for each in (few, many))
    assert all(before[label] == after[label] for label in few)


def test_a_threshold_moves_nothing_beside_fixed_folds_either() -> None:
    """New quadrats go where the threshold puts them, whatever came before them."""
    labels = [f"q{i}" for i in range(60)]
    fixed = dict.fromkeys(labels[:20], 0)
    alone = fold_quadrats(Occupied(labels, [1] * 60), 3, "s", method="threshold")
    folds = fold_quadrats(Occupied(labels, [1] * 60), 3, "s", method="threshold", fixed=fixed)
    assert folds == alone | fixed


def test_folds_of_an_earlier_release_stay() -> None:
    """With `fixed` no old quadrat moves, and new ones even the sizes out."""
    few, many = ([f"q{i}" for i in range(n)] for n in (50, 90))
    old = fold_quadrats(Occupied(few, [1] * 50), 5, "s")
    new = fold_quadrats(Occupied(many, [1] * 90), 5, "s", fixed=old)
    assert {label: new[label] for label in few} == old
    assert [list(new.values()).count(k) for k in range(5)] == [18] * 5


def test_the_same_words_give_the_same_folds_for_ever() -> None:
    """Worked out with sha256sum and by hand: order f b a d c g h e, of 31 rows 10 | 10 | 11."""
    folds = fold_quadrats(Occupied(list("abcdefgh"), [3, 1, 4, 1, 5, 9, 2, 6]), 3, "2b7e151628aed2a6")
    assert folds == {"f": 0, "b": 0, "a": 1, "d": 1, "c": 1, "g": 1, "h": 2, "e": 2}


def test_repeats_are_draws_of_their_own() -> None:
    """Repeat k is the single draw with the seed `{seed}#k`."""
    table, cv = survey_table(), QuadratKFold(3, seed="s", grid=GRID, repeats=4)
    pairs = list(cv.split(table))
    assert len(pairs) == cv.get_n_splits() == 12
    third = list(QuadratKFold(3, seed="s#3", grid=GRID).split(table))
    assert all(np.array_equal(a[1], b[1]) for a, b in zip(pairs[6:9], third, strict=True))
    assert not all(np.array_equal(a[1], b[1]) for a, b in zip(pairs[:3], third, strict=True))


def test_a_whole_number_is_a_seed_of_its_digits() -> None:
    table = survey_table(100)
    by_number, by_text = (QuadratKFold(3, seed=seed, grid=GRID).folds(table) for seed in (42, "42"))
    assert np.array_equal(by_number, by_text)


def test_strata_are_spread_over_the_folds() -> None:
    """Each stratum is split to within one quadrat of its even share, also where the classes are unequal."""
    labels = [f"q{i}" for i in range(100)]
    y = ["alpine"] * 20 + ["steppe"] * 80
    folds = StratifiedQuadratKFold(5).folds(np.zeros((100, 1)), y, labels)
    counts = np.array([np.bincount(folds[:20], minlength=5), np.bincount(folds[20:], minlength=5)])
    assert counts.tolist() == [[4] * 5, [16] * 5]


def test_small_strata_do_not_all_begin_in_the_same_fold() -> None:
    """Sixty strata of one quadrat each fill every fold."""
    labels = [f"q{i}" for i in range(60)]
    folds = StratifiedQuadratKFold(5).folds(np.zeros((60, 1)), [f"stratum {i}" for i in range(60)], labels)
    assert np.bincount(folds, minlength=5).min() >= 5


def test_balanced_folds_are_the_best_attempt() -> None:
    """The kept draw is the first with the smallest (empty cells, chi-square), and beats the plain one."""
    dice = np.random.default_rng(3)
    labels = [f"q{i}" for i in range(40)]
    species = (dice.uniform(size=(40, 12)) < 0.2).astype(int)
    cv = BalancedQuadratKFold(4, attempts=25)
    best = cv.best(np.zeros((40, 1)), species, labels)
    keys = [(balance.empty_cells, balance.chi_square) for balance in best.balances]
    assert keys.index(min(keys)) == best.attempt - 1
    counts = [species[cv.folds(np.zeros((40, 1)), species, labels) == k].sum(axis=0) for k in range(4)]
    assert (fold_balance(counts).empty_cells, fold_balance(counts).chi_square) == pytest.approx(min(keys))


def test_species_may_come_as_a_sparse_matrix() -> None:
    from scipy.sparse import csr_matrix

    labels = [f"q{i}" for i in range(30)]
    species = (np.random.default_rng(3).uniform(size=(30, 6)) < 0.3).astype(int)
    dense, sparse = (
        BalancedQuadratKFold(3, attempts=5).folds(np.zeros((30, 1)), y, labels) for y in (species, csr_matrix(species))
    )
    assert np.array_equal(dense, sparse)


def test_a_checkerboard_alternates() -> None:
    """Quadrats that share a side are in different folds; in the board of four, those that share a corner too."""
    labels = [GRID.label(column, row) for row in range(4) for column in range(4)]
    two, four = (Checkerboard(k, grid=GRID).folds(np.zeros((16, 1)), groups=labels).reshape(4, 4) for k in (2, 4))
    assert (two[:, 1:] != two[:, :-1]).all()
    assert (two[1:] != two[:-1]).all()
    assert (four[1:, 1:] != four[:-1, :-1]).all()
    assert (four[1:] != four[:-1]).all()


def test_a_systematic_pattern_of_five_is_a_knights_move() -> None:
    labels = [GRID.label(column, row) for row in range(-3, 7) for column in range(-3, 7)]
    folds = SystematicKFold(5, grid=GRID).folds(np.zeros((100, 1)), groups=labels).reshape(10, 10)
    assert (folds[1:, 1:] != folds[:-1, :-1]).all()
    assert (folds[1:, :-1] != folds[:-1, 1:]).all()
    assert (folds[1:] != folds[:-1]).all()
    assert (folds[:, 1:] != folds[:, :-1]).all()
    assert np.bincount(folds.ravel()).tolist() == [20] * 5


def test_leaving_place_and_time_out_trains_on_neither() -> None:
    """By both, no training row shares the place or the time of a test row."""
    table = survey_table(600).assign(quadratId=lambda rows: quadrats_of_rows(rows))
    pairs = list(PlaceTimeKFold(3, by="both").split(table))
    check_every_row_is_tested_once(pairs, len(table))
    check_no_quadrat_is_cut(pairs, table["quadratId"].tolist())
    check_no_quadrat_is_cut(pairs, table["year"].tolist())
    assert len(pairs) == PlaceTimeKFold(3, by="both").get_n_splits(table) == 9


def test_places_and_times_are_dealt_out_apart() -> None:
    """Places as by QuadratKFold with the same seed, times with the seed `{seed}#time`."""
    table = survey_table(300)
    by_time = [test.tolist() for _, test in PlaceTimeKFold(3, by="time", seed="s").split(table)]
    years = QuadratKFold(3, seed="s#time").split(table[["warmth"]], groups=table["year"])
    assert by_time == [test.tolist() for _, test in years]
    by_place = [test.tolist() for _, test in PlaceTimeKFold(3, seed="s", grid=GRID).split(table)]
    assert by_place == [test.tolist() for _, test in QuadratKFold(3, seed="s", grid=GRID).split(table)]


def test_the_column_of_quadrats_counts_unless_a_grid_is_given() -> None:
    table = survey_table(100).assign(quadratId=[f"q{i % 7}" for i in range(100)])
    by_column = QuadratKFold(3).folds(table)
    assert np.array_equal(by_column, QuadratKFold(3).folds(table, groups=table["quadratId"]))
    assert np.array_equal(QuadratKFold(3, grid=GRID).folds(table), QuadratKFold(3, grid=GRID).folds(survey_table(100)))


def test_a_class_with_fewer_rows_than_folds_leaves_no_empty_cell() -> None:
    """Nobody can put two rows into three folds; only its chi-square counts."""
    balance = fold_balance([[1, 3], [1, 3], [0, 3]])
    assert balance.empty_cells == 0
    assert balance.chi_square == pytest.approx(1.0)


def test_leaving_time_out_keeps_years_whole() -> None:
    table = survey_table(300)
    check_no_quadrat_is_cut(list(PlaceTimeKFold(3, by="time").split(table)), table["year"].tolist())


def test_leave_one_out_can_test_presences_alone() -> None:
    """The rows tested are those of the class; what trains is counted in the whole table."""
    table = survey_table(60)
    y = np.arange(60) % 3
    cv = BufferedLeaveOneOut(5_000, only=2)
    pairs = list(cv.split(table, y))
    assert [test.tolist() for _, test in pairs] == [[i] for i in range(60) if i % 3 == 2]
    assert cv.get_n_splits(table, y) == 20
    places = places_of(table)
    for train, test in pairs:
        distance = places.distance_to(int(test[0]), np.arange(60))
        assert np.array_equal(train, np.flatnonzero(distance > 5_000))


def test_a_buffer_is_exact_to_the_last_bit_of_the_geodesic() -> None:
    """A radius that is the very distance of a pair takes it; the next smaller number does not."""
    lon, lat = np.array([10.0, 10.37, 11.9]), np.array([45.0, 45.21, 46.3])
    for other in (1, 2):
        exactly = float(geodesic_m(lon[:1], lat[:1], lon[other : other + 1], lat[other : other + 1])[0])
        for radius, inside in ((exactly, True), (np.nextafter(exactly, 0), False)):
            assert (other in part_rows(Places(lon, lat), np.array([0]), buffer_m=radius).set_aside) is inside
            assert (other in Places(lon, lat).around(0, radius)) is inside


@pytest.mark.parametrize("planar", [True, False])
@pytest.mark.parametrize("n_test", [1, 49, 51, 200])
def test_rows_near_a_test_agree_with_brute_force(planar: bool, n_test: int) -> None:
    """On a lattice, where many distances are just the radius, by either way of asking."""
    column, row = (each.ravel() / 10 for each in np.meshgrid(np.arange(25.0), np.arange(20.0)))
    places = Places(column, row, planar=planar)
    test = np.random.default_rng(n_test).choice(500, n_test, replace=False)
    nearest = np.array([places.distance_to(i, test).min() for i in range(500)])
    radius = 0.2 if planar else float(np.quantile(nearest[nearest > 0], 0.3))
    assert np.array_equal(places.near(places.take(test), radius), np.flatnonzero(nearest <= radius))


@pytest.mark.parametrize("radius_m", [0.0, 50_000.0, 3_000_000.0, 15_000_000.0])
@pytest.mark.parametrize("n_test", [10, 90])
def test_a_buffer_may_be_of_any_width(radius_m: float, n_test: int) -> None:
    """Over the whole earth, poles and antimeridian too, few and many test rows give what brute force gives."""
    dice = np.random.default_rng(5)
    lon, lat = dice.uniform(-180, 180, 300), np.degrees(np.arcsin(dice.uniform(-1, 1, 300)))
    lon[:4], lat[:4] = [180, -180, 0, 90], [0, 0, 90, 90]
    test = np.arange(0, 2 * n_test, 2)
    places = Places(lon, lat)
    nearest = np.array([places.distance_to(i, test).min() for i in range(300)])
    expected = sorted(set(np.flatnonzero(nearest <= radius_m)) - set(test.tolist()))
    assert part_rows(places, test, buffer_m=radius_m).set_aside.tolist() == expected


def test_a_buffer_reaches_across_the_antimeridian() -> None:
    places = Places(np.array([179.999, -179.999, 0.0]), np.array([60.0, 60.0, 60.0]))
    assert part_rows(places, np.array([0]), buffer_m=200).set_aside.tolist() == [1]


def test_a_buffer_of_nothing_sets_rows_at_the_same_place_aside() -> None:
    """0 m is a limit like any other: d ≤ 0. Without a buffer nobody is set aside."""
    places = Places(np.array([1.0, 1.0, 2.0]), np.zeros(3), planar=True)
    assert part_rows(places, np.array([0]), buffer_m=0).set_aside.tolist() == [1]
    assert part_rows(places, np.array([0])).set_aside.tolist() == []


# scikit-learn


def labelled(n: int = 300) -> tuple[pd.DataFrame, Any, list[str]]:
    table = survey_table(n)
    return table[["warmth", "year"]], (table["warmth"] > 0).astype(int), quadrats_of_rows(table)


def test_cross_val_score_takes_a_splitter_in_a_pipeline() -> None:
    X, y, quadrats = labelled()
    scores = cross_val_score(
        make_pipeline(StandardScaler(), LogisticRegression()), X, y, groups=quadrats, cv=QuadratKFold(4)
    )
    assert scores.shape == (4,)
    assert scores.min() > 0.8


def test_a_grid_search_takes_a_splitter_and_refits() -> None:
    X, y, quadrats = labelled()
    search = GridSearchCV(Ridge(), {"alpha": [0.1, 10.0]}, cv=QuadratKFold(3, repeats=2))
    search.fit(X, y, groups=quadrats)
    assert search.n_splits_ == 6
    assert search.best_params_["alpha"] == 0.1


def test_places_travel_with_the_rows_through_a_nested_search() -> None:
    """The inner folds see the outer training's places: `groups` of two columns is cut along with X."""
    table = survey_table(300)
    X, y = table[["warmth"]].to_numpy(), table["warmth"].to_numpy()
    places = table[["lon", "lat"]].to_numpy()
    inner = QuadratKFold(3, grid=GRID, buffer_m=1_000)
    for train, _ in QuadratKFold(3, grid=GRID).split(X, y, places):
        search = GridSearchCV(Ridge(), {"alpha": [0.1, 1.0]}, cv=inner).fit(X[train], y[train], groups=places[train])
        assert search.n_splits_ == 3


def test_metadata_routing_hands_groups_on() -> None:
    X, y, quadrats = labelled()
    with sklearn.config_context(enable_metadata_routing=True):
        result = cross_validate(DummyRegressor(), X, y, params={"groups": quadrats}, cv=QuadratKFold(4))
    assert len(result["test_score"]) == 4


def test_every_row_gets_one_prediction() -> None:
    X, y, quadrats = labelled()
    assert cross_val_predict(Ridge(), X, y, groups=quadrats, cv=LeaveQuadratOut()).shape == (300,)


def test_a_data_frame_and_a_geo_data_frame_give_the_same_folds() -> None:
    """Also from another CRS, whose points are transformed."""
    table, cv = survey_table(), QuadratKFold(4, grid=GRID)
    points = geopandas.GeoDataFrame(
        table[["warmth"]], geometry=geopandas.points_from_xy(table.lon, table.lat, crs=4326)
    )
    expected = cv.folds(table)
    assert np.array_equal(cv.folds(points), expected)
    assert np.array_equal(cv.folds(points.to_crs(32632)), expected)
    assert np.array_equal(cv.folds(np.zeros((400, 2)), groups=table[["lon", "lat"]].to_numpy()), expected)


@pytest.mark.parametrize(
    "groups",
    [
        lambda table: table[["lon", "lat"]].to_numpy(),
        lambda table: table[["lat", "lon"]],
        lambda table: table[["lon", "lat"]].set_axis([0, 1], axis=1),
        lambda table: table[["lon", "lat"]].to_numpy().tolist(),
        lambda table: geopandas.GeoSeries(geopandas.points_from_xy(table["lon"], table["lat"]), crs=4326).to_crs(3035),
        lambda table: geopandas.points_from_xy(table["lon"], table["lat"], crs=4326),
        lambda table: geopandas.GeoDataFrame(geometry=geopandas.points_from_xy(table["lon"], table["lat"]), crs=4326),
        places_of,
        lambda table: pa.Table.from_pandas(table[["lat", "lon"]]),
        lambda table: np.array(quadrats_of_rows(table)).reshape(-1, 1),
        lambda table: pd.DataFrame({"quadrat": quadrats_of_rows(table)}, index=table.index[::-1]),
    ],
)
def test_groups_mean_the_same_in_every_form(groups: Any) -> None:
    """Places and labels are read as what they are: by name where they have one, and a single column as labels.

    The column `quadratId` of `X`, which is wrong on purpose, must not be fallen back to.
    """
    table = survey_table()
    X = table[["warmth"]].assign(quadratId=np.arange(len(table)) % 7)
    want = [test.tolist() for _, test in QuadratKFold(4, seed="s", grid=GRID).split(table)]
    cv = QuadratKFold(4, seed="s", grid=GRID)
    assert [test.tolist() for _, test in cv.split(X, groups=groups(table))] == want


@pytest.mark.parametrize("by", ["place", "time", "both"])
def test_place_and_time_may_come_as_three_columns(by: str) -> None:
    """With longitude, latitude and time in `groups`, a bare matrix is dealt out as the table is."""
    table = survey_table()
    cv = PlaceTimeKFold(2, by=by, grid=GRID, buffer_m=500)
    want = [(train.tolist(), test.tolist()) for train, test in cv.split(table)]
    for groups in (table[["lon", "lat", "year"]], table[["lon", "lat", "year"]].to_numpy()):
        found = cv.split(np.zeros((len(table), 1)), groups=groups)
        assert [(train.tolist(), test.tolist()) for train, test in found] == want


def test_an_arrow_table_is_a_table() -> None:
    """Its columns are found by name, as those of a data frame are."""
    table = survey_table()
    labelled = table.assign(quadratId=quadrats_of_rows(table))
    for cv, frame in ((QuadratKFold(4, grid=GRID, buffer_m=500), table), (QuadratKFold(4), labelled)):
        pairs, arrow = cv.split(frame), cv.split(pa.Table.from_pandas(frame))
        assert all(np.array_equal(a[0], b[0]) for a, b in zip(pairs, arrow, strict=True))


def test_a_missing_attribute_costs_no_row() -> None:
    table = survey_table(100)
    table.loc[::2, "warmth"] = np.nan
    check_every_row_is_tested_once(list(QuadratKFold(3, grid=GRID).split(table)), 100)


def test_the_grid_warns_with_its_cure() -> None:
    with pytest.warns(UserWarning, match="lie outside the area of use of EPSG:3035.*EPSG:6933"):
        QuadratKFold(2).folds(np.zeros((2, 1)), groups=[[-70.0, -10.0], [-71.0, -11.0]])


def test_all_designs_are_at_hand_after_one_import() -> None:
    """`import spatialsplit as ss` is enough: for each splitter, and for the rooms with what else there is."""
    script = (
        "import spatialsplit as ss; ss.folds.Places; ss.grids.quadrat_outlines; ss.diagnostics.mess; "
        "rooms = [(room, n) for room in (ss.folds, ss.diagnostics) for n in room.__all__]; "
        "print(*[n for room, n in rooms if hasattr(getattr(room, n), 'get_n_splits') and not hasattr(ss, n)])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""


def test_a_column_of_subsets_is_an_index_pair() -> None:
    X, y, _ = labelled(6)
    pairs = subset_indices(["train", "val", "train", "test", "train", "val"])
    assert [(train.tolist(), test.tolist()) for train, test in pairs] == [([0, 2, 4], [1, 5])]
    assert cross_val_score(DummyRegressor(), X, y, cv=pairs).shape == (1,)


WITH_COUNTS = [
    QuadratKFold(np.int64(3), grid=GRID, repeats=np.int32(2)),
    StratifiedQuadratKFold(np.int64(3), grid=GRID),
    BalancedQuadratKFold(np.uint8(3), grid=GRID, attempts=np.int64(2)),
    SystematicKFold(np.int16(3), grid=GRID),
    Checkerboard(np.int64(4), grid=GRID),
    PlaceTimeKFold(np.int64(3), grid=GRID),
    PlaceTimeKFold(np.int64(3), by="both", grid=GRID),
    QuadratKFold(np.int64(3), grid=GRID, rules=FoldRules("threshold")),
]


@pytest.mark.parametrize("cv", WITH_COUNTS, ids=repr)
def test_numbers_of_numpy_are_numbers(cv: Any) -> None:
    """As in scikit-learn; and there are as many folds as get_n_splits says."""
    table = survey_table()
    plain = {name: int(value) for name, value in cv.get_params().items() if isinstance(value, np.integer)}
    assert [test.tolist() for _, test in cv.split(table, table["year"])] == [
        test.tolist() for _, test in clone(cv).set_params(**plain).split(table, table["year"])
    ]
    n_splits = cv.get_n_splits(table, table["year"])
    assert type(n_splits) is int
    assert n_splits == sum(1 for _ in cv.split(table, table["year"]))


@pytest.mark.parametrize("count", [True, "3", 3.0, None, 0])
@pytest.mark.parametrize("cv", WITH_COUNTS[:7], ids=repr)
def test_what_counts_no_folds_is_refused_before_any_row_is_seen(cv: Any, count: Any) -> None:
    table = survey_table()
    with pytest.raises(DataError, match=r"Invalid n_splits .*must be a whole number"):
        clone(cv).set_params(n_splits=count).get_n_splits(table, table["year"])


# what is refused


def splits(cv: Any, X: Any, y: Any = None, groups: Any = None) -> Callable[[], list[Any]]:
    return lambda: list(cv.split(X, y, groups))


FIVE = np.zeros((5, 1))


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (splits(QuadratKFold(3), FIVE), r"Nobody knows where the 5 rows of X lie\. .*Give groups="),
        (splits(QuadratKFold(3), FIVE, None, ["a"] * 5), r"3 folds of 1 occupied quadrats .*Have more of them"),
        (splits(QuadratKFold(3), FIVE, None, list("aabbb")), r"3 folds of 2 occupied quadrats.*Lower n_splits to 2"),
        (splits(QuadratKFold(1), FIVE, None, list("aabbb")), r"Invalid n_splits 1\. It must be a whole number, 2"),
        (splits(QuadratKFold(2, repeats=0), FIVE, None, list("aabbb")), r"Invalid repeats 0"),
        (splits(QuadratKFold(2), FIVE, None, list("aab")), r"groups has 3 values for 5 rows"),
        (splits(QuadratKFold(2), FIVE, None, [[9, 50]] * 4), r"groups has 4 places for 5 rows\. Each row needs one"),
        (splits(QuadratKFold(2, buffer_m=9), FIVE, None, [[9, 50]] * 6), r"groups has 6 places for 5 rows"),
        (
            splits(QuadratKFold(2), survey_table(5), None, np.zeros((5, 3))),
            r"groups has the shape \(5, 3\)\. .*two with",
        ),
        (splits(QuadratKFold(2), survey_table(5), None, 7), r"groups has the shape \(\)"),
        (splits(QuadratKFold(2), FIVE, None, [[1, 2], [3]]), r"groups has the shape \(\)"),
        (
            splits(QuadratKFold(2), FIVE, None, list(geopandas.points_from_xy(range(5), range(5)))),
            r"groups holds shapes, which are no labels.*Give a geo series",
        ),
        (
            splits(QuadratKFold(2), FIVE, None, pd.DataFrame({"lat": [50] * 5, "b": [9] * 5})),
            r"No column 'lon' in groups",
        ),
        (
            splits(PlaceTimeKFold(2, grid=GRID), FIVE, None, [["a", "b"]] * 5),
            r"labels of place and time.*Give three columns",
        ),
        (splits(PlaceTimeKFold(2), FIVE, None, [[9.5, 50.1]] * 5), r"labels of place and time.*Give three columns"),
        (splits(QuadratKFold(2, seed="a|b"), FIVE, None, list("aabbb")), r"Invalid seed 'a\|b'"),
        (
            splits(QuadratKFold(2, rules=FoldRules("dice")), FIVE, None, list("aabbb")),
            r"Unknown method 'dice'\. Known: quota",
        ),
        (splits(QuadratKFold(2, buffer_m=-1), FIVE, None, [[i, 50] for i in range(5)]), r"Invalid buffer_m -1"),
        (splits(StratifiedQuadratKFold(2), FIVE, None, list("aabbb")), r"There is no y to stratify by"),
        (splits(BalancedQuadratKFold(2), FIVE, None, list("aabbb")), r"There is no y to balance"),
        (
            splits(Checkerboard(3), FIVE, None, ["CRS3035RES5000mN0E0"] * 5),
            r"Invalid n_splits 3\. A checkerboard has 2 or 4",
        ),
        (
            splits(PlaceTimeKFold(2, by="day"), FIVE, None, [["a", "b"]] * 5),
            r"Unknown by 'day'\. Known: place, time, both",
        ),
        (splits(BufferedLeaveOneOut(np.inf), FIVE, None, [[9, 50]] * 5), r"Invalid buffer_m inf"),
        (
            splits(BufferedLeaveOneOut(10), FIVE, None, [[9, 50]] * 5),
            r"Fold 0 of 5 rows with a buffer of 10 m leaves no row",
        ),
        (
            splits(BufferedLeaveOneOut(10), FIVE, None, [[4e6, 3e6]] * 5),
            r"5 of 5 rows have no valid place.*planar=True",
        ),
        (
            splits(BufferedLeaveOneOut(10), FIVE, None, [[50.0, 120.0]] * 5),
            r"valid with longitude and latitude exchanged",
        ),
        (splits(QuadratKFold(2), None, None, [[9, 50]] * 5), r"There is no X\. .*Give it"),
        (splits(BufferedLeaveOneOut(10), FIVE, None, [[np.nan, 3]] * 5), r"Correct these rows or leave them out"),
        (splits(QuadratKFold(2), FIVE, None, [["a", "b"]] * 5), r"The places in groups are no numbers"),
        (splits(QuadratKFold(2), survey_table(5).assign(lat="north")), r"places in column 'lat' of X are no numbers"),
        (splits(QuadratKFold(2), survey_table(5).assign(lat=None)), r"5 of 5 rows have no valid place"),
        (splits(QuadratKFold(2), survey_table(5)[["lon"]]), r"(?s)No column 'lat' in X.*give groups="),
        (lambda: BufferedLeaveOneOut(10).get_n_splits(), r"It must see them\. Give X="),
        (lambda: LeaveQuadratOut().get_n_splits(), r"It must see them\. Give X= or groups="),
        (lambda: PlaceTimeKFold(by="both").get_n_splits(), r"depends on the rows"),
        (splits(PlaceTimeKFold(2, by="time", time="yaer"), survey_table(5)), r"no column 'yaer'.*mean time='year'"),
        (lambda: subset_indices(["train", "test"], buffer_m=5), r"needs the places of all 2 rows, and none are given"),
        (
            lambda: subset_indices(["train", "test"], buffer_m=5, places=Places(np.zeros(1), np.zeros(1))),
            r"all 2 rows, and 1 are given",
        ),
        (lambda: subset_indices(["train"]), r"No row is in the subset 'test'\. .*There are: train"),
        (lambda: subset_indices(["train", "val"], train=["val"]), r"'val' is on both sides"),
        (lambda: fold_quadrats(Occupied(["a", "b"], [1, 1]), 2, "s", fixed={"a": 7}), r"name fold 7.*\[0, 1\]"),
        (lambda: fold_quadrats(Occupied(["a", "b"], [1, 1]), 2, "s", fixed={"a": "x"}), r"name fold x.*whole numbers"),
        (lambda: fold_quadrats(Occupied(["a", "b"], [1, 1]), 2, "s", fixed=["a"]), r"Invalid fixed list"),
        (
            splits(QuadratKFold(2, rules="threshold"), FIVE, None, list("aabbb")),
            r"Invalid rules 'threshold'.*FoldRules",
        ),
        (splits(QuadratKFold(2, grid=5000), survey_table(5)), r"Invalid grid 5000\. .*Grid\('EPSG:3035'"),
        (splits(QuadratKFold(2), FIVE, None, ["\ud800", *"abcd"]), r"which is no letter of Unicode"),
        (
            splits(QuadratKFold(2), FIVE, None, np.ma.masked_equal([[9.0, 50.0]] * 4 + [[-1.0, 50.0]], -1)),
            r"1 of 5 rows have no valid place \(first: row 4: nan 50",
        ),
        (splits(QuadratKFold(2, seed=True), FIVE, None, list("aabbb")), r"Invalid seed 'True'"),
        (splits(Checkerboard(), survey_table(5).iloc[:0]), r"Fold 0 is empty: 0 occupied quadrats"),
        (splits(StratifiedQuadratKFold(2), FIVE, np.eye(5), list("aabbb")), r"y has the shape \(5, 5\)\. .*one column"),
        (splits(StratifiedQuadratKFold(2), FIVE, [0.5, 1, 2, 3, 4], list("aabbb")), r"y holds fractions"),
        (splits(BalancedQuadratKFold(2), FIVE, [0.5, 1, 2, 3, 4], list("aabbb")), r"y holds fractions"),
        (splits(BalancedQuadratKFold(2), FIVE, np.eye(4), list("aabbb")), r"y has 4 rows for 5"),
        (splits(BalancedQuadratKFold(2), FIVE, np.full((5, 2), np.nan), list("aabbb")), r"10 cells of y have no value"),
        (splits(BalancedQuadratKFold(2), FIVE, [["a", "b"]] * 5, list("aabbb")), r"columns of y are no numbers"),
        (
            splits(BufferedLeaveOneOut(1, only=1), FIVE, np.eye(5), [[9, 50]] * 5),
            r"y has the shape \(5, 5\) for 5 rows",
        ),
    ],
)
def test_what_cannot_be_is_refused_with_a_cure(call: Any, said: str) -> None:
    with pytest.raises(DataError, match=said):
        call()


# known answers


def lattice(spec: dict[str, Any]) -> Any:
    column, row = np.meshgrid(np.arange(spec["columns"]), np.arange(spec["rows"]))
    return np.column_stack(
        [spec["easting_start"] + spec["step"] * column.ravel(), spec["northing_start"] + spec["step"] * row.ravel()]
    ).astype(float)


def points_of(case: dict[str, Any]) -> Any:
    """Give the points of a case, whichever way it names them."""
    given_as = case["input"]
    if "file" in given_as:
        table = pd.read_csv(data_folder() / given_as["file"])
        return table[given_as["columns"]].to_numpy(dtype=float)
    return lattice(given_as["lattice"]) if "lattice" in given_as else np.array(given_as["points_m"], dtype=float)


@each_known_answer("geometry.json", "buffer", where=lambda case: "buffer_m" in case["input"])
def test_buffers_agree_with_spatialsample_and_sperrorest(case: dict[str, Any]) -> None:
    points = points_of(case)
    distances = {name: case["input"][name] for name in ("grow_m", "buffer_m")}
    parting = part_rows(Places(*points.T, planar=True), np.array(case["input"]["test"]), **distances)
    got = {"test": parting.test.tolist(), "dropped": parting.set_aside.tolist(), "train": parting.train.tolist()}
    assert got == case["expect"]


@each_known_answer("geometry.json", "buffer", where=lambda case: case["input"].get("test") == "each row in turn")
def test_leave_one_out_agrees_with_blockcv(case: dict[str, Any]) -> None:
    points, expect = points_of(case), case["expect"]
    cv = BufferedLeaveOneOut(case["input"]["radius_m"], planar=True)
    sizes = [train.size for train, _ in cv.split(points, groups=points)]
    known = {
        "folds": len(sizes),
        "sum_train": sum(sizes),
        "sum_not_in_train": len(sizes) ** 2 - sum(sizes),
        "train_min": min(sizes),
        "train_max": max(sizes),
        "train_sum": sum(sizes),
        "train_mean": sum(sizes) / len(sizes),
    }
    assert {name: known[name] for name in expect} == pytest.approx(expect, abs=1e-9)


@each_known_answer("geometry.json", "buffer", where=lambda case: "not_in_train" in case["expect"])
def test_one_row_left_out_of_a_lattice_takes_its_neighbours_along(case: dict[str, Any]) -> None:
    points = points_of(case)
    parting = part_rows(
        Places(*points.T, planar=True), np.array(case["input"]["test"]), buffer_m=case["input"]["radius_m"]
    )
    assert sorted([*parting.test.tolist(), *parting.set_aside.tolist()]) == case["expect"]["not_in_train"]


@each_known_answer("geometry.json", "buffer", where=lambda case: "sites" in case["input"])
def test_records_near_the_sites_of_another_table_are_dropped(case: dict[str, Any]) -> None:
    points = points_of(case)
    sites, records = Places(*points[:50].T, planar=True), Places(*points[50:].T, planar=True)
    near = records.near(sites, case["input"]["radius_m"])
    kept = np.setdiff1d(np.arange(len(records)), near)
    nearest = min(sites.take(np.arange(50)).tree.query(records.points[kept])[0])
    assert (len(near), len(kept)) == (case["expect"]["dropped"], case["expect"]["kept"])
    assert nearest == pytest.approx(case["expect"]["min_kept_distance_m"], abs=0.001)


@each_known_answer("geometry.json", "groups")
def test_groups_agree_with_blockcv_and_cast(case: dict[str, Any]) -> None:
    given_as, expect = case["input"], case["expect"]
    if "rows_place_day" in given_as:
        rows = given_as["rows_place_day"]
        pairs = list(PlaceTimeKFold(given_as["k"], by=given_as["by"]).split(np.zeros((len(rows), 1)), groups=rows))
        assert {test.size for _, test in pairs} == {expect["test_size"]}
        assert {train.size for train, _ in pairs} == {expect["train_size"]}
        check_no_quadrat_is_cut(pairs, [place for place, _ in rows])
        return
    groups = given_as["groups"]
    cv = QuadratKFold(given_as["k"], rules=FoldRules(share_of="quadrats"))
    if expect.get("error"):
        numbers = "1 of 3 rows" if None in groups else "2 folds of 1"
        with pytest.raises(DataError, match=numbers):
            list(cv.split(np.zeros((len(groups), 1)), groups=groups))
        return
    pairs = list(cv.split(np.zeros((len(groups), 1)), groups=groups))
    check_every_row_is_tested_once(pairs, len(groups))
    check_no_quadrat_is_cut(pairs, groups)
    names = np.array(groups, dtype=object)
    assert [len(set(names[test])) for _, test in pairs] == expect["groups_per_fold"]
