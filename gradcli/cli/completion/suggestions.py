"""What may be typed next: names of functions inside an expression, variables of the expression, verdicts.

Reads text by its look, as what is being typed is not yet in the language, and SymPy would be slow to come.
"""

from __future__ import annotations

import contextlib
import os
import re
import string
from collections.abc import Iterable, Iterator

import typer

CONSTANTS = frozenset(["pi", "E", "inf", "nan"])
"""Names that are not variables."""

MODULES = frozenset(
    "F autograd fft functional jax jnp linalg math nn np numpy scipy sp special sympy tensorflow tf torch".split()
)
"""Names before a dot that are not variables either."""

KEYWORDS = frozenset("if else and or not for in True False None".split())

Candidates = list[tuple[str, str]]
"""Texts for what is being typed, each with a word of explanation."""

_PLAIN = frozenset(string.ascii_letters + string.digits + "_+-,")

_NAME = re.compile(r"(?<![\w.])[^\W\d]\w*")
_LAST_NAME = re.compile(r"(\.?)([^\W\d]\w*)\Z")
_STATEMENT = re.compile(r"(?:^|[;\n])\s*([^\W\d]\w*)\s*=(?!=)")


def expression(ctx: typer.Context, incomplete: str) -> Candidates:
    """The text with the name at its end completed to a function, or to a variable; behind `@` a file."""
    return list(_files(incomplete[1:]) if incomplete.startswith("@") else _in_language(ctx, incomplete))


def vector(ctx: typer.Context, incomplete: str) -> Candidates:
    """A gradient vector by its short name, or as an expression."""
    words = {"ones": "sums the elements of y", "e0": "ones over y[0]", "e1": "ones over y[1]", "e0_0": "y[0,0] alone"}
    return [*_starting(words.items(), incomplete), *expression(ctx, incomplete)]


def value(ctx: typer.Context, incomplete: str) -> Candidates:
    """A variable with its equals sign, or behind it a value."""
    name, equals, given = incomplete.partition("=")
    if given.startswith("@"):
        return [(f"{name}={file}", said) for file, said in expression(ctx, given)]
    if equals:
        return expression(ctx, incomplete)
    names = [(f"{name}=", "a variable") for name in variables(_typed(ctx))]
    return [*_starting(names, incomplete), *expression(ctx, incomplete)]


def direction(ctx: typer.Context, incomplete: str) -> Candidates:
    """A variable with its equals sign, or behind it a direction by its short name or as a value."""
    name, equals, _ = incomplete.partition("=")
    head = f"{name}=" if equals else ""
    words = {"ones": "all elements alike", "e0": "along x[0]", "e1": "along x[1]", "e0_0": "along x[0,0]"}
    return [*_starting(((head + word, text) for word, text in words.items()), incomplete), *value(ctx, incomplete)]


def variable_names(ctx: typer.Context, incomplete: str) -> Candidates:
    """Variables of the expression, after those that are there, separated by commas."""
    return _listed([(name, "a variable") for name in variables(_typed(ctx))], incomplete)


def statement_names(ctx: typer.Context, incomplete: str) -> Candidates:
    """Names of statements of the expression, in the same way."""
    return _listed([(name, "a statement") for name in dict.fromkeys(_STATEMENT.findall(_typed(ctx)))], incomplete)


def verdicts(incomplete: str) -> Candidates:
    """What may be allowed, in the same way."""
    from gradcli.results import NO_COUNTEREXAMPLE, SEVERITY

    words = (*SEVERITY, NO_COUNTEREXAMPLE)
    return _listed([(word, "") for word in words if word not in ("agree", "disagree")], incomplete)


def functions(incomplete: str) -> Candidates:
    """Functions of the language by all of their names."""
    return list(_starting(_functions(is_dotted=True), incomplete))


def variables(text: str) -> list[str]:
    """The names of an expression that look like variables, in order of appearance."""
    from gradcli.language.ops import find

    known = {*CONSTANTS, *MODULES, *KEYWORDS, *_STATEMENT.findall(text)}
    found = (match for match in _NAME.finditer(text) if match[0] not in known)
    names = [match[0] for match in found if text[match.end() :].lstrip()[:1] != "(" or not find(match[0])]
    return list(dict.fromkeys(names))


def _typed(ctx: typer.Context) -> str:
    """The expression of the command line, as far as it is there."""
    return ctx.params.get("expression") or ""


def _in_language(ctx: typer.Context, incomplete: str) -> Iterator[tuple[str, str]]:
    match = _LAST_NAME.search(incomplete)
    if match is None:
        return
    head, is_dotted = incomplete[: match.start(2)], bool(match[1])
    names = [(f"{name}(", text) for name, text in _functions(is_dotted=is_dotted)]
    others = [] if is_dotted else [(name, "a variable") for name in variables(_typed(ctx) or head)]
    yield from ((head + name, text) for name, text in _starting([*names, *others], match[2]))


def _files(start: str) -> Iterator[tuple[str, str]]:
    """Files whose path begins so, but those that are hidden or would need quotes."""
    folder, name = os.path.split(start)
    with contextlib.suppress(OSError), os.scandir(folder or ".") as entries:
        for entry in sorted(entries, key=lambda one: one.name):
            if entry.name.startswith(name or tuple(_PLAIN)) and set(entry.name) <= _PLAIN | {"."}:
                is_folder = entry.is_dir()
                path = os.path.join(folder, entry.name)
                yield f"@{path}{'/' * is_folder}", "a folder" if is_folder else "a file"


def _functions(*, is_dotted: bool) -> Iterator[tuple[str, str]]:
    from gradcli.language.ops import TABLE, find, names

    known = {*names(), *(name for op in TABLE.values() for name in op.qualified if is_dotted)}
    for name in sorted(known):
        op = find(name, after_dot=is_dotted)
        yield name, op.doc if op else ""


def _listed(words: Iterable[tuple[str, str]], incomplete: str) -> Candidates:
    """The text with the word behind its last comma completed to one that is not yet in it."""
    head, comma, last = incomplete.rpartition(",")
    there = {word.strip() for word in head.split(",")}
    left = [(word, text) for word, text in words if word not in there]
    return [(head + comma + word, text) for word, text in _starting(left, last)]


def _starting(words: Iterable[tuple[str, str]], start: str) -> Iterator[tuple[str, str]]:
    return ((word, text) for word, text in words if word.startswith(start))
