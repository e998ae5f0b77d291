"""Quadrats → subsets, by SHA-256 of the seed, the holdout's name and the quadrat's label.

There is no random generator anywhere: a quadrat's number in a draw depends on these three words alone, so a draw is the
same on every platform and in any order, and anyone can check one quadrat in a shell::

    printf '%s' 'SEED|test|LABEL' | sha256sum      # its first 16 hex digits are the number

What a quadrat is stands in `quadrats`; here it is only a label with counts. `numbers` has the arithmetic, `rules` what
can be asked for, `species` which quadrats the remainder cannot spare, `drawing` one draw,
`balance` the best of several.
"""

from spatialsplit.draw.balance import BestDraw, draw_best, imbalance
from spatialsplit.draw.drawing import Draw, DrawnHoldout, Occupied, draw_quadrats
from spatialsplit.draw.numbers import (
    check_word,
    commitment,
    commonest,
    largest_remainder,
    quadrat_number,
    quota,
)
from spatialsplit.draw.rules import METHODS, SHARES_OF, DrawRules, Holdout, check_fixed
from spatialsplit.draw.species import Labels

__all__ = [
    "METHODS",
    "SHARES_OF",
    "BestDraw",
    "Draw",
    "DrawRules",
    "DrawnHoldout",
    "Holdout",
    "Labels",
    "Occupied",
    "check_fixed",
    "check_word",
    "commitment",
    "commonest",
    "draw_best",
    "draw_quadrats",
    "imbalance",
    "largest_remainder",
    "quadrat_number",
    "quota",
]
