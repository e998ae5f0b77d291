"""What a newcomer meets first: the bare command, the help, an error, the Tab key."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from spatialsplit import errors
from spatialsplit.cli import COMMANDS, cli, with_page
from tests.doc_world import REPOSITORY, run_shell
from tests.real_data import data_folder

EXAMPLE = re.compile(r"^ +Example: +((?:.*\\\n)*.*)$", re.MULTILINE)

SHELLS = {"bash": "complete -o", "zsh": "compdef", "fish": "complete --no-files"}


@cache
def help_texts() -> dict[str, str]:
    """Give the help of every command, and of every command under it."""
    context = click.Context(cli, info_name="spatialsplit")
    found = {}
    for name in COMMANDS:
        command = cli.get_command(context, name)
        assert command is not None
        found[name] = CliRunner().invoke(cli, [name, "--help"]).output
        if isinstance(command, click.Group):
            for child in command.list_commands(context):
                found[f"{name} {child}"] = CliRunner().invoke(cli, [name, child, "--help"]).output
    return found


def spatialsplit(*arguments: str, cwd: Path | None = None, env: dict[str, str] | None = None) -> tuple[int, str, str]:
    """Run the program as a person does; give exit code, standard output, standard error."""
    command = [str(Path(sys.executable).parent / "spatialsplit"), *arguments]
    done = subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


def test_the_bare_command_says_what_to_do_first() -> None:
    """No error and no wall of text: what to type, and exit code 0."""
    code, said, complaint = spatialsplit()
    assert (code, complaint) == (0, "")
    assert "spatialsplit synth --out flora" in said
    assert len(said.splitlines()) <= 18


def test_the_version_is_one_line() -> None:
    """`--version` gives name and version."""
    code, said, _ = spatialsplit("--version")
    assert code == 0
    assert re.fullmatch(r"spatialsplit \d+\.\d+\.\d+\S*\n", said)


def test_a_mistyped_command_is_answered_with_the_nearest() -> None:
    """As a mistyped key of a recipe is."""
    code, _, complaint = spatialsplit("bild")
    assert code == 2
    assert "Did you mean 'build'?" in complaint


@pytest.mark.parametrize("name", [*COMMANDS, "export kaggle", "export codabench", "export croissant"])
def test_every_help_has_an_example_to_copy(name: str) -> None:
    """On a line of its own, however narrow the terminal is, and it calls that command."""
    examples = EXAMPLE.findall(help_texts()[name])
    assert examples
    assert all(f"spatialsplit {name.split()[0]}" in example for example in examples)


@pytest.mark.parametrize("name", [*COMMANDS, "export kaggle", "export codabench", "export croissant"])
def test_every_help_fits_a_terminal_of_80_columns(name: str) -> None:
    """Nothing runs over the edge, and no line that is listed ends in dots."""
    lines = help_texts()[name].splitlines()[1:]  # the first is the usage, where dots mean several
    assert [line for line in lines if len(line) > 80 or line.endswith("...")] == []


@pytest.mark.slow
def test_the_examples_of_all_helps_run(world: Path) -> None:
    """In their order, in a folder with a flora, its dataset and the tables they name."""
    for copy in ("dataset-v1", "dataset-v2"):
        shutil.copytree(world / "dataset", world / copy)
    shutil.rmtree(world / "dataset")
    examples = dict.fromkeys(example for text in help_texts().values() for example in EXAMPLE.findall(text))
    runnable = [line for line in examples if "zsh" not in line and "fish" not in line]
    runnable = [line.replace("baseline random-forest", "baseline random-forest --trees 5") for line in runnable]
    runnable = [line.replace("--surveys 4000 --po 100000", "--surveys 100 --po 100 --force") for line in runnable]
    done = run_shell("\n".join(f"{line} >/dev/null" for line in runnable), world)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(("shell", "sign"), SHELLS.items())
def test_the_completion_of_each_shell_can_be_printed(shell: str, sign: str) -> None:
    """A script that asks the program itself."""
    code, said, _ = spatialsplit("completion", shell)
    assert code == 0
    assert sign in said
    assert "_SPATIALSPLIT_COMPLETE" in said


@pytest.mark.parametrize(
    ("typed", "completed"),
    [
        ("bu", "build"),
        ("che", "check-submission"),
        ("build --fo", "--force"),
        ("export ka", "kaggle"),
        ("baseline most", "most-frequent"),
        ("--ver", "--version"),
    ],
)
def test_tab_completes_commands_and_options(typed: str, completed: str) -> None:
    """Bash itself, with the printed script, completes what was typed."""
    words = f"spatialsplit {typed}".split()
    script = f"""
        eval "$(spatialsplit completion bash)"
        COMP_WORDS=({" ".join(words)}); COMP_CWORD={len(words) - 1}
        _spatialsplit_completion spatialsplit {words[-1]} {words[-2]}
        echo "${{COMPREPLY[@]}}"
    """
    done = run_shell(script, REPOSITORY)
    assert completed in done.stdout.split(), done.stderr


def test_zsh_completes_though_nothing_was_set_up_for_it() -> None:
    """A ~/.zshrc with our one line and no framework: the script makes zsh's own completion ready."""
    if shutil.which("zsh") is None:
        pytest.skip("There is no zsh (Debian: apt-get install zsh).")
    line = 'eval "$(spatialsplit completion zsh)"; print -r -- $_comps[spatialsplit]'
    done = run_shell(f"ZDOTDIR=$(mktemp -d) zsh -f -c '{line}'", REPOSITORY)
    assert (done.stdout.strip(), done.stderr) == ("_spatialsplit_completion", "")


