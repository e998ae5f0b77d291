"""Pictures of a split, on axes of matplotlib that the caller gives.

`plot_split` is the one line to begin with; the others draw what the report shows. Each takes arrays, draws on the
given axes and returns them. matplotlib is loaded when the first picture is drawn. The colours of `palette` are told
apart also by those who see no red and green (Okabe and Ito 2008, jfly.uni-koeln.de/color), and nothing is said by
colour alone. Pictures of the diagnostics stand in `diagnostics.pictures`.
"""

from __future__ import annotations

from spatialsplit.plots.curves import plot_nearest, plot_rank_abundance, plot_removal_distances
from spatialsplit.plots.maps import plot_quadrats, plot_split
from spatialsplit.plots.subsets import plot_balance, plot_counts, plot_time_of_year

__all__ = [
    "plot_balance",
    "plot_counts",
    "plot_nearest",
    "plot_quadrats",
    "plot_rank_abundance",
    "plot_removal_distances",
    "plot_split",
    "plot_time_of_year",
]
