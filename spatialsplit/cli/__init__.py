"""The command line: which commands there are, and what an error looks like to a person.

One file a group of commands in this folder; each parses, calls one function of the library and prints. A command's
module is imported only when that command runs, so `spatialsplit --help` and the completion of names start quickly.
"""

from __future__ import annotations

import importlib
import inspect
import os
import re
import sys
from dataclasses import dataclass

import click
from click.shell_completion import CompletionItem

from spatialsplit.errors import SpatialSplitError, nearest_name

BAD_INPUT, USAGE, CHECK_FAILED, STOPPED = 1, 2, 3, 130


@dataclass(frozen=True)
class Entry:
    """Where a command lives and the line that `--help` shows for it."""

    module: str
    help: str


COMMANDS: dict[str, Entry] = {
    "describe": Entry("describing", "Say what is in a table, and give a recipe to start from."),
    "build": Entry("building", "Build a dataset from a recipe."),
    "surveys": Entry("steps", "Group presence-absence rows into surveys."),
    "quadrats": Entry("steps", "Give every point its quadrat."),
    "draw": Entry("steps", "Draw holdouts of whole quadrats."),
    "filter-po": Entry("steps", "Remove presence-only records near sites."),
    "audit": Entry("auditing", "Prove a split honest, ours or anybody's."),
    "report": Entry("reporting", "Show a dataset and its audit as one web page."),
    "verify": Entry("auditing", "Check a dataset against its manifest."),
    "rebuild": Entry("comparing", "Build a dataset again elsewhere and compare."),
    "diff": Entry("comparing", "Say what changed between two datasets."),
    "check-submission": Entry("scoring", "List every fault of a submission."),
    "score": Entry("scoring", "Score a submission."),
    "extract": Entry("rasters", "Add raster values to a table of points."),
    "patches": Entry("rasters", "Cut patches of a raster round points."),
    "baseline": Entry("baselines", "Run a published baseline on a dataset."),
    "export": Entry("exporting", "Write files for a competition platform."),
    "suggest-size": Entry("diagnostics", "Suggest how large quadrats should be."),
    "synth": Entry("synthesis", "Make a virtual flora to try things on."),
    "new-seed": Entry("steps", "Make a strong seed."),
    "completion": Entry("completing", "Print what makes a shell complete commands."),
}

FIRST_STEPS = """spatialsplit: raw species records in, a published benchmark with an honest spatial split out.

Try it on a made-up country (half a minute):
  spatialsplit synth --out flora
  spatialsplit build flora/recipe.toml --out dataset
  spatialsplit audit dataset

With a table of your own:
  spatialsplit describe surveys.csv       what we read in it, and a recipe to start from

With a split that somebody else made:
  spatialsplit audit --train train.csv --test test.csv --crs EPSG:3035 --size 10000

All commands:     spatialsplit --help
One of them:      spatialsplit build --help
"""
"""What a newcomer reads who typed the name and nothing else."""


class LazyCommands(click.Group):
    """A group whose commands are imported when they are asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Name the commands in the order of the work."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the module of one command and give that command."""
        entry = COMMANDS.get(cmd_name)
        if entry is None:
            return None
        module = importlib.import_module(f"spatialsplit.cli.{entry.module}")
        command: click.Command = getattr(module, cmd_name.replace("-", "_"))
        keep_examples(command)
        return command

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Complete the name of a command from the table above, importing none of them."""
        names = [CompletionItem(name, help=COMMANDS[name].help) for name in COMMANDS if name.startswith(incomplete)]
        return names or click.Command.shell_complete(self, ctx, incomplete)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command that was typed, or name the one that is nearest to it."""
        name = args[0]
        if name in COMMANDS or name.startswith("-"):
            return super().resolve_command(ctx, args)
        near = nearest_name(name, COMMANDS)
        ctx.fail(f"No such command '{name}'." + (f" Did you mean '{near}'?" if near else ""))

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands from the table above, importing none of them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, entry.help) for name, entry in COMMANDS.items()])


TERMINAL = 80
"""Columns that a line of help may have; click indents it by two."""


