"""The old dataset or the new one, never half of one."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from spatialsplit import publishing
from spatialsplit.errors import OutputError
from spatialsplit.publishing import check_target, new_files, new_folder

LINGERING = """
import sys
from pathlib import Path
from spatialsplit.publishing import new_folder

with new_folder(Path(sys.argv[1]), force=True) as working:
    (working / "manifest.json").write_text("x")
    print("in", flush=True)
    input()
"""
"""A build in a process of its own, which waits in the middle of its work."""


def lingering_build(target: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", LINGERING, str(target)]
    other = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert other.stdout
    assert other.stdout.readline() == "in\n"
    return other


def publish(target: Path, text: str, *, force: bool = False) -> None:
    with new_folder(target, force=force) as working:
        (working / "manifest.json").write_text(text)
        (working / "public").mkdir()
        (working / "public" / "a.csv").write_text(text)


def content(target: Path) -> str:
    texts = {(target / name).read_text() for name in ("manifest.json", "public/a.csv")}
    (text,) = texts
    return text


def beside(target: Path) -> list[str]:
    return sorted(path.name for path in target.parent.iterdir() if path != target)


def test_a_folder_is_there_when_all_is_written_and_not_before(tmp_path: Path) -> None:
    """And nothing is left beside it."""
    with new_folder(tmp_path / "out") as working:
        assert not (tmp_path / "out").exists()
        (working / "manifest.json").write_text("{}")
    assert (tmp_path / "out" / "manifest.json").exists()
    assert beside(tmp_path / "out") == []


def test_missing_parents_are_made(tmp_path: Path) -> None:
    """An output may lie where nothing is yet."""
    publish(tmp_path / "a" / "b" / "out", "1")
    assert content(tmp_path / "a" / "b" / "out") == "1"


def test_an_existing_folder_is_refused_without_force(tmp_path: Path) -> None:
    """Before any work; it stays as it was."""
    publish(tmp_path / "out", "1")
    with pytest.raises(OutputError, match=r"out exists\. It is never overwritten by itself\. .* say --force"):
        publish(tmp_path / "out", "2")
    assert content(tmp_path / "out") == "1"


def test_an_empty_folder_is_taken(tmp_path: Path) -> None:
    """Nothing is lost by it."""
    (tmp_path / "out").mkdir()
    publish(tmp_path / "out", "1")
    assert content(tmp_path / "out") == "1"


def test_force_replaces_one_of_ours_and_nothing_else(tmp_path: Path) -> None:
    """A folder without a manifest is somebody's own."""
    publish(tmp_path / "out", "1")
    publish(tmp_path / "out", "2", force=True)
    assert (content(tmp_path / "out"), beside(tmp_path / "out")) == ("2", [])
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "thesis.tex").write_text("x")
    with pytest.raises(OutputError, match=r"holds no manifest\.json, so it is not one of ours"):
        publish(tmp_path / "home", "3", force=True)


def test_a_file_in_the_way_is_refused(tmp_path: Path) -> None:
    """An output is a folder."""
    (tmp_path / "out").write_text("x")
    with pytest.raises(OutputError, match=r"out is a file\. An output is a folder"):
        publish(tmp_path / "out", "1", force=True)


def test_an_error_in_the_block_leaves_the_old_one(tmp_path: Path) -> None:
    """Whatever goes wrong; the half-written folder goes."""
    publish(tmp_path / "out", "1")
    with pytest.raises(AttributeError, match="no_text"), new_folder(tmp_path / "out", force=True) as working:
        (working / "manifest.json").write_text(working.no_text)  # type: ignore[attr-defined]
    assert (content(tmp_path / "out"), beside(tmp_path / "out")) == ("1", [])


def test_a_full_disk_is_one_line(tmp_path: Path) -> None:
    """What failed, that the old one is as it was, and what to do."""
    publish(tmp_path / "out", "1")
    with (
        pytest.raises(
            OutputError, match=r"Writing failed: No space left on device \(a\.csv\)\. out is as it was before"
        ),
        new_folder(tmp_path / "out", force=True),
    ):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(tmp_path / "a.csv"))
    assert content(tmp_path / "out") == "1"


