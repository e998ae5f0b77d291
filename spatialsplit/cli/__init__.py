"""The command line: which commands there are, and what an error looks like to a person.

One file a group of commands in this folder; each parses, calls one function of the library and prints. A command's
module is
imported only when that command runs, so `spatialsplit --help` starts quickly.
"""

from __future__ import annotations

import importlib
import os
import sys
from dataclasses import dataclass

import click

from spatialsplit.errors import SpatialSplitError

BAD_INPUT, USAGE, CHECK_FAILED = 1, 2, 3


@dataclass(frozen=True)
class Entry:
    """Where a command lives and the line that `--help` shows for it."""

    module: str
    help: str


COMMANDS: dict[str, Entry] = {
    "describe": Entry("describing", "Say what is in a table, and give a recipe to start from."),
    "build": Entry("building", "Build a dataset from a recipe."),
    "quadrats": Entry("steps", "Give every point its quadrat."),
    "draw": Entry("steps", "Draw holdouts of whole quadrats."),
    "surveys": Entry("steps", "Group presence-absence rows into surveys."),
    "filter-po": Entry("steps", "Remove presence-only records near sites."),
    "audit": Entry("auditing", "Prove a split honest, ours or anybody's."),
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
}


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
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands from the table above, importing none of them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, entry.help) for name, entry in COMMANDS.items()])


@click.group(cls=LazyCommands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(package_name="spatialsplit", message="spatialsplit %(version)s")
def cli() -> None:
    """Turn raw species records into a published benchmark with an honest spatial split.

    Start with:  spatialsplit synth --out flora && spatialsplit build flora/recipe.toml --out dataset
    """


def main() -> None:
    """Run the command line; faults become lines on stderr and an exit code, never a traceback."""
    try:
        code = cli.main(standalone_mode=False)
    except SpatialSplitError as error:
        _say(*error.problems)
        code = BAD_INPUT
    except click.ClickException as error:
        error.show()
        code = USAGE
    except (click.Abort, KeyboardInterrupt):
        _say("Stopped. Nothing was left half-written.")
        code = 130
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = BAD_INPUT
    except OSError as error:
        _say(f"{error.strerror or error}{f': {error.filename}' if error.filename else ''}.")
        code = BAD_INPUT
    sys.exit(code if isinstance(code, int) else 0)


def _say(*lines: str) -> None:
    for line in lines:
        click.echo(line, err=True)
