"""Visits all of whose rows say that a species was absent: they found nothing, and are surveys all the same.

Dropping rows of absence must not make such visits disappear, as if nobody had looked: of each, one row is kept, and
names no species.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from spatialsplit.occurrences.faults import CODES
from spatialsplit.occurrences.rules import CheckedBatch
from spatialsplit.tables.csv_text import as_text

Flags = npt.NDArray[np.bool_]

_BETWEEN = "\x1f"


def keep_visits(checked: Sequence[CheckedBatch]) -> list[Flags]:
    """Take the fault from one row of each visit that has nothing but absences; give which rows these are, by batch.

    It is the first of them in code-point order of the whole row, so that the order of the rows does not matter. All
    other absences stay dropped.
    """
    chosen = [np.zeros(len(batch.reasons), dtype=bool) for batch in checked]
    absent = [np.flatnonzero(batch.reasons == CODES["absent"]) for batch in checked]
    if not any(rows.size for rows in absent):
        return chosen
    there = pa.chunked_array([_joined(batch.keys, np.flatnonzero(batch.fine)) for batch in checked], pa.string())
    first: dict[str, tuple[str, int, int]] = {}
    for number, (batch, rows) in enumerate(zip(checked, absent, strict=True)):
        keys = _joined(batch.keys, rows)
        alone = pc.invert(pc.is_in(keys, value_set=there.unique())).to_numpy(zero_copy_only=False)
        texts = _joined([as_text(column) for column in batch.batch.rows.columns], rows[alone])
        for key, text, row in zip(
            keys.filter(pa.array(alone)).to_pylist(), texts.to_pylist(), rows[alone].tolist(), strict=True
        ):
            first[key] = min(first.get(key, (text, number, row)), (text, number, row))
    for _, number, row in first.values():
        chosen[number][row] = True
        checked[number].reasons[row] = 0
    return chosen


def _joined(columns: Sequence[pa.Array], rows: npt.NDArray[np.integer]) -> pa.StringArray:
    """Write the cells of some rows as one text a row."""
    cells = [column.take(pa.array(rows)).cast(pa.string()).fill_null("") for column in columns]
    return pc.binary_join_element_wise(*cells, _BETWEEN) if cells else pa.array([""] * len(rows))
