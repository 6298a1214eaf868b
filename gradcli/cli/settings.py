"""Defaults from a file, by the names of the options: for showing answers, and for the demands on their checks.

The values of a function, and the question about it, are never settings.  A typed option counts more than the
environment, which counts more than the file; in the file, the table of a command counts more than the lines above all
tables.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Any

from gradcli import options
from gradcli.cli.default_command import DERIVATIVE
from gradcli.errors import GradcliError, UsageError, did_you_mean
from gradcli.options import CONFIG_VARIABLE, Option, OptionKind

NAME = os.path.join("gradcli", "config.toml")
"""Path of the file in the folder of the user's settings."""

DEMANDS = ("strict", "require_all")
"""Settings that need the verdict of the check."""

Setting = str | int | bool
"""Value of a setting."""


Tables = Mapping[str, Mapping[str, Setting]]
"""Settings by the keys of their options, for each command; the settings of all commands are under ""."""


def settable(command: str = "") -> Iterator[Option]:
    """Options of a command that may be settings; without a command, one option for each key of all commands."""
    if command:
        typed = options.typed("jacobian" if command == DERIVATIVE else command)
        return (option for option in typed if option.is_setting)
    return iter({option.key: option for option in options.OPTIONS if option.is_setting}.values())


def place() -> str | None:
    """Path of the file: GRADCLI_CONFIG (empty for no file), or else the folder of XDG; None for no file."""
    named = os.environ.get(CONFIG_VARIABLE)
    if named is not None:
        return os.path.expanduser(named) or None
    folder = os.environ.get("XDG_CONFIG_HOME", "")
    folder = folder if os.path.isabs(folder) else os.path.expanduser(os.path.join("~", ".config"))
    return os.path.join(folder, NAME) if os.path.isabs(folder) else None


def read() -> Tables:
    """Read the settings of the file, if there is one.

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
            return _tables(path, tomllib.load(file))
    except (OSError, ValueError) as error:
        if isinstance(error, FileNotFoundError | NotADirectoryError) and CONFIG_VARIABLE not in os.environ:
            return {}
        said = error.strerror if isinstance(error, OSError) else error
        raise UsageError(f"the settings in {path} cannot be read: {said}", hint=hint) from error


def settings_of(command: str) -> dict[str, Setting]:
    """Settings of a command over those of all commands; if its own demand a verdict, the check is on.

    Raises:
        UsageError: As `read`.
    """
    tables = read()
    own = tables.get(command, {}) if command else {}
    return {**tables.get("", {}), **own, **({"check": True} if own and _demand(own) else {})}


def defaults(command: str) -> dict[str, Any]:
    """Parameters of a command that the file sets, as Typer would give them.

    Raises:
        UsageError: As `read`.
    """
    try:
        found = settings_of(command)
    except UsageError:
        if {option.key for option in settable(command)} <= {"pager"}:  # the guide, which helps where the file is wrong
            return {}
        raise
    own = [option for option in settable(command) if option.key in found] if found else []
    # The parameter of a switch that is on by default says that it is off.
    return {one.name: not found[one.key] if one.default is True else found[one.key] for one in own}


def peek(key: str, command: str = "") -> Setting | None:
    """Look up a setting; None if it is not set, or if the file has a mistake, which is not reported here."""
    try:
        return settings_of(command).get(key)
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


def _demand(settings: Mapping[str, Setting]) -> str | None:
    """Name the first setting that needs the verdict of the check."""
    return next((name for name in DEMANDS if settings.get(name) is True), None)


def _tables(path: str, text: Mapping[str, Any]) -> dict[str, dict[str, Setting]]:
    """Check the settings of each table; the lines above all tables are under "".

    Raises:
        UsageError: One is no setting, has a wrong value, is set twice, or contradicts another.
    """
    found: dict[str, dict[str, Setting]] = {"": {}}
    known = [*dict.fromkeys(name for option in options.OPTIONS if option.is_setting for name in option.of), DERIVATIVE]
    for key, value in text.items():
        where = f"(in {path}{f', [{key}]' * isinstance(value, dict)})"
        if isinstance(value, dict) and key not in known:
            is_setting = any(key.replace("-", "_") == option.key for option in settable())
            hint = f"write {key} = VALUE, above all tables" if is_setting else did_you_mean(key, known)
            message = f"there is no command {key} that has settings {where}"
            raise UsageError(message, hint=hint or f"write one of {', '.join(known)}")
        table, values = (key, value) if isinstance(value, dict) else ("", {key: value})
        settings = found.setdefault(table, {})
        for name, one in values.items():
            option = next((option for option in settable(table) if option.key == name.replace("-", "_")), None)
            if option is None:
                keys = list(dict.fromkeys(option.key.replace("_", "-") for option in settable(table)))
                hint = f"the settings are {', '.join(keys)}; what is asked is typed each time"
                whose = f"[{table}] has no setting {name}" if table else f"there is no setting {name}"
                raise UsageError(f"{whose} {where}", hint=did_you_mean(name, keys) or hint)
            if wrong := fault(option, one):
                right = True if option.kind is OptionKind.SWITCH else [*option.choices, options.ON_TERMINALS][0]
                message = f"{name} = {toml_text(one)} {wrong} {where}"
                raise UsageError(message, hint=f"write {name} = {toml_text(right)}")
            if option.key in settings:
                raise UsageError(f"{name} is set a second time {where}", hint="set it once")
            settings[option.key] = one
        demand = _demand(settings)
        if demand is not None and settings.get("check") is False:
            both = f"check = false and {demand.replace('_', '-')} = true exclude each other {where}"
            raise UsageError(both, hint="leave out one of them")
    return found


def toml_text(value: object) -> str:
    """Write a value as in the file."""
    if isinstance(value, bool):
        return str(value).lower()
    return f'"{value}"' if isinstance(value, str) else str(value)
