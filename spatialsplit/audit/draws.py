"""The draw, derived again from the text of the contract: labels, a seed, and SHA-256.

Each occupied quadrat that is still free has the number that the first 8 bytes of
`SHA-256("{seed}|{holdout}|{label}")` are; the smallest numbers are drawn. Anyone can check one of them with
`printf '%s' 'seed|test|LABEL' | sha256sum`.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
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
    if not strata:
        parts = [ordered[: _length(ordered, share, share_of)]]
    elif share_of == "surveys":
        parts = [part[: _length(part, share, share_of)] for part in _by_stratum(ordered).values()]
    else:
        parts = _by_quota(ordered, math.floor(share * len(ordered) + 0.5))
    return {quadrat.label for part in parts for quadrat in part}


def _length(ordered: Sequence[Quadrat], share: float, share_of: str) -> int:
    if share_of == "quadrats":
        return math.floor(share * len(ordered) + 0.5)
    sums = [0]
    for quadrat in ordered:
        sums.append(sums[-1] + quadrat.n_surveys)
    wanted = Fraction(share) * sums[-1]
    return min(range(len(sums)), key=lambda length: (abs(sums[length] - wanted), length))


def _by_stratum(ordered: Sequence[Quadrat]) -> dict[str, list[Quadrat]]:
    strata: dict[str, list[Quadrat]] = {}
    for quadrat in ordered:
        strata.setdefault(quadrat.stratum, []).append(quadrat)
    return strata


def _by_quota(ordered: Sequence[Quadrat], quota: int) -> list[list[Quadrat]]:
    """Divide a quota among the strata by largest remainder; a tie goes by code-point order."""
    strata = _by_stratum(ordered)
    exact = {name: Fraction(quota * len(part), len(ordered)) for name, part in strata.items()}
    parts = {name: math.floor(value) for name, value in exact.items()}
    left = quota - sum(parts.values())
    for name in sorted(strata, key=lambda name: (parts[name] - exact[name], name))[:left]:
        parts[name] += 1
    return [strata[name][: parts[name]] for name in sorted(strata)]
