"""Whether a split is honest: autocorrelation range and size, distance curves, environment, counts of folds, species.

Each answer is arrays and numbers with sentences; `pictures` draws them. Folds themselves are made in `folds`.
"""

from spatialsplit.diagnostics.block_size import SizeSuggestion, effective_sample_size, suggest_size
from spatialsplit.diagnostics.coverage import SpeciesCoverage, species_coverage
from spatialsplit.diagnostics.fold_flags import (
    FoldFlags,
    fold_counts,
    fold_flags,
    percent_nearer_than_prediction,
)
from spatialsplit.diagnostics.matched_folds import MatchedFolds, MatchedKFold, matched_folds
from spatialsplit.diagnostics.nearest import (
    DistanceCurves,
    distance_curves,
    nearest_between,
    nearest_other,
    nearest_other_fold,
    wasserstein,
)
from spatialsplit.diagnostics.nndm import LeftOut, nndm
from spatialsplit.diagnostics.pictures import plot_distance_curves, plot_variograms
from spatialsplit.diagnostics.similarity import Applicability, Mess, applicability, mess
from spatialsplit.diagnostics.variogram import Variogram, VariogramModel, variogram, variograms

__all__ = [
    "Applicability",
    "DistanceCurves",
    "FoldFlags",
    "LeftOut",
    "MatchedFolds",
    "MatchedKFold",
    "Mess",
    "SizeSuggestion",
    "SpeciesCoverage",
    "Variogram",
    "VariogramModel",
    "applicability",
    "distance_curves",
    "effective_sample_size",
    "fold_counts",
    "fold_flags",
    "matched_folds",
    "mess",
    "nearest_between",
    "nearest_other",
    "nearest_other_fold",
    "nndm",
    "percent_nearer_than_prediction",
    "plot_distance_curves",
    "plot_variograms",
    "species_coverage",
    "suggest_size",
    "variogram",
    "variograms",
    "wasserstein",
]
