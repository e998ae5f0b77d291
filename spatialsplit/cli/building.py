"""The command `build`."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from spatialsplit.build import AuditFailed, BuildOptions, build_dataset
from spatialsplit.cli import CHECK_FAILED
from spatialsplit.cli.options import engine_of, engine_options
from spatialsplit.cli.progress import build_progress
from spatialsplit.cli.summary import summary


@click.command()
@click.argument("recipe", type=click.Path(path_type=Path))
@click.option("--out", required=True, type=click.Path(path_type=Path), help="The dataset folder to make.")
@click.option("--force", is_flag=True, help="Replace a dataset that is there already.")
@click.option(
    "--threads", type=click.IntRange(min=1), help="Threads to use; all processors unless said. The dataset is the same."
)
@engine_options
def build(recipe: Path, out: Path, force: bool, threads: int | None, engine_name: str, scheduler: str | None) -> None:
    """Build a dataset from RECIPE, audit it, and publish it into a folder.

    The folder appears when everything is written and the audit has passed, and not before.

    Example:  spatialsplit build flora/recipe.toml --out dataset
    """
    try:
        with engine_of(engine_name, scheduler, threads) as engine, build_progress() as shown:
            options = BuildOptions(
                force,
                threads,
                on_step=shown.step,
                on_done=shown.done,
                on_progress=shown.rows,
                engine=engine,
            )
            report = build_dataset(recipe, out, options)
    except AuditFailed as error:
        for problem in error.problems:
            click.echo(problem, err=True)
        sys.exit(CHECK_FAILED)
    for warning in [*report.manifest["warnings"], *report.problems]:
        click.echo(f"Warning: {warning}", err=True)
    click.echo(summary(report))
