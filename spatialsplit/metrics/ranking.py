"""Metrics on ranked lists and confidences: average precision, rescaled AUC, and FathomNet's mean of both."""

from __future__ import annotations

import math
from collections.abc import Collection, Hashable, Sequence
from itertools import groupby, repeat
from operator import itemgetter

from spatialsplit.errors import SolutionError
from spatialsplit.metrics.arguments import check_choice, check_count, check_rows, mean

DUPLICATES = ("keep_rank", "compact")
EMPTY_CATEGORIES = ("error", "zero")
FATHOMNET_PLACES = 20


def average_precision_at_k(
    truth: Collection[Hashable], ranking: Sequence[Hashable], *, k: int = 20, duplicates: str = "keep_rank"
) -> float:
    """Give the average precision of one ranked list, cut to its first `k` places.

    ``AP = Σ_r P(r) rel(r) / min(n_true, k)`` over the places r ≤ k, where rel is 1 at a true label that
    stands there for the first time and P(r) is the share of such labels among the first r places.

    Parameters
    ----------
    truth : collection of labels
        Taken as a set; an empty one gives 0.
    ranking : sequence of labels
        Best first. What stands behind place `k` is cut before anything else.
    k : int, default 20
    duplicates : {"keep_rank", "compact"}
        A repeat of a label that has scored keeps its place and scores nothing (the published code), or is
        taken out before ranking.

    Returns
    -------
    float
        Between 0 and 1, higher is better.

    Notes
    -----
    FathomNet's printed formula lacks the division and gives 7/6 for the first example; the published code,
    and ml_metrics which it copies, divide by ``min(n_true, k)``, and so does this. Public code also disagrees
    on an empty truth: 0 or 1.

    Examples
    --------
    >>> average_precision_at_k({1, 2}, [1, 3, 2])
    0.8333333333333333
    >>> average_precision_at_k({1, 2}, [1, 1, 2])
    0.8333333333333333
    >>> average_precision_at_k({1, 2}, [1, 1, 2], duplicates="compact")
    1.0
    >>> average_precision_at_k({1, 2}, [])
    0.0
    """
    check_choice("duplicates", duplicates, DUPLICATES)
    check_count("k", k)
    labels = set(truth)
    if not labels:
        return 0.0
    places = _places_of_hits(labels, ranking[:k], compact=duplicates == "compact")
    return math.fsum(hits / place for hits, place in enumerate(places, start=1)) / min(len(labels), k)


def _places_of_hits(labels: set[Hashable], ranking: Sequence[Hashable], *, compact: bool) -> list[int]:
    places: list[int] = []
    found: set[Hashable] = set()
    place = 0
    for label in ranking:
        if compact and label in found:
            continue
        place += 1
        if label in labels and label not in found:
            found.add(label)
            places.append(place)
    return places


def rescaled_auc(truths: Sequence[int], scores: Sequence[float]) -> float:
    """Give ``2 AUC - 1``: how well a confidence tells the two classes apart, 0 for a constant one.

    AUC is the share of (positive, negative) pairs in the right order, ties one half; only the order of the
    scores matters.

    Parameters
    ----------
    truths : sequence of 0 and 1
    scores : sequence of finite numbers, in the same order

    Returns
    -------
    float
        Between -1 and 1, higher is better.

    Raises
    ------
    SolutionError
        One class only: AUC is then undefined (scikit-learn gives NaN since 1.6).

    Examples
    --------
    >>> rescaled_auc([1, 0, 1, 0], [0.5, 0.5, 0.9, 0.1])
    0.75
    >>> rescaled_auc([1, 0], [0.5, 0.5])
    0.0
    """
    check_rows(truths, scores)
    positives = sum(map(bool, truths))
    negatives = len(truths) - positives
    if not positives or not negatives:
        raise SolutionError("All rows are of one class, so the AUC is undefined. Each part needs rows of both.")
    # whole numbers until the last line: twice the pairs in the right order, a tie being one
    twice_right, below = 0, 0
    ordered = sorted(map(_score_and_class, scores, truths), key=itemgetter(0))
    for _, tied in groupby(ordered, key=itemgetter(0)):
        classes = [is_positive for _, is_positive in tied]
        ups = sum(classes)
        downs = len(classes) - ups
        twice_right += ups * (2 * below + downs)
        below += downs
    return twice_right / (positives * negatives) - 1


def _score_and_class(score: float, truth: int) -> tuple[float, bool]:
    return float(score), bool(truth)


def fathomnet_score(
    truths: Sequence[Collection[Hashable]],
    predictions: Sequence[Sequence[Hashable]],
    osd_truths: Sequence[int],
    osd_scores: Sequence[float],
    *,
    duplicates: str = "keep_rank",
    empty_truth: str = "error",
) -> float:
    """Average the rescaled AUC and MAP@20: the metric of FathomNet 2023, ``(sAUC + MAP@20) / 2``.

    Parameters
    ----------
    truths : sequence of collections of labels, one an image
    predictions : sequence of ranked lists of labels, in the same order
        Longer ones than 20 are cut, not refused.
    osd_truths : sequence of 0 and 1
        Whether the image is out of the distribution.
    osd_scores : sequence of finite numbers
    duplicates : {"keep_rank", "compact"}
        See `average_precision_at_k`.
    empty_truth : {"error", "zero"}
        An image without a true label is the organizer's fault, or has average precision 0.

    Returns
    -------
    float
        Between -1/2 and 1, higher is better.

    Raises
    ------
    SolutionError
        An image has no true label and no rule was chosen, or all images are of one class.

    Notes
    -----
    AUC does not decompose: two parts with score 1 each can be 3/4 together, so each part is scored from its
    own rows.

    References
    ----------
    FathomNet 2023, evaluation page:
    https://www.kaggle.com/competitions/fathomnet-out-of-sample-detection/overview/evaluation

    Examples
    --------
    >>> fathomnet_score([{1, 2}, {7}], [[8, 1, 9, 2], [7]], [1, 0], [0.9, 0.1])
    0.875
    """
    check_choice("empty_truth", empty_truth, EMPTY_CATEGORIES)
    check_rows(truths, predictions, osd_truths, osd_scores)
    if empty_truth == "error" and not all(truths):
        raise SolutionError("A row has no true label. Choose empty_truth = zero, or mend the solution.")
    precisions = list(map(_fathomnet_precision, truths, predictions, repeat(duplicates)))
    return combine_fathomnet(precisions, osd_truths, osd_scores)


def _fathomnet_precision(truth: Collection[Hashable], ranking: Sequence[Hashable], duplicates: str) -> float:
    return average_precision_at_k(truth, ranking, k=FATHOMNET_PLACES, duplicates=duplicates)


def combine_fathomnet(precisions: Sequence[float], osd_truths: Sequence[int], osd_scores: Sequence[float]) -> float:
    """Average the mean of the images' average precisions and the rescaled AUC."""
    return (rescaled_auc(osd_truths, osd_scores) + mean(precisions)) / 2
