"""Folds for honest validation: whole quadrats, patterns, groups, places and times, one by one; buffers round each.

`quadrats`, `holding_out`, `patterns`, `one_by_one` and `place_and_time` hold classes for scikit-learn's `cv=`;
`assigning` and `balancing` deal quadrats out, `spreading` sees to it that classes can be learnt, `parting` lays
buffers, `subsets` makes index pairs of a split that is there, `handed` finds places in `X` and `groups`. Whether folds
are honest is told by `diagnostics`.
"""

from spatialsplit.folds.assigning import fold_quadrats
from spatialsplit.folds.balancing import BalancedFolds, FoldBalance, balanced_folds, fold_balance
from spatialsplit.folds.grouping import Groups, quadrats_of
from spatialsplit.folds.handed import places_of
from spatialsplit.folds.holding_out import QuadratHoldout
from spatialsplit.folds.one_by_one import BufferedLeaveOneOut
from spatialsplit.folds.parting import Parting, part_rows
from spatialsplit.folds.patterns import Checkerboard, SystematicKFold
from spatialsplit.folds.place_and_time import PlaceTimeKFold
from spatialsplit.folds.places import Places
from spatialsplit.folds.quadrats import (
    BalancedQuadratKFold,
    FoldRules,
    LeaveQuadratOut,
    QuadratKFold,
    StratifiedQuadratKFold,
)
from spatialsplit.folds.spreading import Spread, spread_classes
from spatialsplit.folds.subsets import subset_indices

__all__ = [
    "BalancedFolds",
    "BalancedQuadratKFold",
    "BufferedLeaveOneOut",
    "Checkerboard",
    "FoldBalance",
    "FoldRules",
    "Groups",
    "LeaveQuadratOut",
    "Parting",
    "PlaceTimeKFold",
    "Places",
    "QuadratHoldout",
    "QuadratKFold",
    "Spread",
    "StratifiedQuadratKFold",
    "SystematicKFold",
    "balanced_folds",
    "fold_balance",
    "fold_quadrats",
    "part_rows",
    "places_of",
    "quadrats_of",
    "spread_classes",
    "subset_indices",
]
