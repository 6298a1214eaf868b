"""Expressions that lose digits, overflow or divide 0 by 0, and the same function without that: one row a known trouble.

Each row holds texts of the language: a form, and what to write for it.  Both sides are the same function in exact
arithmetic wherever the form has a value and a derivative; shapes are the same too.  A form is found in a Program by its
operations: `1 - cos(u)` in `1 - torch.cos(2*x)`, u being 2*x.  Names of a form stand for any value, the same one each
time; a name that the form assigns stands for that part.  Sums and products are found in either order, and what is the
same operation in other words is found too: x*x as u**2, `-1 + exp(x)` as exp(u) - 1.

Sources: N. J. Higham, "Accuracy and Stability of Numerical Algorithms", 2nd edition, 2002, chapters 1 and 27; the NIST
Digital Library of Mathematical Functions, chapter 4.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from typing import Any, TypeAlias

import sympy

from gradcli.diagnose.occurrences import Reading, exact
from gradcli.diagnose.splicing import MOST_DENOMINATOR, decimal
from gradcli.language.ops import Kind
from gradcli.language.parsing import parse
from gradcli.language.program.wengert import Atom, Call

_TWO, _MINUS_ONE = sympy.Integer(2), sympy.Integer(-1)

OTHER_WORDS: Mapping[str, tuple[str, ...]] = {
    "add": ("add", "sub"),
    "sub": ("sub",),
    "mul": ("mul", "pow"),
    "square": ("pow",),
    "pow": ("pow", "sqrt", "exp"),
    "reciprocal": ("div",),
}
"""What an operation may be found as, if not only as itself."""


@dataclass(frozen=True)
class Match:
    """What the names of a pattern stand for, and the constant arguments of its reductions, by operation."""

    names: Mapping[str, Atom] = field(default_factory=dict)
    statics: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)

    def with_name(self, name: str, atom: Atom) -> Match:
        """One more name."""
        return Match({**self.names, name: atom}, self.statics)


@dataclass(frozen=True)
class Pattern:
    """A text of the language as a pattern."""

    nodes: Mapping[Atom, Call]
    named: Mapping[Atom, str]
    output: Atom
    root: str

    def matches(self, nodes: Mapping[Atom, Call], atom: Atom) -> Iterator[Match]:
        """The ways in which a value has the form of the pattern; `nodes` are the operations of its Program."""
        if self.root in OTHER_WORDS.get(name := nodes[atom].op.name, (name,)):
            yield from self._found(self.output, nodes, atom, Match())

    def _found(self, part: Atom, nodes: Mapping[Atom, Call], atom: Atom, match: Match) -> Iterator[Match]:
        """Ways to continue a match with a part of the pattern standing for a value."""
        wanted = self.nodes.get(part)
        if wanted is None:
            if not isinstance(part, sympy.Symbol):
                if part == atom or (exact(part) is not None and exact(part) == exact(atom)):
                    yield match
                return
            known = match.names.get(str(part))
            if known is None:
                yield match.with_name(str(part), atom)
            elif known == atom:
                yield match
            return
        for op, operands, statics in _forms(nodes, atom):
            if op != wanted.op.name or len(operands) != len(wanted.operands):
                continue
            below = match
            if wanted.op.kind in (Kind.REDUCTION, Kind.DEFINED):
                below = Match(match.names, {**match.statics, op: statics})
            elif statics != wanted.statics:
                continue
            for found in self._all(wanted.operands, nodes, operands, below):
                name = self.named.get(part, "")
                yield found.with_name(name, atom) if name else found

    def _all(
        self, parts: tuple[Atom, ...], nodes: Mapping[Atom, Call], atoms: tuple[Atom, ...], match: Match
    ) -> Iterator[Match]:
        if not parts:
            yield match
            return
        for found in self._found(parts[0], nodes, atoms[0], match):
            yield from self._all(parts[1:], nodes, atoms[1:], found)


_Form = tuple[str, tuple[Atom, ...], tuple[Any, ...]]


def _forms(nodes: Mapping[Atom, Call], atom: Atom) -> Iterator[_Form]:
    """A value's operation, and the same in other words."""
    node = nodes.get(atom)
    if node is None:
        return
    yield node.op.name, node.operands, node.statics
    match node.op.name, node.operands:
        case "add", (a, b):
            yield "add", (b, a), ()
            for left, right in ((a, b), (b, a)):
                taken = _negated(nodes, right)
                if taken is not None:
                    yield "sub", (left, taken), ()
        case "mul", (a, b):
            yield "mul", (b, a), ()
            if a == b:
                yield "pow", (a, _TWO), ()
        case "square", (a,):
            yield "pow", (a, _TWO), ()
        case "reciprocal", (a,):
            yield "div", (sympy.Integer(1), a), ()
        case "pow", (a, b):
            if exact(b) == Fraction(1, 2):
                yield "sqrt", (a,), ()
            if a == sympy.E:
                yield "exp", (b,), ()


