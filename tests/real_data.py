"""Where the tests find real records and known answers: beside the repository, and not in it."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, NoReturn

import pytest

SHARED = Path(__file__).resolve().parents[2] / "shared"


def data_folder() -> Path:
    """Give the folder of real records, or skip the test; on the build machine (CI=true) fail instead."""
    named = os.environ.get("SPATIALSPLIT_DATA")
    folder = Path(named) if named else SHARED / "data"
    if not folder.is_dir():
        _absent(f"Real records are neither in $SPATIALSPLIT_DATA ({named or 'not set'}) nor in {SHARED / 'data'}.")
    return folder


def known_answers(name: str, *topics: str) -> list[dict[str, Any]]:
    """Give the cases of one file of known answers, of some topics only where they are named."""
    named = os.environ.get("SPATIALSPLIT_DATA")
    folders = [SHARED / "known_answers", *([Path(named).parent / "known_answers"] if named else [])]
    path = next((folder / name for folder in folders if (folder / name).is_file()), None)
    if path is None:
        _absent(f"There are no known answers in {folders[0]}, nor beside $SPATIALSPLIT_DATA ({named or 'not set'}).")
    cases: list[dict[str, Any]] = json.loads(path.read_text("utf-8"))["cases"]
    return [case for case in cases if not topics or case["topic"] in topics]


def _absent(why: str) -> NoReturn:
    if os.environ.get("CI", "").casefold() == "true":
        pytest.fail(why)
    pytest.skip(why)
