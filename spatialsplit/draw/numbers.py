"""A quadrat's number in a draw, and how shares become whole numbers."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence

from spatialsplit.errors import DataError, shown


def check_word(word: str, what: str) -> str:
    """Return a seed or name that can stand in a hash's text, or refuse it.

    Raises
    ------
    DataError
        It is no text, is empty, holds the separator `|`, or cannot be written as UTF-8.

    Examples
    --------
    >>> check_word("test", "holdout name")
    'test'
    """
    if not isinstance(word, str) or not word or "|" in word or not _is_unicode(word):
        raise DataError(
            f"Invalid {what} '{shown(word)}'. It must be text (UTF-8) without '|', which separates the words that are "
            "hashed. Choose another."
        )
    return word


def _is_unicode(word: str) -> bool:
    try:
        word.encode()
    except UnicodeEncodeError:  # bytes of a command line that are no UTF-8
        return False
    return True


def quadrat_number(seed: str, holdout: str, label: str) -> int:
    """Give a quadrat's number in a draw: the first 8 bytes, big-endian, of SHA-256 of `seed|holdout|label`.

    Examples
    --------
    >>> f"{quadrat_number('2b7e151628aed2a6', 'test', 'CRS3035RES5000mN3210000E4320000'):016x}"
    'd8c0abd05f339fcb'
    """
    return int.from_bytes(hashlib.sha256(f"{seed}|{holdout}|{label}".encode()).digest()[:8], "big")


def commitment(seed: str) -> str:
    """Give the SHA-256 that commits to a secret seed: `printf '%s' SEED | sha256sum`.

    Examples
    --------
    >>> commitment("2b7e151628aed2a6")[:16]
    '2fc87006588877f0'
    """
    return hashlib.sha256(seed.encode()).hexdigest()


def quota(share: float, n: int) -> int:
    """Round a share of n to whole quadrats: `floor(share * n + 0.5)` in IEEE doubles.

    Examples
    --------
    >>> quota(0.025, 100), quota(0.025, 19)
    (3, 0)
    """
    return math.floor(share * n + 0.5)


def largest_remainder(total: int, sizes: Mapping[str, int]) -> dict[str, int]:
    """Divide a number among groups in proportion to their sizes, by largest remainder (Hamilton's method).

    A tie goes to the group that is first in code-point order.

    Examples
    --------
    >>> largest_remainder(3, {"alpine": 10, "boreal": 7, "steppe": 3})
    {'alpine': 2, 'boreal': 1, 'steppe': 0}
    """
    whole = sum(sizes.values())
    quotas = {name: total * size // whole for name, size in sizes.items()}
    left = total - sum(quotas.values())
    by_remainder = sorted(sizes, key=lambda name: (-(total * sizes[name] % whole), name))
    for name in by_remainder[:left]:
        quotas[name] += 1
    return quotas


def commonest(values: Sequence[str]) -> str:
    """Give the commonest value; of equally common ones the first in code-point order.

    Examples
    --------
    >>> commonest(["steppe", "alpine", "steppe", "alpine"])
    'alpine'
    """
    tally: dict[str, int] = {}
    for value in values:
        tally[value] = tally.get(value, 0) + 1
    return min(tally, key=lambda value: (-tally[value], value))
