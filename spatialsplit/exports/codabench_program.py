"""The scoring program of a Codabench bundle: `python3 scoring.py INPUT OUTPUT`.

Reads the truth in INPUT/ref and the one CSV file in INPUT/res, writes OUTPUT/scores.json. A submission with
faults gets exit code 1, a line a fault on stderr, and no scores: a failed submission without a score cannot
stand on the leaderboard. What only the organizer can mend is told without detail, since participants read
stderr.
"""

from __future__ import annotations

import json
import math
import os
import sys

from spatialsplit.errors import SolutionError, SubmissionError
from spatialsplit.submission.checking import Columns, read_solution, read_submission
from spatialsplit.submission.tables import read_csv
from spatialsplit.submission.tasks import F1Samples, Task

TASK: Task = F1Samples()
COLUMNS = Columns("surveyId", ("predictions",), ("predictions",))


def main(input_dir: str, output_dir: str) -> int:
    """Score the submission of a run and give the exit code."""
    try:
        scores = score_run(os.path.join(input_dir, "ref"), os.path.join(input_dir, "res"))
    except SubmissionError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    except Exception as error:
        # a traceback could hold a true label
        sys.stderr.write(f"The scorer failed ({type(error).__name__}). Please tell the organizers.\n")
        return 2
    os.makedirs(output_dir, exist_ok=True)
    with open(os.path.join(output_dir, "scores.json"), "w", encoding="utf-8") as file:
        json.dump(scores, file)
    return 0


def score_run(reference: str, results: str) -> dict[str, float]:
    """Score the parts that this phase shows."""
    truth = read_solution(read_csv(os.path.join(reference, "solution.csv"), ",;\t"), TASK, COLUMNS)
    predictions = read_submission(read_csv(submitted_file(results)), TASK, COLUMNS, truth.ids)
    scores, _ = truth.scores(TASK, predictions)
    if not all(map(math.isfinite, scores.values())):
        raise SolutionError("A score is not finite.")
    shown = shown_parts(reference)
    return {part: score for part, score in scores.items() if shown is None or part in shown}


def shown_parts(reference: str) -> list[str] | None:
    """Read which scores this phase may compute; None for all.

    Codabench's hidden columns have been readable through its API, so a phase that must not tell the private
    score must not write it.
    """
    path = os.path.join(reference, "parts.json")
    if not os.path.exists(path):
        return None
    with open(path, encoding="utf-8") as file:
        parts: list[str] = json.load(file)
    return parts


def submitted_file(results: str) -> str:
    """Find the one CSV file of a submission, which may lie in a folder of its zip archive."""
    found = [
        os.path.join(folder, name)
        for folder, _, names in os.walk(results)
        for name in names
        if name.lower().endswith(".csv") and "__MACOSX" not in folder and not name.startswith(".")
    ]
    if len(found) != 1:
        names = ", ".join(sorted(os.path.relpath(path, results) for path in found)) or "none"
        raise SubmissionError(f"The zip archive must hold exactly one CSV file; found: {names}.")
    return found[0]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2]))
