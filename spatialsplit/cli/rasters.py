"""The commands `extract` and `patches`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.progress import Progress

from spatialsplit.cli.options import PATH, reading_of, reading_options
from spatialsplit.crs import is_ballpark
from spatialsplit.engine import default_threads
from spatialsplit.rasters import (
    Extraction,
    PatchForm,
    PointColumns,
    Raster,
    WrittenPatches,
    extract_values,
    write_patches,
)
from spatialsplit.rasters.patch_files import FORMATS
from spatialsplit.tables import TableInput

READING = ("input_crs", "columns", "separator", "encoding", "quoted", "coordinate_decimals", "threads")
NODATA_HELP = "A value that means no data though the file does not say so; of all rasters, or of one."
RASTER_OPTIONS = [
    click.option("--nodata", multiple=True, metavar="[NAME=]VALUE", help=NODATA_HELP),
    click.option("--raster-crs", help="CRS of rasters that declare none."),
]


def raster_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options that say how rasters are to be read, and the points' own."""
    command = reading_options(command)
    for option in reversed(RASTER_OPTIONS):
        command = option(command)
    return command


def points_of(paths: Sequence[Path], options: dict[str, Any]) -> tuple[TableInput, PointColumns]:
    """Open the points as the options say."""
    reading = reading_of(*(options[name] for name in READING))
    unknown = [name for name in reading.columns if name not in ("lon", "lat")]
    if unknown:
        raise click.UsageError(f"--column {unknown[0]}: only lon and lat are looked for.")
    return TableInput(paths, reading.dialect), PointColumns(reading.columns, reading.crs, reading.decimals)


@click.command(name="extract")
@click.argument("points", type=PATH)
@click.option(
    "--raster",
    "files",
    multiple=True,
    required=True,
    metavar="[NAME=]FILE",
    help="A raster; may be given several times.",
)
@click.option("--out", required=True, type=PATH, help="CSV or Parquet to write.")
@click.option("--scaled", is_flag=True, help="Apply the scale and offset that a raster declares.")
@raster_options
def extract(points: Path, files: tuple[str, ...], out: Path, scaled: bool, **options: Any) -> None:
    """Write the rows of POINTS in their order, text for text, with a column for each raster.

    The column is the file's stem, or <stem>_1, <stem>_2, … for the bands of a raster that has several. Off the raster,
    on no data, and without a coordinate it is empty; how often is told on stderr.

    Example:  spatialsplit extract flora/pa.csv --raster flora/rasters/elevation.tif --out environment.csv
    """
    rasters = read_rasters(files, options["nodata"], options["raster_crs"])
    table, columns = points_of((points,), options)
    with _counted("Reading rasters", len(rasters)) as advance:
        extraction = extract_values(
            table,
            rasters,
            out,
            columns=columns,
            scaled=scaled,
            n_threads=options["threads"] or default_threads(),
            progress=advance,
        )
    _tell(_ballpark_note(options["input_crs"]))
    _tell(_extraction_lines(extraction))
    click.echo(f"Wrote {extraction.n_rows:,} rows to {out}.", err=True)


@click.command(name="patches")
@click.argument("points", type=PATH, nargs=-1, required=True)
@click.option("--raster", "file", required=True, metavar="FILE", help="The raster to cut from.")
@click.option(
    "--size-px", default=128, show_default=True, type=click.IntRange(min=1), help="Height and width of a patch."
)
@click.option("--out", required=True, type=PATH, help="Folder to write.")
@click.option(
    "--format",
    "form",
    default="tif",
    show_default=True,
    type=click.Choice(FORMATS),
    help="GeoTIFF, or 8-bit pictures.",
)
@click.option("--bands", metavar="1,2,3", help="Bands to take, counted from 1; all where not given.")
@click.option(
    "--stretch", metavar="LOW,HIGH[,GAMMA]", help="How numbers become 0 to 255 (GeoLifeCLEF 2023: 0,10000,2.5)."
)
@click.option("--suffix", default="", help="Between id and ending, such as _rgb.")
@click.option("--id-col", help="Column whose ids name the files, where it is not a known one.")
@click.option("--force", is_flag=True, help="Replace a folder of patches.")
@raster_options
def patches(
    points: tuple[Path, ...], file: str, size_px: int, out: Path, form: Any, force: bool, **options: Any
) -> None:
    """Cut a window of a raster round each point of POINTS (one table or several), and file it under OUT/CD/AB/<id>.

    OUT/index.csv says for each id where its patch is, how many of its pixels are missing, or why it has none. The point
    lies in pixel (size // 2, size // 2); off the raster, pixels are missing.

    Example:  spatialsplit patches test_blind.csv --raster flora/rasters/elevation.tif --size-px 32 --out patches
    """
    raster = read_rasters((file,), options["nodata"], options["raster_crs"])[0]
    bands = tuple(_whole_numbers(options["bands"], "--bands")) or None
    stretch = _stretch(options["stretch"])
    table, columns = points_of(points, options)
    with _counted("Cutting patches", None) as advance:
        written = write_patches(
            table,
            raster,
            out,
            PatchForm(size_px, form, bands, stretch, options["suffix"]),
            id_column=options["id_col"],
            columns=columns,
            force=force,
            n_threads=options["threads"] or default_threads(),
            progress=advance,
        )
    _tell(_ballpark_note(options["input_crs"]))
    click.echo(_patches_line(written), err=True)


