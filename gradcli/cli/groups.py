"""The commands in the groups in which the help and the reference list them."""

from __future__ import annotations

from collections.abc import Mapping

from typer import _click as click
from typer.core import TyperCommand, TyperGroup

GROUPS: Mapping[str, tuple[str, ...]] = {
    "Differentiate": ("vjp", "jacobian", "grad", "jvp", "hessian", "hvp"),
    "Look closer": ("eval", "check", "improve", "explain", "graph"),
    "Write": ("code",),
    "Many at once": ("map", "batch", "run"),
    "About gradcli": ("functions", "guide", "config", "warm", "completion"),
}
"""The commands of each group."""

COMMANDS = tuple(name for names in GROUPS.values() for name in names)
"""All that lists show, in their order."""


class GroupedCommands(TyperGroup):
    """The application, whose help has a section a group, before all that fewer ask for."""

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write what it is, the commands, the options, and the examples, the environment and the exit codes."""
        about, paragraph, rest = (self.help or "").partition("\b")
        self.format_usage(ctx, formatter)
        self._write(about, formatter)
        self.format_commands(ctx, formatter)
        TyperCommand.format_options(self, ctx, formatter)  # type: ignore[arg-type]
        self._write(paragraph + rest, formatter)

    def _write(self, text: str, formatter: click.HelpFormatter) -> None:
        formatter.write_paragraph()
        with formatter.indentation():
            formatter.write_text(text.strip("\n"))

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the sections; names are padded, so that the columns of all sections are in line."""
        width = max(map(len, COMMANDS))
        limit = formatter.width - width - 4  # two before a name, two behind it
        for title, names in GROUPS.items():
            with formatter.section(title):
                formatter.write_dl([(n.ljust(width), self.commands[n].get_short_help_str(limit)) for n in names])
