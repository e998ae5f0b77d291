"""Diagnostics: ranges that are known are found, distances agree with brute force and with CAST, flags with blockCV."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import geopandas
import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.figure import Figure
from scipy.spatial.distance import cdist
from scipy.stats import wasserstein_distance
from sklearn.base import clone

from spatialsplit.cli.diagnostics import suggest_size as suggest_size_command
from spatialsplit.diagnostics import (
    MatchedKFold,
    VariogramModel,
    applicability,
    distance_curves,
    effective_sample_size,
    fold_counts,
    fold_flags,
    matched_folds,
    mess,
    nearest_between,
    nearest_other,
    nearest_other_fold,
    nndm,
    percent_nearer_than_prediction,
    plot_distance_curves,
    plot_variograms,
    species_coverage,
    suggest_size,
    variogram,
    wasserstein,
)
from spatialsplit.diagnostics.pairs import row_pairs
from spatialsplit.diagnostics.sampling import sample_rows
from spatialsplit.distances import GEOD, geodesic_m
from spatialsplit.errors import DataError
from spatialsplit.folds import Places, QuadratKFold, fold_balance
from spatialsplit.grids import PlanarGrid
from tests.made_up_fields import field_with_range, value_at
from tests.real_data import data_folder, each_known_answer
from tests.test_folds import lattice


def scattered(n: int, side: float = 200_000.0, seed: int = 1) -> Places:
    dice = np.random.default_rng(seed)
    return Places(dice.uniform(0, side, n), dice.uniform(0, side, n), planar=True)


# the range


@pytest.mark.parametrize("range_km", [20, 50])
def test_a_known_range_is_found(range_km: int) -> None:
    """The fitted range is the one that the field was made with, or a little more: never too small a block."""
    field = field_with_range(range_km, 200, seed=3)
    places = scattered(3_000)
    found = variogram(places, value_at(field, places.east, places.north))
    assert 0.9 < found.model.range_m / 1000 / range_km < 1.5
    assert found.model.nugget < 0.2 * found.model.partial_sill


def test_noise_on_top_becomes_nugget_and_leaves_the_range() -> None:
    """Half of the variance is noise: so says the model, and the range stays."""
    field = field_with_range(20, 200, seed=3)
    places = scattered(4_000)
    noise = np.random.default_rng(9).normal(size=4_000)
    found = variogram(places, value_at(field, places.east, places.north) + noise)
    assert found.model.structured == pytest.approx(0.5, abs=0.15)
    assert found.model.range_m == pytest.approx(20_000, rel=0.5)


def test_a_few_wild_values_do_not_spoil_the_range() -> None:
    """One value in a hundred is a hundred times too large; the robust estimator still finds the range."""
    field = field_with_range(20, 200, seed=3)
    places = scattered(3_000)
    values = value_at(field, places.east, places.north)
    values[::100] *= 100
    assert variogram(places, values).model.range_m == pytest.approx(20_000, rel=0.5)


def test_degrees_and_metres_give_the_same_range() -> None:
    field = field_with_range(20, 200, seed=3)
    plane = scattered(3_000)
    values = value_at(field, plane.east, plane.north)
    degrees = Places(10 + plane.east / 111_320 / np.cos(np.radians(48.9)), 48 + plane.north / 111_200)
    by_metres, by_degrees = (variogram(places, values).model.range_m for places in (plane, degrees))
    assert by_degrees == pytest.approx(by_metres, rel=0.1)


def test_the_order_of_rows_does_not_change_the_range() -> None:
    """Also where only a sample of the pairs is looked at."""
    field = field_with_range(20, 200, seed=3)
    places = scattered(3_000)
    values = value_at(field, places.east, places.north)
    order = np.random.default_rng(2).permutation(3_000)
    assert variogram(places, values).model.range_m == variogram(places.take(order), values[order]).model.range_m


def test_presences_have_a_range_too() -> None:
    """Zeros and ones are measured by the classical estimator."""
    field = field_with_range(20, 200, seed=3)
    places = scattered(3_000)
    found = variogram(places, (value_at(field, places.east, places.north) > 0).astype(float))
    assert found.estimator == "classical"
    assert found.model.range_m == pytest.approx(20_000, rel=0.5)


def test_a_size_is_suggested_in_a_sentence() -> None:
    field = field_with_range(20, 200, seed=3)
    places = scattered(3_000)
    values = value_at(field, places.east, places.north)
    found = suggest_size(places, {"warmth": values, "noise": np.random.default_rng(1).normal(size=3_000)})
    assert found.ranges["noise"] is None
    assert found.size_m >= found.ranges["warmth"]
    assert found.size_m == pytest.approx(found.ranges["warmth"], rel=0.1)
    said = found.sentences()
    assert said[0].startswith("warmth: values are alike up to ")
    assert said[1].startswith("noise: no autocorrelation found up to ")
    assert said[2].startswith(f"Use quadrats of {found.size_m:,} units or more; about ")


def test_noise_is_hardly_ever_given_a_range() -> None:
    """By construction in one of twenty cases at most: of forty, in five at the very most."""
    sizes = [suggest_size(scattered(60, seed=k), np.random.default_rng(k).normal(size=60)).size_m for k in range(40)]
    assert sum(size is not None for size in sizes) <= 5


def test_waves_are_not_called_noise() -> None:
    """A variogram that rises and falls again is fitted badly, but near rows are alike all the same."""
    places = scattered(800)
    found = suggest_size(places, np.sin(places.east / 8_000) + np.sin(places.north / 8_000))
    assert found.variograms["value"].chance == 1 / 40
    assert 10_000 < found.size_m < 50_000


def test_a_short_range_shows_on_a_whole_continent() -> None:
    """Patches of 20 km in a region of 4,000 km: in the first view, near and far rows are all one."""
    places = scattered(40_000, side=4_000_000.0, seed=6)
    dice = np.random.default_rng(7)
    patches = dice.normal(size=(200, 200))[(places.east // 20_000).astype(int), (places.north // 20_000).astype(int)]
    found = suggest_size(places, {"patches": patches + dice.normal(size=40_000), "noise": dice.normal(size=40_000)})
    assert 14_000 < found.ranges["patches"] < 40_000
    assert found.ranges["noise"] is None


def test_a_trend_is_called_a_trend_and_gives_no_size() -> None:
    """A size larger than the region would help nobody."""
    places = scattered(500)
    found = suggest_size(places, {"height": places.east + places.north})
    assert found.size_m is None
    assert "still rising" in found.sentences()[0]
    assert "residuals" in found.sentences()[1]


@pytest.mark.parametrize(
    ("places", "values", "said"),
    [
        (scattered(20), np.arange(20.0), r"20 rows are too few for a variogram\. It needs 30"),
        (scattered(40), np.arange(39.0), r"39 values for 40 rows"),
        (scattered(40), np.full(40, np.nan), r"40 of 40 rows lack a value \(first: row 0, 1, 2, …\)"),
        (scattered(40), np.ones(40), r"Variable value is the same in all 40 rows"),
        (scattered(40, side=0.0), np.arange(40.0), r"All 40 rows lie at one place"),
        (scattered(40), {}, r"There is no variable"),
        (scattered(40), {"a": np.arange(40.0), "b": np.arange(39.0)}, r"39 values for 40 rows in b"),
        (
            scattered(40),
            {"a": np.arange(40.0), "b": np.full(40, np.nan)},
            r"40 of 40 rows lack a value of b \(first: row 0",
        ),
        (scattered(40), pd.DataFrame({"a": np.arange(40.0), "b": np.ones(40)}), r"Variable b is the same"),
        (scattered(40), np.array(["x"] * 40), r"A value is no number"),
        (scattered(40), np.arange(40.0) * 1e200, r"Variable value varies by .*more than 1e\+70"),
        (scattered(40), np.arange(40.0) * 1e-200, r"Variable value varies by less than 1e-70"),
        (scattered(0), np.arange(0.0), r"0 rows are too few"),
    ],
)
def test_what_has_no_range_is_refused_with_a_cure(places: Places, values: Any, said: str) -> None:
    with pytest.raises(DataError, match=said):
        suggest_size(places, values)


def test_pairs_are_all_pairs_in_small_data() -> None:
    """Each pair once, and the same as by brute force."""
    places = scattered(300)
    pairs = row_pairs(places, 30_000.0, "0")
    brute = cdist(places.points, places.points)
    first, second = np.nonzero(np.triu(brute <= 30_000, k=1))
    assert {tuple(sorted(each)) for each in zip(pairs.first.tolist(), pairs.second.tolist(), strict=True)} == set(
        zip(first.tolist(), second.tolist(), strict=True)
    )
    assert len(pairs) == len(first)


def test_a_sample_follows_the_rows_and_not_their_order() -> None:
    places = scattered(1_000)
    order = np.random.default_rng(4).permutation(1_000)
    here, there = sample_rows(places, 100, "s"), order[sample_rows(places.take(order), 100, "s")]
    assert set(here) == set(there)
    assert set(here) != set(sample_rows(places, 100, "t"))
    assert set(sample_rows(places, 50, "s")) < set(here)


def test_many_visits_to_one_place_are_not_drawn_together() -> None:
    """Equal rows have a chance each, so a sample holds all of ten places with a thousand visits."""
    visits = Places(np.repeat(np.arange(10.0), 1_000), np.zeros(10_000), planar=True)
    drawn = np.bincount(visits.east[sample_rows(visits, 500, "s")].astype(int), minlength=10)
    assert drawn.min() > 20
    assert set(sample_rows(visits, 100, "s")) < set(sample_rows(visits, 500, "s"))


def test_many_visits_to_few_places_are_worth_as_many_rows_as_there_are_places() -> None:
    """The sample of pairs must see all of the places."""
    model = VariogramModel("spherical", 0.0, 1.0, 10.0)
    visits = Places(np.repeat(np.arange(20.0) * 1000, 2_000), np.zeros(40_000), planar=True)
    assert effective_sample_size(visits, model) == pytest.approx(20, rel=0.1)


def test_rows_far_apart_count_in_full_and_rows_together_as_one() -> None:
    model = VariogramModel("spherical", 0.0, 1.0, 10.0)
    apart = Places(np.arange(100.0) * 1000, np.zeros(100), planar=True)
    pairs = Places(np.repeat(np.arange(50.0) * 1000, 2), np.zeros(100), planar=True)
    assert effective_sample_size(apart, model) == pytest.approx(100)
    assert effective_sample_size(pairs, model) == pytest.approx(50)


# distances


@given(st.integers(0, 10_000), st.integers(2, 60))
@settings(max_examples=30, deadline=None)
def test_nearest_distances_agree_with_brute_force_on_the_ellipsoid(seed: int, n: int) -> None:
    """To the nearest other row, also among rows at one place and thousands of kilometres away."""
    dice = np.random.default_rng(seed)
    wide = dice.choice([0.01, 1, 90])
    lon, lat = dice.uniform(-wide, wide, n) * 2, dice.uniform(-wide, wide, n)
    lon[n // 2], lat[n // 2] = lon[0], lat[0]
    first, second = (each.ravel() for each in np.meshgrid(np.arange(n), np.arange(n)))
    brute = geodesic_m(lon[first], lat[first], lon[second], lat[second]).reshape(n, n)
    np.fill_diagonal(brute, np.inf)
    assert nearest_other(Places(lon, lat)) == pytest.approx(brute.min(axis=1), abs=1e-4)


def test_many_visits_to_few_places_do_not_ask_all_pairs() -> None:
    """Two hundred thousand rows at five places: by all pairs, this would take a quarter of an hour."""
    place = np.arange(200_000) % 5
    visits = Places(np.array([8.0, 8.1, 8.3, 8.6, 9.0])[place], np.full(200_000, 60.0))
    assert not nearest_other(visits).any()
    step = geodesic_m(np.array([8.1]), np.array([60.0]), np.array([8.3]), np.array([60.0]))
    assert nearest_other_fold(visits, (place > 1).astype(int))[1] == pytest.approx(step[0])


def test_the_shortest_line_through_the_earth_is_not_taken_for_the_shortest_way() -> None:
    """Of a ring of places 1,000 km away one is 3 m nearer along the ground, though others are so in a straight line."""
    azimuth = np.arange(0.0, 360.0, 10.0)
    for nearer in range(36):
        length = np.where(np.arange(36) == nearer, 999_997.0, 1_000_000.0)
        lon, lat, _ = GEOD.fwd(np.full(36, 10.0), np.full(36, 45.0), azimuth, length)
        found = nearest_between(Places(np.array([10.0]), np.array([45.0])), Places(lon, lat))
        assert found.tolist() == pytest.approx([999_997.0], abs=1e-4)


@given(st.lists(st.floats(0, 1e6), min_size=1, max_size=40), st.lists(st.floats(0, 1e6), min_size=1, max_size=40))
def test_w_agrees_with_scipy(first: list[float], second: list[float]) -> None:
    assert wasserstein(np.array(first), np.array(second)) == pytest.approx(
        wasserstein_distance(first, second), rel=1e-9, abs=1e-9
    )


def test_larger_quadrats_bring_tests_farther_from_training() -> None:
    """For a prediction far away, W falls as quadrats grow; random folds are the worst."""
    places = scattered(800)
    prediction = Places(places.east + 60_000, places.north + 60_000, planar=True)
    X, groups = places.points, places.points
    w = [
        distance_curves(places, QuadratKFold(5, grid=PlanarGrid(size)).split(X, groups=groups), prediction)
        for size in (1_000, 20_000, 60_000)
    ]
    assert w[0].w > w[1].w > w[2].w
    assert w[0].w_random >= w[0].w


def test_matched_folds_come_nearer_than_random_folds() -> None:
    """Of all sizes the kept one has the smallest W, which is smaller than that of single rows by far."""
    places = scattered(600)
    prediction = Places(places.east + 120_000, places.north, planar=True)
    found = matched_folds(places, prediction, 4)
    assert found.w == min(w for _, _, w in found.tried)
    assert found.w < 0.6 * wasserstein(nearest_other(places), nearest_between(prediction, places))
    assert found.w == pytest.approx(
        wasserstein(nearest_other_fold(places, found.folds), nearest_between(prediction, places))
    )


def test_a_random_sample_is_matched_by_folds_of_single_places() -> None:
    """As kNNDM does: where the sample is spread like the use, random folds are right, and nothing coarser is."""
    use = scattered(2_000, side=100.0, seed=99)
    for seed in range(3):
        rows = scattered(400, side=100.0, seed=seed)
        single = nearest_other_fold(rows, np.random.default_rng(seed).integers(0, 10, 400))
        assert matched_folds(rows, use, 10).w < 1.2 * wasserstein(single, nearest_between(use, rows))


def test_matched_folds_are_a_splitter_of_degrees() -> None:
    """In another row order the folds are the same."""
    dice = np.random.default_rng(1)
    rows = np.column_stack([dice.uniform(5, 9, 300), dice.uniform(45, 48, 300)])
    cv = MatchedKFold(rows + 0.5, 3)
    pairs = list(cv.split(np.zeros((300, 1)), groups=rows))
    assert np.array_equal(np.sort(np.concatenate([test for _, test in pairs])), np.arange(300))
    assert "MatchedKFold" in repr(cv)
    buffered = list(clone(cv).set_params(buffer_m=20_000).split(np.zeros((300, 1)), groups=rows))
    assert all(a[0].size < b[0].size and np.array_equal(a[1], b[1]) for a, b in zip(buffered, pairs, strict=True))
    order = dice.permutation(300)
    assert np.array_equal(cv.matched(None, rows[order]).folds, cv.matched(None, rows).folds[order])


def test_places_of_prediction_may_come_as_a_table() -> None:
    """With other columns beside, in another order, or as points: all are the same places."""
    dice = np.random.default_rng(1)
    rows, use = (np.column_stack([dice.uniform(5, 9, 200), dice.uniform(45, 48, 200)]) for _ in range(2))
    table = pd.DataFrame({"warmth": 1.0, "lat": use[:, 1], "lon": use[:, 0]})
    points = geopandas.GeoDataFrame(table[["warmth"]], geometry=geopandas.points_from_xy(*use.T), crs=4326)
    wanted = MatchedKFold(use, 3).matched(None, rows).folds.tolist()
    for form in (table, table[["lat", "lon"]], pd.DataFrame(use), points, points.geometry):
        assert MatchedKFold(form, 3).matched(None, rows).folds.tolist() == wanted


@each_known_answer("geometry.json", "nearest", where=lambda case: "nearest" in case["id"] and "nndm" not in case["id"])
def test_nearest_distances_agree_with_cast(case: dict[str, Any]) -> None:
    given_as, expect = case["input"], case["expect"]
    places = places_of_case(given_as)
    if "clusters" in given_as:
        prediction = Places(*np.array(given_as["prediction_points_m"]).T, planar=True)
        other = nearest_other_fold(places, given_as["clusters"])
        assert other.tolist() == pytest.approx(expect["nearest_other_fold"], abs=1e-3)
        assert wasserstein(other, nearest_between(prediction, places)) == pytest.approx(expect["wasserstein"], abs=1e-6)
        return
    if "prediction_points_m" in given_as:
        distance = nearest_between(Places(*np.array(given_as["prediction_points_m"]).T, planar=True), places)
    elif "from" in given_as:
        present = pd.read_csv(data_folder() / given_as["file"])["occ"].to_numpy() == 1
        distance = nearest_between(places.take(present), places.take(~present))
    else:
        distance = nearest_other(places)
    known = {"mean": distance.mean(), "median": np.median(distance), "min": distance.min(), "max": distance.max()}
    known |= {"nearest": distance.tolist(), "nearest_m": distance.tolist(), "mean_m": distance.mean()}
    known |= {"points": len(places)}
    for name, value in expect.items():
        assert known[name] == pytest.approx(value, abs=1e-3, rel=1e-6), name


@each_known_answer("geometry.json", "nearest", where=lambda case: "nndm" in case["id"])
def test_neighbours_left_out_agree_with_cast(case: dict[str, Any]) -> None:
    given_as, expect = case["input"], case["expect"]
    prediction = Places(*np.array(given_as["prediction_points_m"]).T, planar=True)
    found = nndm(places_of_case(given_as), prediction, min_train=given_as["min_train"])
    assert found.distances.tolist() == pytest.approx(expect["distances"], abs=1e-3)
    everything = set(range(len(found.pairs)))
    left_out = [sorted(everything - set(train.tolist()) - set(test.tolist())) for train, test in found.pairs]
    assert left_out == expect["left_out_besides_itself"]


def test_neighbours_left_out_bring_the_curves_together() -> None:
    """W after is smaller than W of leaving out single rows, and half of the rows train in every fold."""
    places = scattered(150)
    prediction = Places(places.east + 30_000, places.north, planar=True)
    found, use = nndm(places, prediction), nearest_between(prediction, places)
    assert wasserstein(found.distances, use) < 0.5 * wasserstein(nearest_other(places), use)
    assert min(train.size for train, _ in found.pairs) >= 75


def places_of_case(given_as: dict[str, Any]) -> Places:
    if "points_lonlat" in given_as:
        return Places(*np.array(given_as["points_lonlat"]).T)
    if "lattice" in given_as:
        return Places(*lattice(given_as["lattice"]).T, planar=True)
    if "file" in given_as:
        return Places(*pd.read_csv(data_folder() / given_as["file"])[given_as["columns"]].to_numpy().T, planar=True)
    return Places(*np.array(given_as["points_m"]).T, planar=True)


# flags, coverage


@each_known_answer("geometry.json", "fold_flags", where=lambda case: "min_test" in case["input"])
def test_flags_agree_with_blockcv(case: dict[str, Any]) -> None:
    given_as = case["input"]
    flags = fold_flags(given_as["train_counts"], given_as["test_counts"], min_test=given_as["min_test"])
    assert {name: getattr(flags, name) for name in case["expect"]} == case["expect"]
    assert bool(flags) == any(case["expect"].values()) == bool(flags.sentences())


@each_known_answer("geometry.json", "fold_flags", where=lambda case: "high_leakage" in case["expect"])
def test_leakage_is_flagged_as_in_blockcv(case: dict[str, Any]) -> None:
    percent = case["input"]["percent_of_test_nearer_than_prediction_median"]
    flags = fold_flags([[9]] * len(percent), [[9]] * len(percent), percent_nearer=percent)
    assert flags.high_leakage == case["expect"]["high_leakage"]


@each_known_answer("geometry.json", "fold_flags", where=lambda case: "chi_square" in case["expect"])
def test_balance_agrees_with_blockcv(case: dict[str, Any]) -> None:
    balance = fold_balance(case["input"]["test_counts"])
    assert balance.empty_cells == case["expect"]["empty_cells"]
    assert balance.chi_square == pytest.approx(case["expect"]["chi_square"], abs=1e-9)


def test_an_empty_fold_gets_no_other_flag() -> None:
    flags = fold_flags([[9, 9], [9, 0]], [[0, 0], [9, 9]])
    assert (flags.empty_test, flags.single_class_test, flags.tiny_test) == ([0], [], [])
    assert flags.class_missing_train == [1]


def test_counts_of_folds_are_those_of_the_index_pairs() -> None:
    """For classes and for a column a species alike."""
    places = scattered(200)
    y = np.random.default_rng(1).integers(0, 3, 200)
    pairs = list(QuadratKFold(4, grid=PlanarGrid(20_000)).split(places.points, groups=places.points))
    train, test = fold_counts(pairs, y)
    assert test.sum(axis=0).tolist() == np.bincount(y).tolist()
    assert ((train + test) == np.bincount(y)).all()
    again = fold_counts(pairs, np.eye(3, dtype=int)[y])
    assert np.array_equal(again[0], train)
    assert np.array_equal(again[1], test)


def test_folds_may_be_lists_and_masks() -> None:
    """Index pairs come from everywhere: arrays, lists, and masks, as scikit-learn takes them."""
    places, classes = scattered(6), list("aabbab")
    arrays = [(np.array([0, 1, 2]), np.array([3, 4, 5]))]
    for pairs in ([([0, 1, 2], [3, 4, 5])], [(np.arange(6) < 3, np.arange(6) >= 3)]):
        assert distance_curves(places, pairs, places).w == distance_curves(places, arrays, places).w
        assert np.array_equal(fold_counts(pairs, classes), fold_counts(arrays, classes))
        nearer = percent_nearer_than_prediction(places, pairs, scattered(9, seed=2))
        assert nearer == percent_nearer_than_prediction(places, arrays, scattered(9, seed=2))


def test_a_data_frame_names_its_variables() -> None:
    places = scattered(40)
    frame = pd.DataFrame({"warmth": places.east, "rain": places.north})
    assert list(suggest_size(places, frame).variograms) == ["warmth", "rain"]
    assert list(suggest_size(places, frame["rain"]).variograms) == ["rain"]


def test_random_folds_leak_where_the_prediction_is_far() -> None:
    places = scattered(400)
    prediction = Places(places.east + 400_000, places.north, planar=True)
    pairs = list(QuadratKFold(4, grid=PlanarGrid(1)).split(places.points, groups=places.points))
    percent = percent_nearer_than_prediction(places, pairs, prediction)
    assert percent.tolist() == [100.0] * 4


def test_coverage_counts_species_by_subset_and_quadrat() -> None:
    coverage = species_coverage(
        ["oak", "oak", "ash", "elm", "elm"], ["train", "test", "test", "train", "val"], ["q1", "q2", "q2", "q1", "q1"]
    )
    assert coverage.only_in("test") == ["ash"]
    assert coverage.in_one_quadrat() == ["ash", "elm"]
    assert coverage.frame().to_dict("list") == {
        "speciesId": ["ash", "elm", "oak"],
        "n_test": [1, 0, 1],
        "n_train": [0, 1, 1],
        "n_val": [0, 1, 0],
        "n_quadrats": [1, 1, 2],
    }
    with pytest.raises(DataError, match=r"There is no subset 'tset'\. Known: test, train, val"):
        coverage.only_in("tset")


# environment


def test_similarity_is_negative_outside_the_range_only() -> None:
    """Elith's formula by hand: a tenth of the width outside is -10; the median is 100."""
    reference = np.arange(0.0, 101.0)
    scores = mess(reference, [-10.0, 0.0, 50.0, 100.0, 110.0]).score
    assert scores.tolist() == pytest.approx([-10, 0, 2 * 100 * 50 / 101, 2 * (100 - 100 * 100 / 101), -10])