def test_a_linked_folder_stays_linked(tmp_path: Path) -> None:
    """The folder that the link leads to is replaced, and no old data is left anywhere."""
    publish(tmp_path / "disk" / "real", "1")
    (tmp_path / "out").symlink_to(tmp_path / "disk" / "real")
    publish(tmp_path / "out", "2", force=True)
    assert (tmp_path / "out").is_symlink()
    assert (content(tmp_path / "disk" / "real"), beside(tmp_path / "disk" / "real")) == ("2", [])
    (tmp_path / "new").symlink_to(tmp_path / "disk" / "nothing yet")
    publish(tmp_path / "new", "3")
    assert content(tmp_path / "disk" / "nothing yet") == "3"


@pytest.mark.parametrize("place", ["file/out", "/proc/self/nothing/out"])
def test_where_nothing_can_be_written_is_told(place: str, tmp_path: Path) -> None:
    """Below a file, or in a folder that takes none."""
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match=r"Cannot (write to|look into) "):
        publish(tmp_path / place, "1")


def test_two_builds_into_one_folder_are_refused(tmp_path: Path) -> None:
    """The second one is told, and the first one ends well; also from another process."""
    other = lingering_build(tmp_path / "out")
    with pytest.raises(OutputError, match=r"Another build is writing .*out\. One build at a time"):
        publish(tmp_path / "out", "1")
    other.communicate("\n")
    assert other.returncode == 0
    assert (tmp_path / "out" / "manifest.json").read_text() == "x"
    publish(tmp_path / "out", "2", force=True)


def test_a_killed_build_leaves_the_old_one_and_the_next_clears_up(tmp_path: Path) -> None:
    """Killed while it writes, without a chance to clean."""
    publish(tmp_path / "out", "1")
    other = lingering_build(tmp_path / "out")
    other.kill()
    other.communicate()
    assert content(tmp_path / "out") == "1"
    assert ".out.building" in beside(tmp_path / "out")
    publish(tmp_path / "out", "2", force=True)
    assert (content(tmp_path / "out"), beside(tmp_path / "out")) == ("2", [])


def test_without_an_exchange_of_names_two_renames_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As on systems other than Linux."""
    monkeypatch.setattr(publishing, "_exchange_names", lambda one, other: False)
    publish(tmp_path / "out", "1")
    publish(tmp_path / "out", "2", force=True)
    assert (content(tmp_path / "out"), beside(tmp_path / "out")) == ("2", [])


def test_an_old_dataset_caught_between_two_renames_comes_back(tmp_path: Path) -> None:
    """The next build brings it back before anything else, though that build itself fails."""
    publish(tmp_path / "out", "1")
    (tmp_path / "out").rename(tmp_path / ".out.old")
    with pytest.raises(ZeroDivisionError, match="x"), new_folder(tmp_path / "out"):
        raise ZeroDivisionError("x")
    assert content(tmp_path / "out") == "1"


def test_a_second_rename_that_fails_is_undone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The old dataset is put back."""
    monkeypatch.setattr(publishing, "_exchange_names", lambda one, other: False)
    publish(tmp_path / "out", "1")
    rename = Path.rename

    def fail_for_new(self: Path, target: Path) -> Path:
        if self.name.endswith(".building"):
            raise OSError(errno.EIO, os.strerror(errno.EIO), str(self))
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", fail_for_new)
    with pytest.raises(OutputError, match="Writing failed: Input/output error"):
        publish(tmp_path / "out", "2", force=True)
    assert content(tmp_path / "out") == "1"


def test_checking_a_target_changes_nothing(tmp_path: Path) -> None:
    """A build looks before it begins."""
    check_target(tmp_path / "out", force=False, replaces="manifest.json")
    assert list(tmp_path.iterdir()) == []


