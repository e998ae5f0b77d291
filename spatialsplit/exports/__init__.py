"""A built dataset as the files of a competition platform.

`kaggle` and `codabench` each write what their platform asks for, from the dataset's manifest. The scorers
they ship are generated from the library's own source by `portable`, and no competition is exported before
`check_launch` has rehearsed it.
"""

from __future__ import annotations

import csv
import io
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from spatialsplit.errors import ManifestError, OutputError
from spatialsplit.manifest import check_outputs, check_shape, read_manifest
from spatialsplit.submission import Launch, check_launch
from spatialsplit.submission.checking import Columns
from spatialsplit.submission.scoring import ANY_SEPARATOR
from spatialsplit.submission.settings import read_settings
from spatialsplit.submission.tables import Table, as_table
from spatialsplit.submission.tasks import Task


@dataclass(frozen=True)
class Competition:
    """What the exports need to know of a built dataset.

    Attributes
    ----------
    folder : Path
    name : str
    task : Task
        The metric with its options.
    columns : Columns
        Of the solution and of a submission.
    solution, sample : Table
    files : dict of str to Path
        Path of each output by its role in the manifest.
    about : dict
        The recipe's [about].
    launch : Launch
        The four rehearsed scores.
    """

    folder: Path
    name: str
    task: Task
    columns: Columns
    solution: Table
    sample: Table
    files: dict[str, Path]
    about: dict[str, Any]
    launch: Launch = field(repr=False)

    @property
    def title(self) -> str:
        """The title of [about], or the dataset's name where there is none."""
        return self.about.get("title") or self.name

    @property
    def has_parts(self) -> bool:
        """Tell whether the solution has Public and Private rows."""
        return "Usage" in self.solution.names

    def solution_rows(self) -> list[list[str]]:
        """Give the solution in the columns of the sample and Usage, header first."""
        usage = ["Usage"] if self.has_parts else []
        header = [self.columns.id, *self.columns.prediction, *usage]
        return [header, *_rows_of(self.solution, [self.columns.id, *self.columns.truth, *usage])]

    def sample_rows(self) -> list[list[str]]:
        """Give the sample submission, header first, in the same order of columns."""
        names = [self.columns.id, *self.columns.prediction]
        return [names, *_rows_of(self.sample, names)]

    @property
    def submitted_columns(self) -> Columns:
        """The columns of a solution as `solution_rows` writes it: those of a submission."""
        return Columns(self.columns.id, self.columns.prediction, self.columns.prediction)


def _rows_of(table: Table, names: list[str]) -> list[list[str]]:
    return list(map(list, zip(*map(table.column, names), strict=True)))


def open_competition(folder: str | os.PathLike[str]) -> Competition:
    """Read the manifest of a built dataset and rehearse its competition.

    Raises
    ------
    ManifestError
        There is no manifest, or a file it should name.
    SolutionError
        The competition is broken; see `spatialsplit.submission.check_launch`.
    """
    root = Path(folder)
    manifest = read_manifest(root)
    check_outputs(manifest, root)
    check_shape(manifest, {"recipe": {"evaluation": dict, "about": dict}}, root)
    outputs: dict[str, Any] = manifest["outputs"]
    files = {output["role"]: root / path for path, output in outputs.items()}
    missing = [role for role in ("solution", "sample_submission") if role not in files or not files[role].exists()]
    if missing:
        needed = "An export needs the whole dataset, with private/."
        raise ManifestError(f"{root} has no file of the role {' and '.join(missing)}. {needed}")
    recipe = manifest["recipe"]
    evaluation = recipe["evaluation"]
    check_shape(evaluation.get("options", {}), dict, root, "recipe.evaluation.options")
    options = {**_named_columns(outputs, root), **evaluation.get("options", {})}
    metric = evaluation.get("metric", "f1_samples")
    solution = as_table(files["solution"], ANY_SEPARATOR)
    sample = as_table(files["sample_submission"])
    launch = check_launch(solution, sample, metric, **options)
    settings = read_settings(metric, options)
    columns = settings.columns_of(solution.names)
    name = str(manifest.get("name", root.name))
    return Competition(root, name, settings.task, columns, solution, sample, files, recipe["about"], launch)


def _named_columns(outputs: dict[str, Any], root: Path) -> dict[str, str]:
    """Take the names of id and answer columns from the manifest, which knows a layout's own names."""
    wanted = {
        ("solution", "surveyId"): "id_col",
        ("solution", "predictions"): "sol_col",
        ("sample_submission", "predictions"): "sub_col",
    }
    for path, output in outputs.items():
        check_shape(output.get("columns", []), [{"name": str, "means": str}], root, f"outputs.{path}.columns")
    return {
        wanted[output.get("role"), column.get("means")]: column["name"]
        for output in outputs.values()
        for column in output.get("columns", [])
        if (output.get("role"), column.get("means")) in wanted
    }


def csv_text(rows: Iterable[Iterable[str]]) -> str:
    r"""Write rows as CSV with LF.

    Examples
    --------
    >>> csv_text([["Id", "Predicted"], ["1", "2 3"]])
    'Id,Predicted\n1,2 3\n'
    """
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()


@contextmanager
def new_folder(out: str | os.PathLike[str]) -> Iterator[Path]:
    """Give a temporary folder beside `out` that becomes `out` when all is written, and only then."""
    target = Path(out)
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise OutputError(f"{target} is there already. Name a new folder.")
    target.parent.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(dir=target.parent, prefix=f".{target.name}-"))
    try:
        yield folder
        folder.chmod(0o755)
        folder.replace(target)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
