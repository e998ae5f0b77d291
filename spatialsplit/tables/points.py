"""GeoPackage and GeoParquet points as tables: their attributes, and longitude and latitude in WGS84.

The file knows its CRS, so nobody has to say it. A column of the file that is called `lon` or `lat` gives way to the
geometry, which is what the file means.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet
import pyproj

from spatialsplit.crs import WGS84, to_lonlat
from spatialsplit.errors import DataError, first_few, shown
from spatialsplit.tables.files import BATCH_BYTES, BATCH_ROWS, Dialect, TableFile
from spatialsplit.tables.parquet_files import ParquetFile
from spatialsplit.tables.streams import HashedInput

GEOPACKAGE = b"GPKG"
PLACES = ("lon", "lat")
POINT = 0
"""Shapely's number of a point."""


def is_geopackage(path: Path) -> bool:
    """Tell by the mark in a database's head whether it is a GeoPackage."""
    with path.open("rb") as file:
        head = file.read(72)
    return head[:6] == b"SQLite" and (head[68:72] == GEOPACKAGE or path.suffix.lower() == ".gpkg")


def open_parquet(path: Path, dialect: Dialect) -> TableFile:
    """Open a Parquet file, as points where it says that it is GeoParquet."""
    plain = ParquetFile(path, dialect)
    geo = (pyarrow.parquet.read_schema(path).metadata or {}).get(b"geo")
    return _GeoParquetFile(path, dialect, described=_geo_column(geo, plain)) if geo else plain


def _geo_column(metadata: bytes, file: TableFile) -> Mapping[str, Any]:
    try:
        geo = json.loads(metadata)
        name = geo["primary_column"]
        return {**geo["columns"][name], "name": name}
    except (ValueError, KeyError, TypeError):
        raise DataError(
            f"{file.name} says that it is GeoParquet but does not name its geometry. Write it again."
        ) from None


