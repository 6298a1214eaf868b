"""The command that prints the script of a shell: completion."""

from __future__ import annotations

from typing import Annotated

import typer

from gradcli.cli.completion.scripts import SCRIPTS, Shell

Shells = Annotated[Shell, typer.Argument(metavar="SHELL", show_default=False, help="bash, zsh or fish.")]


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    app.command("completion")(completion)


def completion(shell: Shells) -> str:
    """The script that completes what is typed in a shell.

    That is commands, options and their words, functions inside of an expression, and its variables.

    For bash, put `eval "$(gradcli completion bash)"` into ~/.bashrc; for zsh, `eval "$(gradcli completion zsh)"` into
    ~/.zshrc behind compinit; for fish, write the script to ~/.config/fish/completions/gradcli.fish.

    \b
    Examples:
      gradcli completion bash
      gradcli completion fish
    """
    return SCRIPTS[shell]
