"""What the audit reads: tables in two forms that must hold the same, packed ones, and ones that are hostile."""

from __future__ import annotations

import gzip
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

from spatialsplit.audit import audit_dataset, audit_tables, tables, unpacking
from spatialsplit.audit.forms import forms_that_differ
from spatialsplit.audit.published import read_published
from spatialsplit.audit.survey_rows import joined_rows, numbered, survey_rows
from spatialsplit.audit.tables import open_table
from spatialsplit.build import build_dataset
from spatialsplit.errors import DataError
from tests.audit_example import example, write_sums

NAME = "public/PA_val.parquet"
CELLS = "surveyId,lon,note,d\n1,5.000001,a,2021-01-01\n2,,,\n3,nan,x,2021-01-03\n"
TYPED = {
    "surveyId": pa.array([1, 2, 3], pa.int32()),
    "lon": [5.000001, None, None],
    "note": pa.array(["a", None, "x"]).dictionary_encode(),
    "d": pa.array([18628, None, 18630], pa.int32()).cast(pa.date32()),
}


def differences(folder: Path, text: str, table: dict[str, object]) -> list[str]:
    """Publish a table in both forms and give what is said of them."""
    (folder / "public").mkdir()
    (folder / "public/PA_val.csv").write_text(text)
    pyarrow.parquet.write_table(pa.table(table), folder / NAME, row_group_size=2)
    return forms_that_differ(read_published(folder))