def _negated(nodes: Mapping[Atom, Call], atom: Atom) -> Atom | None:
    """What a value is the negative of, if it is written as a negative."""
    node = nodes.get(atom)
    if node is not None:
        return node.operands[0] if node.op.name == "neg" else None
    value = exact(atom)
    return -atom if value is not None and value < 0 else None


@lru_cache(maxsize=256)
def pattern(text: str) -> Pattern:
    """The pattern that a text of the language is.

    >>> from gradcli.diagnose.occurrences import read_places
    >>> reading = read_places("torch.cos(2*x) + y*(-1 + exp(x))")
    >>> [str(m.names["u"]) for atom in reading.nodes for m in pattern("exp(u) - 1").matches(reading.nodes, atom)]
    ['x']
    """
    program = parse(text)
    nodes = {line.symbol: line.call for line in program.lines}
    named = {line.symbol: line.name for line in program.lines if line.name}
    return Pattern(nodes, named, program.output, nodes[program.output].op.name)


Replacement: TypeAlias = str | Callable[[Match, Reading, Atom], str | None]
"""A text of the names of the form, or what gives one for a match and the value that is replaced; None for none."""


@dataclass(frozen=True)
class Rule:
    """One known trouble: its forms with what to write for each, the first that fits, and why.

    In the reason, names in braces are those of the forms.
    """

    reason: str
    forms: tuple[tuple[str, Replacement], ...]


def _rule(reason: str, *forms: tuple[str, Replacement]) -> Rule:
    return Rule(reason, forms)


# -- what depends on constants and shapes


def _over(statics: tuple[Any, ...]) -> str:
    """The constant arguments of a reduction as they are typed behind an operand."""
    dim, keepdim = statics
    return ("" if dim is None else f", dim={dim}") + (", keepdim=True" if keepdim else "")


def _axis(match: Match, reading: Reading) -> int | None:
    """The dimension of a softmax, if the sum of the match is along one whose size is then 1; else None."""
    dim, keepdim = match.statics["sum"]
    shape = reading.shape(match.names["u"])
    rank = None if shape is None else len(shape)
    if isinstance(dim, tuple) and len(dim) == 1:
        dim = dim[0]
    if dim is None:
        return 0 if rank in (0, 1) else None
    return dim if isinstance(dim, int) and (keepdim or dim == 0 or rank == 1) else None


def _softmax(match: Match, reading: Reading, atom: Atom) -> str:
    axis = _axis(match, reading)
    if axis is None:
        return f"exp(u - logsumexp(u{_over(match.statics['sum'])}))"
    return f"softmax(u, dim={axis})"


def _log_softmax(match: Match, reading: Reading, atom: Atom) -> str:
    if "softmax" in match.statics:
        (dim,) = match.statics["softmax"]
        return "log_softmax(u)" if dim is None else f"log_softmax(u, dim={dim})"
    axis = _axis(match, reading)
    if axis is None:
        return f"u - logsumexp(u{_over(match.statics['sum'])})"
    return f"log_softmax(u, dim={axis})"


def _logsumexp(match: Match, reading: Reading, atom: Atom) -> str:
    return f"logsumexp(u{_over(match.statics['sum'])})"


def _if_full(name: str) -> Replacement:
    """A part alone, where it has the shape of the whole."""

    def replacement(match: Match, reading: Reading, atom: Atom) -> str | None:
        shape = reading.shape(match.names[name])
        return name if shape is not None and shape == reading.shape(atom) else None

    return replacement


def _lower_power(match: Match, reading: Reading, atom: Atom) -> str | None:
    """u**(n - 1), n - 1 being exact."""
    n = exact(match.names["n"])
    if n is None:
        return "u**(n - 1)"
    lower = n - 1
    if lower in (0, 1):
        return "u" if lower == 1 else "ones_like(u)"
    if lower.denominator <= MOST_DENOMINATOR:
        text = str(lower)
    elif Fraction(float(lower)) == lower:
        text = repr(float(lower))
    else:
        return None
    return f"u**{text}" if text.isdecimal() else f"u**({text})"


