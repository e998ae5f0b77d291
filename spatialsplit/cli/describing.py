"""The command `describe`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from spatialsplit.cli.options import PATH, Pair
from spatialsplit.describing import Description, describe_table
from spatialsplit.tables import Dialect


@click.command()
@click.argument("table", metavar="FILE", type=PATH)
@click.option("--json", "as_json", is_flag=True, help="Print it as JSON.")
@click.option("--column", "columns", multiple=True, type=Pair(), help="Our name of a column = the file's. Repeat it.")
@click.option("--separator", help="Of a text table: , ; or \\t. Taken from its header unless said.")
@click.option("--encoding", default="utf-8", show_default=True, help="Of a text table.")
def describe(table: Path, as_json: bool, columns: tuple[tuple[str, str], ...], **options: Any) -> None:
    """Say what is in FILE as a build would read it, what looks odd, and give a recipe to start from.

    FILE is any table that a build reads: CSV, Parquet, a GBIF download, a Darwin Core archive, GeoPackage.

    Example:  spatialsplit describe flora/pa.csv
    """
    separator = "\t" if options["separator"] == "\\t" else options["separator"]
    found = describe_table(table, dict(columns), Dialect(separator, options["encoding"]))
    click.echo(json.dumps(found.as_dict(), ensure_ascii=False, indent=1) if as_json else "\n".join(lines_of(found)))


def lines_of(found: Description) -> list[str]:
    """Put a description into lines for a person."""
    missing = [f"{name} {n:,}" for name, n in found.missing.items() if n]
    time = [f"{found.time[name]}" for name in ("first_day", "last_day") if name in found.time] or [
        f"{found.time[name]}" for name in ("first_year", "last_year") if name in found.time
    ]
    facts = {
        "rows": f"{found.rows:,}",
        "columns": f"{len(found.columns):,}",
        "written as": ", ".join(f"{name} {value!r}" for name, value in found.dialect.items()),
        "mapped": ", ".join(f"{ours} = {theirs}" for ours, theirs in found.mapped.items()) or "nothing",
        "extent": "none" if found.extent is None else " ".join(f"{value:.6g}" for value in found.extent),
        "CRS": f"{found.crs or 'not known'} ({found.crs_reason})",
        "time": " to ".join(time) or "none",
        "species": "none" if found.species is None else f"{found.species:,}",
        "missing": ", ".join(missing) or "nothing",
    }
    lines = [found.name, *(f"  {name:<11} {value}" for name, value in facts.items())]
    for name, counts in found.values.items():
        lines.append(f"  {name}: " + ", ".join(f"{value or 'empty'} {n:,}" for value, n in list(counts.items())[:8]))
    lines += ["", "What looks odd", *(f"  {each.count:,} rows {each.says}" for each in found.suspicions)]
    if not found.suspicions:
        lines.append("  nothing")
    return [*lines, "", "A recipe to start from", "", found.recipe]
