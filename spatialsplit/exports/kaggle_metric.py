"""The part of Kaggle's `metric.py` that is the same for every metric; `kaggle.py` puts `score` around it."""

from __future__ import annotations

import math

import pandas as pd

from spatialsplit.errors import SolutionError, SubmissionError
from spatialsplit.submission.checking import Columns, read_solution, read_submission
from spatialsplit.submission.tables import table_from_frame
from spatialsplit.submission.tasks import Task


class ParticipantVisibleError(Exception):
    """A fault of the submission: the only kind of error that Kaggle shows to participants."""


def score_frames(solution: pd.DataFrame, submission: pd.DataFrame, columns: Columns, task: Task) -> float:
    """Match two frames by id and score them, or refuse with all faults at once.

    Kaggle has guessed the columns' types, aligned the rows and taken Usage away, and calls once a part; ids
    are checked all the same, and 5, 5.0 and "5" are one label.
    """
    truth = read_solution(table_from_frame(solution), task, columns)
    try:
        predictions = read_submission(table_from_frame(submission), task, columns, truth.ids)
    except SubmissionError as error:
        raise ParticipantVisibleError(str(error)) from None
    scores, _ = truth.scores(task, predictions)
    result = float(scores["score"])
    if not math.isfinite(result):
        raise SolutionError("The score is not finite.")
    return result
