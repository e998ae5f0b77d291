"""GBIF's Parquet snapshots: Darwin Core with all names in lower case, and flags in lists."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet
import pytest

from spatialsplit.build import build_dataset
from spatialsplit.columns import find_columns
from spatialsplit.describing import describe_table
from spatialsplit.errors import DataError
from spatialsplit.tables import Dialect, TableInput

N = 8
WORDS = pa.list_(pa.struct([("array_element", pa.string())]))
SNAPSHOT = {
    "gbifid": pa.array([str(3_000_000_000 + i) for i in range(N)]),
    "datasetkey": pa.array(["d"] * N),
    "species": pa.array(["Abies alba", "Fagus sylvatica"] * (N // 2)),
    "scientificname": pa.array(["Abies alba Mill.", "Fagus sylvatica L."] * (N // 2)),
    "specieskey": pa.array([2685484, 2882316] * (N // 2), pa.int32()),
    "countrycode": pa.array(["CH"] * N),
    "locality": pa.array(["somewhere"] * N),
    "decimallatitude": pa.array([45.0] * N),
    "decimallongitude": pa.array([5 + 0.2 * (i // 2) for i in range(N)]),
    "coordinateuncertaintyinmeters": pa.array([10.0, None, 5_000.0] + [10.0] * (N - 3)),
    "eventdate": pa.array(["2021-02-01T00:00:00"] * N),
    "basisofrecord": pa.array(["HUMAN_OBSERVATION"] * N),
    "license": pa.array(["CC_BY_4_0"] * N),
    "issue": pa.array(
        [[{"array_element": "ZERO_COORDINATE"}, {"array_element": "X"}], None, []] + [[]] * (N - 3), WORDS
    ),
}
PA = "patchID,dayOfYear,lon,lat,speciesId\n" + "".join(
    f"p{i},{10 + i},{7 + 0.2 * i:.1f},46.0,{species}\n" for i in range(4) for species in (2685484, 2882316)
)
RECIPE = """name = "t"
seed = "s"
[inputs.pa]
path = "pa.csv"
[inputs.po]
path = "000000"
[[holdouts]]
name = "test"
share = 0.5
[clean]
uncertain = "drop"
max_uncertainty_m = 1000
flagged_issue = "drop"
refuse_issues = ["ZERO_COORDINATE"]
license = "error"
allow_licenses = ["CC_BY_4_0"]
"""


@pytest.fixture
def snapshot(tmp_path: Path) -> Path:
    """One file of a snapshot, whose name has no ending."""
    pyarrow.parquet.write_table(pa.table(SNAPSHOT), tmp_path / "000000")
    return tmp_path / "000000"


def test_a_snapshot_is_read_by_its_own_names(snapshot: Path) -> None:
    """Columns, cleaning and licences; species by number; what does not matter is left out."""
    (snapshot.parent / "pa.csv").write_text(PA)
    (snapshot.parent / "recipe.toml").write_text(RECIPE)
    report = build_dataset(snapshot.parent / "recipe.toml", snapshot.parent / "out")
    header, *rows = (report.folder / "public/PO_train.csv").read_text().splitlines()
    names = header.split(",")
    assert {"lon", "lat", "speciesId", "geoUncertaintyInM", "date"} <= set(names)
    assert "locality" not in names
    assert len(rows) == N - 2
    dropped = (report.folder / "private/dropped_po.csv").read_text()
    assert dropped.count("flagged_issue") == dropped.count("uncertain,") == 1
    assert "ZERO_COORDINATE;X" in dropped


def test_a_snapshot_is_described(snapshot: Path) -> None:
    """The columns are found, and the recipe to start from reads it."""
    mapped = describe_table(snapshot).as_dict()["mapped"]
    assert mapped["lon"] == "decimallongitude"
    assert mapped["speciesId"] == "specieskey"
    assert mapped["date"] == "eventdate"


def test_lists_of_words_are_joined_only_in_darwin_core(tmp_path: Path) -> None:
    """A list elsewhere is no cell of a table."""
    pyarrow.parquet.write_table(pa.table({"a": [1], "issue": [["x", None, "y"]]}), tmp_path / "t.parquet")
    assert pa.types.is_list(TableInput(tmp_path / "t.parquet").types[1])
    pyarrow.parquet.write_table(
        pa.table({"gbifid": ["1", "2", "3"], "issue": [["x", None, "y"], None, []]}), tmp_path / "u.parquet"
    )
    source = TableInput(tmp_path / "u.parquet")
    assert source.types == [pa.string(), pa.string()]
    assert [batch.column(1).to_pylist() for batch in source.batches()] == [["x;;y", "", ""]]


def test_camel_case_goes_before_lower_case() -> None:
    """A table that has both means the standard's own spelling; two spellings of another name are not guessed at."""
    assert find_columns(["decimallongitude", "lon", "lat"], ["lon"]) == {"lon": 1}
    assert find_columns(["basisofrecord"], ["basisOfRecord"]) == {"basisOfRecord": 0}
    with pytest.raises(DataError, match="could be any of 2 columns"):
        find_columns(["plotID", "plotid"], ["patchID"])
    with pytest.raises(DataError, match="No column 'lon'"):
        find_columns(["DECIMALLONGITUDE"], ["lon"])


def test_columns_can_be_chosen_in_lower_case(snapshot: Path) -> None:
    source = TableInput(snapshot, Dialect(only=frozenset({"specieskey", "date"}), only_in_darwin_core=True))
    assert source.darwin_core
    assert source.header == ["specieskey"]


def test_what_a_snapshot_says_of_its_records_is_counted(tmp_path: Path) -> None:
    """Bases of record and absences as in a text table, for who describes it first; and it is no archive."""
    statuses = pa.array(["ABSENT"] + ["PRESENT"] * (N - 1))
    pyarrow.parquet.write_table(pa.table(SNAPSHOT | {"occurrencestatus": statuses}), tmp_path / "000000")
    found = describe_table(tmp_path / "000000")
    assert found.values["basisOfRecord"] == {"HUMAN_OBSERVATION": N}
    assert {each.name: each.count for each in found.suspicions}["absent"] == 1
    assert found.dialect["format"] == "parquet"
