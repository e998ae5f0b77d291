"""The best balanced of several draws.

Each attempt is an ordinary draw with a seed of its own; what is balanced are the shares of surveys and the frequencies
of species. One draw stands in `drawing`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from spatialsplit.draw.drawing import Draw, Occupied, draw_quadrats
from spatialsplit.draw.rules import DrawRules
from spatialsplit.draw.species import Labels
from spatialsplit.errors import DataError


@dataclass(frozen=True)
class BestDraw:
    """The draw that was kept among several attempts: its number k and the objective of each attempt.

    The objective of an attempt with an empty holdout is infinite.
    """

    draw: Draw
    attempt: int
    objectives: tuple[float, ...]


def draw_best(
    occupied: Occupied,
    rules: DrawRules,
    seed: str,
    attempts: int,
    labels: Labels,
    *,
    rare_quadrats: int | None = None,
) -> BestDraw:
    """Draw with the seeds `{seed}#1` … `{seed}#n` and keep the draw that is balanced best.

    The objective of a draw is the sum over its holdouts of the relative error of the share (surveys drawn over surveys
    free, against the share) and of the total variation distance between the species frequencies of the holdout's labels
    and those of all labels. The smallest objective wins; of equal ones the smallest k.

    Common species decide about that distance. With `rare_quadrats` the objective has a third term a holdout, in which
    they have no say: the relative error of the share of rare occurrences (pairs of a quadrat and a species that lies in
    at most so many quadrats) that went to the holdout, of those that were free.

    Raises
    ------
    DataError
        Every attempt has an empty holdout, or `attempts` is not positive.

    Examples
    --------
    >>> from spatialsplit.draw import Holdout
    >>> labels = Labels(np.array([0, 1, 2, 3]), np.array([0, 0, 1, 1]))
    >>> best = draw_best(Occupied(list("abcd"), [1] * 4), DrawRules([Holdout("test", 0.5)]), "seed", 5, labels)
    >>> best.attempt, best.draw.subsets
    (1, {'a': 'train', 'b': 'test', 'c': 'train', 'd': 'test'})
    """
    if attempts < 1:
        raise DataError(f"Invalid attempts {attempts}. It must be 1 or more.")
    best: tuple[float, int, Draw] | None = None
    objectives = []
    empty: DataError | None = None
    for k in range(1, attempts + 1):
        try:
            draw = draw_quadrats(occupied, rules, f"{seed}#{k}", labels=labels)
        except DataError as error:
            empty = empty or error
            objectives.append(math.inf)
            continue
        objective = imbalance(draw, occupied, labels, rare_quadrats=rare_quadrats)
        objectives.append(objective)
        if best is None or objective < best[0]:
            best = (objective, k, draw)
    if best is None:
        raise empty or DataError("No attempt was made.")
    return BestDraw(best[2], best[1], tuple(objectives))


def imbalance(draw: Draw, occupied: Occupied, labels: Labels, *, rare_quadrats: int | None = None) -> float:
    """Measure how far a draw's holdouts are from the wanted shares and the species of the whole; see `draw_best`."""
    n_species = int(labels.species.max(initial=-1)) + 1
    everywhere = np.bincount(labels.species, minlength=n_species)
    errors = []
    rare = _rare_occurrences(labels, rare_quadrats, len(occupied.labels))
    free = np.ones(len(occupied.labels), dtype=bool)
    for holdout in draw.holdouts:
        inside = np.array([draw.subsets[label] == holdout.name for label in occupied.labels])
        here = np.bincount(labels.species[inside[labels.quadrat]], minlength=n_species)
        differences = np.abs(here / max(here.sum(), 1) - everywhere / max(everywhere.sum(), 1))
        errors.append(abs(holdout.surveys_drawn / holdout.surveys_free - holdout.share) / holdout.share)
        errors.append(math.fsum(differences) / 2)
        n_rare = int(rare[free].sum())
        if n_rare:
            errors.append(abs(int(rare[inside].sum()) / n_rare - holdout.share) / holdout.share)
        free &= ~inside
    return math.fsum(errors)


def _rare_occurrences(labels: Labels, rare_quadrats: int | None, n_quadrats: int) -> npt.NDArray[np.int64]:
    """Count the rare species in each quadrat: those that lie in at most so many quadrats."""
    pairs = labels.pairs()
    rare = np.bincount(pairs.species, minlength=1) <= (rare_quadrats or 0)
    return np.bincount(pairs.quadrat[rare[pairs.species]], minlength=n_quadrats)
