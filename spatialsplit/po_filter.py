"""A batch of presence-only records → the kept and the removed.

A record goes when it is as near to a survey of a holdout as the radius, or nearer; a record's own uncertainty can be
added to the radius, and all records in the quadrats of test can go too. The function is pure: what happens to a record
depends on the record and the holdouts alone, so it may run in any thread, process or machine. The distances stand in
`distances`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from spatialsplit.distances import Near, Sites, check_radius
from spatialsplit.errors import DataError
from spatialsplit.quadrats import Grid

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

LARGEST_BITMAP_RADIUS_M = 100_000.0
"""Beyond it, the nearest site is asked of the tree alone."""


@dataclass(frozen=True)
class HoldoutSites:
    """The surveys of one holdout that records must keep away from.

    Attributes
    ----------
    reason : str
        What is written of a record that is too near, as in `near_test`.
    lon, lat : array of float, shape (k,), degrees WGS84
        In increasing order of `ids`, so that of equally near sites the smallest is named.
    """

    reason: str
    lon: Floats
    lat: Floats


@dataclass(frozen=True)
class DrawnQuadrats:
    """The quadrats whose records go altogether."""

    reason: str
    grid: Grid
    labels: frozenset[str]


@dataclass(frozen=True)
class Removed:
    """The records of a batch that go.

    Attributes
    ----------
    record : array of int, shape (m,)
        Positions in the batch, increasing.
    reason : array of str, shape (m,)
    distance_m : array of float, shape (m,)
        To the nearest survey of the holdout.
    holdout : array of int, shape (m,)
        Which of the filter's holdouts that is.
    site : array of int, shape (m,)
        Position of the survey in that holdout.
    """

    record: Integers
    reason: npt.NDArray[np.object_]
    distance_m: Floats
    holdout: Integers
    site: Integers


@dataclass
class PoFilter:
    """Decides which presence-only records are too near to a holdout.

    Parameters
    ----------
    holdouts : sequence of HoldoutSites
        A record near to several is removed for the first.
    radius_m : float
    quadrats : DrawnQuadrats, optional
        Must belong to the first holdout.

    Examples
    --------
    >>> test = HoldoutSites("near_test", np.array([10.0]), np.array([45.0]))
    >>> removed = PoFilter([test], 300).removed(np.array([10.0, 10.0]), np.array([45.002, 45.2]))
    >>> removed.record.tolist(), removed.distance_m.round(3).tolist()
    ([0], [222.264])
    """

    holdouts: Sequence[HoldoutSites]
    radius_m: float
    quadrats: DrawnQuadrats | None = None
    _sites: dict[tuple[int, float], Sites] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        check_radius(self.radius_m)
        for number in range(len(self.holdouts)):
            self._site_map(number, float(self.radius_m))

    def _site_map(self, number: int, radius_m: float) -> Sites:
        key = (number, radius_m)
        if key not in self._sites:
            self._sites[key] = Sites(self.holdouts[number].lon, self.holdouts[number].lat, radius_m)
        return self._sites[key]

    def removed(self, lon: Floats, lat: Floats, uncertainty_m: Floats | None = None) -> Removed:
        """Find the records of a batch that go.

        Parameters
        ----------
        lon, lat : array of float, shape (n,), degrees WGS84, finite
        uncertainty_m : array of float, shape (n,), optional
            Added to the radius, record by record; 0 where it is not known.

        Returns
        -------
        Removed
            Exactly the records with d ≤ radius + uncertainty by geodesic, and those in the drawn quadrats.

        Raises
        ------
        DataError
            An uncertainty is negative or no number.
        """
        if uncertainty_m is not None and not (uncertainty_m >= 0).all():
            n_bad = np.count_nonzero(~(uncertainty_m >= 0))
            raise DataError(
                f"{n_bad:,} of {len(lon):,} records have an uncertainty that is negative or no number. It must be 0 "
                "m or more. Give 0 where it is not known."
            )
        parts = [self._near(number, lon, lat, uncertainty_m) for number in range(len(self.holdouts))]
        parts.append(self._in_quadrats(lon, lat))
        record = np.concatenate([part.record for part in parts])
        _, first = np.unique(record, return_index=True)
        return Removed(
            record[first],
            np.concatenate([part.reason for part in parts])[first],
            np.concatenate([part.distance_m for part in parts])[first],
            np.concatenate([part.holdout for part in parts])[first],
            np.concatenate([part.site for part in parts])[first],
        )

    def _near(self, number: int, lon: Floats, lat: Floats, uncertainty_m: Floats | None) -> Removed:
        base = float(self.radius_m)
        if uncertainty_m is None or not uncertainty_m.any():
            return self._as_removed(number, self._site_map(number, base).near(lon, lat, base))
        radius = base + uncertainty_m
        limits = self._limits()
        class_of = np.searchsorted(limits, radius)
        found = []
        for k in np.unique(class_of).tolist():
            chosen = np.flatnonzero(class_of == k)
            near = self._near_within(number, lon[chosen], lat[chosen], radius[chosen], limits[k])
            found.append(Near(chosen[near.record], near.site, near.distance_m))
        record = np.concatenate([near.record for near in found])
        order = np.argsort(record, kind="stable")
        site, distance = (
            np.concatenate(values)[order] for values in zip(*((n.site, n.distance_m) for n in found), strict=True)
        )
        return self._as_removed(number, Near(record[order], site, distance))

    def _limits(self) -> list[float]:
        """Give the upper limits of the classes of radii: the radius, its doublings, and what no bitmap is made for."""
        limits = [max(float(self.radius_m), 1.0)]
        while limits[-1] * 2 <= LARGEST_BITMAP_RADIUS_M:
            limits.append(limits[-1] * 2)
        return [*limits, np.inf]

    def _near_within(self, number: int, lon: Floats, lat: Floats, radius: Floats, limit: float) -> Near:
        if np.isfinite(limit):
            return self._site_map(number, limit).near(lon, lat, radius)
        return self._site_map(number, float(self.radius_m)).near_however_far(lon, lat, radius)

    def _as_removed(self, number: int, near: Near) -> Removed:
        n = len(near.record)
        reason = np.full(n, self.holdouts[number].reason, dtype=object)
        return Removed(near.record, reason, near.distance_m, np.full(n, number), near.site)

    def _in_quadrats(self, lon: Floats, lat: Floats) -> Removed:
        nothing = np.zeros(0, dtype=np.int64)
        if self.quadrats is None:
            return Removed(nothing, nothing.astype(object), np.zeros(0), nothing, nothing)
        easting, northing = self.quadrats.grid.project(lon, lat)
        inside = np.flatnonzero(self.quadrats.grid.placed(easting, northing))
        quadrats = self.quadrats.grid.assign(lon[inside], lat[inside])
        drawn = np.array([label in self.quadrats.labels for label in quadrats.labels], dtype=bool)
        record = inside[drawn[quadrats.codes]] if len(quadrats.labels) else inside[:0]
        nearest = self._site_map(0, float(self.radius_m)).nearest(lon[record], lat[record])
        reason = np.full(len(record), self.quadrats.reason, dtype=object)
        return Removed(record, reason, nearest.distance_m, np.zeros(len(record), dtype=np.int64), nearest.site)


def count_reasons(removed: Removed, counts: Mapping[str, int] | None = None) -> dict[str, int]:
    """Count the removed records by reason, on top of earlier counts."""
    total = dict(counts or {})
    for reason in removed.reason.tolist():
        total[reason] = total.get(reason, 0) + 1
    return total
