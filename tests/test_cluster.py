"""The same on a real Dask cluster of two worker processes: every output equals the local engine's."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow.csv
import pyarrow.parquet
import pytest

from spatialsplit.build import BuildOptions, BuildReport, build_dataset
from spatialsplit.cluster import Cluster, open_cluster
from spatialsplit.engine import Threads
from spatialsplit.errors import DataError
from spatialsplit.steps import FilterOutputs, SiteTable, filter_po_table
from tests.test_build import contents
from tests.test_steps import spatialsplit

if os.environ.get("CI") != "true":
    pytest.importorskip("distributed", reason="the extra spatialsplit[dask] is not installed")

pytestmark = pytest.mark.filterwarnings("default")  # Dask's own warnings are not ours to mend

N_FILES, GROUP_ROWS = 4, 250


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    """Two worker processes on this machine."""
    with open_cluster(workers=2) as running:
        yield running


@pytest.fixture(scope="module")
def partitioned(flora: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write the small flora with its presence-only records as a folder of Parquet files, some without an ending."""
    folder = tmp_path_factory.mktemp("partitioned")
    (folder / "pa.csv").write_bytes((flora / "pa.csv").read_bytes())
    (folder / "recipe.toml").write_text((flora / "recipe.toml").read_text().replace('"po.csv"', '"po"'))
    (folder / "po").mkdir()
    table = pyarrow.csv.read_csv(flora / "po.csv")
    rows = -(-len(table) // N_FILES)
    for i in range(N_FILES):
        name = f"{i:06d}" if i % 2 else f"{i:06d}.parquet"
        pyarrow.parquet.write_table(table.slice(i * rows, rows), folder / "po" / name, row_group_size=GROUP_ROWS)
    return folder


@pytest.fixture(scope="module")
def local(partitioned: Path, tmp_path_factory: pytest.TempPathFactory) -> BuildReport:
    """Build it with the local engine."""
    return build_dataset(partitioned / "recipe.toml", tmp_path_factory.mktemp("local") / "d")


def test_a_build_on_workers_gives_every_byte_of_the_local_one(
    cluster: Cluster, partitioned: Path, local: BuildReport, tmp_path: Path
) -> None:
    """Files, manifest and checksums are equal."""
    remote = build_dataset(partitioned / "recipe.toml", tmp_path / "d", BuildOptions(engine=cluster))
    assert contents(remote.folder) == contents(local.folder)


class _Killing(Cluster):
    """A cluster that loses a worker after its third result."""

    def map(self, function: Any, batches: Any) -> Iterator[Any]:
        """Kill one worker process in the middle, without a word."""
        for number, result in enumerate(super().map(function, batches)):
            if number == 3:
                pids = self.client.run(os.getpid)
                os.kill(next(iter(pids.values())), signal.SIGKILL)
            yield result


def test_a_build_ends_right_though_a_worker_is_killed(partitioned: Path, local: BuildReport, tmp_path: Path) -> None:
    """Its pieces are worked on again; nothing is lost and nothing is there twice."""
    with open_cluster(workers=2) as running:
        remote = build_dataset(
            partitioned / "recipe.toml", tmp_path / "d", BuildOptions(engine=_Killing(running.client))
        )
    assert contents(remote.folder) == contents(local.folder)


def test_csv_is_read_here_and_worked_on_there(
    cluster: Cluster, flora: Path, built: BuildReport, tmp_path: Path
) -> None:
    """Where workers cannot read pieces themselves, they are sent the rows."""
    remote = build_dataset(flora / "recipe.toml", tmp_path / "d", BuildOptions(engine=cluster, batch_bytes=50_000))
    assert contents(remote.folder) == contents(built.folder)


def test_faults_in_pieces_are_told_as_the_local_engine_tells_them(
    cluster: Cluster, partitioned: Path, tmp_path: Path
) -> None:
    """Counts, rows and values are the same."""
    for path in (partitioned / "po").iterdir():
        table = pyarrow.parquet.read_table(path)
        lat = table["lat"].to_numpy().copy()
        lat[7] = 91.0
        changed = table.set_column(table.schema.get_field_index("lat"), "lat", [lat])
        (tmp_path / "po").mkdir(exist_ok=True)
        pyarrow.parquet.write_table(changed, tmp_path / "po" / path.name, row_group_size=GROUP_ROWS)
    for name in ("pa.csv", "recipe.toml"):
        (tmp_path / name).write_bytes((partitioned / name).read_bytes())
    said = []
    for engine in (cluster, Threads(2)):
        with pytest.raises(DataError, match="Invalid latitude in 4 of 5,000 rows") as caught:
            build_dataset(tmp_path / "recipe.toml", tmp_path / "d", BuildOptions(engine=engine))
        said.append(str(caught.value))
    assert said[0] == said[1]


def test_filter_po_writes_a_folder_of_parts_like_the_local_engine(
    cluster: Cluster, partitioned: Path, local: BuildReport, tmp_path: Path
) -> None:
    """Each file becomes a file; all rows together are what one file would hold."""
    sites = SiteTable(local.folder / "public" / "PA_test_blind.csv")
    counts, tables = [], []
    for name, engine in (("there", cluster), ("here", Threads(2))):
        outputs = FilterOutputs(tmp_path / name / "kept", tmp_path / name / "removed")
        counts.append(filter_po_table(partitioned / "po", sites, 300, outputs, engine=engine))
        tables.append([pyarrow.parquet.read_table(path) for path in (outputs.kept, outputs.removed)])
        assert len(list(outputs.kept.glob("*.parquet"))) == N_FILES
    assert counts[0] == counts[1]
    assert all(there.equals(here) for there, here in zip(*tables, strict=True))
    whole = FilterOutputs(tmp_path / "kept.parquet", tmp_path / "removed.parquet")
    assert filter_po_table(partitioned / "po", sites, 300, whole, engine=cluster) == counts[0]
    assert pyarrow.parquet.read_table(whole.kept).equals(tables[0][0])


def test_the_command_line_starts_a_cluster_of_its_own(partitioned: Path, local: BuildReport, tmp_path: Path) -> None:
    """--engine dask builds the same dataset from the shell."""
    spatialsplit("build", partitioned / "recipe.toml", "--out", tmp_path / "d", "--engine", "dask", "--threads", 2)
    assert contents(tmp_path / "d") == contents(local.folder)


def test_the_command_line_uses_a_scheduler_that_is_there(
    cluster: Cluster, partitioned: Path, local: BuildReport, tmp_path: Path
) -> None:
    """--scheduler connects to a running cluster."""
    address = cluster.client.scheduler.address
    sites = local.folder / "public" / "PA_test_blind.csv"
    words = ("filter-po", partitioned / "po", "--sites", sites, "--radius", 300, "--out", tmp_path / "kept")
    spatialsplit(*words, "--engine", "dask", "--scheduler", address)
    assert (tmp_path / "kept" / "_SUCCESS").exists()


def test_a_scheduler_that_does_not_answer_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is said where nobody answered and what to do."""
    monkeypatch.setattr("spatialsplit.cluster.CONNECT_SECONDS", 1)
    with (
        pytest.raises(DataError, match=r"No Dask scheduler answers at tcp://127\.0\.0\.1:9"),
        open_cluster("tcp://127.0.0.1:9"),
    ):
        pass


def test_without_dask_the_cure_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """The extra is not needed for anything else."""
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(DataError, match=r"pip install 'spatialsplit\[dask\]'"), open_cluster():
        pass


@pytest.mark.parametrize("address", ["localhost", "tcp://10.0.0.1", "not an address:1", "", "tcp://:x"])
def test_an_ill_formed_address_is_refused_at_once(address: str) -> None:
    """Nobody is waited for where nobody can be."""
    with pytest.raises(DataError, match=r"Invalid scheduler .* an address with a port"), open_cluster(address):
        pass


def _refuse(batch: int) -> int:
    if batch == 3:
        raise DataError(f"Invalid batch {batch}.")
    return batch


def test_what_is_wrong_with_the_data_is_said_once_and_not_tried_again(
    cluster: Cluster, capfd: pytest.CaptureFixture[str]
) -> None:
    """No worker writes a log, and the results before it came."""
    results = cluster.map(_refuse, range(6))
    assert [next(results) for _ in range(3)] == [0, 1, 2]
    with pytest.raises(DataError, match="Invalid batch 3"):
        next(results)
    assert capfd.readouterr() == ("", "")


def test_ctrl_c_is_said_once_and_leaves_nothing(partitioned: Path, tmp_path: Path) -> None:
    """The workers do not see it: the process that started them ends them, without a traceback of each."""
    recipe = partitioned / "recipe.toml"
    words = [sys.executable, "-m", "spatialsplit", "build", recipe, "--out", tmp_path / "d", "--engine", "dask"]
    running = subprocess.Popen([*map(str, words), "--threads", "2"], stderr=subprocess.PIPE, text=True, process_group=0)
    assert running.stderr is not None
    time.sleep(6)  # in the midst of it, or a little before
    os.killpg(running.pid, signal.SIGINT)
    said = running.communicate(timeout=60)[1]
    assert "Traceback" not in said
    if running.returncode:  # else it was ready before
        assert len(said.strip().splitlines()) <= 2, said
        assert list(tmp_path.iterdir()) == []
