"""spatialsplit: from raw species records to a published benchmark with an honest spatial split, and its proof.

A row is followed from the field to the file: record → survey → quadrat → subset. `build_dataset` does all of it from
a recipe; the steps
are here one by one, on arrays and on files. Names are imported when they are first used, so `import spatialsplit` is
quick.

Examples
--------
>>> import numpy as np
>>> import spatialsplit as ss
>>> quadrats = ss.Grid("EPSG:3035", size_m=5000).assign(np.array([3.87, 3.88]), np.array([43.61, 43.70]))
>>> quadrats.of_each_point()
['CRS3035RES5000mN2295000E3825000', 'CRS3035RES5000mN2305000E3825000']
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from spatialsplit import diagnostics, folds, grids
    from spatialsplit.audit import AuditReport, audit_dataset, audit_tables
    from spatialsplit.build import BuildOptions, BuildReport, build_dataset
    from spatialsplit.diagnostics import (
        MatchedKFold,
        distance_curves,
        plot_distance_curves,
        plot_variograms,
        suggest_size,
    )
    from spatialsplit.distances import Sites, geodesic_m
    from spatialsplit.draw import Draw, DrawRules, Holdout, Occupied, draw_quadrats, quadrat_number
    from spatialsplit.errors import (
        DataError,
        ManifestError,
        OutputError,
        RecipeError,
        SolutionError,
        SpatialSplitError,
        SubmissionError,
    )
    from spatialsplit.folds import (
        BalancedQuadratKFold,
        BufferedLeaveOneOut,
        Checkerboard,
        FoldRules,
        LeaveQuadratOut,
        PlaceTimeKFold,
        QuadratHoldout,
        QuadratKFold,
        StratifiedQuadratKFold,
        SystematicKFold,
    )
    from spatialsplit.grids import H3Grid, HexagonGrid, PlanarGrid, PolygonGrid, RasterGrid
    from spatialsplit.manifest import read_manifest, verify_dataset
    from spatialsplit.metrics import f1_samples, fathomnet_score, jaccard_fbeta, top_k_error
    from spatialsplit.plots import (
        plot_balance,
        plot_counts,
        plot_nearest,
        plot_quadrats,
        plot_rank_abundance,
        plot_removal_distances,
        plot_split,
        plot_time_of_year,
    )
    from spatialsplit.po_filter import HoldoutSites, PoFilter
    from spatialsplit.quadrats import Grid, grid_named
    from spatialsplit.recipe import Recipe, read_recipe
    from spatialsplit.report import write_report
    from spatialsplit.split import Split, SplitRules, split_surveys
    from spatialsplit.steps import add_quadrats, draw_table, filter_po_table, write_surveys
    from spatialsplit.submission import check_submission, score, write_submission
    from spatialsplit.surveys import SurveyRules, Surveys, group_surveys
    from spatialsplit.synthetic import make_virtual_flora, write_virtual_flora
    from spatialsplit.tables import read_table, write_table

__version__ = "0.1.0"

_HOMES = {
    "audit": ("AuditReport", "audit_dataset", "audit_tables"),
    "build": ("BuildOptions", "BuildReport", "build_dataset"),
    "distances": ("Sites", "geodesic_m"),
    "draw": ("Draw", "DrawRules", "Holdout", "Occupied", "draw_quadrats", "quadrat_number"),
    "diagnostics": ("MatchedKFold", "distance_curves", "plot_distance_curves", "plot_variograms", "suggest_size"),
    "errors": (
        "DataError",
        "ManifestError",
        "OutputError",
        "RecipeError",
        "SolutionError",
        "SpatialSplitError",
        "SubmissionError",
    ),
    "folds": (
        "BalancedQuadratKFold",
        "BufferedLeaveOneOut",
        "Checkerboard",
        "FoldRules",
        "LeaveQuadratOut",
        "PlaceTimeKFold",
        "QuadratHoldout",
        "QuadratKFold",
        "StratifiedQuadratKFold",
        "SystematicKFold",
    ),
    "grids": ("H3Grid", "HexagonGrid", "PlanarGrid", "PolygonGrid", "RasterGrid"),
    "manifest": ("read_manifest", "verify_dataset"),
    "metrics": ("f1_samples", "fathomnet_score", "jaccard_fbeta", "top_k_error"),
    "plots": (
        "plot_balance",
        "plot_counts",
        "plot_nearest",
        "plot_quadrats",
        "plot_rank_abundance",
        "plot_removal_distances",
        "plot_split",
        "plot_time_of_year",
    ),
    "po_filter": ("HoldoutSites", "PoFilter"),
    "quadrats": ("Grid", "grid_named"),
    "recipe": ("Recipe", "read_recipe"),
    "report": ("write_report",),
    "split": ("Split", "SplitRules", "split_surveys"),
    "steps": ("add_quadrats", "draw_table", "filter_po_table", "write_surveys"),
    "submission": ("check_submission", "score", "write_submission"),
    "surveys": ("SurveyRules", "Surveys", "group_surveys"),
    "synthetic": ("make_virtual_flora", "write_virtual_flora"),
    "tables": ("read_table", "write_table"),
}
"""Where each public name lives."""

_ROOMS = ("diagnostics", "folds", "grids")
"""Parts of the package that are worth a look of their own: `ss.folds.Places`."""

_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = sorted(_HOME_OF)


def __getattr__(name: str) -> Any:
    if name in _ROOMS:
        return importlib.import_module(f"spatialsplit.{name}")
    if name not in _HOME_OF:
        raise AttributeError(f"module 'spatialsplit' has no attribute '{name}'")
    value = getattr(importlib.import_module(f"spatialsplit.{_HOME_OF[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*globals(), *__all__, *_ROOMS]