@dataclass
class _PointFile(TableFile):
    """Points with attributes; the geometry is read as longitude and latitude, behind the attributes."""

    _kinds: list[pa.DataType] = field(default_factory=list)
    _kept: list[int] = field(default_factory=list)
    _geometry: int = 0
    _native_crs: str = WGS84

    def _declare(self, schema: pa.Schema, geometry: str, crs: str | None) -> None:
        """Note the columns of a schema, of which one is the geometry."""
        if crs is None:
            raise DataError(f"{self.name} does not say which CRS its points have. It must. Add it to the file.")
        self._native_crs, self.crs = crs, WGS84
        names = list(schema.names)
        self._geometry = names.index(geometry)
        free = [i for i, name in enumerate(names) if i != self._geometry and name not in PLACES]
        wanted = set(self.dialect.chosen([names[i] for i in free])) if free else set()
        self._kept = [column for i, column in enumerate(free) if i in wanted]
        self.columns = [*(names[i] for i in self._kept), *PLACES]
        self._kinds = [*(_plain(schema.field(i).type) for i in self._kept), pa.float64(), pa.float64()]

    @property
    def types(self) -> list[pa.DataType]:
        """The type of each column."""
        return list(self._kinds)

    def _parts(self, batch_rows: int) -> Iterator[pa.RecordBatch]:
        raise NotImplementedError

    def batches(self, batch_bytes: int = BATCH_BYTES) -> Iterator[tuple[int, pa.RecordBatch]]:
        """Give (number of the first row, rows) from the start to the end."""
        first_row = 0
        names = [str(i) for i in range(len(self.columns))]
        for part in self._parts(max(batch_bytes * BATCH_ROWS // BATCH_BYTES, 1)):
            lon, lat = self._places(part.column(self._geometry))
            cells = [part.column(i).cast(kind) for i, kind in zip(self._kept, self._kinds, strict=False)]
            places = [pa.array(values, from_pandas=True) for values in (lon, lat)]
            yield first_row, pa.RecordBatch.from_arrays([*cells, *places], names=names)
            first_row += part.num_rows
        with HashedInput(self.path, hashed=self.hashed) as whole:
            self.sha256, self.n_rows, self.n_bytes = whole.finish(), first_row, whole.n_bytes

    def _places(self, geometry: pa.Array) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        if isinstance(geometry, pa.ExtensionArray):
            geometry = geometry.storage
        if pa.types.is_struct(geometry.type):
            names = [geometry.type.field(i).name for i in range(geometry.type.num_fields)]
            parts = dict(zip(names, geometry.flatten(), strict=True))  # a missing point has missing coordinates
            east, north = (parts[name].to_numpy(zero_copy_only=False).astype(float) for name in "xy")
        else:
            east, north = self._from_wkb(geometry)
        known = np.isfinite(east) & np.isfinite(north)
        lon, lat = east.copy(), north.copy()
        lon[known], lat[known] = to_lonlat(east[known], north[known], self._native_crs)
        return lon, lat

    def _from_wkb(self, geometry: pa.Array) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        import shapely

        shapes = shapely.from_wkb(geometry.to_numpy(zero_copy_only=False))
        other = ~np.isin(shapely.get_type_id(shapes), (POINT, -1))
        if other.any():
            kinds = sorted({shape.geom_type for shape in shapes[other][:1000]})
            raise DataError(
                f"{self.name} holds {first_few(kinds)} among its geometries. Records are points. Take centroids, if "
                "that is what they are, or name another file."
            )
        return shapely.get_x(shapes), shapely.get_y(shapes)  # NaN where there is no point


@dataclass
class GeoPackageFile(_PointFile):
    """The one layer of points of a GeoPackage."""

    def __post_init__(self) -> None:
        import pyogrio

        try:
            layers = pyogrio.list_layers(self.path)
            spatial = [name for name, kind in layers if kind is not None]
            if len(spatial) != 1:
                raise DataError(
                    f"{self.name} has {len(spatial)} layers with a geometry ({first_few(spatial)}). One is read. Write "
                    "the one that is meant into a file of its own."
                )
            self._layer = spatial[0]
            with pyogrio.open_arrow(self.path, layer=self._layer, use_pyarrow=True) as (meta, reader):
                self._declare(reader.schema, meta["geometry_name"] or "wkb_geometry", _crs_text(meta["crs"]))
        except pyogrio.errors.DataSourceError as error:
            raise DataError(self._unreadable(error)) from None

    def _parts(self, batch_rows: int) -> Iterator[pa.RecordBatch]:
        import pyogrio

        with pyogrio.open_arrow(self.path, layer=self._layer, use_pyarrow=True, batch_size=batch_rows) as (_, reader):
            yield from reader

    def _unreadable(self, error: Exception) -> str:
        return (
            f"{self.name} cannot be read as a GeoPackage ({shown(error)}). It may be damaged. Fetch or write it again."
        )


@dataclass
class _GeoParquetFile(_PointFile):
    """A GeoParquet file of points."""

    described: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        crs = self.described.get("crs", WGS84)  # where it is left out, the standard says longitude and latitude
        text = None if crs is None else _crs_text(crs if isinstance(crs, str) else json.dumps(crs))
        if self.described.get("encoding", "WKB") not in ("WKB", "point"):
            raise DataError(f"{self.name} holds no points but '{self.described['encoding']}'. Records are points.")
        self._declare(pyarrow.parquet.read_schema(self.path), self.described["name"], text)

    def _parts(self, batch_rows: int) -> Iterator[pa.RecordBatch]:
        try:
            with pyarrow.parquet.ParquetFile(self.path) as parquet:
                yield from parquet.iter_batches(batch_size=batch_rows)
        except (pa.ArrowException, OSError) as error:
            raise DataError(
                f"{self.name} cannot be read as Parquet ({shown(error)}). It may be truncated or damaged. Fetch or "
                "write it again."
            ) from None


def _crs_text(crs: str | None) -> str | None:
    """Give a CRS by its code where it has one, else as WKT."""
    if not crs:
        return None
    known = pyproj.CRS.from_user_input(crs)
    authority = known.to_authority()
    return ":".join(authority) if authority and authority[0] == "EPSG" else str(known.to_wkt())


def _plain(kind: pa.DataType) -> pa.DataType:
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    return pa.string() if pa.types.is_large_string(kind) or pa.types.is_string_view(kind) else kind
