"""Auditing single tables of a dataset that was made elsewhere: GeoLifeCLEF's of any year, or anybody's.

What a table does not have is said, not guessed. One file may hold several subsets in a column `subset`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol

import pandas as pd

from spatialsplit.audit.checks import audit
from spatialsplit.audit.evidence import Evidence, Promise
from spatialsplit.audit.grid_search import find_grid
from spatialsplit.audit.grids import Grid, named_grid, projection
from spatialsplit.audit.report import AuditReport
from spatialsplit.audit.survey_rows import joined_rows, no_rows, survey_rows
from spatialsplit.audit.tables import Table, Unreadable, open_table
from spatialsplit.errors import DataError, first_few, shown

_MOST_DEGREES = 90
_SURVEY_KEYS = ("patchID", "dayOfYear")


class Squares(Protocol):
    """What the audit takes of a grid that was made elsewhere: numbers, and none of its code."""

    @property
    def crs(self) -> str:
        """The projected CRS."""

    @property
    def size_m(self) -> float:
        """The side of a quadrat in metres."""

    @property
    def origin(self) -> tuple[float, float]:
        """A corner of a quadrat, easting first."""


Paths = str | Path | Sequence[str | Path]


def audit_tables(
    tables: Mapping[str, Paths],
    *,
    grid: Grid | Squares | str | None = None,
    radius_m: float | None = None,
    search_grid: bool = False,
    columns: Mapping[str, str] | None = None,
) -> AuditReport:
    """Audit tables by their roles; columns are found by the names that GeoLifeCLEF has used.

    Parameters
    ----------
    tables : mapping
        `train`, `val`, `test`, `po` → a path or several. A file with a column `subset` may be given once, as
        `train`, for all the subsets that it holds.
    grid : spatialsplit.Grid or str, optional
        The quadrats that were drawn, if they are known; or the name of a preset.
    radius_m : float, optional
        No presence-only record should be this near to a test survey, or nearer.
    search_grid : bool
        Also look for the grid that the split respects; it is among the facts as `grids`.
    columns : mapping, optional
        Our name of a column → its name in the tables that have it, as in `{"lon": "x", "lat": "y"}`.

    Returns
    -------
    AuditReport
        With the same checks as for a dataset; those that need a manifest or a solution say so.

    Raises
    ------
    DataError
        A file that is not there or is no table, a role that is unknown, a table without coordinates, or a name in
        `columns` that no table has.
    """
    opened = _opened(tables, columns or {})
    quadrats = _read_grid(grid)
    rows = _rows(opened)
    if "po" not in opened:
        _refuse_one_side(rows)
    promise = Promise(
        keys=_SURVEY_KEYS,
        grid=quadrats,
        radius_m=radius_m,
        no_grid="no grid was given (--crs and --size, or --grid; --find-grid looks for one)",
        no_radius="no radius was given (--radius)",
    )
    blind = next((table for table in opened.get("test", []) if not table.has("speciesId")), None)
    evidence = Evidence(rows, promise, tuple(opened.get("po", [])), blind=blind)
    report = audit(evidence)
    if not search_grid:
        return report
    grids = [found.as_dict() for found in find_grid(rows)]
    return AuditReport(report.checks, {**report.facts, "grids": grids})


def _refuse_one_side(rows: pd.DataFrame) -> None:
    """Refuse tables of one subset alone: there is no split to judge, and nothing that could fail."""
    subsets = sorted(set(rows["subset"]))
    if len(subsets) < 2:
        raise DataError(
            f"There is one subset only, {subsets[0] if subsets else 'none'}: a split has two sides. Name the other "
            "with --test or --val, or give a table with a column 'subset'."
        )


def _opened(tables: Mapping[str, Paths], columns: Mapping[str, str]) -> dict[str, list[Table]]:
    unknown = sorted(set(tables) - {"train", "val", "test", "po"})
    if unknown:
        raise DataError(f"Unknown role {unknown[0]!r}. Known: train, val, test, po.")
    opened: dict[str, list[Table]] = {}
    problems = []
    listed = {role: [Path(path) for path in _several(paths)] for role, paths in tables.items()}
    names = _short_names({path for paths in listed.values() for path in paths})
    for role, paths in listed.items():
        for path in paths:
            try:
                table = open_table(path, name=names[path], means=columns)
                opened.setdefault(role, []).append(table)
                problems += _without_place(table)
            except Unreadable as error:
                problems.append(f"{shown(error, longest=300)}. Give a CSV or Parquet file.")
    if not problems:
        problems = _strange_columns(columns, [table for tables in opened.values() for table in tables])
    if problems:
        raise DataError(problems)
    return opened


def _strange_columns(columns: Mapping[str, str], tables: Sequence[Table]) -> list[str]:
    """Name the columns that were said to be somewhere and are nowhere."""
    there = sorted({name for table in tables for name in table.header})
    return [
        f"No table has a column '{shown(column)}', which is said to be {shown(word)}. They have: "
        f"{first_few(map(shown, there), shown=12)}. Correct --column."
        for word, column in columns.items()
        if column not in there
    ]


def _several(paths: Paths) -> Sequence[str | Path]:
    return [paths] if isinstance(paths, str | Path) else paths


def _short_names(paths: set[Path]) -> dict[Path, str]:
    """Call a file by its name where that is enough to tell it from the others."""
    names = [path.name for path in paths]
    return {path: path.name if names.count(path.name) == 1 else str(path) for path in paths}


def _without_place(table: Table) -> list[str]:
    if table.has("lon", "lat"):
        return []
    return [
        f"{table.name} has no longitude and latitude among its columns {', '.join(map(shown, table.header[:8]))}. "
        "Say which they are: --column lon=… --column lat=…"
    ]


def _read_grid(grid: Grid | Squares | str | None) -> Grid | None:
    """Give the audit's own grid for what is said of one: its CRS, size and origin, or its name."""
    if grid is None:
        return None
    try:
        name = grid if isinstance(grid, str) else getattr(grid, "preset", None)
        own = named_grid(name) if name is not None else Grid(grid.crs, grid.size_m, grid.origin)  # type: ignore[union-attr]
        if own.crs is not None:
            projection(own.crs)
            _refuse_metres_for_degrees(own.crs, own.size_m)
    except ValueError as error:
        raise DataError(str(error)) from None
    return own


