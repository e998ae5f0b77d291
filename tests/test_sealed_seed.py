"""A sealed seed from end to end: committed to, told nowhere, proven afterwards, and of no use to a guesser before."""

from __future__ import annotations

import csv
import hashlib
import json
import math
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from spatialsplit.audit import audit_dataset
from spatialsplit.build import BuildReport, build_dataset
from spatialsplit.errors import RecipeError
from spatialsplit.exports.croissant import export_croissant
from spatialsplit.quadrats import Grid

SECRET = "c0ffee0123456789" * 2
"""32 hexadecimal digits: the least that may be sealed."""


@pytest.fixture(scope="module")
def sealed(flora: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build a dataset under a sealed seed, with a test of many quadrats; read it, do not write into it."""
    folder = tmp_path_factory.mktemp("sealed")
    for name in ("pa.csv", "po.csv"):
        (folder / name).symlink_to(flora / name)
    recipe = (flora / "recipe.toml").read_text()
    recipe = re.sub(r"(?m)^seed = .*$", 'seed_env = "THE_SEED"', recipe)
    recipe = re.sub(r'name = "test"\nshare = \S+', 'name = "test"\nshare = 0.4', recipe)
    recipe = recipe.replace("public_share = 0.3", "public_share = 0.5")
    (folder / "recipe.toml").write_text(recipe)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("THE_SEED", SECRET)
        return build_dataset(folder / "recipe.toml", folder / "dataset").folder


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the program as somebody without the secret would."""
    return subprocess.run([sys.executable, "-m", "spatialsplit", *arguments], capture_output=True, text=True)


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def number(seed: str, name: str, label: str) -> str:
    """Give a quadrat's number by the words of the contract."""
    return hashlib.sha256(f"{seed}|{name}|{label}".encode()).hexdigest()[:16]


def test_the_commitment_is_all_that_is_told(sealed: Path) -> None:
    """Neither the seed nor a part of it stands in any file; its SHA-256 stands in the manifest."""
    manifest = json.loads((sealed / "manifest.json").read_text())
    by_shell = subprocess.run(
        f"printf '%s' {SECRET} | sha256sum", shell=True, capture_output=True, text=True, check=True
    )
    assert manifest["seed"] == {"kind": "sealed", "sha256": by_shell.stdout.split()[0]}
    export_croissant(sealed, sealed.parent / "croissant.json")
    for path in [*sealed.rglob("*"), sealed.parent / "croissant.json"]:
        if path.is_file():
            assert SECRET.encode() not in path.read_bytes(), path
            assert SECRET[:16].encode() not in path.read_bytes(), path


def test_the_draw_stays_open_until_the_seed_is_revealed(sealed: Path) -> None:
    """Without the seed the audit passes, and says what it could not see."""
    done = run("audit", str(sealed), "--json")
    assert done.returncode == 0
    (check,) = [each for each in json.loads(done.stdout)["checks"] if each["name"] == "draw_rederives"]
    assert check["passed"] is None
    assert "sealed" in check["detail"]


def test_the_revealed_seed_proves_the_draw(sealed: Path) -> None:
    """`audit DIR --seed` shows that it is the seed committed to, and that draw and Usage follow from it."""
    done = run("audit", str(sealed), "--seed", SECRET, "--json")
    assert done.returncode == 0
    checks = {each["name"]: each["passed"] for each in json.loads(done.stdout)["checks"]}
    assert checks["draw_rederives"] is True
    assert set(checks.values()) == {True}


@pytest.mark.parametrize("wrong", ["0123456789abcdef" * 2, SECRET.upper(), SECRET[:-1], f"{SECRET} ", f"{SECRET}#1"])
def test_a_wrong_seed_exits_3(sealed: Path, wrong: str) -> None:
    """Any other text is another seed, and the audit says so by name."""
    report = audit_dataset(sealed, seed=wrong)
    assert [check.name for check in report.checks if check.passed is False] == ["draw_rederives"]
    if wrong == SECRET[:-1]:
        done = run("audit", str(sealed), "--seed", wrong)
        assert done.returncode == 3
        assert "draw_rederives" in done.stdout
        assert SECRET not in done.stdout + done.stderr


def test_the_quadrats_numbers_follow_from_the_revealed_seed(sealed: Path) -> None:
    """As anybody computes them with sha256sum."""
    for row in rows(sealed / "public" / "quadrats.csv")[:50]:
        assert number(SECRET, "test", row["quadratId"]) == row["test_number"]


class TestUsageIsSecret:
    """Who knows all that is public does not know which test surveys count for the public leaderboard."""

    @staticmethod
    def truth(dataset: Path) -> tuple[list[str], set[str]]:
        """Give the labels of the test quadrats, and those of them that are Public."""
        surveys = rows(dataset / "private" / "PA_test.csv")
        usage = {row["surveyId"]: row["Usage"] for row in rows(dataset / "private" / "solution.csv")}
        lon, lat = (np.array([float(row[name]) for row in surveys]) for name in ("lon", "lat"))
        labels = Grid("EPSG:3035", 5000, (0, 0)).assign(lon, lat).of_each_point()
        public = {label for label, row in zip(labels, surveys, strict=True) if usage[row["surveyId"]] == "Public"}
        return sorted(set(labels)), public

    @staticmethod
    def guessed(seed: str, labels: list[str], n_public: int) -> set[str]:
        """Give the public quadrats that a seed would make."""
        return set(sorted(labels, key=lambda label: (number(seed, "public", label), label))[:n_public])

    def test_the_seed_gives_the_public_quadrats(self, sealed: Path) -> None:
        """The guess below is the right computation: with the seed it hits."""
        labels, public = self.truth(sealed)
        assert math.comb(len(labels), len(public)) > 10**12, "a lucky guess must be out of the question"
        assert self.guessed(SECRET, labels, len(public)) == public

    def test_no_public_word_is_the_seed(self, sealed: Path) -> None:
        """Every word and number of the public files, the manifest and the recipe is tried, and none hits."""
        labels, public = self.truth(sealed)
        one = rows(sealed / "public" / "quadrats.csv")[0]
        words = set(public_words(sealed))
        commitment = json.loads((sealed / "manifest.json").read_text())["seed"]["sha256"]
        assert {commitment, "THE_SEED", "virtual-flora", "0.5", one["test_number"]} <= words
        words |= {commitment[:32], commitment[32:], commitment.upper(), ""}
        assert len(words) > 5_000
        for word in words:
            assert number(word, "test", one["quadratId"]) != one["test_number"]
            assert self.guessed(word, labels, len(public)) != public

    def test_the_published_numbers_do_not_tell_usage(self, sealed: Path) -> None:
        """The order of the test quadrats in the draw of test says nothing of their order in the draw of public."""
        labels, public = self.truth(sealed)
        numbers = {row["quadratId"]: row["test_number"] for row in rows(sealed / "public" / "quadrats.csv")}
        by_number = sorted(labels, key=numbers.__getitem__)
        for guess in (by_number[: len(public)], by_number[-len(public) :]):
            hits = len(public & set(guess))
            expected = len(public) ** 2 / len(labels)
            assert abs(hits - expected) < 4 * math.sqrt(expected)

    def test_usage_stands_in_no_public_file(self, sealed: Path) -> None:
        """Neither by name nor by value."""
        for path in [*(sealed / "public").rglob("*.csv"), sealed / "manifest.json"]:
            text = path.read_text("utf-8")
            assert "Usage" not in text.replace('"name": "Usage"', "").replace('"means": "Usage"', "")
            assert ",Public" not in text
            assert ",Private" not in text


def public_words(dataset: Path) -> Iterator[str]:
    """Give every word of what a participant may see: cells, words, numbers, hashes, and whole lines."""
    files = [
        *(dataset / "public").rglob("*"),
        dataset / "manifest.json",
        dataset / "recipe.toml",
        dataset / "SHA256SUMS",
    ]
    for path in files:
        if path.suffix not in ("", ".csv", ".md", ".json", ".toml"):
            continue
        text = path.read_text("utf-8")
        yield from re.findall(r"[\w.+-]+", text)
        yield from (line.strip() for line in text.splitlines())
        yield hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.mark.parametrize("weak", ["", "secret", SECRET[:-1], SECRET[:-1] + "g", "0x" + SECRET, f" {SECRET}"])
def test_a_weak_seed_is_refused(weak: str, flora: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Fewer than 32 hexadecimal digits could be guessed from the commitment; nothing is written or repeated."""
    (tmp_path / "recipe.toml").write_text(
        re.sub(r"(?m)^seed = .*$", 'seed_env = "THE_SEED"', (flora / "recipe.toml").read_text())
    )
    monkeypatch.setenv("THE_SEED", weak)
    with pytest.raises(RecipeError, match="too weak to be sealed" if weak else "has no THE_SEED") as caught:
        build_dataset(tmp_path / "recipe.toml", tmp_path / "dataset")
    assert len(caught.value.problems) == 1
    assert not weak or weak not in str(caught.value)
    assert not (tmp_path / "dataset").exists()


def test_what_new_seed_makes_may_be_sealed() -> None:
    """32 hexadecimal digits or more, another each time."""
    seeds = {run("new-seed").stdout.strip() for _ in range(2)}
    assert len(seeds) == 2
    assert all(re.fullmatch(r"[0-9a-f]{32,}", seed) for seed in seeds)


def test_an_open_seed_warns_that_usage_can_be_derived(built: BuildReport, sealed: Path) -> None:
    """With an open seed anybody derives Public and Private, as here; with a sealed one there is no such warning."""
    assert any("seed is open" in warning for warning in built.manifest["warnings"])
    labels, public = TestUsageIsSecret.truth(built.folder)
    assert TestUsageIsSecret.guessed(built.manifest["seed"]["value"], labels, len(public)) == public
    warnings = json.loads((sealed / "manifest.json").read_text())["warnings"]
    assert not any("seed is open" in warning for warning in warnings)
