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


def read_recipe(path: Path | str) -> Recipe:
    """Read and check a recipe.

    Raises
    ------
    RecipeError
        A line for each thing that is wrong with it.
    """
    path = Path(path)
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8-sig"))
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
