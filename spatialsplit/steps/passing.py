"""What the steps share: how a table is read, and how its rows are passed on as they are."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from spatialsplit.crs import WGS84
from spatialsplit.errors import DataError, TableError, first_few, nearest_name
from spatialsplit.occurrences import RecordReader, RecordRules
from spatialsplit.occurrences.dates import DateRules
from spatialsplit.tables import Dialect, OutputColumn, TableInput
from spatialsplit.tables.writing import check_ending


@dataclass(frozen=True)
class Reading:
    """How a step reads its input.

    Parameters
    ----------
    columns : mapping of str to str
        Our name of a column to the file's.
    crs : str
    decimals : int, optional
        Round coordinates first; as they are, unless said.
    dialect : Dialect
    decimal_comma : bool
        Whether 5,5 is five and a half in coordinates and uncertainties.
    dates : DateRules
        How dates are written, where survey keys are taken from them.
    float_species : bool
        Whether the text 6310.0 means species 6310, as in GeoLifeCLEF's files from 2023 on.
    threads : int, optional
    on_progress : callable, optional
        Told the rows that are done, and which fraction of the work that is.
    """

    columns: Mapping[str, str] = field(default_factory=dict)
    crs: str = WGS84
    decimals: int | None = None
    dialect: Dialect = field(default_factory=Dialect)
    decimal_comma: bool = False
    dates: DateRules = field(default_factory=DateRules)
    float_species: bool = False
    threads: int | None = None
    on_progress: Callable[[int, float], None] = lambda rows, fraction: None

    def source(self, path: Path) -> TableInput:
        """Open a table."""
        return TableInput(path, self.dialect, hashed=False)

    def rules(self, **more: Any) -> RecordRules:
        """Give the rules by which its rows are read; only surveys need to know their day."""
        return RecordRules(
            columns=self.columns,
            crs=self.crs,
            decimals=self.decimals,
            decimal_comma=self.decimal_comma,
            dates=self.dates,
            **{"with_days": False, **more},
        )


def check_outputs(inputs: Sequence[Path | None], outputs: Sequence[Path | None]) -> None:
    """Refuse outputs whose form their name does not tell, and outputs that would overwrite an input.

    Raises
    ------
    DataError
        There is one.
    """
    read = {Path(os.path.realpath(path)): path for path in inputs if path is not None}
    for output in outputs:
        if output is None:
            continue
        if output.suffix:
            check_ending(output)
        if Path(os.path.realpath(output)) in read:
            raise DataError(f"{output} is an input: it would be overwritten by its own outcome. Choose another output.")


def position_of(source: TableInput, name: str) -> int:
    """Find a column that an option names."""
    if name not in source.header:
        near = nearest_name(name, source.header)
        hint = f" Did you mean '{near}'?" if near else ""
        raise TableError(f"No column '{name}' in {source.name}. It has: {first_few(source.header, shown=12)}.{hint}")
    return source.header.index(name)


def as_they_are(source: TableInput) -> list[OutputColumn]:
    """Declare the columns of a table for writing them as they are."""
    return [OutputColumn(name, kind) for name, kind in zip(source.header, source.types, strict=True)]


def refuse_column(source: TableInput, name: str) -> None:
    """Refuse a table that has a column which is to be added.

    Raises
    ------
    DataError
        It has.
    """
    if name in source.header:
        raise DataError(
            f"{source.name} has a column '{name}' already. It would stand there twice. Rename or remove it."
        )


def refuse_faults(reader: RecordReader, kept: Sequence[str] = ()) -> None:
    """Refuse a table with faulty rows, a line a reason but for those kept; a step has no recipe in which to say drop.

    Raises
    ------
    DataError
        There are some.
    """
    problems = [
        problem.split(", or say drop")[0] + "." if ", or say drop" in problem else problem
        for problem in reader.problems(kept)
    ]
    if problems:
        raise TableError(problems)
