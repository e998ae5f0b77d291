"""Surveys + quadrats + draw → Split: which survey is for training, which for validation, which for test.

A split is a table (`surveyId, quadratId, subset`) and the rules that made it. Nothing here touches the disk.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from spatialsplit.draw import (
    BestDraw,
    Draw,
    DrawRules,
    Labels,
    Occupied,
    check_fixed,
    commonest,
    draw_best,
    draw_quadrats,
    quadrat_number,
    quota,
)
from spatialsplit.errors import DataError, first_few
from spatialsplit.quadrats import Grid, Quadrats
from spatialsplit.surveys import Surveys

EMPTY_IN_HOLDOUT = "empty_in_holdout"


@dataclass(frozen=True)
class Assignment:
    """Quadrats that are assigned beforehand.

    Attributes
    ----------
    subsets : mapping of str to str
        Label to subset.
    complete : bool
        Whether the quadrats that are not listed belong to the remainder; else they are drawn.
    where : str
        The file, for messages.
    """

    subsets: Mapping[str, str]
    complete: bool
    where: str = "the fixed assignment"


@dataclass(frozen=True)
class SplitRules:
    """How surveys are split.

    Parameters
    ----------
    grid : Grid
    draw : DrawRules
    seed : str
    strata : str, optional
        Survey attribute over whose values the draw is balanced.
    attempts : int, optional
        Of so many draws the best balanced one is kept; see `draw_best`.
    rare_quadrats : int, optional
        Attempts are also compared by the share of the species that lie in at most so many quadrats.
    assignment : Assignment, optional
    """

    grid: Grid
    draw: DrawRules
    seed: str
    strata: str | None = None
    attempts: int | None = None
    assignment: Assignment | None = None
    rare_quadrats: int | None = None


@dataclass(frozen=True)
class QuadratTable:
    """All quadrats with a survey, in code-point order of their labels.

    Attributes
    ----------
    labels : list of str
    n_surveys, n_empty : array of int
        All surveys, and those of them without a species.
    strata : list of str, optional
    subsets : list of str
    """

    labels: list[str]
    n_surveys: npt.NDArray[np.int64]
    n_empty: npt.NDArray[np.int64]
    strata: list[str] | None
    subsets: list[str]


@dataclass(frozen=True)
class Split:
    """Surveys with their quadrats and subsets.

    Attributes
    ----------
    surveys : Surveys
    quadrat : array of int, shape (n,)
        Position of each survey's quadrat in `quadrats.labels`.
    subset : array of str, shape (n,)
        `train`, `val`, `test`; `empty_in_holdout` for a survey without species that a holdout cannot have.
    quadrats : QuadratTable
    draw : Draw
    attempt : BestDraw, optional
    rules : SplitRules
    """

    surveys: Surveys
    quadrat: npt.NDArray[np.int64]
    subset: npt.NDArray[np.object_]
    quadrats: QuadratTable
    draw: Draw
    attempt: BestDraw | None
    rules: SplitRules

    def table(self) -> pa.Table:
        """Give the split as a table: `surveyId`, `quadratId`, `subset`.

        Dropped empty surveys have no row.
        """
        kept = np.flatnonzero(self.subset != EMPTY_IN_HOLDOUT)
        labels = pa.array(self.quadrats.labels).take(pa.array(self.quadrat[kept]))
        return pa.table(
            {"surveyId": self.surveys.ids[kept], "quadratId": labels, "subset": pa.array(self.subset[kept].tolist())}
        )

    def indices(
        self, *, test: str | None = None, train: str | Sequence[str] | None = None, buffer_m: float | None = None
    ) -> list[tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]]:
        """Give the split as scikit-learn takes it for `cv=`: one pair (train, test) of positions in `surveys`.

        Parameters
        ----------
        test : str, optional
            The subset to test on: `val` where there is one, else `test`.
        train : str or sequence of str, optional
            The subsets to train on: `train`, unless said.
        buffer_m : float, optional
            Training surveys within it of a test survey are set aside; metres on the WGS84 ellipsoid.
        """
        from spatialsplit.folds.places import Places
        from spatialsplit.folds.subsets import subset_indices

        places = None if buffer_m is None else Places(self.surveys.lon, self.surveys.lat)
        return subset_indices(self.subset, test=test, train=train, places=places, buffer_m=buffer_m)

    def in_subset(self, name: str) -> npt.NDArray[np.int64]:
        """Give the positions of the surveys of one subset."""
        return np.flatnonzero(self.subset == name)

    def numbers(self, holdout: str) -> list[str]:
        """Give each quadrat's number in the draw of a holdout, as 16 hexadecimal digits."""
        return [f"{quadrat_number(self.draw.seed, holdout, label):016x}" for label in self.quadrats.labels]


