"""A gradient in index notation as an expression of whole tensors: Σ[k] A[j,k]·x[k] + Σ[k] A[k,j]·x[k] as (A + A.T)@x.

Factors that share a bound index are contracted, one index after the other: two vectors to a number, a matrix and a
vector to a vector, two matrices to a matrix.  What remains has the gradient's own indices, or there is no such form.
It is a candidate: whether it is the gradient is for `gradcli.claims` to prove.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce

import sympy
from sympy import Expr

from gradcli.language.program.meaning import InverseElement, MatrixDeterminant
from gradcli.notation import BRACKETED, MINUS, NEGATIVE, PLUS, Digits, Named, Notation, Signs, WrittenParts, call
from gradcli.symbolic.printing.pretty import is_of_variable, is_transposed
from gradcli.symbolic.printing.templates import placeholders
from gradcli.symbolic.printing.textbook import StandIns, with_wholes

MOST_NODES = 300
"""Of a formula that is looked into."""

FUNCTIONS = frozenset("exp log sin cos tan sinh cosh tanh asin acos atan sign abs".split())
"""What is applied element by element by a name that the language has too."""

_MATMUL = Signs("%s@%s", "%s@%s", r"%s \, %s")
_TRANSPOSED = Signs("%s.T", "%s.T", "%s^{T}")
_TIMES = Signs("%s*%s", "%s*%s", r"%s \, %s")
_POINTWISE = Signs("%s*%s", "%s*%s", r"%s \odot %s")
_OVER = Signs("%s/%s", "%s/%s", r"%s / %s")
_POWER = Signs("%s**%s", "%s**%s", "%s^{%s}")
_INVERSE = Signs("inv(%s)", "inv(%s)", "%s^{-1}")
_INVERSE_TRANSPOSED = Signs("inv(%s).T", "inv(%s).T", "%s^{-T}")
_SIGMOID = Signs("sigmoid(%s)", "sigmoid(%s)", r"\sigma(%s)")

_TURNED = {_INVERSE: _INVERSE_TRANSPOSED, _INVERSE_TRANSPOSED: _INVERSE, _TRANSPOSED: Signs("%s", "%s", "%s")}
"""What a form is, transposed."""

Axes = tuple[Expr, ...]
"""The indices of a tensor, in the order of its dimensions."""


class NoMatrixFormError(Exception):
    """It is no expression of whole tensors that is looked for."""


@dataclass(frozen=True)
class _Tensor:
    """An expression of whole tensors.

    Attributes:
        shown: It.
        axes: Its indices.
        level: How tightly it binds: 0 a sum, 1 a product, 2 a product of matrices, 3 a power, 4 one thing.
        chain: The factors, if it is a product of matrices.
        outer: The two vectors, if it is their outer product.
    """

    shown: Notation
    axes: Axes = ()
    level: int = 4
    chain: tuple[_Tensor, ...] = ()
    outer: tuple[_Tensor, ...] = ()

    def at(self, level: int) -> Notation:
        """In brackets where it would fall apart."""
        return self.shown if self.level >= level else BRACKETED(self.shown)

    @property
    def factors(self) -> tuple[_Tensor, ...]:
        """Of a product of matrices; else itself alone."""
        return self.chain or (self,)

    def turned(self) -> _Tensor:
        """Transposed."""
        axes = self.axes[::-1]
        if isinstance(self.shown, WrittenParts) and self.shown.form in _TURNED:
            return _Tensor(_TURNED[self.shown.form](*self.shown.parts), axes)
        if self.outer:
            return _outer(self.outer[1], self.outer[0], axes)
        if self.chain:
            turned = [one.turned() if len(one.axes) == 2 else one for one in self.chain[::-1]]
            return reduce(lambda a, b: _matmul(a, b, (*a.axes[:1], *b.axes[1:])), turned)
        return _Tensor(_TRANSPOSED(self.at(4)), self.axes[::-1])

    def along(self, axes: Axes) -> _Tensor:
        """With its dimensions in this order."""
        if self.axes == axes:
            return self
        if len(axes) == 2 and self.axes == axes[::-1]:
            return self.turned()
        raise NoMatrixFormError


@dataclass(frozen=True)
class _Term:
    """A number times scalars times a tensor."""

    number: sympy.Rational
    above: tuple[_Tensor, ...]
    below: tuple[_Tensor, ...]
    tensor: _Tensor | None

    @property
    def whole(self) -> _Tensor:
        """As one tensor; a minus is for the sum that it stands in."""
        p, q = (_Tensor(Digits(str(n))) for n in abs(self.number).as_numer_denom())
        above = [*([p] if self.number.p**2 != 1 else []), *self.above, *([self.tensor] if self.tensor else [])]
        found = reduce(lambda a, b: _Tensor(_TIMES(a.at(1), b.at(2)), (), 1), above or [p])
        for one in (*([q] if self.number.q != 1 else []), *self.below):
            found = _Tensor(_OVER(found.at(1), one.at(3)), (), 1)
        return replace(found, axes=self.tensor.axes if self.tensor else ())


def matrix_form(gradient: Expr, axes: Axes, sizes: Mapping[sympy.Symbol, str]) -> Notation | None:
    """The gradient as an expression of whole tensors; None where none is found.

    Args:
        gradient: An element of it.
        axes: Its indices.
        sizes: What the sizes that are symbols are called.

    >>> j, k = (sympy.Symbol(name, integer=True, nonnegative=True) for name in "jk")
    >>> A, x = (sympy.IndexedBase(name, real=True) for name in "Ax")
    >>> from gradcli.language.program.meaning import Total
    >>> matrix_form(Total(A[k, j]*x[k], (k, 0, 2)) + Total(A[j, k]*x[k], (k, 0, 2)), (j,), {}).text
    '(A + A.T)@x'
    """
    if sum(1 for _ in sympy.preorder_traversal(gradient)) > MOST_NODES:
        return None
    try:
        known: StandIns = {}
        expression = with_wholes(gradient, known)
        term = _MatrixReader(sizes, {getattr(one, "base", one): generic for generic, one in known.items()}).term(
            expression, axes
        )
        if term.tensor is None or set(term.tensor.axes) != set(axes):
            return None
        found = replace(term, tensor=term.tensor.along(axes)).whole
    except NoMatrixFormError:
        return None
    return NEGATIVE(found.at(1)) if term.number < 0 else found.shown


class _MatrixReader:
    """From index notation."""

    def __init__(self, sizes: Mapping[sympy.Symbol, str], wholes: Mapping[Expr, Expr]) -> None:
        self.sizes, self.wholes = sizes, wholes

    def tensor(self, expression: Expr, axes: Axes) -> _Tensor:
        """An expression with these indices, or some of them, as one tensor."""
        term = self.term(expression, axes)
        whole = term.whole
        return _Tensor(NEGATIVE(whole.at(1)), whole.axes, 0) if term.number < 0 else whole

    def term(self, expression: Expr, axes: Axes) -> _Term:
        """An expression with these indices, its number and scalars apart."""
        match expression:
            case sympy.Add():
                return self._sum([self.term(one, axes) for one in expression.args])
            case sympy.Mul() | sympy.Pow() | sympy.Sum():
                return self._product(expression, axes)
            case sympy.Rational():
                return _Term(expression, (), (), None)
        one = self._leaf(expression, axes)
        return _Term(sympy.S.One, (), (), one) if one.axes else _Term(sympy.S.One, (one,), (), None)

    # -- products

    def _product(self, product: Expr, axes: Axes) -> _Term:
        number, above, below, bound = sympy.S.One, list[_Tensor](), list[_Tensor](), list[Expr]()
        factors = list(sympy.Mul.make_args(product))
        for factor in factors:  # which grow
            if isinstance(factor, sympy.Sum):
                fresh = {k: sympy.Dummy(k.name, integer=True, nonnegative=True) for k in factor.variables}
                bound += fresh.values()
                factors += sympy.Mul.make_args(factor.function.xreplace(fresh))
        every = (*axes, *bound)
        for factor in factors:
            if isinstance(factor, sympy.Pow):
                base, power = factor.args
                one, is_below = self._power(base, power, every)
                if is_below and set(one.axes) & set(bound):
                    one, is_below = _Tensor(_OVER(Digits("1"), one.at(3)), one.axes, 1), False
                (below if is_below else above).append(one)
            elif not isinstance(factor, sympy.Sum):
                term = self.term(factor, every)
                number *= term.number
                above += [*term.above, *([term.tensor] if term.tensor is not None else [])]
                below += term.below
        tensors = [o for o in above if o.axes]
        while bound:
            tensors = self._contracted(tensors, bound)
        scalars = [o for o in (*above, *tensors) if not o.axes]
        whole = self._pointwise([o for o in tensors if o.axes], axes)
        for one in (o for o in below if o.axes):
            whole = whole or _Tensor(Digits("1"))
            whole = _Tensor(_OVER(whole.at(2), one.at(3)), whole.axes or one.axes, 1)
        return _Term(number, tuple(scalars), tuple(o for o in below if not o.axes), whole)

    def _power(self, base: Expr, power: Expr, axes: Axes) -> tuple[_Tensor, bool]:
        """A factor, and whether it stands below."""
        if not power.is_Rational:
            raise NoMatrixFormError
        if abs(power).q == 2 and isinstance(base, sympy.Sum) and len(base.variables) == 1:
            body = base.function
            if isinstance(body, sympy.Pow) and body.exp == 2:
                vector = self.tensor(body.base, base.variables)
                if vector.axes == tuple(base.variables):
                    length = _Tensor(call("norm", vector.shown))
                    return _raised(length, abs(power) * 2), bool(power < 0)
        one = self.tensor(base, axes)
        return _raised(one, abs(power)), bool(power < 0)

    def _contracted(self, tensors: list[_Tensor], bound: list[Expr]) -> list[_Tensor]:
        """One bound index fewer."""
        for k in sorted(bound, key=lambda k: sum(len(o.axes) > 1 for o in tensors if k in o.axes)):
            mine = [o for o in tensors if k in o.axes]
            rest = [o for o in tensors if k not in o.axes]
            vectors, matrices = [o for o in mine if len(o.axes) == 1], [o for o in mine if len(o.axes) == 2]
            found: _Tensor | None = None
            if len(matrices) == 0 and vectors:
                found = _dot(vectors)
            elif len(matrices) == 1 and vectors:
                (matrix,) = matrices
                other = next(a for a in matrix.axes if a != k)
                found = _matmul(matrix.along((other, k)), _times(vectors), (other,))
            elif len(matrices) == 2 and not vectors:
                a, b = (next(i for i in one.axes if i != k) for one in matrices)
                if a != b:
                    found = _matmul(matrices[0].along((a, k)), matrices[1].along((k, b)), (a, b))
            if found is not None:
                bound.remove(k)
                return [*rest, found]
        raise NoMatrixFormError

    def _pointwise(self, tensors: list[_Tensor], axes: Axes) -> _Tensor | None:
        if not tensors:
            return None
        if len({o.axes if len(o.axes) < 2 else frozenset(o.axes) for o in tensors}) == 1:
            first, *rest = tensors
            return _times([first, *(o.along(first.axes) for o in rest)])
        if len(axes) == 2 and all(len(o.axes) == 1 for o in tensors):
            left, right = ([o for o in tensors if o.axes == (a,)] for a in axes)
            return _outer(_times(left), _times(right), axes)
        raise NoMatrixFormError

    # -- sums

    def _sum(self, terms: list[_Term]) -> _Term:
        """Terms with what they have in common before or behind them."""
        first, own = terms[0], next((t.tensor.axes for t in terms if t.tensor), ())
        if not all(t.tensor is not None and (t.above, t.below) == (first.above, first.below) for t in terms):
            whole = _added([(t.whole.along(own) if t.tensor else t.whole, t.number) for t in terms], own)
            return _Term(sympy.S.One, (), (), whole) if own else _Term(sympy.S.One, (whole,), (), None)
        common = min(abs(t.number) for t in terms) * (-1 if all(t.number < 0 for t in terms) else 1)
        inner = [replace(t, number=t.number / common, above=(), below=()) for t in terms]
        pairs = [(t.whole.along(own), t.number) for t in inner]
        return _Term(common, first.above, first.below, _factored(pairs, own) or _added(pairs, own))

    # -- what stands in them

    def _leaf(self, expression: Expr, axes: Axes) -> _Tensor:
        index = expression.indices if isinstance(expression, sympy.Indexed) else ()
        whole = self.wholes.get(expression.base if index else expression)
        if whole is not None:
            return self._whole(whole.xreplace(dict(zip(placeholders(len(index)), index, strict=True))), axes)
        match expression:
            case sympy.Indexed():
                if len(set(expression.indices)) != len(expression.indices) or not set(expression.indices) <= set(axes):
                    raise NoMatrixFormError
                return _Tensor(Named(str(expression.base.label)), tuple(expression.indices))
            case InverseElement() if is_of_variable(expression) and len(expression.body.indices) == 2:
                at = tuple(expression.free)
                if len(set(at)) < 2 or not set(at) <= set(axes):
                    raise NoMatrixFormError
                inverse = Named(str(expression.body.base.label))
                return _Tensor(_INVERSE(inverse), at[::-1] if is_transposed(expression) else at)
            case MatrixDeterminant() if is_of_variable(expression) and len(expression.body.indices) == 2:
                return _Tensor(call("det", Named(str(expression.body.base.label))))
            case sympy.Symbol():
                return _Tensor(Named(self.sizes.get(expression, str(expression))))
            case sympy.Function() if type(expression).__name__ in FUNCTIONS and len(expression.args) == 1:
                inside = self.tensor(expression.args[0], axes)
                return _Tensor(call(type(expression).__name__, inside.shown), inside.axes)
        raise NoMatrixFormError

    def _whole(self, expression: Expr, axes: Axes) -> _Tensor:
        """A softmax of a vector, or the logistic function."""
        exponentials = [f for f in sympy.Mul.make_args(expression) if isinstance(f, sympy.exp)]
        if exponentials:
            inside = self.tensor(exponentials[0].args[0], axes)
            if len(inside.axes) != 1:
                raise NoMatrixFormError
            return _Tensor(call("softmax", inside.shown), inside.axes)
        base = 1 / expression
        if isinstance(base, sympy.Add) and isinstance(base - 1, sympy.exp):
            inside = self.tensor(-(base - 1).args[0], axes)
            return _Tensor(_SIGMOID(inside.shown), inside.axes)
        raise NoMatrixFormError


def _raised(one: _Tensor, power: Expr) -> _Tensor:
    if power == 1:
        return one
    if power == sympy.S.Half:
        return _Tensor(call("sqrt", one.shown), one.axes)
    exponent = Digits(str(power))
    return _Tensor(_POWER(one.at(4), exponent if power.is_Integer else BRACKETED(exponent)), one.axes, 3)


def _times(parts: Sequence[_Tensor]) -> _Tensor:
    """Element by element."""
    if not parts:
        raise NoMatrixFormError
    return reduce(lambda a, b: _Tensor(_POINTWISE(a.at(2) if a.chain else a.at(1), b.at(3)), a.axes, 1), parts)


def _dot(vectors: Sequence[_Tensor]) -> _Tensor:
    if len(vectors) == 2:
        return _matmul(vectors[0], vectors[1], ())
    return _Tensor(call("sum", _times(vectors).shown))


def _matmul(a: _Tensor, b: _Tensor, axes: Axes) -> _Tensor:
    # A product of matrices may be bracketed in any way, unless a vector stands on its left.
    left = a.factors if len(a.axes) == 2 else (a,)
    right = b.factors if len(a.axes) == 2 else (b,)
    parts = (*left, *right)
    shown = reduce(_MATMUL, [p.at(2 if p is parts[0] and not p.chain else 3) for p in parts])
    return _Tensor(shown, axes, 2, parts)


def _outer(a: _Tensor, b: _Tensor, axes: Axes) -> _Tensor:
    left = "%s" if a.level > 1 else "(%s)"
    right = "%s^{T}" if isinstance(b.shown, Named) else "(%s)^{T}"
    return _Tensor(Signs("outer(%s, %s)", "outer(%s, %s)", rf"{left} \, {right}")(a.shown, b.shown), axes, outer=(a, b))


def _factored(terms: Sequence[tuple[_Tensor, Expr]], axes: Axes) -> _Tensor | None:
    """(A + B)@x for A@x + B@x, A@(x + y) for A@x + A@y, alike of outer products; None where nothing is shared."""
    chains, is_outer = [one.chain or one.outer for one, _ in terms], all(one.outer for one, _ in terms)
    if not all(chains) or any(abs(number) != 1 or bool(one.outer) != is_outer for one, number in terms):
        return None
    joined = _outer if is_outer else _matmul
    for place, rest in ((-1, slice(None, -1)), (0, slice(1, None))):
        shared = chains[0][place]
        if len({chain[place].shown.text for chain in chains}) == 1:
            rests = [reduce(lambda a, b: _matmul(a, b, (*a.axes[:1], *b.axes[1:])), chain[rest]) for chain in chains]
            whole = _added([(one, number) for one, (_, number) in zip(rests, terms, strict=True)], rests[0].axes)
            return joined(whole, shared, axes) if place else joined(shared, whole, axes)
    return None


def _added(terms: Sequence[tuple[_Tensor, Expr]], axes: Axes) -> _Tensor:
    """A sum by the signs of numbers, those with a plus first, then products of matrices, then what is short."""
    ordered = sorted(terms, key=lambda pair: (bool(pair[1] < 0), not pair[0].chain, len(pair[0].shown.text)))
    shown: Notation | None = None
    for one, number in ordered:
        first = NEGATIVE(one.at(1)) if number < 0 else one.at(1)
        shown = first if shown is None else (PLUS if number > 0 else MINUS)(shown, one.at(1))
    return _Tensor(shown or Digits("0"), axes, 0)
