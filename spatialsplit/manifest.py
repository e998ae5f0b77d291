"""What a build did, file by file: hash, write, verify.

`SHA256SUMS` is what `sha256sum -c` reads; `manifest.json` says the rest and holds no time, host, path or library
version, so equal builds have equal manifests.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from spatialsplit.errors import DataError, ManifestError, first_few, shown
from spatialsplit.tables import Dialect, TableInput, Written
from spatialsplit.tables.digest import ContentDigest

FORMAT = 1
MANIFEST = "manifest.json"
SUMS = "SHA256SUMS"
PUBLIC_SUMS = "public/SHA256SUMS"
DESCRIPTIONS = tuple(f"{folder}{name}" for folder in ("", "public/") for name in ("croissant.json", "datapackage.json"))
"""What `spatialsplit export croissant` writes, from the manifest, when the dataset is finished."""

UNLISTED = ("run.json", "report.html", SUMS, *DESCRIPTIONS)
"""Files that differ between equal builds, what is written later, and the list itself."""

SUM_LINE = re.compile(r"([0-9a-f]{64})  (.+)")


def file_sha256(path: Path) -> str:
    """Give the SHA-256 of a file's bytes."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def output_entry(written: Written, role: str) -> dict[str, Any]:
    """Describe a written table, as the manifest does."""
    columns = [{"name": c.name, "means": c.means or c.name, "type": c.type} for c in written.columns]
    return {
        "role": role,
        "sha256": written.sha256,
        "bytes": written.n_bytes,
        "rows": written.n_rows,
        "separator": written.separator,
        "columns": columns,
        "content_sha256": written.content_sha256,
    }


