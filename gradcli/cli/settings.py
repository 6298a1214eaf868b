"""Defaults from a file, by the names of the options: for showing answers, and for the demands on their checks.

The values of a function, and the question about it, are never settings.  A typed option counts more than the
environment, which counts more than the file, whose lines are the settings of all commands.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Any

from gradcli.cli.options import OptionKind, Warm
from gradcli.cli.signatures import Option, every_option, option_of, shell_options
from gradcli.errors import GradcliError, UsageError, did_you_mean
from gradcli.formats import ON_TERMINALS
from gradcli.registry import all_commands

CONFIG_VARIABLE = "GRADCLI_CONFIG"
"""Variable of the environment that names the file."""

NAME = os.path.join("gradcli", "config.toml")
"""Path of the file in the folder of the user's settings."""

DEMANDS = ("strict", "require_all")
"""Settings that need the verdict of the check."""

Setting = str | int | bool
"""Value of a setting."""


def settable(command: str = "") -> Iterator[Option]:
    """Options of a command that may be settings; without a command, one option for each key of all commands."""
    if command:
        return (option for option in shell_options(all_commands()[command]) if option.is_setting)
    found = [option for _, option in every_option() if option.is_setting]
    each = {option.key: option for option in [*found, option_of("warm", Warm)]}
    return (each[key] for key in sorted(each))


def place() -> str | None:
    """Path of the file: GRADCLI_CONFIG (empty for no file), or else the folder of XDG; None for no file."""
    named = os.environ.get(CONFIG_VARIABLE)
    if named is not None:
        return os.path.expanduser(named) or None
    folder = os.environ.get("XDG_CONFIG_HOME", "")
    folder = folder if os.path.isabs(folder) else os.path.expanduser(os.path.join("~", ".config"))
    return os.path.join(folder, NAME) if os.path.isabs(folder) else None


def read(command: str | None = None) -> dict[str, Setting]:
    """Read the settings of the file, if there is one, by the keys of their options.

    Args:
        command: The command that they are for, whose table is refused, as earlier versions had it; None refuses those
            of all commands.

    Raises:
        UsageError: The file cannot be read, or has a line that is no setting.
    """
    path = place()
    if path is None:
        return {}
    import tomllib  # only where there may be a file

    hint = f'a line is NAME = VALUE, with words in quotes, such as format = "plain"; {CONFIG_VARIABLE}= reads no file'
    try:
        with open(path, "rb") as file:
            return _checked(path, tomllib.load(file), command)
    except (OSError, ValueError) as error:
        if isinstance(error, FileNotFoundError | NotADirectoryError) and CONFIG_VARIABLE not in os.environ:
            return {}
        said = error.strerror if isinstance(error, OSError) else error
        raise UsageError(f"the settings in {path} cannot be read: {said}", hint=hint) from error


def defaults(command: str) -> dict[str, Any]:
    """Parameters of a command that the file sets, as Typer would give them.

    Raises:
        UsageError: As `read`.
    """
    try:
        found = read(command)
    except UsageError:
        if {option.key for option in settable(command)} <= {"pager"}:  # the guide, which helps where the file is wrong
            return {}
        raise
    own = [option for option in settable(command) if option.key in found] if found else []
    # The parameter of a switch that is on by default says that it is off.
    return {one.name: not found[one.key] if one.default is True else found[one.key] for one in own}


def peek(key: str) -> Setting | None:
    """Look up a setting; None if it is not set, or if the file has a mistake, which is not reported here."""
    try:
        return read("").get(key)
    except GradcliError:
        return None


def fault(option: Option, value: object) -> str:
    """Name the values that a setting may have, if this one is wrong; empty if it is right."""
    match option.kind:
        case OptionKind.SWITCH:
            is_right = isinstance(value, bool) or (option.key == "pager" and isinstance(value, str))
            due = "true or false" + ', or a command such as "less -R"' * (option.key == "pager")
        case OptionKind.WHOLE:
            low, high = option.bounds or (0, 0)
            is_whole = isinstance(value, int) and not isinstance(value, bool)
            is_right = value in option.words or (is_whole and low <= int(str(value)) <= high)
            due = " or ".join([f"a whole number between {low} and {high}", *(f'"{word}"' for word in option.words)])
        case _:
            is_right = value in option.choices
            due = "one of " + ", ".join(f'"{word}"' for word in option.choices)
    return "" if is_right else f"is not {due}"


def _checked(path: str, lines: Mapping[str, Any], command: str | None) -> dict[str, Setting]:
    """Check the lines of the file, and return the settings.

    Raises:
        UsageError: One is no setting, has a wrong value, is set twice, or contradicts another; or there is a table.
    """
    settings: dict[str, Setting] = {}
    where = f"(in {path})"
    for name, value in lines.items():
        if isinstance(value, dict):
            if command not in (None, name) and name in all_commands():
                continue
            message = f"[{name}] is a table, and a setting is of all commands {where}"
            raise UsageError(message, hint=f"write the settings without [{name}]; for one command, an option is typed")
        option = next((option for option in settable() if option.key == name.replace("-", "_")), None)
        if option is None:
            keys = [option.key.replace("_", "-") for option in settable()]
            hint = f"the settings are {', '.join(keys)}; what is asked is typed each time"
            raise UsageError(f"there is no setting {name} {where}", hint=did_you_mean(name, keys) or hint)
        if wrong := fault(option, value):
            right = True if option.kind is OptionKind.SWITCH else [*option.choices, ON_TERMINALS][0]
            raise UsageError(f"{name} = {toml_text(value)} {wrong} {where}", hint=f"write {name} = {toml_text(right)}")
        if option.key in settings:
            raise UsageError(f"{name} is set a second time {where}", hint="set it once")
        settings[option.key] = value
    demand = next((name for name in DEMANDS if settings.get(name) is True), None)
    if demand is not None and settings.get("check") is False:
        both = f"check = false and {demand.replace('_', '-')} = true exclude each other {where}"
        raise UsageError(both, hint="leave out one of them")
    return settings


def toml_text(value: object) -> str:
    """Write a value as in the file."""
    if isinstance(value, bool):
        return str(value).lower()
    return f'"{value}"' if isinstance(value, str) else str(value)
