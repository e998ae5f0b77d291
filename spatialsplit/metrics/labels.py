"""Metrics on sets of labels: the samples-averaged F1 and the top-K error rate."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Sequence
from itertools import repeat

from spatialsplit.errors import SolutionError, SubmissionError
from spatialsplit.metrics.arguments import check_beta, check_choice, check_count, check_rows, f_beta, mean

EMPTY_TRUTH = ("error", "zero", "one", "skip")
ON_EXCESS = ("error", "truncate")


def f1_samples(
    truths: Sequence[Collection[Hashable]],
    predictions: Sequence[Collection[Hashable]],
    *,
    beta: float = 1.0,
    empty_truth: str = "error",
) -> float:
    """Average the F score over rows: the metric of GeoLifeCLEF 2023 to 2025.

    ``F = 1/N · Σ_i TP_i / (TP_i + (FP_i + FN_i) / 2)`` with sets of labels, so a repeated label counts once.
    A label that no row of the truth has is a false positive like any other.

    Parameters
    ----------
    truths, predictions : sequence of collections of labels, one a row, in the same order
        Labels of any hashable kind; those of both sides must be of one kind (7 is not "7").
    beta : float, default 1
        Weight of recall.
    empty_truth : {"error", "zero", "one", "skip"}
        What a row without a true label is: a fault of the organizer (the default: GeoLifeCLEF promises that
        none is empty), 0, 1 where the prediction is empty too (else 0), or left out of the mean.

    Returns
    -------
    float
        Between 0 and 1, higher is better.

    Raises
    ------
    SolutionError
        A row has no true label and no rule was chosen, or no row is left.

    Notes
    -----
    The competition pages call it "micro" F1; the formula below those words, and the organizers' own R script,
    is the *mean of rows* (pooled counts would give 1/3 in the second example). scikit-learn's
    ``f1_score(average="samples")`` agrees, up to its ``zero_division``. Graders that binarize with the
    classes of the truth alone lose the false positives of other labels.

    References
    ----------
    GeoLifeCLEF 2024, evaluation page:
    https://www.kaggle.com/competitions/geolifeclef-2024/overview/evaluation

    Examples
    --------
    >>> f1_samples([{1, 52, 10231}], [{1, 52}])
    0.8
    >>> f1_samples([{1}, {1, 2, 3, 4, 5, 6, 7, 8, 9}], [{1}, {1}])
    0.6
    >>> f1_samples([{1}, set()], [{1, 2, 3}, set()], empty_truth="one")
    0.75
    """
    check_choice("empty_truth", empty_truth, EMPTY_TRUTH)
    check_beta(beta)
    check_rows(truths, predictions)
    return mean(map(sample_f, truths, predictions, repeat(beta), repeat(empty_truth)))


def sample_f(
    truth: Collection[Hashable],
    prediction: Collection[Hashable],
    beta: float = 1.0,
    empty_truth: str = "error",
) -> float | None:
    """Give the F score of one row, or None where the row is left out.

    Examples
    --------
    >>> sample_f({1, 2}, {1}, beta=2.0)
    0.5555555555555556
    """
    labels, answers = _as_set(truth), _as_set(prediction)
    if not labels:
        if empty_truth == "error":
            raise SolutionError(
                "A row has no true label. Choose empty_truth = zero, one or skip, or mend the solution."
            )
        return None if empty_truth == "skip" else float(empty_truth == "one" and not answers)
    right = len(labels & answers)
    return f_beta(right, len(answers) - right, len(labels) - right, beta)


def _as_set(labels: Collection[Hashable]) -> frozenset[Hashable] | set[Hashable]:
    # a set is taken as it is: one that predicts every species on every row would be copied row by row
    return labels if isinstance(labels, (set, frozenset)) else set(labels)


def top_k_error(
    truths: Sequence[Hashable],
    predictions: Sequence[Sequence[Hashable]],
    *,
    k: int = 30,
    on_excess: str = "error",
    exact_k: bool = False,
) -> float:
    """Give the share of rows whose one true label is not among K candidates: GeoLifeCLEF 2022, K = 30.

    Parameters
    ----------
    truths : sequence of labels, one a row
    predictions : sequence of sequences of labels, in the same order
        At most `k` candidates a row; their order does not matter, an empty one is a miss.
    k : int, default 30
        Places that count.
    on_excess : {"error", "truncate"}
        Refuse more than `k` candidates (the default, for otherwise a long list games the metric), or take the
        first `k`.
    exact_k : bool, default False
        Refuse fewer than `k` too.

    Returns
    -------
    float
        Between 0 and 1, lower is better.

    Raises
    ------
    SubmissionError
        A row has more candidates than it may have, or with `exact_k` fewer.

    Notes
    -----
    Truncation comes before anything else, so repeats use up places. A hit counts once: the organizers' helper
    ``top_k_error_rate_from_sets`` sums the matches of a row and becomes negative when the right label is
    repeated.

    References
    ----------
    GeoLifeCLEF 2022, evaluation page:
    https://www.kaggle.com/competitions/geolifeclef-2022-lifeclef-2022-fgvc9/overview/evaluation

    Examples
    --------
    >>> top_k_error([1, 9, 3], [[1, 2, 3], [1, 2, 3], [1, 2, 3]], k=3)
    0.3333333333333333
    >>> top_k_error([5], [[5, 5, 5]], k=3)
    0.0
    >>> top_k_error([4], [[1, 2, 3, 4]], k=3, on_excess="truncate")
    1.0
    """
    check_choice("on_excess", on_excess, ON_EXCESS)
    check_count("k", k)
    check_rows(truths, predictions)
    for candidates in predictions:
        fault = candidates_fault(len(candidates), k, on_excess, exact_k)
        if fault:
            raise SubmissionError(f"A row holds {fault}")
    return mean(map(top_k_miss, truths, predictions, repeat(k)))


def candidates_fault(n_candidates: int, k: int, on_excess: str = "error", exact_k: bool = False) -> str | None:
    """Say what is wrong with a number of candidates, or None.

    Examples
    --------
    >>> candidates_fault(31, 30)
    '31 candidates; at most 30 are allowed.'
    """
    if n_candidates > k and on_excess == "error":
        return f"{n_candidates} candidates; at most {k} are allowed."
    if n_candidates < k and exact_k:
        return f"{n_candidates} candidates; exactly {k} are required."
    return None


def top_k_miss(truth: Hashable, candidates: Sequence[Hashable], k: int = 30) -> int:
    """Give 1 where the true label is not among the first `k` candidates, else 0.

    Examples
    --------
    >>> top_k_miss(7, [1, 7], k=1)
    1
    """
    return int(truth not in candidates[:k])
