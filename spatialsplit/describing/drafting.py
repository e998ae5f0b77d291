"""A recipe to start from, for a table that was looked through: what is known is filled in, the rest is left open."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from spatialsplit.columns import find_columns
from spatialsplit.crs import count_outside_area_of_use, to_lonlat
from spatialsplit.describing.counting import ZONES, Counts
from spatialsplit.describing.mapping import Guess
from spatialsplit.errors import DataError, first_few
from spatialsplit.tables import TableInput
from spatialsplit.tables.csv_files import CsvFile

PRESENCE_ONLY = re.compile(r"(^|[^a-z])p[o0]([^a-z]|$)|presences?[_-]?only|occurrence", re.IGNORECASE)

DEFAULT_CRS = "EPSG:3035"

PRESENCE = frozenset({"occ", "occurrence", "pa", "presence", "presabs", "present"})
"""Names in lower case of a lone column of 0 and 1 that says whether the one species was there."""

NO_SURVEYS = '[inputs.pa]\npath = "pa.csv"                       # your surveys: they make the test'

SMALL = 10_000
"""Rows of surveys; a fortieth of fewer is too small a test, so that a tenth is proposed."""

DROPPED = ("missing_coordinate", "missing_species", "bad_date")
"""What a recipe can drop, of what is counted here."""


@dataclass(frozen=True)
class Draft:
    """What a recipe is drafted from."""

    path: Path
    source: TableInput
    guess: Guess
    counts: Counts
    crs: str | None


def draft_recipe(drafts: Sequence[Draft], folder: Path = Path()) -> str:
    """Write a recipe for the tables: presence-only or presence-absence, as their names and columns suggest.

    Parameters
    ----------
    drafts : sequence of Draft
        At least one; tables of one kind are one input of several files, read as the first of them is.
    folder : path
        Where the recipe will lie: paths in it are relative to it.
    """
    tables = {"pa": [each for each in drafts if not _is_presence_only(each)]}
    tables["po"] = [each for each in drafts if _is_presence_only(each)]
    first = (tables["pa"] or tables["po"])[0]
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", first.path.name.split(".")[0]).strip("-._") or "dataset"
    lines = [
        "# A recipe to start from. Build it with: spatialsplit build recipe.toml --out dataset",
        f"name = {json.dumps(name)}",
        'seed = "change me"                   # spatialsplit new-seed makes one',
        "",
    ]
    for role in sorted(tables, key=lambda role: first not in tables[role]):
        lines += _input(role, tables[role], folder)
    if tables["pa"]:
        lines += ["[surveys]", f"keys = {json.dumps(_keys(first), ensure_ascii=False)}", ""]
    lines += _quadrats(drafts)
    share = "0.025" if sum(each.counts.n_rows for each in tables["pa"] or drafts) >= SMALL else "0.1"
    for holdout in ("test", "val"):
        lines += ["[[holdouts]]", f'name = "{holdout}"', f"share = {share}"]
    return "\n".join(lines) + "\n"


def _input(role: str, drafts: Sequence[Draft], folder: Path) -> list[str]:
    """Give the section of one input, or a place to fill in."""
    if not drafts:
        return {
            "pa": [NO_SURVEYS, ""],
            "po": [
                "# [inputs.po]                         # presence-only records, if there are any",
                '# path = "po.csv"',
                "",
            ],
        }[role]
    paths = [_text(_path_from(folder, each.path)) for each in drafts]
    path = paths[0] if len(paths) == 1 else f"[{', '.join(paths)}]"
    return [f"[inputs.{role}]", f"path = {path}", *_reading(drafts), ""]


def _path_from(folder: Path, path: Path) -> str:
    return os.fspath(path) if path.is_absolute() or folder == Path() else Path(os.path.relpath(path, folder)).as_posix()


def _quadrats(drafts: Sequence[Draft]) -> list[str]:
    """Name a CRS for the quadrats where the default is not made for the place."""
    if not any(_leaves_europe(each) for each in drafts):
        return []
    return [
        "[quadrats]",
        'crs = "EPSG:6933"                    # equal-area, for the whole world; the default is for Europe',
        "",
    ]


def _leaves_europe(draft: Draft) -> bool:
    west, south, east, north = draft.counts.box
    if draft.crs is None or west > east:
        return False
    lon, lat = np.array([west, east, west, east]), np.array([south, south, north, north])
    if draft.crs != "EPSG:4326":
        lon, lat = to_lonlat(lon, lat, draft.crs)
    return count_outside_area_of_use(lon, lat, DEFAULT_CRS) > 0


def _text(value: str) -> str:
    return json.dumps(value, ensure_ascii=False)


def _is_presence_only(draft: Draft) -> bool:
    if _species_columns(draft):
        return False
    return PRESENCE_ONLY.search(draft.path.stem) is not None or (
        draft.source.darwin_core and "eventID" not in draft.source.header
    )


def _reading(drafts: Sequence[Draft]) -> list[str]:
    """Give the keys of the input's section."""
    draft, lines = drafts[0], []
    species = _species_of_all(drafts)
    if species:
        lines += ['layout = "wide"', f"species_columns = {json.dumps(species, ensure_ascii=False)}"]
    elif draft.counts.odd["float_species"] and draft.counts.species_are_numbers:
        lines.append('layout = "glc2024"                    # 6310.0 is species 6310')
    columns = _columns(draft)
    unknown = missing_columns(draft)
    if columns or unknown:
        pairs = [f"{name} = {_text(theirs)}" for name, theirs in columns.items()]
        pairs += [f'{name} = "…"' for name in unknown]
        header = " ".join(first_few(draft.source.header, shown=12).split())
        lines.append(f"columns = {{ {', '.join(pairs)} }}{f'   # which of {header}?' if unknown else ''}")
    if draft.crs is None:
        asked = draft.counts.box[0] <= draft.counts.box[2]
        lines += [
            '# crs = "EPSG:…"                      # of the coordinates, which are no degrees; ask the publisher'
        ] * asked
    elif draft.crs != "EPSG:4326":
        lines.append(f"crs = {_text(draft.crs)}")
    lines += _cells(draft)
    dropped = [reason for reason in DROPPED if draft.counts.odd[reason]]
    if dropped:
        lines.append(f"# drop = {json.dumps(dropped)}        # else they are errors")
    return lines


