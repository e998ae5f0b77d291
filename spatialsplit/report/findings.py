"""The numbers of the report: counts a subset, species, distances, months, what was removed."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.spatial import cKDTree

from spatialsplit.audit.report import CannotRun
from spatialsplit.audit.subsets import nearest_train
from spatialsplit.audit.tables import Unreadable
from spatialsplit.distances import earth_centred, geodesic_m
from spatialsplit.plots.palette import in_order
from spatialsplit.report.reading import FAULTS, Sample, sample_records
from spatialsplit.report.source import Source
from spatialsplit.report.survey_columns import SurveyColumns

Floats = npt.NDArray[np.float64]
MOST_COMPARED = 4_000
"""From so many surveys the distance to the nearest other one is measured, to compare with."""

FIRST_DAYS = np.cumsum([1, 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30])
NOTHING = (CannotRun, Unreadable)


@dataclass(frozen=True)
class Distances:
    """Metres from each place of the held-out subset to the nearest training data.

    Attributes
    ----------
    held_out : str
        `test`, or `val` where there is no test.
    to : dict of name to array of float
    compare : array of float
        From surveys to the nearest other survey.
    """

    held_out: str
    to: Mapping[str, Floats]
    compare: Floats


def distances_of(source: Source) -> Distances:
    """Measure how near training comes to the test; what is not there is left out."""
    evidence = source.evidence
    to: dict[str, Floats] = {}
    for name in ("train", "val"):
        if name != evidence.held_out and len(evidence.surveys_of(name)) and len(evidence.held_out_places):
            to[name] = np.asarray(nearest_train(evidence, name), dtype=np.float64)
    with suppress(*NOTHING):
        if evidence.presence_only.n_rows:
            to["PO"] = np.asarray(evidence.presence_only.nearest_m, dtype=np.float64)
    return Distances(
        evidence.held_out, {name: far for name, far in to.items() if np.isfinite(far).any()}, _other(source)
    )


def _other(source: Source) -> Floats:
    places = source.evidence.places[["lon", "lat"]].dropna().drop_duplicates()
    if len(places) < 2:
        return np.empty(0)
    lon, lat = places["lon"].to_numpy(dtype=np.float64), places["lat"].to_numpy(dtype=np.float64)
    points = earth_centred(lon, lat)
    rows = np.arange(0, len(places), max(1, len(places) // MOST_COMPARED))
    other = np.asarray(cKDTree(points).query(points[rows], k=2)[1])
    other = np.where(other[:, 0] == rows, other[:, 1], other[:, 0])
    return geodesic_m(lon[rows], lat[rows], lon[other], lat[other])


def species_of(source: Source) -> pd.DataFrame:
    """Count surveys (for `PO` records) a species and subset; a row a species that any of them has."""
    evidence = source.evidence
    rows = evidence.rows[["subset", "speciesId"]].groupby(["subset", "speciesId"], observed=True).size()
    counts = {str(name): _of_species(part.droplevel(0)) for name, part in rows.groupby(level=0, observed=True)}
    with suppress(*NOTHING):
        counts["PO"] = pd.Series(dict(evidence.presence_only.species), dtype="int64").drop("", errors="ignore")
    counts = {name: found for name, found in counts.items() if len(found)}
    table = pd.DataFrame({name: counts[name] for name in in_order(counts)})
    return table.fillna(0).astype("int64")


def _of_species(counts: pd.Series) -> pd.Series:
    """Leave out rows without a species, as of the blinded test."""
    named = counts.set_axis(counts.index.astype(str))
    return named[(named > 0) & (named.index != "")]


def names_of_species(source: Source) -> dict[str, str]:
    """Read the names of species that are numbers here and were text in the input."""
    table = source.table("species")
    if table is None or not table.has("speciesId", "speciesName"):
        return {}
    try:
        named = table.read("speciesId", "speciesName")
    except Unreadable:
        return {}
    return dict(zip(named["speciesId"], named["speciesName"], strict=True))


def months_of(surveys: Mapping[str, SurveyColumns], records: Sample | None) -> dict[str, Floats]:
    """Count the surveys (for `PO` records) of each month; a subset without days is left out."""
    found = {name: count_months(part.days) for name, part in surveys.items()}
    if records is not None:
        found["PO"] = count_months(records.records)
    return {name: found[name] for name in in_order(found) if found[name].sum()}


def count_months(days: pd.DataFrame) -> Floats:
    """Count rows a month by day of year, or by an ISO date where there is no such day.

    Examples
    --------
    >>> count_months(pd.DataFrame({"dayOfYear": ["32", ""], "date": ["", "2021-12-24"]})).nonzero()[0].tolist()
    [1, 11]
    """
    month = np.zeros(len(days), dtype=np.int64)
    if "dayOfYear" in days.columns:
        month = _by_value(days["dayOfYear"], _month_of_day)
    if "date" in days.columns and not month.all():
        month = np.where(month > 0, month, _by_value(days["date"], _month_of_date))
    return np.bincount(month, minlength=13)[1:13].astype(np.float64)


def _by_value(cells: pd.Series, month_of: Callable[[str], int]) -> npt.NDArray[np.int64]:
    """Ask for the month of each different cell once; 0 where it has none."""
    codes, different = pd.factorize(cells.astype(object))
    months = np.array([*(month_of(str(cell)) for cell in different), 0], dtype=np.int64)
    return months[codes]


def _month_of_day(cell: str) -> int:
    day = int(cell) if cell.isdecimal() and len(cell) < 4 else 0
    return int(np.searchsorted(FIRST_DAYS, day, side="right")) if day <= 366 else 0


def _month_of_date(cell: str) -> int:
    match = re.match(r"\d{4}-(\d\d)", cell)
    month = int(match[1]) if match else 0
    return month if month <= 12 else 0


def records_of(source: Source) -> Sample | None:
    """Read the presence-only records for training, or some of them; None where there are none."""
    return _sampled(source, "po_train", ("lon", "lat", "dayOfYear", "date"))


def removed_of(source: Source) -> Sample | None:
    """Read the presence-only records that were removed; None where that is private or there are none."""
    return _sampled(source, "po_removed", ("lon", "lat", "reason", "distance_m", "nearest_surveyId"))


def _sampled(source: Source, role: str, words: tuple[str, ...]) -> Sample | None:
    table = source.table(role)
    if table is None:
        return None
    try:
        return sample_records(table.naming(words), words)
    except FAULTS:
        return None


def removed_near(removed: Sample | None) -> list[dict[str, Any]]:
    """Name the test surveys that took most records away.

    Examples
    --------
    >>> records = pd.DataFrame({"nearest_surveyId": ["7", "7", "9"], "distance_m": ["12.5", "0", "250"]})
    >>> removed_near(Sample(records, True))[0]
    {'survey': '7', 'n': 2, 'nearest': 0.0}
    """
    if removed is None or not {"nearest_surveyId", "distance_m"} <= set(removed.records.columns):
        return []
    near = removed.records[removed.records["nearest_surveyId"] != ""]
    metres = pd.to_numeric(near["distance_m"], errors="coerce")
    groups = metres.groupby(near["nearest_surveyId"]).agg(["size", "min"])
    most = groups.sort_values("size", ascending=False, kind="stable").head(8)
    return [{"survey": str(name), "n": int(row["size"]), "nearest": float(row["min"])} for name, row in most.iterrows()]


def by_subset(source: Source) -> list[dict[str, Any]]:
    """Give the audit's counts a subset: surveys, quadrats, species, share of all."""
    facts = source.audit.facts
    surveys, quadrats, species, shares = (
        facts.get(name) or {} for name in ("surveys", "quadrats", "species", "shares_reached")
    )
    total = sum(surveys.values()) or 1
    return [
        {
            "subset": name,
            "surveys": count,
            "share": count / total,
            "quadrats": quadrats.get(name),
            "quadrat_share": (shares.get(name) or {}).get("quadrats"),
            "species": species.get(name),
        }
        for name, count in surveys.items()
    ]
