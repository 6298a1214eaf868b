"""The registry of commands: those of the core in a tuple, and those that parts offer."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from gradcli.errors import UsageError
from gradcli.formats import FIGURES
from gradcli.option_words import option
from gradcli.parts import all_parts
from gradcli.parts.command import Command

SECTIONS = ("Differentiate", "Look closer", "Write", "Many at once", "About gradcli")
"""Sections of `gradcli --help`, in their order."""


def _question(name: str, section: str, **facts: Any) -> Command:
    """Make a command of the core that is a question on a function, in a module of its name."""
    method = f"gradcli.questions.commands.{name}:{name}"
    return Command(name, section, f"gradcli.cli.question_commands:{name}", method, **facts)


_MATRIX: Mapping[str, object] = {"answer": "gradcli.cli.commands:answer_as_drawing", "pictures": FIGURES}


CORE = (
    _question("vjp", "Differentiate"),
    _question("jacobian", "Differentiate", **_MATRIX),
    _question("grad", "Differentiate"),
    _question("jvp", "Differentiate"),
    _question("hessian", "Differentiate", **_MATRIX),
    _question("hvp", "Differentiate"),
    _question("eval", "Look closer"),
    Command(
        "derivative", "", "gradcli.cli.question_commands:derivative", answer="gradcli.cli.commands:answer_derivative"
    ),
    Command(
        "functions",
        "About gradcli",
        "gradcli.cli.info_commands:functions",
        lacks=("csv", "tsv", "npy", "npz"),
    ),
    Command("guide", "About gradcli", "gradcli.cli.info_commands:guide"),
    Command("config", "About gradcli", "gradcli.cli.info_commands:config"),
)
"""Commands of the core."""

_LAST = Command("completion", "About gradcli", "gradcli.cli.info_commands:completion")
"""The command that comes last in the help, as it is typed once."""

DERIVATIVES = ("vjp", "jacobian", "grad", "jvp", "hessian", "hvp")
"""Commands whose answer, where there is no point, is a formula."""


@lru_cache(maxsize=1)
def all_commands() -> dict[str, Command]:
    """Return all commands by their names, section by section: those of the core, then those of parts."""
    found = [*CORE, *(part.command(name) for part in all_parts() for name in part.COMMANDS), _LAST]
    found.sort(key=_place_in_help)
    commands: dict[str, Command] = {}
    for command in found:
        commands.setdefault(command.name, command)  # those of other packages come last, and replace none
    return commands


def _place_in_help(command: Command) -> int:
    """Return the number of the section that lists a command; one of another package may name a section of its own."""
    return SECTIONS.index(command.section) if command.section in SECTIONS else len(SECTIONS)


def further_methods() -> dict[str, str]:
    """Return the methods that parts add to `Function` besides those of commands, each as `module:function`."""
    found: dict[str, str] = {}
    for part in all_parts():
        for name, place in part.methods().items():
            found.setdefault(name, place)  # those of other packages come last, and replace none
    return found


def questions() -> tuple[str, ...]:
    """Name the commands that answer a question on a function; a request may have only these."""
    return tuple(name for name, command in all_commands().items() if command.method)


def pictures(command: str) -> tuple[str, ...]:
    """Return the kinds of files of pictures that a command draws."""
    found = all_commands().get(command)
    return found.pictures if found else ()


def lacks(command: str) -> tuple[str, ...]:
    """Return the formats, and files of arrays, that the answer of a command cannot be written in."""
    found = all_commands().get(command)
    return found.lacks if found else ()


def require_format(command: str, form: str) -> None:
    """Refuse a format that the answer of a command cannot be written in.

    Raises:
        UsageError: The answer is no table of numbers, and the format holds nothing else.
    """
    if form in lacks(command):
        raise UsageError(
            f"the answer of {command} is no table of numbers", hint=f"take {option('json')}, or -o FILE.json"
        )
