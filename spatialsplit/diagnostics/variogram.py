"""How alike values are at which distance: the empirical variogram, and a model fitted to it.

The range, beyond which values know nothing of each other, is what quadrats have to be as wide as (Roberts et al. 2017,
doi:10.1111/ecog.02881). What to make of it stands in `block_size`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from spatialsplit.diagnostics.pairs import POOL, RowPairs, row_pairs
from spatialsplit.diagnostics.sampling import row_numbers, sample_rows
from spatialsplit.errors import DataError, first_few
from spatialsplit.folds.parting import check_distance
from spatialsplit.folds.places import Floats, Integers, Places

N_LAGS = 15
N_RANGES = 120
FEWEST_ROWS = 30
LOOKED_AT = 100_000
"""Whether many rows share a value is judged by so many of them: presences, classes and counts do."""

LEAST_STRUCTURED = 0.1
"""With a smaller share of variance that depends on distance, nothing is said to be autocorrelated."""

MOST_CHANCE = 0.05
"""If near rows are as alike in more of the shuffles, nothing is said to be autocorrelated."""

MOST_LOOKS = 6

SHUFFLES = 40
"""The values as they are, and 39 times dealt out anew."""

STRICTER, STRICTEST = 4, 16
"""So many times as strict, with as many times the shuffles, is each look after one that showed nothing; at most."""

SHUFFLED_PAIRS = 100_000
"""So many of the nearest pairs are compared, at most."""

SMALLEST, LARGEST = 1e-70, 1e70
"""The fourth power of what lies between is a floating-point number."""

MODELS = ("spherical", "exponential")
EXPONENTIAL_RANGE = 3.0
"""An exponential model has reached 95 % of its sill at three times its parameter: that is its practical range."""


@dataclass(frozen=True)
class VariogramModel:
    """A fitted variogram.

    Attributes
    ----------
    kind : {'spherical', 'exponential'}
    nugget, partial_sill : float
        Variance without distance, and what distance adds.
    range_m : float
        Where the sill is reached (exponential: 95 % of it); metres, or the plane's unit.
    """

    kind: str
    nugget: float
    partial_sill: float
    range_m: float

    @property
    def structured(self) -> float:
        """Share of the variance that depends on distance, 0 to 1."""
        sill = self.nugget + self.partial_sill
        return self.partial_sill / sill if sill > 0 else 0.0

    def semivariance(self, distance: npt.ArrayLike) -> Floats:
        """Give the model's semivariance at distances."""
        return np.asarray(self.nugget + self.partial_sill * rise(self.kind, np.asarray(distance) / self.range_m))

    def correlation(self, distance: npt.ArrayLike) -> Floats:
        """Give the correlation of two rows at distances."""
        return np.asarray(self.structured * (1 - rise(self.kind, np.asarray(distance) / self.range_m)))


@dataclass(frozen=True)
class Variogram:
    """The empirical variogram of one variable, and its model.

    Attributes
    ----------
    distance : array of float, shape (lags,)
        Mean distance of the pairs of each lag; metres, or the plane's unit.
    semivariance : array of float, shape (lags,)
    n_pairs : array of int, shape (lags,)
    farthest : float
        Up to which pairs were looked at.
    model : VariogramModel
    estimator : {'robust', 'classical'}
    chance : float
        How often near rows would be so alike if the values were dealt out to the rows at random: one in 40 shuffles, at
        the least; multiplied by 4 for each wider view that showed nothing, up to 16.
    """

    distance: Floats
    semivariance: Floats
    n_pairs: Integers
    farthest: float
    model: VariogramModel
    estimator: str
    chance: float = 1.0

    @property
    def levels_off(self) -> bool:
        """Tell whether the model reaches its sill within the distances looked at."""
        return self.model.range_m < 0.9 * self.farthest


def variogram(places: Places, values: npt.ArrayLike, *, farthest: float | None = None, seed: str = "0") -> Variogram:
    """Measure and fit the variogram of one variable; see `variograms`."""
    return variograms(places, np.asarray(values).reshape(-1, 1), farthest=farthest, seed=seed)[0]


def variograms(
    places: Places,
    values: npt.ArrayLike,
    *,
    farthest: float | None = None,
    seed: str = "0",
    names: Sequence[str] | None = None,
) -> list[Variogram]:
    """Measure and fit the variograms of several variables.

    Parameters
    ----------
    places : Places
    values : array of float, shape (n, p)
        Residuals of a model rather than raw values, where there is a trend.
    farthest : float, optional
        Largest distance of a pair. Default: half of the extent at first; then closer looks, until a range fills a
        good part of the view, or there are too few pairs.
    seed : str
        Chooses the pairs in large data; see `row_pairs`.
    names : sequence of str, optional
        Of the variables, for messages; their numbers unless said.

    Returns
    -------
    list of Variogram

    Raises
    ------
    DataError
        There are fewer than 30 rows, a value is missing, all values are alike, or all rows lie at one place.

    Notes
    -----
    Lags are of equal width. The estimator is that of Cressie & Hawkins (1980, doi:10.1007/BF01035243), which single
    odd values do not spoil; where most rows share their value with others it is Matheron's. Models are fitted by
    weighted least squares with weights pairs / distance², the range by search over a fixed ladder: no start value
    matters.

    Examples
    --------
    >>> dice = np.random.default_rng(1)
    >>> places = Places(dice.uniform(0, 100, 800), dice.uniform(0, 100, 800), planar=True)
    >>> patches = dice.normal(size=(5, 5))[(places.east // 20).astype(int), (places.north // 20).astype(int)]
    >>> 10 < variogram(places, patches).model.range_m < 30
    True
    """
    table = _checked(places, values, names)
    if farthest is not None and not check_distance(farthest, "farthest"):
        raise DataError("Invalid farthest 0. Rows at one place tell no range. Give a number above 0, or none.")
    return [_closer_and_closer(places, column, farthest, seed) for column in table.T]


