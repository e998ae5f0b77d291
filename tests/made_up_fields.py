"""Random fields whose range is known, because they are made with it."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.signal import fftconvolve

Floats = npt.NDArray[np.float64]


def field_with_range(range_km: int, side_km: int, seed: int) -> Floats:
    """Make a field on a lattice of 1 km whose values are independent beyond a range, and alike within it.

    White noise is averaged over discs as wide as the range: two discs farther apart share no noise. Mean 0, spread 1.
    """
    noise = np.random.default_rng(seed).normal(size=(side_km + 2 * range_km, side_km + 2 * range_km))
    north, east = np.mgrid[-range_km : range_km + 1, -range_km : range_km + 1]
    disc = (4 * (north**2 + east**2) <= range_km**2).astype(float)
    smooth = fftconvolve(noise, disc, mode="same")[range_km:-range_km, range_km:-range_km]
    return (smooth - smooth.mean()) / smooth.std()


def value_at(field: Floats, east_m: Floats, north_m: Floats) -> Floats:
    """Give a field's value at places in metres."""
    return field[(north_m // 1000).astype(int), (east_m // 1000).astype(int)]
