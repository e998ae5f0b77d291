"""Write the tables of a dataset in the layout that the recipe asks for, and remember them for the manifest."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from spatialsplit.build.map_picture import write_split_picture
from spatialsplit.build.presence_absence import (
    OutputTable,
    Positions,
    SurveyTables,
    Vocabulary,
    count_labels,
    species_table,
)
from spatialsplit.build.presence_only import PoResult
from spatialsplit.build.public_readme import public_readme
from spatialsplit.errors import DataError, first_few
from spatialsplit.layouts import JOINS_VAL, LAYOUTS, FileForm
from spatialsplit.manifest import file_sha256, output_entry
from spatialsplit.recipe import Recipe
from spatialsplit.split import Split
from spatialsplit.tables import OutputColumn, TableWriter, Written

PART_ROWS = 1 << 17
"""Rows of a large table that are made at once."""

OTHER_FILES = {"public/README.md": "readme", "public/split.png": "picture", "recipe.toml": "recipe"}
"""Files of a dataset that are no tables, with their roles."""


class Outputs:
    """The files of a dataset under their roles.

    Parameters
    ----------
    folder : path
    recipe : Recipe
    """

    def __init__(self, folder: Path, recipe: Recipe):
        self.folder, self.recipe = folder, recipe
        self._forms = LAYOUTS[recipe.output.layout]
        self.written: dict[str, list[Written]] = {}
        self._sums: dict[str, str] = {}
        for name in ("public", "private"):
            (folder / name).mkdir()

    def form(self, role: str) -> FileForm:
        """Give the name, separator and columns of a role's file."""
        return self._forms[role]

    def paths(self, role: str) -> list[Path]:
        """Give the files of a role, one a format; submissions and solutions are CSV only."""
        path = self.folder / self.form(role).name
        formats = ["csv"] if role in ("solution", "sample_submission") else self.recipe.output.formats
        return [path.with_suffix(f".{name}") for name in sorted(set(formats))]

    def writer(self, role: str, columns: Sequence[OutputColumn]) -> TableWriter:
        """Open the files of a role."""
        return TableWriter(self.paths(role), columns, self.form(role).separator)

    def write(self, role: str, table: OutputTable) -> None:
        """Write a table under its role, with the columns of the layout."""
        table = _in_form(table, self.form(role))
        with self.writer(role, table.columns) as writer:
            writer.write(table.cells)
        self.add(role, writer.written)

    def write_in_parts(self, role: str, positions: Positions, make: Callable[[Positions], OutputTable]) -> None:
        """Write a table that is made part by part, so that no more than a part of it is in memory."""
        with self.writer(role, _in_form(make(positions[:0]), self.form(role)).columns) as writer:
            for start in range(0, len(positions), PART_ROWS):
                writer.write(_in_form(make(positions[start : start + PART_ROWS]), self.form(role)).cells)
        self.add(role, writer.written)

    def add(self, role: str, written: list[Written]) -> None:
        """Remember files that were written."""
        self.written[role] = written
        for file in written:
            self._sums[file.path.relative_to(self.folder).as_posix()] = file.sha256

    def known_sums(self) -> dict[str, str]:
        """Give the SHA-256 of the tables by name."""
        return dict(self._sums)

    def entries(self) -> dict[str, Any]:
        """Describe all tables, by name, as the manifest does."""
        named = {
            file.path.relative_to(self.folder).as_posix(): output_entry(file, role)
            for role, files in self.written.items()
            for file in files
        }
        for name, role in OTHER_FILES.items():
            path = self.folder / name
            self._sums[name] = file_sha256(path)
            named[name] = {"role": role, "sha256": self._sums[name], "bytes": path.stat().st_size}
        return dict(sorted(named.items()))

    @staticmethod
    def text_column(values: Sequence[str]) -> list[pa.Array]:
        """Give values as one column of cells."""
        return [pa.array(list(values), pa.string())]


