"""The sections of a recipe: their keys, types and defaults, and what each gives to the module that uses it.

The text under a key is its entry in `docs/recipe.md`, which is generated from here.
"""

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
from spatialsplit.layouts import FLOAT_SPECIES
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
    """A file or a list of files, relative to the recipe. Several files make one table. CSV (also gz, bz2, or alone in
    a zip), Parquet (also a folder of it), GeoPackage and GeoParquet points (whose CRS is the file's own: leave `crs`
    out), GBIF's downloads and snapshots, Darwin Core archives, packed or as a folder with `meta.xml`. With a layout of
    GeoLifeCLEF, also the folder of a download."""

    columns: dict[str, str] = {}
    """Our name of a column = the file's name. Known names and aliases need none."""

    layout: Literal["long", "wide", "darwin_core", "glc2020", "glc2021", "glc2022", "glc2023", "glc2024", "glc2025"] = (
        "long"
    )
    """`"long"`: a row a species; `"wide"`: a column a species, 0 or 1; `"darwin_core"`: the species is `speciesKey`,
    else `species`, else `scientificName` (GBIF's tables and archives are known by themselves); `"glc2020"` …
    `"glc2025"`: GeoLifeCLEF's own files (from 2023 on, the text `6310.0` is species 6310)."""

    species_columns: str | list[str] | None = None
    """For wide tables: a pattern such as `"swi*"`, or a list of names and patterns."""

    crs: str = "EPSG:4326"
    """CRS of the coordinates. Published are WGS84 degrees."""

    separator: str | None = None
    """`","`, `";"` or `"\\t"`; seen in the header unless said."""

    encoding: str = "utf-8"
    """Of a text table."""

    quoted: bool | None = None
    """Whether a quotation mark encloses cells; unless said `true`, and `false` for Darwin Core's tab-separated
    tables."""

    decimal: Literal[".", ","] = "."
    """`","` where coordinates and uncertainties have a decimal comma."""

    read_columns: list[str] | None = None
    """Columns to read beside those that are known or mapped here; others are left out. Unless said, all are read, and
    of Darwin Core the terms that matter."""

    day_first: bool = False
    """Whether dates such as `3.4.2021` or `03/04/2021` have the day first. Without it they are not read."""

    time_zone: str | None = None
    """Zone in which dates that are seconds since 1970 begin their day, such as `"Europe/Paris"`. Without it they are
    not read."""

    drop: list[str] = []
    """Reasons for which rows are dropped and listed instead of refused; see below."""

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
        return self.layout in FLOAT_SPECIES


class Inputs(_Section):
    """The tables to build from."""

    pa: Input
    po: Input | None = None


class SurveySection(_Section):
    """`[surveys]`: see `SurveyRules`."""

    keys: list[str] = ["patchID", "dayOfYear"]
    """Columns that name a survey together; any columns of the file. `dayOfYear` and `year` are taken from the date
    where the file has no such column. With `["surveyId"]` surveys keep their numbers, else they are numbered by a
    hash of their keys."""

    coordinates: Literal["error", "first", "mean"] = "error"
    """For surveys whose rows lie in several places: `"error"`, `"first"` (row in code-point order) or `"mean"`."""


class QuadratSection(_Section):
    """`[quadrats]`: a preset by name, or CRS, size and origin."""

    grid: str | None = None
    """A preset, `"glc2022"` or `"glc2024"`, instead of the next three."""

    crs: str | None = None
    """A projected CRS in metres with an EPSG code; equal-area ones are best. Unless said, `"EPSG:3035"`."""

    size_m: int | None = None
    """Side of a quadrat in whole metres. Unless said, `5000`."""

    origin: list[int] | None = None
    """Easting and northing of a quadrat corner in whole metres. Unless said, `[0, 0]`."""


class HoldoutSection(_Section):
    """`[[holdouts]]`: a subset to draw."""

    name: Literal["test", "val"]
    """In the order of the draw."""

    share: Share
    """Of the quadrats that are still free, between 0 and 1."""


class DrawSection(_Section):
    """`[draw]`: see `DrawRules`."""

    method: Literal["quota", "threshold"] = "quota"
    """`"quota"`: the smallest numbers, as many as the share says. `"threshold"`: every number below share × 2⁶⁴;
    nothing moves when data is added."""

    share_of: Literal["quadrats", "surveys"] = "quadrats"
    """`"surveys"`: the prefix whose surveys come nearest to the share."""

    strata: str | None = None
    """A survey column; the quota is divided among its values by largest remainder."""

    attempts: Annotated[int, Field(ge=1, le=10_000)] | None = None
    """Draw so many times with the seeds `SEED#1`, `SEED#2`, … and keep the draw that is balanced best in share and
    species."""

    rare_quadrats: Annotated[int, Field(ge=1)] | None = None
    """With `attempts`: species that lie in at most so many quadrats are rare, and a draw is also judged by whether a
    holdout has its share of them."""

    min_train_quadrats: Annotated[int, Field(ge=0)] = 0
    """Of each species so many quadrats stay in the remainder, or all where it has no more: a quadrat that cannot be
    spared is passed over, and the next number is taken. `1` promises each species in the remainder, which is train
    unless said."""

    quadrats: str | None = None
    """A table of `quadratId` and `subset`: a fixed assignment. Quadrats not listed belong to the remainder."""

    extend: str | None = None
    """Such a table of an earlier release: its quadrats stay, only new ones are drawn."""

    remainder: Literal["train", "val"] = "train"
    """Where the rest goes; `"val"` where presence-only data is the only training data, as in GeoLifeCLEF 2023."""


