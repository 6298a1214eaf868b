"""Snippets of PyTorch: a text with definitions, functions and backward passes, and what it asks for.

asked            what a snippet says and asks for
reading          a whole snippet to its function, its values and its question
assignments      the statements, and what is listened for while their expressions are lowered
defined          texts of plain Python, and definitions in mathematics
interpreter      runs statements: assignments, loops, branches, calls
assigning        names and elements that take values
changing         elements that masks and positions name, and methods that change their tensor
behind_passes    what is done to parameters and gradients behind a backward pass
python_branches  conditions, and what branches that depend on values give
python_values    lists, words and sizes, which are no tensors
python_dicts     dicts with constant keys
builtins         Python's own functions
module_parts     what modules are made of: parameters by name, modules inside of modules
network_modules  layers, functions and losses of torch.nn as values
layers           layers with parameters: what they are made with, draw and compute
drawing          what code draws at random, by torch and by NumPy
generators       torch's generator of random numbers
cells            cells and layers of recurrent networks, and attention of several heads
initializing     the first values that torch.nn.init gives to parameters
module_statements  statements with modules and classes
python_classes   classes and their instances
sharing          what may be changed in place
definitions      what names of libraries stand for, and what the text defines
gradients        torch.autograd.grad and backward(), and which derivatives are asked for
transforms       torch.func and torch.autograd.functional
dtypes           the floating-point types that are written

A text that has none of this is a Program as it always was: what reads snippets is imported where there is one.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import numpy.typing as npt

from gradcli.errors import GradcliError, UncalledFunctionError
from gradcli.language.lower.scope import Scope
from gradcli.language.parsing import parse
from gradcli.language.program.wengert import Shape
from gradcli.language.snippets.asked import Snippet

__all__ = ["Snippet", "read", "read_whole"]

_SIGNS = re.compile(
    r"\bimport\b|\bbackward\b|\brequires_grad|\bautograd\b|\btorch\.func\b|^[ \t]*print[ \t]*\(|"
    r"\bnn\s*\.\s*[A-Z]\w*\s*[(:)]|^class\b|"
    r"\b(?:torch|np|numpy)\s*\.\s*(?:rand\w*|normal|bernoulli|manual_seed|Generator)\b|"
    r"\bdistributions\s*\.\s*[A-Z]|"
    r"\.\s*(?:uniform|normal|random)_\s*\(|"
    r"=\s*(?:torch\s*\.\s*)?(?:tensor|Tensor|FloatTensor|DoubleTensor|Variable)\s*\(",
    re.MULTILINE,
)
"""What no expression has, and a snippet does."""

_LONGEST = 200

_NAME = r"[^\W\d]\w*"

_PYTHON = re.compile(
    rf"""\blambda\s(?=[^:\n]{{1,{_LONGEST}}}:) | \bdef\s+\w+\s*\( |
        (?:^|[;\n])[ \t]*{_NAME}\([ \t]*[^\W\d][\w \t,]{{0,{_LONGEST}}}\)[ \t]*:?=(?!=) |
        ^[ \t]*(?:for|while|if|with|class|return|assert|del|pass|try)\b | ^[ \t]*@{_NAME} | ^[ \t]*\*{_NAME} |
        (?:^|[;\n])[ \t]*return\b |
        \b(?:list|tuple|zip|map|enumerate|isinstance|reversed)\( | \.(?:append|extend|pop|insert|dim)\( |
        \.shape\b(?!\s*\[[^:\]\n]{{0,{_LONGEST}}}\]) | \.size\(\s*\) |
        (?:^|[;\n])[ \t]*{_NAME}[ \t]*=[ \t]*(?:None\b|True\b|False\b|[fFrR]?['"]) |
        \{{\s*(?:['"}}]|\*\*|\d+\s*:) | \bdict\( |
        \bis\s+(?:not\s+)?None\b | \bin\s+[\[(] |
        (?<![-+*/@%=<>!])(?:\+|-|\*\*?|//?|@|%)=(?!=) |
        (?:^|[;\n])[ \t]*(?:[(\[][ \t]*)?{_NAME}(?:\[[^\]\n]{{0,{_LONGEST}}}\])?[ \t]*,[^=;\n]{{0,{_LONGEST}}}=(?!=) |
        (?:^|[;\n])[ \t]*{_NAME}[ \t]*=[ \t]*{_NAME}[ \t]*=(?!=) |
        (?:^|[;\n])[ \t]*{_NAME}(?:\.\w+|\[[^\]\n]{{0,{_LONGEST}}}\]){{1,9}}[ \t]*=(?!=) |
        (?:^|[;\n])[ \t]*{_NAME}[ \t]*:[ \t]*[^\W\d][\w.\[\], \t]{{0,{_LONGEST}}}=(?!=) |
        [;\n][ \t]*{_NAME}[^;\n]{{0,{_LONGEST}}}?\.\w*[a-z]_\( |
        \bfor\s[^\n]{{1,{_LONGEST}}}?\sin\s+(?!range\b|\[|\() | \bfor\s+\(?{_NAME}\s*,
    """,
    re.VERBOSE | re.MULTILINE,
)
"""What only a text of Python's statements has, or one with definitions."""


def read_whole(text: str) -> Snippet:
    """The function of a text before any values are known: names of functions without arguments may be variables.

    Raises:
        GradcliError: As for `read`.

    >>> read_whole("mean**2").program.names, list(read_whole("mean**2").uncalled)
    (('mean',), ['mean'])
    """
    uncalled: dict[str, GradcliError] = {}
    while True:
        try:
            return replace(read(text, given=frozenset(uncalled), values={}), uncalled=uncalled)
        except UncalledFunctionError as error:
            if error.name in uncalled:
                raise
            uncalled[error.name] = error
        except GradcliError as error:
            first = next(iter(uncalled.values()), error)
            if _is_of_one_statement(first, error):
                raise first from None
            raise


def _is_of_one_statement(first: GradcliError, other: GradcliError) -> bool:
    """Whether two errors stand in one statement, so that the other may come of taking a name for a variable."""
    if first.place is None or other.place is None:
        return True
    between = sorted((*first.place.span, *other.place.span))
    return not set(";\n") & set(first.place.text[between[0] : between[-1]])


def read(
    text: str,
    *,
    given: frozenset[str] = frozenset(),
    shapes: Mapping[str, Shape] = MappingProxyType({}),
    shares: bool = True,
    values: Mapping[str, npt.NDArray[Any]] | None = None,
    takes: bool = True,
) -> Snippet:
    """The function of a text: a Program, or a snippet of PyTorch.

    Args:
        text: As typed or pasted.
        given: Names that are variables although they are also constants.
        shapes: Of variables, where they are known.
        shares: Whether operations that compute the same become one line, as in `parse`.
        values: Of all variables, where the text is to be read at a point, as loops and masks may ask; none, to be told
            that they do; None refuses such a text.
        takes: Whether branches are decided there as Python decides them; else both are in the lines.

    Raises:
        GradcliError: As for `parse`, or a line that is not read.

    >>> snippet = read("x = torch.tensor([1., 2.], requires_grad=True)\\ny = x**2\\ny.backward(torch.ones(2))")
    >>> snippet.program.names, snippet.values["x"].tolist(), snippet.wrt
    (('x',), [1.0, 2.0], ('x',))
    """

    def scope() -> Scope:
        return Scope(given, shapes=dict(shapes), values=values, takes=takes)

    typed, text = text, _without_prompts(text)
    is_session = text != typed
    if not is_session and not _SIGNS.search(text):
        if _PYTHON.search(text):
            from gradcli.language.snippets.defined import read_defined

            return Snippet(read_defined(text, scope(), shares=shares))
        return Snippet(parse(text, given=given, shapes=shapes, shares=shares, values=values))
    from gradcli.language.snippets.reading import read_snippet

    return read_snippet(text, scope, shares=shares, is_session=is_session)


def _without_prompts(text: str) -> str:
    """What was typed at Python's prompt, blanks standing for the prompts and for what was printed."""
    lines = text.split("\n")
    if not any(line.lstrip().startswith(">>> ") for line in lines):
        return text
    prompts = re.compile(r"\s*(>>> |\.\.\. )")
    shown = [" " * m.end() + line[m.end() :] if (m := prompts.match(line)) else " " * len(line) for line in lines]
    return "\n".join(shown)
