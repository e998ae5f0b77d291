"""Cells → keys and species, with the reason where a cell holds none. Days stand in `dates`.

Tables repeat themselves: a cell's text is looked at once a batch, however often it occurs.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from spatialsplit.occurrences.faults import CODES
from spatialsplit.tables.csv_text import cast_to_text

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
        array = cast_to_text(array)
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
        """Give 0 for a key, else the code of the reason."""
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
