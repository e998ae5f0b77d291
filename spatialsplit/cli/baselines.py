"""The command `baseline`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.progress import Progress

from spatialsplit.baselines.dataset import BuiltDataset
from spatialsplit.baselines.running import BaselineRun, Model, run_baseline
from spatialsplit.cli.options import PATH

NAMES = ("constant-composition", "most-frequent", "random-forest", "cnn-rgb", "cnn-rgnir")
TRAIN_HELP = (
    "Learn from presence-absence surveys, from presence-only records, or from both; surveys where there are any."
)


@click.command(name="baseline")
@click.argument("name", metavar="NAME", type=click.Choice(NAMES))
@click.option("--data", "folder", required=True, type=PATH, help="A built dataset, or its public half.")
@click.option("--out", required=True, type=PATH, help="Submission to write.")
@click.option("--metric", type=click.Choice(["f1_samples", "top_k_error"]), help="The dataset's own where not given.")
@click.option("--train", "source", type=click.Choice(["surveys", "records", "both"]), help=TRAIN_HELP)
@click.option("--seed", default=0, show_default=True, type=click.IntRange(0, 2**32 - 1), help="Of all that is random.")
@click.option("--raster", "rasters", multiple=True, metavar="[NAME=]FILE", help="Environment at a survey's place.")
@click.option("--nodata", multiple=True, metavar="[NAME=]VALUE", help="As in spatialsplit extract.")
@click.option("--raster-crs", help="CRS of rasters that declare none.")
@click.option("--env", "tables", multiple=True, type=PATH, help="Environment by survey id: CSV or Parquet.")
@click.option("--env-columns", metavar="A,B", help="Columns of --env to use; all of numbers where not given.")
@click.option("--trees", default=100, show_default=True, type=click.IntRange(1), help="Trees of the forest.")
@click.option("--jobs", default=-1, show_default=True, help="Processes that grow trees; -1: one a core.")
@click.option("--patches", type=PATH, help="Pictures: spatialsplit patches, GeoLifeCLEF 2022 or 2023.")
@click.option("--patch-col", type=click.Choice(["id", "patchID"]), help="What pictures are filed under.")
@click.option("--allow-missing", is_flag=True, help="Do without surveys whose picture is missing.")
@click.option(
    "--weights", default="imagenet", show_default=True, help="imagenet, none, or a file of ResNet-50 weights."
)
@click.option("--epochs", default=60, show_default=True, type=click.IntRange(1), help="The most epochs.")
@click.option("--checkpoint", type=PATH, help="Written after each epoch; training goes on from it if it is there.")
def baseline(name: str, folder: Path, out: Path, metric: str | None, **options: Any) -> None:
    """Fit a published baseline on a built dataset, write its submission, and print its validation score.

    NAME is one of these, with the year of GeoLifeCLEF that it comes from:

    constant-composition  the K commonest species of the validation (2023)
    most-frequent         the commonest species of the training data (2022)
    random-forest         100 trees on the environment: --raster, --env (2022)
    cnn-rgb, cnn-rgnir    ResNet-50 on pictures: --patches (2022); it needs the
                          extra spatialsplit[cnn]

    Example:  spatialsplit baseline most-frequent --data dataset --out submission.csv

    Example:  spatialsplit baseline random-forest --data dataset --raster flora/rasters/elevation.tif --out forest.csv
    """
    data = BuiltDataset(folder)
    with _model(name, options) as model:
        run = run_baseline(name, model, data, out, metric=metric, tell=_tell)
    for line in _lines(run, out):
        click.echo(line)


@contextmanager
def _model(name: str, options: dict[str, Any]) -> Iterator[Model]:
    """Make the model of a name, importing what it alone needs."""
    if name in ("constant-composition", "most-frequent"):
        from spatialsplit.baselines.frequent import ConstantComposition, MostFrequent

        yield ConstantComposition() if name == "constant-composition" else MostFrequent(options["source"])
    elif name == "random-forest":
        from spatialsplit.baselines.environment import Environment
        from spatialsplit.baselines.forest import EnvironmentForest, SparseForest
        from spatialsplit.cli.rasters import read_rasters

        _refuse_idle(options)
        if options["jobs"] < 1 and options["jobs"] != -1:
            raise click.UsageError(f"--jobs is a number of processes, or -1 for one a core, and is {options['jobs']}.")
        named = options["env_columns"]
        columns = [name.strip() for name in named.split(",")] if named else None
        rasters = read_rasters(options["rasters"], options["nodata"], options["raster_crs"])
        environment = Environment(rasters, options["tables"], columns)
        forest = SparseForest(options["trees"], seed=options["seed"], n_jobs=options["jobs"])
        with _bar("Growing trees", options["trees"]) as progress:
            yield EnvironmentForest(environment, options["source"], forest, progress=progress)
    else:
        from spatialsplit.baselines.cnn import PatchNetwork, Training

        if options["patches"] is None:
            raise click.UsageError(f"{name} looks at pictures: say where they lie, --patches DIR.")
        training = Training(
            weights=options["weights"],
            max_epochs=options["epochs"],
            seed=options["seed"],
            checkpoint=options["checkpoint"],
        )
        yield PatchNetwork(
            options["patches"],
            "rgb" if name == "cnn-rgb" else "rgnir",
            training,
            options["source"],
            file_ids=options["patch_col"],
            allow_missing=options["allow_missing"],
            tell=_tell,
        )


def _refuse_idle(options: dict[str, Any]) -> None:
    """Refuse options of a source that is not given: they would do nothing."""
    for name, what, source in (
        ("env_columns", "--env-columns names columns of --env", "tables"),
        ("nodata", "--nodata is a value of --raster", "rasters"),
        ("raster_crs", "--raster-crs is the CRS of --raster", "rasters"),
    ):
        if options[name] and not options[source]:
            raise click.UsageError(f"{what}, which is not given.")


@contextmanager
def _bar(what: str, total: int) -> Iterator[Callable[[int], None]]:
    """Show a bar on a terminal; elsewhere a line every tenth of the work."""
    console = Console(stderr=True)
    if not console.is_terminal:
        step = max(1, total // 10)
        yield lambda done: _tell(f"{what}: {done:,} of {total:,}") if done % step == 0 else None
        return
    with Progress(console=console, transient=True) as bar:
        task = bar.add_task(what, total=total)
        yield lambda done: bar.update(task, completed=done)


def _tell(line: str) -> None:
    click.echo(line, err=True)


def _lines(run: BaselineRun, out: Path) -> Iterator[str]:
    yield from run.notes
    if run.curve:
        yield from run.curve.lines()
    better = "higher" if run.metric == "f1_samples" else "lower"
    if run.validation is not None:
        yield f"Validation {run.metric}: {run.validation:.6f} on {run.n_validation:,} surveys ({better} is better)."
    yield f"Wrote {run.n_test:,} predictions of {run.n_predicted:,} species each to {out}."
