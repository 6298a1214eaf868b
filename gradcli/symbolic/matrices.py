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
from gradcli.notation import BRACKETED, MINUS, NEGATIVE, PLUS, Form, Name, Notation, Number, Written, call
from gradcli.symbolic.printing.pretty import is_of_variable, is_transposed
from gradcli.symbolic.printing.templates import Whole
from gradcli.symbolic.printing.textbook import with_wholes

MOST_NODES = 300
"""Of a formula that is looked into."""

FUNCTIONS = frozenset("exp log sin cos tan sinh cosh tanh asin acos atan sign abs".split())
"""What is applied element by element by a name that the language has too."""

_MATMUL = Form("%s@%s", "%s@%s", r"%s \, %s")
_TRANSPOSED = Form("%s.T", "%s.T", "%s^{T}")
_TIMES = Form("%s*%s", "%s*%s", r"%s \, %s")
_POINTWISE = Form("%s*%s", "%s*%s", r"%s \odot %s")
_OVER = Form("%s/%s", "%s/%s", r"%s / %s")
_POWER = Form("%s**%s", "%s**%s", "%s^{%s}")
_INVERSE = Form("inv(%s)", "inv(%s)", "%s^{-1}")
_INVERSE_TRANSPOSED = Form("inv(%s).T", "inv(%s).T", "%s^{-T}")
_SIGMOID = Form("sigmoid(%s)", "sigmoid(%s)", r"\sigma(%s)")

_TURNED = {_INVERSE: _INVERSE_TRANSPOSED, _INVERSE_TRANSPOSED: _INVERSE, _TRANSPOSED: Form("%s", "%s", "%s")}
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
        if isinstance(self.shown, Written) and self.shown.form in _TURNED:
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
        number = abs(self.number)
        scalars = [_Tensor(Number(str(number.p)))] if number.p != 1 else []
        factors = [*scalars, *self.above]
        below = [*([_Tensor(Number(str(number.q)))] if number.q != 1 else []), *self.below]
        axes = self.tensor.axes if self.tensor is not None else ()
        shown: _Tensor | None = None
        if factors:
            shown = reduce(lambda a, b: _Tensor(_TIMES(a.at(1), b.at(2)), (), 1), factors)
        if self.tensor is not None:
            shown = self.tensor if shown is None else _Tensor(_TIMES(shown.at(1), self.tensor.at(2)), axes, 1)
        found = shown or _Tensor(Number("1"))
        for one in below:
            found = _Tensor(_OVER(found.at(1), one.at(3)), axes, 1)
        return replace(found, axes=axes)


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
        term = _Reader(sizes).term(with_wholes(gradient), axes)
        if term.tensor is None or set(term.tensor.axes) != set(axes):
            return None
        found = replace(term, tensor=term.tensor.along(axes)).whole
    except NoMatrixFormError:
        return None
    return NEGATIVE(found.at(1)) if term.number < 0 else found.shown


