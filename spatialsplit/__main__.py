"""Run the command line as `python -m spatialsplit`."""

from spatialsplit.cli import main

main()
