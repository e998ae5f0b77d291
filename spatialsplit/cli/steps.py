"""The commands that are one step each: `quadrats`, `draw`, `surveys`, `filter-po`, and `new-seed`."""

from __future__ import annotations

import dataclasses
import json
import secrets
from pathlib import Path
from typing import Any

import click

from spatialsplit.cli.options import (
    PATH,
    decimal_option,
    engine_of,
    engine_options,
    grid_of,
    grid_options,
    reading_of,
    reading_options,
)
from spatialsplit.cli.pairs import Pair
from spatialsplit.cli.progress import progress_bar
from spatialsplit.draw import METHODS, SHARES_OF, DrawRules, Holdout
from spatialsplit.errors import DataError
from spatialsplit.layouts import FLOAT_SPECIES, INPUT_FILES
from spatialsplit.occurrences.dates import DateRules
from spatialsplit.steps import (
    DrawTask,
    FilterOutputs,
    SiteTable,
    add_quadrats,
    draw_table,
    filter_po_table,
    write_surveys,
)
from spatialsplit.surveys import COORDINATE_RULES, SurveyRules

LAYOUTS = tuple(INPUT_FILES)
GRID = ("crs", "size", "origin", "preset")
DRAW = ("seed", "holdouts", "share_of", "strata", "method", "remainder", "fixed", "extend", "least", "species")


def _taken(options: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: options.pop(name) for name in names}


@click.command()
@click.argument("points", type=PATH)
@click.option("--out", required=True, type=PATH, help="CSV or Parquet, by its ending.")
@click.option("--keep-unassigned", is_flag=True, help="Keep rows without a place, with an empty quadratId.")
@grid_options
@decimal_option
@reading_options
def quadrats(points: Path, out: Path, keep_unassigned: bool, **options: Any) -> None:
    """Write the rows of POINTS with the quadrat of each, in a column quadratId.

    Example:  spatialsplit quadrats flora/pa.csv --crs EPSG:3035 --size 5000 --out pa_quadrats.csv
    """
    grid = grid_of(**_taken(options, *GRID))
    for warning in add_quadrats(points, out, grid, reading_of(**options), keep_unassigned=keep_unassigned):
        click.echo(f"Warning: {warning}", err=True)


@click.command()
@click.argument("points", type=PATH)
@click.option("--seed", required=True, help="Any text without |.")
@click.option(
    "--holdout",
    "holdouts",
    required=True,
    multiple=True,
    type=Pair(),
    help="name=share, in the order of the draw. Repeat it.",
)
@click.option("--out", required=True, type=PATH, help="Gets a row a quadrat: its count, its numbers, its subset.")
@click.option("--rows", type=PATH, help="Gets the rows of POINTS with their subset.")
@click.option(
    "--share-of", type=click.Choice(SHARES_OF), default="quadrats", show_default=True, help="What a share counts."
)
@click.option("--strata", help="Column over whose values the draw is balanced.")
@click.option("--method", type=click.Choice(METHODS), default="quota", show_default=True)
@click.option("--remainder", default="train", show_default=True, help="Subset of the quadrats that no holdout takes.")
@click.option(
    "--quadrats",
    "fixed",
    type=PATH,
    help="A fixed assignment: a table of quadratId and subset. Others belong to the remainder.",
)
@click.option("--extend", type=PATH, help="An earlier assignment that stays; only new quadrats are drawn.")
@click.option(
    "--min-train-quadrats",
    "least",
    type=click.IntRange(min=0),
    default=0,
    help="Of each species so many quadrats stay in the remainder: 1 promises each species there.",
)
@click.option("--species", help="Column of the species, for --min-train-quadrats; speciesId unless said.")
@grid_options
@decimal_option
@reading_options
def draw(points: Path, out: Path, rows: Path | None, **options: Any) -> None:
    """Draw holdouts of whole quadrats among those that the rows of POINTS lie in.

    POINTS has a column quadratId, or coordinates. A quadrat's number in a draw is the first 16 digits of
    printf '%s' 'SEED|HOLDOUT|QUADRAT' | sha256sum; the smallest numbers are taken.

    Example:  spatialsplit draw pa_quadrats.csv --seed 42 --holdout test=0.025 --out draw.csv --rows pa_split.csv
    """
    grid = grid_of(**_taken(options, *GRID))
    asked = _taken(options, *DRAW)
    if asked["fixed"] and asked["extend"]:
        raise click.UsageError("--quadrats and --extend both name an assignment: give one.")
    rules = DrawRules(
        [_holdout(name, share) for name, share in asked["holdouts"]],
        asked["method"],
        asked["share_of"],
        asked["remainder"],
        asked["least"],
    )
    if asked["species"] and not asked["least"]:
        raise click.UsageError("--species names the column for --min-train-quadrats: give both.")
    if asked["fixed"] and asked["least"]:
        raise click.UsageError("--quadrats leaves nothing to draw, so --min-train-quadrats cannot be kept: give one.")
    if asked["strata"] and asked["method"] == "threshold":
        raise click.UsageError(
            "--strata and --method threshold exclude each other: a threshold looks at one quadrat at a time."
        )
    task = DrawTask(
        rules,
        asked["seed"],
        grid,
        asked["strata"],
        asked["fixed"],
        asked["extend"],
        asked["species"] or DrawTask.species,
    )
    drawn = draw_table(points, out, task, rows=rows, reading=reading_of(**options))
    if asked["fixed"]:
        for name in sorted(set(drawn.subsets.values())):
            n = sum(subset == name for subset in drawn.subsets.values())
            click.echo(f"{name}: {n:,} of {len(drawn.subsets):,} quadrats, as {asked['fixed'].name} says", err=True)
        return
    for holdout in drawn.holdouts:
        click.echo(
            f"{holdout.name}: {holdout.drawn:,} of {holdout.free:,} free quadrats, {holdout.surveys_drawn:,} of "
            f"{holdout.surveys_free:,} rows"
            + (f", {holdout.passed_over:,} passed over for their species" if asked["least"] else ""),
            err=True,
        )


