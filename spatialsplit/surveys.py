"""Records → surveys: one visit to one place, with all its species.

A survey is what its keys say it is. It has one place, one number that tells nothing about place or subset, and a set of
species; what varies inside it is known as varying. Where the rows came from stands in `occurrences`; which quadrat a
survey lies in, in `split`.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from spatialsplit.errors import DataError, first_few, shown
from spatialsplit.occurrences import Faults, PresenceAbsence
from spatialsplit.occurrences.cells import WHOLE
from spatialsplit.occurrences.presence_absence import SET_ASIDE
from spatialsplit.tables.csv_text import as_text

Integers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

COORDINATE_RULES = ("error", "first", "mean")

SET_ASIDE_AS = {ours: theirs for theirs, ours in SET_ASIDE.items()}


@dataclass(frozen=True)
class SurveyRules:
    """How rows make surveys.

    Parameters
    ----------
    keys : sequence of str
        Columns that name a survey together.
    coordinates : {'error', 'first', 'mean'}
        What to do with a survey whose rows lie in more than one place: refuse it, take the place of the row that is
        first in code-point order, or the mean of its rows.
    decimals : int, optional
        To which a mean is rounded.
    own_numbers : bool
        The one key is the survey's own number, a whole one, and is kept as `surveyId`. It is always so for the key
        `surveyId`.

    Raises
    ------
    DataError
        There is no key, one stands there twice, or nobody knows the rule for coordinates.

    Examples
    --------
    >>> SurveyRules(["siteid"]).coordinates
    'error'
    """

    keys: Sequence[str] = ("patchID", "dayOfYear")
    coordinates: str = "error"
    decimals: int | None = 6
    own_numbers: bool = False

    def __post_init__(self) -> None:
        if not self.keys:
            raise DataError('Invalid keys []. A survey needs at least one, as in keys = ["patchID", "dayOfYear"].')
        twice = sorted({key for key in self.keys if list(self.keys).count(key) > 1})
        if twice:
            raise DataError(f"Invalid keys {list(self.keys)}. {first_few(twice)} stands there twice. Leave one out.")
        if self.coordinates not in COORDINATE_RULES:
            raise DataError(f"Unknown coordinates rule '{self.coordinates}'. Known: {', '.join(COORDINATE_RULES)}.")


@dataclass(frozen=True)
class Surveys:
    """All surveys of a table, in the order of their numbers, and their labels.

    Attributes
    ----------
    ids : array of int, shape (n,)
        `surveyId`, increasing.
    keys : dict of str to pyarrow.StringArray
    lon, lat : array of float, shape (n,)
    attributes : pyarrow.Table
        The further columns that are the same in all rows of each survey, a row a survey.
    varying : list of str
        The further columns that are not.
    label_survey : array of int, shape (m,)
        Position of each label's survey; labels are sorted by survey, then species.
    label_species : pyarrow.Array
        int64 or text.
    label_row : array of int, shape (m,)
        The row of the table that stands for each label.
    records : pyarrow.Table
        All further columns of the table's rows; `records.take(label_row)` has a row a label.
    dropped_counts : dict of str to int
        Rows that make no label of their own, by reason.
    dropped_rows : array of int
        Rows dropped as faulty, as positions in the table.
    dropped_reasons : list of str
    """

    ids: Integers
    keys: dict[str, pa.StringArray]
    lon: Floats
    lat: Floats
    attributes: pa.Table
    varying: list[str]
    label_survey: Integers
    label_species: pa.Array
    label_row: Integers
    records: pa.Table
    dropped_counts: dict[str, int]
    dropped_rows: Integers
    dropped_reasons: list[str]

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def n_species(self) -> Integers:
        """How many species each survey found."""
        return np.bincount(self.label_survey, minlength=len(self.ids))


def survey_number(keys: Sequence[str]) -> int:
    """Give the number by which surveys are ordered: the first 8 bytes, big-endian, of SHA-256 of `survey|key1|key2`.

    Examples
    --------
    >>> f"{survey_number(['p1', '120']):016x}"
    'f4283323158f6bc0'
    """
    return int.from_bytes(hashlib.sha256("|".join(["survey", *keys]).encode()).digest()[:8], "big")


def group_surveys(table: PresenceAbsence, rules: SurveyRules, drop: Sequence[str] = ()) -> tuple[Surveys, list[str]]:
    """Group the rows of a presence-absence table into surveys.

    The outcome does not depend on the order of the rows.

    Parameters
    ----------
    table : PresenceAbsence
    rules : SurveyRules
    drop : sequence of str
        `survey_coordinates` and `survey_years` drop such surveys instead of refusing them.

    Returns
    -------
    Surveys
    list of str
        What forbids their use, a line each.
    """
    groups = _Groups(_codes([key.dictionary_encode() for key in table.keys]))
    bad = _faulty(table, rules, groups)
    faults = Faults(table.reader.source, table.reader.rules.section, unit="surveys", n_rows=groups.n)
    for reason, (codes, values) in bad.items():
        positions = codes[:3]
        places = [tuple(table.places[groups.rows_of(code)[0]].tolist()) for code in positions.tolist()]
        faults.add(reason, places, values, codes.size)
    dropped_codes = {reason: codes for reason, (codes, _) in bad.items() if reason in drop}
    return _assemble(table, rules, groups, dropped_codes), faults.problems(drop)


class _Groups:
    """Rows in groups: which group each row is in, and the rows of each group."""

    def __init__(self, code: Integers):
        self.code = code
        self.n = int(code.max(initial=-1)) + 1
        self.order = np.argsort(code, kind="stable")
        self.starts = np.searchsorted(code[self.order], np.arange(self.n))
        self.ends = np.append(self.starts[1:], len(code))

    def rows_of(self, group: int) -> Integers:
        """Give the rows of a survey."""
        return self.order[self.starts[group] : self.ends[group]]

    def lowest(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Give the lowest value in each survey."""
        return np.minimum.reduceat(values[self.order], self.starts) if self.n else values[:0]

    def highest(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Give the highest value in each survey."""
        return np.maximum.reduceat(values[self.order], self.starts) if self.n else values[:0]

    def differs(self, values: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
        """Tell which groups hold more than one value."""
        different: npt.NDArray[np.bool_] = self.lowest(values) != self.highest(values)
        return different


def _codes(columns: Sequence[pa.DictionaryArray]) -> Integers:
    """Give each distinct combination of several columns a number, 0 … n − 1."""
    code = np.zeros(len(columns[0]), dtype=np.int64)
    for column in columns:
        code = code * max(len(column.dictionary), 1) + column.indices.to_numpy(zero_copy_only=False)
        code = np.unique(code, return_inverse=True)[1].astype(np.int64)
    return code


def _faulty(table: PresenceAbsence, rules: SurveyRules, groups: _Groups) -> dict[str, tuple[Integers, list[str]]]:
    """Find the surveys that lie in several places or merge several years, with what the first three show."""
    bad: dict[str, tuple[Integers, list[str]]] = {}
    if rules.coordinates == "error":
        codes = np.flatnonzero(groups.differs(table.lon) | groups.differs(table.lat))
        bad["survey_coordinates"] = (codes, [_places_text(table, groups.rows_of(code)) for code in codes[:3].tolist()])
    if "dayOfYear" in rules.keys and "year" not in rules.keys:
        known = table.years > 0
        first = groups.lowest(np.where(known, table.years, 9999))
        last = groups.highest(np.where(known, table.years, 0))
        codes = np.flatnonzero(last > first)
        bad["survey_years"] = (codes, [_years_text(table, groups.rows_of(code)) for code in codes[:3].tolist()])
    return {reason: found for reason, found in bad.items() if found[0].size}


def _key_text(table: PresenceAbsence, row: int) -> str:
    names = table.reader.rules.keys
    return " ".join(f"{name} {shown(key[row].as_py())}" for name, key in zip(names, table.keys, strict=True))


def _places_text(table: PresenceAbsence, rows: Integers) -> str:
    places = sorted({(float(table.lon[row]), float(table.lat[row])) for row in rows.tolist()})
    shown = " and ".join(f"({lon}, {lat})" for lon, lat in places[:2])
    return f"{_key_text(table, int(rows[0]))} at {shown}"


def _years_text(table: PresenceAbsence, rows: Integers) -> str:
    years = sorted({int(year) for year in table.years[rows] if year})
    return f"{_key_text(table, int(rows[0]))} in {' and '.join(map(str, years[:3]))}"


def _assemble(
    table: PresenceAbsence, rules: SurveyRules, groups: _Groups, dropped_codes: dict[str, Integers]
) -> Surveys:
    alive = np.ones(groups.n, dtype=bool)
    reason_of = np.zeros(groups.n, dtype=object)
    for reason, codes in dropped_codes.items():
        fresh = codes[alive[codes]]
        reason_of[fresh], alive[fresh] = reason, False
    names = [key.take(pa.array(groups.order[groups.starts])) for key in table.keys]
    ids, position = _number(names, rules, alive)
    labels = _Labels(table, groups, position)
    ranked = np.empty(len(ids), dtype=np.int64)
    ranked[position[alive]] = np.flatnonzero(alive)
    lon, lat = _one_place(table, rules, groups, ranked)
    attributes, varying = _constant_attributes(table, groups, alive, ranked)
    counts, rows, reasons = _dropped(table, groups, alive, reason_of)
    merged = labels.n_in - len(labels.rows) + _empty_rows_merged(table, groups, alive, labels)
    if merged:
        counts["duplicate"] = merged
    return Surveys(
        ids,
        {name: key.take(pa.array(ranked)) for name, key in zip(rules.keys, names, strict=True)},
        lon,
        lat,
        attributes,
        varying,
        labels.survey,
        labels.species,
        labels.rows,
        table.attributes,
        counts,
        rows,
        reasons,
    )


def _number(names: list[pa.StringArray], rules: SurveyRules, alive: npt.NDArray[np.bool_]) -> tuple[Integers, Integers]:
    """Give the surveys' numbers, and for each group its position among them (−1 where it was dropped)."""
    n = int(alive.sum())
    position = np.full(len(alive), -1, dtype=np.int64)
    texts = list(zip(*(key.to_pylist() for key in names), strict=True))
    if list(rules.keys) == ["surveyId"] or rules.own_numbers:
        own = np.array([_own_number(text[0], rules.keys[0]) for text in texts], dtype=np.int64)
        _refuse_twins(own, [text[0] for text in texts], rules.keys[0])
        order = np.argsort(own, kind="stable")
        position[order[alive[order]]] = np.arange(n)
        return own[order[alive[order]]], position
    everyone = sorted(range(len(texts)), key=lambda code: (survey_number(texts[code]), texts[code]))
    order = np.array(everyone, dtype=np.int64)
    numbers = np.arange(1, len(texts) + 1, dtype=np.int64)
    kept = alive[order]
    position[order[kept]] = np.arange(n)
    return numbers[kept], position


def _own_number(text: str, key: str) -> int:
    if not WHOLE.fullmatch(text) or len(text) > 18:
        raise DataError(
            f"Invalid {key} '{shown(text)}'. A survey's own number is a whole number from 0, of at most 18 digits. "
            "Correct it or give other keys."
        )
    return int(text)


def _refuse_twins(numbers: Integers, texts: list[str], key: str) -> None:
    """Refuse two ways of writing one number, such as 7 and 07: they would be two surveys with one number."""
    distinct, counts = np.unique(numbers, return_counts=True)
    if (counts > 1).any():
        number = int(distinct[counts > 1][0])
        written = sorted(text for text in texts if int(text) == number)
        raise DataError(
            f"The {key} {number} is written in {len(written)} ways: {first_few(written)}. Each survey has one "
            "number. Write it in one way."
        )


class _Labels:
    """The distinct (survey, species) pairs, sorted, each with the row that stands for it."""

    def __init__(self, table: PresenceAbsence, groups: _Groups, position: Integers):
        survey = position[groups.code[table.label_row]]
        kept = np.flatnonzero(survey >= 0)
        self.n_in = kept.size
        species, self._names = _ranked_species(table.label_species)
        survey, species, row = survey[kept], species[kept], table.label_row[kept]
        order = np.lexsort((species, survey))
        survey, species, row = survey[order], species[order], row[order]
        new = np.ones(len(order), dtype=bool)
        new[1:] = (survey[1:] != survey[:-1]) | (species[1:] != species[:-1])
        starts = np.flatnonzero(new)
        self.rows = row[starts].copy()
        ends = np.append(starts[1:], len(order))
        several = np.flatnonzero(ends - starts > 1).tolist()
        texts = _row_texts(table, [row[starts[i] : ends[i]] for i in several])
        for i in several:
            self.rows[i] = min(row[starts[i] : ends[i]].tolist(), key=texts.__getitem__)
        self.survey = survey[starts]
        self.species = self._names.take(pa.array(species[starts]))


def _ranked_species(species: pa.Array) -> tuple[Integers, pa.Array]:
    """Code species so that the codes sort as the species do: by number, or by code point."""
    distinct = species.unique()
    distinct = distinct.take(pa.compute.sort_indices(distinct))
    return pa.compute.index_in(species, value_set=distinct).to_numpy(zero_copy_only=False).astype(np.int64), distinct


def _row_texts(table: PresenceAbsence, groups: Sequence[Integers]) -> dict[int, tuple[str, ...]]:
    """Give the cells of some whole rows as published, in the order of the header, for comparing them by code point."""
    rows = np.concatenate(groups) if groups else np.zeros(0, dtype=np.int64)
    chosen = pa.array(rows)
    cells = {
        SET_ASIDE_AS.get(name, name): as_text(column.take(chosen).combine_chunks()).to_pylist()
        for name, column in zip(table.attributes.column_names, table.attributes.columns, strict=True)
    }
    cells |= {name: key.take(chosen).to_pylist() for name, key in zip(table.reader.rules.keys, table.keys, strict=True)}
    places = {"lon": table.lon, "lat": table.lat}
    cells |= {name: [repr(value) for value in values[rows].tolist()] for name, values in places.items()}
    columns = [cells[name] for name in dict.fromkeys(table.reader.output_names()) if name in cells]
    return dict(zip(rows.tolist(), zip(*columns, strict=True), strict=True))


def _one_place(table: PresenceAbsence, rules: SurveyRules, groups: _Groups, ranked: Integers) -> tuple[Floats, Floats]:
    lon, lat = (values[groups.order[groups.starts]].copy() for values in (table.lon, table.lat))
    several = np.flatnonzero(groups.differs(table.lon) | groups.differs(table.lat)).tolist()
    texts = _row_texts(table, [groups.rows_of(code) for code in several]) if rules.coordinates != "mean" else {}
    for code in several:
        rows = groups.rows_of(code)
        if rules.coordinates == "mean":
            lon[code], lat[code] = _mean_place(table.lon[rows], table.lat[rows], rules.decimals)
        else:
            first = min(rows.tolist(), key=texts.__getitem__)
            lon[code], lat[code] = table.lon[first], table.lat[first]
    return lon[ranked], lat[ranked]


def _mean_place(lon: Floats, lat: Floats, decimals: int | None) -> tuple[float, float]:
    """Give the mean of some places; on both sides of the antimeridian, that of the longitudes counted eastwards."""
    if np.ptp(lon) > 180:
        lon = np.where(lon < 0, lon + 360, lon)
    mean = [math.fsum(values.tolist()) / len(values) for values in (lon, lat)]
    mean[0] = mean[0] - 360 if mean[0] > 180 else mean[0]
    east, north = (_rounded(value, decimals) for value in mean)
    return east, north


def _rounded(degrees: float, decimals: int | None) -> float:
    return float(np.round(degrees, decimals)) if decimals is not None else degrees


def _constant_attributes(
    table: PresenceAbsence, groups: _Groups, alive: npt.NDArray[np.bool_], ranked: Integers
) -> tuple[pa.Table, list[str]]:
    constant: list[tuple[int, str]] = []
    varying: list[tuple[int, str]] = []
    for i, name in enumerate(table.attributes.column_names):
        column = table.attributes.column(i).combine_chunks()
        codes = column.dictionary_encode(null_encoding="encode").indices.to_numpy(zero_copy_only=False)
        (varying if (groups.differs(codes) & alive).any() else constant).append((i, name))
    rows = pa.array(groups.order[groups.starts][ranked])
    columns = [table.attributes.column(i).take(rows) for i, _ in constant]
    return pa.Table.from_arrays(columns, names=[name for _, name in constant]), [name for _, name in varying]


def _dropped(
    table: PresenceAbsence, groups: _Groups, alive: npt.NDArray[np.bool_], reason_of: npt.NDArray[np.object_]
) -> tuple[dict[str, int], Integers, list[str]]:
    """List the rows of dropped surveys, and count them as rows of a long table."""
    rows = np.flatnonzero(~alive[groups.code])
    reasons = [str(reason) for reason in reason_of[groups.code[rows]]]
    labels = np.bincount(table.label_row, minlength=len(groups.code))
    counts: dict[str, int] = {}
    for row, reason in zip(rows.tolist(), reasons, strict=True):
        counts[reason] = counts.get(reason, 0) + max(int(labels[row]), 1)
    return counts, rows, reasons


def _empty_rows_merged(table: PresenceAbsence, groups: _Groups, alive: npt.NDArray[np.bool_], labels: _Labels) -> int:
    """Count rows without a species that are not the one row that stands for an empty survey."""
    found = np.zeros(len(groups.code), dtype=bool)
    found[table.label_row] = True
    empty_rows = int(np.count_nonzero(~found & alive[groups.code]))
    empty_surveys = int(alive.sum()) - np.unique(labels.survey).size
    return empty_rows - empty_surveys
