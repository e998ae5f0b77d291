"""A row is fine or it has a reason with a name; nothing is repaired, nothing is lost, and one look shows all faults."""

from __future__ import annotations

import datetime as dt
import decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spatialsplit.errors import DataError
from spatialsplit.occurrences import DROPPABLE, RecordReader, RecordRules, SpeciesReader, WideColumns
from spatialsplit.occurrences.cells import LARGEST_INTEGER, cell_texts, judge_key
from spatialsplit.occurrences.coordinates import FOUND, MISSING, NO_NUMBER, parse_numbers, read_places
from spatialsplit.occurrences.dates import read_days
from spatialsplit.occurrences.faults import CODES, REASONS
from tests.record_tables import PA, faults_of, parquet_of, po_reader, read_pa, table_of
from tests.strategies import cells, quick

GOOD = "a,10,5.0,45.0,1"


class TestCoordinates:
    """Cells become published places, or there is a reason."""

    def test_decimal_commas_are_named(self, tmp_path: Path) -> None:
        """The message says which key of the recipe helps, and keeps silent where something else is wrong."""
        (problem,) = faults_of(table_of(tmp_path, "patchID;dayOfYear;lon;lat;speciesId", ["a;10;5,5;45,1;1"]))
        assert 'They have a decimal comma: say decimal = "," under [inputs.pa].' in problem
        (problem,) = faults_of(table_of(tmp_path, "patchID;dayOfYear;lon;lat;speciesId", ["a;10;5.5;45,x;1"]))
        assert "decimal" not in problem

    @given(st.lists(st.floats(), min_size=1))
    @quick
    def test_a_number_is_read_as_python_reads_it(self, numbers: list[float]) -> None:
        """From text and from a column of numbers; NaN is a missing one."""
        for array in (pa.array([repr(number) for number in numbers]), pa.array(numbers)):
            values, states = parse_numbers(array)
            np.testing.assert_array_equal(values, np.array(numbers))
            assert states.tolist() == [MISSING if np.isnan(number) else FOUND for number in numbers]

    @pytest.mark.parametrize(
        ("text", "value"),
        [("+1.5", 1.5), (" 1.5 ", 1.5), ("1.", 1), (".5", 0.5), ("-5e-1", -0.5), ("1e400", np.inf), ("-inf", -np.inf)],
    )  # fmt: skip
    @pytest.mark.parametrize("beside", ["1", "", "x"])
    def test_ways_to_write_a_number(self, text: str, value: float, beside: str) -> None:
        """The same whatever stands in the other rows of the batch."""
        values, states = parse_numbers(pa.array([text, beside]))
        assert (values[0], states[0]) == (value, FOUND)

    @pytest.mark.parametrize("text", ["", " ", "NA", "nan", "NULL", "None", "n/a", None])
    def test_ways_to_say_that_there_is_none(self, text: str | None) -> None:
        """In any case, alone and beside others."""
        for beside in ("1", "x"):
            assert parse_numbers(pa.array([text, beside], pa.string()))[1][0] == MISSING

    @pytest.mark.parametrize("text", ["1,5", "1 5", "x", "0x10", "1_000", "٣", "--1", "1e", "12°"])
    def test_what_is_no_number(self, text: str) -> None:
        """Not guessed at: a decimal comma, a hexadecimal, another script."""
        assert parse_numbers(pa.array([text, "1"]))[1].tolist() == [NO_NUMBER, FOUND]

    @pytest.mark.parametrize(
        ("cells", "values"),
        [
            (pa.array([5, None], pa.int32()), [5, None]),
            (pa.array([2**62 + 1]), [float(2**62)]),
            (pa.array([2**64 - 1], pa.uint64()), [float(2**64)]),
            (pa.array([0.5], pa.float32()), [0.5]),
            (pa.array([decimal.Decimal("1.50"), None]), [1.5, None]),
            (pa.nulls(2), [None, None]),
        ],
    )
    def test_columns_of_every_kind_of_number(self, cells: pa.Array, values: list[float | None]) -> None:
        """From Parquet: whole, large, short, decimal, or nothing at all."""
        found, states = parse_numbers(cells)
        assert [None if state == MISSING else value for value, state in zip(found, states, strict=True)] == values

    @pytest.mark.parametrize("cells", [pa.array([dt.date(2020, 1, 1)]), pa.array([True])])
    def test_days_and_yes_or_no_are_no_numbers(self, cells: pa.Array) -> None:
        """They end as a fault of the row and not of the library."""
        assert parse_numbers(cells)[1].tolist() == [NO_NUMBER]

    @pytest.mark.parametrize(
        ("lon", "lat", "reason"),
        [
            ("180", "90", "fine"),
            ("-180", "-90", "fine"),
            ("180.0000001", "0", "bad_longitude"),
            ("0", "90.0000001", "bad_latitude"),
            ("0", "91", "bad_latitude"),
            ("181", "91", "bad_latitude"),
            ("inf", "0", "bad_longitude"),
            ("0", "-inf", "bad_latitude"),
            ("0", "1e400", "bad_latitude"),
            ("nan", "0", "missing_coordinate"),
            ("", "91", "missing_coordinate"),
            ("0", "x", "bad_latitude"),
        ],
    )
    def test_reasons_of_degrees(self, lon: str, lat: str, reason: str) -> None:
        """A missing one goes before a bad one, a latitude before a longitude; the edges are inside."""
        places = read_places(pa.array([lon, "5"]), pa.array([lat, "45"]))
        assert [REASONS[code] for code in places.reasons] == [reason, "fine"]
        assert np.isnan(places.lon[0]) == (reason != "fine")
        assert (places.lon[1], places.lat[1]) == (5, 45)

    @given(st.floats(-180, 180), st.floats(-90, 90), st.integers(0, 10))
    @quick
    def test_places_are_rounded_to_what_is_published(self, lon: float, lat: float, decimals: int) -> None:
        """`numpy.round`, here and nowhere later; None leaves them."""
        arrays = pa.array([lon]), pa.array([lat])
        places = read_places(*arrays, decimals=decimals)
        assert (places.lon[0], places.lat[0]) == (np.round(lon, decimals), np.round(lat, decimals))
        assert read_places(*arrays, decimals=None).lon[0] == lon

    def test_another_crs_is_transformed_and_what_lies_outside_it_is_told(self) -> None:
        """Swiss coordinates; and a place that no projection gives."""
        places = read_places(pa.array(["600000", "1e30"]), pa.array(["200000", "1e30"]), "EPSG:21781")
        assert (places.lon[0], places.lat[0]) == (pytest.approx(7.43864, abs=1e-4), pytest.approx(46.95108, abs=1e-4))
        assert places.reasons.tolist() == [0, CODES["unprojectable"]]


