"""The manual page, which `man` shows: what the helps say, in the language of troff.

All of it is in ASCII, as man has no other characters where the terminal has none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

import typer
from typer import _click as click
from typer.core import TyperArgument, TyperGroup

import gradcli
from gradcli import options
from gradcli.cli.groups import GROUPS
from gradcli.options import Kind, Option

FEW = 6
"""Commands that are named; of more, those are named that lack an option."""

SECTIONS: Mapping[str, str] = {"Environment": "ENVIRONMENT", "Exit codes": "EXIT STATUS", "Examples": "EXAMPLES"}
"""What the parts of the help are called in a manual page, by how their titles begin, and in which order."""

_SIGNS = str.maketrans({"\\": r"\e", "-": r"\-", "'": r"\(aq", "`": r"\(ga", "^": r"\(ha", "~": r"\(ti", '"': r"\(dq"})
"""What troff would take for something else, or set in another sign."""


def page(group: TyperGroup) -> str:
    """The manual page of the application.

    Args:
        group: The application.
    """
    return "".join(f"{line}\n" for line in _lines(group))


def each_option(names: Sequence[str]) -> Mapping[tuple[str, str], tuple[Option, list[str]]]:
    """The options of commands and the commands that have them, in the order of the helps.

    Args:
        names: The commands.

    Returns:
        Options by their flags and by what they say, as one name may stand for several.
    """
    found: dict[tuple[str, str], tuple[Option, list[str]]] = {}
    for name in names:
        for option in options.typed(name):
            found.setdefault((option.flag, said(option)), (option, []))[1].append(name)
    return found


def said(option: Option) -> str:
    """The help of an option with its default."""
    has_default = option.default is not None and option.kind is not Kind.SWITCH
    return option.help + (f" Default: {option.default}." if has_default else "")


def value(option: Option) -> str:
    """What stands behind the flag of an option; empty for nothing."""
    return f"<{'|'.join(option.choices)}>" if option.choices else option.metavar or ""


def owners(having: Sequence[str], names: Sequence[str]) -> str:
    """The commands that have an option, or those that have it not."""
    if len(having) <= FEW:
        return ", ".join(having)
    return f"all but {', '.join(name for name in names if name not in having)}"


def usage(name: str, group: TyperGroup) -> str:
    """A command and its argument."""
    command = group.commands[name]
    found = [one.make_metavar(typer.Context(command)) for one in command.params if isinstance(one, TyperArgument)]
    return " ".join([name, *found])


def escaped(text: str) -> str:
    r"""A text as troff is given it, so that it is seen as it is.

    >>> escaped(".x - y")
    '\\&.x \\- y'
    """
    from gradcli.report.document import in_ascii

    shown = in_ascii(text).translate(_SIGNS)
    return rf"\&{shown}" if shown.startswith(".") else shown


def _lines(group: TyperGroup) -> Iterator[str]:
    about, parts = _parted(group.help or "")
    yield f'.TH GRADCLI 1 "" "gradcli {gradcli.__version__}" "User Commands"'
    yield from (".nh", ".ad l", ".SH NAME")
    yield rf"gradcli \- {escaped(_lowered(about))}"
    yield from (".SH SYNOPSIS", r"\fBgradcli\fR \fICOMMAND\fR [\fIOPTIONS\fR] ...", ".br")
    yield r"\fBgradcli\fR \fIEXPR\fR [\fIOPTIONS\fR]"
    yield ".SH DESCRIPTION"
    yield escaped("An expression alone is differentiated: it is vjp of a function with one output, else jacobian.")
    yield ".SH COMMANDS"
    for title, names in GROUPS.items():
        yield f".SS {title}"
        for name in names:
            yield from _command(usage(name, group), group.commands[name])
    yield ".SH OPTIONS"
    shown = [name for name, command in group.commands.items() if not command.hidden]
    for option, having in each_option(shown).values():
        yield from _option(option, f"Of {owners(having, shown)}.")
    for begins, title in SECTIONS.items():
        for lines in (lines for head, lines in parts if head.startswith(begins)):
            yield f".SH {title}"
            yield from _verbatim(lines)
    yield from (".SH FILES", ".TP", rf"\fI{escaped('~/.config/gradcli/config.toml')}\fR")
    yield escaped("Defaults of options; gradcli guide settings says which.")
    yield ".SH SEE ALSO"
    yield escaped("gradcli guide tour, and the other pages of gradcli guide.")


def _command(synopsis: str, command: click.Command) -> Iterator[str]:
    about, parts = _parted(command.help or "")
    name, _, argument = synopsis.partition(" ")
    yield ".TP"
    yield rf"\fBgradcli {escaped(name)}\fR" + (rf" \fI{escaped(argument)}\fR" if argument else "")
    yield escaped(about)
    for _, lines in parts:
        yield ".sp"
        yield from _verbatim(lines)


def _option(option: Option, whose: str) -> Iterator[str]:
    yield ".TP"
    shown = rf" \fI{escaped(value(option))}\fR" if value(option) else ""
    yield ", ".join(rf"\fB{escaped(flag)}\fR{shown}" for flag in sorted(option.flags, key=len))
    yield escaped(f"{said(option)} {whose}")


def _verbatim(lines: Sequence[str]) -> Iterator[str]:
    yield ".nf"
    yield from map(escaped, lines)
    yield ".fi"


def _parted(help_text: str) -> tuple[str, list[tuple[str, list[str]]]]:
    """The help as one paragraph, and the parts of it whose lines stay, by their titles."""
    about, *others = help_text.split("\b\n")
    parts = [[line.strip() for line in part.strip().split("\n") if line.strip()] for part in others]
    return " ".join(about.split()), [(lines[0].rstrip(":"), lines[1:]) for lines in parts if lines]


def _lowered(text: str) -> str:
    """As it stands behind a name: without the sign at its end."""
    return re.sub(r"\.$", "", text[:1].lower() + text[1:])