class _Reader:
    """From index notation."""

    def __init__(self, sizes: Mapping[sympy.Symbol, str]) -> None:
        self.sizes = sizes

    def tensor(self, expression: Expr, axes: Axes) -> _Tensor:
        """An expression with these indices, or some of them, as one tensor."""
        term = self.term(expression, axes)
        whole = term.whole
        return _Tensor(NEGATIVE(whole.at(1)), whole.axes, 0) if term.number < 0 else whole

    def term(self, expression: Expr, axes: Axes) -> _Term:
        """An expression with these indices, its number and scalars apart."""
        match expression:
            case sympy.Add():
                return self._sum([self.term(one, axes) for one in expression.args], axes)
            case sympy.Mul() | sympy.Pow() | sympy.Sum():
                return self._product(expression, axes)
            case sympy.Rational():
                return _Term(expression, (), (), None)
        one = self._leaf(expression, axes)
        return _Term(sympy.S.One, (), (), one) if one.axes else _Term(sympy.S.One, (one,), (), None)

    # -- products

    def _product(self, product: Expr, axes: Axes) -> _Term:
        number, above, below, bound = sympy.S.One, list[_Tensor](), list[_Tensor](), list[Expr]()
        waiting = list(sympy.Mul.make_args(product))
        inside: list[tuple[Expr, Expr]] = []
        while waiting:
            factor = waiting.pop(0)
            base, power = factor.args if isinstance(factor, sympy.Pow) else (factor, sympy.S.One)
            if isinstance(base, sympy.Rational) and power.is_Integer:
                number *= factor
            elif isinstance(factor, sympy.Sum):
                fresh = {k: sympy.Dummy(k.name, integer=True, nonnegative=True) for k in factor.variables}
                bound += fresh.values()
                waiting += sympy.Mul.make_args(factor.function.xreplace(fresh))
            else:
                inside.append((base, power))
        every = (*axes, *bound)
        for base, power in inside:
            if power == 1:
                term = self.term(base, every)
                number *= term.number
                above += [*term.above, *([term.tensor] if term.tensor is not None else [])]
                below += term.below
                continue
            one, is_below = self._power(base, power, every)
            (below if is_below else above).append(one)
        if any(set(one.axes) & set(bound) for one in below):
            above = [*above, *(_Tensor(_OVER(Number("1"), o.at(3)), o.axes, 1) for o in below if o.axes)]
            below = [o for o in below if not o.axes]
        scalars, tensors = [o for o in above if not o.axes], [o for o in above if o.axes]
        while bound:
            tensors = self._contracted(tensors, bound)
        scalars += [o for o in tensors if not o.axes]
        whole = self._pointwise([o for o in tensors if o.axes], axes)
        divisors = [o for o in below if o.axes]
        for one in divisors:
            if whole is None:
                whole = _Tensor(Number("1"), ())
            whole = _Tensor(_OVER(whole.at(2), one.at(3)), one.axes if not whole.axes else whole.axes, 1)
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

    def _sum(self, terms: list[_Term], axes: Axes) -> _Term:
        """Terms with what they have in common before or behind them."""
        first = terms[0]
        if all(t.tensor is not None and (t.above, t.below) == (first.above, first.below) for t in terms):
            own = next((t.tensor.axes for t in terms if t.tensor), axes)
            common = min(abs(t.number) for t in terms)
            inner = [replace(t, number=t.number / common, above=(), below=()) for t in terms]
            chains = [t.tensor.along(own).factors for t in inner if t.tensor is not None]
            plain = all(abs(t.number) == 1 for t in inner)
            signs = [int(sympy.sign(t.number)) for t in inner]
            turned = -1 if all(sign < 0 for sign in signs) else 1
            whole: _Tensor | None = None
            outers = [t.tensor.along(own).outer for t in inner if t.tensor is not None]
            if plain and all(outers):
                whole = _in_one_outer(outers, [turned * sign for sign in signs], own)
            elif plain and all(len(chain) > 1 for chain in chains):
                whole = _factored(chains, [turned * sign for sign in signs], own)
            if whole is None:
                whole = _added([replace(t, number=turned * t.number) for t in inner], own)
            return _Term(common * turned, first.above, first.below, whole)
        own = next((t.tensor.axes for t in terms if t.tensor), ())
        whole = _added(terms, own)
        return _Term(sympy.S.One, (), (), whole) if own else _Term(sympy.S.One, (whole,), (), None)

    # -- what stands in them

    def _leaf(self, expression: Expr, axes: Axes) -> _Tensor:
        match expression:
            case sympy.Indexed():
                if len(set(expression.indices)) != len(expression.indices) or not set(expression.indices) <= set(axes):
                    raise NoMatrixFormError
                return _Tensor(Name(str(expression.base.label)), tuple(expression.indices))
            case InverseElement() if is_of_variable(expression) and len(expression.body.indices) == 2:
                at = tuple(expression.free)
                if len(set(at)) < 2 or not set(at) <= set(axes):
                    raise NoMatrixFormError
                inverse = Name(str(expression.body.base.label))
                return _Tensor(_INVERSE(inverse), at[::-1] if is_transposed(expression) else at)
            case MatrixDeterminant() if is_of_variable(expression) and len(expression.body.indices) == 2:
                return _Tensor(call("det", Name(str(expression.body.base.label))))
            case sympy.Symbol():
                return _Tensor(Name(self.sizes.get(expression, str(expression))))
            case Whole():
                return self._whole(expression, axes)
            case sympy.Function() if type(expression).__name__ in FUNCTIONS and len(expression.args) == 1:
                inside = self.tensor(expression.args[0], axes)
                return _Tensor(call(type(expression).__name__, inside.shown), inside.axes)
        raise NoMatrixFormError

    def _whole(self, whole: Whole, axes: Axes) -> _Tensor:
        """A softmax of a vector, or the logistic function."""
        expression = whole.expression
        exponentials = [f for f in sympy.Mul.make_args(expression) if isinstance(f, sympy.exp)]
        if exponentials and len(whole.index) == 1:
            inside = self.tensor(exponentials[0].args[0], axes)
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
    exponent = Number(str(power))
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
    right = "%s^{T}" if isinstance(b.shown, Name) else "(%s)^{T}"
    return _Tensor(Form("outer(%s, %s)", "outer(%s, %s)", rf"{left} \, {right}")(a.shown, b.shown), axes, outer=(a, b))


