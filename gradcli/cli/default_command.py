"""The first word of a command line: a command, another name of one, or an expression, which is differentiated."""

from __future__ import annotations

import itertools
import os
from collections.abc import Container, Mapping, Sequence
from functools import lru_cache

from gradcli.errors import UsageError
from gradcli.registry import all_commands

DERIVATIVE = "derivative"
"""Command for an expression that stands alone."""

_OTHER_NAMES: Mapping[str, str] = {
    DERIVATIVE: "d diff differentiate",
    "grad": "gradient",
    "jacobian": "jac jacrev jacfwd",
    "hessian": "hess",
    "vjp": "backward pullback",
    "jvp": "pushforward directional directional-derivative",
    "eval": "evaluate value",
    "guide": "man",
}
"""Of commands of the core; those of parts name theirs, as `Command` has them."""

_OTHER_COMMANDS: Mapping[str, str] = {
    "--format latex": "latex tex",
    "hessian": "second-derivative second second_derivative gradgradcheck laplacian taylor series maclaurin",
    "jacobian": "div divergence curl rot",
    "grad": "partial partials nabla slope",
    "grad --full": "tangent tangent-line linearize",
    "eval": "limit lim calc calculate compute",
    "config": "settings",
    "functions": "list funcs ops operations search",
    "guide tour": "tutorial examples docs start",
    "guide language": "syntax",
}
"""The nearest commands of the core, with those of other tools."""


@lru_cache(maxsize=1)
def other_names() -> Mapping[str, str]:
    """Return the names that other tools, and textbooks, have for commands, with the command."""
    own = {name: command for command, names in _OTHER_NAMES.items() for name in names.split()}
    return own | {name: one.name for one in all_commands().values() for name in one.other_names}


@lru_cache(maxsize=1)
def other_commands() -> Mapping[str, tuple[str, ...]]:
    """Return commands that gradcli lacks, with the nearest ones and the options that they need."""
    own = {name: tuple(words.split()) for words, names in _OTHER_COMMANDS.items() for name in names.split()}
    return own | {name: (one.name,) for one in all_commands().values() for name in one.near}


SUM_OF_JACOBIAN = "a divergence and a curl are sums of entries of the Jacobian"
SUM_OF_HESSIAN = "a Laplacian is the sum of the diagonal of the Hessian"
IMPLICIT = "an equation is not solved; where F(x, y) = 0, dy/dx is -(∂F/∂x)/(∂F/∂y)"

HIGHEST = "derivatives stop at the second, which gradcli hessian has"

_ELSEWHERE: Mapping[str, str] = {
    "gradcli differentiates and does not integrate": "integrate integral",
    "gradcli differentiates and does not solve equations; gradcli eval gives the value of a function": "solve root "
    "roots zeros fsolve nsolve dsolve",
    HIGHEST: "third nth",
    "gradcli has the gradient that an optimizer needs, and is none itself": "optimize fit train descent",
    "gradcli answers one question a call; in Python, import gradcli": "repl shell interactive quit exit",
    "gradcli measures no time; torch.utils.benchmark does": "time bench benchmark profile",
    "pip install --upgrade gradcli does": "upgrade update install",
    SUM_OF_HESSIAN: "laplacian",
    SUM_OF_JACOBIAN: "div divergence curl rot",
    "gradcli has no series, whose terms are those of eval, grad and hessian": "taylor series maclaurin",
    "the tangent is y + dy/dx*(x - x0), and grad --full has y and dy/dx": "tangent tangent-line linearize",
    "eval has the value, and the limit where the function has a hole": "limit lim",
}
"""Facts on commands that gradcli lacks, with their names."""


@lru_cache(maxsize=1)
def _elsewhere() -> Mapping[str, str]:
    """Return commands that gradcli lacks, with a hint at the nearest one."""
    own = {name: fact for fact, names in _ELSEWHERE.items() for name in names.split()}
    return {**own, **dict(pair for one in all_commands().values() for pair in one.elsewhere)}


def lacking(name: str) -> str:
    """Say of a command that gradcli lacks what it does instead; empty for any other name."""
    return _elsewhere().get(name, "")


