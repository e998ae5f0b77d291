"""Building again, and saying what changed."""

from __future__ import annotations

from pathlib import Path

import pytest

from spatialsplit.build import BuildReport, build_dataset
from spatialsplit.comparing import describe_changes, rebuild_dataset
from spatialsplit.errors import ManifestError


def test_building_again_gives_every_byte(built: BuildReport, flora: Path) -> None:
    """From the dataset's own recipe and the inputs, nothing differs."""
    rebuilt = rebuild_dataset(built.folder, flora)
    assert rebuilt.differences == ()
    assert rebuilt.n_files == len(built.manifest["outputs"])


def test_another_input_is_named_with_the_first_line_that_differs(
    built: BuildReport, flora: Path, tmp_path: Path
) -> None:
    """A changed cell is found: which input, which file, which line."""
    (tmp_path / "pa.csv").write_bytes((flora / "pa.csv").read_bytes())
    lines = (flora / "po.csv").read_text().splitlines()
    lines[1] = lines[1].replace(lines[1].split(",")[1], "somebody-else")
    (tmp_path / "po.csv").write_text("\n".join(lines) + "\n")
    said = rebuild_dataset(built.folder, tmp_path).differences
    assert said[0].startswith("The input po.csv is not the file")
    assert any(line.startswith("public/PO_train.csv differs first in line 2") for line in said)


def test_a_folder_without_manifest_cannot_be_built_again(tmp_path: Path) -> None:
    """It is said in one line."""
    with pytest.raises(ManifestError, match=r"There is no manifest\.json"):
        rebuild_dataset(tmp_path, tmp_path)


def test_changes_are_told_in_words(built: BuildReport, flora: Path, tmp_path: Path) -> None:
    """A larger radius and a larger share show as what they did."""
    for name in ("pa.csv", "po.csv"):
        (tmp_path / name).write_bytes((flora / name).read_bytes())
    recipe = (
        (flora / "recipe.toml")
        .read_text()
        .replace("radius_m = 300", "radius_m = 2000")
        .replace("share = 0.05", "share = 0.08", 1)
    )
    (tmp_path / "recipe.toml").write_text(recipe)
    other = build_dataset(tmp_path / "recipe.toml", tmp_path / "d")
    said = describe_changes(built.folder, other.folder)
    assert "holdouts.test.share: 0.05 → 0.08" in said
    assert "po_filter.radius_m: 300 → 2000" in said
    assert any("moved from train to test" in line for line in said)
    assert any(line.startswith("filter_po dropped") and line.endswith("more as near_test") for line in said)


def test_equal_datasets_have_no_changes(built: BuildReport) -> None:
    """Nothing is said of nothing."""
    assert describe_changes(built.folder, built.folder) == []
