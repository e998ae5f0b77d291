"""How much the environment of test rows is like that of training: near in space is not yet alike."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from spatialsplit.errors import DataError, first_few
from spatialsplit.folds.grouping import group_labels
from spatialsplit.folds.places import Floats, Mask

PAIRED_ROWS = 2_000
"""Of so many training rows, at most, the mean distance is taken over all pairs."""


@dataclass(frozen=True)
class Mess:
    """Similarity of rows to a reference.

    Attributes
    ----------
    score : array of float, shape (n,)
        100 at the reference's median in every variable, 0 at its edge, negative outside: extrapolation.
    variable : array of int, shape (n,)
        The variable that is least alike.
    """

    score: Floats
    variable: npt.NDArray[np.int64]

    @property
    def share_outside(self) -> float:
        """Share of rows with a variable outside the reference's range."""
        return float(np.mean(self.score < 0)) if self.score.size else 0.0


def mess(reference: npt.ArrayLike, rows: npt.ArrayLike) -> Mess:
    """Measure the multivariate environmental similarity surface of rows.

    Choose it to see where a model extrapolates, variable by variable. Elith et al. 2010, appendix S3
    (doi:10.1111/j.2041-210X.2010.00036.x).

    Parameters
    ----------
    reference : array of float, shape (m, p)
        Training rows.
    rows : array of float, shape (n, p)

    Raises
    ------
    DataError
        A value is missing, or the numbers of variables differ.

    Notes
    -----
    O(p (m + n) log m).

    Examples
    --------
    >>> mess([[0.0], [10.0], [20.0]], [[10.0], [-5.0]]).score.round(1).tolist()
    [66.7, -25.0]
    """
    known, asked = _matrix(reference, "reference"), _matrix(_in_order_of(reference, rows), "rows")
    _check_same(known, asked)
    scores = np.column_stack([_mess_of_one(np.sort(known[:, i]), asked[:, i]) for i in range(known.shape[1])])
    return Mess(scores.min(axis=1), scores.argmin(axis=1))


def _mess_of_one(reference: Floats, values: Floats) -> Floats:
    low, high = reference[0], reference[-1]
    width = high - low if high > low else 1.0
    below = 100.0 * np.searchsorted(reference, values, side="left") / len(reference)
    inside = np.where(below <= 50, 2 * below, 2 * (100 - below))
    at_the_low = below == 0
    score: Floats = np.where(at_the_low, (values - low) / width * 100, inside)
    return np.where(values > high, (high - values) / width * 100, score)


@dataclass(frozen=True)
class Applicability:
    """Dissimilarity of rows to training, and the limit beyond which the cross-validation says nothing about them.

    Attributes
    ----------
    dissimilarity : array of float, shape (n,)
        Distance to the nearest training row in standardized variables, in mean distances between training rows.
    limit : float
        The upper whisker of the training rows' own dissimilarity.
    """

    dissimilarity: Floats
    limit: float

    @property
    def inside(self) -> Mask:
        """Mark the rows within the area of applicability."""
        return self.dissimilarity <= self.limit


def applicability(
    train: npt.ArrayLike,
    rows: npt.ArrayLike,
    *,
    folds: npt.ArrayLike | None = None,
    weights: npt.ArrayLike | None = None,
) -> Applicability:
    """Tell which rows lie within the area of applicability of a model.

    Meyer & Pebesma 2021 (doi:10.1111/2041-210X.13650).

    Parameters
    ----------
    train : array of float, shape (m, p)
    rows : array of float, shape (n, p)
    folds : array of int, shape (m,), optional
        The folds of the cross-validation: a training row is then compared with rows of other folds. Default: each
        row with all others.
    weights : array of float, shape (p,), optional
        Importance of each variable in the model; all alike unless said.

    Raises
    ------
    DataError
        A value is missing, a variable is constant, or there are fewer than two rows.

    Notes
    -----
    A KD-tree in p variables: O((m + n) log m) for few variables. The mean distance is taken over the pairs of 2,000
    training rows at even steps where there are more.

    Examples
    --------
    >>> area = applicability([[0.0], [1.0], [2.0], [3.0]], [[1.5], [9.0]])
    >>> area.inside.tolist()
    [True, False]
    """
    known, asked = _matrix(train, "train"), _matrix(_in_order_of(train, rows), "rows")
    _check_same(known, asked)
    scaled, asked = _standardized(known, asked, weights)
    mean = _mean_distance(scaled)
    own = _nearest_own(scaled, folds) / mean
    low, high = np.quantile(own, [0.25, 0.75])
    limit = own[own <= high + 1.5 * (high - low)].max()
    return Applicability(_tree(scaled).query(asked)[0] / mean, float(limit))


