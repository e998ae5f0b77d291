"""How the benchmarks measure: contestants in turn, in one run, on the same data, and a table of medians and ratios.

Every contestant gives an answer, and the answers are compared before any time is shown.
"""

from __future__ import annotations

import datetime as dt
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
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
        print(
            f"| {contestant.name:<44} | {contestant.median:.3f} | {contestant.median / ours:.1f} × | "
            f"{contestant.share:g} | {peak} |"
        )


@dataclass(frozen=True)
class Process:
    """What a whole process took."""

    seconds: float
    peak_mb: float
    output: str


LAUNCHER = """
import json, os, sys, time
begin = time.perf_counter()
process = os.posix_spawnp(sys.argv[2], sys.argv[2:], os.environ)
_, status, usage = os.wait4(process, 0)
seconds, code = time.perf_counter() - begin, os.waitstatus_to_exitcode(status)
took = {"seconds": seconds, "peak_mb": usage.ru_maxrss / 1024, "code": code}
open(sys.argv[1], "w").write(json.dumps(took))
"""
"""A small process in between: a child's peak memory counts from that of the process it was split off."""


def run_process(command: Sequence[str]) -> Process:
    """Run a process to its end, with its own peak memory."""
    with tempfile.NamedTemporaryFile("r", suffix=".json") as took:
        launch = [sys.executable, "-S", "-c", LAUNCHER, took.name, *command]
        output = subprocess.run(launch, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True).stdout
        told = json.loads(took.read())
    if told["code"]:
        raise SystemExit(f"{' '.join(command[:4])} … failed with code {told['code']}")
    return Process(told["seconds"], told["peak_mb"], output)


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
    return (
        f"{dt.date.today().isoformat()}, {cores} cores, {platform.machine()}, Python "
        f"{platform.python_version()}; {', '.join(versions)}"
    )
