"""Group the rows of a presence-absence table into surveys."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from spatialsplit.columns import darwin_core_columns
from spatialsplit.errors import TableError
from spatialsplit.occurrences import PresenceAbsence, SpeciesReader, WideColumns, read_presence_absence
from spatialsplit.occurrences.presence_absence import SET_ASIDE
from spatialsplit.publishing import new_files
from spatialsplit.steps.passing import Reading, check_outputs, position_of
from spatialsplit.surveys import SurveyRules, Surveys, group_surveys
from spatialsplit.tables import (
    write_table,
)


def write_surveys(
    presence_absence: Path | str,
    out: Path | str,
    rules: SurveyRules,
    *,
    wide: Sequence[str] | None = None,
    reading: Reading | None = None,
    carry: Sequence[str] = (),
) -> int:
    """Write a row a survey: `surveyId`, keys, `lon, lat, n_species, speciesIds`.

    `speciesIds` holds the species in increasing order, a space between; names stand with `|` between them. Columns in
    `carry` follow, so that later steps can use them, as `draw` does for its strata.

    Returns
    -------
    int
        The number of surveys.

    Raises
    ------
    TableError
        A line for each fault of the rows or of the surveys, and for each column to carry that is not there or differs
        inside a survey.
    """
    presence_absence, out, reading = Path(presence_absence), Path(out), reading or Reading()
    check_outputs([presence_absence], [out])
    reading = dataclasses.replace(reading, dialect=dataclasses.replace(reading.dialect, with_empty_events=True))
    source = reading.source(presence_absence)
    names = darwin_core_columns(source.header, reading.columns) if source.darwin_core else reading.columns
    reading = dataclasses.replace(reading, columns=names)
    record_rules = reading.rules(
        keys=rules.keys, species=SpeciesReader(floats=reading.float_species), section="inputs.pa", with_days=True
    )
    table, problems = read_presence_absence(source, record_rules, wide=WideColumns(wide) if wide else None)
    surveys, more = group_surveys(table, rules)
    if problems or more:
        raise TableError([*problems, *more])
    n_species = surveys.n_species
    mark = "|" if pa.types.is_string(surveys.label_species.type) else " "
    offsets = pa.array(np.concatenate([[0], np.cumsum(n_species)]), pa.int32())
    lists = pa.ListArray.from_arrays(offsets, surveys.label_species.cast(pa.string()))
    columns: dict[str, Any] = {"surveyId": surveys.ids}
    columns |= {name: key for name, key in surveys.keys.items() if name != "surveyId"}
    columns |= {
        "lon": surveys.lon,
        "lat": surveys.lat,
        "n_species": n_species,
        "speciesIds": pc.binary_join(lists, mark),
    }
    columns |= _carried(table, surveys, carry, columns)
    decimals = {name: reading.decimals for name in ("lon", "lat") if reading.decimals is not None}
    with new_files(out) as (part,):
        write_table(part, pa.table(columns), decimals=decimals)
    return len(surveys)


def _carried(
    table: PresenceAbsence, surveys: Surveys, names: Sequence[str], there: Mapping[str, Any]
) -> dict[str, pa.Array]:
    """Give the columns that each survey keeps, under the names that were asked for."""
    source, ours = table.reader.source, table.reader.output_names()
    carried: dict[str, pa.Array] = {}
    problems = []
    for name in names:
        column = name if name in surveys.attributes.column_names else ours[position_of(source, name)]
        column = SET_ASIDE.get(column, column)
        if column in surveys.varying:
            problems.append(
                f"Column '{name}' of {source.name} differs inside a survey. A carried column is the same in all its "
                "rows. Leave it out, or add what tells the rows apart to the keys."
            )
        elif name not in there and column in surveys.attributes.column_names:
            carried[name] = surveys.attributes.column(column)
    if problems:
        raise TableError(problems)
    return carried
