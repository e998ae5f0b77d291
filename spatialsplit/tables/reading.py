"""Read tables of any size in Arrow batches: CSV (also gz) as text, Parquet with its types.

A CSV is never guessed at: every cell stays the text that the file holds, an empty cell is empty text. The input's bytes are hashed
while they are read, so a manifest names exactly what was used.
"""

from __future__ import annotations

import csv
import gzip
import hashlib
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from spatialsplit.errors import DataError, first_few

BATCH_BYTES = 1 << 23
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
    """

    separator: str | None = None
    encoding: str = "utf-8"

    def __post_init__(self) -> None:
        if self.separator is not None and self.separator not in SEPARATORS:
            raise DataError(f"Invalid separator {self.separator!r}. It must be one of ',' ';' and tab ('\\t').")


@dataclass(frozen=True)
class Batch:
    """Some consecutive rows of one file of a table.

    Attributes
    ----------
    file : int
        Position of the file in the input.
    first_row : int
        Number of the batch's first row in that file, counted from 0.
    rows : pyarrow.RecordBatch
        One column for each name of the input's header, in that order.
    """

    file: int
    first_row: int
    rows: pa.RecordBatch

    def column(self, position: int) -> pa.Array:
        """Give one column by its position in the header."""
        return self.rows.column(position)


class _HashedFile(io.RawIOBase):
    """A file that hashes and counts the bytes as they are read."""

    def __init__(self, path: Path):
        self._file = path.open("rb")
        self._hash = hashlib.sha256()
        self.n_bytes = 0

    def readable(self) -> bool:
        return True

    def read(self, size: int | None = -1) -> bytes:
        block = self._file.read(-1 if size is None else size)
        self._hash.update(block)
        self.n_bytes += len(block)
        return block

    def readinto(self, buffer: Any) -> int:
        block = self.read(len(buffer))
        buffer[: len(block)] = block
        return len(block)

    def finish(self) -> str:
        """Read what a parser left unread and give the SHA-256 of the whole."""
        while self.read(BATCH_BYTES):
            pass
        return self._hash.hexdigest()

    def close(self) -> None:
        self._file.close()
        super().close()


class _CountedLines(io.RawIOBase):
    """A stream that counts its lines as they are read."""

    def __init__(self, stream: Any):
        self._stream = stream
        self._breaks = 0
        self._last = b"\n"

    def readable(self) -> bool:
        return True

    def read(self, size: int | None = -1) -> bytes:
        block: bytes = self._stream.read(-1 if size is None else size)
        self._breaks += block.count(b"\n")
        self._last = block[-1:] or self._last
        return block

    @property
    def n_lines(self) -> int:
        return self._breaks + (self._last != b"\n")


@dataclass
class TableFile:
    """One file of an input: its header, and after one reading its hash and size."""

    path: Path
    dialect: Dialect
    columns: list[str] = field(default_factory=list)
    n_rows: int = 0
    n_bytes: int = 0
    sha256: str = ""

    @property
    def name(self) -> str:
        """The file's own name, without its folder."""
        return self.path.name

    def batches(self, batch_bytes: int) -> Iterator[tuple[int, pa.RecordBatch]]:
        """Give (number of the first row, rows) from the start to the end."""
        raise NotImplementedError

    def lines_of(self, rows: Sequence[int]) -> list[int | None]:
        """Give the line in the file of each row, the header being line 1; None where a file has no lines."""
        return [None] * len(rows)


