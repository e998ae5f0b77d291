"""Tables that are held in memory as a whole, and the refusal of one that would fill it.

What is streamed may be of any size. What is held is refused by what it holds, and not by the size of its file: a few
megabytes may unpack to more than a machine has.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Protocol, TypeVar

import pyarrow as pa

from spatialsplit.errors import DataError

SHARE = 10
"""A table of surveys may hold one part in so many of the memory: what is made of its rows takes up to eight times as
much, where every row is a survey of its own."""

WHOLE_SHARE = 2
"""A table of which nothing is made may hold one part in so many."""

UNKNOWN_MEMORY = 8 << 30
"""Bytes of memory where the system does not say."""

LIMITS = (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"))
"""Where Linux says how much memory a container may have."""


class HasRows(Protocol):
    """A batch of a table."""

    @property
    def rows(self) -> pa.RecordBatch:
        """Its rows."""


B = TypeVar("B", bound=HasRows)


def held(batches: Iterable[B], where: str, most_bytes: int | None = None, *, share: int = SHARE) -> Iterator[B]:
    """Pass batches on that will all be held, and stop when they are too many to be.

    Parameters
    ----------
    batches : iterable
        Batches of a table.
    where : str
        The table, for messages.
    most_bytes : int, optional
        What its cells may take, unless said the share of the machine's memory.
    share : int
        One part in so many of it.

    Raises
    ------
    DataError
        The cells so far take more.

    Examples
    --------
    >>> from spatialsplit.tables.reading import Batch
    >>> batch = Batch(0, 0, pa.RecordBatch.from_pydict({"n": [1, 2]}))
    >>> len(list(held([batch, batch], "t.csv")))
    2
    """
    count = _Count(where, memory_bytes() // share if most_bytes is None else most_bytes)
    for batch in batches:
        count.add(batch.rows)
        yield batch


def held_rows(batches: Iterable[pa.RecordBatch], where: str) -> Iterator[pa.RecordBatch]:
    """Pass rows on that will all be held, as `held` does batches.

    Examples
    --------
    >>> len(list(held_rows([pa.RecordBatch.from_pydict({"n": [1, 2]})], "t.csv")))
    1
    """
    count = _Count(where, memory_bytes() // SHARE)
    for rows in batches:
        count.add(rows)
        yield rows


class _Count:
    """What is held of a table so far."""

    def __init__(self, where: str, most_bytes: int):
        self._where, self._most, self._bytes, self._rows = where, most_bytes, 0, 0

    def add(self, rows: pa.RecordBatch) -> None:
        """Count some rows, and refuse them where they are too many."""
        self._bytes += rows.nbytes
        self._rows += rows.num_rows
        if self._bytes > self._most:
            raise DataError(
                f"The first {self._rows:,} rows of {self._where} take {self._bytes:,} bytes of memory, in which they "
                f"are all held. They may take {self._most:,} on this machine, for more is made of them. Is this "
                "the right file? If it is, leave out columns that are not needed (read_columns), or use a machine "
                "with more memory."
            )


def memory_bytes() -> int:
    """Give the memory of this machine, or of the container it is, in bytes.

    Examples
    --------
    >>> memory_bytes() > 1 << 20
    True
    """
    try:
        physical = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        physical = UNKNOWN_MEMORY
    return min([physical, *_container_limits()])


def _container_limits() -> Iterator[int]:
    for path in LIMITS:
        try:
            said = path.read_text().strip()
        except OSError:
            continue
        if said.isdigit() and int(said):
            yield int(said)
