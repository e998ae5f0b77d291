"""What the documentation says is there, is there."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import pytest
from pydantic import BaseModel

from docs.recipe_keys import documented, renewed
from spatialsplit.build import BuildReport
from spatialsplit.columns import COLUMNS
from spatialsplit.occurrences import DROPPABLE
from spatialsplit.recipe import Input, Recipe, parse_recipe
from spatialsplit.synthetic import write_virtual_flora

REPOSITORY = Path(__file__).parents[1]


def sections(annotation: object) -> list[type[BaseModel]]:
    """Give the models that a type speaks of."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [model for part in get_args(annotation) for model in sections(part)]


def keys(model: type[BaseModel]) -> set[str]:
    """Collect the keys of a recipe's sections, all the way down."""
    found: set[str] = set()
    for name, info in model.model_fields.items():
        nested = sections(info.annotation)
        found |= set().union(*(keys(section) for section in nested)) if nested else {name}
    return found


def test_the_page_of_the_recipe_has_every_key() -> None:
    page = (REPOSITORY / "docs" / "recipe.md").read_text()
    missing = {key for key in keys(Recipe) if f"`{key}`" not in page}
    assert not missing


def test_the_page_of_the_recipe_is_the_one_that_the_models_give() -> None:
    """After a change of a key: `python -m docs.recipe_keys`."""
    page = (REPOSITORY / "docs" / "recipe.md").read_text("utf-8")
    assert page == renewed(page)


def test_every_key_of_a_recipe_says_what_it_means() -> None:
    """In the source, where the key stands, so that the page is complete."""
    for model in [Recipe, Input, *sections(Recipe.model_fields["draw"].annotation)]:
        told = {key for key, field in model.model_fields.items() if not sections(field.annotation)}
        assert told <= set(documented(model))


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


def test_the_python_of_the_readme_runs() -> None:
    readme = (REPOSITORY / "README.md").read_text()
    names: dict[str, object] = {}
    exec(readme.split("```python\n")[1].split("```")[0], names)
    assert names["gone"].record.tolist() == [0]  # type: ignore[attr-defined]
    assert sorted(names["subset"].tolist()) == ["test", "train", "train"]  # type: ignore[attr-defined]


def test_the_readme_names_every_command() -> None:
    from spatialsplit.cli import COMMANDS

    readme = (REPOSITORY / "README.md").read_text()
    assert not [name for name in COMMANDS if f"`{name}`" not in readme]
