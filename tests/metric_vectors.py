"""The known answers of the four metrics, and how a case becomes CSV text."""

import csv
import io
import json
import os
from pathlib import Path

import pytest

TOLERANCE = 1e-12


def _folder() -> Path | None:
    shared = Path(__file__).parents[2] / "shared" / "known_answers"
    data = os.environ.get("SPATIALSPLIT_DATA")
    places = [shared, *([Path(data).parent / "known_answers"] if data else [])]
    return next((place for place in places if place.is_dir()), None)


def _load() -> list[dict]:
    folder = _folder()
    if folder is not None:
        return json.loads((folder / "metric_vectors.json").read_text("utf-8"))["cases"]
    if os.environ.get("CI") == "true":
        raise FileNotFoundError("CI needs ../shared/known_answers (or its sibling of $SPATIALSPLIT_DATA).")
    return []


CASES = _load()
_SKIPPED = pytest.param(None, marks=pytest.mark.skip(reason="neither ../shared/known_answers nor $SPATIALSPLIT_DATA"))


def _over(cases: list[dict]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("case", cases or [_SKIPPED], ids=lambda case: case["id"] if case else "none")


every_vector = _over(CASES)
every_vector_of_rows = _over([case for case in CASES if "submission" in case])
needs_vectors = pytest.mark.skipif(not CASES, reason="neither ../shared/known_answers nor $SPATIALSPLIT_DATA")


def csv_text(rows: list[dict]) -> str:
    """Write rows as a participant's CSV would hold them; null is an empty cell."""
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n", restval="")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def submission_text(case: dict) -> str:
    """Give the submission of a case as CSV text."""
    return case["submission_csv"] if "submission_csv" in case else csv_text(case["submission"])


def agrees(case: dict, outcome: float | str) -> bool:
    """Tell whether a score, or the kind of an error, is the expected one."""
    expected = case["error_kind"] if case["expect"] == "error" else case["expect"]
    if isinstance(expected, str) or isinstance(outcome, str):
        return outcome == expected
    return abs(outcome - expected) <= TOLERANCE
