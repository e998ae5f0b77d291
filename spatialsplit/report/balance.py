"""Balance of the environment: what the surveys' further columns say of each subset."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa

from spatialsplit.audit.published import joins_val
from spatialsplit.audit.tables import Table, as_numbers, as_text
from spatialsplit.plots.palette import in_order
from spatialsplit.report.reading import FAULTS, first_row_of_each
from spatialsplit.report.source import Source

NOT_ENVIRONMENT = frozenset(
    ("surveyId", "lon", "lat", "speciesId", "speciesName", "date", "year", "month", "day", "dayOfYear", "subset")
)
"""Columns that say which, where and when, and have their own places on the page."""

MOST_COLUMNS = 40
MOST_KINDS = 12
"""A column of text with more different values than this names things and does not describe them."""

Values = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Balance:
    """What the further columns hold.

    Attributes
    ----------
    numbers : dict of column to (subset to array of float)
    kinds : dict of column to DataFrame
        Shares: a row a value, a column a subset.
    left_out : list of str
        Columns beyond the most that are shown.
    """

    numbers: dict[str, dict[str, Values]] = field(default_factory=dict)
    kinds: dict[str, pd.DataFrame] = field(default_factory=dict)
    left_out: list[str] = field(default_factory=list)


def balance_of(source: Source) -> Balance:
    """Read the further columns of the survey tables, a value a survey."""
    by_subset = {subset: rows for subset, rows in _rows_by_subset(source).items() if rows.num_rows}
    columns = list(dict.fromkeys(name for rows in by_subset.values() for name in rows.column_names))
    found = Balance(left_out=columns[MOST_COLUMNS:])
    for name in columns[:MOST_COLUMNS]:
        cells = {
            subset: rows.column(name).combine_chunks()
            for subset, rows in by_subset.items()
            if name in rows.column_names
        }
        if _is_numeric(cells):
            found.numbers[name] = {subset: as_numbers(column) for subset, column in cells.items()}
        elif (shares := _shares(cells)) is not None:
            found.kinds[name] = shares
    return found


def _rows_by_subset(source: Source) -> dict[str, pa.Table]:
    """Read one table a subset; of a table that holds two, part it by its column."""
    found: dict[str, pa.Table] = {}
    for role, subset in (("pa_train", "train"), ("pa_val", "val"), ("pa_test", "test"), ("pa_test_blind", "test")):
        table = source.table(role)
        if table is None or subset in found:
            continue
        try:
            found |= _parted(table, subset, source)
        except FAULTS:
            continue
    return found


def _parted(table: Table, subset: str, source: Source) -> dict[str, pa.Table]:
    keys = set(source.evidence.promise.keys)
    meant = {column for word, column in table.means.items() if word in NOT_ENVIRONMENT}
    columns = [name for name in table.header if name not in meant and name not in keys]
    told = table.means.get("subset") if joins_val(table.name) else None
    rows = first_row_of_each(table, [*columns, *([told] if told else [])])
    if not told:
        return {subset: rows.select(columns)}
    which = as_text(rows.column(told).combine_chunks())
    return {name: rows.select(columns).filter(pa.array(which == name)) for name in in_order(set(which.tolist()))}


def _is_numeric(cells: Mapping[str, pa.Array]) -> bool:
    """Judge by content: nearly every cell that is not empty is a number."""
    texts = np.concatenate([as_text(column[:2000]) for column in cells.values()])
    filled = pd.Series(texts[texts != ""])
    return len(filled) > 0 and bool(pd.to_numeric(filled, errors="coerce").notna().mean() > 0.98)


def _shares(cells: Mapping[str, pa.Array]) -> pd.DataFrame | None:
    counts = {subset: pd.Series(as_text(column)).value_counts() for subset, column in cells.items()}
    table = pd.DataFrame(counts).fillna(0.0)
    table = table[table.index != ""]
    if not 2 <= len(table) <= MOST_KINDS or bool((table.sum() == 0).any()):
        return None
    table = table[in_order(table.columns)]
    return (table / table.sum()).sort_values(str(table.columns[0]), ascending=False)


def summary_of(values: Mapping[str, Values]) -> list[dict[str, object]]:
    """Give for each subset how many values there are, three quantiles, and the distance from train.

    The distance is the difference of the means in standard deviations of train: above 0.25 or so a model notices.

    Examples
    --------
    >>> rows = summary_of({"train": np.array([1.0, 2.0, 3.0]), "test": np.array([3.0, np.nan])})
    >>> rows[1]["n"], rows[1]["missing"], round(rows[1]["shift"], 2)
    (1, 1, 1.22)
    """
    rows = []
    train = values.get("train", np.empty(0))
    train = train[np.isfinite(train)]
    spread = float(train.std()) if train.size else 0.0
    for name in in_order(values):
        found = values[name][np.isfinite(values[name])]
        row: dict[str, object] = {"subset": name, "n": len(found), "missing": len(values[name]) - len(found)}
        if found.size:
            row |= dict(zip(("low", "median", "high"), np.quantile(found, [0.05, 0.5, 0.95]).tolist(), strict=True))
            shift = (float(found.mean()) - float(train.mean())) / spread if spread and name != "train" else None
            row["shift"] = shift
        rows.append(row)
    return rows
