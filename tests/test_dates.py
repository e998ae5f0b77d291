"""Dates as people write them → days, or why there is none."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from spatialsplit.errors import DataError, RecipeError
from spatialsplit.occurrences.dates import FROM_EPOCH, NO_SUCH_DAY, NOT_ISO, SEVERAL_YEARS, DateRules, read_days
from spatialsplit.recipe import parse_recipe
from spatialsplit.tables import TableInput
from tests.real_data import data_folder
from tests.record_tables import faults_of, read_pa, table_of

GLC23 = "glc23_sample/Presence_Absences_occurrences/Presences_Absences_train_sample.csv"


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("2021-02-01", 2021032),
        ("2021-02-01T10:30", 2021032),
        ("2021-02-01T10:30:00.000Z", 2021032),
        ("2021-02-01 00:00:00", 2021032),
        ("2021-02", 2021000),
        ("2021-13", NOT_ISO),
        ("2021", 2021000),
        ("0000", NOT_ISO),
        ("2021-02-01/2021-02-01", 2021032),
        ("2021-02-01T08:00/2021-02-01T09:00", 2021032),
        ("1994-04-05/1994-04-12", 1994000),
        ("1994-04-05/12", 1994000),
        ("1994-04-05/05", 1994095),
        ("1994-04-05/05-02", 1994000),
        ("1994-12-30/1995-01-02", SEVERAL_YEARS),
        ("1994-04-05T00:00:00/1994-04-12T00:00:00", 1994000),
        ("1994-04-05 08:00/1994-04-12 09:00", 1994000),
        ("1994-04-05T08:00/12T09:00", 1994000),
        ("1994-04-05T08:00/05T09:00", 1994095),
        ("1994-04-05T08:00Z/09:30Z", 1994095),
        ("1994-04-05/1994-04-12/1994-04-20", NOT_ISO),
        ("/" * 5000, NOT_ISO),
        ("1994/1994", 1994000),
        ("1994-04-05/", NOT_ISO),
        ("1994-02-30/1994-03-01", NO_SUCH_DAY),
        ("2021-02-30", NO_SUCH_DAY),
        ("1.2.2021", NOT_ISO),
        ("1612134000", NOT_ISO),
        ("", 0),
    ],
)
def test_a_day_comes_from_one_full_day_only(text: str, code: int) -> None:
    """Months, years and ranges tell the year at most; what is not declared is not read."""
    assert DateRules().code(text) == code


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("1.2.2021", 2021032),
        ("01/02/2021", 2021032),
        ("1-2-2021 12:00", 2021032),
        ("2021-02-01", 2021032),
        ("31.04.2021", NO_SUCH_DAY),
        ("1.2/2021", NOT_ISO),
        ("1.2.21", NOT_ISO),
    ],
)
def test_day_first_dates_are_read_where_they_are_declared(text: str, code: int) -> None:
    """The third of April and not the fourth of March; with four digits of the year; ISO days as ever."""
    assert DateRules(day_first=True).code(text) == code


@pytest.mark.parametrize(
    ("text", "zone", "code"),
    [
        ("1612134000", "Europe/Paris", FROM_EPOCH + 2021032),
        ("1612134000", "UTC", FROM_EPOCH + 2021031),
        ("1612134000.0", "Europe/Paris", FROM_EPOCH + 2021032),
        ("-86400", "UTC", FROM_EPOCH + 1969365),
        ("20210201", "UTC", NOT_ISO),
        ("-99999999999", "UTC", NO_SUCH_DAY),
    ],
)
def test_seconds_make_a_day_in_the_declared_zone(text: str, zone: str, code: int) -> None:
    """Midnight in Paris is the day before in UTC; eight digits could be a day and are not taken for seconds."""
    assert DateRules(time_zone=zone).code(text) == code


def test_a_zone_that_nobody_knows_is_refused() -> None:
    """When the rules are made, and in the recipe with its section."""
    with pytest.raises(DataError, match="Unknown time zone 'Europe/Pairs'"):
        DateRules(time_zone="Europe/Pairs")
    recipe = {"name": "t", "seed": "s", "inputs": {"pa": {"path": "a", "time_zone": "Europe/Pairs"}}}
    with pytest.raises(RecipeError, match=r"\[inputs.pa\]: Unknown time zone"):
        parse_recipe(recipe | {"holdouts": [{"name": "test", "share": 0.5}]})


def test_a_range_is_counted_and_agrees_with_its_year_only() -> None:
    """It has no day to compare, but another year contradicts it."""
    dates = pa.array(["1994-04-05/1994-04-12"] * 3)
    days = read_days(3, dates, pa.array(["1994", "1995", ""]), pa.array(["300", "", ""]))
    assert days.no_single_day == 3
    assert (days.reasons != 0).tolist() == [False, True, False]
    assert days.day_of_year.tolist() == [300, 0, 0]


def test_a_range_over_new_year_is_counted_too() -> None:
    """It tells neither day nor year, and is no date that cannot be read."""
    days = read_days(1, pa.array(["1994-12-30/1995-01-02"]), pa.array(["1994"]), None)
    assert (days.no_single_day, days.not_iso, days.reasons.tolist(), days.years.tolist()) == (1, 0, [0], [1994])


class TestTheGeoLifeCLEF2023Sample:
    """70 ISO days and 30 times in seconds, of which the file says no zone."""

    def read(self, zone: str | None) -> tuple[list[str], dict[str, int]]:
        source = TableInput(data_folder() / GLC23)
        table, problems = read_pa(source, dates=DateRules(time_zone=zone), floats=True)
        return problems, table.reader.suspicions

    def test_all_agree_in_paris(self) -> None:
        assert self.read("Europe/Paris") == ([], {})

    def test_none_of_the_thirty_agrees_in_utc_and_the_zone_is_doubted(self) -> None:
        problems, _ = self.read("UTC")
        assert "Contradicting date in 30 of 100 rows" in problems[0]
        assert (
            '30 of them are seconds since 1970 that miss their dayOfYear by one day: is time_zone = "UTC"'
            in problems[0]
        )

    def test_without_a_zone_they_are_counted_and_not_read(self) -> None:
        assert self.read(None) == ([], {"date_not_iso": 30})


class TestKeysFromDates:
    """A survey's day where the file has a date and no dayOfYear."""

    HEADER = "patchID,eventDate,lon,lat,speciesId"

    def test_day_and_year_come_from_the_date(self, tmp_path: Path) -> None:
        source = table_of(tmp_path, self.HEADER, ["a,2021-02-01,5,45,1", "a,2021-02-01T10:00,5,45,2"])
        table, problems = read_pa(source, ("patchID", "year", "dayOfYear"))
        assert problems == []
        assert [key.to_pylist() for key in table.keys] == [["a"] * 2, ["2021"] * 2, ["32"] * 2]

    def test_a_range_makes_no_key(self, tmp_path: Path) -> None:
        source = table_of(tmp_path, self.HEADER, ["a,2021-02-01,5,45,1", "a,2021-02-01/2021-02-03,5,45,2"])
        (problem,) = faults_of(source)
        assert "Missing survey key in 1 of 2 rows" in problem
        assert "date 2021-02-01/2021-02-03" in problem

    def test_without_a_date_the_key_is_asked_for(self, tmp_path: Path) -> None:
        (problem,) = faults_of(table_of(tmp_path, "patchID,lon,lat,speciesId", ["a,5,45,1"]))
        assert "No column 'dayOfYear'" in problem