class TestCells:
    """Keys, species and days."""

    @pytest.mark.parametrize(
        ("cells", "texts"),
        [
            (pa.array([7.0, None, 2.5, np.nan, np.inf]), ["7", "", "2.5", "", "inf"]),
            (pa.array([0.1], pa.float32()), ["0.1"]),
            (pa.array([" x ", None, "\u00a0y"]), ["x", "", "y"]),
            (pa.array([2**64 - 1], pa.uint64()), ["18446744073709551615"]),
            (pa.array([True, None]), ["true", ""]),
            (pa.array([dt.date(2024, 2, 29)]), ["2024-02-29"]),
            (pa.array([decimal.Decimal("1.50")]), ["1.50"]),
            (pa.nulls(1), [""]),
        ],
    )
    def test_every_kind_of_cell_has_a_text(self, cells: pa.Array, texts: list[str]) -> None:
        """Trimmed; whole numbers in a float column without a point; missing ones empty."""
        assert cell_texts(cells).to_pylist() == texts

    @pytest.mark.parametrize(
        ("text", "reason"),
        [("1", "fine"), ("366", "fine"), ("", "missing_key"), ("0", "bad_key"), ("367", "bad_key"), ("12.0", "bad_key"),
         ("007", "bad_key"), ("-1", "bad_key"), ("1٣", "bad_key")],
    )  # fmt: skip
    def test_a_day_of_year_is_a_whole_number_from_1_to_366(self, text: str, reason: str) -> None:
        """As a key it would else name surveys that are no days."""
        assert REASONS[judge_key("dayOfYear")(text)] == reason

    @given(cells)
    @quick
    def test_any_text_can_be_a_key(self, text: str) -> None:
        """Only nothing cannot."""
        assert judge_key("patchID")(text) == (0 if text else CODES["missing_key"])

    @pytest.mark.parametrize(
        ("text", "reason"),
        [("0", "fine"), ("007", "fine"), (str(LARGEST_INTEGER), "fine"), (str(LARGEST_INTEGER + 1), "bad_species"),
         ("9" * 5000, "bad_species"), ("-1", "bad_species"), ("6310.0", "bad_species"), ("1e3", "bad_species"),
         ("", "missing_species"), ("NA", "missing_species"), ("Abies", "bad_species"), ("٣", "bad_species")],
    )  # fmt: skip
    def test_a_species_number_is_a_whole_one_that_64_bits_hold(self, text: str, reason: str) -> None:
        """Any other is a fault of the row, however long it is and in whatever script."""
        assert REASONS[SpeciesReader("integer").judge(text)] == reason

    def test_a_text_6310_point_0_is_6310_only_in_geolifeclefs_later_files(self) -> None:
        """Elsewhere it is refused with a hint."""
        plain, late = SpeciesReader("integer"), SpeciesReader("integer", floats=True)
        assert REASONS[plain.judge("6310.0")] == "bad_species"
        assert "They were whole numbers once (a float column)" in next(iter(plain.hints))
        assert late.number("6310.0") == late.number("6310.") == 6310
        assert late.number("6310.5") is None

    @pytest.mark.parametrize(
        ("texts", "kind"),
        [(["1", "2"], "integer"), (["Abies", "Fagus"], "text"), (["1", "Abies"], "integer"), ([], "integer")],
    )
    def test_species_are_all_numbers_or_all_names(self, texts: list[str], kind: str) -> None:
        """A mix is settled as numbers, so that the names are told."""
        reader = SpeciesReader()
        reader.settle(pa.array(texts, pa.string()))
        assert reader.kind == kind

    def test_a_number_among_names_is_refused(self) -> None:
        """The presence-only table follows the presence-absence table."""
        reader = SpeciesReader("text")
        assert REASONS[reader.judge("12")] == "bad_species"
        assert reader.hints == {"Names and numbers are mixed."}

    @pytest.mark.parametrize(
        ("date", "year", "day", "wrong"),
        [
            ("2021-02-01", "", "32", False),
            ("2021-02-01", "", "33", True),
            ("2021-02-01", "2022", "32", True),
            ("2021-02-01T10:00", "2021.0", "32.0", False),
            ("2021-02-30", "", "", True),
            ("1612137600", "", "32", False),
            ("", "2023", "366", True),
            ("", "2024", "366", False),
            ("", "1900", "366", True),
            ("", "2000", "366", False),
            ("", "", "366", False),
            ("", "", "367", True),
            ("", "", "0", True),
            ("", "", "x", True),
            ("", "", "NA", False),
            ("2020-12-31", "", "366", False),
            ("0000-01-01", "", "", True),
        ],
    )
    def test_date_year_and_day_of_year_must_agree(self, date: str, year: str, day: str, wrong: bool) -> None:
        """366 is a day in leap years only; a date that is no ISO day is not compared."""
        days = read_days(1, pa.array([date]), pa.array([year]), pa.array([day]))
        assert bool(days.reasons[0]) == wrong

    @given(st.dates(dt.date(1600, 1, 1)))
    @quick
    def test_every_day_agrees_with_itself(self, day: dt.date) -> None:
        """By date, year and number, for all calendars' corners."""
        number = str(day.timetuple().tm_yday)
        days = read_days(1, pa.array([day.isoformat()]), pa.array([str(day.year)]), pa.array([number]))
        assert (days.reasons[0], days.years[0]) == (0, day.year)


