"""What is worth knowing beside the checks: distances, species, shares reached, points on the edge."""

from __future__ import annotations

from typing import Any

import numpy as np

from spatialsplit.audit.evidence import Evidence
from spatialsplit.audit.rederiving import listed_quadrats
from spatialsplit.audit.report import NOT_FOLLOWED, CannotRun
from spatialsplit.audit.subsets import nearest_train
from spatialsplit.audit.tables import Unreadable


def facts(evidence: Evidence) -> dict[str, Any]:
    """Gather the facts; what cannot be known is null."""
    parts = (_surveys, _species, _quadrats, _nearest, _shares, _presence_only, _usage)
    found: dict[str, Any] = {}
    for part in parts:
        try:
            found |= part(evidence)
        except (CannotRun, Unreadable, *NOT_FOLLOWED):
            found |= dict.fromkeys(_NAMES[part.__name__])
    return found


_NAMES = {
    "_surveys": ("surveys",),
    "_species": ("species",),
    "_quadrats": ("grid", "quadrats", "quadrats_shared", "within_1cm_of_edge"),
    "_nearest": ("nearest_train_m", "nearest_train_from", "nearest_train_of", "nearest_val_m"),
    "_shares": ("shares_reached",),
    "_usage": ("usage_is_secret",),
    "_presence_only": ("po_records", "po_species", "po_within_radius_of_val"),
}
"""The facts that each part gives; all are null where it cannot."""


def _subsets(evidence: Evidence) -> list[str]:
    present = set(evidence.places["subset"].unique())
    return [name for name in ("train", "val", "test") if name in present] + sorted(present - {"train", "val", "test"})


def _surveys(evidence: Evidence) -> dict[str, Any]:
    word = "survey" if (evidence.places["survey"] != "").any() else "key"
    subset = evidence.rows["subset"]
    numbers = {name: evidence.numbers[word][(subset == name).to_numpy()] for name in _subsets(evidence)}
    return {"surveys": {name: len(np.unique(own)) for name, own in numbers.items()}}


def _species(evidence: Evidence) -> dict[str, Any]:
    rows = evidence.rows.loc[evidence.rows["speciesId"] != "", ["subset", "speciesId"]]
    counts: dict[str, int | None] = {
        name: int(rows.loc[rows["subset"] == name, "speciesId"].nunique()) for name in _subsets(evidence)
    }
    if "test" in counts:
        try:
            counts["test"] = len(frozenset().union(*evidence.truth.values()))
        except (CannotRun, Unreadable):
            counts["test"] = None
    return {"species": counts}


def _quadrats(evidence: Evidence) -> dict[str, Any]:
    """Quadrats of each subset, those that two share, and the points on an edge."""
    grid = evidence.grid
    stands = evidence.places_on_grid()[["quadrat", "subset"]].drop_duplicates()
    stands = stands[stands["quadrat"] != ""]
    points = evidence.places[["lon", "lat"]].drop_duplicates().dropna()
    return {
        "grid": grid.name,
        "quadrats": {name: int((stands["subset"] == name).sum()) for name in _subsets(evidence)},
        "quadrats_shared": int(stands.loc[stands.duplicated("quadrat"), "quadrat"].nunique()),
        "within_1cm_of_edge": grid.n_near_edges(points["lon"].to_numpy(), points["lat"].to_numpy()),
    }


def _nearest(evidence: Evidence) -> dict[str, Any]:
    """How near training comes to each test survey: PA_train and PO_train together, then val."""
    if not len(evidence.held_out_places):
        raise CannotRun("there is no held-out survey")
    metres = nearest_train(evidence, "train")
    of = ["PA_train"] if (evidence.places["subset"] == "train").any() else []
    try:
        metres = np.minimum(metres, evidence.presence_only.nearest_m)
        of.append("PO_train")
    except (CannotRun, Unreadable):
        pass
    val = np.empty(0) if evidence.held_out == "val" else nearest_train(evidence, "val")
    return {
        "nearest_train_m": _quantiles(metres),
        "nearest_train_from": evidence.held_out,
        "nearest_train_of": of,
        "nearest_val_m": _quantiles(val),
    }


def _quantiles(metres: np.ndarray) -> dict[str, float] | None:
    """Give the smallest, the 5 % quantile and the median, to the millimetre."""
    found = metres[np.isfinite(metres)]
    if not len(found):
        return None
    low, median = np.quantile(found, [0.05, 0.5])
    return {
        "min": round(float(found.min()), 3),
        "q05": round(float(low), 3),
        "median": round(float(median), 3),
    }


def _shares(evidence: Evidence) -> dict[str, Any]:
    """Measure the share of occupied quadrats and of their surveys that each holdout has of all."""
    listed = listed_quadrats(evidence.dataset)
    occupied = listed[listed["occupied"]]
    full = occupied["n_surveys"] - occupied["n_empty"]
    shares: dict[str, dict[str, float]] = {}
    for name in sorted(set(occupied["subset"]) - {"train"}):
        held = occupied["subset"] == name
        parts = {"quadrats": float(held.mean()), "surveys": float(full[held].sum() / full.sum())}
        shares[name] = {word: round(part, 6) for word, part in parts.items()}
    return {"shares_reached": shares}


def _presence_only(evidence: Evidence) -> dict[str, Any]:
    po = evidence.presence_only
    known = evidence.promise.radius_m is not None and "val" in _subsets(evidence)
    beside = po.n_near_val if known else None
    return {"po_records": po.n_rows, "po_species": len(po.species), "po_within_radius_of_val": beside}


def _usage(evidence: Evidence) -> dict[str, Any]:
    """Tell whether Public and Private are a secret: with an open seed anybody can derive them."""
    published = evidence.dataset
    if published.maybe("draw", "public_share", kind=float) is None:
        raise CannotRun("there is no Public and Private")
    return {"usage_is_secret": published.said("seed", "kind", kind=str) == "sealed"}
