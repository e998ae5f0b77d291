"""The command `report`."""

from __future__ import annotations

from pathlib import Path

import click


@click.command()
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@click.option("--out", type=click.Path(path_type=Path), help="The page to write; DIR/report.html unless said.")
@click.option("--public", is_flag=True, help="Leave out what only the organizers may know; the page goes beside DIR.")
def report(folder: Path, out: Path | None, public: bool) -> None:
    """Write a dataset, its split and its audit as one web page that works offline.

    DIR is a dataset folder. Its public/ folder alone gives the public page. A build writes the organizers' page itself.

    Example:  spatialsplit report dataset

    Example:  spatialsplit report dataset --public --out competition.html
    """
    from spatialsplit.report import write_report

    click.echo(str(write_report(folder, out, public=public)))
