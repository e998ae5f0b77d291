"""`spatialsplit synth`: a virtual flora to try things on, or a dataset with a planted fault."""

from __future__ import annotations

import shlex
from pathlib import Path

import click

from spatialsplit.synthetic import DEFAULT_SEED, N_PO, N_SURVEYS, WrittenFlora, write_virtual_flora


@click.command(name="synth")
@click.option("--out", "folder", required=True, type=click.Path(path_type=Path), help="Folder to write.")
@click.option("--surveys", "n_surveys", default=N_SURVEYS, show_default=True, help="Presence-absence surveys.")
@click.option("--po", "n_po", default=N_PO, show_default=True, help="Presence-only records.")
@click.option("--seed", default=DEFAULT_SEED, show_default=True, help="Any text; the same text, the same flora.")
@click.option("--force", is_flag=True, help="Replace files in a folder that is not empty.")
@click.option("--plant", metavar="FAULT", help="Copy the dataset of --data with this fault instead.")
@click.option("--data", type=click.Path(path_type=Path), help="The built dataset to plant a fault in.")
def synth(
    folder: Path, n_surveys: int, n_po: int, seed: str, force: bool, plant: str | None, data: Path | None
) -> None:
    """Make a virtual flora: presence-absence surveys, presence-only records, rasters and a recipe.

    The records are those of a made-up country. The same seed and sizes give the same tables everywhere.

    With --plant a built dataset is copied with one fault in it and its checksums are mended, to see the audit find
    it: shared-quadrat, near-po, survey-in-two-subsets, test-only-species, empty-survey, label-column, telling-column,
    list-column, private-in-public, duplicate-record, wrong-draw, changed-byte, missing-row, repeated-id, over-an-edge.

    Example:  spatialsplit synth --out flora --surveys 4000 --po 100000 --seed 7

    Example:  spatialsplit synth --plant near-po --data dataset --out faulty
    """
    if (plant is None) != (data is None):
        raise click.UsageError("--plant and --data belong together: a fault, and the dataset to plant it in.")
    if plant is not None and data is not None:
        _plant(plant, data, folder, force)
        return
    written = write_virtual_flora(folder, n_surveys=n_surveys, n_po=n_po, seed=seed, force=force)
    for line in _summary(written):
        click.echo(line)


def _plant(name: str, data: Path, out: Path, force: bool) -> None:
    from spatialsplit.planting import plant_fault

    fault = plant_fault(name, data, out, force=force)
    click.echo(f"Copied {data} to {out} with one fault: {fault.about}.")
    click.echo(f"The audit should fail {fault.check}:  spatialsplit audit {shlex.quote(str(out))}")


def _summary(written: WrittenFlora) -> list[str]:
    rasters = ", ".join(written.rasters)
    return [
        f"Wrote a virtual flora of {written.n_species:,} species to {written.folder}:",
        f"  pa.csv       {written.n_pa_rows:>9,} rows, {written.n_surveys:,} surveys",
        f"  po.csv       {written.n_po:>9,} rows",
        f"  rasters/     {len(written.rasters):>9,} files: {rasters}",
        "  recipe.toml",
        f"Next:  spatialsplit build {shlex.quote(str(written.folder / 'recipe.toml'))} --out dataset",
    ]
