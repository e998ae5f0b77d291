"""The exceptions of the package, and the one way to word a fault.

Every message follows one pattern: what is wrong, with its value · where · what must hold · what to do.
A fault is one line; an exception may carry several. What checks, and when, stands with the data it checks.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar


class SpatialSplitError(Exception):
    """A fault that a person can mend; its text is one line a fault.

    Parameters
    ----------
    problems : str or iterable of str
        One line a fault.

    Examples
    --------
    >>> error = SpatialSplitError(["first fault", "second fault"])
    >>> error.problems
    ('first fault', 'second fault')
    >>> print(error)
    first fault
    second fault
    """

    page: ClassVar[str] = ""
    """The page of the documentation that helps with such a fault; the command line names it after the last one."""

    def __init__(self, problems: str | Iterable[str]):
        self.problems = (problems,) if isinstance(problems, str) else tuple(problems)
        super().__init__("\n".join(self.problems))


class DataError(SpatialSplitError, ValueError):
    """An input table, coordinate or argument that cannot be used as it is."""


class TableError(DataError):
    """A table that lacks a column, or rows of it that cannot be used: a line for each kind of fault."""

    page = "docs/how-to/columns.md"


class RecipeError(SpatialSplitError, ValueError):
    """A recipe that says something impossible or unknown."""

    page = "docs/recipe.md"


class SubmissionError(SpatialSplitError, ValueError):
    """A submission that its participant has to mend. Never carries a true label."""


class SolutionError(SpatialSplitError, ValueError):
    """A solution that the organizer has to mend. Never shown to participants."""

    page = "docs/scoring.md"


class ManifestError(SpatialSplitError):
    """A dataset folder that does not agree with its manifest."""

    page = "docs/files.md"


class OutputError(SpatialSplitError, OSError):
    """An output that cannot be written where it was asked for."""


def first_few(examples: Iterable[object], *, shown: int = 3) -> str:
    """Join the first examples for a message, with an ellipsis where there are more.

    Examples
    --------
    >>> first_few([1, 2, 3, 4])
    '1, 2, 3, …'
    """
    listed = list(examples)
    text = ", ".join(str(example) for example in listed[:shown])
    return text + (", …" if len(listed) > shown else "")


def shown(value: object, *, longest: int = 80) -> str:
    r"""Give a value as a message can hold it: on one line, and not longer than a person would read.

    Examples
    --------
    >>> shown("a\nb"), shown("x" * 20, longest=4)
    ('a\\nb', 'xxxx…')
    """
    text = str(value)
    cut = text[:longest] + ("…" if len(text) > longest else "")
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in cut)


def nearest_name(name: str, known: Iterable[str]) -> str | None:
    """Give the known name that a mistyped one most likely meant, or None.

    Examples
    --------
    >>> nearest_name("radius", ["radius_m", "around"])
    'radius_m'
    """
    import difflib

    names = list(known)
    folded = {candidate.casefold(): candidate for candidate in names}
    match = difflib.get_close_matches(name.casefold(), list(folded), n=1, cutoff=0.5)
    return folded[match[0]] if match else None
