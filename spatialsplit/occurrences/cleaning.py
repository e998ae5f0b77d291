"""Which rows a recipe wants cleaned away, and by which of their reasons.

Each reason has a policy: `error` refuses the table, `drop` sets the row aside, `flag` counts it and uses it. A reason
without a policy is not looked for. The tests of places stand in `oddities`; where rows repeat each other is found
beforehand, in `repeats`, for it needs the whole table.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from spatialsplit.distances import Sites
from spatialsplit.occurrences.cells import by_distinct
from spatialsplit.occurrences.coordinates import MISSING, Places, parse_numbers
from spatialsplit.occurrences.dates import Days
from spatialsplit.occurrences.oddities import has_equal_coordinates, is_coarse, lies_at_zero

Flags = npt.NDArray[np.bool_]
Cells = Callable[[str], pa.Array]

COLUMN_OF: Mapping[str, str] = {
    "uncertain": "geoUncertaintyInM",
    "uncertainty_missing": "geoUncertaintyInM",
    "obscured": "informationWithheld",
    "absent": "occurrenceStatus",
    "basis_of_record": "basisOfRecord",
    "flagged_issue": "issue",
    "license": "license",
}
"""The column that a reason is read from, where it is one of the table's."""

REPEATING = ("duplicate_row", "duplicate_record")

POLICIES = ("error", "drop", "flag")


@dataclass(frozen=True)
class Limits:
    """What the reasons need to be told.

    Attributes
    ----------
    centroids : Sites, optional
        Points that coordinates are put at when only the country or institution is known.
    centroid_radius_m : float
    area : shapely geometry, optional
        In degrees, its edge counted as inside.
    max_uncertainty_m : float, optional
    years : (int, int), optional
        The first and the last that is wanted; a row without a year is not outside.
    basis_of_record, licenses : frozenset of str
        The values that are wanted; licences by GBIF's short names or their addresses.
    issues : frozenset of str
        The flags that are not wanted.
    """

    centroids: Sites | None = None
    centroid_radius_m: float = 1000.0
    area: Any = None
    max_uncertainty_m: float | None = None
    years: tuple[int, int] | None = None
    basis_of_record: frozenset[str] = frozenset()
    issues: frozenset[str] = frozenset()
    licenses: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Cleaning:
    """The policy of each reason that is looked for, and what the reasons need.

    Attributes
    ----------
    policies : mapping of str to str
        Reason to `error`, `drop` or `flag`.
    limits : Limits
    repeats : mapping of str to (mapping of int to array of int)
        For `duplicate_row` and `duplicate_record`, the rows of each file that repeat an earlier one, increasing.
    dropped : frozenset of str
        All reasons whose rows are dropped, also those that no policy looks for.
    """

    policies: Mapping[str, str]
    limits: Limits = field(default_factory=Limits)
    repeats: Mapping[str, Mapping[int, npt.NDArray[np.int64]]] = field(default_factory=dict)
    dropped: frozenset[str] = frozenset()

    def columns(self) -> list[str]:
        """Name the columns that the reasons are read from."""
        return list(dict.fromkeys(COLUMN_OF[reason] for reason in self.policies if reason in COLUMN_OF))

    def looks_for_repeats(self) -> list[str]:
        """Name the reasons for which the whole table must be compared with itself."""
        return [reason for reason in REPEATING if reason in self.policies]

    def found(self, places: Places, days: Days, cells: Cells, where: tuple[int, int]) -> Iterator[tuple[str, Flags]]:
        """Give each reason with the rows of a batch that it holds for, in the order in which they count.

        Parameters
        ----------
        places, days
        cells : callable
            Gives the cells of a column by our name.
        where : (int, int)
            The file, and the number of the batch's first row in it.
        """
        for reason in self.policies:
            if reason in COLUMN_OF:
                yield reason, self._by_cells(reason, cells(COLUMN_OF[reason]))
            elif reason in REPEATING:
                yield reason, self._repeating(reason, where, len(places.lon))
            else:
                yield reason, self._by_place(reason, places, days)

    def _by_place(self, reason: str, places: Places, days: Days) -> Flags:
        lon, lat = places.lon, places.lat
        if reason == "near_centroid":
            return self._near_centroid(lon, lat)
        if reason == "outside_area":
            return self._outside(lon, lat)
        if reason == "year_outside":
            assert self.limits.years is not None  # the recipe's check has seen to it
            first, last = self.limits.years
            outside: Flags = (days.years > 0) & ((days.years < first) | (days.years > last))
            return outside
        tests = {
            "zero_coordinate": lies_at_zero,
            "equal_coordinates": has_equal_coordinates,
            "coarse_coordinate": is_coarse,
        }
        return tests[reason](lon, lat)

    def _near_centroid(self, lon: npt.NDArray[np.float64], lat: npt.NDArray[np.float64]) -> Flags:
        flags = np.zeros(len(lon), dtype=bool)
        known = np.flatnonzero(np.isfinite(lon) & np.isfinite(lat))
        if self.limits.centroids is not None and known.size:
            near = self.limits.centroids.near(lon[known], lat[known], self.limits.centroid_radius_m)
            flags[known[near.record]] = True
        return flags

    def _outside(self, lon: npt.NDArray[np.float64], lat: npt.NDArray[np.float64]) -> Flags:
        import shapely

        shapely.prepare(self.limits.area)  # nothing is done a second time
        known = np.isfinite(lon) & np.isfinite(lat)
        flags: Flags = known & ~shapely.intersects_xy(self.limits.area, lon, lat)
        return flags

    def _by_cells(self, reason: str, cells: pa.Array) -> Flags:
        if reason in ("uncertain", "uncertainty_missing"):
            metres, states = parse_numbers(cells)
            if reason == "uncertainty_missing":
                return np.asarray(states == MISSING)
            return np.asarray(metres > (self.limits.max_uncertainty_m or 0.0))
        return by_distinct(cells, self._judge(reason)) > 0

    def _judge(self, reason: str) -> Callable[[str], bool]:
        limits = self.limits
        judges: Mapping[str, Callable[[str], bool]] = {
            "obscured": is_obscured,
            "absent": is_absent,
            "basis_of_record": lambda text: plain(text) not in limits.basis_of_record,
            "flagged_issue": lambda text: bool({plain(part) for part in text.split(";")} & limits.issues),
            "license": lambda text: license_code(text) not in limits.licenses,
        }
        return judges[reason]

    def _repeating(self, reason: str, where: tuple[int, int], n: int) -> Flags:
        file, first_row = where
        flags = np.zeros(n, dtype=bool)
        rows = self.repeats.get(reason, {}).get(file)
        if rows is not None:
            start, end = np.searchsorted(rows, (first_row, first_row + n))
            flags[rows[start:end] - first_row] = True
        return flags


