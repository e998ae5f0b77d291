"""Rehearse a competition before it opens: score four submissions whose scores are known beforehand.

The scorer of the Coleridge competition did not consider recall on its first day: 0.992 stood on the
leaderboard within twelve hours. An empty, a perfect and an "everything" submission would have shown it; so
would the sample submission, which in other competitions had other ids than the solution.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from spatialsplit.errors import SolutionError, SubmissionError
from spatialsplit.metrics.labels import candidates_fault
from spatialsplit.submission.checking import Columns, Solution, read_submission
from spatialsplit.submission.scoring import ANY_SEPARATOR, open_solution
from spatialsplit.submission.settings import read_settings
from spatialsplit.submission.tables import Table, as_table
from spatialsplit.submission.tasks import F1Samples, FathomNet, JaccardFBeta, Task, TopKError

PARTS = {"score": "All", "public": "Public", "private": "Private"}
CLOSE = 1e-12
MOST_STRING_PAIRS = 20_000_000  # half a minute of comparing strings; more is not tried


@dataclass(frozen=True)
class Trial:
    """What one of the four submissions scores in each part, or why it was not tried."""

    name: str
    scores: dict[str, float]
    reason: str = ""


@dataclass(frozen=True)
class Launch:
    """The four scores of a competition that can be opened."""

    metric: str
    trials: tuple[Trial, ...]

    def lines(self) -> list[str]:
        """Give the table that a person reads."""
        parts = [part for part in PARTS if any(part in trial.scores for trial in self.trials)]
        lines = [f"{self.metric:<14}" + "".join(f"{PARTS[part]:>10}" for part in parts)]
        for trial in self.trials:
            cells = "".join(f"{trial.scores[part]:>10.6f}" for part in parts if part in trial.scores)
            lines.append(f"{trial.name:<14}" + (cells or f"  {trial.reason}"))
        return lines


def check_launch(solution: Any, sample_submission: Any, metric: str = "f1_samples", **options: object) -> Launch:
    """Score four submissions of known quality, and refuse a competition that they show to be broken.

    Parameters
    ----------
    solution, sample_submission : path, rows or data frame
    metric : str
    **options
        Of the metric, as in `spatialsplit.submission.settings.read_settings`.

    Returns
    -------
    Launch
        Four trials, "sample", "empty", "perfect" and "everything"; one that is not legal has a reason and no
        score.

    Raises
    ------
    SolutionError
        A line a reason: the solution has faults, a part has no row or cannot be scored, the sample's ids or
        labels do not fit, the perfect submission does not reach the optimum, or the empty one is not the
        worst.

    Examples
    --------
    >>> truth = [{"surveyId": 1, "predictions": "3 5"}, {"surveyId": 2, "predictions": "5"}]
    >>> sample = [{"surveyId": 1, "predictions": "0"}, {"surveyId": 2, "predictions": "0"}]
    >>> print(*check_launch(truth, sample).lines(), sep=chr(10))
    f1_samples           All
    sample          0.000000
    empty           0.000000
    perfect         1.000000
    everything      0.833333
    """
    settings = read_settings(metric, options)
    task = settings.task
    table = as_table(solution, ANY_SEPARATOR)
    truth, columns = open_solution(table, settings)
    problems = [
        f"The part {name} has no row, though there is a column Usage."
        for part, name in PARTS.items()
        if "Usage" in table.names and part not in truth.parts
    ]
    trials = []
    for name, answers in _submissions(task, truth, columns, sample_submission):
        try:
            predictions = read_submission(answers, task, columns, truth.ids)
        except SubmissionError as error:
            if name == "sample":
                problems += [f"The sample submission does not fit: {problem}" for problem in error.problems]
            trials.append(Trial(name, {}, "not legal by these rules"))
        else:
            trials.append(_trial(name, task, truth, predictions))
    trials.append(_everything(task, truth))
    problems += _broken(task, trials)
    if problems:
        raise SolutionError(problems)
    return Launch(metric, tuple(trials))


def _submissions(task: Task, truth: Solution, columns: Columns, sample: Any) -> list[tuple[str, Table]]:
    names = [columns.id, *columns.prediction]
    rows = range(1, len(truth.ids) + 1)
    empty = [[str(row_id), "", *("0" for _ in task.more_names)] for row_id in truth.ids]
    perfect = [[str(row_id), *_perfect_cells(task, truth.truths[row])] for row, row_id in enumerate(truth.ids)]
    return [
        ("sample", as_table(sample)),
        ("empty", Table(names, empty, rows)),
        ("perfect", Table(names, perfect, rows)),
    ]


def _perfect_cells(task: Task, truth: Any) -> list[str]:
    if isinstance(task, JaccardFBeta):
        return ["|".join(truth)]
    if isinstance(task, FathomNet):
        labels, is_out = truth
        return [_joined(labels), str(is_out)]
    if isinstance(task, TopKError):
        others = (label for label in range(task.k) if label != truth)
        return [_joined([truth, *list(others)[: task.k - 1]] if task.exact_k else [truth])]
    return [_joined(truth)]


def _joined(labels: Sequence[Any]) -> str:
    return " ".join(map(str, sorted(set(labels))))


def _everything(task: Task, truth: Solution) -> Trial:
    """Score all labels on every row; they are not written as text, which would be gigabytes."""
    reason = ""
    answer: Any = None
    if isinstance(task, F1Samples):
        answer = frozenset(label for labels in truth.truths for label in labels)
    elif isinstance(task, TopKError):
        answer = sorted(set(truth.truths))
        fault = candidates_fault(len(answer), task.k, task.on_excess, task.exact_k)
        reason = f"not legal by these rules: {fault}" if fault else ""
    elif isinstance(task, FathomNet):
        answer = (sorted({label for labels, _ in truth.truths for label in labels}), 0.0)
    else:
        answer = sorted({text for texts in truth.truths for text in texts})
        reason = "too many strings to try" if len(answer) * len(truth.ids) > MOST_STRING_PAIRS else ""
    if reason:
        return Trial("everything", {}, reason)
    return _trial("everything", task, truth, [answer] * len(truth.ids))


def _trial(name: str, task: Task, truth: Solution, predictions: Sequence[Any]) -> Trial:
    return Trial(name, truth.scores(task, predictions)[0])


def _broken(task: Task, trials: Sequence[Trial]) -> list[str]:
    """Say where the perfect submission is not the optimum, and where the empty one is not the worst."""
    scores = {trial.name: trial.scores for trial in trials}
    problems = [
        f"A perfect submission scores {score:.6f} and not {task.optimum:g} in the part {PARTS[part]}."
        for part, score in scores["perfect"].items()
        if abs(score - task.optimum) > CLOSE
    ]
    if not scores["perfect"]:
        problems.append("A perfect submission is not legal by these rules.")
    sign = 1 if task.optimum else -1
    for name in _comparable(task):
        problems += [
            f"An empty submission scores {scores['empty'][part]:.6f} in the part {PARTS[part]}, "
            f"better than the {name} one ({score:.6f})."
            for part, score in scores[name].items()
            if part in scores["empty"] and sign * (scores["empty"][part] - score) > CLOSE
        ]
    return problems


def _comparable(task: Task) -> tuple[str, ...]:
    # a confidence that orders the images wrongly is worse than none, so FathomNet's sample may be the worst
    return ("perfect", "everything") if isinstance(task, FathomNet) else ("sample", "perfect", "everything")
