"""The words of options as arguments of `Function`.

A value stays the text that was typed, which the language reads; with `@` in front it is read from a file.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from gradcli.cli.options import OptionKind
from gradcli.cli.signatures import KINDS_BY_VARIABLE, Option
from gradcli.errors import InputError, LanguageError

if TYPE_CHECKING:
    from gradcli.files import Files
    from gradcli.results import Array

_Read = TypeVar("_Read")

_NAMED = re.compile(
    r"""\s*(
        [^\W\d][\w\u0302-\u0308\u20d7]*(?:\.\w+)*
      | [^\W\d]\w*\{\w+\}
      | (?=[^=]*\\)(?:\w | \\[A-Za-z] | \{(?:[\w\\ ]|\{[\w\\ ]*\})*\} | [ ]+(?=[\w\\{]))+?
    )\s*=(?!=)(.*)""",
    re.DOTALL | re.VERBOSE,
)
r"""A name before what is of it: `x=1`, `x_{1}=1`, and words of LaTeX, `\theta_1=1` and `\hat{\mathbf{y}}=1`."""

_COMMAS = re.compile(r",(?![^\[\]]*\])")
"""Commas that are not inside brackets: one in `x[0,0],x[0,1]`."""

_LINES_OF_NUMBERS = re.compile(r"\s*[-+.\deE]+(?:[ \t\r]*\n\s*[-+.\deE]+)+\s*")
"""Numbers on lines of their own, such as the output of `$(seq 3)`: a vector."""


def arguments(options: Iterable[Option], given: Mapping[str, Any], files: Files) -> dict[str, Any]:
    """Read the arguments of a question from the words that were given; leave out the others.

    Raises:
        InputError: Two values for one variable, or no name where names are due; or a file that cannot be read.
    """
    found: dict[str, Any] = {}
    for option in options:
        words, read_word = given[option.name], _READERS.get(option.kind, _itself)
        if words is None or (option.kind is OptionKind.SWITCH and not words):
            continue
        if option.kind is OptionKind.SWITCH:
            found[option.name] = not option.default
        elif option.kind in KINDS_BY_VARIABLE:
            named = _by_name(words, option.flag).items()
            found[option.name] = {
                name: read_word(word, f"{option.flag} {name}".rstrip(), files) for name, word in named
            }
        elif option.is_repeated:
            found[option.name] = [read_word(word, option.flag, files) for word in words]
        else:
            found[option.name] = read_word(words, option.flag, files)
    return found


def _by_name(words: Sequence[str], option: str) -> dict[str, str]:
    """Split `NAME=TEXT` words into texts by name; a word without a name has the name "".

    Raises:
        InputError: Two words have one name.
    """
    given: dict[str, str] = {}
    for word in (one for several in words for one in separate(several)):
        match = _NAMED.fullmatch(word) or (_LABELLED.match(word) if option == "--claim" else None)
        name, value = (_plain(match[1]), match[2]) if match else ("", word)
        name, value = ("", word) if "\\" in name else (name, value)  # a left-hand side in LaTeX that is no name
        if name in given:
            whose = f"'{name}'" if name else "the only variable"
            hint = "write a vector as 1,2" if option in ("--at", "--u", "--expect") else "give it once"
            hint += f"; or {option} NAME=VALUE for each variable" * (not name)
            raise InputError(f"{option} gives {whose} two values: {given[name]} and {value}", hint=hint)
        given[name] = value
    return given


_LABELLED = re.compile(
    r"(?s)(?=\s*[∂d]\w+(?:\[[^\[\]]*\])?\s*/\s*[∂d]([^\W\d]\w*(?:\.\w+)*)(?:\[[^\[\]]*\])?\s*=(?!=))(.*)"
)
"""A claim with a derivative on its left-hand side, which names the variable: `dy/dx = 2*x`."""


def separate(word: str) -> list[str]:
    """Split `x=1,y=2` at the commas outside brackets, or an object of JSON, into assignments; else keep the word.

    >>> separate("x=[1,2],y=f(a=1)"), separate("1,2"), separate("x=1,2"), separate('{"x": [1,2]}')
    (['x=[1,2]', 'y=f(a=1)'], ['1,2'], ['x=1,2'], ['x=[1, 2]'])
    """
    with contextlib.suppress(ValueError, RecursionError):
        return [f"{name}={value}" for name, value in json.loads(word if word.lstrip()[:1] == "{" else "").items()]
    if not _NAMED.fullmatch(word):
        return [word]
    cuts, depth = [-1], 0
    for n, sign in enumerate(word):
        depth += (sign in "([{") - (sign in ")]}")
        if sign == "," and depth == 0 and _NAMED.match(word, n + 1):
            cuts.append(n)
    return [word[first + 1 : last] for first, last in zip(cuts, [*cuts[1:], len(word)], strict=True)]


def read(word: str, source: str, files: Files) -> str | Array:
    """Read a value as `typed_or_read` does, numbers on lines as a vector; refuse the name of a file.

    Raises:
        GradcliError: The file after `@` cannot be read, or the value is the name of a file.
    """
    from gradcli.files.reader import FILE_SUFFIXES

    found = typed_or_read(word, source, files.array)
    if found is word and os.path.splitext(word)[1].lower() in FILE_SUFFIXES:
        hint = f"write {source}=@{word}" if " " in source else f"write {source} @{word}"
        raise InputError(f"{source} is the name of a file, {word}", hint=hint)
    return ",".join(found.split()) if isinstance(found, str) and _LINES_OF_NUMBERS.fullmatch(found) else found


def typed_or_read(word: str, source: str, read: Callable[[str, str], _Read]) -> str | _Read:
    """Read a text: `@FILE` from the file, `-` as `@-`, `@@TEXT` as the text `@TEXT`, any other word as it is.

    Args:
        word: As typed.
        source: Name of the text in messages.
        read: Reads the file.

    Raises:
        GradcliError: The file cannot be read.
    """
    text = "@-" if word.strip() == "-" else word.lstrip()
    if text.startswith("@@"):
        return text[1:]
    return read(text[1:], source) if text.startswith("@") else word


def _itself(word: object, source: str, files: Files) -> object:
    return word


def _text(word: str, source: str, files: Files) -> str:
    return typed_or_read(word, source, files.text)


def _names(words: str, source: str, files: Files) -> list[str]:
    """Split names at commas.

    Raises:
        InputError: There is no name.
    """
    found = list(map(_plain, _parted(words)))
    if not found:
        raise InputError(f"{source} names nothing", hint=f"write {source} NAME,NAME, or leave it out")
    return found


def _plain(name: str) -> str:
    """Return the name that a text of the language gives a variable; one in ASCII, but for LaTeX, is one already."""
    return name if name.isascii() and not ("\\" in name or "{" in name) else _spelled_plainly(name)


def _spelled_plainly(name: str) -> str:
    r"""Return x1 for x₁, and theta_1 for \theta_{1}; what is no name stays."""
    from gradcli.language.text.signs import plain

    with contextlib.suppress(LanguageError):
        found = plain(name if "\\" in name else re.sub(r"\{(\w+)\}$", r"\1", name)).strip()
        return found if found.isidentifier() else name
    return name


def _parted(text: str) -> list[str]:
    return [word.strip() for word in _COMMAS.split(text) if word.strip()]


def _verdicts(words: str, source: str, files: Files) -> list[str]:
    """Split words at commas, each once; the check knows them."""
    return list(dict.fromkeys(_parted(words)))


_READERS: Mapping[OptionKind, Callable[[Any, str, Files], Any]] = {
    **dict.fromkeys((OptionKind.INPUTS, OptionKind.VALUES, OptionKind.DIRECTIONS, OptionKind.VECTOR), read),
    **dict.fromkeys((OptionKind.TEXT, OptionKind.TEXTS), _text),
    **dict.fromkeys((OptionKind.VARIABLES, OptionKind.STATEMENTS), _names),
    OptionKind.VERDICTS: _verdicts,
}
"""Readers of the words that Typer gives, by kind of option; a word of another kind is the argument as it is."""
