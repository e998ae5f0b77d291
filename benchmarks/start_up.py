"""How long `spatialsplit --help` takes beside `import click`.

The bars: at most 0.2 s, and at most 2.5 times `python -c "import click"`.
"""

from __future__ import annotations

import sys

from benchmarks.measuring import alternate, process_contestant, table


def main() -> None:
    """Start both often."""
    contestants = [
        process_contestant("spatialsplit --help", [sys.executable, "-m", "spatialsplit", "--help"]),
        process_contestant('python -c "import click"', [sys.executable, "-c", "import click"]),
        process_contestant("python -c pass", [sys.executable, "-c", "pass"]),
    ]
    alternate(contestants, 15)
    table("Start-up", contestants)


if __name__ == "__main__":
    main()
