"""The passers-by: presence-only records where people are, of the species they like."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from spatialsplit.synthetic.calendar import DAYS_OF_YEAR, calendar_columns
from spatialsplit.synthetic.dice import Dice, Integers, Numbers
from spatialsplit.synthetic.landscape import (
    LAT_PER_KM,
    LON_PER_KM,
    Landscape,
    pixel_centre,
    pixel_of,
    shifted,
)
from spatialsplit.synthetic.niches import Niches
from spatialsplit.synthetic.surveys import Surveys

if TYPE_CHECKING:
    import pyarrow as pa

SIGHTINGS_AT_ONCE = 200_000
FIRST_ID = 5_000_001
N_TOWNS = 70
_N_OBSERVERS = 4_000
_DATASETS = ("Pavement Plants", "Wayside Sightings", "Plot Neighbours", "Field Diaries", "Grid Atlas")
_TOWN, _ROAD, _PLOT, _WILD, _ATLAS = range(5)  # where a record was made; the dataset follows from it
_SHARES = np.array([0.42, 0.22, 0.05, 0.21, 0.10])
_YEAR_SHARES = np.array([0.12, 0.16, 0.20, 0.24, 0.28])
_UNCERTAINTIES_M = np.array([3, 5, 8, 10, 15, 20, 30, 50, 100, 250, 1_000, 5_000])
_UNCERTAINTY_SHARES = np.array([0.08, 0.2, 0.12, 0.2, 0.1, 0.1, 0.07, 0.05, 0.04, 0.02, 0.015, 0.005])
_ATLAS_UNCERTAINTY_M = 650  # half the diagonal of a pixel


@dataclass(frozen=True)
class Passersby:
    """Where people live and travel, and the plots that botanists walk to."""

    town_lon: Integers
    town_lat: Integers
    town_reach_km: Numbers
    town_people: Numbers
    roads: tuple[Integers, Integers, Integers, Integers]  # lon, lat of each piece's start, then its way in both
    road_length: Numbers
    surveys: Surveys


def make_passersby(seed: str, landscape: Landscape, surveys: Surveys) -> Passersby:
    """Found towns in the lowlands, few of them large, and join each to its nearest ones by winding roads."""
    dice = Dice(seed, "passers-by")
    lon, lat = landscape.random_places(dice, N_TOWNS * 3 // 2)
    lowest = np.sort(np.argsort(landscape.elevation_m[pixel_of(lon, lat)], kind="stable")[:N_TOWNS])
    lon, lat = lon[lowest], lat[lowest]
    people = dice.long_tailed(N_TOWNS, factors=4)
    roads = _roads(dice, lon, lat)
    east_km, north_km = roads[2] / LON_PER_KM, roads[3] / LAT_PER_KM
    return Passersby(
        town_lon=lon,
        town_lat=lat,
        town_reach_km=1.5 + np.sqrt(people) * 2.0,
        town_people=people,
        roads=roads,
        road_length=np.sqrt(east_km * east_km + north_km * north_km),
        surveys=surveys,
    )


def sighting_tables(
    seed: str, landscape: Landscape, niches: Niches, passersby: Passersby, n_po: int
) -> Iterator[pa.Table]:
    """Give the presence-only records in tables of bounded size: memory does not grow with their number.

    A record in a hundred is noted twice, under two ids. Those of the atlas stand on the centre of their
    pixel.

    Parameters
    ----------
    seed : str
        Seed text.
    landscape, niches, passersby : Landscape, Niches, Passersby
        Where, what, and by whom.
    n_po : int
        How many records in all.

    Yields
    ------
    pyarrow.Table
    """
    for start in range(0, n_po, SIGHTINGS_AT_ONCE):
        n = min(SIGHTINGS_AT_ONCE, n_po - start)
        dice = Dice(seed, f"sightings {start}")
        yield _sightings(dice, landscape, niches, passersby, FIRST_ID + np.arange(start, start + n))


def _sightings(dice: Dice, landscape: Landscape, niches: Niches, passersby: Passersby, glc_id: Integers) -> pa.Table:
    import pyarrow as pa

    n = len(glc_id)
    where = dice.pick(_SHARES, n)
    lon, lat = _places(dice, landscape, passersby, where)
    year = dice.pick(_YEAR_SHARES, n)
    in_season = np.rint(175.0 + dice.bells(n) * 90.0).astype(np.int64)
    day_of_year = np.where(dice.chance(92, n), in_season, 1 + dice.below(DAYS_OF_YEAR[year], n))
    uncertainty = _UNCERTAINTIES_M[dice.pick(_UNCERTAINTY_SHARES, n)]
    unknown = dice.chance(18, n) & (where != _ATLAS)
    eager = dice.fractions(n)
    columns = {
        "observer": pa.array(_observer_codes()).take(pa.array((eager * eager * eager * _N_OBSERVERS).astype(np.int64))),
        "datasetName": pa.array(_DATASETS).take(pa.array(where)),
        **calendar_columns(year, day_of_year),
        "lon": pa.array(lon / 1e6),
        "lat": pa.array(lat / 1e6),
        "geoUncertaintyInM": pa.array(np.where(where == _ATLAS, _ATLAS_UNCERTAINTY_M, uncertainty), mask=unknown),
        "speciesId": pa.array(niches.noted_species(dice, pixel_of(lon, lat))),
    }
    written_again = np.arange(n) - np.where(dice.chance(1, n), 1 + dice.below(5, n), 0)
    records = pa.table(columns).take(pa.array(np.maximum(written_again, 0)))
    return records.add_column(0, "glcID", pa.array(glc_id))


def _places(dice: Dice, landscape: Landscape, passersby: Passersby, where: Integers) -> tuple[Integers, Integers]:
    """Place records by where people are; what would fall into the sea is noted anywhere on land instead."""
    lon, lat = landscape.random_places(dice, len(where))
    for kind, places in ((_TOWN, _in_towns), (_ROAD, _on_roads), (_PLOT, _by_plots)):
        rows = np.flatnonzero(where == kind)
        kind_lon, kind_lat = places(dice, passersby, len(rows))
        dry = landscape.is_land(kind_lon, kind_lat)
        lon[rows[dry]], lat[rows[dry]] = kind_lon[dry], kind_lat[dry]
    rows = np.flatnonzero(where == _ATLAS)
    lon[rows], lat[rows] = pixel_centre(pixel_of(lon[rows], lat[rows]))
    return lon, lat


def _in_towns(dice: Dice, passersby: Passersby, n: int) -> tuple[Integers, Integers]:
    town = dice.pick(passersby.town_people, n)
    outing_km = passersby.town_reach_km[town] * 0.4 / (0.12 + dice.fractions(n))  # mostly at home, now and then far out
    return shifted(
        passersby.town_lon[town],
        passersby.town_lat[town],
        dice.bells(n) * outing_km,
        dice.bells(n) * outing_km,
    )


def _on_roads(dice: Dice, passersby: Passersby, n: int) -> tuple[Integers, Integers]:
    piece = dice.pick(passersby.road_length, n)
    along = dice.fractions(n)
    lon, lat, lon_way, lat_way = (part[piece] for part in passersby.roads)
    return shifted(
        lon + np.rint(lon_way * along).astype(np.int64),
        lat + np.rint(lat_way * along).astype(np.int64),
        dice.bells(n) * 0.3,
        dice.bells(n) * 0.3,
    )


def _by_plots(dice: Dice, passersby: Passersby, n: int) -> tuple[Integers, Integers]:
    survey = dice.below(len(passersby.surveys.patch), n)
    return shifted(
        passersby.surveys.lon[survey], passersby.surveys.lat[survey], dice.bells(n) * 0.3, dice.bells(n) * 0.3
    )


def _roads(dice: Dice, lon: Integers, lat: Integers) -> tuple[Integers, Integers, Integers, Integers]:
    """Join each town to its three nearest by three straight pieces that wind round the direct line."""
    apart = ((lon[:, None] - lon) * LAT_PER_KM // LON_PER_KM) ** 2 + (lat[:, None] - lat) ** 2
    near = np.argsort(apart, axis=1, kind="stable")[:, 1:4]
    pairs = np.unique(np.sort(np.stack([np.repeat(np.arange(len(lon)), 3), near.ravel()], axis=1), axis=1), axis=0)
    first, last = pairs.T
    bends = [
        shifted(
            lon[first] + (lon[last] - lon[first]) * third // 3,
            lat[first] + (lat[last] - lat[first]) * third // 3,
            dice.bells(len(pairs)) * 4.0,
            dice.bells(len(pairs)) * 4.0,
        )
        for third in (1, 2)
    ]
    ends = [(lon[first], lat[first]), *bends, (lon[last], lat[last])]
    lons, lats = np.stack([end[0] for end in ends]), np.stack([end[1] for end in ends])
    return lons[:-1].ravel(), lats[:-1].ravel(), np.diff(lons, axis=0).ravel(), np.diff(lats, axis=0).ravel()


def _observer_codes() -> list[str]:
    return [f"observer-{number:04d}" for number in range(_N_OBSERVERS)]