def test_the_least_alike_variable_is_named() -> None:
    dice = np.random.default_rng(1)
    seen = mess(dice.uniform(0, 1, (500, 3)), [[0.5, 0.5, 0.5], [0.5, 7.0, 0.5]])
    assert seen.variable[1] == 1
    assert (seen.score < 0).tolist() == [False, True]
    assert seen.share_outside == 0.5


def test_variables_are_found_by_their_names() -> None:
    """Columns in another order are the same rows."""
    dice = np.random.default_rng(3)
    train, rows = (pd.DataFrame(dice.normal(size=(40, 3)) * [1, 5, 9], columns=list("abc")) for _ in range(2))
    assert np.array_equal(mess(train, rows).score, mess(train, rows[["c", "a", "b"]]).score)
    turned = applicability(train, rows[["c", "a", "b"]]).dissimilarity
    assert np.array_equal(applicability(train, rows).dissimilarity, turned)


def test_dissimilarity_agrees_with_brute_force() -> None:
    """The nearest training row in standardized variables, in mean distances; the limit is the upper whisker."""
    dice = np.random.default_rng(1)
    train, rows, folds = dice.normal(size=(80, 4)), dice.normal(size=(30, 4)) * 2, np.arange(80) % 5
    area = applicability(train, rows, folds=folds)
    spread = train.std(axis=0, ddof=1)
    between = cdist(train / spread, train / spread)
    mean = between[np.triu_indices(80, 1)].mean()
    assert area.dissimilarity == pytest.approx(cdist(rows / spread, train / spread).min(axis=1) / mean)
    own = np.where(folds[:, None] != folds, between, np.inf).min(axis=1) / mean
    low, high = np.quantile(own, [0.25, 0.75])
    assert area.limit == pytest.approx(own[own <= high + 1.5 * (high - low)].max())
    assert np.array_equal(area.inside, area.dissimilarity <= area.limit)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: mess([[1.0], [np.nan]], [[1.0]]), r"1 of 2 rows of reference lack a value \(first: row 1\)"),
        (lambda: mess([[1.0]], [[1.0, 2.0]]), r"rows have 2 variables and the reference has 1"),
        (lambda: applicability([[1.0], [1.0]], [[1.0]]), r"Variable 0 of train is the same in all 2 rows"),
        (lambda: applicability([[1.0], [2.0]], [[1.0]], folds=[0, 0]), r"All rows are in one fold"),
        (lambda: nearest_other(scattered(1)), r"1 rows have no nearest other row"),
        (lambda: nearest_between(scattered(1), scattered(0)), r"no row to measure to"),
        (lambda: wasserstein(np.zeros(0), np.zeros(1)), r"W of 0 and 1 distances"),
        (lambda: distance_curves(scattered(3), [], Places(np.zeros(1), np.zeros(1))), r"not all in one plane"),
        (lambda: nndm(scattered(3_001), scattered(3)), r"3,001 rows are not for nndm.*Use matched_folds"),
        (lambda: nndm(scattered(9), scattered(3), min_train=1), r"Invalid min_train 1"),
        (lambda: matched_folds(scattered(3), scattered(3), 5), r"5 folds of 3 occupied places"),
        (lambda: nearest_between(scattered(3), Places(np.ones(1), np.ones(1))), r"not all in one plane"),
        (lambda: nndm(scattered(3), Places(np.ones(1), np.ones(1))), r"not all in one plane"),
        (lambda: matched_folds(scattered(9), Places(np.ones(1), np.ones(1)), 2), r"not all in one plane"),
        (lambda: nearest_other_fold(scattered(3), [0, 1]), r"folds has 2 values for 3 rows"),
        (lambda: nearest_other_fold(scattered(3), [0, 1, np.nan]), r"1 of 3 rows have no value in folds"),
        (lambda: applicability([[1.0], [2], [4]], [[1]], folds=[0, 1, np.nan]), r"1 of 3 rows have no value in folds"),
        (lambda: applicability([[1.0], [2], [4]], [[1]], folds=[0, 1]), r"folds has 2 values for 3 rows"),
        (lambda: applicability([[1.0], [2], [4]], [[1]], weights=[1, 1]), r"Invalid weights 1.0, 1.0 for 1 variables"),
        (lambda: applicability([[1.0], [2], [4]], [[1]], weights=[np.nan]), r"Invalid weights nan"),
        (lambda: applicability([[1.0], [2], [4]], [[1]], weights=[0]), r"Invalid weights 0.0 .*one above 0"),
        (lambda: mess([["a"]], [[1]]), r"A cell of reference is no number"),
        (lambda: mess([[1.0]], np.zeros((0, 1))), r"there must be rows"),
        (
            lambda: mess(pd.DataFrame({"a": [1.0], "b": 2}), pd.DataFrame({"a": [1.0], "c": 2})),
            r"rows have the variables a, c, and the reference a, b",
        ),
        (lambda: wasserstein(np.array([np.nan]), np.ones(1)), r"A distance is missing or infinite"),
        (lambda: variogram(scattered(40), np.arange(40.0), farthest=0), r"Invalid farthest 0"),
        (lambda: variogram(scattered(40), np.arange(40.0), farthest=np.nan), r"Invalid farthest nan"),
        (lambda: nndm(scattered(4), scattered(2), farthest=-1), r"Invalid farthest -1"),
        (lambda: fold_flags([[1, 2]], [[1, 2], [3, 4]]), r"shapes \(1, 2\) and \(2, 2\) are not of the same folds"),
        (lambda: fold_flags([[1, 2]], [[1, 2]], percent_nearer=[1, 2]), r"percent_nearer has the shape \(2,\) for 1"),
        (lambda: fold_counts([([0], [5])], ["a", "b"]), r"A fold names row 5, and y has 2 rows"),
        (lambda: fold_counts([([0], [1])], None), r"There is no y to count"),
    ],
)
def test_what_cannot_be_measured_is_refused_with_a_cure(call: Any, said: str) -> None:
    with pytest.raises(DataError, match=said):
        call()