@dataclass
class CsvFile(TableFile):
    """A text table, all its cells text."""

    header_lines: int = 1
    separator: str = ","
    n_lines: int = 0

    def __post_init__(self) -> None:
        with self._text() as text:
            try:
                self._read_header(text)
            except UnicodeDecodeError as error:
                raise DataError(self._bad_encoding(error)) from None
            except (EOFError, OSError) as error:
                raise DataError(self._unreadable(error)) from None

    def _read_header(self, text: IO[str]) -> None:
        line = text.readline()
        if not line.strip():
            raise DataError(f"{self.name} is empty. A table needs a header line and rows. Check how the file was made.")
        self.separator = self.dialect.separator or sniff_separator(line)
        rest = io.StringIO(line, newline="")
        reader = csv.reader(_lines(rest, text), delimiter=self.separator)
        self.columns = [name.strip() for name in next(reader)]
        self.header_lines = reader.line_num

    def _raw(self) -> Any:
        raw = _HashedFile(self.path)
        return (raw, gzip.GzipFile(fileobj=raw)) if self.path.suffix == ".gz" else (raw, raw)

    def _text(self) -> IO[str]:
        binary: Any = gzip.open(self.path, "rb") if self.path.suffix == ".gz" else self.path.open("rb")
        encoding = "utf-8-sig" if self.dialect.encoding.casefold().replace("-", "") == "utf8" else self.dialect.encoding
        return io.TextIOWrapper(binary, encoding=encoding, newline="")

    def batches(self, batch_bytes: int = BATCH_BYTES) -> Iterator[tuple[int, pa.RecordBatch]]:
        """Give (number of the first row, rows) from the start to the end, hashing the file on the way."""
        raw, stream = self._raw()
        counted = _CountedLines(stream)
        ragged: list[Any] = []
        first_row = 0
        try:
            for rows in self._parse(counted, batch_bytes, ragged):
                if rows.num_rows:
                    yield first_row, rows
                first_row += rows.num_rows
            self.sha256, self.n_rows, self.n_bytes = raw.finish(), first_row, raw.n_bytes
            self.n_lines = counted.n_lines
        except (EOFError, OSError, gzip.BadGzipFile) as error:
            raise DataError(self._unreadable(error)) from None
        except pa.ArrowInvalid as error:
            raise DataError(self._unparsable(error)) from None
        finally:
            raw.close()
        if ragged:
            raise DataError(self._ragged())

    def _parse(self, stream: Any, batch_bytes: int, ragged: list[Any]) -> Iterator[pa.RecordBatch]:
        names = [str(i) for i in range(len(self.columns))]

        def set_aside(row: Any) -> str:
            ragged.append(row.actual_columns)
            return "skip"

        yield from pyarrow.csv.open_csv(
            pa.PythonFile(stream, mode="r"),
            read_options=pyarrow.csv.ReadOptions(
                column_names=names,
                skip_rows=self.header_lines,
                block_size=batch_bytes,
                encoding=self.dialect.encoding,
            ),
            parse_options=pyarrow.csv.ParseOptions(
                delimiter=self.separator, newlines_in_values=True, invalid_row_handler=set_aside
            ),
            convert_options=pyarrow.csv.ConvertOptions(
                column_types=dict.fromkeys(names, pa.string()), strings_can_be_null=False
            ),
        )

    def _records(self) -> Iterator[tuple[int, int]]:
        """Give (line, number of cells) of each record, by Python's own reader: slow, for messages only."""
        with self._text() as text:
            reader = csv.reader(text, delimiter=self.separator)
            next(reader)
            line = reader.line_num + 1
            for record in reader:
                if record:
                    yield line, len(record)
                line = reader.line_num + 1

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

    def _ragged(self) -> str:
        n = len(self.columns)
        faults = [f"line {line}: {cells}" for line, cells in self._records() if cells != n]
        return (
            f"{len(faults):,} rows of {self.name} do not have the header's {n} cells (first: {first_few(faults)} cells). Every row must "
            "have as many cells as the header. Quote cells that hold the separator, or correct those lines."
        )

    def _bad_encoding(self, error: object) -> str:
        return f'{self.name} is not {self.dialect.encoding} text ({error}). Say which encoding it has: encoding = "latin-1".'

    def _unreadable(self, error: object) -> str:
        return (
            f"{self.name} cannot be read to its end ({error}). It may be truncated or damaged. Fetch or write it again."
        )

    def _unparsable(self, error: object) -> str:
        text = str(error)
        if "UTF8" in text or "codec" in text:
            return self._bad_encoding("a byte is no " + self.dialect.encoding)
        if "straddling" in text:
            return (
                f"{self.name} has a row of more than {BATCH_BYTES // 2**20} MB. Rows must be shorter. "
                "A quotation mark that is never closed looks like this."
            )
        return f"{self.name} cannot be read as a table separated by '{self.separator}' ({text.splitlines()[0]})."


