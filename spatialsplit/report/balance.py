"""Balance of the environment: what the surveys' further columns say of each subset."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa

from spatialsplit.audit.tables import as_numbers, as_text
from spatialsplit.plots.palette import in_order
from spatialsplit.report.survey_columns import SurveyColumns

MOST_COLUMNS = 40
MOST_KINDS = 12
"""A column of text with more different values than this names things and does not describe them."""

LARGEST = 1e100
"""A number beyond it is no measurement but a code for a missing one (GIS writes -1.7977e308), and no axis holds it."""

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


def balance_of(surveys: Mapping[str, SurveyColumns]) -> Balance:
    """Compare the further columns of the survey tables, a value a survey."""
    by_subset = {subset: found.further for subset, found in surveys.items() if found.further.num_rows}
    columns = list(dict.fromkeys(name for rows in by_subset.values() for name in rows.column_names))
    found = Balance(left_out=columns[MOST_COLUMNS:])
    for name in columns[:MOST_COLUMNS]:
        cells = {
            subset: rows.column(name).combine_chunks()
            for subset, rows in by_subset.items()
            if name in rows.column_names
        }
        if _is_numeric(cells):
            found.numbers[name] = {subset: _measured(column) for subset, column in cells.items()}
        elif (shares := _shares(cells)) is not None:
            found.kinds[name] = shares
    return found


def _is_numeric(cells: Mapping[str, pa.Array]) -> bool:
    """Judge by content: nearly every cell that is not empty is a number."""
    texts = np.concatenate([as_text(column[:2000]) for column in cells.values()])
    filled = pd.Series(texts[texts != ""])
    return len(filled) > 0 and bool(pd.to_numeric(filled, errors="coerce").notna().mean() > 0.98)


def _measured(column: pa.Array) -> Values:
    values = as_numbers(column)
    return np.where(np.abs(values) <= LARGEST, values, np.nan)


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
