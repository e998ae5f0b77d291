"""Submissions: check, score, rehearse and write them.

From the file to the number: `tables` (cells as text) → `tasks` (what they mean to a metric) → `checking`
(ids, faults) → `scoring` (parts, rows, interval). `launch` rehearses a competition before it opens; `writing`
is for participants.
"""

from spatialsplit.submission.scoring import Score, check_submission, score

__all__ = ["Score", "check_submission", "score"]
