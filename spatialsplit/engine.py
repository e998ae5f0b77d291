"""Map a pure function over batches, in threads, with the results in the order of the batches.

What the function does stands where it belongs; here is only where it runs. The same on many machines stands in
`cluster`.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from spatialsplit.errors import DataError

In = TypeVar("In")
Out = TypeVar("Out")


READ_AHEAD = 2
"""Batches that are read before they are wanted."""


def default_threads() -> int:
    """Give the number of processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def map_in_order(function: Callable[[In], Out], batches: Iterable[In], threads: int | None = None) -> Iterator[Out]:
    """Give the function's result for each batch, in order; at most a few batches are under way at once.

    Parameters
    ----------
    function : callable
        Pure: it must not matter in which thread and order it runs.
    batches : iterable
        Read one by one, in one thread, a few before they are wanted.
    threads : int, optional
        As many as there are processors, unless said; 1 runs everything in the calling thread.

    Raises
    ------
    DataError
        The number of threads is not positive.

    Examples
    --------
    >>> list(map_in_order(lambda n: n * n, range(4), threads=2))
    [0, 1, 4, 9]
    """
    threads = default_threads() if threads is None else threads
    if threads < 1:
        raise DataError(f"Invalid number of threads {threads}. It must be 1 or more. Leave it out for all processors.")
    if threads == 1:
        yield from map(function, batches)
        return
    with ThreadPoolExecutor(threads) as pool:
        under_way: deque[Future[Out]] = deque()
        try:
            for batch in _ahead(batches):
                under_way.append(pool.submit(function, batch))
                if len(under_way) > threads:
                    yield under_way.popleft().result()
            while under_way:
                yield under_way.popleft().result()
        finally:
            for future in under_way:
                future.cancel()


def _ahead(batches: Iterable[In]) -> Iterator[In]:
    """Read batches in a thread of its own, so that reading goes on while the results are used."""
    iterator = iter(batches)
    end = object()
    with ThreadPoolExecutor(1) as reader:
        wanted: deque[Future[Any]] = deque(reader.submit(next, iterator, end) for _ in range(READ_AHEAD))
        try:
            while (batch := wanted.popleft().result()) is not end:
                wanted.append(reader.submit(next, iterator, end))
                yield batch
        finally:
            for future in wanted:
                future.cancel()


class Engine(Protocol):
    """Where the batches of a large table are worked on."""

    @property
    def remote(self) -> bool:
        """Whether workers read the inputs themselves: then pieces of files are sent to them, and not rows."""

    def map(self, function: Callable[[In], Out], batches: Iterable[In]) -> Iterator[Out]:
        """Give the function's result for each batch, in order."""


@dataclass(frozen=True)
class Threads:
    """Threads of the process itself.

    Parameters
    ----------
    n : int, optional
        As many as there are processors, unless said.
    """

    n: int | None = None
    remote: bool = False

    def map(self, function: Callable[[In], Out], batches: Iterable[In]) -> Iterator[Out]:
        """Give the function's result for each batch, in order."""
        return map_in_order(function, batches, self.n)
