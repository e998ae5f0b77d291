"""Rows of absence in a presence-absence table: dropped, but a visit that found nothing stays a survey."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import pytest

from spatialsplit.build import BuildReport, build_dataset
from tests.recipes import PA_HEADER, write_csv, write_recipe

HEADER = f"{PA_HEADER},occurrenceStatus,basisOfRecord"
CLEAN = '[clean]\nabsent = "drop"\n'


def rows_of(visit: int, *species: tuple[int, str], basis: str = "HumanObservation") -> list[str]:
    """Give the rows of a visit: species and status."""
    place = f"p{visit},{10 + visit},2021-01-{10 + visit},{5 + 0.2 * visit:.1f},45.0"
    return [f"{place},{each},{status},{basis}" for each, status in species]


def table(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def build(folder: Path, rows: list[str], clean: str = CLEAN) -> BuildReport:
    """Build; visit 0 to 3 found species 1, so that both subsets can be drawn."""
    common = [row for visit in range(4) for row in rows_of(visit, (1, "present"))]
    write_csv(folder / "pa.csv", HEADER, [*common, *rows])
    return build_dataset(write_recipe(folder, more=clean), folder / "out")


def published(report: BuildReport) -> dict[str, set[tuple[str, str]]]:
    """Give (patchID, species) by published table, with an empty species for a survey without any."""
    return {
        name: {(row["patchID"], row.get("speciesId", "")) for row in table(report.folder / place)}
        for name, place in {
            "train": "public/PA_train.csv",
            "empty": "public/PA_train_empty.csv",
            "test": "private/PA_test.csv",
        }.items()
        if (report.folder / place).exists()
    }


def step(report: BuildReport, name: str) -> dict[str, Any]:
    found: dict[str, Any] = next(step for step in report.manifest["steps"] if step["step"] == name)
    return found


def test_a_visit_with_absences_alone_is_an_empty_survey(tmp_path: Path) -> None:
    """It was looked and nothing was found; the other absences go, and are counted and listed."""
    rows = [*rows_of(9, (1, "absent"), (2, "ABSENT"), (3, "absent")), *rows_of(0, (2, "absent"))]
    report = build(tmp_path, rows)
    assert published(report)["empty"] == {("p9", "")}
    assert "p9" not in {patch for patch, _ in published(report)["train"] | published(report)["test"]}
    read = step(report, "read_pa")
    assert (read["in"], read["dropped"]) == (8, {"absent": 3})
    assert [row["reason"] for row in table(report.folder / "private" / "dropped_pa.csv")] == ["absent"] * 3
    assert all(species != "2" for subset in published(report).values() for _, species in subset)


def test_the_order_of_the_rows_does_not_matter(tmp_path: Path) -> None:
    """The row that stands for the visit is the first in code-point order."""
    rows = rows_of(9, (3, "absent"), (1, "absent"), (2, "absent"))
    texts = []
    for name, order in (("a", rows), ("b", rows[::-1])):
        (tmp_path / name).mkdir()
        folder = build(tmp_path / name, order).folder
        texts.append((folder / "public" / "PA_train_empty.csv").read_bytes())
    assert texts[0] == texts[1]


def test_a_visit_that_goes_for_another_reason_goes(tmp_path: Path) -> None:
    """An absence of a basis that the recipe does not want is no visit."""
    clean = f'{CLEAN}basis_of_record = "drop"\nallow_basis_of_record = ["HumanObservation"]\n'
    report = build(tmp_path, rows_of(9, (1, "absent"), basis="LIVING_SPECIMEN"), clean)
    assert "empty" not in published(report)
    assert step(report, "read_pa")["dropped"] == {"basis_of_record": 1}


@pytest.mark.parametrize("policy", ["error", "flag"])
def test_only_dropped_absences_are_visits(policy: str, tmp_path: Path) -> None:
    """Refused rows stay refused, and flagged ones are used as they are."""
    clean = f'[clean]\nabsent = "{policy}"\n'
    if policy == "error":
        with pytest.raises(Exception, match=r"Absence in 1 of 5 rows of pa\.csv"):
            build(tmp_path, rows_of(9, (1, "absent")), clean)
    else:
        patches = set.union(*published(build(tmp_path, rows_of(9, (1, "absent")), clean)).values())
        assert ("p9", "1") in patches
