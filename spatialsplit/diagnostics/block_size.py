"""From the range of autocorrelation to a size of quadrats, in a number and in a sentence; and what rows are worth."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from spatialsplit.diagnostics.pairs import ANCHORS, EARTH_RADIUS_M, along_the_ground
from spatialsplit.diagnostics.sampling import sample_rows
from spatialsplit.diagnostics.variogram import Variogram, VariogramModel, is_structured, variograms
from spatialsplit.errors import DataError
from spatialsplit.folds.places import Floats, Places

FEW_BLOCKS = 10


@dataclass(frozen=True)
class SizeSuggestion:
    """How large quadrats should be.

    Attributes
    ----------
    size_m : int, float or None
        The median of the ranges found, rounded up to two digits; metres, or the plane's unit. None where no variable
        has a range within the region.
    variograms : dict of str to Variogram
        Of each variable.
    n_rows : int
    n_blocks : int or None
        About how many such quadrats the rows occupy.
    planar : bool
    """

    size_m: int | float | None
    variograms: dict[str, Variogram]
    n_rows: int
    n_blocks: int | None
    planar: bool = False

    @property
    def ranges(self) -> dict[str, float | None]:
        """The range of each variable; None where it has none, or none within the region."""
        return {name: range_of(each) for name, each in self.variograms.items()}

    def sentences(self) -> list[str]:
        """Say what was found and what to do, a line a variable and one for the size."""
        lines = [self._about(name, each) for name, each in self.variograms.items()]
        if self.size_m is None:
            cure = "Take the residuals of a model, or a larger region."
            return [*lines, f"No size can be suggested from these values. {cure}"]
        blocks = f"; about {self.n_blocks:,} of them are occupied" if self.n_blocks is not None else ""
        few = (self.n_blocks or FEW_BLOCKS) < FEW_BLOCKS
        caution = f" Fewer than {FEW_BLOCKS}: scores will vary much between folds." if few else ""
        return [*lines, f"Use quadrats of {self._length(self.size_m)} or more{blocks}.{caution}"]

    def _about(self, name: str, seen: Variogram) -> str:
        model = seen.model
        if not is_structured(seen):
            return f"{name}: no autocorrelation found up to {self._length(seen.farthest)}; any size will do."
        if not seen.levels_off:
            trend = "so there is a trend over the region. Take the residuals of a model."
            return f"{name}: still rising at {self._length(seen.farthest)}, {trend}"
        return (
            f"{name}: values are alike up to {self._length(model.range_m)} ({model.kind} variogram, "
            f"{100 * model.structured:.0f} % of the variance depends on distance, {int(seen.n_pairs.sum()):,} pairs)."
        )

    def _length(self, metres: float) -> str:
        number, unit = (metres / 1000, "km") if metres >= 1000 and not self.planar else (metres, "m")
        return f"{float(f'{number:.3g}'):,.10g} {'units' if self.planar else unit}"


def suggest_size(
    places: Places, values: Mapping[str, npt.ArrayLike] | npt.ArrayLike, *, seed: str = "0"
) -> SizeSuggestion:
    """Suggest how large quadrats should be, from how far values are alike.

    Choose it before a block holdout or k-fold: with smaller quadrats test rows are predicted from their neighbours,
    and the score is too good.

    Parameters
    ----------
    places : Places
    values : mapping of str to array, data frame, or array of shape (n,) or (n, p)
        What will be predicted, or better the residuals of a model of it; or its predictors.
    seed : str
        Chooses the pairs in large data.

    Raises
    ------
    DataError
        As `variograms`.

    Examples
    --------
    >>> dice = np.random.default_rng(1)
    >>> places = Places(dice.uniform(0, 100, 900), dice.uniform(0, 100, 900), planar=True)
    >>> found = suggest_size(places, {"noise": dice.normal(size=900)})
    >>> found.sentences()[0]
    'noise: no autocorrelation found up to 70.6 units; any size will do.'
    """
    named = values if isinstance(values, Mapping) else _named(values)
    if not named:
        raise DataError("There is no variable. A size is suggested from one or more. Give values=.")
    uneven = [name for name, column in named.items() if np.shape(column) != (len(places),)]
    if uneven:
        raise DataError(
            f"{np.size(named[uneven[0]]):,} values for {len(places):,} rows in {uneven[0]}. Each row needs one. Give "
            "them in the rows' order."
        )
    table = np.column_stack([np.asarray(column) for column in named.values()])
    found = dict(zip(named, variograms(places, table, seed=seed, names=list(named)), strict=True))
    ranges = [each for each in map(range_of, found.values()) if each is not None]
    size = round_up(float(np.median(ranges))) if ranges else None
    return SizeSuggestion(size, found, len(places), _count_blocks(places, size), places.planar)


def _named(values: Any) -> dict[str, Any]:
    if hasattr(values, "columns"):
        return {str(name): values[name] for name in values.columns}
    if np.ndim(values) == 1:
        return {str(getattr(values, "name", None) or "value"): values}
    table = np.asarray(values)
    return {f"variable {i}" if table.shape[1] > 1 else "value": table[:, i] for i in range(table.shape[1])}


def range_of(seen: Variogram) -> float | None:
    """Give the range that a variogram shows, or None where it shows none within its view."""
    return seen.model.range_m if is_structured(seen) and seen.levels_off else None


def round_up(metres: float) -> int | float:
    """Round up to two digits; to whole metres where there are any.

    Examples
    --------
    >>> round_up(20_300.0), round_up(0.0123)
    (21000, 0.013)
    """
    step = 10.0 ** (math.floor(math.log10(metres)) - 1)
    rounded = math.ceil(metres / step - 1e-9) * step
    return round(rounded) if step >= 1 else float(f"{rounded:.2g}")


def _count_blocks(places: Places, size: int | float | None) -> int | None:
    """Count about how many squares of a size the rows lie in: along parallels of a sphere, or in the plane."""
    if size is None:
        return None
    row = np.floor((places.north if places.planar else np.radians(places.north) * EARTH_RADIUS_M) / size)
    shrink = 1.0 if places.planar else np.cos(row * size / EARTH_RADIUS_M)
    column = np.floor((places.east if places.planar else np.radians(places.east) * EARTH_RADIUS_M) * shrink / size)
    return len(Places(column, row, planar=True).distinct[0])


def effective_sample_size(places: Places, model: VariogramModel, *, seed: str = "0") -> float:
    """Give how many independent rows would tell the mean as well as these do.

    n / (1 + (n − 1) ρ), with ρ the mean correlation of two rows (Cressie 1993, Statistics for Spatial Data, 1.3).

    Parameters
    ----------
    places : Places
    model : VariogramModel
        Of `variogram(…).model`.
    seed : str

    Notes
    -----
    All pairs up to 1,500 rows; beyond, ρ is the mean over the pairs of 1,500 rows with 20,000 others.

    Examples
    --------
    >>> places = Places(np.zeros(50), np.zeros(50), planar=True)
    >>> effective_sample_size(places, VariogramModel("spherical", 0.0, 1.0, 10.0))
    1.0
    """
    n = len(places)
    if n < 2:
        return float(n)
    anchors, others = sample_rows(places, ANCHORS, seed), sample_rows(places, 20_000, seed)
    total, pairs = 0.0, 0
    for anchor in anchors.tolist():
        rest = others[others != anchor]
        straight: Floats = np.linalg.norm(places.points[rest] - places.points[anchor], axis=1)
        total += float(model.correlation(straight if places.planar else along_the_ground(straight)).sum())
        pairs += len(rest)
    return n / (1 + (n - 1) * total / pairs)
