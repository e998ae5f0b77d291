"""The command `export`: a built dataset as the files of a platform."""

from __future__ import annotations

import click

from spatialsplit.submission.launch import Launch

DATA = click.option(
    "--data", type=click.Path(exists=True, file_okay=False), required=True, help="Folder of a built dataset."
)


@click.group(name="export")
def export() -> None:
    """Write files for a competition platform, after rehearsing the competition; or a description for machines.

    Example:  spatialsplit export kaggle --data dataset --out kaggle
    """


@export.command(name="kaggle", short_help="The files of a Kaggle competition.")
@DATA
@click.option("--out", type=click.Path(), required=True, help="New folder for the files.")
def kaggle(data: str, out: str) -> None:
    """Write metric.py, solution.csv (with Usage) and sample_submission.csv.

    Example:  spatialsplit export kaggle --data dataset --out kaggle
    """
    from spatialsplit.exports.kaggle import export_kaggle

    launch = export_kaggle(data, out)
    _tell(launch, out)
    if not any("public" in trial.scores for trial in launch.trials):
        note = "no Usage column: Kaggle will draw rows, not quadrats. Set public_share under [evaluation]."
        click.echo(f"note: {note}", err=True)


@export.command(name="codabench", short_help="A bundle for Codabench.")
@DATA
@click.option("--out", type=click.Path(), required=True, help="The zip file to write.")
def codabench(data: str, out: str) -> None:
    """Write a bundle: scoring program, truth, pages, phases and leaderboard.

    Example:  spatialsplit export codabench --data dataset --out bundle.zip
    """
    from spatialsplit.exports.codabench import export_codabench

    _tell(export_codabench(data, out), out)


@export.command(name="croissant", short_help="A description that machines read.")
@DATA
@click.option("--out", type=click.Path(dir_okay=False), required=True, help="The file to write, as croissant.json.")
@click.option(
    "--base-url",
    metavar="URL",
    help="What stands before each file's name in it.  [default: the way from its folder to the files]",
)
@click.option("--frictionless", is_flag=True, help="Write a Frictionless datapackage.json beside it.")
def croissant(data: str, out: str, base_url: str | None, frictionless: bool) -> None:
    """Describe the public files for machine-learning tools (Croissant 1.1).

    Licence, citation, version and date come from the recipe's [about].

    Example:  spatialsplit export croissant --data dataset --out dataset/croissant.json
    """
    from spatialsplit.exports.croissant import export_croissant

    described = export_croissant(data, out, base_url=base_url, frictionless=frictionless)
    for note in described.notes:
        click.echo(f"note: {note}", err=True)
    for file in described.files:
        click.echo(file)


def _tell(launch: Launch, out: str) -> None:
    for line in launch.lines():
        click.echo(line, err=True)
    click.echo(out)
