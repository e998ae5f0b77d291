"""A table that is published as CSV and as Parquet: whether both forms hold the same cells.

Hashes tell that each file is the one that was built; only the cells tell that a participant who takes the Parquet file
trains on what this audit has looked at, which is the CSV.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from spatialsplit.audit.published import Published, is_inside
from spatialsplit.audit.tables import Table, Unreadable, is_file, open_table

_ENDINGS = (".csv", ".csv.gz")


def forms_that_differ(published: Published) -> list[str]:
    """Compare every table that is there in both forms; a line a column that differs.

    Returns
    -------
    list of str
        Each names the first row that differs, with both cells.
    """
    outputs = published.maybe("outputs", default={})
    names = sorted({*outputs, *published.roles})
    problems = []
    for name in names:
        if not name.endswith(".parquet"):
            continue
        stem = name.removesuffix(".parquet")
        beside = next((stem + ending for ending in _ENDINGS if stem + ending in names), None)
        if beside is None or not all(_there(published, each) for each in (name, beside)):
            continue
        try:
            separator = outputs.get(beside, {}).get("separator")
            text = open_table(published.path(beside), name=beside, separator=separator)
            problems += _differences(text, open_table(published.path(name), name=name))
        except Unreadable:
            continue  # that it cannot be read is an offence of its own
    return problems


def _there(published: Published, name: str) -> bool:
    return is_inside(name) and published.is_here(name) and is_file(published.path(name))


@dataclass
class _Unlike:
    """The cells of a column that differ: how many, and the first of them in words."""

    n: int = 0
    first: str = ""


def _differences(text: Table, typed: Table) -> list[str]:
    if text.header != typed.header:
        return [f"{typed.name} has other columns than {text.name}"]
    unlike: dict[str, _Unlike] = {name: _Unlike() for name in text.header}
    first_row = 0
    for ours, theirs in _in_step(text, typed):
        if ours is None or theirs is None:
            return [f"{typed.name} has {'more' if ours is None else 'fewer'} rows than {text.name}"]
        for position, name in enumerate(text.header):
            _compare(unlike[name], ours.column(position), theirs.column(position), first_row)
        first_row += ours.num_rows
    return [
        f"column {name} of {typed.name} differs from {text.name} in {found.n} rows (first: {found.first})"
        for name, found in unlike.items()
        if found.n
    ]


def _in_step(text: Table, typed: Table) -> Iterator[tuple[pa.RecordBatch | None, pa.RecordBatch | None]]:
    """Give the rows of both forms in pieces of equal length; None for a form that ends before the other."""
    forms = [text.raw_batches(), typed.raw_batches()]
    held: list[pa.RecordBatch | None] = [None, None]
    while True:
        held = [_filled(rows, form) for rows, form in zip(held, forms, strict=True)]
        ours, theirs = held
        if ours is None or theirs is None:
            if ours is not theirs:
                yield ours, theirs
            return
        n = min(ours.num_rows, theirs.num_rows)
        yield ours.slice(0, n), theirs.slice(0, n)
        held = [ours.slice(n), theirs.slice(n)]


def _filled(rows: pa.RecordBatch | None, form: Iterator[pa.RecordBatch]) -> pa.RecordBatch | None:
    """Give what is left of a batch, or the next one that has rows."""
    while rows is None or not rows.num_rows:
        rows = next(form, None)
        if rows is None:
            return None
    return rows


def _compare(found: _Unlike, text: pa.Array, typed: pa.Array, first_row: int) -> None:
    ours, theirs = _alike(text, typed)
    both_missing = pc.and_(ours.is_null(), theirs.is_null())
    same = pc.or_(pc.fill_null(pc.equal(ours, theirs), False), both_missing)
    unlike = np.flatnonzero(~same.to_numpy(zero_copy_only=False))
    if unlike.size and not found.n:
        row = int(unlike[0])
        cells = text[row].as_py(), typed[row].as_py()
        found.first = f"row {first_row + row + 1}: {cells[1]!r}, in the CSV {cells[0]!r}"
    found.n += int(unlike.size)


def _alike(text: pa.Array, typed: pa.Array) -> tuple[pa.Array, pa.Array]:
    """Give the cells of both forms as one type: the number that both are, or else text; no value is a missing one."""
    if pa.types.is_dictionary(typed.type):
        typed = typed.cast(typed.type.value_type)
    if pa.types.is_floating(typed.type) and typed.type != pa.float64():
        typed = typed.cast(pa.string()).cast(pa.float64())  # a short float is the number that its shortest text is
    if pa.types.is_integer(typed.type) or pa.types.is_floating(typed.type):
        try:
            ours = pc.if_else(pc.equal(text, ""), None, text).cast(typed.type)
        except pa.ArrowInvalid:
            pass
        else:
            return (_no_nan(ours), _no_nan(typed)) if pa.types.is_floating(typed.type) else (ours, typed)
    return text, typed.cast(pa.string()).fill_null("")


def _no_nan(numbers: pa.Array) -> pa.Array:
    return pc.if_else(pc.is_nan(numbers), None, numbers)