def manifest_text(manifest: Mapping[str, Any]) -> str:
    """Write a manifest as JSON, the same for equal content."""
    return json.dumps(manifest, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def write_sums(folder: Path, known: Mapping[str, str]) -> None:
    """Write both lists of checksums: of the public files, and of all.

    Parameters
    ----------
    folder : path
    known : mapping of str to str
        SHA-256 of files that were hashed as they were written.
    """
    public = [name for name in _files(folder) if name.startswith("public/") and name != PUBLIC_SUMS]
    sums = {name: known.get(name) or file_sha256(folder / name) for name in public}
    (folder / PUBLIC_SUMS).write_text(
        _sums_text({name.removeprefix("public/"): value for name, value in sums.items()}), "utf-8", newline="\n"
    )
    others = [name for name in _files(folder) if name not in sums and name not in UNLISTED]
    sums |= {name: known.get(name) or file_sha256(folder / name) for name in others}
    (folder / SUMS).write_text(_sums_text(sums), "utf-8", newline="\n")


def _sums_text(sums: Mapping[str, str]) -> str:
    return "".join(f"{sums[name]}  {name}\n" for name in sorted(sums))


def _files(folder: Path) -> list[str]:
    """Name every file below a folder; a link to a folder too: whoever copies it may copy what it leads to."""
    found = (path for path in folder.rglob("*") if path.is_file() or path.is_symlink())
    return sorted(path.relative_to(folder).as_posix() for path in found)


def read_manifest(folder: Path) -> dict[str, Any]:
    """Read the manifest of a dataset.

    Raises
    ------
    ManifestError
        There is none, or it is not one.
    """
    path = folder / MANIFEST
    try:
        content: dict[str, Any] = json.loads(path.read_text("utf-8"))
        if content["format"] != FORMAT:
            raise ManifestError(
                f"{path} has format {content['format']}; this version reads {FORMAT}. Use the version that wrote it."
            )
    except FileNotFoundError:
        alone = " Public files alone: `sha256sum -c SHA256SUMS` and `spatialsplit audit` check them."
        raise ManifestError(
            f"There is no {MANIFEST} in '{folder}'. A dataset folder has one. Name the folder that holds it."
            f"{alone if (folder / 'quadrats.csv').is_file() else ''}"
        ) from None
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise ManifestError(
            f"{path} is no manifest ({type(error).__name__}: {shown(error)}). It was damaged or made by hand. Fetch or "
            "build the dataset again."
        ) from None
    except OSError as error:
        raise ManifestError(
            f"{path} cannot be read ({error.strerror}). Name the folder that holds a dataset."
        ) from None
    return content


_OUTPUT = {"role": str, "sha256": str, "bytes": int}
_TABLE = {
    **_OUTPUT,
    "rows": int,
    "separator": (str, type(None)),
    "columns": [{"name": str, "means": str, "type": str}],
    "content_sha256": str,
}
_WHOLE = {
    "name": str,
    "spatialsplit": str,
    "recipe": {"about": dict, "evaluation": dict, "quadrats": dict},
    "seed": dict,
    "inputs": [{"role": str, "name": str, "sha256": str, "rows": int}],
    "grid": {"crs": str, "size_m": int},
    "steps": [{"step": str, "kept": int, "dropped": {"*": int}}],
    "outputs": {"*": _OUTPUT},
    "audit": [{"name": str, "passed": (bool, type(None))}],
}
"""What a manifest must hold for those who use it: types, the shapes of lists' parts, and `*` for any key."""


def read_whole_manifest(folder: Path) -> dict[str, Any]:
    """Read the manifest of a dataset that may come from anybody, and refuse one that lacks a part or leads elsewhere.

    Raises
    ------
    ManifestError
        There is none, a part is missing or of another kind, or it lists a file outside the folder.
    """
    manifest = read_manifest(folder)
    check_shape(manifest, _WHOLE, folder)
    check_outputs(manifest, folder)
    for name, entry in manifest["outputs"].items():
        if "columns" in entry:
            check_shape(entry, _TABLE, folder, f"outputs.{name}")
    return manifest


def check_outputs(manifest: Mapping[str, Any], folder: Path) -> None:
    """Refuse a manifest that lists a file outside its folder.

    Raises
    ------
    ManifestError
        It lists no files, or one outside.
    """
    check_shape(manifest, {"outputs": {"*": {"role": str}}}, folder)
    for name in manifest["outputs"]:
        if not is_inside(name):
            raise ManifestError(
                f"{folder / MANIFEST} lists {shown(name)}, which is outside the dataset's folder. A dataset's files "
                "are in its folder. Do not use it; fetch or build the dataset again."
            )


def check_shape(part: Any, shape: Any, folder: Path, place: str = "") -> None:
    """Refuse a part of a manifest that is not of the shape that it must have.

    Parameters
    ----------
    part : object
    shape : type, tuple of types, list of one shape, or mapping of str to shape
        `*` stands for any key; keys that are not named may be there.
    folder : path
        Of the dataset, for the message.
    place : str
        The dotted name of the part.

    Raises
    ------
    ManifestError
        Naming the first place that does not fit.
    """
    kind: Any = shape if isinstance(shape, type | tuple) else type(shape)
    if not isinstance(part, kind) or (isinstance(part, bool) and kind is int):
        raise ManifestError(
            f"{folder / MANIFEST} does not say '{shown(place)}' as it must. It was damaged or made by hand. Fetch or "
            "build the dataset again."
        )
    if isinstance(shape, list):
        for i, each in enumerate(part):
            check_shape(each, shape[0], folder, f"{place}[{i}]")
    elif isinstance(shape, dict):
        wanted = dict.fromkeys(part, shape["*"]) if "*" in shape else shape
        for key, inner in wanted.items():
            check_shape(part.get(key, ...), inner, folder, f"{place}.{key}".lstrip("."))


def verify_dataset(folder: Path | str) -> list[str]:
    """Check a dataset's files against its checksums and its manifest.

    Returns
    -------
    list of str
        A line a problem; empty where everything holds.

    Raises
    ------
    ManifestError
        There is no manifest.
    """
    folder = Path(folder)
    manifest = read_manifest(folder)
    problems = [*_check_sums(folder, SUMS, ""), *_check_sums(folder, PUBLIC_SUMS, "public/")]
    outputs = manifest.get("outputs")
    if not isinstance(outputs, dict):
        return [*problems, f"{MANIFEST} lists no outputs. It was damaged."]
    for name, entry in outputs.items():
        try:
            problems.extend(_check_output(folder, name, entry))
        except (KeyError, TypeError, AttributeError, ValueError):
            problems.append(f"{MANIFEST} does not say of {shown(name)} what it must. It was damaged.")
    return problems


def _check_sums(folder: Path, list_name: str, prefix: str) -> Iterator[str]:
    path = folder / list_name
    if not path.is_file():
        yield f"{list_name} is missing. It lists the checksums of the dataset."
        return
    listed: dict[str, str] = {}
    for number, line in enumerate(path.read_text("utf-8", errors="replace").splitlines(), start=1):
        if match := SUM_LINE.fullmatch(line):
            listed[prefix + match[2]] = match[1]
        else:
            yield f"{list_name} line {number} is not 'SHA-256, two spaces, name'. The list was damaged."
    yield from _compare(folder, list_name, listed)
    exempt = UNLISTED if not prefix else (PUBLIC_SUMS, *DESCRIPTIONS)
    for name in _files(folder):
        if name.startswith(prefix) and name not in listed and name not in exempt:
            yield f"{name} is not in {list_name}."


def _compare(folder: Path, list_name: str, listed: Mapping[str, str]) -> Iterator[str]:
    for name, digest in listed.items():
        if not is_inside(name) or not _is_file(folder / name):
            yield f"{shown(name)} is missing: {list_name} lists it."
        elif file_sha256(folder / name) != digest:
            yield f"{name} is not the file that {list_name} lists: its SHA-256 is another."


def is_inside(name: str) -> bool:
    """Tell whether a listed name stays in the folder: nobody's list may point elsewhere.

    Examples
    --------
    >>> is_inside("public/PA_train.csv"), is_inside("../../etc/passwd"), is_inside("/etc/passwd")
    (True, False, False)
    """
    return bool(name) and not name.startswith("/") and ".." not in name.split("/")


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:  # such a name cannot exist
        return False


def _check_output(folder: Path, name: str, entry: Mapping[str, Any]) -> Iterator[str]:
    path = folder / name
    if not is_inside(name) or not _is_file(path):
        yield f"{shown(name)} is missing: {MANIFEST} lists it."
        return
    if path.stat().st_size != entry["bytes"]:
        yield f"{name} has {path.stat().st_size:,} bytes, {MANIFEST} says {entry['bytes']:,}."
    if "columns" not in entry:
        return
    try:
        n_rows, content = content_of(path, entry["separator"], entry["columns"])
    except (DataError, pa.ArrowException) as error:
        yield f"{name} cannot be read as {MANIFEST} describes it: {shown(str(error).splitlines()[0], longest=300)}"
        return
    if n_rows != entry["rows"]:
        yield f"{name} has {n_rows:,} rows, {MANIFEST} says {entry['rows']:,}."
    if content != entry["content_sha256"]:
        yield f"{name} has another content than {MANIFEST} says."


def content_of(path: Path, separator: str | None, columns: Sequence[Mapping[str, str]]) -> tuple[int, str]:
    """Read a table again and give its number of rows and its content digest.

    Raises
    ------
    DataError
        It cannot be read, or has other columns.
    """
    names = [column["name"] for column in columns]
    digest = ContentDigest([(column["name"], column["type"]) for column in columns])
    n_rows = 0
    for header, batch in _batches(path, separator):
        if header != names:
            raise DataError(f"its columns are {first_few(header, shown=20)}, not {first_few(names, shown=20)}")
        digest.update(batch.columns)
        n_rows += batch.num_rows
    return n_rows, digest.hexdigest()


def _batches(path: Path, separator: str | None) -> Iterable[tuple[list[str], pa.RecordBatch]]:
    """Give the batches of a table; a table without rows gives its header with an empty batch."""
    source = TableInput(path, Dialect(separator=separator))
    yield (
        source.header,
        pa.RecordBatch.from_arrays(
            [pa.nulls(0, kind) for kind in source.types], names=[str(i) for i in range(len(source.header))]
        ),
    )
    for batch in source.batches(allow_empty=True):
        yield source.header, batch.rows
