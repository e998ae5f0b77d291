"""Who is near whom, on the WGS84 ellipsoid.

Three sieves, each exact for what it lets through. A bitmap of the sites' surroundings in longitude and latitude turns
away most records for a few nanoseconds each (`surroundings`); a KD-tree on earth-centred coordinates finds the sites
whose straight chord is short enough (`sites`); and the geodesic (Karney 2013, as in pyproj.Geod) decides about what is
left (`geodesics`). A chord is never longer than the geodesic, and by less than s³/(23 R²) shorter, so the tree loses
nobody. What becomes of the records stands in `po_filter`.
"""

from spatialsplit.distances.geodesics import GEOD, earth_centred, geodesic_m
from spatialsplit.distances.sites import TIE_M, Near, Sites, check_radius

__all__ = ["GEOD", "TIE_M", "Near", "Sites", "check_radius", "earth_centred", "geodesic_m"]
