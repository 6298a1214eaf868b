"""Defaults from a file, by the names of the options: how answers are shown, and what is demanded of them.

The values of a function, and what is asked of it, are never settings.  What is typed counts more than the environment,
which counts more than the file; in the file, the table of a command counts more than what stands above all tables.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from gradcli import options
from gradcli.cli.first_word import DERIVATIVE
from gradcli.errors import GradcliError, Place, Span, UsageError, did_you_mean
from gradcli.options import CONFIG_VARIABLE, Kind, Option

NAME = os.path.join("gradcli", "config.toml")
"""The file, in the folder of the user's settings."""

DEMANDS = ("strict", "require_all")
"""What needs the verdict of the check."""

_AT = re.compile(r" \(at (?:line (?P<line>\d+), column (?P<column>\d+)|end of document)\)$")
_TABLE = re.compile(r"""\s*\[\s*["']?([\w-]+)""")


@dataclass(frozen=True, slots=True)
class Setting:
    """A value, and where it was found.

    Attributes:
        value: What the option would have.
        line: Of the file, from 1; 0 where it is not known.
    """

    value: str | int | bool
    line: int


@dataclass(frozen=True, slots=True)
class SettingsFile:
    """What the file says.

    Attributes:
        path: Where it is; None if no file is wanted.
        is_there: Whether there is one.
        tables: The settings by the keys of their options, for each command; those of all have the name "".
    """

    path: str | None
    is_there: bool = False
    tables: Mapping[str, Mapping[str, Setting]] = field(default_factory=dict)

    def of(self, command: str) -> Mapping[str, Setting]:
        """What holds for a command, by the keys of its options; `""` for what holds for all."""
        own = {option.key for option in settable(command)}
        layers = [self.tables.get("", {})] + ([self.tables.get(command, {})] if command else [])
        return {key: setting for key, setting in _merged(layers).items() if key in own}


def settable(command: str = "") -> Iterator[Option]:
    """The options of a command that may be settings; without one, each key once, as most commands have it."""
    if command:
        typed = options.typed("jacobian" if command == DERIVATIVE else command)
        return (option for option in typed if option.is_setting)
    return iter({option.key: option for option in options.OPTIONS if option.is_setting}.values())


def place() -> str | None:
    """The path of the file: what GRADCLI_CONFIG says, of which nothing is no file, or the place that XDG has for it."""
    named = os.environ.get(CONFIG_VARIABLE)
    if named is not None:
        return os.path.expanduser(named) or None
    folder = os.environ.get("XDG_CONFIG_HOME", "")
    folder = folder if os.path.isabs(folder) else os.path.expanduser(os.path.join("~", ".config"))
    return os.path.join(folder, NAME) if os.path.isabs(folder) else None


def read() -> SettingsFile:
    """The file, if there is one.

    Raises:
        UsageError: It cannot be read, or says what is no setting.
    """
    path = place()
    if path is None:
        return SettingsFile(None)
    try:
        with open(path, "rb") as file:
            data = file.read()
    except (FileNotFoundError, NotADirectoryError):
        if CONFIG_VARIABLE in os.environ:
            message, hint = f"{CONFIG_VARIABLE} names a file that is not there: {path}", "an empty one reads no file"
            raise UsageError(message, hint=f"{hint}: {CONFIG_VARIABLE}=") from None
        return SettingsFile(path)
    except OSError as error:
        hint = f"make it readable, or set {CONFIG_VARIABLE}= to do without"
        raise UsageError(f"the settings in {path} cannot be read: {error.strerror or error}", hint=hint) from error
    try:
        text = data.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise UsageError(f"the settings in {path} are no UTF-8, in line {line}", hint="save it as UTF-8") from error
    return SettingsFile(path, is_there=True, tables=_Reader(path, text).tables())


