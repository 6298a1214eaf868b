"""Values and functions of a text that another text next to it writes as calls: `f(x)`, `f(3)`, in a claim.

    f(x) = exp(2*x)    f(x) is the value f, f(3*x) the function at 3*x, and f(1 - f) a product, as f is a number there
    y = exp(2*x)       y(x) is the value y, and y(3) the function at 3; y(1 - y) and y(3*x) are products

The words of such a text are settled before it is parsed; the functions that it calls are lowered in place.
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
from gradcli.language.program.wengert import CONSTANTS, Program
from gradcli.language.text.nodes import Arguments
from gradcli.language.text.signs import NAME
from gradcli.language.text.source import SourceText
from gradcli.language.text.tokens import POWERS, Token

_DEFINITION = re.compile(
    rf"(?:^|[;\n])\s*(?:def\s+)?(?P<name>{NAME})\s*"
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
        defined: The functions that its text defines, by their names.
        functions: These; and of one variable the function itself by the name of its value, and by f.
    """

    variables: Sequence[str]
    output: str
    values: Collection[str]
    defined: Mapping[str, NeighbourFunction]
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
    >>> found.variables, found.output, sorted(found.values), found.defined, [*found.functions]
    (('x',), 'y', ['s', 'y'], {}, ['f', 'y'])
    """
    output, defined = program.output_name, dict[str, NeighbourFunction]()
    for found in _DEFINITION.finditer(program.text if not program.called else ""):
        parts = (found["listed"] or found["named"] or "").split(",")
        parameters = tuple(one.partition(":")[0].strip() for one in parts if "=" not in one)
        own = (lambda: program) if found["name"] == output else partial(read, program.text[: found.end()])
        defined[found["name"]] = NeighbourFunction(parameters, own)
    values = {output, *program.named} - {*program.names}
    loose = {*(("f",) if "f" not in {*program.named, *program.names} else ()), output} - defined.keys()
    itself = NeighbourFunction(program.names, lambda: program)
    functions = dict.fromkeys(sorted(loose), itself) if len(program.names) == 1 else {}
    return CallableNames(program.names, output, values, defined, {**functions, **defined})


def settle_calls(source: SourceText, names: CallableNames) -> list[str]:
    """Write the value for a call of it, `f` for `f(x)`, and a product for `f(1 - f)`; other calls stay.

    Args:
        source: The text, whose words are changed.
        names: What it may call.

    Returns:
        Remarks on the readings that nothing in the function's text settles.

    >>> source = SourceText("y(x)*(1 - y(x)) + y(1 - y)", "--claim")
    >>> settle_calls(source, CallableNames(("x",), "y", ("y",), {}, {}))
    ['y(x) is read as y, the value; a product is y*(x)']
    >>> "".join(token.text for token in source.tokens)
    'y*(1-y)+y(1-y)'
    """
    if "'" in source.text and source.name != "EXPR":
        _require_no_derivative(source, names)
    remarks: dict[str, None] = {}
    source.tokens = [*_settled(source, names, remarks)]
    return [*remarks]


def _require_no_derivative(source: SourceText, names: CallableNames) -> None:
    """Refuse `f'(x)`, which is no transpose where f is the function, and `-f'`, unless f stands without a mark too.

    In `diag(y) - y y'` a vector y is transposed.

    Raises:
        LanguageError: It stands there.
    """
    primed = [one.text for one, mark in itertools.pairwise(source.tokens) if mark.text == "'"]
    for place, token in enumerate(source.tokens):
        marks = list(itertools.takewhile(lambda one: one.text == "'", source.tokens[place + 1 :]))
        after = source.tokens[place + 1 + len(marks) :]
        called = _called([token, *after], names) if marks else None
        is_call = called is not None and not called.is_product
        is_alone = token.text in names.functions and sum(
            one.text == token.text for one in source.tokens
        ) == primed.count(token.text)
        is_stated = [one.text for one in after[:1]] == ["="]  # of which the right side is the claim
        if marks and (is_call or (is_alone and token.kind == "name" and not is_stated)):
            shown = token.text + "'" * len(marks)
            message = f"{shown} is a derivative on paper, the one that a claim is held to"
            last = after[called.stop - 1] if called is not None and is_call else marks[-1]
            raise source.error(message, token.span.to(last.span), hint="write its formula, without a mark")


def _settled(source: SourceText, names: CallableNames, remarks: dict[str, None]) -> Iterator[Token]:
    tokens, place = source.tokens, 0
    while place < len(tokens):
        token = tokens[place]
        power = tokens[place + 1 : place + 3] if _is_power(tokens, place) else []  # as in f^2(x)
        called = _called([token, *tokens[place + 1 + len(power) :]], names)
        place += 1
        if called is None or (power and called.is_product):
            yield token
        elif called.is_product:
            if not names.defined:
                remarks[f"{token.text}(...) is read as {token.text}*(...), a product"] = None
            yield from (token, Token("operator", "*", Span(token.span.stop, token.span.stop)))
        else:
            place += called.stop + len(power)
            if called.is_doubtful:
                shown = source.single_line(token.span.to(tokens[place - 1].span))
                value = f"{called.name}{''.join(one.text for one in power)}"
                product = f"; a product is {token.text}*({shown.partition('(')[2]}"
                is_own = called.name == token.text and not power
                remarks[f"{shown} is read as {value}, the value{product * is_own}"] = None
            yield from (replace(token, text=called.name), *power)
            if tokens[place].text == "(":  # a value is not called: f(x)(1 - x) is a product
                yield Token("operator", "*", Span(tokens[place].span.start, tokens[place].span.start))


def _is_power(tokens: Sequence[Token], place: int) -> bool:
    """Tell whether a name has a whole number as exponent, and parentheses after that."""
    name, sign, number, opening = (*tokens[place : place + 4], *[tokens[-1]] * 4)[:4]
    return name.kind == "name" and sign.text in POWERS and number.kind == "number" and opening.text == "("


class _Call(NamedTuple):
    """Call of a value, or a product that looks so: the name of the value, and the position of what closes it."""

    name: str
    stop: int
    is_product: bool = False
    is_doubtful: bool = False


def _called(tokens: Sequence[Token], names: CallableNames) -> _Call | None:
    """Read a name with parentheses after it; None of anything else, and of a call of a function."""
    token = tokens[0]
    if token.kind != "name" or len(tokens) < 2 or tokens[1].text != "(":
        return None
    before = "d" if token.text.startswith("d") and token.text[1:] in names.values else ""  # as in df(x)/dx
    name = token.text.removeprefix(before)
    is_alias = name == "f" and not {name} & {*names.values, *names.defined, *names.variables}
    if not (is_alias or name in names.values) or ops.find(name) is not None:
        return None
    stop, is_defined = _closing(tokens, 1), name in names.defined
    inside = tokens[2:stop]
    given = tuple(one.text for one in inside[::2])
    is_list = len(inside) % 2 == 1 and all(one.text == "," for one in inside[1::2])
    is_of_all = given == (names.defined[name].parameters if is_defined else tuple(names.variables))
    is_of_some = not is_defined and len({*given}) == len(given) and {*given} <= {*names.variables}
    if is_list and (is_of_all or is_of_some):
        return _Call(before + (names.output if is_alias else name), stop, is_doubtful=not (is_defined or before))
    if is_defined:
        pairs = itertools.pairwise(tokens[2 : stop + 1])
        is_product = any(one.text == name and after.text != "(" for one, after in pairs)
    else:  # which is called at numbers alone
        is_of_numbers = bool(inside) and all(one.kind != "name" or one.text in CONSTANTS for one in inside)
        is_product = name in names.functions and not (is_of_numbers or is_alias)
    return _Call(name, stop, is_product=True) if is_product else None


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
