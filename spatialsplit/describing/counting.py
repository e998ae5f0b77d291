"""Count in one pass what a table holds: places, days, species, missing cells, and what looks odd."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from spatialsplit.occurrences.cells import NUMERIC, WHOLE, WHOLE_AS_FLOAT, by_distinct, cell_texts
from spatialsplit.occurrences.coordinates import MISSING, MISSING_WORDS, NO_NUMBER, parse_numbers
from spatialsplit.occurrences.dates import DAY_FIRST, EPOCH, DateRules, read_days
from spatialsplit.occurrences.oddities import has_equal_coordinates, is_coarse, lies_at_zero, row_codes
from spatialsplit.tables import Batch
from spatialsplit.tables.writing import is_cell

LISTED = ("license", "basisOfRecord", "occurrenceStatus", "geodeticDatum", "taxonRank")
"""Columns of Darwin Core whose values are counted."""

ZONES = ("UTC", "Europe/London", "Europe/Paris", "Europe/Athens", "America/New_York", "America/Los_Angeles")
"""Zones that are tried for dates in seconds, where dayOfYear tells which is right."""

MOST_ROWS_COMPARED = 20_000_000
MOST_SPECIES = 5_000_000
UNCERTAIN_M = 1000.0

SAYS: Mapping[str, str] = {
    "missing_coordinate": "have no longitude or no latitude",
    "no_number": "have a coordinate that is no number",
    "decimal_comma": 'have coordinates with a decimal comma: say decimal = ","',
    "out_of_range": "have coordinates out of range",
    "swapped_axes": "would be valid with longitude and latitude exchanged",
    "zero_zero": "lie at longitude 0, latitude 0, where missing coordinates end up",
    "equal_coordinates": "have one number as longitude and latitude",
    "coarse_coordinates": "have both coordinates rounded to 0.1 degree or coarser",
    "missing_species": "name no species",
    "float_species": "have a species number with a decimal point (6310.0)",
    "mixed_species": "name a species where most have a number",
    "bad_date": "have date, year and dayOfYear that contradict each other",
    "date_not_iso": "have a date that is no ISO day",
    "day_first": "have a date such as 31.12.2021: say day_first = true, if the day is first",
    "seconds": "have a date in seconds since 1970: say time_zone",
    "date_no_single_day": "have a month, a year or a range as date, and so no dayOfYear",
    "uncertain": f"may lie more than {UNCERTAIN_M:,.0f} m from where the table says",
    "uncertainty_missing": "do not say how uncertain the place is",
    "infinite_area": "have an infinite area",
    "absent": "say that the species was absent",
    "other_datum": "have a geodetic datum other than WGS84",
    "exact_duplicates": "repeat an earlier row in every cell",
    "same_species_place_day": "repeat the species, place and date of an earlier row",
}
"""What each suspicion says of so many rows."""


OF_ONE: Mapping[str, str] = {
    "have": "has",
    "lie": "lies",
    "name": "names",
    "do": "does",
    "say": "says",
    "repeat": "repeats",
}
"""The verbs of `SAYS` where a single row does it."""


@dataclass(frozen=True)
class Suspicion:
    """Something that looks odd, and in how many rows."""

    name: str
    count: int

    @property
    def says(self) -> str:
        """What it means, in a sentence without the number."""
        verb, _, rest = SAYS[self.name].partition(" ")
        return f"{OF_ONE.get(verb, verb) if self.count == 1 else verb} {rest}"


@dataclass
class Counts:
    """What the batches added up to.

    Attributes
    ----------
    names : mapping of str to int
        Our name of a column to its position.
    listed : mapping of str to int
        Columns whose values are counted, and their positions.
    binary : set of int
        Positions of columns that hold nothing but 0 and 1.
    """

    names: Mapping[str, int]
    listed: Mapping[str, int]
    binary: set[int]
    n_rows: int = 0
    odd: Counter[str] = field(default_factory=Counter)
    missing: Counter[str] = field(default_factory=Counter)
    values: dict[str, Counter[str]] = field(default_factory=dict)
    species: set[str] = field(default_factory=set)
    zones: Counter[str] = field(default_factory=Counter)
    box: list[float] = field(default_factory=lambda: [np.inf, np.inf, -np.inf, -np.inf])
    first_day: int = 9_999_999
    last_day: int = 0
    first_year: int = 9_999
    last_year: int = 0
    metres: int = 0
    _codes: dict[str, list[npt.NDArray[np.uint64]]] = field(default_factory=dict)

    def add(self, batch: Batch) -> None:
        """Count the rows of a batch."""
        self.n_rows += batch.rows.num_rows
        cells = {name: batch.column(position) for name, position in self.names.items()}
        for name, column in cells.items():
            self.missing[name] += _count(pc.equal(cell_texts(column), ""))
        if {"lon", "lat"} <= cells.keys():
            self._add_places(cells["lon"], cells["lat"])
        if "speciesId" in cells:
            self._add_species(cells["speciesId"])
        self._add_days(batch.rows.num_rows, cells)
        self._add_sizes(cells)
        self._add_values(batch)
        self._add_codes(batch, cells)

    def _add_places(self, first: pa.Array, second: pa.Array) -> None:
        (lon, lon_state), (lat, lat_state) = parse_numbers(first), parse_numbers(second)
        self.odd["missing_coordinate"] += int(np.count_nonzero((lon_state == MISSING) | (lat_state == MISSING)))
        strange = (lon_state == NO_NUMBER) | (lat_state == NO_NUMBER)
        if strange.any():
            self._add_strange(first, second, strange)
        self.odd["out_of_range"] += int(np.count_nonzero(np.isinf(lon) | np.isinf(lat)))
        fine = np.isfinite(lon) & np.isfinite(lat)
        lon, lat = lon[fine], lat[fine]
        if not lon.size:
            return
        box = (lon.min(), lat.min(), lon.max(), lat.max())
        self.box = [
            float(min(a, b) if i < 2 else max(a, b)) for i, (a, b) in enumerate(zip(self.box, box, strict=True))
        ]
        outside = (np.abs(lon) > 180) | (np.abs(lat) > 90)
        self.metres += int(np.count_nonzero((np.abs(lon) > 1000) & (np.abs(lat) > 1000)))
        self.odd["out_of_range"] += int(np.count_nonzero(outside))
        self.odd["swapped_axes"] += int(np.count_nonzero(outside & (np.abs(lon) <= 90) & (np.abs(lat) <= 180)))
        for name, test in (("zero_zero", lies_at_zero), ("equal_coordinates", has_equal_coordinates)):
            self.odd[name] += int(np.count_nonzero(test(lon, lat)))
        self.odd["coarse_coordinates"] += int(np.count_nonzero(is_coarse(lon, lat)))

    def _add_strange(self, first: pa.Array, second: pa.Array, strange: npt.NDArray[np.bool_]) -> None:
        pointed = [parse_numbers(pc.replace_substring(cell_texts(column), ",", "."))[1] for column in (first, second)]
        comma = strange & (pointed[0] != NO_NUMBER) & (pointed[1] != NO_NUMBER)
        self.odd["decimal_comma"] += int(np.count_nonzero(comma))
        self.odd["no_number"] += int(np.count_nonzero(strange & ~comma))

    def _add_species(self, column: pa.Array) -> None:
        texts = cell_texts(column)
        counted = texts.value_counts()
        for text, n in zip(counted.field("values").to_pylist(), counted.field("counts").to_pylist(), strict=True):
            if text.casefold() in MISSING_WORDS:
                self.odd["missing_species"] += n
            elif len(self.species) < MOST_SPECIES:
                self.species.add(text)
            if WHOLE_AS_FLOAT.fullmatch(text):
                self.odd["float_species"] += n

    def _add_days(self, n: int, cells: Mapping[str, pa.Array]) -> None:
        date, day = cells.get("date"), cells.get("dayOfYear")
        days = read_days(n, date, cells.get("year"), day)
        self.odd["bad_date"] += int(np.count_nonzero(days.reasons))
        self.odd["date_not_iso"] += days.not_iso
        self.odd["date_no_single_day"] += days.no_single_day
        years = days.years[days.years > 0]
        if years.size:
            self.first_year, self.last_year = (
                min(self.first_year, int(years.min())),
                max(self.last_year, int(years.max())),
            )
        known = (days.years > 0) & (days.day_of_year > 0)
        if known.any():
            codes = days.years[known] * 1000 + days.day_of_year[known]
            self.first_day, self.last_day = min(self.first_day, int(codes.min())), max(self.last_day, int(codes.max()))
        if days.not_iso and date is not None:
            self._add_other_dates(n, date, day)

    def _add_other_dates(self, n: int, date: pa.Array, day: pa.Array | None) -> None:
        self.odd["day_first"] += int(by_distinct(date, lambda text: DAY_FIRST.fullmatch(text) is not None).sum())
        seconds = by_distinct(date, lambda text: EPOCH.fullmatch(text) is not None) > 0
        self.odd["seconds"] += int(np.count_nonzero(seconds))
        if day is not None and seconds.any():
            chosen = pa.array(np.flatnonzero(seconds))
            for zone in ZONES:
                told = read_days(len(chosen), date.take(chosen), None, day.take(chosen), DateRules(time_zone=zone))
                self.zones[zone] += int(np.count_nonzero(told.reasons == 0))

    def _add_sizes(self, cells: Mapping[str, pa.Array]) -> None:
        if "geoUncertaintyInM" in cells:
            metres, states = parse_numbers(cells["geoUncertaintyInM"])
            self.odd["uncertainty_missing"] += int(np.count_nonzero(states == MISSING))
            self.odd["uncertain"] += int(np.count_nonzero(metres > UNCERTAIN_M))
        if "areaInM2" in cells:
            self.odd["infinite_area"] += int(np.count_nonzero(np.isinf(parse_numbers(cells["areaInM2"])[0])))

    def _add_values(self, batch: Batch) -> None:
        for name, position in self.listed.items():
            counted = cell_texts(batch.column(position)).value_counts()
            pairs = zip(counted.field("values").to_pylist(), counted.field("counts").to_pylist(), strict=True)
            self.values.setdefault(name, Counter()).update(dict(pairs))
        for position in list(self.binary):
            texts = cell_texts(batch.column(position))
            if _count(pc.is_in(texts, value_set=pa.array(["0", "1"]))) < len(texts):
                self.binary.discard(position)

    def _add_codes(self, batch: Batch, cells: Mapping[str, pa.Array]) -> None:
        if self.n_rows > MOST_ROWS_COMPARED:
            self._codes.clear()
            return
        rows = [column for column in batch.rows.columns if is_cell(column.type)]
        self._codes.setdefault("exact_duplicates", []).append(row_codes(rows))
        days = ("date",) if "date" in cells else ("year", "dayOfYear")
        same = [cells[name] for name in ("speciesId", "lon", "lat", *days) if name in cells]
        if {"speciesId", "lon", "lat"} <= cells.keys():
            self._codes.setdefault("same_species_place_day", []).append(row_codes(same))

    def finish(self) -> None:
        """Compare the rows with each other, and say what the values tell."""
        for name, codes in self._codes.items():
            together = np.concatenate(codes)
            self.odd[name] = len(together) - np.unique(together).size
        statuses = self.values.get("occurrenceStatus", Counter())
        self.odd["absent"] = sum(n for value, n in statuses.items() if value.casefold() == "absent")
        data = self.values.get("geodeticDatum", Counter())
        self.odd["other_datum"] = sum(n for value, n in data.items() if value and not _is_wgs84(value))
        numbers = {text for text in self.species if NUMERIC.fullmatch(text)}
        if numbers and len(numbers) < len(self.species):
            self.odd["mixed_species"] = len(self.species) - len(numbers)

    @property
    def species_are_numbers(self) -> bool:
        """Whether species are whole numbers, perhaps with a decimal point."""
        return bool(self.species) and all(WHOLE.fullmatch(s) or WHOLE_AS_FLOAT.fullmatch(s) for s in self.species)

    def suspicions(self) -> list[Suspicion]:
        """Give what was found, in the order of `SAYS`."""
        return [Suspicion(name, self.odd[name]) for name in SAYS if self.odd[name]]


def _is_wgs84(datum: str) -> bool:
    plain = "".join(c for c in datum.casefold() if c.isalnum())
    return plain in ("wgs84", "wgs1984", "epsg4326", "4326", "worldgeodeticsystem1984")


def _count(flags: pa.BooleanArray) -> int:
    return int(pc.sum(flags).as_py() or 0)
