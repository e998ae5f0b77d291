"""A built dataset's public files and their columns, as a description for machines needs them.

What a column holds comes from `spatialsplit.columns`, which files there are from the manifest, and who made the
dataset from the recipe's [about]. How it is written down stands in `croissant` and `frictionless`. Nothing private is
looked at.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from spatialsplit.columns import COLUMNS
from spatialsplit.errors import ManifestError, shown
from spatialsplit.layouts import ABOUT
from spatialsplit.manifest import MANIFEST, read_whole_manifest
from spatialsplit.tables import Dialect, TableInput

PUBLIC = "public/"

FORMATS = {
    ".csv": "text/csv",
    ".parquet": "application/x-parquet",
    ".md": "text/markdown",
    ".png": "image/png",
}
"""The media type of a file by the ending of its name."""

SUBSETS: Mapping[str, str] = {
    "po_train": "train",
    "pa_train": "train",
    "pa_train_empty": "train",
    "pa_val": "val",
    "pa_test_blind": "test",
    "sample_submission": "test",
}
"""The subset of all rows of a file, by its role."""

KEYS: Mapping[str, tuple[str, ...]] = {
    "pa_train": ("surveyId", "speciesId"),
    "pa_val": ("surveyId", "speciesId"),
    "pa_train_empty": ("surveyId",),
    "pa_test_blind": ("surveyId",),
    "sample_submission": ("surveyId",),
    "species": ("speciesId",),
    "quadrats": ("quadratId",),
}
"""The columns whose values name a row, by the role of the file."""

OTHER_FILES: Mapping[str, str] = {
    "readme": "What the files and columns are, how the split was made, how to submit.",
    "picture": "Where the subsets lie: training blue, validation yellow, test red.",
}
"""What the public files are that are no tables."""

INTEGER = r"^(0|-?[1-9][0-9]{0,17})$"
NUMBER = r"^-?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]{1,3})?$"
_BLOCK_BYTES = 1 << 22


@dataclass(frozen=True)
class DescribedColumn:
    """A column of a published table.

    Attributes
    ----------
    name, means : str
        Its name in the file, and ours.
    type : {'integer', 'number', 'text'}
        What every cell is, empty ones aside.
    about : str
    required : bool
        Whether no cell is empty.
    position : int
    """

    name: str
    means: str
    type: str
    about: str
    required: bool
    position: int


@dataclass(frozen=True)
class DescribedFile:
    """A public file.

    Attributes
    ----------
    name : str
        Below the folder `public`.
    role : str
    about : str
    format : str
        Its media type.
    sha256 : str
    n_bytes : int
    n_rows : int, optional
        Of a table.
    separator : str, optional
        Of a text table.
    columns : tuple of DescribedColumn
        None of them where it is no table.
    marks : frozenset of str
        Which of the quotation mark, the comma and the tab the file holds.
    """

    name: str
    role: str
    about: str
    format: str
    sha256: str
    n_bytes: int
    n_rows: int | None = None
    separator: str | None = None
    columns: tuple[DescribedColumn, ...] = ()
    marks: frozenset[str] = frozenset()

    @property
    def is_table(self) -> bool:
        """Whether it has rows and columns."""
        return self.n_rows is not None

    @property
    def stem(self) -> str:
        """The name without its ending."""
        return Path(self.name).stem

    @property
    def subset(self) -> str | None:
        """The subset of all its rows; None where a column says it, or rows belong to none."""
        return None if self.column("subset") else SUBSETS.get(self.role)

    @property
    def key(self) -> list[DescribedColumn]:
        """The columns whose values name a row; none where there are no such."""
        found = [self.column(name) for name in KEYS.get(self.role, ())]
        return [column for column in found if column] if all(found) else []

    def column(self, means: str) -> DescribedColumn | None:
        """Give a column by our name."""
        return next((column for column in self.columns if column.means == means), None)


@dataclass(frozen=True)
class Description:
    """A dataset, as a stranger's software may read of it.

    Attributes
    ----------
    name : str
    about : mapping
        The recipe's [about].
    summary : str
        A sentence on how it was split.
    files : tuple of DescribedFile
    """

    name: str
    about: Mapping[str, Any]
    summary: str
    files: tuple[DescribedFile, ...]

    @property
    def subsets(self) -> list[str]:
        """The subsets that the tables hold."""
        held = {SUBSETS.get(file.role) for file in self.files}
        if any(file.role == "pa_train" and file.column("subset") for file in self.files):
            held.add("val")  # the layout joins them
        return [name for name in ("train", "val", "test") if name in held]


def describe_dataset(folder: str | os.PathLike[str]) -> Description:
    """Describe the public files of a built dataset.

    Raises
    ------
    ManifestError
        There is no manifest, it was damaged, or a public file is not the one that it lists.
    """
    root = Path(folder)
    manifest = read_whole_manifest(root)
    listed = sorted(manifest["outputs"].items())
    files = tuple(_describe(root, name, entry) for name, entry in listed if name.startswith(PUBLIC))
    return Description(manifest["name"], manifest["recipe"]["about"], _summary(manifest["grid"]), files)


def _summary(grid: Mapping[str, Any]) -> str:
    return (
        f"Whole quadrats of {grid['size_m']:,} m in {grid['crs']} were drawn for each holdout, so that no quadrat is "
        "in two subsets."
    )


def _describe(root: Path, name: str, entry: Mapping[str, Any]) -> DescribedFile:
    path = root / name
    if not path.is_file():
        raise ManifestError(f"{shown(name)} is missing: {MANIFEST} lists it. Fetch or build the dataset again.")
    sha256, marks = _look_through(path)
    if sha256 != entry["sha256"]:
        raise ManifestError(
            f"{name} is not the file that {MANIFEST} lists: its SHA-256 is another. Fetch or build the dataset again."
        )
    role = entry["role"]
    return DescribedFile(
        name=name.removeprefix(PUBLIC),
        role=role,
        about={**ABOUT, **OTHER_FILES}.get(role, ""),
        format=FORMATS.get(path.suffix, "application/octet-stream"),
        sha256=sha256,
        n_bytes=path.stat().st_size,
        n_rows=entry["rows"] if "columns" in entry else None,
        separator=entry.get("separator"),
        columns=_columns(path, entry) if "columns" in entry else (),
        marks=marks,
    )


def _look_through(path: Path) -> tuple[str, frozenset[str]]:
    """Give a file's SHA-256 and which marks it holds, block by block."""
    digest, marks = hashlib.sha256(), set()
    with path.open("rb") as file:
        while block := file.read(_BLOCK_BYTES):
            digest.update(block)
            marks |= {mark for mark in '",\t' if mark not in marks and mark.encode() in block}
    return digest.hexdigest(), frozenset(marks)


