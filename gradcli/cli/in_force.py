"""The command config: every setting, the value that is in force, and where that comes from.

It is what one asks when something is wrong, and answers then too, with the mistake.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping

from gradcli.cli import pager, settings
from gradcli.cli.console import complain
from gradcli.cli.output import Stream, typed_color, write
from gradcli.cli.settings import Setting, SettingsFile
from gradcli.errors import GradcliError, UsageError
from gradcli.options import ON_TERMINALS, PAGER_VARIABLE, Kind, Option

_UNSET: Mapping[str, str | int] = {"digits": ON_TERMINALS, "dtype": "float64"}
"""What holds where nothing is set, of options whose default depends on the question."""

_InForce = tuple[Setting, str]
"""What holds, and where it comes from: a variable of the environment, the file, or the default."""


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
    path, mistakes = settings.place(), list[GradcliError]()
    file = SettingsFile(path, is_there=path is not None and os.path.exists(path))
    try:
        file = settings.read()
    except GradcliError as error:
        mistakes.append(error)
    above = file.tables.get("", {})
    common = {option.key: _in_force(option, above.get(option.key), mistakes) for option in settings.settable()}
    tables = {"": dict(sorted(common.items()))}
    for command in filter(None, file.tables):
        own = {key: (setting, "file") for key, setting in file.tables[command].items()}
        differs = {key: one for key, one in own.items() if common[key][1] in ("file", "default") and common[key] != one}
        tables |= {command: differs} if differs else {}
    write("".join(f"{line}\n" for line in _lines(file, tables)))
    for mistake in mistakes:
        complain(mistake, typed_color(()))
    return mistakes[0].exit_code if mistakes else 0


def _in_force(option: Option, setting: Setting | None, mistakes: list[GradcliError]) -> _InForce:
    """What holds for an option: a value of the environment, if that counts and is right, or else one of the file."""
    if option.key == "pager" and setting is not False:
        file = setting if isinstance(setting, str) else None
        named = {PAGER_VARIABLE: os.environ.get(PAGER_VARIABLE), "file": file, "PAGER": os.environ.get("PAGER")}
        of_nobody = pager.program() or False, "default"
        return next(((word, origin) for origin, word in named.items() if word is not None), of_nobody)
    if word := os.environ.get(option.variable or "", ""):
        value: Setting = int(word) if option.kind is Kind.WHOLE and word.isdecimal() else word
        if option.kind is Kind.SWITCH:
            value = {"0": False, "1": True}.get(word, word)
        if not (wrong := settings.fault(option, value)):
            return value, option.variable or ""
        message = f"the environment's {option.variable}={word} {wrong}"
        mistakes.append(UsageError(message, hint=f"unset {option.variable}"))
    default = _UNSET.get(option.key, option.default) or False
    return (default, "default") if setting is None else (setting, "file")


def _lines(file: SettingsFile, tables: Mapping[str, Mapping[str, _InForce]]) -> Iterator[str]:
    yield f"file: {file.path or 'none'}{'' if file.is_there or file.path is None else ' (not there)'}"
    rows = {
        command: [(f"{key.replace('_', '-')} = {settings.written(value)}", origin) for key, (value, origin) in own]
        for command, own in ((command, table.items()) for command, table in tables.items())
    }
    width = max(len(setting) for lines in rows.values() for setting, _ in lines)
    for command, lines in rows.items():
        yield from [f"[{command}]"] if command else []
        yield from (f"{setting.ljust(width)}  # {origin}" for setting, origin in lines)
