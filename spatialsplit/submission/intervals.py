"""How sure a score is: a 95 % interval by resampling whole quadrats.

Surveys of one quadrat resemble each other, so resampling single rows would make every score look too sure.
Percentile bootstrap (Efron 1979; for groups Davison and Hinkley 1997, section 3.8): groups are drawn with
replacement, as many as there are.

The numbers are the same on every platform: raw integers of a named bit generator choose the groups, row
scores are whole multiples of 2⁻⁴⁰, and sums of whole numbers do not depend on their order.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from spatialsplit.metrics.arguments import f_beta
from spatialsplit.submission.tasks import FathomNet, JaccardFBeta, Task

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

LEVEL = 0.95
FIXED_POINT = 2.0**40


@dataclass(frozen=True)
class Interval:
    """A confidence interval of a score and how it was made.

    Attributes
    ----------
    low, high : float
        Percentiles of the resampled scores.
    resamples : int
        How many resampled scores there are; those that are undefined (one class only) are not counted.
    unit : str
        What was resampled: the name of the grouping column, or "row".
    n_units : int
    seed : str
    """

    low: float
    high: float
    resamples: int
    unit: str
    n_units: int
    seed: str
    level: float = LEVEL


def resampled_interval(
    task: Task,
    tallies: Sequence[Any],
    groups: Sequence[Any],
    *,
    unit: str = "row",
    resamples: int = 1000,
    seed: str = "0",
) -> Interval | None:
    """Give the 95 % interval of a score by resampling whole groups of rows.

    Parameters
    ----------
    task : Task
    tallies : sequence, one a row
        As `task.tally` gives them.
    groups : sequence, one a row
        The quadrat of each row, all texts; the row's own id where there are none.
    unit : str
        The name of what is resampled.
    resamples : int, default 1000
    seed : str

    Returns
    -------
    Interval or None
        None for fewer than two groups: one place says nothing about the others.
    """
    import numpy as np  # imported here, so that a score without an interval does not wait for it

    names = sorted(set(groups))  # the order of the rows must not change the interval
    if len(names) < 2 or resamples < 1:
        return None
    numbers = {name: number for number, name in enumerate(names)}
    members = np.fromiter((numbers[group] for group in groups), np.int64, len(groups))
    score = _scorer(task, tallies, members, len(names))
    generator = np.random.PCG64(int.from_bytes(hashlib.sha256(seed.encode()).digest(), "big"))
    drawn = (score(_weights(generator, len(names))) for _ in range(resamples))
    scores = sorted(value for value in drawn if value is not None)
    if not scores:
        return None
    tail = (1 - LEVEL) / 2
    low = scores[math.floor(tail * (len(scores) - 1))]
    high = scores[math.ceil((1 - tail) * (len(scores) - 1))]
    return Interval(low, high, len(scores), unit, len(names), seed)


def _weights(generator: np.random.PCG64, n_groups: int) -> NDArray[np.int64]:
    """Draw how often each group stands in a resample, from the upper 32 bits of raw integers."""
    import numpy as np

    picks = ((generator.random_raw(n_groups) >> np.uint64(32)) * np.uint64(n_groups)) >> np.uint64(32)
    return np.bincount(picks.astype(np.int64), minlength=n_groups)


def _scorer(
    task: Task, tallies: Sequence[Any], members: NDArray[np.int64], n_groups: int
) -> Callable[[NDArray[np.int64]], float | None]:
    """Give the function from the groups' weights to the score of that resample."""
    if isinstance(task, JaccardFBeta):
        return _pooled_scorer(task.beta, _group_sums(tallies, members, n_groups))
    if isinstance(task, FathomNet):
        precision = _mean_scorer([tally[0] for tally in tallies], members, n_groups)
        return _fathomnet_scorer(precision, tallies, members)
    return _mean_scorer(tallies, members, n_groups)


def _group_sums(columns: Sequence[Sequence[int]], members: NDArray[np.int64], n_groups: int) -> NDArray[np.int64]:
    import numpy as np

    values = np.array(columns, np.int64)
    sums = np.zeros((n_groups, values.shape[1]), np.int64)
    np.add.at(sums, members, values)
    return sums


def _mean_scorer(
    values: Sequence[float | None], members: NDArray[np.int64], n_groups: int
) -> Callable[[NDArray[np.int64]], float | None]:
    rows = [(0, 0) if value is None else (round(value * FIXED_POINT), 1) for value in values]
    sums = _group_sums(rows, members, n_groups)

    def score(weights: NDArray[np.int64]) -> float | None:
        total, count = map(int, weights @ sums)
        return total / (count * FIXED_POINT) if count else None

    return score


def _pooled_scorer(beta: float, sums: NDArray[np.int64]) -> Callable[[NDArray[np.int64]], float | None]:
    def score(weights: NDArray[np.int64]) -> float | None:
        tp, fp, fn = map(int, weights @ sums)
        return f_beta(tp, fp, fn, beta)

    return score


def _fathomnet_scorer(
    precision: Callable[[NDArray[np.int64]], float | None], tallies: Sequence[Any], members: NDArray[np.int64]
) -> Callable[[NDArray[np.int64]], float | None]:
    import numpy as np

    is_out = np.array([tally[1] for tally in tallies], bool)
    _, level = np.unique(np.array([tally[2] for tally in tallies]), return_inverse=True)
    n_levels = int(level.max()) + 1

    def score(weights: NDArray[np.int64]) -> float | None:
        of_row = weights[members]
        ups, downs = (_level_sums(level, np.where(mask, of_row, 0), n_levels) for mask in (is_out, ~is_out))
        pairs = int(ups.sum()) * int(downs.sum())
        if not pairs:
            return None
        twice_right = int((ups * (2 * (np.cumsum(downs) - downs) + downs)).sum())
        mean = precision(weights)
        return None if mean is None else (twice_right / pairs - 1 + mean) / 2

    return score


def _level_sums(level: NDArray[np.intp], weights: NDArray[np.int64], n_levels: int) -> NDArray[np.int64]:
    import numpy as np

    # exact: bincount sums in doubles, and weights are counts far below 2**53
    return np.bincount(level, weights=weights, minlength=n_levels).astype(np.int64)