def missing_columns(draft: Draft) -> list[str]:
    """Name what every build needs of a table and what was not found in this one."""
    needed = ["lon", "lat"] if draft.source.crs is None else []
    needed += [] if _species_columns(draft) or draft.source.darwin_core else ["speciesId"]
    return [name for name in needed if name not in draft.guess.names]


def _cells(draft: Draft) -> list[str]:
    """Give the keys that say how cells are written."""
    odd, lines = draft.counts.odd, []
    file = draft.source.files[0]
    if isinstance(file, CsvFile) and not file.dialect.is_utf8:
        lines.append(f"encoding = {_text(file.dialect.encoding)}")
    if odd["decimal_comma"]:
        lines.append('decimal = ","')
    if odd["day_first"]:
        lines.append("day_first = true                      # or false, if the month is first: then convert the dates")
    if odd["seconds"]:
        zone = max(ZONES, key=lambda name: draft.counts.zones[name])
        known = f"as {draft.counts.zones[zone]:,} days agree" if draft.counts.zones else "a guess: ask the publisher"
        lines.append(f"time_zone = {_text(zone)}            # {known}")
    return lines


def _columns(draft: Draft) -> dict[str, str]:
    """Give the columns that a build would not find by itself."""
    mapped = {}
    for name, theirs in draft.guess.names.items():
        if name in draft.guess.loose and name not in ("lon", "lat", "speciesId"):
            continue  # keys go by the file's own name
        if draft.source.darwin_core and name in ("speciesId", "date"):
            continue  # a build knows these terms
        try:
            found = find_columns(draft.source.header, [], optional=[name])
        except DataError:
            found = {}
        if found.get(name) != draft.source.header.index(theirs):
            mapped[name] = theirs
    return mapped


def _species_columns(draft: Draft) -> str | list[str] | None:
    """Give a pattern of the columns that hold nothing but 0 and 1, or their names."""
    header, columns = draft.source.header, sorted(draft.counts.binary)
    if len(columns) == 1 and header[columns[0]].casefold() in PRESENCE:
        return [header[columns[0]]]
    if len(columns) < 2:
        return None
    names = [header[i] for i in columns]
    prefix = _common_start(names).rstrip("0123456789")
    others = [name for i, name in enumerate(header) if i not in draft.counts.binary]
    if prefix and not any(name.startswith(prefix) for name in others):
        return f"{prefix}*"
    return names


def _species_of_all(drafts: Sequence[Draft]) -> str | list[str] | None:
    """Give one pattern where all tables have the same, else all patterns and names."""
    found: dict[str, None] = {}
    for columns in map(_species_columns, drafts):
        found |= dict.fromkeys([columns] if isinstance(columns, str) else columns or [])
    names = list(found)
    return names[0] if len(names) == 1 else names or None


def species_columns(draft: Draft) -> list[str]:
    """Name the columns of a wide table that hold nothing but 0 and 1."""
    return [draft.source.header[i] for i in sorted(draft.counts.binary)] if _species_columns(draft) else []


def _common_start(names: Sequence[str]) -> str:
    first, last = min(names), max(names)
    same = (i for i, (a, b) in enumerate(zip(first, last, strict=False)) if a != b)
    return first[: next(same, min(len(first), len(last)))]


def _keys(draft: Draft) -> Sequence[str]:
    """Name the columns that tell one survey from another, as well as names can say."""
    names = draft.guess.names
    for single in ("surveyId", "observation_id"):
        if single in names:
            return [single]
    if "eventID" in draft.source.header:
        return ["eventID"]
    day = ["dayOfYear"] if {"dayOfYear", "date"} & names.keys() else []
    if "patchID" in names:
        return [names["patchID"] if "patchID" in draft.guess.loose else "patchID", *day]
    return ["lon", "lat", *day]  # no column names a place: a place is its coordinates
