"""The audit finds every fault that can be planted in a real build, by the check that is about it."""

from __future__ import annotations

from pathlib import Path

import pytest

from spatialsplit.audit import audit_dataset
from spatialsplit.build import BuildReport
from spatialsplit.errors import DataError
from spatialsplit.manifest import verify_dataset
from spatialsplit.planting import FAULTS, plant_fault

ALSO = {
    "shared-quadrat": {"surveys_in_one_subset", "counts_add_up", "no_duplicate_across_subsets"},
    "near-po": {"no_duplicate_across_subsets"},
    "survey-in-two-subsets": {
        "quadrats_in_one_subset",
        "counts_add_up",
        "no_duplicate_across_subsets",
        "nothing_private_in_public",
    },
    "test-only-species": {"counts_add_up"},
    "empty-survey": {"counts_add_up", "ids_agree"},
    "label-column": {"nothing_private_in_public"},
    "telling-column": {"files_match_manifest"},
    "list-column": {"nothing_private_in_public"},
    "private-in-public": {"files_match_manifest"},
    "duplicate-record": {"po_outside_radius", "counts_add_up"},
    "wrong-draw": {"counts_add_up", "quadrats_in_one_subset"},
    "changed-byte": {"counts_add_up", "surveys_in_one_subset"},
    "missing-row": set(),
    "repeated-id": {"counts_add_up"},
    "over-an-edge": {"quadrats_in_one_subset", "draw_rederives", "surveys_in_one_subset"},
}
"""Checks that the same fault may rightly trip as well."""


@pytest.mark.parametrize("name", list(FAULTS))
def test_the_audit_names_the_check_that_a_planted_fault_is_about(name: str, built: BuildReport, tmp_path: Path) -> None:
    """It fails, and no check fails that has nothing to do with the fault."""
    fault = plant_fault(name, built.folder, tmp_path / "copy")
    failed = {check["name"] for check in audit_dataset(tmp_path / "copy").checks_as_dicts() if check["passed"] is False}
    assert fault.check in failed
    assert failed - {fault.check} <= ALSO[name]


@pytest.mark.parametrize(
    "name", [name for name, fault in FAULTS.items() if fault.mends and name != "private-in-public"]
)
def test_a_mended_copy_verifies(name: str, built: BuildReport, tmp_path: Path) -> None:
    """Checksums and manifest fit the faulty files, so only the audit can find the fault."""
    plant_fault(name, built.folder, tmp_path / "copy")
    assert verify_dataset(tmp_path / "copy") == []


def test_an_unknown_fault_names_the_nearest(built: BuildReport, tmp_path: Path) -> None:
    """A misspelt fault plants nothing."""
    with pytest.raises(DataError, match="Did you mean 'near-po'"):
        plant_fault("near-pa", built.folder, tmp_path / "copy")
    assert not (tmp_path / "copy").exists()


def test_the_help_of_synth_names_every_fault() -> None:
    """What can be planted stands in --help."""
    from click.testing import CliRunner

    from spatialsplit.cli import cli

    said = "".join(CliRunner().invoke(cli, ["synth", "--help"]).output.split())
    assert not [name for name in FAULTS if name not in said]


def test_the_command_plants_and_the_audit_fails(built: BuildReport, tmp_path: Path) -> None:
    """From the shell: exit code 3 and the name of the check."""
    from tests.test_steps import spatialsplit

    spatialsplit("synth", "--plant", "near-po", "--data", built.folder, "--out", tmp_path / "copy")
    assert "po_outside_radius" in spatialsplit("audit", tmp_path / "copy", code=3).stdout
    spatialsplit("synth", "--plant", "near-po", "--out", tmp_path / "other", code=2)
