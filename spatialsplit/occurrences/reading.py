"""Find the columns of a record table and check its rows, batch by batch.

The reader is pure but for its tallies: a batch in, the same rows out with their place, keys, species and reasons.
Nothing is repaired and nothing is lost: a row is fine, or it has a reason.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from spatialsplit.columns import find_columns, names_of
from spatialsplit.crs import is_ballpark, is_degrees
from spatialsplit.errors import DataError, shown
from spatialsplit.occurrences.cells import Distinct, by_distinct, cell_texts, judge_key
from spatialsplit.occurrences.cleaning import COLUMN_OF, is_absent
from spatialsplit.occurrences.coordinates import MISSING, Places, parse_numbers, read_places
from spatialsplit.occurrences.dates import Days, read_days
from spatialsplit.occurrences.faults import CODES, REASONS, Faults, first_of
from spatialsplit.occurrences.remarks import warning_of
from spatialsplit.occurrences.rules import LOOKS, CheckedBatch, Codes, RecordRules, Tally
from spatialsplit.tables import Batch, OutputColumn, TableInput
from spatialsplit.tables.writing import is_cell

DECIMAL_COMMA = re.compile(r"[+-]?[0-9]+,[0-9]+")


class RecordReader:
    """Reads the batches of one record table.

    Parameters
    ----------
    source : TableInput
    rules : RecordRules
    with_species : bool
        Whether a species column must be there.

    Raises
    ------
    DataError
        A line for each column that cannot be found.
    """

    def __init__(self, source: TableInput, rules: RecordRules, *, with_species: bool = True):
        self.source, self.rules = source, rules
        self._derived = derived_keys(source.header, rules)
        keys = [name for name in rules.keys if name not in self._derived]
        wanted = ["lon", "lat", *keys, *(["speciesId"] if with_species and rules.species else [])]
        if rules.uncertainty is not None:
            wanted.append(rules.uncertainty)
        if rules.cleaning is not None:
            wanted.extend(name for name in rules.cleaning.columns() if name not in wanted)
        further = ("date", "year", "dayOfYear") if rules.with_days else ()
        optional = [name for name in (*further, "geoUncertaintyInM") if name not in wanted]
        self.found = find_columns(source.header, wanted, rules.columns, optional=optional, where=source.name)
        self._mapped_also(rules.columns)
        self.faults = Faults(source, rules.section)
        self.suspicions: dict[str, int] = {}
        self._looks: dict[str, int] = {}
        self._status = self._status_column()
        self._check_names()
        self._check_kinds()

    def _mapped_also(self, columns: Mapping[str, str]) -> None:
        """Find the further columns that the recipe renames."""
        others = [name for name in columns if name not in self.found]
        self.found |= find_columns(self.source.header, others, columns, where=self.source.name)

    def _status_column(self) -> int | None:
        """Find the column whose absences would be used as presences without a word."""
        if self.rules.species is None or self._decides("absent"):
            return None
        header = self.source.header
        named = (i for i, name in enumerate(header) if name in names_of(COLUMN_OF["absent"]))
        return next((i for i in named if is_cell(self.source.types[i])), None)

    def _check_names(self) -> None:
        counts = Counter(self.output_names())
        twice = sorted(name for name in self.found if counts[name] > 1)
        if twice:
            raise DataError(
                f"{self.source.name} would have more than one column '{name}': one is mapped to it and another has "
                "that name. Rename or leave out the other."
                for name in twice
            )

    def _check_kinds(self) -> None:
        kinds = {name: self.source.types[position] for name, position in self.found.items()}
        odd = {name: kind for name, kind in kinds.items() if not is_cell(kind)}
        if odd:
            raise DataError(
                f"Column '{name}' of {self.source.name} holds {kind}, and not numbers or text. Write the table with "
                "one value a cell."
                for name, kind in odd.items()
            )

    def output_names(self) -> list[str]:
        """Give the name under which each column of the header is published."""
        names = list(self.source.header)
        for name, position in self.found.items():
            names[position] = name
        return names

    def output_columns(self, kinds: Mapping[str, OutputColumn]) -> list[OutputColumn]:
        """Declare the published columns: those in `kinds` as said there, the others with the input's type."""
        types = self.source.types
        return [
            kinds.get(name, OutputColumn(name, kind)) for name, kind in zip(self.output_names(), types, strict=True)
        ]

    def text(self, batch: Batch, name: str) -> pa.StringArray | None:
        """Give a column's cells as trimmed text, or None where there is no such column."""
        position = self.found.get(name)
        return cell_texts(batch.column(position)) if position is not None else None

    def _cells(self, batch: Batch, name: str) -> pa.Array | None:
        """Give a column's cells as they are, or None where there is no such column."""
        position = self.found.get(name)
        return batch.column(position) if position is not None else None

    def _number_cells(self, batch: Batch, name: str) -> pa.Array:
        """Give a column's cells with a decimal point where the table has a comma."""
        cells = batch.column(self.found[name])
        if self.rules.decimal_comma and pa.types.is_string(cells.type):
            return pc.replace_substring(cells, ",", ".")
        return cells

    def check(
        self, batch: Batch, refine: Callable[[Places], None] | None = None, *, with_species: bool = True
    ) -> CheckedBatch:
        """Check the rows of one batch.

        Parameters
        ----------
        batch : Batch
        refine : callable, optional
            Looks at the places once more and may mark rows in `places.reasons`.
        with_species : bool
            Whether a row must name a species; visits that found nothing name none.
        """
        places = read_places(
            self._number_cells(batch, "lon"), self._number_cells(batch, "lat"), self.rules.crs, self.rules.decimals
        )
        if refine is not None:
            refine(places)
        reasons = places.reasons.copy()
        days = self._days(batch)
        keys = [self._key(batch, name, days, reasons) for name in self.rules.keys]
        species = self._species(batch, reasons) if with_species else None
        _mark(reasons, days.reasons)
        uncertainty = self._uncertainty(batch, reasons)
        suspicions = self._clean(batch, places, days, reasons)
        suspicions |= self._suspicions(batch, places, days, reasons == 0) | self._absences(batch, reasons == 0)
        return CheckedBatch(batch, places, reasons, keys, species, days, uncertainty, suspicions)

    def _key(self, batch: Batch, name: str, days: Days, reasons: Codes) -> pa.StringArray:
        if name in self._derived:
            values = days.day_of_year if name == "dayOfYear" else days.years
            distinct = Distinct(pa.array(values, mask=values == 0))
        else:
            distinct = Distinct(batch.column(self.found[name]))
        _mark(reasons, distinct.ask(judge_key(name)))
        return distinct.texts()

    def _species(self, batch: Batch, reasons: Codes) -> pa.Array | None:
        cells = self._cells(batch, "speciesId")
        if cells is None or self.rules.species is None:
            return None
        distinct = Distinct(cells)
        _mark(reasons, distinct.ask(self.rules.species.judge))
        return self.rules.species.read(distinct, reasons == 0)

    def _days(self, batch: Batch) -> Days:
        date, year, day_of_year = (self._cells(batch, name) for name in ("date", "year", "dayOfYear"))
        return read_days(batch.rows.num_rows, date, year, day_of_year, self.rules.dates)

    def _uncertainty(self, batch: Batch, reasons: Codes) -> npt.NDArray[np.float64] | None:
        if self.rules.uncertainty is None:
            return None
        values, states = parse_numbers(self._number_cells(batch, self.rules.uncertainty))
        missing = states == MISSING
        _mark(reasons, np.where(missing | (np.isfinite(values) & (values >= 0)), 0, CODES["bad_uncertainty"]))
        return np.where(missing | (reasons != 0), 0.0, values)

    def _clean(self, batch: Batch, places: Places, days: Days, reasons: Codes) -> dict[str, int]:
        """Mark the rows that are not wanted, and count those that are only flagged."""
        flagged: dict[str, int] = {}
        cleaning = self.rules.cleaning
        if cleaning is None:
            return flagged
        cells = partial(self._number_cells, batch)
        for reason, rows in cleaning.found(places, days, cells, (batch.file, batch.first_row)):
            if cleaning.policies[reason] == "flag":
                flagged[reason] = int(np.count_nonzero(rows & (reasons == 0)))
            else:
                reasons[rows & (reasons == 0)] = CODES[reason]
        return flagged

    def _absences(self, batch: Batch, left: npt.NDArray[np.bool_]) -> dict[str, int]:
        """Count the rows that say that their species was absent, where the recipe does not say what becomes of them."""
        if self._status is None:
            return {}
        absent = by_distinct(batch.column(self._status), is_absent) > 0
        return {"absent_used": int(np.count_nonzero(absent & left))}

    def _suspicions(self, batch: Batch, places: Places, days: Days, left: npt.NDArray[np.bool_]) -> dict[str, int]:
        """Count what looks odd: places of the rows that are left, dates of all."""
        found = {"date_not_iso": days.not_iso, "date_no_single_day": days.no_single_day}
        if not self._decides("zero_coordinate"):
            found["zero_zero"] = int(np.count_nonzero((places.lon == 0) & (places.lat == 0) & left))
        if "geoUncertaintyInM" in self.found and self.rules.suspect_above_m:
            values, _ = parse_numbers(self._number_cells(batch, "geoUncertaintyInM"))
            limits = self.rules.suspect_above_m
            found |= {name: int(np.count_nonzero((values > limit) & left)) for name, limit in limits.items()}
        return found

    def _decides(self, reason: str) -> bool:
        """Tell whether the recipe says what becomes of rows with a reason."""
        return self.rules.cleaning is not None and reason in self.rules.cleaning.policies

    def look(self, checked: CheckedBatch) -> Tally:
        """Sum up what a batch showed: small, and independent of this reader, so that it may come from elsewhere."""
        faults = []
        for reason in REASONS[1:]:
            positions, count = first_of(checked.reasons, reason)
            if count:
                places = [(checked.batch.file, checked.batch.first_row + int(i)) for i in positions]
                faults.append((reason, places, [self._value(checked, reason, int(i)) for i in positions], count))
        looks = {name: int(getattr(checked.places, name)) for name in LOOKS}
        looks["one_day_off"] = checked.days.one_day_off
        hints = frozenset(self.rules.species.hints) if self.rules.species is not None else frozenset()
        return Tally(checked.batch.rows.num_rows, faults, looks, dict(checked.suspicions), hints)

    def add(self, tally: Tally) -> None:
        """Count what a batch showed; in the order of the batches, so that the first faults are the first."""
        self.faults.n_rows += tally.n_rows
        for reason, places, values, count in tally.faults:
            self.faults.add(reason, places, values, count)
        for name, count in tally.looks.items():
            self._looks[name] = self._looks.get(name, 0) + count
        for name, count in tally.suspicions.items():
            self.suspect(name, count)
        if self.rules.species is not None:
            self.rules.species.hints.update(tally.hints)

    def tally(self, checked: CheckedBatch) -> None:
        """Count what a batch of this reader showed."""
        self.add(self.look(checked))

    def suspect(self, name: str, count: int) -> None:
        """Count rows that look odd."""
        if count:
            self.suspicions[name] = self.suspicions.get(name, 0) + int(count)

    def _value(self, checked: CheckedBatch, reason: str, row: int) -> str:
        asked = {
            "missing_coordinate": ["lon", "lat"],
            "bad_latitude": ["lat"],
            "bad_longitude": ["lon"],
            "unprojectable": ["lon", "lat"],
            "missing_key": [*self.rules.keys, *(["date"] if self._derived else [])],
            "bad_key": self.rules.keys,
            "missing_species": ["speciesId"],
            "bad_species": ["speciesId"],
            "bad_date": [name for name in ("date", "year", "dayOfYear") if name in self.found],
            "bad_uncertainty": [self.rules.uncertainty] if self.rules.uncertainty else [],
            "year_outside": [name for name in ("year", "date") if name in self.found],
            **{each: [name] for each, name in COLUMN_OF.items()},
        }.get(reason, ["lon", "lat"])
        cells = [(name, checked.batch.column(self.found[name])[row].as_py()) for name in asked if name in self.found]
        if len(cells) == 1:
            return shown(cells[0][1]) if cells[0][1] not in (None, "") else "empty"
        return " ".join(f"{name} {'empty' if cell in (None, '') else shown(cell, longest=40)}" for name, cell in cells)

    def problems(self, dropped: Sequence[str] = ()) -> list[str]:
        """Word everything that forbids the use of this table, a line each."""
        self._hint()
        cleaning = self.rules.cleaning
        problems = self.faults.problems({*dropped, *(cleaning.dropped if cleaning is not None else ())})
        fine = self.faults.n_rows - self.faults.total()
        if (
            not is_degrees(self.rules.crs)
            and self.faults.n_rows
            and self._looks.get("like_degrees", 0) == self.faults.n_rows
        ):
            problems.append(
                f"All {self.faults.n_rows:,} rows of {self.source.name} have coordinates within ±180 and ±90, which "
                "are degrees, but "
                f"its CRS {self.rules.crs} counts in metres. Leave out crs under [{self.rules.section}] or say crs = "
                '"EPSG:4326".'
            )
        elif not problems and not fine:
            problems.append(
                f"No row of {self.source.name} is left: all {self.faults.n_rows:,} are dropped. Correct the file."
            )
        return problems

    def _hint(self) -> None:
        species = self.rules.species
        if species is not None and species.hints:
            self.faults.hints["bad_species"] = " ".join(sorted(species.hints))
        if self._looks.get("one_day_off"):
            self.faults.hints["bad_date"] = (
                f"{self._looks['one_day_off']:,} of them are seconds since 1970 that miss their dayOfYear by one day: "
                f'is time_zone = "{self.rules.dates.time_zone}" right?'
            )
        commas = [reason for reason in ("bad_latitude", "bad_longitude") if self._has_decimal_commas(reason)]
        if commas:
            hint = f'They have a decimal comma: say decimal = "," under [{self.rules.section}].'
            self.faults.hints |= dict.fromkeys(commas, hint)
        elif self._looks.get("like_metres"):
            hint = f'The coordinates look like metres: say crs = "EPSG:…" under [{self.rules.section}].'
            self.faults.hints |= {"bad_latitude": hint, "bad_longitude": hint}
        elif self._look_swapped():
            self.faults.hints["bad_latitude"] = (
                f"{self._looks['would_fit_swapped']:,} of them would be valid with longitude and latitude exchanged: "
                "are the columns swapped?"
            )

    def _has_decimal_commas(self, reason: str) -> bool:
        """Tell whether the first coordinates that are no numbers would be some with a decimal comma."""
        first = [value for _, value in self.faults.first.get(reason, [])]
        return not self.rules.decimal_comma and any(DECIMAL_COMMA.fullmatch(value) for value in first)

    def _look_swapped(self) -> bool:
        """Tell whether so many rows would be valid with the axes exchanged that it is no accident of a few."""
        swapped = self._looks.get("would_fit_swapped", 0)
        return swapped > 1 and swapped * 5 >= self.faults.n_rows

    def warnings(self) -> list[str]:
        """Say what looks odd but was used as it is, a line each."""
        lines = [
            warning_of(name).format(n=f"{count:,}", where=self.source.name)
            for name, count in sorted(self.suspicions.items())
        ]
        if is_ballpark(self.rules.crs):
            lines.append(
                f"PROJ knows no datum shift from {self.rules.crs} to WGS84 and leaves it out: the coordinates of "
                f"{self.source.name} may be off by hundreds of metres. Give the CRS with its datum."
            )
        return lines


def derived_keys(header: Sequence[str], rules: RecordRules) -> frozenset[str]:
    """Give the survey keys that the table has not but that its dates tell: dayOfYear and year."""
    wanted = [name for name in ("dayOfYear", "year") if name in rules.keys]
    if not wanted or not rules.with_days:
        return frozenset()
    there = find_columns(header, [], rules.columns, optional=["date", *wanted])
    return frozenset(name for name in wanted if name not in there) if "date" in there else frozenset()


def _mark(reasons: Codes, answers: npt.NDArray[np.integer]) -> None:
    """Write reasons where there is none yet."""
    new = (reasons == 0) & (answers != 0)
    reasons[new] = answers[new].astype(np.int8)


__all__ = ["CODES", "CheckedBatch", "RecordReader", "RecordRules", "Tally"]
