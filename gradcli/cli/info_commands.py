"""The commands about gradcli itself: functions, config, completion.

Annotations of options are objects here, and no texts, as they are read at run time.
"""

import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Annotated, Literal

from typer import Argument, Option as TyperOption

from gradcli.cli import console, settings
from gradcli.cli.console import PAGER_VARIABLE, complain
from gradcli.cli.options import (
    FORMAT,
    FORMAT_VARIABLE,
    Color,
    Digits,
    Json,
    NoPager,
    OptionKind,
    OutputFile,
    Quiet,
)
from gradcli.cli.output import Output, Stream, output as with_check, resolved_options, typed_color, write
from gradcli.cli.settings import Setting
from gradcli.cli.signatures import Option
from gradcli.cli.typer_internals import LaterChoice, get_completion_script
from gradcli.errors import GradcliError, UsageError
from gradcli.formats import ON_TERMINALS
from gradcli.progress import SECONDS
from gradcli.registry import formats

COMPLETE = "_GRADCLI_COMPLETE"
"""Variable of the environment by which a shell asks the command for completions."""


_UNSET: Mapping[str, str | int] = {
    "digits": ON_TERMINALS,
    "dtype": "float64",
    "device": "cpu",
    "budget": round(SECONDS),
    "theme": "light",
}
"""Values shown where nothing is set, for options whose default depends on the question."""

_InForce = tuple[Setting, str]
"""A setting, and its origin: a variable of the environment, the file, or the default."""


def config() -> Stream:
    """The settings that are in force, and where each comes from.

    The file is GRADCLI_CONFIG, or else ~/.config/gradcli/config.toml. A line sets the default of an option, such as
    digits = 4 or format = "plain". What is typed counts more than the environment, which counts more than the file.
    Options that say what is asked are no settings. A mistake in the file is an error of every command that has
    settings, and a table of one command, such as [map], of that command; this one shows what is in force without it.

    \b
    Examples:
      gradcli config
    """
    return _show


def _show() -> int:
    mistakes: list[GradcliError] = []
    found: Mapping[str, Setting] = {}
    try:
        found = settings.read()
    except GradcliError as error:
        mistakes.append(error)
        with suppress(GradcliError):
            found = settings.read("")
    in_force = {option.key: _in_force(option, found.get(option.key), mistakes) for option in settings.settable()}
    write("".join(f"{line}\n" for line in _lines(in_force)))
    for mistake in mistakes:
        complain(mistake, typed_color(()))
    return mistakes[0].exit_code if mistakes else 0


def _in_force(option: Option, setting: Setting | None, mistakes: list[GradcliError]) -> _InForce:
    """Find the setting in force: of the environment (a wrong one is noted as a mistake), the file, or the default."""
    if option.key == "pager" and setting is not False:
        file = setting if isinstance(setting, str) else None
        named = {PAGER_VARIABLE: os.environ.get(PAGER_VARIABLE), "file": file, "PAGER": os.environ.get("PAGER")}
        of_nobody = console.pager_program() or False, "default"
        return next(((word, origin) for origin, word in named.items() if word is not None), of_nobody)
    if word := os.environ.get(option.variable or "", ""):
        value: Setting = int(word) if option.kind is OptionKind.WHOLE and word.isdecimal() else word
        if option.kind is OptionKind.SWITCH:
            value = {"0": False, "1": True}.get(word, word)
        if not (wrong := settings.fault(option, value)):
            return value, option.variable or ""
        message = f"the environment's {option.variable}={word} {wrong}"
        mistakes.append(UsageError(message, hint=f"unset {option.variable}"))
    default = _UNSET.get(option.key, option.default) or False
    return (default, "default") if setting is None else (setting, "file")


_ONLY_THERE = {"digits": "in tables on a terminal; elsewhere all, or --digits"}
"""Where settings hold, of those that do not hold everywhere."""


def _lines(in_force: Mapping[str, _InForce]) -> Iterator[str]:
    path = settings.place()
    yield f"file: {path or 'none'}{' (not there)' * (path is not None and not os.path.exists(path))}"
    rows = [
        (f"{key.replace('_', '-')} = {settings.toml_text(value)}", "; ".join(filter(None, (origin, where))))
        for key, (value, origin) in in_force.items()
        for where in [_ONLY_THERE.get(key, "") if origin != "default" else ""]
    ]
    width = max(len(setting) for setting, _ in rows)
    yield from (f"{setting.ljust(width)}  # {origin}" for setting, origin in rows)


Names = Annotated[
    list[str] | None,
    Argument(
        metavar="[NAME]...",
        show_default=False,
        help="Functions to show in full, by any of their names; other words are searched for. All by default.",
    ),
]
FormatOfFunctions = Annotated[
    str,
    TyperOption(
        "--format",
        click_type=LaterChoice(formats),
        envvar=FORMAT_VARIABLE,
        help="Tables, a line of JSON each, the names, one a line",
    ),
    FORMAT,
]
Groups = Annotated[bool, TyperOption("--groups", show_default=False, help="Only the names, group by group.")]


def functions(
    names: Names = None,
    format: FormatOfFunctions = "table",  # noqa: A002
    json: Json = False,
    color: Color = "auto",
    digits: Digits = None,
    output: OutputFile = None,
    quiet: Quiet = False,
    pager: NoPager = False,
    groups: Groups = False,
) -> Output:
    """The functions of the language, or all about one of them.

    Of one, prints its usage, names, definition, domain and kinks, and an example with its formula and verdict. A word
    that is no function is searched for in names, groups and descriptions.

    \b
    Examples:
      gradcli functions
      gradcli functions softmax
      gradcli functions torch.nn.functional.gelu ln
      gradcli functions loss --format plain
      gradcli functions --groups
    """
    from gradcli.questions.functions import listed, pages

    given = {"format": format, "json": json, "color": color, "digits": digits, "output": output, "quiet": quiet}
    shown, names = resolved_options(given), names or []
    is_list = groups or not names or shown.form == "plain"
    found = listed(*names, brief=groups) if is_list else pages(*names)
    return with_check(found, shown)


Shell = Annotated[
    Literal["bash", "zsh", "fish"], Argument(metavar="SHELL", show_default=False, help="bash, zsh or fish.")
]


def completion(shell: Shell) -> str:
    """The script that completes what is typed in a shell.

    That is commands, options and their words.

    For bash, put `eval "$(gradcli completion bash)"` into ~/.bashrc; for zsh, `eval "$(gradcli completion zsh)"` into
    ~/.zshrc after compinit, which also lets x**2 and [1,2] be typed without quotes, by noglob; for fish, write the
    script to ~/.config/fish/completions/gradcli.fish.

    \b
    Examples:
      gradcli completion bash
      gradcli completion fish
    """
    script = get_completion_script(prog_name="gradcli", complete_var=COMPLETE, shell=shell)
    # Else zsh takes x**2 and [1,2] for patterns of file names, and complains.
    return script + "\nalias gradcli='noglob gradcli'" * (shell == "zsh") + "\n"
