"""A submission or solution as a table of texts: strict CSV, rows and data frames made alike.

Nothing is guessed here: every cell becomes trimmed text, and a number that arrives as a number is written as
it would be typed (5 and 5.0 are "5"). What the cells mean is `spatialsplit.submission.tasks`; what makes them
a legal submission is `spatialsplit.submission.checking`. `read_csv` touches the disk, nothing else does.
"""

from __future__ import annotations

import codecs
import csv
import io
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from numbers import Integral, Real
from typing import Any, TextIO

LONGEST_LINE = 1 << 24  # bytes, and characters of a cell: 2 million species; the csv module's own limit is 131,072
LARGEST_FILE = 1 << 29  # bytes: whoever sends more does not send a submission, and must not fill the memory
MOST_ROWS = 2_000_000
SEPARATORS = {",": "','", ";": "';'", "\t": "a tab"}


@dataclass
class Table:
    """Columns and rows of text, with the place of each row for messages.

    Parameters
    ----------
    names : list of str
        Trimmed column names.
    rows : list of lists of str
        Trimmed cells, as many as names.
    places : sequence of int
        Line of each row in its file, or its number from 1.
    unit : {"line", "row"}
        What `places` counts.
    faults : list of (kind, text)
        What was wrong with the file itself.
    cut_ids : list of str
        First cells of the rows whose number of cells is wrong: they are not in `rows`, and their ids are not
        missing.
    """

    names: list[str]
    rows: list[list[str]]
    places: Sequence[int]
    unit: str = "row"
    faults: list[tuple[str, str]] = field(default_factory=list)
    cut_ids: list[str] = field(default_factory=list)

    def column(self, name: str) -> list[str]:
        """Give the cells of one column."""
        position = self.names.index(name)
        return [row[position] for row in self.rows]


def as_table(source: Any, separators: str = ",") -> Table:
    """Make a table of a CSV file's path, rows (mappings) or a pandas data frame; a table is taken as it is.

    Examples
    --------
    >>> as_table([{"surveyId": 1, " predictions": 5.0}]).rows
    [['1', '5']]
    """
    if isinstance(source, Table):
        return source
    if isinstance(source, (str, os.PathLike)):
        return read_csv(source, separators)
    return table_from_frame(source) if hasattr(source, "columns") else table_from_rows(source)


def read_csv(path: str | os.PathLike[str], separators: str = ",") -> Table:
    """Read a CSV file strictly; what is wrong with it is in the table's `faults`.

    A file that is too large, and a line that is too long to be a row, are not read further: nobody fills the memory.
    """
    content, fault = _bytes_of(path)
    fault = fault or _not_text(content)
    if fault:
        return _no_table(fault)
    return _parsed(io.TextIOWrapper(io.BytesIO(content), encoding="utf-8-sig", newline=""), separators)


def _bytes_of(path: str | os.PathLike[str]) -> tuple[bytes, str]:
    """Give a file's bytes, or what is wrong with its size."""
    blocks: list[bytes] = []
    left = LARGEST_FILE
    since_break = n_breaks = 0
    with open(path, "rb") as file:
        for block in iter(lambda: file.read(1 << 20), b""):
            blocks.append(block)
            left -= len(block)
            last = max(block.rfind(b"\n"), block.rfind(b"\r"))
            since_break = since_break + len(block) if last < 0 else len(block) - last - 1
            n_breaks += block.count(b"\n")
            if since_break > LONGEST_LINE:
                fault = f"line {n_breaks + 1}: more than {LONGEST_LINE:,} bytes. A row must be a line, with an id and"
                return b"", f"{fault} its labels. A file without line breaks, or no CSV at all, looks like this."
            if left < 0:
                return b"", f"the file has more than {LARGEST_FILE:,} bytes. It must be smaller: a row for each id."
    return b"".join(blocks), ""