_WEIGHTS = ("--v", "--loss", "--accumulate", "--gradient", "--vector", "--grad-output", "--cotangent")
"""Options, here and in other tools, that only the gradient of a function of several outputs has."""

_HELP = ("-h", "--help", "help")

_VALUED = ("--at", "--shape", "--in", "--v", "--wrt", "--loss")
"""Options that an expression has, and hardly a word that is a mistyped command."""


def is_expression(words: Sequence[str]) -> bool:
    """Tell whether a word that may be a command is an expression: nothing but options follows, and one is a value.

    >>> is_expression(["x", "--at", "3"]), is_expression(["graad", "x**2", "--at", "3"]), is_expression(["x·y"])
    (True, False, True)
    """
    first, *rest = words
    if not first.isascii():
        return True
    is_valued = any(word.partition("=")[0] in _VALUED for word in rest)
    return is_valued and bool(rest) and rest[0].startswith("--")


def with_command(arguments: Sequence[str], commands: Container[str]) -> list[str]:
    """Put the command that the first word of a command line means in its place.

    >>> with_command(["diff", "x**2"], ["vjp"]), with_command(["x**2", "--v", "1"], ["vjp"])
    (['derivative', 'x**2'], ['vjp', 'x**2', '--v', '1'])
    >>> with_command(["help", "vjp"], ["vjp"]), with_command(["-x**2"], ["vjp"])
    (['vjp', '--help'], ['derivative', '-x**2'])

    Raises:
        UsageError: The first word asks for a command that is not here.
    """
    if not arguments:
        return []
    first, *rest = arguments
    if first in commands:
        return [first, "--help"] if rest == ["help"] else [first, *rest]
    if first in ("version", "-V"):
        return ["--version", *rest]
    if first == "help" or (first in _HELP and rest[:1] and rest[0] in commands):
        return [*(other_names().get(word, word) for word in rest[:1]), "--help"]
    named = all_commands().get(first.removeprefix("--"))
    if named is not None and not named.is_on_function:  # --run FILE, as other tools have it
        return [named.name, *rest]
    if first in other_names():
        return [other_names()[first], *rest]
    if first in _elsewhere() and not is_expression(arguments):
        raise _no_such_command(first)
    if (shell := expanded(arguments)) is not None and not first.startswith("-"):
        raise UsageError(f"no such command '{first}'", hint=shell)
    is_alone = not rest and first.isidentifier() and first not in other_commands()
    if is_alone and _is_command(arguments) and first not in ("help",):
        raise UsageError(
            f"'{first}' is no command, and an expression of one word needs a value",
            hint=f"for the expression: gradcli {first} --at VALUE; gradcli --help lists the commands",
        )
    if first in (*_HELP, "--version") or not first.strip() or _is_command(arguments):
        return [first, *rest]
    if first.startswith("--") and (command := next((word for word in rest if word in commands), "")):
        rest.remove(command)
        return [command, first, *rest]
    is_weighted = any(word.partition("=")[0] in _WEIGHTS for word in arguments)
    return ["vjp" if is_weighted else DERIVATIVE, first, *rest]


def _no_such_command(name: str) -> UsageError:
    """Make the error of a command that gradcli lacks; the hint of one that has a nearest command is that command."""
    fact = _elsewhere()[name]
    if name in other_commands():
        return UsageError(f"no such command '{name}': {fact}")
    return UsageError(f"no such command '{name}'", hint=fact)


def expanded(words: Sequence[str]) -> str | None:
    """Hint at quotes if the words begin with several names of files, as when the shell expands `*`; else None."""
    files = list(itertools.takewhile(os.path.exists, words))
    if len(files) < 2:
        return None
    return "the shell wrote the names of files for * here: put the expression in quotes, such as 'x**2'"


def _is_command(words: Sequence[str]) -> bool:
    """Tell whether the first word would be a command, though there is none of this name."""
    return words[0].replace("-", "_").isidentifier() and not words[0].startswith("-") and not is_expression(words)
