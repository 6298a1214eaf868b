"""The command reference of the README, which `python -m tests.command_reference` renews.

It is the help of every command as a terminal of 80 columns shows it.
"""

from __future__ import annotations

import re
from pathlib import Path

import typer
from typer.core import TyperGroup
from typer.main import get_command

from gradcli.cli.app import app

README = Path(__file__).parent.parent / "README.md"
BEGIN = "<!-- The reference is generated: python -m tests.command_reference -->\n"
END = "<!-- end of the reference -->\n"
COLUMNS = 78
"""Of text: two are left free."""


def reference() -> str:
    """The help of the program and of each of its commands, folded away."""
    command = get_command(app)
    assert isinstance(command, TyperGroup)
    program = typer.Context(command, info_name="gradcli", terminal_width=COLUMNS, **command.context_settings)
    parts = [_part("gradcli", command.get_help(program))]
    for name in command.list_commands(program):
        one = command.get_command(program, name)
        assert one is not None
        context = typer.Context(one, parent=program, info_name=name, terminal_width=COLUMNS)
        parts.append(_part(f"gradcli {name}", one.get_help(context)))
    return "\n".join(parts)


def _part(name: str, text: str) -> str:
    tidy = re.sub(r" +$", "", text, flags=re.MULTILINE)
    return f"<details><summary><code>{name}</code></summary>\n\n```text\n{tidy}\n```\n\n</details>\n"


def split(text: str) -> tuple[str, str, str]:
    """The README before its reference, the reference, and what follows."""
    before, _, rest = text.partition(BEGIN)
    found, _, after = rest.partition(END)
    return before, found, after


def renewed(text: str) -> str:
    """The README with the reference that the commands have now."""
    before, _, after = split(text)
    return f"{before}{BEGIN}\n{reference()}\n{END}{after}"


if __name__ == "__main__":
    README.write_text(renewed(README.read_text(encoding="utf-8")), encoding="utf-8")
