"""Quadrats → subsets, by SHA-256 of the seed, the holdout's name and the quadrat's label.

There is no random generator anywhere: a quadrat's number in a draw depends on these three words alone, so a draw is the
same on every platform and in any order, and anyone can check one quadrat in a shell::

    printf '%s' 'SEED|test|LABEL' | sha256sum      # its first 16 hex digits are the number

What a quadrat is stands in `quadrats`; here it is only a label with counts. The best of several draws stands in
`balance`.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from spatialsplit.errors import DataError, first_few, shown

METHODS = ("quota", "threshold")
SHARES_OF = ("quadrats", "surveys")


@dataclass(frozen=True)
class Holdout:
    """A subset to draw: its name and the wanted share of the quadrats that are still free.

    Raises
    ------
    DataError
        The share is not between 0 and 1, or the name is empty or holds a `|`.

    Examples
    --------
    >>> Holdout("test", 0.025).share
    0.025
    """

    name: str
    share: float

    def __post_init__(self) -> None:
        check_word(self.name, "holdout name")
        if not 0 < self.share < 1:
            raise DataError(
                f"Invalid share {self.share} of the holdout '{self.name}'. It must lie between 0 and 1, as in "
                f"{self.name}=0.025."
            )


@dataclass(frozen=True)
class Occupied:
    """The quadrats a draw chooses from: those with at least one non-empty survey.

    Attributes
    ----------
    labels : sequence of str
    n_surveys : sequence of int
        Non-empty surveys in each, at least 1.
    strata : sequence of str, optional
        Stratum of each, for a draw that is balanced over strata.
    """

    labels: Sequence[str]
    n_surveys: Sequence[int]
    strata: Sequence[str] | None = None


@dataclass(frozen=True)
class DrawnHoldout:
    """What the draw of one holdout saw and took, for the manifest."""

    name: str
    share: float
    free: int
    drawn: int
    surveys_free: int
    surveys_drawn: int


@dataclass(frozen=True)
class Draw:
    """The outcome: a subset for each occupied quadrat, and how it came about.

    Attributes
    ----------
    subsets : dict of str to str
        Label to subset, the remainder included.
    holdouts : tuple of DrawnHoldout
    seed : str
        The seed that counted: with attempts, `{seed}#k`.
    """

    subsets: Mapping[str, str]
    holdouts: tuple[DrawnHoldout, ...]
    seed: str = field(repr=False)


@dataclass(frozen=True)
class DrawRules:
    """How to draw.

    Parameters
    ----------
    holdouts : sequence of Holdout
        In the order in which they are drawn.
    method : {'quota', 'threshold'}
        A quota takes the first `floor(share * n + 0.5)` quadrats by number. A threshold takes each whose number is
        below share × 2⁶⁴: the share is met on average only, but nothing ever moves when quadrats are added.
    share_of : {'quadrats', 'surveys'}
        What the share counts. By surveys, the prefix whose surveys come nearest to the share is taken.
    remainder : str
        Subset of the quadrats that no holdout took.

    Raises
    ------
    DataError
        A line for each rule that is impossible or contradicts another.
    """

    holdouts: Sequence[Holdout]
    method: str = "quota"
    share_of: str = "quadrats"
    remainder: str = "train"

    def __post_init__(self) -> None:
        problems = [*self._word_problems(), *self._share_problems()]
        if problems:
            raise DataError(problems)

    def _word_problems(self) -> list[str]:
        problems = []
        if self.method not in METHODS:
            problems.append(f"Unknown draw method '{self.method}'. Known: {', '.join(METHODS)}.")
        if self.share_of not in SHARES_OF:
            problems.append(f"Unknown share_of '{self.share_of}'. Known: {', '.join(SHARES_OF)}.")
        if self.method == "threshold" and self.share_of == "surveys":
            problems.append(
                "method 'threshold' looks at one quadrat at a time and cannot count surveys. Leave out share_of = "
                "'surveys'."
            )
        return problems

    def _share_problems(self) -> list[str]:
        names = [holdout.name for holdout in self.holdouts]
        problems = [
            f"Holdout '{name}' stands there {names.count(name)} times. Each holdout is drawn once. Leave out the "
            "others."
            for name in sorted({name for name in names if names.count(name) > 1})
        ]
        if self.remainder in names:
            problems.append(
                f"The remainder cannot be called '{self.remainder}': a holdout has that name. Rename one of them."
            )
        total = math.fsum(holdout.share for holdout in self.holdouts)
        if total > 1:
            problems.append(
                f"The shares sum to {total:g}, which is more than 1. Lower them: what is left over becomes "
                f"'{self.remainder}'."
            )
        return problems


def check_word(word: str, what: str) -> str:
    """Return a seed or name that can stand in a hash's text, or refuse it.

    Raises
    ------
    DataError
        It is no text, is empty, holds the separator `|`, or cannot be written as UTF-8.

    Examples
    --------
    >>> check_word("test", "holdout name")
    'test'
    """
    if not isinstance(word, str) or not word or "|" in word or not _is_unicode(word):
        raise DataError(
            f"Invalid {what} '{shown(word)}'. It must be text (UTF-8) without '|', which separates the words that are "
            "hashed. Choose another."
        )
    return word


def _is_unicode(word: str) -> bool:
    try:
        word.encode()
    except UnicodeEncodeError:  # bytes of a command line that are no UTF-8
        return False
    return True


def quadrat_number(seed: str, holdout: str, label: str) -> int:
    """Give a quadrat's number in a draw: the first 8 bytes, big-endian, of SHA-256 of `seed|holdout|label`.

    Examples
    --------
    >>> f"{quadrat_number('2b7e151628aed2a6', 'test', 'CRS3035RES5000mN3210000E4320000'):016x}"
    'd8c0abd05f339fcb'
    """
    return int.from_bytes(hashlib.sha256(f"{seed}|{holdout}|{label}".encode()).digest()[:8], "big")


def commitment(seed: str) -> str:
    """Give the SHA-256 that commits to a secret seed: `printf '%s' SEED | sha256sum`.

    Examples
    --------
    >>> commitment("2b7e151628aed2a6")[:16]
    '2fc87006588877f0'
    """
    return hashlib.sha256(seed.encode()).hexdigest()


def quota(share: float, n: int) -> int:
    """Round a share of n to whole quadrats: `floor(share * n + 0.5)` in IEEE doubles.

    Examples
    --------
    >>> quota(0.025, 100), quota(0.025, 19)
    (3, 0)
    """
    return math.floor(share * n + 0.5)


def draw_quadrats(occupied: Occupied, rules: DrawRules, seed: str, *, fixed: Mapping[str, str] | None = None) -> Draw:
    """Draw the holdouts, one after the other, each from the quadrats that are still free.

    Choose it whenever whole quadrats must end up in one subset. The outcome does not depend on the order of the
    quadrats.

    Parameters
    ----------
    occupied : Occupied
    rules : DrawRules
    seed : str
        Any text without `|`.
    fixed : mapping of str to str, optional
        Label to subset for quadrats that are assigned already and take no part in the draw.

    Returns
    -------
    Draw

    Raises
    ------
    DataError
        A holdout comes out empty (the text has the counts and the smallest share that would work), the seed is none, a
        quadrat is listed twice, or there are strata for a threshold.

    Examples
    --------
    >>> occupied = Occupied(["a", "b", "c", "d"], [1, 1, 1, 1])
    >>> draw_quadrats(occupied, DrawRules([Holdout("test", 0.25)]), "seed").subsets
    {'a': 'train', 'b': 'train', 'c': 'test', 'd': 'train'}
    """
    check_word(seed, "seed")
    _check_occupied(occupied, rules)
    counts = dict(zip(occupied.labels, occupied.n_surveys, strict=True))
    stratum = dict(zip(occupied.labels, occupied.strata, strict=True)) if occupied.strata is not None else None
    chosen = {label: subset for label, subset in (fixed or {}).items() if label in counts}
    free = [label for label in counts if label not in chosen]
    drawn = []
    for holdout in rules.holdouts:
        taken = _take(holdout, rules, seed, free, counts, stratum)
        if not taken and holdout.name not in chosen.values():
            raise DataError(_empty_holdout(holdout, rules, len(free), len(counts)))
        drawn.append(
            DrawnHoldout(
                holdout.name,
                holdout.share,
                len(free),
                len(taken),
                sum(counts[label] for label in free),
                sum(counts[label] for label in taken),
            )
        )
        chosen.update(dict.fromkeys(taken, holdout.name))
        free = [label for label in free if label not in chosen]
    return Draw({label: chosen.get(label, rules.remainder) for label in counts}, tuple(drawn), seed)


def _check_occupied(occupied: Occupied, rules: DrawRules) -> None:
    if len(set(occupied.labels)) < len(occupied.labels):
        twice = sorted({label for label in occupied.labels if list(occupied.labels).count(label) > 1})
        raise DataError(
            f"{len(twice)} quadrats stand there more than once (first: {first_few(twice)}). Each is drawn once."
        )
    if occupied.strata is not None and rules.method == "threshold":
        raise DataError(
            "A draw by method 'threshold' cannot have strata: a threshold looks at one quadrat at a time. Leave one "
            "out."
        )


def _take(
    holdout: Holdout,
    rules: DrawRules,
    seed: str,
    free: list[str],
    counts: Mapping[str, int],
    stratum: Mapping[str, str] | None,
) -> list[str]:
    numbered = sorted((quadrat_number(seed, holdout.name, label), label) for label in free)
    if rules.method == "threshold":
        limit = math.ceil(Fraction(holdout.share) * 2**64)
        return [label for number, label in numbered if number < limit]
    ordered = [label for _, label in numbered]
    if stratum is None:
        return _prefix(ordered, holdout.share, rules.share_of, counts)
    groups: dict[str, list[str]] = {}
    for label in ordered:
        groups.setdefault(stratum[label], []).append(label)
    if rules.share_of == "surveys":
        return [label for name in sorted(groups) for label in _prefix(groups[name], holdout.share, "surveys", counts)]
    quotas = largest_remainder(quota(holdout.share, len(free)), {name: len(group) for name, group in groups.items()})
    return [label for name in sorted(groups) for label in groups[name][: quotas[name]]]


def _prefix(ordered: list[str], share: float, share_of: str, counts: Mapping[str, int]) -> list[str]:
    if share_of == "quadrats":
        return ordered[: quota(share, len(ordered))]
    wanted = Fraction(share) * sum(counts[label] for label in ordered)
    best, nearest, reached = 0, wanted, 0
    for length, label in enumerate(ordered, start=1):
        reached += counts[label]
        if abs(reached - wanted) < nearest:
            best, nearest = length, abs(reached - wanted)
    return ordered[:best]


def largest_remainder(total: int, sizes: Mapping[str, int]) -> dict[str, int]:
    """Divide a number among groups in proportion to their sizes, by largest remainder (Hamilton's method).

    A tie goes to the group that is first in code-point order.

    Examples
    --------
    >>> largest_remainder(3, {"alpine": 10, "boreal": 7, "steppe": 3})
    {'alpine': 2, 'boreal': 1, 'steppe': 0}
    """
    whole = sum(sizes.values())
    quotas = {name: total * size // whole for name, size in sizes.items()}
    left = total - sum(quotas.values())
    by_remainder = sorted(sizes, key=lambda name: (-(total * sizes[name] % whole), name))
    for name in by_remainder[:left]:
        quotas[name] += 1
    return quotas


def commonest(values: Sequence[str]) -> str:
    """Give the commonest value; of equally common ones the first in code-point order.

    Examples
    --------
    >>> commonest(["steppe", "alpine", "steppe", "alpine"])
    'alpine'
    """
    tally: dict[str, int] = {}
    for value in values:
        tally[value] = tally.get(value, 0) + 1
    return min(tally, key=lambda value: (-tally[value], value))


def _empty_holdout(holdout: Holdout, rules: DrawRules, free: int, occupied: int) -> str:
    if rules.method == "threshold" or rules.share_of == "surveys":
        cure = "Raise the share, or use smaller quadrats."
    elif free:
        smallest = math.ceil(50_000 / free) / 100_000
        cure = (
            f"With {free} free quadrats the smallest share that works is {smallest:g}. Raise it, or use smaller ones."
        )
    else:
        cure = "No quadrat is left: lower the shares of the holdouts before it."
    return (
        f"The holdout '{holdout.name}' is empty: a share of {holdout.share:g} of {free:,} free quadrats "
        f"({occupied:,} occupied) is none. Every holdout needs at least one quadrat. {cure}"
    )


def check_fixed(fixed: Mapping[str, str], rules: DrawRules, where: str) -> None:
    """Check that a fixed assignment names known subsets only.

    Raises
    ------
    DataError
        It names a subset that is neither a holdout nor the remainder.
    """
    known = [*(holdout.name for holdout in rules.holdouts), rules.remainder]
    unknown = sorted(set(fixed.values()) - set(known))
    if unknown:
        raise DataError(
            f"Unknown subsets in {where}: {first_few(unknown)}. Known: {', '.join(known)}. Correct the file or the "
            "holdouts."
        )
