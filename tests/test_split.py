"""Surveys + quadrats + draw → which survey is for what."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from spatialsplit.distances import geodesic_m
from spatialsplit.draw import DrawRules, Holdout, quadrat_number, quota
from spatialsplit.errors import DataError
from spatialsplit.occurrences import WideColumns
from spatialsplit.quadrats import Grid
from spatialsplit.split import EMPTY_IN_HOLDOUT, Assignment, Split, SplitRules, draw_public, split_surveys
from spatialsplit.surveys import SurveyRules, group_surveys
from tests.invariants import (
    check_each_survey_is_in_one_subset,
    check_no_quadrat_is_in_two_subsets,
    check_order_does_not_show,
)
from tests.record_tables import PA, read_pa, surveys_of, table_of
from tests.strategies import quick, words

HALF = DrawRules([Holdout("test", 0.4), Holdout("val", 0.3)])


def rows_of(n: int, more: str = "") -> list[str]:
    """Give surveys in n quadrats, 0.1 degrees apart."""
    return [f"p{i},{1 + k},{5 + 0.1 * i:.1f},45.0,{1 + k}{more}" for i in range(n) for k in range(1 + i % 3)]


def split_of(folder: Path, rows: list[str], header: str = PA, **rules: Any) -> Split:
    surveys, problems = surveys_of(table_of(folder, header, rows))
    assert problems == []
    rules = {"grid": Grid(), "draw": HALF, "seed": "s"} | rules
    return split_surveys(surveys, SplitRules(**rules))


def check_invariants(split: Split) -> None:
    check_each_survey_is_in_one_subset(split.table())
    check_no_quadrat_is_in_two_subsets(split.table())


@given(st.integers(6, 25), words, st.sampled_from(["quota", "threshold"]), st.sampled_from(["quadrats", "surveys"]))
@quick
def test_every_way_of_drawing_keeps_quadrats_whole(
    tmp_path_factory: pytest.TempPathFactory, n: int, seed: str, method: str, share_of: str
) -> None:
    """Each survey in one subset, no quadrat in two, and no survey lost."""
    assume((method, share_of) != ("threshold", "surveys"))
    rules = DrawRules([Holdout("test", 0.4), Holdout("val", 0.4)], method, share_of)
    try:
        split = split_of(tmp_path_factory.mktemp("t"), rows_of(n), draw=rules, seed=seed)
    except DataError:
        assume(False)
    check_invariants(split)
    assert split.table().num_rows == len(split.surveys) == sum(split.quadrats.n_surveys)


@pytest.mark.parametrize("more", [{}, {"attempts": 4}, {"strata": "region"}])
def test_the_order_of_the_rows_does_not_show(more: dict[str, Any], tmp_path: Path) -> None:
    """Neither in the draw, nor in its strata, nor in which attempt is best."""
    rows = [f"{row},{'ab'[i % 7 > 3]}" for i, row in enumerate(sorted(rows_of(15)))]
    rows = [row[:-1] + "ab"[int(row.split(",")[0][1:]) % 2] for row in rows]

    def make(shuffled: list[str]) -> Any:
        split = split_of(tmp_path, shuffled, PA + ",region", **more)
        check_invariants(split)
        return split.table().to_pylist(), split.quadrats.labels, split.quadrats.strata, split.draw.holdouts

    check_order_does_not_show(make, rows)


def test_each_quadrat_shows_its_numbers_and_counts(tmp_path: Path) -> None:
    """What `quadrats.csv` says: labels in code-point order, all surveys, and the numbers of each draw."""
    split = split_of(tmp_path, rows_of(9))
    labels = split.quadrats.labels
    assert labels == sorted(labels)
    assert split.numbers("test") == [f"{quadrat_number('s', 'test', label):016x}" for label in labels]
    assert split.quadrats.n_surveys.sum() == len(split.surveys)
    assert sorted(np.bincount(split.quadrat).tolist()) == sorted(split.quadrats.n_surveys.tolist())
    ranked = sorted(zip(split.numbers("test"), split.quadrats.subsets, strict=True))
    assert [subset == "test" for _, subset in ranked] == [True] * 4 + [False] * 5


class TestEmptySurveys:
    """True absence: it stays in train; a holdout cannot have it."""

    def split(self, folder: Path, **more: Any) -> Split:
        rows = [f"s{i},{5 + 0.1 * (i // 2):.1f},45.0,{i % 2},0" for i in range(20)]
        rows += ["lonely,9.0,45.0,0,0"]
        source = table_of(folder, "siteid,lon,lat,a,b", rows)
        table, _ = read_pa(source, keys=["siteid"], wide=WideColumns(["a", "b"]))
        surveys, _ = group_surveys(table, SurveyRules(["siteid"]))
        return split_surveys(surveys, SplitRules(Grid(), **({"draw": HALF, "seed": "s"} | more)))

    def test_they_leave_the_holdouts_and_stay_in_train(self, tmp_path: Path) -> None:
        """One in each quadrat: dropped in test and val, kept in train."""
        split = self.split(tmp_path)
        empty = split.surveys.n_species == 0
        of_quadrat = np.array(split.quadrats.subsets)[split.quadrat]
        assert (split.subset[empty & (of_quadrat == "train")] == "train").all()
        assert (split.subset[empty & (of_quadrat != "train")] == EMPTY_IN_HOLDOUT).all()
        assert EMPTY_IN_HOLDOUT not in split.table().column("subset").to_pylist()
        check_invariants(split)

    def test_a_quadrat_with_nothing_else_is_not_drawn(self, tmp_path: Path) -> None:
        """It is listed, belongs to the remainder, and does not count as occupied."""
        split = self.split(tmp_path)
        lonely = int(np.flatnonzero(split.quadrats.n_surveys == split.quadrats.n_empty)[0])
        assert split.quadrats.subsets[lonely] == "train"
        assert split.draw.holdouts[0].free == len(split.quadrats.labels) - 1

    def test_where_the_remainder_is_a_holdout_all_go(self, tmp_path: Path) -> None:
        """As in 2023, where what was left over was the validation."""
        split = self.split(tmp_path, draw=DrawRules([Holdout("test", 0.4)], remainder="val"))
        assert (split.subset[split.surveys.n_species == 0] == EMPTY_IN_HOLDOUT).all()

    def test_no_survey_with_a_species_is_an_error(self, tmp_path: Path) -> None:
        """There is nothing to draw from."""
        source = table_of(tmp_path, "siteid,lon,lat,a", ["x,5,45,0"])
        table, _ = read_pa(source, keys=["siteid"], wide=WideColumns(["a"]))
        surveys, _ = group_surveys(table, SurveyRules(["siteid"]))
        with pytest.raises(DataError, match="No survey has a species, so no quadrat can be drawn"):
            split_surveys(surveys, SplitRules(Grid(), HALF, "s"))


class TestStrata:
    """A quadrat's stratum is the commonest value of its surveys."""

    def test_by_an_attribute_or_a_key(self, tmp_path: Path) -> None:
        """The commonest, of equals the first by code point."""
        rows = ["a,1,5,45,1,x", "b,1,5,45,1,y", "c,1,5,45,1,y", "d,1,9,45,1,z", "e,1,9,45,1,Z", "f,1,13,45,1,q"]
        split = split_of(tmp_path, rows, PA + ",region", strata="region")
        by_label = dict(zip(split.quadrats.labels, split.quadrats.strata or [], strict=True))
        assert sorted(by_label.values()) == ["Z", "q", "y"]
        by_key = split_of(tmp_path, rows, PA + ",region", strata="dayOfYear")
        assert by_key.quadrats.strata == ["1", "1", "1"]

    def test_empty_surveys_have_a_say_only_among_themselves(self, tmp_path: Path) -> None:
        """They are not drawn, so they do not outvote those that are; where there are no others, they decide."""
        rows = ["a,5,45,1,z", "b,5,45,0,q", "c,5,45,0,q", "d,9,45,0,x", "e,13,45,1,z"]
        table, _ = read_pa(table_of(tmp_path, "siteid,lon,lat,s,region", rows), ["siteid"], wide=WideColumns(["s"]))
        surveys, _ = group_surveys(table, SurveyRules(["siteid"]))
        rules = SplitRules(Grid(), DrawRules([Holdout("test", 0.5)]), "s", strata="region")
        assert sorted(split_surveys(surveys, rules).quadrats.strata or []) == ["x", "z", "z"]

    def test_a_column_that_is_not_there_or_varies_is_refused(self, tmp_path: Path) -> None:
        """With the ones that can be used."""
        rows = [*rows_of(8, ",x"), "p1,1,5.1,45.0,9,y"]
        with pytest.raises(DataError, match=r"strata column 'biome' is not there.*Columns that do: patchID, dayOfYear"):
            split_of(tmp_path, rows, PA + ",region", strata="biome")
        with pytest.raises(DataError, match="strata column 'region' varies inside surveys"):
            split_of(tmp_path, rows, PA + ",region", strata="region")


