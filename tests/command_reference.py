"""The command reference of the guide, which `python -m tests.command_reference` renews.

What each command answers, by group, and every option once, with the commands that have it: as their `--help` says.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import typer
from typer.core import TyperArgument, TyperGroup, TyperOption
from typer.main import get_command

from gradcli.cli.app import app
from gradcli.cli.command_groups import GROUPS
from tests import generated

PAGE = generated.GUIDE / "reference.md"
FEW = 6
"""Commands that are named; of more, those are named that lack an option."""


def reference() -> str:
    """The commands by group, then their options in the order of the helps."""
    command = get_command(app)
    assert isinstance(command, TyperGroup)
    names = command.list_commands(typer.Context(command))
    assert sorted(names) == sorted(name for group in GROUPS.values() for name in group)
    parts = []
    for title, group in GROUPS.items():
        items = [
            f"- **`gradcli {_usage(name, command)}`** {_text(command.commands[name].help or '')}\n" for name in group
        ]
        parts.append(f"**{title}**\n\n{''.join(items)}")
    rows = [f"| {said} | {_of(owners, names)} | {text} |\n" for (said, text), owners in _options(command).items()]
    return "\n".join([*parts, f"| option | of | says |\n| --- | --- | --- |\n{''.join(rows)}"])


def _usage(name: str, group: TyperGroup) -> str:
    arguments = [p for p in group.commands[name].params if isinstance(p, TyperArgument)]
    return " ".join([name, *(p.make_metavar(typer.Context(group.commands[name])) for p in arguments)])


def _text(help_text: str) -> str:
    """All but the examples, as one paragraph."""
    return " ".join(help_text.partition("\b")[0].split())


def _options(group: TyperGroup) -> Mapping[tuple[str, str], Sequence[str]]:
    """The commands that have an option, by how it is given and what it says."""
    found: dict[tuple[str, str], list[str]] = {}
    for name in group.list_commands(typer.Context(group)):
        context = typer.Context(group.commands[name])
        for option in group.commands[name].params:
            if isinstance(option, TyperOption):
                found.setdefault((_said(option, context), _cell(" ".join(_sentences(option)))), []).append(name)
    return found


def _said(option: TyperOption, context: typer.Context) -> str:
    metavar = "" if option.is_flag else f" {option.make_metavar(context)}"
    return ", ".join(f"`{_cell(word + metavar)}`" for word in sorted(option.opts, key=len))


def _sentences(option: TyperOption) -> Iterator[str]:
    yield option.help or ""
    if option.show_default and option.default is not None and not option.is_flag:
        yield f"Default: {option.default}."


def _of(owners: Sequence[str], names: Sequence[str]) -> str:
    if len(owners) <= FEW:
        return ", ".join(owners)
    return f"all but {', '.join(name for name in names if name not in owners)}"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


if __name__ == "__main__":
    generated.renew(PAGE, "command_reference", reference())
