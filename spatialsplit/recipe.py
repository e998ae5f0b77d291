"""TOML → Recipe, or all complaints at once.

A recipe says everything a build needs. Only `name`, `seed`, `[inputs.pa]` and one `[[holdouts]]` are needed; all else has a default. What
the parts mean stands with the modules that use them.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from spatialsplit.columns import ALLOWED_IN_BLIND
from spatialsplit.draw import DrawRules, Holdout, check_word, commitment
from spatialsplit.errors import DataError, RecipeError, nearest_name
from spatialsplit.occurrences import DROPPABLE
from spatialsplit.quadrats import Grid, grid_named
from spatialsplit.surveys import SurveyRules

Share = Annotated[float, Field(gt=0, lt=1)]

SEALED_SEED = re.compile(r"[0-9a-fA-F]{32,}")


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class Input(_Section):
    """One input table: `[inputs.pa]` or `[inputs.po]`."""

    path: str | list[str]
    columns: dict[str, str] = {}
    layout: Literal["long", "wide", "glc2020", "glc2021", "glc2022", "glc2023", "glc2024", "glc2025"] = "long"
    species_columns: str | list[str] | None = None
    crs: str = "EPSG:4326"
    separator: str | None = None
    encoding: str = "utf-8"
    drop: list[str] = []

    @property
    def paths(self) -> list[str]:
        """The files, as written in the recipe."""
        return [self.path] if isinstance(self.path, str) else self.path

    @property
    def float_species(self) -> bool:
        """Whether the text 6310.0 means species 6310: so it is in GeoLifeCLEF's files from 2023 on."""
        return self.layout in ("glc2023", "glc2024", "glc2025")


class Inputs(_Section):
    """The tables to build from."""

    pa: Input
    po: Input | None = None


class SurveySection(_Section):
    """`[surveys]`: see `SurveyRules`."""

    keys: list[str] = ["patchID", "dayOfYear"]
    coordinates: Literal["error", "first", "mean"] = "error"


class QuadratSection(_Section):
    """`[quadrats]`: a preset by name, or CRS, size and origin."""

    grid: str | None = None
    crs: str | None = None
    size_m: int | None = None
    origin: list[int] | None = None


class HoldoutSection(_Section):
    """`[[holdouts]]`: a subset to draw."""

    name: Literal["test", "val"]
    share: Share


class DrawSection(_Section):
    """`[draw]`: see `DrawRules`."""

    method: Literal["quota", "threshold"] = "quota"
    share_of: Literal["quadrats", "surveys"] = "quadrats"
    strata: str | None = None
    attempts: Annotated[int, Field(ge=1, le=10_000)] | None = None
    quadrats: str | None = None
    extend: str | None = None
    remainder: Literal["train", "val"] = "train"


class PoFilterSection(_Section):
    """`[po_filter]`: which presence-only records go."""

    radius_m: Annotated[float, Field(ge=0, le=1_000_000)] = 300
    around: list[Literal["test", "val"]] = ["test"]
    uncertainty_column: str | None = None
    whole_quadrats: bool = False
    min_records: Annotated[int, Field(ge=1)] = 1
    max_records: Annotated[int, Field(ge=1)] | None = None


class EvaluationSection(_Section):
    """`[evaluation]`: how submissions will be scored."""

    metric: Literal["f1_samples", "top_k_error"] = "f1_samples"
    options: dict[str, str | int | float | bool] = {}
    public_share: Share | None = None


class OutputSection(_Section):
    """`[output]`: the form of the published files."""

    formats: list[Literal["csv", "parquet"]] = ["csv"]
    layout: Literal["glc2022", "glc2023", "glc2024"] | None = None
    coordinate_decimals: Annotated[int, Field(ge=0, le=10)] = 6
    blind_columns: list[str] = []


class AboutSection(_Section):
    """`[about]`: what the dataset's README and descriptions say of it."""

    title: str | None = None
    description: str | None = None
    license: str | None = None
    url: str | None = None
    creators: list[str] = []
    citation: str | None = None
    version: str | None = None
    date_published: str | None = None


