"""The botanists: campaigns, sites, plots, visits, and the complete species list of each visit."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from spatialsplit.synthetic.calendar import YEARS, calendar_columns
from spatialsplit.synthetic.dice import Dice, Flags, Integers
from spatialsplit.synthetic.landscape import COUNTRIES, REGIONS, Landscape, pixel_of, shifted
from spatialsplit.synthetic.niches import Niches

if TYPE_CHECKING:
    import pyarrow as pa

FIRST_PATCH = 3_000_001
_SURVEYS_PER_CAMPAIGN = 60
_AREAS_M2 = np.array([4, 10, 25, 100, 200, 400])
_SURVEYS_AT_ONCE = 4_096


@dataclass(frozen=True)
class Surveys:
    """One element a survey: where, when, how exactly, on what area."""

    patch: Integers
    lon: Integers
    lat: Integers
    year: Integers  # position in YEARS
    day_of_year: Integers
    uncertainty_m: Integers
    area_m2: Integers
    area_known: Flags


@dataclass(frozen=True)
class _Sites:
    lon: Integers
    lat: Integers
    year: Integers
    first_day: Integers
    area_m2: Integers


def make_surveys(seed: str, landscape: Landscape, n_surveys: int) -> Surveys:
    """Send out campaigns until there are so many surveys.

    Most sites belong to a campaign that worked in one landscape in one season; a third are strewn over the
    country as a monitoring network is. A site has a few plots some hundred metres apart; a plot in seven is
    visited on a second day.

    Parameters
    ----------
    seed : str
        Seed text.
    landscape : Landscape
        Where they work.
    n_surveys : int
        How many visits in all.

    Returns
    -------
    Surveys
        In the order of the sites; the visits of a patch differ in their day of year.
    """
    dice = Dice(seed, "surveys")
    sites = _sites(dice, landscape, n_surveys)
    site = np.repeat(np.arange(n_surveys), 1 + dice.below(3, n_surveys) + dice.below(2, n_surveys))[:n_surveys]
    lon, lat = shifted(sites.lon[site], sites.lat[site], dice.bells(n_surveys) * 0.6, dice.bells(n_surveys) * 0.6)
    dry = landscape.is_land(lon, lat)
    lon, lat = np.where(dry, lon, sites.lon[site]), np.where(dry, lat, sites.lat[site])

    plot = np.repeat(np.arange(n_surveys), 1 + dice.chance(15, n_surveys))[:n_surveys]
    again = np.diff(plot, prepend=-1) == 0
    of_site = site[plot]
    day = sites.first_day[of_site] + dice.below(30, n_surveys)
    # A second visit comes 40 to 99 days later in the season, in that year or the next: never on the same day.
    day = np.where(again, np.roll(day, 1) + 40 + dice.below(60, n_surveys), day)
    year = sites.year[of_site] + (again & dice.chance(50, n_surveys))
    return Surveys(
        patch=FIRST_PATCH + plot,
        lon=lon[plot],
        lat=lat[plot],
        year=np.minimum(year, len(YEARS) - 1),
        day_of_year=day,
        uncertainty_m=(1 + dice.below(12, n_surveys) + dice.below(12, n_surveys))[plot],
        area_m2=sites.area_m2[of_site],
        area_known=of_site % 31 != 0,
    )


def survey_columns(surveys: Surveys, landscape: Landscape) -> dict[str, pa.Array]:
    """Give the columns of the surveys as they are written, one row a survey."""
    import pyarrow as pa

    pixel = pixel_of(surveys.lon, surveys.lat)
    return {
        "patchID": pa.array(surveys.patch),
        **calendar_columns(surveys.year, surveys.day_of_year),
        "lon": pa.array(surveys.lon / 1e6),
        "lat": pa.array(surveys.lat / 1e6),
        "geoUncertaintyInM": pa.array(surveys.uncertainty_m, mask=surveys.patch % 17 == 0),
        "areaInM2": pa.array(surveys.area_m2, mask=~surveys.area_known),
        "region": pa.array(REGIONS).take(pa.array(landscape.region[pixel])),
        "country": pa.array(COUNTRIES).take(pa.array(landscape.country[pixel])),
    }


def species_lists(seed: str, surveys: Surveys, niches: Niches) -> tuple[Integers, Integers]:
    """List the species of every survey.

    Returns
    -------
    survey, species : numpy.ndarray of int64
        One element a presence: the survey's position and the species, increasing by both.
    """
    found = list(_found_species(Dice(seed, "species lists"), surveys, niches))
    return np.concatenate([survey for survey, _ in found]), np.concatenate([species for _, species in found])


def _sites(dice: Dice, landscape: Landscape, n: int) -> _Sites:
    n_campaigns = max(3, n // _SURVEYS_PER_CAMPAIGN)
    centre_lon, centre_lat = landscape.random_places(dice, n_campaigns)
    reach_km = dice.between(8.0, 30.0, n_campaigns)
    campaign = dice.pick(dice.long_tailed(n_campaigns, factors=1), n)
    lon, lat = shifted(
        centre_lon[campaign],
        centre_lat[campaign],
        dice.bells(n) * reach_km[campaign],
        dice.bells(n) * reach_km[campaign],
    )
    strewn_lon, strewn_lat = landscape.random_places(dice, n)
    strewn = dice.chance(34, n) | ~landscape.is_land(lon, lat)
    return _Sites(
        lon=np.where(strewn, strewn_lon, lon),
        lat=np.where(strewn, strewn_lat, lat),
        year=np.where(strewn, dice.below(len(YEARS), n), dice.below(len(YEARS), n_campaigns)[campaign]),
        first_day=(105 + dice.below(90, n_campaigns))[campaign],
        area_m2=_AREAS_M2[dice.below(len(_AREAS_M2), n_campaigns)][campaign],
    )


def _found_species(dice: Dice, surveys: Surveys, niches: Niches) -> Iterator[tuple[Integers, Integers]]:
    """Take the n smallest of u / weight (Ohlsson 1998): n distinct species by weight, without a logarithm."""
    habitat = niches.habitat[pixel_of(surveys.lon, surveys.lat)]
    n_species = niches.n_species
    for start in range(0, len(habitat), _SURVEYS_AT_ONCE):
        plenty = niches.plenty[habitat[start : start + _SURVEYS_AT_ONCE]]
        n = len(plenty)
        richness = np.maximum(3, (5 + dice.below(9, n) + dice.below(9, n)) * n_species // 300)
        late = dice.fractions(n * n_species).reshape(n, n_species) / plenty
        most = int(richness.max())
        earliest = np.sort(np.partition(late, most - 1, axis=1)[:, :most], axis=1)
        survey, species = np.nonzero(late <= earliest[np.arange(n), richness - 1][:, None])
        yield survey + start, species
