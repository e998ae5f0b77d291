"""A folder in which the examples of the documentation run: a small flora, its dataset, and the tables they name."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from spatialsplit.build import BuildOptions, build_dataset
from spatialsplit.quadrats import grid_named
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
    for write in (_write_plots, _write_inventory, _write_brazil, _write_observations, _write_snapshot):
        write(folder, np.random.default_rng(1))
    return folder


def _write(path: Path, header: str, rows: Iterable[Iterable[object]], separator: str = ",") -> None:
    lines = [separator.join(map(str, row)) for row in rows]
    path.write_text("\n".join([header, *lines]) + "\n", "utf-8")


def _write_plots(folder: Path, dice: np.random.Generator) -> None:
    """Write places with a value that is alike nearby: the table of `docs/validation.md`."""
    table = pd.DataFrame({"lon": dice.uniform(8, 12, 2000), "lat": dice.uniform(46, 50, 2000)})
    table["warmth"] = np.sin(4 * table.lon) + np.cos(5 * table.lat) + dice.normal(size=2000) / 5
    table["richness"] = table.warmth + np.sin(6 * table.lon + table.lat) + dice.normal(size=2000) / 3
    table.to_csv(folder / "plots.csv", index=False)


def _write_inventory(folder: Path, dice: np.random.Generator) -> None:
    """Write surveys whose columns are named, separated and written as nobody would guess, long and wide."""
    places = [(f"R{i:03}", f"{dice.uniform(5, 9):.4f}", f"{dice.uniform(44, 48):.4f}") for i in range(200)]
    species = ["Abies alba", "Fagus sylvatica", "Picea abies", "Pinus cembra"]
    seen = {place: sorted(dice.choice(species, 2, replace=False)) for place, _, _ in places}
    rows = [
        (place, 2020 + i % 2, x.replace(".", ","), y.replace(".", ","), name)
        for i, (place, x, y) in enumerate(places)
        for name in seen[place]
    ]
    _write(folder / "inventory.csv", "releve;season;coord_x;coord_y;taxon", rows, ";")
    wide = [(place, x, y, *(int(name in seen[place]) for name in species)) for place, x, y in places]
    _write(folder / "wide.csv", "site,x,y,sp_abies,sp_fagus,sp_picea,sp_pinus", wide)


def _write_brazil(folder: Path, dice: np.random.Generator) -> None:
    """Write surveys of the Amazon basin."""
    places = [(f"{dice.uniform(-66, -48):.4f}", f"{dice.uniform(-12, 1):.4f}") for _ in range(300)]
    rows = [(f"p{i}", i % 365 + 1, *place, s) for i, place in enumerate(places) for s in (i % 7, 7 + i % 3)]
    _write(folder / "brazil.csv", "patchID,dayOfYear,lon,lat,speciesId", rows)


def _write_observations(folder: Path, dice: np.random.Generator) -> None:
    """Write single observations with a split by the grid of GeoLifeCLEF 2022, as that year published them."""
    lon, lat = np.round(dice.uniform(-4, 8, 6_000), 5), np.round(dice.uniform(43, 50, 6_000), 5)
    quadrats = grid_named("glc2022").assign(lon, lat).of_each_point()
    subset = ["val" if int(hashlib.sha256(label.encode()).hexdigest()[:2], 16) < 13 else "train" for label in quadrats]
    rows = [(10_000_000 + i, lat[i], lon[i], i % 50, subset[i]) for i in range(len(lon))]
    _write(folder / "observations.csv", "observation_id;latitude;longitude;species_id;subset", rows, ";")


def _write_snapshot(folder: Path, dice: np.random.Generator) -> None:
    """Write a monthly snapshot of GBIF with three records: a folder of Parquet files that have no ending."""
    columns = ["gbifid", "specieskey", "decimallongitude", "decimallatitude", "coordinateuncertaintyinmeters"]
    columns += ["eventdate", "year", "license", "countrycode"]
    table = pd.DataFrame({name: [1, 2, 3] for name in columns})
    (folder / "occurrence.parquet").mkdir()
    table.to_parquet(folder / "occurrence.parquet" / "000000")


def run_shell(script: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run lines of a shell as a person would, stopping at the first that fails."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    env = {**os.environ, "PATH": path, "COLUMNS": "100", "MPLBACKEND": "agg"}
    command = ["bash", "-euo", "pipefail", "-c", script]
    return subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, check=False)
