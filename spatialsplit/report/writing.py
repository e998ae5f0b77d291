"""Put a page together and write it."""

from __future__ import annotations

import base64
import hashlib
from importlib.metadata import version
from pathlib import Path
from typing import Any

from spatialsplit.audit.report import CannotRun
from spatialsplit.audit.tables import Unreadable
from spatialsplit.publishing import new_files
from spatialsplit.report import sections
from spatialsplit.report.balance import Balance, balance_of
from spatialsplit.report.figures import (
    balance_figures,
    length,
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
from spatialsplit.report.source import Source, open_source

PARTS = Path(__file__).parent / "page"
SCRIPTS = ("tables.js", "map_view.js", "map_drawing.js", "map.js")
NAME = "report.html"


def write_report(folder: Path | str, out: Path | str | None = None, *, public: bool = False) -> Path:
    """Write the report of a dataset: one HTML file that works offline.

    The dataset is audited for it. A `public/` folder alone gives the public report.

    Parameters
    ----------
    folder : path
        A dataset, or its `public/` folder.
    out : path, optional
        `report.html` in the folder, unless said; `report_public.html` beside the folder for a public report, which is
        no file of the dataset.
    public : bool
        Leave out what only the organizers may know.

    Returns
    -------
    path
        Of the page.

    Raises
    ------
    DataError
        No such folder, or nothing of a dataset in it.
    OutputError
        The page cannot be written.

    Examples
    --------
    >>> import spatialsplit as ss
    >>> ss.write_report("nowhere")
    Traceback (most recent call last):
    ...
    spatialsplit.errors.DataError: No such folder: nowhere. Give the folder of a dataset, or its public/ folder.
    """
    folder = Path(folder)
    with open_source(folder, public=public) as source:
        page = report_page(source)
        target = Path(out) if out is not None else _usual_place(folder, source.public)
    with new_files(target) as (part,):
        part.write_text(page, "utf-8", newline="\n")
    return target


def _usual_place(folder: Path, public: bool) -> Path:
    whole = folder.resolve()
    return whole.parent / f"{whole.name}_report.html" if public else folder / NAME


def report_page(source: Source) -> str:
    """Give the page of a dataset as HTML text."""
    return _render(_context(source))


def _context(source: Source) -> dict[str, Any]:
    records, removed, distances, balance = (
        records_of(source),
        removed_of(source),
        _distances(source),
        balance_of(source),
    )
    counts, months, data = species_of(source), months_of(source, records), _map_data(source, records, removed)
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
        "steps": sections.steps_of(source),
        "reasons": sections.removed_reasons(source),
        "missing": sections.missing_of(source),
        "files": sections.files_of(source),
        "inputs": [] if source.public else sections.inputs_of(source),
        "recipe": sections.recipe_text(source),
        **_map_parts(data, source, records),
        **_distance_parts(distances),
        **_species_parts(source, counts),
        **_removed_parts(source, removed),
        **_month_parts(months, records),
        **_balance_parts(balance),
    }


def _distances(source: Source) -> Distances:
    try:
        return distances_of(source)
    except (CannotRun, Unreadable):
        return Distances(source.evidence.held_out, {}, distances_none())


def distances_none() -> Any:
    """Give no distances."""
    import numpy as np

    return np.empty(0)


def _map_data(source: Source, records: Sample | None, removed: Sample | None) -> MapData:
    frame = frame_of(source)
    quadrats, unplaced = quadrats_of(source, frame)
    tests = source.evidence.held_out_places
    sites = points_of(frame, tests)
    gone = points_of(frame, removed.records.dropna(subset=["lon", "lat"])) if _has_places(removed) else None
    import pandas as pd

    seen = records.records if records is not None else pd.DataFrame()
    return MapData(
        frame,
        quadrats,
        sites,
        gone or points_of(frame, pd.DataFrame()),
        seen,
        not (records is None or records.whole),
        unplaced,
    )


def _has_places(sample: Sample | None) -> bool:
    return sample is not None and {"lon", "lat"} <= set(sample.records.columns)


def _map_parts(data: MapData, source: Source, records: Sample | None) -> dict[str, Any]:
    asked = data.as_dict()
    n_records = source.audit.facts.get("po_records") or 0
    shown = len(records.records) if records is not None else 0
    asked["records"]["scale"] = n_records / shown if shown else 1
    asked["seed"] = sections.seed_of(source).get("value", "") if sections.seed_of(source).get("kind") == "open" else ""
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


def _render(context: dict[str, Any]) -> str:
    """Fill the template; every text from the data is escaped, and only the page's own script may run."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined
    from markupsafe import Markup

    environment = Environment(
        loader=FileSystemLoader(PARTS), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters |= {"n": _number, "length": length, "percent": _percent, "bytes": _bytes, "breaks": _breaks}
    environment.policies["json.dumps_kwargs"] = {"separators": (",", ":"), "ensure_ascii": False}
    script = "".join((PARTS / name).read_text("utf-8") for name in SCRIPTS)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return environment.get_template("page.html.j2").render(
        context, style=Markup((PARTS / "style.css").read_text("utf-8")), script=Markup(script), script_hash=digest
    )


def _number(value: Any) -> str:
    """Write a number as people read it; what is not known is a dash."""
    if value is None:
        return "–"
    return f"{value:,}" if isinstance(value, int) else f"{value:,.4g}" if isinstance(value, float) else str(value)


def _percent(share: Any) -> str:
    return "–" if share is None else f"{100 * share:.1f} %"


def _breaks(name: str) -> Any:
    """Let a long name break after its underscores."""
    from markupsafe import Markup, escape

    return Markup(str(escape(name)).replace("_", "_<wbr>"))


def _bytes(count: Any) -> str:
    if not isinstance(count, int):
        return "–"
    return f"{count / 1e6:,.1f} MB" if count >= 1e6 else f"{count / 1e3:,.1f} kB"
