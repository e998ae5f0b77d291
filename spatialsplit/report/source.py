"""What a report is made from: the written files and the audit's view of them, and nothing else.

A public report never has the private files before it: it is made in a folder that holds the public ones alone, so that
no mistake further on can show what is not there.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from spatialsplit.audit.checks import audit
from spatialsplit.audit.evidence import Evidence, gather
from spatialsplit.audit.published import MANIFEST, Published, read_published
from spatialsplit.audit.report import AuditReport, CannotRun
from spatialsplit.audit.tables import Table
from spatialsplit.errors import DataError

BESIDE = (MANIFEST, "SHA256SUMS", "recipe.toml")
"""What a stranger has beside `public/`; the audit compares them, the page shows of them only the manifest."""


@dataclass(frozen=True)
class Source:
    """One dataset to report on.

    Attributes
    ----------
    evidence : Evidence
        All surveys, and what one pass over the presence-only records found.
    audit : AuditReport
    public : bool
        Whether everybody may read the page.
    run : dict
        When and with which libraries it was built; empty where that is not known or not said.
    """

    evidence: Evidence
    audit: AuditReport
    public: bool = False
    run: dict[str, Any] | None = None

    @property
    def published(self) -> Published:
        """The files and the manifest."""
        return self.evidence.dataset

    def said(self, *keys: str, kind: Any = dict, default: Any = None) -> Any:
        """Give one part of the manifest, or the default where it is missing or of another kind."""
        return self.published.maybe(*keys, kind=kind, default=default)

    def table(self, role: str) -> Table | None:
        """Give the table of a role, or None where there is none that can be read."""
        try:
            return self.published.table(role)
        except CannotRun:
            return None


@contextmanager
def open_source(folder: Path, *, public: bool = False) -> Iterator[Source]:
    """Audit a dataset and give what a report of it is made from.

    Raises
    ------
    DataError
        No such folder, or nothing of a dataset in it; a public report is wanted of a folder without public files.
    """
    if public and (folder / "public").is_dir():
        with TemporaryDirectory() as alone:
            _link_public(folder, Path(alone))
            yield audited(Path(alone), public=True)
    else:
        source = audited(folder, public=public)
        if public and not source.published.public_only:
            raise DataError(
                f"There is no public/ folder in {folder}. A public report is made from the public files alone. Give "
                "the dataset that has them, or its public/ folder by itself."
            )
        yield source if source.public else replace(source, run=read_run(folder))


def audited(folder: Path, *, seed: str | None = None, public: bool = False) -> Source:
    """Audit a folder and keep what the audit saw; a folder of public files alone makes a public source.

    The seed serves the audit, and the page is not told of it.
    """
    published = read_published(folder)
    evidence = gather(published, seed=seed)
    return Source(evidence, audit(evidence), public or published.public_only)


def _link_public(folder: Path, alone: Path) -> None:
    """Put the public files into another folder, without copying where the system has links."""
    for path in sorted((folder / "public").rglob("*")):
        if path.is_file():
            _link(path, alone / path.relative_to(folder))
    for name in BESIDE:
        if (folder / name).is_file():
            _link(folder / name, alone / name)


def _link(path: Path, place: Path) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    try:
        os.symlink(path.resolve(), place)
    except OSError:  # a system, or a user, that may not make links
        shutil.copyfile(path, place)


def read_run(folder: Path) -> dict[str, Any]:
    """Read run.json, where there is one that can be read."""
    try:
        run = json.loads((folder / "run.json").read_text("utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return run if isinstance(run, dict) else {}
