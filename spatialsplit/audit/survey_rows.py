"""The rows of survey tables in the one form that all checks share, small enough for millions of them.

Text with few different values (roles, files, species, days) is held as codes; ids and keys, which differ from row to
row, as they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from spatialsplit.audit.tables import Table, on_earth

_BATCH = 1 << 18
DAY_WORDS = ("date", "year", "dayOfYear")
CODED = ("role", "subset", "speciesId", *DAY_WORDS, "file")
"""The columns that are held as codes."""


def survey_rows(table: Table, role: str, keys: Sequence[str], *, subset: str, own_subset: bool = False) -> pd.DataFrame:
    """Read one survey table in the form that all checks share; `own_subset`: its column `subset` counts.

    Returns
    -------
    DataFrame
        `role, subset, survey, key, lon, lat, speciesId, date, year, dayOfYear, file, line`, a row a row; text is empty
        where the table has no such column.
    """
    table = table.naming(keys)
    told = ("subset",) if own_subset and table.has("subset") else ()
    words = dict.fromkeys(("surveyId", *keys, "lon", "lat", "speciesId", *DAY_WORDS, *told))
    coded = ({"speciesId", *DAY_WORDS} - set(keys)) | set(told)
    given = table.read(*words, coded=coded)
    n = len(given)
    rows: dict[str, Any] = {"role": _same(role, n), "subset": given.pop("subset") if told else _same(subset, n)}
    rows["key"] = _joined(given, keys) if keys and all(key in given for key in keys) else pd.Series("", given.index)
    rows["survey"] = given.pop("surveyId") if "surveyId" in given else pd.Series("", given.index)
    lon, lat = (np.asarray(given.get(word, np.full(n, np.nan)), dtype=float) for word in ("lon", "lat"))
    there = on_earth(lon, lat)
    rows["lon"], rows["lat"] = np.where(there, lon, np.nan), np.where(there, lat, np.nan)
    for word in ("speciesId", *DAY_WORDS):
        column = given[word] if word in given else _same("", n)
        rows[word] = (
            column if isinstance(getattr(column, "dtype", None), pd.CategoricalDtype) else pd.Categorical(column)
        )
    rows["file"], rows["line"] = _same(table.name, n), np.arange(2, n + 2)
    return pd.DataFrame(rows)


def _same(text: str, n: int) -> pd.Categorical:
    """Give one text so many times."""
    return pd.Categorical.from_codes(np.zeros(n, dtype=np.int8), pd.Index([text], dtype=object))


def _joined(given: pd.DataFrame, keys: Sequence[str]) -> pd.Series:
    joined = given[keys[0]].astype(str)
    for key in keys[1:]:
        joined = joined + "|" + given[key].astype(str)
    return joined


def joined_rows(parts: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Join the rows of several tables; codes stand in the order of the texts, so that sorting by them is by text."""
    for word in CODED:
        texts = sorted({str(text) for part in parts for text in part[word].cat.categories})
        for part in parts:
            part[word] = part[word].cat.set_categories(texts)
    return pd.concat(parts, ignore_index=True) if len(parts) > 1 else parts[0]


def numbered(texts: pd.Series) -> np.ndarray:
    """Give equal texts equal numbers, with little memory where the texts are whole numbers, as ids are.

    Examples
    --------
    >>> numbered(pd.Series(["7", "8", "7"])).tolist(), numbered(pd.Series(["a", "07", "7"])).tolist()
    ([0, 1, 0], [0, 1, 2])
    """
    parts = [texts.iloc[start : start + _BATCH] for start in range(0, len(texts), _BATCH)]
    integers = [_integers(part) for part in parts]
    whole = [part for part in integers if part is not None]
    values = np.concatenate(whole) if whole and len(whole) == len(parts) else texts
    return pd.factorize(values)[0].astype(np.int32)


def _integers(texts: pd.Series) -> np.ndarray | None:
    """Give texts as the whole numbers that they are, or None where one is none, or is not written as usual."""
    array = pa.array(texts.to_numpy(dtype=object), pa.string())
    try:
        numbers = array.cast(pa.int64())
    except pa.ArrowInvalid:
        return None
    return numbers.to_numpy() if not numbers.null_count and numbers.cast(pa.string()).equals(array) else None


def no_rows() -> pd.DataFrame:
    """Give the table of survey rows without a row."""
    columns: dict[str, object] = {name: _same("", 0) for name in CODED}
    columns |= {name: pd.Series(dtype=str) for name in ("survey", "key")}
    columns |= {name: pd.Series(dtype=float) for name in ("lon", "lat", "line")}
    return pd.DataFrame(columns)
