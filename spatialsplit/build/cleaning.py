"""Read the files that `[clean]` names, and find the rows that repeat others."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from spatialsplit.distances import Sites
from spatialsplit.engine import map_in_order
from spatialsplit.errors import DataError, shown
from spatialsplit.occurrences import CLEANABLE, Cleaning, Limits, RecordReader, RecordRules
from spatialsplit.occurrences.cleaning import license_code, words
from spatialsplit.occurrences.repeats import find_repeats
from spatialsplit.recipe import Recipe
from spatialsplit.tables import TableInput

CENTROID_RADIUS_M = 1000.0


def make_cleaning(recipe: Recipe, role: str, find: Callable[[str], Path]) -> Cleaning | None:
    """Give what is to be cleaned of one table; None where nothing is.

    Raises
    ------
    DataError
        A file that [clean] names cannot be read.
    """
    table = recipe.inputs.pa if role == "pa" else recipe.inputs.po
    drop = table.drop if table is not None else []
    policies = recipe.clean.policies(role, drop, with_po=recipe.inputs.po is not None)
    if not policies:
        return None
    wanted = {reason: policy for reason, policy in policies.items() if reason in CLEANABLE}
    dropped = frozenset(reason for reason, policy in policies.items() if policy == "drop")
    return Cleaning(wanted, _limits(recipe, wanted, find), dropped=dropped)


def _limits(recipe: Recipe, wanted: dict[str, str], find: Callable[[str], Path]) -> Limits:
    said = recipe.clean
    radius = CENTROID_RADIUS_M if said.centroid_radius_m is None else said.centroid_radius_m
    return Limits(
        _centroids(find(said.centroids), radius) if said.centroids and "near_centroid" in wanted else None,
        radius,
        _area(find(said.area)) if said.area and "outside_area" in wanted else None,
        said.max_uncertainty_m,
        (said.years[0], said.years[1]) if said.years else None,
        words(said.allow_basis_of_record or []),
        words(said.refuse_issues or []),
        frozenset(license_code(name) for name in said.allow_licenses or []),
    )


def _centroids(path: Path, radius_m: float) -> Sites:
    """Read a table of points, with columns as any input has them."""
    source = TableInput(path, hashed=False)
    reader = RecordReader(source, RecordRules(with_days=False, decimals=None, section="clean"))
    lon, lat = [], []
    for batch in source.batches():
        checked = reader.check(batch)
        reader.tally(checked)
        lon.append(checked.places.lon)
        lat.append(checked.places.lat)
    problems = reader.problems()
    if problems:
        raise DataError([problem.split(", or say drop")[0] + "." for problem in problems])
    return Sites(np.concatenate(lon), np.concatenate(lat), radius_m)


def _area(path: Path) -> Any:
    """Read polygons of any format and CRS, and join them."""
    import geopandas
    import shapely

    if not path.exists():
        raise DataError(f"There is no file {path}, which area under [clean] names. Correct the path.")
    try:
        polygons = geopandas.read_parquet(path) if path.suffix == ".parquet" else geopandas.read_file(path)
    except (OSError, ValueError, RuntimeError) as error:
        raise DataError(
            f"{path.name} cannot be read as polygons ({shown(error)}). Name a GeoPackage or GeoJSON."
        ) from None
    if not set(polygons.geom_type) <= {"Polygon", "MultiPolygon"} or not len(polygons):
        raise DataError(f"{path.name} holds no polygons. The area under [clean] is made of them. Name another file.")
    if polygons.crs is None:
        raise DataError(f"{path.name} does not say its CRS. The area under [clean] needs one. Add it to the file.")
    return shapely.union_all(polygons.to_crs("EPSG:4326").geometry.to_numpy())


def with_repeats(reader: RecordReader, threads: int | None) -> RecordReader:
    """Give a reader that knows the rows that repeat others, where anything is to become of them."""
    cleaning = reader.rules.cleaning
    reasons = cleaning.looks_for_repeats() if cleaning is not None else []
    if cleaning is None or not reasons:
        return reader
    repeats = find_repeats(reader, reasons, lambda work, batches: map_in_order(work, batches, threads))
    rules = dataclasses.replace(reader.rules, cleaning=dataclasses.replace(cleaning, repeats=repeats))
    return RecordReader(reader.source, rules)