def _in_form(table: OutputTable, form: FileForm) -> OutputTable:
    """Choose and rename the columns of a layout."""
    by_name = dict(
        zip((column.name for column in table.columns), zip(table.columns, table.cells, strict=True), strict=True)
    )
    names = [name for name in form.only if name in by_name] if form.only else list(by_name)
    columns, cells = [], []
    for name in names:
        column, values = by_name[name]
        columns.append(OutputColumn(form.column_name(name), column.kind, column.decimals, name))
        cells.append(values)
    return OutputTable(columns, cells)


def write_survey_tables(out: Outputs, split: Split, vocabulary: Vocabulary, po: PoResult, seed: str) -> None:
    """Write everything that the surveys become, the species, the quadrats, and what a participant reads first."""
    tables = SurveyTables(split, vocabulary, po.numbers, out.recipe.output.coordinate_decimals)
    _refuse_several_species(out, split)
    _write_training(out, tables)
    out.write("pa_test", tables.labels(vocabulary.kept_labels, with_names=True))
    out.write("pa_test_blind", tables.blinded(out.recipe.output.blind_columns))
    share = out.recipe.evaluation.public_share
    public = tables.public_quadrats(share, split.draw.seed) if share is not None else None
    out.write("solution", tables.solution(public))
    species = _species(out, split, po)
    out.write("species", species)
    out.write("sample_submission", tables.sample_submission(_sample_prediction(out.recipe, species)))
    out.write("quadrats", tables.quadrats())
    for role, table in (("dropped_surveys", tables.dropped_surveys()), ("dropped_labels", tables.dropped_labels())):
        if table is not None:
            out.write(role, table)
    write_split_picture(out.folder / "public" / "split.png", split)
    text = public_readme(out.recipe, split, out.written, len(vocabulary.kept_surveys))
    (out.folder / "public" / "README.md").write_text(text, "utf-8", newline="\n")


def _write_training(out: Outputs, tables: SurveyTables) -> None:
    """Write the training and validation labels, in one file where the layout joins them."""
    train, val = tables.of_subset("train"), tables.of_subset("val")
    joined = out.recipe.output.layout in JOINS_VAL and (val.size or out.recipe.output.layout == "glc2022")
    if joined:
        out.write_in_parts("pa_train", tables.of_subset("train", "val"), tables.labels_with_subset)
    else:
        for role, positions in (("pa_train", train), ("pa_val", val)):
            if positions.size:
                out.write_in_parts(role, positions, tables.labels)
    empty = tables.empty_training()
    if empty is not None:
        out.write("pa_train_empty", empty)


def _species(out: Outputs, split: Split, po: PoResult) -> OutputTable:
    counts: dict[str, dict[int | str, int]] = {}
    if "po_train" in out.written:
        counts["n_po_train"] = po.species
    for subset in ("train", "val"):
        labels = count_labels(split, subset)
        if labels:
            counts[f"n_pa_{subset}"] = labels
    return species_table(counts, po.numbers)


def _sample_prediction(recipe: Recipe, species: OutputTable) -> str:
    """Give a legal prediction that knows nothing: the first species, or as many candidates as the metric takes."""
    numbers = [str(number) for number in species.cells[0].to_pylist()]
    if recipe.evaluation.metric == "top_k_error":
        return " ".join(numbers[: int(recipe.evaluation.options.get("k", 30))])
    return numbers[0]


def _refuse_several_species(out: Outputs, split: Split) -> None:
    """Refuse surveys with several species where the layout has a row an observation.

    Raises
    ------
    DataError
        There are some.
    """
    if out.recipe.output.layout != "glc2022":
        return
    several = split.surveys.ids[np.flatnonzero(split.surveys.n_species > 1)]
    if several.size:
        raise DataError(
            f"{several.size:,} of {len(split.surveys):,} surveys have more than one species (first: "
            f"{first_few(several.tolist())}), but layout = 'glc2022' has "
            "one row and one species an observation. Choose another layout, or keys that name single observations."
        )
