"""What an audit says: one line a check, the facts beside them, and their forms as text and JSON.

How a check is carried out stands in the modules of the checks; here is only what they hand over and how it is
shown.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

SHOWN = 3
NOT_FOLLOWED = (AttributeError, KeyError, IndexError, OverflowError, TypeError, ValueError)
"""What a manifest or table of an unforeseen shape raises: an offence of the files, never a traceback."""


class CannotRun(Exception):
    """A check lacks what it needs; its text says what. That is no failure."""


@dataclass(frozen=True)
class Finding:
    """What a check found: the offenders, the first of them in words, and what was looked at.

    Parameters
    ----------
    value : int
        How many offenders there are.
    examples : sequence of str
        The first of them, each with its id, file and line where it has one.
    looked_at : str
        What was compared, for the line of a check that passes.
    undecided : str, optional
        What the written files leave open although no offender was found; the check is then neither passed nor
        failed.
    """

    value: int
    examples: Sequence[str]
    looked_at: str
    undecided: str | None = None

    def __add__(self, other: Finding) -> Finding:
        """Join two findings of one check."""
        return Finding(
            self.value + other.value,
            [*self.examples, *other.examples],
            "; ".join(text for text in (self.looked_at, other.looked_at) if text),
            "; ".join(text for text in (self.undecided, other.undecided) if text) or None,
        )

    def __radd__(self, nothing: int) -> Finding:
        """Let `sum` join findings."""
        return self


def finding(problems: Sequence[str], looked_at: str, *, undecided: str | None = None) -> Finding:
    """Make a finding of one line an offender.

    Examples
    --------
    >>> finding(["survey 7 is in train and test"], "3 surveys").value
    1
    """
    return Finding(len(problems), list(problems[:SHOWN]), looked_at, undecided)


@dataclass(frozen=True)
class Check:
    """One check with its outcome; `passed` is None where it could not run, and `detail` says why."""

    name: str
    passed: bool | None
    value: int | None
    detail: str
    limit: int = 0

    def as_dict(self) -> dict[str, Any]:
        """Give the check as it stands in JSON and in manifest.json."""
        return {
            "name": self.name,
            "passed": self.passed,
            "value": self.value,
            "limit": self.limit,
            "detail": self.detail,
        }


def check_of(name: str, found: Finding) -> Check:
    """Judge a finding.

    Examples
    --------
    >>> check_of("ids_agree", finding([], "4 ids")).detail
    '4 ids'
    >>> check_of("ids_agree", finding(["id 3 repeats", "id 4 repeats"], "4 ids")).detail
    'id 3 repeats; id 4 repeats'
    """
    if found.value:
        more = "; …" if found.value > len(found.examples[:SHOWN]) else ""
        return Check(name, False, found.value, "; ".join(found.examples[:SHOWN]) + more)
    if found.undecided is not None:
        return Check(name, None, 0, found.undecided)
    return Check(name, True, 0, found.looked_at)


@dataclass(frozen=True)
class AuditReport:
    """All checks in their fixed order, and the facts beside them.

    Parameters
    ----------
    checks : tuple of Check
        One for each name of the contract.
    facts : dict
        What is worth knowing and has no right or wrong: distances, counts, shares reached.

    Examples
    --------
    >>> counts = Check("counts_add_up", None, None, "no manifest")
    >>> report = AuditReport((Check("ids_agree", True, 0, "4 ids"), counts))
    >>> report.passed
    True
    >>> print(report.as_text())
    check          result   value  detail
    ids_agree      passed       0  4 ids
    counts_add_up  not run         no manifest
    <BLANKLINE>
    The audit passed: 1 check passed, 0 failed, 1 could not run.
    """

    checks: tuple[Check, ...]
    facts: Mapping[str, Any] = field(default_factory=dict)

    @property
    def passed(self) -> bool:
        """True when no check failed; one that could not run is no failure."""
        return not self.failed

    @property
    def failed(self) -> tuple[str, ...]:
        """The names of the checks that failed."""
        return tuple(check.name for check in self.checks if check.passed is False)

    def checks_as_dicts(self) -> list[dict[str, Any]]:
        """Give the checks as they stand in manifest.json: the same for the same files, anywhere."""
        return [check.as_dict() for check in self.checks]

    def as_dict(self) -> dict[str, Any]:
        """Give the whole report: `passed`, `checks`, `facts`."""
        return {"passed": self.passed, "checks": self.checks_as_dicts(), "facts": dict(self.facts)}

    def as_json(self) -> str:
        """Give the whole report as JSON text, for programs."""
        text = json.dumps(self.as_dict(), indent=2, ensure_ascii=False)
        return text.encode("utf-8", "backslashreplace").decode("utf-8")  # half a character is no text to write

    def as_text(self) -> str:
        """Give the whole report as an aligned table, for people."""
        lines = [*_check_lines(self.checks), "", *_fact_lines(self.facts), self._sentence()]
        return "\n".join(map(_printable, lines))

    def _sentence(self) -> str:
        counts = [sum(check.passed is outcome for check in self.checks) for outcome in (True, False, None)]
        verdict = "passed" if self.passed else "failed"
        return (
            f"The audit {verdict}: {counts[0]} check{'s' * (counts[0] != 1)} passed, "
            f"{counts[1]} failed, {counts[2]} could not run."
        )


def _printable(line: str) -> str:
    """Write what no terminal should obey, as names in somebody's manifest may hold, by its number."""
    return "".join(letter if letter.isprintable() else f"\\u{ord(letter):04x}" for letter in line)


_RESULTS = {True: "passed", False: "FAILED", None: "not run"}


def _check_lines(checks: Sequence[Check]) -> list[str]:
    width = max([len(check.name) for check in checks] + [5])
    lines = [f"{'check':<{width}}  result   value  detail"]
    for check in checks:
        value = "" if check.value is None else str(check.value)
        first, *more = check.detail.split("; ") if check.passed is False else [check.detail]
        lines.append(f"{check.name:<{width}}  {_RESULTS[check.passed]:<7}  {value:>5}  {first}".rstrip())
        lines += [f"{'':<{width + 18}}{offender}" for offender in more]
    return lines


def _fact_lines(facts: Mapping[str, Any]) -> list[str]:
    if not facts:
        return []
    width = max(len(name) for name in facts)
    lines = []
    for name, value in facts.items():
        rows = value if isinstance(value, list) and value and isinstance(value[0], Mapping) else [value]
        lines += [f"{name if row is rows[0] else '':<{width}}  {_fact_text(row)}" for row in rows]
    return [*lines, ""]


def _fact_text(value: object) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {_fact_text(part)}" for name, part in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(_fact_text(part) for part in value)
    return "unknown" if value is None else str(value)