class Recipe(_Section):
    """All that a build is told.

    Read one with `read_recipe`; its sections are attributes.
    """

    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")]
    seed: str | None = None
    seed_env: str | None = None
    inputs: Inputs
    surveys: SurveySection = SurveySection()
    quadrats: QuadratSection = QuadratSection()
    holdouts: Annotated[list[HoldoutSection], Field(min_length=1)]
    draw: DrawSection = DrawSection()
    po_filter: PoFilterSection = PoFilterSection()
    evaluation: EvaluationSection = EvaluationSection()
    output: OutputSection = OutputSection()
    about: AboutSection = AboutSection()

    @field_validator("seed", mode="before")
    @classmethod
    def _seed_is_text(cls, seed: object) -> object:
        """A TOML integer means its decimal digits."""
        return str(seed) if isinstance(seed, int) and not isinstance(seed, bool) else seed

    @property
    def sealed(self) -> bool:
        """Whether the seed is secret."""
        return self.seed_env is not None

    def grid(self) -> Grid:
        """Give the grid of the quadrats."""
        section = self.quadrats
        if section.grid is not None:
            return grid_named(section.grid)
        origin = section.origin if section.origin is not None else [0, 0]
        size_m = section.size_m if section.size_m is not None else 5000
        return Grid(section.crs or "EPSG:3035", size_m, tuple(origin))  # type: ignore[arg-type]

    def draw_rules(self) -> DrawRules:
        """Give the rules of the draw."""
        holdouts = [Holdout(holdout.name, holdout.share) for holdout in self.holdouts]
        return DrawRules(holdouts, self.draw.method, self.draw.share_of, self.draw.remainder)

    def survey_rules(self) -> SurveyRules:
        """Give the rules by which rows make surveys."""
        return SurveyRules(tuple(self.surveys.keys), self.surveys.coordinates, self.output.coordinate_decimals)

    def secret_seed(self) -> str:
        """Give the seed, from the environment where the recipe only names it.

        Raises
        ------
        RecipeError
            The environment does not hold it, or it is too weak to be sealed.
        """
        if self.seed_env is None:
            assert self.seed is not None  # read_recipe has seen to it
            return self.seed
        seed = os.environ.get(self.seed_env, "")
        if not seed:
            raise RecipeError(
                f"The environment has no {self.seed_env}, which seed_env names. Set it: export {self.seed_env}=$(spatialsplit new-seed)."
            )
        if not SEALED_SEED.fullmatch(seed):
            raise RecipeError(
                f"The seed in {self.seed_env} is too weak to be sealed: it must have at least 32 hexadecimal digits, or it could be guessed from "
                "its commitment. Make one with spatialsplit new-seed."
            )
        return seed

    def resolved(self) -> dict[str, Any]:
        """Give the recipe with every default, as it stands in the manifest: no path of a machine, no secret."""
        content: dict[str, Any] = self.model_dump(mode="json")
        for table in content["inputs"].values():
            if table is not None:
                paths = [table["path"]] if isinstance(table["path"], str) else table["path"]
                table["path"] = [Path(path).name if Path(path).is_absolute() else path for path in paths]
        grid = self.grid()
        content["quadrats"] = {"grid": grid.preset, "crs": grid.crs, "size_m": grid.size_m, "origin": list(grid.origin)}
        return content

    def sha256(self) -> str:
        """Give the SHA-256 of the resolved recipe."""
        return hashlib.sha256(json.dumps(self.resolved(), sort_keys=True, ensure_ascii=False).encode()).hexdigest()

    def seed_entry(self) -> dict[str, str]:
        """Give what the manifest says of the seed: the seed, or the commitment to it."""
        if self.sealed:
            return {"kind": "sealed", "sha256": commitment(self.secret_seed())}
        return {"kind": "open", "value": self.secret_seed()}


