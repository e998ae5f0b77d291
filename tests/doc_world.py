"""A folder in which the examples of the documentation run: a small flora, its dataset, and the tables they name."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from spatialsplit.build import BuildOptions, build_dataset
from spatialsplit.synthetic import write_virtual_flora

REPOSITORY = Path(__file__).parents[1]

FENCE = re.compile(r"^( *)```(\S*)[^\n]*\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Block:
    """A fenced block of a page."""

    language: str
    text: str
    line: int


def blocks_of(page: Path) -> list[Block]:
    """Give the fenced blocks of a page in their order."""
    text = page.read_text("utf-8")
    found = FENCE.finditer(text)
    return [Block(each[2], each[3], text[: each.start()].count("\n") + 1) for each in found]


def make_world(folder: Path) -> Path:
    """Make the files that examples start from, those of `docs/README.md`."""
    write_virtual_flora(folder / "flora", n_surveys=600, n_po=5_000, seed="docs")
    recipe = folder / "flora" / "recipe.toml"
    recipe.write_text(recipe.read_text().replace("share = 0.025", "share = 0.1"))
    build_dataset(recipe, folder / "dataset", BuildOptions())
    public = folder / "dataset" / "public"
    for name, source in {
        "train.csv": "PA_train.csv",
        "test.csv": "PA_test_blind.csv",
        "test_blind.csv": "PA_test_blind.csv",
        "po.csv": "PO_train.csv",
        "mine.csv": "sample_submission.csv",
    }.items():
        shutil.copy(public / source, folder / name)
    shutil.copy(folder / "flora" / "pa.csv", folder / "pa.csv")
    _write_plots(folder / "plots.csv")
    return folder


def _write_plots(path: Path) -> None:
    """Write places with a value that is alike nearby."""
    dice = np.random.default_rng(1)
    lon, lat = dice.uniform(8, 12, 400), dice.uniform(46, 50, 400)
    richness = np.sin(4 * lon) + np.cos(5 * lat) + dice.normal(size=400) / 5
    rows = [f"{a:.5f},{b:.5f},{c:.4f}" for a, b, c in zip(lon, lat, richness, strict=True)]
    path.write_text("\n".join(["lon,lat,richness", *rows]) + "\n")


def run_shell(script: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run lines of a shell as a person would, stopping at the first that fails."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    env = {**os.environ, "PATH": path, "COLUMNS": "100", "MPLBACKEND": "agg"}
    command = ["bash", "-euo", "pipefail", "-c", script]
    return subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, check=False)