class TestTwoForms:
    """The Parquet file beside a CSV holds the same cells, or the audit says where it does not."""

    def test_equal_cells_of_any_type_are_equal(self, tmp_path: Path) -> None:
        """Numbers by their value, days by their text; no cell is no cell."""
        assert differences(tmp_path, CELLS, TYPED) == []

    @pytest.mark.parametrize(
        ("change", "said"),
        [
            ({"surveyId": [1, 2, 4]}, "column surveyId .* in 1 rows .first: row 3: 4, in the CSV '3'"),
            ({"lon": [5.000002, None, None]}, "column lon .* in 1 rows .first: row 1: 5.000002, in the CSV '5.000001'"),
            ({"lon": [5.000001, 0.0, None]}, "row 2: 0.0, in the CSV ''"),
            ({"note": ["a", "", "y"]}, "row 3: 'y', in the CSV 'x'"),
            ({"note": [1, 2, 3]}, "in 3 rows .first: row 1: 1, in the CSV 'a'"),
            ({"surveyId": ["01", "2", "3"]}, "row 1: '01', in the CSV '1'"),
        ],
    )
    def test_a_cell_that_differs_is_told(self, change: dict[str, object], said: str, tmp_path: Path) -> None:
        """With its column, its row and both cells."""
        (line,) = differences(tmp_path, CELLS, {**TYPED, **change})
        assert re.search(said, line), line

    def test_other_rows_or_columns_are_told(self, tmp_path: Path) -> None:
        for name, change, said in (
            ("a", lambda table: {k: v[:2] for k, v in table.items()}, "has fewer rows"),
            ("b", lambda table: {**table, "more": [1, 2, 3]}, "has other columns"),
        ):
            (tmp_path / name).mkdir()
            (line,) = differences(tmp_path / name, CELLS, change(TYPED))
            assert said in line

    def test_the_rows_may_come_in_other_batches(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """The forms are compared in step, however each is cut."""
        monkeypatch.setattr(tables, "_BLOCK_BYTES", 200)
        ids = list(range(500))
        text = "surveyId,lon\n" + "".join(f"{i},{i / 4}\n" for i in ids)
        found = differences(tmp_path, text, {"surveyId": ids, "lon": [i / 4 + (i == 321) for i in ids]})
        assert found == [
            "column lon of public/PA_val.parquet differs from public/PA_val.csv in 1 rows (first: row 322: 81.25, in "
            "the CSV '80.25')"
        ]

    def test_a_built_dataset_has_equal_forms_and_a_changed_cell_fails(self, tmp_path: Path) -> None:
        """The hashes are mended: only the cells tell."""
        rows = [f"p{i},{10 + i},{5 + 0.2 * i:.1f},45.0,{species}" for i in range(4) for species in (1, 2)]
        (tmp_path / "pa.csv").write_text("patchID,dayOfYear,lon,lat,speciesId\n" + "\n".join(rows) + "\n")
        (tmp_path / "recipe.toml").write_text(
            'name = "t"\nseed = "s"\n[inputs.pa]\npath = "pa.csv"\n[[holdouts]]\nname = "test"\nshare = 0.5\n'
            '[output]\nformats = ["csv", "parquet"]\n'
        )
        folder = build_dataset(tmp_path / "recipe.toml", tmp_path / "out").folder / "public"
        assert audit_dataset(folder).passed
        table = pyarrow.parquet.read_table(folder / "PA_train.parquet")
        moved = pa.array(table["lon"].to_numpy() + 1e-6)
        position = table.schema.names.index("lon")
        pyarrow.parquet.write_table(table.set_column(position, "lon", moved), folder / "PA_train.parquet")
        write_sums(folder)
        report = audit_dataset(folder)
        assert report.failed == ("files_match_manifest",)
        assert (
            "column lon of public/PA_train.parquet differs"
            in {c.name: c.detail for c in report.checks}["files_match_manifest"]
        )


class TestHostileTables:
    """Nobody's file fills the memory of whoever audits it."""

    def said(self, path: Path) -> str:
        with pytest.raises(DataError) as caught:
            audit_tables({"train": path, "test": path})
        return str(caught.value)

    def test_a_bomb_is_refused(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """By its ratio, whatever it is called."""
        monkeypatch.setattr(unpacking, "ANY_RATIO_BYTES", 50_000)
        path = tmp_path / "t.csv"
        path.write_bytes(gzip.compress(b"surveyId,lon,lat\n" + b"1,5.0,45.0\n" * 50_000))
        assert "unpacks to more than" in self.said(path)
        monkeypatch.undo()
        assert len(open_table(path).read("surveyId")) == 50_000

    def test_a_row_longer_than_a_block_is_told(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(tables, "_BLOCK_BYTES", 1_000)
        (tmp_path / "t.csv").write_text("surveyId,lon,lat\n1,5,45\n" + "x" * 5_000 + ",5,45\n")
        assert "it has a row of more than 1,000 bytes" in self.said(tmp_path / "t.csv")

    def test_more_rows_than_can_be_held_are_told(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(tables, "MOST_ROWS", 2)
        (tmp_path / "t.csv").write_text("surveyId,lon,lat\n1,5,45\n2,5,45\n3,5,45\n")
        assert "has more than 2 rows" in self.said(tmp_path / "t.csv")


class TestSurveyRows:
    """Rows are small: texts with few values are codes."""

    @pytest.mark.parametrize(
        "texts", [["7", "8", "7"], ["a", "07", "7", "a"], ["", "", ""], ["9" * 30, "9" * 30], ["1", "", "1"], []]
    )
    def test_equal_texts_have_equal_numbers(self, texts: list[str]) -> None:
        """Also where they are no whole numbers, or not written as such."""
        numbers = numbered(pd.Series(texts, dtype=object))
        same = np.array(texts)[:, None] == np.array(texts)[None, :]
        assert (same == (numbers[:, None] == numbers[None, :])).all()

    def test_a_million_rows_take_60_bytes_each(self, tmp_path: Path) -> None:
        """Beside the ids themselves."""
        n = 200_000
        table = pa.table(
            {
                "surveyId": np.arange(n),
                **dict.fromkeys(("lon", "lat"), np.linspace(0, 9, n)),
                **{name: np.arange(n) % 300 for name in ("speciesId", "dayOfYear", "year", "date")},
            }
        )
        pyarrow.csv.write_csv(table, tmp_path / "t.csv")
        rows = survey_rows(open_table(tmp_path / "t.csv"), "pa_train", (), subset="train")
        small = rows.drop(columns=["survey", "key"])
        assert small.memory_usage(deep=True).sum() < 60 * n

    def test_tables_with_other_texts_are_joined_in_the_order_of_the_texts(self, tmp_path: Path) -> None:
        parts = []
        for name, species in (("b", "9"), ("a", "10")):
            (tmp_path / f"{name}.csv").write_text(f"surveyId,lon,lat,speciesId\n1,5,45,{species}\n")
            parts.append(survey_rows(open_table(tmp_path / f"{name}.csv"), f"pa_{name}", (), subset=name))
        rows = joined_rows(parts)
        assert rows["speciesId"].tolist() == ["9", "10"]
        assert rows.sort_values("subset")["subset"].tolist() == ["a", "b"]


def test_public_files_alone_say_how_to_give_the_radius(tmp_path: Path) -> None:
    """There is no manifest beside them, but their README names the radius."""
    public = example().write(tmp_path / "dataset") / "public"
    first, second = (
        {check.name: check.detail for check in audit_dataset(public, radius_m=radius).checks} for radius in (None, 300)
    )
    assert "Give it with --radius" in first["po_outside_radius"]
    assert "--radius" not in second["po_outside_radius"]
