"""What the checks look at: all surveys in one table, the truth of the test, the rules promised.

Built from a published dataset here, and from somebody's tables in `foreign.py`; the checks do not know the
difference.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from spatialsplit.audit.grids import Grid, grid_of_labels
from spatialsplit.audit.published import Published, joins_val
from spatialsplit.audit.report import CannotRun
from spatialsplit.audit.survey_rows import joined_rows, no_rows, numbered, survey_rows
from spatialsplit.audit.tables import Table, Unreadable

if TYPE_CHECKING:
    from spatialsplit.audit.presence_only import PresenceOnly

_OF_PLACES = ("role", "subset", "survey", "key", "lon", "lat", "file", "line")
_PA_ROLE = re.compile(r"pa_(.+?)(_empty|_blind)?")


@dataclass(frozen=True)
class Promise:
    """What the dataset promises; `why_not` says why something is not known.

    Parameters
    ----------
    keys : tuple of str
        The columns that make a survey.
    grid : Grid or None
        The quadrats.
    radius_m : float or None
        No presence-only record may be this near to a survey of `around`, or nearer.
    around : tuple of str
        Subsets.
    uncertainty : str or None
        A column whose metres are added to the radius, record by record.
    no_po_in_quadrats : bool
        Whether test quadrats hold no presence-only record at all.
    """

    keys: tuple[str, ...] = ()
    grid: Grid | None = None
    radius_m: float | None = None
    around: tuple[str, ...] = ("test",)
    uncertainty: str | None = None
    no_po_in_quadrats: bool = False
    no_grid: str = "no grid is known"
    no_radius: str = "no radius is known"


@dataclass
class Evidence:
    """All that the checks need, read once.

    Parameters
    ----------
    rows : DataFrame
        A row a row of each survey table, as `survey_rows` gives them.
    promise : Promise
        The rules.
    po : tuple of Table
        Presence-only records that may be trained on.
    published : Published or None
        The folder, where there is one.
    unread : list of str
        Why a survey table could not be read; then nothing can be said of all surveys.
    seed : str or None
        The revealed seed of a sealed draw.
    blind : Table or None
        A test table without labels, where there is no folder to find it in.
    """

    rows: pd.DataFrame
    promise: Promise
    po: tuple[Table, ...] = ()
    published: Published | None = None
    unread: list[str] = field(default_factory=list)
    seed: str | None = None
    blind: Table | None = None

    @property
    def dataset(self) -> Published:
        """The published folder, or the reason why a check that needs one cannot run."""
        if self.published is None:
            raise CannotRun("needs a dataset folder with its manifest, not single tables")
        return self.published

    @property
    def grid(self) -> Grid:
        """The grid, or the reason why it is not known."""
        if self.promise.grid is None:
            raise CannotRun(self.promise.no_grid)
        return self.promise.grid

    @property
    def held_out(self) -> str:
        """The subset whose distance to training is a fact: the test, or val where there is no test."""
        subsets = set(self.rows["subset"].unique())
        return "val" if "val" in subsets and "test" not in subsets else "test"

    @cached_property
    def held_out_places(self) -> pd.DataFrame:
        """The different places of that subset."""
        return self.surveys_of(self.held_out).drop_duplicates(["lon", "lat"]).dropna(subset=["lon", "lat"])

    def surveys_of(self, *subsets: str) -> pd.DataFrame:
        """Give the places of some subsets."""
        return self.places[self.places["subset"].isin(subsets)]

    def all_rows(self) -> pd.DataFrame:
        """Give the survey rows, or say that they are not all there."""
        if self.unread:
            raise CannotRun(self.unread[0])
        return self.rows

    @cached_property
    def numbers(self) -> dict[str, np.ndarray]:
        """For each row the number of its `survey` and of its `key`: equal texts have equal numbers."""
        return {word: numbered(self.rows[word]) for word in ("survey", "key")}

    @cached_property
    def places(self) -> pd.DataFrame:
        """The surveys with their places: a row for each different one."""
        rows = self.rows[list(_OF_PLACES)]
        both = (rows["key"] != "") & (rows["survey"] != "")
        if both.any():
            keyed = rows.loc[both, ["survey", "key"]].drop_duplicates("survey").set_index("survey")["key"]
            lacking = (rows["key"] == "") & rows["survey"].isin(keyed.index)  # a layout may leave the keys out
            if lacking.any():
                rows = rows.assign(key=rows["key"].mask(lacking, rows["survey"].map(keyed)))
                return rows[~rows.duplicated(["subset", "survey", "key", "lon", "lat"])].reset_index(drop=True)
        same = rows[["subset", "lon", "lat"]].assign(survey=self.numbers["survey"], key=self.numbers["key"])
        return rows[~same.duplicated()].reset_index(drop=True)

    @cached_property
    def quadrat_of_places(self) -> pd.Categorical:
        """The label of the quadrat of each row of `places`; empty text where it has none."""
        labels, codes = self.grid.coded_labels(self.places["lon"].to_numpy(), self.places["lat"].to_numpy())
        return pd.Categorical.from_codes(codes, pd.Index(labels, dtype=object))

    def places_on_grid(self) -> pd.DataFrame:
        """Give the places with a column `quadrat`."""
        return self.places.assign(quadrat=self.quadrat_of_places)

    @cached_property
    def presence_only(self) -> PresenceOnly:
        """What one pass over the presence-only records found; made once, at the first question."""
        from spatialsplit.audit.presence_only import look_at

        if not self.po:
            raise CannotRun("there are no presence-only records")
        return look_at(self.po, self)

    @cached_property
    def truth(self) -> dict[str, frozenset[str]]:
        """The species of each test survey, from PA_test or else from the solution."""
        held = self.rows[(self.rows["role"] == "pa_test") & (self.rows["speciesId"] != "")]
        if len(held) or (self.rows["role"] == "pa_test").any():
            return {str(survey): frozenset(group) for survey, group in held.groupby("survey")["speciesId"]}
        if self.published is None:
            raise CannotRun("the test table holds no species")
        solution = self.published.table("solution").read("surveyId", "predictions")
        lists = zip(solution["surveyId"], solution["predictions"], strict=True)
        return {survey: frozenset(text.split()) for survey, text in lists if text.split()}


def subset_of(role: str) -> str:
    """Name the subset of a survey table's role.

    Examples
    --------
    >>> subset_of("pa_test_blind"), subset_of("pa_train_empty"), subset_of("pa_val")
    ('test', 'train', 'val')
    """
    match = _PA_ROLE.fullmatch(role)
    return match[1] if match else role


def gather(published: Published, *, seed: str | None = None, radius_m: float | None = None) -> Evidence:
    """Read what the checks need from a dataset folder."""
    promise = _promise(published, radius_m)
    po = [table for role, table in published.tables.items() if role == "po_train"]
    evidence = Evidence(no_rows(), promise, tuple(po), published, seed=seed)
    parts = []
    for name, role in published.roles.items():
        if not _PA_ROLE.fullmatch(role):
            continue
        if name in published.broken:
            evidence.unread.append(published.broken[name])
            continue
        try:
            if published.tables[role].name == name:
                table, subset = published.tables[role], subset_of(role)
                parts.append(survey_rows(table, role, promise.keys, subset=subset, own_subset=joins_val(name)))
        except Unreadable as error:
            published.broken[name] = str(error)
            evidence.unread.append(str(error))
    if parts:
        evidence.rows = joined_rows(parts)
    return evidence


def _promise(published: Published, radius_m: float | None) -> Promise:
    grid, no_grid = _grid(published)
    wanted = published.maybe("recipe", "po_filter", default={})
    radius = radius_m if radius_m is not None else _positive(wanted.get("radius_m"))
    around = wanted.get("around")
    return Promise(
        keys=_keys(published),
        grid=grid,
        radius_m=radius,
        around=tuple(around) if isinstance(around, list) else ("test",),
        uncertainty=_text(wanted.get("uncertainty_column")),
        no_po_in_quadrats=wanted.get("whole_quadrats") is True,
        no_grid=no_grid,
        no_radius=_no_radius(published),
    )


def _no_radius(published: Published) -> str:
    if published.manifest is None:
        return "there is no manifest.json to say the radius. Give it with --radius, as README.md beside the tables does"
    return "the recipe has no [po_filter]"


def _positive(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None


def _keys(published: Published) -> tuple[str, ...]:
    """Read the keys in the recipe, or off the tables: they stand between `surveyId` and the place."""
    keys = published.maybe("recipe", "surveys", "keys", kind=list)
    if keys is not None:
        return tuple(str(key) for key in keys)
    for role in ("pa_train", "pa_val", "pa_test_blind"):
        table = published.tables.get(role)
        if table is not None and table.has("surveyId", "lon", "lat"):
            first, *places = (table.header.index(table.means[word]) for word in ("surveyId", "lon", "lat"))
            return table.header[first + 1 : min(places)]
    return ()


def _grid(published: Published) -> tuple[Grid | None, str]:
    said = published.maybe("grid", default={})
    if said.get("preset") == "glc2022":
        return Grid(None, 5000, (0, 0)), ""
    crs, size, origin = said.get("crs"), _positive(said.get("size_m")), said.get("origin")
    if isinstance(crs, str) and size and isinstance(origin, list) and len(origin) == 2:
        return Grid(crs, size, (origin[0], origin[1])), ""
    try:
        labels = published.table("quadrats").read("quadratId").get("quadratId", pd.Series(dtype=object))
    except (CannotRun, Unreadable) as error:
        return None, f"the grid is not known: {error}"
    grid = grid_of_labels([str(label) for label in labels])
    return grid, "the labels of quadrats.csv are of no known grid"
