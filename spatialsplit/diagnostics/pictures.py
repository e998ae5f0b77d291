"""Pictures of the diagnostics, on axes of matplotlib that the caller gives."""

from __future__ import annotations

from typing import Any

import numpy as np

from spatialsplit.diagnostics.block_size import SizeSuggestion
from spatialsplit.diagnostics.nearest import DistanceCurves

COLOURS = {"random": "#e6a817", "test": "#b2182b", "prediction": "#2b6ca3"}
"""Told apart also by those who see no red and green."""


def plot_variograms(axes: Any, suggestion: SizeSuggestion) -> Any:
    """Draw the variograms of a suggestion, each to a sill of 1, and the size as an upright line."""
    scale, unit = (1.0, "units") if suggestion.planar else (1000.0, "km")
    for name, seen in suggestion.variograms.items():
        sill = seen.model.nugget + seen.model.partial_sill or 1.0
        dots = axes.plot(seen.distance / scale, seen.semivariance / sill, "o", markersize=4, label=name)
        line = np.linspace(0, seen.farthest, 200)
        axes.plot(line / scale, seen.model.semivariance(line) / sill, color=dots[0].get_color(), linewidth=1.2)
    if suggestion.size_m is not None:
        axes.axvline(suggestion.size_m / scale, color="0.3", linestyle="--", linewidth=1)
        axes.annotate(f" {suggestion.size_m / scale:g} {unit}", (suggestion.size_m / scale, 0.02), color="0.3")
    axes.set(xlabel=f"distance ({unit})", ylabel="semivariance / sill", xlim=(0, None), ylim=(0, None))
    axes.legend(loc="lower right", frameon=False)
    return axes


def plot_distance_curves(axes: Any, curves: DistanceCurves, *, planar: bool = False) -> Any:
    """Draw the three cumulative curves of distances to training; the closer the last two, the more honest the folds."""
    scale, unit = (1.0, "units") if planar else (1000.0, "km")
    drawn = {
        "random": (curves.sample_to_sample, f"random fold → training (W {curves.w_random / scale:.3g} {unit})"),
        "test": (curves.test_to_train, f"test → training (W {curves.w / scale:.3g} {unit})"),
        "prediction": (curves.prediction_to_sample, "prediction → sample"),
    }
    for name, (distances, label) in drawn.items():
        ordered = np.sort(distances) / scale
        share = np.arange(1, len(ordered) + 1) / len(ordered)
        axes.step(ordered, share, where="post", color=COLOURS[name], label=label)
    axes.set(xlabel=f"distance to the nearest training row ({unit})", ylabel="share of rows", xlim=(0, None))
    axes.set_ylim(0, 1)
    axes.legend(loc="lower right", frameon=False)
    return axes
