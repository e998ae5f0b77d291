"""What must hold of every split, however it was made; written once and called by every test of a way of splitting."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyproj

Floats = npt.NDArray[np.float64]
Row = TypeVar("Row")


def check_each_survey_is_in_one_subset(split: pa.Table) -> None:
    """No survey stands in a split twice."""
    ids = split.column("surveyId").to_pylist()
    assert len(ids) == len(set(ids))


def check_no_quadrat_is_in_two_subsets(split: pa.Table) -> None:
    """All surveys of a quadrat are in the same subset."""
    subset_of: dict[str, str] = {}
    for row in split.to_pylist():
        assert subset_of.setdefault(row["quadratId"], row["subset"]) == row["subset"], row["quadratId"]


def check_nothing_is_within(radius_m: float, lon: Floats, lat: Floats, site_lon: Floats, site_lat: Floats) -> None:
    """No record lies at the radius of a site or nearer, by geodesics of every pair."""
    if len(lon) and len(site_lon):
        assert geodesics(lon, lat, site_lon, site_lat).min() > radius_m


def check_order_does_not_show(make: Callable[[list[Row]], Any], rows: Sequence[Row], *, times: int = 3) -> None:
    """Make the same of any order of the rows, or fail."""
    expected = make(list(rows))
    for seed in range(times):
        shuffled = list(rows)
        random.Random(seed).shuffle(shuffled)
        assert make(shuffled) == expected


def geodesics(lon: Floats, lat: Floats, site_lon: Floats, site_lat: Floats) -> Floats:
    """Give the geodesic of every pair, a row a record: brute force, by pyproj alone."""
    n, k = len(lon), len(site_lon)
    pairs = np.repeat(lon, k), np.repeat(lat, k), np.tile(site_lon, n), np.tile(site_lat, n)
    return np.asarray(pyproj.Geod(ellps="WGS84").inv(*pairs)[2], dtype=np.float64).reshape(n, k)
