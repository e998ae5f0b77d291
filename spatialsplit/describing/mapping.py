"""Which column of a table is what: by its known names, else by names that people give such columns."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from spatialsplit.columns import COLUMNS, FIRST_IN_DARWIN_CORE

WANTED = (
    *("lon", "lat", "speciesId", "surveyId", "patchID", "dayOfYear"),
    *("date", "year", "geoUncertaintyInM", "areaInM2", "observation_id"),
)
"""Our columns that are looked for."""

LOOSE_NAMES: Mapping[str, tuple[str, ...]] = {
    "lon": ("x", "easting", "coord_x", "x_coord", "point_x"),
    "lat": ("y", "northing", "coord_y", "y_coord", "point_y"),
    "speciesId": ("scientificname", "species_name", "taxon", "taxon_id", "taxonkey", "taxon_name"),
    "patchID": ("siteid", "site_id", "site", "plot", "plot_id", "eventid"),
}
"""Names in lower case that are believed where no known name is there; the recipe has to say so."""

CODE_IN_NAME = re.compile(r"[a-z]_?epsg_?([0-9]{4,6})", re.IGNORECASE)


@dataclass(frozen=True)
class Guess:
    """The columns that were found.

    Attributes
    ----------
    names : dict of str to str
        Our name to the file's.
    loose : set of str
        Our names that were found only by what people call such columns.
    crs : str, optional
        A CRS that the columns' own names tell.
    """

    names: dict[str, str]
    loose: set[str]
    crs: str | None = None


def guess_columns(header: Sequence[str], mapping: Mapping[str, str], *, darwin_core: bool = False) -> Guess:
    """Find our columns in a header.

    Examples
    --------
    >>> guess = guess_columns(["siteid", "x", "y", "spid"], {})
    >>> guess.names, sorted(guess.loose)
    ({'lon': 'x', 'lat': 'y', 'speciesId': 'spid', 'patchID': 'siteid'}, ['lat', 'lon', 'patchID'])
    """
    names: dict[str, str] = {name: theirs for name, theirs in mapping.items() if theirs in header}
    loose: set[str] = set()
    for name in WANTED:
        free = [column for column in header if column not in names.values()]
        found = None if name in names else _strict(name, free, darwin_core)
        if found is None and name not in names and not darwin_core:
            found = _loosely(name, free)
            loose |= {name} if found is not None else set()
        if found is not None:
            names[name] = found
    crs = _named_crs(header, names) if not {"lon", "lat"} <= names.keys() else None
    return Guess(names, loose | ({"lon", "lat"} if crs else set()), crs)


def _strict(name: str, header: Sequence[str], darwin_core: bool) -> str | None:
    known = [name, *COLUMNS[name].aliases]
    if darwin_core:
        known = [*FIRST_IN_DARWIN_CORE.get(name, ()), *known]
    return next((spelled for each in known for spelled in (each, each.lower()) if spelled in header), None)


def _loosely(name: str, header: Sequence[str]) -> str | None:
    folded = {column.casefold(): column for column in reversed(header)}
    wanted = [each.casefold() for each in (name, *COLUMNS[name].aliases)] + list(LOOSE_NAMES.get(name, ()))
    return next((folded[each] for each in wanted if each in folded), None)


def _named_crs(header: Sequence[str], names: dict[str, str]) -> str | None:
    """Find coordinates such as x_EPSG3035 where there are no others, and put them among the names."""
    named = {column: match[1] for column in header if (match := CODE_IN_NAME.match(column))}
    if len(named) != 2 or len(set(named.values())) != 1:
        return None
    east = next((column for column in named if column[0].casefold() in "xe"), None)
    north = next((column for column in named if column != east), None)
    if east is None or north is None:
        return None
    names["lon"], names["lat"] = east, north
    return f"EPSG:{named[east]}"
