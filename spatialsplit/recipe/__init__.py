"""TOML → Recipe, or all complaints at once.

A recipe says everything a build needs. Only `name`, `seed`, `[inputs.pa]` and one `[[holdouts]]` are needed; all else
has a default. What the parts mean stands with the modules that use them.
"""

from spatialsplit.recipe.reading import parse_recipe, read_recipe
from spatialsplit.recipe.sections import Input, Recipe

__all__ = ["Input", "Recipe", "parse_recipe", "read_recipe"]
