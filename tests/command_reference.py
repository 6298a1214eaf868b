"""The command reference of the guide, which `python -m tests.command_reference` renews.

What each command answers, by group, and every option once, with the commands that have it: as their `--help` says.
"""

import inspect
from collections.abc import Mapping, Sequence

import typer
from typer.core import TyperArgument

from gradcli.cli.commands import built
from gradcli.cli.options import OptionKind
from gradcli.cli.signatures import Option, shell_options
from gradcli.registry import SECTIONS, all_commands
from tests import generated

PAGE = generated.GUIDE / "reference.md"

FEW = 6
"""Commands that are named; of more, those are named that lack an option."""


def reference() -> str:
    """The commands by group, then their options in the order of the helps."""
    commands = [command for command in all_commands().values() if command.section]
    names = [command.name for command in commands]
    parts = []
    for section in SECTIONS:
        items = [
            f"- **`gradcli {usage(command.name)}`** {_text(inspect.getdoc(command.loaded()) or '')}\n"
            for command in commands
            if command.section == section
        ]
        parts.append(f"**{section}**\n\n{''.join(items)}")
    rows = [
        f"| {_said(option)} | {owners(having, names)} | {_cell(said(option))} |\n"
        for option, having in each_option(names).values()
    ]
    return "\n".join([*parts, f"| option | of | says |\n| --- | --- | --- |\n{''.join(rows)}"])


def each_option(names: Sequence[str]) -> Mapping[tuple[str, str], tuple[Option, list[str]]]:
    """The options of commands and the commands that have them, in the order of the helps.

    Args:
        names: The commands.

    Returns:
        Options by their flags and by what they say, as one name may stand for several.
    """
    found: dict[tuple[str, str], tuple[Option, list[str]]] = {}
    for name in names:
        for option in shell_options(all_commands()[name]):
            found.setdefault((option.flag, said(option)), (option, []))[1].append(name)
    return found


def said(option: Option) -> str:
    """The help of an option with its default."""
    has_default = option.default not in (None, inspect.Parameter.empty) and option.kind is not OptionKind.SWITCH
    return option.help + (f" Default: {option.default}." if has_default else "")


def value(option: Option) -> str:
    """Give the word after the flag of an option; empty for nothing."""
    return f"<{'|'.join(option.choices)}>" if option.choices else option.metavar or ""


def owners(having: Sequence[str], names: Sequence[str]) -> str:
    """The commands that have an option, or those that have it not."""
    if len(having) <= FEW:
        return ", ".join(having)
    return f"all but {', '.join(name for name in names if name not in having)}"


def usage(name: str) -> str:
    """A command and its argument."""
    command = built(all_commands()[name])
    found = [one.make_metavar(typer.Context(command)) for one in command.params if isinstance(one, TyperArgument)]
    return " ".join([name, *found])


def _text(help_text: str) -> str:
    """All but the examples, as one paragraph."""
    return " ".join(help_text.partition("\b")[0].split())


def _said(option: Option) -> str:
    return ", ".join(f"`{_cell(f'{flag} {value(option)}'.rstrip())}`" for flag in sorted(option.flags, key=len))


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


if __name__ == "__main__":
    generated.renew(PAGE, "command_reference", reference())
