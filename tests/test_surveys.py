"""A survey is what its keys say it is; its number tells nothing, and the order of the rows does not show."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spatialsplit.errors import DataError
from spatialsplit.surveys import SurveyRules, Surveys, survey_number
from tests.invariants import check_order_does_not_show
from tests.record_tables import PA, survey_rows, surveys_of, table_of
from tests.strategies import quick

row = st.builds(
    lambda patch, day, place, species, note: f"{patch},{day},{place},{species},{note}",
    st.sampled_from(["a", "b", "é", "a|1", "B"]),
    st.integers(1, 3),
    st.sampled_from(["5.0,45.0", "5.000001,45.0", "6.0,46.5"]),
    st.integers(1, 4),
    st.sampled_from(["x", "y", ""]),
)


def label_records(surveys: Surveys) -> pa.Table:
    """Give the further columns of the rows that stand for the labels."""
    return surveys.records.take(pa.array(surveys.label_row))


@pytest.mark.parametrize("keys", [["a", "10"], ["é|", "1"], ["only"], ["", ""]])
def test_a_number_is_the_hash_of_the_keys(keys: list[str]) -> None:
    """First 8 bytes, big-endian, of SHA-256 of `survey|key1|key2`."""
    digest = hashlib.sha256("|".join(["survey", *keys]).encode()).hexdigest()
    assert f"{survey_number(keys):016x}" == digest[:16]


def test_surveys_are_numbered_from_1_in_the_order_of_their_hashes(tmp_path: Path) -> None:
    """By hashlib here; the table is sorted by number."""
    keys = [(f"p{i}", str(i + 1)) for i in range(50)]
    surveys, _ = surveys_of(table_of(tmp_path, PA, [f"{patch},{day},5,45,1" for patch, day in keys]))
    expected = sorted(keys, key=lambda key: hashlib.sha256(f"survey|{key[0]}|{key[1]}".encode()).digest()[:8])
    assert [(row["id"], row["patchID"], row["dayOfYear"]) for row in survey_rows(surveys)] == [
        (number, *key) for number, key in enumerate(expected, start=1)
    ]


def test_keys_that_hash_alike_are_told_apart_by_the_keys(tmp_path: Path) -> None:
    """`a|1` and `1` give the text of `a` and `1|1`: two surveys, in the order of their keys."""
    rows = ["a|1,1,5,45,1", "a,1|1,5,45,2"]
    surveys, _ = surveys_of(table_of(tmp_path, "k,l,lon,lat,speciesId", rows), SurveyRules(["k", "l"]))
    assert survey_number(["a|1", "1"]) == survey_number(["a", "1|1"])
    assert [(row["id"], row["k"], row["species"]) for row in survey_rows(surveys)] == [(1, "a", [2]), (2, "a|1", [1])]


@pytest.mark.parametrize("coordinates", ["first", "mean"])
@given(rows=st.lists(row, min_size=1, max_size=25))
@quick
def test_the_order_of_the_rows_does_not_show(
    tmp_path_factory: pytest.TempPathFactory, coordinates: str, rows: list[str]
) -> None:
    """Numbers, places, attributes, labels and counts, whatever rule there is for coordinates."""
    folder = tmp_path_factory.mktemp("rows")

    def make(shuffled: list[str]) -> Any:
        source = table_of(folder, PA + ",note", shuffled)
        surveys, problems = surveys_of(source, SurveyRules(coordinates=coordinates))
        labels = label_records(surveys).to_pylist()
        return survey_rows(surveys), labels, surveys.dropped_counts, surveys.varying, problems

    check_order_does_not_show(make, rows)


@given(st.lists(row, min_size=1, max_size=25))
@quick
def test_species_are_sorted_sets_and_duplicates_are_counted(
    tmp_path_factory: pytest.TempPathFactory, rows: list[str]
) -> None:
    """A row of a survey and species counts once; rows in are labels and duplicates."""
    source = table_of(tmp_path_factory.mktemp("rows"), PA + ",note", rows)
    surveys, _ = surveys_of(source, SurveyRules(coordinates="first"))
    expected: dict[tuple[str, str], set[int]] = {}
    for line in rows:
        patch, day, *_, species, _ = line.split(",")
        expected.setdefault((patch, day), set()).add(int(species))
    found = {(row["patchID"], row["dayOfYear"]): row["species"] for row in survey_rows(surveys)}
    assert found == {key: sorted(species) for key, species in expected.items()}
    assert len(surveys.label_survey) + surveys.dropped_counts.get("duplicate", 0) == len(rows)


def test_of_duplicate_rows_the_first_in_code_point_order_is_kept(tmp_path: Path) -> None:
    """Of the whole row, in the order of the header; capital letters stand before small ones."""
    rows = ["b,a,1,5,45,1,z", "B,a,1,5,45,1,y", "b,a,1,5,45,1,A"]
    surveys, _ = surveys_of(table_of(tmp_path, "note," + PA + ",more", rows))
    assert label_records(surveys).to_pylist() == [{"note": "B", "more": "y"}]


def test_names_are_sorted_by_code_point(tmp_path: Path) -> None:
    """As the contract numbers them."""
    rows = [f"a,1,5,45,{name}" for name in ("Ábies", "abies", "Zea", "Abies")]
    surveys, _ = surveys_of(table_of(tmp_path, PA, rows))
    assert survey_rows(surveys)[0]["species"] == ["Abies", "Zea", "abies", "Ábies"]


def test_what_varies_inside_a_survey_is_no_attribute_of_it(tmp_path: Path) -> None:
    """Listed as varying; a missing value beside a value varies too."""
    rows = ["a,1,5,45,1,x,p,", "a,1,5,45,2,x,q,r", "b,2,6,45,1,y,p,s"]
    surveys, _ = surveys_of(table_of(tmp_path, PA + ",same,other,some", rows))
    assert surveys.attributes.column_names == ["same"]
    assert surveys.varying == ["other", "some"]
    assert label_records(surveys).column_names == ["same", "other", "some"]


def test_a_survey_in_two_places_is_refused_with_the_first_offenders(tmp_path: Path) -> None:
    """Which, where, and the ways out."""
    source = table_of(tmp_path, PA, ["a,1,5.0,45.0,1", "a,1,5.1,45.0,2", "b,2,6,45,1"])
    _, (problem,) = surveys_of(source)
    assert "Survey with more than one place in 1 of 2 surveys of pa.csv" in problem
    assert "patchID a dayOfYear 1 at (5.0, 45.0) and (5.1, 45.0)" in problem
    assert 'coordinates = "first" or "mean" under [surveys]' in problem
    surveys, problems = surveys_of(source, drop=["survey_coordinates"])
    assert (problems, len(surveys), surveys.dropped_counts) == ([], 1, {"survey_coordinates": 2})


@pytest.mark.parametrize(
    ("coordinates", "places", "expected"),
    [
        ("first", ["5.0,45.0", "4.5,46.0"], (4.5, 46.0)),
        ("mean", ["5.0,45.0", "5.1,45.0", "5.2,45.3"], (5.1, 45.1)),
        ("mean", ["179.9,0", "-179.9,0"], (180.0, 0.0)),
        ("mean", ["179.9,0", "-179.8,0"], (-179.95, 0.0)),
    ],
)
def test_a_survey_in_several_places_can_have_one_by_rule(
    coordinates: str, places: list[str], expected: tuple[float, float], tmp_path: Path
) -> None:
    """The place of the first row by code point, or the mean, which knows the antimeridian."""
    source = table_of(tmp_path, PA, [f"a,1,{place},{i}" for i, place in enumerate(places)])
    surveys, problems = surveys_of(source, SurveyRules(coordinates=coordinates))
    assert problems == []
    assert (surveys.lon[0], surveys.lat[0]) == pytest.approx(expected, abs=1e-9)


def test_two_years_in_one_survey_name_the_cure(tmp_path: Path) -> None:
    """Year by column or by date; not where the keys tell them apart."""
    source = table_of(tmp_path, PA + ",year", ["a,1,5,45,1,2020", "a,1,5,45,2,2021", "b,1,5,45,2,"])
    _, (problem,) = surveys_of(source)
    assert "merges more than one year in 1 of 2 surveys" in problem
    assert "patchID a dayOfYear 1 in 2020 and 2021" in problem
    assert 'keys = ["patchID", "year", "dayOfYear"]' in problem
    assert surveys_of(source, SurveyRules(["patchID", "dayOfYear"]), drop=["survey_years"])[1] == []
    told = table_of(tmp_path, PA + ",year", ["a,1,5,45,1,2020", "a,1,5,45,2,2021"], name="told.csv")
    assert len(surveys_of(told, SurveyRules(["patchID", "year", "dayOfYear"]))[0]) == 2


def test_gaps_stay_where_surveys_are_dropped(tmp_path: Path) -> None:
    """All are numbered first, so that a number does not depend on what is dropped."""
    rows = [f"p{i},1,5,45,1" for i in range(9)]
    whole, _ = surveys_of(table_of(tmp_path, PA, rows))
    some, _ = surveys_of(table_of(tmp_path, PA, [*rows, "p3,1,6,45,2"]), drop=["survey_coordinates"])
    names = {row["patchID"]: row["id"] for row in survey_rows(whole)}
    assert {row["patchID"]: row["id"] for row in survey_rows(some)} == {k: v for k, v in names.items() if k != "p3"}


def test_an_inputs_own_numbers_are_kept(tmp_path: Path) -> None:
    """With the key `surveyId`, and where a layout says so."""
    for key, rules in (("surveyId", SurveyRules(["surveyId"])), ("n", SurveyRules(["n"], own_numbers=True))):
        source = table_of(tmp_path, f"{key},lon,lat,speciesId", ["70,5,45,1", "7,5,45,2", "70,5,45,3"])
        surveys, _ = surveys_of(source, rules)
        assert [(row["id"], row["species"]) for row in survey_rows(surveys)] == [(7, [2]), (70, [1, 3])]


@pytest.mark.parametrize("number", ["x", "-1", "1.5", "9" * 19, "٣"])
def test_an_own_number_that_is_none_is_refused(number: str, tmp_path: Path) -> None:
    """It must fit 64 bits with room to spare."""
    source = table_of(tmp_path, "surveyId,lon,lat,speciesId", [f"{number},5,45,1"])
    with pytest.raises(DataError, match=r"Invalid surveyId '.*'\. A survey's own number is a whole number from 0"):
        surveys_of(source, SurveyRules(["surveyId"]))


def test_one_own_number_written_in_two_ways_is_refused(tmp_path: Path) -> None:
    """They would be two surveys with one number."""
    source = table_of(tmp_path, "surveyId,lon,lat,speciesId", ["7,5,45,1", "07,6,45,1"])
    with pytest.raises(DataError, match=r"The surveyId 7 is written in 2 ways: 07, 7"):
        surveys_of(source, SurveyRules(["surveyId"]))


@pytest.mark.parametrize(
    ("keys", "coordinates", "said"),
    [
        ([], "error", r"Invalid keys \[\]\. A survey needs at least one"),
        (["a", "b", "a"], "error", r"Invalid keys .*\. a stands there twice"),
        (["a"], "median", r"Unknown coordinates rule 'median'\. Known: error, first, mean"),
    ],
)
def test_impossible_rules_are_refused(keys: list[str], coordinates: str, said: str) -> None:
    """Before any table is read."""
    with pytest.raises(DataError, match=said):
        SurveyRules(keys, coordinates)