class TestAssignments:
    """Quadrats that are assigned beforehand."""

    def test_a_complete_one_is_taken_as_it_is(self, tmp_path: Path) -> None:
        """What is not listed belongs to the remainder, and nothing is drawn."""
        labels = split_of(tmp_path, rows_of(9)).quadrats.labels
        wanted = {labels[0]: "test", labels[1]: "val"}
        split = split_of(tmp_path, rows_of(9), assignment=Assignment(wanted, complete=True))
        assert split.quadrats.subsets == ["test", "val"] + ["train"] * 7
        check_invariants(split)

    def test_an_earlier_release_is_extended(self, tmp_path: Path) -> None:
        """Its quadrats stay, only new ones are drawn."""
        old = split_of(tmp_path, rows_of(9))
        known = dict(zip(old.quadrats.labels, old.quadrats.subsets, strict=True))
        new = split_of(tmp_path, rows_of(20), assignment=Assignment(known, complete=False))
        subset_of = dict(zip(new.quadrats.labels, new.quadrats.subsets, strict=True))
        assert {label: subset_of[label] for label in known} == known
        assert new.draw.holdouts[0].free == 11
        check_invariants(new)

    def test_one_without_a_quadrat_for_a_holdout_is_refused(self, tmp_path: Path) -> None:
        """Perhaps its labels are of another grid."""
        with pytest.raises(DataError, match=r"old\.csv gives no occupied quadrat to the holdout 'test'"):
            split_of(tmp_path, rows_of(9), assignment=Assignment({"x": "test"}, complete=True, where="old.csv"))

    def test_one_with_an_unknown_subset_is_refused(self, tmp_path: Path) -> None:
        """Before anything is drawn."""
        with pytest.raises(DataError, match=r"Unknown subsets in old\.csv: dev\. Known: test, val, train"):
            split_of(tmp_path, rows_of(9), assignment=Assignment({"x": "dev"}, complete=False, where="old.csv"))


