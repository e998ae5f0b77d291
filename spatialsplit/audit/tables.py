"""Reading what was published: CSV (also gzipped) and Parquet, whole or in batches, as text.

The audit reads with its own code, so that a mistake of the writer is not repeated by the reader.
"""

from __future__ import annotations

import csv
import io
import zlib
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv as arrow_csv
import pyarrow.parquet as parquet

from spatialsplit.audit.unpacking import check_unpacked_size, open_bytes
from spatialsplit.audit.words import recognise

SEPARATORS = (",", ";", "\t")
MOST_ROWS = 100_000_000
"""Rows of a table that are held at once, at about 60 bytes each; presence-only records are not held."""

_BLOCK_BYTES = 16 << 20
_HEADER_BYTES = 1 << 20
_FAULTS = (pa.ArrowException, OSError, EOFError, UnicodeError, csv.Error, zlib.error, ValueError)


class Unreadable(Exception):
    """A file that is not what its name says.

    Parameters
    ----------
    name : str
        The file, as people call it.
    why : str
        What is wrong with it.
    """

    def __init__(self, name: str, why: str):
        self.name = name
        super().__init__(f"{name} {why}")


@dataclass(frozen=True)
class Table:
    """One table on disk, with what its columns mean.

    Parameters
    ----------
    name : str
        What people call it: the path inside the dataset.
    path : Path
        Where it is.
    separator : str or None
        None for Parquet.
    header : tuple of str
        All columns.
    means : mapping
        Our word for a column → its name here.
    """

    name: str
    path: Path
    separator: str | None
    header: tuple[str, ...]
    means: Mapping[str, str]

    def naming(self, names: Sequence[str]) -> Table:
        """Give the same table with further columns known by their own names."""
        there = set(self.header)
        further = {name: name for name in names if name in there and name not in self.means}
        return replace(self, means={**self.means, **further})

    def has(self, *words: str) -> bool:
        """Tell whether all these columns are there."""
        return all(word in self.means for word in words)

    def read(self, *words: str, coded: Collection[str] = ()) -> pd.DataFrame:
        """Read the columns that are there as trimmed text; `lon` and `lat` as numbers or NaN.

        Those in `coded` are held as codes, which takes little memory where few values are different.
        """
        wanted = [word for word in words if word in self.means]
        codes = {word: _Codes() for word in wanted if word in coded}
        frames = []
        n_rows = 0
        for part in self.batches(*wanted):
            n_rows += len(next(iter(part.values()), ()))
            if n_rows > MOST_ROWS:
                raise Unreadable(self.name, f"has more than {MOST_ROWS:,} rows, which this audit would have to hold")
            for word, known in codes.items():
                part[word] = known.of(part[word])
            frames.append(pd.DataFrame(part))
        if not frames:
            frames = [pd.DataFrame({word: pd.Series(dtype=_kind(word, codes)) for word in wanted})]
        read = pd.concat(frames, ignore_index=True)
        return read.assign(**{word: known.texts(read[word].to_numpy()) for word, known in codes.items()})

    def read_all(self) -> pd.DataFrame:
        """Read every column under its own name, as trimmed text. For small tables."""
        plain = Table(self.name, self.path, self.separator, self.header, {name: name for name in self.header})
        frames = [pd.DataFrame(part) for part in plain.batches(*self.header, numbers=())]
        return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame(columns=list(self.header))

    def batches(self, *words: str, numbers: Sequence[str] = ("lon", "lat")) -> Iterator[dict[str, Any]]:
        """Yield the columns batch by batch, so that memory does not grow with the table."""
        numeric = [word for word in words if word in numbers]
        try:
            for batch in self._arrow_batches(list(dict.fromkeys(self.means[word] for word in words))):
                columns = {word: batch.column(self.means[word]) for word in words}
                yield {
                    word: as_numbers(column) if word in numeric else as_text(column) for word, column in columns.items()
                }
        except _FAULTS as error:
            raise Unreadable(self.name, f"cannot be read: {_first_line(error)}") from error

    def raw_batches(self) -> Iterator[pa.RecordBatch]:
        """Yield all columns as they are: text for CSV, typed for Parquet."""
        try:
            yield from self._arrow_batches(list(self.header))
        except _FAULTS as error:
            raise Unreadable(self.name, f"cannot be read: {_first_line(error)}") from error

    def n_rows(self) -> int:
        """Count the rows."""
        if self.separator is None:
            return int(parquet.ParquetFile(self.path).metadata.num_rows)
        try:
            return sum(batch.num_rows for batch in self._arrow_batches(list(self.header[:1])))
        except _FAULTS as error:
            raise Unreadable(self.name, f"cannot be read: {_first_line(error)}") from error

    def _arrow_batches(self, columns: list[str]) -> Iterator[Any]:
        if self.separator is None:
            yield from parquet.ParquetFile(self.path).iter_batches(batch_size=1 << 18, columns=columns)
            return
        unnamed = arrow_csv.ReadOptions(
            block_size=_BLOCK_BYTES, column_names=list(self.header), skip_rows_after_names=1
        )
        parse = arrow_csv.ParseOptions(delimiter=self.separator, newlines_in_values=True)
        convert = arrow_csv.ConvertOptions(
            include_columns=columns,
            column_types=dict.fromkeys(columns, pa.string()),
            strings_can_be_null=False,
        )
        with open_bytes(self.path) as stream, arrow_csv.open_csv(stream, unnamed, parse, convert) as reader:
            yield from reader


