"""`[clean]`: the policy of each reason, and what the reasons need to be told."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from spatialsplit.occurrences import CLEANABLE, DROPPABLE, REPEATING

Refused = Literal["error", "drop"] | None
"""A row that cannot be used is refused or set aside; it cannot be flagged and used."""

Unwanted = Literal["error", "drop", "flag"] | None

NEEDS = {
    "near_centroid": "centroids",
    "outside_area": "area",
    "uncertain": "max_uncertainty_m",
    "year_outside": "years",
    "basis_of_record": "allow_basis_of_record",
    "flagged_issue": "refuse_issues",
    "license": "allow_licenses",
}
"""The key that a reason cannot do without."""


class CleanSection(BaseModel):
    """`[clean]`: which rows are errors, dropped, or flagged and used; what is left out is not looked for."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    tables: list[Literal["pa", "po"]] | None = None
    """The tables to clean. Unless said, both for rows that cannot be used; for rows that are not wanted the
    presence-only table, where there is one."""

    missing_coordinate: Refused = None
    bad_latitude: Refused = None
    bad_longitude: Refused = None
    unprojectable: Refused = None
    missing_key: Refused = None
    bad_key: Refused = None
    missing_species: Refused = None
    bad_species: Refused = None
    bad_date: Refused = None
    bad_uncertainty: Refused = None
    survey_coordinates: Refused = None
    survey_years: Refused = None

    zero_coordinate: Unwanted = None
    equal_coordinates: Unwanted = None
    coarse_coordinate: Unwanted = None
    near_centroid: Unwanted = None
    outside_area: Unwanted = None
    uncertain: Unwanted = None
    uncertainty_missing: Unwanted = None
    obscured: Unwanted = None
    year_outside: Unwanted = None
    absent: Unwanted = None
    basis_of_record: Unwanted = None
    flagged_issue: Unwanted = None
    license: Unwanted = None
    duplicate_row: Unwanted = None
    duplicate_record: Unwanted = None

    centroids: str | None = None
    """A table of points, with `lon` and `lat`, that places are put at when only the country, province or institution
    is known. None comes with the package."""

    centroid_radius_m: Annotated[float, Field(ge=0, le=100_000)] | None = None
    """Records this near to one, or nearer, are `near_centroid`. Unless said, `1000`."""

    area: str | None = None
    """Polygons (GeoPackage, GeoJSON, GeoParquet, in any CRS); records outside are `outside_area`. Their edges are
    straight lines in degrees and belong to it."""

    max_uncertainty_m: Annotated[float, Field(ge=0)] | None = None
    """Records with more are `uncertain`."""

    years: Annotated[list[int], Field(min_length=2, max_length=2)] | None = None
    """`[first, last]`; records before or after are `year_outside`."""

    allow_basis_of_record: list[str] | None = None
    """Values of `basisOfRecord` that are wanted, such as `"HUMAN_OBSERVATION"`; in any case and with or without
    separators."""

    refuse_issues: list[str] | None = None
    """Flags of the column `issue` that are not wanted, such as `"COORDINATE_ROUNDED"`."""

    allow_licenses: list[str] | None = None
    """Licences that are allowed, such as `"CC0_1_0"`, `"CC_BY_4_0"`; `"CC-BY-4.0"`, `"CC BY 4.0"` and the addresses of
    Creative Commons mean the same."""

    def policies(self, role: str, drop: list[str], *, with_po: bool) -> dict[str, str]:
        """Give the policy of each reason for one table, in the order of the reasons.

        Parameters
        ----------
        role : {'pa', 'po'}
        drop : list of str
            The short form: what the table's own section drops.
        with_po : bool
            Whether there is a presence-only table: then it is the one to clean, unless the recipe says other.
        """
        unwanted_in = self.tables or (["po"] if with_po else ["pa"])
        found: dict[str, str] = {}
        for reason in DROPPABLE:
            tables = unwanted_in if reason in CLEANABLE else self.tables or ["pa", "po"]
            policy = "drop" if reason in drop else getattr(self, reason) if role in tables else None
            if policy is not None and not (role == "pa" and reason in REPEATING):
                found[reason] = policy
        return found

    def complaints(self, dropped: set[str]) -> Iterator[str]:
        """Say which reasons lack what they need, and which keys nothing needs.

        Parameters
        ----------
        dropped : set of str
            What the inputs drop by their short form.
        """
        for reason, key in NEEDS.items():
            asked = getattr(self, reason) is not None or reason in dropped
            if asked and getattr(self, key) is None:
                yield f"The reason '{reason}' needs '{key}' under [clean]. Add it."
            if not asked and getattr(self, key) is not None:
                yield (
                    f"'{key}' under [clean] is for the reason '{reason}', which has no policy. Say {reason} = "
                    '"error", "drop" or "flag", or leave it out.'
                )
        if self.centroid_radius_m is not None and self.centroids is None:
            yield "'centroid_radius_m' under [clean] is for 'centroids', which is not there. Add it or leave both out."
        if self.years is not None and self.years[0] > self.years[1]:
            yield f"years = {self.years} under [clean] ends before it begins. Give the first year first."

    def resolved(self) -> dict[str, Any]:
        """Give what was said, for the manifest."""
        return {key: value for key, value in self.model_dump(mode="json").items() if value is not None}
