"""Submissions: check, score, rehearse and write them.

From the file to the number: `tables` (cells as text) → `tasks` (what they mean to a metric) → `checking`
(ids, faults) → `scoring` (parts, rows, interval). `launch` rehearses a competition before it opens; `writing`
is for participants, and the one module here that needs numpy at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from spatialsplit.submission.launch import Launch, Trial, check_launch
from spatialsplit.submission.scoring import Score, check_submission, score, write_per_row

if TYPE_CHECKING:
    from spatialsplit.submission.writing import threshold_sets, top_k_sets, write_submission

__all__ = [
    "Launch",
    "Score",
    "Trial",
    "check_launch",
    "check_submission",
    "score",
    "threshold_sets",
    "top_k_sets",
    "write_per_row",
    "write_submission",
]


def __getattr__(name: str) -> Any:
    if name not in ("threshold_sets", "top_k_sets", "write_submission"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    # imported late: a score needs no numpy
    from spatialsplit.submission import writing

    return getattr(writing, name)
