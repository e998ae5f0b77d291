"""What a build says of itself: parts of the manifest, and of run.json."""

from __future__ import annotations

import platform
import time
from collections.abc import Mapping
from importlib.metadata import version
from typing import Any

import numpy as np

from spatialsplit.build.inputs import OpenInputs
from spatialsplit.build.steps import Step
from spatialsplit.recipe import Recipe
from spatialsplit.split import Split


def pa_steps(inputs: OpenInputs, split: Split) -> list[Step]:
    """Count what was read, grouped, and left out as empty."""
    surveys = inputs.surveys
    n_read = inputs.pa.n_in
    read = Step("read_pa", n_read, inputs.pa.dropped_counts)
    grouped = Step("surveys", read.n_kept, surveys.dropped_counts)
    n_empty_dropped = int(np.count_nonzero(split.subset == "empty_in_holdout"))
    return [read, grouped, Step("empty_surveys", len(surveys), {"empty_in_holdout": n_empty_dropped})]


def input_entries(inputs: OpenInputs) -> list[dict[str, Any]]:
    """Describe every input file."""
    return [
        {"role": role, "name": file.name, "sha256": file.sha256, "bytes": file.n_bytes, "rows": file.n_rows}
        for role, source in inputs.sources().items()
        for file in source.files
    ]


def grid_entry(split: Split) -> dict[str, Any]:
    """Describe the grid and how much of it is occupied."""
    grid, table = split.rules.grid, split.quadrats
    occupied = int(np.count_nonzero(table.n_surveys > table.n_empty))
    return {
        "preset": grid.preset,
        "crs": grid.crs,
        "size_m": grid.size_m,
        "origin": list(grid.origin),
        "quadrats": len(table.labels),
        "occupied": occupied,
    }


def draw_entry(recipe: Recipe, split: Split, seed: str) -> dict[str, Any]:
    """Describe the draw: its rules, what each holdout took, and the attempt that was kept."""
    draw, attempt, resolved = recipe.draw, split.attempt, recipe.resolved()["draw"]
    return {
        "method": draw.method,
        "share_of": draw.share_of,
        "strata": draw.strata,
        "remainder": draw.remainder,
        "min_train_quadrats": draw.min_train_quadrats,
        "assignment": {"quadrats": resolved["quadrats"], "extend": resolved["extend"]},
        "attempt": attempt.attempt if attempt else None,
        "objective": round(attempt.objectives[attempt.attempt - 1], 9) if attempt else None,
        "seed_suffix": split.draw.seed.removeprefix(seed),
        "holdouts": [vars(holdout) for holdout in split.draw.holdouts],
        "public_share": recipe.evaluation.public_share,
    }


def run_entry(seconds: Mapping[str, float]) -> dict[str, Any]:
    """Say what differs between equal builds: when, with what, how long."""
    libraries = ("numpy", "scipy", "pyarrow", "pyproj", "pandas", "matplotlib")
    return {
        "finished": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "python": platform.python_version(),
        "platform": platform.platform(),
        "libraries": {name: version(name) for name in libraries},
        "proj": _proj_version(),
        "seconds": dict(seconds),
    }


def _proj_version() -> str:
    import pyproj

    return str(pyproj.proj_version_str)
