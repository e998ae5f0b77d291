"""The leaderboard: all baselines of one dataset side by side, as an organizer publishes them."""

from __future__ import annotations

import csv
import re
import tomllib
from functools import partial
from pathlib import Path

import pytest
from click.testing import CliRunner

from benchmarks.leaderboard import Chance, Row, leaderboard_text, main, make_leaderboard
from spatialsplit.baselines.dataset import BuiltDataset
from spatialsplit.baselines.frequent import MostFrequent
from spatialsplit.baselines.running import run_baseline
from spatialsplit.build import build_dataset
from spatialsplit.errors import DataError
from spatialsplit.submission import score
from spatialsplit.synthetic import write_virtual_flora


@pytest.fixture(scope="module")
def flora(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write a virtual flora of 600 surveys, with its rasters."""
    folder = tmp_path_factory.mktemp("flora")
    write_virtual_flora(folder, n_surveys=600, n_po=1500, seed="leaderboard")
    recipe = folder / "recipe.toml"
    recipe.write_text(recipe.read_text().replace("share = 0.025", "share = 0.1"))
    return folder


@pytest.fixture(scope="module")
def data(flora: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build it as a dataset."""
    return build_dataset(flora / "recipe.toml", tmp_path_factory.mktemp("built") / "data").folder


def test_the_page_ranks_the_baselines_and_says_what_was_not_run(flora: Path, data: Path, tmp_path: Path) -> None:
    """The forest beats the constant, the constant beats chance; the networks have no pictures here."""
    rasters = [f"--raster={path}" for path in sorted((flora / "rasters").glob("*.tif"))]
    out = tmp_path / "leaderboard.md"
    result = CliRunner().invoke(main, ["--data", str(data), *rasters, "--out", str(out)], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    lines = [line.strip("| ").split(" | ") for line in out.read_text().splitlines() if re.match(r"\| \d", line)]
    assert [line[0] for line in lines] == ["1", "2", "3", "4"]
    scores = {line[1]: float(line[2]) for line in lines}
    assert list(scores.values()) == sorted(scores.values(), reverse=True)
    assert scores["random-forest"] > scores["constant-composition"] > scores["chance"] + 0.1
    for line in lines:
        low, high = map(float, line[3].split(" to "))
        assert low < float(line[2]) < high
    assert "values of quadratId" in out.read_text()
    assert "cnn-rgb: not run. It looks at pictures: --patches DIR." in out.read_text()


def test_a_score_of_the_page_is_the_score_of_the_submission(data: Path, tmp_path: Path) -> None:
    """Nothing is scored otherwise than by `score`."""
    (row,) = make_leaderboard(data, [("most-frequent", MostFrequent)])
    run_baseline("most-frequent", MostFrequent(), BuiltDataset(data), tmp_path / "s.csv")
    alone = score(data / "private" / "solution.csv", tmp_path / "s.csv", "f1_samples", resamples=0)
    assert row.score is not None
    assert (row.score.score, row.score.public, row.score.private) == (alone.score, alone.public, alone.private)


@pytest.mark.parametrize("grid", ["glc2024", None])
def test_intervals_are_those_of_whole_quadrats(flora: Path, tmp_path: Path, grid: str | None) -> None:
    """Also on a grid by name, and where cells of the published table hold commas."""
    text = (flora / "pa.csv").read_text().splitlines()
    at = text[0].split(",").index("patchID")
    rows = (line.split(",") for line in text[1:])
    quoted = (",".join([*row[:at], f'"plot, {row[at]}"', *row[at + 1 :]]) for row in rows)
    (flora / "commas.csv").write_text("\n".join([text[0], *quoted, ""]))
    recipe = tomllib.loads((flora / "recipe.toml").read_text())
    own = 'crs = "EPSG:3035"\nsize_m = 5000\norigin = [0, 0]'
    lines = (flora / "recipe.toml").read_text().replace('"pa.csv"', '"commas.csv"')
    assert own in lines
    assert recipe["inputs"]["pa"]["path"] == "pa.csv"
    (flora / "commas.toml").write_text(lines.replace(own, f'grid = "{grid}"') if grid else lines)
    built = build_dataset(flora / "commas.toml", tmp_path / "data").folder
    (row,) = make_leaderboard(built, [("most-frequent", MostFrequent)])
    with (built / "public" / "quadrats.csv").open() as file:
        n_test = sum(line["subset"] == "test" for line in csv.DictReader(file))
    assert row.score is not None
    assert row.score.interval is not None
    assert (row.score.interval.unit, row.score.interval.n_units) == ("quadratId", n_test)


def test_what_an_organizer_lacks_is_said_in_a_line(data: Path, tmp_path: Path) -> None:
    for arguments, message in (
        (["--data", str(data / "public")], r"There is no manifest\.json in .*public"),
        (["--data", str(data), "--out", str(tmp_path)], "is a folder. An output is a file"),
    ):
        result = CliRunner().invoke(main, [*arguments, "--out", str(tmp_path / "l.md")][:4])
        assert result.exit_code == 1
        assert re.search(message, result.output), result.output
        assert "Traceback" not in result.output


def test_chance_depends_on_its_seed_alone(data: Path) -> None:
    """Every time the same, and another seed another order."""
    first, again, other = (make_leaderboard(data, [("chance", partial(Chance, seed))])[0].score for seed in (1, 1, 2))
    assert first is not None
    assert again is not None
    assert other is not None
    assert first.score == again.score != other.score


def test_where_nothing_was_run_there_is_no_page() -> None:
    """Each model with its reason."""
    with pytest.raises(DataError, match=r"forest: No raster\."):
        leaderboard_text("t", [Row("forest", reason="No raster.")])
