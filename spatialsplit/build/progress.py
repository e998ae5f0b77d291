"""What each part of a build counted, in a few words for the person who waits."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from spatialsplit.audit import AuditReport
    from spatialsplit.build.inputs import OpenInputs
    from spatialsplit.build.outputs import Outputs
    from spatialsplit.build.presence_only import PoResult
    from spatialsplit.split import Split


def read(inputs: OpenInputs) -> str:
    """Say how many rows became how many surveys."""
    return f"{inputs.pa.n_in:,} presence-absence rows, {len(inputs.surveys):,} surveys"


def drawn(split: Split) -> str:
    """Say how many quadrats each holdout took."""
    parts = [f"{holdout.name} {holdout.drawn:,}" for holdout in split.draw.holdouts]
    return f"{len(split.quadrats.labels):,} quadrats: {', '.join(parts)}"


def filtered(po: PoResult) -> str:
    """Say how many presence-only records were kept."""
    steps = po.steps()
    if not steps or not steps[0].n_in:
        return "no presence-only records"
    return f"{steps[-1].n_kept:,} of {steps[0].n_in:,} presence-only records kept"


def written(out: Outputs) -> str:
    """Say how much was written."""
    files = [file for written in out.written.values() for file in written]
    return f"{len(files):,} tables, {sum(file.n_bytes for file in files) / 1e6:,.1f} MB"


def audited(audit: AuditReport) -> str:
    """Say how many checks passed."""
    passed = sum(check.passed is True for check in audit.checks)
    return f"{passed} of {len(audit.checks)} checks passed"


def reported(made: bool) -> str:
    """Say whether there is a report."""
    return "report.html" if made else "could not be made"
