"""One pass over the presence-only records, in batches: who is too near, who is a copy, which species.

Memory holds one batch and the test surveys, however many records there are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from spatialsplit.audit.copies import HeldOutRecords, copy_lines
from spatialsplit.audit.evidence import Evidence
from spatialsplit.audit.geometry import Nearest, Sites
from spatialsplit.audit.report import SHOWN, CannotRun, Finding
from spatialsplit.audit.survey_rows import DAY_WORDS
from spatialsplit.audit.tables import Table, Unreadable, on_earth

_BATCH = 1 << 19


@dataclass
class PresenceOnly:
    """What one pass over the records found.

    Parameters
    ----------
    n_rows, n_without_place : int
        Records, and those of them without a coordinate.
    n_near, n_near_val : int
        Records within the radius of the holdouts in `around`, and (only a fact) of val.
    n_in_quadrats : int
        Records in quadrats that should hold none.
    near, in_quadrats, copies : list of str
        The first offenders in words; for copies all.
    species : Counter
        Records a species.
    nearest_m : array
        For each test survey the distance to its nearest record.
    """

    n_rows: int = 0
    n_without_place: int = 0
    n_near: int = 0
    n_near_val: int = 0
    n_in_quadrats: int = 0
    near: list[str] = field(default_factory=list)
    in_quadrats: list[str] = field(default_factory=list)
    n_copies: int = 0
    copies: list[str] = field(default_factory=list)
    species: Counter[str] = field(default_factory=Counter)
    nearest_m: np.ndarray = field(default_factory=lambda: np.empty(0))


def look_at(tables: Sequence[Table], evidence: Evidence) -> PresenceOnly:
    """Read the records once and note all that the checks and facts ask.

    Raises
    ------
    Unreadable
        The table breaks off or is no table.
    """
    found = PresenceOnly()
    judges = _Judges(evidence)
    tests = evidence.held_out_places
    nearest = Nearest(tests["lon"].to_numpy(), tests["lat"].to_numpy())
    for table, line, batch in _all_batches(tables, judges.further):
        found.n_rows += len(batch["lon"])
        found.species.update(_counts(batch.get("speciesId")))
        there = on_earth(batch["lon"], batch["lat"])
        found.n_without_place += int((~there).sum())
        batch = {word: column[there] for word, column in batch.items()}
        batch["line"] = np.flatnonzero(there) + line
        nearest.see(batch["lon"], batch["lat"])
        judges.judge(table.name, batch, found)
    found.nearest_m = nearest.metres()
    return found


def _all_batches(tables: Sequence[Table], further: tuple[str, ...]) -> Iterator[tuple[Table, int, dict[str, Any]]]:
    """Yield each batch with its table and the line it begins at."""
    for table in tables:
        line = 2
        named = table.naming(further)
        for batch in _large(named, ("lon", "lat", "speciesId", *DAY_WORDS), further):
            yield table, line, batch
            line += len(batch["lon"])


def _large(table: Table, words: tuple[str, ...], further: tuple[str, ...]) -> Iterator[dict[str, Any]]:
    """Join the reader's small batches into large ones: trees and sorted searches gain by it."""
    wanted = [word for word in dict.fromkeys((*words, *further)) if table.has(word)]
    held: list[dict[str, Any]] = []
    for part in table.batches(*wanted, numbers=("lon", "lat", *further)):
        held.append(part)
        if sum(len(batch["lon"]) for batch in held) >= _BATCH:
            yield {word: np.concatenate([batch[word] for batch in held]) for word in wanted}
            held = []
    if held:
        yield {word: np.concatenate([batch[word] for batch in held]) for word in wanted}


def _counts(species: np.ndarray | None) -> dict[str, int]:
    if species is None:
        return {}
    codes, names = pd.factorize(species)
    return dict(zip(names.tolist(), np.bincount(codes, minlength=len(names)).tolist(), strict=True))


def po_outside_radius(evidence: Evidence) -> Finding:
    """Look for presence-only records at the radius of a held-out survey, or nearer."""
    if not evidence.po:
        raise CannotRun("there are no presence-only records")
    radius = evidence.promise.radius_m
    if radius is None:
        raise CannotRun(evidence.promise.no_radius)
    unplaced_table = next((table.name for table in evidence.po if not table.has("lon", "lat")), None)
    if unplaced_table:
        raise CannotRun(f"{unplaced_table} has no lon and lat")
    evidence.all_rows()
    found = evidence.presence_only
    around = " and ".join(evidence.promise.around)
    unplaced = [f"{found.n_without_place} records have no coordinate"] * bool(found.n_without_place)
    near = Finding(found.n_near, found.near, f"{found.n_rows} records, {radius:g} m around {around}")
    within = Finding(found.n_in_quadrats, found.in_quadrats, "")
    return near + within + Finding(found.n_without_place, unplaced, "")


