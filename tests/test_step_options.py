"""The steps read what recipes read: other commas, quotation marks, dates and species, rows without a place."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from click.testing import CliRunner

from spatialsplit.cli import cli
from spatialsplit.errors import DataError
from spatialsplit.quadrats import Grid, grid_named
from spatialsplit.steps import Reading, add_quadrats, write_surveys
from spatialsplit.surveys import SurveyRules
from tests.recipes import write_csv


def run(*words: object, code: int = 0) -> str:
    """Run a command and give what it says on stderr, or what is wrong."""
    done = CliRunner().invoke(cli, [str(word) for word in words])
    assert done.exit_code == code, done.output
    return done.stderr + str(done.exception or "")


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


class TestHowTablesAreWritten:
    """The options that every step has."""

    def test_decimal_commas_are_read_and_passed_on(self, tmp_path: Path) -> None:
        """By `quadrats`, `draw`, `filter-po` and `surveys` alike; the cells stay what they are."""
        points = write_csv(tmp_path / "p.csv", "lon;lat;speciesId;patchID;dayOfYear", ["3,87;43,61;1;a;5"])
        same = write_csv(tmp_path / "same.csv", "lon,lat", ["3.87,43.61"])
        run("quadrats", points, "--decimal", ",", "--out", tmp_path / "q.csv")
        run("quadrats", same, "--out", tmp_path / "s.csv")
        assert rows_of(tmp_path / "q.csv")[0]["lon"] == "3,87"
        assert rows_of(tmp_path / "q.csv")[0]["quadratId"] == rows_of(tmp_path / "s.csv")[0]["quadratId"]
        run("draw", points, "--decimal", ",", "--seed", "s", "--holdout", "test=0.9", "--out", tmp_path / "d.csv")
        run("surveys", points, "--decimal", ",", "--out", tmp_path / "v.csv")
        assert rows_of(tmp_path / "v.csv")[0]["lon"] == "3.87"
        where = ("--sites", points, "--radius", 1, "--out", tmp_path / "k.csv", "--decimal", ",")
        assert "1 of 1 records removed" in run("filter-po", points, *where)

    def test_without_it_a_decimal_comma_is_no_number(self, tmp_path: Path) -> None:
        points = write_csv(tmp_path / "p.csv", "lon;lat", ["3,87;43,61"])
        assert "Invalid latitude" in run("quadrats", points, "--out", tmp_path / "q.csv", code=1)

    def test_quotation_marks_may_be_characters(self, tmp_path: Path) -> None:
        """And a table of Darwin Core may be quoted."""
        points = write_csv(tmp_path / "p.csv", "lon\tlat\tnote", ['3.87\t43.61\t"open', "3.9\t43.7\tx"])
        run("quadrats", points, "--not-quoted", "--out", tmp_path / "q.csv")
        assert [row["note"] for row in rows_of(tmp_path / "q.csv")] == ['"open', "x"]
        assert "never closed" in run("quadrats", points, "--quoted", "--out", tmp_path / "q.csv", code=1)


class TestSurveys:
    """What `surveys` can be told beyond that."""

    PA = "patchID,date,lon,lat,speciesId,region,habitat,subset"

    def table(self, folder: Path, *rows: str) -> Path:
        return write_csv(
            folder / "pa.csv", self.PA, rows or ("a,3.4.2021,5,45,6310.0,R,h1,old", "a,3.4.2021,5,45,7,R,h2,old")
        )

    def test_geolifeclef_writes_species_as_floats(self, tmp_path: Path) -> None:
        """From 2023 on; elsewhere 6310.0 is a fault."""
        pa = self.table(tmp_path)
        words = ("surveys", pa, "--keys", "patchID", "--out", tmp_path / "s.csv")
        run(*words, "--layout", "glc2024")
        assert rows_of(tmp_path / "s.csv")[0]["speciesIds"] == "7 6310"
        assert "Invalid species" in run(*words, code=1)

    def test_days_come_from_dates_as_they_are_written(self, tmp_path: Path) -> None:
        """A key dayOfYear that the table has not."""
        pa = self.table(tmp_path)
        run("surveys", pa, "--day-first", "--layout", "glc2024", "--out", tmp_path / "s.csv")
        assert rows_of(tmp_path / "s.csv")[0]["dayOfYear"] == "93"
        pa = self.table(tmp_path, "a,1617400800,5,45,1,R,h,old")
        run("surveys", pa, "--time-zone", "Europe/Paris", "--out", tmp_path / "s.csv")
        assert rows_of(tmp_path / "s.csv")[0]["dayOfYear"] == "93"

    def test_columns_are_carried_for_the_strata_of_a_draw(self, tmp_path: Path) -> None:
        """Under the names that the file has, an old `subset` too."""
        rows = [f"p{i},2021-01-0{1 + i},{5 + i / 3},45,1,{'RS'[i % 2]},h,old" for i in range(6)]
        pa = self.table(tmp_path, *rows)
        run("surveys", pa, "--keys", "patchID", "--carry", "region, subset", "--out", tmp_path / "s.csv")
        surveys = rows_of(tmp_path / "s.csv")
        assert {(row["patchID"], row["region"]) for row in surveys} == {(f"p{i}", "RS"[i % 2]) for i in range(6)}
        assert {row["subset"] for row in surveys} == {"old"}
        words = ("--seed", "s", "--holdout", "test=0.5", "--strata", "region", "--out", tmp_path / "d.csv")
        run("draw", tmp_path / "s.csv", *words)
        assert {row["stratum"] for row in rows_of(tmp_path / "d.csv")} == {"R", "S"}

    def test_a_column_that_differs_inside_a_survey_is_not_carried(self, tmp_path: Path) -> None:
        """Nor one that is not there."""
        rules, reading = SurveyRules(("patchID",)), Reading(float_species=True)
        for name, message in (("habitat", "'habitat' of pa.csv differs inside a survey"), ("regoin", "mean 'region'")):
            with pytest.raises(DataError, match=message):
                write_surveys(self.table(tmp_path), tmp_path / "s.csv", rules, reading=reading, carry=[name])


class TestRowsWithoutAPlace:
    """`quadrats` refuses them, all batches counted, or keeps them unassigned."""

    ROWS = ("3.87,43.61,a", ",43.61,b", "3.87,95,c", "3.87,-43.61,d", "3.9,43.7,e")

    def test_they_are_kept_where_it_is_asked_for(self, tmp_path: Path) -> None:
        points = write_csv(tmp_path / "p.csv", "lon,lat,n", self.ROWS)
        words = ("quadrats", points, "--grid", "glc2022", "--out", tmp_path / "q.csv")
        said = run(*words, "--keep-unassigned")
        assert "3 of 5 rows of p.csv have no quadrat" in said
        assert "missing_coordinate 1" in said
        assert "unprojectable 1" in said
        assert [(row["n"], row["quadratId"][:1]) for row in rows_of(tmp_path / "q.csv")] == [
            *(("a", "e"), ("b", ""), ("c", ""), ("d", ""), ("e", "e"))
        ]

    def test_they_are_refused_with_their_lines_unless_asked(self, tmp_path: Path) -> None:
        points = write_csv(tmp_path / "p.csv", "lon,lat,n", self.ROWS[3:] * 3)
        said = run("quadrats", points, "--grid", "glc2022", "--out", tmp_path / "q.csv", code=1)
        assert "Coordinate outside its CRS or the grid in 3 of 6 rows of p.csv (first: line 2: lon 3.87 lat" in said
        words = ("--seed", "s", "--holdout", "test=0.5", "--out", tmp_path / "d.csv")
        assert "in 3 of 6 rows of p.csv" in run("draw", points, "--grid", "glc2022", *words, code=1)

    def test_all_batches_are_counted(self, tmp_path: Path) -> None:
        """A file that is read in several pieces, faults in each."""
        points = write_csv(
            tmp_path / "p.csv", "lon,lat,n", [f"3.87,{-43 if i % 2 else 43},{'x' * 90}" for i in range(90_000)]
        )
        with pytest.raises(DataError, match="in 45,000 of 90,000 rows"):
            add_quadrats(points, tmp_path / "q.csv", grid_named("glc2022"))

    def test_where_nothing_is_wrong_nothing_changes(self, tmp_path: Path) -> None:
        points = write_csv(tmp_path / "p.csv", "lon,lat,n", [self.ROWS[0], self.ROWS[4]])
        assert add_quadrats(points, tmp_path / "a.csv", Grid()) == []
        assert add_quadrats(points, tmp_path / "b.csv", Grid(), keep_unassigned=True) == []
        assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()
