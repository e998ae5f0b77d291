"""What the documentation says is there, is there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from pydantic import BaseModel

from spatialsplit.build import BuildReport
from spatialsplit.columns import COLUMNS
from spatialsplit.occurrences import DROPPABLE
from spatialsplit.recipe import Recipe, parse_recipe
from spatialsplit.synthetic import write_virtual_flora

REPOSITORY = Path(__file__).parents[1]


def keys(model: type[BaseModel]) -> set[str]:
    """Collect the keys of a recipe's sections, all the way down."""
    found: set[str] = set()
    for name, info in model.model_fields.items():
        nested = [part for part in re.findall(r"recipe\.(\w+)", str(info.annotation))]
        import spatialsplit.recipe as module

        sections = [getattr(module, part) for part in nested if isinstance(getattr(module, part, None), type)]
        found |= {name} if not sections else set().union(*(keys(section) for section in sections))
    return found


def test_the_page_of_the_recipe_has_every_key() -> None:
    page = (REPOSITORY / "docs" / "recipe.md").read_text()
    missing = {key for key in keys(Recipe) if f"`{key}`" not in page}
    assert not missing


def test_the_page_of_the_recipe_has_every_reason() -> None:
    page = (REPOSITORY / "docs" / "recipe.md").read_text()
    assert not [reason for reason in DROPPABLE if f"`{reason}`" not in page]


def test_the_recipe_on_the_page_is_a_recipe() -> None:
    import tomllib

    page = (REPOSITORY / "docs" / "recipe.md").read_text()
    assert parse_recipe(tomllib.loads(page.split("```toml\n")[1].split("```")[0])).name == "virtual-flora"


def test_the_recipe_of_the_golden_manifest_is_the_one_that_synth_writes(tmp_path: Path) -> None:
    write_virtual_flora(tmp_path / "flora", n_surveys=10, n_po=10)
    golden = REPOSITORY / "data_manifests" / "virtual-flora" / "recipe.toml"
    assert golden.read_bytes() == (tmp_path / "flora" / "recipe.toml").read_bytes()


@pytest.mark.parametrize("name", ["quadrats.csv", "species.csv", "PA_test_blind.csv", "sample_submission.csv"])
def test_every_column_that_is_made_here_has_a_description(built: BuildReport, name: str) -> None:
    header = (built.folder / "public" / name).read_text().splitlines()[0].split(",")
    assert set(header) <= set(COLUMNS)