def read_rasters(files: Iterable[str], nodata: Iterable[str] = (), crs: str | None = None) -> list[Raster]:
    """Read `[NAME=]FILE` and `[NAME=]VALUE` as rasters; a file that is there with `=` in its path is a file."""
    rasters = []
    for text in files:
        name, mark, path = text.partition("=")
        named = bool(mark) and not Path(text).exists()
        rasters.append(Raster(Path(path if named else text), name if named else None, (), crs))
    for text in nodata:
        name, mark, value = text.rpartition("=")
        number = _nodata(value)
        if mark and name not in {raster.column for raster in rasters}:
            known = ", ".join(raster.column for raster in rasters)
            raise click.UsageError(f"--nodata {text}: there is no raster '{name}'. Known: {known}.")
        rasters = [
            replace(raster, nodata=(*raster.nodata, number)) if not mark or raster.column == name else raster
            for raster in rasters
        ]
    return rasters


def _numbers(text: str | None, option: str) -> list[float]:
    try:
        return [float(part) for part in text.split(",")] if text is not None else []
    except ValueError:
        raise click.UsageError(f"{option} must be numbers with commas between them, and is '{text}'.") from None


def _whole_numbers(text: str | None, option: str) -> list[int]:
    try:
        return [int(part) for part in text.split(",")] if text is not None else []
    except ValueError:
        raise click.UsageError(f"{option} must be whole numbers with commas between them, and is '{text}'.") from None


def _nodata(text: str) -> float:
    """Read one value; a whole number stays one, as doubles do not tell those beyond 2^53 apart."""
    for kind in (int, float):
        with suppress(ValueError):
            return kind(text)
    raise click.UsageError(f"--nodata must be one number, and is '{text}'. Give it several times for several.")


def _stretch(text: str | None) -> tuple[float, float, float] | None:
    numbers = _numbers(text, "--stretch")
    if not numbers:
        return None
    if len(numbers) not in (2, 3):
        raise click.UsageError(f"--stretch must be LOW,HIGH or LOW,HIGH,GAMMA, and is '{text}'.")
    return numbers[0], numbers[1], numbers[2] if len(numbers) == 3 else 1.0


@contextmanager
def _counted(what: str, total: int | None) -> Iterator[Callable[[Any], None]]:
    """Show a bar on a terminal; elsewhere nothing."""
    with Progress(console=Console(stderr=True), transient=True, disable=not Console(stderr=True).is_terminal) as bar:
        task = bar.add_task(what, total=total)
        yield lambda done: bar.advance(task)


def _tell(lines: Iterable[str]) -> None:
    for line in lines:
        click.echo(line, err=True)


def _ballpark_note(crs: str) -> list[str]:
    if not is_ballpark(crs):
        return []
    return [f"Warning: PROJ knows no datum shift for {crs}; points may be off by hundreds of metres."]


def _extraction_lines(extraction: Extraction) -> list[str]:
    lines = []
    for name, values in extraction.rasters:
        counts = [(values.n_unplaced, "without a place"), (values.n_outside, "off the raster")]
        counts += [
            (n, "on no data" + (f" in {band}" if len(values.names) > 1 else ""))
            for band, n in zip(values.names, values.n_nodata, strict=True)
        ]
        missing = ", ".join(f"{n:,} {what}" for n, what in counts if n)
        lines.append(f"{name}: {extraction.n_rows:,} points{f'; missing: {missing}' if missing else ', none missing'}.")
    return lines


def _patches_line(written: WrittenPatches) -> str:
    n_written = written.n_whole + written.n_partial
    failed = ", ".join(f"{n:,} {reason}" for reason, n in written.failed.items())
    partial = f", {written.n_partial:,} of them with missing pixels" if written.n_partial else ""
    without = f" None for: {failed} (see index.csv)." if failed else ""
    return f"Wrote {n_written:,} patches{partial}, to {written.folder}.{without}"
