"""The command reference of the guide, which `python -m tests.command_reference` renews.

What each command answers, by group, and every option once, with the commands that have it: as their `--help` says.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import typer
from typer.core import TyperArgument, TyperGroup
from typer.main import get_command

from gradcli import options
from gradcli.cli.app import GROUPS, app
from gradcli.options import Kind, Option
from tests import generated

PAGE = generated.GUIDE / "reference.md"
FEW = 6
"""Commands that are named; of more, those are named that lack an option."""


def reference() -> str:
    """The commands by group, then their options in the order of the helps."""
    command = get_command(app)
    assert isinstance(command, TyperGroup)
    names = [name for name, one in command.commands.items() if not one.hidden]
    assert sorted(names) == sorted(name for group in GROUPS.values() for name in group)
    parts = []
    for title, group in GROUPS.items():
        items = [
            f"- **`gradcli {_usage(name, command)}`** {_text(command.commands[name].help or '')}\n" for name in group
        ]
        parts.append(f"**{title}**\n\n{''.join(items)}")
    rows = [f"| {said} | {_of(owners, names)} | {text} |\n" for (said, text), owners in _options(names).items()]
    return "\n".join([*parts, f"| option | of | says |\n| --- | --- | --- |\n{''.join(rows)}"])


def _usage(name: str, group: TyperGroup) -> str:
    arguments = [p for p in group.commands[name].params if isinstance(p, TyperArgument)]
    return " ".join([name, *(p.make_metavar(typer.Context(group.commands[name])) for p in arguments)])


def _text(help_text: str) -> str:
    """All but the examples, as one paragraph."""
    return " ".join(help_text.partition("\b")[0].split())


def _options(names: Sequence[str]) -> Mapping[tuple[str, str], Sequence[str]]:
    """The commands that have an option, by how it is given and what it says, in the order of the helps."""
    found: dict[tuple[str, str], list[str]] = {}
    for name in names:
        for option in options.typed(name):
            default = f" Default: {option.default}." if _has_default(option) else ""
            found.setdefault((_said(option), _cell(option.help + default)), []).append(name)
    return found


def _said(option: Option) -> str:
    value = f"<{'|'.join(option.choices)}>" if option.choices else option.metavar
    return ", ".join(f"`{_cell(flag + (f' {value}' if value else ''))}`" for flag in sorted(option.flags, key=len))


def _has_default(option: Option) -> bool:
    return option.default is not None and option.kind is not Kind.SWITCH


def _of(owners: Sequence[str], names: Sequence[str]) -> str:
    if len(owners) <= FEW:
        return ", ".join(owners)
    return f"all but {', '.join(name for name in names if name not in owners)}"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


if __name__ == "__main__":
    generated.renew(PAGE, "command_reference", reference())
