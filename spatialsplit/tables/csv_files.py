"""A text table, plain or packed: its header, its cells as text, and the lines that its rows stand on."""

from __future__ import annotations

import csv
import io
import sys
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice
from typing import IO, Any

import pyarrow as pa
import pyarrow.csv

from spatialsplit.errors import DataError, first_few, shown
from spatialsplit.tables.darwin_core import is_darwin_core
from spatialsplit.tables.files import BATCH_BYTES, SEPARATORS, TableFile
from spatialsplit.tables.packing import Packing, packing_of
from spatialsplit.tables.streams import CountedLines, settle_before_exit

LONGEST_HEADER = 1 << 22
"""Characters of a header that are read: a device or a bomb of zeros has no first line break."""

UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")

DAMAGED = (EOFError, OSError, zlib.error, zipfile.BadZipFile)
"""What reading a truncated or damaged file raises."""


@dataclass
class CsvFile(TableFile):
    """A text table, all its cells text.

    Attributes
    ----------
    separator : str
    quoted : bool
        Whether a quotation mark encloses cells; else it is a character like others.
    width : int
        Cells of a row; `columns` may be some of them.
    """

    header_lines: int = 1
    header_bytes: int = 0
    separator: str = ","
    packing: Packing | None = None
    n_lines: int | None = None
    quoted: bool = True
    width: int = 0
    _chosen: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        try:
            self.packing = self.packing or packing_of(self.path)
            with self._text() as text:
                self._read_header(text)
        except UnicodeError as error:
            raise DataError(self._bad_encoding(error)) from None
        except DAMAGED as error:
            raise DataError(self._unreadable(error)) from None

    @property
    def types(self) -> list[pa.DataType]:
        """Text for every column."""
        return [pa.string()] * len(self.columns)

    def _read_header(self, text: IO[str]) -> None:
        line = text.readline(LONGEST_HEADER)
        if len(line) == LONGEST_HEADER:
            raise DataError(
                f"The header of {self.name} has more than {LONGEST_HEADER:,} characters. It must be one line of column "
                "names. A file without line breaks, or no table at all, looks like this."
            )
        self._check_first_line(line, text)
        self.separator = self.dialect.separator or sniff_separator(line)
        self.darwin_core = is_darwin_core(line.rstrip("\r\n").split(self.separator), self.separator)
        self.quoted = self.dialect.quoted if self.dialect.quoted is not None else not self.darwin_core
        lines = [line]
        reader = self._cells_of(_remembered(line, text, lines))
        try:
            header = [name.strip() for name in next(reader)]
        except csv.Error as error:
            raise DataError(
                f"The header of {self.name} cannot be read ({error}). It must be one line of column names. A quotation "
                "mark that is never closed looks like this."
            ) from None
        self.header_lines = reader.line_num
        self.header_bytes = len("".join(lines).encode(errors="replace"))
        self._choose(header)

    def _choose(self, header: list[str]) -> None:
        """Take the columns that are to be read, in their order."""
        self.width = len(header)
        self._chosen = self.dialect.chosen(header, darwin_core=self.darwin_core)
        self.columns = [header[i] for i in self._chosen]

    def _cells_of(self, lines: Iterable[str]) -> Any:
        if not self.quoted:
            return csv.reader(lines, delimiter=self.separator, quoting=csv.QUOTE_NONE)
        return csv.reader(lines, delimiter=self.separator)

    def _check_first_line(self, line: str, text: IO[str]) -> None:
        if not line.strip():
            wrong = "begins with an empty line" if line and text.readline(LONGEST_HEADER) else "is empty"
            raise DataError(f"{self.name} {wrong}. A table needs a header line and rows. Check how the file was made.")
        if "\0" in line:
            raise DataError(
                f"{self.name} has NUL bytes in its header, so it is no {self.dialect.encoding} text. UTF-16 looks like "
                'this. Say which encoding it has: encoding = "utf-16-le".'
            )

    def _text(self) -> IO[str]:
        assert self.packing is not None  # known since the file was opened
        encoding = "utf-8-sig" if self.dialect.is_utf8 else self.dialect.encoding
        return io.TextIOWrapper(self.packing.open(self.path), encoding=encoding, newline="")

    def batches(self, batch_bytes: int = BATCH_BYTES) -> Iterator[tuple[int, pa.RecordBatch]]:
        """Give (number of the first row, rows) from the start to the end, hashing the file on the way."""
        assert self.packing is not None  # known since the file was opened
        raw, stream = self.packing.open_hashed(self.path, hashed=self.hashed)
        counted = CountedLines(stream)
        ragged = _Ragged()
        first_row = 0
        last_cell = ""
        try:
            for rows in self._parse(counted, batch_bytes, ragged):
                if rows.num_rows:
                    last_cell = rows.column(rows.num_columns - 1)[-1].as_py()
                    self.n_bytes = raw.n_bytes
                    yield first_row, rows
                first_row += rows.num_rows
            self.sha256, self.n_rows, self.n_bytes = raw.finish(), first_row, raw.n_bytes
            self.n_lines = counted.n_lines
        except UnicodeError as error:
            raise DataError(self._bad_encoding(error)) from None
        except DAMAGED as error:
            raise DataError(self._unreadable(error)) from None
        except pa.ArrowInvalid as error:
            settle_before_exit()
            raise DataError(self._unparsable(error, batch_bytes)) from None
        finally:
            counted.stop()
            raw.close()
        if ragged.n_rows:
            settle_before_exit()
            raise DataError(self._ragged(ragged.n_rows))
        if self.quoted and "\n" in last_cell and not counted.ends_quoted:
            raise DataError(self._unclosed())

    def _parse(self, stream: Any, batch_bytes: int, ragged: _Ragged) -> Iterator[pa.RecordBatch]:
        names = [str(i) for i in range(self.width)]
        chosen = [str(i) for i in self._chosen]
        try:
            reader = pyarrow.csv.open_csv(
                pa.PythonFile(stream, mode="r"),
                read_options=pyarrow.csv.ReadOptions(
                    column_names=names,
                    skip_rows=self.header_lines,
                    block_size=max(batch_bytes, self.header_bytes + 4),  # the header must fit into the first block
                    encoding="utf8" if self.dialect.is_utf8 else self.dialect.encoding,
                ),
                parse_options=pyarrow.csv.ParseOptions(
                    delimiter=self.separator,
                    quote_char='"' if self.quoted else False,
                    newlines_in_values=self.quoted,
                    invalid_row_handler=ragged.set_aside,
                ),
                convert_options=pyarrow.csv.ConvertOptions(
                    column_types=dict.fromkeys(names, pa.string()), strings_can_be_null=False, include_columns=chosen
                ),
            )
        except pa.ArrowInvalid as error:
            if "Could not skip" in str(error):  # a header without a line break, and nothing behind it
                return
            raise
        yield from reader

    def _records(self) -> Iterator[tuple[int, int]]:
        """Give (line, number of cells) of each record, by Python's own reader: slow, for messages only."""
        with _cells_of_any_size(), self._text() as text:
            for _ in range(self.header_lines):
                text.readline()
            reader = self._cells_of(text)
            line = self.header_lines + 1
            for record in reader:
                if record:
                    yield line, len(record)
                line = self.header_lines + reader.line_num + 1

    def lines_of(self, rows: Sequence[int]) -> list[int | None]:
        """Give the line in the file of each row, the header being line 1; a quoted line break counts as a line."""
        if self.n_lines == self.header_lines + self.n_rows:  # no blank line, no line break inside a cell
            return [self.header_lines + row + 1 for row in rows]
        wanted = set(rows)
        last = max(wanted, default=-1)
        lines: dict[int, int] = {}
        for row, (line, _) in enumerate(self._records()):
            if row in wanted:
                lines[row] = line
            if row >= last:
                break
        return [lines.get(row) for row in rows]

    def _ragged(self, n_rows: int) -> str:
        n = self.width
        cure = "Quote cells that hold the separator" if self.quoted else "Remove separators from inside cells"
        faults = (f"line {line}: {cells}" for line, cells in self._records() if cells != n)
        return (
            f"{n_rows:,} rows of {self.name} do not have the header's {n} cells (first: {first_few(islice(faults, 4))} "
            f"cells). Every row must have as many cells as the header. {cure}, or correct those lines."
        )

    def _unclosed(self) -> str:
        (line,) = self.lines_of([self.n_rows - 1])
        return (
            f"A quotation mark of {self.name} is opened in the row on line {line} and never closed, so the rest of the "
            "file would be one cell. Close it, or double it where it is meant as a character."
        )

    def _bad_encoding(self, error: object) -> str:
        assert self.packing is not None  # known since the file was opened
        with self.packing.open(self.path) as file:
            start = file.read(64)
        likely = "utf-16" if start[:2] in UTF16_MARKS else "utf-16-le" if b"\0" in start else "latin-1"
        return (
            f"{self.name} is not {self.dialect.encoding} text ({error}). Say which encoding it has: "
            f'encoding = "{likely}".'
        )

    def _unreadable(self, error: object) -> str:
        return (
            f"{self.name} cannot be read to its end ({error}). It may be truncated or damaged. Fetch or write it again."
        )

    def _unparsable(self, error: object, batch_bytes: int) -> str:
        text = str(error)
        if "UTF8" in text or "codec" in text:
            return self._bad_encoding("a byte is no " + self.dialect.encoding)
        if "straddling" in text:
            return (
                f"{self.name} has a row of more than {batch_bytes:,} bytes. Rows must be shorter. "
                "A quotation mark that is never closed looks like this."
            )
        separator = SEPARATORS[self.separator]
        return f"{self.name} cannot be read as a table with {separator} between its cells ({shown(text)}). Correct it."


class _Ragged:
    """Counts the rows of another length than the header's, which the parser leaves out."""

    def __init__(self) -> None:
        self.n_rows = 0

    def set_aside(self, _: Any) -> str:
        """Count one, and tell the parser to go on without it."""
        self.n_rows += 1
        return "skip"


def sniff_separator(header: str) -> str:
    """Give the separator that the header line holds most of, outside quotation marks.

    Examples
    --------
    >>> sniff_separator('surveyId;"lon, degrees";lat')
    ';'
    """
    outside = "".join(header.split('"')[::2])
    return max(SEPARATORS, key=outside.count)


def _remembered(first: str, rest: IO[str], lines: list[str]) -> Iterator[str]:
    """Give the first line and the rest, noting each further line as it is asked for."""
    yield first
    while line := rest.readline(LONGEST_HEADER):
        lines.append(line)
        yield line


@contextmanager
def _cells_of_any_size() -> Iterator[None]:
    """Lift the limit of Python's reader: the fast reader has none, and a message must not fail for a long cell."""
    limit = csv.field_size_limit(min(sys.maxsize, 2**31 - 1))
    try:
        yield
    finally:
        csv.field_size_limit(limit)
