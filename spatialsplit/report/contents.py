"""Everything that stands on the page, gathered part by part."""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

import numpy as np
import pandas as pd

from spatialsplit.audit.report import CannotRun
from spatialsplit.audit.tables import Unreadable
from spatialsplit.report import sections
from spatialsplit.report.balance import Balance, balance_of
from spatialsplit.report.figures import (
    balance_figures,
    map_figure,
    months_figure,
    nearest_figure,
    removed_figure,
    species_figures,
)
from spatialsplit.report.findings import (
    Distances,
    by_subset,
    distances_of,
    months_of,
    names_of_species,
    records_of,
    removed_near,
    removed_of,
    species_of,
)
from spatialsplit.report.map_data import MapData, frame_of, points_of, quadrats_of
from spatialsplit.report.reading import Sample
from spatialsplit.report.source import Source
from spatialsplit.report.survey_columns import survey_columns


def contents_of(source: Source) -> dict[str, Any]:
    """Gather all that the template asks for."""
    records, removed, surveys = records_of(source), removed_of(source), survey_columns(source)
    return {
        "about": sections.about_of(source),
        "public": source.public,
        "version": version("spatialsplit"),
        "run": source.run or {},
        "seed": sections.seed_of(source),
        "verdict": sections.verdict_of(source),
        "subsets": by_subset(source),
        "facts": source.audit.facts,
        "draw": source.said("draw", default={}),
        "grid": source.said("grid", default={}),
        "radius": source.evidence.promise.radius_m,
        "around": source.evidence.promise.around,
        "warnings": [] if source.public else [str(line) for line in source.said("warnings", kind=list, default=[])],
        "built_with": source.said("spatialsplit", kind=str, default=""),
        "recipe_sha256": source.said("recipe_sha256", kind=str, default=""),
        "checks": sections.checks_of(source),
        "quadrats_whole": _outcome(source, "quadrats_in_one_subset"),
        "steps": sections.steps_of(source),
        "reasons": sections.removed_reasons(source),
        "missing": sections.missing_of(source),
        "files": sections.files_of(source),
        "inputs": [] if source.public else sections.inputs_of(source),
        "recipe": sections.recipe_text(source),
        **_map_parts(_map_data(source, records, removed), source, records),
        **_distance_parts(_distances(source)),
        **_species_parts(source, species_of(source)),
        **_removed_parts(source, removed),
        **_month_parts(months_of(surveys, records), records),
        "surveys_sampled": {name: len(part.days) for name, part in surveys.items() if not part.whole},
        **_balance_parts(balance_of(surveys)),
    }


def _outcome(source: Source, name: str) -> bool | None:
    """Tell whether a check passed; None where it could not run."""
    return next((check.passed for check in source.audit.checks if check.name == name), None)


def _distances(source: Source) -> Distances:
    try:
        return distances_of(source)
    except (CannotRun, Unreadable):
        return Distances(source.evidence.held_out, {}, np.empty(0))


def _map_data(source: Source, records: Sample | None, removed: Sample | None) -> MapData:
    frame = frame_of(source)
    quadrats, unplaced = quadrats_of(source, frame)
    gone = removed.records.dropna(subset=["lon", "lat"]) if removed is not None and _has_places(removed) else None
    return MapData(
        frame,
        quadrats,
        sites=points_of(frame, source.evidence.held_out_places),
        removed=points_of(frame, gone if gone is not None else pd.DataFrame()),
        records=records.records if records is not None else pd.DataFrame(),
        sampled=records is not None and not records.whole,
        unplaced=unplaced,
    )


def _has_places(sample: Sample) -> bool:
    return {"lon", "lat"} <= set(sample.records.columns)


def _map_parts(data: MapData, source: Source, records: Sample | None) -> dict[str, Any]:
    asked = data.as_dict()
    n_records = source.audit.facts.get("po_records") or 0
    shown = len(records.records) if records is not None else 0
    asked["records"]["scale"] = n_records / shown if shown else 1
    seed = sections.seed_of(source)
    suffix = source.said("draw", "seed_suffix", kind=str, default="")
    asked["seed"] = seed["value"] + suffix if seed.get("kind") == "open" else ""
    return {
        "map_figure": map_figure(data),
        "map_data": asked,
        "map_notes": {
            "sites": (len(data.sites.metres), data.sites.n_all),
            "removed": (len(data.removed.metres), data.removed.n_all),
            "records": (shown, n_records, data.sampled),
            "unplaced": data.unplaced,
            "square_km": asked["records"]["side"] / 1000,
            "grid": data.frame.grid is not None,
        },
    }


def _distance_parts(found: Distances) -> dict[str, Any]:
    return {
        "held_out": found.held_out,
        "nearest_figure": nearest_figure(found),
        "distances": sections.distance_rows(found),
    }


def _species_parts(source: Source, counts: Any) -> dict[str, Any]:
    names = names_of_species(source)
    return {
        "species_figures": species_figures(counts),
        "species_subsets": [str(name) for name in counts.columns],
        "species_rows": sections.species_rows(counts, names),
        "species_named": bool(names),
        "n_species": len(counts),
        "species_sentence": sections.species_sentence(counts),
    }


def _removed_parts(source: Source, removed: Sample | None) -> dict[str, Any]:
    return {
        "removed_figure": removed_figure(removed, source.evidence.promise.radius_m),
        "removed_near": removed_near(removed),
        "removed_sampled": removed is not None and not removed.whole,
        "n_removed": len(removed.records) if removed is not None else 0,
    }


def _month_parts(months: dict[str, Any], records: Sample | None) -> dict[str, Any]:
    return {
        "months_figure": months_figure(months),
        "month_rows": sections.month_rows(months),
        "month_subsets": list(months),
        "months_sampled": "PO" in months and records is not None and not records.whole,
    }


def _balance_parts(balance: Balance) -> dict[str, Any]:
    return {
        "balance_figures": balance_figures(balance),
        "balance_rows": sections.balance_rows(balance),
        "kinds": sections.kinds_of(balance),
        "balance_left_out": balance.left_out,
    }