class TestMessages:
    """What a person reads of a faulty table."""

    @pytest.mark.parametrize(
        ("rows", "said"),
        [
            (["a,10,5,91,1"], "1 of 2 rows of pa.csv (first: line 3: 91). Latitudes lie in [-90, 90]. Correct"),
            (["a,10,200,45,1"], "longitude in 1 of 2 rows of pa.csv (first: line 3: 200). Longitudes lie in [-180"),
            (["a,10,nan,45,1"], "Missing coordinate in 1 of 2 rows of pa.csv (first: line 3: lon nan lat 45)"),
            (["a,10,5,inf,1"], "Invalid latitude in 1 of 2 rows of pa.csv (first: line 3: inf)"),
            ([",10,5,45,1"], "Missing survey key in 1 of 2 rows of pa.csv (first: line 3: patchID empty dayOfYear 10)"),
            (["a,400,5,45,1"], "Invalid survey key in 1 of 2 rows"),
            (["a,10,5,45,"], "Missing species in 1 of 2 rows of pa.csv (first: line 3: empty)"),
            (["a,10,5,45,6310.0"], 'say layout = "glc2023" or later if the file is GeoLifeCLEF'),
            (["a,10,5,45,Abies"], "Names and numbers are mixed."),
            (["", "a,10,5,91,1"], "line 4: 91"),
            (['"a\nb",10,5,91,1'], "line 3: 91"),
            (["a,10,100,95,1"] * 4, "(first: line 3: 95, line 4: 95, line 5: 95). Latitudes"),
        ],
    )  # fmt: skip
    def test_a_fault_says_what_where_what_must_hold_and_what_to_do(
        self, rows: list[str], said: str, tmp_path: Path
    ) -> None:
        """Counts before examples, at most three of them, with the file's own lines."""
        (problem,) = faults_of(table_of(tmp_path, PA, [GOOD, *rows]))
        assert said in problem
        assert problem.rstrip(".").endswith("under [inputs.pa]")

    def test_all_kinds_are_told_at_once_and_each_row_counts_once(self, tmp_path: Path) -> None:
        """A line a reason; a row with two faults counts under the first."""
        rows = [GOOD, "a,10,5,91,1", "a,10,500,91,1", ",10,5,45,1", "a,10,5,45,x"]
        problems = faults_of(table_of(tmp_path, PA, rows))
        assert [problem.split(" in ")[0] for problem in problems] == [
            "Invalid latitude",
            "Missing survey key",
            "Invalid species",
        ]
        assert "2 of 5 rows" in problems[0]

    @pytest.mark.parametrize("reason", ["bad_latitude", "missing_key", "bad_species"])
    def test_a_reason_can_be_dropped_by_its_name(self, reason: str, tmp_path: Path) -> None:
        """The others stay errors; the dropped rows are kept aside with reason and place."""
        source = table_of(tmp_path, PA, [GOOD, "a,10,5,91,1", ",10,5,45,1", "a,10,5,45,x"])
        table, problems = read_pa(source, drop=[reason])
        assert len(problems) == 2
        assert not any(f'"{reason}"' in problem for problem in problems)
        assert dict(zip(table.dropped.reasons, table.dropped.places, strict=True))[reason][1] in (1, 2, 3)
        assert (table.n_in, sum(table.dropped_counts.values()), len(table.label_row)) == (4, 3, 1)

    def test_a_table_of_which_nothing_is_left_is_refused(self, tmp_path: Path) -> None:
        """Dropping everything is no way to make it fine."""
        source = table_of(tmp_path, PA, ["a,10,5,91,1"])
        assert faults_of(source, drop=["bad_latitude"]) == [
            "No row of pa.csv is left: all 1 are dropped. Correct the file."
        ]

    def test_swapped_axes_are_suspected(self, tmp_path: Path) -> None:
        """Rows that would be valid the other way round are counted in the message."""
        problems = faults_of(table_of(tmp_path, PA, ["a,10,45.0,100.0,1", "b,10,46.0,120.0,1"]))
        assert "2 of them would be valid with longitude and latitude exchanged: are the columns swapped?" in problems[0]

    def test_metres_under_a_crs_in_degrees_are_recognized(self, tmp_path: Path) -> None:
        """The cure is to name the CRS."""
        problems = faults_of(table_of(tmp_path, PA, ["a,10,600000,200000,1"]))
        assert 'The coordinates look like metres: say crs = "EPSG:…" under [inputs.pa].' in problems[0]
        assert "drop" not in problems[0]  # of every row, which would leave nothing

    def test_degrees_under_a_crs_in_metres_are_recognized(self, tmp_path: Path) -> None:
        """All rows within ±180 and ±90."""
        problems = faults_of(table_of(tmp_path, PA, [GOOD, "b,10,6.5,46.5,1"]), crs="EPSG:21781")
        assert (
            "All 2 rows of pa.csv have coordinates within ±180 and ±90, which are degrees, but its CRS" in problems[-1]
        )

    def test_a_long_or_broken_cell_does_not_break_the_message(self, tmp_path: Path) -> None:
        """One line, not longer than one reads, whatever the cell is."""
        problems = faults_of(table_of(tmp_path, PA, [GOOD, f'a,10,5,"{"9" * 200_000}\nx\x1b",1']))
        assert len(problems) == 1
        assert len(problems[0]) < 400
        assert problems[0].isprintable()

    def test_wrong_separator_is_one_line(self, tmp_path: Path) -> None:
        """Though five columns cannot be found."""
        source = table_of(tmp_path, PA.replace(",", ";"), [GOOD.replace(",", ";")])
        source.files[0].columns = source.header = [PA.replace(",", ";")]
        (problem,) = faults_of(source)
        assert "so the separator is wrong" in problem

    def test_a_missing_column_is_named_with_the_nearest(self, tmp_path: Path) -> None:
        """Each missing column is a line."""
        (problem,) = faults_of(table_of(tmp_path, PA.replace("speciesId", "specis"), [GOOD]))
        assert "No column 'speciesId' in pa.csv" in problem
        assert "Did you mean 'specis'?" in problem

    def test_a_column_that_would_stand_there_twice_is_refused(self, tmp_path: Path) -> None:
        """One is mapped to a name that another has."""
        source = table_of(tmp_path, "x,lon,lat", ["1,2,3"])
        with pytest.raises(DataError, match=r"pa\.csv would have more than one column 'lon'"):
            RecordReader(source, RecordRules(columns={"lon": "x"}))

    @pytest.mark.parametrize("kind", [pa.list_(pa.float64()), pa.binary()])
    def test_a_needed_column_of_lists_or_bytes_is_refused(self, kind: pa.DataType, tmp_path: Path) -> None:
        """Before any cell is looked at."""
        import pyarrow.parquet as pq

        pq.write_table(pa.table({"lon": pa.nulls(1, kind), "lat": [1.0]}), tmp_path / "pa.parquet")
        from spatialsplit.tables import TableInput

        with pytest.raises(DataError, match=r"Column 'lon' of pa\.parquet holds .*, and not numbers or text"):
            RecordReader(TableInput(tmp_path / "pa.parquet"), RecordRules())

    def test_rows_of_parquet_are_numbered(self, tmp_path: Path) -> None:
        """It has no lines."""
        source = parquet_of(tmp_path, {"lon": [5.0, 6.0], "lat": [45.0, 91.0]})
        _, problems = po_reader(source)
        assert "first: row 2: 91.0" in problems[0]

    def test_every_reason_has_words(self) -> None:
        """What is wrong and what to do, for each that can be dropped."""
        from spatialsplit.occurrences.faults import WHAT

        assert set(WHAT) == set(DROPPABLE)

    def test_odd_rows_are_counted_and_used(self, tmp_path: Path) -> None:
        """0/0, dates of another form, uncertainties larger than the radius: warnings, not faults."""
        source = table_of(
            tmp_path,
            "lon,lat,date,coordinateUncertaintyInMeters",
            ["0,0,2021-01-01,5", "5,45,31.12.2021,5000", "5,45,,x"],
        )
        reader, problems = po_reader(source, suspect_above_m={"uncertainty_over_radius": 300})
        assert problems == []
        assert reader.suspicions == {"zero_zero": 1, "date_not_iso": 1, "uncertainty_over_radius": 1}
        assert any("1 rows of pa.csv lie at longitude 0, latitude 0" in line for line in reader.warnings())

    def test_a_crs_without_a_datum_warns(self, tmp_path: Path) -> None:
        """PROJ leaves out the shift."""
        reader, _ = po_reader(table_of(tmp_path, "lon,lat", ["5,45"]), crs="EPSG:4008")
        assert "PROJ knows no datum shift from EPSG:4008 to WGS84" in reader.warnings()[0]


