"""The command `completion`."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from spatialsplit.cli import cli

WITH_COMPINIT = "(( $+functions[compdef] )) || { autoload -Uz compinit && compinit -i }"
"""What a ~/.zshrc without a framework lacks: the command that click's script registers itself with."""


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """Print the script that makes SHELL complete commands and options when Tab is pressed.

    Put the first line into ~/.bashrc, the second into ~/.zshrc, or the third into ~/.config/fish/config.fish.

    Example:  eval "$(spatialsplit completion bash)"

    Example:  eval "$(spatialsplit completion zsh)"

    Example:  spatialsplit completion fish | source
    """
    kind = get_completion_class(shell)
    assert kind is not None  # click knows these three
    script = kind(cli, {}, "spatialsplit", "_SPATIALSPLIT_COMPLETE").source()
    if shell == "zsh":  # the first line is the mark of a file on the fpath
        script = script.replace("\n", f"\n{WITH_COMPINIT}\n", 1)
    click.echo(script)
