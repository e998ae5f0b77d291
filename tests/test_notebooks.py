"""The notebooks run as they stand, and what is committed of them is small and tells nothing of a machine."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.doc_world import REPOSITORY

NOTEBOOKS = sorted((REPOSITORY / "notebooks").glob("*.ipynb"))

LARGEST_BYTES = 300_000

PLACE = re.compile(r"/(home|root|tmp|work|Users|usr|opt)/\w+|[A-Z]:\\\\")

RUN = """
import pathlib, sys
from notebooks.run import executed
executed(*map(pathlib.Path, sys.argv[1:]))
"""

named = pytest.mark.parametrize("path", NOTEBOOKS, ids=[path.stem for path in NOTEBOOKS])


def cells(path: Path) -> list[dict[str, Any]]:
    """Give the cells of a notebook."""
    found: list[dict[str, Any]] = json.loads(path.read_text("utf-8"))["cells"]
    return found


def run(path: Path, folder: Path, **env: str) -> None:
    """Run a notebook in a folder, with its kernel in a process of its own."""
    import os

    command = [sys.executable, "-c", RUN, str(path), str(folder)]
    done = subprocess.run(command, cwd=REPOSITORY, env={**os.environ, **env}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]


def test_there_are_five() -> None:
    """The five of the tutorial, in their order."""
    assert [path.stem.split("-")[0] for path in NOTEBOOKS] == ["1", "2", "3", "4", "5"]


@named
def test_a_notebook_runs(path: Path, tmp_path: Path) -> None:
    """From its first cell to its last, in an empty folder."""
    run(path, tmp_path)


def test_the_audit_of_a_split_runs_without_the_real_records(tmp_path: Path) -> None:
    """On records that are made up in the same form, with the same two leaks."""
    run(NOTEBOOKS[2], tmp_path, SPATIALSPLIT_DATA=str(tmp_path / "nowhere"))
    assert (tmp_path / "observations.csv").is_file()


@named
def test_the_outputs_are_there_and_small(path: Path) -> None:
    """A reader sees them without running anything; the repository stays light."""
    assert path.stat().st_size < LARGEST_BYTES
    assert any(cell.get("outputs") for cell in cells(path))
    assert all(cell["execution_count"] for cell in cells(path) if cell["cell_type"] == "code")


@named
def test_the_outputs_tell_nothing_of_a_machine(path: Path) -> None:
    """No path, no error, nothing on standard error, no time of a run."""
    outputs = [output for cell in cells(path) for output in cell.get("outputs", [])]
    texts = json.dumps([{**each, "data": {**each.get("data", {}), "image/png": ""}} for each in outputs])
    assert not PLACE.search(texts)
    assert not [each for each in outputs if each["output_type"] == "error" or each.get("name") == "stderr"]
    assert not [cell for cell in cells(path) if "execution" in cell["metadata"]]


def test_no_real_record_stands_in_an_output() -> None:
    """Of fetched data there are counts and curves, and no row."""
    outputs = [output for cell in cells(NOTEBOOKS[2]) for output in cell.get("outputs", [])]
    text = json.dumps([each.get("text") or {**each["data"], "image/png": ""} for each in outputs])
    assert "shared" in text
    assert not re.search(r"\b[12]\d{7}\b|observation_id|latitude", text)


@named
def test_a_picture_has_a_text_and_a_notebook_has_prose(path: Path) -> None:
    """More cells tell than none, and who hears the page knows what a picture shows."""
    told = [cell for cell in cells(path) if cell["cell_type"] == "markdown"]
    assert len(told) >= 4
    for cell in cells(path):
        if any("image/png" in output.get("data", {}) for output in cell.get("outputs", [])):
            assert cell["metadata"]["mystnb"]["image"]["alt"]
