"""What every metric asks of its arguments, and the mean that all of them take."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence, Sized

from spatialsplit.errors import DataError, SolutionError


def check_choice(name: str, value: object, known: Sequence[str]) -> None:
    """Refuse an option value that is not one of the known words.

    Examples
    --------
    >>> check_choice("matching", "best", ("greedy", "optimal"))  # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
    DataError: Invalid matching 'best'. Known: greedy, optimal.
    """
    if value not in known:
        raise DataError(f"Invalid {name} {value!r}. Known: {', '.join(known)}.")


def check_beta(beta: float) -> None:
    """Refuse a weight of recall that is not a positive finite number."""
    if not (0 < beta < math.inf):
        raise DataError(f"Invalid beta {beta!r}. It weighs recall against precision and must be positive and finite.")


def check_count(name: str, value: int) -> None:
    """Refuse a number of places below one."""
    if value < 1:
        raise DataError(f"Invalid {name} {value!r}. It must be a whole number of at least 1.")


def check_rows(truths: Sized, *others: Sized) -> None:
    """Refuse arguments that are not row by row the same length, or hold no row."""
    lengths = [len(truths), *map(len, others)]
    if len(set(lengths)) > 1:
        raise DataError(f"Truth and predictions have different numbers of rows: {', '.join(map(str, lengths))}.")
    if not lengths[0]:
        raise SolutionError("There is no row to score.")


def mean(values: Iterable[float | None]) -> float:
    """Take the mean of the rows that count; None marks one that does not.

    `math.fsum` rounds once, so that equal submissions get equal scores in any order of rows: a plain sum of
    20,000 row scores changes in its fifteenth digit when the rows are reversed.

    Raises
    ------
    SolutionError
        No row counts.

    Examples
    --------
    >>> mean([1.0, None, 0.5])
    0.75
    """
    counted = [value for value in values if value is not None]
    if not counted:
        raise SolutionError("No row has a true label, so there is nothing to score.")
    return math.fsum(counted) / len(counted)


def f_beta(tp: int, fp: int, fn: int, beta: float) -> float:
    """Give the F score of counts, 0 without a true positive.

    ``(1 + b²) TP / ((1 + b²) TP + b² FN + FP)``: written with counts, since precision and recall would divide
    by zero.

    Examples
    --------
    >>> f_beta(2, 0, 1, 1.0)
    0.8
    """
    if not tp:
        return 0.0
    weight = beta * beta
    return (1 + weight) * tp / ((1 + weight) * tp + weight * fn + fp)
