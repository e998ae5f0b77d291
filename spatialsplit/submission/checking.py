"""Two tables and a task in; truths and predictions by id, or all faults at once, out.

Two kinds of fault, as on Kaggle: the participant's (`SubmissionError`: shown, with line, id, column and
token) and the organizer's (`SolutionError`: with line, id and column, and never a token, since a token of the
solution is truth). The solution is read first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from spatialsplit.errors import SolutionError, SubmissionError, first_few, nearest_name, shown
from spatialsplit.submission.faults import Faults
from spatialsplit.submission.tables import Table
from spatialsplit.submission.tasks import INTEGER, Task, integer_fault

USAGE = "Usage"
PARTS = {"Public": "public", "Private": "private"}
LONGEST_TOKEN = 40
LONGEST_HEADER = 200


@dataclass(frozen=True)
class Columns:
    """The names of the id column, and of the columns that are read in each of the two files."""

    id: str
    truth: tuple[str, ...]
    prediction: tuple[str, ...]


@dataclass(frozen=True)
class Solution:
    """The truth of each id, in the order of the solution, and the rows of each part.

    Attributes
    ----------
    ids : list of int or str
    truths : list
        As the task reads them.
    parts : dict
        Row numbers of "score" (all rows) and, where there is a column Usage, of "public" and "private".
    """

    ids: list[Any]
    truths: list[Any]
    parts: dict[str, list[int]]

    def scores(self, task: Task, predictions: Sequence[Any]) -> tuple[dict[str, float], list[Any]]:
        """Score each part from its own rows, and give the tallies of the rows beside.

        An AUC or a pooled F score of the whole is no mean of its parts'.
        """
        tallies = list(map(task.tally, self.truths, predictions))
        return {part: task.combine([tallies[row] for row in rows]) for part, rows in self.parts.items()}, tallies


class RowComplaints:
    """Words a fault of a row with its line, id, column and token; `shows_tokens` is False for a solution."""

    def __init__(self, table: Table, columns: Sequence[str], faults: Faults, *, shows_tokens: bool) -> None:
        self.table = table
        self.columns = columns
        self.faults = faults
        self.shows_tokens = shows_tokens
        self.row = 0

    @property
    def place(self) -> str:
        """Name the line of the row, or its number."""
        return f"{self.table.unit} {self.table.places[self.row]}"

    def __call__(self, kind: str, position: int, token: str, text: str) -> None:
        """Note a fault in one of the answer columns."""
        where = self.place
        if self.columns[0] in self.table.names:
            row_id = self.table.rows[self.row][self.table.names.index(self.columns[0])]
            where += f", {self.columns[0]} {shortened(row_id) or '(empty)'}"
        shown = repr(shortened(token)) if self.shows_tokens else "a token"
        fault = f"{shown} {text}" if token else text
        self.faults.add(kind, f"{where}, column {self.columns[1 + position]}: {fault}")

    def id_fault(self, kind: str, cell: str, text: str) -> None:
        """Note a fault in the id column."""
        subject = repr(shortened(cell)) if cell else "the id"
        self.faults.add(kind, f"{self.place}, column {self.columns[0]}: {subject} {text}")


def shortened(token: str) -> str:
    """Cut a token that would fill the screen, and keep it on one line."""
    return shown(token, longest=LONGEST_TOKEN)


def read_solution(table: Table, task: Task, columns: Columns) -> Solution:
    """Read the truth, or refuse it with all that the organizer has to mend.

    Parameters
    ----------
    table : Table
        May have more columns than those that are read.
    task : Task
    columns : Columns

    Raises
    ------
    SolutionError
        A line a fault, none with a true label in it.
    """
    faults = Faults()
    faults.extend(table.faults)
    if not faults:
        check_header(table, (columns.id, *columns.truth), faults, more_allowed=True)
    if faults:
        raise SolutionError(faults.lines())
    complain = RowComplaints(table, (columns.id, *columns.truth), faults, shows_tokens=False)
    truths = read_rows(task.read_truth, task.integer_ids, complain)
    parts = _parts(table, complain)
    if not faults:
        _check_parts(task, list(truths.values()), parts, faults)
    if faults:
        raise SolutionError(faults.lines())
    return Solution(list(truths), list(truths.values()), parts)


def read_ids(table: Table, task: Task, id_column: str) -> list[Any]:
    """Read the ids of a blinded test table, which may stand in for a solution."""
    faults = Faults()
    faults.extend(table.faults)
    if not faults:
        check_header(table, (id_column,), faults, more_allowed=True)
    if not faults:
        complain = RowComplaints(table, (id_column,), faults, shows_tokens=False)
        ids = read_rows(lambda cells, complain: None, task.integer_ids, complain)
    if faults:
        raise SolutionError(faults.lines())
    return list(ids)


def read_submission(table: Table, task: Task, columns: Columns, ids: Sequence[Any]) -> list[Any]:
    """Read the predictions in the order of the ids, or refuse them with all that the participant has to mend.

    Raises
    ------
    SubmissionError
        A line a fault, at most ten of a kind.
    """
    faults = Faults()
    faults.extend(table.faults)
    names = (columns.id, *columns.prediction)
    check_header(table, names, faults, more_allowed=False)
    complain = RowComplaints(table, names, faults, shows_tokens=True)
    predictions = read_rows(task.read_prediction, task.integer_ids, complain)
    if table.rows and columns.id in table.names:
        _check_ids(complain, task.integer_ids, predictions, ids)
    if faults:
        raise SubmissionError(faults.lines())
    return [predictions[row_id] for row_id in ids]


def check_header(table: Table, expected: Sequence[str], faults: Faults, *, more_allowed: bool) -> None:
    """Note columns that are missing, repeated or, unless more are allowed, not expected."""
    if not table.names:
        return
    where = "line 1" if table.unit == "line" else "columns"
    missing = [name for name in expected if name not in table.names]
    extra = [name for name in table.names if name not in expected]
    if len(missing) == len(expected):
        found = shown(",".join(map(shortened, table.names)), longest=LONGEST_HEADER)
        faults.add("header", f"{where}: the header must be '{','.join(expected)}' and is '{found}'. Is it missing?")
        return
    for name in missing:
        meant = nearest_name(name, extra)
        hint = f" '{meant}' is there: names are compared letter by letter." if meant else ""
        faults.add("header", f"{where}: the required column '{name}' is missing.{hint}")
    for name in [] if more_allowed else extra:
        hint = " Write the file with index=False." if name.startswith("Unnamed") or not name else ""
        faults.add("header", f"{where}: the column '{shortened(name)}' is not expected.{hint}")
    for name in expected:
        if table.names.count(name) > 1:
            faults.add("header", f"{where}: the column '{name}' is there more than once.")
    if not (table.rows or table.cut_ids or table.faults):
        faults.add("header", f"{where}: there is no row below the header.")


def read_rows(
    read: Callable[[Sequence[str], RowComplaints], Any], integer_ids: bool, complain: RowComplaints
) -> dict[Any, Any]:
    """Read each row by its id; ids that are bad or repeated, and what `read` finds, are noted."""
    table, (id_column, *answers) = complain.table, complain.columns
    places = [table.names.index(name) for name in answers if name in table.names]
    id_place = table.names.index(id_column) if id_column in table.names else None
    is_complete = len(places) == len(answers)
    values: dict[Any, Any] = {}
    first_rows: dict[Any, int] = {}
    for row, cells in enumerate(table.rows):
        complain.row = row
        value = read([cells[place] for place in places], complain) if is_complete else None
        row_id = None if id_place is None else _read_id(cells[id_place], integer_ids, complain)
        if row_id in first_rows:
            first = table.places[first_rows[row_id]]
            complain.id_fault("repeated", str(row_id), f"is there twice, first in {table.unit} {first}.")
        elif row_id is not None:
            first_rows[row_id] = row
            values[row_id] = value
    return values


def _read_id(cell: str, integer_ids: bool, complain: RowComplaints) -> Any:
    if not cell:
        complain.id_fault("id", cell, "is empty.")
        return None
    row_id = row_key(cell, integer_ids)
    if integer_ids and row_id is cell:
        complain.id_fault("id", cell, integer_fault(cell))
        return None
    return row_id


def row_key(cell: str, integer_ids: bool) -> Any:
    """Give what an id is compared as: an integer where ids are integers and this is one, else its text.

    Examples
    --------
    >>> row_key("007", True), row_key("007", False)
    (7, '007')
    """
    return int(cell) if integer_ids and INTEGER.fullmatch(cell) else cell


def _check_ids(complain: RowComplaints, integer_ids: bool, found: Iterable[Any], ids: Sequence[Any]) -> None:
    known, sent = set(ids), list(found)
    unknown = [row_id for row_id in sent if row_id not in known]
    column = complain.columns[0]
    if sent and len(unknown) == len(sent):
        text = f"none of the {len(sent):,} ids is one of the test's {len(known):,} (first: {first_few(sent)})."
        complain.faults.add("unknown", f"column {column}: {text} Is this the file of another test set?")
        return
    _note_unknown(complain, integer_ids, set(unknown))
    cut = {row_key(cell, integer_ids) for cell in complain.table.cut_ids}
    present = cut.union(sent)
    missing = [row_id for row_id in ids if row_id not in present]
    if missing:
        text = f"{len(missing):,} of {len(known):,} ids are missing (first: {first_few(missing, shown=10)})."
        complain.faults.add("missing", f"column {column}: {text} Every id needs a row; an empty prediction is legal.")


def _note_unknown(complain: RowComplaints, integer_ids: bool, unknown: set[Any]) -> None:
    if not unknown:
        return
    for row, cell in enumerate(complain.table.column(complain.columns[0])):
        complain.row = row
        if row_key(cell, integer_ids) in unknown:
            complain.id_fault("unknown", cell, "is not an id of the test.")


def _parts(table: Table, complain: RowComplaints) -> dict[str, list[int]]:
    parts: dict[str, list[int]] = {"score": list(range(len(table.rows)))}
    if USAGE not in table.names:
        return parts
    parts.update({key: [] for key in PARTS.values()})
    for row, usage in enumerate(table.column(USAGE)):
        if usage in PARTS:
            parts[PARTS[usage]].append(row)
        else:
            complain.row = row
            where = f"{complain.place}, column {USAGE}"
            complain.faults.add("usage", f"{where}: '{shortened(usage)}' is neither 'Public' nor 'Private'.")
    # a part without a row has no score; before a launch that is a fault, here it is a file of one part
    return {key: rows for key, rows in parts.items() if rows}


def _check_parts(task: Task, truths: Sequence[Any], parts: dict[str, list[int]], faults: Faults) -> None:
    names = {"score": "All", "public": "Public", "private": "Private"}
    for key, rows in parts.items():
        fault = task.part_fault([truths[row] for row in rows])
        if fault:
            faults.add("part", f"The part {names[key]} cannot be scored: {fault}")