def _in_one_outer(outers: Sequence[tuple[_Tensor, ...]], signs: Sequence[int], axes: Axes) -> _Tensor | None:
    """outer(a - b, x) for outer(a, x) - outer(b, x), and the same on the right."""
    for common, other in ((1, 0), (0, 1)):
        if len({pair[common].shown.text for pair in outers}) == 1:
            whole = _signed([pair[other] for pair in outers], signs)
            kept = outers[0][common]
            return _outer(whole, kept, axes) if common else _outer(kept, whole, axes)
    return None


def _factored(chains: Sequence[tuple[_Tensor, ...]], signs: Sequence[int], axes: Axes) -> _Tensor | None:
    """(A + B)@x for A@x + B@x, and A@(x + y) for A@x + A@y."""
    firsts, lasts = {chain[0].shown.text for chain in chains}, {chain[-1].shown.text for chain in chains}
    if len(lasts) == 1:
        rests = [_rest(chain[:-1]) for chain in chains]
        return _matmul(_signed(rests, signs), chains[0][-1], axes)
    if len(firsts) == 1:
        rests = [_rest(chain[1:]) for chain in chains]
        return _matmul(chains[0][0], _signed(rests, signs), axes)
    return None


def _rest(chain: tuple[_Tensor, ...]) -> _Tensor:
    return chain[0] if len(chain) == 1 else reduce(lambda a, b: _matmul(a, b, (*a.axes[:1], *b.axes[1:])), chain)


def _signed(parts: Sequence[_Tensor], signs: Sequence[int]) -> _Tensor:
    pairs = sorted(zip(parts, signs, strict=True), key=lambda pair: (pair[1] < 0, len(pair[0].shown.text)))
    return _Tensor(_joined(pairs), parts[0].axes, 0)


def _added(terms: Sequence[_Term], axes: Axes) -> _Tensor:
    parts = []
    for term in sorted(terms, key=lambda t: (bool(t.number < 0), t.tensor is None or not t.tensor.chain)):
        whole = term.whole
        parts.append((whole.along(axes) if whole.axes else whole, int(sympy.sign(term.number))))
    return _Tensor(_joined(parts), axes, 0)


def _joined(parts: Sequence[tuple[_Tensor, int]]) -> Notation:
    (first, sign), *rest = parts
    shown: Notation = first.at(1) if sign > 0 else NEGATIVE(first.at(1))
    for part, s in rest:
        shown = (PLUS if s > 0 else MINUS)(shown, part.at(1))
    return shown
