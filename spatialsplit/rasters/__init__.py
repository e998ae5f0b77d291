"""Rasters at points: values, and patches around them.

`pixels` says which pixel a point lies in, `values` what is there, `extraction` adds that to a table, `patches` cuts
windows and files them, and `pictures` finds and loads patch files, ours and GeoLifeCLEF's.
"""

from spatialsplit.rasters.extraction import Extraction, extract_values
from spatialsplit.rasters.patch_files import PatchForm
from spatialsplit.rasters.patches import WrittenPatches, patches_around, write_patches
from spatialsplit.rasters.pictures import PatchFolder, patch_path
from spatialsplit.rasters.pixels import Raster
from spatialsplit.rasters.points import PointColumns
from spatialsplit.rasters.values import RasterValues, raster_values

__all__ = [
    "Extraction",
    "PatchFolder",
    "PatchForm",
    "PointColumns",
    "Raster",
    "RasterValues",
    "WrittenPatches",
    "extract_values",
    "patch_path",
    "patches_around",
    "raster_values",
    "write_patches",
]
