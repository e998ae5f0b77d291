"""Where the tests find real records and known answers: beside the repository, and not in it."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
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
    path = next((folder / name for folder in _answer_folders() if (folder / name).is_file()), None)
    if path is None:
        _absent(_no_answers())
    cases: list[dict[str, Any]] = json.loads(path.read_text("utf-8"))["cases"]
    return [case for case in cases if not topics or case["topic"] in topics]


def each_known_answer(name: str, *topics: str, where: Callable[[dict[str, Any]], bool] | None = None) -> Any:
    """Decorate a test to run for each case; where there are none it is skipped, and the other tests of its file run."""
    if any((folder / name).is_file() for folder in _answer_folders()):
        cases = [case for case in known_answers(name, *topics) if where is None or where(case)]
        return pytest.mark.parametrize("case", cases, ids=[case["id"] for case in cases])
    if _on_the_build_machine():
        raise FileNotFoundError(_no_answers())
    return pytest.mark.parametrize(
        "case", [pytest.param({}, marks=pytest.mark.skip(reason=_no_answers()))], ids=["none"]
    )


def _answer_folders() -> list[Path]:
    named = os.environ.get("SPATIALSPLIT_DATA")
    return [SHARED / "known_answers", *([Path(named).parent / "known_answers"] if named else [])]


def _no_answers() -> str:
    named = os.environ.get("SPATIALSPLIT_DATA", "not set")
    return f"There are no known answers in {SHARED / 'known_answers'}, nor beside $SPATIALSPLIT_DATA ({named})."


def _on_the_build_machine() -> bool:
    return os.environ.get("CI", "").casefold() == "true"


def _absent(why: str) -> NoReturn:
    if _on_the_build_machine():
        pytest.fail(why)
    pytest.skip(why)
