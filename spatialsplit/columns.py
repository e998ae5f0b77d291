"""The columns of the field: their names here, their names elsewhere, what they hold.

The one declaration that readers, writers and descriptions share. Darwin Core's and GeoLifeCLEF's names are translated
here, once, at the door; everything behind it knows the canonical name only. Reading itself stands in `occurrences`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from spatialsplit.errors import TableError, first_few, nearest_name, shown


@dataclass(frozen=True)
class Column:
    """A column that the package knows by name.

    Attributes
    ----------
    type : {'integer', 'number', 'text'}
        The logical type of a cell, the same through CSV and Parquet.
    about : str
        What it holds, with its unit, in a participant's words.
    aliases : tuple of str
        Its names in other people's files.
    """

    type: str
    about: str
    aliases: tuple[str, ...] = ()


COLUMNS: Mapping[str, Column] = {
    "surveyId": Column("integer", "Number of the survey: one visit to one place.", ("survey_id", "SurveyID")),
    "patchID": Column("text", "The place that was visited.", ("patch_id", "PatchID", "patchId", "PlotID", "plotID")),
    "dayOfYear": Column(
        "integer",
        "Day of the year, 1 to 365 (366 in leap years).",
        ("day_of_year", "dayofyear", "startDayOfYear", "doy"),
    ),
    "lon": Column(
        "number", "Longitude in degrees, WGS84.", ("longitude", "decimalLongitude", "decimallongitude", "lng", "long")
    ),
    "lat": Column("number", "Latitude in degrees, WGS84.", ("latitude", "decimalLatitude", "decimallatitude")),
    "speciesId": Column(
        "integer", "Number of the species.", ("species_id", "speciesID", "SpeciesID", "speciesKey", "spid", "species")
    ),
    "speciesName": Column("text", "Name of the species as the source has it."),
    "date": Column("text", "Day of the record.", ("eventDate", "observed_on")),
    "year": Column("integer", "Year of the record."),
    "month": Column("integer", "Month of the record, 1 to 12."),
    "day": Column("integer", "Day of the month, 1 to 31."),
    "geoUncertaintyInM": Column(
        "number",
        "How far the true place may lie from the coordinates, in metres.",
        ("coordinateUncertaintyInMeters", "coordinateuncertaintyinmeters", "geo_uncertainty_m"),
    ),
    "areaInM2": Column("number", "Area of the surveyed plot, in square metres."),
    "region": Column("text", "Region the survey lies in."),
    "country": Column("text", "Country the survey lies in."),
    "timeSerieID": Column("integer", "Number of the satellite time series of the place."),
    "observation_id": Column("integer", "Number of the observation.", ("id",)),
    "quadratId": Column("text", "The quadrat: the cell of the grid that was drawn as a whole."),
    "subset": Column("text", "Where the row ended up: train, val or test."),
    "n_surveys": Column("integer", "Surveys in the quadrat, those without a species included."),
    "n_empty": Column("integer", "Surveys in the quadrat that found no species."),
    "stratum": Column("text", "The commonest value of the strata column among the quadrat's surveys."),
    "test_number": Column("text", "The quadrat's number in the draw of test: 16 hexadecimal digits of a SHA-256."),
    "val_number": Column("text", "The quadrat's number in the draw of val: 16 hexadecimal digits of a SHA-256."),
    "predictions": Column("text", "Species numbers in increasing order, a space between."),
    "Usage": Column("text", "Which leaderboard the row counts for: Public or Private."),
    "reason": Column("text", "Why the row was set aside."),
    "distance_m": Column("number", "Geodesic distance to the nearest survey of the holdout, in metres (WGS84)."),
    "nearest_surveyId": Column("integer", "The survey that is nearest; of equally near ones the smallest number."),
    "n_po_train": Column("integer", "Presence-only records of the species in the training data."),
    "n_pa_train": Column("integer", "Training surveys that found the species."),
    "n_pa_val": Column("integer", "Validation surveys that found the species."),
    "file": Column("text", "The input file that held the row."),
    "line": Column("integer", "The row's line in that file, the header being line 1."),
}

ALLOWED_IN_BLIND = (
    "date",
    "year",
    "month",
    "day",
    "dayOfYear",
    "geoUncertaintyInM",
    "areaInM2",
    "region",
    "country",
    "timeSerieID",
)
"""What a participant may see of a test survey beside its number, keys and place."""


FIRST_IN_DARWIN_CORE: Mapping[str, tuple[str, ...]] = {
    "speciesId": ("speciesKey", "species", "scientificName"),
    "date": ("eventDate",),
}
"""Terms that go before others: GBIF's number of a species, its name, the name as given; and the day of the event."""


