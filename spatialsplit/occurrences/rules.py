"""What a record table is read by, and what is known of its rows afterwards."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from spatialsplit.crs import WGS84
from spatialsplit.occurrences.cells import SpeciesReader
from spatialsplit.occurrences.cleaning import Cleaning
from spatialsplit.occurrences.coordinates import Places
from spatialsplit.occurrences.dates import DateRules, Days
from spatialsplit.tables import Batch

Codes = npt.NDArray[np.int8]


@dataclass(frozen=True)
class RecordRules:
    """How one table of records is to be read.

    Parameters
    ----------
    columns : mapping of str to str
        Our name of a column to the file's, where the file's own name is not known.
    crs : str
        Of the coordinates.
    decimals : int, optional
        Published decimals of longitude and latitude; None leaves them as they are.
    keys : sequence of str
        Columns that name the survey, for presence-absence tables.
    species : SpeciesReader, optional
        None where the table's species do not matter.
    uncertainty : str, optional
        Column whose metres are added to a record's radius.
    suspect_above_m : mapping of str to float
        Suspicion to the uncertainty above which a record comes under it.
    with_days : bool
        Whether date, year and dayOfYear are compared.
    dates : DateRules
        How dates are written.
    decimal_comma : bool
        Whether 5,5 is five and a half in coordinates and uncertainties.
    cleaning : Cleaning, optional
        Which rows are not wanted though they could be used.
    section : str
        The recipe's section, for messages.
    """

    columns: Mapping[str, str] = field(default_factory=dict)
    crs: str = WGS84
    decimals: int | None = 6
    keys: Sequence[str] = ()
    species: SpeciesReader | None = None
    uncertainty: str | None = None
    suspect_above_m: Mapping[str, float] = field(default_factory=dict)
    with_days: bool = True
    dates: DateRules = field(default_factory=DateRules)
    decimal_comma: bool = False
    cleaning: Cleaning | None = None
    section: str = "inputs.po"


@dataclass(frozen=True)
class CheckedBatch:
    """The rows of a batch, and what is known of each.

    Attributes
    ----------
    batch : Batch
    places : Places
    reasons : array of int8, shape (n,)
        Position in `faults.REASONS`, 0 where the row is fine.
    keys : list of pyarrow.StringArray
    species : pyarrow.Array, optional
    days : Days
    uncertainty_m : array of float, optional
        0 where it is missing.
    suspicions : mapping of str to int
        Rows that look odd but are used as they are.
    """

    batch: Batch
    places: Places
    reasons: Codes
    keys: list[pa.StringArray]
    species: pa.Array | None
    days: Days
    uncertainty_m: npt.NDArray[np.float64] | None
    suspicions: Mapping[str, int]

    @property
    def fine(self) -> npt.NDArray[np.bool_]:
        """Which rows have no fault."""
        fine: npt.NDArray[np.bool_] = self.reasons == 0
        return fine


LOOKS = ("like_degrees", "would_fit_swapped", "like_metres")
"""What the places of a batch may look like."""


@dataclass(frozen=True)
class Tally:
    """What one batch showed.

    Attributes
    ----------
    n_rows : int
    faults : list of (reason, places, values, count)
        The first places of each reason, with what stands there.
    looks, suspicions : dict of str to int
    hints : frozenset of str
        What may be behind a bad species.
    """

    n_rows: int
    faults: list[tuple[str, list[tuple[int, int]], list[str], int]]
    looks: dict[str, int]
    suspicions: dict[str, int]
    hints: frozenset[str]
