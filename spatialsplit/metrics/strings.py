"""The metric of the Coleridge Initiative: pooled F over strings that match by their tokens.

Kaggle's scorer is closed and its text contradicts itself, so the matching cannot be settled from public
material. Six readings were found in public notebooks; `MATCHINGS` holds them by name. `greedy` is the
commonest and the default; `optimal` does not depend on any order and is what a new competition should take.
Equality with Kaggle's private scorer is not claimed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import repeat

from spatialsplit.errors import SolutionError
from spatialsplit.metrics.arguments import check_beta, check_choice, check_rows, f_beta

NOT_ALPHANUMERIC = re.compile("[^a-z0-9]+")


def jaccard_fbeta(
    truths: Sequence[Sequence[str]],
    predictions: Sequence[Sequence[str]],
    *,
    matching: str = "greedy",
    beta: float = 0.5,
    clean_predictions: bool = False,
) -> float:
    """Pool the matches of strings over all rows and give their F score: Coleridge Initiative 2021.

    ``F = (1 + b²) TP / ((1 + b²) TP + b² FN + FP)``, with the counts of all rows in one pool. Two strings
    match when their sets of tokens have a Jaccard index of at least 1/2.

    Parameters
    ----------
    truths : sequence of sequences of str, one a row
        Cleaned here by `clean_text`; equal ones become one. A row may have none: its predictions are then
        false positives.
    predictions : sequence of sequences of str, in the same order
        Only lower-cased, as in the competition, so that "Initiative (ADNI)" can lose to its own truth.
        Repeats stay: the second copy finds no free truth.
    matching : {"greedy", "optimal", "per_truth", "per_truth_multi", "pred_major", "any_overlap"}
        Which predictions meet which truths; `count_matches` says how each reads.
    beta : float, default 0.5
    clean_predictions : bool, default False
        Clean the predictions as the truths are.

    Returns
    -------
    float
        Between 0 and 1, higher is better; 0 without a true positive.

    Raises
    ------
    SolutionError
        No row has a truth.

    References
    ----------
    Coleridge Initiative - Show US the Data, evaluation page:
    https://www.kaggle.com/competitions/coleridgeinitiative-show-us-the-data/overview/evaluation

    Examples
    --------
    >>> jaccard_fbeta([["adni"]], [["adni", "adni"]])
    0.5555555555555556
    >>> jaccard_fbeta([["a b c d", "b c d e"]], [["a b", "a b c d"]])
    0.5
    >>> jaccard_fbeta([["a b c d", "b c d e"]], [["a b", "a b c d"]], matching="optimal")
    1.0
    """
    check_choice("matching", matching, tuple(MATCHINGS))
    check_beta(beta)
    check_rows(truths, predictions)
    cleaned = [clean_truths(texts) for texts in truths]
    if not any(cleaned):
        raise SolutionError("No row has a truth, so the F score is undefined.")
    counts = map(count_matches, cleaned, predictions, repeat(matching), repeat(clean_predictions))
    return pooled_f(list(counts), beta)


def clean_text(text: str) -> str:
    """Lower-case and turn every run of other characters than a-z and 0-9 into one space.

    The competition's own function, with the ends trimmed. Letters with accents separate.

    Examples
    --------
    >>> clean_text("Données climatiques (2020)")
    'donn es climatiques 2020'
    """
    return NOT_ALPHANUMERIC.sub(" ", text.lower()).strip()


def clean_truths(texts: Sequence[str]) -> list[str]:
    """Clean the truths of a row, merge equal ones, drop empty ones; in code-point order.

    Examples
    --------
    >>> clean_truths(["ADNI", "adni", "--"])
    ['adni']
    """
    return sorted({cleaned for cleaned in map(clean_text, texts) if cleaned})


def pooled_f(counts: Sequence[tuple[int, int, int]], beta: float) -> float:
    """Give the F score of the sums of (TP, FP, FN) over rows."""
    tp, fp, fn = (sum(count[position] for count in counts) for position in range(3))
    return f_beta(tp, fp, fn, beta)


def count_matches(
    truths: Sequence[str],
    predictions: Sequence[str],
    matching: str = "greedy",
    clean_predictions: bool = False,
) -> tuple[int, int, int]:
    """Count true positives, false positives and false negatives of one row.

    Parameters
    ----------
    truths : sequence of str
        Cleaned, distinct, in code-point order, as `clean_truths` gives them.
    predictions : sequence of str
        As sent; their code-point order, before lower-casing, settles ties.
    matching : str
        - ``greedy``: each truth in turn takes its best free prediction; a pair that does not match uses
          nothing up.
        - ``optimal``: the largest number of matching pairs, one to one.
        - ``per_truth``: each truth chooses its best prediction, also one chosen before; a prediction counts
          once.
        - ``per_truth_multi``: the same, and one prediction may count for several truths.
        - ``pred_major``: each prediction in turn uses up its best truth, whether they match or not.
        - ``any_overlap``: predictions need any match; a truth is missed only if no prediction shares a token
          with it. clean_predictions : bool Clean the predictions first.

    Examples
    --------
    >>> count_matches(["a b c"], ["a b", "x"])
    (1, 1, 0)
    """
    answers = sorted(predictions)
    readable = map(clean_text, answers) if clean_predictions else map(str.lower, answers)
    answer_tokens = [frozenset(text.split()) for text in readable]
    truth_tokens = [frozenset(text.split()) for text in truths]
    table = [[_jaccard(truth, answer) for answer in answer_tokens] for truth in truth_tokens]
    return MATCHINGS[matching](table, len(answers))


def _jaccard(one: frozenset[str], other: frozenset[str]) -> float:
    shared = len(one & other)
    # equal fractions are equal doubles and 1/2 is exact: ties and threshold can be compared as they are
    return shared / (len(one) + len(other) - shared) if shared else 0.0


def _matches(similarity: float) -> bool:
    return similarity >= 0.5


def _best(similarities: Sequence[float], free: Sequence[int]) -> int:
    # max keeps the first of equals, and both sides stand in code-point order
    return max(free, key=similarities.__getitem__)


def _greedy(table: list[list[float]], n_answers: int) -> tuple[int, int, int]:
    free = list(range(n_answers))
    hits = 0
    for similarities in table:
        if not free:
            break
        best = _best(similarities, free)
        if _matches(similarities[best]):
            free.remove(best)
            hits += 1
    return hits, n_answers - hits, len(table) - hits


def _optimal(table: list[list[float]], n_answers: int) -> tuple[int, int, int]:
    partner: dict[int, int] = {}

    def find_place(truth: int, asked: set[int]) -> bool:
        """Give a truth an answer, moving others to their next best where that makes room."""
        for answer, similarity in enumerate(table[truth]):
            if answer in asked or not _matches(similarity):
                continue
            asked.add(answer)
            if answer not in partner or find_place(partner[answer], asked):
                partner[answer] = truth
                return True
        return False

    hits = sum(find_place(truth, set()) for truth in range(len(table)))
    return hits, n_answers - hits, len(table) - hits


def _chosen_matches(table: list[list[float]], n_answers: int) -> list[int]:
    everything = range(n_answers)
    choices = [(row, _best(row, everything)) for row in table] if n_answers else []
    return [best for row, best in choices if _matches(row[best])]


def _per_truth(table: list[list[float]], n_answers: int) -> tuple[int, int, int]:
    chosen = _chosen_matches(table, n_answers)
    return len(set(chosen)), n_answers - len(set(chosen)), len(table) - len(chosen)


def _per_truth_multi(table: list[list[float]], n_answers: int) -> tuple[int, int, int]:
    chosen = _chosen_matches(table, n_answers)
    return len(chosen), n_answers - len(set(chosen)), len(table) - len(chosen)


def _pred_major(table: list[list[float]], n_answers: int) -> tuple[int, int, int]:
    free = list(range(len(table)))
    pairs = min(len(table), n_answers)
    hits = 0
    for answer in range(pairs):
        similarities = [row[answer] for row in table]
        best = _best(similarities, free)
        free.remove(best)
        hits += _matches(similarities[best])
    return hits, n_answers - hits, len(table) - pairs


def _any_overlap(table: list[list[float]], n_answers: int) -> tuple[int, int, int]:
    hits = sum(any(_matches(row[answer]) for row in table) for answer in range(n_answers))
    return hits, n_answers - hits, sum(not any(row) for row in table)


MATCHINGS: dict[str, Callable[[list[list[float]], int], tuple[int, int, int]]] = {
    "greedy": _greedy,
    "optimal": _optimal,
    "per_truth": _per_truth,
    "per_truth_multi": _per_truth_multi,
    "pred_major": _pred_major,
    "any_overlap": _any_overlap,
}
