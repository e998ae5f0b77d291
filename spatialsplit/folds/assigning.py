"""Quadrats → folds, by SHA-256 of the seed, a name and the quadrat's label.

The order is that of `draw`: a quadrat's number depends on seed, name and label alone. The quota cuts this order where
the folds hold equally many rows, so that a row more or less moves quadrats over a cut only; the threshold moves nothing
ever. Classes that scikit-learn takes stand in `quadrats`.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import accumulate
from numbers import Integral
from typing import Any

from spatialsplit.draw import METHODS, SHARES_OF, Occupied, check_word, quadrat_number
from spatialsplit.errors import DataError, first_few

NAME = "folds"
"""The word that stands for the holdout's name in the hashes of folds."""


def fold_quadrats(
    occupied: Occupied,
    n_splits: int,
    seed: str,
    *,
    method: str = "quota",
    share_of: str = "surveys",
    fixed: Mapping[str, int] | None = None,
) -> dict[str, int]:
    """Deal quadrats out to folds.

    Choose it whenever whole quadrats must be tested together. The outcome does not depend on the order of the quadrats.

    Parameters
    ----------
    occupied : Occupied
        With strata, each stratum is cut on its own, and starts at a fold that its name's hash chooses.
    n_splits : int
        Number of folds, at least 2.
    seed : str
        Any text without `|`.
    method : {'quota', 'threshold'}
        A quota makes folds of equal size. A threshold puts a quadrat into fold `number * n_splits >> 64`: sizes are
        equal on average only, but nothing ever moves when quadrats are added.
    share_of : {'surveys', 'quadrats'}
        What is equal between the folds of a quota.
    fixed : mapping of str to int, optional
        Folds of an earlier release, which stay. New quadrats come, in their hash order, into the fold that is
        smallest by then; with the threshold, into their own.

    Returns
    -------
    dict of str to int
        Label to fold, from 0.

    Raises
    ------
    DataError
        There are fewer quadrats than folds, or an argument is impossible.

    Examples
    --------
    >>> fold_quadrats(Occupied(list("abcd"), [1, 1, 1, 1]), 2, "seed")
    {'a': 1, 'b': 1, 'c': 0, 'd': 0}
    """
    check_word(seed, "seed")
    _check_words(method, share_of)
    n_splits = check_n_splits(n_splits, len(set(occupied.labels)))
    weight = dict(
        zip(occupied.labels, occupied.n_surveys if share_of == "surveys" else [1] * len(occupied.labels), strict=True)
    )
    numbers = {label: quadrat_number(seed, NAME, label) for label in weight}
    if fixed is not None and fixed != {}:
        folds = _extended(weight, numbers, n_splits, fixed, method)
    elif method == "threshold":
        folds = {label: _by_threshold(numbers[label], n_splits) for label in weight}
    else:
        folds = _cut(weight, numbers, n_splits, seed, occupied)
    _check_none_empty(folds, n_splits)
    return {label: folds[label] for label in weight}


def _cut(
    weight: Mapping[str, int], numbers: Mapping[str, int], n_splits: int, seed: str, occupied: Occupied
) -> dict[str, int]:
    order = sorted(weight, key=lambda label: (numbers[label], label))
    if occupied.strata is None:
        return dict(zip(order, cut_equally([weight[label] for label in order], n_splits), strict=True))
    stratum = dict(zip(occupied.labels, occupied.strata, strict=True))
    folds: dict[str, int] = {}
    for name in sorted(set(stratum.values())):
        members = [label for label in order if stratum[label] == name]
        start = quadrat_number(seed, "strata", name) % n_splits
        parts = cut_loosely([weight[label] for label in members], n_splits)
        folds |= {label: (part + start) % n_splits for label, part in zip(members, parts, strict=True)}
    return folds


def cut_equally(weights: list[int], n_splits: int) -> list[int]:
    """Cut a sequence into parts of nearly equal weight, each with one member at least.

    Each cut stands where the weight before it comes nearest to its share (a tie: the shorter part).

    Examples
    --------
    >>> cut_equally([1, 1, 5, 1, 1], 3)
    [0, 0, 1, 2, 2]
    """
    total, reached = sum(weights), [0, *accumulate(weights)]
    parts: list[int] = []
    position = 0
    for cut in range(1, n_splits):
        last = len(weights) - (n_splits - cut)
        position += 1
        while position < last and abs(n_splits * reached[position + 1] - cut * total) < abs(
            n_splits * reached[position] - cut * total
        ):
            position += 1
        parts += [cut - 1] * (position - len(parts))
    return parts + [n_splits - 1] * (len(weights) - len(parts))