class TestFiles:
    """Step commands write files the same way."""

    def test_a_file_is_there_when_all_is_written(self, tmp_path: Path) -> None:
        """In the place of the old one, with its parents made."""
        target = tmp_path / "a" / "out.csv"
        for text in ("1", "2"):
            with new_files(target) as (part,):
                part.write_text(text)
                assert not target.exists() or target.read_text() == "1"
            assert target.read_text() == text
        assert beside(target) == []

    def test_an_error_leaves_the_old_file_and_no_part(self, tmp_path: Path) -> None:
        """For each of several."""
        one, two = tmp_path / "one.csv", tmp_path / "two.csv"
        one.write_text("old")
        with pytest.raises(IndexError, match="out of range"), new_files(one, two) as parts:
            [parts[i].write_text("new") for i in range(3)]
        assert [path.name for path in tmp_path.iterdir()] == ["one.csv"]
        assert one.read_text() == "old"

    def test_two_writers_of_one_file_do_not_write_into_each_other(self, tmp_path: Path) -> None:
        """The last one wins, whole."""
        target = tmp_path / "out.csv"
        with new_files(target) as (one,), new_files(target) as (other,):
            one.write_text("one")
            other.write_text("other")
        assert target.read_text() == "one"
        assert beside(target) == []

    def test_what_a_killed_writer_left_is_cleared(self, tmp_path: Path) -> None:
        """By the next one on the same machine; what a living one writes stays, and other files do."""
        target = tmp_path / "out.csv"
        with new_files(target) as (part,):
            part.write_text("")
            own = str(os.getpid())
            left, living = part.name.replace(own, "999999999"), part.name.replace(own, str(os.getppid()))
            for name in (left, living, ".out.other-1-1.part.csv", ".out.csv"):
                (tmp_path / name).write_text("x")
        with new_files(target) as (part,):
            part.write_text("new")
        assert not (tmp_path / left).exists()
        assert {path.name for path in tmp_path.iterdir()} == {living, ".out.other-1-1.part.csv", ".out.csv", "out.csv"}

    def test_a_missing_target_has_no_part(self, tmp_path: Path) -> None:
        """An optional output."""
        with new_files(tmp_path / "out.csv", None) as parts:
            assert len(parts) == 1
            parts[0].write_text("x")

    def test_a_folder_in_the_way_is_refused(self, tmp_path: Path) -> None:
        """An output of a step is a file."""
        (tmp_path / "out").mkdir()
        with pytest.raises(OutputError, match=r"out is a folder\. An output is a file"), new_files(tmp_path / "out"):
            pass

    @pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="There are no named pipes on this system.")
    def test_a_pipe_or_a_device_is_not_replaced_by_a_file(self, tmp_path: Path) -> None:
        """Whoever may write into /dev would else lose /dev/null for everybody, or the link that standard output is."""
        os.mkfifo(tmp_path / "pipe")
        (tmp_path / "null").symlink_to("/dev/null")
        for target in (tmp_path / "pipe", tmp_path / "null", Path("/dev/no such device")):
            with pytest.raises(OutputError, match="is a device or a pipe"), new_files(target) as (part,):
                part.write_text("")
        assert (tmp_path / "pipe").is_fifo()
        assert (tmp_path / "null").is_symlink()

    def test_one_file_for_two_outputs_is_refused(self, tmp_path: Path) -> None:
        """However it is spelled."""
        (tmp_path / "link").symlink_to(tmp_path)
        with (
            pytest.raises(OutputError, match="Two outputs are one file"),
            new_files(tmp_path / "a.csv", tmp_path / "link" / "a.csv"),
        ):
            pass

    def test_a_place_below_a_file_is_told(self, tmp_path: Path) -> None:
        """And not hidden by what fails after it."""
        (tmp_path / "file").write_text("")
        with (
            pytest.raises(OutputError, match=r"Writing out\.csv failed: (File exists|Not a directory)"),
            new_files(tmp_path / "file" / "out.csv"),
        ):
            pass


def test_the_lock_goes_with_the_build(tmp_path: Path) -> None:
    """Nothing is left of it, and one that was left does not stop anybody."""
    (tmp_path / ".out.lock").write_text("")
    os.utime(tmp_path / ".out.lock", (time.time() - 10, time.time() - 10))
    publish(tmp_path / "out", "1")
    assert beside(tmp_path / "out") == []
