"""The shell's words in Python: `--v ones` is `v="ones"`, `--at x=1` is `at={"x": 1}`, `--no-check` is `check=False`.

Messages and hints are written once, for the shell.  What an option is in Python follows from its row in
`gradcli.options`: its keyword, and from its kind, what it takes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from gradcli.options import BY_VARIABLE, FORMATS, OPTIONS, QUESTIONS, Kind, Option

_NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?"
_QUOTED = r'"[^"]*"' + r"|'[^']*'"
_NUMBERS = rf"{_NUMBER}(?:,{_NUMBER})*"
_VALUE = rf"{_QUOTED}|\[[\d\[\], .+-]*\]|{_NUMBER}\.\.{_NUMBER}|{_NUMBERS}(?![\w.])|VALUE|\.\.\.|ones\b|e\d[\d_]*\b"
_ITSELF = rf"{_QUOTED}|\[[^\s;]*\]|[^\s,;:()\"']+(?:,[^\s,;:()\"']+)*"
"""What stands behind a name and `=`."""

_NAME = r"[^\W\d]\w*(?:\.\w+)*"
_NAMES = rf"{_NAME}(?:,{_NAME})*"
_WORDS = (
    "a allows an and are as by does exclude for gives has in is it keeps moves names needs of on or says that the to "
    "which with without would"
).split()
"""Words of a sentence behind an option, which are none of its values."""

_OTHER_WORD = rf"(?!(?:{'|'.join(_WORDS)})\b)"

_BEHIND = {
    **dict.fromkeys((Kind.INPUTS, Kind.VALUES, Kind.DIRECTIONS, Kind.RANGES, Kind.TEXTS), _VALUE),
    Kind.VECTOR: _VALUE,
    Kind.VECTORS: _VALUE,
    Kind.TEXT: _QUOTED,
    Kind.VARIABLES: _OTHER_WORD + _NAMES,
    Kind.STATEMENTS: _OTHER_WORD + _NAMES,
    Kind.SHAPES: rf"{_QUOTED}|\(\)|\d+(?:,\d+)*",
    Kind.VERDICTS: _QUOTED,
    Kind.NUMBER: _NUMBER,
    Kind.WHOLE: r"-?\d[\d,]*(?<!,)",
}
"""What a value looks like in a sentence, by kind; what looks otherwise goes on with the sentence."""

_FLAG = re.compile(r"(?<![\w-])--([a-z][\w-]*)")
_HELP = re.compile(r"\bgradcli(?: ([a-z]+))? --help")
_COMMAND = re.compile(rf"\bgradcli ({'|'.join(QUESTIONS)})\b((?: --[a-z-]+(?: [^\s-]\S*)?)*)")
_THE_COMMAND = re.compile(rf"\bthe ({'|'.join(QUESTIONS)}) command\b")


def in_python(words: str) -> str:
    """A sentence of the shell's in the words of Python.

    >>> in_python("give --at x=VALUE --at w=1,2; or leave out --at y")
    'give at={"x": VALUE, "w": [1, 2]}; or leave out at["y"]'
    >>> in_python("use vjp with --v e0, --v e1, ... for single rows, or --wrt for fewer variables")
    'use vjp with v="e0", v="e1", ... for single rows, or wrt for fewer variables'
    >>> in_python("write --shape x=3 --shape A=m,n, or --shape B=2,3")
    'write shape={"x": 3, "A": "m,n"}, or shape={"B": (2, 3)}'
    >>> in_python("gradcli vjp --show NAME shows it; --full shows all, --no-check nothing")
    'vjp(show=["NAME"]) shows it; f"{answer:full}" shows all, check=False nothing'
    """
    if "--" not in words and "command" not in words:
        return words
    words = _HELP.sub(lambda found: f"help({_called(found[1])})", words)
    words = _COMMAND.sub(lambda found: f"{found[1]}({_options(found[2].strip())})", words)
    return _options(_THE_COMMAND.sub(r"the method \1", words))


def _called(command: str | None) -> str:
    """What `help` takes."""
    return (
        "gradcli" if command is None else f"gradcli.Function.{command}" if command in QUESTIONS else "gradcli.Function"
    )


def _options(words: str) -> str:
    found, at = [], 0
    while (flag := _FLAG.search(words, at)) is not None:
        found.append(words[at : flag.start()])
        shown, at = _keyword(flag, words)
        found.append(shown)
    return "".join((*found, words[at:]))


def _keyword(flag: re.Match[str], words: str) -> tuple[str, int]:
    """An option in Python with what it is given, and where the sentence goes on."""
    rows = [option for option in OPTIONS if option.flag == flag[0]]
    for option in rows:
        if option.choices:
            value = re.compile(rf" ({'|'.join(option.choices)})\b").match(words, flag.end())
            if value is not None and option.name == "format":
                return _formatted(value[1]), value.end()
            if value is not None:
                return f'{option.name}="{value[1]}"', value.end()
        elif option.kind in BY_VARIABLE and (pairs := list(_pairs(option, words, flag.start()))):
            names = ", ".join(f'"{name}": {_literal(value, option)}' for name, value, _ in pairs)
            return f"{option.name}={{{names}}}", pairs[-1][2]
        elif option.kind in _BEHIND and (value := re.compile(f" ({_BEHIND[option.kind]})").match(words, flag.end())):
            return f"{option.name}={_literal(value[1], option)}", value.end()
        elif option.kind in BY_VARIABLE and (
            value := re.compile(rf" {_OTHER_WORD}({_NAME})(?![\w(])").match(words, flag.end())
        ):
            return f'{option.name}["{value[1]}"]', value.end()
    if not rows:
        return flag[1], flag.end()
    option = min(rows, key=lambda row: (set(QUESTIONS).isdisjoint(row.of), row.is_presentation))  # a method's first
    if option.kind is Kind.SWITCH and option.is_presentation and option.name in FORMATS:
        return _formatted(option.name), flag.end()
    return f"{option.name}=False" if option.flag.startswith("--no-") else option.name, flag.end()


def _formatted(form: str) -> str:
    return f'f"{{answer:{form}}}"'


def _pairs(option: Option, words: str, at: int) -> Iterator[tuple[str, str, int]]:
    """Names with their values, one after another, each behind the option, and where each ends."""
    pair = re.compile(rf" ?{option.flag} (?:({_NAME})=({_ITSELF})|\"({_NAME})=([^\"]*)\")")
    while (found := pair.match(words, at)) is not None:
        at = found.end()
        yield found[1] or found[3], found[2] or found[4], at


def _literal(text: str, option: Option) -> str:
    """A value of the shell's as Python writes it."""
    text = text[1:-1] if text[:1] in ("'", '"') else text
    is_number = re.compile(rf"{_NUMBER}(?:,\s*{_NUMBER})*").fullmatch(text)
    match option.kind:
        case Kind.VARIABLES | Kind.STATEMENTS:
            quoted = (f'"{name}"' for name in text.split(","))
            return f"[{', '.join(quoted)}]"
        case Kind.NUMBER:
            return text
        case Kind.WHOLE:
            return text.replace(",", "")
        case Kind.INPUTS | Kind.VALUES | Kind.DIRECTIONS | Kind.VECTOR | Kind.VECTORS if is_number:
            spaced = ", ".join(part.strip() for part in text.split(","))
            return f"[{spaced}]" if "," in text else text
        case Kind.SHAPES if is_number:
            return f"({text.replace(',', ', ')})" if "," in text else text
    return text if text in ("VALUE", "...") or text.startswith("[") else f'"{text}"'