def keep_examples(command: click.Command) -> None:
    """Keep the lines of a help text as they are where they hold a run of spaces: an example to copy, or a table."""
    paragraphs = inspect.cleandoc(command.help or "").replace("\b\n", "").split("\n\n")
    kept = [f"\b\n{fold(text)}" if re.search(r"\S  |^  ", text) else text for text in paragraphs]
    command.help = "\n\n".join(kept)
    if isinstance(command, click.Group):
        for child in command.commands.values():
            keep_examples(child)


def fold(example: str) -> str:
    r"""Cut a long example before its options, so that a terminal shows it as it can be copied.

    Examples
    --------
    >>> print(fold("Example:  spatialsplit surveys flora/pa.csv --keys patchID,dayOfYear,recorder --out surveys.csv"))
    Example:  spatialsplit surveys flora/pa.csv \
                  --keys patchID,dayOfYear,recorder --out surveys.csv
    """
    if not example.startswith("Example: "):
        return example
    first, *options = re.split(r" (?=--)", example)
    lines = [first]
    for option in options:
        if len(f"  {lines[-1]} {option} \\") <= TERMINAL:
            lines[-1] += f" {option}"
        else:
            lines.append(f"{' ' * 14}{option}")
    return " \\\n".join(lines)


@click.group(
    cls=LazyCommands,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(package_name="spatialsplit", message="spatialsplit %(version)s")
@click.pass_context
def cli(ctx: click.Context) -> None:
    """Turn raw species records into a published benchmark with an honest spatial split.

    \b
    Start with:  spatialsplit synth --out flora
                 spatialsplit build flora/recipe.toml --out dataset
    """  # noqa: D301 - the escape is click's mark for lines that stay as they are
    if ctx.invoked_subcommand is None:
        click.echo(FIRST_STEPS, nl=False)


def main() -> None:
    """Run the command line; faults become lines on stderr and an exit code, never a traceback."""
    os.environ["MPLBACKEND"] = "agg"  # pictures go into files; a notebook's own choice may not be installed here
    try:
        code = cli.main(standalone_mode=False)
    except SpatialSplitError as error:
        _say(*map(in_options, with_page(error)) if _has_no_recipe() else with_page(error))
        code = BAD_INPUT
    except click.ClickException as error:
        error.show()
        code = USAGE
    except (click.Abort, KeyboardInterrupt):
        _say("Stopped. Nothing was left half-written.")
        code = STOPPED
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = BAD_INPUT
    except OSError as error:
        _say(f"{error.strerror or error}{f': {error.filename}' if error.filename else ''}.")
        code = BAD_INPUT
    sys.exit(code if isinstance(code, int) else 0)


def with_page(error: SpatialSplitError) -> list[str]:
    """Give the lines of an error; the last of them ends with the page that helps, where there is one."""
    *lines, last = error.problems or ("",)
    page = error.page if "docs/" not in last else ""
    return [*lines, f"{last} See {page}." if page else last]


AS_OPTIONS = {
    r'Name it in the recipe: columns = \{ (\S+) = "…" \}\.': r"Say --column \1=NAME.",
    r'say decimal = "," under \[[\w.]+\]': 'say --decimal ","',
    r'say crs = "EPSG:…" under \[[\w.]+\]': "say --input-crs EPSG:…",
    r'\bencoding = "([\w-]+)"': r"--encoding \1",
    r'\bseparator = "(\S+)"': r"--separator '\1'",
    r"; a recipe's paths count from the recipe's folder\.": ".",
}
"""What a recipe says by a key, as a command without a recipe says it."""


def in_options(line: str) -> str:
    """Put the cure in a line of an error into the words of a command that reads no recipe.

    Examples
    --------
    >>> in_options('They have a decimal comma: say decimal = "," under [inputs.po].')
    'They have a decimal comma: say --decimal ",".'
    """
    for key, option in AS_OPTIONS.items():
        line = re.sub(key, option, line)
    return line


def _has_no_recipe() -> bool:
    """Tell whether the command that was called reads no recipe."""
    name = next((word for word in sys.argv[1:] if not word.startswith("-")), "")
    return name not in ("build", "rebuild")


def _say(*lines: str) -> None:
    for line in lines:
        click.echo(line, err=True)
