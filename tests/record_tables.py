"""Small record tables for tests: text of a CSV → what the package makes of it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from spatialsplit.errors import DataError
from spatialsplit.occurrences import PresenceAbsence, RecordReader, RecordRules, SpeciesReader, read_presence_absence
from spatialsplit.surveys import SurveyRules, Surveys, group_surveys
from spatialsplit.tables import TableInput, write_table

PA = "patchID,dayOfYear,lon,lat,speciesId"
"""The header of a small presence-absence table."""


def table_of(folder: Path, header: str, rows: Sequence[str], name: str = "pa.csv", **more: Any) -> TableInput:
    """Write lines under a header and open them."""
    path = folder / name
    path.write_text("\n".join([header, *rows]) + "\n", encoding="utf-8")
    return TableInput(path, **more)


def parquet_of(folder: Path, columns: dict[str, Any], name: str = "pa.parquet") -> TableInput:
    """Write columns as Parquet and open them."""
    write_table(folder / name, pa.table(columns))
    return TableInput(folder / name)


def read_pa(
    source: TableInput, keys: Sequence[str] = ("patchID", "dayOfYear"), drop: Sequence[str] = (), **rules: Any
) -> tuple[PresenceAbsence, list[str]]:
    """Read a presence-absence table and give what forbids its use."""
    wide = rules.pop("wide", None)
    rules = {"species": SpeciesReader(floats=rules.pop("floats", False)), "section": "inputs.pa"} | rules
    return read_presence_absence(source, RecordRules(keys=keys, **rules), wide=wide, drop=drop)


def faults_of(source: TableInput, **rules: Any) -> list[str]:
    """Give all that is said of a presence-absence table, whether it can be opened or not."""
    try:
        return read_pa(source, **rules)[1]
    except DataError as error:
        return list(error.problems)


def surveys_of(
    source: TableInput, rules: SurveyRules | None = None, drop: Sequence[str] = (), **more: Any
) -> tuple[Surveys, list[str]]:
    """Read a presence-absence table and group it into surveys."""
    rules = rules or SurveyRules()
    table, problems = read_pa(source, rules.keys, drop, **more)
    assert problems == []
    return group_surveys(table, rules, drop)


def survey_rows(surveys: Surveys) -> list[dict[str, Any]]:
    """Give a row a survey: number, keys, place, attributes and species."""
    species: list[list[Any]] = [[] for _ in surveys.ids]
    for survey, name in zip(surveys.label_survey.tolist(), surveys.label_species.to_pylist(), strict=True):
        species[survey].append(name)
    rows = surveys.attributes.to_pylist() if surveys.attributes.column_names else [{} for _ in surveys.ids]
    return [
        {
            "id": int(surveys.ids[i]),
            **{name: keys[i].as_py() for name, keys in surveys.keys.items()},
            "place": (float(surveys.lon[i]), float(surveys.lat[i])),
            **rows[i],
            "species": species[i],
        }
        for i in range(len(surveys))
    ]


def po_reader(source: TableInput, **rules: Any) -> tuple[RecordReader, list[str]]:
    """Read a presence-only table through and give what forbids its use."""
    drop = rules.pop("drop", ())
    reader = RecordReader(source, RecordRules(**rules), with_species=rules.get("species") is not None)
    for batch in source.batches():
        reader.tally(reader.check(batch))
    return reader, reader.problems(drop)
