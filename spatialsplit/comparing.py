"""Two builds side by side: build a dataset again and compare, or say in words what changed between two.

A dataset on its own is judged by `manifest` and `audit`.
"""

from __future__ import annotations

import itertools
import shutil
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from spatialsplit.build import BuildOptions, build_dataset
from spatialsplit.manifest import MANIFEST, read_whole_manifest
from spatialsplit.tables.assignments import read_assignment


@dataclass(frozen=True)
class Rebuilt:
    """What building again showed.

    Attributes
    ----------
    n_files : int
        Tables and other listed files that are equal.
    differences : tuple of str
        A line a difference, the first one in each file; empty where all is equal.
    """

    n_files: int
    differences: tuple[str, ...]


def rebuild_dataset(folder: Path | str, inputs: Path | str, options: BuildOptions | None = None) -> Rebuilt:
    """Build a dataset again from its recipe and inputs, in another folder, and compare.

    Parameters
    ----------
    folder : path
        The dataset.
    inputs : path
        A folder with the input files, under the names in the recipe.
    options : BuildOptions, optional

    Raises
    ------
    ManifestError
        The folder holds no manifest.
    RecipeError, DataError
        It cannot be built again.
    """
    folder = Path(folder)
    old = read_whole_manifest(folder)
    threads = options.threads if options is not None else None
    scratch = Path(tempfile.mkdtemp(prefix="spatialsplit-rebuild-"))
    try:
        again = BuildOptions(threads=threads, inputs=Path(inputs))
        build_dataset(folder / "recipe.toml", scratch / "dataset", again)
        new = read_whole_manifest(scratch / "dataset")
        differences = list(_differences(folder, old, scratch / "dataset", new))
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    return Rebuilt(len(old["outputs"]), tuple(differences))


def _differences(folder: Path, old: Mapping[str, Any], again: Path, new: Mapping[str, Any]) -> Iterator[str]:
    for before, after in zip(old["inputs"], new["inputs"], strict=False):
        if before["sha256"] != after["sha256"]:
            yield f"The input {after['name']} is not the file that the dataset was built from: its SHA-256 is another."
    for name in sorted({*old["outputs"], *new["outputs"]}):
        if name not in new["outputs"]:
            yield f"{name} was not written again."
        elif name not in old["outputs"]:
            yield f"{name} is new."
        elif not (folder / name).is_file():
            yield f"{name} is missing in {folder}."
        else:
            yield from _first_difference(folder / name, again / name, name)
    if (folder / MANIFEST).read_bytes() != (again / MANIFEST).read_bytes():
        changed = sorted(key for key in {*old, *new} if old.get(key) != new.get(key))
        yield f"{MANIFEST} differs in: {', '.join(changed) or 'its form'}."


def _first_difference(one: Path, other: Path, name: str) -> Iterator[str]:
    with one.open("rb") as before, other.open("rb") as after:
        lines = itertools.zip_longest(before, after)
        for number, (old, new) in enumerate(lines, start=1):
            if old != new:
                yield f"{name} differs first in line {number}: {_shown(old)} was, {_shown(new)} is."
                return


def _shown(line: bytes | None) -> str:
    if line is None:
        return "(no such line)"
    text = line.decode("utf-8", errors="replace").rstrip("\n")
    return f"'{text[:80]}{'…' if len(text) > 80 else ''}'"


def describe_changes(before: Path | str, after: Path | str) -> list[str]:
    """Say in a person's words what changed between two datasets.

    Parameters
    ----------
    before, after : path
        Dataset folders; where they hold `public/quadrats.csv`, quadrats that moved are counted.

    Returns
    -------
    list of str
        A line a change; empty where nothing changed.
    """
    before, after = Path(before), Path(after)
    old, new = read_whole_manifest(before), read_whole_manifest(after)
    return [
        *_recipe_changes(old, new),
        *_input_changes(old, new),
        *_moves(_quadrats(before), _quadrats(after)),
        *_step_changes(old, new),
        *_file_changes(old, new),
        *_check_changes(old, new),
    ]


