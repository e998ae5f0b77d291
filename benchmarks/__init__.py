"""Benchmarks: the bars of the project, beside the peers."""
