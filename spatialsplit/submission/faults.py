"""All faults of a file at once: sorted by kind, at most ten of a kind, the rest counted."""

from __future__ import annotations

SHOWN_OF_A_KIND = 10


class Faults:
    """Lines for a person, gathered by kind while a table is read and checked.

    A file can have a fault in each of 200,000 rows, so only the first ten of a kind are kept as text; the
    tenth says how many follow.

    Examples
    --------
    >>> faults = Faults()
    >>> for line in range(2, 15):
    ...     faults.add("label", f"line {line}: 'x' is not a whole number.")
    >>> len(faults.lines()), faults.lines()[-1]
    (10, "line 11: 'x' is not a whole number. (and 3 more like this)")
    """

    def __init__(self) -> None:
        self._texts: dict[str, list[str]] = {}
        self._counts: dict[str, int] = {}

    def add(self, kind: str, text: str) -> None:
        """Note one fault under its kind."""
        self._counts[kind] = self._counts.get(kind, 0) + 1
        texts = self._texts.setdefault(kind, [])
        if len(texts) < SHOWN_OF_A_KIND:
            texts.append(text)

    def extend(self, faults: list[tuple[str, str]]) -> None:
        """Note faults found earlier, as pairs of kind and text."""
        for kind, text in faults:
            self.add(kind, text)

    def lines(self) -> list[str]:
        """Give a line a fault, in the order in which the kinds were met."""
        shown: list[str] = []
        for kind, texts in self._texts.items():
            hidden = self._counts[kind] - len(texts)
            more = [f"{texts[-1]} (and {hidden} more like this)"] if hidden else texts[-1:]
            shown.extend(texts[:-1] + more)
        return shown

    def __bool__(self) -> bool:
        return bool(self._texts)
