"""What every file of a table has in common: a way it is written, a header, and after one reading its hash and size."""

from __future__ import annotations

import codecs
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa

from spatialsplit.errors import DataError

BATCH_BYTES = 1 << 22
"""How much of a CSV is parsed at once."""

BATCH_ROWS = 1 << 17
"""How many rows of a Parquet file are read at once."""

SEPARATORS = {",": "comma", ";": "semicolon", "\t": "tab"}


@dataclass(frozen=True)
class Dialect:
    """How a text table is written.

    Parameters
    ----------
    separator : {',', ';', tab}, optional
        Taken from the header line where it is not given.
    encoding : str
        UTF-8 unless said; a byte-order mark is skipped.
    quoted : bool, optional
        Whether a quotation mark encloses cells. So it is unless said, but for Darwin Core's tab-separated tables.
    only : frozenset of str, optional
        The columns to read, by their names in the file; all of them unless said.
    only_in_darwin_core : bool
        Whether `only` is for tables of Darwin Core, and others are read whole.
    with_empty_events : bool
        Whether events of a Darwin Core archive that have no occurrence are rows, too.

    Raises
    ------
    DataError
        The separator is another, or nobody knows the encoding.

    Examples
    --------
    >>> Dialect(";", "latin-1").is_utf8
    False
    """

    separator: str | None = None
    encoding: str = "utf-8"
    quoted: bool | None = None
    only: frozenset[str] | None = None
    only_in_darwin_core: bool = False
    with_empty_events: bool = False

    def __post_init__(self) -> None:
        if self.separator is not None and self.separator not in SEPARATORS:
            raise DataError(f"Invalid separator {self.separator!r}. It must be one of ',' ';' and tab ('\\t').")
        try:
            "".encode(self.encoding)
        except (LookupError, ValueError):
            raise DataError(
                f"Unknown encoding {self.encoding!r}. It must be the name of a text encoding, such as utf-8, latin-1 "
                "or utf-16. Correct it or leave it out."
            ) from None

    @property
    def is_utf8(self) -> bool:
        """Whether the text is UTF-8, however that is spelled."""
        return codecs.lookup(self.encoding).name == "utf-8"

    def chosen(self, header: Sequence[str], *, darwin_core: bool = False) -> list[int]:
        """Give the positions of the columns to read: all of them where none is there that is wanted.

        Examples
        --------
        >>> Dialect(only=frozenset({"lat", "lon"})).chosen(["lat", "habitat", "lon"])
        [0, 2]
        """
        if self.only is None or (self.only_in_darwin_core and not darwin_core):
            return list(range(len(header)))
        everything = list(range(len(header)))
        event_date = darwin_core and not {"eventDate", "eventdate"}.isdisjoint(header)
        other = {"date"} if event_date else set()  # the day of something else
        return [i for i in everything if header[i] in self.only - other] or everything


@dataclass
class TableFile:
    """One file of an input: its header, and after one reading its hash and size."""

    path: Path
    dialect: Dialect
    columns: list[str] = field(default_factory=list)
    n_rows: int = 0
    n_bytes: int = 0
    sha256: str = ""
    hashed: bool = True
    darwin_core: bool = False
    crs: str | None = None
    empty_from: int | None = None
    """The first row that is a visit without a record, once all records are read; they are the last ones."""

    @property
    def parts(self) -> list[Path]:
        """The files that it lies in."""
        return [self.path]

    @property
    def name(self) -> str:
        """The file's own name, without its folder."""
        return self.path.name

    @property
    def types(self) -> list[pa.DataType]:
        """The type of each column."""
        raise NotImplementedError

    def batches(self, batch_bytes: int) -> Iterator[tuple[int, pa.RecordBatch]]:
        """Give (number of the first row, rows) from the start to the end."""
        raise NotImplementedError

    def lines_of(self, rows: Sequence[int]) -> list[int | None]:
        """Give the line in the file of each row, the header being line 1; None where a file has no lines."""
        return [None] * len(rows)
