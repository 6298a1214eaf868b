"""FPCore files as texts of the language, and points of theirs where a form can be measured.

FPCore is the notation of collections of numerical problems, https://fpbench.org: S-expressions with a precondition.
Points are drawn evenly over the bit patterns of float64, so over the exponents, and kept where the precondition holds
and the true value and all derivatives are normal numbers: there, a bad number is the form's fault.
"""

from __future__ import annotations

import math
import operator
import re
import struct
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path

import numpy as np
from flint import arb

from gradcli.crosscheck.point import Point
from gradcli.errors import GradcliError
from gradcli.language.parsing import parse
from gradcli.language.program.shapes import infer
from gradcli.reference.balls import precision
from gradcli.reference.duals import Plan, Reference
from gradcli.reference.rules import Undefined
from gradcli.reference.running import Found

Tree = str | list["Tree"]

NAMED = {"fabs": "abs", "fmin": "minimum", "fmax": "maximum"}
COMPARED = {
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
}
BITS = (128, 512, 2_304, 9_216)
MOST_DRAWN = 60_000
SMALLEST, LARGEST = np.finfo(np.float64).tiny, np.finfo(np.float64).max


class UnreadableError(Exception):
    """What the language has no word for."""


@dataclass(frozen=True)
class Core:
    """One problem: its name, its variables, what it is, and where."""

    name: str
    variables: tuple[str, ...]
    body: Tree
    where: Tree

    @cached_property
    def text(self) -> str:
        """As a text of the language."""
        return _bare(_text(self.body))

    def holds(self, at: Mapping[str, float]) -> bool:
        """Whether the precondition holds at a point."""
        return bool(_value(self.where, at))


def read(path: Path) -> list[Core]:
    """The problems of a file; those with words that the language has not are left out."""
    found = []
    for n, tree in enumerate(_trees(path.read_text(encoding="utf-8")), 1):
        core = _core(tree, f"{path.stem} {n}")
        try:
            known = core is not None and set(parse(core.text).names) == set(core.variables)
        except (UnreadableError, GradcliError):
            continue
        if known and core is not None:
            found.append(core)
    return found


def _trees(text: str) -> Iterator[Tree]:
    stack: list[list[Tree]] = [[]]
    for token in re.findall(r'"[^"]*"|;[^\n]*|[()\[\]]|[^\s()\[\]";]+', text):
        if token in "([":
            stack.append([])
        elif token in ")]":
            whole = stack.pop()
            stack[-1].append(whole)
        elif not token.startswith(";"):
            stack[-1].append(token)
    yield from stack[0]


def _core(tree: Tree, name: str) -> Core | None:
    match tree:
        case ["FPCore", str(), list(variables), *rest] | ["FPCore", list(variables), *rest]:
            facts = {key: rest[k + 1] for k, key in enumerate(rest[:-2]) if isinstance(key, str) and key[:1] == ":"}
            where, called = facts.get(":pre", "TRUE"), str(facts.get(":name", name)).strip('"')
            return Core(called, tuple(map(str, variables)), rest[-1], where)
    return None


def _text(tree: Tree) -> str:
    """An expression; everything in parentheses but leaves and calls."""
    match tree:
        case str():
            return {"PI": "pi", "E": "e"}.get(tree, tree)
        case ["-", one]:
            return f"(-{_text(one)})"
        case ["pow", base, exponent]:
            return f"({_text(base)}**{_text(exponent)})"
        case ["cbrt", base]:
            return f"({_text(base)}**(1/3))"
        case ["fma", a, b, c]:
            return f"({_text(a)} * {_text(b)} + {_text(c)})"
        case [("+" | "-" | "*" | "/") as sign, first, *others] if others:
            return f"({f' {sign} '.join(map(_text, (first, *others)))})"
        case ["if", condition, chosen, other]:
            return f"where({', '.join(_bare(_text(part)) for part in (condition, chosen, other))})"
        case [("<" | "<=" | ">" | ">=") as sign, left, right]:
            return f"({_text(left)} {sign} {_text(right)})"
        case ["let" | "let*", list(pairs), body]:
            names = {str(pair[0]): pair[1] for pair in pairs}
            for name, value in reversed(names.items()):
                body = _with(body, name, value)
            return _text(body)
        case [str(name), *operands] if name.isidentifier() and operands:
            return f"{NAMED.get(name, name)}({', '.join(_bare(_text(part)) for part in operands)})"
    raise UnreadableError(str(tree))


