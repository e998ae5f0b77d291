"""The commands that judge: `audit` proves a split honest, `verify` holds a dataset against its manifest."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from spatialsplit.cli import CHECK_FAILED
from spatialsplit.cli.pairs import Pair
from spatialsplit.errors import DataError

if TYPE_CHECKING:
    from spatialsplit.audit import AuditReport
    from spatialsplit.audit.grids import Grid

_TABLE = click.Path(path_type=Path)
_FAR = 1e9
"""More metres than any coordinate has."""


def _a_number(_ctx: click.Context, _option: click.Parameter, value: float | None) -> float | None:
    """Refuse what no bound refuses: `nan` is neither below one nor above."""
    if value is not None and math.isnan(value):
        raise click.BadParameter("nan is no number of metres.")
    return value


@click.command()
@click.argument("folder", metavar="[DIR]", required=False, type=click.Path(path_type=Path))
@click.option("--train", multiple=True, type=_TABLE, help="Surveys or records to train on (repeatable).")
@click.option("--val", multiple=True, type=_TABLE, help="Surveys or records for validation (repeatable).")
@click.option("--test", multiple=True, type=_TABLE, help="Test surveys or records (repeatable).")
@click.option("--po", multiple=True, type=_TABLE, help="Presence-only records to train on (repeatable).")
@click.option("--crs", help="CRS of the grid, as EPSG:3035.")
@click.option("--size", type=click.FloatRange(0.01, 1e8), callback=_a_number, help="Side of a quadrat, metres.")
@click.option("--origin", help="Corner of a quadrat: easting,northing.  [default: 0,0]")
@click.option("--grid", "preset", type=click.Choice(["glc2022", "glc2024"]), help="A grid by name.")
@click.option(
    "--radius",
    type=click.FloatRange(0, 1e8),
    callback=_a_number,
    help="No presence-only record may be this near, metres.",
)
@click.option(
    "--column",
    "columns",
    multiple=True,
    type=Pair(),
    help="Our name of a column = the tables', as in lon=x. Repeat it.",
)
@click.option("--find-grid", is_flag=True, help="Look for the grid that the split respects.")
@click.option("--seed", help="The revealed seed of a sealed draw.")
@click.option("--json", "as_json", is_flag=True, help="Write JSON for programs.")
@click.pass_context
def audit(ctx: click.Context, /, folder: Path | None, as_json: bool, **options: Any) -> None:
    """Prove a split honest from its published files: a dataset folder DIR, or single tables.

    Exit code 0: no check failed (one that cannot run is no failure). 3: a check failed. 1: nothing to audit.

    Example:  spatialsplit audit dataset

    Example:  spatialsplit audit --train train.csv --test test.csv --po po.csv --crs EPSG:3035 --size 5000 --radius 300

    Example:  spatialsplit audit --train train.csv --test test.csv --find-grid
    """
    report = _report_of_folder(folder, options) if folder is not None else _report_of_tables(options)
    click.echo(report.as_json() if as_json else report.as_text())
    if not report.passed:
        ctx.exit(CHECK_FAILED)


def _option(name: str) -> str:
    """Name an option as it is written."""
    return {"preset": "--grid", "columns": "--column"}.get(name, f"--{name.replace('_', '-')}")


def _report_of_folder(folder: Path, options: dict[str, Any]) -> AuditReport:
    from spatialsplit.audit import audit_dataset

    said_there = ("crs", "size", "origin", "preset", "find_grid", "columns")  # a dataset says so itself
    given = [_option(name) for name in ("train", "val", "test", "po", *said_there) if options[name]]
    if given:
        raise click.UsageError(f"Give DIR or {given[0]}, not both.")
    return audit_dataset(folder, seed=options["seed"], radius_m=options["radius"])


def _report_of_tables(options: dict[str, Any]) -> AuditReport:
    from spatialsplit.audit import audit_tables

    if not options["train"] and not options["test"]:
        raise click.UsageError("Give the folder of a dataset, or tables with --train and --test.")
    if options["seed"]:
        raise click.UsageError("--seed needs the folder of a dataset: single tables do not say how they were drawn.")
    roles = ("train", "val", "test", "po")
    tables = {role: options[role] for role in roles if options[role]}
    return audit_tables(
        tables,
        grid=_grid(options),
        radius_m=options["radius"],
        search_grid=options["find_grid"],
        columns=dict(options["columns"]),
    )


def _grid(options: dict[str, Any]) -> Grid | None:
    from spatialsplit.audit.grids import Grid, named_grid

    beside = [_option(name) for name in ("crs", "size", "origin") if options[name]]
    if options["preset"]:
        if beside:
            raise click.UsageError(f"Give --grid or {beside[0]}, not both.")
        return named_grid(options["preset"])
    if (options["crs"] is None) != (options["size"] is None):
        raise click.UsageError("Give --crs and --size together, as --crs EPSG:3035 --size 10000.")
    if options["crs"] is None:
        if beside:
            raise click.UsageError("--origin needs --crs and --size.")
        return None
    try:
        east, north = (float(part) for part in (options["origin"] or "0,0").split(","))
        if not abs(east) + abs(north) < _FAR:
            raise ValueError
    except ValueError:
        raise click.UsageError(
            f"Invalid --origin {options['origin']!r}. Give easting,northing, as 5000,5000."
        ) from None
    return Grid(options["crs"], options["size"], (east, north))


@click.command()
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@click.pass_context
def verify(ctx: click.Context, /, folder: Path) -> None:
    """Check the files of a dataset against its manifest and its checksums.

    Exit code 3 if a file is missing, changed or not listed, with a line for each.

    Example:  spatialsplit verify dataset
    """
    from spatialsplit.manifest import verify_dataset

    if not folder.is_dir():
        raise DataError(f"No such folder: {folder}. Give the folder of a dataset.")
    problems = verify_dataset(folder)
    for problem in problems:
        click.echo(problem)
    if problems:
        ctx.exit(CHECK_FAILED)
    click.echo(f"{folder}: every file is as the manifest says.")
