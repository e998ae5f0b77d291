"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import click

from spatialsplit.cli.pairs import Pair, WholePair
from spatialsplit.engine import Engine, Threads
from spatialsplit.quadrats import Grid, grid_named
from spatialsplit.steps import Reading
from spatialsplit.tables import Dialect

F = TypeVar("F", bound=Callable[..., Any])

PATH = click.Path(path_type=Path)


def reading_options(function: F) -> F:
    """Add the options that say how a table is to be read."""
    for option in reversed(
        [
            click.option("--input-crs", default="EPSG:4326", show_default=True, help="CRS of the coordinates."),
            click.option(
                "--column",
                "columns",
                multiple=True,
                type=Pair(),
                help="Our name of a column = the file's, as in lon=x. Repeat it.",
            ),
            click.option("--separator", help="Of a text table: , ; or \\t. Taken from its header unless said."),
            click.option("--encoding", default="utf-8", show_default=True, help="Of a text table."),
            click.option(
                "--quoted/--not-quoted",
                default=None,
                help="Whether a quotation mark encloses cells; so it is, but for Darwin Core's tables.",
            ),
            click.option(
                "--coordinate-decimals",
                type=click.IntRange(0, 10),
                help="Round degrees first; as they are unless said.",
            ),
            click.option("--threads", type=click.IntRange(min=1), help="Threads to use; all processors unless said."),
        ]
    ):
        function = option(function)
    return function


def decimal_option(function: F) -> F:
    """Add the option that says how numbers are written, for commands that read coordinates of people's own tables."""
    option = click.option(
        "--decimal",
        type=click.Choice([".", ","]),
        default=".",
        show_default=True,
        help="Mark in coordinates, and in other numbers that are read.",
    )
    return option(function)


def grid_options(function: F) -> F:
    """Add the options that say which grid."""
    for option in reversed(
        [
            click.option("--crs", help="Projected CRS of the quadrats.  [default: EPSG:3035]"),
            click.option("--size", type=click.IntRange(min=1), help="Side of a quadrat in metres.  [default: 5000]"),
            click.option("--origin", type=WholePair(), help="A quadrat corner, easting,northing.  [default: 0,0]"),
            click.option("--grid", "preset", help="A grid by name: glc2022 or glc2024."),
        ]
    ):
        function = option(function)
    return function


def engine_options(function: F) -> F:
    """Add the options that say where the presence-only records are worked on."""
    for option in reversed(
        [
            click.option(
                "--engine",
                "engine_name",
                type=click.Choice(["auto", "dask"]),
                default="auto",
                show_default=True,
                help="Where presence-only records are worked on: in threads here, or by the workers of a Dask cluster.",
            ),
            click.option("--scheduler", help="Address of a running Dask scheduler, as in tcp://10.0.0.1:8786."),
        ]
    ):
        function = option(function)
    return function


@contextmanager
def engine_of(engine_name: str, scheduler: str | None, threads: int | None) -> Iterator[Engine]:
    """Give the engine that the options mean, for as long as it is needed."""
    if engine_name == "auto":
        if scheduler is not None:
            raise click.UsageError("--scheduler goes with --engine dask.")
        yield Threads(threads)
        return
    from spatialsplit.cluster import open_cluster

    with open_cluster(scheduler, threads) as cluster:
        yield cluster


def grid_of(crs: str | None, size: int | None, origin: tuple[int, int] | None, preset: str | None) -> Grid:
    """Give the grid that the options mean."""
    if preset is None:
        return Grid(crs or "EPSG:3035", size or 5000, origin or (0, 0))
    if (crs, size, origin) != (None, None, None):
        raise click.UsageError("--grid has its own CRS, size and origin: leave out --crs, --size and --origin.")
    return grid_named(preset)


def reading_of(
    input_crs: str,
    columns: tuple[tuple[str, str], ...],
    separator: str | None,
    encoding: str,
    quoted: bool | None,
    coordinate_decimals: int | None,
    threads: int | None,
    decimal: str = ".",
) -> Reading:
    """Give the reading that the options mean."""
    dialect = Dialect("\t" if separator == "\\t" else separator, encoding, quoted)
    return Reading(
        dict(columns), input_crs, coordinate_decimals, dialect, decimal_comma=decimal == ",", threads=threads
    )
