"""Places and numbers of a table on disk, for a diagnosis: the rows that have both."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from spatialsplit.errors import DataError, TableError, first_few, nearest_name
from spatialsplit.folds.places import Floats, Places
from spatialsplit.occurrences import RecordReader, RecordRules
from spatialsplit.occurrences.coordinates import parse_numbers
from spatialsplit.tables import TableInput


@dataclass(frozen=True)
class ValueTable:
    """What was read.

    Attributes
    ----------
    places : Places
    values : dict of str to array of float
    n_without : int
        Rows left out because a value is missing or no number.
    """

    places: Places
    values: dict[str, Floats]
    n_without: int


def read_values(source: TableInput, names: Sequence[str], rules: RecordRules) -> ValueTable:
    """Read the places of a table's rows and some columns of numbers.

    Raises
    ------
    DataError
        A column is not there, a row has no place, or no row has all values.
    """
    positions = [_position(source, name) for name in dict.fromkeys(names)]
    reader = RecordReader(source, rules, with_species=False)
    lons, lats, tables = [], [], []
    for batch in source.batches():
        checked = reader.check(batch)
        reader.tally(checked)
        lons.append(checked.places.lon)
        lats.append(checked.places.lat)
        tables.append(np.column_stack([_numbers(batch.column(position), rules) for position in positions]))
    problems = [problem.split(", or say drop")[0].rstrip(".") + "." for problem in reader.problems()]
    if problems:
        raise TableError(problems)
    values = np.concatenate(tables)
    whole = np.isfinite(values).all(axis=1)
    if not whole.any():
        raise DataError(
            f"No row of {source.name} has a number in {' and '.join(dict.fromkeys(names))}. A range is measured from "
            "numbers. "
            "Name another column."
        )
    lon, lat = np.concatenate(lons), np.concatenate(lats)
    columns = dict(zip(dict.fromkeys(names), values[whole].T, strict=True))
    return ValueTable(Places(lon[whole], lat[whole]), columns, int(np.count_nonzero(~whole)))


def _numbers(cells: pa.Array, rules: RecordRules) -> Floats:
    if rules.decimal_comma and pa.types.is_string(cells.type):
        cells = pc.replace_substring(cells, ",", ".", max_replacements=1)
    return parse_numbers(cells)[0]


def _position(source: TableInput, name: str) -> int:
    if name in source.header:
        return source.header.index(name)
    near = nearest_name(name, source.header)
    hint = f"Did you mean '{near}'?" if near else "Name one of these."
    raise DataError(f"No column '{name}' in {source.name}. It has: {first_few(source.header, shown=12)}. {hint}")
