"""Quick looks into large tables: the first row of each survey, and a sample of the presence-only records."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as arrow_csv
import pyarrow.parquet as parquet

from spatialsplit.audit.tables import Table, as_numbers, as_text

READ_WHOLE_BYTES = 12 << 20
"""A table up to this size is read whole; of a larger one, pieces from all over it."""

PIECE_BYTES = 1 << 18
N_PIECES = READ_WHOLE_BYTES // PIECE_BYTES
SURVEY_FACTOR = 2
"""Of a survey table so many times more is read: it has many rows a survey."""

MOST_ROWS = 150_000
FAULTS = (pa.ArrowException, OSError, ValueError, KeyError, EOFError, csv.Error)
"""What a table raises that is not what its name says."""


@dataclass(frozen=True)
class Sample:
    """Some of the records of a table, or all.

    Attributes
    ----------
    records : DataFrame
        The columns asked for, by our words; `lon` and `lat` as numbers.
    whole : bool
        Whether it is all of them.
    """

    records: pd.DataFrame
    whole: bool


def sample_records(table: Table, words: Sequence[str]) -> Sample:
    """Read records from all over a table, in bounded time and memory; the same ones each time.

    Raises
    ------
    ArrowException, OSError, ValueError
        The table cannot be read.
    """
    columns = [table.means[word] for word in words if word in table.means]
    if table.separator is None:
        rows, whole = _sample_parquet(table, columns)
    elif table.path.suffix == ".gz":
        rows, whole = _first_rows(table, columns)
    else:
        rows, whole = _sample_csv(table, columns)
    found = {word: table.means[word] for word in words if word in table.means}
    numbers = {"lon", "lat"}
    records = {
        word: (as_numbers if word in numbers else as_text)(rows.column(name).combine_chunks())
        for word, name in found.items()
    }
    return Sample(pd.DataFrame(records), whole)


def _sample_csv(table: Table, columns: list[str], factor: int = 1) -> tuple[pa.Table, bool]:
    size = table.path.stat().st_size
    whole = size <= READ_WHOLE_BYTES * factor
    with table.path.open("rb") as file:
        if whole:
            text = file.read()
        else:
            places = np.linspace(0, size - PIECE_BYTES, N_PIECES * factor).astype(np.int64).tolist()
            text = b"".join(_piece(file, place) for place in places)
    rows = _parse(text, table, columns, skip=int(whole))
    return rows, whole


def _piece(file: Any, place: int) -> bytes:
    """Read whole lines near a place; those with a cell that a line break cuts are left out."""
    file.seek(place)
    text = file.read(PIECE_BYTES)
    whole: bytes = text[text.find(b"\n") + 1 : text.rfind(b"\n") + 1]
    if b'"' not in whole:
        return whole
    return b"".join(line + b"\n" for line in whole.split(b"\n")[:-1] if line.count(b'"') % 2 == 0)


def _parse(text: bytes, table: Table, columns: list[str], *, skip: int) -> pa.Table:
    return arrow_csv.read_csv(
        io.BytesIO(text),
        arrow_csv.ReadOptions(column_names=list(table.header), skip_rows_after_names=skip, block_size=1 << 22),
        arrow_csv.ParseOptions(
            delimiter=table.separator, newlines_in_values=bool(skip), invalid_row_handler=lambda row: "skip"
        ),
        _as_text(columns),
    )


def _as_text(columns: list[str]) -> Any:
    return arrow_csv.ConvertOptions(
        include_columns=columns, column_types=dict.fromkeys(columns, pa.string()), strings_can_be_null=False
    )


def _sample_parquet(table: Table, columns: list[str]) -> tuple[pa.Table, bool]:
    """Read row groups from all over the file, up to the most rows."""
    file = parquet.ParquetFile(table.path)
    n_groups = file.metadata.num_row_groups
    largest = max((file.metadata.row_group(i).num_rows for i in range(n_groups)), default=1) or 1
    chosen = np.unique(np.linspace(0, n_groups - 1, max(1, min(n_groups, MOST_ROWS // largest))).astype(int))
    batches = [] if not n_groups else [file.read_row_group(int(i), columns=columns) for i in chosen]
    rows = pa.concat_tables(batches) if batches else file.schema_arrow.empty_table().select(columns)
    step = -(-rows.num_rows // MOST_ROWS) or 1
    kept = rows.take(np.arange(0, rows.num_rows, step)) if step > 1 else rows
    return kept, kept.num_rows == file.metadata.num_rows


def _first_rows(table: Table, columns: list[str]) -> tuple[pa.Table, bool]:
    """Read the beginning of a packed table, of which nothing else can be read quickly."""
    batches: list[pa.RecordBatch] = []
    for batch in arrow_batches(table, columns):
        if sum(each.num_rows for each in batches) >= MOST_ROWS:
            return pa.Table.from_batches(batches), False
        batches.append(batch)
    empty = pa.table({name: pa.array([], pa.string()) for name in columns})
    return (pa.Table.from_batches(batches) if batches else empty), True


def arrow_batches(table: Table, columns: list[str]) -> Iterator[pa.RecordBatch]:
    """Yield columns of a table batch by batch, cells of CSV as text."""
    if table.separator is None:
        yield from parquet.ParquetFile(table.path).iter_batches(batch_size=1 << 17, columns=columns)
        return
    read = arrow_csv.ReadOptions(column_names=list(table.header), skip_rows_after_names=1, block_size=1 << 22)
    parse = arrow_csv.ParseOptions(delimiter=table.separator, newlines_in_values=True)
    with arrow_csv.open_csv(table.path, read, parse, _as_text(columns)) as reader:
        yield from reader


def first_row_of_each(table: Table, columns: list[str]) -> tuple[pa.Table, bool]:
    """Read the first row of each survey, or of some of them; where there is no survey number every row is one.

    Rows of one survey stand together in the tables of a dataset, so this needs no memory of earlier ones.

    Returns
    -------
    rows : Table of pyarrow
    whole : bool
        Whether it is all surveys.
    """
    key = table.means.get("surveyId")
    wanted = list(dict.fromkeys([*columns, *([key] if key else [])]))
    if table.separator is not None and table.path.suffix != ".gz":
        rows, whole = _sample_csv(table, wanted, SURVEY_FACTOR)
    else:
        batches = list(arrow_batches(table, wanted))
        empty = pa.table({name: pa.array([], pa.string()) for name in wanted})
        rows, whole = pa.Table.from_batches(batches) if batches else empty, True
    if key is None or not rows.num_rows:
        return rows, whole
    ids = rows.column(key).combine_chunks()
    fresh = np.ones(len(ids), dtype=bool)
    fresh[1:] = pc.not_equal(ids.slice(1), ids.slice(0, len(ids) - 1)).fill_null(True).to_numpy(zero_copy_only=False)
    return rows.filter(pa.array(fresh)), whole
