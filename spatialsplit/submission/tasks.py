"""What a competition's cells mean: one class a metric, from the text of a row to its share of the score.

A task reads the truth and the prediction of one row, says what is wrong with them through `complain`, tallies
the two, and combines the tallies of any rows to a score. Formulas are in `spatialsplit.metrics`; where a row
stands in its file, and who may read which message, is `spatialsplit.submission.checking`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from operator import ge
from typing import Any, ClassVar

from spatialsplit.metrics.arguments import check_beta, check_choice, check_count, mean
from spatialsplit.metrics.labels import EMPTY_TRUTH, ON_EXCESS, candidates_fault, sample_f, top_k_miss
from spatialsplit.metrics.ranking import (
    DUPLICATES,
    EMPTY_CATEGORIES,
    FATHOMNET_PLACES,
    average_precision_at_k,
    combine_fathomnet,
)
from spatialsplit.metrics.strings import MATCHINGS, clean_truths, count_matches, pooled_f

INTEGER = re.compile("-?[0-9]{1,18}")
DECIMAL = re.compile(r"[+-]?[0-9]+\.[0-9]*")
NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
NO_TRUE_LABEL = "there is no true label. Mend the solution, or choose a rule with empty_truth."


def integer_fault(token: str) -> str:
    """Say why a token is no integer, with the usual cause.

    Examples
    --------
    >>> integer_fault("12.0")
    'is a decimal number, not a whole one. pandas makes decimals beside a missing value: use astype(int).'
    """
    if DECIMAL.fullmatch(token):
        cause = "pandas makes decimals beside a missing value: use astype(int)."
        return f"is a decimal number, not a whole one. {cause}"
    if NUMBER.fullmatch(token) and "e" in token.lower():
        return "is in exponent notation, as spreadsheets write long numbers. Write all its digits."
    if any(mark in token for mark in ",;|"):
        return "is not a whole number. Labels are separated by spaces."
    return "is not a whole number."


class LabelReader(dict):  # type: ignore[type-arg]  # dict[str, int] as a base class does not run in Python 3.8
    r"""The labels of tokens met so far: each token is judged once, and equal labels share one object.

    Examples
    --------
    >>> LabelReader("int").read("  1  52\t007", 0, print)
    (1, 52, 7)
    """

    def __init__(self, kind: str) -> None:
        check_choice("labels", kind, ("int", "str"))
        super().__init__()
        self.is_integer = kind == "int"

    def __missing__(self, token: str) -> Any:
        if self.is_integer and not INTEGER.fullmatch(token):
            raise ValueError(integer_fault(token))
        label = self[token] = int(token) if self.is_integer else token
        return label

    def read(self, cell: str, position: int, complain: Callable[[str, int, str, str], None]) -> tuple[Any, ...] | None:
        """Give the labels of a cell in their order, or None after complaining of each bad one."""
        tokens = cell.split()
        try:
            return tuple(map(self.__getitem__, tokens))
        except ValueError:
            for token in tokens:
                if not INTEGER.fullmatch(token):
                    complain("label", position, token, integer_fault(token))
            return None


@dataclass
class Task:
    """What all tasks have: names of columns, direction of the score, and the steps from cells to a score.

    Attributes
    ----------
    metric : str
        The name of the metric on the command line and in recipes.
    optimum : float
        The score of a perfect submission; lower scores are better where it is 0.
    integer_ids : bool
        Whether row ids are compared as integers; else as text, case sensitive.
    id_names : tuple of str
        Names of the id column that are found by themselves.
    answer_names : dict
        Name of the truth's column in the solution to that of the prediction in the submission.
    more_names : tuple of str
        Further columns that both files have.
    """

    metric: ClassVar[str] = ""
    optimum: ClassVar[float] = 1.0
    integer_ids: ClassVar[bool] = True
    id_names: ClassVar[tuple[str, ...]] = ("surveyId", "Id", "observation_id")
    answer_names: ClassVar[dict[str, str]] = {
        "predictions": "predictions",
        "target_species_ids": "predictions",
        "Expected": "Predicted",
        "Predicted": "Predicted",
    }
    more_names: ClassVar[tuple[str, ...]] = ()

    def read_truth(self, cells: Sequence[str], complain: Callable[[str, int, str, str], None]) -> Any:
        """Read the truth of a row, complaining of what the organizer has to mend."""
        raise NotImplementedError

    def read_prediction(self, cells: Sequence[str], complain: Callable[[str, int, str, str], None]) -> Any:
        """Read the prediction of a row, complaining of what the participant has to mend."""
        raise NotImplementedError

    def tally(self, truth: Any, prediction: Any) -> Any:
        """Compare one row's truth and prediction."""
        raise NotImplementedError

    def combine(self, tallies: Sequence[Any]) -> float:
        """Give the score of some rows."""
        return mean(tallies)

    def part_fault(self, truths: Sequence[Any]) -> str | None:
        """Say why rows with these truths cannot be scored at all, or None."""
        return None if truths else "it has no row."


