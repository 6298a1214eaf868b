"""The commands about gradcli itself: functions, guide, config, warm, completion."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from typer import _click as click
from typer._completion_shared import get_completion_script
from typer._types import TyperChoice

from gradcli import guide as manual
from gradcli.cli import console, settings
from gradcli.cli.console import complain
from gradcli.cli.output import Output, Stream, manner, output, typed_color, write
from gradcli.cli.parameters import argument
from gradcli.cli.settings import Setting
from gradcli.errors import GradcliError, UsageError, did_you_mean
from gradcli.options import ON_TERMINALS, OPTIONS, PAGER_VARIABLE, Option, OptionKind
from gradcli.parts.warm import paths

IDLE = next(int(str(option.default)) for option in OPTIONS if option.name == "idle")

_MINUTE = 60

COMPLETE = "_GRADCLI_COMPLETE"
"""Variable of the environment by which a shell asks the command for completions."""


ACTIONS: Mapping[str, str] = {"start": "started", "stop": "stopped", "status": "runs"}
"""Actions on the warm process, and the word that reports each as done."""


def warm(action: str, idle: int) -> str:
    """A process that answers each call at once: start, stop or status.

    It has imported all, and forks for each call, which answers as one does that starts by itself. Nothing of one call
    is seen by the next. A call starts by itself if it runs code of yours, or is unusual (gradcli guide warm). With
    GRADCLI_WARM=1, or warm = true in the settings, the first call starts the process; with GRADCLI_WARM=0 a call does
    without.

    \b
    Examples:
      gradcli warm start
      gradcli warm status
      gradcli warm stop
    """
    if not paths.is_possible():
        raise UsageError("this system has no fork: each call starts by itself", hint="nothing has to be done for that")
    if not paths.make_folder():
        message = f"the folder {paths.folder()} cannot be used: it has to be yours, and closed to others"
        raise UsageError(message, hint="remove it, or set XDG_RUNTIME_DIR to a folder of your own")
    from gradcli.parts.warm import control

    found, did = control.stop() if action == "stop" else control.running(), ACTIONS[action]
    if action == "start":
        found = control.running(paths.name())
        did = "runs already" if found else did
        reason = "" if found else control.start(idle * _MINUTE)
        found = found or control.running(paths.name())
        if not found:
            raise UsageError(f"the warm process does not start: {reason}", hint="gradcli works without it")
    if found:
        return f"the warm process {', '.join(map(str, found))} {did}\n"
    advice = "gradcli warm start starts one; GRADCLI_WARM=1 lets the first call do it"
    return f"no warm process: each call starts by itself\n{advice}\n"


def begin_if_wanted(arguments: Sequence[str]) -> None:
    """Start the warm process after this call, if the environment or the settings want it and none runs."""
    word = os.environ.get(paths.VARIABLE, "")
    is_wanted = word == "1" if word else settings.peek("warm") is True
    if not is_wanted or list(arguments[:1]) == [paths.COMMAND] or not paths.is_possible() or not paths.make_folder():
        return
    from gradcli.parts.warm import control

    if not control.running(paths.name()):
        control.begin(IDLE * _MINUTE).close()


_UNSET: Mapping[str, str | int] = {"digits": ON_TERMINALS, "dtype": "float64"}
"""Values shown where nothing is set, for options whose default depends on the question."""

_InForce = tuple[Setting, str]
"""A setting, and its origin: a variable of the environment, the file, or the default."""


def config() -> Stream:
    """The settings that are in force, and where each comes from.

    The file is GRADCLI_CONFIG, or else ~/.config/gradcli/config.toml. A line sets the default of an option, such as
    digits = 4 or format = "plain". What is typed counts more than the environment, which counts more than the file.
    Options that say what is asked are no settings. A mistake in the file is an error of every command that has
    settings; this one shows what is in force without it.

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


def _lines(in_force: Mapping[str, _InForce]) -> Iterator[str]:
    path = settings.place()
    yield f"file: {path or 'none'}{' (not there)' * (path is not None and not os.path.exists(path))}"
    rows = [
        (f"{key.replace('_', '-')} = {settings.toml_text(value)}", origin)
        for key, (value, origin) in sorted(in_force.items())
    ]
    width = max(len(setting) for setting, _ in rows)
    yield from (f"{setting.ljust(width)}  # {origin}" for setting, origin in rows)


def functions(names: Sequence[str], groups: bool, **presentation: Any) -> Output:
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

    shown = manner(presentation)
    is_list = groups or not names or shown.form == "plain"
    found = listed(*names, brief=groups) if is_list else pages(*names)
    return output(found, shown)


def guide(page: str | None, **_: Any) -> str:
    """The pages of the guide: a tour, the language, verdicts, scripts.

    Without a page, lists them. A page is the Markdown that it is written in. On a terminal, it comes through the pager:
    GRADCLI_PAGER, or else PAGER, or less.

    \b
    Examples:
      gradcli guide
      gradcli guide tour
    """
    if page is None:
        width = max(map(len, manual.PAGES))
        return "".join(f"{name.ljust(width)}  {manual.title(name)}\n" for name in manual.PAGES)
    if page not in manual.PAGES:
        hint = did_you_mean(page, manual.PAGES) or f"the pages are {', '.join(manual.PAGES)}"
        raise UsageError(f"the guide has no page '{page}'", hint=hint)
    return manual.text(page)


def completion(shell: str) -> str:
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


COMMANDS: Mapping[Any, click.Parameter | None] = {
    functions: argument(
        "names",
        metavar="[NAME]...",
        nargs=-1,
        help="Functions to show in full, by any of their names; other words are searched for. All by default.",
    ),
    guide: argument("page", metavar="[PAGE]", help="The page to show. By default their list."),
    config: None,
    warm: argument(
        "action",
        metavar="[ACTION]",
        type=TyperChoice([*ACTIONS]),
        default="status",
        show_default=True,
        help="start, stop or status.",
    ),
    completion: argument(
        "shell", metavar="SHELL", type=TyperChoice(["bash", "zsh", "fish"]), required=True, help="bash, zsh or fish."
    ),
}
"""The commands, each with its argument, which has no flag."""
