"""Point → quadrat → label → bounds: plain arithmetic in a fixed grid.

A quadrat is a half-open cell `[west, east) × [south, north)` counted from an explicit origin in an explicit CRS, so the
quadrat of a point depends on the point and the grid alone: not on the other points, not on their order. `squares` is
the grid nearly everybody wants, `equator` that of GeoLifeCLEF 2020 to 2022, `presets` knows grids by name, and
`numbering` gives codes to millions of points. Which quadrats are drawn stands in `draw`; other shapes in `grids`.
"""

from spatialsplit.quadrats.equator import EquatorGrid
from spatialsplit.quadrats.numbering import Floats, Integers, Quadrats
from spatialsplit.quadrats.presets import PRESETS, grid_named
from spatialsplit.quadrats.squares import Grid

__all__ = ["PRESETS", "EquatorGrid", "Floats", "Grid", "Integers", "Quadrats", "grid_named"]