def _closer_and_closer(places: Places, values: Floats, farthest: float | None, seed: str) -> Variogram:
    """Look closer until the range fills a good part of the view; where nothing is seen, closer all the same.

    A range of 20 km does not show in a view of a continent. Each look that found nothing makes the next one's proof
    stricter, so that noise gets no more chances by more looks.
    """
    reach = farthest or places.extent / 2
    some = sample_rows(places, POOL, seed, values)  # each look makes its pairs of these
    places, values = places.take(some), values[some]
    pairs, fruitless = row_pairs(places, reach, seed, values), 0
    seen = widest = _judged(pairs, places, values, reach, seed, fruitless)
    for _ in range(0 if farthest else MOST_LOOKS):
        found = is_structured(seen)
        if found and seen.model.range_m > reach / 4:
            break
        fruitless += not found
        reach = max(2.5 * seen.model.range_m, reach / 8) if found else reach / 8
        pairs = row_pairs(places, reach, seed, values)
        if len(pairs) < 20 * N_LAGS:
            break
        closer = _judged(pairs, places, values, reach, seed, fruitless)
        if found and not is_structured(closer):
            break
        seen = closer
    return seen if is_structured(seen) else widest


def is_structured(seen: Variogram) -> bool:
    """Tell whether near rows are more alike than chance makes them."""
    return seen.model.structured >= LEAST_STRUCTURED and seen.chance <= MOST_CHANCE


def _judged(pairs: RowPairs, places: Places, values: Floats, reach: float, seed: str, fruitless: int) -> Variogram:
    """Measure one view, and ask chance about it: more strictly after each view that showed nothing."""
    seen = _measured(pairs, values, reach)
    if seen.model.structured < LEAST_STRUCTURED:
        return seen
    near = max(seen.model.range_m / 2, reach / N_LAGS)
    stricter = min(STRICTER**fruitless, STRICTEST)
    return replace(seen, chance=min(1.0, stricter * _chance(pairs, places, values, near, seed, SHUFFLES * stricter)))


