"""Every example of the documentation runs, and prints what the page says it prints."""

from __future__ import annotations

import doctest
import re
import tomllib
import warnings
from pathlib import Path
from typing import Any

import pytest

from spatialsplit.recipe import parse_recipe
from tests.doc_world import REPOSITORY, Block, blocks_of, run_shell

PAGES = [REPOSITORY / "README.md", *sorted((REPOSITORY / "docs").rglob("*.md"))]
PAGES = [page for page in PAGES if not {"generated", "tutorial"} & set(page.parts)]

FROM_NOTHING = {"README.md", "first-steps.md"}
"""Pages that a newcomer follows from an empty folder."""

SHOWN = {"text", "json", "{toctree}", "{image}", "{include}", "{eval-rst}"}
RUN = {"sh", "console", "python", "make", "toml"}

SMALLEST: dict[str, Any] = {
    "name": "n",
    "seed": "1",
    "inputs": {"pa": {"path": "pa.csv"}, "po": {"path": "po.csv"}},
    "holdouts": [{"name": "test", "share": 0.1}],
}

FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def named(pages: list[Path]) -> Any:
    """Decorate a test to run for each page, under its name."""
    return pytest.mark.parametrize("page", pages, ids=[page.relative_to(REPOSITORY).as_posix() for page in pages])


@named(PAGES)
def test_every_block_says_what_it_is(page: Path) -> None:
    """Else nobody knows whether it runs."""
    unknown = [f"{page.name}:{block.line}" for block in blocks_of(page) if block.language not in RUN | SHOWN]
    assert not unknown


@named([page for page in PAGES if any(block.language in RUN for block in blocks_of(page))])
def test_the_examples_of_a_page_run(page: Path, made_world: Path, tmp_path: Path, request: Any) -> None:
    """In their order, as a reader would type them."""
    folder = tmp_path if page.name in FROM_NOTHING else request.getfixturevalue("world")
    names: dict[str, Any] = {}
    for block in blocks_of(page):
        try:
            run_block(block, folder, names)
        except Exception as error:
            raise AssertionError(f"{page.relative_to(REPOSITORY)}:{block.line}: {error}") from error


def run_block(block: Block, folder: Path, names: dict[str, Any]) -> None:
    """Do with a block what a reader would."""
    if block.language == "sh":
        _succeeds(block.text, folder)
    elif block.language == "make":
        (folder / "Makefile").write_text(block.text)
        _succeeds("make", folder)
    elif block.language == "console":
        _prints(block.text, folder)
    elif block.language == "python":
        with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
            warnings.simplefilter("default")
            patch.chdir(folder)
            exec(compile(block.text, "<block>", "exec"), names)
    elif block.language == "toml":
        _is_a_recipe(block.text, folder)


def _succeeds(script: str, folder: Path) -> None:
    done = run_shell(script, folder)
    assert done.returncode == 0, f"exit code {done.returncode}\n{done.stdout[-500:]}\n{done.stderr[-1500:]}"


def _prints(text: str, folder: Path) -> None:
    """Run each command of a transcript and compare what it printed."""
    for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        command, *told = re.split(r"(?<!\\)\n", part, maxsplit=1)
        done = run_shell(f"exec 2>&1\n{command}", folder)
        wanted = "".join(told).replace("…", "...")
        assert doctest.OutputChecker().check_output(wanted, done.stdout, FLAGS), f"{command}\nprinted\n{done.stdout}"


def _is_a_recipe(text: str, folder: Path) -> None:
    """Write the file that a block names, and read it as a recipe or as a part of one."""
    name = re.match(r"# (\S+\.toml)", text)
    if name:
        (folder / name[1]).write_text(text)
    content = tomllib.loads(text)
    for section in ("inputs", *SMALLEST):
        if section == "inputs":
            content["inputs"] = {**SMALLEST["inputs"], **content.get("inputs", {})} if not name else content["inputs"]
        elif not (section == "seed" and "seed_env" in content):
            content.setdefault(section, SMALLEST[section])
    parse_recipe(content)


def test_a_failing_command_is_seen(tmp_path: Path) -> None:
    """The runner itself: a command in the middle of a block that fails, fails the block."""
    with pytest.raises(AssertionError, match="exit code 1"):
        run_block(Block("sh", "true\nfalse\ntrue\n", 1), tmp_path, {})


def test_another_output_is_seen(tmp_path: Path) -> None:
    """The runner itself: a transcript is compared, up to what `…` leaves out."""
    run_block(Block("console", "$ printf 'one\\ntwo\\nthree\\n'\none\n…\nthree\n", 1), tmp_path, {})
    with pytest.raises(AssertionError, match="printed"):
        run_block(Block("console", "$ echo one\ntwo\n", 1), tmp_path, {})


def test_a_wrong_part_of_a_recipe_is_seen(tmp_path: Path) -> None:
    """The runner itself: keys are checked though the block is no whole recipe."""
    run_block(Block("toml", "[po_filter]\nradius_m = 300\n", 1), tmp_path, {})
    with pytest.raises(Exception, match="Unknown key 'radius'"):
        run_block(Block("toml", "[po_filter]\nradius = 300\n", 1), tmp_path, {})
