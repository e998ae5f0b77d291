"""The sections of a recipe: their keys, types and defaults, and what each gives to the module that uses it."""

from __future__ import annotations

import hashlib
import json
import os
import re
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

from spatialsplit.draw import DrawRules, Holdout, commitment
from spatialsplit.errors import RecipeError
from spatialsplit.occurrences import DateRules
from spatialsplit.quadrats import Grid, grid_named
from spatialsplit.recipe.cleaning import CleanSection
from spatialsplit.surveys import SurveyRules
from spatialsplit.tables import Dialect

Share = Annotated[float, Field(gt=0, lt=1)]

SEALED_SEED = re.compile(r"[0-9a-fA-F]{32,}")


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class Input(_Section):
    """One input table: `[inputs.pa]` or `[inputs.po]`."""

    path: str | list[str]
    columns: dict[str, str] = {}
    layout: Literal["long", "wide", "darwin_core", "glc2020", "glc2021", "glc2022", "glc2023", "glc2024", "glc2025"] = (
        "long"
    )
    species_columns: str | list[str] | None = None
    crs: str = "EPSG:4326"
    separator: str | None = None
    encoding: str = "utf-8"
    quoted: bool | None = None
    decimal: Literal[".", ","] = "."
    read_columns: list[str] | None = None
    day_first: bool = False
    time_zone: str | None = None
    drop: list[str] = []

    @property
    def paths(self) -> list[str]:
        """The files, as written in the recipe."""
        return [self.path] if isinstance(self.path, str) else self.path

    def dialect(self) -> Dialect:
        r"""Give how the files are written; the two characters `\t` mean a tab."""
        return Dialect("\t" if self.separator == "\\t" else self.separator, self.encoding, self.quoted)

    def dates(self) -> DateRules:
        """Give how the dates are written."""
        return DateRules(self.day_first, self.time_zone)

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
    uncertainty_column: Annotated[str, Field(min_length=1)] | None = None
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
    clean: CleanSection = CleanSection()
    holdouts: Annotated[list[HoldoutSection], Field(min_length=1)]
    draw: DrawSection = DrawSection()
    po_filter: PoFilterSection = PoFilterSection()
    evaluation: EvaluationSection = EvaluationSection()
    output: OutputSection = OutputSection()
    about: AboutSection = AboutSection()

    @field_validator("seed", mode="before")
    @classmethod
    def _seed_is_text(cls, seed: object) -> object:
        """Take a TOML integer for its decimal digits."""
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
                f"The environment has no {self.seed_env}, which seed_env names. Set it: "
                f"export {self.seed_env}=$(spatialsplit new-seed)."
            )
        if not SEALED_SEED.fullmatch(seed):
            raise RecipeError(
                f"The seed in {self.seed_env} is too weak to be sealed: it must have at least 32 hexadecimal digits, "
                "or it could be guessed from its commitment. Make one with spatialsplit new-seed."
            )
        return seed

    def resolved(self) -> dict[str, Any]:
        """Give the recipe with every default, as it stands in the manifest: no path of a machine, no secret."""
        content: dict[str, Any] = self.model_dump(mode="json")
        for table in content["inputs"].values():
            if table is not None:
                paths = [table["path"]] if isinstance(table["path"], str) else table["path"]
                table["path"] = [Path(path).name if Path(path).is_absolute() else path for path in paths]
        content["clean"] = self.clean.resolved()
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