def _refuse_metres_for_degrees(crs: str, size: float) -> None:
    from pyproj import CRS

    if CRS.from_user_input(crs).is_geographic and size > _MOST_DEGREES:
        raise ValueError(
            f"{crs} has degrees, and a quadrat of {size:g} degrees would hold the Earth. Give a projected CRS, as "
            "EPSG:3035, or a size in degrees."
        )


def _rows(opened: Mapping[str, list[Table]]) -> pd.DataFrame:
    """Read the surveys of all tables, each file once, whatever roles it was given for."""
    parts = []
    seen: set[Path] = set()
    for role in ("train", "val", "test"):
        for table in opened.get(role, []):
            if table.path in seen:
                continue
            seen.add(table.path)
            parts.append(_with_roles(table, role))
    rows = joined_rows(parts) if parts else no_rows()
    alone = set(rows["subset"]) <= {"train", "val"}
    if alone and "test" in opened and all(table.has("subset") for table in opened["test"]):
        for word in ("subset", "role"):
            rows[word] = rows[word].cat.remove_unused_categories().cat.rename_categories(_val_is_test)
    return rows


def _val_is_test(text: str) -> str:
    return text.replace("val", "test") if text in ("val", "pa_val", "pa_val_blind") else text


def _with_roles(table: Table, role: str) -> pd.DataFrame:
    keys = _SURVEY_KEYS if table.has(*_SURVEY_KEYS) else ()
    try:
        rows = survey_rows(table, f"pa_{role}", keys, subset=role, own_subset=True)
    except Unreadable as error:
        raise DataError(f"{shown(error, longest=300)}. Give a CSV or Parquet file.") from None
    labelled = "" if table.has("speciesId") else "_blind"
    rows["role"] = rows["subset"].cat.rename_categories(lambda subset: f"pa_{subset}{labelled}")
    if keys and not _own_ids(table):
        rows["survey"] = ""
    return rows


def _own_ids(table: Table) -> bool:
    """Tell whether `surveyId` is one: a column `Id` beside survey keys numbers the rows of one file only."""
    return table.has("surveyId") and table.means["surveyId"].casefold() != "id"