def _columns(path: Path, entry: Mapping[str, Any]) -> tuple[DescribedColumn, ...]:
    """Describe the columns of a table: the declared type where all cells are of it, else what they are."""
    listed: Sequence[Mapping[str, str]] = entry["columns"]
    source = TableInput(path, Dialect(separator=entry.get("separator")))
    if source.header != [column["name"] for column in listed]:
        raise ManifestError(f"{shown(path.name)} has other columns than {MANIFEST} says. Build the dataset again.")
    cells = [_Cells(_candidates(column, path.suffix)) for column in listed]
    for batch in source.batches(allow_empty=True):
        for i, seen in enumerate(cells):
            seen.look(batch.column(i))
    return tuple(
        DescribedColumn(
            column["name"], column["means"], seen.type, _about(column["means"]), not seen.has_empty, position
        )
        for position, (column, seen) in enumerate(zip(listed, cells, strict=True))
    )


def _about(means: str) -> str:
    known = COLUMNS.get(means)
    return known.about if known else "As the source has it."


def _candidates(column: Mapping[str, str], suffix: str) -> list[str]:
    """Give the types that a column may have, the wanted one first.

    A Parquet column and one that was written from numbers are what the manifest says. Text that was passed through is
    what the declaration says, if it is; where nothing is declared, numbers are numbers.
    """
    written, known = column["type"], COLUMNS.get(column["means"])
    if suffix != ".csv" or written != "text":
        return [written]
    return [known.type, "text"] if known else ["integer", "number", "text"]


@dataclass
class _Cells:
    """What the cells of a column are, as far as they were looked at."""

    candidates: list[str]
    has_empty: bool = False

    @property
    def type(self) -> str:
        """The narrowest type that all cells so far have."""
        return self.candidates[0]

    def look(self, cells: pa.Array) -> None:
        """Strike out the types that these cells are not."""
        text = pa.types.is_string(cells.type) or pa.types.is_large_string(cells.type)
        filled = cells.filter(pc.not_equal(cells, "")) if text else cells.drop_null()
        self.has_empty |= len(filled) < len(cells)
        while len(self.candidates) > 1 and not _all_are(filled, self.type):
            del self.candidates[0]


def _all_are(cells: pa.Array, kind: str) -> bool:
    if kind == "text" or not len(cells):
        return True
    fits = pc.match_substring_regex(cells, INTEGER if kind == "integer" else NUMBER)
    return bool(pc.all(fits).as_py())


def record_sources(files: Sequence[DescribedFile]) -> Iterator[DescribedFile]:
    """Give the file to read each table from: Parquet, which keeps types, where there are both forms."""
    for role in ABOUT:
        forms = [file for file in files if file.role == role and file.is_table]
        if forms:
            yield min(forms, key=lambda file: file.format == "text/csv")
