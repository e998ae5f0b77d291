"""Close the vocabulary and write what the surveys become: training, validation, the blinded test and its solution."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from spatialsplit.build.species import species_numbers
from spatialsplit.build.steps import Step
from spatialsplit.columns import ALLOWED_IN_BLIND
from spatialsplit.errors import DataError, first_few
from spatialsplit.split import EMPTY_IN_HOLDOUT, Split, draw_public
from spatialsplit.tables import OutputColumn

Positions = npt.NDArray[np.int64]

ONLY_IN_TEST, NO_SPECIES_LEFT = "species_only_in_test", "no_species_left"


@dataclass(frozen=True)
class OutputTable:
    """A table ready to be written: its columns and their cells."""

    columns: list[OutputColumn]
    cells: list[pa.Array]

    def with_column(self, column: OutputColumn, cells: pa.Array) -> OutputTable:
        """Give the table with one more column at its end."""
        return OutputTable([*self.columns, column], [*self.cells, cells])


@dataclass(frozen=True)
class Vocabulary:
    """Which test labels and surveys stay, once species that only test has are gone.

    Attributes
    ----------
    kept_labels, dropped_labels : array of int
        Positions of test labels.
    kept_surveys, dropped_surveys : array of int
        Positions of test surveys.
    """

    kept_labels: Positions
    dropped_labels: Positions
    kept_surveys: Positions
    dropped_surveys: Positions

    def steps(self) -> list[Step]:
        """Give the counts of labels and of surveys."""
        n_labels = len(self.kept_labels) + len(self.dropped_labels)
        n_surveys = len(self.kept_surveys) + len(self.dropped_surveys)
        return [
            Step("vocabulary_labels", n_labels, {ONLY_IN_TEST: len(self.dropped_labels)}),
            Step("vocabulary_surveys", n_surveys, {NO_SPECIES_LEFT: len(self.dropped_surveys)}),
        ]


def close_vocabulary(split: Split, po_species: Sequence[int | str]) -> Vocabulary:
    """Remove test labels of species that no train or val record has, and test surveys that are left without any.

    Raises
    ------
    DataError
        No test survey is left.
    """
    surveys = split.surveys
    subset_of_label = split.subset[surveys.label_survey]
    in_test = np.flatnonzero(subset_of_label == "test")
    elsewhere = surveys.label_species.filter(pa.array(subset_of_label != "test"))
    known = pa.concat_arrays([elsewhere, pa.array(list(po_species), elsewhere.type)]).unique()
    is_known = pc.is_in(surveys.label_species.take(pa.array(in_test)), value_set=known).to_numpy(zero_copy_only=False)
    kept = in_test[is_known]
    test = split.in_subset("test")
    left = np.isin(test, surveys.label_survey[kept])
    if not left.any():
        raise DataError(
            f"The holdout 'test' is empty: none of its {len(test):,} surveys has a species that a training or "
            f"validation record has. Draw more "
            "test quadrats, or check that the presence-only and presence-absence tables name species in the same way."
        )
    return Vocabulary(kept, in_test[~is_known], test[left], test[~left])


class SurveyTables:
    """Makes the tables of a split's surveys.

    Parameters
    ----------
    split : Split
    vocabulary : Vocabulary
    numbers : mapping of str to int
        Number of each published name; empty where species are numbers.
    decimals : int
    """

    def __init__(self, split: Split, vocabulary: Vocabulary, numbers: Mapping[str, int], decimals: int):
        self.split, self.vocabulary, self.numbers, self.decimals = split, vocabulary, numbers, decimals
        self.surveys = split.surveys

    def _of_surveys(self, positions: Positions, names: Sequence[str] | None = None) -> OutputTable:
        """Give surveyId, keys, lon, lat and the survey's attributes, a row a survey."""
        where = pa.array(positions)
        cells = [pa.array(self.surveys.ids[positions])]
        columns = [OutputColumn("surveyId", pa.int64())]
        for name, key in self.surveys.keys.items():
            if name != "surveyId":  # the survey's own number stands there already
                columns.append(OutputColumn(name, pa.string()))
                cells.append(key.take(where))
        for name, values in (("lon", self.surveys.lon), ("lat", self.surveys.lat)):
            columns.append(OutputColumn(name, pa.float64(), self.decimals))
            cells.append(pa.array(values[positions]))
        attributes = self.surveys.attributes
        for name in attributes.column_names if names is None else names:
            columns.append(OutputColumn(name, attributes.schema.field(name).type))
            cells.append(_one_chunk(attributes.column(name)).take(where))
        return OutputTable(columns, cells)

    def labels(self, positions: Positions, *, with_names: bool = False) -> OutputTable:
        """Give a row a label: the survey's columns, the species, and the record's further columns."""
        where = pa.array(positions)
        base = self._of_surveys(self.surveys.label_survey[positions], [])
        species = self.surveys.label_species.take(where)
        base = base.with_column(OutputColumn("speciesId", pa.int64()), self._numbered(species))
        further, rows = self.surveys.records, pa.array(self.surveys.label_row[positions])
        columns = [OutputColumn(field.name, field.type) for field in further.schema]
        cells = [_one_chunk(column).take(rows) for column in further.columns]
        base = OutputTable([*base.columns, *columns], [*base.cells, *cells])
        if with_names and self.numbers:
            base = base.with_column(OutputColumn("speciesName", pa.string()), species)
        return base

    def labels_with_subset(self, positions: Positions) -> OutputTable:
        """Give a row a label, with its subset in the last column."""
        return self.labels(positions).with_column(OutputColumn("subset", pa.string()), self.subsets_of(positions))

    def _numbered(self, species: pa.Array) -> pa.Array:
        return species_numbers(species, self.numbers) if pa.types.is_string(species.type) else species

    def of_subset(self, *subsets: str) -> Positions:
        """Give the positions of the labels of some subsets."""
        return np.flatnonzero(np.isin(self.split.subset[self.surveys.label_survey].astype(str), subsets))

    def subsets_of(self, label_positions: Positions) -> pa.Array:
        """Give the subset of each of some labels."""
        return pa.array(self.split.subset[self.surveys.label_survey[label_positions]].tolist(), pa.string())

    def empty_training(self) -> OutputTable | None:
        """Give the surveys of the training data that found no species, if there are any."""
        positions = np.flatnonzero((self.split.subset == "train") & (self.surveys.n_species == 0))
        return self._of_surveys(positions) if positions.size else None

    def blinded(self, further: Sequence[str]) -> OutputTable:
        """Give the test surveys as participants see them: by an allow-list.

        Raises
        ------
        DataError
            A column that the recipe adds to the list is not one of the surveys'.
        """
        there = self.surveys.attributes.column_names
        missing = [name for name in further if name not in there]
        if missing:
            raise DataError(
                f"blind_columns names {first_few(missing)}, which the surveys do not have as one value each. They "
                f"have: {first_few(there, shown=20)}. "
                "Correct [output]."
            )
        names = [name for name in there if name in ALLOWED_IN_BLIND or name in further]
        return self._of_surveys(self.vocabulary.kept_surveys, names)

    def solution(self, public: set[str] | None) -> OutputTable:
        """Give the truth: a row a test survey, its species in increasing order, and which leaderboard it counts for."""
        positions = self.vocabulary.kept_surveys
        labels = self.vocabulary.kept_labels
        survey = self.surveys.label_survey[labels]
        species = self._numbered(self.surveys.label_species.take(pa.array(labels))).to_numpy(zero_copy_only=False)
        order = np.lexsort((species, survey))
        texts = pa.array(species[order]).cast(pa.string())
        starts = np.searchsorted(survey[order], positions)
        lists = pa.ListArray.from_arrays(pa.array([*starts.tolist(), len(order)], pa.int32()), texts)
        table = self._submission(positions, pc.binary_join(lists, " "))
        if public is None:
            return table
        quadrats = [self.split.quadrats.labels[code] for code in self.split.quadrat[positions].tolist()]
        usage = pa.array(["Public" if label in public else "Private" for label in quadrats])
        return table.with_column(OutputColumn("Usage", pa.string()), usage)

    def sample_submission(self, prediction: str) -> OutputTable:
        """Give a legal submission that says the same everywhere."""
        positions = self.vocabulary.kept_surveys
        return self._submission(positions, pa.array([prediction] * len(positions), pa.string()))

    def _submission(self, positions: Positions, predictions: pa.Array) -> OutputTable:
        columns = [OutputColumn("surveyId", pa.int64()), OutputColumn("predictions", pa.string())]
        return OutputTable(columns, [pa.array(self.surveys.ids[positions]), predictions])

    def public_quadrats(self, share: float, seed: str) -> set[str]:
        """Choose the test quadrats of the public leaderboard among those that still have a survey."""
        codes = np.unique(self.split.quadrat[self.vocabulary.kept_surveys])
        return draw_public([self.split.quadrats.labels[code] for code in codes.tolist()], share, seed)

    def quadrats(self) -> OutputTable:
        """Give every quadrat with a survey, its number in each draw, and its subset."""
        table = self.split.quadrats
        columns = [
            OutputColumn("quadratId", pa.string()),
            OutputColumn("n_surveys", pa.int64()),
            OutputColumn("n_empty", pa.int64()),
        ]
        cells = [pa.array(table.labels), pa.array(table.n_surveys), pa.array(table.n_empty)]
        result = OutputTable(columns, cells)
        if table.strata is not None:
            result = result.with_column(OutputColumn("stratum", pa.string()), pa.array(table.strata))
        for holdout in self.split.rules.draw.holdouts:
            column = OutputColumn(f"{holdout.name}_number", pa.string())
            result = result.with_column(column, pa.array(self.split.numbers(holdout.name)))
        return result.with_column(OutputColumn("subset", pa.string()), pa.array(table.subsets))

    def dropped_surveys(self) -> OutputTable | None:
        """Give the surveys that are not published, with their reason, if there are any."""
        empty = np.flatnonzero(self.split.subset == EMPTY_IN_HOLDOUT)
        lost = self.vocabulary.dropped_surveys
        positions = np.concatenate([empty, lost])
        if not positions.size:
            return None
        reasons = pa.array([EMPTY_IN_HOLDOUT] * len(empty) + [NO_SPECIES_LEFT] * len(lost))
        base = self._of_surveys(positions, [])
        labels = pa.array([self.split.quadrats.labels[code] for code in self.split.quadrat[positions].tolist()])
        columns = [OutputColumn("reason", pa.string()), *base.columns, OutputColumn("quadratId", pa.string())]
        return OutputTable(columns, [reasons, *base.cells, labels])

    def dropped_labels(self) -> OutputTable | None:
        """Give the test labels that are not published, with their reason, if there are any."""
        positions = self.vocabulary.dropped_labels
        if not positions.size:
            return None
        species = self.surveys.label_species.take(pa.array(positions))
        name = "speciesName" if pa.types.is_string(species.type) else "speciesId"
        columns = [
            OutputColumn("reason", pa.string()),
            OutputColumn("surveyId", pa.int64()),
            OutputColumn(name, species.type),
        ]
        ids = pa.array(self.surveys.ids[self.surveys.label_survey[positions]])
        return OutputTable(columns, [pa.array([ONLY_IN_TEST] * len(positions)), ids, species])