@dataclass
class ParquetFile(TableFile):
    """A Parquet file, its cells in their own types."""

    def __post_init__(self) -> None:
        try:
            self._schema = pyarrow.parquet.read_schema(self.path)
        except (pa.ArrowInvalid, OSError) as error:
            raise DataError(self._unreadable(error)) from None
        self.columns = list(self._schema.names)

    @property
    def types(self) -> list[pa.DataType]:
        """The type of each column."""
        return list(self._schema.types)

    def batches(self, batch_bytes: int = BATCH_BYTES) -> Iterator[tuple[int, pa.RecordBatch]]:
        """Give (number of the first row, rows) from the start to the end."""
        first_row = 0
        names = [str(i) for i in range(len(self.columns))]
        try:
            with pyarrow.parquet.ParquetFile(self.path) as parquet:
                for rows in parquet.iter_batches(batch_size=max(batch_bytes * BATCH_ROWS // BATCH_BYTES, 1)):
                    yield first_row, pa.RecordBatch.from_arrays(rows.columns, names=names)
                    first_row += rows.num_rows
        except (pa.ArrowInvalid, OSError) as error:
            raise DataError(self._unreadable(error)) from None
        with _HashedFile(self.path) as whole:
            self.sha256, self.n_rows, self.n_bytes = whole.finish(), first_row, whole.n_bytes

    def _unreadable(self, error: object) -> str:
        return (
            f"{self.name} cannot be read as Parquet ({str(error).splitlines()[0]}). It may be truncated or damaged. "
            "Fetch or write it again."
        )


class TableInput:
    """One table that lies in one file or several.

    The header is the union of the files' headers in their order; where a file lacks a column its cells are missing.

    Parameters
    ----------
    paths : path or sequence of paths
        CSV, gz or Parquet files, or folders of Parquet files.
    dialect : Dialect, optional
    batch_bytes : int
        How much is read at once. The result does not depend on it.

    Raises
    ------
    DataError
        A line for each file that is missing, empty, or cannot be read.
    """

    def __init__(
        self, paths: Path | str | Sequence[Path | str], dialect: Dialect | None = None, batch_bytes: int = BATCH_BYTES
    ):
        listed = [paths] if isinstance(paths, Path | str) else list(paths)
        self.batch_bytes = batch_bytes
        self.files: list[TableFile] = []
        problems: list[str] = []
        for path in (Path(path) for path in listed):
            try:
                self.files.extend(_open(each, dialect or Dialect()) for each in _expand(path))
            except DataError as error:
                problems.extend(error.problems)
        if problems:
            raise DataError(problems)
        self.header: list[str] = _union(self.files)
        self._types = _common_types(self.files, self.header)
        self._stats = [_stat(file.path) for file in self.files]

    @property
    def name(self) -> str:
        """The files' names, for messages."""
        return first_few((file.name for file in self.files), shown=2)

    def batches(self, *, allow_empty: bool = False) -> Iterator[Batch]:
        """Give the rows of all files in order.

        Parameters
        ----------
        allow_empty : bool
            Take a file with a header and no rows as what it says.

        Raises
        ------
        DataError
            A file is damaged, has no rows, or has rows of another length than its header.
        """
        problems: list[str] = []
        for number, file in enumerate(self.files):
            positions = _positions(file.columns, self.header)
            try:
                for first_row, rows in file.batches(self.batch_bytes):
                    yield Batch(number, first_row, self._fit(rows, positions))
                if not file.n_rows and not allow_empty:
                    problems.append(
                        f"{file.name} has a header but no rows. A table needs at least one. Check how the file was made."
                    )
            except DataError as error:
                problems.extend(error.problems)
        if problems:
            raise DataError(problems)

    def _fit(self, rows: pa.RecordBatch, positions: list[int | None]) -> pa.RecordBatch:
        columns = []
        for position, wanted in zip(positions, self._types, strict=True):
            column = pa.nulls(rows.num_rows, wanted) if position is None else rows.column(position)
            columns.append(column if column.type == wanted else column.cast(wanted))
        return pa.RecordBatch.from_arrays(columns, names=[str(i) for i in range(len(columns))])

    @property
    def types(self) -> list[pa.DataType]:
        """The type of each column of the header: text for CSV."""
        return list(self._types)

    def check_unchanged(self) -> None:
        """Refuse to go on where a file changed since it was opened.

        Raises
        ------
        DataError
            Its size or time of change is another.
        """
        changed = [
            file.name for file, before in zip(self.files, self._stats, strict=True) if _stat(file.path) != before
        ]
        if changed:
            raise DataError(
                f"{first_few(changed)} changed while it was read. An input must stay as it is during a build. Build again when nothing "
                "writes to it."
            )

    def lines_of(self, places: Sequence[tuple[int, int]]) -> list[str]:
        """Name rows, given as (file, row), for a message: `line 12`, or `row 11` where a file has no lines."""
        named: dict[tuple[int, int], str] = {}
        for number in sorted({file for file, _ in places}):
            rows = [row for file, row in places if file == number]
            lines = self.files[number].lines_of(rows)
            prefix = f"{self.files[number].name} " if len(self.files) > 1 else ""
            for row, line in zip(rows, lines, strict=True):
                named[number, row] = f"{prefix}line {line}" if line is not None else f"{prefix}row {row + 1}"
        return [named[place] for place in places]


def read_table(paths: Path | str | Sequence[Path | str], dialect: Dialect | None = None) -> pa.Table:
    """Read a whole table into memory, its columns under their own names (`""` for an unnamed one).

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "t.csv"
    >>> _ = path.write_text("a;b\\n1;x\\n")
    >>> read_table(path).to_pylist()
    [{'a': '1', 'b': 'x'}]
    """
    source = TableInput(paths, dialect)
    batches = [batch.rows for batch in source.batches()]
    return pa.Table.from_batches(batches).rename_columns(source.header)


def sniff_separator(header: str) -> str:
    """Give the separator that the header line holds most of, outside quotation marks.

    Examples
    --------
    >>> sniff_separator('surveyId;"lon, degrees";lat')
    ';'
    """
    outside = "".join(header.split('"')[::2])
    return max(SEPARATORS, key=outside.count)


def _open(path: Path, dialect: Dialect) -> TableFile:
    with path.open("rb") as file:
        magic = file.read(4)
    if magic == b"PAR1" or path.suffix == ".parquet":
        return ParquetFile(path, dialect)
    return CsvFile(path, dialect)


def _expand(path: Path) -> list[Path]:
    """Give the files that a path means: itself, or the Parquet files of a folder in the order of their names."""
    if path.is_dir():
        files = sorted(each for each in path.rglob("*") if each.is_file() and not each.name.startswith((".", "_")))
        parquet = [each for each in files if each.suffix == ".parquet" or _is_parquet(each)]
        if not parquet:
            raise DataError(
                f"{path.name} is a folder without Parquet files. An input is a file, or a folder of Parquet files. Name the file."
            )
        return parquet
    if not path.exists():
        near = sorted(each.name for each in path.parent.glob("*") if each.is_file()) if path.parent.is_dir() else []
        beside = f" Beside it lie: {first_few(near)}." if near else ""
        raise DataError(
            f"There is no file {path}.{beside} Correct the path; a recipe's paths count from the recipe's folder."
        )
    return [path]


def _is_parquet(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(4) == b"PAR1"


def _stat(path: Path) -> tuple[int, int]:
    status = path.stat()
    return status.st_size, status.st_mtime_ns


def _lines(*texts: IO[str]) -> Iterator[str]:
    for text in texts:
        yield from text


def _union(files: Sequence[TableFile]) -> list[str]:
    """Join the headers; a name that a file has twice stays there twice."""
    header: list[str] = []
    for file in files:
        for name in file.columns:
            if file.columns.count(name) > header.count(name):
                header.extend([name] * (file.columns.count(name) - header.count(name)))
    return header if len(files) > 1 else list(files[0].columns) if files else []


def _positions(columns: list[str], header: list[str]) -> list[int | None]:
    """Find each column of the header in one file; the second of two equal names is the second there."""
    places: dict[str, list[int]] = {}
    for i, name in enumerate(columns):
        places.setdefault(name, []).append(i)
    seen: dict[str, int] = {}
    found: list[int | None] = []
    for name in header:
        k = seen.get(name, 0)
        seen[name] = k + 1
        found.append(places[name][k] if k < len(places.get(name, [])) else None)
    return found


def _common_types(files: Sequence[TableFile], header: list[str]) -> list[pa.DataType]:
    """Give each column the type that all files agree on, else text."""
    types: list[set[pa.DataType]] = [set() for _ in header]
    for file in files:
        own = (
            [_plain(kind) for kind in file.types]
            if isinstance(file, ParquetFile)
            else [pa.string()] * len(file.columns)
        )
        for i, position in enumerate(_positions(file.columns, header)):
            if position is not None:
                types[i].add(own[position])
    return [kinds.pop() if len(kinds) == 1 else pa.string() for kinds in types]


def _plain(kind: pa.DataType) -> pa.DataType:
    """Undo what only matters inside a Parquet file: dictionaries and large text."""
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    return pa.string() if pa.types.is_large_string(kind) or pa.types.is_string_view(kind) else kind
