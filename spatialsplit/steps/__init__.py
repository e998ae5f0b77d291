"""The steps of a build one by one, file in and file out, for somebody's Makefile.

They call the same functions as `build`. Coordinates are taken as they are unless a number of decimals is given; rows
are passed on text for text.
"""

from __future__ import annotations

from spatialsplit.steps.drawing import DrawTask, draw_table
from spatialsplit.steps.filtering import FilterCounts, FilterOutputs, filter_po_table
from spatialsplit.steps.locating import add_quadrats
from spatialsplit.steps.passing import Reading
from spatialsplit.steps.sites import SiteTable
from spatialsplit.steps.surveying import write_surveys

__all__ = [
    "DrawTask",
    "FilterCounts",
    "FilterOutputs",
    "Reading",
    "SiteTable",
    "add_quadrats",
    "draw_table",
    "filter_po_table",
    "write_surveys",
]
