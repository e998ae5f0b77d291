"""Windows of a raster round points, cut and filed under `CD/AB/<id>`.

A patch always has its full size: what lies off the raster, or on no data, is missing there. Which pictures a model
loads, and from whose folders, stands in `pictures`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path, PurePath
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from rasterio.windows import Window

from spatialsplit.crs import WGS84
from spatialsplit.engine import map_in_order
from spatialsplit.errors import DataError
from spatialsplit.publishing import new_folder
from spatialsplit.rasters.patch_files import PatchForm, PatchWriter, Stored, patch_writer
from spatialsplit.rasters.patch_ids import PatchPlaces, read_patch_places
from spatialsplit.rasters.pictures import patch_path
from spatialsplit.rasters.pixels import Pixels, Raster, blocks_of, by_block, checked_places, pixels_of
from spatialsplit.rasters.points import PointColumns
from spatialsplit.rasters.values import Flags, is_nodata, needs_mask, read_hidden, read_window
from spatialsplit.tables import TableInput, write_table

INDEX = "index.csv"
INDEX_COLUMNS = ("path", "status", "n_missing", "reason")
"""What the index says of each id, beside the id and its coordinates."""

LARGEST_PATCH = 1 << 28
"""Numbers in a patch: 16,384 × 16,384 of one band. Each takes up to 8 bytes several times over."""


@dataclass(frozen=True)
class Patch:
    """One window of a raster.

    Attributes
    ----------
    position : int
        Of its point among those that were asked for.
    values : array, shape (n_bands, size, size)
        In the raster's type; the point lies in pixel (size // 2, size // 2).
    missing : array of bool, shape (n_bands, size, size)
        Off the raster, or without data; `values` mean nothing there.
    row, column : int
        Of its first pixel in the raster; negative where it sticks out.
    """

    position: int
    values: npt.NDArray[Any]
    missing: Flags
    row: int
    column: int


@dataclass(frozen=True)
class WrittenPatches:
    """What was written, and what not.

    Attributes
    ----------
    n_whole, n_partial : int
        Patches without and with missing pixels.
    failed : dict of str to int
        Reason to number of ids without a patch: `no_coordinate`, `outside` (the point is off the raster), `no_data`
        (all its pixels are missing).
    """

    folder: Path
    n_whole: int = 0
    n_partial: int = 0
    failed: dict[str, int] = field(default_factory=dict)


def patches_around(
    raster: Raster,
    east: npt.ArrayLike,
    north: npt.ArrayLike,
    size_px: int,
    *,
    bands: Sequence[int] | None = None,
    crs: str = WGS84,
) -> Iterator[Patch]:
    """Cut the window round each point that lies on the raster, in the order in which the file is stored.

    Parameters
    ----------
    raster : Raster
    east, north : array of float, shape (n,)
        As in `raster_values`.
    size_px : int
        Height and width of a window.
    bands : sequence of int, optional
        Counted from 1; all where not given.
    crs : str
        Of the points.

    Yields
    ------
    Patch
        For points off the raster there is none: `position` says whose each is.
    """
    with raster.open() as dataset:
        chosen = chosen_bands(raster, dataset, bands)
        pixels = pixels_of(raster, dataset, *checked_places(east, north), crs)
        yield from _cut_windows(raster, dataset, pixels, size_px, chosen)


def chosen_bands(raster: Raster, dataset: Any, bands: Sequence[int] | None) -> list[int]:
    """Give the bands to read, all of them where none is named.

    Raises
    ------
    DataError
        The raster has no such band.
    """
    unknown = [band for band in bands or () if not 1 <= band <= dataset.count]
    if unknown:
        raise DataError(
            f"No band {unknown[0]} in {raster.path}, which has {dataset.count}. Bands are counted from 1. "
            "Name those to take: --bands 1,2,3."
        )
    return list(bands or range(1, dataset.count + 1))


def _cut_windows(raster: Raster, dataset: Any, pixels: Pixels, size_px: int, bands: list[int]) -> Iterator[Patch]:
    _check_size(size_px, len(bands))
    inside = np.flatnonzero(pixels.inside)
    has_mask = needs_mask(dataset)
    for members in by_block(blocks_of(dataset), pixels.row[inside], pixels.column[inside]):
        for position in inside[members].tolist():
            top, left = (int(each[position]) - size_px // 2 for each in (pixels.row, pixels.column))
            values, missing = _read_window(raster, dataset, (top, left, size_px), bands, has_mask)
            yield Patch(position, values, missing, top, left)


def _check_size(size_px: int, n_bands: int) -> None:
    n_numbers = n_bands * size_px * size_px
    if size_px < 1 or n_numbers > LARGEST_PATCH:
        raise DataError(
            f"Invalid size of a patch: {n_bands} bands of {size_px:,} × {size_px:,} pixels are {n_numbers:,} numbers. "
            f"A patch has at least one pixel and at most {LARGEST_PATCH:,} numbers. Say another --size-px, or fewer "
            "--bands."
        )


def _read_window(
    raster: Raster, dataset: Any, place: tuple[int, int, int], bands: list[int], has_mask: bool
) -> tuple[npt.NDArray[Any], Flags]:
    """Read the part of a window that lies on the raster; the rest stays missing."""
    top, left, size = place
    first_row, first_column = max(top, 0), max(left, 0)
    height = min(top + size, dataset.height) - first_row
    width = min(left + size, dataset.width) - first_column
    window = Window(first_column, first_row, width, height)
    read = read_window(dataset, bands, window)
    lacking = is_nodata(raster, dataset, read, bands)
    if has_mask:
        lacking |= read_hidden(dataset, bands, window)
    values = np.zeros((len(bands), size, size), dtype=read.dtype)
    missing = np.ones(values.shape, dtype=bool)
    there = np.s_[:, first_row - top : first_row - top + height, first_column - left : first_column - left + width]
    values[there], missing[there] = read, lacking
    return values, missing


def write_patches(
    table: TableInput,
    raster: Raster,
    folder: Path | str,
    form: PatchForm,
    *,
    id_column: str | None = None,
    columns: PointColumns | None = None,
    force: bool = False,
    n_threads: int = 1,
    progress: Callable[[int], None] = lambda n: None,
) -> WrittenPatches:
    """Write a patch for each id of a table, and `index.csv`, which says where each is or why there is none.

    Parameters
    ----------
    table : TableInput
        Points. Rows of one id (a survey has one for each species) lie in one place and get one patch.
    raster : Raster
    folder : path
        Appears when, and only when, all is written.
    form : PatchForm
        Size, bands, and the form of the files.
    id_column : str, optional
        `surveyId`, `observation_id`, `patchID` or `glcID`, whichever the table has first, where it is not given.
    columns : PointColumns, optional
    force : bool
        Replace a folder of patches that is there already.
    n_threads : int
        The raster is read in one thread, files are made in so many. The patches are the same.
    progress : function
        Called with the number of patches so far.

    Returns
    -------
    WrittenPatches

    Raises
    ------
    DataError
        An id is missing, cannot name a file, or lies in two places; a column, coordinate or raster is wrong.
    OutputError
        The folder exists and may not be replaced.
    """
    places = read_patch_places(table, id_column, columns or PointColumns())
    _check_index_names(places)
    target = Path(folder)
    with raster.open() as dataset:
        pixels = pixels_of(raster, dataset, places.east, places.north, places.crs)
        places.refuse_moving_ids()
        stored = form.stored(raster, dataset, chosen_bands(raster, dataset, form.bands))
        with new_folder(target, force=force, replaces=INDEX) as working:
            patches = _cut_windows(raster, dataset, pixels, form.size_px, stored.bands)
            task = _WriteTask(places.ids, stored.form.ending, patch_writer(stored, dataset), working)
            rows = _no_rows(pixels, places)
            for number, made in enumerate(map_in_order(task, patches, n_threads), start=1):
                rows.note(*made)
                progress(number)
            _write_index(working / INDEX, places, rows)
            _write_description(working / "patches.json", raster, stored, rows)
    return _summary(target, rows)


def _check_index_names(places: PatchPlaces) -> None:
    names = [places.id_column, places.east_column, places.north_column, *INDEX_COLUMNS]
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        raise DataError(
            f"{INDEX} would have two columns '{repeated[0]}'. It has the ids, both coordinates and "
            f"{', '.join(INDEX_COLUMNS)}. Choose another column of ids with --id-col, or rename that one."
        )


@dataclass
class _Rows:
    """A row an id of the index, in the order of the table."""

    path: list[str]
    status: list[str]
    n_missing: list[int | None]
    reason: list[str]

    def note(self, position: int, n_missing: int, path: PurePath | None) -> None:
        """Say where the patch of an id is, and that there is none where all its pixels are missing."""
        self.n_missing[position] = n_missing
        if path is not None:
            self.path[position], self.reason[position] = path.as_posix(), ""
            self.status[position] = "partial" if n_missing else "whole"


def _no_rows(pixels: Pixels, places: PatchPlaces) -> _Rows:
    """Give the index of no patches, with the reason that each has as long as none is written."""
    n = len(places.ids)
    reasons = np.where(pixels.inside, "no_data", np.where(np.isnan(places.east), "no_coordinate", "outside"))
    return _Rows([""] * n, ["failed"] * n, [None] * n, reasons.tolist())


@dataclass(frozen=True)
class _WriteTask:
    """Write one patch, where it has any pixel."""

    ids: Sequence[str]
    ending: str
    write: PatchWriter
    folder: Path

    def __call__(self, patch: Patch) -> tuple[int, int, PurePath | None]:
        n_missing = int(patch.missing.any(axis=0).sum())
        if patch.missing.all():
            return patch.position, n_missing, None
        path = patch_path(self.ids[patch.position], self.ending)
        (self.folder / path).parent.mkdir(parents=True, exist_ok=True)
        self.write(self.folder / path, patch.values, patch.missing, patch.row, patch.column)
        return patch.position, n_missing, path


def _write_index(path: Path, places: PatchPlaces, rows: _Rows) -> None:
    cells = {
        places.id_column: pa.array(places.ids, pa.string()),
        places.east_column: pa.array(places.east_texts, pa.string()),
        places.north_column: pa.array(places.north_texts, pa.string()),
    }
    found = (rows.path, rows.status, rows.n_missing, rows.reason)
    for name, values in zip(INDEX_COLUMNS, found, strict=True):
        cells[name] = pa.array(values, pa.int64() if name == "n_missing" else pa.string())
    write_table(path, pa.table(cells))


def _write_description(path: Path, raster: Raster, stored: Stored, rows: _Rows) -> None:
    content = {
        "raster": Path(raster.path).name,
        "bands": stored.bands,
        "form": asdict(stored.form),
        "nodata": stored.nodata_text,
        "counts": {status: rows.status.count(status) for status in ("whole", "partial", "failed")},
    }
    path.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")


def _summary(folder: Path, rows: _Rows) -> WrittenPatches:
    reasons = [reason for reason in rows.reason if reason]
    failed = {reason: reasons.count(reason) for reason in sorted(set(reasons))}
    return WrittenPatches(folder, rows.status.count("whole"), rows.status.count("partial"), failed)
