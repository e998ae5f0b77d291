"""The check that the files are those of the manifest, byte for byte, none missing and none added."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from spatialsplit.audit.evidence import Evidence
from spatialsplit.audit.forms import forms_that_differ
from spatialsplit.audit.published import MANIFEST, STANDARD_ROLES, TABLE_ENDINGS, Published, files_below, is_inside
from spatialsplit.audit.report import CannotRun, Finding, finding
from spatialsplit.audit.tables import Table, Unreadable, is_file, open_table

SUMS = "SHA256SUMS"
_LINE = re.compile(r"([0-9a-f]{64}) [ *](.+)")
_DESCRIPTIONS = tuple(
    f"{folder}{name}" for folder in ("", "public/") for name in ("croissant.json", "datapackage.json")
)
_NOT_SUMMED = (SUMS, "run.json", "report.html", *_DESCRIPTIONS)
_NOT_OUTPUTS = (
    *_NOT_SUMMED,
    MANIFEST,
    "recipe.toml",
    "public/SHA256SUMS",
)


def files_match_manifest(evidence: Evidence) -> Finding:
    """Compare sizes, hashes, rows and columns; a file that cannot be read is an offender too.

    While a dataset is being built its manifest holds no audit yet, and its outer SHA256SUMS is not there:
    that one is asked for only where the manifest is complete.
    """
    published = evidence.dataset
    sums = {name: dict(_sums(published, name)) for name in _sums_files(published)}
    outputs = published.maybe("outputs")
    if outputs is None and not sums and not published.broken:
        raise CannotRun("there is neither a manifest.json nor a SHA256SUMS")
    reader = _Hashes(published)
    problems = [line for name, why in sorted(published.broken.items()) for line in _once(name, why, outputs, published)]
    for name, entry in sorted((outputs or {}).items()):
        if published.is_here(name):
            problems += _output(evidence, reader, name, entry)
    problems += _two_forms(outputs or {})
    problems += forms_that_differ(published)
    problems += [line for name, lines in sums.items() for line in _summed(reader, published, name, lines)]
    problems += _unlisted(published, outputs, sums)
    n_files = len(outputs) if outputs is not None else len(reader.known)
    return finding(list(dict.fromkeys(problems)), f"{n_files} files")


def _once(name: str, why: str, outputs: dict[str, Any] | None, published: Published) -> Iterator[str]:
    """Say what is broken, but leave a missing output to the comparison of outputs."""
    if name in (outputs or {}) and not is_file(published.path(name)):
        return
    yield why


class _Hashes:
    """SHA-256 of files, each read once."""

    def __init__(self, published: Published):
        self.published = published
        self.known: dict[str, str | None] = {}

    def of(self, name: str) -> str | None:
        """Give a file's hash; None where there is no such file."""
        if name not in self.known:
            self.known[name] = _sha256(self.published.path(name))
        return self.known[name]


def _sha256(path: Path) -> str | None:
    if not is_file(path):
        return None
    try:
        with path.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError:
        return "unreadable"


def _output(evidence: Evidence, reader: _Hashes, name: str, entry: dict[str, Any]) -> Iterator[str]:
    path = evidence.dataset.path(name)
    if not is_inside(name):
        yield f"{name} leads out of the folder"
        return
    if not is_file(path):
        yield f"{name} is missing"
        return
    size = path.stat().st_size
    if "bytes" in entry and size != entry["bytes"]:
        yield f"{name} has {size} bytes, not the {entry['bytes']} of manifest.json"
    elif reader.of(name) != entry.get("sha256"):
        yield f"{name} is not the file of manifest.json (its SHA-256 is another)"
    yield from _shape(evidence, name, entry)


def _shape(evidence: Evidence, name: str, entry: dict[str, Any]) -> Iterator[str]:
    """Compare columns and rows with the manifest: whoever mends hashes may forget them."""
    if not name.endswith(TABLE_ENDINGS) or not entry.get("columns"):
        return
    try:
        table = open_table(evidence.dataset.path(name), name=name, separator=entry.get("separator"))
        n_rows = _n_rows(evidence, table)
    except Unreadable as error:
        yield str(error)
        return
    said = [column["name"] for column in entry["columns"]]
    if said != list(table.header):
        yield f"{name} has the columns {', '.join(table.header)}, not those of manifest.json"
    if entry.get("rows") not in (None, n_rows):
        yield f"{name} has {n_rows} rows, not the {entry['rows']} of manifest.json"


def _n_rows(evidence: Evidence, table: Table) -> int:
    """Count the rows; those of the presence-only records are counted already."""
    if any(known.name == table.name and known.has("lon", "lat") for known in evidence.po):
        return evidence.presence_only.n_rows
    return table.n_rows()


def _two_forms(outputs: dict[str, Any]) -> Iterator[str]:
    """Compare the content digests of a table's CSV and Parquet."""
    first: dict[str, tuple[str, object]] = {}
    for name, entry in sorted(outputs.items()):
        role, digest = entry.get("role"), entry.get("content_sha256")
        if role is None or digest is None:
            continue
        other = first.setdefault(str(role), (name, digest))
        if other[1] != digest:
            yield f"{name} has another content than {other[0]}, by manifest.json"


def _sums_files(published: Published) -> list[str]:
    wanted = ["public/SHA256SUMS"] if published.public_only else [SUMS, "public/SHA256SUMS"]
    return [name for name in wanted if published.path(name).is_file()]


def _sums(published: Published, name: str) -> Iterator[tuple[str, str]]:
    """Read one SHA256SUMS: the names are below its own folder."""
    below = name.removesuffix(SUMS)
    for number, line in enumerate(published.path(name).read_text("utf-8", "replace").splitlines(), start=1):
        match = _LINE.fullmatch(line)
        yield (below + match[2], match[1]) if match else (f"{name} line {number}", "")


def _summed(reader: _Hashes, published: Published, name: str, lines: dict[str, str]) -> Iterator[str]:
    for file, said in lines.items():
        if not published.is_here(file):
            continue
        if not said:
            yield f"{file} is not a checksum"
        elif reader.of(file) is None:
            yield f"{file} is missing"
        elif reader.of(file) != said:
            yield f"{file} does not fit {name}"
    folder = published.path(name).parent
    below = name.removesuffix(SUMS)
    for file in files_below(folder):
        if file != SUMS and below + file not in (*lines, *_NOT_SUMMED):
            yield f"{below}{file} is not in {name}"


def _unlisted(published: Published, outputs: dict[str, Any] | None, sums: dict[str, Any]) -> Iterator[str]:
    if outputs is not None:
        for name in files_below(published.folder):
            if name not in outputs and name not in _NOT_OUTPUTS:
                yield f"{name} is not in manifest.json"
        if published.manifest and published.manifest.get("audit") and SUMS not in sums:
            yield f"{SUMS} is missing"
    elif not sums:
        known = {name for name in published.roles if name.split(".")[0] in STANDARD_ROLES}
        yield from (f"{name} is listed nowhere" for name in sorted(set(published.roles) - known))
