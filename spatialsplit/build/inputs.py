"""Open the inputs of a recipe and turn the presence-absence table into surveys, or tell all that is wrong with them."""

from __future__ import annotations

import dataclasses
import os
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from spatialsplit.build.cleaning import make_cleaning, with_repeats
from spatialsplit.columns import COLUMNS, darwin_core_columns, names_of
from spatialsplit.crs import WGS84, count_outside_area_of_use
from spatialsplit.engine import map_in_order
from spatialsplit.errors import DataError, TableError, shown
from spatialsplit.layouts import files_of_layout
from spatialsplit.occurrences import (
    Cleaning,
    PresenceAbsence,
    RecordReader,
    RecordRules,
    SpeciesReader,
    WideColumns,
    read_presence_absence,
)
from spatialsplit.occurrences.cleaning import COLUMN_OF
from spatialsplit.occurrences.coordinates import mark_unprojectable
from spatialsplit.quadrats import Grid
from spatialsplit.recipe import Input, Recipe
from spatialsplit.surveys import SurveyRules, Surveys, group_surveys
from spatialsplit.tables import Dialect, TableInput
from spatialsplit.tables.darwin_core import TERMS
from spatialsplit.tables.files import BATCH_BYTES


@dataclass(frozen=True)
class OpenInputs:
    """The inputs of a build, the presence-absence table read, the presence-only table ready to be streamed."""

    pa: PresenceAbsence
    surveys: Surveys
    po: RecordReader | None

    def sources(self) -> dict[str, TableInput]:
        """Give the tables by role."""
        sources = {"pa": self.pa.reader.source}
        return sources | ({"po": self.po.source} if self.po is not None else {})

    def check_unchanged(self) -> None:
        """Refuse to publish what was made from files that changed meanwhile."""
        for source in self.sources().values():
            source.check_unchanged()


def out_of_place(crs: str, lon: np.ndarray, lat: np.ndarray) -> list[str]:
    """Say how many surveys lie where the CRS of their coordinates is not used: a sign that it is another."""
    n = count_outside_area_of_use(lon, lat, crs) if crs != WGS84 else 0
    if not n:
        return []
    return [
        f"{n:,} of {len(lon):,} surveys lie outside the area of use of {shown(crs)}, in which [inputs.pa] says that "
        "its coordinates are. Make sure that it is the right one."
    ]


def paths_outside(recipe: Recipe) -> list[str]:
    """Say which inputs lie outside the recipe's folder: that is allowed, and shown."""
    tables = {"pa": recipe.inputs.pa, "po": recipe.inputs.po}
    named = {role: list(table.paths) for role, table in tables.items() if table is not None}
    named["draw"] = [path for path in (recipe.draw.quadrats, recipe.draw.extend) if path is not None]
    outside = {role: [path for path in paths if _leaves(path)] for role, paths in named.items()}
    return [
        f"The input {role} reads {shown(paths[0])}{f' and {n} more' if (n := len(paths) - 1) else ''}, outside the "
        "recipe's folder."
        for role, paths in outside.items()
        if paths
    ]


def _leaves(path: str) -> bool:
    return os.path.normpath(path).split(os.sep)[0] == ".."


def open_inputs(
    recipe: Recipe, find: Callable[[str], Path], *, batch_bytes: int = BATCH_BYTES, threads: int | None = None
) -> OpenInputs:
    """Open all inputs and read the presence-absence table.

    Raises
    ------
    DataError
        A line for each fault of each table; where the presence-absence table has any, the presence-only table is read
        through too, so that one look shows everything.
    """
    problems: list[str] = []
    sources: dict[str, TableInput] = {}
    for role, table in (("pa", recipe.inputs.pa), ("po", recipe.inputs.po)):
        if table is not None:
            try:
                paths = [each for path in table.paths for each in files_of_layout(table.layout, role, find(path))]
                sources[role] = TableInput(paths, dialect_of(recipe, table), batch_bytes)
            except DataError as error:
                problems.extend(error.problems)
    if problems:
        raise DataError(problems)
    species = SpeciesReader(floats=recipe.inputs.pa.float_species)
    clean = {role: make_cleaning(recipe, role, find) for role in sources}
    opened = _read_pa(recipe, sources["pa"], species, clean["pa"], problems)
    po = _open_po(recipe, sources.get("po"), species, clean.get("po"), problems)
    if problems and po is not None:
        problems.extend(_look_through(po, recipe, threads))
    if problems or opened is None:
        raise TableError(problems)
    return OpenInputs(*opened, with_repeats(po, threads) if po is not None else None)


