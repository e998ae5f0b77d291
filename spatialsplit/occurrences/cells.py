"""Cells → keys, species and days, with the reason where a cell holds none.

Tables repeat themselves: a cell's text is looked at once a batch, however often it occurs.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from spatialsplit.occurrences.faults import CODES

Codes = npt.NDArray[np.int8]

WHOLE = re.compile(r"[0-9]+")
WHOLE_AS_FLOAT = re.compile(r"([0-9]+)\.0*")
NUMERIC = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
LARGEST_INTEGER = 2**63 - 1
LONGEST_INTEGER = 1000
"""Digits of a whole number, zeros in front included, that are looked at: Python refuses to read some thousands."""


def cell_texts(array: pa.Array) -> pa.StringArray:
    """Give cells as trimmed text: whole numbers without a decimal point, missing ones empty.

    Examples
    --------
    >>> cell_texts(pa.array([7.0, None, 2.5])).to_pylist()
    ['7', '', '2.5']
    """
    if pa.types.is_floating(array.type):
        if array.type != pa.float64():
            array = array.cast(pa.string()).cast(pa.float64())  # 0.1 in four bytes is 0.1, as in a CSV
        values = array.to_pylist()
        return pa.array([_float_text(value) for value in values], pa.string())
    if not pa.types.is_string(array.type):
        array = array.cast(pa.string())
    return pc.utf8_trim_whitespace(array.fill_null(""))


def _float_text(value: float | None) -> str:
    if value is None or value != value:  # NaN is no value
        return ""
    return str(int(value)) if float(value).is_integer() and abs(value) < 2**53 else repr(value)


class Distinct:
    """The cells of a column by their distinct trimmed texts: few texts, and a code a cell.

    Parameters
    ----------
    cells : pyarrow.Array
    """

    def __init__(self, cells: pa.Array):
        encoded = (cells.fill_null("") if pa.types.is_string(cells.type) else cells).dictionary_encode(
            null_encoding="encode"
        )
        self._texts = cell_texts(encoded.dictionary)
        self._codes = encoded.indices

    def ask(self, judge: Callable[[str], int]) -> npt.NDArray[np.int64]:
        """Ask something of each distinct text once and give every cell its answer."""
        answers = np.fromiter(map(judge, self._texts.to_pylist()), dtype=np.int64, count=len(self._texts))
        of_cells: npt.NDArray[np.int64] = answers.take(self._codes.to_numpy(zero_copy_only=False))
        return of_cells

    def texts(self) -> pa.StringArray:
        """Give the trimmed text of every cell."""
        return self._texts.take(self._codes)


def by_distinct(cells: pa.Array, judge: Callable[[str], int]) -> npt.NDArray[np.int64]:
    """Ask something of each distinct text once and give every cell its answer."""
    return Distinct(cells).ask(judge)


def judge_key(name: str) -> Callable[[str], int]:
    """Give the judge of one key column: 0, or the code of the reason."""

    def judge(text: str) -> int:
        if not text:
            return CODES["missing_key"]
        if name == "dayOfYear" and not (re.fullmatch(r"[1-9][0-9]{0,2}", text) and int(text) <= 366):
            return CODES["bad_key"]
        return 0

    return judge


@dataclass
class SpeciesReader:
    """Reads species cells, all whole numbers or all names.

    Attributes
    ----------
    kind : {'integer', 'text'}, optional
        What they are; found out by `settle` from the texts of a table, or given by the table read before.
    floats : bool
        Whether the text `6310.0` means 6310, as in the files of GeoLifeCLEF 2023 and later.
    """

    kind: str | None = None
    floats: bool = False
    hints: set[str] = field(default_factory=set)

    def settle(self, texts: pa.StringArray) -> None:
        """Decide by all texts of a table: whole numbers where there are any, else names."""
        if self.kind is not None:
            return
        distinct = [text for text in texts.unique().to_pylist() if text]
        names = [text for text in distinct if not NUMERIC.fullmatch(text)]
        self.kind = "text" if names and len(names) == len(distinct) else "integer"

    def judge(self, text: str) -> int:
        """Give 0 for a species, else the code of the reason."""
        if not text or text.casefold() in ("na", "nan"):
            return CODES["missing_species"]
        if self.kind == "text":
            fine = not NUMERIC.fullmatch(text)
            if not fine:
                self.hints.add("Names and numbers are mixed.")
            return 0 if fine else CODES["bad_species"]
        if self.number(text) is not None:
            return 0
        if WHOLE_AS_FLOAT.fullmatch(text):
            self.hints.add(
                "They were whole numbers once (a float column). Write them without a decimal point, or say layout = "
                '"glc2023" or later if the file is GeoLifeCLEF\'s.'
            )
        elif not NUMERIC.fullmatch(text):
            self.hints.add("Names and numbers are mixed.")
        return CODES["bad_species"]

    def number(self, text: str) -> int | None:
        """Give the whole number that a text means, or None."""
        if not WHOLE.fullmatch(text):
            match = WHOLE_AS_FLOAT.fullmatch(text) if self.floats else None
            if match is None:
                return None
            text = match[1]
        value = int(text) if len(text) <= LONGEST_INTEGER else LARGEST_INTEGER + 1
        return value if value <= LARGEST_INTEGER else None

    def read(self, cells: pa.Array | Distinct, fine: npt.NDArray[np.bool_]) -> pa.Array:
        """Give the species of the rows that are fine: int64 or text; missing in the others."""
        distinct = cells if isinstance(cells, Distinct) else Distinct(cells)
        if self.kind == "text":
            return pc.if_else(pa.array(fine), distinct.texts(), None)
        return pa.array(distinct.ask(lambda text: self.number(text) or 0), mask=~fine)


@dataclass(frozen=True)
class Days:
    """What the rows of a batch say about their day.

    Attributes
    ----------
    reasons : array of int8, shape (n,)
        The code of bad_date where they contradict themselves.
    years : array of int64, shape (n,)
        The year, 0 where none is known.
    not_iso : int
        Dates that are no ISO day and were not compared.
    """

    reasons: Codes
    years: npt.NDArray[np.int64]
    not_iso: int


def read_days(
    n: int, date: pa.StringArray | None, year: pa.StringArray | None, day_of_year: pa.StringArray | None
) -> Days:
    """Compare the columns date, year and dayOfYear where they are there.

    Examples
    --------
    >>> days = read_days(2, pa.array(["2021-01-31", "1612051200"]), None, pa.array(["31", "31"]))
    >>> days.reasons.tolist(), days.years.tolist(), days.not_iso
    ([0, 0], [2021, 0], 1)
    """
    zeros = np.zeros(n, dtype=np.int64)
    when = by_distinct(date, _ordinal) if date is not None else zeros
    said = by_distinct(year, _whole_or_zero) if year is not None else zeros
    day = by_distinct(day_of_year, _whole_or_zero) if day_of_year is not None else zeros
    iso = when > 0
    date_year, date_day = np.where(iso, when // 1000, 0), np.where(iso, when % 1000, 0)
    years = np.where(said > 0, said, date_year)
    wrong = when == NO_SUCH_DAY
    wrong |= iso & (said > 0) & (said != date_year)
    wrong |= iso & (day != 0) & (day != date_day)
    wrong |= (day < 0) | (day > 366) | ((day == 366) & (years > 0) & ~_is_leap(years))
    reasons = np.where(wrong, np.int8(CODES["bad_date"]), np.int8(0))
    return Days(reasons, years, int(np.count_nonzero(when == NOT_ISO)))


NO_SUCH_DAY, NOT_ISO = -1, -2


@lru_cache(maxsize=1 << 16)
def _ordinal(text: str) -> int:
    """Give year × 1000 + day of the year of an ISO day, 0 for none, or why there is none."""
    if not text:
        return 0
    match = re.fullmatch(r"([0-9]{4})-([0-9]{2})-([0-9]{2})([T ].*)?", text)
    if not match:
        return NOT_ISO
    try:
        day = dt.date(int(match[1]), int(match[2]), int(match[3]))
    except ValueError:
        return NO_SUCH_DAY
    return day.year * 1000 + day.timetuple().tm_yday


@lru_cache(maxsize=1 << 16)
def _whole_or_zero(text: str) -> int:
    """Give a whole number; 0 where there is none, -1 where the text is no whole number."""
    if not text or text.casefold() in ("na", "nan"):
        return 0
    match = re.fullmatch(r"([0-9]{1,9})(\.0*)?", text)
    if not match:
        return -1
    return int(match[1]) or -1


def _is_leap(years: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
    leap: npt.NDArray[np.bool_] = (years % 4 == 0) & ((years % 100 != 0) | (years % 400 == 0))
    return leap
