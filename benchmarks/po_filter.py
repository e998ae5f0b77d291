"""The presence-only filter in memory: 5 million records, 10,000 sites, 500 m, uniform and clustered.

The bars: at least 20 times cKDTree (earth-centred, both cores) on uniform records and 8 times on clustered ones, 100
times geopandas; and
exactly the records that the geodesic says.
"""

from __future__ import annotations

import numpy as np

from benchmarks.measuring import Contestant, alternate, table
from spatialsplit.distances import Sites, earth_centred, geodesic_m
from spatialsplit.engine import default_threads, map_in_order

N_RECORDS, N_SITES, RADIUS_M = 5_000_000, 10_000, 500.0
WEST, EAST, SOUTH, NORTH = -10.0, 30.0, 36.0, 65.0
SLICE_ROWS = 1 << 19


def places(generator: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw places all over Europe."""
    return generator.uniform(WEST, EAST, n).round(6), generator.uniform(SOUTH, NORTH, n).round(6)


def clustered(
    generator: np.random.Generator, n: int, site_lon: np.ndarray, site_lat: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Draw places of which half lie within 5 km of a site."""
    lon, lat = places(generator, n)
    near = generator.integers(0, len(site_lon), n // 2)
    angle, distance = generator.uniform(0, 2 * np.pi, n // 2), 5000 * np.sqrt(generator.uniform(0, 1, n // 2))
    lat[: n // 2] = (site_lat[near] + distance * np.sin(angle) / 111_200).round(6)
    lon[: n // 2] = (site_lon[near] + distance * np.cos(angle) / (111_320 * np.cos(np.radians(site_lat[near])))).round(
        6
    )
    order = generator.permutation(n)
    return lon[order], lat[order]


def ours(lon: np.ndarray, lat: np.ndarray, site_lon: np.ndarray, site_lat: np.ndarray, radius_m: float) -> np.ndarray:
    """Give the positions of the records that go, by the function that the build uses, in threads."""
    sites = Sites(site_lon, site_lat, radius_m)
    starts = range(0, len(lon), SLICE_ROWS)

    def near(start: int) -> np.ndarray:
        part = slice(start, start + SLICE_ROWS)
        return start + sites.near(lon[part], lat[part], radius_m).record

    return np.concatenate(list(map_in_order(near, starts)))


def by_ckdtree(
    lon: np.ndarray, lat: np.ndarray, site_lon: np.ndarray, site_lat: np.ndarray, radius_m: float
) -> np.ndarray:
    """Ask scipy's tree for the nearest site of every record, with all cores."""
    from scipy.spatial import cKDTree

    tree = cKDTree(earth_centred(site_lon, site_lat))
    chord, _ = tree.query(earth_centred(lon, lat), distance_upper_bound=radius_m, workers=default_threads())
    return np.flatnonzero(np.isfinite(chord))


def by_ball_tree(
    lon: np.ndarray, lat: np.ndarray, site_lon: np.ndarray, site_lat: np.ndarray, radius_m: float
) -> np.ndarray:
    """Ask scikit-learn's haversine tree."""
    from sklearn.neighbors import BallTree

    tree = BallTree(np.radians(np.column_stack([site_lat, site_lon])), metric="haversine")
    angle = tree.query(np.radians(np.column_stack([lat, lon])), k=1)[0][:, 0]
    return np.flatnonzero(angle * 6_371_008.8 <= radius_m)


def by_geopandas(how: str) -> object:
    """Give a contestant that joins projected points by geopandas."""

    def work(
        lon: np.ndarray, lat: np.ndarray, site_lon: np.ndarray, site_lat: np.ndarray, radius_m: float
    ) -> np.ndarray:
        import geopandas

        records, sites = (
            geopandas.GeoDataFrame(geometry=geopandas.points_from_xy(x, y, crs=4326)).to_crs(3035)
            for x, y in ((lon, lat), (site_lon, site_lat))
        )
        if how == "dwithin":
            joined = geopandas.sjoin(records, sites, predicate="dwithin", distance=radius_m)
        else:
            joined = geopandas.sjoin_nearest(records, sites, max_distance=radius_m)
        return np.unique(joined.index.to_numpy())

    return work


def check_against_geodesic(
    lon: np.ndarray, lat: np.ndarray, site_lon: np.ndarray, site_lat: np.ndarray, gone: np.ndarray
) -> None:
    """Compare with the geodesic to all sites nearby, which are found by a search in the sorted latitudes."""
    order = np.argsort(site_lat)
    sorted_lat, removed = site_lat[order], np.zeros(len(lon), dtype=bool)
    removed[gone] = True
    reach = RADIUS_M / 110_000
    sample = np.unique(np.concatenate([gone[:2000], np.random.default_rng(3).integers(0, len(lon), 2000)]))
    for i in sample.tolist():
        first, last = np.searchsorted(sorted_lat, [lat[i] - reach, lat[i] + reach])
        near = order[first:last]
        d = geodesic_m(np.full(near.size, lon[i]), np.full(near.size, lat[i]), site_lon[near], site_lat[near])
        assert bool((d <= RADIUS_M).any()) == bool(removed[i]), f"record {i} is decided wrongly"


def main() -> None:
    """Run both kinds of records."""
    generator = np.random.default_rng(1)
    site_lon, site_lat = places(generator, N_SITES)
    uniform = places(generator, N_RECORDS)
    near = clustered(generator, N_RECORDS, site_lon, site_lat)
    for title, (lon, lat) in (("uniform", uniform), ("half within 5 km of a site", near)):
        compare(title, lon, lat, site_lon, site_lat)


def compare(title: str, lon: np.ndarray, lat: np.ndarray, site_lon: np.ndarray, site_lat: np.ndarray) -> None:
    """Run all contestants on one kind of records."""
    few = slice(0, N_RECORDS // 10)
    sites = (site_lon, site_lat, RADIUS_M)
    contestants = [
        Contestant("spatialsplit (exact geodesic)", lambda: ours(lon, lat, *sites)),
        Contestant("scipy cKDTree, earth-centred, both cores", lambda: by_ckdtree(lon, lat, *sites)),
        Contestant("scikit-learn BallTree, haversine", lambda: by_ball_tree(lon[few], lat[few], *sites), 0.1, 1),
        Contestant(
            "geopandas sjoin dwithin, projected", lambda: by_geopandas("dwithin")(lon[few], lat[few], *sites), 0.1, 1
        ),
        Contestant(
            "geopandas sjoin_nearest, projected", lambda: by_geopandas("nearest")(lon[few], lat[few], *sites), 0.1, 1
        ),
    ]
    answers = alternate(contestants, 5)
    gone = answers[contestants[0].name]
    check_against_geodesic(lon, lat, site_lon, site_lat, gone)
    by_chord = answers[contestants[1].name]
    differing = len(np.setxor1d(gone, by_chord))
    table(
        f"Presence-only filter, {N_RECORDS:,} records × {N_SITES:,} sites, {RADIUS_M:g} m, {title}: "
        f"{len(gone):,} removed",
        contestants,
    )
    print(f"\nThe chord decides {differing} records otherwise than the geodesic.")


if __name__ == "__main__":
    main()
