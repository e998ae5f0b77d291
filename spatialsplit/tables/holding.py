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

SHARE = 4
"""A table may hold one part in so many of the memory: what is made of its rows takes up to three times as much."""

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


def held(batches: Iterable[B], where: str, most_bytes: int | None = None) -> Iterator[B]:
    """Pass batches on that will all be held, and stop when they are too many to be.

    Parameters
    ----------
    batches : iterable
        Batches of a table.
    where : str
        The table, for messages.
    most_bytes : int, optional
        What its cells may take; a quarter of the machine's memory unless said.

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
    most = memory_bytes() // SHARE if most_bytes is None else most_bytes
    n_bytes = n_rows = 0
    for batch in batches:
        n_bytes += batch.rows.nbytes
        n_rows += batch.rows.num_rows
        if n_bytes > most:
            raise DataError(
                f"The first {n_rows:,} rows of {where} take {n_bytes:,} bytes of memory, in which they are all held. A "
                f"table that is held may take {most:,} here, a quarter of the memory. Is this the right file? If it "
                "is, leave out columns that are not needed (read_columns), or use a machine with more memory."
            )
        yield batch


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
