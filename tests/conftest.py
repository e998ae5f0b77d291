"""What several test files start from: a small virtual flora, and a dataset built from it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from spatialsplit.build import BuildOptions, BuildReport, build_dataset
from spatialsplit.synthetic import write_virtual_flora
from tests.doc_world import make_world


@pytest.fixture(scope="session")
def flora(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a virtual flora of 600 surveys and 5,000 presence-only records; read it, do not write into it."""
    folder = tmp_path_factory.mktemp("flora") / "flora"
    write_virtual_flora(folder, n_surveys=600, n_po=5_000, seed="tests")
    recipe = folder / "recipe.toml"
    recipe.write_text(recipe.read_text().replace("share = 0.025", "share = 0.05"))
    return folder


@pytest.fixture(scope="session")
def built(flora: Path, tmp_path_factory: pytest.TempPathFactory) -> BuildReport:
    """Build the dataset of the small flora; read it, do not write into it."""
    return build_dataset(flora / "recipe.toml", tmp_path_factory.mktemp("built") / "dataset", BuildOptions())


@pytest.fixture(scope="session")
def made_world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make the files that the examples of the documentation start from; tests work in copies."""
    return make_world(tmp_path_factory.mktemp("docs"))


@pytest.fixture
def world(made_world: Path, tmp_path: Path) -> Path:
    """Give a test a copy of these files to write into."""
    shutil.copytree(made_world, tmp_path / "world")
    return tmp_path / "world"
