"""Reasons for which a row is refused or dropped, counted, and worded for a person.

A reason is known by its position in `REASONS`; a row that has several faults counts under the first.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from spatialsplit.tables import TableInput

FINE = 0

REASONS = (
    "fine",
    "missing_coordinate",
    "bad_latitude",
    "bad_longitude",
    "unprojectable",
    "missing_key",
    "bad_key",
    "missing_species",
    "bad_species",
    "bad_date",
    "bad_uncertainty",
    "survey_coordinates",
    "survey_years",
    "zero_coordinate",
    "equal_coordinates",
    "coarse_coordinate",
    "near_centroid",
    "outside_area",
    "uncertain",
    "uncertainty_missing",
    "obscured",
    "year_outside",
    "basis_of_record",
    "flagged_issue",
    "license",
    "duplicate_row",
    "duplicate_record",
    "absent",
)
"""Every reason, in the order in which they are looked for."""

DROPPABLE = REASONS[1:]

CLEANABLE = REASONS[REASONS.index("zero_coordinate") :]
"""The reasons of cleaning: rows that can be used, and that a recipe may not want."""

CODES: Mapping[str, int] = {reason: code for code, reason in enumerate(REASONS)}

WHAT = {
    "missing_coordinate": ("Missing coordinate", "Every record needs a longitude and a latitude. Fill them in"),
    "bad_latitude": ("Invalid latitude", "Latitudes lie in [-90, 90]. Correct them"),
    "bad_longitude": ("Invalid longitude", "Longitudes lie in [-180, 180]. Correct them"),
    "unprojectable": (
        "Coordinate outside its CRS or the grid",
        "Every point must have a place on the ellipsoid and in the grid. Correct it, its crs or the grid",
    ),
    "missing_key": ("Missing survey key", "Every row must say which survey it belongs to. Fill it in"),
    "bad_key": ("Invalid survey key", "A dayOfYear is a whole number from 1 to 366. Correct it"),
    "missing_species": ("Missing species", "Every row names a species. Fill it in"),
    "bad_species": ("Invalid species", "Species are all whole numbers from 0 or all names. Correct them"),
    "bad_date": ("Contradicting date", "dayOfYear, date and year must agree. Correct them"),
    "bad_uncertainty": (
        "Invalid uncertainty",
        "What is added to the radius is a number of metres, 0 or more, or empty. Correct it",
    ),
    "survey_coordinates": (
        "Survey with more than one place",
        "A survey is one visit to one place. Correct it, add a key, or say "
        'coordinates = "first" or "mean" under [surveys]',
    ),
    "survey_years": (
        "Survey that merges more than one year",
        'The keys do not tell the years apart. Add the year: keys = ["patchID", "year", "dayOfYear"] under [surveys]',
    ),
    "zero_coordinate": ("Coordinates 0, 0", "Missing coordinates end up there. Correct them"),
    "equal_coordinates": ("Equal longitude and latitude", "One was likely copied from the other. Correct them"),
    "coarse_coordinate": (
        "Coordinates rounded to 0.1 degree or coarser",
        "They name a cell, not a place. Correct them",
    ),
    "near_centroid": ("Place at a centroid", "Only the country or institution was likely known. Correct it"),
    "outside_area": ("Place outside the area", "The recipe wants places inside its area. Correct it"),
    "uncertain": ("Uncertainty above the limit", "The recipe wants places that are known better. Correct it"),
    "uncertainty_missing": ("Missing uncertainty", "The recipe wants it to be known. Fill it in"),
    "obscured": ("Coordinates that the publisher made vague", "They name a wide cell, not a place. Correct them"),
    "year_outside": ("Year out of the range", "The recipe wants years inside its range. Correct it"),
    "absent": ("Absence", "A record is a species that was seen. Correct its occurrenceStatus"),
    "basis_of_record": ("Unwanted basis of record", "The recipe lists those it wants. Extend the list"),
    "flagged_issue": ("Unwanted issue", "The recipe lists the flags it does not want. Shorten the list"),
    "license": ("Licence that is not allowed", "The recipe lists those it allows. Extend the list"),
    "duplicate_row": ("Row that repeats another in every cell", "Each is there once. Remove it"),
    "duplicate_record": ("Record that repeats another's species, place and day", "Each is there once. Remove it"),
}
"""For each reason: what is wrong, and what must hold and what to do."""


@dataclass
class Faults:
    """What was wrong with the rows of one input so far: counts, and the first places with their values.

    Attributes
    ----------
    section : str
        The recipe's section, for the advice.
    """

    source: TableInput
    section: str
    unit: str = "rows"
    n_rows: int = 0
    counts: dict[str, int] = field(default_factory=dict)
    first: dict[str, list[tuple[tuple[int, int], str]]] = field(default_factory=dict)
    hints: dict[str, str] = field(default_factory=dict)

    def add(self, reason: str, places: list[tuple[int, int]], values: list[str], count: int) -> None:
        """Count some rows of one reason; the first three places are remembered, with values fit for a message."""
        if not count:
            return
        self.counts[reason] = self.counts.get(reason, 0) + count
        known = self.first.setdefault(reason, [])
        known.extend(zip(places, values, strict=True))
        del known[3:]

    def total(self) -> int:
        """Count the faulty rows."""
        return sum(self.counts.values())

    def problems(self, dropped: Collection[str] = ()) -> list[str]:
        """Word the faults that are not dropped, a line a reason, with the lines of the file."""
        return [self._line(reason) for reason in DROPPABLE if reason in self.counts and reason not in dropped]

    def _line(self, reason: str) -> str:
        what, cure = WHAT[reason]
        known = self.first[reason]
        lines = self.source.lines_of([place for place, _ in known])
        examples = ", ".join(f"{line}: {value}" for line, (_, value) in zip(lines, known, strict=True))
        hint = f" {self.hints[reason]}" if reason in self.hints else ""
        whole = hint and 2 * self.counts[reason] > self.n_rows  # dropped, next to nothing of the table would be left
        drop = "" if whole else f', or say drop = ["{reason}"] under [{self.section}]'
        return (
            f"{what} in {self.counts[reason]:,} of {self.n_rows:,} {self.unit} of {self.source.name} (first: "
            f"{examples})."
            f"{hint} {cure}{drop}."
        )


def first_of(codes: npt.NDArray[np.int8], reason: str) -> tuple[npt.NDArray[np.intp], int]:
    """Give the first three positions of a reason and how many there are."""
    positions = np.flatnonzero(codes == CODES[reason])
    return positions[:3], positions.size
