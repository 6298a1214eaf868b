"""What each elementwise primitive means as a SymPy expression of real scalars.

The symbolic reading composes these, the reference differentiates them one at a time; torch never sees them.  SymPy's
own heads serve where they are right for real numbers; where they are not (`sign` differentiates to a DiracDelta, the
derivative of `floor` cannot be printed, `loggamma` is complex below 0), a function of our own has a rule here.
Conditions are functions too, 1 or 0: SymPy's relations fold conditions inside conditions into forms without a rule.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import sympy
from sympy import Expr

from gradcli.language.parsing import parse
from gradcli.language.program.expansion import definition, in_primitives
from gradcli.language.program.wengert import Call, Program


class _Real(sympy.Function):  # type: ignore[misc]
    """A real function that stays as written: SymPy would evaluate it at floats by a namesake in mpmath."""

    is_real = True

    @classmethod
    def _should_evalf(cls, arg: Expr) -> int:
        return -1


class _Step(_Real):
    """A function that is constant between its jumps."""

    nargs = 1

    def fdiff(self, argindex: int = 1) -> Expr:
        """The derivative, which is 0 wherever there is one."""
        return sympy.S.Zero


class sign(_Step):  # noqa: N801 -- printed as the function is typed
    """-1, 0 or 1."""


class floor(_Step):  # noqa: N801
    """The greatest integer not above x."""


class ceil(_Step):  # noqa: N801
    """The least integer not below x."""


class trunc(_Step):  # noqa: N801
    """x without its fraction."""


class round(_Step):  # noqa: A001, N801
    """The nearest integer, halves to even."""


class abs(_Real):  # noqa: A001, N801
    """|x|, whose derivative is sign(x) and stays so."""

    nargs = 1

    def fdiff(self, argindex: int = 1) -> Expr:
        """Sign(x); a jump at 0."""
        return sign(self.args[0])


class lgamma(_Real):  # noqa: N801
    """log|gamma(x)|, real on both sides of 0 (DLMF 5.2)."""

    nargs = 1

    def fdiff(self, argindex: int = 1) -> Expr:
        """The digamma function (DLMF 5.2.2)."""
        return polygamma(sympy.S.Zero, self.args[0])


class polygamma(_Real):  # noqa: N801
    """The derivatives of lgamma from the first on; SymPy's own adds up 10**20 fractions at 10**20."""

    nargs = 2

    def fdiff(self, argindex: int = 2) -> Expr:
        """The next one; by its order there is none."""
        order, x = self.args
        return polygamma(order + 1, x)


class sinc(_Real):  # noqa: N801
    """sin(pi*x)/(pi*x) and 1 at 0, as in torch; SymPy's own lacks the pi."""

    nargs = 1

    def fdiff(self, argindex: int = 1) -> Expr:
        """(cos(pi*x) - sinc(x))/x, and 0 at 0 by symmetry."""
        x = self.args[0]
        return sympy.Piecewise((0, sympy.Eq(x, 0)), ((sympy.cos(sympy.pi * x) - sinc(x)) / x, True))


class detach(_Step):  # noqa: N801
    """x, as a constant."""


class Comparison(_Step):
    """1 where a relation of two operands holds, else 0."""

    nargs = 2
    sign: str

    @classmethod
    def eval(cls, a: Expr, b: Expr) -> Expr | None:
        """1 or 0 if both are numbers."""
        if not (a.is_Rational and b.is_Rational):
            return None
        holds = {">": a > b, ">=": a >= b, "<": a < b, "<=": a <= b, "==": a == b, "!=": a != b}[cls.sign]
        return sympy.Integer(bool(holds))


class gt(Comparison):  # noqa: N801
    """a > b."""

    sign = ">"


class ge(Comparison):  # noqa: N801
    """a ≥ b."""

    sign = ">="


class lt(Comparison):  # noqa: N801
    """a < b."""

    sign = "<"


class le(Comparison):  # noqa: N801
    """a ≤ b."""

    sign = "<="


class eq(Comparison):  # noqa: N801
    """a = b."""

    sign = "=="


class ne(Comparison):  # noqa: N801
    """a ≠ b."""

    sign = "!="


