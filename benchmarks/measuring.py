"""How the benchmarks measure: contestants in turn, in one run, on the same data, and a table of medians and ratios.

Every contestant gives an answer, and the answers are compared before any time is shown.
"""

from __future__ import annotations

import datetime as dt
import os
import platform
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from typing import Any


@dataclass
class Contestant:
    """Somebody who does the work: a function, and the share of the data that it is given (slow peers get less)."""

    name: str
    work: Callable[[], Any]
    share: float = 1.0
    rounds: int | None = None
    seconds: list[float] = field(default_factory=list)
    peak_mb: list[float] = field(default_factory=list)

    @property
    def median(self) -> float:
        """Seconds for the whole data: measured ones, scaled up where only a share was given."""
        return statistics.median(self.seconds) / self.share


def alternate(contestants: Sequence[Contestant], rounds: int) -> dict[str, Any]:
    """Run the contestants in turn, and give the last answer of each."""
    answers: dict[str, Any] = {}
    for round_number in range(rounds):
        for contestant in contestants:
            if round_number < (contestant.rounds or rounds):
                start = time.perf_counter()
                answers[contestant.name] = contestant.work()
                contestant.seconds.append(time.perf_counter() - start)
    return answers


def table(title: str, contestants: Sequence[Contestant]) -> None:
    """Print medians, and how often the first contestant fits into each."""
    ours = contestants[0].median
    print(f"\n{title}\n")
    print(f"| {'who':<44} | median s | ratio | share of data | peak MB |\n|{'-' * 46}|---|---|---|---|")
    for contestant in contestants:
        peak = f"{max(contestant.peak_mb):,.0f}" if contestant.peak_mb else ""
        print(f"| {contestant.name:<44} | {contestant.median:.3f} | {contestant.median / ours:.1f} × | {contestant.share:g} | {peak} |")


@dataclass(frozen=True)
class Process:
    """What a whole process took."""

    seconds: float
    peak_mb: float
    output: str


def run_process(command: Sequence[str], *, env: Mapping[str, str] | None = None) -> Process:
    """Run a process to its end, with its own peak memory."""
    start = time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env={**os.environ, **(env or {})}) as process:
        assert process.stdout is not None
        output = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{' '.join(command[:4])} … failed with code {process.returncode}")
    return Process(time.perf_counter() - start, usage.ru_maxrss / 1024, output)


def process_contestant(name: str, command: Sequence[str], rounds: int | None = None) -> Contestant:
    """Make a contestant of a whole process, so that start-up and memory count."""
    contestant = Contestant(name, lambda: None, rounds=rounds)

    def work() -> str:
        done = run_process(command)
        contestant.peak_mb.append(done.peak_mb)
        return done.output

    contestant.work = work
    return contestant


def machine() -> str:
    """Describe where and with what this was measured."""
    names = ("spatialsplit", "numpy", "scipy", "pyarrow", "pyproj", "geopandas", "scikit-learn", "verde")
    versions = []
    for name in names:
        try:
            versions.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            versions.append(f"{name} not installed")
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return f"{dt.date.today().isoformat()}, {cores} cores, {platform.machine()}, Python {platform.python_version()}; {', '.join(versions)}"


def own_peak_mb() -> float:
    """Give this process's peak memory so far."""
    scale = 1024 if sys.platform != "darwin" else 1024 * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / scale