def _recipe_changes(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[str]:
    before, after = (dict(_flat(manifest["recipe"])) for manifest in (old, new))
    for key in sorted({*before, *after}):
        if before.get(key) != after.get(key):
            yield f"{key}: {_word(before.get(key))} → {_word(after.get(key))}"
    if old["seed"] != new["seed"] and before.get("seed") == after.get("seed"):
        yield "The sealed seed is another."
    if old["spatialsplit"] != new["spatialsplit"]:
        yield f"built by spatialsplit {old['spatialsplit']} → {new['spatialsplit']}"


def _flat(content: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Give every value of a nested mapping under its dotted name; holdouts go by their own names."""
    if isinstance(content, dict):
        for key, value in content.items():
            yield from _flat(value, f"{prefix}.{key}" if prefix else key)
    elif isinstance(content, list) and content and all(isinstance(each, dict) and "name" in each for each in content):
        for each in content:
            yield from _flat({key: value for key, value in each.items() if key != "name"}, f"{prefix}.{each['name']}")
    else:
        yield prefix, content


def _word(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(map(_word, value)) or "none"
    if isinstance(value, float):
        return f"{value:g}"
    return "none" if value is None else str(value)


def _input_changes(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[str]:
    before, after = ({(e["role"], e["name"]): e for e in manifest["inputs"]} for manifest in (old, new))
    for key in sorted({*before, *after}):
        role, name = key
        if key not in after:
            yield f"input {role} {name} is gone"
        elif key not in before:
            yield f"input {role} {name} is new: {after[key]['rows']:,} rows"
        elif before[key]["sha256"] != after[key]["sha256"]:
            yield f"input {role} {name} changed: {before[key]['rows']:,} → {after[key]['rows']:,} rows"


def _quadrats(folder: Path) -> dict[str, str] | None:
    path = folder / "public" / "quadrats.csv"
    return read_assignment(path) if path.is_file() else None


def _moves(before: Mapping[str, str] | None, after: Mapping[str, str] | None) -> Iterator[str]:
    if before is None or after is None:
        return
    moved = Counter(
        (before[label], after[label]) for label in before if label in after and before[label] != after[label]
    )
    for (source, target), n in sorted(moved.items()):
        yield f"{_several(n, 'quadrat')} moved from {source} to {target}"
    for word, there, elsewhere in (("gone", before, after), ("new", after, before)):
        by_subset = Counter(subset for label, subset in there.items() if label not in elsewhere)
        for subset, n in sorted(by_subset.items()):
            yield f"{_several(n, 'quadrat')} of {subset} {'is' if n == 1 else 'are'} {word}"


def _several(n: int, noun: str) -> str:
    return f"{n:,} {noun}{'' if n == 1 else 's'}"


def _step_changes(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[str]:
    before, after = ({step["step"]: step for step in manifest["steps"]} for manifest in (old, new))
    for name in [*before, *(name for name in after if name not in before)]:
        was, now = (table.get(name, {"in": 0, "kept": 0, "dropped": {}}) for table in (before, after))
        for reason in sorted({*was["dropped"], *now["dropped"]}):
            more = now["dropped"].get(reason, 0) - was["dropped"].get(reason, 0)
            if more:
                yield f"{name} dropped {abs(more):,} {'more' if more > 0 else 'fewer'} as {reason}"
        if was["kept"] != now["kept"]:
            yield f"{name} kept {was['kept']:,} → {now['kept']:,}"


def _file_changes(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[str]:
    before, after = old["outputs"], new["outputs"]
    for name in sorted({*before, *after}):
        if name not in after:
            yield f"{name} is gone"
        elif name not in before:
            yield f"{name} is new"
        elif before[name]["sha256"] != after[name]["sha256"]:
            rows = (before[name].get("rows"), after[name].get("rows"))
            counted = f": {rows[0]:,} → {rows[1]:,} rows" if None not in rows and rows[0] != rows[1] else ""
            yield f"{name} has another content{counted}"


def _check_changes(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[str]:
    before, after = ({check["name"]: check["passed"] for check in manifest["audit"]} for manifest in (old, new))
    words = {True: "passed", False: "failed", None: "not run"}
    for name in sorted({*before, *after}):
        if before.get(name) != after.get(name):
            yield f"audit {name}: {words[before.get(name)]} → {words[after.get(name)]}"
