"""What a person sees while a large table is worked on: a bar on a terminal, nothing in a pipe."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress

OnProgress = Callable[[int, float], None]


@contextmanager
def progress_bar(what: str) -> Iterator[OnProgress]:
    """Show rows, rate and time left on stderr, where that is a terminal.

    Yields a function to be told how many rows are done, and which fraction of all work that is.
    """
    if not sys.stderr.isatty():
        yield lambda rows, fraction: None
        return
    with _bar() as progress:
        yield _Bar(progress, what).rows


class BuildProgress:
    """What a person sees of a build; this one shows nothing."""

    def step(self, name: str) -> None:
        """Be told that a part begins."""

    def rows(self, rows: int, fraction: float) -> None:
        """Be told how many rows are done."""

    def done(self, name: str, seconds: float, counted: str) -> None:
        """Be told that a part is done."""


@contextmanager
def build_progress() -> Iterator[BuildProgress]:
    """Show on stderr, where that is a terminal, each part of a build: a bar, then its time and what it counted."""
    if not sys.stderr.isatty():
        yield BuildProgress()
        return
    with _bar() as progress:
        yield _Parts(progress)


PARTS = {
    "read": "reading",
    "draw": "drawing",
    "filter": "filtering",
    "write": "writing",
    "audit": "auditing",
    "report": "reporting",
}


class _Bar:
    """One bar of rich."""

    def __init__(self, progress: Progress, what: str):
        self.progress = progress
        self.task = progress.add_task(what, total=1.0, counted="")

    def rows(self, rows: int, fraction: float) -> None:
        elapsed = self.progress.tasks[self.task].elapsed or 0.0
        counted = f"{rows:,} rows, {rows / elapsed if elapsed else 0:,.0f}/s"
        self.progress.update(self.task, total=1.0, completed=fraction, counted=counted)


class _Parts(BuildProgress):
    """A line for each part that is done, and a bar for the one at work."""

    def __init__(self, progress: Progress):
        self.bar = _Bar(progress, "reading recipe")

    def step(self, name: str) -> None:
        self.bar.progress.reset(self.bar.task, total=None, description=PARTS.get(name, name), counted="")

    def rows(self, rows: int, fraction: float) -> None:
        self.bar.rows(rows, fraction)

    def done(self, name: str, seconds: float, counted: str) -> None:
        self.bar.progress.console.print(f"{name:<8}{seconds:>8.1f} s  {counted}", markup=False, highlight=False)


def _bar() -> Progress:
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        Progress,
        TaskProgressColumn,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TextColumn("{task.fields[counted]}", markup=False),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    return Progress(*columns, console=Console(stderr=True), transient=True)
