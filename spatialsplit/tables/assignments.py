"""Tables that say which quadrat belongs to which subset, such as `quadrats.csv` of an earlier release."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from spatialsplit.errors import DataError, first_few
from spatialsplit.tables.reading import read_table


def read_assignment(path: Path) -> dict[str, str]:
    """Read a table of `quadratId` and `subset`, such as `quadrats.csv` of an earlier release.

    Raises
    ------
    DataError
        A column is missing, or a quadrat stands there with two subsets.
    """
    table = read_table(path)
    missing = [column for column in ("quadratId", "subset") if column not in table.column_names]
    if missing:
        raise DataError(
            f"{path.name} has no column '{missing[0]}'. A fixed assignment has quadratId and subset. Correct the file."
        )
    pairs = {
        (str(q), str(s))
        for q, s in zip(table.column("quadratId").to_pylist(), table.column("subset").to_pylist(), strict=True)
    }
    twice = sorted(label for label, n in Counter(label for label, _ in pairs).items() if n > 1)
    if twice:
        raise DataError(
            f"{len(twice)} quadrats of {path.name} have more than one subset (first: {first_few(twice)}). Each has "
            "one. Correct the file."
        )
    return dict(sorted(pairs))
