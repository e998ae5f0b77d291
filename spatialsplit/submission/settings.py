"""Which task a metric's name and options mean, and what the columns of its files are called."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields

from spatialsplit.errors import DataError, SolutionError, nearest_name, shown
from spatialsplit.submission.checking import Columns
from spatialsplit.submission.tasks import F1Samples, FathomNet, JaccardFBeta, Task, TopKError

TASKS: dict[str, type[Task]] = {
    "f1_samples": F1Samples,
    "top_k_error": TopKError,
    "fathomnet": FathomNet,
    "jaccard_fbeta": JaccardFBeta,
}
COLUMN_OPTIONS = ("id_col", "sol_col", "sub_col")


@dataclass(frozen=True)
class Settings:
    """A task, and the names of its columns where they are not the known ones."""

    task: Task
    id_col: str | None = None
    sol_col: str | None = None
    sub_col: str | None = None

    def columns_of(self, solution_names: Sequence[str]) -> Columns:
        """Find the columns of a solution, and with them what a submission has to have.

        Raises
        ------
        SolutionError
            The solution has none of the known columns.
        """
        task = self.task
        row_id = self.id_col or _first_known(task.id_names, solution_names)
        truth = self.sol_col or _first_known(tuple(task.answer_names), solution_names)
        if row_id is None or truth is None:
            raise SolutionError(_unknown_columns(task, solution_names))
        prediction = self.sub_col or task.answer_names.get(truth, truth)
        return Columns(row_id, (truth, *task.more_names), (prediction, *task.more_names))

    def is_blind(self, table_names: Sequence[str]) -> bool:
        """Tell whether a table has ids but no truth, as a blinded test table."""
        return not any(name in table_names for name in ([self.sol_col] if self.sol_col else self.task.answer_names))

    def columns_of_blind(self, names: Sequence[str]) -> tuple[str, Columns]:
        """Find the id column of a blinded table, and what a submission for it has to have.

        A blinded table of GeoLifeCLEF 2022 has ``observation_id`` where its submission has ``Id``.
        """
        task = self.task
        row_id = self.id_col or _first_known(task.id_names, names)
        if row_id is None:
            raise SolutionError(_unknown_columns(task, names))
        submitted_id = "Id" if row_id == "observation_id" and not self.id_col else row_id
        answers = list(dict.fromkeys(task.answer_names.values()))
        prediction = self.sub_col or (answers[-1] if submitted_id == "Id" else answers[0])
        return row_id, Columns(submitted_id, (), (prediction, *task.more_names))


def read_settings(metric: str, options: Mapping[str, object]) -> Settings:
    """Make a task of a metric's name and options, as a recipe or the command line has them.

    Parameters
    ----------
    metric : {"f1_samples", "top_k_error", "fathomnet", "jaccard_fbeta"}
    options : mapping
        The metric's own, and ``id_col``, ``sol_col``, ``sub_col``.

    Raises
    ------
    DataError
        An unknown metric, option or value.

    Examples
    --------
    >>> read_settings("top_k_error", {"k": 3}).task
    TopKError(k=3, on_excess='error', exact_k=False)
    """
    if metric not in TASKS:
        meant = nearest_name(metric, TASKS)
        hint = f" Did you mean {meant!r}?" if meant else ""
        raise DataError(f"Unknown metric {metric!r}. Known: {', '.join(TASKS)}.{hint}")
    known = option_types(metric)
    for name, value in options.items():
        if name in COLUMN_OPTIONS:
            continue
        if name not in known:
            raise DataError(f"Unknown option {name!r} of {metric}. Known: {', '.join((*known, *COLUMN_OPTIONS))}.")
        _check_type(metric, name, value, known[name])
    own = {name: value for name, value in options.items() if name not in COLUMN_OPTIONS}
    columns = {name: str(options[name]) for name in COLUMN_OPTIONS if options.get(name) is not None}
    return Settings(TASKS[metric](**own), **columns)


def option_types(metric: str) -> dict[str, type]:
    """Give the options of a metric with the type of each."""
    return {field.name: type(field.default) for field in fields(TASKS[metric])}


def _check_type(metric: str, name: str, value: object, wanted: type) -> None:
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    fits = is_number if wanted is float else type(value) is wanted
    if not fits:
        raise DataError(f"Invalid {name} {value!r} of {metric}. It must be of type {wanted.__name__}.")


def _first_known(known: Sequence[str], names: Sequence[str]) -> str | None:
    return next((name for name in known if name in names), None)


def _unknown_columns(task: Task, names: Sequence[str]) -> str:
    known = f"{' or '.join(task.id_names)} for the id, {' or '.join(task.answer_names)} for the answer"
    return (
        f"The columns '{shown(','.join(names))}' of the solution are not known to {task.metric}. Known: {known}. "
        "Name others by --id-col, --sol-col and --sub-col."
    )
