"""The quadrat of 10 million points.

The bar: at most 1.3 times pyproj's own transform of the same points with both cores.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pyproj

from benchmarks.measuring import Contestant, alternate, table
from benchmarks.po_filter import places
from spatialsplit.engine import default_threads
from spatialsplit.quadrats import Grid

N_POINTS = 10_000_000
SLICE_POINTS = 1 << 18


def transform_only(lon: np.ndarray, lat: np.ndarray) -> None:
    """Transform in as many threads as there are cores, and do nothing else."""
    transformer = pyproj.Transformer.from_crs(4326, 3035, always_xy=True)
    parts = [slice(start, start + SLICE_POINTS) for start in range(0, len(lon), SLICE_POINTS)]
    with ThreadPoolExecutor(default_threads()) as pool:
        list(pool.map(lambda part: transformer.transform(lon[part], lat[part]), parts))


def by_verde(lon: np.ndarray, lat: np.ndarray) -> np.ndarray:
    """Label blocks by verde, on projected points."""
    import verde

    easting, northing = pyproj.Transformer.from_crs(4326, 3035, always_xy=True).transform(lon, lat)
    _, labels = verde.block_split((easting, northing), spacing=5000, adjust="region")
    return labels


def by_polygons(lon: np.ndarray, lat: np.ndarray) -> np.ndarray:
    """Join points with square polygons by geopandas."""
    import geopandas
    import shapely

    points = geopandas.GeoDataFrame(geometry=geopandas.points_from_xy(lon, lat, crs=4326)).to_crs(3035)
    west, south, east, north = points.total_bounds
    column, row = np.meshgrid(np.arange(west // 5000, east // 5000 + 1), np.arange(south // 5000, north // 5000 + 1))
    corner_x, corner_y = column.ravel() * 5000, row.ravel() * 5000
    cells = geopandas.GeoDataFrame(geometry=shapely.box(corner_x, corner_y, corner_x + 5000, corner_y + 5000), crs=3035)
    return geopandas.sjoin(points, cells, predicate="intersects")["index_right"].to_numpy()


def main() -> None:
    """Run all contestants; the slow ones get a part of the points."""
    lon, lat = places(np.random.default_rng(2), N_POINTS)
    few, fewer = slice(0, N_POINTS // 10), slice(0, N_POINTS // 50)
    contestants = [
        Contestant("spatialsplit Grid.assign", lambda: Grid().assign(lon, lat)),
        Contestant("pyproj transform alone, both cores", lambda: transform_only(lon, lat)),
        Contestant("geopandas sjoin with polygons", lambda: by_polygons(lon[fewer], lat[fewer]), 0.02, 1),
    ]
    try:
        import verde  # noqa: F401
    except ImportError:
        print("verde is not installed (pip install 'spatialsplit[bench]'): left out")
    else:
        contestants.append(Contestant("verde block_split", lambda: by_verde(lon[few], lat[few]), 0.1, 1))
    answers = alternate(contestants, 5)
    quadrats = answers[contestants[0].name]
    easting, northing = pyproj.Transformer.from_crs(4326, 3035, always_xy=True).transform(lon[fewer], lat[fewer])
    expected = [
        f"CRS3035RES5000mN{int(n // 5000) * 5000}E{int(e // 5000) * 5000}"
        for e, n in zip(easting.round(2), northing.round(2), strict=True)
    ]
    assert [quadrats.labels[code] for code in quadrats.codes[fewer].tolist()] == expected
    table(f"Quadrats of {N_POINTS:,} points: {len(quadrats.labels):,} occupied", contestants)


if __name__ == "__main__":
    main()