def _bare(text: str) -> str:
    """A text without parentheses around the whole of it."""
    depth = 0
    for n, sign in enumerate(text):
        depth += (sign == "(") - (sign == ")")
        if depth == 0 and n < len(text) - 1:
            return text
    return text[1:-1] if text[:1] == "(" else text


def _with(tree: Tree, name: str, value: Tree) -> Tree:
    if isinstance(tree, str):
        return value if tree == name else tree
    return [_with(part, name, value) for part in tree]


CALLS: Mapping[str, Callable[..., float]] = {
    "+": lambda *a: math.fsum(a),
    "-": lambda a, b=None: -a if b is None else a - b,
    "*": lambda *a: math.prod(a),
    "/": lambda a, b: a / b if b else math.nan,
    "fabs": abs,
    "fmin": min,
    "fmax": max,
    "sqrt": lambda a: math.sqrt(a) if a >= 0 else math.nan,
    "exp": lambda a: math.exp(min(a, 709.0)),
    "log": lambda a: math.log(a) if a > 0 else math.nan,
}


def _value(tree: Tree, at: Mapping[str, float]) -> float:
    """Of a precondition, in float64."""
    match tree:
        case str():
            named = {"TRUE": 1.0, "FALSE": 0.0, "PI": math.pi, "E": math.e, **at}
            return named[tree] if tree in named else float(tree)
        case ["and", *parts]:
            return float(all(_value(part, at) for part in parts))
        case ["or", *parts]:
            return float(any(_value(part, at) for part in parts))
        case ["not", part]:
            return float(not _value(part, at))
        case [str(sign), *parts] if sign in COMPARED:
            values = [_value(part, at) for part in parts]
            return float(all(COMPARED[sign](a, b) for a, b in pairwise(values)))
        case [str(name), *parts] if name in CALLS:
            return CALLS[name](*(_value(part, at) for part in parts))
    raise UnreadableError(str(tree))


@dataclass(frozen=True)
class Sample:
    """A point, and the truth there: the value, and the derivative by each variable, in float64."""

    at: Mapping[str, float]
    value: float
    slopes: Mapping[str, float]


def samples(core: Core, count: int, seed: int = 0) -> list[Sample]:
    """Up to this many points of a problem."""
    generator = np.random.default_rng(seed)
    program = parse(core.text)
    found: list[Sample] = []
    for _ in range(MOST_DRAWN):
        at = {name: _drawn(generator) for name in core.variables}
        if len(found) == count:
            break
        if not core.holds(at):
            continue
        arrays = {name: np.asarray(x) for name, x in at.items()}
        point = Point.of(program, infer(program, dict.fromkeys(program.variables, ())), arrays)
        reference = Reference(point.program, point.shapes, point.inputs)
        truth = _truth(reference.plan([(symbol, 0) for symbol in point.program.variables]), core.variables, program)
        if truth is not None:
            found.append(Sample(at, *truth))
    return found


def _drawn(generator: np.random.Generator) -> float:
    while True:
        (number,) = struct.unpack("d", generator.bytes(8))
        if SMALLEST <= abs(number) <= LARGEST:
            return float(number)


def _truth(plan: Plan, names: tuple[str, ...], program: object) -> tuple[float, dict[str, float]] | None:
    """The truth at a point; None if a number is missing there, or not normal."""
    places = {str(symbol): n for n, (symbol, _) in enumerate(plan.directions)}
    for bits in BITS:
        found: Found = plan.run(bits)
        numbers = [found.values[0], *(found.columns.get((places[name], 0), arb(0)) for name in names)]
        if any(isinstance(one, Undefined) and one.decided for one in numbers):
            return None
        balls = [one for one in numbers if isinstance(one, arb)]
        with precision(bits):
            if any(bool(abs(ball) < SMALLEST) or bool(abs(ball) > LARGEST) for ball in balls):
                return None
            if len(balls) == len(numbers) and all(ball.rel_accuracy_bits() > 60 for ball in balls):
                value, *slopes = map(float, balls)
                return value, dict(zip(names, slopes, strict=True))
    return None