def _not_text(content: bytes) -> str:
    """Say where bytes are no UTF-8 text, or nothing where they are."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    for start in range(0, len(content) or 1, 1 << 20):
        try:
            decoder.decode(content[start : start + (1 << 20)], final=start + (1 << 20) >= len(content))
        except UnicodeDecodeError as error:
            line = content.count(b"\n", 0, start + error.start) + 1
            return f"line {line}: not UTF-8 text. Save the file as plain CSV in UTF-8."
    nul = content.find(b"\0")
    return "" if nul < 0 else _nul(content.count(b"\n", 0, nul) + 1)


def table_from_csv(text: str, separators: str = ",") -> Table:
    r"""Read the text of a CSV file strictly.

    A byte-order mark, CRLF, quotes, blank lines and spaces after the separator are accepted. A row must have
    as many cells as the header: readers that guess take the first cell of a longer row for an index and shift
    the columns.

    Parameters
    ----------
    text : str
    separators : str
        Those that are allowed. A file with another one is read with it, so that all its other faults are
        found too.

    Examples
    --------
    >>> table = table_from_csv("surveyId, predictions\n1, 1 2\n2,1,2\n")
    >>> table.rows, table.faults
    ([['1', '1 2']], [('cells', 'line 3: 3 cells where the header has 2. Labels are separated by spaces.')])
    """
    if "\0" in text:
        return _no_table(_nul(text.count("\n", 0, text.index("\0")) + 1))
    return _parsed(io.StringIO(text[1:] if text.startswith("\ufeff") else text, newline=""), separators)


def _no_table(fault: str) -> Table:
    return Table([], [], [], "line", [("file", fault)])


def _nul(line: int) -> str:
    return f"line {line}: holds a NUL character. Save the file as CSV in UTF-8."


def _parsed(text: TextIO, separators: str) -> Table:
    table = Table([], [], [], "line")
    separator = _separator_of(text, separators, table.faults)
    records = _records(text, separator, table.faults)
    table.names = [name.strip() for name in next(records, (1, []))[1]]
    if not table.names:
        table.faults.append(("file", "line 1: the file is empty. It needs a header and a row for each id."))
        return table
    places: list[int] = []
    for line, cells in records:
        if len(places) + len(table.cut_ids) == MOST_ROWS:
            table.faults.append(("file", f"line {line}: more than {MOST_ROWS:,} rows. There must be one for each id."))
            break
        if len(cells) == len(table.names):
            places.append(line)
            table.rows.append([cell.strip() for cell in cells])
        else:
            table.faults.append(("cells", _ragged(line, len(cells), len(table.names))))
            table.cut_ids.append(cells[0].strip())
    table.places = places
    return table


def _separator_of(text: TextIO, allowed: str, faults: list[tuple[str, str]]) -> str:
    """Tell the separator by the first line that is not blank, and go back to the start."""
    header = next((line for line in iter(text.readline, "") if line.strip()), "")
    text.seek(0)
    present = [separator for separator in SEPARATORS if separator in header]
    found = max(present, key=header.count, default=allowed[0])
    if found not in allowed:
        message = f"line 1: columns are separated by {SEPARATORS[found]}, not by {SEPARATORS[allowed[0]]}."
        faults.append(("file", f"{message} Write the file again with sep=','."))
    return found


def _records(text: TextIO, separator: str, faults: list[tuple[str, str]]) -> Iterator[tuple[int, list[str]]]:
    """Yield the first line and the cells of each record that is not blank."""
    former_limit = csv.field_size_limit(LONGEST_LINE)
    reader = csv.reader(text, delimiter=separator, skipinitialspace=True, strict=True)
    before = 0
    try:
        for cells in reader:
            if len(cells) > 1 or (cells and cells[0].strip()):
                yield before + 1, cells
            before = reader.line_num
    except csv.Error as error:
        too_long = f"a cell has more than {LONGEST_LINE:,} characters. A quotation mark that is not closed looks so."
        unclosed = "a quotation mark is opened and not closed, or followed by text."
        faults.append(("file", f"line {before + 1}: {too_long if 'limit' in str(error) else unclosed}"))
    finally:
        csv.field_size_limit(former_limit)


def _ragged(line: int, found: int, expected: int) -> str:
    cells = "1 cell" if found == 1 else f"{found} cells"
    hint = " Labels are separated by spaces." if found > expected else ""
    return f"line {line}: {cells} where the header has {expected}.{hint}"


def table_from_rows(rows: Iterable[Mapping[str, object]]) -> Table:
    """Make a table of mappings from column name to cell (text, number or None)."""
    records = [{str(name).strip(): cell_text(cell) for name, cell in row.items()} for row in rows]
    names = list(dict.fromkeys(name for record in records for name in record))
    cells = [[record.get(name, "") for name in names] for record in records]
    return Table(names, cells, range(1, len(cells) + 1))


def table_from_frame(frame: Any) -> Table:
    """Make a table of a pandas data frame: whole floats are integers, NaN is an empty cell."""
    texts = [list(map(cell_text, frame.iloc[:, position].tolist())) for position in range(len(frame.columns))]
    names = [str(name).strip() for name in frame.columns]
    cells = list(map(list, zip(*texts)))  # noqa: B905 - the columns of a frame are equally long, and strict is not in Python 3.8
    return Table(names, cells, range(1, len(cells) + 1))


def cell_text(cell: object) -> str:
    """Give a cell as trimmed text; a missing one is empty, a whole number has no decimal point.

    Examples
    --------
    >>> [cell_text(cell) for cell in (" 1 2 ", 5.0, 0.5, None, float("nan"))]
    ['1 2', '5', '0.5', '', '']
    """
    if isinstance(cell, str):
        return cell.strip()
    if cell is None or type(cell).__name__ in ("NAType", "NaTType"):
        return ""
    if isinstance(cell, bool) or not isinstance(cell, Real):
        return str(cell)
    return str(int(cell)) if isinstance(cell, Integral) else _number_text(float(cell))


def _number_text(number: float) -> str:
    if number != number:
        return ""
    return str(int(number)) if number.is_integer() else repr(number)
