"""What the published files are called, and their columns, in our own layout and in those of past competitions.

A role is what a file is for (`po_train`, `solution`, …); a layout gives it a name, a separator and its columns' names.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from spatialsplit.errors import DataError, first_few


@dataclass(frozen=True)
class FileForm:
    """How one file of a layout looks.

    Attributes
    ----------
    name : str
    separator : str
    renamed : mapping of str to str
        Our name of a column to the layout's.
    only : tuple of str, optional
        Our names of the columns that it has, in order; None for all.
    """

    name: str
    separator: str = ","
    renamed: Mapping[str, str] = field(default_factory=dict)
    only: tuple[str, ...] | None = None

    def column_name(self, means: str) -> str:
        """Give the layout's name of a column."""
        return self.renamed.get(means, means)


STANDARD: Mapping[str, FileForm] = {
    "po_train": FileForm("public/PO_train.csv"),
    "pa_train": FileForm("public/PA_train.csv"),
    "pa_train_empty": FileForm("public/PA_train_empty.csv"),
    "pa_val": FileForm("public/PA_val.csv"),
    "pa_test_blind": FileForm("public/PA_test_blind.csv"),
    "species": FileForm("public/species.csv"),
    "sample_submission": FileForm("public/sample_submission.csv"),
    "quadrats": FileForm("public/quadrats.csv"),
    "solution": FileForm("private/solution.csv"),
    "pa_test": FileForm("private/PA_test.csv"),
    "po_removed": FileForm("private/PO_removed.csv"),
    "dropped_po": FileForm("private/dropped_po.csv"),
    "dropped_pa": FileForm("private/dropped_pa.csv"),
    "dropped_surveys": FileForm("private/dropped_surveys.csv"),
    "dropped_labels": FileForm("private/dropped_labels.csv"),
}

_GLC2022 = {"surveyId": "observation_id", "lat": "latitude", "lon": "longitude", "speciesId": "species_id"}
_PREDICTED = {"surveyId": "Id", "predictions": "Predicted"}

LAYOUTS: Mapping[str | None, Mapping[str, FileForm]] = {
    None: STANDARD,
    "glc2022": {
        **STANDARD,
        "pa_train": FileForm(
            "public/observations_train.csv", ";", _GLC2022, ("surveyId", "lat", "lon", "speciesId", "subset")
        ),
        "pa_test_blind": FileForm("public/observations_test.csv", ";", _GLC2022, ("surveyId", "lat", "lon")),
        "sample_submission": FileForm("public/sample_submission.csv", ",", _PREDICTED),
        "solution": FileForm("private/solution.csv", ",", _PREDICTED),
    },
    "glc2023": {
        **STANDARD,
        "po_train": FileForm("public/Presences_only_train.csv", ";"),
        "pa_val": FileForm("public/Presences_Absences_train.csv", ";"),
        "pa_test_blind": FileForm("public/test_blind.csv", ";", {"surveyId": "Id"}),
        "sample_submission": FileForm("public/sample_submission.csv", ",", _PREDICTED),
        "solution": FileForm("private/solution.csv", ",", {"surveyId": "Id", "predictions": "Expected"}),
    },
    "glc2024": {
        **STANDARD,
        "po_train": FileForm("public/GLC24_PO_metadata_train.csv"),
        "pa_train": FileForm("public/GLC24_PA_metadata_train.csv"),
        "pa_test_blind": FileForm("public/GLC24_PA_metadata_test.csv"),
    },
}
"""Each layout's files by role; None is our own."""

_GLC22_TRAIN = r"observations(_fr|_us)?_train\.csv"
_GLC24_TRAIN = r"(glc2[45])[_-]p{}[_-]metadata[_-]train\.csv"

INPUT_FILES: Mapping[str, Mapping[str, str]] = {
    "glc2020": {"pa": r"occurrences_(fr|us)_train\.csv"},
    "glc2021": {"pa": _GLC22_TRAIN},
    "glc2022": {"pa": _GLC22_TRAIN},
    "glc2023": {"pa": r"presences_absences_train(_sample)?\.csv", "po": r"presences_only_train(_sample)?\.csv"},
    "glc2024": {"pa": _GLC24_TRAIN.format("a"), "po": _GLC24_TRAIN.format("[o0]")},
    "glc2025": {"pa": _GLC24_TRAIN.format("a"), "po": _GLC24_TRAIN.format("[o0]")},
}
"""Patterns of the names that each year's tables go by, in any case: P0 with a zero, hyphens and underscores."""


FLOAT_SPECIES = ("glc2023", "glc2024", "glc2025")
"""Years whose tables write species 6310 as 6310.0."""


def files_of_layout(layout: str, role: str, path: Path) -> list[Path]:
    """Give the files of a role in a folder of a year's download; any other path stands for itself.

    Raises
    ------
    DataError
        The folder holds no such file.
    """
    pattern = INPUT_FILES.get(layout, {}).get(role)
    if pattern is None or not path.is_dir():
        return [path]
    files = sorted(each for each in path.rglob("*.csv") if each.is_file())
    found = [each for each in files if re.fullmatch(pattern, each.name, re.IGNORECASE)]
    if not found:
        beside = f" It holds: {first_few(each.name for each in files)}." if files else ""
        raise DataError(
            f"{path.name} holds no table of the layout {layout} for [inputs.{role}].{beside} Name the file."
        )
    return found


JOINS_VAL = ("glc2022", "glc2024")
"""Layouts in which the validation surveys stand in the training file, told apart by the column `subset`."""

ABOUT: Mapping[str, str] = {
    "po_train": "Presence-only records for training: what somebody saw, not what is absent. A row a record.",
    "pa_train": "Presence-absence surveys for training: all species of each survey. A row a survey and species.",
    "pa_train_empty": "Training surveys that looked and found no species. A row a survey.",
    "pa_val": "Presence-absence surveys for validation, drawn like the test. A row a survey and species.",
    "pa_test_blind": "The test surveys, without their species. A row a survey: predict for each.",
    "species": "All species that the training and validation data have, with their counts.",
    "sample_submission": "A legal submission: the form that yours must have.",
    "quadrats": "Every quadrat with a survey, its numbers in the draw, and the subset it fell to.",
}
"""What each public table is, in a participant's words."""
