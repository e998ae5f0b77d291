"""The five years of field work, and how a day of them is written."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from spatialsplit.synthetic.dice import Integers

if TYPE_CHECKING:
    import pyarrow as pa

YEARS = np.arange(2017, 2022)
_JANUARY_FIRST = YEARS.astype("U4").astype("datetime64[D]")
DAYS_OF_YEAR = np.array([365, 365, 365, 366, 365])  # 2020 is a leap year


def calendar_columns(year: Integers, day_of_year: Integers) -> dict[str, pa.Array]:
    """Write days as `dayOfYear`, `date` (ISO) and `year`.

    Parameters
    ----------
    year : numpy.ndarray of int64
        Positions in YEARS.
    day_of_year : numpy.ndarray of int64
        From 1.

    Returns
    -------
    dict of str to pyarrow.Array
    """
    import pyarrow as pa

    days = np.arange(_JANUARY_FIRST[0], _JANUARY_FIRST[-1] + DAYS_OF_YEAR[-1])
    day = (_JANUARY_FIRST[year] - days[0]).astype(np.int64) + day_of_year - 1
    return {
        "dayOfYear": pa.array(day_of_year),
        "date": pa.array(np.datetime_as_string(days)).take(pa.array(day)),
        "year": pa.array(YEARS[year]),
    }
