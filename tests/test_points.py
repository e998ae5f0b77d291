"""GeoPackage and GeoParquet as tables: what is known of the points, and what is no table of points."""

from __future__ import annotations

import pickle
import sqlite3
from pathlib import Path

import geopandas
import numpy as np
import pyarrow.parquet
import pytest
import shapely

from spatialsplit.build import build_dataset
from spatialsplit.describing import describe_table
from spatialsplit.errors import DataError
from spatialsplit.quadrats import Grid
from spatialsplit.steps import add_quadrats
from spatialsplit.tables import Dialect, TableInput, read_table
from tests.recipes import PA_HEADER, four_quadrats, write_csv, write_recipe

LON, LAT = np.array([5.0, 5.5, 6.0]), np.array([45.0, 45.5, 46.0])


def points(crs: str = "EPSG:3035", **more: list[object]) -> geopandas.GeoDataFrame:
    """Make three records, the last without a place, in a CRS."""
    geometry = [shapely.Point(5.0, 45.0), shapely.Point(5.5, 45.5), None]
    table = {"speciesId": [1, 2, 2**53 + 1], "name": ["a", "é", None], **more}
    return geopandas.GeoDataFrame(table, geometry=geometry, crs="EPSG:4326").to_crs(crs)


def write(folder: Path, kind: str, table: geopandas.GeoDataFrame) -> Path:
    """Write in one of the kinds."""
    path = folder / f"points.{'gpkg' if kind == 'gpkg' else 'parquet'}"
    if kind == "gpkg":
        table.to_file(path, driver="GPKG")
    else:
        table.to_parquet(path, geometry_encoding="geoarrow" if kind == "point" else "WKB")
    return path


@pytest.mark.parametrize("kind", ["gpkg", "WKB", "point"])
@pytest.mark.parametrize("crs", ["EPSG:4326", "EPSG:3035", "EPSG:2154"])
class TestEachKind:
    """The same records, whatever the file's format and CRS."""

    def test_points_are_longitude_and_latitude_behind_their_attributes(
        self, kind: str, crs: str, tmp_path: Path
    ) -> None:
        """Numbers and text keep their types and values; a record without a point has no coordinates."""
        table = read_table(write(tmp_path, kind, points(crs)))
        assert table.column_names == ["speciesId", "name", "lon", "lat"]
        assert table.column("speciesId").to_pylist() == [1, 2, 2**53 + 1]
        assert table.column("name").to_pylist() == ["a", "é", None]
        assert table.column("lon").to_pylist() == [pytest.approx(5, abs=1e-7), pytest.approx(5.5, abs=1e-7), None]
        assert table.column("lat").to_pylist() == [pytest.approx(45, abs=1e-7), pytest.approx(45.5, abs=1e-7), None]

    def test_steps_and_describe_read_them(self, kind: str, crs: str, tmp_path: Path) -> None:
        """Without a word about the CRS."""
        path = write(tmp_path, kind, points(crs).iloc[:2])
        add_quadrats(path, tmp_path / "q.csv", Grid())
        assert len((tmp_path / "q.csv").read_text().splitlines()) == 3
        found = describe_table(path)
        assert (found.rows, found.crs, found.crs_reason) == (2, "EPSG:4326", "the file says so")


def test_a_geopackage_of_records_builds(tmp_path: Path) -> None:
    """Streamed like any other table, and hashed as a file."""
    rows = geopandas.GeoDataFrame(
        {"gbifID": range(500), "speciesId": [1, 2] * 250},
        geometry=geopandas.points_from_xy(np.linspace(9, 10, 500), np.full(500, 45.0)),
        crs="EPSG:4326",
    )
    rows.to_crs("EPSG:3035").to_file(tmp_path / "po.gpkg")
    write_csv(tmp_path / "pa.csv", PA_HEADER, four_quadrats())
    report = build_dataset(write_recipe(tmp_path, po="po.gpkg"), tmp_path / "d")
    entry = report.manifest["inputs"][1]
    assert (entry["rows"], entry["bytes"]) == (500, (tmp_path / "po.gpkg").stat().st_size)
    header = (report.folder / "public" / "PO_train.csv").read_text().splitlines()[0]
    assert header == "gbifID,speciesId,lon,lat"


def test_any_batch_size_gives_the_same_rows_and_a_copy_can_be_sent(tmp_path: Path) -> None:
    """Batches of one row; in another process as well."""
    path = write(tmp_path, "gpkg", points())
    source = pickle.loads(pickle.dumps(TableInput(path, batch_bytes=1)))
    batches = list(source.batches())
    assert [batch.first_row for batch in batches] == list(range(len(batches)))
    assert sum(batch.rows.num_rows for batch in batches) == 3


def test_columns_called_lon_and_lat_give_way_to_the_geometry(tmp_path: Path) -> None:
    """They were true of the file's own CRS, perhaps."""
    path = write(tmp_path, "gpkg", points(lon=[1, 2, 3], lat=[4, 5, 6]))
    assert read_table(path).column("lon").to_pylist()[0] == pytest.approx(5, abs=1e-7)
    assert TableInput(path).header.count("lon") == 1
    assert TableInput(path, Dialect(only=frozenset({"name"}))).header == ["name", "lon", "lat"]


class TestWhatIsNone:
    """Other databases, other shapes, no CRS, several layers."""

    def test_polygons_are_refused(self, tmp_path: Path) -> None:
        table = geopandas.GeoDataFrame({"a": [1]}, geometry=[shapely.box(0, 0, 1, 1)], crs="EPSG:4326")
        for kind in ("gpkg", "WKB"):
            with pytest.raises(DataError, match="holds Polygon among its geometries"):
                read_table(write(tmp_path, kind, table))

    @pytest.mark.filterwarnings("ignore:'crs' was not provided")
    def test_points_without_a_crs_are_refused(self, tmp_path: Path) -> None:
        table = points()
        for kind in ("gpkg", "WKB"):
            path = write(tmp_path, kind, table.set_crs(None, allow_override=True))
            with pytest.raises(DataError, match="does not say which CRS"):
                read_table(path)

    def test_several_layers_are_refused(self, tmp_path: Path) -> None:
        for layer in ("one", "two"):
            points().to_file(tmp_path / "p.gpkg", layer=layer)
        with pytest.raises(DataError, match=r"has 2 layers with a geometry \(one, two\)"):
            read_table(tmp_path / "p.gpkg")

    def test_another_database_is_said_to_be_one(self, tmp_path: Path) -> None:
        connection = sqlite3.connect(tmp_path / "t.db")
        connection.execute("create table t (a)")
        connection.commit()
        connection.close()
        with pytest.raises(DataError, match=r"t\.db is a database"):
            read_table(tmp_path / "t.db")

    @pytest.mark.filterwarnings("ignore::RuntimeWarning")
    def test_a_damaged_geopackage_is_said_to_be_one(self, tmp_path: Path) -> None:
        (tmp_path / "p.gpkg").write_bytes(b"SQLite format 3\0" + bytes(52) + b"GPKG" + bytes(99))
        with pytest.raises(DataError, match="cannot be read as a GeoPackage"):
            read_table(tmp_path / "p.gpkg")

    def test_geoparquet_that_names_no_geometry_is_refused(self, tmp_path: Path) -> None:
        table = pyarrow.table({"a": [1]}).replace_schema_metadata({"geo": "{}"})
        pyarrow.parquet.write_table(table, tmp_path / "t.parquet")
        with pytest.raises(DataError, match="does not name its geometry"):
            read_table(tmp_path / "t.parquet")
