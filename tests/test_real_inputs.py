"""Builds and steps on real records: disdat, GeoLifeCLEF 2022 and 2023."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pyproj
import pytest

from spatialsplit.build import build_dataset
from spatialsplit.errors import DataError
from spatialsplit.quadrats import EquatorGrid
from spatialsplit.steps import FilterOutputs, Reading, SiteTable, filter_po_table
from tests.real_data import data_folder

HOLDOUTS = '[[holdouts]]\nname = "test"\nshare = 0.025\n[[holdouts]]\nname = "val"\nshare = 0.025\n'

DISDAT = {
    "SWI": ("EPSG:21781", "EPSG:3035", ["SWItest_pa.csv"], 10_013, 35_105),
    "NSW": (
        "EPSG:4326",
        "EPSG:3577",
        [f"NSWtest_pa_{g}.csv" for g in ("ba", "db", "nb", "ot", "ou", "rt", "ru", "sr")],
        8_746,
        3_323,
    ),
    "AWT": ("EPSG:28355", "EPSG:3577", ["AWTtest_pa_bird.csv", "AWTtest_pa_plant.csv"], 442, 3_806),
}
"""Region: CRS of the files, CRS of the grid, presence-absence files, surveys, presence-only rows."""


def disdat_recipe(region: str, folder: Path) -> Path:
    """Write the recipe of one region."""
    crs, grid, files, _, _ = DISDAT[region]
    data = data_folder() / "disdat"
    paths = json.dumps([str(data / name) for name in files])
    path = folder / f"{region}.toml"
    path.write_text(
        f'name = "{region}"\nseed = "disdat"\n[inputs.pa]\npath = {paths}\nlayout = "wide"\nspecies_columns = '
        f'"{region.lower()}*"\n'
        f'crs = "{crs}"\ncolumns = {{ lon = "x", lat = "y" }}\n[inputs.po]\npath = '
        f'"{data}/{region}train_po.csv"\ncrs = "{crs}"\n'
        f'columns = {{ lon = "x", lat = "y", speciesId = "spid" }}\n[surveys]\nkeys = ["siteid"]\n[quadrats]\ncrs '
        f'= "{grid}"\n{HOLDOUTS}'
    )
    return path


@pytest.mark.parametrize("region", list(DISDAT))
def test_a_region_of_disdat_builds_and_passes_its_audit(region: str, tmp_path: Path) -> None:
    """Wide tables, several files, projected coordinates, and names for species make a dataset."""
    report = build_dataset(disdat_recipe(region, tmp_path), tmp_path / "d")
    _, _, _, n_surveys, n_po = DISDAT[region]
    steps = {step["step"]: step for step in report.manifest["steps"]}
    assert steps["empty_surveys"]["in"] == n_surveys
    assert steps["read_po"]["in"] == n_po
    assert report.audit.passed
    columns = pd.read_csv(report.folder / "public" / "PO_train.csv", nrows=1).columns
    assert {"lon", "lat", "speciesId"} < set(columns)
    assert not {"x", "y", "spid"} & set(columns)


def test_surveys_without_species_stay_in_the_training_data_of_nsw(tmp_path: Path) -> None:
    """3,968 of the 8,746 sites found nothing; those in drawn quadrats are dropped, the others published."""
    report = build_dataset(disdat_recipe("NSW", tmp_path), tmp_path / "d")
    n_dropped = {step["step"]: step for step in report.manifest["steps"]}["empty_surveys"]["dropped"][
        "empty_in_holdout"
    ]
    assert len(pd.read_csv(report.folder / "public" / "PA_train_empty.csv")) + n_dropped == 3_968


@pytest.mark.parametrize(("region", "n_near"), [("SWI", 5_035), ("NSW", 1_311), ("AWT", 574)])
def test_the_filter_counts_what_the_data_says(region: str, n_near: int, tmp_path: Path) -> None:
    """Records at most 300 m from any site of any group, unrounded, geodesic: the counts in the data's README."""
    crs, _, files, _, _ = DISDAT[region]
    data = data_folder() / "disdat"
    sites = tmp_path / "sites.csv"
    pd.concat([pd.read_csv(data / name, usecols=["siteid", "x", "y"]) for name in files]).to_csv(sites, index=False)
    reading = Reading({"lon": "x", "lat": "y"}, crs)
    outputs = FilterOutputs(tmp_path / "kept.csv", tmp_path / "removed.csv")
    counts = filter_po_table(
        data / f"{region}train_po.csv", SiteTable(sites, reading=reading), 300, outputs, reading=reading
    )
    assert counts.n_removed == n_near
    kept, removed = (pd.read_csv(path, dtype=str) for path in (outputs.kept, outputs.removed))
    assert len(kept) + len(removed) == counts.n_in
    assert removed["distance_m"].astype(float).max() <= 300


