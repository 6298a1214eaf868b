"""Values and functions of a text that another text next to it writes as calls: `f(x)`, `f(3)`, in a claim.

f(x) = exp(2*x)       f(x) is the value f, f(3*x) the function at 3*x, and f(1 - f) a product, as f is a number there
y = exp(2*x)          y(x) is the value y; y(1 - y) and y(3*x) are products
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

from gradcli.errors import Span
from gradcli.language import ops
from gradcli.language.lower.arguments import by_name
from gradcli.language.lower.context import Context, NeighbourFunction, Operand
from gradcli.language.lower.sizes import fitted
from gradcli.language.program.wengert import Program
from gradcli.language.text.nodes import Arguments
from gradcli.language.text.source import SourceText
from gradcli.language.text.tokens import Token

_NAME = r"[^\W\d]\w*"

_DEFINITION = re.compile(
    rf"(?:^|[;\n])\s*(?:def\s+)?(?P<name>{_NAME})\s*"
    r"(?:\((?P<listed>[^();\n]*)\)\s*(?::?=(?!=)|:)|=\s*lambda\s+(?P<named>[^:;\n]*):)[^;\n]*"
)
"""A definition: `f(x) = x^2`, `f(x) := x^2`, `f = lambda x: x**2`, `def f(x): return x**2`."""


@dataclass(frozen=True)
class CallableNames:
    """Names of a function that a text next to it may write with arguments.

    Attributes:
        variables: The variables of the function.
        output: The name of its value.
        values: The names of its value, and of what its statements assign.
        functions: The functions that its text defines.
    """

    variables: Sequence[str]
    output: str
    values: Collection[str]
    functions: Mapping[str, NeighbourFunction]

    def __contains__(self, name: object) -> bool:
        """Tell whether a name is that of a value or a function, and of no function of the language."""
        return (name in self.values or name in self.functions) and ops.find(str(name)) is None


def callable_names(program: Program, read: Callable[[str], Program]) -> CallableNames:
    """Return what a text next to the function of a Program may call.

    Args:
        program: The function.
        read: Reads a part of its text.

    >>> from gradcli.language.parsing import parse
    >>> found = callable_names(parse("s = exp(x); s + x"), parse)
    >>> found.variables, found.output, sorted(found.values), found.functions
    (('x',), 'y', ['s', 'y'], {})
    """
    output, functions = program.output_name, dict[str, NeighbourFunction]()
    for found in _DEFINITION.finditer(program.text if not program.called else ""):
        parts = (found["listed"] or found["named"] or "").split(",")
        parameters = tuple(one.partition(":")[0].strip() for one in parts if "=" not in one)
        own = (lambda: program) if found["name"] == output else partial(read, program.text[: found.end()])
        functions[found["name"]] = NeighbourFunction(parameters, own)
    values = {output, *program.named} - {*program.names}
    return CallableNames(program.names, output, values, functions)


def settle_calls(source: SourceText, names: CallableNames) -> list[str]:
    """Write the value for a call of it, `f` for `f(x)`, and a product for `f(1 - f)`; other calls stay.

    Args:
        source: The text, whose words are changed.
        names: What it may call.

    Returns:
        Remarks on the readings that nothing in the function's text settles.

    >>> source = SourceText("y(x)*(1 - y(x)) + y(1 - y)", "--claim")
    >>> settle_calls(source, CallableNames(("x",), "y", ("y",), {}))
    ['y(x) is read as y, the value; a product is y*(x)']
    >>> "".join(token.text for token in source.tokens)
    'y*(1-y)+y(1-y)'
    """
    remarks: dict[str, None] = {}
    source.tokens = [*_settled(source, names, remarks)]
    return [*remarks]


def _settled(source: SourceText, names: CallableNames, remarks: dict[str, None]) -> Iterator[Token]:
    tokens, place = source.tokens, 0
    while place < len(tokens):
        token = tokens[place]
        place += 1
        called = _called(tokens, place - 1, names)
        if called is None:
            yield token
        elif called.is_product:
            yield from (token, Token("operator", "*", Span(token.span.stop, token.span.stop)))
        else:
            name = called.name
            if called.is_doubtful:
                shown = source.single_line(token.span.to(tokens[called.stop].span))
                product = f"; a product is {token.text}*({shown.partition('(')[2]}" * (name == token.text)
                remarks[f"{shown} is read as {name}, the value{product}"] = None
            yield replace(token, text=name)
            place = called.stop + 1


class _Call(NamedTuple):
    """Call of a value, or a product that looks so: the name of the value, and the position of what closes it."""

    name: str
    stop: int
    is_product: bool = False
    is_doubtful: bool = False


def _called(tokens: Sequence[Token], place: int, names: CallableNames) -> _Call | None:
    """Read a name with parentheses after it; None of anything else, and of a call of a function."""
    token = tokens[place]
    if token.kind != "name" or place + 1 >= len(tokens) or tokens[place + 1].text != "(":
        return None
    before = "d" if token.text.startswith("d") and token.text[1:] in names.values else ""  # as in df(x)/dx
    name = token.text.removeprefix(before)
    is_alias = name == "f" and not {name} & {*names.values, *names.functions, *names.variables}
    if not (is_alias or name in names.values) or ops.find(name) is not None:
        return None
    stop = _closing(tokens, place + 1)
    inside = tokens[place + 2 : stop]
    given = tuple(one.text for one in inside[::2])
    is_list = len(inside) % 2 == 1 and all(one.text == "," for one in inside[1::2])
    function = names.functions.get(name)
    if is_list and given == (tuple(names.variables) if function is None else function.parameters):
        return _Call(before + (names.output if is_alias else name), stop, is_doubtful=function is None and not before)
    if is_list and function is None and len({*given}) == len(given) and {*given} <= {*names.variables}:
        return _Call(before + (names.output if is_alias else name), stop, is_doubtful=not before)
    pairs = itertools.pairwise(tokens[place + 2 : stop + 1])
    is_bare = any(one.text == name and after.text != "(" for one, after in pairs)
    return _Call(name, stop, is_product=True) if function is not None and is_bare else None


def _closing(tokens: Sequence[Token], opening: int) -> int:
    """Return the position of what closes a parenthesis, or of the last word."""
    depth = 0
    for place in range(opening, len(tokens)):
        depth += (tokens[place].text in ("(", "[", "{")) - (tokens[place].text in (")", "]", "}"))
        if depth == 0:
            return place
    return len(tokens) - 1


def called_function(context: Context, name: Token, arguments: Arguments) -> Operand:
    """Lower the call of a function that the text defines to which this one is next.

    Raises:
        GradcliError: It takes other arguments, or its definition cannot be read.
    """
    function = context.known.calls[name.text]
    given = by_name(context, arguments, function.parameters, name.text)
    program, span = function.read(), name.span.to(arguments.span)
    own = {one: atom for one, (atom, _) in given.items()}
    others = (one for one in program.names if one not in own)
    own |= {one: context.names.values.get(one) or context.findings.variable(one) for one in others}
    operands = [own[one] for one in program.names]
    return context.builder.inline(program, operands, span, partial(fitted, context)), span
