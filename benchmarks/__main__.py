"""Run the benchmarks: `python -m benchmarks`, or some by name: `python -m benchmarks po_filter quadrats`.

Each makes its data from a seed, runs ours and the peers side by side, checks that the answers agree, and prints a
table.
"""

from __future__ import annotations

import importlib
import sys

from benchmarks.measuring import machine

NAMES = ("po_filter", "quadrats", "build", "filter_process", "start_up", "scoring", "rasters", "forest", "validation")


def main() -> None:
    """Run what is asked for."""
    asked = sys.argv[1:] or list(NAMES)
    unknown = [name for name in asked if name not in NAMES]
    if unknown:
        raise SystemExit(f"Unknown benchmark {unknown[0]}. Known: {', '.join(NAMES)}.")
    print(machine())
    for name in asked:
        sys.argv = [name]
        importlib.import_module(f"benchmarks.{name}").main()


if __name__ == "__main__":
    main()
