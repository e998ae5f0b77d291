"""The audit: prove from the written files alone that a split keeps its promises, ours or anybody's.

`audit_dataset` audits a folder that `spatialsplit build` wrote, or its public part; `audit_tables` audits
single tables of a dataset that was made elsewhere; `find_grid` looks for the grid that such a dataset
respects. Nothing here uses the geometry, the readers or the draw of the build. What each check means stands
in `docs/audit.md`.
"""

from __future__ import annotations

from spatialsplit.audit.checks import audit_dataset
from spatialsplit.audit.foreign import audit_tables
from spatialsplit.audit.report import AuditReport, Check

__all__ = ["AuditReport", "Check", "audit_dataset", "audit_tables"]
