"""What a person sees while a large table is worked on: a bar on a terminal, nothing in a pipe."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

OnProgress = Callable[[int, float], None]


@contextmanager
def progress_bar(what: str) -> Iterator[OnProgress]:
    """Show rows, rate and time left on stderr, where that is a terminal.

    Yields a function to be told how many rows are done, and which fraction of all work that is.
    """
    if not sys.stderr.isatty():
        yield lambda rows, fraction: None
        return
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
        TextColumn("{task.fields[rows]:>13,} rows"),
        TextColumn("{task.fields[rate]:>11,.0f} rows/s"),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(what, total=1.0, rows=0, rate=0.0)

        def on_progress(rows: int, fraction: float) -> None:
            elapsed = progress.tasks[task].elapsed or 0.0
            progress.update(task, completed=fraction, rows=rows, rate=rows / elapsed if elapsed else 0.0)

        yield on_progress