def count_labels(split: Split, subset: str) -> dict[int | str, int]:
    """Count the labels of each species in a subset, by number or name."""
    surveys = split.surveys
    chosen = surveys.label_species.filter(pa.array(split.subset[surveys.label_survey] == subset))
    counts = chosen.value_counts()
    return dict(zip(counts.field("values").to_pylist(), counts.field("counts").to_pylist(), strict=True))


def species_table(counts: Mapping[str, Mapping[int | str, int]], numbers: Mapping[str, int]) -> OutputTable:
    """Give every species of the published training and validation data with its counts.

    Parameters
    ----------
    counts : mapping of column name to (species to count)
    numbers : mapping of str to int
        Number of each name, where species are names.
    """
    everyone = sorted({species for column in counts.values() for species in column}, key=lambda s: (str(type(s)), s))
    columns = [OutputColumn("speciesId", pa.int64())]
    cells = [pa.array([numbers[str(species)] if numbers else species for species in everyone], pa.int64())]
    if numbers:
        columns.append(OutputColumn("speciesName", pa.string()))
        cells.append(pa.array([str(species) for species in everyone]))
    for name, column in counts.items():
        columns.append(OutputColumn(name, pa.int64()))
        cells.append(pa.array([column.get(species, 0) for species in everyone], pa.int64()))
    return OutputTable(columns, cells)


def _one_chunk(column: pa.ChunkedArray) -> pa.Array:
    return column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
