"""Cells → days: what date, year and dayOfYear say of a row, and whether they agree.

A day of the year comes from one full day alone. A month, a year or a range tells at most the year; GBIF and others have
turned such dates into the first of the month or of the range, and so made up days.
"""

from __future__ import annotations

import datetime as dt
import re
import zoneinfo
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from spatialsplit.errors import DataError, shown
from spatialsplit.occurrences.cells import by_distinct
from spatialsplit.occurrences.faults import CODES

Integers = npt.NDArray[np.int64]

NO_SUCH_DAY, NOT_ISO, SEVERAL_YEARS = -1, -2, -3

FROM_EPOCH = 100_000_000
"""Added to the code of a day that was counted in seconds."""

ISO_DAY = r"([0-9]{4})-([0-9]{2})-([0-9]{2})(?:[T ][^/]*)?"
ISO_COARSE = re.compile(r"([0-9]{4})(?:-([0-9]{2}))?")
DAY_FIRST = re.compile(r"([0-9]{1,2})([./-])([0-9]{1,2})\2([0-9]{4})(?: .*)?")
EPOCH = re.compile(r"(-[0-9]{1,11}|[0-9]{9,11})(\.0*)?")
ISO_END = re.compile(r"([0-9]{2}|[0-9]{2}-[0-9]{2})(T[^/]*)?")
"""The end of a range that leaves out the year, or year and month, as they are the start's."""
ISO_END_TIME = re.compile(r"T?[0-9]{2}:[^/]*")


@dataclass(frozen=True)
class DateRules:
    """How the column of dates is written.

    Parameters
    ----------
    day_first : bool
        Whether 03/04/2021 is the third of April. Never guessed.
    time_zone : str, optional
        Zone in which seconds since 1970 make a day, such as Europe/Paris. Without it they are not read.

    Raises
    ------
    DataError
        Nobody knows the zone.
    """

    day_first: bool = False
    time_zone: str | None = None

    def __post_init__(self) -> None:
        if self.time_zone is not None:
            _zone(self.time_zone)

    def code(self, text: str) -> int:
        """Give year × 1000 + day of the year (0 where only the year is known), 0 for none, or why there is none.

        Examples
        --------
        >>> [DateRules().code(t) for t in ("2021-02-01", "2021-02", "2021-02-01/2021-02-03", "1.2.2021")]
        [2021032, 2021000, 2021000, -2]
        >>> DateRules(day_first=True).code("1.2.2021")
        2021032
        >>> DateRules(time_zone="Europe/Paris").code("1612134000") - FROM_EPOCH
        2021032
        """
        return _code(text, self)


@dataclass(frozen=True)
class Days:
    """What the rows of a batch say about their day.

    Attributes
    ----------
    reasons : array of int8, shape (n,)
        The code of bad_date where they contradict themselves.
    years, day_of_year : array of int64, shape (n,)
        0 where none is known.
    not_iso : int
        Dates that could not be read and were not compared.
    no_single_day : int
        Months, years and ranges.
    one_day_off : int
        Days counted in seconds that are the day before or after dayOfYear.
    """

    reasons: npt.NDArray[np.int8]
    years: Integers
    day_of_year: Integers
    not_iso: int
    no_single_day: int = 0
    one_day_off: int = 0


