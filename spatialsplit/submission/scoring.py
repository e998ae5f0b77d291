"""Check a submission, or check and score it: the two calls behind the commands of the same names."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from spatialsplit.errors import DataError, SolutionError, first_few
from spatialsplit.submission.checking import (
    Columns,
    Solution,
    read_ids,
    read_solution,
    read_submission,
    row_key,
)
from spatialsplit.submission.intervals import Interval, resampled_interval
from spatialsplit.submission.settings import Settings, read_settings
from spatialsplit.submission.tables import SEPARATORS, Table, as_table
from spatialsplit.submission.tasks import F1Samples, FathomNet, JaccardFBeta, Task, first_unsorted

GROUP_COLUMN = "quadratId"
ANY_SEPARATOR = "".join(SEPARATORS)


@dataclass(frozen=True)
class Score:
    """What a submission scores, as a whole and in each part.

    Attributes
    ----------
    metric : str
    score : float
        Of all rows.
    public, private : float or None
        Of the rows with that Usage; None where there are none.
    n, n_public, n_private : int
        Numbers of rows.
    higher_is_better : bool
    interval : Interval or None
        95 % interval of `score`; None if it was not asked for or there is one quadrat only.
    notes : tuple of str
        What is legal but may be meant otherwise.
    ids, tallies : list
        Row by row, in the order of the solution: see `per_row`.
    """

    metric: str
    score: float
    public: float | None
    private: float | None
    n: int
    n_public: int
    n_private: int
    higher_is_better: bool
    interval: Interval | None
    notes: tuple[str, ...]
    ids: list[Any] = field(repr=False)
    tallies: list[Any] = field(repr=False)
    columns: tuple[str, ...] = field(repr=False)

    def __float__(self) -> float:
        return self.score

    def as_dict(self) -> dict[str, Any]:
        """Give what `spatialsplit score --json` prints."""
        shown = ("metric", "score", "public", "private", "n", "n_public", "n_private", "higher_is_better")
        result: dict[str, Any] = {name: getattr(self, name) for name in shown}
        return {
            **result,
            "interval": asdict(self.interval) if self.interval else None,
            "notes": list(self.notes),
        }

    def per_row(self) -> list[tuple[Any, ...]]:
        """Give a row an id: the id, and the numbers that `columns` names."""
        rows = (tally if isinstance(tally, tuple) else (tally,) for tally in self.tallies)
        return [(row_id, *row) for row_id, row in zip(self.ids, rows, strict=True)]


def check_submission(solution: Any, submission: Any, metric: str = "f1_samples", **options: object) -> tuple[str, ...]:
    """Check a submission as the scorer would, and say all that is wrong with it at once.

    Parameters
    ----------
    solution : path, rows or data frame
        The solution, or a blinded test table: the ids are enough.
    submission : path, rows or data frame
        A path is read strictly as CSV. Rows are mappings from column to cell.
    metric : str
    **options
        Of the metric, as in `read_settings`.

    Returns
    -------
    tuple of str
        Notes: what is legal but may be meant otherwise.

    Raises
    ------
    SubmissionError
        A line a fault, at most ten of a kind, with line, id, column and token; never a true label.
    SolutionError
        The solution itself cannot be used: for the organizer.

    Examples
    --------
    >>> check_submission([{"surveyId": 1}], [{"surveyId": 1, "predictions": "3 12.5"}])  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    spatialsplit.errors.SubmissionError: row 1, surveyId 1, column predictions: '12.5' is a decimal ...
    """
    settings = read_settings(metric, options)
    table = as_table(solution, ANY_SEPARATOR)
    if table.names and settings.is_blind(table.names):
        id_column, columns = settings.columns_of_blind(table.names)
        ids = read_ids(table, settings.task, id_column)
    else:
        truth, columns = open_solution(table, settings)
        ids = truth.ids
    sent = as_table(submission)
    return _notes(settings.task, read_submission(sent, settings.task, columns, ids), ids)


def score(
    solution: Any,
    submission: Any,
    metric: str = "f1_samples",
    *,
    groups: Any = None,
    resamples: int = 1000,
    seed: str = "0",
    **options: object,
) -> Score:
    """Check a submission and score it: all rows, the Public and the Private ones, each from its own rows.

    Parameters
    ----------
    solution, submission : path, rows or data frame
        As in `check_submission`. Parts come from the solution's column Usage.
    metric : str
    groups : path, rows or data frame, optional
        The quadrat of each id: the id column and ``quadratId`` (as ``spatialsplit quadrats`` writes), for the
        interval. A column ``quadratId`` of the solution serves as well. Without any, rows are resampled.
    resamples : int, default 1000
        Of the 95 % interval; 0 for none.
    seed : str
        Of the resampling.
    **options
        Of the metric, as in `read_settings`.

    Returns
    -------
    Score

    Raises
    ------
    SubmissionError, SolutionError
        As in `check_submission`.
    DataError
        An unknown metric or option, or a table of groups that lacks an id.

    Examples
    --------
    >>> result = score([{"surveyId": 1, "predictions": "1 52"}], [{"surveyId": 1, "predictions": "1"}])
    >>> round(float(result), 3), result.n
    (0.667, 1)
    """
    settings = read_settings(metric, options)
    table = as_table(solution, ANY_SEPARATOR)
    truth, columns = open_solution(table, settings)
    predictions = read_submission(as_table(submission), settings.task, columns, truth.ids)
    unit, members = _groups_of(truth, table, columns, settings.task, groups)
    parts, tallies = truth.scores(settings.task, predictions)
    interval = None
    if resamples:
        interval = resampled_interval(settings.task, tallies, members, unit=unit, resamples=resamples, seed=seed)
    sizes = {part: len(rows) for part, rows in truth.parts.items()}
    return Score(
        metric=metric,
        score=parts["score"],
        public=parts.get("public"),
        private=parts.get("private"),
        n=sizes["score"],
        n_public=sizes.get("public", 0),
        n_private=sizes.get("private", 0),
        higher_is_better=settings.task.optimum > 0,
        interval=interval,
        notes=_notes(settings.task, predictions, truth.ids),
        ids=truth.ids,
        tallies=tallies,
        columns=(columns.id, *row_columns(settings.task)),
    )


def open_solution(table: Table, settings: Settings) -> tuple[Solution, Columns]:
    """Read the solution by the columns that the settings find in it."""
    if not table.names:
        raise SolutionError([text for _, text in table.faults] or "The solution has no column.")
    columns = settings.columns_of(table.names)
    return read_solution(table, settings.task, columns), columns


def row_columns(task: Task) -> tuple[str, ...]:
    """Name the numbers that a task's tally of a row holds."""
    if isinstance(task, FathomNet):
        return ("average_precision", "osd_truth", "osd")
    return ("tp", "fp", "fn") if isinstance(task, JaccardFBeta) else (task.metric,)