class where(_Real):  # noqa: N801
    """The second operand where the first is 1, the third where it is 0."""

    nargs = 3

    @classmethod
    def eval(cls, condition: Expr, a: Expr, b: Expr) -> Expr | None:
        """Nothing to choose: the condition is known, or both are the same."""
        if condition in (sympy.S.One, sympy.S.Zero):
            return a if condition == 1 else b
        return a if a == b else None

    def _eval_derivative(self, s: Expr) -> Expr:
        """The derivative of the branch; a condition has none but where it changes."""
        condition, a, b = self.args
        return where(condition, a.diff(s), b.diff(s))


class _Choice(_Real):
    """One of two operands; SymPy's Max and Min flatten, sort and drop theirs, and differentiate to Heaviside."""

    nargs = 2
    is_first: type[Comparison]

    def fdiff(self, argindex: int = 1) -> Expr:
        """1 for the chosen operand, 0 for the other; at a tie there is a kink."""
        first = sympy.S.One if argindex == 1 else sympy.S.Zero
        return where(type(self).is_first(*self.args), first, 1 - first)


class maximum(_Choice):  # noqa: N801
    """The larger operand."""

    is_first = ge


class minimum(_Choice):  # noqa: N801
    """The smaller operand."""

    is_first = le


MEANINGS: Mapping[str, Callable[..., Expr]] = {
    "neg": lambda x: -x,
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": lambda a, b: a / b,
    "pow": lambda a, b: a**b,
    "exp": sympy.exp,
    "log": sympy.log,
    "sqrt": sympy.sqrt,
    "sin": sympy.sin,
    "cos": sympy.cos,
    "tan": sympy.tan,
    "asin": sympy.asin,
    "acos": sympy.acos,
    "atan": sympy.atan,
    "atan2": sympy.atan2,
    "sinc": sinc,
    "sinh": sympy.sinh,
    "cosh": sympy.cosh,
    "tanh": sympy.tanh,
    "asinh": sympy.asinh,
    "acosh": sympy.acosh,
    "atanh": sympy.atanh,
    "erf": sympy.erf,
    "erfc": sympy.erfc,
    "erfinv": sympy.erfinv,
    "lgamma": lgamma,
    "digamma": lambda x: polygamma(sympy.S.Zero, x),
    "polygamma": lambda x, n: polygamma(sympy.Integer(n), x),
    "i0": lambda x: sympy.besseli(0, x),
    "i1": lambda x: sympy.besseli(1, x),
    "abs": abs,
    "sign": sign,
    "floor": floor,
    "ceil": ceil,
    "trunc": trunc,
    "round": round,
    "maximum": maximum,
    "minimum": minimum,
    "where": where,
    "gt": gt,
    "ge": ge,
    "lt": lt,
    "le": le,
    "eq": eq,
    "ne": ne,
    "detach": detach,
    "zeros_like": lambda x: sympy.S.Zero,
    "ones_like": lambda x: sympy.S.One,
}
"""Every elementwise primitive of the op table; its static arguments follow its operands."""


def meaning(call: Call, operands: tuple[Expr, ...]) -> Expr:
    """The scalar expression of an elementwise operation on these scalars.

    >>> from gradcli.language.parsing import parse
    >>> x = sympy.Symbol("x", real=True)
    >>> meaning(parse("x**2").lines[0].call, (x, sympy.Integer(2)))
    x**2
    """
    if call.op.is_primitive:
        return MEANINGS[call.op.name](*operands, *call.statics)
    defined = definition(call.op.name, call.statics, len(operands))
    return _composed(defined, dict(zip(map(str, defined.variables), operands, strict=True)))


def compose(text: str, operands: Mapping[str, Expr]) -> Expr:
    """A text of the language as one scalar expression, its names standing for these operands.

    >>> x = sympy.Symbol("x", real=True)
    >>> compose("1/(1 + exp(-x))", {"x": x})
    1/(1 + exp(-x))
    """
    return _composed(in_primitives(parse(text, given=frozenset(operands))), operands)


def _composed(program: Program, operands: Mapping[str, Expr]) -> Expr:
    values: dict[Expr, Expr] = {symbol: operands[str(symbol)] for symbol in program.variables}
    for line in program.lines:
        values[line.symbol] = meaning(line.call, tuple(values.get(a, a) for a in line.call.operands))
    return values.get(program.output, program.output)
