"""One draw: holdouts of whole quadrats, one after the other."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from spatialsplit.draw.numbers import check_word, largest_remainder, quadrat_number, quota
from spatialsplit.draw.rules import DrawRules, Holdout
from spatialsplit.draw.species import Keeping, Labels
from spatialsplit.errors import DataError, first_few, shown


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
    """What the draw of one holdout saw and took, for the manifest.

    `passed_over` counts the quadrats with smaller numbers than the last one taken that the remainder could not spare.
    """

    name: str
    share: float
    free: int
    drawn: int
    surveys_free: int
    surveys_drawn: int
    passed_over: int = 0


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


def draw_quadrats(
    occupied: Occupied,
    rules: DrawRules,
    seed: str,
    *,
    fixed: Mapping[str, str] | None = None,
    labels: Labels | None = None,
) -> Draw:
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
    labels : Labels, optional
        Which species lie where, for `min_train_quadrats`.

    Returns
    -------
    Draw

    Raises
    ------
    DataError
        A holdout comes out empty (the text has the counts and the smallest share that would work), the seed is none, a
        quadrat is listed twice, there are strata for a threshold, or too few quadrats can be spared by the species.

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
    keeping = _keeping(occupied, rules, labels, chosen)
    drawn = []
    for holdout in rules.holdouts:
        taken, n_passed_over = _take(holdout, rules, seed, free, counts, stratum, keeping)
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
                n_passed_over,
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


def _keeping(occupied: Occupied, rules: DrawRules, labels: Labels | None, chosen: Mapping[str, str]) -> Keeping | None:
    if not rules.min_train_quadrats:
        return None
    if labels is None:
        raise DataError("min_train_quadrats needs to know which species lie in which quadrats. Give labels=.")
    keeping = Keeping(occupied.labels, labels, rules.min_train_quadrats)
    keeping.take(label for label, subset in chosen.items() if subset != rules.remainder)
    return keeping


def _take(
    holdout: Holdout,
    rules: DrawRules,
    seed: str,
    free: list[str],
    counts: Mapping[str, int],
    stratum: Mapping[str, str] | None,
    keeping: Keeping | None,
) -> tuple[list[str], int]:
    """Give the quadrats that a holdout takes, and how many were passed over."""
    numbered = sorted((quadrat_number(seed, holdout.name, label), label) for label in free)
    if rules.method == "threshold":
        limit = math.ceil(Fraction(holdout.share) * 2**64)
        return [label for number, label in numbered if number < limit], 0
    groups: dict[str, list[str]] = {}
    for _, label in numbered:
        groups.setdefault(stratum[label] if stratum else "", []).append(label)
    quotas = largest_remainder(quota(holdout.share, len(free)), {name: len(group) for name, group in groups.items()})
    taken: list[str] = []
    n_passed_over = 0
    for name in sorted(groups):
        group = groups[name]
        spared = keeping.spared(group) if keeping else group
        if rules.share_of == "quadrats":
            part, enough = spared[: quotas[name]], len(spared) >= quotas[name]
        else:
            wanted = Fraction(holdout.share) * sum(counts[label] for label in group)
            part = _nearest_prefix(spared, wanted, counts)
            enough = part != spared or sum(counts[label] for label in part) >= wanted
        if not enough:
            raise DataError(_too_few_to_spare(holdout, rules, len(spared), len(group), name))
        if keeping and part:
            keeping.take(part)
            n_passed_over += group.index(part[-1]) + 1 - len(part)
        taken += part
    return taken, n_passed_over


def _nearest_prefix(ordered: list[str], wanted: Fraction, counts: Mapping[str, int]) -> list[str]:
    best, nearest, reached = 0, wanted, 0
    for length, label in enumerate(ordered, start=1):
        reached += counts[label]
        if abs(reached - wanted) < nearest:
            best, nearest = length, abs(reached - wanted)
    return ordered[:best]


def _too_few_to_spare(holdout: Holdout, rules: DrawRules, n_spared: int, n_free: int, stratum: str) -> str:
    where = f" of the stratum '{shown(stratum)}'" if stratum else ""
    return (
        f"The holdout '{holdout.name}' cannot be filled: of {n_free:,} free quadrats{where} only {n_spared:,} can go "
        f"while every species keeps {rules.min_train_quadrats} in {rules.remainder}, too few for a share of "
        f"{holdout.share:g}. Lower the share or min_train_quadrats, or use smaller quadrats."
    )


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
