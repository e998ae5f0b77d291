"""The golden manifest: the virtual flora of today is the one that was published, byte for byte.

A change here is a breaking change for everybody who wants to build a dataset again, and belongs into the changelog. To
take it: `make golden`.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from spatialsplit.build import BuildReport, build_dataset
from spatialsplit.synthetic import write_virtual_flora

GOLDEN = Path(__file__).parents[1] / "data_manifests" / "virtual-flora"


@pytest.fixture(scope="module")
def rebuilt(tmp_path_factory: pytest.TempPathFactory) -> BuildReport:
    """Make the flora that `make dataset` makes, and build it by the golden recipe."""
    folder = tmp_path_factory.mktemp("golden")
    write_virtual_flora(folder / "input")
    (folder / "input" / "recipe.toml").write_bytes((GOLDEN / "recipe.toml").read_bytes())
    return build_dataset(folder / "input" / "recipe.toml", folder / "dataset")


@pytest.mark.parametrize("name", ["manifest.json", "SHA256SUMS"])
def test_the_virtual_flora_builds_to_its_golden_manifest(name: str, rebuilt: BuildReport) -> None:
    """Every count, check and checksum is what it was."""
    assert (rebuilt.folder / name).read_text() == (GOLDEN / name).read_text()
