"""Folds of spatial blocks, side by side with verde, spatial-kfold and elapid on the same points.

Not only how long, but what becomes of the rows: is each in one fold, and does it stay there when a row is added, when
the rows are shuffled, when it lies on an edge, when an attribute is missing? Peers that are not installed are left out:
`pip install verde spatial-kfold elapid` into an environment of their own, beside spatialsplit.
"""

from __future__ import annotations

import importlib.util
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass

import geopandas
import numpy as np
import pandas as pd

from benchmarks.measuring import machine, run_process

BLOCK_M = 20_000
N_SPLITS = 5
CRS = "EPSG:3035"
N_POINTS = 100_000
N_SMALL = 3_000

Points = geopandas.GeoDataFrame
Folds = pd.DataFrame
"""Columns `row` and `fold`: a row that is lost has no line, one that is in two folds has two."""


def points_of(n: int, seed: int = 1) -> Points:
    """Scatter points over the middle of Europe, projected, with an attribute."""
    dice = np.random.default_rng(seed)
    lon, lat = dice.uniform(5, 15, n), dice.uniform(45, 55, n)
    points = geopandas.GeoDataFrame(
        {"warmth": dice.normal(size=n)}, geometry=geopandas.points_from_xy(lon, lat, crs=4326)
    )
    return points.to_crs(CRS)


def _from_tests(tests: list[np.ndarray]) -> Folds:
    return pd.DataFrame(
        {"row": np.concatenate(tests), "fold": np.repeat(np.arange(len(tests)), [len(t) for t in tests])}
    )


def by_spatialsplit(points: Points) -> Folds:
    """Make folds of whole quadrats by their hash."""
    from spatialsplit.folds import QuadratKFold
    from spatialsplit.quadrats import Grid

    cv = QuadratKFold(N_SPLITS, seed="1", grid=Grid(CRS, BLOCK_M))
    return _from_tests([test for _, test in cv.split(points)])


def by_verde(points: Points) -> Folds:
    """Make folds of blocks by verde.BlockKFold."""
    import verde

    cv = verde.BlockKFold(spacing=BLOCK_M, n_splits=N_SPLITS, shuffle=True, random_state=1)
    return _from_tests([test for _, test in cv.split(np.column_stack([points.geometry.x, points.geometry.y]))])


def by_spatial_kfold(points: Points) -> Folds:
    """Make polygons by spatialkfold.blocks, and overlay the points with them, as its README does."""
    from spatialkfold.blocks import spatial_blocks

    blocks = spatial_blocks(points, BLOCK_M, BLOCK_M, nfolds=N_SPLITS, method="random", random_state=1)
    joined = geopandas.overlay(points.assign(row=np.arange(len(points))), blocks)
    return pd.DataFrame({"row": joined["row"].to_numpy(), "fold": joined["folds"].to_numpy()})


def by_elapid_checkerboard(points: Points) -> Folds:
    """Make the two halves of elapid's checkerboard; the rows are named by an attribute that passes through."""
    import elapid

    halves = elapid.checkerboard_split(points.assign(row=np.arange(len(points))), grid_size=BLOCK_M)
    return pd.concat([pd.DataFrame({"row": half["row"].to_numpy(int), "fold": i}) for i, half in enumerate(halves)])


def by_elapid_kfold(points: Points) -> Folds:
    """Make folds of k-means clusters by elapid."""
    import elapid

    cv = elapid.GeographicKFold(n_splits=N_SPLITS, random_state=1)
    return _from_tests([test for _, test in cv.split(points)])


@dataclass(frozen=True)
class Peer:
    """A way of making folds, and the package it needs."""

    package: str
    work: Callable[[Points], Folds]


PEERS = {
    "spatialsplit QuadratKFold": Peer("spatialsplit", by_spatialsplit),
    "verde BlockKFold": Peer("verde", by_verde),
    "spatial-kfold spatial_blocks": Peer("spatialkfold", by_spatial_kfold),
    "elapid checkerboard_split": Peer("elapid", by_elapid_checkerboard),
    "elapid GeographicKFold": Peer("elapid", by_elapid_kfold),
}


def wrong_rows(folds: Folds, n: int) -> str:
    """Count the rows in no fold and in several."""
    times = np.bincount(folds["row"], minlength=n)
    lost, double = np.count_nonzero(times == 0), np.count_nonzero(times > 1)
    return f"{lost} lost, {double} twice" if lost or double else "0"


def moved(before: Folds, after: Folds, n: int) -> str:
    """Give the share of rows that are in another fold, folds being renamed so that it is smallest."""
    from scipy.optimize import linear_sum_assignment

    both = before.drop_duplicates("row").merge(after.drop_duplicates("row"), on="row")
    table = pd.crosstab(both["fold_x"], both["fold_y"]).to_numpy()
    stay = table[linear_sum_assignment(-table)].sum()
    return f"{100 * (1 - stay / n):.1f} %"


def row_added(work: Callable[[Points], Folds], points: Points) -> str:
    """Add one record 30 km west of all others."""
    west, south, _, _ = points.total_bounds
    one = geopandas.GeoDataFrame(
        {"warmth": [0.0]}, geometry=geopandas.points_from_xy([west - 30_000], [south], crs=CRS)
    )
    more = pd.concat([points, one], ignore_index=True)
    after = work(more)
    return moved(work(points), after[after["row"] < len(points)], len(points))


