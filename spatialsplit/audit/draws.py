"""The draw, derived again from the text of the contract: labels, a seed, and SHA-256.

Each occupied quadrat that is still free has the number that the first 8 bytes of
`SHA-256("{seed}|{holdout}|{label}")` are; the smallest numbers are drawn. Anyone can check one of them with
`printf '%s' 'seed|test|LABEL' | sha256sum`.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True)
class Quadrat:
    """One quadrat as quadrats.csv has it: its label, its surveys with a species, its stratum."""

    label: str
    n_surveys: int
    stratum: str = ""


def number(seed: str, holdout: str, label: str) -> int:
    """Give a quadrat's number for a holdout.

    Examples
    --------
    >>> f"{number('2b7e151628aed2a6', 'test', 'CRS3035RES5000mN2690000E4335000'):016x}"
    '048016698262e9a2'
    """
    digest = hashlib.sha256(f"{seed}|{holdout}|{label}".encode()).digest()
    return int.from_bytes(digest[:8], "big")


def drawn(
    free: Sequence[Quadrat],
    numbers: Mapping[str, int],
    share: float,
    *,
    method: str,
    share_of: str,
    strata: bool,
    stock: Stock | None = None,
) -> set[str]:
    """Name the quadrats that a holdout takes from the free ones.

    Parameters
    ----------
    free : sequence of Quadrat
        The occupied ones that no earlier holdout took.
    numbers : mapping
        The number of each label.
    share : float
        The wanted share of the free ones.
    method : str
        `quota` or `threshold`.
    share_of : str
        `quadrats` or `surveys`.
    strata : bool
        Whether the quota is divided among strata.
    stock : Stock, optional
        What the species must keep; it counts what is taken.

    Examples
    --------
    >>> quadrats = [Quadrat("a", 1), Quadrat("b", 4), Quadrat("c", 1)]
    >>> numbers = {"a": 5, "b": 3, "c": 9}
    >>> sorted(drawn(quadrats, numbers, 0.5, method="quota", share_of="quadrats", strata=False))
    ['a', 'b']
    >>> sorted(drawn(quadrats, numbers, 0.5, method="quota", share_of="surveys", strata=False))
    ['b']
    """
    if method == "threshold":
        limit = Fraction(share) * 2**64
        return {quadrat.label for quadrat in free if numbers[quadrat.label] < limit}
    ordered = sorted(free, key=lambda quadrat: (numbers[quadrat.label], quadrat.label))
    parts = _by_stratum(ordered) if strata else {"": ordered}
    if share_of == "surveys":
        wanted = {name: Fraction(share) * sum(quadrat.n_surveys for quadrat in part) for name, part in parts.items()}
    else:
        quota = math.floor(share * len(ordered) + 0.5)
        wanted = dict(_quotas({name: len(part) for name, part in parts.items()}, quota))
    taken: set[str] = set()
    for name in sorted(parts):
        spared = parts[name] if stock is None else stock.spared(parts[name])
        weights = [quadrat.n_surveys if share_of == "surveys" else 1 for quadrat in spared]
        part = {quadrat.label for quadrat in spared[: _nearest_length(weights, wanted[name])]}
        if stock is not None:
            stock.take(part)
        taken |= part
    return taken


def _nearest_length(weights: Sequence[int], wanted: Fraction) -> int:
    sums = [0]
    for weight in weights:
        sums.append(sums[-1] + weight)
    return min(range(len(sums)), key=lambda length: (abs(sums[length] - wanted), length))


def _by_stratum(ordered: Sequence[Quadrat]) -> dict[str, list[Quadrat]]:
    strata: dict[str, list[Quadrat]] = {}
    for quadrat in ordered:
        strata.setdefault(quadrat.stratum, []).append(quadrat)
    return strata


def _quotas(sizes: Mapping[str, int], quota: int) -> dict[str, Fraction]:
    """Divide a quota among the strata by largest remainder; a tie goes by code-point order."""
    exact = {name: Fraction(quota * size, sum(sizes.values())) for name, size in sizes.items()}
    parts = {name: math.floor(value) for name, value in exact.items()}
    left = quota - sum(parts.values())
    for name in sorted(sizes, key=lambda name: (parts[name] - exact[name], name))[:left]:
        parts[name] += 1
    return {name: Fraction(part) for name, part in parts.items()}


class Stock:
    """The quadrats that each species has left in the remainder, and the least it must keep.

    Examples
    --------
    >>> stock = Stock({"a": {"7"}, "b": {"7", "8"}, "c": {"7"}}, least=1)
    >>> [quadrat.label for quadrat in stock.spared([Quadrat("a", 1), Quadrat("b", 1), Quadrat("c", 1)])]
    ['a', 'c']
    """

    def __init__(self, species_of: Mapping[str, Collection[str]], least: int):
        self._species_of = species_of
        self._left: dict[str, set[str]] = {}
        self._least = least
        for label, species in species_of.items():
            for name in species:
                self._left.setdefault(name, set()).add(label)

    def spared(self, ordered: Sequence[Quadrat]) -> list[Quadrat]:
        """Give the quadrats that can go one after the other so that every species keeps enough."""
        gone: dict[str, int] = {}
        spared = []
        for quadrat in ordered:
            species = self._species_of.get(quadrat.label, ())
            if all(len(self._left[name]) - gone.get(name, 0) > self._least for name in species):
                spared.append(quadrat)
                for name in species:
                    gone[name] = gone.get(name, 0) + 1
        return spared

    def take(self, labels: Collection[str]) -> None:
        """Strike out quadrats that went."""
        for label in labels:
            for name in self._species_of.get(label, ()):
                self._left[name].discard(label)