@dataclass
class F1Samples(Task):
    """GeoLifeCLEF 2023 to 2025: sets of species; see `spatialsplit.metrics.f1_samples`."""

    empty_truth: str = "error"
    require_sorted: bool = False
    labels: str = "int"
    beta: float = 1.0

    metric = "f1_samples"

    def __post_init__(self) -> None:
        check_choice("empty_truth", self.empty_truth, EMPTY_TRUTH)
        check_beta(self.beta)
        self._reader = LabelReader(self.labels)

    def read_truth(self, cells: Sequence[str], complain: Callable[[str, int, str, str], None]) -> Any:
        """Read a set of labels, which may be empty by rule only."""
        labels = self._reader.read(cells[0], 0, complain)
        if labels == () and self.empty_truth == "error":
            complain("truth", 0, "", NO_TRUE_LABEL)
        return labels

    def read_prediction(self, cells: Sequence[str], complain: Callable[[str, int, str, str], None]) -> Any:
        """Read a set of labels, in increasing order where that is required."""
        labels = self._reader.read(cells[0], 0, complain)
        place = first_unsorted(labels) if labels and self.require_sorted else 0
        if labels and place:
            fault = f"does not come after {labels[place - 1]!r}. Labels must be strictly increasing, each once."
            complain("order", 0, str(labels[place]), fault)
        return labels

    def tally(self, truth: Any, prediction: Any) -> Any:
        """Give the F score of the row, or None where it is left out."""
        return sample_f(truth, prediction, self.beta, self.empty_truth)

    def part_fault(self, truths: Sequence[Any]) -> str | None:
        """Refuse a part in which every row is left out."""
        if truths and self.empty_truth == "skip" and not any(truths):
            return "no row of it has a true label."
        return super().part_fault(truths)


def first_unsorted(labels: Sequence[Any]) -> int:
    """Give the place of the first label that is not greater than the one before, or 0.

    Examples
    --------
    >>> first_unsorted((2, 10)), first_unsorted((3, 1, 2))
    (0, 1)
    """
    falls = list(map(ge, labels, labels[1:]))
    return falls.index(True) + 1 if any(falls) else 0


@dataclass
class TopKError(Task):
    """GeoLifeCLEF 2022: at most K candidates for one species; see `spatialsplit.metrics.top_k_error`."""

    k: int = 30
    on_excess: str = "error"
    exact_k: bool = False

    metric = "top_k_error"
    optimum = 0.0

    def __post_init__(self) -> None:
        check_choice("on_excess", self.on_excess, ON_EXCESS)
        check_count("k", self.k)
        self._reader = LabelReader("int")

    def read_truth(self, cells: Sequence[str], complain: Callable[[str, int, str, str], None]) -> Any:
        """Read exactly one label."""
        labels = self._reader.read(cells[0], 0, complain)
        if labels is not None and len(labels) != 1:
            complain("truth", 0, "", "the truth of a row must be exactly one label.")
        return labels[0] if labels else None

    def read_prediction(self, cells: Sequence[str], complain: Callable[[str, int, str, str], None]) -> Any:
        """Read the candidates, as many as are allowed."""
        labels = self._reader.read(cells[0], 0, complain)
        fault = labels is not None and candidates_fault(len(labels), self.k, self.on_excess, self.exact_k)
        if fault:
            complain("candidates", 0, "", fault)
        return labels

    def tally(self, truth: Any, prediction: Any) -> Any:
        """Give 1 for a miss, 0 for a hit."""
        return top_k_miss(truth, prediction, self.k)