def darwin_core_columns(header: Sequence[str], mapping: Mapping[str, str]) -> dict[str, str]:
    """Give the mapping for a table of Darwin Core, which has several columns for one thing.

    What the recipe maps stays as it says.

    Examples
    --------
    >>> darwin_core_columns(["species", "speciesKey", "decimalLatitude"], {"lat": "decimalLatitude"})
    {'lat': 'decimalLatitude', 'speciesId': 'speciesKey'}
    """
    found = dict(mapping)
    for name, terms in FIRST_IN_DARWIN_CORE.items():
        term = next((each for known in terms for each in (known, known.lower()) if each in header), None)
        if term is not None and name not in found and term not in found.values():
            found[name] = term
    return found


def names_of(name: str) -> set[str]:
    """Give all names that a column goes by, those in lower case among them: so data bases and GBIF's snapshots write.

    Examples
    --------
    >>> sorted(names_of("lat")), sorted(names_of("basisOfRecord"))
    (['decimalLatitude', 'decimallatitude', 'lat', 'latitude'], ['basisOfRecord', 'basisofrecord'])
    """
    names = {name, *(COLUMNS[name].aliases if name in COLUMNS else ())}
    return names | {each.lower() for each in names}


def find_columns(
    header: Sequence[str],
    wanted: Sequence[str],
    mapping: Mapping[str, str] | None = None,
    *,
    optional: Sequence[str] = (),
    where: str = "the table",
) -> dict[str, int]:
    """Find the position of each wanted column by name: as mapped, by its own name, or by an alias.

    A name given in `mapping` is taken as it is; else the column's own name; else the one alias that the header has.
    Never by position.

    Parameters
    ----------
    header : sequence of str
        The file's column names.
    wanted, optional : sequence of str
        Our names; a wanted one that is not there is an error, an optional one is left out.
    mapping : mapping of str to str, optional
        Our name to the file's name, as a recipe's `columns` says.
    where : str
        The file, for messages.

    Returns
    -------
    dict of str to int
        Our name to the position in the header.

    Raises
    ------
    TableError
        One line for a header that was cut at the wrong separator; else a line for each column that is missing, there
        twice, known by two aliases at once, or meant by two names.

    Examples
    --------
    >>> find_columns(["observation_id", "latitude", "longitude"], ["lon", "lat"])
    {'lon': 2, 'lat': 1}
    """
    mapping = mapping or {}
    found: dict[str, int] = {}
    problems = _mapped_twice(mapping, where)
    missing = False
    for name in [*wanted, *optional]:
        candidates = _candidates(name, header, mapping)
        if len(candidates) == 1:
            found[name] = candidates[0]
        elif candidates:
            named = ", ".join(f"'{shown(header[i])}'" for i in candidates)
            alike = len({header[i] for i in candidates}) < len(candidates)
            cure = "Rename one in the file" if alike else f'Say which: columns = {{ {name} = "…" }}'
            problems.append(f"Column '{name}' could be any of {len(candidates)} columns of {where}: {named}. {cure}.")
        elif name not in optional or name in mapping:
            problems.append(_missing(name, header, mapping, where))
            missing = True
    separated = _wrong_separator(header, where) if missing else None
    if separated or problems:
        raise TableError(separated or problems)
    return found


def _mapped_twice(mapping: Mapping[str, str], where: str) -> list[str]:
    names: dict[str, list[str]] = {}
    for name, theirs in mapping.items():
        names.setdefault(theirs, []).append(name)
    return [
        f"Column '{shown(theirs)}' of {where} is mapped to {' and '.join(ours)} at once. A column holds one thing. "
        "Correct columns = { … }."
        for theirs, ours in names.items()
        if len(ours) > 1
    ]


def _candidates(name: str, header: Sequence[str], mapping: Mapping[str, str]) -> list[int]:
    if name in mapping:
        return [i for i, column in enumerate(header) if column == mapping[name]]
    taken = set(mapping.values())
    own = [i for i, column in enumerate(header) if column == name and column not in taken]
    if own:
        return own
    names = names_of(name) - taken
    return [i for i, column in enumerate(header) if column in names]


def _missing(name: str, header: Sequence[str], mapping: Mapping[str, str], where: str) -> str:
    asked = mapping.get(name, name)
    near = nearest_name(asked, header)
    hint = f" Did you mean '{shown(near)}'?" if near else ""
    mapped = f" (for '{name}')" if asked != name else ""
    has = first_few((shown(column) for column in header), shown=12)
    return (
        f"No column '{asked}'{mapped} in {where}. It has: {has}.{hint} "
        f'Name it in the recipe: columns = {{ {name} = "…" }}.'
    )


def _wrong_separator(header: Sequence[str], where: str) -> str | None:
    """Say so where the header looks like one that was cut at the wrong character."""
    whole = "".join(header)
    mark = max(";\t,", key=whole.count)
    if len(header) > 2 or whole.count(mark) < len(header):
        return None
    written = "\\t" if mark == "\t" else mark
    return (
        f"The header of {where} reads '{shown(header[0], longest=60)}' and holds {whole.count(mark)} '{written}' "
        "inside "
        f'its {"column" if len(header) == 1 else "columns"}, so the separator is wrong. Say separator = "{written}".'
    )