_NUMBERS = ("lon", "lat")


def _kind(word: str, codes: Mapping[str, object]) -> type:
    return int if word in codes else float if word in _NUMBERS else object


class _Codes:
    """The different texts of a column so far, each with a number."""

    def __init__(self) -> None:
        self._known: dict[str, int] = {}

    def of(self, texts: np.ndarray) -> np.ndarray:
        """Give the number of each text."""
        own, words = pd.factorize(texts)
        numbers = [self._known.setdefault(word, len(self._known)) for word in words.tolist()]
        return np.array(numbers, dtype=np.int32)[own]

    def texts(self, codes: np.ndarray) -> pd.Categorical:
        """Give all numbers back as texts."""
        return pd.Categorical.from_codes(codes, pd.Index(list(self._known), dtype=object))


def open_table(
    path: Path,
    *,
    name: str | None = None,
    separator: str | None = None,
    means: Mapping[str, str] | None = None,
) -> Table:
    """Look at a file's header; columns are found by name unless `means` says what they are.

    Raises
    ------
    Unreadable
        No such file, no header, or a name twice in it.
    """
    shown = path.name if name is None else name
    if not is_file(path):
        raise Unreadable(shown, "cannot be read: there is no such file")
    try:
        if path.suffix in (".parquet", ".pq", ".geoparquet"):
            separator, header = None, tuple(parquet.ParquetFile(path).schema_arrow.names)
        else:
            separator, header = _csv_header(path, separator)
    except _FAULTS as error:
        raise Unreadable(shown, f"cannot be read: {_first_line(error)}") from error
    if not any(header):
        raise Unreadable(shown, "has no header")
    repeated = sorted(column for column, count in Counter(header).items() if count > 1)
    if repeated:
        raise Unreadable(shown, f"has the column {repeated[0]!r} more than once")
    return Table(shown, path, separator, header, _meanings(header, means or {}))


def is_file(path: Path) -> bool:
    """Tell whether there is such a file; a name that no file can have is none."""
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False


def on_earth(lon: np.ndarray, lat: np.ndarray) -> np.ndarray:
    """Tell which coordinates are a place.

    Examples
    --------
    >>> on_earth(np.array([7.0, 7.0, np.nan, 1e9]), np.array([50.0, 90.1, 50.0, 50.0])).tolist()
    [True, False, False, False]
    """
    return np.asarray((np.abs(lon) <= 360) & (np.abs(lat) <= 90))


def _meanings(header: tuple[str, ...], means: Mapping[str, str]) -> dict[str, str]:
    """Join what is said of the columns with what their names tell; what is said counts first."""
    there = set(header)
    said = {word: column for word, column in means.items() if column in there}
    spoken_for = set(said.values())
    told = recognise(column for column in header if column not in spoken_for)
    return {**told, **said}


def _csv_header(path: Path, separator: str | None) -> tuple[str, tuple[str, ...]]:
    check_unpacked_size(path)
    with open_bytes(path) as stream:
        start = stream.read(_HEADER_BYTES).decode("utf-8-sig", errors="replace")
    line = next(iter(start.splitlines()), "")
    chosen = separator or max(SEPARATORS, key=line.count)
    return chosen, tuple(next(csv.reader(io.StringIO(start, newline=""), delimiter=chosen), []))


def as_numbers(column: Any) -> np.ndarray:
    """Turn a column into IEEE doubles, correctly rounded; NaN where there is no number."""
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    try:
        numbers = column.cast(pa.float64())
    except pa.ArrowInvalid:
        numbers = pa.array([_number(cell) for cell in column.to_pylist()], pa.float64())
    return np.asarray(numbers.to_numpy(zero_copy_only=False), dtype=float)


def _number(cell: object) -> float | None:
    try:
        return float(str(cell))
    except ValueError:
        return None


def as_text(column: Any) -> np.ndarray:
    """Turn a column into trimmed text, a whole number written as a float (`6310.0`) into that number.

    Each different cell is cleaned once, so long columns of few values are quick.
    """
    if not pa.types.is_dictionary(column.type):
        column = column.cast(pa.string()).dictionary_encode()
    words = np.array([clean(cell) for cell in column.dictionary.cast(pa.string()).to_pylist()] + [""], dtype=object)
    codes = column.indices.fill_null(len(words) - 1).to_numpy(zero_copy_only=False)
    return np.asarray(words[codes])


def clean(cell: object) -> str:
    """Trim a cell and take a superfluous `.0` off a whole number.

    Examples
    --------
    >>> clean(" 6310.0 "), clean("1.50"), clean(None)
    ('6310', '1.50', '')
    """
    text = "" if cell is None else str(cell).strip()
    whole, point, decimals = text.partition(".")
    if point and decimals and not decimals.strip("0") and whole.lstrip("-").isdecimal():
        return whole
    return text


def _first_line(error: BaseException) -> str:
    if isinstance(error, FileNotFoundError):
        return "there is no such file"
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    if "straddling" in str(error):
        return f"it has a row of more than {_BLOCK_BYTES:,} bytes, as where a quotation mark is never closed"
    return (str(error).splitlines() or [type(error).__name__])[0]
