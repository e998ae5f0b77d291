"""A whole build of 5 million presence-only and 1.5 million presence-absence rows, CSV to CSV, and its audit.

The bars: the build at most 2.5 times what pyarrow takes to read and write the same files, at most 1.5 GB; the audit
at most 30 s more, at most
1.5 GB. Then 50 million rows from Parquet to Parquet: memory within 10 % of that for 5 million, time at most 10.5 times.
"""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet

from benchmarks.filter_process import write_inputs
from benchmarks.measuring import Contestant, alternate, process_contestant, run_process, table
from spatialsplit.synthetic import write_virtual_flora

N_SURVEYS, N_PO = 60_000, 5_000_000

READ_AND_WRITE = """
import sys
import pyarrow.csv
for name in ("pa", "po"):
    pyarrow.csv.write_csv(pyarrow.csv.read_csv(f"{sys.argv[1]}/{name}.csv"), f"{sys.argv[2]}/{name}.csv")
"""

NAIVE = """
import sys
import numpy as np
import pandas as pd
import pyproj
from scipy.spatial import cKDTree

folder, out = sys.argv[1:]
pa, po = pd.read_csv(f"{folder}/pa.csv"), pd.read_csv(f"{folder}/po.csv")
project = pyproj.Transformer.from_crs(4326, 3035, always_xy=True)
pa["x"], pa["y"] = project.transform(pa.lon, pa.lat)
pa["quadrat"] = (pa.x // 5000).astype(int).astype(str) + "_" + (pa.y // 5000).astype(int).astype(str)
quadrats = pa.quadrat.unique()
np.random.seed(1)
test = set(np.random.permutation(quadrats)[: int(0.025 * len(quadrats))])
in_test = pa.quadrat.isin(test)
tree = cKDTree(pa.loc[in_test, ["x", "y"]].drop_duplicates())
x, y = project.transform(po.lon, po.lat)
near = np.isfinite(tree.query(np.column_stack([x, y]), distance_upper_bound=300, workers=2)[0])
po[~near].to_csv(f"{out}/po_train.csv", index=False)
pa[~in_test].drop(columns=["x", "y", "quadrat"]).to_csv(f"{out}/pa_train.csv", index=False)
truth = pa[in_test].groupby(["patchID", "dayOfYear"]).speciesId.agg(lambda s: " ".join(map(str, sorted(s))))
truth.to_csv(f"{out}/solution.csv")
"""


def main() -> None:
    """Run the build beside pyarrow and a script, then the large table."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        whole_build(folder)
        shutil.rmtree(folder / "flora")
        growing_table(folder)


def whole_build(folder: Path) -> None:
    """Build, and read and write the same files, in turn."""
    write_virtual_flora(folder / "flora", n_surveys=N_SURVEYS, n_po=N_PO, seed="benchmark")
    (folder / "theirs").mkdir()
    parts: list[dict[str, float]] = []
    command = [
        sys.executable,
        "-m",
        "spatialsplit",
        "build",
        str(folder / "flora" / "recipe.toml"),
        "--out",
        str(folder / "d"),
        "--force",
    ]
    build = Contestant("spatialsplit build, without its audit", lambda: None)
    audit = Contestant("the audit of the build", lambda: None)

    def work() -> None:
        done = run_process(command)
        build.peak_mb.append(done.peak_mb)
        parts.append(json.loads((folder / "d" / "run.json").read_text())["seconds"])

    build.work = work
    words = (str(folder / "flora"), str(folder / "theirs"))
    arrow = process_contestant(
        "pyarrow reads and writes the same files", [sys.executable, "-c", READ_AND_WRITE, *words]
    )
    naive = process_contestant(
        "a script with pandas, pyproj and cKDTree", [sys.executable, "-c", NAIVE, *words], rounds=1
    )
    alone = process_contestant(
        "spatialsplit audit, alone", [sys.executable, "-m", "spatialsplit", "audit", str(folder / "d")]
    )
    alternate([build, arrow, alone, naive], 3)
    build.seconds = [sum(value for name, value in seconds.items() if name != "audit") for seconds in parts]
    audit.seconds = [seconds["audit"] for seconds in parts]
    table(
        f"Build of {N_PO:,} presence-only records and {N_SURVEYS:,} surveys, CSV to CSV",
        [build, arrow, audit, alone, naive],
    )
    print(f"\nparts of the last build, seconds: {parts[-1]}")


def growing_table(folder: Path) -> None:
    """Filter 5 million rows and ten times as many, from Parquet to Parquet."""
    write_inputs(folder)
    rows = pyarrow.parquet.read_table(folder / "po.parquet")
    (folder / "many").mkdir()
    for part in range(10):
        glc_id = pa.array(np.arange(len(rows)) + part * len(rows))
        pyarrow.parquet.write_table(rows.set_column(0, "glcID", glc_id), folder / "many" / f"{part:06d}.parquet")
    contestants = []
    for name, source in (("5 million rows", "po.parquet"), ("50 million rows", "many")):
        command = [
            sys.executable,
            "-m",
            "spatialsplit",
            "filter-po",
            str(folder / source),
            "--sites",
            str(folder / "sites.parquet"),
        ]
        contestants.append(
            process_contestant(name, [*command, "--radius", "500", "--out", str(folder / "kept.parquet")])
        )
    alternate(contestants, 2)
    table("filter-po, Parquet to Parquet", contestants)
    few, many = contestants
    print(f"\nmemory {max(many.peak_mb) / max(few.peak_mb):.2f} ×, time {many.median / few.median:.1f} ×")


if __name__ == "__main__":
    main()