def _measured(pairs: RowPairs, values: Floats, farthest: float) -> Variogram:
    if not len(pairs):
        raise DataError(
            f"No two rows lie within {farthest:g} of each other. A variogram needs pairs. Raise farthest, or give "
            "more rows."
        )
    lag = np.minimum((pairs.distance / farthest * N_LAGS).astype(np.int64), N_LAGS - 1)
    n = np.bincount(lag, minlength=N_LAGS)
    some = n > 0
    some_values = np.sort(values)[:: max(1, len(values) // LOOKED_AT)]
    estimator = "robust" if 2 * np.unique(some_values).size > some_values.size else "classical"
    apart = np.abs(values[pairs.first] - values[pairs.second])
    power = np.sqrt(apart) if estimator == "robust" else apart**2
    mean = np.bincount(lag, power, minlength=N_LAGS)[some] / n[some]
    half = mean**4 / (0.457 + 0.494 / n[some]) / 2 if estimator == "robust" else mean / 2
    distance = np.bincount(lag, pairs.distance, minlength=N_LAGS)[some] / n[some]
    return Variogram(distance, half, n[some], farthest, fit_model(distance, half, n[some], farthest), estimator)


def _chance(pairs: RowPairs, places: Places, values: Floats, near: float, seed: str, shuffles: int) -> float:
    """Give the share of shuffles in which near pairs are as alike as they are; the shuffles follow the rows' hashes."""
    last = min(len(pairs), SHUFFLED_PAIRS) - 1
    closest = np.partition(pairs.distance, last)[last]
    some = np.flatnonzero(pairs.distance <= min(near, closest))
    if not some.size:
        return 1.0
    rows, ends = np.unique(np.concatenate([pairs.first[some], pairs.second[some]]), return_inverse=True)
    first, second = ends[: some.size], ends[some.size :]
    held = [places.east[rows], places.north[rows], values[rows]]
    ordered = values[rows][np.argsort(row_numbers(held, seed), kind="stable")]
    found = np.sqrt(np.abs(values[rows][first] - values[rows][second])).mean()
    alike = 0
    for shuffle in range(1, shuffles):
        dealt = np.empty_like(ordered)
        dealt[np.argsort(row_numbers(held, f"{seed}#{shuffle}"))] = ordered
        alike += bool(np.sqrt(np.abs(dealt[first] - dealt[second])).mean() <= found)
        if 1 + alike > 2 * MOST_CHANCE * SHUFFLES:  # it is chance, whatever the other shuffles say
            return (1 + alike) / (1 + shuffle)
    return (1 + alike) / shuffles


def rise(kind: str, ratio: npt.ArrayLike) -> Floats:
    """Give how much of the sill is reached at a distance, in ranges: 0 to 1."""
    at = np.asarray(ratio, dtype=np.float64)
    if kind == "exponential":
        return np.asarray(1 - np.exp(-EXPONENTIAL_RANGE * at))
    inside = np.minimum(at, 1.0)
    return np.asarray(1.5 * inside - 0.5 * inside**3)


def fit_model(distance: Floats, semivariance: Floats, n_pairs: Integers, farthest: float) -> VariogramModel:
    """Fit nugget, sill and range by weighted least squares, none of them negative.

    Examples
    --------
    >>> lags = np.linspace(1, 100, 15)
    >>> model = fit_model(lags, 0.2 + 0.8 * rise("spherical", lags / 40), np.full(15, 100), 100.0)
    >>> model.kind, round(model.nugget, 1), round(model.range_m / 40, 1)
    ('spherical', 0.2, 1.0)
    """
    weights = n_pairs / np.maximum(distance, farthest / N_LAGS / 4) ** 2
    ladder = farthest * np.geomspace(1 / (2 * N_LAGS), 2, N_RANGES)
    tried = []
    for kind in MODELS:
        for range_m in ladder.tolist():
            shape = rise(kind, distance / range_m)
            nugget, sill = _two_parts(shape, semivariance, weights)
            error = float((weights * (semivariance - nugget - sill * shape) ** 2).sum())
            tried.append((error, VariogramModel(kind, nugget, sill, range_m)))
    return min(tried, key=lambda each: each[0])[1]


def _two_parts(shape: Floats, semivariance: Floats, weights: Floats) -> tuple[float, float]:
    """Solve for nugget and partial sill; where one would be negative it is 0."""
    total = float(weights.sum())
    mean_shape, mean = float((weights * shape).sum()) / total, float((weights * semivariance).sum()) / total
    spread = float((weights * (shape - mean_shape) ** 2).sum())
    slope = float((weights * (shape - mean_shape) * (semivariance - mean)).sum()) / spread if spread > 0 else 0.0
    if slope <= 0:
        return mean, 0.0
    nugget = mean - slope * mean_shape
    if nugget >= 0:
        return nugget, slope
    return 0.0, float((weights * shape * semivariance).sum() / (weights * shape**2).sum())


def _checked(places: Places, values: npt.ArrayLike, names: Sequence[str] | None) -> Floats:
    try:
        table = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise DataError("A value is no number. A range is measured from numbers. Give other values.") from None
    table = table.reshape(len(table), -1) if table.size else np.zeros((len(table), 1))
    known = list(names) if names is not None else [str(i) for i in range(table.shape[1])]
    problems = [*_row_problems(places, len(table)), *_value_problems(table, known)]
    if problems:
        raise DataError(problems)
    return table


def _row_problems(places: Places, n_values: int) -> list[str]:
    n = len(places)
    if n_values != n:
        return [f"{n_values:,} values for {n:,} rows. Each row needs one. Give them in the rows' order."]
    if n < FEWEST_ROWS:
        return [f"{n} rows are too few for a variogram. It needs {FEWEST_ROWS} or more. Give more rows."]
    if places.extent == 0:
        return [f"All {n:,} rows lie at one place. A variogram needs distances. Check the coordinates."]
    return []


def _value_problems(table: Floats, names: list[str]) -> list[str]:
    missing = np.flatnonzero(~np.isfinite(table).all(axis=1))
    if missing.size:
        some = [name for name, column in zip(names, table.T, strict=True) if not np.isfinite(column).all()]
        where = f" of {first_few(some)}" if len(names) > 1 else ""
        return [
            f"{missing.size:,} of {len(table):,} rows lack a value{where} (first: row "
            f"{first_few(missing[:4].tolist())}). Values must be finite. Leave these rows out."
        ]
    width = np.ptp(table, axis=0) if len(table) else np.ones(table.shape[1])
    constant = [name for name, each in zip(names, width.tolist(), strict=True) if each == 0]
    if constant:
        return [
            f"Variable {first_few(constant)} is the same in all {len(table):,} rows. It must vary to have a "
            "range. Leave it out."
        ]
    extreme = [name for name, each in zip(names, width.tolist(), strict=True) if not SMALLEST < each < LARGEST]
    if extreme:
        return [
            f"Variable {first_few(extreme)} varies by less than {SMALLEST:g} or more than {LARGEST:g}: its squares are "
            "no numbers any more. Give it in another unit."
        ]
    return []