def _rational(text: str, first: int, second: int) -> Replacement:
    """`(first*b + second*c)/(...)`, its numerator added up if b and c are numbers."""

    def replacement(match: Match, reading: Reading, atom: Atom) -> str | None:
        b, c = exact(match.names["b"]), exact(match.names["c"])
        if b is None or c is None:
            return text
        total = first * b + second * c
        return f"{decimal(total)}/({text.partition('/(')[2]}" if Fraction(float(total)) == total else text

    return replacement


def if_positive(name: str, text: str) -> Replacement:
    """A text that holds where a constant is above 0."""

    def replacement(match: Match, reading: Reading, atom: Atom) -> str | None:
        value = exact(match.names[name])
        return text if value is not None and value > 0 else None

    return replacement


# -- the table

CANCELLATION = (
    _rule("1 - cos({u}) cancels near {u} = 0", ("1 - cos(u)", "2*sin(u/2)**2"), ("cos(u) - 1", "-2*sin(u/2)**2")),
    _rule(
        "the logarithm is that of an inverse hyperbolic function, and cancels",
        ("log(u + sqrt(u**2 + 1))", "asinh(u)"),
        ("log(u + sqrt(u**2 - 1))", "acosh(u)"),
    ),
    _rule(
        "the logarithm is of a ratio near 1, and cancels near {u} = 0",
        ("log((1 + u)/(1 - u))/2", "atanh(u)"),
        ("log((1 + u)/(1 - u))", "2*atanh(u)"),
        ("log(1 + u) - log(1 - u)", "2*atanh(u)"),
    ),
    _rule("log(1 + exp({u})) overflows", ("log(1 + exp(u))", "logaddexp(0, u)")),
    _rule("softplus({u}) is {u} alone in torch above 20", ("softplus(u)", "logaddexp(0, u)")),
    _rule(
        "the sum in the logarithm loses digits near {u} = 0", ("log(1 + u)", "log1p(u)"), ("log(1 - u)", "log1p(-u)")
    ),
    _rule(
        "the ratio of exponentials overflows, and cancels near {u} = 0",
        ("(exp(u) - exp(-u))/(exp(u) + exp(-u))", "tanh(u)"),
        ("(exp(2*u) - 1)/(exp(2*u) + 1)", "tanh(u)"),
        ("(1 - exp(-2*u))/(1 + exp(-2*u))", "tanh(u)"),
        ("(exp(u) - 1)/(exp(u) + 1)", "tanh(u/2)"),
        ("(1 - exp(-u))/(1 + exp(-u))", "tanh(u/2)"),
        ("(exp(u) - exp(-u))/2", "sinh(u)"),
    ),
    _rule("exp({u}) - 1 cancels near {u} = 0", ("exp(u) - 1", "expm1(u)"), ("1 - exp(u)", "-expm1(u)")),
    _rule(
        "the difference of two nearly equal roots cancels",
        ("p = sqrt(a + b); q = sqrt(a); p - q", "b/(p + q)"),
        ("p = sqrt(a); q = sqrt(a + b); p - q", "-b/(p + q)"),
        ("p = sqrt(a); q = sqrt(a - b); p - q", "b/(p + q)"),
        ("p = sqrt(a - b); q = sqrt(a); p - q", "-b/(p + q)"),
        ("p = sqrt(a + b); q = sqrt(a - c); p - q", _rational("(b + c)/(p + q)", 1, 1)),
        ("p = sqrt(a - b); q = sqrt(a + c); p - q", _rational("-(b + c)/(p + q)", -1, -1)),
        ("p = sqrt(a + b); q = sqrt(a + c); p - q", _rational("(b - c)/(p + q)", 1, -1)),
        ("p = sqrt(a - b); q = sqrt(a - c); p - q", _rational("(c - b)/(p + q)", -1, 1)),
        ("p = sqrt(1 + b); p - 1", "b/(p + 1)"),
        ("p = sqrt(1 + b); 1 - p", "-b/(1 + p)"),
        ("p = sqrt(1 - b); 1 - p", "b/(1 + p)"),
        ("p = sqrt(1 - b); p - 1", "-b/(p + 1)"),
        ("p = sqrt(u**2 + n); p - u", if_positive("n", "n/(p + u)")),
    ),
)
"""Differences of nearly equal numbers."""

