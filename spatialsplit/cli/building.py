"""The command `build`."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from spatialsplit.build import AuditFailed, BuildOptions, build_dataset
from spatialsplit.cli import CHECK_FAILED, STOPPED
from spatialsplit.cli.options import engine_of, engine_options
from spatialsplit.cli.progress import PARTS, build_progress
from spatialsplit.cli.summary import summary


@click.command()
@click.argument("recipe", type=click.Path(path_type=Path))
@click.option("--out", required=True, type=click.Path(path_type=Path), help="The dataset folder to make.")
@click.option("--force", is_flag=True, help="Replace a dataset that is there already.")
@click.option("--no-report", is_flag=True, help="Leave report.html out.")
@click.option(
    "--threads", type=click.IntRange(min=1), help="Threads to use; all processors unless said. The dataset is the same."
)
@engine_options
def build(
    recipe: Path,
    out: Path,
    force: bool,
    no_report: bool,
    threads: int | None,
    engine_name: str,
    scheduler: str | None,
) -> None:
    """Build a dataset from RECIPE, audit it, and publish it into a folder.

    The folder appears when everything is written and the audit has passed, and not before.

    Example:  spatialsplit build flora/recipe.toml --out dataset
    """
    begun = ["read"]
    try:
        with engine_of(engine_name, scheduler, threads) as engine, build_progress() as shown:

            def on_step(part: str) -> None:
                begun.append(part)
                shown.step(part)

            options = BuildOptions(
                force,
                threads,
                on_step=on_step,
                on_done=shown.done,
                on_progress=shown.rows,
                engine=engine,
                report=not no_report,
            )
            report = build_dataset(recipe, out, options)
    except AuditFailed as error:
        for problem in error.problems:
            click.echo(problem, err=True)
        sys.exit(CHECK_FAILED)
    except KeyboardInterrupt:
        click.echo(_stopped(begun[-1]), err=True)
        sys.exit(STOPPED)
    for warning in [*report.manifest["warnings"], *report.problems]:
        click.echo(f"Warning: {warning}", err=True)
    click.echo(summary(report))


def _stopped(part: str) -> str:
    """Say what became of a build that was stopped in a part of it."""
    said = f"Stopped while {PARTS[part]}. Nothing was published, and nothing was left half-written."
    if part == "report":
        said += " The dataset had passed its audit: with --no-report it is built without report.html."
    return said