class PoFilterSection(_Section):
    """`[po_filter]`: which presence-only records go."""

    radius_m: Annotated[float, Field(ge=0, le=1_000_000)] = 300
    """Presence-only records this near to a survey of `around`, or nearer, are removed; metres by geodesic on WGS84."""

    around: list[Literal["test", "val"]] = ["test"]
    """The holdouts to keep away from."""

    uncertainty_column: Annotated[str, Field(min_length=1)] | None = None
    """A column whose metres are added to a record's radius; missing ones add nothing."""

    whole_quadrats: bool = False
    """Remove all records in test quadrats as well."""

    min_records: Annotated[int, Field(ge=1)] = 1
    """Species with fewer training records (presence-only and presence-absence) lose their presence-only ones."""

    max_records: Annotated[int, Field(ge=1)] | None = None
    """Presence-only records that a species keeps; which ones is drawn by SHA-256 of `SEED|po|SPECIES|k`."""


class EvaluationSection(_Section):
    """`[evaluation]`: how submissions will be scored."""

    metric: Literal["f1_samples", "top_k_error"] = "f1_samples"
    """How a submission is scored; see [scoring](scoring.md)."""

    options: dict[str, str | int | float | bool] = {}
    """Options of the metric, as in `{ k = 30 }`; see [scoring](scoring.md)."""

    public_share: Share | None = None
    """Share of the test quadrats whose surveys count for the public leaderboard."""


class OutputSection(_Section):
    """`[output]`: the form of the published files."""

    formats: list[Literal["csv", "parquet"]] = ["csv"]
    """`"parquet"` may stand beside it."""

    layout: Literal["glc2022", "glc2023", "glc2024"] | None = None
    """That year's file and column names; unless said, ours."""

    coordinate_decimals: Annotated[int, Field(ge=0, le=10)] = 6
    """Coordinates are rounded to it before anything is decided."""

    blind_columns: list[str] = []
    """Survey columns that the blinded test may show beyond the allow-list."""


class AboutSection(_Section):
    """`[about]`: what the dataset's README and descriptions say of it."""

    title: str | None = None
    """The dataset's title; unless said, its `name`."""

    description: str | None = None
    """What it is, in a few sentences."""

    license: str | None = None
    """Best its SPDX name, such as `"CC-BY-4.0"`, or a link."""

    url: str | None = None
    """Where it is published."""

    creators: list[str] = []
    """Who made it, name by name."""

    citation: str | None = None
    """How to cite it."""

    version: str | None = None
    """`MAJOR.MINOR.PATCH`, or its beginning."""

    date_published: str | None = None
    """A day, such as `"2026-01-31"`."""


class Recipe(_Section):
    """All that a build is told.

    Read one with `read_recipe`; its sections are attributes.
    """

    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")]
    """The dataset's name: letters, digits, `.`, `_`, `-`."""

    seed: str | None = None
    """Any text without `|`; an integer means its digits. It stands in the manifest. Needed, unless there is
    `seed_env`."""

    seed_env: str | None = None
    """The environment variable that holds a secret seed of at least 32 hexadecimal digits (`spatialsplit new-seed`).
    The manifest has its SHA-256 only."""

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
        draw = self.draw
        return DrawRules(holdouts, draw.method, draw.share_of, draw.remainder, draw.min_train_quadrats)

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
                table["path"] = [_without_machine(path) for path in paths]
        content["clean"] = self.clean.resolved()
        for section, key in (("draw", "quadrats"), ("draw", "extend"), ("clean", "centroids"), ("clean", "area")):
            if content[section].get(key) is not None:
                content[section][key] = _without_machine(content[section][key])
        grid = self.grid()
        content["quadrats"] = {
            "grid": grid.preset,
            "crs": grid.crs,
            "size_m": grid.size_m,
            "origin": list(grid.origin),
        }
        return content

    def sha256(self) -> str:
        """Give the SHA-256 of the resolved recipe."""
        return hashlib.sha256(json.dumps(self.resolved(), sort_keys=True, ensure_ascii=False).encode()).hexdigest()

    def seed_entry(self) -> dict[str, str]:
        """Give what the manifest says of the seed: the seed, or the commitment to it."""
        if self.sealed:
            return {"kind": "sealed", "sha256": commitment(self.secret_seed())}
        return {"kind": "open", "value": self.secret_seed()}


def _without_machine(path: str) -> str:
    """Leave of an absolute path its last part: the folders of a machine are nobody else's business."""
    return Path(path).name if Path(path).is_absolute() else path