def dialect_of(recipe: Recipe, table: Input) -> Dialect:
    """Give how the files of an input are written, and which of their columns are read.

    All are, unless the recipe lists some; but of the hundreds of a Darwin Core table those that matter.
    """
    asked = table.read_columns
    known = [name for column in COLUMNS for name in names_of(column)]
    also = [*recipe.surveys.keys, *recipe.output.blind_columns, *table.columns.values()]
    further = [column for column in (recipe.draw.strata, recipe.po_filter.uncertainty_column) if column]
    further.extend(
        column for reason, column in COLUMN_OF.items() if getattr(recipe.clean, reason) or reason in table.drop
    )
    named = [*known, *also, *further, *(TERMS if asked is None else asked)]
    only = frozenset(each for name in named for each in (name, name.lower()))
    return dataclasses.replace(
        table.dialect(),
        only=only,
        only_in_darwin_core=asked is None,
        with_empty_events=table is recipe.inputs.pa,
    )


def columns_of(source: TableInput, table: Input) -> dict[str, str]:
    """Give our name of each column whose name in the file is not known, as the recipe or the layout says."""
    if table.layout == "darwin_core" or source.darwin_core:
        return darwin_core_columns(source.header, table.columns)
    return dict(table.columns)


def _read_pa(
    recipe: Recipe, source: TableInput, species: SpeciesReader, cleaning: Cleaning | None, problems: list[str]
) -> tuple[PresenceAbsence, Surveys] | None:
    table = recipe.inputs.pa
    rules = RecordRules(
        columns=columns_of(source, table),
        crs=table.crs,
        decimals=recipe.output.coordinate_decimals,
        keys=recipe.surveys.keys,
        species=species,
        suspect_above_m={"uncertainty_over_quadrat": recipe.grid().size_m},
        dates=table.dates(),
        decimal_comma=table.decimal == ",",
        cleaning=cleaning,
        section="inputs.pa",
    )
    patterns = [table.species_columns] if isinstance(table.species_columns, str) else table.species_columns
    wide = WideColumns(patterns) if patterns is not None else None
    try:
        read, faults = read_presence_absence(
            source, rules, wide=wide, refine=mark_unprojectable(recipe.grid().project), drop=table.drop
        )
        dropped = sorted({*table.drop, *(cleaning.dropped if cleaning is not None else ())})
        surveys, more = group_surveys(read, survey_rules(recipe), dropped)
        _check_reserved(read)
        _check_twice(read.reader)
    except DataError as error:
        problems.extend(error.problems)
        return None
    problems.extend([*faults, *more])
    read.reader.suspect("surveys_in_two_files", count_in_two_files(read))
    read.reader.suspect("swapped_axes", count_swapped(read.lon, read.lat, recipe.grid()))
    return read, surveys


def count_in_two_files(table: PresenceAbsence) -> int:
    """Count the surveys that have rows in more than one file of a table."""
    if len(table.reader.source.files) < 2 or not len(table.places):
        return 0
    joined = pc.binary_join_element_wise(*table.keys, "\0") if len(table.keys) > 1 else table.keys[0]
    codes = joined.dictionary_encode().indices.to_numpy().astype(np.int64)
    pairs = np.unique(np.column_stack([codes, table.places[:, 0]]), axis=0)
    return int(np.count_nonzero(np.bincount(pairs[:, 0]) > 1))


def survey_rules(recipe: Recipe) -> SurveyRules:
    """Give the rules by which rows make surveys; a layout of single observations keeps their numbers."""
    own = recipe.output.layout == "glc2022" and recipe.surveys.keys == ["observation_id"]
    rules = recipe.survey_rules()
    return SurveyRules(rules.keys, rules.coordinates, rules.decimals, own_numbers=own)


def _check_reserved(table: PresenceAbsence) -> None:
    reserved = [
        name for name in ("surveyId", "quadratId", "predictions", "Usage") if name in table.attributes.column_names
    ]
    if reserved:
        raise DataError(
            f"{table.reader.source.name} has a column '{name}', which is the name of a column that is made here. Say "
            'keys = ["surveyId"] under [surveys] if it numbers the surveys, or rename it in the file.'
            for name in reserved
        )


