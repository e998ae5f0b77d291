"""All checks by their names, in their order, and how one is carried out."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from spatialsplit.audit.blinding import ids_agree, no_label_in_blind, nothing_private_in_public
from spatialsplit.audit.copies import no_duplicate_across_subsets
from spatialsplit.audit.counts import counts_add_up
from spatialsplit.audit.evidence import Evidence, gather
from spatialsplit.audit.facts import facts
from spatialsplit.audit.hashes import files_match_manifest
from spatialsplit.audit.presence_only import po_outside_radius
from spatialsplit.audit.published import read_published
from spatialsplit.audit.rederiving import draw_rederives
from spatialsplit.audit.report import NOT_FOLLOWED, AuditReport, CannotRun, Check, Finding, check_of
from spatialsplit.audit.subsets import (
    no_empty_test_survey,
    quadrats_in_one_subset,
    surveys_in_one_subset,
    test_species_known,
    usage_shares_no_quadrat,
)
from spatialsplit.audit.tables import Unreadable

CHECKS: dict[str, Callable[[Evidence], Finding]] = {
    "surveys_in_one_subset": surveys_in_one_subset,
    "quadrats_in_one_subset": quadrats_in_one_subset,
    "po_outside_radius": po_outside_radius,
    "test_species_known": test_species_known,
    "no_empty_test_survey": no_empty_test_survey,
    "ids_agree": ids_agree,
    "no_label_in_blind": no_label_in_blind,
    "nothing_private_in_public": nothing_private_in_public,
    "no_duplicate_across_subsets": no_duplicate_across_subsets,
    "draw_rederives": draw_rederives,
    "usage_shares_no_quadrat": usage_shares_no_quadrat,
    "counts_add_up": counts_add_up,
    "files_match_manifest": files_match_manifest,
}


def audit_dataset(folder: str | Path, *, seed: str | None = None, radius_m: float | None = None) -> AuditReport:
    """Audit a dataset folder, or its `public/` folder alone, from the written files.

    Parameters
    ----------
    folder : str or Path
        What `spatialsplit build` wrote, or any folder of that form. What is missing (`private/`, the
        manifest) leaves checks without an answer; it is no failure.
    seed : str, optional
        The revealed seed of a sealed draw.
    radius_m : float, optional
        The radius in metres, where there is no manifest to say it.

    Returns
    -------
    AuditReport
        The same for the same files, on any machine and at any path.

    Raises
    ------
    DataError
        No such folder, or nothing in it to audit.
    """
    return audit(gather(read_published(folder), seed=seed, radius_m=radius_m))


def audit(evidence: Evidence) -> AuditReport:
    """Carry out all checks and gather the facts."""
    checks = tuple(_carried_out(name, check, evidence) for name, check in CHECKS.items())
    return AuditReport(checks, facts(evidence))


def _carried_out(name: str, check: Callable[[Evidence], Finding], evidence: Evidence) -> Check:
    try:
        return check_of(name, check(evidence))
    except CannotRun as reason:
        return Check(name, None, None, str(reason))
    except Unreadable as error:
        if evidence.published is not None:
            evidence.published.broken[error.name] = str(error)
        return Check(name, None, None, str(error))
    except NOT_FOLLOWED as error:
        return Check(name, False, 1, f"what is written cannot be followed: {type(error).__name__}: {error}")
