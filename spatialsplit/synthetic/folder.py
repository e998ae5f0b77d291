"""A virtual flora as files: two tables, three rasters, and a recipe that builds."""

from __future__ import annotations

import json
import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import numpy as np

from spatialsplit.errors import OutputError
from spatialsplit.synthetic.flora import DEFAULT_SEED, N_PO, N_SURVEYS, VirtualFlora, make_virtual_flora
from spatialsplit.synthetic.landscape import N_COLUMNS, N_ROWS, NORTH, PIXEL, WEST, Landscape

if TYPE_CHECKING:
    import pyarrow as pa

NODATA = -9999
_RECIPE = """\
# A virtual flora, made by `spatialsplit synth`. Build it with `spatialsplit build recipe.toml --out DIR`.
name = "virtual-flora"
seed = {seed}

[inputs.pa]
path = "pa.csv"
[inputs.po]
path = "po.csv"

[surveys]
keys = ["patchID", "dayOfYear"]

[quadrats]
crs = "EPSG:3035"
size_m = 5000
origin = [0, 0]

[[holdouts]]
name = "test"
share = 0.025
[[holdouts]]
name = "val"
share = 0.025

[po_filter]
radius_m = 300
around = ["test"]

[evaluation]
metric = "f1_samples"
public_share = 0.3

[about]
title = "A virtual flora"
description = "Surveys, chance records and climate of a made-up country: no plant in it is real."
license = "CC0-1.0"
url = "https://example.org/virtual-flora"
creators = ["The spatialsplit developers"]
citation = "The spatialsplit developers: A virtual flora. Made by spatialsplit synth."
version = "1.0.0"
date_published = "2026-01-01"
"""


@dataclass(frozen=True)
class WrittenFlora:
    """What a folder now holds."""

    folder: Path
    n_surveys: int
    n_pa_rows: int
    n_po: int
    n_species: int
    rasters: tuple[str, ...]


def write_virtual_flora(
    folder: str | os.PathLike[str],
    *,
    n_surveys: int = N_SURVEYS,
    n_po: int = N_PO,
    seed: str | int = DEFAULT_SEED,
    force: bool = False,
) -> WrittenFlora:
    """Make a virtual flora and write it as `pa.csv`, `po.csv`, `rasters/*.tif` and `recipe.toml`.

    Parameters
    ----------
    folder : path
        Where to; made with its parents. It gets its files when all of them are written, or none.
    n_surveys, n_po, seed
        As for `make_virtual_flora`. Presence-only records are written as they are made, in bounded memory.
    force : bool
        Write into a folder that is not empty; files of the same names are replaced, others stay.

    Returns
    -------
    WrittenFlora
        The CSV bytes and the rasters' values depend on the arguments alone; the rasters' bytes also on GDAL's
        version.

    Raises
    ------
    DataError
        As `make_virtual_flora`.
    OutputError
        Where the folder is not empty, or cannot be written.
    """
    target = Path(folder)
    _check_room(target, force=force)
    flora = make_virtual_flora(n_surveys, n_po, seed=seed)
    # Beside a new folder, inside one that is there: it may be a mount, into which nothing can be renamed.
    workplace = (target if target.is_dir() else target.absolute().parent) / f".flora-{os.getpid()}.partial"
    try:
        (workplace / "rasters").mkdir(parents=True)
        written = _write_files(flora, workplace, target)
        _move_in(workplace, target)
    except OSError as error:
        raise OutputError(f"Cannot write the virtual flora to '{target}': {error.strerror or error}.") from error
    finally:
        shutil.rmtree(workplace, ignore_errors=True)
    return written


def _check_room(target: Path, *, force: bool) -> None:
    if target.exists() and not target.is_dir():
        raise OutputError(f"'{target}' is a file. The virtual flora needs a folder of its own: name another one.")
    if not force and target.is_dir() and any(target.iterdir()):
        raise OutputError(f"The folder '{target}' is not empty. Name another one, or use --force to replace its files.")


def _write_files(flora: VirtualFlora, workplace: Path, target: Path) -> WrittenFlora:
    species = np.zeros(flora.niches.n_species, dtype=np.bool_)
    species[flora.pa["speciesId"].to_numpy()] = True
    with open(workplace / "pa.csv", "wb") as file:
        _write_rows(flora.pa, file, header=True)
    with open(workplace / "po.csv", "wb") as file:
        for number, table in enumerate(flora.po_tables()):
            _write_rows(table, file, header=number == 0)
            species[table["speciesId"].to_numpy()] = True
    rasters = _write_rasters(flora.landscape, workplace / "rasters")
    recipe = _RECIPE.format(seed=json.dumps(flora.seed, ensure_ascii=False))
    (workplace / "recipe.toml").write_bytes(recipe.encode())
    return WrittenFlora(target, flora.n_surveys, flora.pa.num_rows, flora.n_po, int(species.sum()), rasters)


def _move_in(workplace: Path, target: Path) -> None:
    if not target.exists():
        os.rename(workplace, target)
        return
    (target / "rasters").mkdir(exist_ok=True)
    for path in sorted(workplace.rglob("*")):
        if path.is_file():
            os.replace(path, target / path.relative_to(workplace))


def _write_rows(table: pa.Table, file: BinaryIO, *, header: bool) -> None:
    """Write rows as text that no version of a CSV writer can put differently: no quotes, six decimals."""
    from pyarrow import csv

    for name in ("lon", "lat"):
        table = table.set_column(table.column_names.index(name), name, _six_decimals(table[name].to_numpy()))
    if header:
        file.write((",".join(table.column_names) + "\n").encode())
    csv.write_csv(table, file, csv.WriteOptions(include_header=False, quoting_style="none"))


def _six_decimals(degrees: np.ndarray[tuple[int], np.dtype[np.float64]]) -> pa.Array:
    import pyarrow as pa

    wide = np.zeros((len(degrees), 2), dtype="<i8")  # decimal128: the low half; the high half of positive values is 0
    wide[:, 0] = np.rint(degrees * 1e6)
    decimals = pa.Array.from_buffers(pa.decimal128(9, 6), len(degrees), [None, pa.py_buffer(wide)])
    return decimals.cast(pa.string())


def _write_rasters(landscape: Landscape, folder: Path) -> tuple[str, ...]:
    import rasterio
    from rasterio import Affine

    bands = {
        "elevation": ("int16", landscape.elevation_m, "m"),
        "precipitation": ("int16", landscape.precipitation_mm, "mm"),
        "temperature": ("float32", landscape.temperature_tenths / 10.0, "degree Celsius"),
    }
    for name, (dtype, values, unit) in bands.items():
        with rasterio.open(
            folder / f"{name}.tif",
            "w",
            driver="GTiff",
            width=N_COLUMNS,
            height=N_ROWS,
            count=1,
            dtype=dtype,
            nodata=NODATA,
            crs="EPSG:4326",
            transform=Affine(PIXEL / 1e6, 0.0, WEST / 1e6, 0.0, -PIXEL / 1e6, NORTH / 1e6),
            compress="deflate",
        ) as raster:
            raster.write(np.where(landscape.land, values, NODATA).astype(dtype).reshape(N_ROWS, N_COLUMNS), 1)
            raster.set_band_description(1, name)
            raster.units = (unit,)
    return tuple(f"{name}.tif" for name in bands)