def read_recipe(path: Path | str) -> Recipe:
    """Read and check a recipe.

    Raises
    ------
    RecipeError
        A line for each thing that is wrong with it.
    """
    path = Path(path)
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise RecipeError(
            f"There is no recipe {path}. Correct the path, or make one to start from: spatialsplit synth --out flora."
        ) from None
    except IsADirectoryError:
        raise RecipeError(f"{path} is a folder. A recipe is a TOML file, such as {path / 'recipe.toml'}.") from None
    except UnicodeDecodeError as error:
        raise RecipeError(f"{path.name} is not UTF-8 text ({error}). Save it as UTF-8.") from None
    except tomllib.TOMLDecodeError as error:
        raise RecipeError(
            f"{path.name} is not TOML: {error}. Correct that place; docs/recipe.md shows a recipe."
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
        raise RecipeError([_complaint(dict(fault), where) for fault in error.errors()]) from None
    problems = [problem for check in _CHECKS for problem in check(recipe, content)]
    if problems:
        raise RecipeError([f"{problem} ({where})" for problem in problems])
    return recipe


def _complaint(fault: dict[str, Any], where: str) -> str:
    """Word one fault that the model found."""
    place = [part for part in fault["loc"] if isinstance(part, str) and part not in ("str", "list[str]")]
    section = ".".join(place[:-1])
    in_section = f"[{section}] of {where}" if section else where
    key = place[-1] if place else ""
    if fault["type"] == "extra_forbidden":
        known = _known_keys(place[:-1])
        near = nearest_name(key, known)
        hint = f" Did you mean '{near}'?" if near else ""
        return f"Unknown key '{key}' in {in_section}. Known: {', '.join(known)}.{hint}"
    if fault["type"] == "missing":
        return f"Missing key '{key}' in {in_section}. A recipe needs name, seed, [inputs.pa] with a path, and one [[holdouts]] with name and share."
    value = json.dumps(fault["input"], default=str, ensure_ascii=False)[:80]
    said = fault["msg"][0].lower() + fault["msg"][1:]
    return f"Invalid value {value} of '{key}' in {in_section}: {said}. Correct it."


def _known_keys(place: Sequence[str]) -> list[str]:
    """List the keys of a section, given as the names that lead to it."""
    model: type[BaseModel] = Recipe
    for name in place:
        annotation = model.model_fields[name].annotation
        nested = [part for part in _parts(annotation) if isinstance(part, type) and issubclass(part, BaseModel)]
        if not nested:
            return []
        model = nested[0]
    return list(model.model_fields)


def _parts(annotation: Any) -> list[Any]:
    arguments = getattr(annotation, "__args__", ())
    return [annotation, *(part for argument in arguments for part in _parts(argument))]


def _check_seed(recipe: Recipe, content: dict[str, Any]) -> list[str]:
    if (recipe.seed is None) == (recipe.seed_env is None):
        return [
            'A recipe has either seed = "…" or seed_env = "NAME". Give one of them; spatialsplit new-seed makes a seed.'
        ]
    return _from_data_error(lambda: check_word(recipe.seed or "-", "seed"))


def _check_grid(recipe: Recipe, content: dict[str, Any]) -> list[str]:
    section = recipe.quadrats
    if section.grid is not None and (section.crs, section.size_m, section.origin) != (None, None, None):
        return [
            f"[quadrats] has grid = '{section.grid}' and crs, size_m or origin beside it. A preset has its own. Leave one of them out."
        ]
    return _from_data_error(recipe.grid)


def _check_holdouts(recipe: Recipe, content: dict[str, Any]) -> list[str]:
    names = [holdout.name for holdout in recipe.holdouts]
    problems = _from_data_error(recipe.draw_rules)
    if "test" not in names:
        problems.append("There is no [[holdouts]] named 'test'. A benchmark needs one. Rename one or add it.")
    strangers = sorted(
        set(recipe.po_filter.around) - {*names, recipe.draw.remainder if recipe.draw.remainder == "val" else "test"}
    )
    problems.extend(
        f"[po_filter] around = {recipe.po_filter.around} names '{name}', which is no holdout. Holdouts: {', '.join(names)}."
        for name in strangers
    )
    return problems


def _check_draw(recipe: Recipe, content: dict[str, Any]) -> list[str]:
    draw = recipe.draw
    clashes = [
        (
            draw.strata and draw.method == "threshold",
            "strata and method = 'threshold'",
            "a threshold looks at one quadrat at a time",
        ),
        (draw.quadrats and draw.extend, "quadrats and extend", "both name a file with an assignment"),
        (draw.quadrats and draw.attempts, "quadrats and attempts", "a fixed assignment leaves nothing to draw"),
        (draw.extend and draw.attempts, "extend and attempts", "an earlier release keeps its own seed"),
    ]
    return [
        f"[draw] has {both}, which exclude each other: {why}. Leave one out." for clash, both, why in clashes if clash
    ]


def _check_inputs(recipe: Recipe, content: dict[str, Any]) -> list[str]:
    problems = []
    for role, table in (("pa", recipe.inputs.pa), ("po", recipe.inputs.po)):
        if table is None:
            continue
        for reason in table.drop:
            if reason not in DROPPABLE:
                near = nearest_name(reason, DROPPABLE)
                hint = f" Did you mean '{near}'?" if near else ""
                problems.append(
                    f"Unknown reason '{reason}' in drop under [inputs.{role}]. Known: {', '.join(DROPPABLE)}.{hint}"
                )
        if (table.layout == "wide") != (table.species_columns is not None):
            problems.append(
                f"layout = 'wide' and species_columns belong together under [inputs.{role}]: a wide table has a column a species. Give both or none."
            )
        if not table.paths:
            problems.append(f"path under [inputs.{role}] names no file. Name at least one.")
    if recipe.inputs.po is not None and recipe.inputs.po.layout == "wide":
        problems.append("[inputs.po] cannot be wide: presence-only tables have a row a record. Leave layout out.")
    if recipe.inputs.po is None and "po_filter" in content:
        problems.append(
            "[po_filter] stands there without [inputs.po]: there is nothing to filter. Add the table or leave the filter out."
        )
    return problems


def _check_output(recipe: Recipe, content: dict[str, Any]) -> list[str]:
    layout, problems = recipe.output.layout, []
    if not recipe.output.formats or "csv" not in recipe.output.formats:
        problems.append("[output] formats must hold 'csv': it is the published form. 'parquet' may stand beside it.")
    if layout == "glc2022" and recipe.inputs.po is not None:
        problems.append(
            "layout = 'glc2022' has no presence-only table, but there is [inputs.po]. Leave one out; glc2023 and glc2024 have both."
        )
    if layout == "glc2023" and recipe.draw.remainder != "val":
        problems.append(
            "layout = 'glc2023' publishes presence-absence data as validation only. Say remainder = \"val\" under [draw]."
        )
    if layout == "glc2023" and recipe.inputs.po is None:
        problems.append("layout = 'glc2023' trains on presence-only data, but there is no [inputs.po]. Add it.")
    if layout is not None and recipe.output.formats != ["csv"]:
        problems.append(f"layout = '{layout}' is made of CSV files. Leave out formats.")
    forbidden = sorted({"speciesId", "speciesName", "quadratId", "subset", "Usage"} & set(recipe.output.blind_columns))
    if forbidden:
        problems.append(
            f"blind_columns = {forbidden} under [output] would give the answer away. Beside the allow-list ({', '.join(ALLOWED_IN_BLIND)}) name others only."
        )
    return problems


_CHECKS = (_check_seed, _check_grid, _check_holdouts, _check_draw, _check_inputs, _check_output)


def _from_data_error(make: Any) -> list[str]:
    """Give the problems that making something shows."""
    try:
        make()
    except DataError as error:
        return list(error.problems)
    return []
