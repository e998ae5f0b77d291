"""What the survey tables say once a survey: its day, and the columns that are none of ours."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd
import pyarrow as pa

from spatialsplit.audit.published import joins_val
from spatialsplit.audit.tables import Table, as_text
from spatialsplit.plots.palette import in_order
from spatialsplit.report.reading import FAULTS, first_row_of_each
from spatialsplit.report.source import Source

OURS = frozenset(
    ("surveyId", "lon", "lat", "speciesId", "speciesName", "date", "year", "month", "day", "dayOfYear", "subset")
)
"""Columns that say which, where and when, and have their own places on the page."""

DAYS = ("dayOfYear", "date")


@dataclass(frozen=True)
class SurveyColumns:
    """Columns of the surveys of one subset, a row a survey.

    Attributes
    ----------
    further : Table of pyarrow
        The columns that are not ours.
    days : DataFrame of str
        Those of `dayOfYear` and `date` that are there.
    whole : bool
        Whether it is all surveys of the subset.
    """

    further: pa.Table
    days: pd.DataFrame
    whole: bool = True


def survey_columns(source: Source) -> dict[str, SurveyColumns]:
    """Read one table a subset; one that holds two subsets is parted by its column.

    Of the test the private table is read where it is there: it has all columns.
    """
    found: dict[str, SurveyColumns] = {}
    for role, subset in (("pa_train", "train"), ("pa_val", "val"), ("pa_test", "test"), ("pa_test_blind", "test")):
        table = source.table(role)
        if table is None or subset in found:
            continue
        try:
            found |= _parted(table, subset, set(source.evidence.promise.keys))
        except FAULTS:
            continue
    return found


def _parted(table: Table, subset: str, keys: set[str]) -> dict[str, SurveyColumns]:
    meant = {column for word, column in table.means.items() if word in OURS}
    further = [name for name in table.header if name not in meant and name not in keys]
    days = {word: table.means[word] for word in DAYS if word in table.means}
    told = table.means.get("subset") if joins_val(table.name) else None
    rows, whole = first_row_of_each(table, [*further, *days.values(), *([told] if told else [])])
    which = as_text(rows.column(told).combine_chunks()) if told else None
    names = in_order(set(which.tolist())) if which is not None else [subset]
    parts = {name: rows if which is None else rows.filter(pa.array(which == name)) for name in names}
    return {name: SurveyColumns(part.select(further), _text(part, days), whole) for name, part in parts.items()}


def _text(rows: pa.Table, columns: dict[str, str]) -> pd.DataFrame:
    return pd.DataFrame({word: as_text(rows.column(name).combine_chunks()) for word, name in columns.items()})
