"""Finding the files of a published dataset and what each is, with its manifest or without.

A dataset is the folder of `docs/files.md`, or its `public/` folder alone. With a manifest each file's role
and columns are read there; without one the standard names, and those of GeoLifeCLEF 2022 to 2024, are known.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from spatialsplit.audit.report import CannotRun
from spatialsplit.audit.tables import Table, Unreadable, open_table
from spatialsplit.errors import DataError

STANDARD_ROLES: dict[str, str] = {
    "public/PO_train": "po_train",
    "public/PA_train": "pa_train",
    "public/PA_train_empty": "pa_train_empty",
    "public/PA_val": "pa_val",
    "public/PA_test_blind": "pa_test_blind",
    "public/species": "species",
    "public/sample_submission": "sample_submission",
    "public/quadrats": "quadrats",
    "private/solution": "solution",
    "private/PA_test": "pa_test",
    "private/PO_removed": "po_removed",
    "private/dropped_po": "dropped_po",
    "private/dropped_pa": "dropped_pa",
    "private/dropped_surveys": "dropped_surveys",
    "private/dropped_labels": "dropped_labels",
    "public/observations_train": "pa_train",
    "public/observations_test": "pa_test_blind",
    "public/Presences_only_train": "po_train",
    "public/Presences_Absences_train": "pa_val",
    "public/test_blind": "pa_test_blind",
    "public/GLC24_PO_metadata_train": "po_train",
    "public/GLC24_PA_metadata_train": "pa_train",
    "public/GLC24_PA_metadata_test": "pa_test_blind",
}
"""What each standard file is, without its ending."""

JOINS_VAL = ("public/observations_train", "public/GLC24_PA_metadata_train")
"""Training tables that hold the validation surveys too, told apart by their column `subset`."""

TABLE_ENDINGS = (".csv", ".csv.gz", ".parquet")
UNLISTED_PUBLIC = ("SHA256SUMS", "README.md", "split.png", "croissant.json", "datapackage.json")
MANIFEST = "manifest.json"


@dataclass
class Published:
    """The files of one dataset folder.

    Parameters
    ----------
    folder : Path
        Where they are.
    public_only : bool
        True where the folder is somebody's `public/` alone.
    manifest : dict or None
        What manifest.json says, if there is one that can be read.
    tables : dict
        The table of each role that could be opened.
    broken : dict
        Why a file cannot be read, by its name; filled as the files are read.
    """

    folder: Path
    public_only: bool
    manifest: dict[str, Any] | None
    tables: dict[str, Table] = field(default_factory=dict)
    broken: dict[str, str] = field(default_factory=dict)
    roles: dict[str, str] = field(default_factory=dict)

    @property
    def has_private(self) -> bool:
        """Whether the organizers' part is there; a stranger may have the public part and the manifest."""
        return not self.public_only and (self.folder / "private").is_dir()

    def is_here(self, name: str) -> bool:
        """Tell whether a file of this name is to be expected in what was given to audit."""
        if self.public_only:
            return name.startswith("public/")
        return self.has_private or not name.startswith("private/")

    def table(self, role: str) -> Table:
        """Give the table of a role, or say why there is none."""
        if role in self.tables:
            return self.tables[role]
        name = next((name for name, known in self.roles.items() if known == role), None)
        if name in self.broken:
            raise CannotRun(self.broken[name])
        raise CannotRun(f"there is no {name or _usual_name(role)}")

    def path(self, name: str) -> Path:
        """Give where a file of the dataset is, from its name in the manifest."""
        return self.folder / (name.removeprefix("public/") if self.public_only else name)

    def said(self, *keys: str, kind: type = dict) -> Any:
        """Give one part of the manifest, or say that it is missing.

        Raises
        ------
        CannotRun
            No manifest, or nothing of this kind in it.
        """
        if self.manifest is None:
            raise CannotRun("there is no manifest.json")
        part: Any = self.manifest
        for key in keys:
            part = part.get(key) if isinstance(part, dict) else None
        if not isinstance(part, kind):
            raise CannotRun(f"manifest.json does not say {'.'.join(keys)}")
        return part

    def maybe(self, *keys: str, kind: type = dict, default: Any = None) -> Any:
        """Give one part of the manifest, or the default where it is missing."""
        try:
            return self.said(*keys, kind=kind)
        except CannotRun:
            return default


def _usual_name(role: str) -> str:
    return next((f"{name}.csv" for name, known in STANDARD_ROLES.items() if known == role), role)


def read_published(folder: str | Path) -> Published:
    """Look at a dataset folder and open its tables.

    Raises
    ------
    DataError
        No such folder, or nothing of a dataset in it.
    """
    place = Path(folder)
    if not place.is_dir():
        raise DataError(f"No such folder: {folder}. Give the folder of a dataset, or its public/ folder.")
    public_only = not (place / "public").is_dir() and not (place / MANIFEST).is_file()
    published = Published(place, public_only, None)
    published.manifest = _manifest(place, published.broken)
    _find_tables(published)
    if published.manifest is None and not published.roles:
        raise DataError(
            f"There is no dataset in '{folder}': no manifest.json and none of the files of one (public/PA_train.csv, "
            "public/quadrats.csv, …). Give the folder that `spatialsplit build` wrote, or its public/ folder; "
            "`spatialsplit audit --train … --test …` takes the tables of a split that was made elsewhere."
        )
    return published