def defaults(command: str) -> dict[str, Any]:
    """The parameters of a command that the file sets, as Typer would give them.

    Raises:
        UsageError: As `read`.
    """
    own = {option.key: option for option in settable(command)}
    if own.keys() <= {"pager"}:  # the guide, which helps where the file is wrong
        return {}
    return {own[key].name: _given(own[key], setting.value) for key, setting in read().of(command).items()}


def peek(key: str, command: str = "") -> str | int | bool | None:
    """What the file says where nobody would be told of a mistake in it."""
    try:
        file = read()
        found = _merged([file.tables.get("", {}), file.tables.get(command, {})]).get(key)
    except GradcliError:
        return None
    return None if found is None else found.value


def fault(option: Option, value: object) -> str:
    """What is wrong with a value of a setting, and what it should be; empty for nothing."""
    match option.kind:
        case Kind.SWITCH:
            is_right = isinstance(value, bool) or (option.key == "pager" and isinstance(value, str))
            due = "true or false" + ', or a command such as "less -R"' * (option.key == "pager")
        case Kind.WHOLE:
            low, high = option.bounds or (0, 0)
            is_whole = isinstance(value, int) and not isinstance(value, bool)
            is_right = value in option.words or (is_whole and low <= int(str(value)) <= high)
            due = " or ".join([f"a whole number between {low} and {high}", *(f'"{word}"' for word in option.words)])
        case _:
            is_right = value in option.choices
            due = "one of " + ", ".join(f'"{word}"' for word in option.choices)
    return "" if is_right else f"is not {due}"


def shown(option: Option) -> str:
    """The name of a setting, as its option is written."""
    return option.key.replace("_", "-")


def _given(option: Option, value: str | int | bool) -> str | int | bool:
    """As the parameter has it: that of a switch which is on by default says that it is off."""
    return not value if option.default is True else value


def _merged(layers: Iterable[Mapping[str, Setting]]) -> dict[str, Setting]:
    """The settings of all layers, of which a later one counts more; what excludes one before it takes that away."""
    found: dict[str, Setting] = {}
    for layer in layers:
        if _says(layer, "check", False):
            for name in DEMANDS:
                found.pop(name, None)
        elif any(_says(layer, name, True) for name in DEMANDS) and _says(found, "check", False):
            del found["check"]
        found |= layer
    return found


def _says(settings: Mapping[str, Setting], key: str, value: bool) -> bool:
    return key in settings and settings[key].value is value


