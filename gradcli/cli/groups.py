"""The commands in the groups in which the help, the reference and the manual page list them."""

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
"""The commands of each group; one that is not there is left out."""

_OTHERS = "Others"


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
        commands = {name: self.get_command(ctx, name) for name in self.list_commands(ctx)}
        shown = {name: command for name, command in commands.items() if command is not None and not command.hidden}
        width = max(map(len, shown))
        limit = formatter.width - width - 4  # two before a name, two behind it
        grouped = {name for names in GROUPS.values() for name in names}
        groups = {**GROUPS, _OTHERS: tuple(name for name in shown if name not in grouped)}
        for title, names in groups.items():
            found = [(name, shown[name]) for name in names if name in shown]
            if found:
                rows = [(n.ljust(width), c.get_short_help_str(limit)) for n, c in found]
                with formatter.section(title):
                    formatter.write_dl(rows)
