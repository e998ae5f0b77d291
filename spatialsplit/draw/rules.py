"""What is drawn, and by which rules."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from spatialsplit.draw.numbers import check_word
from spatialsplit.errors import DataError, first_few

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
        if not isinstance(self.share, int | float) or not 0 < self.share < 1:
            raise DataError(
                f"Invalid share {self.share} of the holdout '{self.name}'. It must lie between 0 and 1, as in "
                f"{self.name}=0.025."
            )


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
    min_train_quadrats : int
        Of each species so many quadrats stay in the remainder, and all of a species that has no more. A quadrat that
        would break this is passed over, and the next number is taken; the quota stays. Rich quadrats are passed over
        more often, so that rare species are rarer in the holdouts than in the whole.

    Raises
    ------
    DataError
        A line for each rule that is impossible or contradicts another.
    """

    holdouts: Sequence[Holdout]
    method: str = "quota"
    share_of: str = "quadrats"
    remainder: str = "train"
    min_train_quadrats: int = 0

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
        least = self.min_train_quadrats
        if isinstance(least, bool) or not isinstance(least, int) or least < 0:
            problems.append(
                f"Invalid min_train_quadrats {self.min_train_quadrats!r}. It must be a whole number, 0 or more. "
                "Correct it."
            )
        elif self.method == "threshold" and self.min_train_quadrats:
            problems.append(
                "method 'threshold' looks at one quadrat at a time and cannot keep min_train_quadrats. Leave one out."
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
