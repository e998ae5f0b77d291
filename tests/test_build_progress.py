"""What a person sees of a build: each part with its time and counts on a terminal, tables to paste at the end."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest

from spatialsplit.build import BuildReport
from spatialsplit.cli.progress import PARTS, _Bar, _bar
from spatialsplit.cli.summary import markdown, summary


def run_build(flora: Path, out: Path, *, terminal: bool) -> tuple[str, str]:
    """Build in a process of its own; give standard output and what stood on standard error, a terminal or a pipe."""
    command = [sys.executable, "-m", "spatialsplit", "build", str(flora / "recipe.toml"), "--out", str(out)]
    if not terminal:
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        return done.stdout, done.stderr
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=theirs, env={**os.environ, "TERM": "xterm"}
    ) as process:
        os.close(theirs)
        seen = b""
        while True:
            try:
                seen += os.read(ours, 4096)
            except OSError:  # the other end is closed
                break
        printed = process.communicate()[0].decode()
    os.close(ours)
    assert process.returncode == 0
    return printed, re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", seen.decode()).replace("\r", "\n")


@pytest.mark.skipif(sys.platform == "win32", reason="There is no pseudo-terminal to look at.")
def test_on_a_terminal_each_part_ends_in_its_time_and_counts(flora: Path, tmp_path: Path) -> None:
    """In their order, with what was counted; the results stay on standard output."""
    printed, seen = run_build(flora, tmp_path / "d", terminal=True)
    parts = re.findall(r"^(read|draw|filter|write|audit|report) +\d+\.\d s  (.+?) *$", seen, re.MULTILINE)
    assert [name for name, _ in parts] == ["read", "draw", "filter", "write", "audit", "report"]
    assert "600 surveys" in parts[0][1]
    assert printed.startswith("Published ")
    assert " s  " not in printed
    assert "…" not in seen, "The bar is wider than a terminal of 80 columns."


def test_a_bar_of_two_billion_rows_fits_80_columns() -> None:
    """Rows, rate and time left are whole, whatever part is at work."""
    with _bar() as progress:
        progress.console.width = 80
        bar = _Bar(progress, max(PARTS.values(), key=len))
        bar.rows(2_000_000_000, 0.5)
        progress.update(bar.task, counted="2,000,000,000 rows, 12,345,678/s")
        with progress.console.capture() as shown:
            progress.console.print(progress.make_tasks_table(progress.tasks))
    assert "2,000,000,000 rows, 12,345,678/s" in shown.get()
    assert "…" not in shown.get()


def test_in_a_pipe_there_is_no_bar_and_no_part(flora: Path, tmp_path: Path) -> None:
    """A log holds the warnings, and nothing that moves."""
    printed, seen = run_build(flora, tmp_path / "d", terminal=False)
    assert all(line.startswith("Warning: ") for line in seen.splitlines())
    assert printed.startswith("Published ")


def test_the_summary_is_markdown_that_can_be_pasted(built: BuildReport) -> None:
    """Three tables whose rows all have as many cells as their head; numbers are those of the manifest and the audit."""
    text = summary(built)
    tables = [part.splitlines() for part in text.split("\n\n") if part.startswith("| ")]
    assert [table[0].split(" ")[1] for table in tables] == ["file", "step", "subset"]
    for table in tables:
        assert len({line.count("|") for line in table}) == 1
        assert re.fullmatch(r"\|(:-+\||-+:\|)+", table[1])
        assert len({len(line) for line in table}) == 1
    for name, count in built.audit.facts["surveys"].items():
        assert re.search(rf"^\| {name} +\| +{count:,} \|", text, re.MULTILINE)
    median = built.audit.facts["nearest_train_m"]["median"]
    assert f"median {median:,.0f} m" in text


def test_a_cell_with_a_bar_breaks_no_table() -> None:
    """A reason or file may be called anything."""
    assert markdown(["file", "n"], [["x|y", 1]]).splitlines()[2] == "| x\\|y | 1 |"