def _check_twice(reader: RecordReader) -> None:
    """Refuse columns that would be published under one name, as the file has them or as they are mapped."""
    ours = {position: name for name, position in reader.found.items()}
    names = Counter(ours.get(position, name) for position, name in enumerate(reader.source.header))
    twice = [name for name, n in names.items() if n > 1]
    if twice:
        raise DataError(
            f"{reader.source.name} has more than one column that would be called '{shown(name)}'. A published table "
            "has each name once. Rename one in the file, or leave it out."
            for name in twice
        )


def _open_po(
    recipe: Recipe,
    source: TableInput | None,
    species: SpeciesReader,
    cleaning: Cleaning | None,
    problems: list[str],
) -> RecordReader | None:
    table = recipe.inputs.po
    if table is None or source is None:
        return None
    rules = RecordRules(
        columns=columns_of(source, table),
        crs=table.crs,
        decimals=recipe.output.coordinate_decimals,
        species=SpeciesReader(kind=species.kind, floats=table.float_species),
        uncertainty=recipe.po_filter.uncertainty_column,
        suspect_above_m={"uncertainty_over_radius": recipe.po_filter.radius_m},
        dates=table.dates(),
        decimal_comma=table.decimal == ",",
        cleaning=cleaning,
        section="inputs.po",
    )
    try:
        reader = RecordReader(source, rules)
        _check_twice(reader)
        return reader
    except DataError as error:
        problems.extend(error.problems)
        return None


def _look_through(reader: RecordReader, recipe: Recipe, threads: int | None) -> list[str]:
    """Read the presence-only table for its faults alone."""
    assert recipe.inputs.po is not None  # there is a reader
    if reader.rules.species is not None and reader.rules.species.kind is None:
        return []  # the presence-absence table could not even say what species are
    try:
        for checked in map_in_order(reader.check, reader.source.batches(), threads):
            reader.tally(checked)
    except DataError as error:
        return list(error.problems)
    return reader.problems(recipe.inputs.po.drop)


def count_swapped(lon: np.ndarray, lat: np.ndarray, grid: Grid) -> int:
    """Count the points that lie outside the CRS's area of use but would lie inside with the axes exchanged.

    Where they are not the larger part, none are suspected.
    """
    if grid.crs == WGS84 or not len(lon):
        return 0
    outside = count_outside_area_of_use(lon, lat, grid.crs)
    if outside * 2 <= len(lon):
        return 0
    could_be = np.abs(lon) <= 90
    inside = int(np.count_nonzero(could_be)) - count_outside_area_of_use(lat[could_be], lon[could_be], grid.crs)
    return inside if inside * 2 > len(lon) else 0


def dropped_rows(
    table: PresenceAbsence, surveys: Surveys
) -> list[tuple[list[str], list[tuple[int, int]], list[pa.Array]]]:
    """Give the dropped rows of the presence-absence table, part by part: reasons, places in the files, and cells.

    Rows that were faulty by themselves come first; then those of surveys that were dropped, of which the cells are
    looked up again.
    """
    parts = []
    start = 0
    for rows in table.dropped.rows:
        end = start + rows.num_rows
        parts.append((table.dropped.reasons[start:end], table.dropped.places[start:end], list(rows.columns)))
        start = end
    if surveys.dropped_rows.size:
        places = [(int(file), int(row)) for file, row in table.places[surveys.dropped_rows].tolist()]
        parts.append((surveys.dropped_reasons, places, _cells_at(table.reader.source, places)))
    return parts


def _cells_at(source: TableInput, places: list[tuple[int, int]]) -> list[pa.Array]:
    """Read some rows once more, in the order asked for."""
    wanted = {place: i for i, place in enumerate(places)}
    found: list[tuple[int, pa.RecordBatch]] = []
    for batch in source.batches():
        for row in range(batch.rows.num_rows):
            i = wanted.get((batch.file, batch.first_row + row))
            if i is not None:
                found.append((i, batch.rows.slice(row, 1)))
    found.sort(key=lambda pair: pair[0])
    table = pa.Table.from_batches([rows for _, rows in found])
    return [column.combine_chunks() for column in table.columns]
