"""Keywords of Python for the shell's options: `--v ones` is `v="ones"`, `--no-check` is `check=False`.

Messages and hints are written once, for the shell.  The row of an option in `gradcli.options` gives its keyword in
Python, and its kind the form of its value, `--at x=1` as `at={"x": 1}`.
"""

from __future__ import annotations

import re
from pkgutil import resolve_name
from typing import Any

from gradcli.formats import FORMATS

OptionKind = resolve_name("gradcli.cli.options:OptionKind")
BY_VARIABLE = resolve_name("gradcli.cli.signatures:BY_VARIABLE")
QUESTIONS = resolve_name("gradcli.registry:questions")()
OWNED = tuple(resolve_name("gradcli.cli.signatures:every_option")())
OPTIONS = tuple(option for _, option in OWNED)

_NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?"
_QUOTED = r'"[^"]*"' + r"|'[^']*'"
_NUMBERS = rf"{_NUMBER}(?:,{_NUMBER})*"
_VALUE = (
    rf"{_QUOTED}|\[[\d\[\], .+-]*\]|{_NUMBER}\.\.{_NUMBER}|{_NUMBERS}(?![\w.])|VALUE|\.\.\.|ones\b|e\d[\d_]*\b|\(\)"
)
_ITSELF = rf"{_QUOTED}|\[[^\s;]*\]|[^\s,;:()\"']+(?:,[^\s,;:()\"']+)*"
"""Pattern of the value after a name and `=`."""

_WORDS = (
    "a allows an and are as by does exclude for gives has in is it keeps moves names needs of on or says that the to "
    "which with without would"
).replace(" ", "|")
"""Words that go on with the sentence after an option, and are not values of it."""

_NAME = r"[^\W\d]\w*(?:\.\w+)*"
_NAMES = rf"(?!(?:{_WORDS})\b){_NAME}(?:,{_NAME})*"

_FLAG = re.compile(r"(?<![\w-])--([a-z][\w-]*)")
_HELP = re.compile(r"\bgradcli(?: ([a-z]+))? --help")
_COMMAND = re.compile(rf"\bgradcli ({'|'.join(QUESTIONS)})\b((?: --[a-z-]+(?: [^\s-]\S*)?)*)")
_THE_COMMAND = re.compile(rf"\bthe ({'|'.join(QUESTIONS)}) command\b")


def in_python(words: str) -> str:
    """Translate a sentence for the shell to the words of Python.

    >>> in_python("give --at x=VALUE --at w=1,2; or leave out --at y")
    'give at={"x": VALUE, "w": [1, 2]}; or leave out at["y"]'
    >>> in_python("use vjp with --v e0, --v e1, ... for single rows, or --wrt for fewer variables")
    'use vjp with v="e0", v="e1", ... for single rows, or wrt for fewer variables'
    >>> in_python("write --shape x=3 --shape A=m,n, or --shape B=2,3")
    'write shape={"x": 3, "A": "m,n"}, or shape={"B": (2, 3)}'
    >>> in_python("gradcli graph --show NAME shows it; --full shows all, --no-check nothing")
    'graph(show=["NAME"]) shows it; f"{answer:full}" shows all, check=False nothing'
    """
    if "--" not in words and "command" not in words:
        return words
    words = _HELP.sub(lambda found: f"help({_called(found[1])})", words)
    words = _COMMAND.sub(lambda found: f"{found[1]}({_options(found[2].strip())})", words)
    return _options(_THE_COMMAND.sub(r"the method \1", words))


def _called(command: str | None) -> str:
    """Return the argument of Python's `help` for a command."""
    function = "" if command is None else f".Function.{command}" if command in QUESTIONS else ".Function"
    return f"gradcli{function}"


def _options(words: str) -> str:
    found, at = "", 0
    while (flag := _FLAG.search(words, at)) is not None:
        shown, end = _keyword(flag, words)
        found, at = found + words[at : flag.start()] + shown, end
    return found + words[at:]


def _keyword(flag: re.Match[str], words: str) -> tuple[str, int]:
    """Translate an option with its value to Python; also return the index at which the sentence goes on."""
    rows = [option for option in OPTIONS if option.flag == flag[0]]
    for option in rows:
        is_of_each = option.kind in BY_VARIABLE
        if is_of_each and (pairs := re.compile(rf"(?: ?{flag[0]} {_PAIR})+").match(words, flag.start())):
            each = re.finditer(rf"{flag[0]} {_PAIR}", pairs[0])
            named = (f'"{one[1] or one[3]}": {_literal(one[2] or one[4], option)}' for one in each)
            return f"{option.name}={{{', '.join(named)}}}", pairs.end()
        looks = rf"(?:{'|'.join(option.choices)})\b" if option.choices else _LOOKS.get(option.kind, _VALUE)
        if looks and (value := re.compile(f" ({looks})").match(words, flag.end())):
            form = _formatted(value[1]) if option.name == "format" else f"{option.name}={_literal(value[1], option)}"
            return form, value.end()
        if is_of_each and (value := re.compile(rf" ({_NAMES})(?![\w(])").match(words, flag.end())):
            return f'{option.name}["{value[1]}"]', value.end()
    if not rows:
        return flag[1], flag.end()
    option = min(
        rows,
        key=lambda row: (set(QUESTIONS).isdisjoint(one.name for one, own in OWNED if own == row), row.is_presentation),
    )
    if option.kind is OptionKind.SWITCH and option.is_presentation and option.name in FORMATS:
        return _formatted(option.name), flag.end()
    return f"{option.name}=False" if option.flag.startswith("--no-") else option.name, flag.end()


_PAIR = rf"(?:({_NAME})=({_ITSELF})|\"({_NAME})=([^\"]*)\")"
"""Pattern of a name with its value."""

_LOOKS = {
    **dict.fromkeys((OptionKind.TEXT, OptionKind.VERDICTS), _QUOTED),
    **dict.fromkeys((OptionKind.VARIABLES, OptionKind.STATEMENTS), _NAMES),
    OptionKind.WHOLE: r"-?\d[\d,]*(?<!,)",
    **dict.fromkeys((OptionKind.SWITCH, OptionKind.FILE, OptionKind.WORD), ""),
}
"""Patterns of values that are not numbers, by kind; other words go on with the sentence."""


def _formatted(form: str) -> str:
    return f'f"{{answer:{form}}}"'


def _literal(text: str, option: Any) -> str:
    """Write a value of the shell as Python does."""
    text = text[1:-1] if text[:1] in ("'", '"') else text
    if option.kind in (OptionKind.VARIABLES, OptionKind.STATEMENTS):
        return str(text.split(",")).replace("'", '"')
    if option.kind is OptionKind.WHOLE:
        return text.replace(",", "")
    opening, closing = "()" if option.kind is OptionKind.SHAPES else "[]"
    if re.fullmatch(rf"{_NUMBER}(?:,\s*{_NUMBER})*", text) and option.kind is not OptionKind.TEXTS:
        return f"{opening}{', '.join(text.replace(' ', '').split(','))}{closing}" if "," in text else text
    return text if text in ("VALUE", "...") or text.startswith("[") else f'"{text}"'
