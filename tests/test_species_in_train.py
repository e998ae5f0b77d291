"""A build that promises each species in train keeps the promise, and the audit finds the same draw by other means."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

from spatialsplit.audit import audit_dataset
from spatialsplit.build import build_dataset
from spatialsplit.errors import DataError, RecipeError
from spatialsplit.manifest import file_sha256
from tests.recipes import PA_HEADER, write_csv, write_recipe

TWO_HOLDOUTS = '[[holdouts]]\nname = "test"\nshare = 0.3\n[[holdouts]]\nname = "val"\nshare = 0.3\n'
RARE = range(100, 120)


def write_flora(folder: Path) -> Path:
    """Write 60 surveys in 60 quadrats: two species everywhere, each of 20 rare ones in three quadrats."""
    rows = []
    for i in range(60):
        place = f"p{i},32,2021-02-01,{5 + 0.1 * (i % 10):.1f},{44 + 0.1 * (i // 10):.1f}"
        rows += [f"{place},{species},{'east' if i % 10 > 4 else 'west'}" for species in (1, 2, RARE[i % 20])]
    return write_csv(folder / "pa.csv", f"{PA_HEADER},side", rows)


def build(folder: Path, draw: str, holdouts: str = TWO_HOLDOUTS) -> Path:
    """Build with some keys of [draw]; give the dataset."""
    write_flora(folder)
    recipe = write_recipe(folder, holdouts=holdouts, more=f"[draw]\n{draw}\n")
    return build_dataset(recipe, folder / "out").folder


def rederived(folder: Path) -> tuple[bool | None, str]:
    """Audit a dataset and give what is said of its draw."""
    (check,) = (check for check in audit_dataset(folder).checks if check.name == "draw_rederives")
    return check.passed, check.detail


def quadrats_in_train(folder: Path) -> dict[int, int]:
    """Count the quadrats of each species in the published train table; a survey is a quadrat here."""
    train = pd.read_csv(folder / "public" / "PA_train.csv")
    counts: dict[int, int] = train.groupby("speciesId").patchID.nunique().to_dict()
    return counts


def test_without_the_promise_species_are_lost(tmp_path: Path) -> None:
    """The flora is one in which the promise matters: with 51 % held out some species have no quadrat in train."""
    assert not set(RARE) <= set(quadrats_in_train(build(tmp_path, "")))


@pytest.mark.parametrize(
    "draw", ["", 'share_of = "surveys"', 'strata = "side"', "attempts = 5\nrare_quadrats = 3", 'remainder = "train"']
)
def test_each_species_keeps_a_quadrat_in_train(draw: str, tmp_path: Path) -> None:
    """The quotas are filled all the same, and the audit derives the same draw from the files."""
    out = build(tmp_path, f"{draw}\nmin_train_quadrats = 1")
    assert set(RARE) <= set(quadrats_in_train(out))
    passed, detail = rederived(out)
    assert passed is True, detail
    said = json.loads((out / "manifest.json").read_text())["draw"]
    assert [holdout["drawn"] for holdout in said["holdouts"]] == [18, 13]
    assert sum(holdout["passed_over"] for holdout in said["holdouts"]) > 0
    assert "fewer than 1 left in `train` was passed over" in (out / "public" / "README.md").read_text()


def test_each_species_keeps_two(tmp_path: Path) -> None:
    """A species of three quadrats then gives one away at most."""
    out = build(tmp_path, "min_train_quadrats = 2", '[[holdouts]]\nname = "test"\nshare = 0.3\n')
    assert min(quadrats_in_train(out).values()) == 2
    assert rederived(out)[0] is True


def test_the_public_files_alone_do_not_show_what_was_passed_over(tmp_path: Path) -> None:
    """Which species a test quadrat holds is private; what cannot be derived is said, and is no failure."""
    out = build(tmp_path, "min_train_quadrats = 1")
    shutil.rmtree(out / "private")
    assert rederived(out) == (
        None,
        "the draw spares species, and not all of them can be seen: there is no private/ with the test surveys",
    )


def test_a_draw_that_did_not_pass_over_is_found(tmp_path: Path) -> None:
    """A manifest that promises what the draw did not keep fails the audit."""
    out = build(tmp_path, "")
    manifest = out / "manifest.json"
    before = manifest.read_text()
    manifest.write_text(before.replace('"min_train_quadrats": 0', '"min_train_quadrats": 1'))
    assert before != manifest.read_text()
    sums = (out / "SHA256SUMS").read_text().splitlines()
    kept = [line for line in sums if not line.endswith("manifest.json")]
    (out / "SHA256SUMS").write_text("\n".join(sorted([*kept, f"{file_sha256(manifest)}  manifest.json"])) + "\n")
    assert rederived(out)[0] is False


def test_too_many_held_out_is_an_error_with_the_counts(tmp_path: Path) -> None:
    """Nothing is quietly drawn smaller."""
    with pytest.raises(DataError, match=r"'test' cannot be filled: of 60 free quadrats only 20 can go .* keeps 2"):
        build(tmp_path, "min_train_quadrats = 2", '[[holdouts]]\nname = "test"\nshare = 0.4\n')


@pytest.mark.parametrize(
    ("draw", "said"),
    [
        ('method = "threshold"\nmin_train_quadrats = 1', "min_train_quadrats and method = 'threshold', which exclude"),
        ('quadrats = "a.csv"\nmin_train_quadrats = 1', "quadrats and min_train_quadrats, which exclude"),
        ("rare_quadrats = 5", "rare_quadrats compares attempts, and there are none"),
        ("min_train_quadrats = -1", "min_train_quadrats"),
    ],
)
def test_a_recipe_that_cannot_promise_is_refused(draw: str, said: str, tmp_path: Path) -> None:
    """No key is accepted and ignored."""
    with pytest.raises(RecipeError, match=said):
        build(tmp_path, draw)


def draw_step(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run the step `draw` on the flora."""
    call = [sys.executable, "-m", "spatialsplit", "draw", "pa.csv", "--seed", "s", "--out", "draw.csv", *words]
    return subprocess.run(call, cwd=folder, capture_output=True, text=True, check=False)


