"""The index pair of a split that is there: a column of subsets, or a build's `Split`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from spatialsplit.errors import DataError, first_few
from spatialsplit.folds.parting import part_rows
from spatialsplit.folds.places import Integers, Places


def subset_indices(
    subset: Sequence[str] | np.ndarray[Any, Any],
    *,
    test: str | None = None,
    train: str | Sequence[str] | None = None,
    places: Places | None = None,
    buffer_m: float | None = None,
) -> list[tuple[Integers, Integers]]:
    """Give a split as scikit-learn takes it for `cv=`: a list of one pair (train, test) of row numbers.

    Parameters
    ----------
    subset : sequence of str, shape (n,)
        The subset of each row; a `subset` column of `draw --rows`, or `Split.subset`.
    test : str, optional
        The subset to score on. Default: `val` where there is one, so that a model is chosen without a look at the
        test; else `test`.
    train : str or sequence of str, optional
        Default: `train`.
    places : Places, optional
        Of the rows, where there is a buffer.
    buffer_m : float, optional
        Training rows within it of a test row are set aside (d ≤ r).

    Raises
    ------
    DataError
        A side is empty, also by the buffer, or both sides name the same subset.

    Examples
    --------
    >>> subset_indices(["train", "test", "val", "train"])
    [(array([0, 3]), array([2]))]
    >>> subset_indices(["train", "test", "val", "train"], test="test", train=["train", "val"])
    [(array([0, 2, 3]), array([1]))]
    """
    values = np.asarray(subset, dtype=object)
    known = sorted({str(value) for value in values.tolist()})
    tested = test or ("val" if "val" in known else "test")
    trained = [train] if isinstance(train, str) else list(train or ["train"])
    if tested in trained:
        raise DataError(f"The subset '{tested}' is on both sides. A row trains or is tested. Leave it out of train.")
    for name in [tested, *trained]:
        if name not in known:
            raise DataError(
                f"No row is in the subset '{name}'. Both sides need rows. There are: {first_few(known, shown=8)}."
            )
    trains, rows = np.isin(values, trained), np.flatnonzero(values == tested)
    if buffer_m is not None:
        trains[_set_aside(places, rows, buffer_m, len(values))] = False
        if not trains.any():
            raise DataError(
                f"A buffer of {buffer_m:g} m round '{tested}' leaves no row to train on. Both sides need rows. Lower "
                "buffer_m."
            )
    return [(np.flatnonzero(trains), rows)]


def _set_aside(places: Places | None, rows: Integers, buffer_m: float, n: int) -> Integers:
    if places is None or len(places) != n:
        given = "none are" if places is None else f"{len(places):,} are"
        raise DataError(f"A buffer needs the places of all {n:,} rows, and {given} given. Give places=.")
    return part_rows(places, rows, buffer_m=buffer_m).set_aside