def cut_loosely(weights: list[int], n_splits: int) -> list[int]:
    """Cut a sequence into parts of equal weight by the middle of each member; parts may be empty.

    Examples
    --------
    >>> cut_loosely([1, 1], 4)
    [1, 3]
    """
    total, reached = sum(weights), [0, *accumulate(weights)]
    return [(2 * reached[i] + weight) * n_splits // (2 * total) for i, weight in enumerate(weights)]


def _by_threshold(number: int, n_splits: int) -> int:
    return number * n_splits >> 64


def _extended(
    weight: Mapping[str, int], numbers: Mapping[str, int], n_splits: int, fixed: Mapping[str, int], method: str
) -> dict[str, int]:
    folds = {label: fold for label, fold in _checked_fixed(fixed, n_splits).items() if label in weight}
    sizes = [0] * n_splits
    for label, fold in folds.items():
        sizes[fold] += weight[label]
    for label in sorted(weight.keys() - folds.keys(), key=lambda label: (numbers[label], label)):
        fold = _by_threshold(numbers[label], n_splits) if method == "threshold" else sizes.index(min(sizes))
        folds[label] = fold
        sizes[fold] += weight[label]
    return folds


def _checked_fixed(fixed: Mapping[str, int], n_splits: int) -> dict[str, int]:
    if not isinstance(fixed, Mapping):
        raise DataError(f"Invalid fixed {type(fixed).__name__}. It must give each quadrat its fold: {{label: fold}}.")
    beyond = {fold for fold in fixed.values() if not _is_whole(fold) or not 0 <= fold < n_splits}
    if beyond:
        raise DataError(
            f"The fixed folds name fold {first_few(sorted(beyond, key=str))}. With n_splits={n_splits} folds are whole "
            f"numbers in [0, {n_splits - 1}]. Correct fixed or n_splits."
        )
    return {str(label): int(fold) for label, fold in fixed.items()}


def _check_words(method: str, share_of: str) -> None:
    if method not in METHODS:
        raise DataError(f"Unknown method '{method}'. Known: {', '.join(METHODS)}.")
    if share_of not in SHARES_OF:
        raise DataError(f"Unknown share_of '{share_of}'. Known: {', '.join(SHARES_OF)}.")


def whole_number(value: Any, name: str, least: int, most: int | None = None) -> int:
    """Return a whole number that an argument may be, of Python or of numpy.

    Raises
    ------
    DataError
        It is another thing, or out of bounds.

    Examples
    --------
    >>> whole_number(5, "n_splits", 2)
    5
    """
    if not _is_whole(value) or value < least or (most is not None and value > most):
        bounds = f", {least} or more" if most is None else f" from {least} to {most}"
        raise DataError(f"Invalid {name} {value!r}. It must be a whole number{bounds}. Correct it.")
    return int(value)


def _is_whole(value: Any) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool)


def check_n_splits(n_splits: int, n_groups: int, what: str = "quadrats") -> int:
    """Return a number of folds that so many quadrats can fill.

    Raises
    ------
    DataError
        It is no whole number, less than 2, or more than there are quadrats.

    Examples
    --------
    >>> check_n_splits(5, 40)
    5
    """
    n_splits = whole_number(n_splits, "n_splits", 2)
    if n_groups < n_splits:
        cure = f"Lower n_splits to {n_groups}" if n_groups > 1 else "Have more of them"
        smaller = ", or use smaller quadrats" if what == "quadrats" else ""
        raise DataError(
            f"{n_splits} folds of {n_groups} occupied {what} cannot be made. Every fold needs at least one. "
            f"{cure}{smaller}."
        )
    return n_splits


def _check_none_empty(folds: Mapping[str, int], n_splits: int) -> None:
    empty = sorted(set(range(n_splits)) - set(folds.values()))
    if empty:
        raise DataError(
            f"{len(empty)} of {n_splits} folds are empty (first: fold {first_few(empty)}) though {len(folds)} "
            "quadrats are "
            "occupied. Every fold needs at least one. Lower n_splits, use smaller quadrats, or method='quota' "
            "without strata; inside another splitter, use another seed than it has."
        )
