"""A build that is stopped at any moment leaves the old dataset or the new one, never half of one."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from spatialsplit.build import BuildOptions, build_dataset
from spatialsplit.manifest import verify_dataset
from tests.test_build import contents

N_KILLS = 20


def start_build(recipe: Path, target: Path) -> subprocess.Popen[bytes]:
    """Start a build in a process of its own."""
    command = [sys.executable, "-m", "spatialsplit", "build", str(recipe), "--out", str(target), "--force"]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


@pytest.fixture
def old_and_new(flora: Path, tmp_path: Path) -> tuple[Path, Path, dict[str, bytes], dict[str, bytes]]:
    """Make a published dataset, and the recipe of another one: recipe, target, the old files, the new ones."""
    for name in ("pa.csv", "po.csv"):
        (tmp_path / name).write_bytes((flora / name).read_bytes())
    old, new = tmp_path / "old.toml", tmp_path / "new.toml"
    old.write_text((flora / "recipe.toml").read_text())
    new.write_text((flora / "recipe.toml").read_text().replace("radius_m = 300", "radius_m = 900"))
    target = tmp_path / "there" / "dataset"
    build_dataset(old, target)
    return new, target, contents(target), contents(build_dataset(new, tmp_path / "elsewhere").folder)


def test_a_build_killed_at_any_moment_leaves_a_whole_dataset(
    old_and_new: tuple[Path, Path, dict[str, bytes], dict[str, bytes]],
) -> None:
    """Twenty builds are killed, the first early, the last at their end; each time the folder is one of the two."""
    recipe, target, old, new = old_and_new
    started = time.perf_counter()
    start_build(recipe, target).communicate()
    whole = time.perf_counter() - started
    draw = random.Random(20)
    for kill in range(N_KILLS):
        build_dataset(recipe.parent / "old.toml", target, BuildOptions(force=True))
        process = start_build(recipe, target)
        time.sleep(whole * (0.1 + 0.95 * (kill + draw.random()) / N_KILLS))
        process.kill()
        process.communicate()
        assert contents(target) in (old, new)
        assert verify_dataset(target) == []
    build_dataset(recipe, target, BuildOptions(force=True))
    assert [path.name for path in target.parent.iterdir() if path.is_dir()] == ["dataset"]


def test_control_c_leaves_nothing_half_written(
    old_and_new: tuple[Path, Path, dict[str, bytes], dict[str, bytes]],
) -> None:
    """An interrupt ends with code 130 and one line; the old dataset stays and no leftover remains."""
    recipe, target, old, new = old_and_new
    process = start_build(recipe, target)
    while not (target.parent / ".dataset.building").exists():
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate()
    assert contents(target) in (old, new)
    if process.returncode:
        assert process.returncode == 130
        assert b"Traceback" not in said
        assert contents(target) == old
    assert [path.name for path in target.parent.iterdir() if path.is_dir()] == ["dataset"]


def test_of_two_builds_into_one_folder_one_wins_and_the_other_says_so(
    old_and_new: tuple[Path, Path, dict[str, bytes], dict[str, bytes]],
) -> None:
    """While the first is writing, the second is refused, in one line; the first publishes."""
    recipe, target, _, new = old_and_new
    refused: list[tuple[int, bytes]] = []

    def meanwhile(step: str) -> None:
        if step == "write":
            second = start_build(recipe, target)
            said = second.communicate()[1]
            refused.append((second.returncode, said))

    build_dataset(recipe, target, BuildOptions(force=True, on_step=meanwhile))
    ((code, said),) = refused
    assert code == 1
    assert said.startswith(b"Another build is writing")
    assert said.count(b"\n") == 1
    assert contents(target) == new