def split_surveys(surveys: Surveys, rules: SplitRules) -> Split:
    """Split surveys into holdouts of whole quadrats.

    Raises
    ------
    DataError
        A point has no quadrat, a holdout comes out empty, or the strata column is not there.
    """
    quadrats = _sorted(rules.grid.assign(surveys.lon, surveys.lat))
    n_species = surveys.n_species
    n_all = np.bincount(quadrats.codes, minlength=len(quadrats.labels))
    n_full = np.bincount(quadrats.codes[n_species > 0], minlength=len(quadrats.labels))
    strata = _strata(surveys, quadrats, n_species > 0, rules.strata)
    occupied = _occupied(quadrats.labels, n_full, strata)
    draw, attempt = _draw(surveys, quadrats, occupied, rules)
    fixed = rules.assignment.subsets if rules.assignment else {}
    remainder = rules.draw.remainder
    subsets = [draw.subsets.get(label) or fixed.get(label, remainder) for label in quadrats.labels]
    table = QuadratTable(quadrats.labels, n_all, n_all - n_full, strata, subsets)
    subset = np.array(subsets, dtype=object)[quadrats.codes]
    subset[(n_species == 0) & (subset != "train")] = EMPTY_IN_HOLDOUT
    return Split(surveys, quadrats.codes.astype(np.int64), subset, table, draw, attempt, rules)


def _sorted(quadrats: Quadrats) -> Quadrats:
    """Give quadrats new numbers, in code-point order of their labels."""
    order = sorted(range(len(quadrats.labels)), key=quadrats.labels.__getitem__)
    rank = np.empty(len(order), dtype=np.int32)
    rank[order] = np.arange(len(order), dtype=np.int32)
    return Quadrats(rank[quadrats.codes], [quadrats.labels[i] for i in order])


def _occupied(labels: list[str], n_full: npt.NDArray[np.int64], strata: list[str] | None) -> Occupied:
    chosen = np.flatnonzero(n_full).tolist()
    if not chosen:
        raise DataError("No survey has a species, so no quadrat can be drawn. Check the species column.")
    return Occupied(
        [labels[i] for i in chosen],
        [int(n_full[i]) for i in chosen],
        [strata[i] for i in chosen] if strata is not None else None,
    )


def _strata(surveys: Surveys, quadrats: Quadrats, full: npt.NDArray[np.bool_], name: str | None) -> list[str] | None:
    """Give each quadrat the commonest value of its surveys with a species; of all surveys where none has any."""
    if name is None:
        return None
    if name not in surveys.attributes.column_names and name not in surveys.keys:
        why = "varies inside surveys" if name in surveys.varying else "is not there"
        known = first_few([*surveys.keys, *surveys.attributes.column_names], shown=20)
        raise DataError(f"The strata column '{name}' {why}. It must have one value a survey. Columns that do: {known}.")
    column = surveys.keys[name] if name in surveys.keys else surveys.attributes.column(name)
    values = pc.cast(column, pa.string()).fill_null("").to_pylist()
    of_full: list[list[str]] = [[] for _ in quadrats.labels]
    of_all: list[list[str]] = [[] for _ in quadrats.labels]
    for code, value, has_species in zip(quadrats.codes.tolist(), values, full.tolist(), strict=True):
        of_all[code].append(value)
        if has_species:
            of_full[code].append(value)
    return [commonest(some or every) for some, every in zip(of_full, of_all, strict=True)]


def _draw(surveys: Surveys, quadrats: Quadrats, occupied: Occupied, rules: SplitRules) -> tuple[Draw, BestDraw | None]:
    assignment = rules.assignment
    if assignment is not None:
        check_fixed(assignment.subsets, rules.draw, assignment.where)
    if rules.attempts is not None:
        labels = _labels(surveys, quadrats, occupied)
        best = draw_best(occupied, rules.draw, rules.seed, rules.attempts, labels, rare_quadrats=rules.rare_quadrats)
        return best.draw, best
    fixed = dict(assignment.subsets) if assignment else {}
    if assignment is not None and assignment.complete:
        fixed = {label: fixed.get(label, rules.draw.remainder) for label in occupied.labels}
        missing = [holdout.name for holdout in rules.draw.holdouts if holdout.name not in fixed.values()]
        if missing:
            raise DataError(
                f"{assignment.where} gives no occupied quadrat to the holdout '{missing[0]}'. Every holdout needs at "
                "least one. Check that its labels are of this grid."
            )
    known = _labels(surveys, quadrats, occupied) if rules.draw.min_train_quadrats else None
    return draw_quadrats(occupied, rules.draw, rules.seed, fixed=fixed, labels=known), None


def _labels(surveys: Surveys, quadrats: Quadrats, occupied: Occupied) -> Labels:
    position = {label: i for i, label in enumerate(occupied.labels)}
    of_code = np.array([position.get(label, -1) for label in quadrats.labels])
    species = surveys.label_species.dictionary_encode().indices.to_numpy(zero_copy_only=False)
    return Labels(of_code[quadrats.codes[surveys.label_survey]], species)


def draw_public(labels: list[str], share: float, seed: str) -> set[str]:
    """Choose the test quadrats whose surveys count for the public leaderboard, drawn under the name `public`.

    Raises
    ------
    DataError
        One side would be empty.
    """
    k = quota(share, len(labels))
    if not 0 < k < len(labels):
        side = "public" if k == 0 else "private"
        raise DataError(
            f"The {side} side of the leaderboard is empty: a share of {share:g} of {len(labels)} test quadrats is "
            f"{k}. Both sides need at least one quadrat. Change public_share, or draw more test quadrats."
        )
    return set(sorted(labels, key=lambda label: (quadrat_number(seed, "public", label), label))[:k])