EXPONENTIALS = (
    _rule(
        "the exponentials of a softmax overflow, and its logarithm is of 0",
        ("log(exp(u)/sum(exp(u)))", _log_softmax),
        ("log(softmax(u))", _log_softmax),
        ("u - log(sum(exp(u)))", _log_softmax),
    ),
    _rule("exp({u})/sum(exp({u})) overflows", ("exp(u)/sum(exp(u))", _softmax)),
    _rule("log(sum(exp({u}))) overflows", ("log(sum(exp(u)))", _logsumexp)),
    _rule("log(exp({a}) + exp({b})) overflows", ("log(exp(a) + exp(b))", "logaddexp(a, b)")),
    _rule(
        "the logarithm of a sigmoid is of 0",
        ("log(sigmoid(u))", "logsigmoid(u)"),
        ("log(1/(1 + exp(-u)))", "logsigmoid(u)"),
        ("log(1 - sigmoid(u))", "logsigmoid(-u)"),
    ),
    _rule("1 - sigmoid({u}) cancels", ("1 - sigmoid(-u)", "sigmoid(u)"), ("1 - sigmoid(u)", "sigmoid(-u)")),
    _rule(
        "the exponential overflows",
        ("1/(1 + exp(-u))", "sigmoid(u)"),
        ("1/(1 + exp(u))", "sigmoid(-u)"),
        ("exp(u)/(1 + exp(u))", "sigmoid(u)"),
    ),
    _rule("exp({a})/exp({b}) overflows", ("exp(a)/exp(b)", "exp(a - b)")),
    _rule("a product of exponentials overflows", ("exp(a)*exp(-b)", "exp(a - b)"), ("exp(a)*exp(b)", "exp(a + b)")),
    _rule("log(exp({u})) overflows or underflows", ("log(exp(u))", "u")),
    _rule("cosh({u}) overflows", ("log(cosh(u))", "logaddexp(u, -u) - log(2)")),
)
"""What overflows, and logarithms of what underflows."""

POWERS = (
    _rule("the squares overflow or underflow", ("sqrt(a**2 + b**2)", "hypot(a, b)")),
    _rule("sqrt of the square of {u} has a slope that is 0 times infinity at {u} = 0", ("sqrt(u**2)", "abs(u)")),
    _rule("sqrt has an infinite slope at {u} = 0, and 0 times that is nan", ("sqrt(u**4)", "u**2")),
    _rule("1 - tanh({u})**2 cancels", ("1 - tanh(u)**2", "1/cosh(u)**2")),
    _rule("the difference cancels", ("1 - cos(u)**2", "sin(u)**2"), ("1 - sin(u)**2", "cos(u)**2")),
    _rule("1 - erf({u}) cancels", ("1 - erf(u)", "erfc(u)"), ("1 - erfc(u)", "erf(u)")),
    _rule(
        "the difference of squares cancels",
        ("p = a + 1; p**2 - a**2", "p + a"),
        ("p = a + b; p**2 - a**2", "b*(p + a)"),
        ("a**2 - b**2", "(a - b)*(a + b)"),
        ("a**2 - 1", "(a - 1)*(a + 1)"),
        ("1 - a**2", "(1 - a)*(1 + a)"),
    ),
    _rule(
        "the difference of nearly equal numbers cancels",
        ("cos(a + b) - cos(a)", "-2*sin(a + b/2)*sin(b/2)"),
        ("sin(a + b) - sin(a)", "2*cos(a + b/2)*sin(b/2)"),
        ("q = exp(a); exp(a + b) - q", "q*expm1(b)"),
        ("log(a + b) - log(a)", "log1p(b/a)"),
        ("p = a + b; 1/p - 1/a", "-b/(p*a)"),
        ("a + b - a", _if_full("b")),
    ),
)
"""What overflows or cancels in squares, and differences over a small step."""

QUOTIENTS = (
    _rule(
        "the quotient is 0/0 at {u} = 0",
        ("sin(pi*u)/(pi*u)", "sinc(u)"),
        ("sin(u)/u", "sinc(u/pi)"),
        ("(1 - cos(u))/u**2", "sinc(u/(2*pi))**2/2"),
    ),
    _rule(
        "{u} cancels, but for torch the quotient is nan where {u} is 0 or overflows",
        ("u/u", "ones_like(u)"),
        ("u**n/u", _lower_power),
        ("u*w/u", _if_full("w")),
    ),
)
"""What divides 0 by 0 although it has a limit."""

LAST = (
    _rule("the difference of two nearly equal roots cancels", ("p = sqrt(a); q = sqrt(b); p - q", "(a - b)/(p + q)")),
    _rule("exp({a}) - exp({b}) cancels", ("q = exp(b); exp(a) - q", "q*expm1(a - b)")),
    _rule("log({a}) - log({b}) cancels", ("log(a) - log(b)", "log1p((a - b)/b)")),
)
"""What helps where the difference itself is still exact."""

RULES = (*QUOTIENTS, *CANCELLATION, *EXPONENTIALS, *POWERS, *LAST)
