"""The workers of a Dask cluster as an engine: the extra `spatialsplit[dask]`.

The function, with the sites in it, is sent to each worker once; then pieces of files are, and what comes back is in
the order of the pieces. A worker that dies is no fault: its pieces are worked on again by others.
"""

from __future__ import annotations

import logging
import re
import signal
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import resource_tracker
from typing import Any, TypeVar

from spatialsplit.engine import default_threads
from spatialsplit.errors import DataError, SpatialSplitError, shown

In = TypeVar("In")
Out = TypeVar("Out")

ATTEMPTS = 5
"""How often a piece is sent again when the cluster loses it."""

PAUSE_SECONDS = 0.5
"""How long is waited before the first time that something is asked again."""

CONNECT_SECONDS = 20

ADDRESS = re.compile(r"([a-z]+://)?[^/\s]+:\d{1,5}(/\S*)?")
"""How the address of a scheduler looks."""


@dataclass
class Cluster:
    """A cluster that is connected.

    Parameters
    ----------
    client : distributed.Client
    """

    client: Any
    remote: bool = True

    def map(self, function: Callable[[In], Out], batches: Iterable[In]) -> Iterator[Out]:
        """Give the function's result for each batch, in order; no more are under way than keep the workers busy."""
        there = self._broadcast(function)
        window = 2 * max(sum(self.client.nthreads().values()), 1) + 2
        under_way: deque[tuple[In, Any]] = deque()
        for batch in batches:
            under_way.append((batch, self._submit(there, batch)))
            if len(under_way) >= window:
                yield self._result(function, *under_way.popleft())
        while under_way:
            yield self._result(function, *under_way.popleft())

    def _broadcast(self, function: Callable[[In], Out]) -> Any:
        """Send the function to each worker; the scheduler fails at it when a worker dies just then, so ask again."""
        for attempt in range(ATTEMPTS):
            try:
                return self.client.scatter(function, broadcast=True, hash=False)
            except (KeyError, ValueError, OSError, TimeoutError):
                if attempt == ATTEMPTS - 1:
                    raise
                time.sleep(PAUSE_SECONDS * 2**attempt)
        raise AssertionError("unreachable")

    def _submit(self, there: Any, batch: Any) -> Any:
        return self.client.submit(_call, there, batch, pure=False, retries=ATTEMPTS)

    def _result(self, function: Callable[[In], Out], batch: In, future: Any) -> Out:
        """Wait for one result; send the function and the batch again where the cluster lost them."""
        from distributed import CancelledError, KilledWorker
        from distributed.client import FutureCancelledError

        for attempt in range(ATTEMPTS):
            try:
                result: Out | _Fault = future.result()
                if isinstance(result, _Fault):
                    raise result.error
                return result
            except (CancelledError, FutureCancelledError, KilledWorker):
                if attempt == ATTEMPTS - 1:
                    raise
                future = self._submit(self._broadcast(function), batch)
        raise AssertionError("unreachable")


@dataclass(frozen=True)
class _Fault:
    """What was wrong with the data, as a result: no worker is to try again, or to write into its log."""

    error: SpatialSplitError


def _call(function: Callable[[In], Out], batch: In) -> Out | _Fault:
    try:
        return function(batch)
    except SpatialSplitError as error:
        return _Fault(error)


@contextmanager
def open_cluster(scheduler: str | None = None, workers: int | None = None) -> Iterator[Cluster]:
    """Connect to a cluster, or start one on this machine.

    Parameters
    ----------
    scheduler : str, optional
        Address of a running scheduler, as in `tcp://10.0.0.1:8786`; else worker processes are started here.
    workers : int, optional
        Worker processes to start here: as many as there are processors, unless said.

    Raises
    ------
    DataError
        Dask is not installed, the address is none, or the scheduler does not answer.
    """
    try:
        from distributed import Client, LocalCluster
    except ImportError:
        raise DataError(
            "--engine dask needs Dask, which is not installed. Install it: pip install 'spatialsplit[dask]'."
        ) from None
    if scheduler is not None:
        if not ADDRESS.fullmatch(scheduler):
            raise DataError(
                f"Invalid scheduler '{shown(scheduler)}'. It must be an address with a port, such as "
                "tcp://10.0.0.1:8786. Correct --scheduler."
            )
        try:
            client = Client(scheduler, timeout=CONNECT_SECONDS, set_as_default=False)
        except (OSError, ValueError) as error:
            raise DataError(
                f"No Dask scheduler answers at {scheduler} ({error}). Start one with 'dask scheduler', or correct "
                f"--scheduler."
            ) from None
        with client:
            yield Cluster(client)
        return
    n_workers = workers or default_threads()
    logging.getLogger("asyncio").setLevel(logging.CRITICAL)  # what ends in the midst of a talk is told by us
    with _deaf_to_interrupts():
        cluster = LocalCluster(
            n_workers=n_workers,
            threads_per_worker=1,
            processes=True,
            dashboard_address="127.0.0.1:0",
            silence_logs=logging.CRITICAL,
        )
    with cluster, Client(cluster, set_as_default=False) as client:
        yield Cluster(client)


@contextmanager
def _deaf_to_interrupts() -> Iterator[None]:
    """Let threads and processes that start here never see a Ctrl-C: the one that started them ends them in order."""
    if not hasattr(signal, "pthread_sigmask"):  # no such signals on Windows
        yield
        return
    resource_tracker.ensure_running()  # which would take the mask off again, were it started later
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