def test_fish_completes_with_one_line_in_its_settings() -> None:
    """No folder has to be made first."""
    if shutil.which("fish") is None:
        pytest.skip("There is no fish (Debian: apt-get install fish).")
    line = 'spatialsplit completion fish | source; complete -C "spatialsplit build --fo"'
    done = run_shell(f"HOME=$(mktemp -d) fish -c '{line}'", REPOSITORY)
    assert done.stdout.startswith("--force"), done.stderr


def test_completing_a_command_imports_none() -> None:
    """Tab answers at once: the table of commands is enough."""
    script = (
        "import sys; from spatialsplit.cli import cli; from click.shell_completion import BashComplete; "
        "found = BashComplete(cli, {}, 'spatialsplit', 'X').get_completions([], ''); "
        "print(len(found), 'numpy' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.split() == [str(len(COMMANDS)), "False"]


@pytest.mark.parametrize(
    "error", [kind for kind in vars(errors).values() if isinstance(kind, type) and hasattr(kind, "page")]
)
def test_the_page_that_an_error_names_exists(error: type[errors.SpatialSplitError]) -> None:
    """Each kind of error has one page or none."""
    assert not error.page or (REPOSITORY / error.page).is_file()


def test_an_error_ends_with_the_page_that_helps(tmp_path: Path) -> None:
    """Once, after the last line; a line stays a fault."""
    (tmp_path / "r.toml").write_text('name = "x"\nseed = 1\nlayuot = 2\n')
    code, _, complaint = spatialsplit("build", "r.toml", "--out", "d", cwd=tmp_path)
    assert code == 1
    assert complaint.rstrip().endswith("See docs/recipe.md.")
    assert complaint.count("docs/") == 1


def test_a_missing_column_leads_to_the_page_on_columns(tmp_path: Path) -> None:
    """In a build and in a step."""
    (tmp_path / "t.csv").write_text("x,y\n1,2\n")
    code, _, complaint = spatialsplit("quadrats", "t.csv", "--out", "q.csv", cwd=tmp_path)
    assert code == 1
    assert complaint.rstrip().endswith("See docs/how-to/columns.md.")


@pytest.mark.parametrize(
    ("table", "cure"),
    [
        ("x,y\n5,45\n", "Say --column lon=NAME."),
        ("lon;lat\n5,5;45,1\n", 'say --decimal ",".'),
        ("lon,lat\n600000,200000\n", "say --input-crs EPSG:…."),
        ("lon,lat,ä\n5,45,1\n", "--encoding latin-1"),
    ],
)
def test_a_command_without_a_recipe_speaks_of_its_options(table: str, cure: str, tmp_path: Path) -> None:
    """Whoever calls a single step has no recipe to name a column in."""
    (tmp_path / "t.csv").write_text(table, "latin-1")
    code, _, complaint = spatialsplit("quadrats", "t.csv", "--out", "q.csv", cwd=tmp_path)
    assert code == 1
    assert cure in complaint
    assert "recipe" not in complaint
    assert "[inputs" not in complaint


def test_an_error_that_names_a_page_itself_gets_no_second() -> None:
    """The nearer page is the better one."""
    assert with_page(errors.RecipeError("Wrong. See docs/scoring.md.")) == ["Wrong. See docs/scoring.md."]
    assert with_page(errors.RecipeError(["One.", "Two."])) == ["One.", "Two. See docs/recipe.md."]
    assert with_page(errors.DataError("No such folder.")) == ["No such folder."]


def test_two_commands_make_a_dataset_of_real_tables(tmp_path: Path) -> None:
    """The eight wide tables of New South Wales and their records, with no line of the recipe written by hand."""
    for path in [*data_folder().glob("disdat/NSWtest_pa_*.csv"), data_folder() / "disdat" / "NSWtrain_po.csv"]:
        shutil.copy(path, tmp_path)
    done = run_shell(
        "spatialsplit describe NSWtest_pa_*.csv NSWtrain_po.csv --recipe recipe.toml\n"
        "spatialsplit build recipe.toml --out dataset && spatialsplit audit dataset && spatialsplit verify dataset",
        tmp_path,
    )
    assert done.returncode == 0, done.stderr
    assert "outside the area of use" not in done.stderr
    assert "The audit passed" in done.stdout
