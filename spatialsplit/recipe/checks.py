"""What the parts of a recipe must be to each other: rules that no single key shows.

Each check gives a line a fault. The keys themselves stand in `sections`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from spatialsplit.columns import ALLOWED_IN_BLIND
from spatialsplit.crs import read_crs
from spatialsplit.draw import check_word
from spatialsplit.errors import DataError, first_few, nearest_name
from spatialsplit.occurrences import DROPPABLE
from spatialsplit.recipe.sections import Input, Recipe

UNCHANGED_SEED = "change me"
"""The seed of a recipe that was drafted and not looked at."""


def check_recipe(recipe: Recipe, content: Mapping[str, Any]) -> list[str]:
    """Give what contradicts itself in a recipe, a line each.

    Parameters
    ----------
    recipe : Recipe
    content : mapping
        The recipe as written, which tells what was left out.
    """
    checks = (
        _check_seed,
        _check_lists,
        _check_surveys,
        _check_grid,
        _check_holdouts,
        _check_draw,
        _check_inputs,
        _check_clean,
        _check_evaluation,
        _check_output,
    )
    return [problem for check in checks for problem in check(recipe, content)]


def _check_seed(recipe: Recipe, content: Mapping[str, Any]) -> list[str]:
    if (recipe.seed is None) == (recipe.seed_env is None):
        return [
            'A recipe has either seed = "…" or seed_env = "NAME". Give one of them; spatialsplit new-seed makes a seed.'
        ]
    return [] if recipe.seed is None else _from_data_error(lambda: check_word(str(recipe.seed), "seed"))


def _check_lists(recipe: Recipe, content: Mapping[str, Any]) -> list[str]:
    """Refuse lists of words that name something twice."""
    return [
        f"{place} names '{word}' twice. Leave one out."
        for place, words in _lists(recipe.model_dump(mode="json"))
        for word in sorted({word for word in words if words.count(word) > 1})
    ]


def _lists(content: Mapping[str, Any], section: str = "") -> Iterator[tuple[str, list[str]]]:
    for key, value in content.items():
        place = f"{section}.{key}" if section else key
        if isinstance(value, dict):
            yield from _lists(value, place)
        elif isinstance(value, list) and all(isinstance(word, str) for word in value):
            yield place, value


def _check_surveys(recipe: Recipe, content: Mapping[str, Any]) -> list[str]:
    return _from_data_error(recipe.survey_rules) if len(set(recipe.surveys.keys)) == len(recipe.surveys.keys) else []


def _check_evaluation(recipe: Recipe, content: Mapping[str, Any]) -> list[str]:
    return [
        f"Invalid value {value} of '{name}' in [evaluation.options]: it must be a finite number. Correct it."
        for name, value in recipe.evaluation.options.items()
        if isinstance(value, float) and not math.isfinite(value)
    ]


def _check_grid(recipe: Recipe, content: Mapping[str, Any]) -> list[str]:
    section = recipe.quadrats
    if section.grid is not None and (section.crs, section.size_m, section.origin) != (None, None, None):
        return [
            f"[quadrats] has grid = '{section.grid}' and crs, size_m or origin beside it. A preset has its own. "
            "Leave one of them out."
        ]
    return _from_data_error(recipe.grid)


def _check_holdouts(recipe: Recipe, content: Mapping[str, Any]) -> list[str]:
    names = [holdout.name for holdout in recipe.holdouts]
    problems = _from_data_error(recipe.draw_rules)
    if "test" not in names:
        problems.append("There is no [[holdouts]] named 'test'. A benchmark needs one. Rename one or add it.")
    strangers = sorted(
        set(recipe.po_filter.around) - {*names, recipe.draw.remainder if recipe.draw.remainder == "val" else "test"}
    )
    problems.extend(
        f"[po_filter] around = {recipe.po_filter.around} names '{name}', which is no holdout. Holdouts: "
        f"{', '.join(names)}."
        for name in strangers
    )
    return problems


def _check_draw(recipe: Recipe, content: Mapping[str, Any]) -> list[str]:
    draw = recipe.draw
    problems = []
    clashes = [
        (
            draw.strata and draw.method == "threshold",
            "strata and method = 'threshold'",
            "a threshold looks at one quadrat at a time",
        ),
        (
            draw.min_train_quadrats and draw.method == "threshold",
            "min_train_quadrats and method = 'threshold'",
            "a threshold looks at one quadrat at a time",
        ),
        (
            draw.quadrats and draw.min_train_quadrats,
            "quadrats and min_train_quadrats",
            "a fixed assignment leaves nothing to draw",
        ),
        (draw.quadrats and draw.extend, "quadrats and extend", "both name a file with an assignment"),
        (draw.quadrats and draw.attempts, "quadrats and attempts", "a fixed assignment leaves nothing to draw"),
        (draw.extend and draw.attempts, "extend and attempts", "an earlier release keeps its own seed"),
    ]
    if draw.rare_quadrats and not draw.attempts:
        problems.append(
            "[draw] rare_quadrats compares attempts, and there are none. Add attempts = 100, or leave it out."
        )
    return problems + [
        f"[draw] has {both}, which exclude each other: {why}. Leave one out." for clash, both, why in clashes if clash
    ]


def _check_inputs(recipe: Recipe, content: Mapping[str, Any]) -> list[str]:
    problems = [*_check_table("pa", recipe.inputs.pa)]
    if recipe.inputs.po is not None:
        problems.extend(_check_table("po", recipe.inputs.po))
        if recipe.inputs.po.layout == "wide":
            problems.append("[inputs.po] cannot be wide: presence-only tables have a row a record. Leave layout out.")
    elif "po_filter" in content:
        problems.append(
            "[po_filter] stands there without [inputs.po]: there is nothing to filter. Add the table or leave the "
            "filter out."
        )
    return problems


def _check_clean(recipe: Recipe, content: Mapping[str, Any]) -> list[str]:
    tables = (recipe.inputs.pa, recipe.inputs.po)
    return list(recipe.clean.complaints({reason for table in tables if table is not None for reason in table.drop}))


def _check_table(role: str, table: Input) -> Iterator[str]:
    for reason in table.drop:
        if reason not in DROPPABLE:
            near = nearest_name(reason, DROPPABLE)
            hint = f" Did you mean '{near}'?" if near else ""
            known = first_few(DROPPABLE, shown=11)
            yield f"Unknown reason '{reason}' in drop under [inputs.{role}]. Known: {known}.{hint}"
    if (table.layout == "wide") != (table.species_columns is not None):
        yield (
            f"layout = 'wide' and species_columns belong together under [inputs.{role}]: a wide table has a column a "
            "species. Give both or none."
        )
    if table.layout == "wide" and table.read_columns is not None:
        yield f"read_columns under [inputs.{role}] is not for wide tables: their columns are species. Leave it out."
    if not table.paths:
        yield f"path under [inputs.{role}] names no file. Name at least one."
    for problem in _from_data_error(table.dialect, table.dates, lambda: read_crs(table.crs)):
        yield f"[inputs.{role}]: {problem}"


def _check_output(recipe: Recipe, content: Mapping[str, Any]) -> list[str]:
    layout, problems = recipe.output.layout, []
    if not recipe.output.formats or "csv" not in recipe.output.formats:
        problems.append("[output] formats must hold 'csv': it is the published form. 'parquet' may stand beside it.")
    if layout == "glc2022" and recipe.inputs.po is not None:
        problems.append(
            "layout = 'glc2022' has no presence-only table, but there is [inputs.po]. Leave one out; glc2023 and "
            "glc2024 have both."
        )
    if layout == "glc2023" and recipe.draw.remainder != "val":
        problems.append(
            "layout = 'glc2023' publishes presence-absence data as validation only. Say remainder = \"val\" under "
            "[draw]."
        )
    if layout == "glc2023" and recipe.inputs.po is None:
        problems.append("layout = 'glc2023' trains on presence-only data, but there is no [inputs.po]. Add it.")
    if layout is not None and recipe.output.formats != ["csv"]:
        problems.append(f"layout = '{layout}' is made of CSV files. Leave out formats.")
    forbidden = sorted({"speciesId", "speciesName", "quadratId", "subset", "Usage"} & set(recipe.output.blind_columns))
    if forbidden:
        problems.append(
            f"blind_columns = {forbidden} under [output] would give the answer away. Beside the allow-list "
            f"({', '.join(ALLOWED_IN_BLIND)}) name others only."
        )
    return problems


def _from_data_error(*makers: Callable[[], object]) -> list[str]:
    """Give the problems that making something shows."""
    problems: list[str] = []
    for make in makers:
        try:
            make()
        except DataError as error:
            problems.extend(error.problems)
    return problems


def remarks(recipe: Recipe) -> list[str]:
    """Say what is allowed in a recipe and most likely not meant."""
    if recipe.seed != UNCHANGED_SEED:
        return []
    return [f"The seed is still '{UNCHANGED_SEED}', which describe proposes. Choose one: spatialsplit new-seed."]
