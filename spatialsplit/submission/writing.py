"""For participants: probabilities to sets of species, and sets to a file that the scorer accepts."""

from __future__ import annotations

import csv
import os
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from spatialsplit.errors import DataError
from spatialsplit.submission.checking import Columns, read_ids, read_submission
from spatialsplit.submission.scoring import ANY_SEPARATOR
from spatialsplit.submission.settings import Settings, read_settings
from spatialsplit.submission.tables import Table, as_table
from spatialsplit.submission.tasks import F1Samples, FathomNet, JaccardFBeta, Task

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


def write_submission(
    path: str | os.PathLike[str],
    predictions: Mapping[Any, Any],
    *,
    test: Any = None,
    metric: str = "f1_samples",
    **options: object,
) -> None:
    """Write predictions as a submission: rows and labels sorted, and checked as the scorer checks them.

    Parameters
    ----------
    path : path
    predictions : mapping of id to labels
        Labels in any order for `f1_samples`; best first where the metric ranks. FathomNet's values are pairs
        of labels and the confidence; those of `jaccard_fbeta` are texts.
    test : path, rows or data frame, optional
        The blinded test table: every id of it needs a prediction. Without it the ids are not checked.
    metric : str
    **options
        Of the metric, as in `spatialsplit.submission.settings.read_settings`.

    Raises
    ------
    SubmissionError
        What the scorer would refuse. Nothing is written then.
    """
    settings = read_settings(metric, options)
    ids, columns = _expected(settings, predictions, test)
    cells = [[str(row_id), *_cells(settings.task, predictions[row_id])] for row_id in sorted(predictions)]
    table = Table([columns.id, *columns.prediction], cells, range(1, len(cells) + 1))
    read_submission(table, settings.task, columns, ids)
    with open(path, "w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([table.names, *cells])


def _expected(settings: Settings, predictions: Mapping[Any, Any], test: Any) -> tuple[list[Any], Columns]:
    if test is None:
        _, columns = settings.columns_of_blind([settings.id_col or settings.task.id_names[0]])
        return sorted(predictions), columns
    table = as_table(test, ANY_SEPARATOR)
    id_column, columns = settings.columns_of_blind(table.names)
    return read_ids(table, settings.task, id_column), columns


def _cells(task: Task, prediction: Any) -> list[str]:
    if isinstance(task, JaccardFBeta):
        return ["|".join(prediction)]
    if isinstance(task, FathomNet):
        labels, confidence = prediction
        return [" ".join(map(str, labels)), repr(float(confidence))]
    labels = sorted(set(prediction)) if isinstance(task, F1Samples) else prediction
    return [" ".join(map(str, labels))]


def top_k_sets(probabilities: ArrayLike, species_ids: Sequence[int], k: int) -> list[list[int]]:
    """Give each row's `k` most probable species, in increasing order of their ids.

    The simplest way from a model to a set, and with F1 hard to beat where surveys list about equally many
    species.

    Parameters
    ----------
    probabilities : array, shape (n_rows, n_species)
        Any finite score that orders the species.
    species_ids : sequence of int, shape (n_species,)
    k : int
        Equal probabilities: the smaller id first.

    Examples
    --------
    >>> top_k_sets([[0.1, 0.7, 0.2], [0.3, 0.3, 0.3]], [10, 20, 30], k=2)
    [[20, 30], [10, 20]]
    """
    scores, ids = _by_species(probabilities, species_ids)
    if not 1 <= k <= len(ids):
        raise DataError(f"Invalid k {k}. It must lie between 1 and the number of species, {len(ids)}.")
    return [ids[_best(row, k)].tolist() for row in scores]


def threshold_sets(
    probabilities: ArrayLike, species_ids: Sequence[int], threshold: float, *, at_least: int = 1
) -> list[list[int]]:
    """Give each row's species of at least that probability, in increasing order of their ids.

    Parameters
    ----------
    probabilities : array, shape (n_rows, n_species)
    species_ids : sequence of int, shape (n_species,)
    threshold : float
        Inclusive.
    at_least : int, default 1
        The most probable species are taken where fewer reach the threshold: an empty set scores 0 for
        certain.

    Examples
    --------
    >>> threshold_sets([[0.1, 0.7, 0.5], [0.3, 0.2, 0.1]], [10, 20, 30], 0.5)
    [[20, 30], [10]]
    """
    scores, ids = _by_species(probabilities, species_ids)
    if not 0 <= at_least <= len(ids):
        raise DataError(f"Invalid at_least {at_least}. It must lie between 0 and the number of species, {len(ids)}.")
    chosen = []
    for row in scores:
        places = np.flatnonzero(row >= threshold)
        chosen.append(ids[places if len(places) >= at_least else _best(row, at_least)].tolist())
    return chosen


def _by_species(probabilities: ArrayLike, species_ids: Collection[int]) -> tuple[NDArray[Any], NDArray[np.int64]]:
    scores = np.atleast_2d(np.asarray(probabilities))
    ids = np.asarray(species_ids, np.int64)
    if scores.ndim != 2 or ids.shape != scores.shape[1:] or len(np.unique(ids)) != len(ids):
        shapes = f"{scores.shape} and {ids.shape}"
        raise DataError(f"Probabilities and species ids do not fit: shapes {shapes}. A column a species, each once.")
    if not np.isfinite(scores).all():
        raise DataError("Probabilities must be finite; some are missing or infinite.")
    order = np.argsort(ids)
    return scores[:, order], ids[order]


def _best(row: NDArray[Any], k: int) -> NDArray[np.intp]:
    limit = np.partition(row, len(row) - k)[len(row) - k]
    above = np.flatnonzero(row > limit)
    equal = np.flatnonzero(row == limit)[: k - len(above)]
    return np.sort(np.concatenate([above, equal]))