def read_days(
    n: int,
    date: pa.StringArray | None,
    year: pa.StringArray | None,
    day_of_year: pa.StringArray | None,
    rules: DateRules | None = None,
) -> Days:
    """Compare the columns date, year and dayOfYear where they are there.

    Examples
    --------
    >>> days = read_days(2, pa.array(["2021-01-31", "1612051200"]), None, pa.array(["31", "31"]))
    >>> days.reasons.tolist(), days.years.tolist(), days.not_iso
    ([0, 0], [2021, 0], 1)
    """
    said = by_distinct(year, whole_or_zero) if year is not None else np.zeros(n, dtype=np.int64)
    if date is None and day_of_year is None:
        return Days(np.zeros(n, dtype=np.int8), np.maximum(said, 0), np.zeros(n, dtype=np.int64), 0)
    zeros = np.zeros(n, dtype=np.int64)
    how = rules or DateRules()
    coded = by_distinct(date, how.code) if date is not None else zeros
    day = by_distinct(day_of_year, whole_or_zero) if day_of_year is not None else zeros
    from_epoch = coded >= FROM_EPOCH
    when = np.where(from_epoch, coded - FROM_EPOCH, coded)
    known = when > 0
    date_year, date_day = np.where(known, when // 1000, 0), np.where(known, when % 1000, 0)
    years = np.where(said > 0, said, date_year)
    wrong = when == NO_SUCH_DAY
    wrong |= known & (said > 0) & (said != date_year)
    other_day = (date_day > 0) & (day != 0) & (day != date_day)
    wrong |= other_day
    wrong |= (day < 0) | (day > 366) | ((day == 366) & (years > 0) & ~_is_leap(years))
    off = other_day & from_epoch & np.isin(np.abs(day - date_day), (1, 364, 365))
    return Days(
        np.where(wrong, np.int8(CODES["bad_date"]), np.int8(0)),
        years,
        np.where(day > 0, day, date_day),
        int(np.count_nonzero(when == NOT_ISO)),
        int(np.count_nonzero((known & (date_day == 0)) | (when == SEVERAL_YEARS))),
        int(np.count_nonzero(off)),
    )


@lru_cache(maxsize=1 << 16)
def _code(text: str, rules: DateRules) -> int:
    if not text:
        return 0
    if match := re.fullmatch(ISO_DAY, text):
        return _day(int(match[1]), int(match[2]), int(match[3]))
    if rules.day_first and (match := DAY_FIRST.fullmatch(text)):
        return _day(int(match[4]), int(match[3]), int(match[1]))
    if rules.time_zone is not None and (match := EPOCH.fullmatch(text)):
        return _day_of_second(int(match[1]), rules.time_zone)
    return _coarse(text)


def _day(year: int, month: int, day: int) -> int:
    try:
        date = dt.date(year, month, day)
    except ValueError:
        return NO_SUCH_DAY
    return date.year * 1000 + date.timetuple().tm_yday


def _day_of_second(second: int, zone: str) -> int:
    try:
        moment = dt.datetime(1970, 1, 1, tzinfo=dt.UTC) + dt.timedelta(seconds=second)
        date = moment.astimezone(_zone(zone)).date()
    except (OverflowError, ValueError):
        return NO_SUCH_DAY
    return FROM_EPOCH + date.year * 1000 + date.timetuple().tm_yday


def _coarse(text: str) -> int:
    """Read a month, a year, or a range: of a range inside one day the day, else the year if it is one."""
    start, is_range, end = text.partition("/")
    if not is_range:
        match = ISO_COARSE.fullmatch(text)
        if not match or not int(match[1]) or (match[2] and not 1 <= int(match[2]) <= 12):
            return NOT_ISO
        return int(match[1]) * 1000
    if "/" in end:
        return NOT_ISO
    if ISO_END_TIME.fullmatch(end):
        end = start
    elif match := ISO_END.fullmatch(end):
        end = start[: len("2021-05-31") - len(match[1])] + end
    codes = [_code(part, DateRules()) for part in (start, end)]
    if min(codes) <= 0:
        return min(codes) if min(codes) < 0 else NOT_ISO
    if codes[0] == codes[1]:
        return codes[0]
    return codes[0] // 1000 * 1000 if codes[0] // 1000 == codes[1] // 1000 else SEVERAL_YEARS


@lru_cache(maxsize=1 << 16)
def whole_or_zero(text: str) -> int:
    """Give a whole number; 0 where there is none, -1 where the text is no whole number."""
    if not text or text.casefold() in ("na", "nan"):
        return 0
    match = re.fullmatch(r"([0-9]{1,9})(\.0*)?", text)
    if not match:
        return -1
    return int(match[1]) or -1


@lru_cache(maxsize=16)
def _zone(name: str) -> zoneinfo.ZoneInfo:
    try:
        return zoneinfo.ZoneInfo(name)
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError):
        raise DataError(
            f"Unknown time zone '{shown(name)}'. It must be a name such as Europe/Paris or UTC. Correct time_zone."
        ) from None


def _is_leap(years: Integers) -> npt.NDArray[np.bool_]:
    leap: npt.NDArray[np.bool_] = (years % 4 == 0) & ((years % 100 != 0) | (years % 400 == 0))
    return leap
