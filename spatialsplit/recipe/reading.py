"""A TOML file → Recipe, or a line for each thing that is wrong with it."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from spatialsplit.errors import RecipeError, shown
from spatialsplit.recipe.checks import check_recipe
from spatialsplit.recipe.complaints import complaints
from spatialsplit.recipe.sections import Recipe

LARGEST_BYTES = 1 << 20
"""Of a recipe: reading much more of TOML takes minutes."""


def read_recipe(path: Path | str) -> Recipe:
    """Read and check a recipe.

    Raises
    ------
    RecipeError
        A line for each thing that is wrong with it.
    """
    path = Path(path)
    try:
        content = tomllib.loads(_text_of(path))
    except FileNotFoundError:
        raise RecipeError(
            f"There is no recipe {path}. Correct the path, or make one to start from: spatialsplit synth --out flora."
        ) from None
    except IsADirectoryError:
        raise RecipeError(f"{path} is a folder. A recipe is a TOML file, such as {path / 'recipe.toml'}.") from None
    except UnicodeDecodeError as error:
        raise RecipeError(f"{path.name} is not UTF-8 text ({error}). Save it as UTF-8.") from None
    except OSError as error:
        raise RecipeError(f"Cannot read {path} ({error.strerror}). Correct the path or its permissions.") from None
    except ValueError as error:  # also a number of some thousand digits
        raise RecipeError(
            f"{path.name} is not TOML: {shown(error, longest=200)}. Correct that place; docs/recipe.md shows a recipe."
        ) from None
    except RecursionError:
        raise RecipeError(
            f"{path.name} is nested too deeply. A recipe has sections and lists, no deeper. Flatten it."
        ) from None
    return parse_recipe(content, where=path.name)


def _text_of(path: Path) -> str:
    with path.open("rb") as file:
        content = file.read(LARGEST_BYTES + 1)
    if len(content) > LARGEST_BYTES:
        raise RecipeError(
            f"{path.name} is larger than a recipe: it has more than {LARGEST_BYTES:,} bytes. A recipe is a page of "
            "TOML. Name another file."
        )
    return content.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")


def parse_recipe(content: dict[str, Any], where: str = "the recipe") -> Recipe:
    """Check the content of a recipe that was read from TOML.

    Raises
    ------
    RecipeError
        A line for each thing that is wrong with it.
    """
    try:
        recipe = Recipe.model_validate(content)
    except ValidationError as error:
        raise RecipeError(complaints(error, content, where)) from None
    problems = check_recipe(recipe, content)
    if problems:
        raise RecipeError([f"{problem} ({where})" for problem in problems])
    return recipe
