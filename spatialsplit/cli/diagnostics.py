"""The command `suggest-size`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from spatialsplit.cli.options import PATH, decimal_option, reading_of, reading_options
from spatialsplit.publishing import new_files


@click.command("suggest-size")
@click.argument("table", type=PATH)
@click.option(
    "--value",
    "values",
    required=True,
    multiple=True,
    help="Column with numbers: what will be predicted, residuals, or a predictor. Repeat it.",
)
@click.option("--seed", default="0", show_default=True, help="Chooses the pairs of rows in large tables.")
@click.option("--plot", type=PATH, help="Gets a picture of the variograms: PNG, SVG or PDF by its ending.")
@click.option("--json", "as_json", is_flag=True, help="Print the size and the ranges as JSON.")
@reading_options
@decimal_option
def suggest_size(
    table: Path, values: tuple[str, ...], seed: str, plot: Path | None, as_json: bool, **options: Any
) -> None:
    """Suggest how large quadrats should be, from how far the values of TABLE are alike.

    Test quadrats smaller than the range of autocorrelation are predicted from their neighbours, and every score is too
    good. The range is read off a variogram.

    Example:  spatialsplit suggest-size plots.csv --value richness --plot range.png
    """
    from spatialsplit.diagnostics.block_size import suggest_size as suggest
    from spatialsplit.diagnostics.value_table import read_values

    kind = _kind(plot) if plot is not None else ""
    reading = reading_of(**options)
    read = read_values(reading.source(table), values, reading.rules())
    if read.n_without:
        n = len(read.places) + read.n_without
        named = " and ".join(dict.fromkeys(values))
        click.echo(f"{read.n_without:,} of {n:,} rows have no number in {named} and are left out", err=True)
    found = suggest(read.places, read.values, seed=seed)
    if plot is not None:
        _draw(found, plot, kind)
    click.echo(json.dumps(_as_json(found, read.n_without)) if as_json else "\n".join(found.sentences()))


def _kind(path: Path) -> str:
    kind = path.suffix.lstrip(".").lower()
    if kind not in ("png", "svg", "pdf"):
        raise click.UsageError(f"--plot {path.name} must end in .png, .svg or .pdf.")
    return kind


def _draw(found: Any, path: Path, kind: str) -> None:
    from matplotlib.figure import Figure

    from spatialsplit.diagnostics.pictures import plot_variograms

    figure = Figure(figsize=(7, 4.5), layout="constrained")
    plot_variograms(figure.subplots(), found)
    with new_files(path) as (part,):
        figure.savefig(part, dpi=150, format=kind)


def _as_json(found: Any, n_without: int) -> dict[str, Any]:
    variables = {
        name: {
            "range_m": found.ranges[name],
            "model": seen.model.kind,
            "nugget": seen.model.nugget,
            "partial_sill": seen.model.partial_sill,
            "chance": seen.chance,
            "pairs": int(seen.n_pairs.sum()),
            "farthest_m": seen.farthest,
        }
        for name, seen in found.variograms.items()
    }
    sizes = {"size_m": found.size_m, "quadrats": found.n_blocks}
    return {
        **sizes,
        "n": found.n_rows,
        "n_without_value": n_without,
        "variables": variables,
        "sentences": found.sentences(),
    }