@dataclass
class FathomNet(Task):
    """FathomNet 2023: a ranked list and a confidence; see `spatialsplit.metrics.fathomnet_score`."""

    duplicates: str = "keep_rank"
    empty_truth: str = "error"

    metric = "fathomnet"
    integer_ids = False
    id_names = ("id",)
    answer_names: ClassVar[dict[str, str]] = {"categories": "categories"}
    more_names = ("osd",)

    def __post_init__(self) -> None:
        check_choice("duplicates", self.duplicates, DUPLICATES)
        check_choice("empty_truth", self.empty_truth, EMPTY_CATEGORIES)
        self._reader = LabelReader("int")

    def read_truth(self, cells: Sequence[str], complain: Callable[[str, int, str, str], None]) -> Any:
        """Read the true labels and whether the image is out of the distribution: 1 or 0."""
        labels = self._reader.read(cells[0], 0, complain)
        if labels == () and self.empty_truth == "error":
            complain("truth", 0, "", NO_TRUE_LABEL)
        if not NUMBER.fullmatch(cells[1]) or float(cells[1]) not in (0.0, 1.0):
            complain("osd", 1, "", "the flag must be 0 or 1.")
            return labels, 0
        return labels, int(float(cells[1]))

    def read_prediction(self, cells: Sequence[str], complain: Callable[[str, int, str, str], None]) -> Any:
        """Read the ranked labels and the confidence, any finite number."""
        labels = self._reader.read(cells[0], 0, complain)
        number = float(cells[1]) if NUMBER.fullmatch(cells[1]) else math.nan
        if not math.isfinite(number):
            complain("osd", 1, cells[1] or "(empty)", "is not a finite number such as 0.5 or 1e-3.")
        return labels, number

    def tally(self, truth: Any, prediction: Any) -> Any:
        """Give the average precision beside the two sides of the AUC."""
        labels, is_out = truth
        ranking, confidence = prediction
        precision = average_precision_at_k(labels, ranking, k=FATHOMNET_PLACES, duplicates=self.duplicates)
        return precision, is_out, confidence

    def combine(self, tallies: Sequence[Any]) -> float:
        """Average the mean average precision and the rescaled AUC of some rows."""
        precisions, truths, confidences = ([tally[position] for tally in tallies] for position in range(3))
        return combine_fathomnet(precisions, truths, confidences)

    def part_fault(self, truths: Sequence[Any]) -> str | None:
        """Refuse a part whose rows are all in, or all out of, the distribution."""
        if len({is_out for _, is_out in truths}) == 1:
            return "all its rows have the same flag in column 'osd', so the AUC is undefined."
        return super().part_fault(truths)


@dataclass
class JaccardFBeta(Task):
    """Coleridge Initiative 2021: strings between bars; see `spatialsplit.metrics.jaccard_fbeta`."""

    matching: str = "greedy"
    beta: float = 0.5
    clean_predictions: bool = False

    metric = "jaccard_fbeta"
    integer_ids = False
    id_names = ("Id",)
    answer_names: ClassVar[dict[str, str]] = {"PredictionString": "PredictionString"}

    def __post_init__(self) -> None:
        check_choice("matching", self.matching, tuple(MATCHINGS))
        check_beta(self.beta)

    def read_truth(self, cells: Sequence[str], complain: Callable[[str, int, str, str], None]) -> Any:
        """Read and clean the true strings; a publication may have none."""
        return clean_truths(cells[0].split("|"))

    def read_prediction(self, cells: Sequence[str], complain: Callable[[str, int, str, str], None]) -> Any:
        """Read the predicted strings as sent: any text is legal."""
        return [text for text in map(str.strip, cells[0].split("|")) if text]

    def tally(self, truth: Any, prediction: Any) -> Any:
        """Count true positives, false positives and false negatives."""
        return count_matches(truth, prediction, self.matching, self.clean_predictions)

    def combine(self, tallies: Sequence[Any]) -> float:
        """Pool the counts of some rows."""
        return pooled_f(tallies, self.beta)

    def part_fault(self, truths: Sequence[Any]) -> str | None:
        """Refuse a part without any truth."""
        if truths and not any(truths):
            return "no row of it has a truth, so the F score is undefined."
        return super().part_fault(truths)