def _holdout(name: str, share: str) -> Holdout:
    try:
        return Holdout(name, float(share))
    except ValueError as error:
        if isinstance(error, DataError):
            raise
        raise click.UsageError(f"'{share}' in --holdout {name}={share} is not a number, as in {name}=0.025.") from None


@click.command()
@click.argument("pa", type=PATH)
@click.option("--keys", default="patchID,dayOfYear", show_default=True, help="Columns that name a survey together.")
@click.option("--out", required=True, type=PATH, help="Gets a row a survey.")
@click.option(
    "--coordinates",
    type=click.Choice(COORDINATE_RULES),
    default="error",
    show_default=True,
    help="For surveys with several places.",
)
@click.option(
    "--carry",
    help="Columns to keep, with commas between, as in region,country; each is the same in all rows of a survey.",
)
@click.option(
    "--layout", type=click.Choice(LAYOUTS), help="GeoLifeCLEF's own files; from 2023 on, 6310.0 is species 6310."
)
@click.option("--day-first", is_flag=True, help="Dates such as 3.4.2021 have the day first.")
@click.option("--time-zone", help="Zone in which dates that are seconds begin their day, as in Europe/Paris.")
@click.option(
    "--wide", multiple=True, help="Species columns of a wide table: a name or a pattern such as 'swi*'. Repeat it."
)
@decimal_option
@reading_options
def surveys(pa: Path, keys: str, out: Path, wide: tuple[str, ...], **options: Any) -> None:
    """Group the presence-absence rows of PA into surveys: one visit to one place, with all its species.

    Example:  spatialsplit surveys flora/pa.csv --keys patchID,dayOfYear --out surveys.csv
    """
    asked = _taken(options, "coordinates", "carry", "layout", "day_first", "time_zone")
    rules = SurveyRules(_listed(keys), asked["coordinates"], options["coordinate_decimals"])
    reading = dataclasses.replace(
        reading_of(**options),
        dates=DateRules(asked["day_first"], asked["time_zone"]),
        float_species=asked["layout"] in FLOAT_SPECIES,
    )
    n = write_surveys(pa, out, rules, wide=wide or None, reading=reading, carry=_listed(asked["carry"] or ""))
    click.echo(f"{n:,} surveys", err=True)


def _listed(text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(",") if name.strip())


@click.command("filter-po")
@click.argument("po", type=PATH)
@click.option("--sites", required=True, type=PATH, help="Table of the sites to keep away from.")
@click.option("--where", type=Pair(), help="Only the sites with this value, as in subset=test.")
@click.option(
    "--radius", required=True, type=float, help="Metres on the WGS84 ellipsoid; a record at the radius is removed."
)
@click.option("--out", required=True, type=PATH, help="Gets the kept rows, untouched.")
@click.option("--removed", type=PATH, help="Gets the removed rows, with distance_m and the nearest site.")
@click.option("--uncertainty-column", help="Column whose metres are added to a record's radius.")
@click.option("--site-id", help="Column that names a site; surveyId and the like are found by themselves.")
@click.option("--sites-crs", help="CRS of the sites; --input-crs unless said.")
@click.option("--sites-column", "sites_columns", multiple=True, type=Pair(), help="As --column, for the sites.")
@click.option("--json", "as_json", is_flag=True, help="Print the counts as JSON.")
@engine_options
@decimal_option
@reading_options
def filter_po(
    po: Path, sites: Path, radius: float, out: Path, removed: Path | None, as_json: bool, **options: Any
) -> None:
    """Remove the presence-only records of PO that lie within a radius of a site.

    Example:  spatialsplit filter-po flora/po.csv --sites pa_split.csv --where subset=test --radius 300 --out kept.csv
    """
    names = ("where", "uncertainty_column", "site_id", "sites_crs", "sites_columns", "engine_name", "scheduler")
    asked = _taken(options, *names)
    reading = reading_of(**options)
    columns = dict(asked["sites_columns"]) if asked["sites_columns"] else reading.columns
    of_sites = dataclasses.replace(reading, columns=columns, crs=asked["sites_crs"] or reading.crs)
    table = SiteTable(sites, asked["where"], asked["site_id"], of_sites)
    engine_words = asked["engine_name"], asked["scheduler"], reading.threads
    with engine_of(*engine_words) as engine, progress_bar("records") as on_progress:
        reading = dataclasses.replace(reading, on_progress=on_progress)
        counts = filter_po_table(
            *(po, table, radius, FilterOutputs(out, removed)),
            uncertainty=asked["uncertainty_column"],
            reading=reading,
            engine=engine,
        )
    if as_json:
        click.echo(
            json.dumps({"in": counts.n_in, "kept": counts.n_kept, "removed": counts.n_removed, "sites": counts.n_sites})
        )
    else:
        click.echo(
            f"{counts.n_removed:,} of {counts.n_in:,} records removed, {counts.n_kept:,} kept ({counts.n_sites:,} "
            f"sites)",
            err=True,
        )


@click.command("new-seed")
def new_seed() -> None:
    """Print a strong seed: 32 hexadecimal digits from the system's source of randomness.

    Example:  export GLC_SEED=$(spatialsplit new-seed)
    """
    click.echo(secrets.token_hex(16))
