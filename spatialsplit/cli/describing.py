"""The command `describe`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from spatialsplit.cli.options import PATH
from spatialsplit.cli.pairs import Pair
from spatialsplit.describing import Description, describe_tables
from spatialsplit.describing.drafting import NO_SURVEYS
from spatialsplit.errors import OutputError
from spatialsplit.tables import Dialect


@click.command()
@click.argument("tables", metavar="FILE...", type=PATH, nargs=-1, required=True)
@click.option("--recipe", type=PATH, help="New file for the recipe, instead of printing it.")
@click.option("--json", "as_json", is_flag=True, help="Print it as JSON.")
@click.option("--column", "columns", multiple=True, type=Pair(), help="Our name of a column = the file's. Repeat it.")
@click.option("--separator", help="Of a text table: , ; or \\t. Taken from its header unless said.")
@click.option("--encoding", default="utf-8", show_default=True, help="Of a text table.")
def describe(
    tables: tuple[Path, ...], recipe: Path | None, as_json: bool, columns: tuple[tuple[str, str], ...], **options: Any
) -> None:
    """Say what is in FILE as a build would read it, what looks odd, and give a recipe to start from.

    FILE is any table that a build reads: CSV, Parquet, a GBIF download, a Darwin Core archive, GeoPackage. Surveys and
    presence-only records that belong together are given together: the recipe is then one for both.

    Example:  spatialsplit describe flora/pa.csv

    Example:  spatialsplit describe flora/pa.csv flora/po.csv --recipe recipe.toml
    """
    if recipe is not None and recipe.exists():
        raise OutputError(f"{recipe} is there already. Name a new file.")
    separator = "\t" if options["separator"] == "\\t" else options["separator"]
    folder = recipe.parent if recipe else Path()
    found, draft = describe_tables(tables, dict(columns), Dialect(separator, options["encoding"]), folder)
    if recipe is not None:
        recipe.write_text(draft, "utf-8", newline="\n")
    if as_json:
        contents = [each.as_dict() for each in found]
        click.echo(json.dumps(contents[0] if len(contents) == 1 else contents, ensure_ascii=False, indent=1))
        return
    for each in found:
        click.echo("\n".join([*lines_of(each), ""]))
    click.echo(f"Wrote {recipe}, a recipe to start from." if recipe else draft, nl=False)
    click.echo(f"\n{_next(recipe, found, draft)}" if recipe else "")


def _next(recipe: Path, found: list[Description], draft: str) -> str:
    """Say what to do with the recipe: fill in first what could not be known."""
    build = f"spatialsplit build {recipe} --out dataset"
    if any(each.questions for each in found):
        return f"Next:  answer in {recipe} what is not known above, then:  {build}"
    if NO_SURVEYS in draft:
        return f"Next:  name your surveys under [inputs.pa] of {recipe}, then:  {build}"
    return f"Next:  {build}"


def lines_of(found: Description) -> list[str]:
    """Put a description into lines for a person."""
    missing = [f"{name} {n:,}" for name, n in found.missing.items() if n]
    time = [f"{found.time[name]}" for name in ("first_day", "last_day") if name in found.time] or [
        f"{found.time[name]}" for name in ("first_year", "last_year") if name in found.time
    ]
    facts = {
        "rows": f"{found.rows:,}",
        "columns": f"{len(found.columns):,}",
        "written as": ", ".join(_written_as(found.dialect)),
        "mapped": ", ".join(f"{ours} = {theirs}" for ours, theirs in found.mapped.items()) or "nothing",
        "extent": "none" if found.extent is None else " ".join(f"{value:.6g}" for value in found.extent),
        "CRS": f"{found.crs or 'not known'} ({found.crs_reason})",
        "time": " to ".join(time) or "none",
        "species": _species(found),
        "missing": ", ".join(missing) or "nothing",
    }
    lines = [found.name, *(f"  {name:<11} {value}" for name, value in facts.items())]
    for name, counts in found.values.items():
        lines.append(f"  {name}: " + ", ".join(f"{value or 'empty'} {n:,}" for value, n in list(counts.items())[:8]))
    rows = [f"  {each.count:,} row{'s' if each.count != 1 else ''} {each.says}" for each in found.suspicions]
    lines += ["", "What looks odd", *(rows or ["  nothing"])]
    if found.questions:
        lines += ["", "What is not known", *(f"  {each}" for each in found.questions)]
    return lines


def _written_as(dialect: dict[str, Any]) -> Iterator[str]:
    """Say how a table is written in words."""
    yield f"{dialect['format']}, {dialect['files']} files" if dialect["files"] > 1 else str(dialect["format"])
    if "separator" not in dialect:
        return
    yield "cut at tabs" if dialect["separator"] == "\t" else f"cut at {dialect['separator']!r}"
    yield dialect["encoding"]
    if not dialect["quoted"]:
        yield "without quotation marks"
    if dialect["packed"] != "plain":
        yield f"packed as {dialect['packed']}"
    if dialect["darwin_core"]:
        yield "Darwin Core"


def _species(found: Description) -> str:
    if found.species is not None:
        return f"{found.species:,}"
    if len(found.species_columns) == 1:
        return f"1, in the column {found.species_columns[0]}"
    return f"{len(found.species_columns):,}, a column each" if found.species_columns else "none"