@given(st.sets(words, min_size=2, max_size=20), st.floats(0.05, 0.95), words)
@quick
def test_the_public_side_is_drawn_under_the_name_public(labels: set[str], share: float, seed: str) -> None:
    """The first of the test quadrats by number; neither side may be empty."""
    k = quota(share, len(labels))
    if not 0 < k < len(labels):
        with pytest.raises(DataError, match=r"The (public|private) side of the leaderboard is empty"):
            draw_public(sorted(labels), share, seed)
        return
    expected = sorted(labels, key=lambda label: (quadrat_number(seed, "public", label), label))[:k]
    assert draw_public(sorted(labels), share, seed) == set(expected)


def test_a_point_without_a_quadrat_stops_the_split(tmp_path: Path) -> None:
    """The grid of 2022 has none south of the equator."""
    from spatialsplit.quadrats import grid_named

    with pytest.raises(DataError, match="ends at the equator"):
        split_of(tmp_path, ["a,1,5,-45,1"], grid=grid_named("glc2022"))


def test_a_split_is_an_index_pair_with_a_buffer_if_asked(tmp_path: Path) -> None:
    """Training surveys within the buffer of a tested one are on no side; the test is the same."""
    split = split_of(tmp_path, rows_of(20))
    lon, lat = split.surveys.lon, split.surveys.lat
    ((train, test),) = split.indices(test="test", train=["train", "val"])
    apart = np.array([geodesic_m(lon[test], lat[test], *np.full((2, test.size), [[lon[i]], [lat[i]]])) for i in train])
    ((kept, tested),) = split.indices(test="test", train=["train", "val"], buffer_m=10_000)
    assert tested.tolist() == test.tolist() == split.in_subset("test").tolist()
    assert kept.tolist() == train[apart.min(axis=1) > 10_000].tolist()
    assert 0 < kept.size < train.size
    assert [each.tolist() for each in split.indices(train="train")[0]] == [
        split.in_subset("train").tolist(),
        split.in_subset("val").tolist(),
    ]
    with pytest.raises(DataError, match=r"buffer of 1e\+06 m round 'test' leaves no row to train on"):
        split.indices(test="test", buffer_m=1_000_000)
