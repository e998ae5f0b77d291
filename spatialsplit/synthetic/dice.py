"""Chance that is the same everywhere.

Only the raw integers of numpy's PCG64 are used, whose stream numpy guarantees; what is made of them here
takes nothing but shifts, comparisons, + - * / and the square root, which IEEE 754 fixes to the last bit. No
exp, log or sin: their last bit differs between platforms. For the same reason nothing in this folder
decides by `sum` or a matrix product, whose order of adding numpy may choose; `cumsum` adds in order.
"""

from __future__ import annotations

import hashlib

import numpy as np
import numpy.typing as npt

Integers = npt.NDArray[np.int64]
Numbers = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]


class Dice:
    """A stream of chance for one purpose, so that one part of the flora can grow without moving another.

    Parameters
    ----------
    seed : str
        The flora's seed text.
    purpose : str
        What the stream is for; streams with different purposes are independent.

    Examples
    --------
    >>> Dice("seed", "demo").below(6, 5).tolist()
    [5, 3, 1, 5, 5]
    """

    def __init__(self, seed: str, purpose: str):
        digest = hashlib.sha256(f"{seed}|{purpose}".encode()).digest()
        self._bits = np.random.PCG64(int.from_bytes(digest[:16], "big"))

    def below(self, limit: int | Integers, n: int) -> Integers:
        """Draw n integers in [0, limit), for limits up to 2^31."""
        high_half = (self._bits.random_raw(n) >> np.uint64(32)).astype(np.int64)
        return (high_half * limit) >> 32

    def fractions(self, n: int) -> Numbers:
        """Draw n numbers in (0, 1), multiples of 2^-33 and thus exact in later sums with small integers."""
        high_half = (self._bits.random_raw(n) >> np.uint64(32)).astype(np.float64)
        return (high_half + 0.5) / 2.0**32

    def between(self, low: float, high: float, n: int) -> Numbers:
        """Draw n numbers, evenly, in (low, high)."""
        return low + self.fractions(n) * (high - low)

    def bells(self, n: int) -> Numbers:
        """Draw n numbers in (-1.5, 1.5), heaped round 0 with a standard deviation of 0.5."""
        return self.fractions(n) + self.fractions(n) + self.fractions(n) - 1.5

    def long_tailed(self, n: int, factors: int) -> Numbers:
        """Draw n positive numbers, few of them large: nearly log-normal, as products of (0.2, 2)."""
        product = np.ones(n)
        for _ in range(factors):
            product = product * self.between(0.2, 2.0, n)
        return product

    def pick(self, weights: Numbers, n: int) -> Integers:
        """Draw n positions of an array, each as often as its weight says."""
        steps = np.cumsum(weights)
        return np.searchsorted(steps / steps[-1], self.fractions(n), side="right").astype(np.int64)

    def chance(self, percent: float, n: int) -> Flags:
        """Flag some n times, true in so many of a hundred cases."""
        return self.fractions(n) * 100.0 < percent