def _notes(task: Task, predictions: Sequence[Any], ids: Sequence[Any]) -> tuple[str, ...]:
    if not isinstance(task, F1Samples):
        return ()
    unsorted = [row_id for row_id, labels in zip(ids, predictions, strict=True) if first_unsorted(labels)]
    if not unsorted:
        return ()
    first = first_few(unsorted)
    return (f"labels out of order, rows: {len(unsorted):,} (first: {first}); the score is the same.",)


def _groups_of(
    solution: Solution, table: Table, columns: Columns, task: Task, groups: Any
) -> tuple[str, Sequence[Any]]:
    if groups is not None:
        return GROUP_COLUMN, _read_groups(as_table(groups, ANY_SEPARATOR), columns.id, task, solution.ids)
    if GROUP_COLUMN in table.names:
        return GROUP_COLUMN, table.column(GROUP_COLUMN)
    return "row", solution.ids


def _read_groups(table: Table, id_column: str, task: Task, ids: Sequence[Any]) -> list[str]:
    for name in (id_column, GROUP_COLUMN):
        if name not in table.names:
            raise DataError(f"The table of groups has no column '{name}'. It needs '{id_column}' and '{GROUP_COLUMN}'.")
    of_id: dict[Any, str] = {}
    for text, group in zip(table.column(id_column), table.column(GROUP_COLUMN), strict=True):
        row_id = row_key(text, task.integer_ids)
        if of_id.setdefault(row_id, group) != group:
            raise DataError(
                f"The table of groups has {id_column} {row_id} in two quadrats: {of_id[row_id]} and {group}."
            )
    missing = [row_id for row_id in ids if not of_id.get(row_id)]
    if missing:
        raise DataError(
            f"The table of groups lacks {len(missing):,} of {len(ids):,} ids (first: {first_few(missing)})."
        )
    return [of_id[row_id] for row_id in ids]


def write_per_row(result: Score, path: str | os.PathLike[str]) -> None:
    """Write the numbers of each row as CSV. They tell about the truth: for the organizer alone."""
    lines = [",".join(result.columns)]
    lines += [",".join("" if cell is None else _quoted(str(cell)) for cell in row) for row in result.per_row()]
    with open(path, "w", encoding="utf-8", newline="") as file:
        file.write("\n".join(lines) + "\n")


def _quoted(cell: str) -> str:
    return '"' + cell.replace('"', '""') + '"' if any(mark in cell for mark in ',"\n\r') else cell
