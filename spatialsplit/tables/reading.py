"""Read tables of any size in Arrow batches: CSV (also packed) as text, Parquet and points with their types.

A CSV is never guessed at: every cell stays the text that the file holds, an empty cell is empty text. The input's bytes
are hashed while they are read, so a manifest names exactly what was used. What kind of table a path is stands in
`opening`; how one file is read in `csv_files`, `archives`, `points` and `parquet_files`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from spatialsplit.errors import DataError, first_few
from spatialsplit.tables.files import BATCH_BYTES, BATCH_ROWS, Dialect, TableFile
from spatialsplit.tables.holding import WHOLE_SHARE, held
from spatialsplit.tables.opening import open_tables
from spatialsplit.tables.parquet_files import FileFacts, ParquetFile, parquet_facts


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


@dataclass(frozen=True)
class Piece:
    """A part of a table that somebody else can read: a row group of one of its Parquet files.

    Attributes
    ----------
    file : int
        Position of the file in the input.
    group : int
    first_row : int
        Number of the group's first row in that file, counted from 0.
    """

    file: int
    group: int
    first_row: int


class TableInput:
    """One table that lies in one file or several.

    The header is the union of the files' headers in their order; where a file lacks a column its cells are missing.

    Parameters
    ----------
    paths : path or sequence of paths
        CSV (plain, gz, bz2, alone in a zip), Darwin Core archives, Parquet, GeoParquet or GeoPackage files, or folders
        of Parquet files.
    dialect : Dialect, optional
    batch_bytes : int
        How much is read at once. The result does not depend on it.
    hashed : bool
        Whether the files' SHA-256 is wanted.

    Raises
    ------
    DataError
        A line for each file that is missing, empty, or cannot be read.
    """

    def __init__(
        self,
        paths: Path | str | Sequence[Path | str],
        dialect: Dialect | None = None,
        batch_bytes: int = BATCH_BYTES,
        *,
        hashed: bool = True,
    ):
        listed = [paths] if isinstance(paths, Path | str) else list(paths)
        self.batch_bytes = batch_bytes
        self.files: list[TableFile] = []
        problems: list[str] = []
        for path in (Path(path) for path in listed):
            try:
                self.files.extend(open_tables(path, dialect or Dialect()))
            except DataError as error:
                problems.extend(error.problems)
            except OSError as error:
                problems.append(f"Cannot read {path} ({error.strerror}). Correct the path or the file's permissions.")
        if problems:
            raise DataError(problems)
        for file in self.files:
            file.hashed = hashed
        self.header: list[str] = _union(self.files)
        self._types = _common_types(self.files, self.header)
        self._stats = [_stat(file.parts) for file in self.files]

    @property
    def name(self) -> str:
        """The files' names, for messages."""
        return first_few((file.name for file in self.files), shown=2)

    @property
    def darwin_core(self) -> bool:
        """Whether all files are tables of Darwin Core."""
        return all(file.darwin_core for file in self.files)

    @property
    def crs(self) -> str | None:
        """The CRS that all files say they have; None where they say none, or different ones."""
        said = {file.crs for file in self.files}
        return said.pop() if len(said) == 1 else None

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
                    problems.append(_no_rows(file))
            except DataError as error:
                problems.extend(error.problems)
        if problems:
            raise DataError(problems)

    @property
    def fraction_read(self) -> float:
        """How much of the table is read so far, 0 to 1, by bytes."""
        return sum(file.n_bytes for file in self.files) / max(sum(size for size, _ in self._stats), 1)

    def pieces(self) -> list[Piece] | None:
        """Give the pieces of the table in order, or None where it is not all Parquet.

        Raises
        ------
        DataError
            A file is damaged or has no rows.
        """
        pieces: list[Piece] = []
        for number, file in enumerate(self.files):
            if not isinstance(file, ParquetFile):
                return None
            groups = file.groups()
            if not groups:
                raise DataError(_no_rows(file))
            pieces.extend(Piece(number, group, first_row) for group, first_row in groups)
        return pieces

    def read_piece(self, piece: Piece) -> Iterator[Batch]:
        """Give the rows of one piece; works on a copy of this object in another process, too."""
        file = self.files[piece.file]
        assert isinstance(file, ParquetFile)  # only Parquet has pieces
        positions = _positions(file.columns, self.header)
        batch_rows = max(self.batch_bytes * BATCH_ROWS // BATCH_BYTES, 1)
        for first_row, rows in file.group_batches(piece.group, piece.first_row, batch_rows):
            yield Batch(piece.file, first_row, self._fit(rows, positions))

    def describe_files(self, run: Callable[[Callable[[Path], FileFacts], Iterable[Path]], Iterable[FileFacts]]) -> None:
        """Note size, rows and SHA-256 of Parquet files that others read, each file a piece of work.

        Parameters
        ----------
        run : callable
            Maps a function over paths, in order.
        """
        facts = run(parquet_facts, [file.path for file in self.files])
        for file, (n_rows, n_bytes, sha256) in zip(self.files, facts, strict=True):
            file.n_rows, file.n_bytes, file.sha256 = n_rows, n_bytes, sha256

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
            file.name for file, before in zip(self.files, self._stats, strict=True) if _stat(file.parts) != before
        ]
        if changed:
            raise DataError(
                f"{first_few(changed)} changed while it was read. An input must stay as it is during a build. Build "
                "again when nothing writes to it."
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
    r"""Read a whole table into memory, its columns under their own names (`""` for an unnamed one).

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "t.csv"
    >>> _ = path.write_text("a;b\n1;x\n")
    >>> read_table(path).to_pylist()
    [{'a': '1', 'b': 'x'}]
    """
    source = TableInput(paths, dialect)
    batches = [batch.rows for batch in held(source.batches(), source.name, share=WHOLE_SHARE)]
    return pa.Table.from_batches(batches).rename_columns(source.header)


def _no_rows(file: TableFile) -> str:
    return f"{file.name} has a header but no rows. A table needs at least one. Check how the file was made."


def _stat(parts: Sequence[Path]) -> tuple[int, tuple[int, ...]]:
    """Give the size of a table's files together, and when each was changed."""
    found = [part.stat() for part in parts]
    return sum(status.st_size for status in found), tuple(status.st_mtime_ns for status in found)


def _union(files: Sequence[TableFile]) -> list[str]:
    """Join the headers; a name that a file has twice stays there twice."""
    if len(files) == 1:
        return list(files[0].columns)
    header: list[str] = []
    held: Counter[str] = Counter()
    for file in files:
        seen: Counter[str] = Counter()
        for name in file.columns:
            seen[name] += 1
            if seen[name] > held[name]:
                held[name] += 1
                header.append(name)
    return header


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
        own = file.types
        for i, position in enumerate(_positions(file.columns, header)):
            if position is not None:
                types[i].add(own[position])
    return [_common(kinds) for kinds in types]


def _common(kinds: set[pa.DataType]) -> pa.DataType:
    """Give the type of cells that several files hold; a file without a value has no say, whole numbers stay whole."""
    said = kinds - {pa.null()} or kinds
    if len(said) > 1 and all(pa.types.is_integer(kind) and kind != pa.uint64() for kind in said):
        return pa.int64()
    return next(iter(said)) if len(said) == 1 else pa.string()