# pictures, command


def test_pictures_show_what_was_found() -> None:
    places = scattered(400)
    field = field_with_range(50, 200, seed=3)
    found = suggest_size(places, {"warmth": value_at(field, places.east, places.north)})
    figure = Figure()
    axes = plot_variograms(figure.subplots(), found)
    assert axes.get_legend_handles_labels()[1] == ["warmth"]
    curves = distance_curves(
        places, QuadratKFold(4, grid=PlanarGrid(20_000)).split(places.points, groups=places.points), places
    )
    axes = plot_distance_curves(Figure().subplots(), curves, planar=True)
    assert len(axes.get_lines()) == 3


def table_on_disk(folder: Path) -> Path:
    field = field_with_range(20, 200, seed=3)
    plane = scattered(2_000)
    warmth = value_at(field, plane.east, plane.north)
    table = pd.DataFrame({"lon": 10 + plane.east / 73_000, "lat": 48 + plane.north / 111_200, "warmth": warmth})
    table.loc[5, "warmth"] = None
    table["place"] = "here"
    table.to_csv(folder / "table.csv", index=False)
    return folder / "table.csv"


def test_the_command_says_the_size_and_draws_it(tmp_path: Path) -> None:
    """The size is the library's for the rows that have a value; rows without are counted."""
    table, picture = table_on_disk(tmp_path), tmp_path / "range.png"
    result = CliRunner().invoke(suggest_size_command, [str(table), "--value", "warmth", "--plot", str(picture)])
    assert result.exit_code == 0, result.output
    assert "Use quadrats of " in result.stdout
    assert "1 of 2,000 rows have no number in warmth" in result.stderr
    assert picture.read_bytes()[:4] == b"\x89PNG"
    again = CliRunner().invoke(suggest_size_command, [str(table), "--value", "warmth", "--json"])
    answer = json.loads(again.stdout)
    assert answer["size_m"] == pytest.approx(24_000, rel=0.25)
    assert answer["variables"]["warmth"]["range_m"] <= answer["size_m"]
    assert (answer["n"], answer["n_without_value"]) == (1999, 1)


