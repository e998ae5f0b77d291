"""`filter-po` as a whole process on 5 million records in Parquet, beside the script that somebody would write.

The bar: at least 3 times the script, which reads, asks cKDTree (earth-centred, both cores) and writes.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet

from benchmarks.measuring import alternate, process_contestant, table
from benchmarks.po_filter import N_RECORDS, N_SITES, RADIUS_M, places

SCRIPT = """
import sys
import numpy as np
import pandas as pd
from scipy.spatial import cKDTree

def earth_centred(lon, lat):
    phi, lam = np.radians(lat), np.radians(lon)
    normal = 6378137.0 / np.sqrt(1 - 0.0066943799901413165 * np.sin(phi) ** 2)
    flat = normal * np.cos(phi)
    return np.column_stack([flat * np.cos(lam), flat * np.sin(lam), normal * 0.9933056200098587 * np.sin(phi)])

po, sites, out, radius = sys.argv[1:]
po, sites = pd.read_parquet(po), pd.read_parquet(sites)
tree = cKDTree(earth_centred(sites.lon.to_numpy(), sites.lat.to_numpy()))
points = earth_centred(po.lon.to_numpy(), po.lat.to_numpy())
chord, _ = tree.query(points, distance_upper_bound=float(radius), workers=2)
po[~np.isfinite(chord)].to_parquet(out)
"""


def write_inputs(folder: Path) -> None:
    """Write records and sites with the columns of GeoLifeCLEF's tables."""
    generator = np.random.default_rng(4)
    lon, lat = places(generator, N_RECORDS)
    columns = {
        "glcID": np.arange(N_RECORDS),
        "date": np.datetime64("2017-01-01") + generator.integers(0, 1800, N_RECORDS).astype("timedelta64[D]"),
        "lon": lon,
        "lat": lat,
        "geoUncertaintyInM": generator.integers(0, 100, N_RECORDS).astype(float),
        "speciesId": generator.integers(0, 10_000, N_RECORDS),
    }
    pyarrow.parquet.write_table(pa.table(columns), folder / "po.parquet")
    site_lon, site_lat = places(generator, N_SITES)
    pyarrow.parquet.write_table(
        pa.table({"surveyId": np.arange(N_SITES), "lon": site_lon, "lat": site_lat}), folder / "sites.parquet"
    )


def main() -> None:
    """Run the command and the script in turn and compare what they keep."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_inputs(folder)
        po, sites = (str(folder / f"{part}.parquet") for part in ("po", "sites"))
        ours, theirs = str(folder / "ours.parquet"), str(folder / "theirs.parquet")
        command = [
            sys.executable,
            "-m",
            "spatialsplit",
            "filter-po",
            po,
            "--sites",
            sites,
            "--radius",
            f"{RADIUS_M:g}",
            "--out",
            ours,
        ]
        contestants = [
            process_contestant("spatialsplit filter-po", command),
            process_contestant(
                "pandas + cKDTree script", [sys.executable, "-c", SCRIPT, po, sites, theirs, f"{RADIUS_M:g}"]
            ),
        ]
        alternate(contestants, 5)
        kept = [
            set(pyarrow.parquet.read_table(path, columns=["glcID"])["glcID"].to_pylist()) for path in (ours, theirs)
        ]
        table(
            f"filter-po as a process, {N_RECORDS:,} records in Parquet: {N_RECORDS - len(kept[0]):,} removed",
            contestants,
        )
        print(f"\nThe script decides {len(kept[0] ^ kept[1])} records by the chord otherwise than the geodesic.")


if __name__ == "__main__":
    main()
