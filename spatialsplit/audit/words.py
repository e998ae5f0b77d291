"""Which column of a table is which: GeoLifeCLEF's names of 2020 to 2025 and their relatives.

Names only; positions never count. Files that come with a manifest need none of this: the manifest says what
each column means.
"""

from __future__ import annotations

from collections.abc import Iterable

ALIASES: dict[str, tuple[str, ...]] = {
    "lon": ("lon", "longitude", "decimallongitude", "long", "lng"),
    "lat": ("lat", "latitude", "decimallatitude"),
    "surveyId": ("surveyid", "observationid", "id"),
    "speciesId": ("speciesid", "species", "specieskey", "taxonkey", "spid", "scientificname"),
    "speciesName": ("speciesname", "scientificname"),
    "patchID": ("patchid",),
    "dayOfYear": ("dayofyear",),
    "date": ("date", "eventdate"),
    "year": ("year",),
    "month": ("month",),
    "day": ("day",),
    "subset": ("subset", "split"),
    "predictions": ("predictions", "predicted", "expected", "targetspeciesids"),
    "Usage": ("usage",),
    "quadratId": ("quadratid",),
    "geoUncertaintyInM": ("geouncertaintyinm", "coordinateuncertaintyinmeters"),
}
"""Our word for a column, and what it is called elsewhere, folded, the likeliest first."""


def folded(name: str) -> str:
    """Fold a column name so that `species_id`, `speciesId` and ` SpeciesID ` are one.

    Examples
    --------
    >>> folded(" Species_ID ")
    'speciesid'
    """
    return "".join(letter for letter in name.casefold() if letter.isalnum())


def recognise(header: Iterable[str]) -> dict[str, str]:
    """Find which column each of our words stands for.

    Examples
    --------
    >>> recognise(["observation_id", "latitude", "longitude", "species_id"])
    {'lon': 'longitude', 'lat': 'latitude', 'surveyId': 'observation_id', 'speciesId': 'species_id'}
    """
    columns = {folded(name): name for name in reversed(list(header))}
    found: dict[str, str] = {}
    for word, aliases in ALIASES.items():
        name = next((columns[alias] for alias in aliases if alias in columns), None)
        if name is not None:
            found[word] = name
    return found