def test_the_step_draws_what_the_build_draws(tmp_path: Path) -> None:
    """So a Makefile can make the promise too; the table is a fixed assignment for a recipe."""
    out = build(tmp_path, "min_train_quadrats = 1")
    shares = ("--holdout", "test=0.3", "--holdout", "val=0.3", "--min-train-quadrats", "1")
    done = draw_step(tmp_path, *shares)
    assert done.returncode == 0, done.stderr
    assert "passed over for their species" in done.stderr
    columns = ["quadratId", "subset"]
    mine = pd.read_csv(tmp_path / "draw.csv")[columns]
    assert mine.equals(pd.read_csv(out / "public" / "quadrats.csv")[columns])
    renamed = (tmp_path / "pa.csv").read_text().replace("speciesId", "spid", 1)
    (tmp_path / "pa.csv").write_text(renamed)
    assert draw_step(tmp_path, *shares).returncode == 1
    assert draw_step(tmp_path, *shares, "--species", "spid").returncode == 0
    assert pd.read_csv(tmp_path / "draw.csv")[columns].equals(mine)


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("--species", "speciesId"), 2, "--species names the column for --min-train-quadrats"),
        (("--min-train-quadrats", "1", "--species", "speciesID"), 1, "Did you mean 'speciesId'?"),
        (("--min-train-quadrats", "1", "--quadrats", "draw.csv"), 2, "leaves nothing to draw"),
        (("--min-train-quadrats", "1", "--method", "threshold"), 1, "cannot keep min_train_quadrats"),
    ],
)
def test_the_step_refuses_what_it_cannot_promise(words: tuple[str, ...], code: int, said: str, tmp_path: Path) -> None:
    """One line says what is wrong."""
    write_flora(tmp_path)
    write_csv(tmp_path / "draw.csv", "quadratId,subset", ["x,test"])
    done = draw_step(tmp_path, "--holdout", "test=0.3", *words)
    assert (done.returncode, "Traceback" in done.stderr) == (code, False)
    assert said in done.stderr
