"""The commands that set two builds side by side: `rebuild` and `diff`."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from spatialsplit.build import BuildOptions
from spatialsplit.cli import CHECK_FAILED
from spatialsplit.cli.options import PATH
from spatialsplit.comparing import describe_changes, rebuild_dataset


@click.command()
@click.argument("folder", metavar="DIR", type=PATH)
@click.option("--inputs", required=True, type=PATH, help="Folder with the input files, named as in the recipe.")
@click.option("--threads", type=click.IntRange(min=1), help="Threads to use; all processors unless said.")
def rebuild(folder: Path, inputs: Path, threads: int | None) -> None:
    """Build the dataset DIR again from its recipe and inputs, elsewhere, and compare.

    Exit code 3 if anything differs; the first difference of each file is shown.

    Example:  spatialsplit rebuild dataset --inputs flora
    """
    rebuilt = rebuild_dataset(folder, inputs, BuildOptions(threads=threads))
    if rebuilt.differences:
        for difference in rebuilt.differences:
            click.echo(difference, err=True)
        sys.exit(CHECK_FAILED)
    click.echo(f"Built again: {rebuilt.n_files} files and the manifest are equal, byte for byte.")


@click.command()
@click.argument("before", metavar="A", type=PATH)
@click.argument("after", metavar="B", type=PATH)
def diff(before: Path, after: Path) -> None:
    """Say in words what changed from dataset A to dataset B.

    Example:  spatialsplit diff dataset-v1 dataset-v2
    """
    changes = describe_changes(before, after)
    for change in changes or ["Nothing changed."]:
        click.echo(change)