def test_the_command_reads_a_decimal_comma(tmp_path: Path) -> None:
    """In coordinates and values; without the option, the fault is one that a command can mend."""
    table = pd.read_csv(table_on_disk(tmp_path))
    table.to_csv(tmp_path / "comma.csv", sep=";", decimal=",", index=False)
    call = [str(tmp_path / "comma.csv"), "--value", "warmth"]
    plain = CliRunner().invoke(suggest_size_command, [str(table_on_disk(tmp_path)), "--value", "warmth"])
    assert CliRunner().invoke(suggest_size_command, [*call, "--decimal", ","]).stdout == plain.stdout
    refused = CliRunner().invoke(suggest_size_command, call)
    assert isinstance(refused.exception, DataError)
    assert "drop = " not in str(refused.exception)


def test_the_examples_of_the_page_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """And the command says about the same table what the page says."""
    page = (Path(__file__).parents[1] / "docs" / "validation.md").read_text("utf-8")
    names: dict[str, Any] = {}
    for example in re.findall(r"```python\n(.*?)```", page, re.DOTALL):
        exec(example, names)
    assert np.mean(names["scores"]) > 0
    assert capsys.readouterr().out.strip() in page
    names["table"].to_csv(tmp_path / "plots.csv", index=False)
    result = CliRunner().invoke(suggest_size_command, [str(tmp_path / "plots.csv"), "--value", "richness"])
    assert result.stdout.strip() in page


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--value", "wramth"], r"No column 'wramth'.*Did you mean 'warmth'"),
        (["--value", "place"], r"No row of table.csv has a number in place"),
    ],
)
def test_the_command_refuses_what_is_no_number(tmp_path: Path, options: list[str], said: str) -> None:
    result = CliRunner().invoke(suggest_size_command, [str(table_on_disk(tmp_path)), *options])
    assert isinstance(result.exception, DataError)
    with pytest.raises(DataError, match=said):
        raise result.exception
