"""Whether a column gives the label away: four rules that chance does not trip.

A column that is different for every survey (a key, a coordinate) always "determines" the label, and a common
species stands in every second cell. So each rule compares with what chance would give, and asks for odds of
less than one in a million.

1. *names*: most cells are names of species.
2. *ids*: cells hold a species of their own survey far more often than of any other survey.
3. *codes*: surveys at different places that share the column's value always share the label too: its whole
   set of species, its
   smallest or largest species, or their number.
4. *ranks*: as a number the column puts the surveys in the very order of one of these.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

ODDS = 1e-6
ABOVE_CHANCE = 0.4
_WORD = re.compile(r"[^\s,;|]+")
_NUMBER = re.compile(r"\d+")


@dataclass(frozen=True)
class Labels:
    """The true species of the test surveys, and where the surveys are.

    Parameters
    ----------
    truth : mapping
        Survey id → its species.
    names : frozenset of str
        Species names, folded, where species have names.
    places : DataFrame
        `survey, lon, lat`: surveys at one place may share anything.
    """

    truth: Mapping[str, frozenset[str]]
    names: frozenset[str]
    places: pd.DataFrame

    @cached_property
    def frequency(self) -> dict[str, float]:
        """In which share of the surveys each species is."""
        counts: dict[str, int] = {}
        for species in self.truth.values():
            for name in species:
                counts[name] = counts.get(name, 0) + 1
        return {name: count / len(self.truth) for name, count in counts.items()}

    @cached_property
    def place(self) -> dict[str, tuple[float, float]]:
        """Where each survey is."""
        first = self.places.drop_duplicates("survey")
        return dict(zip(first["survey"], zip(first["lon"], first["lat"], strict=True), strict=True))

    def hold(self, ids: pd.Series, cells: pd.Series) -> bool:
        """Tell whether cells, or the words in them, are species of their own survey more often than chance (rule 2).

        A list of species hits by one of its words nearly always, by chance too; so its words are judged one by one.
        All that stands beside one survey is taken together: a count of 1 that looks like survey 1, row after row, is
        one survey's word and no evidence.
        """
        seen: dict[str, set[str]] = {}
        for survey, cell in zip(map(str, ids), map(str, cells), strict=True):
            if cell and survey in self.truth:
                seen.setdefault(survey, set()).add(cell)
        hits, chances = 0, 0.0
        word_hits, n_words, word_chances = 0, 0, 0.0
        for survey, beside in seen.items():
            numbers = {digits.lstrip("0") or "0" for cell in beside for digits in _NUMBER.findall(cell)}
            words = {word for cell in beside for word in _WORD.findall(cell)} | numbers
            hits += bool(words & self.truth[survey])
            chances += 1 - math.prod(1 - self.frequency.get(word, 0.0) for word in words)
            species = [word for word in words if word in self.frequency]
            word_hits += len(self.truth[survey].intersection(species))
            n_words += len(species)
            word_chances += sum(self.frequency[word] for word in species)
        by_cell = _beyond_chance(hits, len(seen), chances)
        return by_cell or _beyond_chance(word_hits, n_words, word_chances)


def _beyond_chance(hits: int, n: int, expected: float) -> bool:
    """Tell whether so many hits are beyond chance, by the bound of Chernoff (1952) on the binomial tail.

    Examples
    --------
    >>> _beyond_chance(10, 10, 1.0), _beyond_chance(3, 3, 1.5), _beyond_chance(80, 100, 75.0)
    (True, False, False)
    """
    if not n or hits / n < expected / n + ABOVE_CHANCE:
        return False
    share, chance = hits / n, max(expected / n, 1e-12)
    excess = share * math.log(share / chance)
    if share < 1:
        excess += (1 - share) * math.log((1 - share) / (1 - chance))
    return n * excess > -math.log(ODDS)


def why_it_tells(ids: pd.Series, cells: pd.Series, labels: Labels) -> str | None:
    """Say why a column gives the label away, or None where it does not."""
    filled = cells[cells != ""]
    if len(filled) and filled.str.casefold().isin(list(labels.names)).mean() > 0.5:
        return "holds names of species"
    if labels.hold(ids, cells):
        return "holds species of its own surveys"
    known = [(i, cell) for i, cell in zip(ids, cells, strict=True) if cell and i in labels.truth]
    shown = [cell for _, cell in known]
    places = [labels.place.get(i) for i, _ in known]
    for face, values in _faces(labels, [i for i, _ in known]).items():
        if _determines(shown, values, places) or _ranks(shown, values):
            return f"determines {face}"
    return None


def order_tells(ids: pd.Series, labels: Labels) -> str | None:
    """Say what the order of a table's rows gives away, or None: rule 4, for the number of the row."""
    known = [i for i in ids if i in labels.truth]
    numbers = [str(number) for number in range(len(known))]
    return next((face for face, values in _faces(labels, known).items() if _ranks(numbers, values)), None)


def _faces(labels: Labels, ids: list[str]) -> dict[str, list[object]]:
    ordered = [sorted(labels.truth[i], key=lambda text: (len(text), text)) for i in ids]
    return {
        "the species of a survey": [tuple(species) for species in ordered],
        "the smallest species of a survey": [species[0] for species in ordered],
        "the largest species of a survey": [species[-1] for species in ordered],
        "the number of species of a survey": [len(species) for species in ordered],
    }


def _determines(cells: list[str], faces: list[object], places: Sequence[object]) -> bool:
    """Tell whether equal cells at different places always mean equal faces, beyond chance (rule 3)."""
    frame = pd.DataFrame({"cell": cells, "face": pd.factorize(pd.Series(faces, dtype=object))[0], "place": places})
    frame = frame.drop_duplicates(["cell", "place"])
    if len(frame) < 3:
        return False
    groups = frame.groupby("cell")["face"]
    if (groups.nunique() > 1).any():
        return False
    comparisons = int((groups.size() - 1).sum())
    share = frame["face"].value_counts(normalize=True).to_numpy()
    same = float(np.sum(share**2))
    return same < 1 and comparisons * math.log(same) < math.log(ODDS)


def _ranks(cells: list[str], faces: list[object]) -> bool:
    """Tell whether the cells, as numbers, sort the surveys as their faces do, up or down (rule 4)."""
    numbers = pd.to_numeric(pd.Series(cells, dtype=object), errors="coerce").to_numpy(dtype=float)
    order = {face: rank for rank, face in enumerate(sorted(set(faces), key=_order))}
    ranks = np.array([order[face] for face in faces])
    if not np.isfinite(numbers).all() or len(numbers) < 3:
        return False
    counts = np.bincount(ranks)
    orders = math.lgamma(len(ranks) + 1) - sum(math.lgamma(count + 1) for count in counts)
    if orders < -math.log(ODDS):
        return False
    return _follows(numbers, ranks) or _follows(-numbers, ranks)


def _order(face: object) -> tuple[object, ...]:
    if isinstance(face, tuple):
        return tuple((len(name), name) for name in face)
    return (len(face), face) if isinstance(face, str) else (face,)


def _follows(numbers: np.ndarray, ranks: np.ndarray) -> bool:
    by_number = np.lexsort([ranks, numbers])
    return bool((np.diff(ranks[by_number]) >= 0).all() and len(np.unique(numbers)) >= len(np.unique(ranks)))
