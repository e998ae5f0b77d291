"""Batches go through a function in threads, and nobody can tell from the results."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spatialsplit.engine import READ_AHEAD, default_threads, map_in_order
from spatialsplit.errors import DataError
from tests.strategies import quick


@given(st.lists(st.integers()), st.integers(1, 4))
@quick
def test_results_come_in_the_order_of_the_batches(batches: list[int], threads: int) -> None:
    """As `map` would give them, with any number of threads."""
    assert list(map_in_order(lambda n: n * 3, batches, threads)) == [n * 3 for n in batches]


@pytest.mark.parametrize("threads", [1, 2])
def test_a_fault_of_the_input_is_the_callers(threads: int) -> None:
    """It is not lost in the thread that reads, and not another."""

    def batches() -> Iterator[int]:
        yield from (1, 2)
        raise DataError("line 3 is torn")

    with pytest.raises(DataError, match="line 3 is torn"):
        list(map_in_order(str, batches(), threads))


@pytest.mark.parametrize("threads", [1, 2])
def test_a_fault_of_the_function_is_raised_where_its_result_is_due(threads: int) -> None:
    """And no later batch is given."""
    results = map_in_order(lambda n: 6 // n, [3, 2, 0, 1], threads)
    assert [next(results), next(results)] == [2, 3]
    with pytest.raises(ZeroDivisionError):
        next(results)
    assert list(results) == []


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_only_a_few_batches_are_held_at_once(threads: int) -> None:
    """However slowly the results are used, reading runs ahead by a fixed number of batches: memory is bounded."""
    n_read = 0

    def batches() -> Iterator[int]:
        nonlocal n_read
        for n in range(100):
            n_read += 1
            yield n

    for n_used, _ in enumerate(map_in_order(lambda n: n, batches(), threads)):
        assert n_read <= n_used + 1 + threads + 1 + READ_AHEAD + 1


def test_whoever_stops_early_stops_the_reading() -> None:
    """No thread is left, and the rest of the input is not read."""
    n_read = 0

    def batches() -> Iterator[int]:
        nonlocal n_read
        for n in range(1000):
            n_read += 1
            yield n

    before = threading.active_count()
    results = map_in_order(lambda n: n, batches(), 2)
    assert isinstance(results, Iterator)
    next(results)
    results.close()  # type: ignore[attr-defined]
    assert threading.active_count() == before
    assert n_read < 20


@pytest.mark.parametrize("threads", [0, -1])
def test_the_number_of_threads_is_positive(threads: int) -> None:
    """Zero does not mean all."""
    with pytest.raises(DataError, match=rf"Invalid number of threads {threads}\. It must be 1 or more"):
        list(map_in_order(str, [1], threads))


def test_there_is_at_least_one_processor() -> None:
    """Which this process may use."""
    assert default_threads() >= 1