def rows_shuffled(work: Callable[[Points], Folds], points: Points) -> str:
    """Hand in the same records in another order."""
    order = np.random.default_rng(2).permutation(len(points))
    after = work(points.iloc[order].reset_index(drop=True))
    return moved(work(points), after.assign(row=order[after["row"]]), len(points))


def on_edges(work: Callable[[Points], Folds]) -> str:
    """Put 900 records 10 km apart: every second one lies on an edge of a block."""
    east, north = (each.ravel() for each in np.meshgrid(np.arange(30) * 10_000.0, np.arange(30) * 10_000.0))
    lattice = geopandas.points_from_xy(4_000_000 + east, 3_000_000 + north, crs=CRS)
    return wrong_rows(work(geopandas.GeoDataFrame({"warmth": np.zeros(900)}, geometry=lattice)), 900)


def attribute_missing(work: Callable[[Points], Folds], points: Points) -> str:
    """Let every tenth record lack an attribute."""
    holes = points.copy()
    holes.loc[::10, "warmth"] = np.nan
    return wrong_rows(work(holes), len(points))


def ground_at_60_north() -> dict[str, str]:
    """Measure blocks of 20 km, or of 0.2 degrees, on the ground at 60° N: width × height."""
    from spatialsplit.crs import to_lonlat
    from spatialsplit.distances import geodesic_m
    from spatialsplit.quadrats import Grid

    grid = Grid(CRS, BLOCK_M)
    west, south, east, north = grid.bounds(grid.assign(np.array([10.0]), np.array([60.0])).labels[0])
    lon, lat = to_lonlat(np.array([west, east, west]), np.array([south, south, north]), CRS)
    found = {"spatialsplit": geodesic_m(lon[[0, 0]], lat[[0, 0]], lon[1:], lat[1:]) / 1000}
    if importlib.util.find_spec("verde"):
        import verde

        degrees = np.arange(10, 11, 0.0005)
        box = np.concatenate([degrees, np.full_like(degrees, 10.0)]), np.concatenate([degrees * 0 + 60, degrees + 50])
        labels = verde.block_split(box, spacing=0.2)[1]
        line = np.flatnonzero(labels[1 : len(degrees)] != labels[: len(degrees) - 1])[:2] + 1
        width = geodesic_m(box[0][line[:1]], box[1][line[:1]], box[0][line[1:]], box[1][line[1:]])[0] / 1000
        found["verde, degrees"] = np.array([width, 0.2 * 111.4])
    return {name: f"{width:.1f} × {height:.1f} km" for name, (width, height) in found.items()}


def across_180() -> dict[str, str]:
    """Ask who sees that two records 200 m apart, on either side of 180°, are within a buffer of 1 km."""
    from spatialsplit.folds import BufferedLeaveOneOut

    lon, lat = np.array([179.999, -179.999, 170.0]), np.array([-17.0, -17.0, -17.0])
    train = next(BufferedLeaveOneOut(1_000).split(np.zeros((3, 1)), groups=np.column_stack([lon, lat])))[0]
    found = {"spatialsplit": "set aside" if 1 not in train else "left in training"}
    if importlib.util.find_spec("elapid"):
        import elapid

        points = geopandas.GeoDataFrame(geometry=geopandas.points_from_xy(lon, lat, crs=4326))
        train = next(iter(elapid.BufferedLeaveOneOut(distance=0.009).split(points)))[0]
        found["elapid, degrees"] = "set aside" if 1 not in train else "left in training"
    return found


def main() -> None:
    """Print both tables; with a name and a number, only make folds, so that a process of its own can be measured."""
    warnings.simplefilter("ignore")
    if len(sys.argv) == 3:
        work, points = PEERS[sys.argv[1]].work, points_of(int(sys.argv[2]))
        work(points.iloc[:500])  # imports are not what is measured
        start = time.perf_counter()
        work(points)
        print(time.perf_counter() - start)
        return
    print(f"{machine()}\n\n{N_POINTS:,} points, blocks of {BLOCK_M / 1000:g} km, {N_SPLITS} folds\n")
    names = [name for name, peer in PEERS.items() if importlib.util.find_spec(peer.package)]
    print("left out, not installed:", ", ".join(sorted(set(PEERS) - set(names))) or "none", "\n")
    print("| who | s | peak MB | row added: moved | shuffled: moved | on edges: wrong | attribute missing: wrong |")
    print("|---|---|---|---|---|---|---|")
    base = run_process([sys.executable, "-c", f"import benchmarks.validation as v; v.points_of({N_POINTS})"])
    points = points_of(N_SMALL)
    for name in names:
        work = PEERS[name].work
        whole = run_process([sys.executable, "-m", "benchmarks.validation", name, str(N_POINTS)])
        print(
            f"| {name} | {float(whole.output):.2f} | {whole.peak_mb:,.0f} | {row_added(work, points)} | "
            f"{rows_shuffled(work, points)} | {on_edges(work)} | {attribute_missing(work, points)} |"
        )
    print(f"\nOnly making the points: {base.peak_mb:,.0f} MB")
    print(
        "\nA block on the ground at 60° N:", "; ".join(f"{who}: {size}" for who, size in ground_at_60_north().items())
    )
    print(
        "\nA record 200 m away across 180°, buffer 1 km:",
        "; ".join(f"{who}: {fate}" for who, fate in across_180().items()),
    )


if __name__ == "__main__":
    main()
