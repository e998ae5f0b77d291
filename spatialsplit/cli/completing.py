"""The command `completion`."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from spatialsplit.cli import cli


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """Print the script that makes SHELL complete commands and options when Tab is pressed.

    Put the first line into ~/.bashrc, the second into ~/.zshrc, or run the third once.

    Example:  eval "$(spatialsplit completion bash)"

    Example:  eval "$(spatialsplit completion zsh)"

    Example:  spatialsplit completion fish > ~/.config/fish/completions/spatialsplit.fish
    """
    kind = get_completion_class(shell)
    assert kind is not None  # click knows these three
    click.echo(kind(cli, {}, "spatialsplit", "_SPATIALSPLIT_COMPLETE").source())
