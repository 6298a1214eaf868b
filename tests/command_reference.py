"""The command reference of the guide, which `python -m tests.command_reference` renews.

What each command answers, by group, and every option once, with the commands that have it: as their `--help` says.
"""

from __future__ import annotations

from typer.core import TyperGroup
from typer.main import get_command

from gradcli.cli.app import app
from gradcli.cli.groups import GROUPS
from gradcli.cli.manual_page import each_option, owners, said, usage, value
from gradcli.options import Option
from tests import generated

PAGE = generated.GUIDE / "reference.md"


def reference() -> str:
    """The commands by group, then their options in the order of the helps."""
    command = get_command(app)
    assert isinstance(command, TyperGroup)
    names = [name for name, one in command.commands.items() if not one.hidden]
    assert sorted(names) == sorted(name for group in GROUPS.values() for name in group)
    parts = []
    for title, group in GROUPS.items():
        items = [
            f"- **`gradcli {usage(name, command)}`** {_text(command.commands[name].help or '')}\n" for name in group
        ]
        parts.append(f"**{title}**\n\n{''.join(items)}")
    rows = [
        f"| {_said(option)} | {owners(having, names)} | {_cell(said(option))} |\n"
        for option, having in each_option(names).values()
    ]
    return "\n".join([*parts, f"| option | of | says |\n| --- | --- | --- |\n{''.join(rows)}"])


def _text(help_text: str) -> str:
    """All but the examples, as one paragraph."""
    return " ".join(help_text.partition("\b")[0].split())


def _said(option: Option) -> str:
    return ", ".join(f"`{_cell(f'{flag} {value(option)}'.rstrip())}`" for flag in sorted(option.flags, key=len))


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


if __name__ == "__main__":
    generated.renew(PAGE, "command_reference", reference())