def _standardized(train: Floats, rows: Floats, weights: npt.ArrayLike | None) -> tuple[Floats, Floats]:
    spread = train.std(axis=0, ddof=1) if len(train) > 1 else np.zeros(train.shape[1])
    constant = np.flatnonzero(spread == 0)
    if constant.size:
        raise DataError(
            f"Variable {first_few(constant.tolist())} of train is the same in all {len(train):,} rows. A variable "
            "must vary to be "
            "compared. Leave it out."
        )
    factor = _weights(weights, train.shape[1]) / spread
    return (train - train.mean(axis=0)) * factor, (rows - train.mean(axis=0)) * factor


def _weights(weights: npt.ArrayLike | None, n: int) -> Floats:
    if weights is None:
        return np.ones(n)
    given = np.asarray(weights, dtype=np.float64)
    if given.shape != (n,) or not np.isfinite(given).all() or (given < 0).any() or not given.any():
        raise DataError(
            f"Invalid weights {first_few(np.ravel(given).tolist(), shown=8)} for {n} variables. There must be a finite "
            "number from 0 up for each, and one above 0. Correct them."
        )
    return given


def _mean_distance(scaled: Floats) -> float:
    from scipy.spatial.distance import pdist

    order = np.lexsort(scaled.T)
    chosen = order[np.unique(np.linspace(0, len(scaled) - 1, min(PAIRED_ROWS, len(scaled))).astype(np.int64))]
    return float(pdist(scaled[chosen]).mean())


def _nearest_own(scaled: Floats, folds: npt.ArrayLike | None) -> Floats:
    if folds is None:
        return np.asarray(_tree(scaled).query(scaled, k=2)[0][:, 1])
    numbers = group_labels(folds, len(scaled), where="folds").codes
    nearest = np.empty(len(scaled))
    for fold in np.unique(numbers):
        inside = numbers == fold
        if inside.all():
            raise DataError("All rows are in one fold. There must be another to compare with. Make two folds or more.")
        nearest[inside] = _tree(scaled[~inside]).query(scaled[inside])[0]
    return nearest


def _tree(points: Floats) -> Any:
    from scipy.spatial import cKDTree

    return cKDTree(points)


def _in_order_of(reference: Any, rows: Any) -> Any:
    """Give the columns of a data frame in the order that they have in another one."""
    if not (hasattr(reference, "columns") and hasattr(rows, "columns")):
        return rows
    wanted, known = list(reference.columns), list(rows.columns)
    if sorted(map(str, wanted)) != sorted(map(str, known)):
        raise DataError(
            f"The rows have the variables {first_few(known, shown=8)}, and the reference {first_few(wanted, shown=8)}. "
            "They must be the same ones. Correct the columns."
        )
    return rows[wanted]


def _matrix(values: npt.ArrayLike, name: str) -> Floats:
    try:
        table = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise DataError(
            f"A cell of {name} is no number. Every variable must be. Turn classes into numbers or leave them out."
        ) from None
    table = table.reshape(len(table), -1) if table.size else table.reshape(len(table), 0)
    bad = np.flatnonzero(~np.isfinite(table).all(axis=1))
    if bad.size or not len(table):
        raise DataError(
            f"{bad.size:,} of {len(table):,} rows of {name} lack a value (first: row "
            f"{first_few(bad[:4].tolist()) or 'none'}). "
            "Every variable must be finite, and there must be rows. Fill the values in or leave these rows out."
        )
    return table


def _check_same(first: Floats, second: Floats) -> None:
    if first.shape[1] != second.shape[1]:
        raise DataError(
            f"The rows have {second.shape[1]} variables and the reference has {first.shape[1]}. They must be the "
            "same ones, in "
            "one order. Correct the columns."
        )