def test_the_filter_agrees_with_brute_force_on_swi(tmp_path: Path) -> None:
    """Many records lie at exactly 100, 300, 500 or 1,000 m on the plane: every one is decided by geodesic."""
    data = data_folder() / "disdat"
    po, pa = (pd.read_csv(data / name) for name in ("SWItrain_po.csv", "SWItest_pa.csv"))
    sample = po.sample(300, random_state=1)
    to_degrees = pyproj.Transformer.from_crs(21781, 4326, always_xy=True)
    geod = pyproj.Geod(ellps="WGS84")
    lon, lat = to_degrees.transform(pa.x.to_numpy(float), pa.y.to_numpy(float))
    nearest = [
        geod.inv(np.full(len(lon), x), np.full(len(lon), y), lon, lat)[2].min()
        for x, y in zip(*to_degrees.transform(sample.x.to_numpy(float), sample.y.to_numpy(float)), strict=True)
    ]
    sample.to_csv(tmp_path / "po.csv", index=False)
    reading = Reading({"lon": "x", "lat": "y"}, "EPSG:21781")
    for radius in (100, 300, 500, 1000):
        outputs = FilterOutputs(tmp_path / "kept.csv")
        counts = filter_po_table(
            tmp_path / "po.csv", SiteTable(data / "SWItest_pa.csv", reading=reading), radius, outputs, reading=reading
        )
        assert counts.n_removed == sum(d <= radius for d in nearest)


def glc23_recipe(folder: Path, share: float) -> Path:
    """Write the recipe of the GeoLifeCLEF 2023 sample."""
    data = data_folder() / "glc23_sample"
    path = folder / "recipe.toml"
    path.write_text(
        f'name = "glc23"\nseed = "s"\n[inputs.pa]\npath = '
        f'"{data}/Presence_Absences_occurrences/Presences_Absences_train_sample.csv"\n'
        f"[inputs.po]\npath = "
        f'"{data}/Presence_only_occurrences/Presences_only_train_sample.csv"\n[[holdouts]]\nname = "test"\nshare '
        f"= {share}\n"
    )
    return path


def test_the_glc23_sample_builds_as_it_is(tmp_path: Path) -> None:
    """Semicolons, accents, commas inside cells, an unnamed column, and dates of two kinds: flagged, not changed."""
    report = build_dataset(glc23_recipe(tmp_path, 0.2), tmp_path / "d")
    assert report.manifest["grid"]["occupied"] == 85
    assert any(warning.startswith("30 dates of") for warning in report.manifest["warnings"])
    observers = set(pd.read_csv(report.folder / "public" / "PO_train.csv", dtype=str)["observer"])
    assert {"Bjørn Petter Løfall", "Szokala,Daniel"} <= observers


def test_a_share_too_small_for_the_glc23_sample_ends_in_a_clear_error(tmp_path: Path) -> None:
    """Two quadrats whose species nobody else has make an empty holdout."""
    with pytest.raises(DataError, match="The holdout 'test' is empty"):
        build_dataset(glc23_recipe(tmp_path, 0.025), tmp_path / "d")


def glc22_table() -> pd.DataFrame:
    return pd.read_csv(data_folder() / "glc22_geobench_27k" / "observations_sample_original_labels.csv", sep=";")


@pytest.mark.parametrize(("east", "north", "n_shared"), [(0, 0, 2), (2500, 0, 171), (0, 2500, 170), (2500, 2500, 328)])
def test_the_preset_is_the_organizers_own_grid(east: int, north: int, n_shared: int) -> None:
    """Train and val of 2022 share two quadrats of the preset, and hundreds of a grid moved by half a quadrat."""
    table = glc22_table()
    quadrats = EquatorGrid(origin=(east, north)).assign(table.longitude.to_numpy(), table.latitude.to_numpy())
    labels = np.array(quadrats.of_each_point())
    train, val = (set(labels[table.subset == name]) for name in ("train", "val"))
    assert len(train & val) == n_shared
    if not (east or north):
        assert (len(val), len(train)) == (1_025, 10_264)


def test_single_observations_build_in_the_layout_of_2022(tmp_path: Path) -> None:
    """A table without any survey is a table of surveys of one: no presence-only data, no filter."""
    data = data_folder() / "glc22_geobench_27k" / "observations_sample_original_labels.csv"
    recipe = tmp_path / "recipe.toml"
    recipe.write_text(
        f'name = "glc22"\nseed = "1949"\n[inputs.pa]\npath = "{data}"\n[surveys]\nkeys = '
        f'["observation_id"]\n[quadrats]\ngrid = "glc2022"\n'
        f'{HOLDOUTS}[output]\nlayout = "glc2022"\n[evaluation]\nmetric = "top_k_error"\n'
    )
    report = build_dataset(recipe, tmp_path / "d")
    train = pd.read_csv(report.folder / "public" / "observations_train.csv", sep=";")
    test = pd.read_csv(report.folder / "public" / "observations_test.csv", sep=";")
    assert len(train) + len(test) == 27_438
    assert set(train.observation_id) | set(test.observation_id) == set(glc22_table().observation_id)
    assert report.manifest["grid"]["preset"] == "glc2022"