def plain(text: str) -> str:
    """Give a word of a controlled vocabulary without case and separators.

    Examples
    --------
    >>> plain("HumanObservation") == plain("HUMAN_OBSERVATION")
    True
    """
    return re.sub(r"[\s_-]", "", text).casefold()


def is_absent(text: str) -> bool:
    """Tell whether an occurrenceStatus says that the species was looked for and not found."""
    return text.casefold() == "absent"


def is_obscured(text: str) -> bool:
    """Tell whether a note on what is withheld says that the coordinates are not the true ones.

    Examples
    --------
    >>> is_obscured("Coordinate uncertainty increased to 27914m to protect threatened taxon"), is_obscured("audio")
    (True, False)
    """
    return "coordinate" in text.casefold() or plain(text) in ("true", "t", "yes", "1", "obscured", "private")


def license_code(text: str) -> str:
    """Give the short name of a licence, however it is written; of Creative Commons' addresses too.

    Examples
    --------
    >>> license_code("http://creativecommons.org/licenses/by-nc/4.0/legalcode"), license_code("CC_BY_4_0")
    ('CC_BY_NC_4_0', 'CC_BY_4_0')
    >>> license_code("https://creativecommons.org/publicdomain/zero/1.0/"), license_code("CC-BY-4.0")
    ('CC0_1_0', 'CC_BY_4_0')
    """
    if match := re.search(r"creativecommons\.org/publicdomain/zero/(\d)\.(\d)", text.casefold()):
        return f"CC0_{match[1]}_{match[2]}"
    if match := re.search(r"creativecommons\.org/licenses/([a-z-]+)/(\d)\.(\d)", text.casefold()):
        return f"CC_{match[1].replace('-', '_').upper()}_{match[2]}_{match[3]}"
    code = re.sub(r"[\s._-]+", "_", text.strip()).upper()
    return "CC0_1_0" if code == "CC0" else code  # there is no other version


def words(values: Sequence[str]) -> frozenset[str]:
    """Give words of a controlled vocabulary as they are compared."""
    return frozenset(plain(value) for value in values)
