"""Grids beside the squares of `quadrats`: hexagons, polygons, a raster's zones, H3, and squares without a CRS.

Each gives a place one quadrat by `assign(lon, lat)`, or says which places it has none for, and is half-open on its
edges; `nesting` puts quadrats into larger ones.
"""

from spatialsplit.grids.h3_cells import H3Grid
from spatialsplit.grids.hexagons import HexagonGrid
from spatialsplit.grids.nesting import coarser, parent_label
from spatialsplit.grids.outlines import quadrat_outlines
from spatialsplit.grids.planar import PlanarGrid
from spatialsplit.grids.polygons import PolygonGrid
from spatialsplit.grids.raster_zones import RasterGrid

__all__ = [
    "H3Grid",
    "HexagonGrid",
    "PlanarGrid",
    "PolygonGrid",
    "RasterGrid",
    "coarser",
    "parent_label",
    "quadrat_outlines",
]
