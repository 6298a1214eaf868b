"""The command config: every setting, the value that is in force, and where that comes from.

It is what one asks when something is wrong, and answers then too, with the mistake.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from gradcli.cli import pager, settings
from gradcli.cli.console import complain
from gradcli.cli.output import Stream, typed_color, write
from gradcli.cli.settings import Setting, SettingsFile
from gradcli.errors import GradcliError, UsageError
from gradcli.options import ON_TERMINALS, PAGER_VARIABLE, Kind, Option

_UNSET: Mapping[str, str | int] = {"digits": ON_TERMINALS, "dtype": "float64"}
"""What holds where nothing is set, of options whose default depends on the question."""


@dataclass(frozen=True, slots=True)
class InForce:
    """A setting.

    Attributes:
        name: As its option is written.
        value: What holds.
        origin: Where it comes from: a variable of the environment, the file, or the default.
    """

    name: str
    value: Setting
    origin: str = "default"

    @property
    def setting(self) -> str:
        """As it would stand in the file."""
        return f"{self.name} = {settings.written(self.value)}"


def config() -> Stream:
    """The settings that are in force, and where each comes from.

    The file is GRADCLI_CONFIG, or else ~/.config/gradcli/config.toml. A line sets the default of an option, such as
    digits = 4 or format = "plain"; below [map], or another command, it does so for that alone. What is typed counts
    more than the environment, which counts more than the file. Options that say what is asked are no settings. A
    mistake in the file is an error of every command that has settings; this one shows what is in force without it.

    \b
    Examples:
      gradcli config
    """
    return _show


def _show() -> int:
    path = settings.place()
    file, mistakes = SettingsFile(path, is_there=path is not None and os.path.exists(path)), []
    try:
        file = settings.read()
    except GradcliError as error:
        mistakes.append(error)
    found, more = _all(file)
    mistakes += more
    write("".join(f"{line}\n" for line in _lines(file, found)))
    for mistake in mistakes:
        complain(mistake, typed_color(()))
    return mistakes[0].exit_code if mistakes else 0


def _all(file: SettingsFile) -> tuple[dict[str, list[InForce]], list[GradcliError]]:
    """What is in force for all commands, under "", and what is other for one; and the mistakes of the environment."""
    mistakes: list[GradcliError] = []
    common: dict[str, InForce] = {}
    options = list(settings.settable())
    general = file.of("")
    for option in options:
        try:
            of_environment = _of_environment(option, general.get(option.key))
        except GradcliError as error:
            mistakes.append(error)
            of_environment = None
        common[option.key] = of_environment or _of_file(option, general.get(option.key))
    found = {"": sorted(common.values(), key=lambda one: one.name)}
    for command in file.tables:
        own = file.of(command) if command else {}
        rows = {option.key: option for option in options}
        other = [_of_file(rows[key], one) for key, one in own.items() if common[key].origin in ("file", "default")]
        found[command] = [one for one in other if one not in found[""]] if command else found[""]
    return {command: rows for command, rows in found.items() if rows}, mistakes


def _of_environment(option: Option, setting: Setting | None) -> InForce | None:
    """The value of a variable, if that counts.

    Raises:
        UsageError: It is none that the option takes.
    """
    if option.key == "pager":
        named = PAGER_VARIABLE if PAGER_VARIABLE in os.environ else "PAGER"
        is_named = named in os.environ and (named == PAGER_VARIABLE or not isinstance(setting, str))
        return InForce("pager", os.environ[named], named) if is_named and setting is not False else None
    word = os.environ.get(option.variable or "", "")
    if not word:
        return None
    value = int(word) if option.kind is Kind.WHOLE and word.isdecimal() else word
    if option.kind is Kind.SWITCH:
        value = {"0": False, "1": True}.get(word, word)
    wrong = settings.fault(option, value)
    if wrong:
        raise UsageError(f"the environment's {option.variable}={word} {wrong}", hint=f"unset {option.variable}")
    return InForce(settings.shown(option), value, option.variable or "")


def _of_file(option: Option, setting: Setting | None) -> InForce:
    name = settings.shown(option)
    if setting is not None and not (option.key == "pager" and setting is True):
        return InForce(name, setting, "file")
    if option.key == "pager":
        return InForce(name, pager.program() or False)
    default = _UNSET.get(option.key, option.default)
    return InForce(name, False if default is None else default)


def _lines(file: SettingsFile, found: Mapping[str, list[InForce]]) -> Iterator[str]:
    yield f"file: {file.path or 'none'}{'' if file.is_there or file.path is None else ' (not there)'}"
    width = max(len(one.setting) for rows in found.values() for one in rows)
    for command, rows in found.items():
        if command:
            yield f"[{command}]"
        yield from (f"{one.setting.ljust(width)}  # {one.origin}" for one in rows)