def _manifest(folder: Path, broken: dict[str, str]) -> dict[str, Any] | None:
    path = folder / MANIFEST
    if not path.is_file():
        return None
    try:
        said = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        broken[MANIFEST] = f"manifest.json cannot be read: {error}"
        return None
    if not isinstance(said, dict):
        broken[MANIFEST] = "manifest.json cannot be read: it holds no object"
        return None
    manifest: dict[str, Any] = _of_the_kinds(said, _KINDS)
    return manifest


_NUMBER = (int, float)
_KINDS = {
    "seed": {"kind": str, "value": str, "sha256": str},
    "recipe": {
        "seed": str,
        "surveys": {"keys": [str]},
        "po_filter": {"radius_m": _NUMBER, "around": [str], "uncertainty_column": str, "whole_quadrats": bool},
        "output": {"blind_columns": [str]},
    },
    "grid": {"preset": str, "crs": str, "size_m": _NUMBER, "origin": [_NUMBER]},
    "draw": {
        **dict.fromkeys(("method", "share_of", "strata", "remainder", "seed_suffix"), str),
        "assignment": {"quadrats": str, "extend": str},
        "holdouts": [{"name": str, "share": _NUMBER}],
        "public_share": _NUMBER,
    },
    "steps": [{"step": str, "in": int, "kept": int, "dropped": {"*": int}}],
    "outputs": {
        "*": {
            **dict.fromkeys(("role", "sha256", "separator", "content_sha256"), str),
            **dict.fromkeys(("bytes", "rows"), int),
            "columns": [{"name": str, "means": str, "type": str}],
        }
    },
}
"""The kinds of what a manifest says, where a check uses it; `*` stands for any key."""


def _of_the_kinds(part: Any, kinds: Any) -> Any:
    """Give a part of the manifest without what is of another kind than it must be: that counts as not said."""
    if isinstance(kinds, dict):
        wanted = dict.fromkeys(part, kinds["*"]) if "*" in kinds else kinds
        return {
            key: value if value is None or key not in wanted else _of_the_kinds(value, wanted[key])
            for key, value in part.items()
            if value is None or key not in wanted or _is_of(value, wanted[key])
        }
    if isinstance(kinds, list):
        return [_of_the_kinds(each, kinds[0]) for each in part if _is_of(each, kinds[0])]
    return part


def _is_of(value: Any, kind: Any) -> bool:
    if isinstance(value, bool) or (isinstance(value, float) and not math.isfinite(value)):
        return kind is bool and isinstance(value, bool)
    return isinstance(value, kind if isinstance(kind, type | tuple) else type(kind))


def _find_tables(published: Published) -> None:
    outputs = published.maybe("outputs", default={})
    listed = {name: entry for name, entry in outputs.items() if _is_table(name) and is_inside(name)}
    for name, entry in {**{name: {} for name in _standard_files(published)}, **listed}.items():
        entry = entry if isinstance(entry, dict) else {}
        role = entry.get("role") or STANDARD_ROLES.get(_stem(name))
        if role is None or not published.is_here(name):
            continue
        published.roles[name] = role
        if role in published.tables and name.endswith(".parquet"):
            continue  # the Parquet form stands beside the CSV, which is the one that is read
        try:
            published.tables[role] = _open(published.path(name), name, entry)
        except Unreadable as error:
            published.broken[name] = str(error)


def _standard_files(published: Published) -> list[str]:
    """Name the files that are there under a standard name, CSV before Parquet."""
    names = [stem + ending for ending in TABLE_ENDINGS for stem in STANDARD_ROLES]
    return [name for name in names if published.path(name).is_file()]


def _open(path: Path, name: str, entry: Mapping[str, Any]) -> Table:
    columns = [column for column in entry.get("columns") or [] if isinstance(column, dict)]
    means = {
        str(column["means"]): str(column["name"]) for column in columns if column.get("means") and column.get("name")
    }
    separator = entry.get("separator")
    return open_table(path, name=name, separator=separator if isinstance(separator, str) else None, means=means)


def is_inside(name: str) -> bool:
    """Tell whether a name of the manifest leads to a file of the dataset, and not out of its folder.

    Examples
    --------
    >>> is_inside("public/species.csv"), is_inside("public/../../species.csv"), is_inside("/species.csv")
    (True, False, False)
    """
    return not name.startswith("/") and ".." not in name.split("/") and "\\" not in name


def _is_table(name: str) -> bool:
    return name.endswith(TABLE_ENDINGS)


def joins_val(name: str) -> bool:
    """Tell whether a column `subset` of this file says which of its surveys are for validation.

    In any other file such a column came with the input and means some earlier split.
    """
    return _stem(name) in JOINS_VAL


def _stem(name: str) -> str:
    ending = next((ending for ending in TABLE_ENDINGS if name.endswith(ending)), "")
    return name.removesuffix(ending)


def files_below(folder: Path) -> list[str]:
    """Name every file below a folder, sorted; a link to a folder is named as a file is, and not followed."""
    found = (path for path in folder.rglob("*") if path.is_symlink() or not path.is_dir())
    return sorted(path.relative_to(folder).as_posix() for path in found)
