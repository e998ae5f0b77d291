"""Values at points of a large raster: ours, rasterio's `sample`, and reading it whole, side by side.

    python benchmarks/rasters.py [--points 1000000] [--size 20000] [--keep FOLDER]

Each way runs in a process of its own, so its peak memory is its own; all must give the same values. `sample` takes the
points as they come, and sorted by block beforehand, which is its best case and is not timed.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import rasterio
from rasterio.windows import Window

from spatialsplit.rasters import raster_values

TILE = 256
WAYS = {
    "ours": "spatialsplit.rasters.raster_values",
    "whole": "whole array, then its pixels",
    "sample": "rasterio sample, as they come",
    "sample_sorted": "rasterio sample, sorted by block",
}


def make_raster(path: Path, size: int) -> None:
    """Write a smooth float raster with noise, tiled and compressed, as climate rasters are."""
    rng = np.random.default_rng(0)
    transform = rasterio.Affine(10 / size, 0, 5, 0, -10 / size, 55)
    profile = {"driver": "GTiff", "width": size, "height": size, "count": 1, "dtype": "float32", "nodata": -9999}
    tiles = {"tiled": True, "blockxsize": TILE, "blockysize": TILE, "compress": "deflate", "crs": "EPSG:4326"}
    with rasterio.open(path, "w", transform=transform, **profile, **tiles) as file:
        for top in range(0, size, TILE):
            height = min(TILE, size - top)
            row, column = np.mgrid[top : top + height, 0:size]
            values = np.round(20 + 10 * np.sin(row / 900) + 5 * np.cos(column / 700) + rng.normal(0, 0.2, row.shape), 1)
            file.write(values.astype("float32"), 1, window=Window(0, top, size, height))


def points(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Scatter points over the raster, 2 % of them beside it."""
    rng = np.random.default_rng(1)
    return rng.uniform(4.9, 15.1, n), rng.uniform(44.9, 55.1, n)


def ours(path: Path, lon: np.ndarray, lat: np.ndarray) -> np.ndarray:
    return raster_values(path, lon, lat).as_floats(0)


def whole(path: Path, lon: np.ndarray, lat: np.ndarray) -> np.ndarray:
    with rasterio.open(path) as dataset:
        array, inverse = dataset.read(1), ~dataset.transform
    row, column = (np.floor(each).astype(int) for each in (inverse.e * lat + inverse.f, inverse.a * lon + inverse.c))
    inside = (row >= 0) & (row < len(array)) & (column >= 0) & (column < len(array))
    found = np.full(len(lon), np.nan)
    found[inside] = array[row[inside], column[inside]]
    return np.where(found == -9999, np.nan, found)


def sample(path: Path, lon: np.ndarray, lat: np.ndarray) -> np.ndarray:
    with rasterio.open(path) as dataset:
        found = np.array([value[0] for value in dataset.sample(np.column_stack([lon, lat]), masked=True)], dtype=object)
    return np.array([np.nan if value is np.ma.masked else value for value in found], dtype=float)


def run(way: str, path: Path, n: int) -> None:
    """Do one way and print its seconds, its peak memory and a sum of its values."""
    lon, lat = points(n)
    if way == "sample_sorted":
        side = TILE * 10 / 20_000
        order = np.lexsort((lon, np.floor(lon / side), np.floor(lat / side)))
        lon, lat = lon[order], lat[order]
    begin = time.perf_counter()
    found = {"ours": ours, "whole": whole}.get(way, sample)(path, lon, lat)
    seconds = time.perf_counter() - begin
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps([seconds, peak, round(float(np.nansum(found)), 2), int(np.isnan(found).sum())]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--points", type=int, default=1_000_000)
    parser.add_argument("--size", type=int, default=20_000)
    parser.add_argument("--keep", type=Path, help="folder for the raster, which is used again")
    parser.add_argument("--way", choices=WAYS, help=argparse.SUPPRESS)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        path = (given.keep or Path(temporary)) / f"raster_{given.size}.tif"
        if given.way:
            run(given.way, path, given.points)
            return
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            make_raster(path, given.size)
        print(
            f"{given.points:,} points, {given.size:,} x {given.size:,} float32, {path.stat().st_size / 2**20:,.0f} MB"
        )
        print(f"{'way':<40}{'seconds':>9}{'peak MB':>9}{'missing':>9}{'sum':>16}")
        for way, words in WAYS.items():
            command = [sys.executable, __file__, "--way", way, "--keep", str(path.parent)]
            command += ["--points", str(given.points), "--size", str(given.size)]
            result = subprocess.run(command, capture_output=True, text=True, check=True)
            seconds, peak, total, missing = json.loads(result.stdout)
            print(f"{words:<40}{seconds:>9.1f}{peak:>9.0f}{missing:>9,}{total:>16,.2f}", flush=True)


if __name__ == "__main__":
    main()