class TestSpecies:
    """From a float column, from names, from a wide table."""

    def test_a_float_column_of_whole_numbers_is_whole_numbers(self, tmp_path: Path) -> None:
        """6310.0 in eight bytes is 6310; 6310.5 is no species."""
        columns: dict[str, Any] = {"patchID": ["a", "b"], "dayOfYear": [1, 2], "lon": [5.0, 5.0], "lat": [45.0, 45.0]}
        table, problems = read_pa(parquet_of(tmp_path, columns | {"speciesId": [6310.0, 7.0]}))
        assert (problems, table.label_species.to_pylist()) == ([], [6310, 7])
        assert "Invalid species in 1 of 2" in faults_of(parquet_of(tmp_path, columns | {"speciesId": [6310.5, 7.0]}))[0]

    def test_float_text_is_taken_under_the_layouts_that_have_it(self, tmp_path: Path) -> None:
        """As GeoLifeCLEF's files from 2023 on."""
        table, problems = read_pa(table_of(tmp_path, PA, ["a,10,5,45,6310.0"]), floats=True)
        assert (problems, table.label_species.to_pylist()) == ([], [6310])

    def test_nan_in_a_float_key_is_a_missing_key(self, tmp_path: Path) -> None:
        """And 12.0 in a float column is day 12."""
        columns = {
            "patchID": ["a", "b"],
            "dayOfYear": [12.0, np.nan],
            "lon": [5.0] * 2,
            "lat": [45.0] * 2,
            "speciesId": [1, 2],
        }
        table, problems = read_pa(parquet_of(tmp_path, columns))
        assert "Missing survey key in 1 of 2" in problems[0]
        assert table.keys[1].to_pylist() == ["12"]

    def test_a_wide_table_is_read_as_rows_and_labels(self, tmp_path: Path) -> None:
        """A column a species, 0 or 1; a row without any is a survey without species."""
        source = table_of(tmp_path, "siteid,lon,lat,swi2,swi10", ["a,5,45,1,1", "b,5,46,0,0"])
        table, problems = read_pa(source, keys=["siteid"], wide=WideColumns(["swi*"]))
        assert problems == []
        assert (table.label_row.tolist(), table.label_species.to_pylist(), table.n_in) == ([0, 0], ["swi2", "swi10"], 3)

    def test_a_wide_cell_that_is_neither_0_nor_1_is_refused(self, tmp_path: Path) -> None:
        """Counts and missing cells are no presences."""
        source = table_of(tmp_path, "siteid,lon,lat,s1", ["a,5,45,2", "b,5,45,", "c,5,45,1"])
        (problem,) = faults_of(source, keys=["siteid"], wide=WideColumns(["s1"]))
        assert "Invalid species in 2 of 3 rows" in problem
        assert "Cells of a wide table are 0 or 1 (s1 is neither 0 nor 1)" in problem

    def test_wide_columns_named_unlike_each_other_are_refused(self, tmp_path: Path) -> None:
        """A name among numbers would else silently be species 0."""
        source = table_of(tmp_path, "siteid,lon,lat,12,swi", ["a,5,45,1,1"])
        (problem,) = faults_of(source, keys=["siteid"], wide=WideColumns(["12", "swi"]))
        assert "1 of 2 species columns of pa.csv are named unlike the others" in problem
        assert "(first: swi)" in problem

    def test_a_species_with_two_columns_is_refused(self, tmp_path: Path) -> None:
        """Nobody knows which would count."""
        source = table_of(tmp_path, "siteid,lon,lat,s1,s1", ["a,5,45,1,0"])
        (problem,) = faults_of(source, keys=["siteid"], wide=WideColumns(["s*1"]))
        assert "1 species of pa.csv have more than one column (first: s1)" in problem

    def test_a_pattern_that_matches_nothing_is_refused(self, tmp_path: Path) -> None:
        """With what there is."""
        source = table_of(tmp_path, "siteid,lon,lat,s1", ["a,5,45,1"])
        (problem,) = faults_of(source, keys=["siteid"], wide=WideColumns(["swi*"]))
        assert "No column of pa.csv matches 'swi*' in species_columns. It has: siteid, lon, lat, s1." in problem


@given(
    st.lists(
        st.sampled_from([GOOD, "a,10,5,91,1", "b,,5,45,2", "c,3,x,45,Abies", "é,7,1,2,3"]), min_size=1, max_size=30
    )
)
@quick
def test_rows_in_are_rows_kept_and_rows_dropped(tmp_path_factory: pytest.TempPathFactory, rows: list[str]) -> None:
    """Nothing is lost, whatever the batch size, and it is the same rows."""
    folder = tmp_path_factory.mktemp("rows")
    seen = set()
    for batch_bytes in (40, 1 << 20):
        source = table_of(folder, PA, rows, batch_bytes=batch_bytes)
        table, problems = read_pa(source)
        assert table.n_in == len(rows) == len(table.lon) + len(table.dropped.reasons)
        assert sum(table.dropped_counts.values()) == len(table.dropped.reasons)
        seen.add((tuple(table.lon.tolist()), tuple(table.dropped.places), tuple(problems)))
    assert len(seen) == 1
