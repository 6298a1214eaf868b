"""An option in a message, which the shell and Python name each in its own way: `--at x=1`, and `at={"x": 1}`.

A message is written once.  `option("at", "x=1")` stands in it, as a text between signs that Unicode reserves for the
inside of a program; whoever shows the message asks for `in_shell` or `in_python`.
"""

from __future__ import annotations

import re

_BEGIN, _NEXT, _END = map(chr, range(0xFDD0, 0xFDD3))  # Unicode keeps these for the inside of programs

_MARKED = re.compile(f"{_BEGIN}([^{_END}]*{_NEXT}[^{_END}]*){_END}")

NAMES = {"in": "box", "check-rows": "check_rows", "require-all": "require_all", "on-error": "on_error"}
"""Keywords of Python that are not the names in the shell."""

BY_VARIABLE = ("at", "u", "shape", "in", "along", "claim", "expect", "assume")
"""Options with a value for each variable."""

LISTS = ("wrt", "show", "allow", "columns")
"""Options whose value is a list of names."""

FORMAT_SWITCHES = ("full", "json")
"""Switches of the shell that are formats of an answer in Python."""

_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?")
_COUNT = re.compile(r"\d{1,3}(?:,\d{3})+")
_VALUE = re.compile(r"VALUE|\.\.\.|\[.*", re.DOTALL)


def option(name: str, *values: str, of: str = "") -> str:
    """Name an option in a message.

    Args:
        name: Its name in the shell, without dashes.
        values: What is typed after it, in quotes where the shell needs them; several repeat the option.
        of: In place of a value, the variable whose value is meant: `--at x`, `at["x"]`.

    >>> text = f"give {option('at', 'x=VALUE', 'w=1,2')}; or leave out {option('at', of='y')}, or {option('no-check')}"
    >>> in_shell(text)
    'give --at x=VALUE --at w=1,2; or leave out --at y, or --no-check'
    >>> in_python(text)
    'give at={"x": VALUE, "w": [1, 2]}; or leave out at["y"], or check=False'
    """
    return f"{_BEGIN}{_NEXT.join((name, of, *values))}{_END}"


def command(name: str, *options: str) -> str:
    """Name a command of the shell, which is a method in Python, with its options.

    >>> text = f"{command('graph', option('show', 'y'))} shows it"
    >>> in_shell(text), in_python(text)
    ('gradcli graph --show y shows it', 'graph(show=["y"]) shows it')
    """
    return f"{_BEGIN}{_NEXT.join(('', name))}{_END}{' '.join(options)}{_BEGIN}{_NEXT}{_END}"


def method(name: str) -> str:
    """Name a command that is meant by itself: the jacobian command, the method jacobian."""
    return f"{_BEGIN}{_NEXT.join(('', '', name))}{_END}"


def source(words: str) -> str:
    """Name the source of a text in a message: `--at x` as the option that it is, any other as it is.

    >>> in_python(source("--at x")), in_python(source("--loss")), in_python(source("EXPR"))
    ('at["x"]', 'loss', 'EXPR')
    """
    flag, _, name = words.partition(" ")
    return option(flag.removeprefix("--"), of=name) if flag.startswith("--") else words


def in_shell(text: str) -> str:
    """Write the options of a message as the shell has them."""
    return _MARKED.sub(_shell, text) if _BEGIN in text else text


def in_python(text: str) -> str:
    """Write the options of a message as Python has them."""
    return _MARKED.sub(_python, text) if _BEGIN in text else text


def _shell(found: re.Match[str]) -> str:
    name, of, *values = found[1].split(_NEXT)
    if not name and values:
        return f"the {values[0]} command"
    if not name:  # a command, and its end
        return f"gradcli {of} " if of else ""
    flag = f"--{name}"
    return " ".join(f"{flag} {value}" for value in values) or f"{flag} {of}".rstrip()


def _python(found: re.Match[str]) -> str:
    name, of, *values = found[1].split(_NEXT)
    if not name and values:
        return f"the method {values[0]}"
    if not name:
        return f"{of}(" if of else ")"
    if name.startswith("no-"):
        return f"{name.removeprefix('no-')}=False"
    if name in FORMAT_SWITCHES or name == "format":
        return f'f"{{answer:{values[0] if values else name}}}"'
    keyword = NAMES.get(name, name)
    if of:
        return f'{keyword}["{of}"]'
    if not values:
        return keyword
    pairs = [_unquoted(value).partition("=") for value in values]
    if name in BY_VARIABLE and all(equals for _, equals, _ in pairs):
        named = ", ".join(f'"{variable}": {_literal(value, name)}' for variable, _, value in pairs)
        return f"{keyword}={{{named}}}"
    return ", ".join(f"{keyword}={_literal(_unquoted(value), name)}" for value in values)


def _unquoted(value: str) -> str:
    return value[1:-1] if value[:1] in ("'", '"') and value[-1:] == value[:1] else value


def _literal(value: str, name: str) -> str:
    """Write a value of the shell as Python does."""
    if name in LISTS:
        return "[" + ", ".join(f'"{word}"' for word in value.split(",")) + "]"
    if _COUNT.fullmatch(value) and name not in BY_VARIABLE and name != "v":
        return value.replace(",", "")
    opening, closing = "()" if name == "shape" else "[]"
    numbers = [number.strip() for number in value.split(",")]
    if name != "claim" and all(map(_NUMBER.fullmatch, numbers)):
        return f"{opening}{', '.join(numbers)}{closing}" if len(numbers) > 1 else value
    return value if _VALUE.fullmatch(value) else f'"{value}"'


class Words(str):
    """A sentence of an answer, in the words of the shell, which knows itself in those of Python.

    Attributes:
        marked: The sentence with its options marked.
    """

    __slots__ = ("marked",)
    marked: str

    def __new__(cls, text: str) -> Words:
        """Make the sentence from a text in which options are named by `option`."""
        found = super().__new__(cls, in_shell(text))
        found.marked = text
        return found

    def __reduce__(self) -> tuple[type[Words], tuple[str]]:
        return Words, (self.marked,)

    @property
    def python(self) -> str:
        """The sentence in the words of Python."""
        return in_python(self.marked)


def marked(text: str) -> str:
    """Return a sentence with its options marked, to be part of another one."""
    return text.marked if isinstance(text, Words) else text
