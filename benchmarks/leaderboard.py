"""All baselines on one dataset, scored as an organizer would publish them.

    python -m benchmarks.leaderboard --data DIR --raster F … [--patches DIR] --out leaderboard.md

For the organizer alone: it reads the private solution. Each baseline itself stands in its own module.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import click
import numpy as np

from spatialsplit.baselines.cnn import PatchNetwork, Training
from spatialsplit.baselines.dataset import BuiltDataset, Integers, Surveys
from spatialsplit.baselines.environment import Environment
from spatialsplit.baselines.forest import EnvironmentForest, SparseForest
from spatialsplit.baselines.frequent import ConstantComposition, MostFrequent
from spatialsplit.baselines.running import BaselineRun, Model, run_baseline
from spatialsplit.cli.rasters import read_rasters
from spatialsplit.errors import DataError, SpatialSplitError
from spatialsplit.manifest import read_whole_manifest
from spatialsplit.publishing import check_writable, new_files
from spatialsplit.quadrats import Grid, grid_named
from spatialsplit.submission import Score, score
from spatialsplit.tables import TableInput


@dataclass
class Chance:
    """Species drawn at random for each survey, all equally likely: what any model must beat."""

    seed: int = 0
    depth: int = 200
    _species: Integers | None = None

    def fit(self, data: BuiltDataset) -> list[str]:
        """Note which species there are."""
        self._species = np.unique(data.training()[0].species)
        return []

    def rank(self, surveys: Surveys, n_best: int) -> Integers:
        """Shuffle the species for each survey."""
        assert self._species is not None  # fit has seen to it
        rng = np.random.default_rng(self.seed)
        n_best = min(n_best, len(self._species))
        return np.array([rng.permutation(self._species)[:n_best] for _ in range(len(surveys))])


@dataclass(frozen=True)
class Row:
    """A line of the leaderboard: what was run and how it did, or why it was not run."""

    name: str
    run: BaselineRun | None = None
    score: Score | None = None
    reason: str = ""


def make_leaderboard(
    folder: Path, models: Sequence[tuple[str, Callable[[], Model]]], tell: Callable[[str], None] = lambda line: None
) -> list[Row]:
    """Run models on a dataset and score their submissions, with intervals by whole quadrats.

    Parameters
    ----------
    folder : path
        A built dataset, its private half included.
    models : sequence of (name, function that makes a model)
        A model that cannot be made or run gets a row that says why.
    tell : function
        Called with what is being done.

    Returns
    -------
    list of Row
        The best first; those that were not run last.
    """
    data = BuiltDataset(folder)
    groups = _quadrats_of_test(data)
    rows = []
    with tempfile.TemporaryDirectory() as temporary:
        for name, make in models:
            out = Path(temporary) / f"{name}.csv"
            try:
                run = run_baseline(name, make(), data, out, tell=tell)
            except SpatialSplitError as error:
                rows.append(Row(name, reason=error.problems[0]))
                continue
            solution = folder / "private" / "solution.csv"
            rows.append(Row(name, run, score(solution, out, run.metric, groups=groups, **data.metric_options)))
    return sorted(rows, key=_place)


def _place(row: Row) -> float:
    if row.score is None:
        return float("inf")
    return -row.score.score if row.score.higher_is_better else row.score.score


def _quadrats_of_test(data: BuiltDataset) -> list[dict[str, str]]:
    """Give the quadrat of each test survey, on the grid of the manifest."""
    rules = read_whole_manifest(data.folder)["recipe"]["quadrats"]
    grid = grid_named(rules["grid"]) if rules["grid"] else Grid(rules["crs"], rules["size_m"], tuple(rules["origin"]))
    labels = grid.assign(data.test.lon, data.test.lat).of_each_point()
    header = TableInput(data.path("pa_test_blind")).header
    id_column = "surveyId" if "surveyId" in header else "Id"  # as submissions name it
    return [
        {id_column: survey, "quadratId": str(label)}
        for survey, label in zip(data.test.ids.tolist(), labels, strict=True)
    ]


def leaderboard_text(title: str, rows: Sequence[Row]) -> str:
    """Write the rows as a Markdown page."""
    ran = next((row.score for row in rows if row.score), None)
    if ran is None:
        raise DataError([f"{row.name}: {row.reason}" for row in rows])
    better = "higher" if ran.higher_is_better else "lower"
    lines = [f"# Baselines of {title}", "", f"Metric: `{ran.metric}`, {better} is better, {ran.n:,} test surveys.", ""]
    lines += ["| | model | all | 95 % interval | public | private | validation | species |", "|" + "---|" * 8]
    for number, row in enumerate((row for row in rows if row.score), start=1):
        lines.append(f"| {number} | {_cells(row)} |")
    if ran.interval:
        unit = "rows" if ran.interval.unit == "row" else f"values of {ran.interval.unit}"
        lines += ["", f"Intervals: {ran.interval.resamples:,} resamples of {ran.interval.n_units:,} {unit}."]
    lines += ["", *(f"{row.name}: not run. {row.reason}" for row in rows if row.score is None)]
    return "\n".join(lines).rstrip() + "\n"


def _cells(row: Row) -> str:
    assert row.score is not None and row.run is not None  # noqa: PT018  # the caller chose the row by that
    interval = row.score.interval
    values = [
        row.name,
        f"{row.score.score:.4f}",
        f"{interval.low:.4f} to {interval.high:.4f}" if interval else "",
        *("" if value is None else f"{value:.4f}" for value in (row.score.public, row.score.private)),
        "" if row.run.validation is None else f"{row.run.validation:.4f}",
        str(row.run.n_predicted),
    ]
    return " | ".join(values)


@click.command()
@click.option("--data", "folder", required=True, type=click.Path(path_type=Path), help="A built dataset.")
@click.option("--raster", "rasters", multiple=True, metavar="[NAME=]FILE", help="Environment for the forest.")
@click.option("--env", "tables", multiple=True, type=click.Path(path_type=Path), help="Environment by survey id.")
@click.option("--patches", type=click.Path(path_type=Path), help="Pictures for the networks.")
@click.option("--weights", default="imagenet", show_default=True, help="Of the networks.")
@click.option("--epochs", default=60, show_default=True, help="The most epochs of the networks.")
@click.option("--out", required=True, type=click.Path(path_type=Path), help="Markdown to write.")
def main(
    folder: Path,
    rasters: tuple[str, ...],
    tables: tuple[Path, ...],
    patches: Path | None,
    weights: str,
    epochs: int,
    out: Path,
) -> None:
    """Run all baselines on a built dataset and write a leaderboard."""

    def network(channels: str) -> Model:
        if patches is None:
            raise DataError("It looks at pictures: --patches DIR.")
        training = Training(weights, max_epochs=epochs)
        return PatchNetwork(patches, "rgb" if channels == "rgb" else "rgnir", training, tell=_tell)

    models: list[tuple[str, Callable[[], Model]]] = [
        ("chance", Chance),
        ("most-frequent", MostFrequent),
        ("constant-composition", ConstantComposition),
        (
            "random-forest",
            lambda: EnvironmentForest(Environment(read_rasters(rasters), tables), forest=SparseForest(n_jobs=-1)),
        ),
        ("cnn-rgb", lambda: network("rgb")),
        ("cnn-rgnir", lambda: network("rgnir")),
    ]
    try:
        name = read_whole_manifest(folder)["name"]
        check_writable(out)
        text = leaderboard_text(name, make_leaderboard(folder, models, _tell))
        with new_files(out) as (part,):
            part.write_text(text, encoding="utf-8")
    except SpatialSplitError as error:
        raise click.ClickException(str(error)) from None
    click.echo(text)


def _tell(line: str) -> None:
    click.echo(line, err=True)


if __name__ == "__main__":
    main()