class _Reader:
    """The text of the file, and what its mistakes are."""

    def __init__(self, path: str, text: str) -> None:
        self._path = path
        self._text = f"{text}\n"
        self._lines = self._text.split("\n")

    def tables(self) -> dict[str, dict[str, Setting]]:
        """The settings of each table.

        Raises:
            UsageError: It is no TOML, or one is no setting.
        """
        found: dict[str, dict[str, Setting]] = {"": {}}
        for key, value in self._parsed().items():
            if isinstance(value, dict):
                self._require_command(key)
            table, values = (key, value) if isinstance(value, dict) else ("", {key: value})
            for name, one in values.items():
                option, setting = self._setting(table, name, one)
                if option in found.setdefault(table, {}):
                    raise self._at(table, name, f"{name} is set a second time", "set it once")
                found[table][option] = setting
        for table, settings in found.items():
            self._require_consistent(table, settings)
        return found

    def _parsed(self) -> dict[str, Any]:
        import tomllib  # only where there is a file

        try:
            return tomllib.loads(self._text)
        except tomllib.TOMLDecodeError as error:
            message = str(error)
            at = _AT.search(message)
            said = message[: at.start()] if at else message
            number = int(at["line"]) if at and at["line"] else max(1, len(self._text.rstrip().split("\n")))
            column = int(at["column"]) - 1 if at and at["column"] else len(self._lines[number - 1])
            hint = 'a line is NAME = VALUE, with words in quotes, such as format = "plain"'
            raise self._error(f"no TOML: {said[:1].lower()}{said[1:]}", number, column, 1, hint) from error

    def _require_command(self, name: str) -> None:
        known = _commands()
        if name not in known:
            is_setting = any(name in _names(option) for option in settable())
            hint = f"write {name} = VALUE, above all tables" if is_setting else did_you_mean(name, known)
            raise self._at(
                "", name, f"there is no command {name} that has settings", hint or f"write one of {', '.join(known)}"
            )

    def _setting(self, table: str, name: str, value: Any) -> tuple[str, Setting]:
        """The key and the setting of a line.

        Raises:
            UsageError: It is none.
        """
        option = next((one for one in settable(table) if name in _names(one)), None)
        if option is None:
            raise self._at(table, name, *_no_setting(table, name))
        wrong = fault(option, value)
        if wrong:
            hint = f"write {name} = {_example(option)}"
            raise self._at(table, name, f"{name} = {written(value)} {wrong}", hint)
        return option.key, Setting(value, self._line(table, name))

    def _require_consistent(self, table: str, settings: Mapping[str, Setting]) -> None:
        demand = next((name for name in DEMANDS if _says(settings, name, True)), None)
        if demand is not None and _says(settings, "check", False):
            later = max("check", demand, key=lambda name: settings[name].line)
            both = f"check = false and {demand.replace('_', '-')} = true"
            raise self._at(table, later, f"{both} exclude each other", "leave out one of them")

    def _at(self, table: str, name: str, message: str, hint: str) -> UsageError:
        """The error of a line that sets a name, or begins a table."""
        line = self._line(table, name)
        text = self._lines[line - 1]
        return self._error(message, line, len(text) - len(text.lstrip()), len(text.strip()), hint)

    def _line(self, table: str, name: str) -> int:
        """Where a name is set, or a table of that name begins; 1 where it is written in another way."""
        current = ""
        for number, line in enumerate(self._lines, start=1):
            header = _TABLE.match(line)
            current = header[1] if header else current
            is_there = current == name and not table if header else current == table
            if is_there and re.match(rf"""\s*[\["']*{re.escape(name)}\b""", line):
                return number
        return 1

    def _error(self, message: str, line: int, column: int, length: int, hint: str) -> UsageError:
        start = sum(len(one) + 1 for one in self._lines[: line - 1]) + column
        return UsageError(message, place=Place(self._text, Span(start, start + length), self._path), hint=hint)


def _commands() -> list[str]:
    return list(dict.fromkeys([name for option in settable() for name in _owners(option.key)] + [DERIVATIVE]))


def _owners(key: str) -> Iterator[str]:
    """The commands that have a setting."""
    return (name for option in options.OPTIONS if option.is_setting and option.key == key for name in option.of)


def _names(option: Option) -> Sequence[str]:
    """What the setting of an option may be called: as its flag is written, or as in Python."""
    return option.key, shown(option)


def _no_setting(table: str, name: str) -> tuple[str, str]:
    """What is wrong with a name, and what to do."""
    whose = f"[{table}] has no setting {name}" if table else f"there is no setting {name}"
    key = name.replace("-", "_")
    if name in options.FORMATS:
        return whose, f'write format = "{name}"'
    owners = list(dict.fromkeys(_owners(key)))
    if owners:
        return whose, f"it is one of {', '.join(owners)}"
    if any(key in (option.key, option.name) for option in options.OPTIONS):
        flag = f"--{name.replace('_', '-')}"
        return f"{name} is no setting", f"{flag} is part of a question: it is given on the command line"
    known = list(dict.fromkeys(shown(option) for option in settable(table)))
    return whose, did_you_mean(name, known) or f"the settings are {', '.join(known)}"


def _example(option: Option) -> str:
    """A value that is right."""
    if option.kind is Kind.SWITCH:
        return "true"
    return written(option.choices[0] if option.choices else options.ON_TERMINALS)


def written(value: object) -> str:
    """A value as it stands in the file."""
    if isinstance(value, bool):
        return str(value).lower()
    return f'"{value}"' if isinstance(value, str) else str(value)