class _Judges:
    """The rules that are applied to each batch, with what they need prepared once."""

    def __init__(self, evidence: Evidence):
        self.promise = evidence.promise
        self.test = HeldOutRecords(evidence) if _has_truth(evidence) else None
        self.around = evidence.surveys_of(*self.promise.around).dropna(subset=["lon", "lat"])
        beside = () if "val" in self.promise.around else ("val",)
        self.val = evidence.surveys_of(*beside).dropna(subset=["lon", "lat"])
        self.further = (self.promise.uncertainty,) if self.promise.uncertainty else ()
        self.forbidden = self._forbidden(evidence)
        self._sites: dict[tuple[str, float], Sites] = {}

    def _forbidden(self, evidence: Evidence) -> np.ndarray | None:
        if not self.promise.no_po_in_quadrats or self.promise.grid is None:
            return None
        held = (evidence.places["subset"] == "test").to_numpy()
        return np.unique(np.asarray(evidence.quadrat_of_places[held], dtype=str))

    def judge(self, file: str, batch: dict[str, Any], found: PresenceOnly) -> None:
        """Apply every rule to one batch."""
        if self.promise.radius_m is not None:
            self._radius(file, batch, found)
        self._quadrats(file, batch, found)
        if self.test is not None and "speciesId" in batch:
            there = self.test.may_be_at(batch["lon"])
            copies = self.test.copies(pd.DataFrame({word: column[there] for word, column in batch.items()}))
            found.n_copies += len(copies)
            found.copies += copy_lines(copies.head(SHOWN - len(found.copies)), file)

    def _radius(self, file: str, batch: dict[str, Any], found: PresenceOnly) -> None:
        limits = self._limits(batch)
        near = self._near("around", self.around, batch, limits)
        found.n_near += len(near)
        for row, (site, distance) in list(sorted(near.items()))[: SHOWN - len(found.near)]:
            survey = self.around["survey"].iloc[site] or self.around["key"].iloc[site]
            found.near.append(f"line {batch['line'][row]} of {file} is {distance:.3f} m from survey {survey}")
        found.n_near_val += len(self._near("val", self.val, batch, limits))

    def _limits(self, batch: dict[str, Any]) -> np.ndarray:
        radius = np.full(len(batch["lon"]), self.promise.radius_m, dtype=float)
        if self.promise.uncertainty in batch:
            further = batch[self.promise.uncertainty]
            radius += np.where(np.isfinite(further) & (further > 0), further, 0.0)
        return radius

    def _near(
        self, name: str, places: pd.DataFrame, batch: dict[str, Any], limits: np.ndarray
    ) -> dict[int, tuple[int, float]]:
        """Give for each record that is too near its nearest place; records of like radius go together."""
        best: dict[int, tuple[int, float]] = {}
        if not len(places) or not len(limits):
            return best
        smallest = self.promise.radius_m or 1.0
        classes = np.ceil(np.log2(np.maximum(limits / smallest, 1.0)))
        for power in np.unique(classes):
            rows = np.flatnonzero(classes == power)
            sites = self._sites_for(name, places, smallest * 2**power)
            for record, site, distance in sites.pairs(batch["lon"][rows], batch["lat"][rows], limits[rows]):
                _keep_nearest(best, rows[record], site, distance)
        return best

    def _sites_for(self, name: str, places: pd.DataFrame, radius_m: float) -> Sites:
        if (name, radius_m) not in self._sites:
            self._sites[name, radius_m] = Sites(places["lon"].to_numpy(), places["lat"].to_numpy(), radius_m)
        return self._sites[name, radius_m]

    def _quadrats(self, file: str, batch: dict[str, Any], found: PresenceOnly) -> None:
        if self.promise.grid is None or self.forbidden is None:
            return
        labels = self.promise.grid.labels(batch["lon"], batch["lat"]).astype(str)
        inside = np.flatnonzero(np.isin(labels, self.forbidden))
        found.n_in_quadrats += len(inside)
        found.in_quadrats += [
            f"line {batch['line'][row]} of {file} lies in the held-out quadrat {labels[row]}"
            for row in inside[: SHOWN - len(found.in_quadrats)]
        ]


def _has_truth(evidence: Evidence) -> bool:
    try:
        return bool(evidence.truth) and not evidence.unread
    except (CannotRun, Unreadable):
        return False


def _keep_nearest(
    best: dict[int, tuple[int, float]], records: np.ndarray, sites: np.ndarray, distances: np.ndarray
) -> None:
    for record, site, distance in zip(records.tolist(), sites.tolist(), distances.tolist(), strict=True):
        if record not in best or distance < best[record][1]:
            best[record] = (site, distance)
