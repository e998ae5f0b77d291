"""What kind of table a path is: by how its file begins, or by what lies in its folder."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from spatialsplit.errors import DataError, first_few
from spatialsplit.tables.archives import META, open_folder, open_zip
from spatialsplit.tables.csv_files import CsvFile
from spatialsplit.tables.files import Dialect, TableFile
from spatialsplit.tables.packing import ZIP
from spatialsplit.tables.parquet_files import is_parquet
from spatialsplit.tables.points import GeoPackageFile, is_geopackage, open_parquet

FOREIGN = {
    b"SQLi": "a database",
    b"%PDF": "a PDF document",
    b"\xfd7zX": "an xz archive",
    b"(\xb5/\xfd": "a zstd archive",
    b"7z\xbc\xaf": "a 7z archive",
    b"\xd0\xcf\x11\xe0": "a spreadsheet or document of an old office program",
    b"\x89PNG": "a picture",
    b"\xff\xd8\xff\xe0": "a picture",
    b"\xff\xd8\xff\xe1": "a picture",
    b"II*\0": "a raster or a picture",
    b"MM\0*": "a raster or a picture",
    b"\0\0'\n": "a shapefile",
}
"""How files begin that are often given for a table and are none."""


def open_tables(path: Path, dialect: Dialect) -> Iterator[TableFile]:
    """Open the tables that a path means, one by one.

    Raises
    ------
    DataError
        There is no such file, or it is no table.
    """
    for each in _expand(path):
        yield _open(each, dialect)


def _open(path: Path, dialect: Dialect) -> TableFile:
    if path.is_dir():
        return open_folder(path, dialect)
    start = _start(path)
    if is_parquet(start) or path.suffix == ".parquet":
        return open_parquet(path, dialect)
    if is_geopackage(path):
        return GeoPackageFile(path, dialect)
    if start == ZIP:
        return open_zip(path, dialect)
    if start in FOREIGN:
        raise DataError(
            f"{path.name} is {FOREIGN[start]}. A table is CSV (also gz, bz2, zip) or Parquet. Unpack it, or save "
            "the table as CSV."
        )
    return CsvFile(path, dialect)


def _start(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(4)


def _expand(path: Path) -> list[Path]:
    """Give the tables that a path means: itself, or the Parquet files of a folder in the order of their names."""
    if (path / META).is_file():
        return [path]
    if path.is_dir():
        files = sorted(each for each in path.rglob("*") if each.is_file() and not each.name.startswith((".", "_")))
        parquet = [each for each in files if each.suffix == ".parquet" or is_parquet(_start(each))]
        if not parquet:
            raise DataError(
                f"{path.name} is a folder without Parquet files and without the meta.xml of a Darwin Core archive. An "
                "input is a file, or a folder of either kind. Name the file."
            )
        return parquet
    if not path.exists():
        near = _nearest_files(path)
        beside = f" Beside it lie: {first_few(near)}." if near else ""
        raise DataError(
            f"There is no file {path}.{beside} Correct the path; a recipe's paths count from the recipe's folder."
        )
    return [path]


def _nearest_files(path: Path) -> list[str]:
    """Name the files beside a missing one, the likest name first."""
    import difflib

    if not path.parent.is_dir():
        return []
    names = sorted(each.name for each in path.parent.glob("*") if each.is_file() and each.name[:1] != ".")
    return sorted(names, key=lambda name: -difflib.SequenceMatcher(None, path.name, name).ratio())
