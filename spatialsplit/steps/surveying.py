"""Group the rows of a presence-absence table into surveys."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from spatialsplit.errors import TableError
from spatialsplit.occurrences import SpeciesReader, WideColumns, read_presence_absence
from spatialsplit.publishing import new_files
from spatialsplit.steps.passing import Reading, check_outputs
from spatialsplit.surveys import SurveyRules, group_surveys
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
) -> int:
    """Write a row a survey: `surveyId`, keys, `lon, lat, n_species, speciesIds`.

    `speciesIds` holds the species in increasing order, a space between; names stand with `|` between them.

    Returns
    -------
    int
        The number of surveys.

    Raises
    ------
    TableError
        A line for each fault of the rows or of the surveys.
    """
    presence_absence, out, reading = Path(presence_absence), Path(out), reading or Reading()
    check_outputs([presence_absence], [out])
    record_rules = reading.rules(keys=rules.keys, species=SpeciesReader(), section="inputs.pa", with_days=True)
    table, problems = read_presence_absence(
        reading.source(presence_absence), record_rules, wide=WideColumns(wide) if wide else None
    )
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
    decimals = {name: reading.decimals for name in ("lon", "lat") if reading.decimals is not None}
    with new_files(out) as (part,):
        write_table(part, pa.table(columns), decimals=decimals)
    return len(surveys)
